"""Do intervals and tests hold what they promise: coverage and size by simulation, cell by cell.

    python scripts/checks/check_statistics.py CELL... [--repeats 2000] [--seed 0] [-j 2] [--over-images]

A cell is a population and a number of images, units or runs; CELL is the name of one or the beginning of names: `a`,
`d/30`. Every repeat draws a set of two equally good methods and compares them by `segbench.compare`. For each metric
`statistics.csv` has

- the metric of the population, and the share of the first method's 95 % intervals that hold it (coverage);
- the share of p-values below .05 (size; in the cells named power, where the second method is better, power);
- the shares of repeats without an interval and without a p-value.

With `--over-images`, the sets of (a), (d) and (e) are compared as if all images were independent and each method had
been trained once, and `statistics_over_images.csv` has the same columns.

A cell is skipped where the file has it with as many repeats. 2000 repeats have a standard error of .005 at .95; a cell
that misses its bound is run again with `--repeats 10000 --seed 1`, which decides. `statistics_tables.py` writes the
tables of the documentation from the file.

(a) units of images that resemble each other; (b) one unit with half of the images; (c) other protocols over units;
(d) methods trained several times; (e) folds of a cross-validation; (f) populations for which intervals are known to be
too narrow; (g) images that are independent, protocol by protocol; (n) how often a note on few images that decide a mean
is given.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import populations
from populations import Floats, Integers, Pair, Random

import segbench

RECORDED = Path(__file__).parents[2] / "tests" / "statistics" / "p_values.json"
RESULTS = Path(__file__).with_name("statistics.csv")
RESULTS_OVER_IMAGES = Path(__file__).with_name("statistics_over_images.csv")
COLUMNS = ("cell", "metric", "repeats", "seed", "truth", "coverage", "no_interval", "size", "no_test", "noted")
LARGE, LARGE_SETS = 1000, 20
"""The metrics of a population are the means of those of so many sets of so many images or units."""

Population = Callable[..., Pair]
Drawn = tuple[dict[str, Any], dict[str, str] | None]
"""The counts of both methods by image, or those of each run in a list; and the unit of each image, if any."""


@dataclass(frozen=True)
class Cell:
    """A population, how many images are drawn, and what must hold."""

    draw: Callable[[Random], Drawn]
    truth: Callable[[tuple[str, ...]], Floats]  # the metrics of the population, by their keys
    metrics: tuple[str, ...]
    size: tuple[float, float] = (0.0, 1.0)
    coverage: float = 0.0

    def misses(self, row: Mapping[str, str]) -> bool:
        """Return whether what was measured breaks a bound."""
        size, coverage = (float(row[name] or "nan") for name in ("size", "coverage"))
        return not self.size[0] <= size <= self.size[1] or coverage < self.coverage


@dataclass(frozen=True)
class NoteCell:
    """A population of distances, and in which share of the sets a note on few images is to be given."""

    distances: Callable[[Random], Floats]
    least: float = 0.0
    most: float = 1.0

    def noted(self, random: Random) -> bool:
        """Return whether a drawn set has the note."""
        images = named(populations.at_distances(self.distances(random)))
        notes = segbench.intervals(images, replicates=1).notes
        return any("hd95" in dict(note.metrics) for note in notes)

    def misses(self, row: Mapping[str, str]) -> bool:
        """Return whether what was measured breaks a bound."""
        return not self.least <= float(row["noted"]) <= self.most


@dataclass
class Measured:
    """What repeats have for each metric, shape (metrics,)."""

    estimates: Floats
    low: Floats
    high: Floats
    p_values: Floats


def measure(drawn: Drawn, metrics: Sequence[str]) -> Measured:
    """Compare two methods by the library: the first one's metrics with their intervals, and p of the difference."""
    methods, unit = drawn
    comparison = segbench.compare(methods, replicates=1, **({} if unit is None else {"unit": unit}))
    rows = []
    for key in metrics:
        standing = next(row for row in comparison.answer(key).standings if row.method == "first")
        (difference,) = comparison.rows(key, tallied=False)
        rows.append((standing.estimate, *standing.interval.ends, difference.p_value))
    return Measured(*np.array(rows).T)


def named(counts: Sequence[Any], start: int = 0) -> dict[str, Any]:
    """Name images by their numbers."""
    return {f"{number:06}": image for number, image in enumerate(counts, start)}


def of_images(population: Population, images: int, random: Random) -> Drawn:
    """Draw images that are independent."""
    first, second = population(random, np.arange(images))
    return {"first": named(first), "second": named(second)}, None


def of_units(population: Population, rho: float, sizes: Callable[[Random], Integers], random: Random) -> Drawn:
    """Draw units with these numbers of images."""
    number = sizes(random)
    unit = np.repeat(np.arange(number.size), number)
    first, second = population(random, unit, rho)
    return {"first": named(first), "second": named(second)}, named([f"unit {k}" for k in unit.tolist()])


def of_runs(images: int, runs: tuple[int, int], deviation: float, random: Random) -> Drawn:
    """Draw two methods with these numbers of runs."""
    tp, fp, size = populations.trained(random, images, max(runs), deviation)
    methods = {}
    for name, of_method, number in zip(("first", "second"), zip(tp, fp, strict=True), runs, strict=True):
        counts = [named(populations.confusion(*run, size)) for run in zip(*of_method, strict=True)]
        methods[name] = counts[:number] if number > 1 else counts[0]
    return methods, None


def of_folds(images: int, folds: int, deviation: float, random: Random) -> Drawn:
    """Draw two methods that are trained once for each fold, which has its part of the images."""
    tp, fp, size = populations.trained(random, images, folds, deviation)
    ends = np.linspace(0, images, folds + 1).astype(int)
    methods: dict[str, list[dict[str, Any]]] = {"first": [], "second": []}
    for fold, (start, end) in enumerate(itertools.pairwise(ends)):
        for runs, of_method in zip(methods.values(), zip(tp[:, fold], fp[:, fold], strict=True), strict=True):
            runs.append(named(populations.confusion(*(part[start:end] for part in (*of_method, size))), start))
    return methods, None


def without_units_and_runs(draw: Callable[[Random], Drawn], random: Random) -> Drawn:
    """Draw a set without its units, and with the first run, or the folds taken together, of each method."""
    methods, _ = draw(random)
    for name, runs in methods.items():
        if isinstance(runs, list):
            methods[name] = {image: counts for run in reversed(runs) for image, counts in run.items()}
    return methods, None


def over_images(cell: Cell) -> Cell:
    """Return a cell that takes images as independent, and methods as trained once."""
    metrics = tuple(metric for metric in cell.metrics if not metric.endswith("_units"))
    return replace(cell, draw=partial(without_units_and_runs, cell.draw), metrics=metrics)


@cache
def truth_of(draw: Callable[[Random], Drawn], metrics: tuple[str, ...]) -> Floats:
    """Return the metrics of a population, from large sets of it."""
    random = np.random.default_rng(2**32 - 1)
    mean: Floats = np.mean([measure(draw(random), metrics).estimates for _ in range(LARGE_SETS)], axis=0)
    return mean


@cache
def truth_of_runs(deviation: float, metrics: tuple[str, ...]) -> Floats:
    """Return the mean IoU of all images, and Dice of an image, over trainings of methods trained several times."""
    random, values = np.random.default_rng(2**32 - 1), []
    for _ in range(200):
        tp, fp, size = populations.trained(random, LARGE, 20, deviation)
        iou = tp.sum(axis=2) / (fp.sum(axis=2) + size.sum())
        values.append({"iou": iou.mean(), "dice_images": (2 * tp / (tp + fp + size)).mean()})
    return np.array([np.mean([value[key] for value in values]) for key in metrics])


def between(units: int, low: int, high: int, random: Random) -> Integers:
    """Draw the numbers of images of units."""
    return random.integers(low, high + 1, units)


def one_large(units: int, random: Random) -> Integers:
    """Return the numbers of images of units, the first of which has half of all."""
    del random
    return np.array([10 * (units - 1), *[10] * (units - 1)])


def unknown(metrics: tuple[str, ...]) -> Floats:
    """Return no metrics, where intervals of a method are not of interest."""
    return np.full(len(metrics), np.nan)


CONTOURS = ("hd95", "assd", "nsd@2", "dice")
RARE = (1, 0.9, 0.6, 0.4, 0.2, 0.1, 0.08, 0.05)
IMAGES: dict[str, tuple[Population, tuple[str, ...], tuple[int, ...]]] = {
    "pixels": (
        populations.pixels, ("ods_f", "ois_f", "auc_roc", "average_precision", "mean_image_f"), (10, 30, 100, 300),
    ),
    "pixels-large": (
        partial(populations.pixels, large=True),
        ("ods_f", "ois_f", "auc_roc", "average_precision", "mean_image_f"), (10, 30, 100, 300),
    ),
    "labels": (populations.masks, ("iou", "dice_images", "pixel_accuracy"), (8, 10, 30, 100)),
    "boundaries": (populations.boundaries, ("ods_f", "ois_f", "area_pr", "mean_image_f"), (10, 30, 100, 300)),
    "saliency": (populations.saliency, ("s_measure", "f_max", "e_max", "weighted_f", "mae"), (10, 30, 100, 300)),
    "regions": (populations.regions, ("covering_ods", "pri_ods", "voi_ods", "are_ods"), (10, 30, 100, 300)),
    "contours": (populations.contours, CONTOURS, (8, 10, 30, 100)),
    "objects": (populations.objects, ("pq", "f1@0.5", "f1_images@0.5", "aji"), (8, 10, 30, 100)),
    "detections": (populations.detections, ("coco_ap", "ap_exact"), (30, 100, 300)),
    "centerlines": (populations.centerlines, ("cldice", "cldice_images", "betti0_error"), (8, 10, 30, 100)),
    "anomalies": (populations.anomalies, ("aupro", "image_auc_roc", "auc_roc", "average_precision"), (8, 10, 30, 100)),
}  # fmt: skip
FAILING: dict[str, tuple[Population, tuple[str, ...], tuple[int, ...]]] = {
    "rare-classes": (
        partial(populations.classes, present=RARE), ("miou", "mean_dice", "pixel_accuracy"), (8, 10, 30, 100, 300),
    ),
    "detections-rare": (partial(populations.detections, rare=0.06), ("coco_ap", "ap_exact"), (30, 100, 300)),
    "failures": (partial(populations.contours, failing=0.05), CONTOURS, (8, 10, 30, 100)),
    "failures-of-one": (
        partial(populations.contours, failing=0.05, only_second=True), ("hd95", "assd"), (8, 10, 30, 100),
    ),
}  # fmt: skip
UNITS: dict[str, tuple[Population, tuple[str, ...]]] = {
    "miou": (partial(populations.classes, present=(1, 0.75, 0.75, 0.75, 0.75), in_images=0.7), ("miou",)),
    "ods": (populations.pixels, ("ods_f",)),
    "pq": (populations.objects, ("pq",)),
    "aupro": (populations.anomalies, ("aupro",)),
    "hd95": (populations.contours, ("hd95",)),
}
FAILING_UNITS: dict[str, tuple[Population, tuple[str, ...]]] = {
    "units-rare-classes": (partial(populations.classes, present=RARE, in_images=0.7), ("miou",)),
    "units-failing": (partial(populations.masks, failing=0.1), ("dice_images",)),
}


OF_MASKS = ("iou", "dice_images")
TRAININGS = (0, 0.05, 0.1)
"""Standard deviations of trainings."""


def cells_of_units() -> Iterator[tuple[str, Cell]]:
    """Yield cells of masks in units (a), also with one that has half of the images (b)."""
    metrics = (*OF_MASKS, "dice_units")
    for units, rho, low, high in (
        (8, 0.5, 5, 29), (12, 0.2, 10, 10), (12, 0.5, 10, 10), (30, 0.5, 5, 29), (30, 0, 5, 29), (100, 0.5, 1, 59),
    ):  # fmt: skip
        draw, truth = (
            partial(of_units, populations.masks, rho, partial(between, number, low, high)) for number in (units, LARGE)
        )
        yield f"a/{units}x{low}-{high}-rho{rho}", Cell(draw, partial(truth_of, truth), metrics, (0.03, 0.07), 0.93)
    # Skill does not depend on the number of images, so these metrics are those of units of equal size.
    truth = partial(of_units, populations.masks, 0.5, partial(between, LARGE, 10, 10))
    for units in (6, 8, 12):
        draw = partial(of_units, populations.masks, 0.5, partial(one_large, units))
        yield f"b/{units}", Cell(draw, partial(truth_of, truth), OF_MASKS, (0, 0.07), 0.93)


def cells_of_protocols() -> Iterator[tuple[str, Cell]]:
    """Yield cells of units in other protocols (c), and where intervals are too narrow (f)."""
    for letter, populations_of, numbers in (("c", UNITS, (12, 30)), ("f", FAILING_UNITS, (8, 12, 30))):
        for name, (population, metrics) in populations_of.items():
            truth = partial(truth_of, partial(of_units, population, 0.5, partial(between, LARGE, 4, 8)))
            for units in numbers:
                draw = partial(of_units, population, 0.5, partial(between, units, 4, 8))
                bounds: Any = ((0, 0.07), 0.92) if letter == "c" else ()
                yield f"{letter}/{name}-{units}", Cell(draw, truth, metrics, *bounds)


def cells_of_runs() -> Iterator[tuple[str, Cell]]:
    """Yield cells of methods trained several times (d), and of folds (e)."""
    sets = [(images, runs) for images in (10, 30, 100) for runs in (2, 3, 5, 10)]
    for (images, runs), deviation in itertools.product([*sets, (500, 3)], TRAININGS):
        draw, truth = partial(of_runs, images, (runs, runs), deviation), partial(truth_of_runs, deviation)
        coverage = 0.93 if runs > 2 else 0.0
        yield f"d/{images}x{runs}-sd{deviation}", Cell(draw, truth, OF_MASKS, (0, 0.07), coverage)
    for runs, deviation in itertools.product((2, 3, 5, 10), TRAININGS):
        yield (
            f"d/one-30x{runs}-sd{deviation}",
            Cell(partial(of_runs, 30, (runs, 1), deviation), unknown, OF_MASKS, (0, 0.07)),
        )
    for images, deviation in itertools.product((50, 200), TRAININGS):
        yield f"e/{images}-sd{deviation}", Cell(partial(of_folds, images, 5, deviation), unknown, OF_MASKS, (0, 0.07))


def cells_of_images() -> Iterator[tuple[str, Cell]]:
    """Yield cells of images that are independent (g), and those among them where intervals are too narrow (f)."""
    for letter, rows in (("f", FAILING), ("g", IMAGES)):
        for name, (population, metrics, numbers) in rows.items():
            truth = partial(truth_of, partial(of_images, population, LARGE))
            for images in numbers:
                yield f"{letter}/{name}-{images}", Cell(partial(of_images, population, images), truth, metrics)
    for images in (10, 30, 100):
        better = partial(populations.pixels, gap=0.15)
        yield f"g/power-{images}", Cell(partial(of_images, better, images), unknown, ("ods_f",))


def cells_of_notes() -> Iterator[tuple[str, NoteCell]]:
    """Yield cells of the note on few images that decide a mean (n)."""
    for images, least in ((10, 0.6), (30, 0.8), (100, 0.95)):
        yield f"n/normal-{images}", NoteCell(lambda random, n=images: random.normal(100, 10, n), most=0.02)
        yield f"n/beta-{images}", NoteCell(lambda random, n=images: 1000 * random.beta(9, 1, n), most=0.06)
        yield f"n/failures-{images}", NoteCell(lambda random, n=images: populations.failed(random, n), least)


CELLS = dict(itertools.chain(cells_of_units(), cells_of_protocols(), cells_of_runs(), cells_of_images()))
NOTE_CELLS = dict(cells_of_notes())
SMALL = (
    "a/12x10-10-rho0.5", "b/6", "c/miou-12", "d/10x3-sd0.1", "d/one-30x3-sd0.1", "e/50-sd0.1", "f/rare-classes-8",
    "f/failures-of-one-10", "g/labels-10",
)  # fmt: skip
"""Cells of which the tests draw the first 100 sets; `--record` writes the p-values that they expect."""


def repeated(cell: Cell, repeats: int, seed: int) -> Measured:
    """Measure sets of a cell, shape (repeats, metrics)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nan in all of the resamples
        sets = [measure(cell.draw(np.random.default_rng([seed, repeat])), cell.metrics) for repeat in range(repeats)]
    return Measured(*(np.array([getattr(drawn, name) for drawn in sets]) for name in vars(sets[0])))


def rows_of(name: str, repeats: int, seed: int, *, images_alone: bool = False) -> list[dict[str, str]]:
    """Measure a cell: a row for each metric."""
    common = {"cell": name, "repeats": str(repeats), "seed": str(seed)}
    if name in NOTE_CELLS:
        noted = [NOTE_CELLS[name].noted(np.random.default_rng([seed, repeat])) for repeat in range(repeats)]
        return [{**dict.fromkeys(COLUMNS, ""), **common, "metric": "hd95", "noted": f"{np.mean(noted):.4f}"}]
    cell = over_images(CELLS[name]) if images_alone else CELLS[name]
    measured, truth = repeated(cell, repeats, seed), cell.truth(cell.metrics)
    rows = []
    for column, metric in enumerate(cell.metrics):
        low, high, p_values = (values[:, column] for values in (measured.low, measured.high, measured.p_values))
        known, tested = ~np.isnan(low), ~np.isnan(p_values)
        covered = (low[known] - 1e-12 <= truth[column]) & (truth[column] <= high[known] + 1e-12)
        shares = {
            "truth": truth[column],
            "coverage": covered.mean() if known.any() and not np.isnan(truth[column]) else np.nan,
            "no_interval": 1 - known.mean(),
            "size": (p_values[tested] < 0.05).mean() if tested.any() else np.nan,
            "no_test": 1 - tested.mean(),
        }
        texts = {key: "" if np.isnan(share) else f"{share:.4f}" for key, share in shares.items()}
        rows.append({**dict.fromkeys(COLUMNS, ""), **common, "metric": metric, **texts})
    return rows


def read(*, images_alone: bool = False) -> dict[str, list[dict[str, str]]]:
    """Read what has been measured, the rows of each cell."""
    measured: dict[str, list[dict[str, str]]] = {}
    path = RESULTS_OVER_IMAGES if images_alone else RESULTS
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                measured.setdefault(row["cell"], []).append(row)
    return measured


def store(rows: list[dict[str, str]], *, images_alone: bool = False) -> None:
    """Put the rows of a cell into the file, in the order of the cells."""
    path = RESULTS_OVER_IMAGES if images_alone else RESULTS
    measured = {**read(images_alone=images_alone), rows[0]["cell"]: rows}
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name in (*CELLS, *NOTE_CELLS):
        writer.writerows(measured.get(name, []))
    partly = path.with_suffix(".partly")
    partly.write_text(text.getvalue())
    partly.replace(path)


def run(names: Sequence[str], repeats: int, seed: int, jobs: int, *, images_alone: bool) -> None:
    """Measure cells that are not in the file with as many repeats, and print them."""
    measured = read(images_alone=images_alone)
    missing = [name for name in names if not measured.get(name) or int(measured[name][0]["repeats"]) < repeats]
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        running = [pool.submit(rows_of, name, repeats, seed, images_alone=images_alone) for name in missing]
        for done in as_completed(running):
            rows = done.result()
            store(rows, images_alone=images_alone)
            for row in rows:
                cell = CELLS.get(row["cell"]) or NOTE_CELLS[row["cell"]]
                missed = "  misses its bound" if not images_alone and cell.misses(row) else ""
                print(f"{time.perf_counter() - start:7.0f} s  " + "  ".join(row.values()) + missed, flush=True)


def first_p_values(name: str) -> list[float]:
    """Return the p-values of the first metric of a cell in the first 100 sets."""
    return [float(f"{p:.9g}") for p in repeated(CELLS[name], 100, 0).p_values[:, 0]]


def main() -> None:
    """Measure cells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cell", nargs="*", metavar="CELL", help="beginning of the names of cells, such as a or d/30")
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--over-images", action="store_true", help="leave out units and further runs")
    parser.add_argument("--list", action="store_true", help="print the names of all cells")
    parser.add_argument("--record", action="store_true", help="write the p-values that tests compare with")
    arguments = parser.parse_args()
    if arguments.record:
        lines = (f'"{name}": {json.dumps(first_p_values(name))}' for name in SMALL)
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    if arguments.list:
        print("\n".join((*CELLS, *NOTE_CELLS)))
    names = [name for start in arguments.cell for name in (*CELLS, *NOTE_CELLS) if name.startswith(start)]
    if arguments.cell and not names:
        sys.exit(f"no cell begins with {', '.join(arguments.cell)}; --list prints the names of all")
    if arguments.over_images:
        names = [name for name in names if name.startswith(("a/", "d/", "e/"))]
    chosen = list(dict.fromkeys(names))
    run(chosen, arguments.repeats, arguments.seed, arguments.jobs, images_alone=arguments.over_images)


if __name__ == "__main__":
    main()
