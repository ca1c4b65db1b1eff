"""Rows of a results file, checked as they are read: a file may come from anywhere, and SQLite lets any type in.

Texts that are shown to people lose what a terminal would obey, as file names do.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from segbench.aggregator.tasks import Outcome
from segbench.core.errors import DataError
from segbench.loaders.decoded import shown
from segbench.loaders.inputs import Inputs
from segbench.protocols.registry import protocol_of, protocols

Record = TypeVar("Record")


@dataclass(frozen=True)
class StoredRun:
    """One run as it lies in a results file; `images` is how many an incomplete one was to count, if that is known."""

    key: int
    method: str
    protocol: str
    settings: Mapping[str, str]
    signature: str
    notes: tuple[str, ...]
    thresholds: tuple[float, ...] = ()
    inputs: Inputs | None = None
    protocol_json: str = ""
    published: str = ""
    complete: bool = True
    images: int | None = None
    version: str = ""


@dataclass(frozen=True)
class StoredPool:
    """What was derived from all images of a run: the digest of these, the summary as JSON, reduced counts packed."""

    digest: str
    summary: str
    counts: bytes


def pool_of(row: Sequence[Any], path: str) -> StoredPool:
    """Read a row of pooled: digest, summary, counts."""
    return _checked(_pool, row, path)


def run_of(row: Sequence[Any], path: str) -> StoredRun:
    """Read a row of runs.

    Its columns are key, method, protocol, settings, signature, notes, thresholds, inputs, protocol, published,
    complete, version.
    """
    protocol = row[2]
    if isinstance(protocol, str) and protocol.isidentifier() and protocol not in protocols():
        what = f"holds a run of the protocol {protocol!r}, which is not installed; there are {', '.join(protocols())}"
        raise DataError(path, what, "install the package that adds it, or run again into a new file")
    return _checked(_run, row, path)


def outcome_of(row: Sequence[Any], path: str) -> Outcome:
    """Read a row of images: name, two digests, counts, label values, failure, notes, seconds.

    Counts stay packed; they are checked when they are unpacked.
    """
    return _checked(_outcome, row, path)


def _checked(read: Callable[[Sequence[Any]], Record], row: Sequence[Any], path: str) -> Record:
    try:
        return read(row)
    except Exception as error:
        reason = shown(" ".join(str(error).split()) or type(error).__name__)[:200]
        raise DataError(
            path, f"holds a row that segbench did not write ({reason})", "run again into a new file"
        ) from error


def _run(row: Sequence[Any]) -> StoredRun:
    key, method, protocol, settings, signature, notes, thresholds, inputs, protocol_json, published, *state = row
    complete, version = state
    for text in (method, protocol, signature, inputs, protocol_json, published, version):
        _require(isinstance(text, str), "a text of another type")
    found = json.loads(settings)
    _require(isinstance(found, dict) and _are(found.values(), str), "settings that are no texts")
    signed = dict(part.split(":", 1) for part in signature.split("|")) if signature else {}
    _require(not complete or "data" in signed, "a signature without data")
    for part in ("subset", "missing"):
        _require(
            part not in found or re.fullmatch(r"\d{1,9} of \d{1,9}", found[part]),
            "a part of a set that is not in numbers",
        )
    run = StoredRun(
        int(key), _printable(method), protocol, found, signature, _texts(notes), _numbers(thresholds),
        _inputs(inputs), protocol_json, published, bool(complete),
        None if complete or not signed else int(signed["images"]), _printable(version),
    )  # fmt: skip
    measured_by = protocol_of(protocol, found)
    if published:
        _ = measured_by.published(published).summary
    else:
        _require(not run.thresholds or "thresholds" in found, "thresholds without their source")
    if protocol_json:
        _require(isinstance(json.loads(protocol_json)["kind"], str), "a protocol without name")
    return run


def _outcome(row: Sequence[Any]) -> Outcome:
    name, digest, truth, counts, values, failure, notes, seconds = row
    for text in (name, digest, truth, failure):
        _require(isinstance(text, str), "a text of another type")
    _require(isinstance(seconds, (int, float)) and math.isfinite(seconds), "seconds that are no number")
    _require(counts is None or isinstance(counts, bytes), "counts of another type")
    return Outcome(
        _printable(name), digest, truth, counts, _numbers(values), _printable(failure), _texts(notes), float(seconds)
    )


def _pool(row: Sequence[Any]) -> StoredPool:
    digest, summary, counts = row
    _require(
        isinstance(digest, str) and isinstance(summary, str) and isinstance(counts, bytes), "a pool of another type"
    )
    return StoredPool(digest, summary, counts)


def _inputs(text: str) -> Inputs | None:
    if not text:
        return None
    found = Inputs.from_json(text)
    for part in (found, *found.merged):
        places = {**vars(part), "merged": "", "images": "", "allow_missing": ""}
        _require(_are(places.values(), (str, type(None))), "places that are no texts")
        _require(_are(part.images, str) and isinstance(part.allow_missing, bool), "images that are no names")
    return found


@functools.lru_cache(maxsize=256)  # the same few lists stand beside every image
def _texts(text: str) -> tuple[str, ...]:
    found = json.loads(text)
    _require(isinstance(found, list) and _are(found, str), "notes that are no texts")
    return tuple(map(_printable, found))


@functools.lru_cache(maxsize=256)  # as above
def _numbers(text: str) -> tuple[float, ...]:
    found = json.loads(text)
    _require(isinstance(found, list) and _are(found, (int, float)), "values that are no numbers")
    return tuple(found)


def _are(values: Any, kind: type | tuple[type, ...]) -> bool:  # noqa: ANN401  any iterable
    return all(isinstance(value, kind) for value in values)


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _printable(text: str) -> str:
    return "\n".join(map(shown, text.split("\n")))
