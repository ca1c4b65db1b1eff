"""The README's table, counted again from the demo data that ship."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import partial

from segbench.loaders.presets import shipped
from segbench.verification.checks import Check, Part, Progress, timed
from segbench.verification.expectations import read_expectation
from segbench.verification.figures import figure_name
from segbench.verification.runs import pixels_of
from segbench.verification.tables import expected

TITLE = "The demo's table, nine photographs that ship"


def demo_part() -> Part:
    """Give the part."""
    return Part(TITLE, _derive)


def _derive(_executor: Executor | None, progress: Progress) -> Sequence[Check]:
    methods = expected("demo")["methods"]
    checks = []
    for done, (method, texts) in enumerate(methods.items(), start=1):
        checks += timed(partial(_method, method, texts))
        progress(done, len(methods))
    return checks


def _method(method: str, texts: Sequence[str]) -> Iterator[Check]:
    table = expected("demo")
    objects = shipped("demo") / "objects"
    _, summary = pixels_of(objects / "ground_truth", objects / "predictions" / method)
    for key, text in zip(table["figures"], texts, strict=True):
        value, allowed = read_expectation(text)
        yield Check(
            part=TITLE,
            group=method,
            what=figure_name(key),
            expected=value,
            got=summary[key],
            allowed=allowed,
            source=table["source"],
        )
