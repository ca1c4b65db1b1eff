"""Areas under ROC and PR curves, average precision, and why these differ.

Conventions
-----------
Points run in falling score from (0, 0) to (P, N); all pixels of one score enter together. Between points, false
positives grow straight with true positives: a straight line in ROC space, a bent one in PR space. Before the first
true positive the PR curve starts at precision 0 when false positives rank above it, else at the first point's
precision. No area is defined without positives, nor the ROC area without negatives: `nan`.

References
----------
Davis and Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006.

Differences from the paper: areas are exact integrals by default; the paper's trapezoids over whole true positives are
``method="trapezoid"``, and larger or smaller by the bend of each step (.0755 % of AUC-PR in its table 1).
Difference from scikit-learn: `average_precision` is the same sum; ``auc(recall, precision)`` is ``method="linear"`` but
for the start, which scikit-learn puts at precision 1.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from segbench.core.counts import Pooled, as_pooled, of_counts
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.scores import ScoreCounts
from segbench.curves.points import Points, cumulate

AreaMethod = Literal["exact", "trapezoid", "linear"]


@of_counts
def auc_roc(counts: ScoreCounts | Pooled) -> float:
    """Compute the area under the ROC curve: how often a positive scores above a negative, ties counted as one half.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    float
        In [0, 1]; nan without positives or without negatives.

    Examples
    --------
    >>> auc_roc(ScoreCounts([3, 2, 1], [2, 1, 1], [0, 1, 1]))  # of 8 pairs 5 in order, 2 ties
    0.75
    """
    return roc_area(cumulate(as_pooled(counts, ScoreCounts)))


@of_counts
def auc_pr(counts: ScoreCounts | Pooled, *, method: AreaMethod = "exact") -> float:
    """Compute the area under the precision-recall curve.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts
    method : {"exact", "trapezoid", "linear"}
        "exact" integrates the curve of Davis and Goadrich; "trapezoid" is their approximation over whole true
        positives; "linear" draws straight lines between PR points, which no classifier attains, and exists to show how
        far off that is.

    Returns
    -------
    float
        In [0, 1]; nan without positives.

    Raises
    ------
    ArgumentError
        For another method.

    Examples
    --------
    Figure 6 of Davis and Goadrich: one point at recall .02, precision 1.

    >>> counts = ScoreCounts.from_points([9], [0], 433, 56164)
    >>> [round(auc_pr(counts, method=method), 4) for method in ("exact", "trapezoid", "linear")]
    [0.0295, 0.0303, 0.5141]
    """
    return pr_area(cumulate(as_pooled(counts, ScoreCounts)), method=method)


@of_counts
def average_precision(counts: ScoreCounts | Pooled) -> float:
    """Compute average precision: the precision at each positive's own score, averaged over the positives.

    Not an area of the curve: ties can raise it above the area. Equal to scikit-learn's ``average_precision_score``.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    float
        In [0, 1]; nan without positives.

    Examples
    --------
    >>> average_precision(ScoreCounts([2, 1], [1, 1], [0, 2]))
    0.75
    """
    from segbench.curves import kernels

    counts = as_pooled(counts, ScoreCounts)
    total, positives = kernels.precision_steps_of_counts(counts.positives, counts.negatives)
    return kernels.area_share(total, positives) if positives else math.nan


def roc_area(points: Points) -> float:
    """Compute the area under the ROC curve through cumulative points, see `auc_roc`."""
    from segbench.curves import kernels

    tp, fp = points
    positives, negatives = int(tp[-1]), int(fp[-1])
    return kernels.area_share(kernels.roc_area(tp, fp) / positives, negatives) if positives and negatives else math.nan


def pr_area(points: Points, *, method: AreaMethod = "exact") -> float:
    """Compute the area under the PR curve through cumulative points, see `auc_pr`."""
    from segbench.curves import kernels

    if method not in get_args(AreaMethod):
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value}; expected {expected}",
                argument="method",
                value=repr(method),
                expected="'exact', 'trapezoid' or 'linear'",
            )
        )
    tp, fp = points
    sums = {"exact": kernels.pr_area_exact, "trapezoid": kernels.pr_area_trapezoid, "linear": kernels.pr_area_linear}
    return kernels.area_share(sums[method](tp, fp)[0], tp[-1]) if tp[-1] else math.nan
