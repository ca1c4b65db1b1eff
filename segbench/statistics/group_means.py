"""The mean of metrics over groups of images, such as the categories of a data set: each group counts alike.

The standard error is that of a stratified sample: images are left out one at a time, each of its own group,
SE^2 = sum over the G groups of SE_g^2 / G^2. Its pseudo-values are scaled so that they have this standard error, and
those of two methods over the same images subtract as others do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric
from segbench.core.notes import MetricNote
from segbench.core.table import Sums, Table, left_out_beside
from segbench.statistics.jackknife import Jackknife


class GroupMeans(Table):
    """The tables of groups, of which every metric is averaged over those groups where it is defined."""

    def __init__(self, tables: Mapping[str, Table], metrics: Sequence[Metric]) -> None:
        self.tables = dict(tables)
        self.metrics = tuple(metrics)
        keys = [metric.key for metric in next(iter(self.tables.values())).metrics]
        self.places = np.array([keys.index(metric.key) for metric in metrics])
        """The columns of these metrics in the tables of groups."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """None: images of different groups do not add up."""
        raise ArgumentError("images of several groups do not add up; take the table of one group")

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        """Refuse, as `columns`."""
        del of
        return self.columns

    @property
    def images(self) -> int:
        """Number of images of all groups."""
        return sum(table.images for table in self.tables.values())

    @cached_property
    def names(self) -> list[str]:
        """The images, group by group."""
        return [name for table in self.tables.values() for name in table.names]

    @cached_property
    def of_groups(self) -> FloatArray:
        """Every metric of each group, shape (groups, metrics); nan where undefined."""
        return np.array([table.estimates[self.places] for table in self.tables.values()])

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Which groups define a metric, shape (groups, metrics)."""
        return ~np.isnan(self.of_groups)

    @cached_property
    def estimates(self) -> FloatArray:
        """The mean of every metric."""
        return self.averaged(self.of_groups)

    def averaged(self, of_groups: FloatArray) -> FloatArray:
        """Average over the groups that define a metric, along the first axis; nan where none does."""
        held = self.held.reshape(len(self.held), *[1] * (of_groups.ndim - 2), -1)
        with np.errstate(invalid="ignore"):
            mean: FloatArray = np.where(held, of_groups, 0).sum(axis=0) / self.held.sum(axis=0)
        return mean

    def restricted_to_common(self, other: Self) -> Self:
        """Return the means of groups of what the other method has, too; see `Table`.

        Groups that the other lacks are left out, unless nothing is there, so that what this method has are false
        positives.
        """
        tables = {name: table.restricted_to_common(other.tables[name]) for name, table in self.tables.items()}
        of_groups = np.array([table.estimates[self.places] for table in tables.values()])
        missed = [table.may_be_missed[self.places] for table in other.tables.values()]
        left_out = left_out_beside(of_groups, other.of_groups, missed)
        if not left_out.any() and all(tables[name] is table for name, table in self.tables.items()):
            return self
        return self._with(tables=tables, of_groups=np.where(left_out, np.nan, of_groups))

    def may_be_restricted(self, metric: Metric) -> bool:
        """Any metric: a group may lack it."""
        del metric
        return True

    def why_undefined(self, metric: Metric) -> str:
        """Say why a mean is nan."""
        del metric
        return "undefined in every group"

    @property
    def notes(self) -> tuple[str, ...]:
        """Say which groups are in no mean."""
        lacking: dict[tuple[str, ...], dict[str, str]] = {}
        for metric, held in zip(self.metrics, self.held.T, strict=True):
            without = tuple(name for name, here in zip(self.tables, held, strict=True) if not here)
            if metric.title and 0 < len(without) < len(self.tables):
                lacking.setdefault(without, {})[metric.key] = metric.name
        groups, notes = len(self.tables), []
        for without, names in lacking.items():
            over = f": over {groups - len(without)} of {groups} groups, undefined in {', '.join(without)}"
            notes.append(MetricNote("mean of ", names, over))
        return tuple(notes)

    def measure_images(self) -> FloatArray:
        """Measure each image alone, shape (images, metrics)."""
        return np.concatenate([table.measure_images()[:, self.places] for table in self.tables.values()])

    def jackknife(self, groups: Sequence[Jackknife]) -> Jackknife:
        """Put the groups' own together; an image that is alone in its group cannot be left out."""
        number, images = self.held.sum(axis=0), self.images
        pseudo, weights = [], []
        for one, held in zip(groups, self.held, strict=True):
            values, shares = one.pseudo[:, self.places], one.weights[:, self.places]
            known = np.where(np.isnan(values), 0, values).sum(axis=0) / np.maximum((~np.isnan(values)).sum(axis=0), 1)
            with np.errstate(invalid="ignore", divide="ignore"):
                scale = np.sqrt(images * (images - 1) / np.float64(one.images * (one.images - 1))) / number
                moved = self.estimates + np.where(one.images > 1, scale * (values - known), np.nan)
                weighed = np.where(shares.any(axis=0), shares, 1.0)
                weights.append(np.where(held, weighed / weighed.sum(axis=0), 0.0))
            pseudo.append(np.where(held, moved, self.estimates))
        return Jackknife(self.estimates, np.concatenate(pseudo), np.concatenate(weights))
