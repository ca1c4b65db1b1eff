"""What matching objects costs beside other tools, that panoptica agrees, and how long the intersection table takes.

    python scripts/benchmarks/bench_objects.py [--quick] [--pairs 500]

Compares `segbench.count` of objects and its metrics with panoptica and torchmetrics, as far as they are installed (`pip
install panoptica torchmetrics torch`). First on random instance maps, which must give the numbers of panoptica, except
where a pair has an IoU of exactly .5, which panoptica matches. (torchmetrics takes another union and is no reference.)
Then the processor time of a pair of 1024x2048 with 200 segments, arrays in memory, one thread, compiled; and that of a
plain loop that fills a dense intersection table, compiled as well.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from measuring import duration, factor, in_turn, machine, times_as_long, versions
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

import segbench

Maps = tuple[NDArray[np.int32], NDArray[np.int32]]
_SHAPE = (1024, 2048)
_SEGMENTS = 200
_IN_A_ROW = 5


def cells(random: np.random.Generator, shape: tuple[int, ...], number: int) -> NDArray[np.int32]:
    """Draw cells: each pixel has the number of the nearest of some points."""
    points = np.zeros(shape, np.int32)
    points.flat[random.choice(points.size, number, replace=False)] = np.arange(1, number + 1)
    nearest = distance_transform_edt(points == 0, return_distances=False, return_indices=True)
    return np.ascontiguousarray(points[tuple(nearest)])


def large_pair() -> Maps:
    """Draw two maps whose objects mostly match."""
    random = np.random.default_rng(0)
    truth = cells(random, _SHAPE, _SEGMENTS)
    predicted = np.roll(truth, (12, 17), axis=(0, 1))
    split = cells(random, _SHAPE, 2) == 1
    return truth, np.where(split & (predicted % 10 == 0), _SEGMENTS, predicted).astype(np.int32)


def random_pair(seed: int, dimensions: int = 2) -> Maps:
    """Draw small maps or volumes: cells on a background, shifted, and some merged."""
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(8, 40 if dimensions == 2 else 16, dimensions).tolist())
    truth = cells(random, shape, int(random.integers(1, 20))) * (cells(random, shape, 12) > 4)
    predicted = np.roll(truth, random.integers(-2, 3, dimensions), axis=tuple(range(dimensions)))
    predicted[predicted == 2] = 1
    return truth, predicted


def of_panoptica(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Return what panoptica has."""
    import panoptica

    evaluator = panoptica.Panoptica_Evaluator(
        expected_input=panoptica.InputType.UNMATCHED_INSTANCE,
        instance_matcher=panoptica.NaiveThresholdMatching(),
        instance_metrics=[panoptica.Metric.IOU],
        global_metrics=[],
        decision_metric=panoptica.Metric.IOU,
        decision_threshold=0.5,
    )
    result = evaluator.evaluate(predicted.astype(np.uint16), truth.astype(np.uint16), verbose=False)["ungrouped"]
    return {key: float(getattr(result, key)) for key in ("pq", "sq", "rq")}


def of_torchmetrics(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Return what torchmetrics has."""
    import torch
    from torchmetrics.functional.detection import panoptic_quality

    torch.set_num_threads(1)
    both = (
        torch.from_numpy(np.stack([labels > 0, labels], axis=-1).astype(np.int64))[None]
        for labels in (predicted, truth)
    )
    return {"pq": float(panoptic_quality(*both, things={1}, stuffs={0}))}


PEERS: dict[str, Callable[[NDArray[Any], NDArray[Any]], dict[str, float]]] = {
    "panoptica": of_panoptica,
    "torchmetrics": of_torchmetrics,
}


def installed() -> dict[str, Callable[[NDArray[Any], NDArray[Any]], dict[str, float]]]:
    """Return the tools that can be imported."""
    tools = {}
    for name, peer in PEERS.items():
        try:
            peer(*random_pair(0))
        except ImportError:
            print(f"{name} is not installed, and left out")
            continue
        tools[name] = peer
    return tools


def ours(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Return all metrics of segbench."""
    return segbench.count(truth, predicted, "objects").metrics()


def agreement(pairs: int, dimensions: int) -> None:
    """Print the largest difference to panoptica, over the pairs of maps without an IoU of exactly .5."""
    if "panoptica" not in installed():
        return
    worst, left_out = 0.0, 0
    for seed in range(pairs):
        truth, predicted = random_pair(seed, dimensions)
        counts = segbench.count(truth, predicted, "objects")
        if (2 * counts.shared == counts.whole).any():
            left_out += 1
            continue
        known, own = of_panoptica(truth, predicted), counts.metrics()
        worst = max(worst, *(abs(np.nan_to_num(known[key]) - np.nan_to_num(own[key])) for key in known))
    text = f"{pairs} random pairs of {dimensions} dimensions, {left_out} left out"
    print(f"\n{text}: largest difference to PQ, SQ and RQ of panoptica {worst:.1e}")


@numba.njit
def dense_table(truth: NDArray[np.int32], predicted: NDArray[np.int32]) -> NDArray[np.int64]:
    """Fill the whole intersection table by a plain loop."""
    table = np.zeros((_SEGMENTS + 1, _SEGMENTS + 1), np.int64)
    for pixel in range(truth.size):
        table[truth[pixel], predicted[pixel]] += 1
    return table


def beside_others(rounds: int) -> None:
    """Print the processor time of a pair, which our ways take several times in a row."""
    from segbench.inputs.kernels import intersections

    pair = large_pair()
    flat = [labels.reshape(-1) for labels in pair]
    ways: dict[str, Callable[[], object]] = {"segbench, all metrics": lambda: ours(*pair)}
    ways["segbench, counts"] = lambda: segbench.count(*pair, "objects")
    ways["segbench, table"] = lambda: intersections(*flat)
    ways["plain loop"] = lambda: dense_table(*flat)
    peers = {name: lambda peer=peer: peer(*pair) for name, peer in installed().items()}  # type: ignore[misc]  # a default
    in_turn(ways, 2)
    in_a_row = {name: lambda way=way: [way() for _ in range(_IN_A_ROW)] for name, way in ways.items()}
    taken = in_turn(in_a_row | peers, rounds)  # type: ignore[operator]  # as above
    taken |= {name: [time / _IN_A_ROW for time in taken[name]] for name in ways}
    print(f"\none pair of {_SHAPE[0]}x{_SHAPE[1]} with {_SEGMENTS} segments, processor time, one thread")
    for name, times in taken.items():
        text = f"  {name:<22} {duration(statistics.median(times)):>8}"
        if name in PEERS:
            text += (
                f"  {factor(times_as_long(times, taken['segbench, all metrics'])):>7} as long as all metrics (goal 20)"
            )
        print(text)
    whole, plain = (taken[name] for name in ("segbench, counts", "plain loop"))
    print(
        f"  counts of segbench take {factor(times_as_long(whole, plain))} as long as the plain loop (goal: at most 3)"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--pairs", type=int, default=500, help="random pairs that are compared")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the other tools
    print(machine())
    print(versions(["numpy", "scipy", "numba", "panoptica", "torchmetrics", "torch"]))
    for dimensions in (2, 3):
        agreement(50 if options.quick else options.pairs, dimensions)
    beside_others(2 if options.quick else 5)


if __name__ == "__main__":
    main()
