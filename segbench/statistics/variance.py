"""Where the variance of a metric or of a difference comes from: images, folds of them, and trainings.

Each source has a standard error with degrees of freedom of its own, and the variances add up.

- The difference of two methods with several runs has Satterthwaite's degrees of freedom, v^2 / sum(v_k^2 / df_k).
- Where these are too many, each source keeps its own t: an interval reaches sqrt(sum(v_k t^2(df_k))) to each side, and
  p is where it just reaches 0. This holds for own intervals, and for the difference between a method with R runs and
  one with a single run, which is taken to vary as the other does: its variance s^2 joins the s^2 / R.
- The images of a fold share a training. Where whole folds vary more than images, they take their place.

With one source all of this is Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray
from segbench.statistics.jackknife import p_value, t_value

_LEAST_LOG_P = -230.0  # 1e-100
_HALVINGS = 60


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
        """How far an interval of this level reaches to each side."""
        joined = t_value(self.freedom, level) * self.error
        apart = _reach_apart((self.images, *self.trainings), np.full_like(self.images.error, 1 - level))
        return np.where(np.isnan(self.freedom), apart, joined)

    def reach_of_trainings(self, level: float) -> FloatArray:
        """How far an interval would reach if trainings alone varied."""
        return _reach_apart(self.trainings, np.full_like(self.images.error, 1 - level))

    def p_values(self, differences: FloatArray) -> FloatArray:
        """Two-sided p-values of differences with this variance."""
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
    """How far an interval of level 1 - p reaches where each source keeps its own t."""
    from scipy.special import stdtrit

    return np.sqrt(sum(((stdtrit(part.freedom, p / 2) * part.error) ** 2 for part in parts), np.zeros_like(p)))
