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
    """Match an image's boundaries with every annotator's, and tell found, false and missed pixels apart."""
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
