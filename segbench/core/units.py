"""Images that belong together, such as the slices of a patient: rows of a table summed by unit.

Images of one patient, video or scene resemble each other, so that not images but units are drawn at random. Rows of
images add up to rows of units, of which statistics leave out and resample one at a time; estimates stay. Beside the
metrics of images stand those of units: the counts of a unit added up and measured as one image, averaged over units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric
from segbench.core.numbers import many
from segbench.core.series import Series, Space
from segbench.core.table import ColumnLayout, Sums, Table

_OF_UNITS = "_units"


def unit_metrics(metrics: Iterable[Metric], noun: str) -> tuple[Metric, ...]:
    """Return the means over units of the metrics that counts of several images have when they are added up."""
    return tuple(
        replace(
            metric,
            key=_of_units(metric.image_key),
            title=metric.title if metric.compared or metric.headline else "",
            group=f"per-{noun}",
            image_key="",
            headline=False,
            mean_over_images=True,
            spread="smooth",
            optimistic=False,
            priority=0 if metric.headline else max(metric.priority, 1),
            note=f"mean over {noun}s, the counts of each added up",
        )
        for metric in metrics
        if metric.is_of_units
    )


def _of_units(key: str) -> str:
    """Return the key of the mean over units of a metric of images: ``dice_units``, ``f_units@0.5``."""
    name, sign, threshold = key.partition("@")
    return f"{name}{_OF_UNITS}{sign}{threshold}"


class SummedRows(Table):
    """The rows of a table summed by unit; estimates are those of the table.

    `units` has the unit of each row, called `noun` in messages. They keep the order of their first row.
    """

    def __init__(self, table: Table, units: Sequence[str], noun: str) -> None:
        self.table, self.units, self.noun = table, units, noun
        self.metrics = table.metrics

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns of the table, one row per image."""
        return self.table.columns

    @cached_property
    def names(self) -> list[str]:
        """The units."""
        return [*dict.fromkeys(self.units)]

    @property
    def image_of_rows(self) -> list[str]:
        """An image of each unit."""
        first = dict(zip(reversed(self.units), reversed(self.table.image_of_rows), strict=True))
        return [first[unit] for unit in self.names]

    @property
    def images(self) -> int:
        """Number of units."""
        return len(self.names)

    @property
    def number_of_images(self) -> int:
        """How many images the units hold together."""
        return self.table.number_of_images

    @property
    def sample_size(self) -> str:
        """How many units and images there are, in words."""
        return f"{many(self.images, self.noun)}, {self.table.sample_size}"

    @cached_property
    def _unit_of_rows(self) -> NDArray[np.intp]:
        """The number of the unit of each row."""
        numbers = {name: number for number, name in enumerate(self.names)}
        return np.array([numbers[unit] for unit in self.units], np.intp)

    @cached_property
    def layout(self) -> ColumnLayout:
        """The layout of the table with rows added up."""
        return self.table.layout.summed(self._unit_of_rows, self.images)

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        """Compute every metric from sums, see `Table`."""
        return self.table.formulas(of)

    def scored(self, of: Sums) -> FloatArray:
        """Compute every metric from sums by name, see `Table`."""
        return self.table.scored(of)

    @property
    def estimates(self) -> FloatArray:
        """Every metric of all images."""
        return self.table.estimates

    def restricted_to_common(self, other: Self) -> Self:
        """Return the table without values that the other method lacks, see `Table`."""
        restricted = self.table.restricted_to_common(other.table)
        return self if restricted is self.table else type(self)(restricted, self.units, self.noun)

    def may_be_restricted(self, metric: Metric) -> bool:
        """Return whether `restricted_to_common` may change a metric."""
        return self.table.may_be_restricted(metric)

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """The weights of the images of each unit, added up."""
        return {
            label: self._added_by_unit(weights)
            for label, weights in self.table.by_label(self.table.weights_by_metric).items()
        }

    @property
    def values_in_means(self) -> Mapping[str, FloatArray]:
        """How many values the images of each unit have in a mean over images."""
        return {metric.label: self._added_by_unit(self.table.values_in(metric)) for metric in self.metrics}

    @property
    def value_noun(self) -> str:  # type: ignore[override]  # of the table
        """What has a value: an image, or a mask."""
        return self.table.value_noun or self.table.noun

    def lacks(self, metric: Metric) -> str:
        """Say what a method without a value does."""
        return self.table.lacks(metric)

    def _added_by_unit(self, values: NDArray[Any]) -> FloatArray:
        """Add up a value of each row by unit."""
        return np.bincount(self._unit_of_rows, values.astype(np.float64), self.images).astype(np.float64, copy=False)

    @property
    def may_be_missed(self) -> BoolArray:
        """In which metrics a method without a value misses what is there."""
        return self.table.may_be_missed

    @property
    def enough_of_class(self) -> int:  # type: ignore[override]  # of the table
        """In how many of them a class has to lie."""
        return self.table.enough_of_class

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        """Which units hold each class."""
        return {name: self._added_by_unit(images) > 0 for name, images in self.table.images_of_classes.items()}

    @property
    def totals(self) -> Mapping[str, int]:
        """Totals over all images."""
        return self.table.totals

    def why_undefined(self, metric: Metric) -> Message | str:
        """Say why an estimate is nan."""
        return self.table.why_undefined(metric)

    @property
    def notes(self) -> tuple[Note | str, ...]:
        """What has to be said beside the estimates."""
        return self.table.notes

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the curve of each row of sums off at some places, see `Table`."""
        return self.table.heights(space, at, of)

    @property
    def curve(self) -> Series | None:
        """The curve of the pooled counts."""
        return self.table.curve


class UnitTable(Table):
    """The `rows` of a table summed by unit, with the metrics of units beside those of the table.

    `make_unit_table` lays out the counts of each unit added up, by the name of the unit.
    """

    means = ("units",)

    def __init__(self, rows: SummedRows, make_unit_table: Callable[[], Table]) -> None:
        self._rows, self._make_unit_table, self.noun = rows, make_unit_table, rows.noun
        self.of_units = unit_metrics(rows.metrics, rows.noun)
        self.metrics = (*rows.metrics, *self.of_units)

    @property
    def by_image(self) -> Table:
        """The table of images."""
        return self._rows.table

    @cached_property
    def names(self) -> list[str]:
        """The units."""
        return self._rows.names

    @property
    def image_of_rows(self) -> list[str]:
        """An image of each unit."""
        return self._rows.image_of_rows

    @property
    def images(self) -> int:
        """Number of units."""
        return self._rows.images

    @property
    def number_of_images(self) -> int:
        """How many images the units hold together."""
        return self._rows.number_of_images

    @property
    def sample_size(self) -> str:
        """How many units and images there are, in words."""
        return self._rows.sample_size

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """The rows of the table, and the metrics of each unit, shape (units, metrics)."""
        return {"rows": self._rows, "units": self._unit_values[:, self._have_units]}

    @property
    def _have_units(self) -> BoolArray:
        """Which metrics of the table a unit has, of its counts added up."""
        return np.array([metric.is_of_units for metric in self._rows.metrics], np.bool_)

    @cached_property
    def _unit_values(self) -> FloatArray:
        """Every metric of the table of the counts of each unit added up, shape (units, metrics)."""
        if not self._have_units.any():  # nothing is added up in vain
            return np.full((self.images, len(self._rows.metrics)), np.nan)
        unit_table = self._make_unit_table()
        row_of = {name: row for row, name in enumerate(unit_table.names)}
        return unit_table.measure_images()[[row_of[name] for name in self.names]]

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        """Compute every metric from sums, see `Table`."""
        rows: Table = self.columns["rows"]
        return {**rows.by_label(rows.scored(of["rows"])), **self._named(of["units"])}

    def _named(self, values: FloatArray) -> dict[str, FloatArray]:
        """Name values of the metrics of units, shape (R, metrics), by their labels."""
        return dict(zip((metric.label for metric in self.of_units), values.T, strict=True))

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of all images as the table has it, and the means over units."""
        layout = ColumnLayout({"units": self.columns["units"]}, self.means)
        means: FloatArray = layout.named(layout.total()[np.newaxis])["units"][0]
        return np.concatenate([self.columns["rows"].estimates, means])

    @property
    def left_out_if_lacking(self) -> Mapping[str, BoolArray]:
        """Metrics of units with something there to find."""
        weights = self._rows.weights_by_metric[:, self._have_units]
        return {"units": weights > 0} if self.of_units else {}

    def may_be_restricted(self, metric: Metric) -> bool:
        """Return whether `restricted_to_common` may change a metric."""
        return metric in self.of_units or self._rows.may_be_restricted(metric)

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """The weights of images added up; of means over units whether a unit has a value."""
        return {**self.columns["rows"].image_weights, **self._named(~np.isnan(self.columns["units"]))}

    @property
    def may_be_missed(self) -> BoolArray:
        """In which metrics a method without a value misses what is there."""
        return np.append(self._rows.may_be_missed, self._rows.may_be_missed[self._have_units])

    @property
    def enough_of_class(self) -> int:  # type: ignore[override]  # of the table
        """In how many of them a class has to lie."""
        return self._rows.enough_of_class

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        """Which units hold each class."""
        return self._rows.images_of_classes

    @property
    def values_in_means(self) -> Mapping[str, FloatArray]:
        """How many values the images of each unit have in a mean over images; a unit has one of its own."""
        rows: SummedRows = self.columns["rows"]
        return {**rows.values_in_means, **self._named(~np.isnan(self.columns["units"]))}

    @property
    def value_noun(self) -> str:  # type: ignore[override]  # of the table
        """What has a value: an image, or a mask."""
        return self._rows.value_noun

    def lacks(self, metric: Metric) -> str:
        """Say what a method without a value does."""
        return self._rows.lacks(metric)

    def measure_images(self) -> FloatArray:
        """Measure each unit: its counts added up as one image, or the mean over its images; (units, metrics)."""
        rows: Table = self.columns["rows"]
        has_own = [
            bool(metric.image_key) and not metric.mean_over_images and metric.adds_up is not False
            for metric in rows.metrics
        ]
        return np.hstack([np.where(has_own, self._unit_values, rows.measure_images()), self.columns["units"]])

    @property
    def totals(self) -> Mapping[str, int]:
        """Totals over all images."""
        return self._rows.totals

    def why_undefined(self, metric: Metric) -> Message | str:
        """Say why an estimate is nan."""
        if metric in self.of_units:
            return Message("undefined-everywhere", "undefined in every {of}", of=self.noun)
        return self._rows.why_undefined(metric)

    @property
    def notes(self) -> tuple[Note | str, ...]:
        """What has to be said beside the estimates."""
        return self._rows.notes

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the curve of each row of sums off at some places, see `Table`."""
        return self._rows.heights(space, at, of["rows"])
