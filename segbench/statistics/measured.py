"""One method measured on its images: what leaving images out and resampling them does to its metrics.

Which of the two a metric's interval comes from depends on how it moves with the images (`Metric.spread`).

- Smooth metrics have the jackknife: estimate -+ t s; where the range is 0 to 1, on the scale of log odds.
- Biased metrics (ECE, ACE, MCE) are too high in small sets. They have the jackknife from 30 images on, unless they are
  below 6 s, which chance alone can give; never on the scale of log odds.
- Metrics that jump have quantiles of resamples from 30 images on, which hold the metric of the population in at least
  88 % of repeats in simulations (``scripts/checks/check_statistics.py``).
- Erratic metrics jump, too, and their quantiles hold it less often: they have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.messages import NOTHING, Message, Setting, as_message
from segbench.core.metric import Metric
from segbench.core.settings import as_real, as_whole
from segbench.core.table import CELLS_AT_ONCE, Table
from segbench.statistics.means import GroupMeans, on_common
from segbench.statistics.variance import (
    Component,
    Jackknife,
    Variance,
    jackknife,
    mean_of_runs,
    pseudo_values_of_folds,
    standard_error,
)

Interval = tuple[float, float]

ENOUGH_IMAGES = 30
"""From this many images on, metrics that are not smooth have intervals."""
FEWEST_FOLDS = 3
"""Two differ little by chance, although trainings do, too often: equally good methods had p < .05 in .13 of sets."""
_ABOVE_ZERO = 6.0  # standard errors; the errors of calibrated scores reach 3 to 5 by chance
_LOGIT = (0.0, 1.0)
_NO_SPREAD = 1e-12
_LEAST_ROWS = 16
"""Resamples multiplied at once at least: of two at a time, reading a million images takes most of the time."""

NO_INTERVAL: Interval = (math.nan, math.nan)


class FoundInterval(NamedTuple):
    """An interval with the standard error and degrees of freedom that it comes from, if any; or why there is none."""

    ends: Interval
    reason: Message = NOTHING
    error: float = math.nan
    freedom: float = math.nan


@dataclass(frozen=True, eq=False)
class Measured:
    """The metrics of one method, with what their intervals and comparisons take."""

    table: Table  # of at least one image
    level: float  # of confidence
    replicates: int
    seed: int  # methods over the same images have the same images in each resample
    beside: tuple[Table, ...] = ()  # of methods that are compared with this one
    _common: dict[Measured, Measured] = field(default_factory=dict, init=False)  # by the other method
    _pseudo_of_folds: dict[tuple[str, ...], FloatArray] = field(
        default_factory=dict, init=False
    )  # by the fold of each image

    @property
    def images(self) -> int:
        """Number of images."""
        return self.table.images

    @property
    def noun(self) -> str:
        """What is drawn at random, in the singular: an image, or a unit such as a patient."""
        return self.table.noun

    @cached_property
    def _runs(self) -> tuple[Measured, ...]:
        """Each of several runs on the same images, measured by itself; none of a single one."""
        return tuple(replace(self, table=run) for run in self.table.run_tables) if self.table.runs > 1 else ()

    @cached_property
    def jackknife(self) -> Jackknife:
        """The metrics without each image in turn."""
        if self._runs:
            return mean_of_runs([run.jackknife for run in self._runs])
        if isinstance(self.table, GroupMeans):
            return self.table.jackknife([group.jackknife for group in self._groups(self.table)])
        return jackknife(self.table)

    def _groups(self, table: GroupMeans) -> list[Measured]:
        """Measure each group, which has resamples of its own."""
        return [
            replace(self, table=group, seed=self.seed + k, beside=()) for k, group in enumerate(table.tables.values())
        ]

    @cached_property
    def draws(self) -> FloatArray:
        """Every metric in every resample, shape (replicates, metrics); nan where undefined."""
        table = self.table
        if self._runs:
            mean: FloatArray = np.mean([run.draws for run in self._runs], axis=0)
            return mean
        if isinstance(table, GroupMeans):
            return table.averaged(np.array([group.draws[:, table.metric_columns] for group in self._groups(table)]))
        # A table may resample at a choice of thresholds: what that takes from the estimate it takes from each resample.
        total = np.asarray(table.rows.sum(axis=0)).reshape(1, -1)
        shift = np.nan_to_num(table.estimates - table.score(total)[0])
        sums = sums_of_draws(table, self.replicates, self.seed, self.beside)
        draws: FloatArray = np.concatenate([table.score(summed) for summed in sums]) + shift
        return draws

    def over_common(self, other: Measured) -> Measured:
        """Return this method measured on the values that the other has, too; itself where that is all."""
        if other not in self._common:
            table = on_common(self.table, other.table)
            self._common[other] = self if table is self.table else replace(self, table=table, beside=())
        return self._common[other]

    @cached_property
    def of_images(self) -> FloatArray:
        """Each metric of each image by itself, shape (images, metrics)."""
        return self.table.measure_images()

    def without_folds(self, folds: Sequence[str]) -> FloatArray:
        """Return the pseudo-values of each fold, of this method or of another, shape (folds, metrics)."""
        folds = tuple(folds)
        number = len(set(folds))
        if number < FEWEST_FOLDS:
            return np.full((number, len(self.table.metrics)), np.nan)
        if folds not in self._pseudo_of_folds:
            self._pseudo_of_folds[folds] = pseudo_values_of_folds(self.table, folds)
        return self._pseudo_of_folds[folds]

    @cached_property
    def components(self) -> Mapping[str, Component]:
        """What each source of chance adds to the variance of each metric: images, folds, trainings."""
        components = {"images": Component(self.jackknife.standard_errors, self.jackknife.freedom)}
        if self.table.folds:
            pseudo = self.without_folds(self.table.folds)
            components["folds"] = Component(standard_error(pseudo), np.full(pseudo.shape[1], len(pseudo) - 1.0))
        if self._runs:
            error = np.sqrt(self.table.run_variances)
            components["trainings"] = Component(error, np.full(error.shape, self.table.runs - 1.0))
        return components

    @cached_property
    def variance(self) -> Variance:
        """The variance of each metric, from all sources."""
        images, folds = self.components["images"], self.components.get("folds")
        if folds is not None:
            images = images.with_folds(np.maximum(folds.error**2 - images.error**2, 0), folds.freedom)
        trainings = tuple(part for source, part in self.components.items() if source == "trainings")
        return Variance(images, trainings, np.ones(images.error.shape, np.bool_))

    def interval(self, column: int) -> FoundInterval:
        """Return the interval of the metric in this column, or the reason why there is none."""
        metric, estimate = self.table.metrics[column], float(self.table.estimates[column])
        reason = self.why_none(column)
        if reason:
            return FoundInterval(NO_INTERVAL, reason)
        if metric.spread == "jumps":
            drawn = self.draws[:, column]
            low, high = np.nanquantile(drawn, [(1 - self.level) / 2, (1 + self.level) / 2]).tolist()
            wider = float(widened(high - low, self.variance.reach_of_trainings(self.level))[column])
            return FoundInterval(_within_range(metric, low - wider, high + wider))
        reason = self.hardly_above_0(column)
        if reason:
            return FoundInterval(NO_INTERVAL, reason)
        if self.jackknife.standard_errors[column] < _NO_SPREAD:
            no_spread = Message(
                "no-spread", "the same without each of the {noun}s, so that nothing shows how it varies", noun=self.noun
            )
            return FoundInterval(NO_INTERVAL, no_spread)
        error, freedom = float(self.variance.error[column]), float(self.variance.freedom[column])
        reach = float(self._reach[column])
        if metric.spread == "smooth" and metric.range == _LOGIT and 0 < estimate < 1:
            return FoundInterval(_logit_ends(estimate, reach), NOTHING, error, freedom)
        return FoundInterval(_within_range(metric, estimate - reach, estimate + reach), NOTHING, error, freedom)

    @cached_property
    def _reach(self) -> FloatArray:
        """How far the interval of each metric reaches to each side."""
        return self.variance.reach(self.level)

    def why_none(self, column: int) -> Message:
        """Say why a metric has no interval, as far as images decide; empty where it may have one."""
        metric = self.table.metrics[column]
        if math.isnan(self.table.estimates[column]):
            return as_message(self.table.why_undefined(metric))
        if self.images == 1:
            return Message("too-few", "1 {noun}: an interval needs at least two", noun=self.noun, least=2)
        if metric.spread == "erratic":
            return Message("jumps", "it jumps when {noun}s change, so that no interval is reliable", noun=self.noun)
        if metric.spread == "jumps" and self.table.folds:
            return Message(
                "jumps",
                "it jumps when {noun}s change, and quantiles of resamples do not tell folds from {noun}s",
                noun=self.noun,
            )
        if metric.spread != "smooth" and self.images < ENOUGH_IMAGES:
            return Message(
                "too-few",
                "{number} {noun}s: this metric has intervals from {least} {noun}s on",
                number=self.images,
                noun=self.noun,
                least=ENOUGH_IMAGES,
            )
        return NOTHING if metric.spread == "jumps" else self.undefined_without(column)

    def why_untested(self, column: int) -> Message:
        """Say why no difference of this smooth or biased metric can be tested; empty where it can."""
        return self.undefined_without(column) or self.hardly_above_0(column)

    def hardly_above_0(self, column: int) -> Message:
        """Say that a metric that is biased upwards may be all bias; empty where it is not, or has no such bias."""
        least = _ABOVE_ZERO * self.variance.error[column]
        if self.table.metrics[column].spread != "biased" or not self.table.estimates[column] < least:
            return NOTHING
        return Message(
            "by-chance", "less than {times:g} standard errors, which chance alone can give", times=_ABOVE_ZERO
        )

    def undefined_without(self, column: int) -> Message:
        """Name the image without which a metric is undefined; empty where there is none."""
        undefined = np.flatnonzero(np.isnan(self.jackknife.pseudo[:, column]))
        if undefined.size:
            name = self.table.names[undefined[0]]
            return Message("undefined-without", "undefined without the {noun} {name}", noun=self.noun, name=name)
        return self.undefined_without_fold(column, self.table.folds)

    def undefined_without_fold(self, column: int, folds: Sequence[str]) -> Message:
        """Name the fold, of this method or another, without which a metric is undefined; or say that they are few."""
        if 0 < len(set(folds)) < FEWEST_FOLDS:
            return Message(
                "too-few",
                "{number:many fold}: intervals and p-values over folds need at least {least}",
                number=len(set(folds)),
                least=FEWEST_FOLDS,
            )
        undefined = np.flatnonzero(np.isnan(self.without_folds(folds)[:, column])) if folds else np.array([])
        if not undefined.size:
            return NOTHING
        name = list(dict.fromkeys(folds))[undefined[0]]
        return Message("undefined-without", "undefined without {noun} {name}", noun="fold", name=name)


def widened(width: FloatArray | float, reach: FloatArray) -> FloatArray:
    """Return how far each end of an interval over images moves out where trainings alone would reach so far."""
    half = np.asarray(width) / 2
    return np.asarray(np.hypot(half, reach) - half)


def _logit_ends(estimate: float, reach: float) -> tuple[float, float]:
    """Return estimate -+ reach, measured where the estimate is and laid off on the scale of log odds."""
    from scipy.special import expit, logit

    middle, width = logit(estimate), reach / (estimate * (1 - estimate))
    return float(expit(middle - width)), float(expit(middle + width))


def _within_range(metric: Metric, low: float, high: float) -> Interval:
    """Cut an interval at the ends of the range of its metric."""
    least, greatest = metric.range or (-math.inf, math.inf)
    return max(low, least), min(high, greatest)


MOST_REPLICATES = 10_000_000
"""Every metric of every replicate is kept, 8 bytes each."""

_HIGHEST_LEVEL = 1 - 1e-9  # quantiles closer to the ends than that are the ends


def as_level(level: float, name: str = "level") -> float:
    """Read a confidence level."""
    expected = "a number between 0 and 1, for instance 0.95"
    return as_real(level, name, expected, least=0, most=_HIGHEST_LEVEL, open_ends=True)


def as_draws(replicates: int, seed: int) -> tuple[int, int]:
    """Read how many replicates are drawn, and the seed."""
    draws = as_whole(replicates, Setting("replicates", None), least=1, most=MOST_REPLICATES)
    return draws, as_whole(seed, Setting("seed", None))


_SUMS: WeakKeyDictionary[Table, dict[tuple[int, int], FloatArray]] = WeakKeyDictionary()
"""Sums of resamples of tables in use: metrics and both bands take the same, and each sum goes through all images."""


def sums_of_draws(table: Table, replicates: int, seed: int, beside: Sequence[Table] = ()) -> Iterator[FloatArray]:
    """Yield the summed rows of resamples of the images, in blocks of resamples; for very many images they are cached.

    Tables `beside` it, of other methods on the same images, are resampled in the same pass and cached.
    """
    key = replicates, seed
    if key in _SUMS.get(table, {}):
        yield _SUMS[table][key]
        return
    others = (other for other in beside if other is not table and other.images == table.images)
    tables = [table, *(other for other in others if _kept(other, replicates) and key not in _SUMS.get(other, {}))]
    parts: list[list[FloatArray]] = [[] for _ in tables]
    for weights in weights_of_draws(table.images, replicates, seed):
        for method_table, blocks in zip(tables, parts, strict=True):
            for sums in method_table.sums(weights):
                if _kept(method_table, replicates):
                    blocks.append(sums)
                if method_table is table:
                    yield sums
    for method_table, blocks in zip(tables, parts, strict=True):
        if blocks:
            _SUMS.setdefault(method_table, {})[key] = np.concatenate(blocks)


def _kept(table: Table, replicates: int) -> bool:
    """Return whether sums of resamples are kept: where they take less than the rows themselves."""
    return replicates <= table.images and replicates * table.rows.shape[1] <= CELLS_AT_ONCE


def weights_of_draws(images: int, replicates: int, seed: int) -> Iterable[FloatArray]:
    """Draw images with replacement: how often each comes in each replicate, some rows at a time.

    Weights that take a single block are kept for the next method.
    """
    blocks = _only_block if images * replicates <= CELLS_AT_ONCE else _drawn_blocks
    return blocks(images, replicates, seed)


@lru_cache(maxsize=1)
def _only_block(images: int, replicates: int, seed: int) -> tuple[FloatArray, ...]:
    """Draw all weights."""
    blocks = tuple(_drawn_blocks(images, replicates, seed))
    for weights in blocks:
        weights.flags.writeable = False
    return blocks


def _drawn_blocks(images: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Draw weights, some rows at a time."""
    random = np.random.default_rng(seed)
    at_once = max(CELLS_AT_ONCE // images, 1)
    step = max(at_once, _LEAST_ROWS)
    for start in range(0, replicates, step):
        weights = np.empty((min(step, replicates - start), images))
        for first in range(0, len(weights), at_once):
            block = weights[first : first + at_once]
            drawn = random.integers(0, images, size=block.shape)
            drawn += np.arange(0, block.size, images)[:, np.newaxis]
            block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
        yield weights
