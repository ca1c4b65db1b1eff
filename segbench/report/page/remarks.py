"""What must be known about a section's figures: notes, what is undefined and why, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from segbench.aggregator.result import Result
from segbench.report.image_sets import set_notes
from segbench.report.ranking import bin_notes
from segbench.report.whose import with_names
from segbench.statistics.intervals import Intervals

SHOWN = 100
"""Failures listed on the page."""


@dataclass(frozen=True)
class Remark:
    """One remark; `details` are lines to unfold."""

    text: str
    kind: Literal["note", "undefined", "failed"] = "note"
    details: tuple[str, ...] = ()


def remarks(results: Sequence[Result], names: Sequence[str], intervals: Sequence[Intervals]) -> list[Remark]:
    """Give the remarks on some results, what failed first."""
    found = []
    for name, result in zip(names, results, strict=True):
        if result.failed:
            count = len(result.failed)
            listed = tuple(result.failed.values())[:SHOWN]
            more = (f"and {count - SHOWN} more: segbench show --format json",) if count > SHOWN else ()
            text = f"{name}: {count} image{'s'[: count != 1]} could not be counted, in no figure"
            found.append(Remark(text, "failed", (*listed, *more)))
    found += [Remark(note, "undefined") for note in set_notes(results, names)]
    found += [Remark(note) for note in bin_notes(results, names)]
    for name, result in zip(names, results, strict=True):
        reasons: dict[str, list[str]] = {}
        for key, reason in result.summary.undefined.items():
            reasons.setdefault(reason, []).append(key)
        figures = sum(key not in ("positives", "negatives", "ignored") for key in result.summary)
        for reason, keys in reasons.items():
            said = "every figure" if len(keys) == figures else ", ".join(keys)
            found.append(Remark(f"{name}: {said} undefined: {reason}", "undefined"))
    noted = [
        f"{name}: {note}"
        for name, result in zip(names, results, strict=True)
        for note in (*result.notes, *result.summary.notes)
    ]
    noted += with_names([drawn.notes for drawn in intervals], names) if intervals else []
    return found + [Remark(text) for text in dict.fromkeys(noted)]
