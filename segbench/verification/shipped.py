"""Numbers from the data that ship: the papers' own examples, and the README's table of the demo.

Images and arrays are counted as any others; some examples give a curve by its points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from segbench.core.numbers import number
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import AreaMethod, auc_pr, auc_roc
from segbench.curves.conversion import from_pr
from segbench.curves.curve import Curve, pr_curve, roc_curve
from segbench.loaders.presets import shipped
from segbench.verification.checks import Check, Part, compare_texts, counted, expected, small_group


def paper_parts() -> list[Part]:
    """Give a part a paper."""
    return [
        Part(paper["title"], [small_group(case["name"], partial(_example, case)) for case in paper["case"]])
        for paper in expected("papers")["paper"]
    ]


def demo_part() -> Part:
    """Give the table that `segbench demo` prints, as the README shows it."""
    methods = expected("demo")["methods"].items()
    groups = [small_group(method, partial(_demo_method, method, texts)) for method, texts in methods]
    return Part("The demo's table, nine photographs that ship with segbench", groups)


def _demo_method(method: str, texts: Sequence[str]) -> Iterator[Check]:
    table = expected("demo")
    _, summary = _pixels(shipped("demo") / "objects", f"predictions/{method}")
    yield from compare_texts(dict(zip(table["metrics"], texts, strict=True)), summary, table["source"])


def _example(case: Mapping[str, Any]) -> Iterator[Check]:
    counts, summary = _counts_of(case)
    for row in case["metrics"]:
        reading = Reading(**{key: value for key, value in row.items() if key not in {"is", "source", "note"}})
        found = {reading.name: reading.of(counts, summary)}
        for check in compare_texts({reading.name: row["is"]}, found, row["source"]):
            yield replace(check, note=row.get("note", ""))


def _counts_of(case: Mapping[str, Any]) -> tuple[ScoreCounts, Mapping[str, float]]:
    """Give the pooled counts of an example and its summary: that of files, or the areas of a curve by its points."""
    if "data" in case:
        return _pixels(shipped("papers") / case["data"], case.get("predictions", "predictions"))
    if "points" in case:
        counts = ScoreCounts.from_points(**case["points"])
    else:
        points = case["pr_points"]
        rates = ([float(Fraction(text)) for text in points[key]] for key in ("recall", "precision"))
        counts = from_pr(*rates, positives=points["positives"], negatives=points["negatives"])
    return counts, {"auc_roc": auc_roc(counts), "auc_pr": auc_pr(counts)}


def _pixels(folder: Path, predictions: str) -> tuple[ScoreCounts, Mapping[str, float]]:
    result = counted(folder / "ground_truth", folder / predictions)
    pooled: Any = result.pooled
    return pooled, result.summary


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A metric of pixel counts, and where on the curve it is read."""

    metric: str  # a key of the summary, or tp, fp, fpr, tpr, recall, precision of a point
    threshold: float | None = None  # of the point
    level: int | None = None  # its threshold * 255, of 8-bit predictions
    point: int | None = None  # its place on the curve, from 1, where there are no scores
    recall: float | None = None  # at which the curve is read as it is drawn, between measured points too
    method: AreaMethod | None = None  # of measuring `auc_pr`
    between: tuple[float, float] | None = None  # recalls of two points, of `auc_pr`

    @property
    def name(self) -> str:
        """What tables call it."""
        name = self.metric if self.method is None else f"{self.metric}, {self.method}"
        if self.between is not None:
            return f"its {name}"
        if self.threshold is not None:
            return f"{name} at {f'{self.threshold:g}'.removeprefix('0')}"
        if self.level is not None:
            return f"{name} at level {self.level}"
        if self.point is not None:
            return f"{name} of point {self.point}"
        return name if self.recall is None else f"{name} at recall {number(self.recall, digits=2)}"

    def of(self, counts: ScoreCounts, summary: Mapping[str, float]) -> float:
        """Read it from pooled counts, or from the summary of the whole set."""
        if self.method is not None:
            return _area(counts, self.method, self.between)
        if self.recall is not None:
            return float(np.interp(self.recall, *pr_curve(counts).line("pr")))
        threshold = self.threshold if self.level is None else self.level / 255
        if threshold is not None:
            return float(getattr(roc_curve(counts.at([threshold])), self.metric)[1])
        if self.point is not None:
            return float(getattr(roc_curve(counts), self.metric)[self.point])
        return summary[self.metric]


def _area(counts: ScoreCounts, method: AreaMethod, between: tuple[float, float] | None) -> float:
    if between is None:
        return auc_pr(counts, method=method)
    curve = pr_curve(counts)
    first, last = (int(np.searchsorted(curve.recall, recall)) for recall in between)
    return _area_after(curve, first, method) - _area_after(curve, last, method)


def _area_after(curve: Curve, k: int, method: AreaMethod) -> float:
    """Measure the curve that starts at point k; up to it, precision is then constant by every method."""
    rest = ScoreCounts.from_points(curve.tp[k:], curve.fp[k:], curve.positives, curve.negatives)
    return auc_pr(rest, method=method) - float(curve.precision[k] * curve.recall[k])
