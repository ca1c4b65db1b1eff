"""The boundary benchmark: segbench beside pyEdgeEval (the official matcher in C++) and SciPy's matchers.

The benchmark of an image runs from its soft map to four counts at each of 99 thresholds; thinning is each program's own
(scikit-image's for SciPy). One matching is of one thinned map with one annotator, and all have the same pixels.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from measuring import duration, factor, in_turn, markdown, times_as_long
from numpy.typing import NDArray
from skimage.morphology import thin as skimage_thin

import segbench
from peer_tables.images import EdgeImage
from peer_tables.matchers import dense_matching, graph_of, sparse_matching
from peer_tables.programs import PYEDGEEVAL
from segbench.protocols.boundaries.counting import compile_kernels

MAX_DIST = 0.0075
OURS = "segbench"
SUMMED = {"ODS F": "ods_f", "OIS F": "ois_f", "Area_PR": "area_pr"}
OFF_BY = {"matched ground truth": "matched_gt", "matched predicted": "matched_pred", "all predicted": "total_pred"}
_ROUNDS = 5
Counter = Callable[[EdgeImage, NDArray[np.float64]], segbench.BoundaryCounts]


class Found(NamedTuple):
    """What one matching found: pairs, and the sum of their distances in hundredths of a pixel (None: not told)."""

    pairs: int
    hundredths: int | None


def by_segbench(image: EdgeImage, thresholds: NDArray[np.float64]) -> segbench.BoundaryCounts:
    """Count with segbench."""
    return segbench.count_boundaries(image.scores, image.ground_truths, thresholds=thresholds, max_dist=MAX_DIST)


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
            graph = graph_of(on, truth, _reach(image))
            if graph is not None:
                pairs = sparse_matching(graph)
                used[pairs.prediction] = True
                matched += pairs.ground_truth.size
        rows.append((matched, sum(int(truth.sum()) for truth in image.ground_truths), int(used.sum()), used.size))
    return segbench.BoundaryCounts(thresholds, *np.array(rows).T)


def counters() -> dict[str, Counter]:
    """Name the programs that are here."""
    compile_kernels()
    peer = {} if PYEDGEEVAL.missing else {PYEDGEEVAL.name: by_pyedgeeval}
    return {OURS: by_segbench, **peer, "SciPy, scikit-image": by_scipy}


def whole_benchmark(images: Sequence[EdgeImage], thresholds: int = 99) -> list[list[str]]:
    """Give rows: program, seconds an image, how many times ours, ODS, OIS, Area_PR, and how far the counts are off."""
    cuts = np.arange(1, thresholds + 1) / (thresholds + 1)
    counts: dict[str, dict[str, segbench.BoundaryCounts]] = {name: {} for name in counters()}
    seconds: dict[str, list[float]] = {name: [] for name in counts}
    for image in images:

        def count(name: str, counter: Counter, image: EdgeImage = image) -> None:
            counts[name][image.name] = counter(image, cuts)

        ways = {name: lambda n=name, c=counter: count(n, c) for name, counter in counters().items()}
        for name, taken in in_turn(ways, 1).items():
            seconds[name] += taken
    rows = []
    for name, per_image in counts.items():
        summary = segbench.Boundaries().table(per_image).summary()
        rows.append(
            [
                name,
                duration(statistics.mean(seconds[name])),
                "" if name == OURS else factor(times_as_long(seconds[name], seconds[OURS])),
                *(f"{summary[key]:.5f}" for key in SUMMED.values()),
                *off_by(per_image, counts[OURS]),
            ]
        )
    return rows


def off_by(theirs: dict[str, segbench.BoundaryCounts], ours: dict[str, segbench.BoundaryCounts]) -> Iterator[str]:
    """Write how far sums over images and thresholds are from ours: matched ground truth, matched and all predicted."""
    for field in OFF_BY.values():
        mine, other = (sum(int(getattr(c, field).sum()) for c in counts.values()) for counts in (ours, theirs))
        yield "same" if mine == other else f"{other / mine - 1:+.3%}"


def one_matching(images: Sequence[EdgeImage], threshold: float = 0.3) -> list[list[str]]:
    """Give rows: program, time of one matching, how many times ours, pairs in all, and the sum of their distances."""
    found: dict[str, list[Found]] = {}
    seconds: dict[str, list[list[float]]] = {}
    for image in images:
        on, truth = segbench.thin(image.scores / 255 >= threshold), image.ground_truths[0]
        ways = matchings(on, truth, image)
        for name, way in ways.items():
            found.setdefault(name, []).append(way())
        for name, taken in in_turn(ways, _ROUNDS).items():
            seconds.setdefault(name, []).append(taken)
    rows = []
    for name, each in found.items():
        ratios = [times_as_long(theirs, mine) for mine, theirs in zip(seconds[OURS], seconds[name], strict=True)]
        told = [one.hundredths for one in each if one.hundredths is not None]
        rows.append(
            [
                name,
                duration(statistics.median(statistics.median(taken) for taken in seconds[name])),
                "" if name == OURS else factor(statistics.median(ratios)),
                str(sum(one.pairs for one in each)),
                f"{sum(told) / 100:.2f}" if told else "not told",
            ]
        )
    return rows


def matchings(on: NDArray[np.bool_], truth: NDArray[np.bool_], image: EdgeImage) -> dict[str, Callable[[], Found]]:
    """Name the matchers; each begins at the two maps."""
    reach = _reach(image)

    def ours() -> Found:
        match = segbench.match_boundaries(on, truth, reach)
        return Found(match.count, round(match.total_distance * 100))

    def scipy(matcher: Callable[..., tuple[NDArray[np.intp], NDArray[np.intp], int]]) -> Found:
        graph = graph_of(on, truth, reach)
        if graph is None:
            return Found(0, 0)
        rows, _, hundredths = matcher(graph)
        return Found(rows.size, hundredths)

    def official() -> Found:
        from pyEdgeEval import correspond_pixels

        return Found(int(np.count_nonzero(correspond_pixels(on, truth, max_dist=MAX_DIST)[0])), None)

    return {
        OURS: ours,
        **({} if PYEDGEEVAL.missing else {"pyEdgeEval, correspond_pixels": official}),
        "SciPy, min_weight_full_bipartite_matching": lambda: scipy(sparse_matching),
        "SciPy, linear_sum_assignment": lambda: scipy(dense_matching),
    }


def report(images: Sequence[EdgeImage], thresholds: int = 99) -> str:
    """Write both tables."""
    return "\n\n".join(
        [
            markdown(
                ["program", "an image", "times ours", *SUMMED, *OFF_BY],
                whole_benchmark(images, thresholds),
            ),
            markdown(["one matching", "time", "times ours", "pairs", "distance, px"], one_matching(images)),
        ]
    )


def _reach(image: EdgeImage) -> float:
    return MAX_DIST * float(np.hypot(*image.scores.shape))
