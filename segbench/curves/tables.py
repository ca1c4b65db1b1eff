"""Counts of many images laid out as matrices, so that figures of any weighting of the images are matrix products.

A row of weights says how often each image is counted: 1 for all is the benchmark itself, draws with replacement make a
bootstrap, a zero leaves an image out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ScoreCounts
from segbench.counts.arrays import total_of, within_total
from segbench.counts.bins import bin_of
from segbench.curves.imagewise import best_fs

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
    "fpr_at_95_tpr",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "mean_image_f",
)

_POOLED = 9  # of them are figures of the pooled curve
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
class PixelTable:
    """Pixel counts of many images over one common list of scores.

    Parameters
    ----------
    scores : array of float64, shape (L,)
        Scores of the pooled counts, falling.
    positives, negatives : matrix of float64, shape (images, L)
        Dense, or sparse where images have few of many scores.
    best : array of float64, shape (images, 5)
        Of each image's best point TP, FP and P; its F, 0 where undefined; and 1 where it is defined.
    """

    scores: FloatArray
    positives: Any
    negatives: Any
    best: FloatArray

    @property
    def images(self) -> int:
        """Number of images."""
        return int(self.best.shape[0])

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        return PIXEL_FIGURES

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights, see `Table`."""
        from segbench.curves import table_kernels

        figures = np.full((weights.shape[0], len(PIXEL_FIGURES)), np.nan)

        def pooled(rows: slice, positives: FloatArray, negatives: FloatArray) -> None:
            table_kernels.pooled_pixel_figures(positives, negatives, self.scores, figures[rows, :_POOLED])

        self.pooled(weights, pooled)
        tp, fp, positives, f, defined = (weights @ self.best).T
        columns = figures[:, _POOLED:].T
        some = positives > 0
        np.divide(2 * tp, positives + tp + fp, out=columns[0], where=some)
        np.divide(tp, tp + fp, out=columns[1], where=some)
        np.divide(tp, positives, out=columns[2], where=some)
        np.divide(f, defined, out=columns[3], where=defined > 0)
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


def pixel_table(per_image: Mapping[str, ScoreCounts]) -> PixelTable:
    """Lay out the pixel counts of many images.

    Parameters
    ----------
    per_image : mapping of str to ScoreCounts
        Counts by the image's name; rows come in sorted order of the names.

    Examples
    --------
    >>> table = pixel_table({"a": ScoreCounts([0.9, 0.1], [3, 1], [1, 5]), "b": ScoreCounts([0.5], [2], [2])})
    >>> table.positives
    array([[3., 0., 1.], [0., 2., 0.]])
    """
    images = [per_image[name] for name in sorted(per_image)]
    pooled = ScoreCounts.sum(images)
    # A replicate may hold one image as often as there are images.
    for name in ("positives", "negatives"):
        within_total(len(images) * max(total_of(getattr(image, name)) for image in images), f"{name} of a replicate")
    columns = _columns(images, pooled)
    best = best_fs(images)
    defined = best.positives > 0
    f = np.where(defined, np.nan_to_num(best.f), 0.0)
    return PixelTable(
        pooled.scores.astype(np.float64),
        _matrix([image.positives for image in images], columns, pooled.scores.size),
        _matrix([image.negatives for image in images], columns, pooled.scores.size),
        np.column_stack([best.tp, best.fp, best.positives, f, defined]).astype(np.float64),
    )


def _columns(images: Sequence[ScoreCounts], pooled: ScoreCounts) -> list[NDArray[np.int64]]:
    """Find the column of each score of each image; of bins, the column of the bin."""

    def keys(counts: ScoreCounts) -> NDArray[Any]:
        return -bin_of(counts.scores) if pooled.binned and counts.scores.size else -counts.scores

    levels = keys(pooled)
    return [np.searchsorted(levels, keys(image)) for image in images]


def _matrix(counts: Sequence[NDArray[Any]], columns: Sequence[NDArray[np.int64]], width: int) -> Any:  # noqa: ANN401 - dense or sparse
    if len(counts) * width > _DENSE_CELLS:
        from scipy.sparse import csr_array

        rows = np.repeat(np.arange(len(counts)), [column.size for column in columns])
        cells = np.concatenate(counts).astype(np.float64), (rows, np.concatenate(columns))
        return csr_array(cells, shape=(len(counts), width))
    matrix = np.zeros((len(counts), width))
    for row, (values, column) in enumerate(zip(counts, columns, strict=True)):
        np.add.at(matrix[row], column, values)
    return matrix
