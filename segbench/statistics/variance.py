"""How surely a metric, or a difference of two, is known: the variance that images, folds and trainings add.

Each source has a standard error with degrees of freedom of its own, and the variances add up. That of images comes from
the delete-one jackknife: with n images, t the metric of all and t(i) that of all but image i, the pseudo-values are
n t - (n - 1) t(i), one per image. Their standard deviation divided by the square root of n is the standard error of the
metric; see docs/comparing.md.

Degrees of freedom
------------------
Images weigh differently in a pooled metric. With the weights w of the images (`Table.image_weights`), they are as good
as e = (sum w)^2 / sum w^2 images of equal weight. A difference has e - 1 degrees of freedom. The interval of a single
method has the smaller of e - 1 and 2 n / (k - 1), where k is the kurtosis of the pseudo-values, m4 / m2^2. Both are at
least 2, but never above c - 1 for the c images that weigh something: images without positives do not make the mean F of
two others surer.

With one source, intervals and p-values are those of Student's t. With several:

- The difference of two methods with several runs has Satterthwaite's degrees of freedom, v^2 / sum(v_k^2 / df_k).
- Where these are too many, each source keeps its own t: an interval reaches sqrt(sum(v_k t^2(df_k))) to each side, and
  p is where it just reaches 0. This holds for own intervals, and for the difference between a method with R runs and
  one with a single run, which is taken to vary as the other does: its variance s^2 joins the s^2 / R.
- The images of a fold share a training. Where whole folds vary more than images, they take their place.

References
----------
Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 11. Dorfman, Berbaum and Metz 1992, and Hillis
2007, for pseudo-values of ROC curves. Obuchowski, "Nonparametric analysis of clustered ROC curve data", 1997: for the
AUC, the squared standard error approaches that variance. With images of one pixel, m positive and n negative, it is
(N - 1) / N (S10 / (m - 1) + S01 / (n - 1)), N = m + n, where DeLong has S10 / m + S01 / n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.table import Table

_LEAST_FREEDOM = 2.0
_ROUNDING = 1e-9
_LEAST_LOG_P = -230.0  # 1e-100
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Jackknife:
    """The metrics of one method and what each image adds to them."""

    estimates: FloatArray  # (metrics,): nan where undefined
    pseudo: FloatArray  # (images, metrics): nan in the row of an image without which a metric is undefined
    weights: FloatArray  # (images, metrics): how much each image weighs in each metric

    @property
    def images(self) -> int:
        """Number of images."""
        return len(self.pseudo)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Standard error of each metric, shape (metrics,); nan where undefined, or with a single image."""
        return standard_error(self.pseudo)

    @cached_property
    def known_weights(self) -> FloatArray:
        """The weights, shape (images, metrics); all alike in a metric in which none weighs anything."""
        return np.where(self.weights.any(axis=0), self.weights, 1.0)

    @cached_property
    def effective(self) -> FloatArray:
        """How many images of equal weight would be as many, shape (metrics,)."""
        weights = self.known_weights
        effective: FloatArray = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)
        return effective

    @cached_property
    def counted(self) -> IntArray:
        """How many images weigh something, shape (metrics,); all of them where none does."""
        counted = np.count_nonzero(self.weights, axis=0)
        return np.where(counted, counted, self.images)

    @cached_property
    def freedom_of_differences(self) -> FloatArray:
        """Degrees of freedom of the difference to another method on the same images, shape (metrics,)."""
        return np.maximum(self.effective - 1, np.minimum(_LEAST_FREEDOM, self.counted - 1))

    @cached_property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of the interval of this method alone, shape (metrics,)."""
        deviations = self.pseudo - self.pseudo.mean(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):  # all pseudo-values are equal
            excess = (deviations**4).mean(axis=0) / (deviations**2).mean(axis=0) ** 2 - 1
        by_kurtosis = 2 * self.images / np.maximum(np.nan_to_num(excess), _ROUNDING)  # at least 0 but for rounding
        highest = self.freedom_of_differences
        freedom: FloatArray = np.clip(by_kurtosis, np.minimum(_LEAST_FREEDOM, highest), highest)
        return freedom


def jackknife(table: Table) -> Jackknife:
    """Leave out each image of a table in turn."""
    return Jackknife(table.estimates, _pseudo_values(table, table.without_each()), table.weights_by_metric)


def pseudo_values_of_folds(table: Table, folds: Sequence[str]) -> FloatArray:
    """Leave out each fold of a table in turn, given that of each row: pseudo-values, shape (folds, metrics)."""
    weights = [[fold != left_out for fold in folds] for left_out in dict.fromkeys(folds)]
    all_folds = [True] * len(folds)
    return _pseudo_values(table, table.measure(np.array([*weights, all_folds], np.float64)))


def mean_of_runs(runs: Sequence[Jackknife]) -> Jackknife:
    """Average the metrics of several runs on the same images."""
    estimates, pseudo, weights = zip(*((run.estimates, run.pseudo, run.weights) for run in runs), strict=True)
    return Jackknife(np.mean(estimates, axis=0), np.mean(pseudo, axis=0), np.mean(weights, axis=0))


def _pseudo_values(table: Table, measured: FloatArray) -> FloatArray:
    """Compute pseudo-values from metrics without each part of a table in turn, and in the last row of all."""
    left_out, whole = measured[:-1], measured[-1]
    parts = len(left_out)
    # A table may leave out images at a choice of its thresholds: the estimate takes the place of what these give.
    with np.errstate(invalid="ignore"):  # infinite where a threshold is
        pseudo: FloatArray = parts * whole - (parts - 1) * left_out + (table.estimates - whole)
    return pseudo


def standard_error(pseudo: FloatArray) -> FloatArray:
    """Return the standard error of the mean of pseudo-values along the first axis; nan of a single one."""
    images = len(pseudo)
    if images < 2:
        return np.full(pseudo.shape[1:], np.nan)
    error: FloatArray = pseudo.std(axis=0, ddof=1) / np.sqrt(images)
    return error


def t_value(freedom: FloatArray, level: float) -> FloatArray:
    """Return how many standard errors an interval of this level reaches to each side."""
    from scipy.special import stdtrit

    values: FloatArray = stdtrit(freedom, (1 + level) / 2)
    return values


def p_value(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """Compute the two-sided p-value of Student's t."""
    from scipy.special import stdtr

    values: FloatArray = 2 * stdtr(freedom, -np.abs(t))
    return values


@dataclass(frozen=True, eq=False)
class Component:
    """What one source adds to the variance of some estimates or differences."""

    error: FloatArray  # its standard error
    freedom: FloatArray  # its degrees of freedom

    def at(self, index: int) -> Component:
        """Return that of one of several estimates or differences."""
        return Component(self.error[index], self.freedom[index])

    def with_folds(self, excess: FloatArray, freedom: FloatArray) -> Component:
        """Return what folds add in place of images: a variance in `excess` of that of images, where there is any."""
        error = np.where(excess == 0, self.error, np.sqrt(self.error**2 + excess))
        return Component(error, np.where(excess == 0, self.freedom, freedom))


@dataclass(frozen=True, eq=False)
class Variance:
    """The variance of some estimates or differences, by its sources: images or folds, and trainings."""

    images: Component
    trainings: tuple[Component, ...]
    apart: BoolArray  # where each source keeps its own degrees of freedom

    @cached_property
    def error_of_trainings(self) -> FloatArray:
        """The standard error that trainings alone would give."""
        variances: FloatArray = sum((part.error**2 for part in self.trainings), np.zeros_like(self.images.error))
        return np.sqrt(variances)

    @cached_property
    def error(self) -> FloatArray:
        """The standard error."""
        of_both = np.sqrt(self.images.error**2 + self.error_of_trainings**2)
        return np.where(self.error_of_trainings == 0, self.images.error, of_both)

    @cached_property
    def freedom(self) -> FloatArray:
        """Satterthwaite's degrees of freedom; nan where each source keeps its own."""
        parts = (self.images, *self.trainings)
        with np.errstate(invalid="ignore", divide="ignore"):  # nothing varies
            joined = self.error**4 / sum(part.error**4 / part.freedom for part in parts)
        freedom = np.where(self.apart, np.nan, joined)
        return np.where(self.error_of_trainings == 0, self.images.freedom, freedom)

    def reach(self, level: float) -> FloatArray:
        """Return how far an interval of this level reaches to each side."""
        joined = t_value(self.freedom, level) * self.error
        apart = _reach_apart((self.images, *self.trainings), np.full_like(self.images.error, 1 - level))
        return np.where(np.isnan(self.freedom), apart, joined)

    def reach_of_trainings(self, level: float) -> FloatArray:
        """Return how far an interval would reach if trainings alone varied."""
        return _reach_apart(self.trainings, np.full_like(self.images.error, 1 - level))

    def p_values(self, differences: FloatArray) -> FloatArray:
        """Compute two-sided p-values of differences with this variance."""
        with np.errstate(invalid="ignore", divide="ignore"):  # nothing varies
            p_values = p_value(differences / self.error, self.freedom)
        apart = self.apart & (self.error_of_trainings > 0)
        return np.where(apart, self._p_where_reached(differences), p_values) if apart.any() else p_values

    def _p_where_reached(self, differences: FloatArray) -> FloatArray:
        """Find the p at which an interval of level 1 - p, with a t for each source, just reaches 0."""
        parts = (self.images, *self.trainings)
        low, high = np.full(differences.shape, _LEAST_LOG_P), np.zeros(differences.shape)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            reaches_0 = _reach_apart(parts, np.exp(middle)) >= np.abs(differences)
            low, high = np.where(reaches_0, middle, low), np.where(reaches_0, high, middle)
        return np.where(np.isnan(differences + self.error), np.nan, np.exp(high))


def _reach_apart(parts: Sequence[Component], p: FloatArray) -> FloatArray:
    """Return how far an interval of level 1 - p reaches where each source keeps its own t."""
    from scipy.special import stdtrit

    return np.sqrt(sum(((stdtrit(part.freedom, p / 2) * part.error) ** 2 for part in parts), np.zeros_like(p)))
