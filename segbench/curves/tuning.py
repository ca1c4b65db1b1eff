"""Thresholds chosen on one set of images and applied to another.

A hull made on the data it describes picks its thresholds by the answer. The honest curve takes the thresholds of a
tuning set's hull and counts the test set at them; it need not be convex, and it is not optimistic.

References
----------
Davis and Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006, section 3.
"""

from __future__ import annotations

import numpy as np

from segbench.core.counts import Pooled, as_pooled
from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.core.thresholds import Thresholds
from segbench.curves.curve import roc_hull


def thresholds_from(tuning_counts: ScoreCounts | Pooled, *, source: str = "tuning set") -> Thresholds:
    """Thresholds of a tuning set's ROC hull, to apply to a test set with ``test_counts.at(thresholds)``.

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
        raise ArgumentError("the tuning curve was given by its points, so its thresholds are not known")
    totals = tuning_counts.total_positives, tuning_counts.total_negatives
    if min(totals) == 0:
        raise ArgumentError(f"the tuning set has {totals[0]} positives and {totals[1]} negatives; both are needed")
    thresholds = roc_hull(tuning_counts).thresholds[1:]
    thresholds = thresholds[np.isfinite(thresholds)]
    if not thresholds.size:
        raise ArgumentError("the tuning set's hull has no finite threshold; tune on counts at every score")
    return Thresholds(thresholds, source)
