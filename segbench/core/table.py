"""Counts of many images, ready to be weighted: the one place where counts become metrics.

Each image is a row of numbers that add up: the sum of all is the benchmark itself, drawn with replacement a resample.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cache, cached_property
from threading import Lock
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.messages import NOTHING, Message, Note, as_message, as_note
from segbench.core.metric import Metric, Summary, refuse_outside
from segbench.core.numbers import many
from segbench.core.scores import ScoreCounts
from segbench.core.series import Series, Space

CountsOfImage = TypeVar("CountsOfImage", bound=Counts)

CELLS_AT_ONCE = 2**21
"""Entries of a matrix of weights or of pooled counts that are held at a time."""

_CELLS_CONVERTED = 2**18  # 2 MB in double precision, which a cache holds
_LONG = 2**34  # multiplications; some .2 s, and threads spin for .1 s
_one_at_a_time = Lock()  # limits are of the process: of two at once, the last to end would restore the other's


class Table(ABC):
    """Images of one method, with the formula of every metric.

    A protocol's table derives from this class and gives `metrics`, `columns` and `formulas`; the rest has defaults.
    Rows lie side by side in one matrix, whose sums are taken apart again by the names of the columns.
    """

    metrics: tuple[Metric, ...]
    """The metrics, in the order of the columns of `score`; no totals."""

    noun: str = "image"
    """What a row is called in messages, in the singular; several are written by `segbench.core.numbers.many`."""

    folds: Sequence[str] = ()
    """The fold of each row, where those of a cross-validation are pooled; empty without folds, see `in_folds`."""
    in_named_groups: bool = False
    """Whether it is known which images belong together, as fixed categories: names need not suggest it."""
    why_no_ranks: Message = NOTHING
    """Why the signed-rank test does not take its rows, for instance as they are of several parts; empty if it does."""

    means: Collection[str] = ()
    """The names of columns that are averaged over the images where they are not nan; all others are added up."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Any]:
        """What is known of each image, by name; tables compute it once (``functools.cached_property``).

        Each is an array of shape (images, ...), a sparse matrix of shape (images, k), or a table of the same images.
        Whole numbers (integers and truth values) add exactly; sums of floats are rounded once.
        """

    @abstractmethod
    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        """Compute every metric from sums and means: the only place with formulas.

        Parameters
        ----------
        of : Sums
            Sums and means over images of `columns`, by name, of R rows: all images, one of them, a resample, or all but
            one. ``of.images`` says how many images each row adds up.

        Returns
        -------
        mapping of str to array of float64, shape (R,)
            By `Metric.label`; nan where a metric is undefined. Division by 0 is no warning here.
        """

    @cached_property
    def layout(self) -> ColumnLayout:
        """Where the columns lie in the rows."""
        return ColumnLayout(self.columns, self.means)

    @property
    def rows(self) -> Columns:
        """The columns of all images side by side, one row per image."""
        return self.layout.rows

    def score(self, sums: FloatArray) -> FloatArray:
        """Compute every metric from sums of rows, shape (R, columns): shape (R, metrics), nan where undefined."""
        if not self.images:
            return np.full((len(sums), len(self.metrics)), np.nan)
        return self.scored(self.layout.named(sums))

    def scored(self, of: Sums) -> FloatArray:
        """Compute every metric from sums by name, shape (R, metrics)."""
        with np.errstate(invalid="ignore", divide="ignore"):  # nan where a metric is undefined
            return self.laid_out(self.formulas(of))

    def laid_out(self, values: Mapping[str, Any]) -> FloatArray:
        """Put metrics by label, shape (R,), in the order of `metrics`, shape (R, metrics)."""
        return np.column_stack([values[label] for label in self.labels])

    @cached_property
    def labels(self) -> Sequence[str]:
        """The label of each metric."""
        return [metric.label for metric in self.metrics]

    def by_label(self, values: FloatArray) -> dict[str, FloatArray]:
        """Name metrics in the order of `metrics`, shape (R, metrics), by their labels, shape (R,)."""
        return dict(zip(self.labels, values.T, strict=True))

    @property
    def images(self) -> int:
        """Number of images."""
        return self.layout.images

    @property
    def number_of_images(self) -> int:
        """How many images the rows hold together."""
        return self.images

    @property
    def sample_size(self) -> str:
        """How many images are drawn at random, in words: 12 images, or 12 patients, 170 images."""
        return many(self.images, self.noun)

    @cached_property
    def names(self) -> Sequence[str]:
        """The name of the image of each row; by default its number, from 1."""
        return [str(number) for number in range(1, self.images + 1)]

    @property
    def image_of_rows(self) -> Sequence[str]:
        """The name of an image of each row: its own, or any where a row is a thing in several."""
        return self.names

    @property
    def run_tables(self) -> tuple[Table, ...]:
        """The tables of the runs (trainings) that this one averages; by default itself."""
        return (self,)

    @property
    def runs(self) -> int:
        """Number of runs that this table averages; 1 for one with folds, which pools them."""
        return len(self.run_tables)

    @cached_property
    def run_variances(self) -> FloatArray:
        """What trainings add to the variance of each metric, shape (metrics,): s^2 / R, 0 for a single run."""
        if self.runs == 1:
            return np.zeros(len(self.metrics))
        variances: FloatArray = np.var([run.estimates for run in self.run_tables], axis=0, ddof=1) / self.runs
        return variances

    def in_folds(self, folds: Sequence[str]) -> Self:
        """Return the table with the fold of each row, whose images were measured by a training of their own."""
        return self._with(folds=tuple(folds))

    def in_groups(self) -> Self:
        """Return the table of images whose groups are known."""
        return self._with(in_named_groups=True)

    enough_of_class: int = 5
    """In how many images a class has to lie for intervals of means over classes; a note names those in fewer."""

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        """Which images hold each class of a metric that is a mean over classes, by the name of the class."""
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
        """Every metric of the benchmark itself: of all images, with each sum of floats rounded once."""
        row: FloatArray = self.score(self.layout.total()[np.newaxis])[0]
        return row

    def without_each(self) -> FloatArray:
        """Measure every metric without each image in turn, and in the last row of all, shape (images + 1, metrics)."""
        return without_each(self.rows, self.score)

    @property
    def left_out_if_lacking(self) -> Mapping[str, BoolArray]:
        """Where values of `means` leave a mean if another method lacks them, by name; shapes broadcast to theirs.

        A mean over the images where a metric is defined leaves out those in which a method finds nothing of what is
        there, as with distances. The other method is not compared on these. Where nothing is there, a method that
        predicts nothing lacks a value, too, but is right: the other keeps what it has for its false positives.
        """
        return {}

    def restricted_to_common(self, other: Self) -> Table:
        """Return the table without values that the other method of the same images lacks: itself, unless it lacks some.

        Which values these may be, `left_out_if_lacking` says.
        """
        restricted: dict[str, Any] = {}
        for name, candidates in self.left_out_if_lacking.items():
            values = self.columns[name]
            left_out = np.isnan(other.columns[name]) & ~np.isnan(values) & candidates
            if left_out.any():
                restricted[name] = np.where(left_out, np.nan, values)
        for name, column in self.columns.items():
            if isinstance(column, Table):
                common = column.restricted_to_common(other.columns[name])
                if common is not column:
                    restricted[name] = common
        return self._with(columns={**self.columns, **restricted}) if restricted else self

    def may_be_restricted(self, metric: Metric) -> bool:
        """Return whether `restricted_to_common` may change a metric."""
        del metric
        return bool(self.left_out_if_lacking)

    @property
    def values_in_means(self) -> Mapping[str, Any]:
        """How many values of each image are in a mean over images, by `Metric.label`, shape (images,).

        Of metrics that are not named, an image has one if it weighs something.
        """
        return {}

    def values_in(self, metric: Metric) -> IntArray:
        """Count the values of each image that are in the mean of a metric, shape (images,)."""
        if metric.label in self.values_in_means:
            return np.asarray(self.values_in_means[metric.label], np.int64)
        return (self.weights_by_metric[:, self.metrics.index(metric)] > 0).astype(np.int64)

    value_noun: str = ""
    """What `values_in` counts, in the singular, where that is not what a row is called."""

    def lacks(self, metric: Metric) -> str:
        """Say what a method without a value does where something is there: it has no value, or finds nothing."""
        del metric
        return "has no value"

    def _with(self, **computed: Any) -> Self:  # noqa: ANN401  of several types
        """Return a copy with other values in place of those computed; what follows from them is computed again."""
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

    def why_undefined(self, metric: Metric) -> Message | str:
        """Say why an estimate is nan; text alone is a message without data."""
        del metric
        return Message("undefined", "undefined for these images")

    @property
    def notes(self) -> tuple[Note | str, ...]:
        """What has to be said beside the estimates; text alone is a note without data."""
        return ()

    def summary(self) -> Summary:
        """Return the estimates with reasons and notes."""
        return self._summary([metric.key for metric in self.metrics], self.totals, self.notes)

    def image_summary(self, images: int = 1) -> Summary:
        """Return the metrics of the single image that the table holds, by their names for images.

        Its counts may be those of several `images` added up, of which means over images are unknown.
        """
        unknown = None
        if images > 1:
            unknown = Message(
                "added-up",
                "a mean over images, and counts of {images} {noun}s were added up: "
                "measure each by itself, or evaluate them together",
                images=images,
                noun=self.noun,
            )
        return self._summary([metric.image_key for metric in self.metrics], self.totals, (), unknown)

    def _summary(
        self,
        keys: Sequence[str],
        totals: Mapping[str, int],
        notes: tuple[Note | str, ...],
        why_no_means: Message | None = None,
    ) -> Summary:
        """Return the estimates under these keys, one for each metric, empty for those that are left out.

        Means over images are nan where it is given why there are none.
        """
        metrics = {key: metric for key, metric in zip(keys, self.metrics, strict=True) if key}
        threshold_source = self.threshold_source
        values = {key: value for key, value in zip(keys, self.estimates.tolist(), strict=True) if key}
        undefined: dict[str, Message] = {}
        for key, metric in metrics.items():
            if why_no_means is not None and not metric.is_of_sums:
                values[key], undefined[key] = math.nan, why_no_means
            elif math.isnan(values[key]):
                undefined[key] = as_message(self.why_undefined(metric))
        optimistic = tuple(key for key, metric in metrics.items() if metric.optimistic)
        thresholds = tuple(key for key, metric in metrics.items() if metric.kind == "threshold")
        of_set = tuple(map(as_note, notes))
        refuse_outside(metrics.values(), values.values())
        return Summary({**values, **totals}, undefined, optimistic, threshold_source, of_set, thresholds)

    @property
    def threshold_source(self) -> str:
        """Where thresholds come from when they are not scores of the images themselves."""
        return ""

    @property
    def image_weights(self) -> Mapping[str, Any]:
        """How much each image weighs in a metric, by `Metric.label`, shape (images,), in any unit.

        Of metrics that are not named, all images weigh alike.
        """
        return {}

    @cached_property
    def weights_by_metric(self) -> FloatArray:
        """How much each image weighs in each metric, shape (images, metrics)."""
        weights, alike = self.image_weights, np.ones(self.images)
        columns = [np.asarray(weights.get(metric.label, alike), np.float64) for metric in self.metrics]
        return np.column_stack(columns)

    @cached_property
    def may_be_missed(self) -> BoolArray:
        """In which metrics a method without a value misses what is there, shape (metrics,): where images weigh."""
        return np.asarray(self.weights_by_metric.any(axis=0))

    def measure_images(self) -> FloatArray:
        """Measure each image alone, shape (images, metrics)."""
        step = max(CELLS_AT_ONCE // max(self.rows.shape[1], 1), 1)
        parts = [self.rows[start : start + step] for start in range(0, self.images, step)]
        return np.concatenate([np.empty((0, len(self.metrics))), *(self.score(part.toarray()) for part in parts)])

    @property
    def pooled(self) -> Counts:
        """The counts of all images added up."""
        raise ArgumentError(Message("no-pooled", "this table has no pooled counts"))

    @property
    def confidences(self) -> ScoreCounts | None:
        """How often scores are right, of which reliability is drawn; None where there are none, or they are pooled."""
        return None

    @property
    def curve(self) -> Series | None:
        """The curve of the pooled counts, as far as the protocol has one; None if it has none."""
        return None

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the curve of each row of sums off at some places: precision at recalls, or TPR at FPRs."""
        del at, of
        curve = "ROC" if space == "roc" else "precision-recall"
        raise ArgumentError(Message("no-curve", "this protocol has no {curve} curve", curve=curve))


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


@dataclass(frozen=True, eq=False)
class CachedPool:
    """What a results file keeps of counts that take long to go through; it depends on counts alone."""

    counts: Counts
    """The pooled counts at the points that plots draw."""
    numbers: Mapping[str, NDArray[Any]]
    """What these do not tell of all counts, such as areas, by name; each of one dimension."""


class Keeping(Reducing):
    """A table of so many counts that results files keep what its metrics are computed from."""

    @property
    @abstractmethod
    def worth_keeping(self) -> bool:
        """Whether it does."""

    @abstractmethod
    def keepable(self) -> CachedPool:
        """Return `reduced`, and the numbers that cannot be computed from it."""


class CountsTable(Table, Generic[CountsOfImage]):
    """A table of counts by image name; rows come in sorted order of the names."""

    counts: type[CountsOfImage]
    """What it holds of an image."""
    settings: Any
    """The protocol, where formulas depend on its settings."""

    def __init__(self, per_image: Mapping[str, CountsOfImage], settings: Any = None) -> None:  # noqa: ANN401  of any protocol
        self.per_image = per_image
        self.settings = settings

    @property
    def images(self) -> int:
        """Number of images."""
        return len(self.per_image)

    @cached_property
    def names(self) -> list[str]:
        """The names of the images, sorted."""
        return sorted(self.per_image)

    @property
    def ordered(self) -> Iterator[CountsOfImage]:
        """The counts of each image, in the order of the rows."""
        return (self.per_image[name] for name in self.names)

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """What is known of each image; by default the fields of its counts, by their names."""
        names = [field.name for field in fields(cast("Any", self.counts))]
        return columns_of([{name: getattr(counts, name) for name in names} for counts in self.ordered])

    def why_undefined(self, metric: Metric) -> Message | str:
        """Say why an estimate is nan."""
        return super().why_undefined(metric) if self.images else Message("no-images", "no image was counted")

    @property
    def pooled(self) -> CountsOfImage:
        """The counts of all images added up."""
        return self.counts.sum(self.ordered)


class ColumnLayout:
    """Columns by name, side by side in one row per image: which columns of sums belong to each name."""

    def __init__(self, columns: Mapping[str, Any], means: Collection[str]) -> None:
        self.means = frozenset(means)
        self.tables = {name: column.layout for name, column in columns.items() if isinstance(column, Table)}
        self.tails = {name: column.shape[1:] for name, column in columns.items() if name not in self.tables}
        """The shape of each column, without that of the images."""
        row_counts = [column.images if isinstance(column, Table) else column.shape[0] for column in columns.values()]
        self.images: int = max(row_counts, default=0)
        blocks = [*_blocks(columns, self.means), (_IMAGES, np.ones((self.images, 1), np.int64))]
        # Narrow blocks come first, joined to one matrix, which takes less time to multiply than each by itself.
        self._narrow = [block for _, block in blocks if _is_narrow(block)]
        self._wide = [_packed(block) for _, block in blocks if not _is_narrow(block)]
        names = [name for name, block in blocks if _is_narrow(block)]
        names += [name for name, block in blocks if not _is_narrow(block)]
        widths = [block.shape[1] for block in (*self._narrow, *self._wide)]
        ends = np.cumsum(widths).tolist()
        self.slices = {name: slice(end - width, end) for name, width, end in zip(names, widths, ends, strict=True)}
        """Which columns of the rows, and of their sums, each block has."""

    @cached_property
    def rows(self) -> Columns:
        """The rows of all images."""
        wide = (block.rows if isinstance(block, ColumnLayout) else block for block in self._wide)
        return Columns(np.hstack(self._narrow, dtype=np.float64), *wide)

    def summed(self, groups: IntArray, number: int) -> ColumnLayout:
        """Return the layout with rows added up by the number of the group that each is in."""
        summed = copy(self)
        vars(summed).pop("rows", None)
        vars(summed).update(
            images=number,
            tables={name: layout.summed(groups, number) for name, layout in self.tables.items()},
            _narrow=[_summed(block, groups, number) for block in self._narrow],
            _wide=[_summed(block, groups, number) for block in self._wide],
        )
        return summed

    def total(self) -> FloatArray:
        """Add up all rows: whole numbers exactly, floats with each sum rounded once."""
        return np.concatenate([_total(block) for block in (*self._narrow, *self._wide)])

    @property
    def shape(self) -> tuple[int, int]:
        """Images, and columns of all blocks."""
        return self.images, max(columns.stop for columns in self.slices.values())

    def named(self, sums: FloatArray) -> Sums:
        """Split sums of rows, shape (R, columns), by the names of the columns."""
        values: dict[str, Any] = {}
        for name, tail in self.tails.items():
            value = sums[:, self.slices[name]]
            if name in self.means:
                with np.errstate(invalid="ignore"):  # 0 / 0 where no image defines it
                    value = value / sums[:, self.slices[_defined(name)]]
            values[name] = value.reshape(len(sums), *tail)
        values |= {name: layout.named(sums[:, self.slices[name]]) for name, layout in self.tables.items()}
        return Sums(values, sums[:, self.slices[_IMAGES].start])


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of rows by the names of their columns, R at a time; means are divided by the images that define them."""

    values: Mapping[str, Any]  # arrays of shape (R, ...), and the sums of tables
    images: FloatArray
    """How many images each row adds up, shape (R,)."""

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.images)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  an array, or the sums of a table
        """Return the sums of a column, or of a table among the columns."""
        return self.values[name]


_IMAGES = "number of images"
_WIDE = 32
"""Blocks of more columns are kept by themselves, in few bytes where they are whole numbers."""
_EXACT_IN_SINGLE = 2**24


def _defined(name: str) -> str:
    """Name the block that marks where a mean is defined."""
    return f"{name}, defined"


def _blocks(columns: Mapping[str, Any], means: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield matrices that add up, one row per image: for means, the values and where these are defined."""
    for name, column in columns.items():
        if isinstance(column, Table):
            yield name, column.layout
        elif not isinstance(column, np.ndarray):  # a sparse matrix
            yield name, column
        else:
            block = column.reshape(len(column), math.prod(column.shape[1:]))
            block = block.astype(np.float64, copy=False) if block.dtype.kind == "f" else block
            if name in means:
                defined = ~np.isnan(block)
                yield name, np.where(defined, block, 0.0)
                yield _defined(name), defined
            else:
                yield name, block


def _is_narrow(block: Any) -> bool:  # noqa: ANN401  an array, a sparse one, or a layout
    """Return whether a block is an array of few columns."""
    return isinstance(block, np.ndarray) and block.shape[1] <= _WIDE


def _packed(block: Any) -> Any:  # noqa: ANN401  as above
    """Return an array of whole numbers in few bytes, in single precision where that is exact for every resample."""
    if not isinstance(block, np.ndarray) or block.dtype.kind == "f":
        return block
    # A resample may hold one image as often as there are images.
    largest = max(int(block.max(initial=0)), -int(block.min(initial=0)))
    return block.astype(np.float32) if len(block) * largest < _EXACT_IN_SINGLE else WholeNumbers(block)


def _summed(block: Any, groups: IntArray, number: int) -> Any:  # noqa: ANN401  as above
    """Add up the rows of a block by group: whole numbers exactly."""
    if isinstance(block, ColumnLayout):
        return block.summed(groups, number)
    from scipy.sparse import csr_array

    whole = isinstance(block, WholeNumbers) or block.dtype != np.float64
    ones = np.ones(groups.size, np.int64 if whole else np.float64)
    members = csr_array((ones, (groups, np.arange(groups.size))), shape=(number, groups.size))
    if isinstance(block, WholeNumbers):
        return _packed(members @ block.numbers)
    if isinstance(block, np.ndarray) and block.dtype == np.float32:  # whole numbers, see `_packed`
        return _packed(members @ block.astype(np.int64))
    return members @ block


def _total(block: Any) -> FloatArray:  # noqa: ANN401  as above
    """Add up the rows of a block: whole numbers exactly, floats with each sum rounded once."""
    if isinstance(block, ColumnLayout):
        return block.total()
    if isinstance(block, np.ndarray) and block.dtype == np.float64:
        return np.array([math.fsum(column.tolist()) for column in block.T])  # whatever the order of the images
    if isinstance(block, np.ndarray) and block.dtype.kind != "f":
        return block.sum(axis=0).astype(np.float64)
    return np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()


def columns_of(images: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Stack the values of images, numbers or lists by name, to columns; without an image there are none."""
    return {name: np.array([image[name] for image in images]) for name in (images[0] if images else ())}


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
        return Columns(*(part - subtracted for part, subtracted in zip(self.parts, other.parts, strict=True)))

    def __rmatmul__(self, weights: FloatArray) -> FloatArray:
        converted = {dtype: weights.astype(dtype, copy=False) for dtype in {part.dtype for part in self.parts}}
        return np.hstack([converted[part.dtype] @ part for part in self.parts], dtype=np.float64)

    def sum(self, axis: int) -> FloatArray:
        """Add up in double precision."""
        return np.concatenate([np.asarray(part.sum(axis=axis, dtype=np.float64)).ravel() for part in self.parts])

    def toarray(self) -> FloatArray:
        """Return all columns as one array."""
        dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in self.parts]
        return np.hstack(dense, dtype=np.float64)


class WholeNumbers:
    """A matrix for `Columns` of whole numbers in few bytes, multiplied in double precision some rows at a time."""

    __array_ufunc__ = None  # as of `Columns`
    dtype = np.dtype(np.float64)  # of products

    def __init__(self, numbers: IntArray) -> None:
        self.numbers = numbers

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.numbers.shape

    def __getitem__(self, rows: slice) -> WholeNumbers:
        return WholeNumbers(self.numbers[rows])

    def __rmatmul__(self, weights: FloatArray) -> FloatArray:
        rows, columns = self.shape
        product = np.zeros((len(weights), columns))
        step = max(_CELLS_CONVERTED // max(columns, 1), 1)
        for start in range(0, rows, step):
            product += weights[:, start : start + step] @ self[start : start + step].toarray()
        return product

    def sum(self, axis: int, dtype: Any) -> FloatArray:  # noqa: ANN401  as NumPy takes it
        """Add up."""
        return np.asarray(self.numbers.sum(axis=axis, dtype=dtype))

    def toarray(self) -> FloatArray:
        """Return the numbers in double precision."""
        return self.numbers.astype(np.float64, copy=False)


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


def without_each(rows: Columns, score: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Score the sum of all rows but one, for each row in turn, and in the last row of all."""
    total = rows.sum(axis=0)
    step = max(CELLS_AT_ONCE // max(total.size, 1), 1)
    starts = range(0, rows.shape[0], step)
    parts = (score(total - rows[start : start + step].toarray()) for start in starts)
    return np.concatenate([*parts, score(total[np.newaxis])])


def left_out_beside(own: FloatArray, other: FloatArray, may_be_missed: Sequence[BoolArray]) -> BoolArray:
    """Mark values that another method lacks as it misses what is there, shape (parts, metrics).

    Elsewhere a value is that of false positives, and stays; see `Table.left_out_if_lacking`.
    """
    return np.isnan(other) & ~np.isnan(own) & np.array(may_be_missed)


class Tabled(Protocol):
    """Anything with a table, such as a `segbench.Result`."""

    @property
    def measured(self) -> Table:
        """The counts of all images laid out, as statistics take them."""
