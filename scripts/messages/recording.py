"""A plugin of pytest that records each message that tests meet, for `messages.py`."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from segbench.checks.findings import Finding
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Note

Made = TypeVar("Made")
_DEPTH = 8  # of calls, from which those of segbench are found

_TEMPORARY = re.compile(r"/\S*pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[^/\s:]+/?|/tmp/tmp[^/\s:]+/")
_seen: dict[tuple[str, str, bool], str] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the folder of what is recorded."""
    parser.addoption("--record", required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Record what becomes an error, a note or a finding from now on."""
    config.stash[_FILE] = Path(config.getoption("--record")) / f"{os.getpid()}.jsonl"
    _watch(DataError, lambda error: ("error", error.what, f"{error.path}: {error.what.written('options')}", error.hint))
    _watch(ArgumentError, lambda error: ("error", error.message, error.message.written("options"), None))
    _watch(Note, lambda note: ("note", note.message, note.written("options"), None))
    _watch(Finding, lambda finding: ("finding", finding.message, finding.message.written("options"), finding.fix))


_FILE = pytest.StashKey[Path]()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write what was met."""
    config.stash[_FILE].write_text("".join(line + "\n" for line in _seen.values()), encoding="utf-8")


def _watch(kind: type[Made], take: Callable[[Made], tuple[str, Message, str, Message | None]]) -> None:
    """Record each object of a class as it is made."""
    make = kind.__init__

    def made(self: Made, *args: object, **kwargs: object) -> None:
        make(self, *args, **kwargs)
        if isinstance(self, Finding) and not (self.places or self.whole):
            return  # of nothing, so that it is not reported
        form, message, text, fix = take(self)
        packages = (_package(frame.filename) for frame in reversed(traceback.extract_stack(limit=_DEPTH)))
        package = next(filter(None, packages), "")
        if package:
            _keep(
                message, {"form": form, "package": package, "text": text, "fix": fix.written("options") if fix else ""}
            )

    kind.__init__ = made  # type: ignore[method-assign,assignment]  # watched in all places at once


def _package(file: str) -> str:
    """Return the package of a file of segbench; nothing of others."""
    parts = Path(file).parts
    within = len(parts) - parts[::-1].index("segbench") if "segbench" in parts else len(parts)
    return parts[within] if within + 1 < len(parts) else ""


def _templates(message: Message) -> Iterator[str]:
    """Yield the templates of a message and of those of its kind within it, from which it may be put together."""
    yield message.template
    for _, value in message.named:
        if getattr(value, "kind", None) == message.kind:
            yield from _templates(value)


def _keep(message: Message, example: dict[str, str]) -> None:
    """Keep an example if it is shorter than that of its kind and package."""
    example = {name: _TEMPORARY.sub("", text) for name, text in example.items()}
    line = json.dumps({"kind": message.kind, "templates": [*_templates(message)], **example}, ensure_ascii=False)
    key = (message.kind, example["package"], bool(example["fix"]))
    if len(line) < len(_seen.get(key, line + " ")):
        _seen[key] = line
