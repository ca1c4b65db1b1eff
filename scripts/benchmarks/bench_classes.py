"""What many classes cost: one image of 1024 x 2048 pixels and 19 classes in every form of prediction.

    python scripts/benchmarks/bench_classes.py

Prints for each form the seconds of reading (with digests), decoding, counting and packing, medians of several, and the
bytes that a results file keeps of the image; that all forms of 8-bit scores give the same counts; then the time of the
figures and of intervals over 500 such images.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import segbench
from segbench.aggregator.codec import encode
from segbench.inputs.files import find_files
from segbench.loaders.pairing import Inputs
from segbench.loaders.reading import decode_sample, read
from segbench.protocols.pixels.class_metrics import ClassCounts, ClassTable

HEIGHT, WIDTH, CLASSES = 1024, 2048, 19
IMAGES, REPEATS = 500, 5
PROTOCOL = segbench.Classes(labels=range(CLASSES))


def softmax(truth: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Make scores as a network gives them: smooth, over-confident, mostly right."""
    random = np.random.default_rng(0)
    logits = np.stack([gaussian_filter(random.standard_normal(truth.shape), 4) for _ in range(CLASSES)]) * 20
    logits[truth == np.arange(CLASSES)[:, None, None]] += 3
    scores = np.exp(logits)
    return (scores / scores.sum(axis=0)).astype(np.float32)


def write_forms(root: Path, stack: NDArray[np.float32]) -> None:
    """Write the prediction in every form, a folder each."""
    bytes_ = np.rint(stack * 255).astype(np.uint8)
    arrays = {
        "uint8 NPY (classes, h, w)": bytes_,
        "uint8 NPY (h, w, classes)": np.ascontiguousarray(np.moveaxis(bytes_, 0, 2)),
        "uint8 NPZ": bytes_,
        "uint16 NPY": np.rint(stack * 65535).astype(np.uint16),
        "float32 NPY": stack,
    }
    for form, array in arrays.items():
        (root / form).mkdir()
        if form.endswith("NPZ"):
            np.savez_compressed(root / form / "a.npz", array)
        else:
            np.save(root / form / "a.npy", array)
    for k, plane in enumerate(bytes_):
        (root / "uint8 PNG, a folder a class" / f"class_{k:03d}").mkdir(parents=True)
        iio.imwrite(root / "uint8 PNG, a folder a class" / f"class_{k:03d}" / "a.png", plane)


def measure(truth: Path, prediction: Path) -> ClassCounts:
    """Print the times of one form and give its counts."""
    (files,) = find_files(Inputs(ground_truth=str(truth), prediction=str(prediction)), PROTOCOL).files
    times = []
    for _ in range(REPEATS):
        marks = [time.perf_counter()]
        raw = read(files)
        marks.append(time.perf_counter())
        sample = decode_sample(raw, PROTOCOL.reads)
        marks.append(time.perf_counter())
        counts = PROTOCOL.count(sample).counts
        marks.append(time.perf_counter())
        packed = encode(counts)
        marks.append(time.perf_counter())
        times.append(np.diff(marks))
    steps = [statistics.median(column) for column in zip(*times, strict=True)]
    print(f"{prediction.name:28}", *(f"{step:7.3f}" for step in steps), f"{sum(steps):7.3f} s {len(packed):9,} bytes")
    if not isinstance(counts, ClassCounts):
        raise TypeError(type(counts))
    return counts


def main() -> None:
    """Print it all."""
    blocks = np.random.default_rng(1).integers(0, CLASSES, (HEIGHT // 64, WIDTH // 64)).astype(np.uint8)
    truth = np.kron(blocks, np.ones((64, 64), np.uint8))
    truth[:50] = 255
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "gt").mkdir()
        iio.imwrite(root / "gt" / "a.png", truth)
        (root / "forms").mkdir()
        write_forms(root / "forms", softmax(truth))
        PROTOCOL.count(decode_sample(read(find_files(_any(root), PROTOCOL).files[0]), PROTOCOL.reads))  # compiles
        print(f"{'':28}    read  decode   count    pack     all")
        counts = {folder.name: measure(root / "gt", folder) for folder in sorted((root / "forms").iterdir())}
    first, *others = (form_counts for form, form_counts in counts.items() if form.startswith("uint8"))
    print("all forms of 8-bit scores give the same counts:", all(other == first for other in others))
    images = {str(k): first for k in range(IMAGES)}
    for task, work in (
        ("metrics", lambda images: ClassTable(images).summary()),
        ("intervals", segbench.intervals),
    ):
        started = time.perf_counter()
        work(images)
        print(f"{task} of {IMAGES} images: {time.perf_counter() - started:.2f} s")


def _any(root: Path) -> Inputs:
    return Inputs(ground_truth=str(root / "gt"), prediction=str(root / "forms" / "uint8 NPZ"))


if __name__ == "__main__":
    main()
