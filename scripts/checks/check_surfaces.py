"""Whether distances between surfaces are those of other tools: volumes, and pixels that are not square.

    python scripts/checks/check_surfaces.py [--pairs 300]

Draws random pairs of masks that are not empty (full, of one voxel, noise, at the border, hollow, of many components)
with random decimal spacings (all alike, all different, 1 to 10), and compares `segbench.count` with
surface-distance, medpy and MONAI, as far as they are installed (`pip install surface-distance medpy monai`). Tools that
round compare distances with tolerances, and areas with 95 %, as floats: pairs in which a distance equals the tolerance,
or a cumulated area is .95 to 1e-12, are compared with straightforward code instead (``tests/surface_peers.py``).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import segbench

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import surface_peers

Mask = NDArray[np.bool_]
Metrics = Mapping[str, float]
_TOLERANCE = 2.0
_NEAR = 1e-12


def of_surface_distance(truth: Mask, predicted: Mask, sizes: tuple[float, ...]) -> Metrics:
    """Return what Google DeepMind's surface-distance has."""
    import surface_distance

    distances = surface_distance.compute_surface_distances(truth, predicted, sizes)
    means = surface_distance.compute_average_surface_distance(distances)
    areas = distances["surfel_areas_gt"].sum(), distances["surfel_areas_pred"].sum()
    return {
        "hd": surface_distance.compute_robust_hausdorff(distances, 100),
        "hd95": surface_distance.compute_robust_hausdorff(distances, 95),
        "assd": (means[0] * areas[0] + means[1] * areas[1]) / sum(areas),
        "masd": sum(means) / 2,
        "nsd@2": surface_distance.compute_surface_dice_at_tolerance(distances, _TOLERANCE),
    }


def of_medpy(truth: Mask, predicted: Mask, sizes: tuple[float, ...]) -> Metrics:
    """Return what medpy has."""
    from medpy.metric import binary

    return {
        "hd": binary.hd(predicted, truth, sizes),
        "hd95": binary.hd95(predicted, truth, sizes),
        "assd": binary.assd(predicted, truth, sizes),
    }


def of_monai(truth: Mask, predicted: Mask, sizes: tuple[float, ...]) -> Metrics:
    """Return what MONAI has."""
    import torch
    from monai import metrics

    masks = {name: torch.from_numpy(mask[None, None]).float() for name, mask in (("y_pred", predicted), ("y", truth))}
    arguments: dict[str, Any] = {**masks, "include_background": True, "spacing": list(sizes)}
    values = {
        "hd": metrics.compute_hausdorff_distance(**arguments),
        "hd95": metrics.compute_hausdorff_distance(**arguments, percentile=95),
        "assd": metrics.compute_average_surface_distance(**arguments, symmetric=True),
        "nsd@2": metrics.compute_surface_dice(**arguments, class_thresholds=[_TOLERANCE]),
    }
    return {key: float(value) for key, value in values.items()}


Peer = Callable[[Mask, Mask, tuple[float, ...]], Metrics]
PEERS: dict[str, tuple[Peer, dict[int, str], str, float]] = {
    "surface-distance": (of_surface_distance, {2: "lengths", 3: "areas"}, "larger", 1e-9),
    "medpy": (of_medpy, {2: "pixels", 3: "voxels"}, "union", 1e-9),
    "monai": (of_monai, {2: "pixels", 3: "voxels"}, "larger", 1e-5),
}
"""Each tool, the surface and the percentile that it has, and how near its numbers must be."""


def ours(truth: Mask, predicted: Mask, sizes: tuple[float, ...], surface: str, hd95: str) -> Metrics:
    """Return the metrics of segbench."""
    settings: Any = {"surface": surface, "hd95": hd95, "spacing": sizes}
    metrics: Metrics = segbench.count(truth, predicted, segbench.Contours(**settings)).metrics()
    return metrics


def is_tied(truth: Mask, predicted: Mask, sizes: tuple[float, ...], surface: str) -> bool:
    """Return whether a distance equals the tolerance, or a cumulated area 95 % of all."""
    for distances, areas, _ in surface_peers.directed(truth, predicted, sizes, surface):
        if np.any(np.abs(distances - _TOLERANCE) < _NEAR * _TOLERANCE):
            return True
        order = np.argsort(distances, kind="stable")
        if surface in ("areas", "lengths") and np.any(np.abs(np.cumsum(areas[order]) / areas.sum() - 0.95) < _NEAR):
            return True
    return False


def check(name: str, pairs: int, dimensions: int) -> int:
    """Compare a tool on random pairs; print the largest relative differences, and return how many pairs are off."""
    peer, surfaces, hd95, allowed = PEERS[name]
    surface = surfaces[dimensions]
    largest: dict[str, float] = {}
    off = tied = 0
    for seed in range(pairs):
        pair = surface_peers.random_pair(seed, dimensions, 40 if dimensions == 2 else 14)
        values = ours(*pair, surface, hd95)
        if is_tied(*pair, surface):
            expected = surface_peers.metrics(*pair, surface)
            if hd95 == "union":
                expected["hd95"] = expected["hd95 union"]
            del expected["hd95 union"]
            tied += 1
        else:
            expected = dict(peer(*pair))
        apart = {key: abs(values[key] - value) / max(abs(value), 1e-30) for key, value in expected.items()}
        largest = {key: max(largest.get(key, 0.0), apart.get(key, 0.0)) for key in {**largest, **apart}}
        off += max(apart.values()) > allowed
    text = ", ".join(f"{key} {value:.1e}" for key, value in largest.items())
    print(f"  {name:<17} {surface:<8} {text}; ties: {tied}; off: {off}", flush=True)
    return off


def main() -> None:
    """Compare all tools."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300, help="random pairs that are compared")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the other tools
    off = 0
    for dimensions in (3, 2):
        print(f"{options.pairs} random pairs of {dimensions} dimensions: largest relative difference")
        for name in PEERS:
            try:
                off += check(name, options.pairs, dimensions)
            except ImportError:
                print(f"  {name} is not installed, and left out")
    sys.exit(f"{off} pairs are off" if off else 0)


if __name__ == "__main__":
    main()
