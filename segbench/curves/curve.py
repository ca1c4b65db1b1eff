"""ROC and PR curves: one list of confusion counts, read in two spaces; and the hull that can be achieved.

The ROC convex hull and the achievable PR curve are one hull, read in both spaces. Vertices are found by exact integer
comparison at any counts. A hull made on the data it describes is optimistic, since its thresholds were chosen by the
answer; `thresholds_from` takes them from a tuning set instead: that curve need not be convex, and is not optimistic.

References
----------
Davis and Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006, sections 3 and 4,
corollary 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.counts import Pooled, as_pooled, of_counts
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import Brief, number
from segbench.core.operating_point import f_of, share
from segbench.core.scores import ScoreCounts, Thresholds
from segbench.core.series import Line, Series, Space
from segbench.curves.areas import pr_area, roc_area
from segbench.curves.points import cumulate, hull_vertices
from segbench.drawing.charts import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 500
EMPTY_MASK_THRESHOLD = 1.0
"""The threshold that is reported where two-valued predictions hold a single value and nothing is predicted."""


class Drawn(Brief, Series):
    """A curve that draws itself."""

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw it in its first space, with lines of equal F or the diagonal behind it, or against the threshold.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if left out. Curves drawn on the same axes differ in colour.
        label : str, optional
            What the legend says; its caption if left out.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> curve = roc_curve(ScoreCounts([0.9, 0.1], [3, 1], [1, 3]))
        >>> curve.plot(ax=Figure().subplots()).get_legend_handles_labels()[1]
        ['AUC-ROC .7500']
        """
        from segbench.drawing.charts import plot_series

        return plot_series(self, ax=ax, label=label)


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Drawn):
    """A ROC or PR curve, from no prediction at all to everything predicted.

    Point k holds the counts at ``score >= thresholds[k]``; the first is (0, 0) at threshold infinity, the last (P, N).
    Rates are computed on access, so a curve of ten million points takes no more than its counts.

    Parameters
    ----------
    space : {"roc", "pr"}
        What `area` means, and how a plot draws the points.
    tp, fp : array of int, shape (K + 1,)
        True and false positives, neither falling.
    scores : array of float, shape (K,)
        Thresholds of all points but the first, falling; NaN for a curve given by its points.
    optimistic : bool
        True for a hull with thresholds tuned on the same data that it describes.
    threshold_source : str
        Where the thresholds come from when they are not the scores themselves.
    mask : int, optional
        Of two-valued predictions, the place of the point that is the mask: all that is measured and drawn of such a
        curve.

    Examples
    --------
    >>> curve = pr_curve(ScoreCounts([0.9, 0.1], [3, 1], [1, 5]))
    >>> curve.recall.tolist(), curve.precision.tolist(), curve.thresholds.tolist()
    ([0.0, 0.75, 1.0], [0.75, 0.75, 0.4], [inf, 0.9, 0.1])
    """

    measure: ClassVar[str] = "f"
    steps: ClassVar[bool] = True

    space: Space
    tp: NDArray[Any]
    fp: NDArray[Any]
    scores: NDArray[Any] = field(repr=False)
    optimistic: bool = False
    threshold_source: str = ""
    mask: int | None = None

    @property
    def positives(self) -> int:
        """Positive pixels in all, P."""
        return int(self.tp[-1])

    @property
    def negatives(self) -> int:
        """Negative pixels in all, N."""
        return int(self.fp[-1])

    @property
    def thresholds(self) -> NDArray[Any]:
        """Thresholds, falling, the first infinite; of the scores' own float type."""
        thresholds = np.empty(self.tp.size, dtype=self.scores.dtype)
        thresholds[0] = np.inf
        thresholds[1:] = self.scores
        return thresholds

    @property
    def recall(self) -> FloatArray:
        """TP / P; nan without positives."""
        recall: FloatArray = share(self.tp, self.positives)
        return recall

    @property
    def tpr(self) -> FloatArray:
        """The true positive rate, another name of `recall`."""
        return self.recall

    @property
    def fpr(self) -> FloatArray:
        """FP / N; nan without negatives."""
        fpr: FloatArray = share(self.fp, self.negatives)
        return fpr

    @property
    def precision(self) -> FloatArray:
        """TP / (TP + FP); where nothing is predicted, the limit, which is the first precision there is."""
        from segbench.curves import kernels

        precision = np.empty(self.tp.size)
        kernels.precisions(self.tp, self.fp, precision)
        return precision

    @property
    def f(self) -> FloatArray:
        """F = 2 TP / (P + TP + FP); nan without positives."""
        f: FloatArray = f_of(self.tp, self.fp, self.positives)
        return f if self.positives else np.full(f.shape, np.nan)

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Thresholds, counts, rates and F of all points; of two-valued predictions those of the mask."""
        columns = {
            "threshold": self.thresholds,
            **{name: getattr(self, name) for name in ("tp", "fp", "recall", "precision", "tpr", "fpr", "f")},
        }
        if self.mask is None:
            return columns
        columns = {name: values[[self.mask]] for name, values in columns.items()}
        if self.mask == 0:
            # Nothing is predicted: the limit of the precision describes other thresholds.
            columns |= {"threshold": np.array([EMPTY_MASK_THRESHOLD]), "precision": np.array([math.nan])}
        return columns

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Both spaces, that of the curve first."""
        return ("roc", "pr") if self.space == "roc" else ("pr", "roc")

    @property
    def prevalence(self) -> float:
        """P / (P + N), the precision of random scores; nan without positives."""
        return self.positives / (self.positives + self.negatives) if self.positives else math.nan

    @property
    def caption(self) -> str:
        """The area, or F of a mask."""
        if self.mask is not None:
            return f"F of the mask {number(self.columns['f'].item())}"
        if self.optimistic:
            return f"achievable, optimistic {number(self.area)}"
        return f"AUC-{self.space.upper()} {number(self.area)}"

    def line(self, space: Space) -> Line:
        """Return the points to draw, with those of bends; of a mask its point; none where rates are undefined."""
        if not self.positives or (space == "roc" and not self.negatives):
            return np.empty(0), np.empty(0)
        if self.mask is not None:
            return super().line(space)
        return _pr_line(self.tp, self.fp, self.precision) if space == "pr" else thinned(self.fpr, self.tpr)

    @cached_property
    def area(self) -> float:
        """The area under the curve: AUC-ROC, or the exact AUC-PR of Davis and Goadrich; nan for masks.

        It is also nan where a class is missing.
        """
        if self.mask is not None:
            return math.nan
        points = (self.tp, self.fp)
        return roc_area(points) if self.space == "roc" else pr_area(points)


@of_counts
def roc_curve(counts: ScoreCounts | Pooled) -> Curve:
    """Compute the ROC curve of the counts, one point a distinct score.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    Curve
        Plot `tpr` over `fpr`, straight between points. All nan where there are no positives (or no negatives).

    Examples
    --------
    >>> curve = roc_curve(ScoreCounts([0.9, 0.1], [3, 1], [1, 3]))
    >>> curve.fpr.tolist(), curve.tpr.tolist(), curve.area
    ([0.0, 0.25, 1.0], [0.0, 0.75, 1.0], 0.75)
    """
    return _curve(as_pooled(counts, ScoreCounts), "roc")


@of_counts
def pr_curve(counts: ScoreCounts | Pooled) -> Curve:
    """Compute the precision-recall curve of the counts, one point a distinct score.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    Curve
        Plot `precision` over `recall`. Between points the curve is bent: false positives, not precision, are linear.

    Notes
    -----
    scikit-learn's ``precision_recall_curve`` lists the same points in rising score, stops at the first full recall
    on request, and puts the end without predictions at precision 1 whatever the data; here it is the limit.

    Examples
    --------
    >>> curve = pr_curve(ScoreCounts([0.9, 0.5, 0.2], [2, 1, 1], [0, 1, 3]))
    >>> curve.recall.tolist(), curve.precision.tolist()
    ([0.0, 0.5, 0.75, 1.0], [1.0, 1.0, 0.75, 0.5])
    """
    return _curve(as_pooled(counts, ScoreCounts), "pr")


def roc_hull(counts: ScoreCounts | Pooled) -> Curve:
    """Compute the convex hull of the ROC curve: the best that its thresholds, chosen among and mixed, can achieve.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    Curve
        The vertices only, `optimistic`.

    Examples
    --------
    >>> hull = roc_hull(ScoreCounts([3, 2, 1], [2, 1, 1], [0, 3, 1]))
    >>> hull.tp.tolist(), hull.fp.tolist(), hull.thresholds.tolist()
    ([0, 2, 4], [0, 0, 4], [inf, 3.0, 1.0])
    """
    return _hull(as_pooled(counts, ScoreCounts), "roc")


def achievable_pr_curve(counts: ScoreCounts | Pooled) -> Curve:
    """Compute the achievable PR curve: the confusion counts of the ROC hull, read in PR space.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    Curve
        The vertices only, `optimistic`. It dominates every PR curve that the thresholds allow.

    Examples
    --------
    >>> counts = ScoreCounts([3, 2, 1], [2, 1, 1], [0, 3, 1])
    >>> achievable_pr_curve(counts).precision.tolist()
    [1.0, 1.0, 0.5]
    """
    return _hull(as_pooled(counts, ScoreCounts), "pr")


def _curve(counts: ScoreCounts, space: Space) -> Curve:
    return Curve(space, *cumulate(counts), counts.scores, threshold_source=counts.threshold_source)


def _hull(counts: ScoreCounts, space: Space) -> Curve:
    curve = _curve(counts, space)
    vertices = hull_vertices((curve.tp, curve.fp))
    tp, fp = curve.tp[vertices], curve.fp[vertices]
    tp.flags.writeable = fp.flags.writeable = False
    return replace(curve, tp=tp, fp=fp, scores=counts.scores[vertices[1:] - 1], optimistic=True)


def _pr_line(tp: NDArray[Any], fp: NDArray[Any], precision: FloatArray) -> Line:
    """Return recall and precision to draw: measured points, and the hyperbola between distant ones."""
    tp, fp = tp.astype(np.float64), fp.astype(np.float64)
    rising = np.append(True, np.diff(tp) > 0)
    tp_between = np.linspace(0, tp[-1], _STEPS + 1)[1:-1]
    # Along a jump of false positives at one recall, the line to the next recall starts at the jump's upper end.
    last_of_recall = np.append(np.flatnonzero(rising)[1:] - 1, tp.size - 1)
    segment = np.searchsorted(tp[last_of_recall], tp_between, side="left")
    start, end = last_of_recall[np.maximum(segment - 1, 0)], np.flatnonzero(rising)[segment]
    fraction = (tp_between - tp[start]) / np.where(tp[end] > tp[start], tp[end] - tp[start], 1)
    fp_between = fp[start] + fraction * (fp[end] - fp[start])
    all_tp, all_fp = np.append(tp, tp_between), np.append(fp, fp_between)
    precision = np.append(precision, tp_between / (tp_between + fp_between))
    order = np.lexsort((all_fp, all_tp))
    return thinned(all_tp[order] / tp[-1], precision[order])


def thresholds_from(tuning_counts: ScoreCounts | Pooled, *, source: str = "tuning set") -> Thresholds:
    """Return the thresholds of a tuning set's ROC hull, to apply to a test set with ``test_counts.at(thresholds)``.

    Parameters
    ----------
    tuning_counts : ScoreCounts or Result
        Counts of the tuning set, with positives and negatives; `segbench.tuned_thresholds` also names the images of a
        result.
    source : str
        A name for the tuning set; the curves and summaries of counts taken at the thresholds keep it.

    Returns
    -------
    Thresholds
        Finite, falling.

    Raises
    ------
    ArgumentError
        If a class is missing, the scores are not known, or the hull has no threshold but minus infinity.

    Examples
    --------
    >>> tuning = ScoreCounts([0.9, 0.5, 0.1], [2, 1, 1], [0, 3, 1])
    >>> thresholds = thresholds_from(tuning)
    >>> thresholds.values
    array([0.9, 0.1])
    >>> test = ScoreCounts([0.95, 0.6, 0.2], [1, 1, 1], [0, 1, 2]).at(thresholds)
    >>> test.positives, test.threshold_source
    (array([1, 2, 0]), 'tuning set')
    """
    tuning_counts = as_pooled(tuning_counts, ScoreCounts, "tuning_counts")
    if not tuning_counts.scores_known:
        raise ArgumentError(
            Message("thresholds-unknown", "the tuning curve was given by its points, so its thresholds are not known")
        )
    totals = tuning_counts.total_positives, tuning_counts.total_negatives
    if min(totals) == 0:
        raise ArgumentError(
            Message(
                "one-class",
                "the tuning set has {positives} positives and {negatives} negatives; both are needed",
                positives=totals[0],
                negatives=totals[1],
            )
        )
    thresholds = roc_hull(tuning_counts).thresholds[1:]
    thresholds = thresholds[np.isfinite(thresholds)]
    if not thresholds.size:
        raise ArgumentError(
            Message(
                "no-finite-threshold", "the tuning set's hull has no finite threshold; tune on counts at every score"
            )
        )
    return Thresholds(thresholds, source)
