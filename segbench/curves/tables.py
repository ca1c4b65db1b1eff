"""Counts of many images laid out as matrices, so that figures of any weighting of the images are matrix products.

A row of weights says how often each image is counted: 1 for all is the benchmark itself, draws with replacement make a
bootstrap, a zero leaves an image out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ScoreCounts
from segbench.counts.arrays import within_total
from segbench.counts.bins import bin_of
from segbench.curves.imagewise import BestFs
from segbench.curves.masks import mask_points, mask_threshold
from segbench.curves.points import inexact
from segbench.curves.pooled import PooledPixels, pool_pixels, reduced

FloatArray = NDArray[np.float64]

PIXEL_FIGURES = (
    "auc_roc",
    "auc_pr",
    "auc_pr_achievable",
    "average_precision",
    "ods_f",
    "ods_precision",
    "ods_recall",
    "ods_threshold",
    "iou",
    "fpr_at_95_tpr",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "mean_image_f",
)

_POOLED = 10  # of them are figures of the pooled curve
_AREAS = ("auc_roc", "auc_pr", "average_precision")
_DENSE_CELLS = 2**24
_CELLS_AT_ONCE = 2**21


class Table(Protocol):
    """Images of one method, ready to be weighted."""

    @property
    def images(self) -> int:
        """Number of images."""

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures, in the order of the columns of `measure`."""

    @property
    def whole(self) -> bool:
        """Whether the table holds all there is of each image, so that `measure` is exact for one alone, too."""
        return True

    @property
    def estimates(self) -> FloatArray:
        """Every figure of the benchmark itself, each image counted once."""
        row: FloatArray = self.measure(np.ones((1, self.images)))[0]
        return row

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights.

        Parameters
        ----------
        weights : array of float64, shape (R, images)
            Whole numbers: how often each image counts.

        Returns
        -------
        array of float64, shape (R, figures)
            nan where a figure is not defined.
        """


@dataclass(frozen=True, eq=False)
class PixelTable(Table):
    """Pixel counts of many images over one common list of scores.

    Of more than `segbench.curves.pooled.REDUCED_ABOVE` distinct scores that list holds some (`reduced`): resamples
    are measured at those alone, the estimates at all.

    Parameters
    ----------
    scores : array of float64, shape (L,)
        Scores of the pooled counts, falling.
    positives, negatives : matrix of float64, shape (images, L)
        Dense, or sparse where images have few of many scores.
    best : array of float64, shape (images, 5)
        Of each image's best point, or of its mask, TP, FP and P; its F, 0 where undefined; and 1 where it is defined.
    loose : array of bool, shape (L,)
        Bins that hold more than one score; none where counts are exact.
    masks : array of bool, shape (images,)
        True for the images of sets of two-valued predictions: they have no scores, and are at the mask whatever the
        threshold of the others.
    areas : mapping of str to float
        auc_roc, auc_pr and average_precision over all distinct scores, of a single set of soft maps.
    every_score : bool
        Whether `scores` holds every distinct score, so that the metrics of a single image can be read off, too.
    """

    scores: FloatArray
    positives: Any
    negatives: Any
    best: FloatArray
    loose: NDArray[np.bool_]
    masks: NDArray[np.bool_]
    areas: Mapping[str, float]
    every_score: bool

    @property
    def images(self) -> int:
        """Number of images."""
        return int(self.best.shape[0])

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        return PIXEL_FIGURES

    @property
    def whole(self) -> bool:
        """Whether the table holds all there is of each image."""
        return self.every_score

    @property
    def estimates(self) -> FloatArray:
        """Every figure of the benchmark itself; the points kept of a curve hold all that areas do not need."""
        figures: FloatArray = super().estimates
        for name, area in self.areas.items():
            figures[PIXEL_FIGURES.index(name)] = area
        return figures

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights, see `Table`."""
        if self.masks.any():
            return self._measure_with_masks(weights)
        from segbench.curves import table_kernels

        figures = np.full((weights.shape[0], len(PIXEL_FIGURES)), np.nan)

        def pooled(rows: slice, positives: FloatArray, negatives: FloatArray) -> None:
            table_kernels.pooled_pixel_figures(positives, negatives, self.scores, self.loose, figures[rows, :_POOLED])

        self.pooled(weights, pooled)
        tp, fp, positives, f, defined = (weights @ self.best).T
        columns = figures[:, _POOLED:].T
        some = positives > 0
        np.divide(2 * tp, positives + tp + fp, out=columns[0], where=some)
        np.divide(tp, tp + fp, out=columns[1], where=some)
        np.divide(tp, positives, out=columns[2], where=some)
        np.divide(f, defined, out=columns[3], where=defined > 0)
        return figures

    def _measure_with_masks(self, weights: FloatArray) -> FloatArray:
        """Give the figures that masks have, too; areas and OIS are nan."""
        figures = np.full((weights.shape[0], len(PIXEL_FIGURES)), np.nan)
        fixed = self.best.copy()
        fixed[~self.masks, :2] = 0  # TP and FP of soft maps depend on the threshold
        masks_tp, masks_fp, positives, f, defined = (weights @ fixed).T

        def pooled(rows: slice, of_positives: FloatArray, of_negatives: FloatArray) -> None:
            tp = masks_tp[rows, np.newaxis] + np.cumsum(of_positives, axis=1)
            fp = masks_fp[rows, np.newaxis] + np.cumsum(of_negatives, axis=1)
            base = positives[rows]
            best = np.argmax(np.nan_to_num(_ratio(tp, base[:, np.newaxis] + tp + fp)), axis=1)
            tp, fp = (counts[np.arange(best.size), best] for counts in (tp, fp))
            columns = {
                "ods_f": _ratio(2 * tp, base + tp + fp),
                "ods_precision": _ratio(tp, tp + fp),
                "ods_recall": _ratio(tp, base),
                "ods_threshold": self.scores[best],
                "iou": _ratio(tp, base + fp),
            }
            for name, column in columns.items():
                figures[rows, PIXEL_FIGURES.index(name)] = column

        self.pooled(weights, pooled)
        figures[:, PIXEL_FIGURES.index("mean_image_f")] = _ratio(f, defined)
        figures[positives == 0] = np.nan
        return figures

    def pooled(self, weights: FloatArray, use: Callable[[slice, FloatArray, FloatArray], None]) -> None:
        """Pool the images by each row of weights and hand the counts on, some rows at a time.

        Parameters
        ----------
        weights : array of float64, shape (R, images)
            How often each image counts.
        use : callable
            Called with rows, positives and negatives, both of shape (rows, L).
        """
        step = max(_CELLS_AT_ONCE // max(self.scores.size, 1), 1)
        for start in range(0, weights.shape[0], step):
            rows = slice(start, start + step)
            use(rows, *(np.ascontiguousarray(weights[rows] @ part) for part in (self.positives, self.negatives)))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    ratio = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


def pixel_table(*sets: Mapping[str, ScoreCounts]) -> PixelTable:
    """Lay out the pixel counts of many images.

    Parameters
    ----------
    *sets : mapping of str to ScoreCounts
        Counts by the image's name, of each method those of its images: whether predictions are two-valued is decided
        for each set. Rows come set by set, in sorted order of the names.

    Examples
    --------
    >>> table = pixel_table({"a": ScoreCounts([0.9, 0.1], [3, 1], [1, 5]), "b": ScoreCounts([0.5], [2], [2])})
    >>> table.positives
    array([[3., 0., 1.], [0., 2., 0.]])
    """
    pools: list[PooledPixels] = []
    points: list[BestFs] = []
    masks: list[float] = []
    for per_image in sets:
        pool = pool_pixels(per_image)
        mask = mask_threshold(pool.counts)
        named = (per_image[name] for name in sorted(per_image))
        points.append(pool.chosen if mask is None else mask_points(named, mask))
        masks += [math.nan if mask is None else mask] * len(per_image)
        pools += [pool] if mask is None else []
    kept_of = [reduced(pool.counts) for pool in pools]
    pooled = ScoreCounts.sum(kept_of)
    scores = pooled.scores.astype(np.float64)
    of_masks = ~np.isnan(masks)
    if of_masks.any() and not scores.size:
        scores = np.array([np.nanmax(masks)])
    images = (per_image[name] for per_image in sets for name in sorted(per_image))
    none = ScoreCounts.sum(())
    rows = [_row(none if of_mask else image, pooled) for image, of_mask in zip(images, of_masks, strict=True)]
    best = BestFs.joined(points)
    # A replicate may hold one image as often as there are images.
    for place, name in ((1, "positives"), (2, "negatives")):
        within_total(len(rows) * max(int(row[place].sum()) for row in rows), f"{name} of a replicate")
    defined = best.positives > 0
    f = np.where(defined, np.nan_to_num(best.f), 0.0)
    return PixelTable(
        scores,
        _matrix([(columns, positives) for columns, positives, _ in rows], scores.size),
        _matrix([(columns, negatives) for columns, _, negatives in rows], scores.size),
        np.column_stack([best.tp, best.fp, best.positives, f, defined]).astype(np.float64),
        inexact(pooled) if pooled.scores.size else np.zeros(scores.size, np.bool_),
        of_masks,
        {name: getattr(pools[0], name) for name in _AREAS} if len(sets) == len(pools) == 1 else {},
        every_score=not pooled.binned and all(kept is pool.counts for kept, pool in zip(kept_of, pools, strict=True)),
    )


def _row(image: ScoreCounts, pooled: ScoreCounts) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Count an image by the pooled scores: the columns that it has pixels in, its positives and its negatives there."""

    def keys(counts: ScoreCounts) -> NDArray[Any]:
        return -bin_of(counts.scores) if pooled.binned and counts.scores.size else -counts.scores

    columns = np.searchsorted(keys(pooled), keys(image))
    if not columns.size:
        return columns, np.empty(0), np.empty(0)
    starts = np.flatnonzero(np.diff(columns, prepend=-1))
    positives, negatives = (np.add.reduceat(part, starts) for part in (image.positives, image.negatives))
    return columns[starts], positives.astype(np.float64), negatives.astype(np.float64)


def _matrix(rows: Sequence[tuple[NDArray[np.int64], FloatArray]], width: int) -> Any:  # noqa: ANN401 - dense or sparse
    if len(rows) * width > _DENSE_CELLS:
        from scipy.sparse import csr_array

        ends = np.cumsum([0, *(columns.size for columns, _ in rows)])
        columns, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        return csr_array((values, columns, ends), shape=(len(rows), width))
    matrix = np.zeros((len(rows), width))
    for row, (columns, values) in zip(matrix, rows, strict=True):
        row[columns] = values
    return matrix
