"""What counting label maps costs beside decoding, and how far apart the numbers called mIoU are.

    python scripts/benchmarks/bench_labels.py [--quick]

Times ``evaluate`` over the decoding of the same PNGs, label maps of 1024x2048 with 19 classes and 255 for void;
`bench_peers.py` has other programs. Then prints mIoU of one synthetic set by each convention. Machines are noisy: each
ratio is the median of several taken side by side.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from measuring import in_turn, machine
from peer_tables.labels import CLASSES, ragged, scene

import segbench
from segbench.loaders.images import decode


def beside_decoding(pairs: int, rounds: int) -> None:
    """Print what evaluating a folder takes over decoding its files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in ("gt", "pred"):
            (folder / kind).mkdir()
        for k in range(pairs):
            for kind, labels in zip(("gt", "pred"), ragged(k), strict=True):
                iio.imwrite(folder / kind / f"{k:03}.png", labels)
        files = sorted(folder.glob("*/*.png"))

        def decoding() -> None:
            for path in files:  # one after the other: to keep all of them takes as long again
                decode(path.read_bytes(), path, role="label map")

        taken = in_turn(
            {
                "evaluate": lambda: segbench.evaluate(folder / "gt", folder / "pred", segbench.Labels(classes=CLASSES)),
                "decode": decoding,
            },
            rounds,
        )
        ratios = sorted(ours / other for ours, other in zip(taken["evaluate"], taken["decode"], strict=True))
        print(
            f"evaluate / decode of {pairs} pairs: {statistics.median(ratios):.2f} (goal 1.2), processor time",
            flush=True,
        )


def conventions(images: int) -> None:
    """Print mIoU of one set by each convention."""
    maps = {str(k): scene(k, (256, 512), 40) for k in range(images)}
    result = segbench.evaluate(maps, protocol=segbench.Labels(classes=40))
    matrix = result.pooled.matrix[:, :-1].astype(float)
    union = matrix.sum(0) + matrix.sum(1) - matrix.diagonal()
    iou = np.divide(matrix.diagonal(), union, out=np.zeros(40), where=union > 0)
    with_void = np.mean([np.mean(t == p) for t, p in maps.values()])
    rows = {
        "D: pooled over the set, absent classes left out": result.summary["miou"],
        "D, absent classes counted as 0": iou.mean(),
        "D, absent classes counted as 1": np.where(union > 0, iou, 1).mean(),
        "mean over images of D of the image": np.mean([one["miou"] for one in result.per_image.values()]),
        "I: mean over images, classes of their ground truth": result.summary["miou_images"],
        "C: mean over classes of the mean over images": result.summary["miou_classes"],
        "I of the worst 5 % of images": result.summary["miou_images_5"],
        "C of the worst 5 % of images": result.summary["miou_classes_5"],
        "IoU weighted by frequency": result.summary["fw_iou"],
        "pixel accuracy": result.summary["pixel_accuracy"],
        "pixel accuracy, void counted as wrong": with_void,
    }
    print(f"{images} images, 40 classes of which {result.summary['classes_present']} occur")
    for name, value in rows.items():
        print(f"{name:<52} {value:.4f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and images")
    quick = parser.parse_args().quick
    print(machine())
    beside_decoding(40 if quick else 200, 1 if quick else 3)
    conventions(10)


if __name__ == "__main__":
    main()
