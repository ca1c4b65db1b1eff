"""Picture of the matching in one image: what was found, what was not, and which pixels are matched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arguments import as_real, as_whole
from segbench.drawing.palette import ELSEWHERE, FALSE_POSITIVE, GUIDE, LINK, MATCHED, MATCHED_TRUTH, MISS
from segbench.protocols.boundaries.inputs import as_ground_truths, as_scores, check_same_size, tolerance_px
from segbench.protocols.boundaries.matching import match_boundaries
from segbench.protocols.boundaries.thinning import thin as thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGER_SIDE_INCHES = 9
_LEGEND_INCHES = 0.9
_LINK_WIDTHS = (0.45, 1.6)  # points: not to hide the pixels of a whole photograph, and to be seen on a drawing
_SQUARE = 0.88  # of a pixel; what is left shows the grid
_GRID_UP_TO = 80


def plot_matches(
    scores: ArrayLike,
    ground_truths: ArrayLike | Sequence[ArrayLike],
    *,
    threshold: float,
    max_dist: float | str = 0.0075,
    thin: bool = True,
    annotator: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the boundary pixels of one image are matched with one annotator's, pixel by pixel.

    Parameters
    ----------
    scores : array, shape (H, W)
        Soft boundary map, as for `count_boundaries`; a pixel is on where ``score >= threshold``.
    ground_truths : array of shape (H, W), or a sequence of them
        Boundary maps, one per annotator; pixels other than 0 are on.
    threshold : float
        The threshold.
    max_dist : float or str
        Tolerance as a fraction of the image's diagonal, or in pixels, ``"2px"``; inclusive.
    thin : bool
        Whether the thresholded map is thinned first.
    annotator : int
        The annotator to draw the matching of, from 0. Pixels that only another annotator's matching used have
        a colour of their own: the benchmark counts them as matched.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of the image's proportions if left out.

    Returns
    -------
    matplotlib Axes
        A pixel is a square around its row and column; links run from a prediction pixel to its ground-truth pixel. The
        legend gives the counts, those of `count_boundaries`. All of it is vectors, to be zoomed into.

    Raises
    ------
    ArgumentError
        If an argument is out of range.
    DataError
        If sizes differ, or scores are NaN or infinite.
    """
    soft = as_scores(scores, "prediction")
    truths = as_ground_truths(ground_truths)
    check_same_size(soft, truths[0])
    annotator = as_whole(annotator, "annotator", most=len(truths) - 1)
    threshold = as_real(threshold, "threshold", "a score", least=-math.inf, most=math.inf)
    max_dist_px = tolerance_px(max_dist, soft.shape)
    on = thinned(soft >= threshold) if thin else soft >= threshold
    matches = [match_boundaries(truth, on, max_dist_px, annotator=a) for a, truth in enumerate(truths)]
    match = matches[annotator]
    used = match.prediction_to_gt >= 0
    elsewhere = np.any([other.prediction_to_gt >= 0 for other in matches], axis=0) & ~used
    links = match.links

    ax = ax or _axes_for(soft.shape)
    _frame(ax, soft.shape)
    _squares(ax, links[:, 1], MATCHED_TRUTH, f"ground truth, found: {len(links)}")
    _squares(ax, match.misses, MISS, f"ground truth, missed: {len(match.misses)}")
    _draw_links(ax, links)
    _squares(ax, links[:, 0], MATCHED, f"prediction, true: {len(links)}")
    false = match.prediction[~used & ~elsewhere]
    _squares(ax, false, FALSE_POSITIVE, f"prediction, false: {len(false)}")
    if len(truths) > 1:
        others = match.prediction[elsewhere]
        _squares(ax, others, ELSEWHERE, f"prediction, true for another annotator: {len(others)}")
    of_which = f"annotator {annotator} (of 0 to {len(truths) - 1}), " if len(truths) > 1 else ""
    ax.set_title(f"{of_which}threshold {threshold:g}, tolerance {max_dist_px:.2f} px", fontsize="medium")
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.04), ncols=2, fontsize="small", frameon=False, handlelength=1.2
    )
    return ax


def _axes_for(shape: tuple[int, ...]) -> Axes:
    import matplotlib.pyplot as plt

    height, width = (_LONGER_SIDE_INCHES * side / max(*shape, 1) for side in shape)
    size = max(width, 4.5), max(height, 2.0) + _LEGEND_INCHES
    return plt.subplots(figsize=size, layout="constrained")[1]


def _frame(ax: Axes, shape: tuple[int, ...]) -> None:
    height, width = shape
    ax.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), aspect="equal")
    ax.tick_params(labelsize="x-small", length=2, color=GUIDE)
    ax.locator_params(integer=True)
    for spine in ax.spines.values():
        spine.set(color=GUIDE, linewidth=0.5)
    if max(shape) <= _GRID_UP_TO:
        ax.set_xticks(np.arange(width + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(height + 1) - 0.5, minor=True)
        ax.tick_params(which="minor", length=0)
        ax.grid(which="minor", color=GUIDE, linewidth=0.3, alpha=0.5)
        ax.set_axisbelow(True)


def _squares(ax: Axes, pixels: NDArray[np.int64], colour: str, label: str) -> None:
    from matplotlib.collections import PolyCollection

    half = _SQUARE / 2
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    outlines: Any = pixels[:, None, ::-1] + corners
    ax.add_collection(PolyCollection(outlines, facecolor=colour, edgecolor="none", label=label), autolim=False)


def _draw_links(ax: Axes, links: NDArray[np.int64]) -> None:
    from matplotlib.collections import LineCollection

    apart: Any = links[np.any(links[:, 0] != links[:, 1], axis=1)][:, :, ::-1]
    width = _LINK_WIDTHS[int(max(ax.get_xlim()[1], ax.get_ylim()[0]) <= _GRID_UP_TO)]
    label = f"links: {len(apart)}, and {len(links) - len(apart)} at the same pixel"
    ax.add_collection(LineCollection(apart, color=LINK, linewidth=width, label=label, zorder=2), autolim=False)
