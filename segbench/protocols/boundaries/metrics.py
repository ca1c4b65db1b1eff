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
    Metric(key="ods_threshold", title="at", kind="threshold", spread="jumps", group="ODS"),
    Metric(
        key="ois_f", title="F", better="higher", image_key="f", image_title="F", compared=True, group="OIS",
        note="each image at its own, counts pooled",
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
    Metric(key="r50", title="R50", better="higher", compared=True, priority=5),
)  # fmt: skip

CRISPNESS = Metric(
    key="crispness", title="crisp", better="higher", range=(0, 1), image_key="crispness", compared=True,
    mean_over_images=True, note="what of the map suppression leaves, mean over images",
)  # fmt: skip

_AREAS = ("area_pr", "area_pr_extended", "r50")
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
            per_image = {name: each for name, each in per_image.items() if each.has_pixels}
        super().__init__(per_image)

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The four counts of each image at each threshold, shape (images, 4, K), and what `_own` gives."""
        return {"counts": np.array([counts.rows for counts in in_order(self.per_image)]), **self._own}

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself; images may be unpacked as they are needed, never all at once."""
        if not self.images:
            return np.full(len(self.metrics), np.nan)
        own = ColumnLayout(self._own, self.means)  # first, since it names an image counted at other thresholds
        sums = own.named(own.total()[np.newaxis])
        row: FloatArray = self.scored(replace(sums, values={**sums.values, "counts": np.array([self.pooled.rows])}))[0]
        return row

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        counts = of["counts"]
        pooled = measured_curves(self._thresholds, ratio(counts[:, 0], counts[:, 1]), ratio(counts[:, 2], counts[:, 3]))
        matched_gt, total_gt, matched_pred, total_pred = np.moveaxis(of["best"], 1, 0)
        recall, precision = ratio(matched_gt, total_gt), ratio(matched_pred, total_pred)
        alone = of.images == 1
        values = {
            **dict(zip(POOLED, pooled.T, strict=True)),
            "ois_f": f_of(recall, precision),
            "ois_precision": precision,
            "ois_recall": recall,
            "threshold": np.where(alone, of["threshold"], np.nan),
            "mean_image_f": of["f"],
        }
        if (no_curve := _one_point(counts)).any():
            values |= {key: np.where(no_curve, np.nan, values[key]) for key in _AREAS}
            at = np.where(no_curve, _at_masks(self._thresholds), values["ods_threshold"])
            values |= {"ods_threshold": at, "threshold": np.where(alone & no_curve, at, values["threshold"])}
        without_pixels = np.isnan(of["f"])
        values = {key: np.where(without_pixels, np.nan, value) for key, value in values.items()}
        return {**values, "crispness": of["crispness"]}

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Ground-truth pixels of each image, for means over images whether it is in them."""
        pixels = np.array([counts.total_gt.max(initial=0) for counts in in_order(self.per_image)])
        means = {"mean_image_f": ~np.isnan(self._own["f"]), "crispness": ~np.isnan(self._own["crispness"])}
        return {**dict.fromkeys((metric.label for metric in METRICS), pixels), **means}

    @property
    def left_out_if_lacking(self) -> Mapping[str, BoolArray]:
        """Crispness, of which an image lacks a value if its map is blank."""
        return {"crispness": np.ones(self.images, np.bool_)} if CRISPNESS in self.metrics else {}

    def may_be_restricted(self, metric: Metric) -> bool:
        return metric.key == "crispness"

    def why_undefined(self, metric: Metric) -> Message:
        if not self.images:
            alone = Message("no-annotators", "no boundaries of two annotators")
            return alone if self._all else Message("no-images", "no image was counted")
        if metric.key == "crispness":
            return Message("blank-maps", "maps are blank, or no soft maps")
        if np.isnan(self._own["f"]).all():
            return Message("no-boundaries", "no boundary pixel in the ground truth or the prediction")
        if self._thresholds.size == 1:
            return Message("one-threshold", "one threshold makes no curve")
        if self._masks:
            return Message("masks", "masks, alike at every threshold, make no curve")
        return Message("never-half", "no threshold has precision .5")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say which images mean F leaves out (of annotators, the run says so), or has as 0; why an area exceeds 1."""
        mean = next(metric for metric in self.metrics if metric.key == "mean_image_f")
        has_f = ~np.isnan(self._own["f"])
        without = int(np.count_nonzero(~has_f))
        found = zip(self.metrics, self.estimates.tolist(), strict=True)
        above = [metric.title for metric, value in found if metric.range == _AREA and value > 1]
        areas = Message(
            "area-above-1",
            "{areas} {verb} above 1: the official code adds 101 steps of .01, so a perfect curve has 1.01",
            areas=" and ".join(above),
            verb=verb(len(above), "are"),
        )
        empty = int(np.count_nonzero((self.image_weights["ods_f"] == 0) & has_f))
        return (
            *left_out_note([mean], "without a boundary pixel", without, self.images),
            *zero_note([mean], empty, self.images),
            *([Note(areas)] if above else []),
        )

    @cached_property
    def _masks(self) -> bool:
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
        matched_gt, total_gt, matched_pred, total_pred = np.moveaxis(of["counts"], 1, 0)
        return precision_at(at, ratio(matched_gt, total_gt), ratio(matched_pred, total_pred))

    @cached_property
    def _thresholds(self) -> FloatArray:
        return next(iter(self.per_image.values())).thresholds

    @cached_property
    def _own(self) -> Mapping[str, NDArray[Any]]:
        """At the best threshold of each image its four counts, F (nan without a pixel) and the threshold; crispness."""
        waiting = iter(in_order(self.per_image))
        batches = []
        while batch := list(islice(waiting, _IMAGES_AT_ONCE)):
            batches.append(_best_of(batch))
        if not batches:
            return {
                "best": np.empty((0, 4), np.int64),
                "f": np.empty(0),
                "threshold": np.empty(0),
                "crispness": np.empty(0),
            }
        return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def _one_point(counts: FloatArray) -> BoolArray:
    """Mark which of some counts, shape (rows, 4, K), are the same at every threshold, as those of masks are."""
    alike: BoolArray = (counts == counts[:, :, :1]).all(axis=(1, 2))
    alike &= (counts[:, 3, 0] > 0) | (counts.shape[2] == 1)
    return alike


def _at_masks(thresholds: FloatArray) -> float:
    """Give the threshold of masks, which any has left alike: 1, as the pixel protocol has, or the highest of a list."""
    highest = float(thresholds[-1])
    return highest if thresholds.size == 1 or highest < _ALMOST_1 else 1.0


def _best_of(images: Sequence[BoundaryCounts]) -> Mapping[str, NDArray[Any]]:
    """Find the first best threshold of each image, or the last if F is 0 at all; see `BoundaryTable._own`."""
    counts = np.array([image.rows for image in images])
    f = f_of(ratio(counts[:, 0], counts[:, 1]), ratio(counts[:, 2], counts[:, 3]))
    # Where nothing matches at any threshold, as without boundaries, the first would add the most false positives.
    rows, best = np.arange(len(images)), np.where(f.any(axis=1), f.argmax(axis=1), f.shape[1] - 1)
    has_pixels = counts[:, (1, 3)].max(axis=(1, 2)) > 0
    crispness = [counts.crispness / MEAN_UNITS / counts.maps if counts.maps else np.nan for counts in images]
    return {
        "best": counts[rows, :, best],
        "f": np.where(has_pixels, f[rows, best], np.nan),
        "threshold": images[0].thresholds[best],
        "crispness": np.array(crispness),
    }
