"""The metrics of the boundary benchmark, and the table that computes them from the counts of its images.

The conventions are those of `segbench.protocols.boundaries.curve`, rules 1 to 5. The sum of ``mean_image_f`` is rounded
once, so that it does not depend on the order of the images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import MEAN_UNITS, BoolArray, FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, left_out_note, shares, zero_note
from segbench.core.numbers import verb
from segbench.core.series import Space
from segbench.core.table import ColumnLayout, CountsTable, Sums
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import POOLED, BoundaryCurve, boundary_curve, f_of, measured_curves, ratio
from segbench.protocols.common_thresholds import in_order, precision_at

_AREA = (0.0, 1.01)

METRICS = shares(
    Metric(
        key="ods_f", title="F", better="higher", headline=True, compared=True, group="ODS",
        note="best F with one threshold for all images",
    ),
    Metric(key="ods_precision", title="P", spread="jumps", priority=7, group="ODS"),
    Metric(key="ods_recall", title="R", spread="jumps", priority=6, group="ODS"),
    Metric(
        key="ods_threshold", title="at", kind="threshold", spread="jumps", group="ODS", note="threshold of the best F",
    ),
    Metric(
        key="ois_f", title="F", better="higher", image_key="f", image_title="F", compared=True, group="OIS",
        note="each image at its own best threshold, counts pooled",
    ),
    Metric(key="ois_precision", title="P", image_key="precision", priority=3, group="OIS"),
    Metric(key="ois_recall", title="R", image_key="recall", priority=2, group="OIS"),
    Metric(key="", image_key="threshold", kind="threshold", spread="jumps"),
    Metric(
        key="mean_image_f", title="mean F", better="higher", compared=True, priority=4,
        mean_over_images=True, note="average of per-image best F",
    ),
    Metric(
        key="area_pr", title="AP", better="higher", range=_AREA, image_key="area_pr", compared=True,
        note="Area_PR as BSDS measures it",
    ),
    Metric(
        key="area_pr_extended", title="AP ext*", better="higher", range=_AREA, priority=1,
        note="of the curve extended to recall 1, not comparable with AP",
    ),
    Metric(key="r50", title="R50", better="higher", compared=True, priority=5, note="recall at precision .5"),
)  # fmt: skip

CRISPNESS = Metric(
    key="crispness", title="crisp", better="higher", range=(0, 1), image_key="crispness", compared=True,
    mean_over_images=True, note="what of the map suppression leaves, mean over images",
)  # fmt: skip

_OF_CURVES = ("area_pr", "area_pr_extended", "r50")
_IMAGES_AT_ONCE = 256
_ALMOST_1 = 0.99


class BoundaryTable(CountsTable[BoundaryCounts]):
    """Boundary counts of many images in sorted order of their names.

    With `with_pixels_only`, images without a pixel to match are left out: of annotators, they compare no two.
    """

    metrics = METRICS
    counts = BoundaryCounts
    means = ("f", "crispness")

    def __init__(
        self, per_image: Mapping[str, BoundaryCounts], *, with_pixels_only: bool = False, crispness: bool = False
    ) -> None:
        self._all = per_image
        self.metrics = (*METRICS, CRISPNESS) if crispness else METRICS
        if with_pixels_only:
            per_image = {name: counts for name, counts in per_image.items() if counts.has_pixels}
        super().__init__(per_image)

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The four counts of each image at each threshold, shape (images, 4, K), and those of `_image_columns`."""
        return {"counts": np.array([counts.rows for counts in in_order(self.per_image)]), **self._image_columns}

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself; images may be unpacked as they are needed, never all at once."""
        if not self.images:
            return np.full(len(self.metrics), np.nan)
        layout = ColumnLayout(
            self._image_columns, self.means
        )  # first, since it names an image counted at other thresholds
        sums = layout.named(layout.total()[np.newaxis])
        with_counts = replace(sums, values={**sums.values, "counts": np.array([self.pooled.rows])})
        estimates: FloatArray = self.scored(with_counts)[0]
        return estimates

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        counts = of["counts"]
        pooled = measured_curves(self._thresholds, *_rates(counts))
        recall, precision = _rates(of["best"])
        single_image = of.images == 1
        values = {
            **dict(zip(POOLED, pooled.T, strict=True)),
            "ois_f": f_of(recall, precision),
            "ois_precision": precision,
            "ois_recall": recall,
            "threshold": np.where(single_image, of["threshold"], np.nan),
            "mean_image_f": of["f"],
        }
        no_curve = _one_point(counts)
        if no_curve.any():
            values |= {key: np.where(no_curve, np.nan, values[key]) for key in _OF_CURVES}
            threshold = _threshold_of_masks(self._thresholds)
            values["ods_threshold"] = np.where(no_curve, threshold, values["ods_threshold"])
            values["threshold"] = np.where(single_image & no_curve, threshold, values["threshold"])
        without_pixels = np.isnan(of["f"])
        values = {key: np.where(without_pixels, np.nan, value) for key, value in values.items()}
        return {**values, "crispness": of["crispness"]}

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Ground-truth pixels of each image, for means over images whether it is in them."""
        pixels = np.array([counts.total_gt.max(initial=0) for counts in in_order(self.per_image)])
        means = {
            "mean_image_f": ~np.isnan(self._image_columns["f"]),
            "crispness": ~np.isnan(self._image_columns["crispness"]),
        }
        return {**dict.fromkeys((metric.label for metric in METRICS), pixels), **means}

    @property
    def left_out_if_lacking(self) -> Mapping[str, BoolArray]:
        """Crispness, of which an image lacks a value if its map is blank."""
        return {"crispness": np.ones(self.images, np.bool_)} if CRISPNESS in self.metrics else {}

    def may_be_restricted(self, metric: Metric) -> bool:
        return metric.key == "crispness"

    def why_undefined(self, metric: Metric) -> Message:
        if not self.images:
            no_image = Message("no-images", "no image was counted")
            return Message("no-annotators", "no boundaries of two annotators") if self._all else no_image
        if metric.key == "crispness":
            return Message("blank-maps", "maps are blank, or no soft maps")
        if np.isnan(self._image_columns["f"]).all():
            return Message("no-boundaries", "no boundary pixel in the ground truth or the prediction")
        if self._thresholds.size == 1:
            return Message("one-threshold", "one threshold makes no curve")
        if self._all_are_masks:
            return Message("masks", "masks, alike at every threshold, make no curve")
        return Message("never-half", "no threshold has precision .5")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say which images mean F leaves out (of annotators, the run says so), or has as 0; why an area exceeds 1."""
        mean = next(metric for metric in self.metrics if metric.key == "mean_image_f")
        has_f = ~np.isnan(self._image_columns["f"])
        without_pixels = int(np.count_nonzero(~has_f))
        without_ground_truth = int(np.count_nonzero((self.image_weights["ods_f"] == 0) & has_f))
        notes = (
            *left_out_note([mean], "without a boundary pixel", without_pixels, self.images),
            *zero_note([mean], without_ground_truth, self.images),
        )
        estimates = zip(self.metrics, self.estimates.tolist(), strict=True)
        above_1 = [metric.title for metric, value in estimates if metric.range == _AREA and value > 1]
        if not above_1:
            return notes
        areas = Message(
            "area-above-1",
            "{areas} {verb} above 1: the official code adds 101 steps of .01, so a perfect curve has 1.01",
            areas=" and ".join(above_1),
            verb=verb(len(above_1), "are"),
        )
        return (*notes, Note(areas))

    @cached_property
    def _all_are_masks(self) -> bool:
        return bool(_one_point(np.array([self.pooled.rows]))[0])

    @property
    def pooled(self) -> BoundaryCounts:
        return BoundaryCounts.sum(self._all[name] for name in sorted(self._all))

    @property
    def curve(self) -> BoundaryCurve:
        """Recall and precision of the pooled counts."""
        return boundary_curve(self.pooled)

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read precision of each row of sums off at some recalls, straight between thresholds; see `Table`."""
        if space == "roc":
            raise ArgumentError(Message("no-roc", "boundary counts have no ROC curve: true negatives are undefined"))
        return precision_at(at, *_rates(of["counts"]))

    @cached_property
    def _thresholds(self) -> FloatArray:
        return next(iter(self.per_image.values())).thresholds

    @cached_property
    def _image_columns(self) -> Mapping[str, NDArray[Any]]:
        """At the best threshold of each image its four counts, F (nan without a pixel) and the threshold; crispness."""
        images = in_order(self.per_image)
        batches = []
        while batch := list(islice(images, _IMAGES_AT_ONCE)):
            batches.append(_best_of(batch))
        if not batches:
            return {
                "best": np.empty((0, 4), np.int64),
                "f": np.empty(0),
                "threshold": np.empty(0),
                "crispness": np.empty(0),
            }
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def _rates(counts: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Compute recall and precision of counts, shape (rows, 4, K) or (rows, 4)."""
    matched_gt, total_gt, matched_pred, total_pred = np.moveaxis(counts, 1, 0)
    return ratio(matched_gt, total_gt), ratio(matched_pred, total_pred)


def _one_point(counts: FloatArray) -> BoolArray:
    """Mark the rows of counts, shape (rows, 4, K), that are the same at every threshold, as those of masks are."""
    alike: BoolArray = (counts == counts[:, :, :1]).all(axis=(1, 2))
    alike &= (counts[:, 3, 0] > 0) | (counts.shape[2] == 1)
    return alike


def _threshold_of_masks(thresholds: FloatArray) -> float:
    """Return the threshold of masks, which any leaves alike: 1, as the pixel protocol has, or the highest of a list."""
    highest = float(thresholds[-1])
    return highest if thresholds.size == 1 or highest < _ALMOST_1 else 1.0


def _best_of(images: Sequence[BoundaryCounts]) -> Mapping[str, NDArray[Any]]:
    """Find the first best threshold of each image, or the last if F is 0 at all; see `BoundaryTable._image_columns`."""
    counts = np.array([image.rows for image in images])
    f = f_of(*_rates(counts))
    # Where nothing matches at any threshold, as without boundaries, the first would add the most false positives.
    last = f.shape[1] - 1
    best = np.where(f.any(axis=1), f.argmax(axis=1), last)
    rows = np.arange(len(images))
    has_pixels = counts[:, (1, 3)].max(axis=(1, 2)) > 0
    crispness = [image.crispness / MEAN_UNITS / image.maps if image.maps else np.nan for image in images]
    return {
        "best": counts[rows, :, best],
        "f": np.where(has_pixels, f[rows, best], np.nan),
        "threshold": images[0].thresholds[best],
        "crispness": np.array(crispness),
    }
