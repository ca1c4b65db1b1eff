"""What tables of thresholds, plots and pages need from a curve; a protocol may have a curve of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray

Space = Literal["roc", "pr"]
Line = tuple[FloatArray, FloatArray]

AXES: Mapping[Space, tuple[str, str]] = {
    "pr": ("recall", "precision"),
    "roc": ("false positive rate", "true positive rate"),
}
"""What the two axes of a space are called."""

RATES: Mapping[Space, tuple[str, str]] = {"pr": ("recall", "precision"), "roc": ("fpr", "tpr")}
"""The columns of a curve on the two axes of a space."""


class Series(ABC):
    """Metrics threshold by threshold: the curve of a protocol.

    A curve of your own derives from this class and defines `measure`, `columns` and `caption`. One with ``recall`` and
    ``precision`` (or ``fpr`` and ``tpr``) among its columns that names the space in `spaces` is drawn there, too.
    """

    __slots__ = ()

    measure: ClassVar[str]
    """The column that plots draw against the threshold: in [0, 1], and tables mark the highest value."""
    best: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """By column, the metric that plots of it against the threshold name in the legend, its maximum; by default the one
    that ranks methods."""
    ranked_by: str = ""
    """The metric in the legend of precision-recall plots, the best first; by default the one that ranks methods."""
    condition: str = ""
    """Where all of the curve is measured, which plots say on the axis, for instance ``"at IoU .5"``."""
    beta2: float = 1.0
    """The weight of precision in F, for lines of equal F."""
    steps: ClassVar[bool] = False
    """Whether the measure is constant between thresholds, as between scores that occur; else it is interpolated."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Arrays of one length, ``threshold`` first, then metrics and counts by name; nan where undefined."""

    @property
    @abstractmethod
    def caption(self) -> str:
        """What the legend says of the curve drawn by itself, for instance ``"AUC-PR .8123"``."""

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The spaces in which the curve can be drawn, its own first; empty if only against the threshold."""
        return ()

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """What pages draw against the threshold of a curve without a space, by title."""
        return {self.measure: self.columns[self.measure]}

    @property
    def prevalence(self) -> float:
        """The precision of random scores; nan where it is not known."""
        return float("nan")

    def line(self, space: Space) -> Line:
        """Return the points to draw in one of `spaces`: recall and precision, or false and true positive rate."""
        return self._defined(*RATES[space])

    def against_threshold(self, measure: str = "") -> Line:
        """Return rising thresholds and the measure, or another column, at each, where both are known."""
        thresholds, values = self._defined("threshold", measure or self.measure)
        order = np.argsort(thresholds, kind="stable")
        return thresholds[order], values[order]

    def _defined(self, *names: str) -> Line:
        x, y = (np.asarray({**self.levels, **self.columns}[name], np.float64) for name in names)
        known = np.isfinite(x) & np.isfinite(y)
        return x[known], y[known]
