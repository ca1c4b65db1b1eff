"""The metrics of centerlines, and the table that computes them from the counts of its images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, left_out_note, shares, zero_note
from segbench.core.numbers import number
from segbench.core.table import CountsTable, Sums
from segbench.curves.curve import Drawn
from segbench.protocols.centerlines.counts import ERRORS, ERRORS_OF_VOLUMES, CenterlineCounts, parts_of
from segbench.protocols.common_thresholds import in_order

_NO_END = (0.0, math.inf)
_TITLES = {"betti0": "β0", "betti1": "β1", "betti2": "β2", "euler": "χ"}
_OF_IMAGES = "difference in components (β0), holes (β1) and β0 - β1 (χ)"
_OF_VOLUMES = "difference in components (β0), tunnels (β1), cavities (β2) and β0 - β1 + β2 (χ)"


def _error(name: str, note: str = "") -> Metric:
    """Describe an error of topology of whole images or volumes."""
    return Metric(
        key=f"{name}_error", title=_TITLES[name], better="lower", range=_NO_END,
        image_key=f"{name}_error", image_title=_TITLES[name],
        compared=True, mean_over_images=True, adds_up=False, group="error",
        note=note,
    )  # fmt: skip


def _errors(names: Sequence[str], note: str) -> list[Metric]:
    """Describe errors of topology, the first of them with a note on all."""
    return [_error(name, "" if place else note) for place, name in enumerate(names)]


def _error_in_patches(name: str) -> Metric:
    """Describe an error of topology of patches."""
    return replace(
        _error(name), key=f"{name}_error_patches",
        image_key=f"{name}_error_patches", image_title=f"{_TITLES[name]} patches",
        priority=2, group="error in patches", note="in patches of 64 x 64 pixels" if name == "betti0" else "",
    )  # fmt: skip


_OF_SKELETONS = (
    Metric(
        key="cldice", title="pooled", better="higher", image_key="cldice", image_title="clDice", headline=True,
        compared=True, group="clDice", note="of the pixels of all images together",
    ),
    Metric(
        key="cldice_images", title="mean", better="higher", compared=True, group="clDice", mean_over_images=True,
        note="over images, as papers report it",
    ),
    Metric(
        key="cldice_precision", title="P", better="higher", image_key="cldice_precision", image_title="P",
        compared=True, priority=1, note="share of the predicted skeleton inside the ground truth",
    ),
    Metric(
        key="cldice_sensitivity", title="R", better="higher", image_key="cldice_sensitivity", image_title="R",
        compared=True, priority=1, note="share of the true skeleton inside the prediction",
    ),
)  # fmt: skip
METRICS = shares(*_OF_SKELETONS, *_errors(ERRORS, _OF_IMAGES), *map(_error_in_patches, ERRORS))
METRICS_OF_VOLUMES = shares(*_OF_SKELETONS, *_errors(ERRORS_OF_VOLUMES, _OF_VOLUMES))
THRESHOLD = Metric(
    key="cldice_threshold", title="at", image_key="threshold", kind="threshold", spread="jumps", group="clDice",
    note="best pooled clDice with one threshold for all images",
)  # fmt: skip


def at_best(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of soft maps over thresholds, at the best one, which need not be that of an image by itself.

    The threshold itself comes second.
    """
    headline, *others = metrics
    return headline, THRESHOLD, *(replace(metric, spread="jumps", mean_over_images=False) for metric in others)


class CenterlineTable(CountsTable[CenterlineCounts]):
    """Counts of centerlines of many images in sorted order of their names."""

    counts = CenterlineCounts
    means = ("cldice", *ERRORS_OF_VOLUMES, *(f"{name}_patches" for name in ERRORS))

    def __init__(self, per_image: Mapping[str, CenterlineCounts], metrics: tuple[Metric, ...]) -> None:
        super().__init__(per_image)
        self.metrics = metrics

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """What clDice is computed from, shape (images, 6, K); clDice and errors of each image, shape (images, K)."""
        images = [*in_order(self.per_image)]
        patches = np.array([[counts.patches or math.nan] for counts in images])
        return {
            "pixels": np.array([counts.columns for counts in images], np.int64),
            "cldice": np.array([counts.cldice for counts in images]),
            **{name: np.array([getattr(counts, name) for counts in images], np.float64) for name in ERRORS_OF_VOLUMES},
            **{
                f"{name}_patches": np.array([getattr(counts, f"{name}_patches") for counts in images]) / patches
                for name in ERRORS
            },
        }

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        precision, sensitivity, cldice = parts_of(of["pixels"])
        threshold = _best(cldice)
        best = np.arange(len(of)), threshold
        return {
            "cldice": cldice[best],
            "cldice_images": of["cldice"][best],
            "cldice_precision": precision[best],
            "cldice_sensitivity": sensitivity[best],
            "cldice_threshold": np.where(np.isnan(cldice[best]), np.nan, self._thresholds[threshold]),
            **{f"{name}_error": of[name][best] for name in ERRORS_OF_VOLUMES},
            **{f"{name}_error_patches": of[f"{name}_patches"][best] for name in ERRORS},
        }

    @property
    def image_weights(self) -> Mapping[str, Any]:
        """Pixels of the true skeleton of each image; for means over images whether it is in them."""
        pixels = [counts.true_skeleton for counts in self.ordered]
        has_patches = [counts.patches > 0 for counts in self.ordered]
        return {
            **dict.fromkeys(("cldice", "cldice_precision", "cldice_sensitivity", "cldice_threshold"), pixels),
            "cldice_images": ~np.isnan(self.columns["cldice"]).all(axis=1),
            **dict.fromkeys((f"{name}_error_patches" for name in ERRORS), has_patches),
        }

    def why_undefined(self, metric: Metric) -> Message:
        if not self.images:
            return Message("no-images", "no image was counted")
        if metric.key.endswith("_patches"):
            return Message("no-patches", "no image has room for a patch of 64 by 64 pixels")
        if metric.key in ("cldice_precision", "cldice_sensitivity"):
            side = "prediction" if metric.key.endswith("precision") else "ground truth"
            return Message("no-skeleton", "the {side} has no skeleton", side=side)
        return Message("no-skeletons", "all masks are empty, or without a skeleton")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say how many images are in no mean, and how many count as 0 in clDice, at the threshold of the metrics."""
        if not self.images:
            return ()
        mean = next(metric for metric in self.metrics if metric.key == "cldice_images")
        best = _best(self.pooled.cldice)
        empty = sum(bool(np.isnan(counts.cldice[best])) for counts in self.ordered)
        false_alarms = sum(bool(counts.true_area == 0 < counts.area[best]) for counts in self.ordered)
        small = sum(counts.patches == 0 for counts in self.ordered)
        of_patches = [metric for metric in self.metrics if metric.key.endswith("_patches")]
        return (
            *left_out_note([mean], "both masks empty", empty, self.images),
            *zero_note([mean], false_alarms, self.images),
            *left_out_note(of_patches[:1], "smaller than a patch", small, self.images),
        )

    @property
    def curve(self) -> CenterlineCurve | None:
        """ClDice and its parts at each threshold; None of masks."""
        pooled = self.pooled
        if pooled.thresholds.size == 1:
            return None
        return CenterlineCurve(pooled.thresholds, pooled.cldice, pooled.precision, pooled.sensitivity)

    @property
    def _thresholds(self) -> FloatArray:
        return next(self.ordered).thresholds


def _best(cldice: FloatArray) -> NDArray[np.intp]:
    """Find the threshold of the highest clDice, the first of equals, along the last axis."""
    return np.asarray(np.argmax(np.nan_to_num(cldice, nan=-1), axis=-1))


@dataclass(frozen=True, eq=False, repr=False)
class CenterlineCurve(Drawn):
    """ClDice at rising thresholds.

    Parameters
    ----------
    thresholds, cldice, precision, sensitivity : array of float64, shape (K,)
        In [0, 1]; nan where undefined.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import Centerlines, evaluate
    >>> truth, scores = np.zeros((2, 7, 9))
    >>> truth[2:5, 1:8], scores[2:5, 1:8], scores[2:5, 1:5] = 1, 0.5, 0.9
    >>> curve = evaluate([(truth, scores)], protocol=Centerlines(thresholds=[0.4, 0.6])).curve
    >>> curve.precision.tolist(), curve.sensitivity.round(3).tolist(), curve.cldice.round(3).tolist()
    ([1.0, 1.0], [1.0, 0.667], [1.0, 0.8])
    """

    measure: ClassVar[str] = "cldice"

    thresholds: FloatArray
    cldice: FloatArray
    precision: FloatArray
    sensitivity: FloatArray

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """Thresholds and every metric at each."""
        return {
            "threshold": self.thresholds,
            "cldice": self.cldice,
            "precision": self.precision,
            "sensitivity": self.sensitivity,
        }

    @property
    def caption(self) -> str:
        """The best clDice."""
        _, cldice = self.against_threshold()
        return f"clDice {number(max(cldice.tolist(), default=math.nan))}"

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """What plots and pages show, by name."""
        return {"clDice": self.cldice, "P": self.precision, "R": self.sensitivity}
