"""Results drawn by formula, and pictures compared with those kept in ``baseline/``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.testing.compare import compare_images

from segbench import (
    Annotators,
    Boundaries,
    BoundaryCounts,
    LabelCounts,
    Labels,
    Pixels,
    RegionCounts,
    Regions,
    Result,
    ScoreCounts,
)

BASELINE = Path(__file__).parent / "baseline"
RENEW = "SEGBENCH_NEW_BASELINES"

# Root mean square over 0..255. Letters drawn by another FreeType give up to about 5; a line in another colour gives 9.
TOLERANCE = 7
STYLE = {
    **mpl.rcParamsDefault,
    "backend": "agg",
    "figure.figsize": (4.8, 3.6),
    "figure.dpi": 60,
    "text.hinting": "none",
}


def assert_looks_the_same(figure, name: str, folder: Path) -> None:
    """Compare a figure with the picture of that name; with SEGBENCH_NEW_BASELINES=1 make it the new one."""
    kept = BASELINE / f"{name}.png"
    drawn = folder / f"{name}.png"
    figure.savefig(drawn, metadata={"Software": None})
    if os.environ.get(RENEW):
        shutil.copyfile(drawn, kept)
    assert kept.is_file(), f"{kept} is missing: look at {drawn}, then run this test with {RENEW}=1"
    difference = compare_images(str(kept), str(drawn), TOLERANCE)
    assert difference is None, f"{difference}\nif the change is meant, run this test with {RENEW}=1"


def pixel_results(methods: int = 3, images: int = 8, *, name: str = "method {}") -> list[Result]:
    """Make results of methods whose positives score higher, the first most of all."""
    levels = np.arange(33)[::-1]

    def counts(method: int, image: int) -> ScoreCounts:
        apart = 12 / (1 + 0.4 * method) - 0.9 * image
        positives = np.rint(900 * np.exp(-(((levels - 16 - apart) / 7) ** 2))).astype(int)
        negatives = np.rint(2000 * np.exp(-(((levels - 16 + apart / 2) / 7) ** 2))).astype(int)
        # Of all methods the same ground truth: the rest has the lowest score.
        positives[-1] += 12_000 - positives.sum()
        negatives[-1] += 27_000 - negatives.sum()
        return ScoreCounts(levels / 32, positives, negatives)

    return [
        Result(name.format(k), Pixels(), {}, "protocol:pixels|data:0", {f"im{i}": counts(k, i) for i in range(images)})
        for k in range(methods)
    ]


def noisy_results(methods: int, *, images: int = 12, name: str = "method_{:02}") -> list[Result]:
    """Make results of methods that differ a little and at random."""
    rng = np.random.default_rng(1)
    hits = np.clip(rng.normal(700 - 15 * np.arange(methods), 30, (images, methods)).astype(int), 0, 1000)
    return [
        Result(
            name.format(place),
            Pixels(),
            {},
            "protocol:pixels|data:0",
            {f"im{k:02}": ScoreCounts([2, 1], [hit, 1000 - hit], [150, 850]) for k, hit in enumerate(of_method)},
        )
        for place, of_method in enumerate(hits.T)
    ]


def boundary_results() -> list[Result]:
    """Make a detector, and the human point."""
    thresholds = np.linspace(0.1, 0.9, 9)

    def counts(image: int) -> BoundaryCounts:
        found = np.rint(1000 * (1 - thresholds) ** (1 + image / 8)).astype(int)
        drawn = np.rint(found / (0.3 + 0.65 * thresholds)).astype(int)
        return BoundaryCounts(thresholds, found, np.full(9, 1000), found, drawn)

    signature = "protocol:boundaries|data:0"
    human = {f"im{i}": BoundaryCounts([0.5], [800 + 10 * i], [1000], [820], [1000]) for i in range(4)}
    return [
        Result("detector", Boundaries(), {}, signature, {f"im{i}": counts(i) for i in range(4)}),
        Result("human", Annotators(settings=Boundaries()), {"thresholds": "annotators"}, signature, human),
    ]


def region_results() -> list[Result]:
    """Make one segmentation whose covering rises and falls."""
    thresholds = np.linspace(0.1, 0.9, 9)
    covered = np.rint(2**20 * 400 * (0.7 - (thresholds - 0.4) ** 2)).astype(int)
    part = np.full(9, 2**34)
    best = int(covered.max())
    counts = RegionCounts(thresholds, 1, 400, 400, best, covered, covered, *([part] * 6))
    return [Result("ucm", Regions(), {}, "protocol:regions|data:0", {"im0": counts})]


def label_results(methods: int = 2, images: int = 6) -> list[Result]:
    """Make results of methods that confuse classes more and more; one class is in no ground truth."""
    names = ("road", "building", "tree", "person", "train")
    pixels = np.array([4000, 2500, 1200, 120, 0])

    def counts(method: int, image: int) -> LabelCounts:
        right = np.rint(pixels * (0.95 - 0.05 * method - 0.04 * np.arange(5) - 0.02 * image)).astype(int)
        matrix = np.diag(right)
        matrix[np.arange(5), (np.arange(5) + 1) % 5] = pixels - right
        outside = np.where(np.arange(5) == 0, 50, 0)
        return LabelCounts(",".join(f"{name}={k}" for k, name in enumerate(names)), np.column_stack([matrix, outside]))

    settings = {"classes": counts(0, 0).classes, "void": "none"}
    rules, signature = Labels(classes=range(5), names=names, void=()), "protocol:labels|data:0"
    return [
        Result(f"method {k}", rules, settings, signature, {f"im{i}": counts(k, i) for i in range(images)})
        for k in range(methods)
    ]
