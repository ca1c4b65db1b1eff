"""Tables of means: over groups of images, such as the categories of a data set, and over trainings of a method.

In a mean over groups each group counts alike, and its standard error is that of a stratified sample: images are left
out one at a time, each of its own group, SE^2 = sum over the G groups of SE_g^2 / G^2. Its pseudo-values are scaled so
that they have this standard error, and those of two methods over the same images subtract as others do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, as_message, as_note, joined
from segbench.core.metric import Metric
from segbench.core.numbers import many
from segbench.core.part_means import PartMeans
from segbench.core.series import Space
from segbench.core.table import Sums, Table
from segbench.statistics.variance import Jackknife


class GroupMeans(PartMeans):
    """The tables of groups, of which each has images of its own.

    Means are over the groups that define a metric in the benchmark itself, also those of resamples.
    """

    @property
    def columns(self) -> Mapping[str, Any]:
        """None: images of different groups do not add up."""
        raise ArgumentError(
            Message("several-groups", "images of several groups do not add up; take the table of one group")
        )

    @property
    def images(self) -> int:
        """Number of images of all groups."""
        return sum(table.images for table in self.tables.values())

    @property
    def number_of_images(self) -> int:
        """Number of images of all groups."""
        return sum(table.number_of_images for table in self.tables.values())

    @property
    def sample_size(self) -> str:
        """How many images, or units of images, there are in all groups, in words."""
        images = many(self.number_of_images, "image")
        return images if self.noun == "image" else f"{many(self.images, self.noun)}, {images}"

    @cached_property
    def names(self) -> list[str]:
        """The images, group by group."""
        return [name for table in self.tables.values() for name in table.names]

    @property
    def image_of_rows(self) -> list[str]:
        """The image of each row, or one of its images, group by group."""
        return [image for table in self.tables.values() for image in table.image_of_rows]

    @cached_property
    def defines(self) -> NDArray[np.bool_]:
        """Which groups define a metric, shape (groups, metrics)."""
        return ~np.isnan(self.of_parts)

    @cached_property
    def estimates(self) -> FloatArray:
        """The mean of every metric."""
        return self.averaged(self.of_parts)

    def averaged(self, of_groups: FloatArray) -> FloatArray:
        """Average over the groups that define a metric, along the first axis; nan where none does."""
        defines = self.defines.reshape(len(self.defines), *[1] * (of_groups.ndim - 2), -1)
        with np.errstate(invalid="ignore"):
            mean: FloatArray = np.where(defines, of_groups, 0).sum(axis=0) / self.defines.sum(axis=0)
        return mean

    @property
    def image_weights(self) -> Mapping[str, Any]:
        """None: `jackknife` has those of each group."""
        return {}

    def values_in(self, metric: Metric) -> IntArray:
        """Count the values of each image that are in the mean of its group, where that is in the mean."""
        number = self.metrics.index(metric)
        groups = zip(self.tables.values(), self.defines[:, number].tolist(), strict=True)
        column = self.metric_columns[number]
        return np.concatenate([table.values_in(table.metrics[column]) * defined for table, defined in groups])

    def measure_images(self) -> FloatArray:
        """Measure each image alone, shape (images, metrics)."""
        return np.concatenate([table.measure_images()[:, self.metric_columns] for table in self.tables.values()])

    def measure(self, weights: FloatArray) -> FloatArray:
        """Average the metrics of groups for every row of weights, shape (R, images)."""
        of_groups, first = [], 0
        for table in self.tables.values():
            of_groups.append(table.measure(weights[:, first : first + table.images])[:, self.metric_columns])
            first += table.images
        return self.averaged(np.array(of_groups))

    def jackknife(self, groups: Sequence[Jackknife]) -> Jackknife:
        """Put the groups' own together; an image that is alone in its group cannot be left out."""
        number, images = self.defines.sum(axis=0), self.images
        pseudo, weights = [], []
        for group, defines in zip(groups, self.defines, strict=True):
            values, shares = group.pseudo[:, self.metric_columns], group.weights[:, self.metric_columns]
            is_known = ~np.isnan(values)
            group_mean = np.where(is_known, values, 0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
            with np.errstate(invalid="ignore", divide="ignore"):
                scale = np.sqrt(images * (images - 1) / np.float64(group.images * (group.images - 1))) / number
                scaled = self.estimates + np.where(group.images > 1, scale * (values - group_mean), np.nan)
                weighed = np.where(shares.any(axis=0), shares, 1.0)
                weights.append(np.where(defines, weighed / weighed.sum(axis=0), 0.0))
            pseudo.append(np.where(defines, scaled, self.estimates))
        return Jackknife(self.estimates, np.concatenate(pseudo), np.concatenate(weights))


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
    def enough_of_class(self) -> int:  # type: ignore[override]  # of the table
        """In how many of them a class has to lie."""
        return next(iter(self.run_tables)).enough_of_class

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
        """Return whether `restricted_to_common` may change a metric."""
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
        part = run
        for other_run in (*runs, *other.run_tables):
            if other_run is not run:
                part = part.restricted_to_common(other_run)
        restricted.append(part)
    if all(part is run for part, run in zip(restricted, runs, strict=True)):
        return table
    return RunMeans(dict(zip(table.columns, restricted, strict=True))) if len(runs) > 1 else restricted[0]
