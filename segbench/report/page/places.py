"""Places of files as ``GT`` and ``PRED/method``, for blind review."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath

from segbench.aggregator.result import Result


def hiding(results: Sequence[Result], images: str | None) -> Callable[[str], str]:
    """Give what hides the places of results and of photographs in a message."""
    known: dict[str | None, str] = {images: "IMAGES"}
    for inputs in (result.inputs for result in results if result.inputs):
        for part in (inputs, *inputs.merged):
            known |= {
                part.ground_truth: "GT",
                part.prediction: f"PRED/{PurePath(part.prediction or '').name}",
                part.field: "FIELD",
                part.pairs: PurePath(part.pairs or "").name,
            }
    named = {place: name for place, name in known.items() if place}
    if not named:
        return str
    # A folder may be called `p`, and is only hidden where a path begins.
    longest_first = "|".join(map(re.escape, sorted(named, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w./-])({longest_first})(?![\w.-])")
    return lambda text: pattern.sub(lambda found: named[found[0]], text)
