"""Convert points of a published PR curve to counts.

With P and N known, a point of PR space with recall above 0 is one confusion matrix.

References
----------
Davis and Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006, theorem 3.1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.arrays import LARGEST_TOTAL, as_floats
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.scores import ScoreCounts
from segbench.core.settings import as_real, as_whole


def from_pr(
    recall: ArrayLike, precision: ArrayLike, *, positives: int, negatives: int, tolerance: float = 1e-6
) -> ScoreCounts:
    """Convert points of PR space, in any order, to the counts of the curve through them.

    Parameters
    ----------
    recall, precision : array of float, shape (K,)
        Recall above 0 (at recall 0 the false positives cannot be known), precision above 0; both at most 1.
    positives, negatives : int
        Totals of the ground truth.
    tolerance : float
        How far from a whole number of pixels a count may be, in pixels, 0 or more. Rates printed with few digits need
        more.

    Returns
    -------
    ScoreCounts
        As `ScoreCounts.from_points` gives them.

    Raises
    ------
    ArgumentError
        If a point is not a confusion matrix of whole numbers, or no ranking has all the points.

    Examples
    --------
    >>> from_pr([0.25, 0.5], [0.5, 0.25], positives=20, negatives=2000).negatives
    array([   5,   25, 1970])
    """
    tolerance = as_real(tolerance, "tolerance", "a number of pixels, 0 or more", least=0, most=math.inf)
    positives = as_whole(positives, "positives", most=LARGEST_TOTAL)
    recall, precision = as_floats(recall, "recall"), as_floats(precision, "precision")
    if recall.ndim != 1 or recall.shape != precision.shape:
        raise ArgumentError(
            Message(
                "other-shape",
                "recall has shape ({recall}), precision ({precision}); expected two lists of one length",
                recall=recall.shape,
                precision=precision.shape,
            )
        )
    known = (recall > 0) & (precision > 0)
    if not known.all():
        k = int(known.argmin())
        raise ArgumentError(
            Message(
                "no-matrix",
                "recall {recall:g} and precision {precision:g} are not those of one confusion matrix; give points with "
                "both above 0",
                recall=recall[k],
                precision=precision[k],
            )
        )
    tp = recall * positives
    with np.errstate(over="ignore", invalid="ignore"):  # counts that no number holds are refused below
        fp = tp * (1 - precision) / precision
        points = np.array([tp, fp])[:, np.lexsort((fp, tp))]
        distances = np.abs(points - np.rint(points)).max(axis=0, initial=0)
    if (distances > tolerance).any():
        tp, fp = points[:, distances.argmax()]
        raise ArgumentError(
            Message(
                "not-whole",
                "a point has {tp:.6g} true and {fp:.6g} false positives, not whole numbers; give rates with more "
                "digits, or a tolerance in pixels",
                tp=tp,
                fp=fp,
            )
        )
    tp, fp = np.rint(points)
    return ScoreCounts.from_points(tp, fp, positives, negatives)
