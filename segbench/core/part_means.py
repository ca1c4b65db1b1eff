"""Means of metrics over several tables of the same images, such as those of classes: each part counts alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, keys_and_names
from segbench.core.table import Sums, Table, left_out_beside


class PartMeans(Table):
    """Tables of parts, of which every metric is averaged over those parts where it is defined.

    The `metrics` are those in the `metric_columns` of each table, and `parts` is what notes call the tables: groups. A
    resample without any image of a part gives means over the others, as the benchmark of just those images would.
    """

    def __init__(
        self, tables: Mapping[str, Table], metrics: Sequence[Metric], metric_columns: Sequence[int], *, parts: str
    ) -> None:
        self.tables = dict(tables)
        self.metrics = tuple(metrics)
        self.metric_columns = np.array(metric_columns, np.intp)
        self.parts = parts
        self.why_no_ranks = Message(
            "ranks-of-parts",
            "the signed-rank test is for means over images, and these are over {parts}{itself}",
            parts=parts,
            itself="" if parts == "runs" else f"; one {singular(parts)} can be compared by itself",
        )

    @property
    def noun(self) -> str:  # type: ignore[override]  # that of the tables
        """What a row is called."""
        return next(iter(self.tables.values())).noun

    @property
    def number_of_images(self) -> int:
        """How many images there are."""
        return next(iter(self.tables.values())).number_of_images

    @property
    def sample_size(self) -> str:
        """How many images, or units, there are, in words."""
        return next(iter(self.tables.values())).sample_size

    @property
    def columns(self) -> Mapping[str, Table]:
        """The tables of the parts."""
        return self.tables

    @cached_property
    def names(self) -> Sequence[str]:
        """The images, which are those of every part."""
        return next(iter(self.tables.values())).names

    @property
    def image_of_rows(self) -> Sequence[str]:
        """The image of each row, or one of its images."""
        return next(iter(self.tables.values())).image_of_rows

    @cached_property
    def of_parts(self) -> FloatArray:
        """Every metric of each part, shape (parts, metrics); nan where undefined."""
        estimates = [table.estimates[self.metric_columns] for table in self.tables.values()]
        return np.where(self.left_out, np.nan, np.array(estimates).reshape(len(self.tables), -1))

    @cached_property
    def left_out(self) -> BoolArray:
        """Which values of parts the means leave out beside another method, shape (parts, metrics)."""
        return np.zeros((len(self.tables), len(self.metrics)), np.bool_)

    @cached_property
    def estimates(self) -> FloatArray:
        """The mean of every metric."""
        row: FloatArray = self._means(lambda _, table: table.estimates[np.newaxis])[0]
        return row

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        """Average the metrics of each row of sums."""
        return self.by_label(self._means(lambda name, table: table.scored(of[name])))

    def without_each(self) -> FloatArray:
        """Average the metrics without each image in turn."""
        return self._means(lambda _, table: table.without_each())

    def measure_images(self) -> FloatArray:
        """Measure each image alone: means over the parts that it defines."""
        return self._means(lambda _, table: table.measure_images())

    def _means(self, measure: Callable[[str, Table], FloatArray]) -> FloatArray:
        """Return means over parts of metrics, shape (rows, metrics); nan where no part defines one."""
        total: FloatArray | float = 0.0
        defined: FloatArray | float = 0.0
        for (name, table), left_out in zip(self.tables.items(), self.left_out, strict=True):
            values = np.where(left_out, np.nan, measure(name, table)[:, self.metric_columns])
            total, defined = total + np.nan_to_num(values), defined + ~np.isnan(values)
        means = np.full(np.broadcast_shapes(np.shape(total), (1, len(self.metrics))), np.nan)
        np.divide(total, defined, out=means, where=np.asarray(defined) > 0)
        return means

    def restricted_to_common(self, other: Self) -> Self:
        """Return the means over parts of what the other method has, too; see `Table`.

        Parts that the other lacks are left out, unless nothing is there, so that what this method has are false
        positives.
        """
        tables = {name: table.restricted_to_common(other.tables[name]) for name, table in self.tables.items()}
        restricted = self._with(tables=tables, left_out=self.left_out)
        missed = [table.may_be_missed[self.metric_columns] for table in other.tables.values()]
        left_out = left_out_beside(restricted.of_parts, other.of_parts, missed)
        if left_out.any():
            return self._with(tables=tables, left_out=self.left_out | left_out)
        return self if all(tables[name] is table for name, table in self.tables.items()) else restricted

    def may_be_restricted(self, metric: Metric) -> bool:
        """Return True: a part may lack any metric."""
        del metric
        return True

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """The mean over parts of the weights of images in each."""
        parts = [table.weights_by_metric[:, self.metric_columns] for table in self.tables.values()]
        return self.by_label(np.mean([part / np.maximum(part.sum(axis=0), 1) for part in parts], axis=0))

    @property
    def value_noun(self) -> str:  # type: ignore[override]  # that of the tables
        """What has a value."""
        return next(iter(self.tables.values())).value_noun

    def lacks(self, metric: Metric) -> str:
        """Say what a method without a value does, as the tables do."""
        return next(iter(self.tables.values())).lacks(metric)

    def why_undefined(self, metric: Metric) -> Message:
        """Say why a mean is nan."""
        del metric
        return Message("undefined-everywhere", "undefined in every {of}", of=singular(self.parts))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say which parts are in no mean."""
        names, lacking = list(self.tables), dict[tuple[str, ...], list[Metric]]()
        for metric, undefined in zip(self.metrics, np.isnan(self.of_parts).T, strict=True):
            without = tuple(name for name, lacks in zip(names, undefined, strict=True) if lacks)
            if metric.title and 0 < len(without) < len(names):
                lacking.setdefault(without, []).append(metric)
        notes = []
        for without, metrics in lacking.items():
            message = Message(
                "undefined-parts",
                "mean of {metrics}: over {count} of {total} {parts}, undefined in {without}",
                count=len(names) - len(without),
                total=len(names),
                parts=self.parts,
                without=without,
            )
            notes.append(Note(message, metrics=keys_and_names(metrics)))
        return tuple(notes)


def singular(parts: str) -> str:
    """Return the noun for one of the parts."""
    return {"classes": "class"}.get(parts, parts.removesuffix("s"))
