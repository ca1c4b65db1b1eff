"""Counts of many images, ready to be weighted: the one place where counts become metrics.

Each image is a row of numbers that add up: the sum of all is the benchmark itself, drawn with replacement a resample.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from threading import Lock
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric, refuse_outside
from segbench.core.series import Series, Space
from segbench.core.summary import Summary

Held = TypeVar("Held", bound=Counts)

CELLS_AT_ONCE = 2**21
"""Entries of a matrix of weights or of pooled counts that are held at a time."""

_CELLS_CONVERTED = 2**18  # 2 MB in double precision, which a cache holds
_LONG = 2**34  # multiplications; some .2 s, and threads spin for .1 s
_one_at_a_time = Lock()  # limits are of the process: of two at once, the last to end would restore the other's


class Table(ABC):
    """Images of one method, with the formula of every metric.

    A protocol's table derives from this class and gives `metrics`, `rows` and `score`; the rest has defaults.
    """

    metrics: tuple[Metric, ...]
    """The metrics, in the order of the columns of `score`; no totals."""

    @property
    @abstractmethod
    def rows(self) -> Any:  # noqa: ANN401  an array, a sparse one, or columns
        """What adds up over images: one row per image, of float64, dense or sparse; or several such as `Columns`."""

    @abstractmethod
    def score(self, sums: FloatArray) -> FloatArray:
        """Compute every metric from sums of rows: the only place with formulas.

        Parameters
        ----------
        sums : array of float64, shape (R, columns)
            Sums over images of `rows`, each image counted any number of times.

        Returns
        -------
        array of float64, shape (R, metrics)
            nan where a metric is undefined.
        """

    @property
    def images(self) -> int:
        """Number of images."""
        return int(self.rows.shape[0])

    @cached_property
    def names(self) -> Sequence[str]:
        """The name of the image of each row; by default its number, from 1."""
        return [str(place) for place in range(1, self.images + 1)]

    @property
    def images_of_classes(self) -> Mapping[str, int]:
        """How many images hold each class of a metric that is a mean over classes, by the name of the class."""
        return {}

    def sums(self, weights: FloatArray) -> Iterator[FloatArray]:
        """Add up rows by each row of weights, shape (R, images), some at a time."""
        step = max(CELLS_AT_ONCE // max(self.rows.shape[1], 1), 1)
        for start in range(0, len(weights), step):
            yield multiplied(weights[start : start + step], self.rows)

    def measure(self, weights: FloatArray) -> FloatArray:
        """Measure every metric for every row of weights, shape (R, images): how often each image counts."""
        parts = [self.score(sums) for sums in self.sums(weights)]
        return np.concatenate(parts) if parts else np.empty((0, len(self.metrics)))

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself: `measure` with weights of one."""
        row: FloatArray = self.measure(np.ones((1, self.images)))[0]
        return row

    def without_each(self) -> FloatArray:
        """Measure every metric without each image in turn, and in the last row of all, shape (images + 1, metrics)."""
        return without_each(self.rows, self.score)

    def beside(self, other: Self) -> Table:
        """Give the table without values that the other method of the same images lacks: itself, unless it lacks some.

        A mean over the images where a metric is defined leaves out those in which a method finds nothing of what is
        there, as with distances. The other method is not compared on these. Where nothing is there, a method that
        predicts nothing lacks a value, too, but is right: the other keeps what it has for its false positives.
        """
        del other
        return self

    def leaves_out(self, metric: Metric) -> bool:
        """Whether `beside` may change a metric."""
        del metric
        return type(self).beside is not Table.beside

    def _with(self, **computed: Any) -> Self:  # noqa: ANN401  of several types
        """Give a copy with other values in place of those computed; what follows from them is computed again."""
        other = copy(self)
        for name in vars(self):
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(other)[name]
        vars(other).update(computed)
        return other

    @property
    def totals(self) -> Mapping[str, int]:
        """Totals over all images, by the keys of the metrics of that kind."""
        return {}

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        del metric
        return "undefined for these images"

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said beside the estimates."""
        return ()

    def summary(self) -> Summary:
        """Give the estimates with reasons and notes."""
        return self._summary([metric.key for metric in self.metrics], self.totals, self.notes)

    def image_summary(self) -> Summary:
        """Give the metrics of the single image that the table holds, by their names for images."""
        return self._summary([metric.image_key for metric in self.metrics], self.totals, ())

    def _summary(self, keys: Sequence[str], totals: Mapping[str, int], notes: tuple[str, ...]) -> Summary:
        """Give the estimates under these keys, one for each metric, empty for those that are left out."""
        estimates = self.estimates.tolist()
        refuse_outside(self.metrics, estimates)
        named = [(key, metric, value) for key, metric, value in zip(keys, self.metrics, estimates, strict=True) if key]
        return Summary(
            {**{key: value for key, _, value in named}, **totals},
            {key: self.why_undefined(metric) for key, metric, value in named if math.isnan(value)},
            tuple(key for key, metric, _ in named if metric.optimistic),
            notes=notes,
            thresholds=tuple(key for key, metric, _ in named if metric.kind == "threshold"),
        )

    @property
    def shares(self) -> FloatArray:
        """How much each image weighs in each metric, shape (images, metrics), in any unit; by default all alike."""
        return np.ones((self.images, len(self.metrics)))

    @cached_property
    def may_be_missed(self) -> BoolArray:
        """In which metrics a method without a value misses what is there, shape (metrics,): where images weigh."""
        return np.asarray(self.shares.any(axis=0))

    def measure_images(self) -> FloatArray:
        """Measure each image alone, shape (images, metrics)."""
        step = max(CELLS_AT_ONCE // max(self.rows.shape[1], 1), 1)
        parts = [self.rows[start : start + step] for start in range(0, self.images, step)]
        return np.concatenate([self.score(as_dense(part)) for part in parts])

    @property
    def pooled(self) -> Counts:
        """The counts of all images added up."""
        raise ArgumentError("this table has no pooled counts")

    @property
    def curve(self) -> Series | None:
        """The curve of the pooled counts, as far as the protocol has one; None if it has none."""
        return None

    def heights(self, space: Space, at: FloatArray, sums: FloatArray) -> FloatArray:
        """Read the curve of each row of sums off at some places: precision at recalls, or TPR at FPRs."""
        del at, sums
        raise ArgumentError(f"this protocol has no {'ROC' if space == 'roc' else 'precision-recall'} curve")


class Reducing(ABC):
    """A table of very many thresholds, of which plots, resamples and results files take a choice."""

    @property
    @abstractmethod
    def reduced(self) -> Counts:
        """The pooled counts at the points that plots draw: all, or a choice."""

    @property
    @abstractmethod
    def drawn(self) -> Series:
        """The curve at these points."""

    @property
    @abstractmethod
    def chosen_points(self) -> str:
        """How many of the thresholds they are, in words; empty where they are all."""

    worth_keeping: bool = False
    """Whether pooling takes so long that a results file keeps the summary and `reduced`."""


class CountsTable(Table, Generic[Held]):
    """A table of counts by image name; rows come in sorted order of the names."""

    counts: type[Held]
    """What it holds of an image."""

    def __init__(self, per_image: Mapping[str, Held]) -> None:
        self.per_image = per_image

    @property
    def images(self) -> int:
        """Number of images."""
        return len(self.per_image)

    @cached_property
    def names(self) -> list[str]:
        """The names of the images, sorted."""
        return sorted(self.per_image)

    @property
    def ordered(self) -> Iterator[Held]:
        """The counts of each image, in the order of the rows."""
        return (self.per_image[name] for name in self.names)

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        return super().why_undefined(metric) if self.images else "no image was counted"

    @property
    def pooled(self) -> Held:
        """The counts of all images added up."""
        return self.counts.sum(self.ordered)


class Columns:
    """Matrices side by side as one, each dense or sparse, for `Table.rows`."""

    # Single precision is for whole numbers with sums below 2**24: these are exact, and products take half the time.

    __array_ufunc__ = None  # so that ``weights @ columns`` is `__rmatmul__`

    def __init__(self, *parts: Any) -> None:  # noqa: ANN401  dense, sparse, or columns
        nested = (part.parts if isinstance(part, Columns) else (part,) for part in parts)
        self.parts: tuple[Any, ...] = tuple(itertools.chain.from_iterable(nested))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all parts."""
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    def __getitem__(self, rows: slice) -> Columns:
        return Columns(*(part[rows] for part in self.parts))

    def __sub__(self, other: Columns) -> Columns:
        return Columns(*(part - less for part, less in zip(self.parts, other.parts, strict=True)))

    def __rmatmul__(self, weights: FloatArray) -> FloatArray:
        converted = {dtype: weights.astype(dtype, copy=False) for dtype in {part.dtype for part in self.parts}}
        return np.hstack([converted[part.dtype] @ part for part in self.parts], dtype=np.float64)

    def sum(self, axis: int) -> FloatArray:
        """Add up in double precision."""
        return np.concatenate([np.asarray(part.sum(axis=axis, dtype=np.float64)).ravel() for part in self.parts])

    def toarray(self) -> FloatArray:
        """Give them as one array."""
        return np.hstack([as_dense(part) for part in self.parts], dtype=np.float64)


class WholeNumbers:
    """A matrix for `Columns` of whole numbers in few bytes, multiplied in double precision some rows at a time."""

    __array_ufunc__ = None  # as of `Columns`
    dtype = np.dtype(np.float64)  # of products

    def __init__(self, numbers: IntArray) -> None:
        self._numbers = numbers

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self._numbers.shape

    def __getitem__(self, rows: slice) -> WholeNumbers:
        return WholeNumbers(self._numbers[rows])

    def __rmatmul__(self, weights: FloatArray) -> FloatArray:
        rows, columns = self.shape
        product = np.zeros((len(weights), columns))
        step = max(_CELLS_CONVERTED // max(columns, 1), 1)
        for start in range(0, rows, step):
            product += weights[:, start : start + step] @ self[start : start + step].toarray()
        return product

    def sum(self, axis: int, dtype: Any) -> FloatArray:  # noqa: ANN401  as NumPy takes it
        """Add up."""
        return np.asarray(self._numbers.sum(axis=axis, dtype=dtype))

    def toarray(self) -> FloatArray:
        """Give them in double precision."""
        return self._numbers.astype(np.float64, copy=False)


def multiplied(weights: FloatArray, rows: Any) -> FloatArray:  # noqa: ANN401  an array, sparse, or columns
    """Multiply matrices, on one core unless that takes long: other threads of a BLAS spin for a while afterwards."""
    if weights.size * rows.shape[1] > _LONG:
        return weights @ rows
    with _one_at_a_time, _blas().limit(limits=1, user_api="blas"):
        return weights @ rows


@cache
def _blas() -> ThreadpoolController:
    """Find the libraries that let threads be limited."""
    return ThreadpoolController()


def as_dense(rows: Any) -> FloatArray:  # noqa: ANN401  an array, a sparse one, or columns
    """Give rows as an array."""
    dense: FloatArray = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return dense


def without_each(rows: Any, score: Callable[[FloatArray], FloatArray]) -> FloatArray:  # noqa: ANN401  as above
    """Score the sum of all rows but one, for each row in turn, and in the last row of all."""
    total = np.asarray(rows.sum(axis=0)).ravel()
    step = max(CELLS_AT_ONCE // max(total.size, 1), 1)
    starts = range(0, rows.shape[0], step)
    parts = (score(total - as_dense(rows[start : start + step])) for start in starts)
    return np.concatenate([*parts, score(total[np.newaxis])])


def only_where(held: NDArray[Any], rows: FloatArray, columns: Any) -> FloatArray:  # noqa: ANN401  what an index may be
    """Give rows with 0 in some columns of images that do not hold them; the array itself where nothing changes."""
    changed = rows.copy()
    changed[:, columns] *= held
    return rows if np.array_equal(changed, rows) else changed


def left_out_beside(own: FloatArray, other: FloatArray, may_be_missed: Sequence[BoolArray]) -> BoolArray:
    """Mark values that another method lacks as it misses what is there, shape (parts, metrics).

    Elsewhere a value is that of false positives, and stays; see `Table.beside`.
    """
    return np.isnan(other) & ~np.isnan(own) & np.array(may_be_missed)


def column_sums(rows: FloatArray) -> FloatArray:
    """Add up the rows of a matrix, each sum rounded once, so that the order of the rows does not matter; one row."""
    return np.array([[math.fsum(column.tolist()) for column in rows.T]])


class Tabled(Protocol):
    """Anything with a table, such as a `segbench.Result`."""

    @property
    def table(self) -> Table:
        """The counts of all images laid out."""
