"""The papers' own examples: images and arrays that ship, counted as any others, or curves given by their points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from functools import partial
from typing import Any

from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr, auc_roc
from segbench.curves.conversion import from_pr
from segbench.loaders.presets import shipped
from segbench.verification.checks import Check, Part, Progress, timed
from segbench.verification.expectations import read_expectation
from segbench.verification.figures import Figure
from segbench.verification.runs import pixels_of
from segbench.verification.tables import expected

Derived = tuple[ScoreCounts, Mapping[str, float]]


def paper_parts() -> list[Part]:
    """Give a part a paper."""
    return [Part(paper["title"], partial(_derive, paper)) for paper in expected("papers")["paper"]]


def _derive(paper: Mapping[str, Any], _executor: Executor | None, progress: Progress) -> Sequence[Check]:
    cases = paper["case"]
    checks = []
    for done, case in enumerate(cases, start=1):
        checks += timed(partial(_case, paper["title"], case))
        progress(done, len(cases))
    return checks


def _case(title: str, case: Mapping[str, Any]) -> Iterator[Check]:
    (origin,) = _ORIGINS.keys() & case.keys()
    counts, summary = _ORIGINS[origin](case)
    for row in case["figures"]:
        asked = {key: value for key, value in row.items() if key not in {"is", "source", "note"}}
        figure = Figure(**asked)
        value, allowed = read_expectation(row["is"])
        yield Check(
            part=title,
            group=case["name"],
            what=figure.name,
            expected=value,
            got=figure.of(counts, summary),
            allowed=allowed,
            source=row["source"],
            note=row.get("note", ""),
        )


def _from_files(case: Mapping[str, Any]) -> Derived:
    folder = shipped("papers") / case["data"]
    return pixels_of(folder / "ground_truth", folder / case.get("predictions", "predictions"))


def _from_points(case: Mapping[str, Any]) -> Derived:
    return _with_areas(ScoreCounts.from_points(**case["points"]))


def _from_pr_points(case: Mapping[str, Any]) -> Derived:
    points = case["pr_points"]
    recall, precision = ([float(Fraction(text)) for text in points[key]] for key in ("recall", "precision"))
    return _with_areas(
        from_pr(recall, precision, positives=points["positives"], negatives=points["negatives"]).counts()
    )


def _with_areas(counts: ScoreCounts) -> Derived:
    # Without scores there are no thresholds, and so no summary of a set of images.
    return counts, {"auc_roc": auc_roc(counts), "auc_pr": auc_pr(counts)}


_ORIGINS: Mapping[str, Callable[[Mapping[str, Any]], Derived]] = {
    "data": _from_files,
    "points": _from_points,
    "pr_points": _from_pr_points,
}
