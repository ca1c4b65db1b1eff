"""What the metrics of contours cost beside other tools, that they agree, and how time grows with the image.

    python scripts/benchmarks/bench_contours.py [--quick] [--pairs 1000]

Compares `segbench.count` of contours with all its metrics with surface-distance, medpy and MONAI, as far as they are
installed (`pip install surface-distance medpy monai`), each with all the distances that it has: HD, HD95, mean
distances, and NSD where there is one. First on random pairs of masks, which must give the same numbers; then the
processor time of a pair of 512x512, arrays in memory, one thread, compiled. The last table has pairs of the same shape
from 512x512 to 8192x8192. ``bench_volumes.py`` measures volumes.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from measuring import duration, factor, in_turn, machine, times_as_long, versions
from numpy.typing import NDArray
from scipy import ndimage

import segbench

Mask = NDArray[np.bool_]
Metrics = Mapping[str, float]
_TOLERANCE = 2.0
_IN_A_ROW = 5


def smooth_pair(side: int, seed: int = 0) -> tuple[Mask, Mask]:
    """Draw two masks of several smooth objects each, which lie over one another."""
    random = np.random.default_rng(seed)

    def waves(reach: float) -> NDArray[Any]:
        drawn = ndimage.gaussian_filter(random.standard_normal((512, 512)), reach)
        return drawn / drawn.std()

    shape = waves(30)
    masks = (shape > 0.5, shape + 0.5 * waves(20) > 0.5)
    if side == len(shape):
        return masks
    return tuple(np.kron(mask, np.ones((side // 512, side // 512), bool)) for mask in masks)  # type: ignore[return-value]


def random_pair(seed: int) -> tuple[Mask, Mask]:
    """Draw two masks that are not empty: full, of one pixel, at the border, of noise or of many components."""
    random = np.random.default_rng(seed)
    height, width = random.integers(1, 49, 2)
    masks = np.zeros((2, height, width), bool)
    for mask in masks:
        kind = random.integers(6)
        if kind == 0:
            mask[:] = True
        elif kind == 1:
            mask[: random.integers(1, height + 1), random.integers(width) :] = True
        elif kind == 2:
            mask[:] = random.random(mask.shape) < random.random()
        elif kind > 3:
            smooth = ndimage.gaussian_filter(random.standard_normal(mask.shape), random.uniform(0.5, 6))
            mask[:] = smooth > random.uniform(-1, 1) * smooth.std()
        mask[random.integers(height), random.integers(width)] |= not mask.any()
    return masks[0], masks[1]


def of_surface_distance(truth: Mask, predicted: Mask) -> Metrics:
    """Return what Google DeepMind's surface-distance has."""
    import surface_distance

    distances = surface_distance.compute_surface_distances(truth, predicted, (1.0, 1.0))
    gt_to_pred, pred_to_gt = surface_distance.compute_average_surface_distance(distances)
    lengths = distances["surfel_areas_gt"].sum(), distances["surfel_areas_pred"].sum()
    return {
        "hd": surface_distance.compute_robust_hausdorff(distances, 100),
        "hd95": surface_distance.compute_robust_hausdorff(distances, 95),
        "assd": (gt_to_pred * lengths[0] + pred_to_gt * lengths[1]) / sum(lengths),
        "masd": (gt_to_pred + pred_to_gt) / 2,
        "nsd@2": surface_distance.compute_surface_dice_at_tolerance(distances, _TOLERANCE),
    }


def of_medpy(truth: Mask, predicted: Mask) -> Metrics:
    """Return what medpy has."""
    from medpy.metric import binary

    return {
        "hd": binary.hd(predicted, truth),
        "hd95": binary.hd95(predicted, truth),
        "assd": binary.assd(predicted, truth),
    }


def of_monai(truth: Mask, predicted: Mask) -> Metrics:
    """Return what MONAI has."""
    import torch
    from monai import metrics

    masks = {name: torch.from_numpy(mask[None, None]).float() for name, mask in (("y_pred", predicted), ("y", truth))}
    options: dict[str, Any] = {**masks, "include_background": True}
    metrics_by_key = {
        "hd": metrics.compute_hausdorff_distance(**options),
        "hd95": metrics.compute_hausdorff_distance(**options, percentile=95),
        "assd": metrics.compute_average_surface_distance(**options, symmetric=True),
        "nsd@2": metrics.compute_surface_dice(**options, class_thresholds=[_TOLERANCE]),
    }
    return {key: float(value) for key, value in metrics_by_key.items()}


PEERS: dict[str, tuple[Callable[[Mask, Mask], Metrics], str, float]] = {
    "surface-distance": (of_surface_distance, "deepmind", 1e-9),
    "medpy": (of_medpy, "medpy", 1e-9),
    "monai": (of_monai, "metrics-reloaded", 1e-5),
}
"""Each tool, the convention that repeats it, and how near its numbers must be."""


def installed() -> dict[str, tuple[Callable[[Mask, Mask], Metrics], str, float]]:
    """Return the tools that can be imported."""
    tools = {}
    for name, peer in PEERS.items():
        try:
            peer[0](*random_pair(0))
        except ImportError:
            print(f"{name} is not installed, and left out")
            continue
        tools[name] = peer
    return tools


def ours(truth: Mask, predicted: Mask, convention: str = "metrics-reloaded") -> Metrics:
    """Return all metrics of segbench."""
    settings = segbench.Contours(convention=convention)  # type: ignore[arg-type]  # one of them
    metrics: Metrics = segbench.count(truth, predicted, settings).metrics()
    return metrics


def agreement(pairs: int) -> None:
    """Print the largest relative difference to each tool, and how many pairs are off by more than allowed."""
    print(f"\n{pairs} random pairs of masks: largest relative difference")
    for name, (peer, convention, allowed) in installed().items():
        worst: dict[str, float] = {}
        off = 0
        for seed in range(pairs):
            pair = random_pair(seed)
            own = ours(*pair, convention)
            apart = {key: abs(own[key] - value) / max(abs(value), 1e-30) for key, value in peer(*pair).items()}
            worst = {key: max(worst.get(key, 0.0), apart[key]) for key in apart}
            off += max(apart.values()) > allowed
        print(f"  {name:<17}", ", ".join(f"{key} {value:.1e}" for key, value in worst.items()), f"; off: {off}")


def beside_others(rounds: int) -> None:
    """Print the processor time of all metrics of a pair of 512x512; each tool takes it several times in a row."""
    pair = smooth_pair(512)
    ways: dict[str, Callable[[], object]] = {"segbench": lambda: ours(*pair)}
    ways["segbench, lengths"] = lambda: ours(*pair, "deepmind")
    peers = installed()
    ways |= {name: lambda peer=peer: peer[0](*pair) for name, peer in peers.items()}  # type: ignore[misc]  # a default
    in_a_row = {name: lambda way=way: [way() for _ in range(_IN_A_ROW)] for name, way in ways.items()}
    in_turn(ways, 2)
    taken = in_turn(in_a_row, rounds)  # type: ignore[arg-type]  # as above
    goals = {"surface-distance": 11, "medpy": 25, "monai": 25}
    print("\nall metrics of one pair of 512x512, processor time, one thread")
    for name, times in taken.items():
        text = f"  {name:<17} {duration(statistics.median(times) / _IN_A_ROW):>8}"
        if name in peers:
            mine = taken["segbench, lengths" if peers[name][1] == "deepmind" else "segbench"]
            text += f"  {factor(times_as_long(times, mine)):>7} as long as segbench (goal {goals[name]})"
        print(text)


def growth(sides: list[int], rounds: int) -> None:
    """Print the processor time per pixel of larger and larger pairs."""
    print("\ngrowth with the image, the same masks enlarged; noise against one pixel")
    for side in sides:
        corner = np.zeros((side, side), bool)
        corner[0, 0] = True
        pairs = {"smooth": smooth_pair(side), "noise": (np.random.default_rng(0).random((side, side)) < 0.5, corner)}
        ways = {name: (lambda pair=pair: ours(*pair)) for name, pair in pairs.items()}
        times = in_turn(ways, max(rounds, 8192 // side))  # type: ignore[arg-type]  # as above
        taken = {name: min(times_of_pair) for name, times_of_pair in times.items()}
        text = ", ".join(
            f"{name} {duration(time)}, {time / side**2 * 1e9:.1f} ns per pixel" for name, time in taken.items()
        )
        print(f"  {side}x{side}: {text}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller images")
    parser.add_argument("--pairs", type=int, default=1000, help="random pairs that are compared")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the other tools
    np.inf = np.inf  # type: ignore[attr-defined]  # surface-distance names it as NumPy 1 did
    print(machine())
    print(versions(["numpy", "scipy", "numba", "surface-distance", "medpy", "monai", "torch"]))
    agreement(100 if options.quick else options.pairs)
    beside_others(3 if options.quick else 15)
    growth([512, 1024, 2048] if options.quick else [512, 1024, 2048, 4096, 8192], 2)


if __name__ == "__main__":
    main()
