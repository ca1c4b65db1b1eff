"""The metrics of single images and of single units, computed when they are asked for.

`Result.per_image` and `Result.per_unit` give them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from segbench.aggregator.records import ByName
from segbench.core.arrays import FloatArray
from segbench.core.counts import Counts
from segbench.core.messages import Message
from segbench.core.metric import Summary
from segbench.core.numbers import many
from segbench.core.table import Table
from segbench.core.text_table import data_frame
from segbench.core.units import UnitTable
from segbench.loaders.belonging import Assignment
from segbench.statistics.means import RunMeans
from segbench.statistics.tables import summed_counts

if TYPE_CHECKING:
    import pandas as pd

LayOut = Callable[[Mapping[str, Counts]], Table]
"""Makes a table of the counts of some images, measured as the whole set decides."""


class Summaries(ByName[Summary]):
    """The metrics of single images or units, by name."""

    noun: ClassVar[str]
    """What each of them is of."""

    def to_dataframe(self) -> pd.DataFrame:
        """Return a table with a row for each and a column per metric; needs pandas, which is not installed with it."""
        return data_frame(list(self.values()), self.noun, list(self))

    def of_keys(self, keys: Collection[str]) -> Callable[[str], Summary]:
        """Return a function that gives the metrics of an image or unit by its name, at least those of some keys."""
        del keys
        return self.__getitem__

    def __repr__(self) -> str:
        return f"<metrics of {many(len(self), self.noun)} by name>"


class ImageSummaries(Summaries):
    """The metrics of each image alone, by its name, sorted as text.

    Scores of all images at once, where there are any, are columns by their keys for images.
    """

    noun = "image"

    def __init__(
        self, counts: Mapping[str, Counts], lay_out: LayOut, columns: Callable[[], Mapping[str, FloatArray]]
    ) -> None:
        self._counts, self._names = counts, counts
        self._lay_out, self._columns = lay_out, columns

    def __getitem__(self, name: str) -> Summary:
        """Measure the image of that name."""
        return self._lay_out({name: self._counts[name]}).image_summary()

    def column(self, key: str) -> FloatArray:
        """Return one metric of every image, in the order of the names; nan where it is undefined.

        Scores of all images are measured at once, in a fraction of the time that one image after the other takes.
        """
        values = self._columns().get(key)
        return np.array([summary.get(key, math.nan) for summary in self.values()]) if values is None else values

    def of_keys(self, keys: Collection[str]) -> Callable[[str], Summary]:
        """Return a function that gives the metrics of an image by its name, at least those of some keys.

        Where all of these are scores, and defined, it takes those that were measured of all images at once.
        """
        columns = self._columns()
        if not keys or not columns.keys() >= set(keys):
            return self.__getitem__
        rows = np.column_stack([columns[key] for key in keys]).tolist()
        defined = {
            name: row for name, row in zip(self, rows, strict=True) if not any(math.isnan(value) for value in row)
        }

        def summary(name: str) -> Summary:
            return Summary(dict(zip(keys, defined[name], strict=True))) if name in defined else self[name]

        return summary


class UnitSummaries(Summaries):
    """The metrics of each unit, by its name: its counts added up as one image, or else means over its images.

    Of several `trainings` on the same images, each with its counts and what lays them out, values are means.
    """

    noun = "unit"

    def __init__(
        self,
        measured: Table,
        units: Assignment | None,
        trainings: Mapping[str, tuple[Mapping[str, Counts], LayOut]],
    ) -> None:
        self._measured, self._units, self._trainings = measured, units, trainings
        has_units = all(isinstance(table, UnitTable) for table in measured.run_tables)
        self._names = measured.names if has_units else ()

    @cached_property
    def _sums(self) -> Mapping[str, Mapping[str, Counts]]:
        """The counts of each unit added up, by the training, of which there may be one summary."""
        assert self._units is not None  # noqa: S101  for types alone: without units there are no names
        return {name: summed_counts(counts, self._units) for name, (counts, _) in self._trainings.items()}

    @cached_property
    def _values(self) -> Mapping[str, dict[str, float]]:
        """The metrics of each unit, by their keys for images."""
        keys = [metric.image_key for metric in self._measured.metrics]
        rows = self._measured.measure_images().tolist()
        return {
            unit: {key: value for key, value in zip(keys, row, strict=True) if key}
            for unit, row in zip(self._names, rows, strict=True)
        }

    def __getitem__(self, unit: str) -> Summary:
        """Measure the unit of that name."""
        tables = {name: lay_out({unit: self._sums[name][unit]}) for name, (_, lay_out) in self._trainings.items()}
        table = RunMeans(tables) if len(tables) > 1 else next(iter(tables.values()))
        summary = table.image_summary()
        metrics = {key: self._values[unit].get(key, value) for key, value in summary.metrics.items()}
        everywhere = Message("undefined-everywhere", "undefined in every {of}", of="image")
        reasons = {key: summary.undefined.get(key, everywhere) for key in metrics if math.isnan(metrics[key])}
        return replace(summary, metrics=metrics, undefined=reasons)

    def column(self, key: str) -> FloatArray:
        """Return one metric of every unit, in the order of the names; nan where it is undefined."""
        return np.array([values.get(key, math.nan) for values in self._values.values()])
