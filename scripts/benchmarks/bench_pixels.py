"""What counting costs beyond decoding: ratios taken in one run; `bench_peers.py` has curves beside other programs.

    python scripts/benchmarks/bench_pixels.py [--quick]

Prints, against the goal of each: the time of ``evaluate`` over the time of decoding the same bytes with the same
decoder, for 8-bit PNGs of 481x321 and of 8 megapixels; twice the images; two processes; memory; average precision from
ten million float32 scores, beside scikit-learn; and the memory of their curve. Machines are noisy: each ratio is the
median of several taken side by side.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
from image_pairs import write_blobs
from measuring import machine, paired, versions
from numpy.typing import NDArray

import segbench
from segbench.aggregator.pools import process_pool
from segbench.loaders.images import decode

SMALL, LARGE = (321, 481), (2448, 3264)


def decode_all(folder: Path) -> None:
    """Read and decode every file as the loaders do, and nothing else."""
    for kind, role in (("gt", "ground truth"), ("pred", "prediction")):
        for path in sorted((folder / kind).iterdir()):
            decode(path.read_bytes(), path, role=role)


def peak_megabytes() -> float:
    """Return the largest memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(title: str, ratio: float, goal: str, detail: str) -> None:
    """Print one line of the table."""
    print(f"{title:<52} {ratio:6.2f} x   goal {goal:<12} {detail}", flush=True)


def bench_folders(root: Path, count: int, shape: tuple[int, int], goal: str, rounds: int) -> None:
    """Compare evaluate with bare decoding."""
    folder = root / f"{count}x{shape[0]}"
    write_blobs(folder, count, shape)
    ours, bare, ratio = paired(
        lambda: segbench.evaluate(folder / "gt", folder / "pred"), lambda: decode_all(folder), rounds
    )
    per_image = f"{ours / count * 1000:.2f} ms per image, decoding {bare / count * 1000:.2f}"
    report(f"evaluate / decode, {count} pairs of {shape[1]}x{shape[0]}", ratio, goal, per_image)


def bench_growth(root: Path, count: int, rounds: int) -> None:
    """Compare twice the images with once, in time and memory, and two processes with one."""
    once, twice = root / f"{count}x{SMALL[0]}", root / "twice"
    write_blobs(twice, 2 * count, SMALL)
    segbench.evaluate(once / "gt", once / "pred")
    before = peak_megabytes()
    double, single, ratio = paired(
        lambda: segbench.evaluate(twice / "gt", twice / "pred"),
        lambda: segbench.evaluate(once / "gt", once / "pred"),
        rounds,
    )
    grown = peak_megabytes() - before
    report("twice the images / once", ratio, "2", f"{double:.2f} s, {single:.2f} s; peak memory grew by {grown:.0f} MB")
    with process_pool(2) as pool:
        segbench.evaluate(once / "gt", once / "pred", executor=pool)
        one_process, two_processes, ratio = paired(
            lambda: segbench.evaluate(twice / "gt", twice / "pred"),
            lambda: segbench.evaluate(twice / "gt", twice / "pred", executor=pool),
            rounds,
        )
    report("one process / two", ratio, ">= 1.7", f"{one_process:.2f} s, {two_processes:.2f} s")


def float_scores(size: int) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Make labels, a tenth of them positive, and float32 scores."""
    rng = np.random.default_rng(0)
    labels = rng.random(size) < 0.1
    return labels, np.clip(rng.normal(0.3, 0.2, size) + 0.3 * labels, 0, 1).astype(np.float32)


def bench_floats(size: int, rounds: int) -> None:
    """Compare average precision from float32 scores with scikit-learn's, from all points of its curve."""
    from sklearn.metrics import precision_recall_curve

    labels, scores = float_scores(size)

    def ours() -> float:
        return segbench.average_precision(segbench.count(labels, scores))

    def theirs() -> float:
        precision, recall, _ = precision_recall_curve(labels, scores)
        return float(-np.sum(np.diff(recall) * precision[:-1]))

    difference = abs(ours() - theirs())
    other, own, ratio = paired(theirs, ours, rounds)
    detail = f"{other * 1000:.0f} ms, {own * 1000:.0f} ms; AP differs by {difference:.0e}, goal <= 1e-12"
    report(f"scikit-learn / segbench, AP of {size:.0e} scores", ratio, ">= 10", detail)


def bench_memory(size: int) -> None:
    """Measure the memory of an exact curve from float32 scores."""
    labels, scores = float_scores(size)

    def curve() -> float:
        return segbench.pr_curve(segbench.count(labels, scores)).area

    curve()
    tracemalloc.start()
    curve()
    peak = tracemalloc.get_traced_memory()[1] / size
    tracemalloc.stop()
    title = f"memory of a curve of {size:.0e} scores, beyond its input"
    print(f"{title:<52} {peak:6.1f} bytes a pixel, goal < 24")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, to see that it runs")
    quick = parser.parse_args().quick
    count, large, size, rounds = (40, 2, 10**6, 3) if quick else (400, 20, 10**7, 7)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_blobs(root / "warm", 2, SMALL)
        segbench.evaluate(root / "warm" / "gt", root / "warm" / "pred")
        bench_folders(root, count, SMALL, "<= 1.5", rounds)
        bench_growth(root, count, rounds)
        bench_folders(root, large, LARGE, "<= 1.15", rounds)
        bench_floats(size, rounds)
        bench_memory(size)
    print(versions(["numpy", "numba", "pillow", "scikit-learn"]), machine(), sep="\n")


if __name__ == "__main__":
    main()
