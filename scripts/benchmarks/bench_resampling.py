"""What intervals cost, beside scipy.stats.bootstrap doing the same work: times and ratios of one run.

    python scripts/benchmarks/bench_resampling.py
    python scripts/benchmarks/bench_resampling.py floats [IMAGES] [HEIGHTxWIDTH]

Goals: intervals of all pixel metrics over 200 images of 256 levels in under 1 s, and of all boundary metrics over 200
images of 99 thresholds too. SciPy is given one metric as a function of the images drawn, and few replicates; its time
is scaled up to 2000. Comparisons of float scores are timed beside what counts of all
scores take at least, NumPy's sorting of each map.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.stats

import segbench
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.statistics.bands import curve_band
from segbench.statistics.intervals import intervals

IMAGES, LEVELS, REPLICATES = 200, 256, 2000
SCIPY_REPLICATES = 50
THRESHOLDS = 99


def images(random: np.random.Generator, skill: float) -> dict[str, ScoreCounts]:
    """Draw images of 481x321 with a twentieth of positives, on the same ground truth for every skill."""
    rising = np.linspace(1, skill, LEVELS)
    made = {}
    for k in range(IMAGES):
        positives, negatives = (
            random.multinomial(size, random.dirichlet(share))
            for size, share in ((7720, rising[::-1]), (146_681, rising))
        )
        made[str(k)] = ScoreCounts(np.arange(LEVELS)[::-1] / 255, positives, negatives)
    return made


def boundaries(random: np.random.Generator) -> dict[str, BoundaryCounts]:
    """Draw boundary counts: recall falls and precision rises with the threshold."""
    t = np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1)
    made = {}
    for k in range(IMAGES):
        total_gt = np.full(THRESHOLDS, random.integers(2000, 6000))
        total_pred = (8000 * (1 - t) ** 2 * random.uniform(0.5, 1.5)).astype(int) + 1
        shares = (1 - t) ** random.uniform(0.5, 1.5), t ** random.uniform(0.2, 0.8)
        matched = [(total * share).astype(int) for total, share in zip((total_gt, total_pred), shares, strict=True)]
        made[str(k)] = BoundaryCounts(t, matched[0], total_gt, matched[1], total_pred)
    return made


def seconds(function: Callable[[], object]) -> float:
    """Take the best of three."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def floats(images: int, size: tuple[int, ...]) -> None:
    """Print the CPU time of counting and comparing three methods of float32 scores, and their results file's size."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("truth", "a", "b", "c"):
            (root / name).mkdir()
        for k in range(images):
            random = np.random.default_rng(k)
            truth = random.random(size) < random.uniform(0.02, 0.1)
            np.save(root / "truth" / f"{k:04}.npy", truth.astype(np.uint8))
            for name, skill in (("a", 1.5), ("b", 1.4), ("c", 1.0)):
                scores = random.normal(size=truth.shape) + skill * truth
                np.save(root / name / f"{k:04}.npy", scores.astype(np.float32))
        file = root / "floats.segbench"
        started = time.process_time()
        for name in "abc":
            segbench.evaluate(root / "truth", root / name, results=file)
        counted = time.process_time()
        segbench.compare_results(segbench.load_results(file))
        compared = time.process_time()
        for file_of_map in sorted(root.glob("[abc]/*.npy")):
            np.sort(np.load(file_of_map), axis=None)
        spent = time.process_time() - compared
        print(f"three methods on {images} images of {size[1]}x{size[0]} float scores, seconds of CPU:")
        megabytes = file.stat().st_size / 1e6
        print(f"  counting {counted - started:.1f} ({megabytes:.0f} MB), comparing {compared - counted:.1f}")
        print(f"  sorting each map {spent:.1f}; comparing takes {(compared - counted) / spent:.1f} times as long")


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["floats"]:
        height, width = sys.argv[3].split("x") if len(sys.argv) > 3 else (321, 481)
        floats(int(sys.argv[2]) if len(sys.argv) > 2 else IMAGES, (int(height), int(width)))
        return
    random = np.random.default_rng(0)
    first, second = images(random, 4), images(random, 3)
    listed = list(first.values())
    intervals(first)
    ours = seconds(lambda: intervals(first))
    print(f"{IMAGES} images of {LEVELS} levels:")
    print(f"  intervals of all pixel metrics    {ours:7.3f} s   (goal: under 1 s)")
    peer = seconds(
        lambda: scipy.stats.bootstrap(
            (np.arange(IMAGES),),
            lambda drawn: auc_pr(ScoreCounts.sum(listed[k] for k in drawn)),
            vectorized=False,
            method="percentile",
            n_resamples=SCIPY_REPLICATES,
            rng=np.random.default_rng(0),
        )
    )
    scaled = peer * REPLICATES / SCIPY_REPLICATES
    print(f"  scipy.stats.bootstrap, one metric {scaled:7.3f} s   {scaled / ours:.0f} times as long")
    print(f"  a band of 101 points              {seconds(lambda: curve_band(first)):7.3f} s")
    both = {"first": first, "second": second}
    print(f"  comparing two methods             {seconds(lambda: str(segbench.compare(both))):7.3f} s")
    print(f"  with how often each is first      {seconds(lambda: segbench.compare(both).rank_shares['ods_f']):7.3f} s")
    print(f"  the metrics themselves            {seconds(lambda: segbench.Pixels().table(first).summary()):7.3f} s")
    edges = boundaries(random)
    took = seconds(lambda: intervals(edges))
    print(f"{IMAGES} images of {THRESHOLDS} thresholds:")
    print(f"  intervals of all boundary metrics {took:7.3f} s   (goal: under 1 s)")


if __name__ == "__main__":
    main()
