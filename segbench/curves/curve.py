"""ROC and PR curves: one list of confusion counts, read in two spaces."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from segbench.core.counts import Pooled, as_pooled
from segbench.core.display import Displayed
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import pr_area, roc_area
from segbench.curves.points import cumulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve(Displayed):
    """A ROC or PR curve, from no prediction at all to everything predicted.

    Point k holds the counts at ``score >= thresholds[k]``; the first is (0, 0) at threshold infinity, the last (P, N).
    Rates are computed when asked for, so a curve of ten million points takes no more than its counts.

    Parameters
    ----------
    space : {"roc", "pr"}
        What `area` means, and how a plot draws the points.
    tp, fp : array of int, shape (K + 1,)
        True and false positives, neither falling.
    scores : array of float, shape (K,)
        Thresholds of all points but the first, falling; NaN for a curve given by its points.
    optimistic : bool
        True for a hull whose thresholds were chosen on the very data it describes.
    threshold_source : str
        Where the thresholds come from when they are not the scores themselves.
    highest : array of float, shape (K,), optional
        Of scores in bins, the highest in each, see `ScoreCounts`: between such points the exact curve is only bounded.
    mask : int, optional
        Of two-valued predictions, the place of the point that is the mask: all that is measured and drawn of such a
        curve.

    Examples
    --------
    >>> curve = pr_curve(ScoreCounts([0.9, 0.1], [3, 1], [1, 5]))
    >>> curve.recall.tolist(), curve.precision.tolist(), curve.thresholds.tolist()
    ([0.0, 0.75, 1.0], [0.75, 0.75, 0.4], [inf, 0.9, 0.1])
    """

    space: Literal["roc", "pr"]
    tp: NDArray[Any]
    fp: NDArray[Any]
    scores: NDArray[Any] = field(repr=False)
    optimistic: bool = False
    threshold_source: str = ""
    highest: NDArray[Any] | None = field(default=None, repr=False)
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
        return _share(self.tp, self.positives)

    @property
    def tpr(self) -> FloatArray:
        """The true positive rate, another name of `recall`."""
        return self.recall

    @property
    def fpr(self) -> FloatArray:
        """FP / N; nan without negatives."""
        return _share(self.fp, self.negatives)

    @property
    def precision(self) -> FloatArray:
        """TP / (TP + FP); where nothing is predicted, the limit, which is the first precision there is."""
        predicted = np.add(self.tp, self.fp, dtype=np.float64)
        blank = int(np.searchsorted(predicted, 0, "right"))
        if blank == predicted.size:
            return np.full(predicted.size, np.nan)
        predicted[:blank] = 1
        precision: FloatArray = np.divide(self.tp, predicted, out=predicted)
        precision[:blank] = precision[blank]
        return precision

    def in_space(self, space: Literal["roc", "pr"]) -> Curve:
        """Give the same points to be read, drawn and measured in the other space."""
        return replace(self, space=space)

    @cached_property
    def area(self) -> float:
        """The area under the curve: AUC-ROC, or the exact AUC-PR of Davis and Goadrich; nan for masks.

        It is also nan where a class is missing.
        """
        if self.mask is not None:
            return math.nan
        points = (self.tp, self.fp)
        return roc_area(points) if self.space == "roc" else pr_area(points)

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the curve, or the point of a mask, in its space, with lines of equal F or the diagonal behind it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if left out. Curves drawn on the same axes differ in colour.
        label : str, optional
            What the legend says; the area if left out, or F of a mask.

        Returns
        -------
        matplotlib Axes
        """
        from segbench.report.curve_plots import plot_curve

        return plot_curve(self, ax=ax, label=label)


def roc_curve(counts: ScoreCounts | Pooled) -> Curve:
    """ROC curve of the counts, one point a distinct score.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.

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


def pr_curve(counts: ScoreCounts | Pooled) -> Curve:
    """Precision-recall curve of the counts, one point a distinct score.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.

    Returns
    -------
    Curve
        Plot `precision` over `recall`. Between points the curve is bent: false positives, not precision, are linear.

    Notes
    -----
    scikit-learn's ``precision_recall_curve`` lists the same points in rising score, stops at the first full recall
    where asked to, and puts the end without predictions at precision 1 whatever the data; here it is the limit.
    """
    return _curve(as_pooled(counts, ScoreCounts), "pr")


def _curve(counts: ScoreCounts, space: Literal["roc", "pr"]) -> Curve:
    source = counts.threshold_source
    return Curve(space, *cumulate(counts), counts.scores, threshold_source=source, highest=counts.highest)


def _share(part: NDArray[Any], whole: int) -> FloatArray:
    share: FloatArray = part / whole if whole else np.full(part.shape, np.nan)
    return share
