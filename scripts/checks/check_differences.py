"""Check intervals and p-values of differences by simulation: coverage, size, and whether the two agree.

Two methods are measured on images of very different sizes, drawn from a population of 20 000 with a known difference.
For several numbers of images and differences, this prints the share of repeats in which the 95 % interval holds the
difference of the population, the same of plain bootstrap quantiles, the share of p-values of at most .05, and in how
many repeats interval and p-value contradict each other.

    python scripts/checks/check_differences.py [REPEATS]
"""

from __future__ import annotations

import sys

import numpy as np

import segbench

POPULATION, LEVELS = 20_000, 12
METRICS = ("ods_f", "mean_image_f", "auc_roc", "average_precision")


def population(gap: float) -> list[tuple[segbench.ScoreCounts, segbench.ScoreCounts]]:
    """Draw images: what makes an image hard for one method makes it hard for the other."""
    rng = np.random.default_rng(0)
    cuts = np.linspace(-1.5, 2.5, LEVELS - 1)
    images = []
    for _ in range(POPULATION):
        positives = int(np.exp(rng.normal(6, 0.8)))
        hard = rng.normal(1.2, 0.4)
        pair = []
        for skill in (hard + rng.normal(0, 0.15) + gap, hard + rng.normal(0, 0.15)):
            totals = [
                np.searchsorted(cuts, rng.normal(mean, 1, size))
                for mean, size in ((skill, positives), (0, 4 * positives))
            ]
            counts = [np.bincount(levels, minlength=LEVELS)[::-1] for levels in totals]
            pair.append(segbench.ScoreCounts(np.arange(LEVELS, 0, -1), *counts))
        images.append((pair[0], pair[1]))
    return images


def main() -> None:
    """Print one line per number of images and difference."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for gap in (0.0, 0.1, 0.4):
        images = population(gap)
        every = [segbench.Pixels().table(dict(enumerate(each))).summary() for each in zip(*images, strict=True)]  # type: ignore[arg-type]  # names are numbers
        for number in (10, 50, 200):
            held, quantiles, rejected, contradicted = (dict.fromkeys(METRICS, 0) for _ in range(4))
            for seed in range(repeats):
                chosen = np.random.default_rng([seed, number]).choice(POPULATION, number, replace=False)
                methods = {name: {str(k): images[k][side] for k in chosen} for side, name in enumerate("ab")}
                comparison = segbench.compare(methods, replicates=500, permutations=2000, seed=seed)
                for row in comparison.differences:
                    if row.metric in METRICS:
                        truth = every[0][row.metric] - every[1][row.metric]
                        held[row.metric] += row.low <= truth <= row.high
                        drawn = np.subtract(*(comparison.intervals[name].draws[row.metric] for name in "ab"))
                        low, high = np.quantile(drawn, (0.025, 0.975))
                        quantiles[row.metric] += low <= truth <= high
                        rejected[row.metric] += row.p_value <= 0.05
                        contradicted[row.metric] += (row.low > 0 or row.high < 0) != (row.p_value <= 0.05)
            for key in METRICS:
                truth = every[0][key] - every[1][key]
                print(
                    f"{number:4} images  {key:18} difference {truth:6.3f}  held {held[key] / repeats:.3f}  "
                    f"quantiles {quantiles[key] / repeats:.3f}  "
                    f"p <= .05 {rejected[key] / repeats:.3f}  contradictions {contradicted[key]}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
