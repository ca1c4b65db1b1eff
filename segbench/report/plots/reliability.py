"""Reliability of pixel scores: the share of positives among the pixels with a score, against that score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from segbench.aggregator.result import Result, names_of
from segbench.core.capabilities import Pooling
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.core.numbers import number
from segbench.core.scores import ScoreCounts
from segbench.curves.masks import TWO_VALUED
from segbench.drawing.axes import CURVE_LAYER, frame_reliability, new_axes, short_names
from segbench.drawing.legends import place_legend
from segbench.protocols.pixels.calibration import are_masks, reliability, why_uncalibrated
from segbench.report.plots.methods import Kind, of_one_protocol, styles_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_DOT = 120


def plot_reliability(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw the share of positives in 15 bins of equal width against the mean score of each bin, all images pooled.

    On the diagonal scores are probabilities that come true; below it a method is overconfident.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel protocol, with soft maps of scores between 0 and 1, with or without ``Pixels(calibration=True)``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes
        The area of a dot is the share of all pixels in its bin, of which it keeps a visible least; legends give ECE,
        the lowest first.

    Raises
    ------
    ArgumentError
        For another protocol, two-valued predictions, or scores that are no probabilities.
    """
    results = of_one_protocol(results)
    pooled = [_counts(result) for result in results]
    ax = ax or new_axes()
    frame_reliability(ax)
    all_bins = [reliability(counts) for counts in pooled]
    errors = [float(np.abs(bins.positives - bins.scores).sum() / bins.pixels.sum()) for bins in all_bins]
    methods = zip(errors, all_bins, styles_of(results), short_names(names_of(results)), strict=True)
    for error, bins, style, name in sorted(methods, key=lambda method: method[0]):
        held = bins.pixels > 0
        score, share = bins.scores[held] / bins.pixels[held], bins.positives[held] / bins.pixels[held]
        label = f"[ECE={number(error, digits=3)}] {name}"
        ax.plot(score, share, color=style.colour, linestyle=style.dashes, zorder=CURVE_LAYER, label=label)
        area = _LARGEST_DOT * np.maximum(bins.pixels[held] / bins.pixels.sum(), 0.05)
        ax.scatter(score, share, area, color=style.colour, linewidths=0, zorder=CURVE_LAYER, clip_on=False)
    place_legend(ax, ("upper left", "lower right"))
    return ax


def _counts(result: Result) -> ScoreCounts:
    """Give the pooled counts of a result, if they have a reliability."""
    counts = cast("ScoreCounts", result.pooled)
    if result.rules.capability(Pooling) is None:
        raise ArgumentError(f"{result.method} is a result of {result.protocol}; reliability is that of soft maps")
    reason = TWO_VALUED if are_masks(counts) else why_uncalibrated(counts)
    if not reason and not counts.scores.size:
        reason = "no pixels"
    if reason:
        instead = setting("choose other methods with --only", "leave this method out")
        raise ArgumentError(f"{result.method} has no reliability: {reason}; {instead}")
    return counts


KIND = Kind(plot_reliability)
