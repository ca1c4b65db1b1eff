"""What looking before counting costs: ``segbench check`` on ten thousand pairs, and its quick form beside a run.

    python scripts/benchmarks/bench_check.py [--pairs 10000] [--images 200] [--rounds 3]

Prints medians against the goal of each. Files are PNGs of 481x321, every one different: a few pictures, and a chunk
of text of its own in each file; so thousands have one length, as NPY files would, and their pieces are compared.
"""

from __future__ import annotations

import argparse
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from measuring import median_seconds
from scipy.ndimage import gaussian_filter

import segbench
from segbench.checks.checking import check_methods
from segbench.core.names import MethodRun
from segbench.loaders.pairing import Inputs, pair

SHAPE = (321, 481)
PICTURES = 40
_AFTER_HEADER = 33


def pictures() -> list[tuple[bytes, bytes]]:
    """Make masks and soft predictions as PNG."""
    made = []
    for seed in range(PICTURES):
        rng = np.random.default_rng(seed)
        wide = gaussian_filter(rng.normal(size=SHAPE), 20)
        mask = wide > np.quantile(wide, 0.7)
        soft = 1 / (1 + np.exp(-8 * (gaussian_filter(mask.astype(float), 4) - 0.5) - rng.normal(size=SHAPE)))
        maps = mask.astype(np.uint8) * 255, np.rint(soft * 255).astype(np.uint8)
        truth, scores = (iio.imwrite("<bytes>", array, extension=".png") for array in maps)
        made.append((truth, scores))
    return made


def labelled(png: bytes, number: int) -> bytes:
    """Put a text chunk after the header of a PNG."""
    body = b"tEXtNumber\0%08d" % number
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:_AFTER_HEADER] + chunk + png[_AFTER_HEADER:]


def write_pairs(folder: Path, count: int) -> tuple[Path, Path]:
    """Write so many pairs."""
    made, folders = pictures(), (folder / "gt", folder / "pred")
    for target in folders:
        target.mkdir(parents=True)
    for number in range(count):
        for target, png in zip(folders, made[number % PICTURES], strict=True):
            (target / f"image_{number:06}.png").write_bytes(labelled(png, number))
    return folders


def command(*words: str) -> None:
    """Run the program as a user does."""
    subprocess.run([sys.executable, "-m", "segbench", *words], check=True, capture_output=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        truth, scores = write_pairs(Path(folder) / "many", asked.pairs)
        taken = median_seconds(lambda: command("check", str(truth), str(scores)), asked.rounds)
        print(f"segbench check, {asked.pairs} pairs: {taken:.1f} s (goal: 20 s for 10 000)")
        truth, scores = write_pairs(Path(folder) / "few", asked.images)
        inputs = Inputs(ground_truth=str(truth), prediction=str(scores))
        pairings, settings = {MethodRun("pred"): pair(inputs)}, (segbench.Pixels(), segbench.Repairs())
        quick = median_seconds(lambda: check_methods(pairings, *settings, quick=True), asked.rounds)
        segbench.evaluate(truth, scores)  # loads and compiles
        run = median_seconds(lambda: segbench.evaluate(truth, scores), asked.rounds)
        print(
            f"quick form, {asked.images} pairs: {quick:.3f} s, {100 * quick / run:.1f} % of counting them (goal: 5 %)"
        )
        rows = [[*("pixels", str(truth), str(scores)), *extra] for extra in ((), ("--no-check",))]
        pairs = [[median_seconds(lambda row=row: command(*row), 1) for row in rows] for _ in range(asked.rounds)]
        with_check, without = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"segbench pixels, {asked.images} pairs: {with_check:.2f} s, with --no-check {without:.2f} s")


if __name__ == "__main__":
    main()
