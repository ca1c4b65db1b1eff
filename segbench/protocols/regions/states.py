"""What became of each pixel's region at one threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.states import State


def region_states(
    predicted: NDArray[Any], truth: NDArray[Any], kept: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """Tell where the regions of one annotator were found.

    Parameters
    ----------
    predicted, truth : array of int, shape (H, W)
        Label maps, from 0.
    kept : array of bool, optional
        Where pixels count; None for everywhere.

    Returns
    -------
    array of uint8, shape (H, W)
        A `State` a pixel. The stand-in of a ground-truth region is the predicted region with the largest intersection
        over union, the first of equals. TRUE: the pixel lies in the stand-in of its region. FALSE: in one that stands
        for another region only (regions ran together). MISSED: in one that stands for none (a fragment).

    Examples
    --------
    >>> region_states(np.array([[0, 0, 0, 1, 2]]), np.array([[0, 0, 1, 1, 1]]))
    array([[1, 1, 2, 1, 3]], dtype=uint8)
    """
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
