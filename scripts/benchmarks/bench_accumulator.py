"""What a batch costs an Accumulator, beside NumPy's histogram and torchmetrics: ratios taken in one run.

    python scripts/benchmarks/bench_accumulator.py [--quick]

A batch is 8 images of 512x512 with float32 scores; the same in 8 bits is timed, too. torchmetrics is timed where it is
installed: binned (200 thresholds), and exact, which keeps every score and computes at the end. Each ratio is the median
of several taken side by side. Where PyTorch finds a GPU, batches that lie on it are counted there, beside copies that
are counted on the host.
"""

from __future__ import annotations

import argparse
import importlib.util
import pickle
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from measuring import machine, paired, versions

import segbench

SHAPE, LARGE = (8, 1, 512, 512), (8, 1, 1024, 2048)
THRESHOLDS = 200


def report(name: str, ours: Callable[[], object], peer: Callable[[], object], rounds: int) -> None:
    """Print the median ratio of ours to the peer's, taken pair by pair."""
    ours()
    peer()
    mine, theirs, ratio = paired(ours, peer, rounds)
    print(f"{name:<58} {ratio:8.3f} x   {mine * 1000:8.2f} ms / {theirs * 1000:8.2f} ms")


def bench_torch(labels: np.ndarray, scores: np.ndarray, rounds: int) -> None:
    """Compare with torchmetrics, and PyTorch's operations with the compiled loops."""
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed: nothing is compared with it")
        return
    import torch

    truth, soft = torch.from_numpy(labels), torch.from_numpy(scores)

    def update(**options: str) -> None:
        segbench.Accumulator(**options).update(truth, soft)

    report("PyTorch's operations on the CPU / compiled loops", lambda: update(count_on="device"), update, rounds)
    if importlib.util.find_spec("torchmetrics") is None:
        print("torchmetrics is not installed: nothing is compared with it")
        return
    from torchmetrics.classification import BinaryPrecisionRecallCurve

    whole = truth.to(torch.int64)

    def torchmetrics(thresholds: int | None, *, compute: bool) -> object:
        metric = BinaryPrecisionRecallCurve(thresholds=thresholds)
        metric.update(soft, whole)
        return metric.compute() if compute else None

    def ours() -> object:
        accumulator = segbench.Accumulator()
        accumulator.update(truth, soft)
        return accumulator.compute().curve

    report("update / torchmetrics binned", update, lambda: torchmetrics(THRESHOLDS, compute=False), rounds)
    report("update / torchmetrics exact (keeps scores)", update, lambda: torchmetrics(None, compute=False), rounds)
    report("update and curve / torchmetrics exact", ours, lambda: torchmetrics(None, compute=True), rounds)
    print(f"PyTorch with {torch.get_num_threads()} threads")


def bench_gpu(rounds: int) -> None:
    """Compare counting on a GPU with counting what is copied from there."""
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    if not torch.cuda.is_available():
        print("PyTorch finds no GPU: nothing is measured on one")
        return
    print(torch.cuda.get_device_name())
    for shape in (SHAPE, LARGE):
        labels, scores, levels = (torch.from_numpy(array).cuda() for array in batch(shape))
        for kind, predicted, bits in (
            ("float32", scores, None),
            ("rounded to 16 bits", scores, 16),
            ("uint8", levels, None),
        ):

            def update(
                count_on: Literal["device", "host"],
                predicted: torch.Tensor = predicted,
                bits: Literal[16] | None = bits,
                labels: torch.Tensor = labels,
            ) -> object:
                accumulator = segbench.Accumulator(segbench.Pixels(quantize=bits), count_on=count_on)
                return accumulator.update(labels, predicted, names=range(len(predicted)))

            size = f"{shape[2]}x{shape[3]}"
            report(f"on GPU / copied, {size}, {kind}", partial(update, "device"), partial(update, "host"), rounds)


def batch(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make labels, float32 scores, and the same in 8 bits."""
    rng = np.random.default_rng(0)
    labels = rng.random(shape) < 0.2
    scores = np.clip(rng.normal(0.3, 0.2, shape) + 0.3 * labels, 0, 1).astype(np.float32)
    return labels, scores, np.rint(scores * 255).astype(np.uint8)


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 15")
    rounds = 3 if parser.parse_args().quick else 15
    labels, scores, levels = batch(SHAPE)

    def histogram() -> object:
        return [np.histogram(scores[labels == wanted], THRESHOLDS, (0, 1)) for wanted in (False, True)]

    names = range(SHAPE[0])

    def update() -> None:
        segbench.Accumulator().update(labels, scores)

    report("update, float32 / numpy.histogram", update, histogram, rounds)
    report(
        "update with names, float32 / numpy.histogram",
        lambda: segbench.Accumulator().update(labels, scores, names=names),
        histogram,
        rounds,
    )
    report(
        "update with names, uint8 / numpy.bincount of pairs",
        lambda: segbench.Accumulator().update(labels, levels, names=names),
        lambda: [np.bincount(a.reshape(-1) * 256 + b.reshape(-1)) for a, b in zip(labels, levels, strict=True)],
        rounds,
    )
    bench_torch(labels, scores, rounds)
    bench_gpu(rounds)
    for kind, predicted in (("float32", scores), ("uint8", levels)):
        accumulator = segbench.Accumulator()
        accumulator.update(labels, predicted, names=names)
        print(f"pickle, {kind}: {len(pickle.dumps(accumulator)) / SHAPE[0]:.0f} bytes per image")
    print(versions(["numpy", "numba", "torch", "torchmetrics"]), machine(), sep="\n")


if __name__ == "__main__":
    main()
