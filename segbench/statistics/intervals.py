"""Intervals of metrics over images, and what must be known beside them.

The interval of one metric is computed by `segbench.statistics.measured.Measured.interval`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note
from segbench.core.metric import refuse_outside
from segbench.core.names import first_names
from segbench.core.numbers import by_key, many
from segbench.core.protocol import Protocol
from segbench.core.text_table import TextTable, data_frame, remarks_html, table_html
from segbench.core.units import UnitTable
from segbench.loaders.belonging import By
from segbench.statistics.failures import on_intervals
from segbench.statistics.measured import Interval, Measured, as_draws, as_level
from segbench.statistics.tables import Counted, table_of
from segbench.statistics.units import unknown_units
from segbench.statistics.variance import Component, t_value

if TYPE_CHECKING:
    import pandas as pd

FEW_IMAGES = 10
"""Below this many images, intervals say that they are unreliable."""
_FEWEST_RUNS = 2
_ALIKE = 1 + 1e-9
_NAMED_CLASSES, _NAMED_METRICS = 8, 3


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Mapping[str, tuple[float, float]]):
    """Intervals of metrics by the metric's key, over images or units, and trainings, and how they were made.

    Parameters
    ----------
    intervals : mapping of str to (low, high)
        nan where there is none.
    estimates : mapping of str to float
        The metrics themselves.
    standard_errors, freedom : mapping of str to float
        Standard error and degrees of freedom of the jackknife; nan where an interval does not come from it. With
        several trainings, freedom is nan, because images and trainings keep their own in `components`.
    level : float
        Share of repetitions in which such an interval would hold the metric of the population.
    replicates, seed : int
        Of the resamples, which metrics that jump between thresholds have quantiles of.
    images : int
        Number of images, or of units.
    sample_size : str
        How many there are, in words: "12 images", or "12 patients, 170 images".
    notes : tuple of Note
        What to say beside the intervals.
    undefined : mapping of str to Message
        Why an interval is nan.
    thresholds : tuple of str
        Metrics that are thresholds, which are printed rounded down.
    components : mapping of str to mapping of str to Component
        By metric and source of chance (``"images"``, also where these are in units; with runs ``"trainings"`` or
        ``"folds"``), ``error`` and ``freedom`` of what it adds: which says whether more images or more trainings would
        narrow an interval.
    wider : mapping of str to float
        With units, how many times as wide as over images the interval of a metric is.
    """

    intervals: Mapping[str, tuple[float, float]]
    estimates: Mapping[str, float]
    standard_errors: Mapping[str, float]
    freedom: Mapping[str, float]
    level: float
    replicates: int
    seed: int
    images: int
    sample_size: str
    notes: tuple[Note, ...] = ()
    undefined: Mapping[str, Message] = field(default_factory=dict)
    thresholds: tuple[str, ...] = ()
    components: Mapping[str, Mapping[str, Component]] = field(default_factory=dict)
    wider: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, key: str) -> tuple[float, float]:
        """Return the interval of the metric of that key."""
        return self.intervals[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys of the metrics."""
        return iter(self.intervals)

    def __len__(self) -> int:
        """Count the metrics."""
        return len(self.intervals)

    def __str__(self) -> str:
        """Print a metric per line with its interval, and the notes."""
        return "\n".join([str(self._table()), *map(str, self.notes), self.signature])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table and the notes as HTML for notebooks."""
        return table_html(self._table()) + remarks_html(*self.notes, self.signature)

    def _table(self) -> TextTable:
        rows = [
            [key, *(by_key(key, value, self.thresholds) for value in (self.estimates[key], *ends))]
            for key, ends in self.items()
        ]
        level = f"{100 * self.level:g} %"
        return TextTable(["metric", "value", f"{level} low", f"{level} high"], rows)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per metric: value, low, high, standard_error, freedom, undefined.

        Takes pandas, which segbench does not install by itself.
        """
        rows = [
            {
                "value": self.estimates[key],
                "low": low,
                "high": high,
                "standard_error": self.standard_errors[key],
                "freedom": self.freedom[key],
                "undefined": str(self.undefined.get(key, "")),
            }
            for key, (low, high) in self.items()
        ]
        return data_frame(rows, "metric", list(self))

    @property
    def signature(self) -> str:
        """Level, replicates and seed in one word.

        Examples
        --------
        >>> Intervals({}, {}, {}, {}, 0.95, 2000, 0, 50, "50 images").signature
        'intervals:jackknife-95|resamples:2000-0'
        """
        return f"intervals:jackknife-{100 * self.level:g}|resamples:{self.replicates}-{self.seed}"


def intervals(
    per_image: Counted | Sequence[Mapping[str, Any]],
    *,
    protocol: Protocol | None = None,
    unit: By = None,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Intervals:
    """Compute intervals over images, or units of images, of every metric, by the delete-one jackknife.

    Parameters
    ----------
    per_image : mapping of str to counts, Result or Table, or a list of mappings
        Counts by the image's name. A list holds the runs of one method: trainings, all on the same images, or the folds
        of a cross-validation, each on images of its own; see docs/random.md.
    protocol : Protocol, optional
        What measures counts; by default the protocol that ships for counts of their type.
    unit : str, mapping of str to str, or function of the name, optional
        Which images belong together, such as those of a patient: ``{"a_01": "a", "a_02": "a"}``, ``"folder"``,
        ``"#_*"`` or ``"meta.csv:patient"``, see docs/random.md. By default each image is drawn by itself. For counts; a
        result has units of its own, see `Result.with_settings`.
    level : float
        Between 0 and 1.
    replicates : int
        From 1 to 10 million: resamples of the images, or of units, for metrics that jump between thresholds: their
        intervals are quantiles.
    seed : int
        0 or more, of the resamples. The jackknife is not random.

    Returns
    -------
    Intervals
        Of all metrics of the summary but totals; nan where there is none, with the reason.

    Raises
    ------
    ArgumentError
        For a level outside (0, 1), no replicates, a negative seed, or no images.
    DataError
        If runs share some images, but not all.

    Examples
    --------
    >>> from segbench.core.scores import ScoreCounts
    >>> images = {str(k): ScoreCounts([2, 1], [8, 2 + k % 3], [k % 4, 10]) for k in range(20)}
    >>> low, high = intervals(images)["ods_f"]
    >>> 0.7 < low < high < 0.9
    True
    """
    level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
    return intervals_of(Measured(table_of(per_image, protocol, unit), level, replicates, seed))


def intervals_of(measured: Measured) -> Intervals:
    """Return the intervals of all metrics of a measured method."""
    table = measured.table
    refuse_outside(table.metrics, table.estimates.tolist())
    column_of = {metric.key: column for column, metric in enumerate(table.metrics) if metric.key}
    interval_of = {key: measured.interval(column) for key, column in column_of.items()}
    drawn = {
        key: column_of[key]
        for key, interval in interval_of.items()
        if not interval.reason and math.isnan(interval.error)
    }
    by_jackknife = {key: column_of[key] for key, interval in interval_of.items() if not math.isnan(interval.error)}
    wider = _wider(measured, {key: interval.ends for key, interval in interval_of.items()}, column_of)
    return Intervals(
        {key: interval.ends for key, interval in interval_of.items()},
        {key: float(table.estimates[column]) for key, column in column_of.items()},
        {key: interval.error for key, interval in interval_of.items()},
        {key: interval.freedom for key, interval in interval_of.items()},
        measured.level,
        measured.replicates,
        measured.seed,
        measured.images,
        measured.table.sample_size,
        (
            *unknown_units(measured),
            *_on_width(measured, wider),
            *notes_on(measured, column_of),
            *on_intervals(measured, by_jackknife),
            *_on_resamples(measured, drawn),
        ),
        {key: interval.reason for key, interval in interval_of.items() if interval.reason},
        tuple(key for key, column in column_of.items() if table.metrics[column].kind == "threshold"),
        {
            key: {name: part.at(column) for name, part in measured.components.items()}
            for key, column in column_of.items()
        },
        wider,
    )


def _wider(measured: Measured, intervals: Mapping[str, Interval], column_of: Mapping[str, int]) -> dict[str, float]:
    """Return how many times as wide as over images the intervals over units are, of those that both have."""
    if not isinstance(measured.table, UnitTable):
        return {}
    by_image = replace(measured, table=measured.table.by_image, beside=())
    images = {metric.key: column for column, metric in enumerate(by_image.table.metrics) if metric.key}
    wider = {}
    for key in column_of:
        if key in images and measured.table.metrics[column_of[key]].spread == "smooth":
            (low, high), (least, greatest) = intervals[key], by_image.interval(images[key]).ends
            if greatest > least and not math.isnan(low):
                wider[key] = (high - low) / (greatest - least)
    return wider


def _on_width(measured: Measured, wider: Mapping[str, float]) -> Iterator[Note]:
    """Say how much wider than over images the interval over units is, of the metric that ranks methods or the first."""
    headlines = (metric.key for metric in measured.table.metrics if metric.headline and metric.key in wider)
    key = next(headlines, next(iter(wider), ""))
    if key:
        message = Message(
            "wider-over-units",
            "the interval of {metrics} is {times:.1f} times as wide as over images: {sample_size}",
            times=wider[key],
            sample_size=measured.table.sample_size,
        )
        yield Note(message, metrics=((key, key),))


def few_images(images: int, noun: str = "image") -> tuple[Note, ...]:
    """Say what intervals over so few images, or units, are worth; nothing where there are enough."""
    if images == 1:
        return (Note(Message("single-image", "1 {noun}: intervals need at least two {noun}s", noun=noun)),)
    if images < FEW_IMAGES:
        message = Message(
            "few-images",
            "{images} {noun}s: intervals over fewer than {enough} are unreliable",
            images=images,
            noun=noun,
            enough=FEW_IMAGES,
        )
        return (Note(message),)
    return ()


def notes_on(measured: Measured, column_of: Mapping[str, int]) -> Iterator[Note]:
    """Say what makes intervals of some metrics less sure than their level: few or unequal images, rare classes."""
    yield from few_images(measured.images, measured.noun)
    yield from _on_runs(measured)
    if measured.images > 1:
        yield from _on_weights(measured, column_of)
    noun = measured.noun
    counts = {name: int(np.count_nonzero(images)) for name, images in measured.table.images_of_classes.items()}
    rare = {name: number for name, number in counts.items() if number < measured.table.enough_of_class}
    if rare:
        yield Note(
            Message(
                "rare-classes",
                "intervals are too narrow, since few {noun}s hold some classes: {classes}",
                noun=noun,
                classes=first_names([f"{name} ({many(n, noun)})" for name, n in rare.items()], _NAMED_CLASSES),
                held=[*rare.items()],
            )
        )


def _on_runs(measured: Measured) -> Iterator[Note]:
    """Say what intervals over few trainings are worth, and what folds share."""
    if measured.table.runs == _FEWEST_RUNS:
        t, of_three = t_value(np.array([1.0, 2.0]), measured.level).tolist()
        yield Note(
            Message(
                "two-runs",
                "2 runs: intervals are wide, since t of two trainings is {t:.1f}; that of three is {of_three:.1f}",
                t=t,
                of_three=of_three,
            )
        )
    folds = len(set(measured.table.folds))
    if folds:
        yield Note(
            Message(
                "folds-share-images",
                "{folds} folds: their trainings share images, which no interval or p-value accounts for",
                folds=folds,
            )
        )


def _on_resamples(measured: Measured, column_of: Mapping[str, int]) -> Iterator[Note]:
    """Say in how many resamples metrics are undefined."""
    for key, column in column_of.items():
        undefined = int(np.isnan(measured.draws[:, column]).sum())
        if undefined:
            message = Message(
                "undefined-resamples",
                "{metrics}: undefined in {resamples} of {total} resamples, which are left out",
                resamples=undefined,
                total=measured.replicates,
            )
            yield Note(message, metrics=((key, key),))


def _on_weights(measured: Measured, column_of: Mapping[str, int]) -> Iterator[Note]:
    """Name the image that carries the most weight, where images are as few as half of them of equal weight."""
    weights, effective = measured.jackknife.weights, measured.jackknife.effective
    uneven = {
        key: column
        for key, column in column_of.items()
        if measured.table.metrics[column].kind == "score" and effective[column] < measured.images / 2
    }
    by_weights = grouped((weights[:, column].tobytes(), (key, column)) for key, column in uneven.items())
    for group in by_weights.values():
        (_, column), *_ = group
        heaviest = int(weights[:, column].argmax())
        share = weights[heaviest, column] / weights[:, column].sum()
        sample = {"images": measured.images, "noun": measured.noun}
        if measured.jackknife.counted[column] <= effective[column] * _ALIKE:
            message = Message(
                "few-images-count",
                "{metrics}: only {counted} of {images} {noun}s count in it",
                counted=measured.jackknife.counted[column],
                **sample,
            )
        else:
            message = Message(
                "unequal-weights",
                "{metrics}: the {images} {noun}s count as {effective:.1f} of equal weight; {heaviest} has "
                "{percent:.0f} % of it",
                effective=effective[column],
                heaviest=measured.table.names[heaviest],
                percent=100 * share,
                **sample,
            )
        yield Note(message, metrics=tuple((key, key) for key, _ in group), most=_NAMED_METRICS)
