"""One matching of boundary pixels by SciPy: the graph, the sparse matcher, the dense one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

Mask = NDArray[np.bool_]


class Pairs(NamedTuple):
    """Matched pixels as places in raster order, and the sum of their distances in hundredths of a pixel, rounded."""

    ground_truth: NDArray[np.intp]
    prediction: NDArray[np.intp]
    hundredths: int


class Graph(NamedTuple):
    """Which pixels may be matched: a row a ground-truth pixel; columns are prediction pixels, then "alone" a row.

    Every weight is one more than the cost, for SciPy takes 0 for a missing edge.
    """

    weights: csr_array
    predicted: int


def graph_of(prediction: Mask, ground_truth: Mask, max_dist_px: float) -> Graph | None:
    """List all pairs within reach with their distances; None where either map is empty."""
    on, truth = np.argwhere(prediction), np.argwhere(ground_truth)
    if not len(on) or not len(truth):
        return None
    # A hair more: a distance of exactly max_dist_px is within reach.
    reach = max_dist_px * (1 + 1e-12)
    pairs = cKDTree(truth).sparse_distance_matrix(cKDTree(on), reach, output_type="coo_matrix")
    rows = np.arange(len(truth))
    alone = np.full(rows.size, np.ceil(1e4 * max_dist_px) + 1)
    weights = csr_array(
        (
            np.concatenate([np.rint(100 * pairs.data) + 1, alone]),
            (np.concatenate([pairs.row, rows]), np.concatenate([pairs.col, len(on) + rows])),
        ),
        (rows.size, len(on) + rows.size),
    )
    return Graph(weights, len(on))


def sparse_matching(graph: Graph) -> Pairs:
    """Match with `scipy.sparse.csgraph.min_weight_full_bipartite_matching`."""
    return _pairs(graph, *min_weight_full_bipartite_matching(graph.weights))


def dense_matching(graph: Graph) -> Pairs:
    """Match with `scipy.optimize.linear_sum_assignment`, which needs every weight written out."""
    weights = graph.weights.toarray()
    weights[weights == 0] = np.inf
    return _pairs(graph, *linear_sum_assignment(weights))


def _pairs(graph: Graph, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Pairs:
    paired = columns < graph.predicted
    rows, columns = rows[paired], columns[paired]
    return Pairs(rows, columns, int(graph.weights[rows, columns].sum()) - rows.size)
