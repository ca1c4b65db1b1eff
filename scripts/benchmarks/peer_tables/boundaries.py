"""The boundary benchmark: segbench beside pyEdgeEval (the official matcher in C++) and SciPy's matchers.

The benchmark of an image runs from its soft map to four counts at each of 99 thresholds; thinning is each program's own
(scikit-image's for SciPy). One matching is of one thinned map with one annotator, and all have the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bsds500
import numpy as np
from measuring import markdown
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree
from skimage.morphology import thin as skimage_thin

import segbench
from peer_tables.contests import Contest, Effort, Stored, Way
from peer_tables.images import EdgeImage, bsds_edges, shipped_edges
from peer_tables.programs import PYEDGEEVAL, SCIPY, SEGBENCH
from segbench.core.grouping import grouped

MAX_DIST = 0.0075
FIELDS = ("matched_gt", "total_gt", "matched_pred", "total_pred")
SUMMED = {"ODS F": "ods_f", "OIS F": "ois_f", "Area_PR": "area_pr"}
OFF_BY = {"matched ground truth": "matched_gt", "matched predicted": "matched_pred", "all predicted": "total_pred"}
_SECONDS = 1200.0
"""Limit of a call: pyEdgeEval takes minutes per image."""
_MATCHING = "one matching"
_THRESHOLD = 0.3


class Found(NamedTuple):
    """What one matching found: pairs, and the sum of their distances in hundredths of a pixel (-1: not given)."""

    pairs: int
    hundredths: int


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


def contests(effort: Effort) -> Iterator[Contest]:
    """Three images of BSDS500 where the environment names it, else that ship; all thresholds, then one matching."""
    folder = bsds500.folder()
    most, thresholds = (1, 3) if effort.quick else (3, 99)
    sets = {"ships": "", "BSDS500": str(folder)} if folder else {"ships": ""}
    for name, root in sets.items():
        for image in images(root, most if root or not folder else 1):
            of_set = f"{image.name} ({name}, {len(image.ground_truths)} annotators)".replace("(ships", "(that ships")
            yield Contest(
                f"{of_set.replace('1 annotators', '1 annotator')}, {thresholds} thresholds",
                load,
                (root, image.name, thresholds),
                (
                    Way(SEGBENCH, by_segbench),
                    Way(PYEDGEEVAL, by_pyedgeeval),
                    Way(SCIPY, by_scipy, "SciPy, scikit-image"),
                ),
                numbers,
                warm=(root, image.name, 1),
                seconds=_SECONDS,
                rounds=2,
            )
    for name, root in sets.items():
        image = images(root, 1)[0]
        yield Contest(
            f"{image.name} ({'that ships' if name == 'ships' else name}), {_MATCHING}",
            load_one,
            (root, image.name),
            (
                Way(SEGBENCH, match_segbench),
                Way(PYEDGEEVAL, match_pyedgeeval, "pyEdgeEval, correspond_pixels"),
                Way(SCIPY, partial(match_scipy, sparse_matching), "SciPy, min_weight_full_bipartite_matching"),
                Way(SCIPY, partial(match_scipy, dense_matching), "SciPy, linear_sum_assignment"),
            ),
            list,
        )


def images(root: str, most: int) -> list[EdgeImage]:
    """Read the first images that ship, or of BSDS500 with HED's maps."""
    return bsds_edges(Path(root), most) if root else shipped_edges(most=most)


def load(root: str, name: str, thresholds: int) -> tuple[EdgeImage, NDArray[np.float64]]:
    """Read an image, and list the thresholds."""
    image = next(image for image in images(root, 9) if image.name == name)
    return image, np.arange(1, thresholds + 1) / (thresholds + 1)


def load_one(root: str, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_], float]:
    """Thin a map at one threshold; give it, an annotator's boundaries, and the tolerance in pixels."""
    image, _ = load(root, name, 1)
    return segbench.thin(image.scores / 255 >= _THRESHOLD), image.ground_truths[0], _reach(image.scores)


def by_segbench(image: EdgeImage, thresholds: NDArray[np.float64]) -> segbench.BoundaryCounts:
    """Count with segbench."""
    return segbench.count(
        image.ground_truths, image.scores, segbench.Boundaries(thresholds=thresholds, max_dist=MAX_DIST)
    )


def by_pyedgeeval(image: EdgeImage, thresholds: NDArray[np.float64]) -> segbench.BoundaryCounts:
    """Count with pyEdgeEval."""
    from pyEdgeEval.common.binary_label import evaluate_boundaries_threshold_multiple_gts

    counts = evaluate_boundaries_threshold_multiple_gts(
        thresholds, image.scores / 255, np.array(image.ground_truths), max_dist=MAX_DIST
    )
    return segbench.BoundaryCounts(thresholds, *(np.asarray(part).astype(np.int64) for part in counts))


def by_scipy(image: EdgeImage, thresholds: NDArray[np.float64]) -> segbench.BoundaryCounts:
    """Thin with scikit-image, match with SciPy's sparse matcher."""
    rows = []
    for threshold in thresholds:
        on = skimage_thin(image.scores / 255 >= threshold)
        used, matched = np.zeros(int(on.sum()), np.bool_), 0
        for truth in image.ground_truths:
            graph = graph_of(on, truth, _reach(image.scores))
            if graph is not None:
                pairs = sparse_matching(graph)
                used[pairs.prediction] = True
                matched += pairs.ground_truth.size
        rows.append((matched, sum(int(truth.sum()) for truth in image.ground_truths), int(used.sum()), used.size))
    return segbench.BoundaryCounts(thresholds, *np.array(rows).T)


def numbers(counts: segbench.BoundaryCounts) -> list[float]:
    """List the counts, field by field."""
    return [float(number) for name in FIELDS for number in getattr(counts, name)]


def counts_of(values: Sequence[float]) -> segbench.BoundaryCounts:
    """Make counts of what `numbers` listed."""
    parts = np.reshape(values, (len(FIELDS), -1)).astype(np.int64)
    thresholds = np.arange(1, parts.shape[1] + 1) / (parts.shape[1] + 1)
    return segbench.BoundaryCounts(thresholds, *parts)


def match_segbench(on: NDArray[np.bool_], truth: NDArray[np.bool_], reach: float) -> Found:
    """Match with segbench."""
    match = segbench.match_boundaries(truth, on, reach)
    return Found(match.count, round(match.total_distance * 100))


def match_scipy(
    matcher: Callable[[Graph], Pairs], on: NDArray[np.bool_], truth: NDArray[np.bool_], reach: float
) -> Found:
    """Match with one of SciPy's matchers."""
    graph = graph_of(on, truth, reach)
    if graph is None:
        return Found(0, 0)
    pairs = matcher(graph)
    return Found(pairs.ground_truth.size, pairs.hundredths)


def match_pyedgeeval(on: NDArray[np.bool_], truth: NDArray[np.bool_], reach: float) -> Found:
    """Match with pyEdgeEval, which takes the tolerance as a share of the diagonal."""
    del reach
    from pyEdgeEval import correspond_pixels

    return Found(int(np.count_nonzero(correspond_pixels(on, truth, max_dist=MAX_DIST)[0])), -1)


def graph_of(prediction: NDArray[np.bool_], ground_truth: NDArray[np.bool_], max_dist_px: float) -> Graph | None:
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


def difference(theirs: Sequence[float], ours: Sequence[float]) -> str:
    """Write how far sums over thresholds, or one matching, are from ours."""
    if len(ours) == 2:
        (pairs, hundredths), (our_pairs, our_hundredths) = theirs, ours
        more = f"{pairs - our_pairs:+.0f} pairs" if pairs != our_pairs else "as many pairs"
        distance = "distance not given" if hundredths < 0 else f"{(hundredths - our_hundredths) / 100:+g} px"
        return "same" if list(theirs) == list(ours) else f"{more}, {distance}"
    off = []
    for title, name in OFF_BY.items():
        other, mine = (int(getattr(counts_of(numbers_of), name).sum()) for numbers_of in (theirs, ours))
        off += [f"{title} {other / mine - 1:+.3%}"] if other != mine else []
    return ", ".join(off) or "same"


def metrics(stored: Sequence[Stored]) -> str:
    """Lay out the metrics of each set of images by each program."""
    of_images = (contest for contest in stored if _MATCHING not in contest.title)
    sets = grouped(("BSDS500" if "BSDS500" in contest.title else "images that ship", contest) for contest in of_images)
    rows = []
    for name, of_set in sets.items():
        for program in of_set[0].cells:
            counts: dict[str, Any] = {
                contest.title: counts_of(contest.cells[program].values)
                for contest in of_set
                if contest.cells[program].values
            }
            if len(counts) == len(of_set):
                summary = segbench.Boundaries().table(counts).summary()
                rows.append([f"{name} ({len(of_set)})", program, *(f"{summary[key]:.5f}" for key in SUMMED.values())])
    return markdown(["images", "program", *SUMMED], rows)


def _reach(scores: NDArray[Any]) -> float:
    return MAX_DIST * float(np.hypot(*scores.shape))
