"""Figures asked for by name, from counts: what the tables of expectations may ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from segbench.core.numbers import number
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr
from segbench.curves.curve import Curve, pr_curve, roc_curve

Method = Literal["exact", "trapezoid", "linear"]

_NAMES = {
    "auc_roc": "AUC-ROC",
    "auc_pr": "AUC-PR",
    "auc_pr_achievable": "AUC-PR, hull",
    "average_precision": "AP",
    "ods_f": "ODS F",
    "ods_threshold": "ODS threshold",
    "ods_precision": "ODS precision",
    "ods_recall": "ODS recall",
    "iou": "IoU",
    "ois_f": "OIS F",
    "ois_precision": "OIS precision",
    "ois_recall": "OIS recall",
    "mean_image_f": "mean of images' F",
    "fpr_at_95_tpr": "FPR at TPR .95",
    "area_pr": "Area_PR",
    "covering_ods": "covering, ODS",
    "covering_ods_threshold": "covering, ODS threshold",
    "covering_ois": "covering, OIS",
    "covering_best": "covering, best",
    "pri_ods": "PRI, ODS",
    "pri_ods_threshold": "PRI, ODS threshold",
    "pri_ois": "PRI, OIS",
    "voi_ods": "VOI, ODS",
    "voi_ods_threshold": "VOI, ODS threshold",
    "voi_ois": "VOI, OIS",
    "fpr": "FPR",
    "tpr": "TPR",
    "tp": "true positives",
    "fp": "false positives",
}


def figure_name(key: str) -> str:
    """Say what the field calls a figure."""
    return _NAMES.get(key, key)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of pixel counts: which, and where on the curve.

    Parameters
    ----------
    figure : str
        A key of the summary; or ``tp``, ``fp``, ``fpr``, ``tpr``, ``recall``, ``precision`` of a point.
    threshold : float, optional
        The point with ``score >= threshold``.
    level : int, optional
        The same for 8-bit predictions: ``threshold = level / 255``.
    point : int, optional
        The point by its place on the curve, the first being 1; for curves without scores.
    recall : float, optional
        The point at this recall on the curve as it is drawn, between measured points too.
    method : {"exact", "trapezoid", "linear"}, optional
        Of ``auc_pr``, how it is measured.
    between : pair of float, optional
        Of ``auc_pr``, the recalls of the two points between which it is measured.
    """

    figure: str
    threshold: float | None = None
    level: int | None = None
    point: int | None = None
    recall: float | None = None
    method: Method | None = None
    between: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """What tables call it."""
        name = figure_name(self.figure)
        if self.method is not None:
            name += f", {self.method}"
        if self.between is not None:
            return f"its {name}"
        if self.threshold is not None:
            return f"{name} at {_short(self.threshold)}"
        if self.level is not None:
            return f"{name} at level {self.level}"
        if self.point is not None:
            return f"{name} of point {self.point}"
        return name if self.recall is None else f"{name} at recall {number(self.recall, digits=2)}"

    def of(self, counts: ScoreCounts, summary: Mapping[str, float]) -> float:
        """Derive it from pooled counts, or look it up in the summary of the whole set."""
        if self.method is not None:
            return _area(counts, self.method, self.between)
        if self.recall is not None:
            recalls, precisions = pr_curve(counts).line("pr")
            return float(np.interp(self.recall, recalls, precisions))
        threshold = self.threshold if self.level is None else self.level / 255
        if threshold is not None:
            return float(_point(counts.at([threshold]), self.figure, 1))
        if self.point is not None:
            return float(_point(counts, self.figure, self.point))
        return summary[self.figure]


def _area(counts: ScoreCounts, method: Method, between: tuple[float, float] | None) -> float:
    if between is None:
        return auc_pr(counts, method=method)
    curve = pr_curve(counts)
    first, last = (int(np.searchsorted(curve.recall, recall)) for recall in between)
    return _area_after(curve, first, method) - _area_after(curve, last, method)


def _area_after(curve: Curve, k: int, method: Method) -> float:
    """Measure the curve that starts at point k; up to it, precision is then constant by every method."""
    rest = ScoreCounts.from_points(curve.tp[k:], curve.fp[k:], curve.positives, curve.negatives)
    return auc_pr(rest, method=method) - float(curve.precision[k] * curve.recall[k])


def _point(counts: ScoreCounts, figure: str, place: int) -> Any:  # noqa: ANN401  a NumPy number
    return getattr(roc_curve(counts), figure)[place]


def _short(value: float) -> str:
    return f"{value:g}".removeprefix("0")
