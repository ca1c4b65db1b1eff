"""What became of each boundary pixel of an image at one threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.boundaries.matching import match_boundaries
from segbench.protocols.boundaries.thinning import thin as thinned
from segbench.protocols.states import State


def boundary_states(
    predicted: NDArray[np.bool_], ground_truths: Sequence[NDArray[np.bool_]], *, max_dist: float, thin: bool
) -> NDArray[np.uint8]:
    """Match an image's boundaries with every annotator's, and tell found, false and missed pixels apart.

    Parameters
    ----------
    predicted : array of bool, shape (H, W)
        The map at one threshold.
    ground_truths : sequence of array of bool, shape (H, W)
        One an annotator.
    max_dist : float
        Tolerance as a fraction of the image's diagonal.
    thin : bool
        Whether the map is thinned first.

    Returns
    -------
    array of uint8, shape (H, W)
        A `State` a pixel. TRUE are the prediction pixels that any annotator's matching used, FALSE the others, as
        `count_boundaries` counts them. A ground-truth pixel that is no prediction pixel is PARTNER where the matching
        of at least one annotator who drew it used it, else MISSED.
    """
    on = thinned(predicted) if thin else predicted
    max_dist_px = max_dist * float(np.hypot(*on.shape))
    used, found, drawn = (np.zeros(on.shape, np.bool_) for _ in range(3))
    for annotator, truth in enumerate(ground_truths):
        links = match_boundaries(on, truth, max_dist_px, annotator=annotator).links
        used[tuple(links[:, 0].T)] = True
        found[tuple(links[:, 1].T)] = True
        drawn |= truth
    states = np.full(on.shape, State.NOTHING, np.uint8)
    states[drawn] = State.MISSED
    states[found] = State.PARTNER
    states[on] = State.FALSE
    states[used] = State.TRUE
    return states
