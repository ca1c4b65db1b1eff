"""Which boundary pixel of a prediction is which of a ground truth, pixel by pixel, for users and for pictures.

The assignment itself is that of `segbench.protocols.boundaries.assignment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import BoolArray, IntArray
from segbench.core.settings import as_real, as_whole
from segbench.imaging.bits import pack
from segbench.imaging.thinning import thin as thinned
from segbench.inputs.lines import as_mask, check_same_size, tolerance_px
from segbench.protocols.boundaries.assignment import sweep, tabulate_costs
from segbench.protocols.states import State


@dataclass(frozen=True, eq=False)
class BoundaryMatch:
    """Which prediction pixel is which ground-truth pixel.

    Parameters
    ----------
    prediction : array of int64, shape (M, 2)
        Row and column of every prediction pixel, in raster order.
    ground_truth : array of int64, shape (N, 2)
        Row and column of every ground-truth pixel, in raster order.
    prediction_to_gt : array of int64, shape (M,)
        For each prediction pixel the index of its partner in `ground_truth`, or -1.
    total_distance : float
        Sum of the distances of all pairs in pixels, each rounded to hundredths: what was minimised.
    """

    prediction: IntArray
    ground_truth: IntArray
    prediction_to_gt: IntArray
    total_distance: float

    @property
    def count(self) -> int:
        """Pairs."""
        return int(np.count_nonzero(self.prediction_to_gt >= 0))

    @property
    def links(self) -> IntArray:
        """Row and column of both pixels of every pair, prediction first; shape (count, 2, 2)."""
        matched = self.prediction_to_gt >= 0
        partners = self.ground_truth[self.prediction_to_gt[matched]]
        return np.stack([self.prediction[matched], partners], axis=1)


def match_boundaries(
    ground_truth: ArrayLike, prediction: ArrayLike, max_dist_px: float, *, annotator: int = 0
) -> BoundaryMatch:
    """Match boundary pixels one to one at the least cost: total distance plus a price for each pixel left alone.

    Minimised is the sum of ``d`` over pairs plus ``lambda`` for each unmatched ground-truth pixel, where ``d =
    rint(100 distance)`` is the distance in hundredths of a pixel and ``lambda = max(1, ceil(100 * 100 * max_dist_px))``
    is a hundred times the tolerance. This is almost always the largest number of pairs: one is given up only where that
    lowers the total distance by more than a hundred times the tolerance. Ties are broken as
    `segbench.protocols.boundaries.assignment` says, so that the result is a function of the input.

    Parameters
    ----------
    ground_truth, prediction : array, shape (H, W)
        Boundary maps; pixels other than 0 are on. Neither is thinned.
    max_dist_px : float
        Tolerance in pixels, inclusive, up to 1e9; 0 matches equal pixels only. With a tolerance given as a fraction,
        ``max_dist * sqrt(H**2 + W**2)``.
    annotator : int
        Index of the annotator, from 0; part of the tie-break, so that a picture shows what was counted.

    Returns
    -------
    BoundaryMatch
        The pairs.

    Raises
    ------
    ArgumentError
        If an argument is out of range.
    DataError
        If the sizes differ.

    Examples
    --------
    >>> match = match_boundaries([[0, 1, 0, 0]], [[1, 0, 0, 1]], 1.5)
    >>> match.prediction_to_gt, match.total_distance, match.count
    (array([ 0, -1]), 1.0, 1)
    """
    predicted, truth = as_mask(prediction, "prediction"), as_mask(ground_truth, "ground truth")
    check_same_size(predicted, truth)
    max_dist_px = as_real(max_dist_px, "max_dist_px", "a number of pixels from 0 to 1e9", least=0, most=1e9)
    predicted_pixels, gt_pixels = np.argwhere(predicted), np.argwhere(truth)
    costs = tabulate_costs(truth.shape, max_dist_px, len(gt_pixels), as_whole(annotator, "annotator"))
    packed = pack(predicted)
    maps = packed[np.newaxis]  # of a single threshold
    swept = sweep(maps, packed, pack(truth), costs, np.zeros_like(maps), trace=True)
    partners = swept.partners[0]
    matched = np.flatnonzero(partners >= 0)
    to_gt = np.full(len(predicted_pixels), -1, np.int64)
    to_gt[np.searchsorted(np.flatnonzero(predicted), partners[matched])] = matched
    offsets = predicted_pixels[to_gt >= 0] - gt_pixels[to_gt[to_gt >= 0]]
    hundredths = np.rint(100 * np.sqrt((offsets**2).sum(axis=1))).sum()
    return BoundaryMatch(predicted_pixels, gt_pixels, to_gt, float(hundredths) / 100)


def boundary_states(
    predicted: BoolArray, ground_truths: Sequence[BoolArray], *, max_dist: float | str, thin: bool
) -> NDArray[np.uint8]:
    """Match an image's boundaries with every annotator's, and mark found, false and missed pixels."""
    if thin:
        predicted = thinned(predicted)
    max_dist_px = tolerance_px(max_dist, predicted.shape)
    matches = [
        match_boundaries(truth, predicted, max_dist_px, annotator=annotator)
        for annotator, truth in enumerate(ground_truths)
    ]
    matched_predicted, matched_gt = np.concatenate([match.links for match in matches]).transpose(1, 2, 0)
    states = np.full(predicted.shape, State.NOTHING, np.uint8)
    states[np.logical_or.reduce(ground_truths)] = State.MISSED
    states[tuple(matched_gt)] = State.PARTNER
    states[predicted] = State.FALSE
    states[tuple(matched_predicted)] = State.TRUE
    return states
