"""Independent answers: SciPy's assignment with the documented costs, and the tie-break in Python's integers."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

MASK = 2**64 - 1


def tie_break(prediction, ground_truth, annotator):
    z = ((prediction << 32 | ground_truth) + (annotator + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return (z ^ z >> 31) >> 44


def best_matching(prediction, ground_truth, max_dist_px, annotator=0):
    """Partner of each ground-truth pixel (flat index or -1)."""
    width = ground_truth.shape[1]
    rows, columns = np.flatnonzero(ground_truth), np.flatnonzero(prediction)
    scale = 2**20 * (rows.size + 1)
    alone = max(1, int(np.ceil(1e4 * max_dist_px))) * scale
    if not rows.size:
        return np.empty(0, int)
    edges = [(i, columns.size + i, alone) for i in range(rows.size)]
    for i, g in enumerate(rows):
        for j, p in enumerate(columns):
            squared = (g // width - p // width) ** 2 + (g % width - p % width) ** 2
            if squared <= max_dist_px**2:
                cost = int(np.rint(100 * np.sqrt(squared))) * scale + tie_break(int(p), int(g), annotator)
                edges.append((i, j, cost))
    i, j, cost = zip(*edges, strict=True)
    assert max(cost) < 2**51
    graph = csr_array((np.array(cost, float) + 1, (i, j)), (rows.size, columns.size + rows.size))
    i, j = min_weight_full_bipartite_matching(graph)
    partners = np.full(rows.size, -1)
    partners[i[j < columns.size]] = columns[j[j < columns.size]]
    return partners
