"""Do intervals and tests hold what they promise: coverage, size and power by simulation.

    python scripts/checks/check_statistics.py [POPULATION ...] [--repeats 500] [--images 10 30 100 300]

Each population has thousands of images of three methods, counted once: two that are equally good, and one that is
better. Every repeat draws images of it, with replacement, so that the metrics of all its images are what intervals
should hold. Intervals and p-values are those of `segbench.compare`. For each metric are printed

- the metric of the population, the share of the first method's 95 % intervals that hold it, their median width, and the
  share of repeats without an interval;
- for metrics that jump, whether or not segbench gives their interval, the same shares of bootstrap quantiles: of the
  method and of the difference between two equal methods;
- of the difference of equal methods the share of intervals that hold it, and of p-values below .05 (size);
- of the difference to the better method, the difference in the population, the share of intervals that hold it and of
  p-values below .05 (power), and that power with n - 1 degrees of freedom;
- how often an interval and its p-value contradict each other.

Last, how much p-values and intervals change where the second method's scores are on another scale. 500 repeats have a
standard error of .01 at a share of .95.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, stdtr

import segbench
from segbench.core.protocol import Protocol
from segbench.statistics.measured import ENOUGH_IMAGES

Floats = NDArray[np.float64]
Random = np.random.Generator
Images = list[tuple[Any, ...]]
"""The images of each method, in the same order."""

METHODS = ("first", "second", "better")
LEVEL = 0.95
QUANTILES = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
CLASSES = 8
SCALES: dict[str, Callable[[Floats], Floats]] = {
    "x .1": lambda scores: scores * 0.1,
    "cubed": lambda scores: scores**3,
    "ranks": lambda scores: np.argsort(np.argsort(scores)).astype(np.float64),
}
REPEATS_OF_SCALES = 20


def score_counts(random: Random, cuts: Floats, centres: Sequence[float], pixels: Sequence[int]) -> segbench.ScoreCounts:
    """Draw positives and negatives with normal scores around their centres, cut into levels."""
    of_levels = [np.diff(ndtr(cuts - centre), prepend=0, append=1)[::-1] for centre in centres]
    positives, negatives = (
        random.multinomial(number, shares) for number, shares in zip(pixels, of_levels, strict=True)
    )
    return segbench.ScoreCounts(np.arange(cuts.size, -1, -1.0), positives, negatives)


def cuts_into(levels: int) -> Floats:
    """Cut the scores into levels."""
    return np.linspace(-4, 5, levels - 1)


def unequal_sizes(
    random: Random, gap: float, *, levels: int = 32, size: float = 1.0, hard: float = 0.4, own: float = 0.3
) -> list[segbench.ScoreCounts]:
    """Draw an image with a log-normal number of positives; hard for all methods, and for each by itself."""
    positives, shared = int(np.exp(random.normal(5, size))) + 1, random.normal(1.2, hard)
    return [
        score_counts(random, cuts_into(levels), (shared + random.normal(0, own) + more, 0), (positives, 4 * positives))
        for more in (0, 0, gap)
    ]


def one_in_ten(random: Random, gap: float, *, levels: int = 32) -> list[segbench.ScoreCounts]:
    """Draw an image that in one case of ten is ten times as large; scores of each image have their own offset."""
    positives = int(random.integers(1000, 3000) if random.random() < 0.1 else random.integers(20, 400))
    pixels, shared = (positives, int(random.integers(400, 4000))), random.gamma(6, 0.2)
    found = []
    for more in (0, 0, gap):
        offset, skill = random.normal(0, 0.3), shared + random.gamma(2, 0.2) + more
        found.append(score_counts(random, cuts_into(levels), (skill + offset, offset), pixels))
    return found


def flat(random: Random, gap: float, *, levels: int = 17) -> list[segbench.ScoreCounts]:
    """Draw an image whose expected F is the same at every level but the lowest, so that the best F has no peak."""
    positives = int(np.exp(random.normal(5, 0.8))) + 1
    recall = np.linspace(0.5, 0.8, levels - 1)
    false = 2 * recall / 0.61 - 1 - recall  # per positive
    found = []
    for more in (0, 0, gap):
        shares = np.diff(recall, prepend=0, append=1) * np.exp(-more * np.linspace(0, 1, levels))
        of_positives = random.multinomial(positives, random.dirichlet(3 * shares))
        of_negatives = random.multinomial(4 * positives, random.dirichlet(3 * np.diff(false, prepend=0, append=4)))
        found.append(segbench.ScoreCounts(np.arange(float(levels))[::-1], of_positives, of_negatives))
    return found


def rare_classes(random: Random, gap: float) -> list[segbench.LabelCounts]:
    """Draw a confusion matrix of 225 pixels; three of the eight classes lie in 5 to 10 % of the images."""
    present = np.flatnonzero(random.random(CLASSES) < [1, 0.9, 0.6, 0.4, 0.2, 0.1, 0.08, 0.05])
    present = present if present.size else np.array([0])
    truth = random.choice(present, 225, p=random.dirichlet(np.ones(present.size)))
    skill = np.array([0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.4])
    shared = np.log(skill / (1 - skill)) + random.normal(0, 0.4)
    found = []
    for more in (0, 0, gap):
        right = random.random(truth.size) < expit(shared + random.normal(0, 0.3) + more)[truth]
        predicted = np.where(right, truth, random.integers(0, CLASSES, truth.size))
        matrix = np.zeros((CLASSES, CLASSES + 1), np.int64)
        np.add.at(matrix, (truth, predicted), 1)
        found.append(segbench.LabelCounts(f"0-{CLASSES - 1}", matrix))
    return found


def boundaries(random: Random, gap: float, *, levels: int) -> list[segbench.BoundaryCounts]:
    """Draw boundary pixels as `unequal_sizes` does, each true one matched by one predicted pixel."""
    found = []
    for counts in unequal_sizes(random, gap, levels=levels + 1):
        # Without the lowest level, which predicts every pixel: no detector of thin lines does.
        matched, predicted = (
            np.cumsum(part)[-2::-1] for part in (counts.positives, counts.positives + counts.negatives)
        )
        total = np.full(levels, counts.total_positives)
        thresholds = np.arange(1, levels + 1) / (levels + 1)
        found.append(segbench.BoundaryCounts(thresholds, matched, total, matched, predicted))
    return found


def saliency(random: Random, gap: float, *, levels: int) -> list[segbench.SaliencyCounts]:
    """Draw a disc in an image of 24 x 24 pixels, and maps that are noisy in every pixel and off in some part."""
    y, x = np.mgrid[:24, :24]
    disc = np.hypot(y - random.uniform(7, 17), x - random.uniform(7, 17)) < random.uniform(2.5, 8)
    shared = random.normal(1.0, 0.5)
    found = []
    for more in (0, 0, gap):
        false = np.hypot(y - random.uniform(0, 24), x - random.uniform(0, 24)) < random.uniform(0, 6)
        heights = (shared + random.normal(0, 0.3) + more) * (2 * (disc ^ (false & (random.random() < 0.5))) - 1)
        scores = expit(1.5 * heights + random.normal(0, 1, disc.shape))
        found.append(segbench.count_saliency(disc.astype(np.uint8), np.rint(scores * (levels - 1)) / (levels - 1)))
    return found


def regions(random: Random, gap: float, *, levels: int) -> list[segbench.RegionCounts]:
    """Draw regions of blocks of 2 x 2 pixels, 4 to 8 blocks a side, and strengths of the edges between blocks."""
    side = int(random.integers(4, 9))
    centres = random.uniform(0, side, (2, int(random.integers(2, 7))))
    distances = np.mgrid[:side, :side][..., np.newaxis] + 0.5 - centres[:, np.newaxis, np.newaxis]
    truth = (distances**2).sum(axis=0).argmin(axis=-1)
    shared = random.normal(2.0, 0.5)
    found = []
    for more in (0, 0, gap):
        skill = shared + random.normal(0, 0.3) + more
        contours = np.zeros((4 * side + 1, 4 * side + 1))
        contours[::4], contours[:, ::4] = 1, 1  # the frame, and corners of blocks
        down, right = (
            expit(skill * (2.0 * differs - 1) + random.normal(0, 1.2, differs.shape))
            for differs in (truth[1:] != truth[:-1], truth[:, 1:] != truth[:, :-1])
        )
        for place in range(1, 4):  # an edge is three points long, between two corners
            contours[4:-1:4, place::4] = down
            contours[place::4, 4:-1:4] = right
        found.append(segbench.count_regions(np.kron(truth, np.ones((2, 2), np.int64)), contours, thresholds=levels))
    return found


def probabilities(
    random: Random, gap: float, *, slope: float, offset: float = 1.0, levels: int = 256
) -> list[segbench.ScoreCounts]:
    """Draw probabilities whose log odds are too large by a factor, with an offset of each image."""
    odds = random.normal(-0.5, 1.5, int(np.exp(random.normal(6, 0.7))) + 10)
    truth = random.random(odds.size) < expit(odds + offset * random.normal(0, 0.3))
    found = []
    for more in (0, 0, gap):
        scores = expit((slope + more) * (odds + offset * random.normal(0, 0.2)))
        levelled = np.minimum((scores * levels).astype(np.int64), levels - 1)
        positives, negatives = (np.bincount(levelled[part], minlength=levels)[::-1] for part in (truth, ~truth))
        found.append(segbench.ScoreCounts((np.arange(levels)[::-1] + 0.5) / levels, positives, negatives))
    return found


@dataclass(frozen=True)
class Population:
    """How an image of three methods is drawn, by how much one method is better, and how many images there are."""

    draw: Callable[..., list[Any]]
    gap: float
    protocol: Protocol
    size: int = 20_000
    options: Mapping[str, float] = field(default_factory=dict)

    def images(self) -> Images:
        """Draw the images of each method."""
        random = np.random.default_rng(0)
        return list(zip(*(self.draw(random, self.gap, **self.options) for _ in range(self.size)), strict=True))


PIXELS = segbench.Pixels()
WITH_LEVELS = {
    "lognormal": Population(unequal_sizes, 0.15, PIXELS),
    "one_in_ten": Population(one_in_ten, 0.15, PIXELS),
    "boundaries": Population(boundaries, 0.15, segbench.Boundaries()),
    "saliency": Population(saliency, 0.1, segbench.Saliency(), 4000),
    "regions": Population(regions, 0.2, segbench.Regions(), 4000),
}
POPULATIONS = {
    "lognormal": WITH_LEVELS["lognormal"],
    "one_in_ten": WITH_LEVELS["one_in_ten"],
    "rare_classes": Population(rare_classes, 0.15, segbench.Labels(classes=f"0-{CLASSES - 1}")),
    "flat": Population(flat, 0.5, PIXELS),
    "paired": Population(unequal_sizes, 0.15, PIXELS, options={"size": 0.8, "own": 0.25}),
    **{
        f"{name}_{levels}": replace(population, options={"levels": levels})
        for levels in (24, 256)
        for name, population in WITH_LEVELS.items()
    },
    **{
        f"probabilities_{slope:g}": Population(
            probabilities, 0.1, segbench.Pixels(calibration=True), options={"slope": slope}
        )
        for slope in (1, 1.1, 1.4)
    },
    "calibrated": Population(probabilities, 0.1, segbench.Pixels(calibration=True), options={"slope": 1, "offset": 0}),
}


class Counted:
    """Sums over repeats, by metric and by what is counted."""

    def __init__(self) -> None:
        self._sums: dict[str, dict[str, list[float]]] = {}

    def add(self, metric: str, **values: float) -> None:
        """Note what a repeat has for a metric; nan where it has none."""
        for name, value in values.items():
            self._sums.setdefault(metric, {}).setdefault(name, []).append(float(value))

    def __iter__(self) -> Iterator[str]:
        return iter(self._sums)

    def values(self, metric: str, name: str) -> Floats:
        """Give what the repeats have, without nan."""
        values: Floats = np.array(self._sums[metric].get(name, []))
        return values[~np.isnan(values)]

    def share(self, metric: str, name: str) -> float:
        """Give the mean over the repeats that have a value."""
        values = self.values(metric, name)
        return float(values.mean()) if values.size else np.nan


def holds(ends: Sequence[float] | Floats, truth: float) -> float:
    """Whether an interval holds a value; nan where there is none."""
    low, high = ends
    return np.nan if np.isnan(low) or np.isnan(high) else float(low - 1e-12 <= truth <= high + 1e-12)


def simulate(
    population: Population, truth: Floats, images: Images, number: int, *, repeats: int, replicates: int, own: bool
) -> Counted:
    """Draw images again and again, and count what intervals and p-values do; or only the first method's intervals."""
    counted = Counted()
    metrics = population.protocol.table({"": images[0][0]}).metrics
    places = {metric.key: place for place, metric in enumerate(metrics)}
    for repeat in range(repeats):
        chosen = np.random.default_rng([repeat, number]).integers(0, len(images[0]), number)
        samples = {
            method: {str(place): each[k] for place, k in enumerate(chosen)}
            for method, each in zip(METHODS, images, strict=False)  # images may be of the first method only
        }
        draws = {"replicates": replicates, "seed": repeat}
        if own:
            found = segbench.intervals(population.protocol.table(samples[METHODS[0]]), **draws)
        else:
            comparison = segbench.compare(samples, protocol=population.protocol, **draws)
            found = comparison.intervals[METHODS[0]]
            count_differences(counted, comparison, {key: truth[:, place] for key, place in places.items()})
        for key, ends in found.items():
            value = truth[0, places[key]]
            counted.add(key, held=holds(ends, value), width=ends[1] - ends[0], none=np.isnan(ends[0]))
    return counted


def count_differences(counted: Counted, comparison: segbench.Comparison, truth: Mapping[str, Floats]) -> None:
    """Count what intervals and p-values of differences do: of the two equal methods, and to the better one."""
    for metric in comparison.metrics:
        pairs = comparison.pairs(metric.key)
        low, high = pairs.intervals(LEVEL)
        with np.errstate(invalid="ignore", divide="ignore"):  # no difference in any image
            naive = 2 * stdtr(comparison.images - 1, -np.abs(pairs.differences / pairs.standard_errors))
        for place, (name, other) in enumerate({"equal": 1, "gap": 2}.items()):
            p, ends = pairs.p_values[place], (low[place], high[place])
            significant = np.array([p, naive[place]]) < 1 - LEVEL
            rejected, by_naive = np.where(np.isnan(p), np.nan, significant)
            held = holds(ends, truth[metric.key][0] - truth[metric.key][other])
            counted.add(metric.key, **{f"{name}_held": held, f"{name}_rejected": rejected, f"{name}_naive": by_naive})
            if not np.isnan([p, *ends]).any():
                counted.add(metric.key, contradictions=(ends[0] > 0 or ends[1] < 0) != significant[0])
    first, second = (comparison.measured[name] for name in METHODS[:2])
    for place, metric in enumerate(first.table.metrics):
        if metric.key and metric.spread in ("jumps", "erratic") and comparison.images >= ENOUGH_IMAGES:
            drawn = [each.draws[:, place] for each in (first, second)]
            of_first, of_difference = (np.nanquantile(each, QUANTILES) for each in (drawn[0], drawn[0] - drawn[1]))
            values = truth[metric.key]
            counted.add(
                metric.key,
                quantiles=holds(of_first, values[0]),
                quantiles_of_difference=holds(of_difference, values[0] - values[1]),
            )


COLUMNS = {
    "held": "held", "quant": "quantiles", "none": "none", "equal": "equal_held", "quant_d": "quantiles_of_difference",
    "size": "equal_rejected", "gap held": "gap_held", "power": "gap_rejected", "n - 1": "gap_naive",
}  # fmt: skip


def report(counted: Counted, truth: Mapping[str, Floats], title: str) -> None:
    """Print one line per metric."""
    print(f"\n{title}")
    titles = "".join(f"{name:>9}" for name in (*COLUMNS, "gap", "contr."))
    print(f"{'metric':24}{'truth':>9}{'width':>9}{titles}")
    for key in counted:
        first, *_, better = (*truth[key], np.nan) if truth[key].size == 1 else truth[key]
        widths = counted.values(key, "width")
        cells = [first, np.median(widths) if widths.size else np.nan]
        cells += [counted.share(key, name) for name in COLUMNS.values()]
        numbers = "".join(f"{'-':>9}" if np.isnan(cell) else f"{cell:9.4f}" for cell in (*cells, better - first))
        print(f"{key:24}{numbers}{int(counted.values(key, 'contradictions').sum()):9}", flush=True)


def print_scales(images: Images, number: int) -> None:
    """Print how much comparisons change where the second method's scores are on another scale."""
    changes = dict.fromkeys(SCALES, 0.0)
    for repeat in range(REPEATS_OF_SCALES):
        chosen = np.random.default_rng([repeat, number]).integers(0, len(images[0]), number)
        first, second = ({str(place): each[k] for place, k in enumerate(chosen)} for each in images[:2])
        found = ends_and_p(segbench.compare({"first": first, "second": second}, replicates=200))
        for name, scale in SCALES.items():
            scaled = {
                k: segbench.ScoreCounts(scale(one.scores), one.positives, one.negatives) for k, one in second.items()
            }
            other = ends_and_p(segbench.compare({"first": first, "second": scaled}, replicates=200))
            changes[name] = max(changes[name], float(np.nanmax(np.abs(found - other))))
    print(
        f"largest change of an interval or p-value, {number} images, second method's scores "
        + ", ".join(f"{name}: {change:.1e}" for name, change in changes.items())
    )


def ends_and_p(comparison: segbench.Comparison) -> Floats:
    """Give the ends of every interval and every p-value, of methods and of differences, but not thresholds."""
    rows = [(row.low, row.high, row.p_value) for row in comparison.differences]
    own = [
        ends for found in comparison.intervals.values() for key, ends in found.items() if not key.endswith("threshold")
    ]
    return np.array([*np.ravel(rows), *np.ravel(own)])


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("population", nargs="*", metavar="POPULATION", help=f"of {', '.join(POPULATIONS)}; all")
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--images", type=int, nargs="+", default=[10, 30, 100, 300])
    parser.add_argument("--replicates", type=int, default=500, help="resamples, for metrics that jump")
    parser.add_argument("--own", action="store_true", help="only the intervals of the first method, which is quicker")
    arguments = parser.parse_args()
    if unknown := set(arguments.population) - set(POPULATIONS):
        sys.exit(f"no population {', '.join(sorted(unknown))}; expected some of {', '.join(POPULATIONS)}")
    warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
    for name in arguments.population or POPULATIONS:
        population = POPULATIONS[name]
        images = population.images()[: 1 if arguments.own else None]
        tables = [population.protocol.table({f"{k:05}": one for k, one in enumerate(each)}) for each in images]
        truth = np.array([table.estimates for table in tables])
        by_key = {metric.key: truth[:, place] for place, metric in enumerate(tables[0].metrics)}
        for number in arguments.images:
            counted = simulate(
                population, truth, images, number,
                repeats=arguments.repeats, replicates=arguments.replicates, own=arguments.own,
            )  # fmt: skip
            report(counted, by_key, f"{name}: {number} images, {arguments.repeats} repeats")
            if name == "paired" and not arguments.own:
                print_scales(images, number)


if __name__ == "__main__":
    main()
