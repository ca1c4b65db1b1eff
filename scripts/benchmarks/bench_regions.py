"""Time the region benchmark against its direct computation, on the same images in the same run.

`bench_peers.py` has it beside scikit-image's own figures.

    python scripts/benchmarks/bench_regions.py [FOLDER] [--repeats N]

FOLDER holds groundTruth and ucm2 as published for BSDS500; without it the environment variable SEGBENCH_BSDS500 says
where it is. Directly computed, every threshold is segmented again and every contingency table counted from the pixels
(SciPy's labelling, scikit-image's tables), for covering, Rand index and variation of information. Prints the median
over repeats of the seconds an image, the ratio, and whether the figures agree.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from bsds500 import annotators, options_with_folder
from measuring import seconds
from numpy.typing import NDArray
from scipy import ndimage
from scipy.io import loadmat
from skimage.metrics import contingency_table

from segbench.protocols.regions.counting import count_regions
from segbench.protocols.regions.metrics import region_curve
from segbench.protocols.regions.settings import compile_kernels


def main() -> int:
    """Time both."""
    parser = argparse.ArgumentParser(description="Time the region benchmark.")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--images", type=int, default=3)
    options = options_with_folder(parser)
    root = options.folder
    start = time.perf_counter()
    compile_kernels()
    print(f"kernels ready in {time.perf_counter() - start:.1f} s")
    ours: list[float] = []
    theirs: list[float] = []
    furthest = 0.0
    for path in sorted((root / "ucm2").glob("*.mat"))[: options.images]:
        ucm2 = loadmat(path)["ucm2"]
        truths = annotators(root, path.stem, "Segmentation")
        taken = [seconds(lambda u=ucm2, t=truths: count_regions(u, t)) for _ in range(options.repeats)]
        counts = count_regions(ucm2, truths)
        start = time.perf_counter()
        peer = directly(ucm2, truths, counts.thresholds)
        theirs.append(time.perf_counter() - start)
        ours.append(float(np.median(taken)))
        curve = region_curve(counts)
        furthest = max(furthest, float(np.abs(np.array([curve.covering, curve.rand_index, curve.voi]).T - peer).max()))
        print(f"{path.stem}: {len(truths)} annotators, {ours[-1]:.3f} s, directly {theirs[-1]:.2f} s")
    print(
        f"99 thresholds: {np.mean(ours):.4f} s an image; ratio to the direct computation {sum(theirs) / sum(ours):.1f}"
    )
    print(f"figures differ by at most {furthest:.1e}")
    return int(furthest > 1e-6)


def directly(ucm2: NDArray[Any], truths: list[NDArray[Any]], thresholds: NDArray[Any]) -> NDArray[Any]:
    """Give covering, Rand index and variation of information at each threshold."""
    return np.array([_at(ndimage.label(ucm2 <= t, np.ones((3, 3)))[0][1::2, 1::2], truths) for t in thresholds])


def _at(labels: NDArray[Any], truths: list[NDArray[Any]]) -> tuple[float, float, float]:
    covered, rand_index, voi = 0.0, 0.0, 0.0
    pixels = labels.size
    for truth in truths:
        table = contingency_table(truth, labels).tocoo()
        g, p, n = table.row, table.col, table.data.astype(np.float64)
        areas, predicted = np.bincount(truth.ravel()).astype(float), np.bincount(labels.ravel()).astype(float)
        best = np.zeros(areas.size)
        np.maximum.at(best, g, n / (areas[g] + predicted[p] - n))
        covered += areas @ best
        rand_index += 1 - ((areas @ areas + predicted @ predicted) / 2 - n @ n) / (pixels * (pixels - 1) / 2)
        voi += 2 * _entropy(n / pixels) - _entropy(areas / pixels) - _entropy(predicted / pixels)
    return covered / (pixels * len(truths)), rand_index / len(truths), voi / len(truths)


def _entropy(shares: NDArray[Any]) -> float:
    some = shares[shares > 0]
    return -float(some @ np.log2(some))


if __name__ == "__main__":
    sys.exit(main())
