"""Time the boundary benchmark, and where the time goes; `bench_peers.py` has it beside other programs.

    python scripts/benchmarks/bench_boundaries.py [FOLDER] [--kind ucm2|hed] [--repeats N] [--enlarged 1 2 3 4]
    python scripts/benchmarks/bench_boundaries.py [FOLDER] [--repeats N] --networks

FOLDER holds groundTruth, ucm2 and hed as published for BSDS500; without it the environment variable SEGBENCH_BSDS500
says where it is. Prints the median over repeats of the processor's seconds an image, and where they go. With
--enlarged, prints instead a table of the first five images enlarged by these factors: soft maps linearly, label maps by
nearest neighbour; ground truth are the boundaries of the label maps. With --networks, prints a table of the first five
images at 1280x720, with maps like those of networks: HED's, which are published thinned, enlarged by cubic splines; and
the annotators' boundaries blurred by 1.5 pixels, uneven along the edge, with noise of 3 levels.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bsds500 import annotators, boundaries, options_with_folder, soft_map
from measuring import in_turn, machine, markdown, processor_seconds
from scipy.ndimage import gaussian_filter
from skimage.transform import resize

import segbench
from segbench.imaging.bits import levels_of, pack
from segbench.imaging.thinning import thin_levels
from segbench.inputs.lines import as_scores, as_thresholds
from segbench.protocols.boundaries.assignment import new_side, reached, sweep, tabulate_costs
from segbench.protocols.boundaries.counting import compile_kernels, kernels_cached

MAX_DIST = 0.0075


def main() -> int:
    """Time it."""
    parser = argparse.ArgumentParser(description="Time the boundary benchmark.")
    parser.add_argument("--kind", choices=("ucm2", "hed"), default="ucm2")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--enlarged", type=int, nargs="+", metavar="TIMES", help="print a table of these sizes instead")
    parser.add_argument("--networks", action="store_true", help="print a table of maps of 1280x720 instead")
    options = options_with_folder(parser)
    root = options.folder
    cached = kernels_cached()
    start = time.perf_counter()
    compile_kernels()
    print(f"kernels {'loaded' if cached else 'compiled'} in {time.perf_counter() - start:.1f} s")
    with (root / "reference_counts.csv").open() as file:
        names = sorted({row["image"] for row in csv.DictReader(file)})
    if options.enlarged:
        print(large_images(root, names[:5], options.kind, options.enlarged, options.repeats))
        print(machine())
        return 0
    if options.networks:
        print(networks(root, names[:5], options.repeats))
        print(machine())
        return 0
    images = [(soft_map(root, name, options.kind), boundaries(root, name)) for name in names]

    def count() -> None:
        for scores, truths in images:
            segbench.count(truths, scores, segbench.Boundaries(max_dist=MAX_DIST))

    taken, stages = [], []
    for _ in range(options.repeats):
        taken.append(processor_seconds(count) / len(images))
        stages.append(np.mean([split(scores, truths) for scores, truths in images], axis=0))
    median = float(np.median(taken))
    print(
        f"{options.kind}, {len(images)} images, 99 thresholds: {median:.4f} s an image (best repeat {min(taken):.4f})"
    )
    for name, share in zip(
        ("levels", "thinning", "neighbourhoods", "matching"), np.median(stages, axis=0), strict=True
    ):
        print(f"  {name:>14} {share * 1e3:6.2f} ms")
    print(machine())
    return 0


def large_images(root: Path, names: list[str], kind: str, factors: list[int], repeats: int) -> str:
    """Lay out how the time grows with the size of the images."""
    rows = []
    for times in factors:
        images = [enlarged(root, name, kind, times) for name in names]
        ways = {
            name: lambda s=scores, t=truths: segbench.count(t, s, segbench.Boundaries(max_dist=MAX_DIST))
            for name, (scores, truths) in zip(names, images, strict=True)
        }
        taken = sum(float(np.median(times_of_image)) for times_of_image in in_turn(ways, repeats).values())
        drawn = sum(int(truth.sum()) for _, truths in images for truth in truths)
        thinned = np.mean([split(*image)[1] for image in images])
        rows.append(
            [
                f"{481 * times}x{321 * times}",
                f"{taken / len(images):.3f} s",
                f"{thinned:.3f} s",
                f"{taken / drawn * 1e6:.1f}",
            ]
        )
    header = [
        f"{kind}, 99 thresholds",
        f"mean of {len(names)} images",
        "thinning",
        "microseconds per ground-truth pixel",
    ]
    return markdown(header, rows)


def enlarged(root: Path, name: str, kind: str, times: int) -> tuple[Any, list[Any]]:
    """Read an image's soft map and its annotators' boundaries, and enlarge both."""
    scores = soft_map(root, name, kind)
    height, width = scores.shape
    large = resize(scores, (height * times, width * times), order=1, preserve_range=True, anti_aliasing=False)
    labels = annotators(root, name, "Segmentation")
    truths = [segbench.label_boundaries(np.kron(drawn, np.ones((times, times), drawn.dtype))) for drawn in labels]
    return large.round().astype(scores.dtype) if kind == "hed" else large, truths


def networks(root: Path, names: list[str], repeats: int) -> str:
    """Lay out the time of maps of 1280x720 like those of networks."""
    rows = []
    for kind in ("HED, enlarged smoothly", "blurred edges with noise"):
        images = [of_network(root, name, enlarge=kind.startswith("HED")) for name in names]
        ways = {
            name: lambda s=scores, t=truths: segbench.count(t, s, segbench.Boundaries(max_dist=MAX_DIST))
            for name, (scores, truths) in zip(names, images, strict=True)
        }
        taken = [min(times_of_image) for times_of_image in in_turn(ways, repeats).values()]
        drawn = sum(int(truth.sum()) for _, truths in images for truth in truths)
        mean, most = np.mean(taken), max(taken)
        rows.append([kind, f"{mean:.3f} s", f"{most:.3f} s", f"{sum(taken) / drawn * 1e6:.1f}"])
    header = [
        "1280x720, 99 thresholds",
        f"mean of {len(names)} images",
        "slowest",
        "microseconds per ground-truth pixel",
    ]
    return markdown(header, rows)


def of_network(root: Path, name: str, *, enlarge: bool) -> tuple[Any, list[Any]]:
    """Return an 8-bit map of 1280x720 and its annotators' boundaries; upright images are turned."""
    labels = [
        np.rot90(drawn) if drawn.shape[0] > drawn.shape[1] else drawn
        for drawn in annotators(root, name, "Segmentation")
    ]
    large = [resize(drawn, (720, 1280), order=0, preserve_range=True, anti_aliasing=False) for drawn in labels]
    truths = [segbench.label_boundaries(drawn.astype(labels[0].dtype)) for drawn in large]
    if enlarge:
        soft = resize(lying(soft_map(root, name, "hed")).astype(float), (720, 1280), order=3, preserve_range=True)
    else:
        random = np.random.default_rng(int(name))
        strength = gaussian_filter(random.normal(size=(720, 1280)), 20)
        edges = gaussian_filter(np.mean(truths, axis=0), 1.5) * (1 + strength / strength.std() / 3)
        soft = 255 * edges / edges.max() + random.normal(0, 3, edges.shape)
    return np.clip(np.rint(soft), 0, 255).astype(np.uint8), truths


def lying(image: Any) -> Any:  # noqa: ANN401 - of any type
    """Turn an image that stands upright."""
    return np.rot90(image) if image.shape[0] > image.shape[1] else image


def split(scores: Any, truths: list[Any]) -> list[float]:  # noqa: ANN401 - levels or floats
    """Time the stages of counting; neighbourhoods are the numbering of pixels and the reach of annotators."""
    marks = [time.process_time()]
    levels = levels_of(as_scores(scores, "prediction"), as_thresholds(99))
    marks.append(time.process_time())
    maps = thin_levels(levels, 99)
    marks.append(time.process_time())
    every = np.bitwise_or.reduce(maps, axis=0)
    height, width = truths[0].shape
    used = np.zeros_like(maps)
    prepared = 0.0
    for annotator, truth in enumerate(truths):
        table = tabulate_costs((height, width), MAX_DIST * math.hypot(height, width), int(truth.sum()), annotator)
        packed = pack(truth)
        start = time.process_time()
        rows = new_side(packed, width, prediction=False)
        new_side(every & reached(rows.pixel, table), width, prediction=True)
        prepared += time.process_time() - start
        sweep(maps, every, packed, table, used)
    marks.append(time.process_time())
    shares = list(np.diff(marks))
    # The neighbourhoods were made twice, once here and once inside the sweep.
    return [shares[0], shares[1], prepared, shares[2] - 2 * prepared]


if __name__ == "__main__":
    sys.exit(main())
