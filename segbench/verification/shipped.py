"""Numbers from the data that ship: the papers' own examples, and the README's table of the demo.

Images and arrays are counted as any others; some examples give a curve by its points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from segbench.core.numbers import number_below
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import AreaMethod, auc_pr, auc_roc
from segbench.curves.conversion import from_pr
from segbench.curves.curve import Curve, pr_curve, roc_curve
from segbench.loaders.presets import shipped
from segbench.verification.checks import Check, VerifiedPart, compare_texts, counted, expected, small_group

_METRIC = re.compile(r"(?:its )?(\w+)(?:(, | at recall | at level | of point | at )(.+))?")
"""A metric in a row of ``papers.toml``, and where on the curve it is read."""


def paper_parts() -> list[VerifiedPart]:
    """Return one part per paper."""
    return [
        VerifiedPart(paper["title"], [small_group(case["name"], partial(_example, case)) for case in paper["case"]])
        for paper in expected("papers")["paper"]
    ]


def demo_part() -> VerifiedPart:
    """Return the table that `segbench demo` prints, as the README shows it."""
    methods = expected("demo")["methods"].items()
    groups = [small_group(method, partial(_demo_method, method, texts)) for method, texts in methods]
    return VerifiedPart("The demo's table, nine photographs that ship with segbench", groups)


def _demo_method(method: str, texts: Sequence[str]) -> Iterator[Check]:
    table = expected("demo")
    _, summary = _pixels(shipped("demo") / "objects", f"predictions/{method}")
    printed = {**summary, "ods_threshold": float(number_below(summary["ods_threshold"]))}  # rounded down
    yield from compare_texts(dict(zip(table["metrics"], texts, strict=True)), printed, table["source"])


def _example(case: Mapping[str, Any]) -> Iterator[Check]:
    counts, summary = _counts_of(case)
    for row in case["metrics"]:
        metric, between = row["metric"], row.get("between", ())
        measured = {metric: _read(metric, counts, summary, between)}
        for check in compare_texts({metric: row["is"]}, measured, row["source"]):
            yield replace(check, note=row.get("note", ""))


def _counts_of(case: Mapping[str, Any]) -> tuple[ScoreCounts, Mapping[str, float]]:
    """Return the pooled counts of an example and its summary: that of files, or the areas of a curve by its points."""
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


def _read(metric: str, counts: ScoreCounts, summary: Mapping[str, float], between: Sequence[float]) -> float:
    """Read a metric of the set, or of the curve at a threshold, level, recall or point; or measure its area."""
    form: Any = _METRIC.fullmatch(metric)
    name, where, at = form.groups()
    if where is None:
        return summary[name]
    if where == ", ":
        return _area(counts, at, between)
    if where == " at recall ":  # as the curve is drawn, between measured points too
        return float(np.interp(float(at), *pr_curve(counts).line("pr")))
    if where == " of point ":
        return float(getattr(roc_curve(counts), name)[int(at)])
    threshold = float(at) / 255 if where == " at level " else float(at)
    return float(getattr(roc_curve(counts.at([threshold])), name)[1])


def _area(counts: ScoreCounts, method: AreaMethod, between: Sequence[float]) -> float:
    if not between:
        return auc_pr(counts, method=method)
    curve = pr_curve(counts)
    first, last = (int(np.searchsorted(curve.recall, recall)) for recall in between)
    return _area_after(curve, first, method) - _area_after(curve, last, method)


def _area_after(curve: Curve, k: int, method: AreaMethod) -> float:
    """Measure the curve that starts at point k; up to it, precision is then constant by every method."""
    remaining = ScoreCounts.from_points(curve.tp[k:], curve.fp[k:], curve.positives, curve.negatives)
    return auc_pr(remaining, method=method) - float(curve.precision[k] * curve.recall[k])
