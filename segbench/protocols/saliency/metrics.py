"""The metrics of the saliency protocol, their curves, and the table that computes both from sums over images.

Begin with `METRICS` and `SaliencyTable.formulas`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.counts import Pooled, as_pooled
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.metric import Metric, shares
from segbench.core.numbers import number
from segbench.core.series import Space
from segbench.core.table import CountsTable, Sums
from segbench.curves.curve import Drawn
from segbench.protocols.common_thresholds import precision_at
from segbench.protocols.saliency.counts import CURVES, LEVELS, SCALARS, UNITS, SaliencyCounts

BETA2 = 0.3
"""The weight of precision in F."""
_E = (0.0, 2.0)  # N / (N - 1) of a perfect map of N pixels

Values = TypeVar("Values", float, FloatArray)

_OF_MEAN_CURVES = (
    "e_max", "f_max", "f_max_threshold", "f_max_of_mean_pr", "iou_max", "dice_max", "specificity_max",
)  # fmt: skip

METRICS = shares(
    Metric(
        key="s_measure", title="S", symbol=r"S_\alpha", better="higher", image_key="s_measure", headline=True,
        compared=True, note="structure measure",
    ),
    Metric(
        key="e_max", title="max", symbol=r"E_\phi^{\max}", better="higher", range=_E, image_key="e_max",
        image_title="E max", compared=True, priority=1, group="E", note="enhanced alignment",
    ),
    Metric(
        key="e_mean", title="mean", symbol=r"E_\phi^{\mathrm{mean}}", better="higher", range=_E, image_key="e_mean",
        image_title="E mean", compared=True, group="E", note="enhanced alignment",
    ),
    Metric(
        key="e_adaptive", title="adp", symbol=r"E_\phi^{\mathrm{adp}}", better="higher", range=_E,
        image_key="e_adaptive", image_title="E adp", compared=True, priority=2, group="E", note="enhanced alignment",
    ),
    Metric(
        key="f_max", title="max", symbol=r"F_\beta^{\max}", better="higher", image_key="f_max", image_title="F max",
        compared=True, group="F", note="F measure; max of its mean curve, at one threshold tuned on these images",
    ),
    Metric(
        key="f_mean", title="mean", symbol=r"F_\beta^{\mathrm{mean}}", better="higher", image_key="f_mean",
        image_title="F mean", compared=True, priority=4, group="F",
    ),
    Metric(
        key="f_adaptive", title="adp", symbol=r"F_\beta^{\mathrm{adp}}", better="higher", image_key="f_adaptive",
        image_title="F adp", compared=True, priority=3, group="F", note="at twice the mean score of each map",
    ),
    Metric(
        key="weighted_f", title="Fw", symbol=r"F_\beta^w", better="higher", image_key="weighted_f", compared=True,
        note="weighted F measure",
    ),
    Metric(
        key="mae", title="MAE", symbol=r"\mathcal{M}", better="lower", image_key="mae", compared=True,
        note="mean absolute error",
    ),
    Metric(key="f_max_threshold", kind="threshold", spread="erratic"),
    Metric(key="f_max_of_image", better="higher"),
    Metric(key="f_max_of_mean_pr", better="higher"),
    Metric(key="mean_iou", better="higher", image_key="mean_iou", image_title="mean IoU"),
    Metric(key="mean_dice", better="higher", image_key="mean_dice", image_title="mean Dice"),
    Metric(key="iou_max", better="higher", note="max of the mean IoU curve"),
    Metric(key="dice_max", better="higher", note="max of the mean Dice curve"),
    Metric(key="sensitivity_mean", better="higher", note="mean of the mean recall curve"),
    Metric(key="specificity_mean", better="higher", note="mean of the mean specificity curve"),
    Metric(key="specificity_max", better="higher", note="max of the mean specificity curve"),
    Metric(key="ber", better="lower", image_key="ber", image_title="BER"),
)  # fmt: skip
METRICS = tuple(
    replace(metric, mean_over_images=metric.key not in _OF_MEAN_CURVES, adds_up=False) for metric in METRICS
)


class SaliencyTable(CountsTable[SaliencyCounts]):
    """Sums of many images in sorted order of their names."""

    metrics = METRICS
    counts = SaliencyCounts

    @cached_property
    def columns(self) -> Mapping[str, IntArray]:
        """The curves of each image, the other metrics by name, and how many images it adds up; see `SaliencyCounts`."""
        images = [*self.ordered]
        curves = {name: np.array([getattr(counts, name) for counts in images]) for name in CURVES}
        return curves | {name: np.array([getattr(counts, name) for counts in images]) for name in (*SCALARS, "images")}

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself; the counts of images are never all in memory at once."""
        if not self.images:
            return np.full(len(self.metrics), np.nan)
        pooled = self.pooled
        sums = {name: np.array([getattr(pooled, name)]) for name in (*CURVES, *SCALARS, "images")}
        row: FloatArray = self.scored(Sums(sums, sums["images"]))[0]
        return row

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        units = UNITS * of["images"]
        precision, recall, f, e, iou, dice, specificity = (of[name] / units[:, np.newaxis] for name in CURVES)
        return {
            **{name: of[name] / units for name in SCALARS},
            "e_max": e.max(axis=1),
            "e_mean": e.mean(axis=1),
            "f_max": f.max(axis=1),
            "f_max_threshold": np.where(np.isnan(f[:, 0]), np.nan, f.argmax(axis=1) / (LEVELS - 1)),
            "f_mean": f.mean(axis=1),
            "f_max_of_mean_pr": f_measure(precision, recall).max(axis=1),
            "mean_iou": iou.mean(axis=1),
            "iou_max": iou.max(axis=1),
            "mean_dice": dice.mean(axis=1),
            "dice_max": dice.max(axis=1),
            "sensitivity_mean": recall.mean(axis=1),
            "specificity_mean": specificity.mean(axis=1),
            "specificity_max": specificity.max(axis=1),
        }

    @property
    def curve(self) -> SaliencyCurve:
        """Every mean at each threshold."""
        return saliency_curve(self.pooled)

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Interpolate the mean precision of each row of sums at the recalls `at`, see `Table`."""
        if space == "roc":
            raise ArgumentError(Message("no-roc", "saliency has no ROC curve: its papers report precision and recall"))
        units = UNITS * np.where(of["images"] > 0, of["images"], np.nan)[:, np.newaxis]
        return precision_at(at, of["recall"] / units, of["precision"] / units)


def f_measure(precision: Values, recall: Values) -> Values:
    """Compute F of precision and recall, 0 if either is 0; of arrays, or compiled for numbers."""
    numerator = (1 + BETA2) * precision * recall
    return numerator / (BETA2 * precision + recall + (numerator == 0))


@dataclass(frozen=True, eq=False, repr=False)
class SaliencyCurve(Drawn):
    """Precision, recall, F, E, IoU, Dice and specificity at rising thresholds, each the mean over images.

    Parameters
    ----------
    thresholds, precision, recall, f, e, iou, dice, specificity : array of float64, shape (256,)
        Thresholds are 0, 1/255, .. 1. F is not that of the mean precision and recall.
    """

    measure: ClassVar[str] = "f"
    beta2 = BETA2
    best: ClassVar[Mapping[str, str]] = {"f": "f_max", "e": "e_max"}

    thresholds: FloatArray
    precision: FloatArray
    recall: FloatArray
    f: FloatArray
    e: FloatArray
    iou: FloatArray
    dice: FloatArray
    specificity: FloatArray

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """Thresholds and every mean."""
        return {"threshold": self.thresholds, **{name: getattr(self, name) for name in CURVES}}

    @property
    def caption(self) -> str:
        """The maximum of mean F."""
        return f"max F {number(float(self.f.max()))}"

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Precision-recall, of means over images."""
        return ("pr",)

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """F and E."""
        return {"F": self.f, "E": self.e}


def saliency_curve(counts: SaliencyCounts | Pooled) -> SaliencyCurve:
    """Return mean precision, recall, F, E, IoU, Dice and specificity at each threshold.

    Parameters
    ----------
    counts : SaliencyCounts, or Result for its pooled counts
        Of one image, or of many added up.

    Returns
    -------
    SaliencyCurve
        At 256 thresholds.

    Raises
    ------
    ArgumentError
        For counts of another kind.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count
    >>> curve = saliency_curve(count(np.eye(2) > 0, np.eye(2), "saliency"))
    >>> curve.f[[0, 1, 255]].round(4).tolist()
    [0.5652, 1.0, 1.0]
    """
    pooled = as_pooled(counts, SaliencyCounts)
    means = (sums / (pooled.images * UNITS) for sums in pooled.rows)
    return SaliencyCurve(np.arange(LEVELS) / (LEVELS - 1), *means)
