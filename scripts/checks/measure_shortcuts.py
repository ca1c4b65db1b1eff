"""What shortcuts of other boundary benchmarks are worth, on images of BSDS500 with the maps of gPb-owt-ucm.

    python scripts/checks/measure_shortcuts.py [FOLDER]

FOLDER holds groundTruth and ucm2; without it the environment variable SEGBENCH_BSDS500 says where it is. Prints ODS,
OIS and Area_PR of the protocol, and of the same maps where a pixel counts as matched as soon as any pixel of the other
side lies within the tolerance, as after a dilation, instead of one to one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

import segbench
from segbench import BoundaryCounts

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # which hold what scripts share
from bsds500 import boundaries, options_with_folder, soft_map

THRESHOLDS = np.arange(1, 100) / 100
MAX_DIST = 0.0075


def within(pixels: NDArray[np.bool_], others: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark which pixels have any of the others within the tolerance."""
    if not others.any():
        return np.zeros_like(pixels)
    return pixels & (distance_transform_edt(~others) <= MAX_DIST * np.hypot(*pixels.shape))


def by_dilation(scores: NDArray[np.float64], truths: list[NDArray[np.bool_]]) -> BoundaryCounts:
    """Count an image without pairing pixels one to one."""
    rows = []
    for threshold in THRESHOLDS:
        on = segbench.thin(scores >= threshold)
        matched = np.any([within(on, truth) for truth in truths], axis=0)
        rows.append([sum(int(within(truth, on).sum()) for truth in truths), int(matched.sum()), int(on.sum())])
    matched_gt, matched_pred, total_pred = np.array(rows).T
    total_gt = np.full(THRESHOLDS.size, sum(int(truth.sum()) for truth in truths))
    return BoundaryCounts(THRESHOLDS, matched_gt, total_gt, matched_pred, total_pred)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = options_with_folder(parser).folder
    ways: dict[str, dict[str, BoundaryCounts]] = {"one to one": {}, "dilation": {}}
    for path in sorted((root / "ucm2").glob("*.mat")):
        scores, truths = soft_map(root, path.stem, "ucm2"), boundaries(root, path.stem)
        ways["one to one"][path.stem] = segbench.count(truths, scores, "boundaries")
        ways["dilation"][path.stem] = by_dilation(scores, truths)
    for name, images in ways.items():
        figures = segbench.Boundaries().table(images).summary()
        curve = segbench.boundary_curve(BoundaryCounts.sum(images.values()))
        total = np.maximum(curve.precision + curve.recall, 1e-12)
        grid = float((2 * curve.precision * curve.recall / total).max())
        print(
            f"{name:<10} {len(images)} images: ODS {figures['ods_f']:.4f} (at the thresholds themselves {grid:.4f}), "
            f"OIS {figures['ois_f']:.4f}, Area_PR {figures['area_pr']:.4f}"
        )


if __name__ == "__main__":
    main()
