"""Time the saliency protocol beside the definitions written with NumPy and SciPy, and beside decoding, in one run.

    python scripts/benchmarks/bench_saliency.py [FOLDER] [--images N] [--rounds N]

FOLDER holds ground_truth and predictions/METHOD; without it the environment variable SEGBENCH_SOD says where it is.
Where PySODMetrics is installed (py_sod_metrics) it is the peer; else the plain code in this file is, which the table
says: weighted F by its definition, and of the rest only MAE, the adaptive threshold and the histograms (no S, no E), so
that this ratio understates the rest. Prints medians over images of the lowest processor time of several rounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
from measuring import duration, factor, in_turn, machine, markdown, today, versions
from numpy.typing import NDArray
from scipy.ndimage import convolve, distance_transform_edt

from segbench import Saliency
from segbench.core.sample import Sample

Image = NDArray[Any]


def plain_weighted_f(truth: Image, levels: Image) -> float:
    """Weighted F of a map that spans all levels, by its definition."""
    scores = (levels / 255 - levels.min() / 255) / (levels.max() / 255 - levels.min() / 255)
    distances, nearest = distance_transform_edt(~truth, return_indices=True)
    errors = np.abs(scores - truth)
    spread = np.where(truth, errors, errors[tuple(nearest)])
    along = np.exp(-(np.arange(-3, 4) ** 2) / 50)
    gauss = np.outer(along, along)
    blurred = convolve(spread, gauss / gauss.sum(), mode="constant")
    weighted = np.where(truth, np.minimum(errors, blurred), errors * (2 - 0.5 ** (distances / 5)))
    true = truth.sum() - weighted[truth].sum()
    precision, recall = true / (true + weighted[~truth].sum()), 1 - weighted[truth].mean()
    return float(2 * precision * recall / (precision + recall))


def plain_curves(truth: Image, levels: Image) -> float:
    """MAE, the adaptive threshold, and histograms by label, which E and F at all thresholds follow from."""
    scores = (levels / 255 - levels.min() / 255) / (levels.max() / 255 - levels.min() / 255)
    mae = np.abs(scores - truth).mean()
    above = scores >= min(2 * scores.mean(), 1)
    truncated = (scores * 255).astype(np.uint8)
    found = [np.bincount(truncated[part], minlength=256)[::-1].cumsum() for part in (truth, ~truth)]
    return float(mae + above[truth].mean() + np.max(found))


def peer_of(weighted: bool) -> tuple[str, Callable[[Image, Image], object]]:  # noqa: FBT001  the one argument
    """Give the peer and its name."""
    if find_spec("py_sod_metrics") is None:
        return "NumPy and SciPy", plain_weighted_f if weighted else plain_curves
    import py_sod_metrics as peers

    names = ["WeightedFmeasure"] if weighted else ["MAE", "Smeasure", "Emeasure", "Fmeasure"]

    def measure(truth: Image, levels: Image) -> None:
        for name in names:
            getattr(peers, name)().step(levels, truth.astype(np.uint8) * 255)

    return "PySODMetrics", measure


def main() -> int:
    """Time everything."""
    parser = argparse.ArgumentParser(description="Time the saliency protocol.")
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("SEGBENCH_SOD"))
    parser.add_argument("--images", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if options.folder is None:
        parser.error("give FOLDER, or set SEGBENCH_SOD")
    print(f"{today()}, {machine()}\n{versions(['segbench', 'numpy', 'scipy', 'numba', 'pysodmetrics'])}\n")
    protocols = {"all but weighted F": Saliency(weighted=False), "all": Saliency()}
    for protocol in protocols.values():
        protocol.prepare(print)
    name = peer_of(weighted=False)[0]
    times: dict[str, list[float]] = {}
    for truth_file in sorted((options.folder / "ground_truth").glob("*.png"))[: options.images]:
        for method in sorted((options.folder / "predictions").iterdir()):
            file = method / truth_file.name
            truth, levels = iio.imread(truth_file) > 0, iio.imread(file)
            sample = Sample(file.stem, (truth,), (levels,))
            ways: dict[str, Callable[[], object]] = {
                "decoding": lambda t=truth_file, f=file: (iio.imread(t), iio.imread(f)),
                **{key: lambda p=each, s=sample: p.count(s) for key, each in protocols.items()},
            }
            for key, weighted in (("peer without weighted F", False), ("peer, weighted F", True)):
                peer = peer_of(weighted)[1]
                ways[key] = lambda p=peer, t=truth, s=levels: p(t, s)
            for key, taken in in_turn(ways, options.rounds).items():
                times.setdefault(key, []).append(min(taken))
    medians = {key: statistics.median(taken) for key, taken in times.items()}
    ours, alone = medians["all but weighted F"], medians["all"] - medians["all but weighted F"]
    rows = [
        ["decoding both files", duration(medians["decoding"]), "", ""],
        ["all but weighted F", duration(ours), *_beside(medians["peer without weighted F"], ours)],
        ["weighted F", duration(alone), *_beside(medians["peer, weighted F"], alone)],
        ["all, beside decoding", duration(medians["all"]), "", factor(medians["all"] / medians["decoding"])],
    ]
    print(markdown(["per image", "segbench", name, "ratio"], rows))
    return 0


def _beside(peer: float, ours: float) -> list[str]:
    return [duration(peer), factor(peer / ours)]


if __name__ == "__main__":
    sys.exit(main())
