"""A table of metrics: values by row and metric, rounded for readers (`text`) or with all digits for programs (`exact`).

`segbench.report.tables` says which rows and metrics it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, joined
from segbench.core.metric import Metric, Summary
from segbench.core.names import latex_name
from segbench.core.numbers import DIGITS, exact, number
from segbench.core.text_table import Heading, Mark, TextTable
from segbench.report.ranking import ranked
from segbench.statistics.spread import Spread, SpreadForm

ENDS = "low", "high"
BELOW = "\x1e"
"""Between the lines of a cell, a value and the ends of its interval, in tables for the terminal."""
_LISTED = 4
_PERCENT = 100
_UNKNOWN = (math.nan, math.nan)
_IN_CSV: Mapping[SpreadForm, tuple[str, ...]] = {
    "": (),
    "sd": ("images", "mean", "sd"),
    "quartiles": ("images", "median", "lower", "upper"),
}
"""Fields of `Spread` that have a column."""


class TableRow(NamedTuple):
    """The metrics of a row, ends of their intervals, and texts in further columns; `method` is its result's place.

    Of means over runs `sd` has the standard deviation of each metric.
    """

    labels: tuple[str, ...]
    summary: Summary
    intervals: Mapping[str, tuple[float, float]] = {}
    texts: tuple[str, ...] = ()
    method: int = 0
    sd: Mapping[str, float] = {}
    spread: Mapping[str, Spread] = {}


@dataclass(frozen=True)
class MetricTable:
    """Rows of metrics; `labels` are titles of leading columns, which hold names, `texts` those of trailing ones.

    Rows of each of the `sets` compete for the best value of a column; `best` has rows and keys that are best in any
    case. The `notes` belong below the table wherever it goes. With a `spread`, metrics that are means over rows, called
    `noun`, stand with the standard deviation of these, or their median and quartiles in place of the mean.
    """

    labels: tuple[str, ...]
    columns: tuple[Metric, ...]
    rows: Sequence[TableRow]
    texts: tuple[str, ...] = ()
    sets: Sequence[Sequence[int]] = ()
    best: frozenset[tuple[int, str]] = frozenset()
    notes: tuple[Note, ...] = ()
    spread: SpreadForm = ""
    noun: str = "image"
    percent: bool = False  # shares are written in percent

    def _scale(self, metric: Metric) -> int:
        """Return by what values of a metric are multiplied where they are printed for readers."""
        return _PERCENT if self.percent and metric.is_share else 1

    def _digits(self, metric: Metric, digits: int) -> int:
        """Return the decimal places of a metric: beside shares in percent others have those of the shares of 1."""
        return digits + 2 if self.percent and not metric.is_share else digits

    def _value(self, row: TableRow, metric: Metric) -> float:
        """Return what is printed of a metric: its value, or the mean or median that its spread is about."""
        if metric.key in row.spread:
            return row.spread[metric.key].median if self.spread == "quartiles" else row.spread[metric.key].mean
        no_median = self.spread == "quartiles" and metric.kind == "score"
        return math.nan if no_median else row.summary.get(metric.key, math.nan)

    def _beside(self, row: TableRow, metric: Metric) -> tuple[float, ...]:
        """Return what is printed beside it: ends of its interval, the standard deviation or the quartiles."""
        if not self.spread:
            return row.intervals.get(metric.key, _UNKNOWN)
        if metric.key not in row.spread:
            return (math.nan,)
        of_images = row.spread[metric.key]
        return (of_images.sd,) if self.spread == "sd" else (of_images.lower, of_images.upper)

    @property
    def _notes_on_percent(self) -> tuple[Note, ...]:
        """Say which columns are in percent, where not all are."""
        if not self.percent:
            return ()
        others = [metric.name for metric in self.columns if not metric.is_share]
        but = Message("but", " but {others}", others=", ".join(others)) if others else ""
        return (Note(Message("percent", "in percent{but}", but=but)),)

    @property
    def _notes_on_spread(self) -> tuple[Note, ...]:
        """Say what stands beside metrics, and which metrics have none."""
        if not self.spread:
            return ()
        printed = "mean ± standard deviation" if self.spread == "sd" else "median [lower quartile, upper quartile]"
        scores = [metric for metric in self.columns if metric.kind == "score"]
        others = [metric for metric in scores if not any(metric.key in row.spread for row in self.rows)]
        described = Message(
            "spread",
            "{printed} over {noun}s, of metrics that are means over {noun}s{other_means}",
            printed=printed,
            noun=self.noun,
            other_means=self._on_other_means,
        )
        if not others:
            return (Note(described),)
        shown = {metric.key for metric in self.columns}
        means = dict.fromkeys(key for row in self.rows for key in row.spread if key not in shown)
        keys = ",".join([*means][:_LISTED])
        other_means = Message("further-means", "further means: {keys}", keys=Either(keys, f"--metrics {keys}"))
        without = Message(
            "spread-of-some",
            "{spread}; the others have none: {names}",
            spread=described,
            names=[metric.name for metric in others],
        )
        return (Note(joined([without, other_means if keys else ""])),)

    @property
    def _on_other_means(self) -> str:
        """Say which means over units are not those over images, which stand in other tables; empty for none."""
        if self.spread != "sd":
            return ""
        others = [
            metric.name
            for metric in self.columns
            if any(
                metric.key in row.spread and not math.isclose(row.spread[metric.key].mean, row.summary[metric.key])
                for row in self.rows
            )
        ]
        if not others:
            return ""
        return f" ({', '.join(others)}: each {self.noun} counts once here, elsewhere each image does)"

    def marks(self, key: str, *, digits: int = DIGITS) -> dict[int, Mark]:
        """Mark the best and the second best rows of a column, as printed with this many digits."""
        marks: dict[int, Mark] = {row: "best" for row, best in sorted(self.best) if best == key}
        column = next(column for column in self.columns if column.key == key)
        for members in self.sets:
            values = [self._value(self.rows[row], column) for row in members]
            scaled = [self._scale(column) * value for value in values]
            ranks = ranked(scaled, column.better, digits=self._digits(column, digits))
            marks |= zip(members, ranks, strict=True)
        return marks

    def text(self, *, digits: int = DIGITS, zeros: bool = False, stacked: str = "") -> TextTable:
        """Round the values for readers; intervals are beside them, or `stacked` in lines below, which begin so."""
        first = len(self.labels)

        def cell(row: TableRow, metric: Metric) -> str:
            numbers = self._value(row, metric), *self._beside(row, metric)
            scale, decimals = self._scale(metric), self._digits(metric, digits)
            value, *ends = (metric.written(scale * estimate, digits=decimals) for estimate in numbers)
            deviation = scale * row.sd.get(metric.key, math.nan)
            value += "" if math.isnan(deviation) else f" ± {number(deviation, digits=decimals)}"
            if stacked and row.intervals:
                return BELOW.join([value, *ends])
            if self.spread == "sd":
                return value if "-" in ends else f"{value} ± {ends[0]}"
            return value if "-" in ends else f"{value} [{', '.join(ends)}]"

        rows = []
        for row in self.rows:
            name, *others = row.labels
            if stacked and row.intervals:
                name = BELOW.join([name, *(f"  {stacked} {end}" for end in ENDS)])
            rows.append([name, *others, *(cell(row, metric) for metric in self.columns), *row.texts])
        marks: dict[tuple[int, int], Mark] = {}
        spare, blank = [], []
        for column, metric in enumerate(self.columns, first):
            for row_number, mark in self.marks(metric.key, digits=digits).items():
                marks[row_number, column] = mark
            if metric.priority:
                spare.append((metric.priority, column))
            if all(math.isnan(self._value(row, metric)) for row in self.rows):  # areas, of two-valued predictions
                blank.append(column)
        label_headings = [Heading("", "", latex_name(title)) for title in self.labels]
        text_headings = [Heading("", "", latex_name(title)) for title in self.texts]
        groups = [(metric.group if metric.title else "", metric.heading) for metric in self.columns]
        table = TextTable(
            [*self.labels, *(metric.column_name for metric in self.columns), *self.texts],
            rows,
            names=first,
            marks=marks,
            notes=(*self._notes_on_percent, *self._notes_on_spread, *self.notes),
            spare=grouped((self.columns[column - first].name, column) for _, column in sorted(spare)),
            blank=blank if len(blank) < len(self.columns) else [],
            groups=[*[("", "")] * first, *groups, *[("", "")] * len(self.texts)],
            latex=[*label_headings, *map(_latex_heading, self.columns), *text_headings],
        )
        return table.with_leading_zeros() if zeros else table

    def exact(self) -> TextTable:
        """Return the values with all digits; ends of intervals have columns where some row has them."""
        keys = [metric.key for metric in self.columns]
        drawn = [key for key in keys if any(key in row.intervals for row in self.rows)]
        spread = [key for key in keys if any(key in row.spread for row in self.rows)]
        fields = _IN_CSV[self.spread]
        over_runs = [key for key in keys if any(key in row.sd for row in self.rows)]
        rows = []
        for row in self.rows:
            values = [row.summary.get(key, math.nan) for key in keys]
            values += [row.sd.get(key, math.nan) for key in over_runs]
            values += [end for key in drawn for end in row.intervals.get(key, _UNKNOWN)]
            of_images = [row.spread[key]._asdict() if key in row.spread else {} for key in spread]
            values += [known.get(field, math.nan) for known in of_images for field in fields]
            rows.append([*row.labels, *map(exact, values), *row.texts])
        titles = [*(f"{key}_sd" for key in over_runs), *(f"{key}_{end}" for key in drawn for end in ENDS)]
        titles += [f"{key}_{field}" for key in spread for field in fields]
        return TextTable([*self.labels, *keys, *titles, *self.texts], rows, names=len(self.labels))


def _latex_heading(metric: Metric) -> Heading:
    """Return the heading of a metric in LaTeX; one with a symbol needs no group."""
    group = latex_name(metric.group) if metric.title and not metric.symbol else ""
    return Heading(group, metric.latex(metric.heading), metric.latex(metric.column_name))
