"""Do intervals over images hold what they promise: coverage and p-values by simulation.

    python scripts/checks/check_intervals.py [--repeats 1000] [--images 50] [--protocol boundaries] [--coverage-only]

Images are drawn from a known population: each has a difficulty and a size of its own, so that pixels of one image are
alike. Boundary counts are drawn the same way, every pixel matched by one. The figures of a very large set stand for
the population's. Printed are, for each figure, how often a nominal 95 % interval holds it (goal with 50 images: 92 to
97 %), and how often permutation p-values of two methods that are equally good fall below .01, .05, .1, .25 and .5
(goal: that often, and never more than chance explains).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import segbench
from segbench.core.scores import ScoreCounts
from segbench.core.summary import Summary
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.statistics.bootstrap import bootstrap
from segbench.statistics.comparison import compare

LEVELS = 64
POPULATION = 20_000
LEVELS_OF_P = (0.01, 0.05, 0.1, 0.25, 0.5)


def sizes(random: np.random.Generator) -> tuple[int, int]:
    """Draw how many positives and negatives an image has."""
    return int(random.integers(200, 2000)), int(random.integers(4000, 20_000))


def image(random: np.random.Generator, skill: float, pixels: tuple[int, int]) -> ScoreCounts:
    """Draw a prediction of an image: positives score higher than negatives by `skill`, all by a shift of its own."""
    shift = random.normal(0, 0.3)
    edges = np.linspace(-4, 5, LEVELS - 1)
    counts = [
        np.bincount(np.digitize(random.normal(mean + shift, 1, size), edges), minlength=LEVELS)[::-1]
        for mean, size in zip((skill, 0.0), pixels, strict=True)
    ]
    return ScoreCounts(np.arange(LEVELS)[::-1], *counts)


def boundaries(random: np.random.Generator, skill: float, pixels: tuple[int, int]) -> BoundaryCounts:
    """Draw boundary counts of an image at the levels of `image`, each true pixel matched by one predicted pixel."""
    counts = image(random, skill, pixels)
    found, predicted = np.cumsum(counts.positives)[::-1], np.cumsum(counts.positives + counts.negatives)[::-1]
    # The first level predicts everything, which no detector of thin lines does.
    found, predicted = found[1:], predicted[1:]
    return BoundaryCounts(np.arange(1, LEVELS) / LEVELS, found, np.full(LEVELS - 1, pixels[0]), found, predicted)


def ease(random: np.random.Generator) -> float:
    """Draw how far apart the classes of an image are, in standard deviations of a class."""
    return float(random.gamma(8.0, 0.2))


Draw = Callable[[np.random.Generator, float, tuple[int, int]], Any]
KINDS: dict[str, tuple[Draw, Callable[[Mapping[str, Any]], Summary]]] = {
    "pixels": (image, lambda images: segbench.Pixels().table(images).summary()),
    "boundaries": (boundaries, lambda images: segbench.Boundaries().table(images).summary()),
}


def coverage(random: np.random.Generator, protocol: str, images: int, repeats: int) -> None:
    """Print how often intervals hold the population's figures."""
    one, summary = KINDS[protocol]
    population = [one(random, ease(random), sizes(random)) for _ in range(POPULATION)]
    truth = summary({str(k): counts for k, counts in enumerate(population)})
    methods = ("percentile", "bca")
    held: dict[str, dict[str, int]] = {}
    for repeat in range(repeats):
        chosen = random.choice(POPULATION, images, replace=False)
        sample = {str(k): population[k] for k in chosen}
        for method in methods:
            result = bootstrap(sample, method=method, replicates=2000, seed=repeat)
            for key, (low, high) in result.items():
                counted = held.setdefault(key, dict.fromkeys(methods, 0))
                counted[method] += low <= truth[key] <= high
    error = 43.6 / repeats**0.5
    print(f"\ncoverage of nominal 95 % {protocol} intervals, {images} images, {repeats} repeats (+-{error:.1f} %)")
    print(f"{'figure':<20} {'population':>10} " + " ".join(f"{method:>11}" for method in methods))
    for key, counted in held.items():
        shares = [100 * counted[method] / repeats for method in methods]
        print(f"{key:<20} {truth[key]:>10.4f} " + " ".join(f"{share:>9.1f} %" for share in shares))


def uniformity(random: np.random.Generator, protocol: str, repeats: int) -> None:
    """Print how often p-values fall below a level where there is no difference."""
    one, _ = KINDS[protocol]
    for images, permutations in ((8, 10_000), (30, 999)):
        p_values: dict[str, list[float]] = {}
        for repeat in range(repeats):
            a, b = {}, {}
            for k in range(images):
                skill, pixels = ease(random), sizes(random)
                a[str(k)], b[str(k)] = one(random, skill, pixels), one(random, skill, pixels)
            result = compare({"a": a, "b": b}, replicates=1, permutations=permutations, seed=repeat)
            for row in result.differences:
                p_values.setdefault(row.metric, []).append(row.p_value)
        print(f"\nshare of p-values at or below a level under the null, {images} images, {repeats} repeats")
        print(f"{'figure':<20} " + " ".join(f"{level:>6}" for level in LEVELS_OF_P))
        chance = [2 * (level * (1 - level) / repeats) ** 0.5 for level in LEVELS_OF_P]
        print(f"{'+- (two errors)':<20} " + " ".join(f"{error:>6.3f}" for error in chance))
        for key, values in p_values.items():
            shares = [np.mean(np.array(values) <= level + 1e-12) for level in LEVELS_OF_P]
            print(f"{key:<20} " + " ".join(f"{share:>6.3f}" for share in shares))


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--images", type=int, default=50)
    parser.add_argument("--protocol", choices=tuple(KINDS), default="pixels")
    parser.add_argument("--coverage-only", action="store_true")
    arguments = parser.parse_args()
    random = np.random.default_rng(2013)
    coverage(random, arguments.protocol, arguments.images, arguments.repeats)
    if not arguments.coverage_only:
        uniformity(random, arguments.protocol, arguments.repeats)


if __name__ == "__main__":
    main()
