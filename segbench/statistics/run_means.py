"""Runs of one method: trainings measured on the same images, or the folds of a cross-validation, each on its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from shlex import quote
from typing import Any

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, Setting, as_message, as_note, joined, option_of
from segbench.core.metric import Metric
from segbench.core.names import few_names, first_names
from segbench.core.numbers import many
from segbench.core.part_means import PartMeans
from segbench.core.series import Space
from segbench.core.table import Sums, Table
from segbench.loaders.belonging import Assignment

_LISTED = 8
_SINGLE = (1, "run")


class RunMeans(PartMeans):
    """The tables of several runs of one method on the same images, of which every metric is averaged.

    A mean is undefined where a run does not define the metric: without that run, it would be over the trainings that
    went well. `restricted_to_common` leaves out what any run of either method lacks, so that all are measured on the
    same.
    """

    def __init__(self, runs: Mapping[str, Table]) -> None:
        metrics = next(iter(runs.values())).metrics
        super().__init__(runs, metrics, range(len(metrics)), parts="runs")

    @property
    def run_tables(self) -> tuple[Table, ...]:
        """The tables of the runs."""
        return tuple(self.tables.values())

    @property
    def images(self) -> int:
        """Number of images."""
        return self.run_tables[0].images

    @property
    def totals(self) -> Mapping[str, int]:
        """The totals that all runs have, such as those of the ground truth."""
        first, *others = (run.totals for run in self.run_tables)
        return {key: total for key, total in first.items() if all(totals.get(key) == total for totals in others)}

    @property
    def images_of_classes(self) -> Mapping[str, Any]:
        """The images that hold each class, in the ground truth or in any run."""
        return {name: images for run in self.run_tables for name, images in run.images_of_classes.items()}

    def _means(self, measure: Callable[[str, Table], FloatArray]) -> FloatArray:
        """Return means over runs of metrics, shape (rows, metrics); nan where a run does not define one."""
        means: FloatArray = np.mean([measure(name, table) for name, table in self.tables.items()], axis=0)
        return means

    def measure(self, weights: FloatArray) -> FloatArray:
        """Average the metrics of the runs for every row of weights, shape (R, images); groups do not add up."""
        return self._means(lambda _, table: table.measure(weights))

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the mean of the curves of the runs off at some places."""
        heights: FloatArray = np.mean([run.heights(space, at, of[name]) for name, run in self.tables.items()], axis=0)
        return heights

    def values_in(self, metric: Metric) -> IntArray:
        """Count the values of each image that every run has in a mean over images."""
        return np.min([run.values_in(metric) for run in self.run_tables], axis=0)

    def restricted_to_common(self, other: Table) -> Table:  # type: ignore[override]  # of any number of runs
        """Return the means over runs of what all runs of both methods have."""
        return on_common(self, other)

    def may_be_restricted(self, metric: Metric) -> bool:
        """Whether `restricted_to_common` may change a metric."""
        return any(run.may_be_restricted(metric) for run in self.run_tables)

    def why_undefined(self, metric: Metric) -> Message:
        """Say why a mean is nan, and in which runs."""
        column = self.metrics.index(metric)
        lacking = [
            (as_message(run.why_undefined(metric)), name)
            for name, run in self.tables.items()
            if np.isnan(run.estimates[column])
        ]
        return joined(
            reason if len(runs) == len(self.tables) else reason.extended(" (run {runs})", runs=runs)
            for reason, runs in grouped(lacking).items()
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What has to be said beside the estimates, of the runs for which it has to."""
        of_runs = grouped((as_note(note), name) for name, run in self.tables.items() for note in run.notes)
        return tuple(
            note if len(runs) == len(self.tables) else note.said_of(f"run {', '.join(runs)}")
            for note, runs in of_runs.items()
        )


def on_common(table: Table, other: Table) -> Table:
    """Return a table without the values that any run of it or of another method lacks: itself, unless some do."""
    runs = table.run_tables
    restricted = []
    for run in runs:
        others = (beside for beside in (*runs, *other.run_tables) if beside is not run)
        restricted.append(reduce(lambda part, lacking: part.restricted_to_common(lacking), others, run))
    if all(part is run for part, run in zip(restricted, runs, strict=True)):
        return table
    return RunMeans(dict(zip(table.columns, restricted, strict=True))) if len(runs) > 1 else restricted[0]


def told_of_runs(tables: Mapping[str, Table]) -> str:
    """Say how many runs or folds of each method are compared: ``3 runs of ours, 1 of theirs``, or nothing."""
    numbers = {
        name: (len(set(table.folds)) or table.runs, "fold" if table.folds else "run") for name, table in tables.items()
    }
    if set(numbers.values()) == {_SINGLE}:
        return ""
    by_number = grouped((number, name) for name, number in numbers.items())
    if len(by_number) == 1:
        return f"{many(*next(iter(by_number)))} of each"
    told, last = [], ""
    for (number, noun), names in by_number.items():
        told.append(f"{number if noun == last else many(number, noun)} of {few_names(names, len(tables))}")
        last = noun
    varies = any(table.runs > 1 for table in tables.values())
    return ", ".join([*told, *(["taken to vary alike"] if varies and _SINGLE in by_number else [])])


def with_trainings(rows: str, tables: Iterable[Table]) -> str:
    """Say what is drawn at random, given the images or units in words: ``60 images and trainings``."""
    tables = [*tables]
    if any(table.folds for table in tables):
        return f"{rows} or folds"
    return f"{rows} and trainings" if any(table.runs > 1 for table in tables) else rows


def are_folds(method: str, runs: Mapping[str, Collection[str]]) -> bool:
    """Return whether the runs of a method, each with its images, are folds with images of their own.

    They are not where all are on the same images, as trainings are.

    Raises
    ------
    ArgumentError
        If a run has no images.
    DataError
        If some runs share a part of their images.
    """
    images = {run: frozenset(names) for run, names in runs.items()}
    without = [run for run, names in images.items() if not names]
    if without:
        raise ArgumentError(
            Message(
                "no-images",
                "{method}: run {runs} has no images, expected at least one",
                method=method,
                runs=without,
            )
        )
    if len(set(images.values())) == 1:
        return False
    if len(frozenset.union(*images.values())) == sum(map(len, images.values())):
        return True
    overlapping = [(a, b) for a, b in itertools.combinations(images, 2) if images[a] & images[b]]
    unlike = [(a, b) for a, b in overlapping if images[a] != images[b]]
    if unlike:
        a, b = unlike[0]
        overlap = Message(
            "overlapping-runs",
            "runs {run} and {other} share {shared} images, of {images} and {other_images}",
            run=a,
            other=b,
            shared=len(images[a] & images[b]),
            images=len(images[a]),
            other_images=len(images[b]),
        )
        remedy = _remedy(images, a, b)
    else:
        a, b = overlapping[0]
        overlap = Message(
            "repeated-folds", "runs {run} and {other} are on the same images, others on different ones", run=a, other=b
        )
        remedy = as_message("of a cross-validation that was repeated, give the folds of one repetition")
    raise DataError(method, overlap + "; expected the same images in all (trainings) or in no two (folds)", remedy)


def _remedy(images: Mapping[str, frozenset[str]], first: str, second: str) -> Message:
    """Say how runs that share a part of their images become trainings, or folds."""
    remedies: list[Message] = []
    common = sorted(frozenset.intersection(*images.values()))
    if common:
        few = len(common) <= _LISTED
        listed = f" {quote(','.join(common))}" if few else f" LIST.txt, with the names of these {len(common)}"
        images_of_all = Either(f"images={common if few else 'LIST.txt'!r}", f"{option_of('images')}{listed}")
        remedies.append(
            Message(
                "common-images",
                "to compare trainings, count the images that all have: {option}",
                option=images_of_all,
                value=Setting("images", tuple(common)),
            )
        )
    shared = first_names(sorted(images[first] & images[second]), _LISTED)
    remedies.append(Message("pool-folds", "to pool folds, take {shared} out of one of them", shared=shared))
    return joined(remedies)


def named_runs(method: str, runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Name the counts of each run of a method as messages do; those of folds are put together."""
    if len(runs) == 1:
        return {method: next(iter(runs.values()))}
    if not are_folds(method, runs):
        return {f"{method}@{run}": counts for run, counts in runs.items()}
    return {method: {image: counts for images in runs.values() for image, counts in images.items()}}


def table_of_runs(
    method: str,
    runs: Mapping[str, Mapping[str, Any]],
    lay_out: Callable[[Any], Table],
    units: Assignment | None = None,
) -> Table:
    """Lay out the counts of each image of the runs of a method: the mean over trainings, or all folds as one.

    No unit of those that `lay_out` sums by, if any, may have images in several folds.
    """
    tables = [lay_out(counts) for counts in named_runs(method, runs).values()]
    if len(tables) > 1:
        return RunMeans(dict(zip(runs, tables, strict=True)))
    if len(runs) == 1:
        return tables[0]
    fold_of = {image: fold for fold, images in runs.items() for image in images}
    if units is not None:
        units.refuse_divided(fold_of, "fold")
    return tables[0].in_folds([fold_of[image] for image in tables[0].image_of_rows])
