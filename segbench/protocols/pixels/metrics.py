"""The metrics of the pixel benchmark, and the table that computes them from the counts of its images.

Begin with `METRICS` and `PixelTable.formulas`.

Conventions
-----------
1. Areas and the best F are those of the pooled curve, at every distinct score; of equal F the highest threshold wins.
2. OIS takes each image at the threshold of its own best F and adds up the counts there; an image without positives adds
   the false positives of its highest score. ``ois_f`` can be below ``ods_f``: the best threshold of an image need not
   be the best for the pool.
3. ``mean_image_f`` is the mean of the images' best F, over the images that have positives. The sum is rounded once, so
   that it does not depend on the order of the images.
4. ``iou`` is the intersection over union at the ODS threshold, TP / (P + FP).
5. Two-valued predictions are evaluated at the mask (`segbench.curves.pooled`): metrics that need a ranking of pixels or
   a choice of thresholds are undefined.
6. Of more than `segbench.curves.pooled.RESAMPLED_ABOVE` distinct scores, resamples are measured at a choice of them
   (`segbench.curves.pooled.reduced_for_resamples`); estimates are always exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray, total_of, within_total
from segbench.core.levels import note_on_scales
from segbench.core.messages import NOTHING, Message, Note
from segbench.core.metric import Metric, left_out_note, shares
from segbench.core.operating_point import Confusion
from segbench.core.scores import ScoreBatch, ScoreCounts
from segbench.core.series import Space
from segbench.core.table import CachedPool, ColumnLayout, CountsTable, Keeping, Sums, Table
from segbench.curves.curve import Curve
from segbench.curves.points import BestFs
from segbench.curves.pooled import (
    AREAS,
    AT_THE_MASK,
    REDUCED_ABOVE,
    TWO_VALUED,
    PooledPixels,
    mask_points,
    mask_threshold,
    measured_curves,
    pixel_curve,
)
from segbench.protocols.pixels.calibration import KEPT as KEPT_OF_CALIBRATION
from segbench.protocols.pixels.calibration import Calibration
from segbench.protocols.pixels.image_set import Block, ByScore, ImageSet, with_rows


@dataclass(frozen=True, eq=False)
class AtOds(Confusion):
    """The point that ODS reports and the areas, one entry per row of weights; areas are nan for masks."""

    threshold: FloatArray
    areas: Mapping[str, FloatArray]
    fp_at_95: FloatArray  # false positives at a recall of 95 %

    @property
    def numbers(self) -> dict[str, FloatArray]:
        """The only entry as plain numbers by name, for results files."""
        ods = self.tp, self.fp, self.positives, self.negatives, self.threshold, self.fp_at_95
        return {"ods": np.concatenate(ods), "areas": np.concatenate([self.areas[name] for name in AREAS])}

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, FloatArray]) -> AtOds:
        """Rebuild the point from its `numbers`."""
        tp, fp, positives, negatives, threshold, fp_at_95 = numbers["ods"][:, np.newaxis]
        areas = dict(zip(AREAS, numbers["areas"][:, np.newaxis], strict=True))
        return cls(tp, fp, positives, negatives, threshold, areas, fp_at_95)


def at_ods(thresholds: FloatArray, best: IntArray, areas: FloatArray) -> AtOds:
    """Name the columns of `best` and `areas` that `measured_curves` returns."""
    _, tp, fp, positives, negatives = best.T.astype(np.float64)
    *areas_of_rows, fp_at_95 = areas.T
    return AtOds(tp, fp, positives, negatives, thresholds, dict(zip(AREAS, areas_of_rows, strict=True)), fp_at_95)


METRICS = shares(
    Metric(
        key="ods_f", title="F", better="higher", image_key="f", image_title="F", headline=True, compared=True,
        group="ODS", note="best F with one threshold for all images",
    ),
    Metric(key="ods_precision", title="P", image_key="precision", spread="jumps", priority=7, group="ODS"),
    Metric(key="ods_recall", title="R", image_key="recall", spread="erratic", priority=6, group="ODS"),
    Metric(
        key="ods_threshold", title="at", image_key="threshold", kind="threshold", spread="jumps", group="ODS",
        note="threshold of the best F",
    ),
    Metric(key="iou", title="IoU", better="higher", image_key="iou", priority=1, group="ODS"),
    Metric(
        key="ois_f", title="F", better="higher", compared=True, group="OIS",
        note="each image at its own best threshold, counts pooled",
    ),
    Metric(key="ois_precision"),
    Metric(key="ois_recall"),
    Metric(
        key="mean_image_f", title="mean F", better="higher", compared=True, priority=3,
        mean_over_images=True, note="average of per-image best F",
    ),
    Metric(key="auc_pr", title="AUC-PR", better="higher", image_key="auc_pr", compared=True),
    Metric(
        key="auc_pr_achievable", title="hull*", better="higher", optimistic=True, priority=1,
        note="AUC-PR of the ROC convex hull; optimistic, because it is tuned on the test images",
    ),
    Metric(
        key="average_precision", title="AP", better="higher", image_key="average_precision", priority=4,
        note="average precision, AUC-PR without interpolation",
    ),
    Metric(key="auc_roc", title="AUC-ROC", better="higher", image_key="auc_roc", compared=True, priority=5),
    Metric(
        key="fpr_at_95_tpr", title="FPR95", better="lower", spread="erratic", priority=2,
        note="false positive rate at 95 % recall",
    ),
)  # fmt: skip
TOTALS = tuple(Metric(key=key, image_key=key, kind="total") for key in ("positives", "negatives", "ignored"))

WITHOUT_NAMES = Message(
    "unnamed", "some pixels were added without the name of their image, so images are not distinguished"
)
_ALL_PREDICTED = Note(Message("all-positive", "ODS: predicting every pixel positive gives the best F"))

_OIS = ("ois_f", "ois_precision", "ois_recall")
OVER_IMAGES = ("ois_", "mean_image_")
"""Prefixes of the keys of metrics that are undefined where images are not distinguished."""
_NEED_A_RANKING = (*AREAS, *_OIS, "fpr_at_95_tpr")
_MANY_IMAGES = 2**12
KEPT: Mapping[str, NDArray[Any]] = {
    "ods": np.zeros(6),
    "areas": np.zeros(len(AREAS)),
    "ois": np.zeros(4),
    "f": np.zeros(1),
    "images with positives": np.zeros(1, np.int64),
    "highest scores": np.zeros(2),
    "range of scores": np.zeros(2),
    **KEPT_OF_CALIBRATION,
}
"""What results files keep of very many scores or images beside reduced counts; here the values of no pixels."""


class PixelTable(CountsTable[ScoreCounts], Keeping):
    """Pixel counts of the images of one method; `of_set`, else the images, decides whether they are masks."""

    metrics: tuple[Metric, ...] = METRICS
    counts = ScoreCounts
    means = ("f",)

    def __init__(
        self, per_image: Mapping[str, ScoreCounts], of_set: ScoreCounts | None = None, blocks: Sequence[Block] = ()
    ) -> None:
        self.image_set = per_image if isinstance(per_image, ImageSet) else ImageSet(per_image)
        self._of_set, self._own = of_set, self.metrics
        self.blocks = {block.name: block for block in blocks}
        self.metrics = (*self._own, *(metric for block in blocks for metric in block.metrics))
        super().__init__(self.image_set)

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """Positives and negatives by score, none for masks; counts at the best threshold of each image, F; blocks."""
        positives, negatives = self._by_score.positives, self._by_score.negatives
        return {"positives": positives, "negatives": negatives, **self._of_images, **self.blocks}

    @cached_property
    def _of_images(self) -> Mapping[str, NDArray[Any]]:
        """The counts of each image at its own best threshold, and its F there; nan without positives."""
        chosen = self._chosen
        counts = np.column_stack([chosen.tp, chosen.fp, chosen.positives, chosen.negatives]).astype(np.int64)
        return {"ois": counts, "f": np.where(chosen.positives > 0, chosen.f, np.nan)}

    def scored(self, of: Sums) -> FloatArray:
        by_score = ByScore(self._by_score.scores, of["positives"], of["negatives"])
        values = self._own_values(self._best_of(of, by_score), of)
        for name, block in self.blocks.items():
            sums = replace(of[name], values={**of[name].values, "by_score": by_score})
            values |= block.by_label(block.scored(sums))
        return self.laid_out(values)

    def _best_of(self, of: Sums, by_score: ByScore) -> AtOds:
        """Find the point of ODS of each row of sums, and the areas; masks have their own point and no areas."""
        if self._is_mask:
            return self._at_the_mask(Confusion(*of["ois"].T))
        positives, negatives = np.ascontiguousarray(by_score.positives), np.ascontiguousarray(by_score.negatives)
        return _best_of_curves(by_score.scores, positives, negatives, self._by_score.several)

    def _at_the_mask(self, counts: Confusion) -> AtOds:
        """Return the point of masks, which have no areas."""
        undefined = np.full(counts.tp.size, np.nan)
        threshold, areas = np.full(counts.tp.size, self._mask), dict.fromkeys(AREAS, undefined)
        return AtOds(counts.tp, counts.fp, counts.positives, counts.negatives, threshold, areas, undefined)

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself, from the exact pool: at every score, however many."""
        values = self._own_values(self._best_of_all, self._of_all_images)
        for block in self.blocks.values():
            values |= block.by_label(block.estimates[np.newaxis])
        if self.image_set.unnamed is not None:
            values |= {key: np.array([np.nan]) for key in values if key.startswith(OVER_IMAGES)}
        row: FloatArray = self.laid_out(values)[0]
        return row

    @cached_property
    def _of_all_images(self) -> Sums:
        """Sums and means over all images of the counts and F at the best threshold of each."""
        if self.image_set.kept is not None:
            numbers = self.image_set.kept.numbers
            rows = {"ois": numbers["ois"][np.newaxis], "f": numbers["f"]}
            return Sums(rows, np.array([float(self.images)]))
        layout = ColumnLayout(self._of_images, self.means)
        return layout.named(layout.total()[np.newaxis])

    @cached_property
    def _best_of_all(self) -> AtOds:
        """The point of ODS and the areas of the benchmark itself."""
        if self.image_set.kept is not None:
            return AtOds.from_numbers(self.image_set.kept.numbers)
        counts = self._pool.counts
        if self._is_mask:
            point = mask_points(ScoreBatch.of([counts]), self._mask)
            confusion = point.tp, point.fp, point.positives, point.negatives
            return self._at_the_mask(Confusion(*(number.astype(np.float64) for number in confusion)))
        best = _best_of_curves(counts.scores, counts.positives[np.newaxis], counts.negatives[np.newaxis])
        # Where the pool is a choice of scores, areas were added up over all of them.
        areas = {name: np.array([area]) for name, area in self._pool.areas.items()}
        return replace(best, areas={**best.areas, **areas})

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        """Compute every metric; one of your own adds its formula. ``of["best"]`` is the point of ODS, an `AtOds`."""
        best, image_f, ois = of["best"], of["f"], Confusion(*of["ois"].T)
        return {
            "ods_f": best.f,
            "ods_precision": best.precision,
            "ods_recall": best.recall,
            "ods_threshold": best.threshold,
            "iou": best.iou,
            "ois_f": ois.f,
            "ois_precision": ois.precision,
            "ois_recall": ois.recall,
            "mean_image_f": image_f,
            **best.areas,
            "fpr_at_95_tpr": best.fp_at_95 / best.negatives,
        }

    def _own_values(self, best: AtOds, of: Sums) -> dict[str, FloatArray]:
        """Compute all metrics but those of blocks; nan without positives, and for masks where a ranking is needed."""
        with np.errstate(invalid="ignore", divide="ignore"):  # nan where a metric is undefined
            values = self.formulas(replace(of, values={**of.values, "best": best}))
        if self._is_mask:
            values = {**values, **dict.fromkeys(_NEED_A_RANKING, np.full(len(of), np.nan))}
        own = {metric.label: values[metric.label] for metric in self._own}
        undefined = best.positives == 0
        return {key: np.where(undefined, np.nan, value) for key, value in own.items()} if undefined.any() else own

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the curve of each row of sums off at the positions `at`, see `Table`; nan for masks."""
        from segbench.curves import kernels

        heights = np.full((len(of), at.size), np.nan)
        if not self._is_mask:
            positives, negatives = (np.ascontiguousarray(of[name]) for name in ("positives", "negatives"))
            kernels.read_off(space == "roc", positives, negatives, at, heights)
        return heights

    def without_each(self) -> FloatArray:
        return self._without_each

    @cached_property
    def _without_each(self) -> FloatArray:
        return super().without_each()  # whose curves take long: once for all methods that it is compared with

    def restricted_to_common(self, other: Self) -> Table:
        if not self.blocks:
            return self
        restricted = {name: block.restricted_to_common(other.blocks[name]) for name, block in self.blocks.items()}
        changed = {name: block for name, block in restricted.items() if block is not self.blocks[name]}
        return _Restricted(self, changed) if changed else self

    def may_be_restricted(self, metric: Metric) -> bool:
        return any(metric in block.metrics and block.may_be_restricted(metric) for block in self.blocks.values())

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Positives of each image, for means over images whether it has any."""
        positives = self._chosen.positives
        over_images = [metric.label for metric in self._own if metric.key.startswith("mean_image_")]
        weights = {
            **dict.fromkeys((metric.label for metric in self._own), positives),
            **dict.fromkeys(over_images, positives > 0),
        }
        for block in self.blocks.values():
            weights |= block.image_weights
        return weights

    def measure_images(self) -> FloatArray:
        """Measure each image alone, at all of its own scores, see `Table`."""
        rows = {name: column.astype(np.float64) for name, column in self._of_images.items()}
        alone = Sums(rows, np.ones(self.images))
        best = self._at_the_mask(Confusion(*alone["ois"].T)) if self._is_mask else self._images_alone
        values = self._own_values(best, alone)
        for block in self.blocks.values():
            values |= block.by_label(block.measure_images())
        return self.laid_out(values)

    @cached_property
    def _images_alone(self) -> AtOds:
        """Each image by itself, at all of its own scores, in sorted order of names."""
        from segbench.curves import kernels

        best, areas = np.zeros((self.images, 5), np.int64), np.full((self.images, len(AREAS) + 1), np.nan)
        for rows, batch in with_rows(self.image_set.in_batches()):
            kernels.curves_of_images(batch.positives, batch.negatives, batch.ends, best[rows], areas[rows])
        return at_ods(self.image_set.best.thresholds, best, areas)

    @property
    def totals(self) -> Mapping[str, int]:
        """Positive, negative and ignored pixels."""
        counts = self._pool.counts
        totals = total_of(counts.positives), total_of(counts.negatives), counts.ignored
        return dict(zip((metric.key for metric in TOTALS), totals, strict=True))

    def why_undefined(self, metric: Metric) -> Message:
        reasons = (block.why_undefined(metric) for block in self.blocks.values() if metric in block.metrics)
        return next(reasons, NOTHING) or self._why_undefined(metric)

    def _why_undefined(self, metric: Metric) -> Message:
        counts = self._pool.counts
        if not counts.total_positives:
            of_negatives = Message("no-positives", "no positive pixels")
            return of_negatives if counts.total_negatives else Message("no-pixels", "no pixels")
        if self._is_mask and metric.key in _NEED_A_RANKING:
            return TWO_VALUED
        if self.image_set.unnamed is not None and metric.key.startswith(OVER_IMAGES):
            return WITHOUT_NAMES
        if "precision" in metric.key:
            return Message("none-predicted", "nothing is predicted positive")
        if metric.kind == "threshold" and not counts.scores_known:
            return Message("scores-unknown", "scores are not known, the curve was given by its points")
        return Message("no-negatives", "no negative pixels")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say that predictions are masks or of several scales, or that the best F is that of predicting everything."""
        if self._is_mask:
            return (AT_THE_MASK, *self.left_out)
        notes = [*note_on_scales(self._highest_scores.tolist())]
        best = self._best_of_all
        if best.tp[0] == best.positives[0] > 0 and best.fp[0] == best.negatives[0] > 0:
            notes.append(_ALL_PREDICTED)
        return (*notes, *self.left_out)

    @property
    def left_out(self) -> tuple[Note, ...]:
        """How many images means over images leave out."""
        mean = next(metric for metric in METRICS if metric.key == "mean_image_f")
        images = len(self.image_set.names)
        without_positives = images - self.images_with_positives
        if self.image_set.unnamed is not None:
            images = 0
        of_blocks = [note for block in self.blocks.values() for note in block.left_out]
        return (*left_out_note([mean], "without positive pixels", without_positives, images), *of_blocks)

    def keepable(self) -> CachedPool:
        """Return what results files keep, see `KEPT`; that includes calibration, whether or not it is asked for."""
        numbers = {
            **self._best_of_all.numbers,
            **{name: values.ravel() for name, values in self._of_all_images.values.items()},
            "images with positives": np.array([self.images_with_positives]),
            "highest scores": self._highest_scores,
            "range of scores": np.array(self._pool.ends),
            **Calibration(self.image_set, self._of_set).of_all,
        }
        return CachedPool(self.reduced, numbers)

    @property
    def has_positives(self) -> BoolArray:
        """Which images have positives, and so an F."""
        return self._chosen.positives > 0

    @property
    def images_with_positives(self) -> int:
        """The number of images that have an F."""
        if self.image_set.kept is not None:
            return int(self.image_set.kept.numbers["images with positives"][0])
        return int(np.count_nonzero(self.has_positives))

    @property
    def _highest_scores(self) -> FloatArray:
        """The smallest (above 0) and the largest of the highest scores of the images, to see whether scales differ."""
        if self.image_set.kept is not None:
            return self.image_set.kept.numbers["highest scores"]
        highest = self._chosen.highest
        return np.array([highest[highest > 0].min(initial=np.inf), highest.max(initial=0)])

    @property
    def threshold_source(self) -> str:
        """Where thresholds come from when they are not the scores themselves."""
        return ", ".join(sorted(self._pool.sources - {""}))

    @property
    def pooled(self) -> ScoreCounts:
        """The counts of all images added up, of very many scores a choice (`segbench.curves.pooled.reduced`)."""
        return self._pool.counts

    @property
    def reduced(self) -> ScoreCounts:
        """The pooled counts at the points that plots draw: all, or a choice of very many."""
        return self.image_set.points

    @property
    def chosen_points(self) -> str:
        """How many of the scores `reduced` has, in words; empty where it has all."""
        return self.reduced.threshold_source if self._pool.scores > REDUCED_ABOVE else ""

    @property
    def worth_keeping(self) -> bool:
        """Whether so many distinct scores were pooled that `reduced` holds a choice of them, or so many images."""
        return not self.threshold_source and (self._pool.scores > REDUCED_ABOVE or self.images > _MANY_IMAGES)

    @property
    def curve(self) -> Curve:
        """The pooled curve, of masks their point."""
        return pixel_curve(self.pooled)

    @property
    def drawn(self) -> Curve:
        return pixel_curve(self.reduced)

    @property
    def _pool(self) -> PooledPixels:
        """The images pooled."""
        return self.image_set.pool

    @cached_property
    def _mask(self) -> float:
        """The threshold of the mask of two-valued predictions; nan for soft maps."""
        mask = mask_threshold(self._of_set or self._pool.counts)
        return math.nan if mask is None else mask

    @property
    def _is_mask(self) -> bool:
        return not math.isnan(self._mask)

    @cached_property
    def _chosen(self) -> BestFs:
        """The best point of each image; of masks the point of the mask."""
        if not self._is_mask:
            return self.image_set.best
        return BestFs.joined([mask_points(batch, self._mask) for batch in self.image_set.in_batches()])

    @cached_property
    def _by_score(self) -> _ByScore:
        if self._is_mask:
            none = np.empty((self.images, 0), np.int64)
            return _ByScore(np.empty(0), none, none, None)
        images = self.image_set
        pooled = images.for_resamples
        scores = pooled.scores.astype(np.float64)
        positives, negatives = images.counted_at(scores)
        several = None if pooled is images.pool.counts else images.several_at(scores)
        for name, counts in (("positives", positives), ("negatives", negatives)):
            # A resample may hold one image as often as there are images.
            largest = counts.sum(axis=1, dtype=np.float64).max(initial=0)
            within_total(counts.shape[0] * int(largest), f"{name} of a resample")
        return _ByScore(scores, positives, negatives, several)


class _Restricted(Table):
    """A pixel table with some blocks replaced by others of the same metrics; its curves are not measured again."""

    def __init__(self, table: PixelTable, changed: Mapping[str, Table]) -> None:
        self._table, self._changed, self.metrics = table, changed, table.metrics
        self.blocks = {**table.blocks, **changed}

    @property
    def names(self) -> Sequence[str]:
        """The names of the images."""
        return self._table.names

    @cached_property
    def columns(self) -> Mapping[str, Table]:
        """The pixel table and the changed blocks."""
        return {"pixels": self._table, **self._changed}

    def lacks(self, metric: Metric) -> str:
        return self._table.lacks(metric)

    def restricted_to_common(self, other: Table) -> Table:
        """Return itself, which has been restricted."""
        del other
        return self

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        return self._replaced(lambda name, table: table.scored(of[name]))

    @cached_property
    def estimates(self) -> FloatArray:
        row: FloatArray = self.laid_out(self._replaced(lambda _, table: table.estimates[np.newaxis]))[0]
        return row

    def without_each(self) -> FloatArray:
        return self.laid_out(self._replaced(lambda _, table: table.without_each()))

    def measure_images(self) -> FloatArray:
        """Measure each image alone, see `Table`."""
        return self.laid_out(self._replaced(lambda _, table: table.measure_images()))

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """How much each image weighs, see `Table`."""
        return self._replaced(lambda _, table: table.weights_by_metric)

    def why_undefined(self, metric: Metric) -> Message:
        return self._table.why_undefined(metric)

    def _replaced(self, measure: Callable[[str, Table], FloatArray]) -> dict[str, FloatArray]:
        """Measure the pixel table and the blocks, whose metrics replace those of the same labels."""
        values: dict[str, FloatArray] = {}
        for name, table in self.columns.items():
            values |= table.by_label(measure(name, table))
        return values


def _best_of_curves(scores: FloatArray, positives: Array, negatives: Array, several: BoolArray | None = None) -> AtOds:
    """Find the best F and the areas of curves, one per row, at falling scores."""
    best, areas = measured_curves(positives, negatives, several)
    number_of_score = best[:, 0]  # from 1; 0 where there are no positives
    return at_ods(np.append(np.nan, scores)[number_of_score], best, areas)


@dataclass(frozen=True, eq=False)
class _ByScore:
    """Positives and negatives of images at falling pooled scores; sparse if images have few of many, empty of masks."""

    scores: FloatArray
    positives: Any
    negatives: Any
    several: BoolArray | None  # marks chosen thresholds with several scores; None where `scores` holds all
