"""Whether Betti numbers of volumes are those of GUDHI, and how much clDice changes when volumes are turned.

    python scripts/checks/check_topology.py [--volumes 300]

Draws random volumes (noise of all densities, smooth blobs, shells and rings, a slice, empty and full ones) and compares
components, tunnels and cavities, of 26 and of 6 neighbours, with the homology of cubical complexes
(`pip install gudhi`): cubes that are closed where voxels touch at corners, and voxels as points where they touch at
faces. Then it draws pairs of volumes of tubes and takes clDice of each, as arrays, in all orders and directions of
their axes, since Lee's skeleton depends on them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import segbench
from segbench.protocols.centerlines.volumes import betti_numbers_of_volume

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import surface_peers

Mask = NDArray[np.bool_]


def drawn(rng: np.random.Generator) -> Mask:
    """Draw a volume."""
    shape = rng.integers(1, 13, 3)
    kind = rng.integers(4)
    if kind == 0:
        noise: Mask = rng.random(shape) < rng.random()
        return noise
    mask = surface_peers.random_mask(rng, shape, surface_peers.KINDS[rng.integers(len(surface_peers.KINDS))])
    if kind == 1:  # hollow
        mask &= ~np.pad(mask, 1)[2:, 1:-1, 1:-1] | ~np.pad(mask, 1)[1:-1, :-2, 1:-1]
    if kind == 2:  # with tunnels
        mask[:, :: max(2, int(rng.integers(2, 5))), ::3] = False
    return np.asarray(mask, np.bool_)


def homology(mask: Mask, neighbours: int) -> tuple[int, ...]:
    """Return the Betti numbers of a mask by GUDHI."""
    import gudhi

    values = np.where(np.pad(mask, 1), 0.0, 1.0)
    cells = {"top_dimensional_cells": values} if neighbours == 26 else {"vertices": values}
    complex_of_cubes = gudhi.CubicalComplex(**cells)
    complex_of_cubes.compute_persistence()
    return tuple(complex_of_cubes.persistent_betti_numbers(0.0, 0.5)[:3])


def differing_topology(volumes: int) -> int:
    """Compare random volumes; return how many differ."""
    rng = np.random.default_rng(0)
    different, largest = 0, np.zeros(3, int)
    for number in range(volumes):
        mask = drawn(rng)
        for neighbours in (26, 6):
            ours, theirs = betti_numbers_of_volume(mask, neighbours), homology(mask, neighbours)
            largest = np.maximum(largest, ours)
            if ours != theirs:
                different += 1
                print(f"volume {number}, {neighbours} neighbours: {ours}, GUDHI has {theirs}")
    print(f"Betti numbers of {volumes} volumes, 26 and 6 neighbours: {different} differ from GUDHI")
    print(f"most components, tunnels and cavities: {', '.join(map(str, largest.tolist()))}")
    return different


def tubes(rng: np.random.Generator, side: int = 48) -> tuple[Mask, Mask]:
    """Draw curved tubes of several widths, and a prediction of them with rough walls, gaps and false tubes."""
    points = np.zeros((side,) * 3)
    false_points = np.zeros_like(points)
    for number in range(9):
        drawn_in = false_points if number == 8 else points
        start, direction = rng.uniform(8, side - 8, 3), rng.standard_normal(3)
        for _ in range(60):
            direction = direction / np.linalg.norm(direction) + 0.2 * rng.standard_normal(3)
            start = start + 0.7 * direction / np.linalg.norm(direction)
            if (start < 2).any() or (start > side - 3).any():
                break
            drawn_in[tuple(np.rint(start).astype(int))] = number % 4 + 1
    truth, false = (
        np.logical_or.reduce(
            [gaussian_filter(1.0 * (drawn_in == width), 0.5 * width) > 0.25 / width**2 for width in range(1, 5)]
        )
        for drawn_in in (points, false_points)
    )
    rough = gaussian_filter(rng.standard_normal(truth.shape), 1)
    gaps = gaussian_filter(rng.standard_normal(truth.shape), 4)
    near = gaussian_filter(1.0 * truth, 1)
    predicted = (near + 0.6 * rough > 0.45) & (gaps < 1.5 * gaps.std()) | false
    return truth, predicted


def change_under_turns(pairs: int) -> None:
    """Print how much clDice changes under all turns of pairs of volumes."""
    rng = np.random.default_rng(0)
    changes, changes_of_flips, values = [], [], []
    for _ in range(pairs):
        masks = tubes(rng)
        cldice = {}
        for order in itertools.permutations(range(3)):
            for steps in itertools.product((1, -1), repeat=3):
                flip = tuple(slice(None, None, step) for step in steps)
                turned = [np.transpose(mask, order)[flip] for mask in masks]
                cldice[order, steps] = segbench.count(*turned, "centerlines").metrics()["cldice"]
        flipped = [value for (order, _), value in cldice.items() if order == (0, 1, 2)]
        changes.append(max(cldice.values()) - min(cldice.values()))
        changes_of_flips.append(max(flipped) - min(flipped))
        values += flipped[:1]
    print(f"clDice of {pairs} pairs of tubes, {min(values):.3f} to {max(values):.3f}:")
    for turns, of_turns in (("flips", changes_of_flips), ("flips and orders of axes", changes)):
        print(f"under all {turns} it changes by {np.median(of_turns):.4f} (median), at most by {max(of_turns):.4f}")


def main() -> int:
    """Compare, and return 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volumes", type=int, default=300)
    volumes = parser.parse_args().volumes
    if not find_spec("gudhi"):
        print("install GUDHI: pip install gudhi")
        return 1
    different = differing_topology(volumes)
    change_under_turns(max(1, volumes // 15))
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
