"""The mean of the curves of several runs, such as trainings of one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.series import Line, Series, Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID_SIZE = 401
"""At so many recalls, false positive rates or thresholds curves are averaged."""


class MeanCurve(Series):
    """The mean of the curves of several runs of a method, point by point, where all of them have a value.

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
    def ranked_by(self) -> str:  # type: ignore[override]  # as above
        """The metric in the legend."""
        return self.curves[0].ranked_by

    @property
    def condition(self) -> str:  # type: ignore[override]  # as above
        """Where all curves are measured."""
        return self.curves[0].condition

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
        x, y_of_runs = self._of_runs([curve.line(space) for curve in self.curves])
        return x, y_of_runs.mean(axis=0)

    def ends(self, space: Space) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where the runs lie in a space: x, and the lowest and the highest y of a run at each."""
        x, y_of_runs = self._of_runs([curve.line(space) for curve in self.curves])
        return x, y_of_runs.min(axis=0), y_of_runs.max(axis=0)

    def against_threshold(self, measure: str = "") -> Line:
        """Return rising thresholds and the mean of the measure, or of another column, at each."""
        x, y_of_runs = self._of_runs([curve.against_threshold(measure) for curve in self.curves])
        return x, y_of_runs.mean(axis=0)

    def ends_at_thresholds(self, measure: str = "") -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return thresholds, and the lowest and the highest value of a run at each."""
        x, y_of_runs = self._of_runs([curve.against_threshold(measure) for curve in self.curves])
        return x, y_of_runs.min(axis=0), y_of_runs.max(axis=0)

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the curve on these axes, or on new ones; see `segbench.Curve.plot`."""
        from segbench.drawing.charts import plot_series

        return plot_series(self, ax=ax, label=label)

    def _of_runs(self, lines: Sequence[Line]) -> tuple[FloatArray, FloatArray]:
        """Read lines off where all of them have values: x of shape (points,), and y of shape (runs, points)."""
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
        grid = np.linspace(max(x[0] for x, _ in ordered), min(x[-1] for x, _ in ordered), _GRID_SIZE)
        return grid, np.array([np.interp(grid, x, y) for x, y in ordered])
