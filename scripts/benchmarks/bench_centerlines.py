"""What clDice, Betti and Euler errors cost beside the two skeletons that they need, by every skeleton.

    python scripts/benchmarks/bench_centerlines.py

A seeded pair of masks of 512x512, arrays in memory, compiled, one thread, processor time.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import get_args

import numpy as np
from measuring import duration, in_turn, machine, times_as_long, versions
from scipy.ndimage import gaussian_filter

import segbench
from segbench.protocols.centerlines.settings import Skeleton
from segbench.protocols.centerlines.skeletons import skeleton_of

_ROUNDS = 15


def main() -> None:
    """Print the table."""
    print(machine())
    print(versions(["numpy", "scikit-image", "segbench"]))
    random = np.random.default_rng(0)
    waves = [gaussian_filter(random.standard_normal((512, 512)), 6) for _ in range(2)]
    masks = [np.abs(wave / wave.std()) < 0.35 for wave in (waves[0], waves[0] + 0.3 * waves[1])]
    for skeleton in get_args(Skeleton):
        ways = {
            "all": partial(segbench.count, *masks, segbench.Centerlines(skeleton=skeleton)),
            "skeletons": lambda skeleton=skeleton: [skeleton_of(mask, skeleton) for mask in masks],
        }
        taken = in_turn(ways, _ROUNDS)
        ours, alone = (taken[name][1:] for name in ways)  # without the round that compiles
        times = duration(statistics.median(ours)), duration(statistics.median(alone))
        print(f"{skeleton}: {times[0]}, its skeletons {times[1]}, {times_as_long(ours, alone):.2f} times as long")


if __name__ == "__main__":
    main()
