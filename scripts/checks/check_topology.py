"""Whether Betti numbers of volumes are those of GUDHI.

    python scripts/checks/check_topology.py [--volumes 300]

Draws random volumes (noise of all densities, smooth blobs, shells and rings, a slice, empty and full ones) and compares
components, tunnels and cavities, of 26 and of 6 neighbours, with the homology of cubical complexes
(`pip install gudhi`): cubes that are closed where voxels touch at corners, and voxels as points where they touch at
faces.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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


def main() -> int:
    """Compare, and return 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volumes", type=int, default=300)
    volumes = parser.parse_args().volumes
    if not find_spec("gudhi"):
        print("install GUDHI: pip install gudhi")
        return 1
    return int(differing_topology(volumes) > 0)


if __name__ == "__main__":
    sys.exit(main())
