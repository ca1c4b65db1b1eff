"""ROC points to PR points and back, by the confusion counts both are made of.

With P and N known, a point of either space with recall above 0 is one confusion matrix, and so one point of the other
space. Points that no confusion matrix has are refused, with the reason.

References
----------
Davis and Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006, theorem 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arguments import as_real, as_whole
from segbench.core.arrays import LARGEST_TOTAL, FloatArray, as_floats
from segbench.core.errors import ArgumentError
from segbench.core.operating_point import Rates
from segbench.core.scores import ScoreCounts

_PRINTED = 1e-9  # how far rounding alone takes a rate computed in floats


@dataclass(frozen=True, eq=False)
class ConfusionPoints(Rates[FloatArray]):
    """True and false positives of the points of a curve, not necessarily whole numbers, readable in both spaces.

    Parameters
    ----------
    tp, fp : array of float64, shape (K,)
        Within the totals.
    positives, negatives : int
        Totals of the ground truth.
    """

    tp: FloatArray
    fp: FloatArray
    positives: int
    negatives: int

    def counts(self, *, tolerance: float = 1e-6) -> ScoreCounts:
        """Make counts of the curve through these points, in any order.

        Parameters
        ----------
        tolerance : float
            How far from a whole number of pixels a count may be, in pixels. Rates printed with few digits need more.

        Raises
        ------
        ArgumentError
            If a count is further from a whole number, or a point has more true but fewer false positives than another.

        Examples
        --------
        >>> from_pr([0.1, 0.4, 0.6], [1, 2 / 3, 6 / 11], positives=10, negatives=10).counts().negatives
        array([0, 2, 3, 5])
        """
        tolerance = as_real(tolerance, "tolerance", "a number of pixels, 0 or more", least=0, most=math.inf)
        order = np.lexsort((self.fp, self.tp))
        tp, fp = self.tp[order], self.fp[order]
        whole_tp, whole_fp = np.rint(tp), np.rint(fp)
        off = np.maximum(np.abs(tp - whole_tp), np.abs(fp - whole_fp))
        if off.size and off.max() > tolerance:
            k = int(np.argmax(off))
            raise ArgumentError(
                f"a point has {tp[k]:.6g} true and {fp[k]:.6g} false positives, not whole numbers; give rates with "
                "more digits, or a tolerance in pixels"
            )
        points = whole_tp.astype(np.int64), whole_fp.astype(np.int64)
        return ScoreCounts.from_points(*points, self.positives, self.negatives)


def from_pr(recall: ArrayLike, precision: ArrayLike, *, positives: int, negatives: int) -> ConfusionPoints:
    """Confusion counts of points in PR space.

    Parameters
    ----------
    recall, precision : array of float, shape (K,)
        Recall above 0 (at recall 0 the false positives cannot be known), precision above 0, at most 1.
    positives, negatives : int
        Totals of the ground truth, above 0.

    Returns
    -------
    ConfusionPoints
        In the order given.

    Raises
    ------
    ArgumentError
        Naming a point that is not a confusion matrix, and why.

    Examples
    --------
    >>> from_pr([0.25, 0.5], [0.5, 0.25], positives=20, negatives=2000).fp
    array([ 5., 30.])
    """
    recall, precision = _pair(recall, precision, ("recall", "precision"), (positives, negatives))
    tp = recall * positives
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        fp = tp * (1 - precision) / precision
    _refuse(
        ("recall", recall, "precision", precision),
        [
            (np.isnan(recall) | np.isnan(precision), "is not a number"),
            (recall == 0, "has recall 0, at which the false positives cannot be recovered"),
            (recall < 0, "is below 0"),
            (recall > 1 + _PRINTED, f"needs more true positives than the {positives} positives"),
            (precision > 1 + _PRINTED, "has precision above 1"),
            (precision <= 0, "has recall but no precision, which would take infinitely many false positives"),
            (fp > negatives * (1 + _PRINTED), f"needs more false positives than the {negatives} negatives"),
        ],
    )
    return ConfusionPoints(np.minimum(tp, positives), np.clip(fp, 0, negatives), positives, negatives)


def from_roc(fpr: ArrayLike, tpr: ArrayLike, *, positives: int, negatives: int) -> ConfusionPoints:
    """Confusion counts of points in ROC space.

    Parameters
    ----------
    fpr, tpr : array of float, shape (K,)
        In [0, 1].
    positives, negatives : int
        Totals of the ground truth, above 0.

    Returns
    -------
    ConfusionPoints
        In the order given.

    Raises
    ------
    ArgumentError
        Naming a point outside the unit square.

    Examples
    --------
    >>> from_roc([0.0, 0.25], [0.5, 0.75], positives=4, negatives=4).precision
    array([1.  , 0.75])
    """
    fpr, tpr = _pair(fpr, tpr, ("fpr", "tpr"), (positives, negatives))
    _refuse(
        ("fpr", fpr, "tpr", tpr),
        [
            (np.isnan(fpr) | np.isnan(tpr), "is not a number"),
            ((fpr < 0) | (tpr < 0), "is below 0"),
            (tpr > 1 + _PRINTED, f"needs more true positives than the {positives} positives"),
            (fpr > 1 + _PRINTED, f"needs more false positives than the {negatives} negatives"),
        ],
    )
    return ConfusionPoints(np.minimum(tpr, 1) * positives, np.minimum(fpr, 1) * negatives, positives, negatives)


def _pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], totals: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    one, other = (np.atleast_1d(as_floats(values, name)) for values, name in zip((first, second), names, strict=True))
    if one.ndim != 1 or one.shape != other.shape:
        raise ArgumentError(
            f"{names[0]} has shape {one.shape}, {names[1]} {other.shape}; expected two lists of one length"
        )
    for total, name in zip(totals, ("positives", "negatives"), strict=True):
        as_whole(total, name, least=1, most=LARGEST_TOTAL)
    return one, other


def _refuse(point: tuple[str, FloatArray, str, FloatArray], rules: list[tuple[NDArray[np.bool_], str]]) -> None:
    first, one, second, other = point
    for broken, reason in rules:
        if broken.any():
            k = int(broken.argmax())
            raise ArgumentError(f"point {k} ({first} {one[k]:.6g}, {second} {other[k]:.6g}) {reason}")
