"""What tables of thresholds, plots and pages need from a curve; a protocol may have a curve of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
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

    A curve of one's own derives from this class and gives `measure`, `columns` and `caption`. One that lists ``recall``
    and ``precision`` (or ``fpr`` and ``tpr``) and names the space in `spaces` is drawn there, too.
    """

    __slots__ = ()

    measure: ClassVar[str]
    """The column that plots draw against the threshold: in [0, 1], and tables mark the highest value."""
    best: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """By column, the metric that plots of it against the threshold name in the legend, its maximum; by default the one
    that ranks methods."""
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
        """Give the points to draw in one of `spaces`: recall and precision, or false and true positive rate."""
        return self._defined(*RATES[space])

    def against_threshold(self, measure: str = "") -> Line:
        """Give rising thresholds and the measure, or another column, at each, where both are known."""
        thresholds, values = self._defined("threshold", measure or self.measure)
        order = np.argsort(thresholds, kind="stable")
        return thresholds[order], values[order]

    def _defined(self, *names: str) -> Line:
        x, y = (np.asarray({**self.levels, **self.columns}[name], np.float64) for name in names)
        known = np.isfinite(x) & np.isfinite(y)
        return x[known], y[known]


_PLACES = 401
"""At so many recalls, false positive rates or thresholds curves are averaged."""


class MeanCurve(Series):
    """The mean of the curves of several runs of a method, place by place, where all of them have a value.

    In a space it is vertical: precision is averaged at each recall, and the true positive rate at each false positive
    rate. Against the threshold each metric is averaged at each threshold.
    """

    __slots__ = ("curves",)

    def __init__(self, curves: Sequence[Series]) -> None:
        self.curves = tuple(curves)

    @property
    def measure(self) -> str:  # type: ignore[override]  # that of its curves
        """The column of the runs that plots draw against the threshold."""
        return self.curves[0].measure

    @property
    def best(self) -> Mapping[str, str]:  # type: ignore[override]  # as above
        """By column, the metric that is its maximum."""
        return self.curves[0].best

    @property
    def beta2(self) -> float:  # type: ignore[override]  # as above
        """The weight of precision in F."""
        return self.curves[0].beta2

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Thresholds, and the mean of the measure at each."""
        thresholds, values = self.against_threshold()
        return {"threshold": thresholds, self.measure: values}

    @property
    def caption(self) -> str:
        """What the legend says of it."""
        return f"mean of {len(self.curves)} runs"

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The spaces that all runs have."""
        return tuple(space for space in self.curves[0].spaces if all(space in curve.spaces for curve in self.curves))

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """The means of what runs draw against the threshold, at the thresholds of `columns`."""
        return {name: self.against_threshold(name)[1] for name in self.curves[0].levels}

    @property
    def prevalence(self) -> float:
        """The precision of random scores."""
        return self.curves[0].prevalence

    def line(self, space: Space) -> Line:
        """Return the mean of the lines of the runs; of runs that are a point each, the point in their middle."""
        at, values = self._of_runs([curve.line(space) for curve in self.curves])
        return at, values.mean(axis=0)

    def ends(self, space: Space) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where the runs lie in a space: places, and the lowest and the highest value of a run at each."""
        at, values = self._of_runs([curve.line(space) for curve in self.curves])
        return at, values.min(axis=0), values.max(axis=0)

    def against_threshold(self, measure: str = "") -> Line:
        """Return rising thresholds and the mean of the measure, or of another column, at each."""
        at, values = self._of_runs([curve.against_threshold(measure) for curve in self.curves])
        return at, values.mean(axis=0)

    def ends_at_thresholds(self, measure: str = "") -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return thresholds, and the lowest and the highest value of a run at each."""
        at, values = self._of_runs([curve.against_threshold(measure) for curve in self.curves])
        return at, values.min(axis=0), values.max(axis=0)

    def _of_runs(self, lines: Sequence[Line]) -> tuple[FloatArray, FloatArray]:
        """Read lines off at places that all of them reach: the places, and values of shape (runs, places)."""
        if any(x.size == 0 for x, _ in lines):
            return np.empty(0), np.empty((len(lines), 0))
        if all(np.ptp(x) == 0 for x, _ in lines):
            middle = np.array([np.mean([x[0] for x, _ in lines])])
            return middle, np.array([[y[0]] for _, y in lines])
        rising = [(x[::-1], y[::-1]) if x[0] > x[-1] else (x, y) for x, y in lines]
        if all(x.size == rising[0][0].size and np.array_equal(x, rising[0][0]) for x, _ in rising):
            return rising[0][0], np.array([y for _, y in rising])  # such as thresholds of boundaries
        ordered = []
        for x, y in rising:
            order = np.argsort(x, kind="stable")
            ordered.append((x[order], y[order]))
        at = np.linspace(max(x[0] for x, _ in ordered), min(x[-1] for x, _ in ordered), _PLACES)
        return at, np.array([np.interp(at, x, y) for x, y in ordered])
