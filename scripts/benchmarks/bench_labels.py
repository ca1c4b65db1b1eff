"""What counting label maps costs beside other programs, and how far apart the numbers called mIoU are.

    python scripts/benchmarks/bench_labels.py [--quick]

Times the confusion matrix of a pair of label maps of 1024x2048 with 19 classes and 255 for void, beside bincount,
scikit-learn and torchmetrics (where installed), and ``evaluate`` over the decoding of the same PNGs. Then prints mIoU
of one synthetic set by each convention. Machines are noisy: each ratio is the median of several taken side by side.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from measuring import in_turn, machine, paired
from numpy.typing import NDArray
from scipy.ndimage import zoom

import segbench
from segbench.loaders.images import decode

SHAPE, CLASSES, VOID = (1024, 2048), 19, 255
Maps = NDArray[np.uint8]


def scene(seed: int, shape: tuple[int, int] = SHAPE, classes: int = CLASSES) -> tuple[Maps, Maps]:
    """Draw a label map in which few classes are frequent, and a prediction with shifted borders and wrong areas."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, classes + 1) ** 1.5
    coarse = rng.choice(classes, (shape[0] // 64, shape[1] // 64), p=frequency / frequency.sum()).astype(np.uint8)
    truth = zoom(coarse, 64, order=0)
    wrong = zoom(rng.random(coarse.shape) < 0.1, 64, order=0)
    other = zoom(rng.choice(classes, coarse.shape, p=frequency / frequency.sum()).astype(np.uint8), 64, order=0)
    predicted = np.where(wrong, other, np.roll(truth, rng.integers(-6, 7, 2), (0, 1)))
    truth[-shape[0] // 16 :] = VOID
    return truth, predicted


def ragged(truth: Maps, predicted: Maps, *, seed: int) -> tuple[Maps, Maps]:
    """Shift each row by a random walk: borders of real label maps are not straight, and their PNGs are larger."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.integers(-1, 2, len(truth)))
    noise = rng.integers(-1, 2, len(truth))

    def shifted(labels: Maps, by: NDArray[np.int64]) -> Maps:
        return np.stack([np.roll(row, shift) for row, shift in zip(labels, by, strict=True)])

    return shifted(truth, walk), shifted(predicted, walk + noise)


def by_bincount(truth: Maps, predicted: Maps) -> NDArray[np.int64]:
    """Count as most repositories do."""
    kept = truth != VOID
    index = truth[kept].astype(np.int64) * CLASSES + predicted[kept]
    return np.bincount(index, minlength=CLASSES**2).reshape(CLASSES, CLASSES)


def by_sklearn(truth: Maps, predicted: Maps) -> NDArray[np.int64]:
    """Count with scikit-learn."""
    from sklearn.metrics import confusion_matrix

    kept = truth != VOID
    matrix: NDArray[np.int64] = confusion_matrix(truth[kept], predicted[kept], labels=range(CLASSES))
    return matrix


def by_torchmetrics() -> Callable[[Maps, Maps], NDArray[np.int64]] | None:
    """Give how torchmetrics counts; None where it is not installed."""
    try:
        import torch
        from torchmetrics.functional.classification import multiclass_confusion_matrix
    except ImportError:
        return None
    torch.set_num_threads(1)

    def count(truth: Maps, predicted: Maps) -> NDArray[np.int64]:
        given = torch.from_numpy(predicted).long(), torch.from_numpy(truth).long()
        matrix: NDArray[np.int64] = multiclass_confusion_matrix(*given, CLASSES, ignore_index=VOID).numpy()
        return matrix

    return count


def beside_peers(rounds: int) -> None:
    """Print times of one image."""
    truth, predicted = scene(0)
    protocol = {"classes": CLASSES}
    ours = segbench.count_labels(truth, predicted, **protocol).matrix[:, :-1]
    peers = {"bincount": by_bincount, "scikit-learn": by_sklearn, "torchmetrics": by_torchmetrics()}
    for name, peer in peers.items():
        if peer is None:
            print(f"{name:<14} not installed")
            continue
        if not np.array_equal(peer(truth, predicted), ours):
            raise SystemExit(f"{name} counts differently")
        taken = paired(
            lambda: segbench.count_labels(truth, predicted, **protocol),
            lambda peer=peer: peer(truth, predicted),
            rounds,
        )
        print(
            f"{name:<14} {1e3 * taken.other:7.1f} ms, ours {1e3 * taken.ours:5.1f} ms: {1 / taken.ratio:5.1f} x",
            flush=True,
        )


def beside_decoding(pairs: int, rounds: int) -> None:
    """Print what evaluating a folder takes over decoding its files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in ("gt", "pred"):
            (folder / kind).mkdir()
        for k in range(pairs):
            for kind, labels in zip(("gt", "pred"), ragged(*scene(k), seed=k), strict=True):
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
    beside_peers(3 if quick else 15)
    beside_decoding(40 if quick else 200, 1 if quick else 3)
    conventions(10)


if __name__ == "__main__":
    main()
