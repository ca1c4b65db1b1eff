"""Time the boundary benchmark, and where the time goes; `bench_peers.py` has it beside other programs.

    python scripts/benchmarks/bench_boundaries.py [FOLDER] [--kind ucm2|hed] [--repeats N]

FOLDER holds groundTruth, ucm2 and hed as published for BSDS500; without it the environment variable SEGBENCH_BSDS500
says where it is. Prints the median over repeats of the seconds an image, and where they go.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from typing import Any

import numpy as np
from bsds500 import boundaries, options_with_folder, soft_map
from measuring import machine, seconds

from segbench.protocols.boundaries.bits import levels_of, pack
from segbench.protocols.boundaries.costs import costs
from segbench.protocols.boundaries.counting import compile_kernels, count_boundaries, kernels_cached
from segbench.protocols.boundaries.inputs import as_scores, as_thresholds
from segbench.protocols.boundaries.search import side
from segbench.protocols.boundaries.sweep import reached, sweep
from segbench.protocols.boundaries.thinning import thin_levels

MAX_DIST = 0.0075


def main() -> int:
    """Time it."""
    parser = argparse.ArgumentParser(description="Time the boundary benchmark.")
    parser.add_argument("--kind", choices=("ucm2", "hed"), default="ucm2")
    parser.add_argument("--repeats", type=int, default=7)
    options = options_with_folder(parser)
    root = options.folder
    cached = kernels_cached()
    start = time.perf_counter()
    compile_kernels()
    print(f"kernels {'loaded' if cached else 'compiled'} in {time.perf_counter() - start:.1f} s")
    with (root / "reference_counts.csv").open() as file:
        names = sorted({row["image"] for row in csv.DictReader(file)})
    images = [(soft_map(root, name, options.kind), boundaries(root, name)) for name in names]

    def count() -> None:
        for scores, truths in images:
            count_boundaries(scores, truths, max_dist=MAX_DIST)

    taken, stages = [], []
    for _ in range(options.repeats):
        taken.append(seconds(count) / len(images))
        stages.append(np.mean([split(scores, truths) for scores, truths in images], axis=0))
    median = float(np.median(taken))
    print(
        f"{options.kind}, {len(images)} images, 99 thresholds: {median:.4f} s an image (best repeat {min(taken):.4f})"
    )
    for name, share in zip(
        ("levels", "thinning", "neighbourhoods", "matching"), np.median(stages, axis=0), strict=True
    ):
        print(f"  {name:>14} {share * 1e3:6.2f} ms")
    print(machine())
    return 0


def split(scores: Any, truths: list[Any]) -> list[float]:  # noqa: ANN401 - levels or floats
    """Time the stages of `count_boundaries`; neighbourhoods are the numbering of pixels and the reach of annotators."""
    marks = [time.perf_counter()]
    levels = levels_of(as_scores(scores, "prediction"), as_thresholds(99))
    marks.append(time.perf_counter())
    maps = thin_levels(levels, 99)
    marks.append(time.perf_counter())
    every = np.bitwise_or.reduce(maps, axis=0)
    height, width = truths[0].shape
    used = np.zeros_like(maps)
    prepared = 0.0
    for annotator, truth in enumerate(truths):
        table = costs((height, width), MAX_DIST * math.hypot(height, width), int(truth.sum()), annotator)
        packed = pack(truth)
        start = time.perf_counter()
        rows = side(packed, width, prediction=False)
        side(every & reached(rows.pixel, table), width, prediction=True)
        prepared += time.perf_counter() - start
        sweep(maps, every, packed, table, used)
    marks.append(time.perf_counter())
    shares = list(np.diff(marks))
    # The neighbourhoods were made twice, once here and once inside the sweep.
    return [shares[0], shares[1], prepared, shares[2] - 2 * prepared]


if __name__ == "__main__":
    sys.exit(main())
