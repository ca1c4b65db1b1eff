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
from measuring import machine, processor_seconds
from peer_tables.labels import CLASSES, ragged, scene

import segbench
from segbench.loaders.images import decode

PAIRS_A_FOLDER = 50


def beside_decoding(folders: int, rounds: int) -> None:
    """Print what evaluating folders takes over decoding their files; the two alternate every second."""
    with tempfile.TemporaryDirectory() as name:
        for k in range(folders * PAIRS_A_FOLDER):
            for kind, labels in zip(("gt", "pred"), ragged(k), strict=True):
                folder = Path(name, str(k % folders), kind)
                folder.mkdir(parents=True, exist_ok=True)
                iio.imwrite(folder / f"{k:03}.png", labels)

        def decoding(folder: Path) -> None:
            for path in sorted(folder.glob("*/*.png")):  # one after the other: to keep all of them takes as long again
                decode(path.read_bytes(), path, role="label map")

        def evaluating(folder: Path) -> None:
            segbench.evaluate(folder / "gt", folder / "pred", segbench.Labels(classes=CLASSES))

        folders_of_pairs = sorted(Path(name).iterdir())
        evaluating(folders_of_pairs[0])  # the compiled loop is loaded once a process, however many pairs it counts
        taken = [
            (processor_seconds(lambda: evaluating(pairs)), processor_seconds(lambda: decoding(pairs)))  # noqa: B023
            for _ in range(rounds)
            for pairs in folders_of_pairs
        ]
        ours, other = (1000 * statistics.median(times) / PAIRS_A_FOLDER for times in zip(*taken, strict=True))
        print(
            f"evaluate / decode of {folders * PAIRS_A_FOLDER} pairs: {statistics.median(a / b for a, b in taken):.2f} "
            f"(goal 1.2), processor time {ours:.1f} / {other:.1f} ms per pair",
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
        "mean over images of D of the image": np.mean([summary["miou"] for summary in result.per_image.values()]),
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
    beside_decoding(1 if quick else 4, 5)
    conventions(10)


if __name__ == "__main__":
    main()
