"""The ROC convex hull, and the achievable PR curve that is the same hull read in PR space.

Vertices are found by exact integer comparison at any counts. A hull made on the data it describes is optimistic, since
its thresholds were chosen by the answer; `segbench.thresholds_from` takes them from a tuning set instead.

References
----------
Davis and Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006, corollary 3.1.
"""

from __future__ import annotations

from typing import Literal

from segbench.core.counts import Pooled, as_pooled
from segbench.core.scores import ScoreCounts
from segbench.curves.curve import Curve
from segbench.curves.points import cumulate, hull_vertices


def roc_hull(counts: ScoreCounts | Pooled) -> Curve:
    """Convex hull of the ROC curve: the best that can be had by choosing among, and mixing, its thresholds.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.

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
    """Achievable PR curve: the confusion counts of the ROC hull, read in PR space.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.

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


def _hull(counts: ScoreCounts, space: Literal["roc", "pr"]) -> Curve:
    points = cumulate(counts)
    vertices = hull_vertices(points)
    tp, fp = (values[vertices] for values in points)
    tp.flags.writeable = fp.flags.writeable = False
    scores = counts.scores[vertices[1:] - 1]
    return Curve(space, tp, fp, scores, optimistic=True, threshold_source=counts.threshold_source)
