"""What became of each pixel's region at one threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.states import State


def region_states(
    predicted: NDArray[Any], truth: NDArray[Any], kept: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """Tell where the regions of one annotator were found."""
    valid = np.ones(truth.shape, np.bool_) if kept is None else kept
    g, p = truth[valid].astype(np.int64), predicted[valid].astype(np.int64)
    states = np.full(truth.shape, State.IGNORED, np.uint8)
    if not g.size:
        return states
    columns = int(p.max()) + 1
    pairs, common = np.unique(g * columns + p, return_counts=True)
    region, candidate = np.divmod(pairs, columns)
    overlap = common / (np.bincount(g)[region] + np.bincount(p)[candidate] - common)
    order = np.lexsort((candidate, -overlap, region))
    first = order[np.unique(region[order], return_index=True)[1]]
    stand_in = np.full(int(g.max()) + 1, -1)
    stand_in[region[first]] = candidate[first]
    states[valid] = np.where(
        stand_in[g] == p, State.TRUE, np.where(np.isin(p, candidate[first]), State.FALSE, State.MISSED)
    )
    return states
