"""Figures of the page: a table with a line a method, and one with a line an image and method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from segbench.aggregator.result import Result
from segbench.core.metric import Metric, columns, image_columns
from segbench.core.numbers import number
from segbench.core.summary import Summary
from segbench.core.text_table import Mark
from segbench.report.image_sets import image_sets, images_of, in_sets
from segbench.report.ranking import column_marks
from segbench.report.tables import names_of
from segbench.statistics.intervals import Intervals

MOST_IMAGE_ROWS = 3_000
"""Lines of the table of images; a browser sorts so many without a pause."""

Direction = Literal["ascending", "descending"]


@dataclass(frozen=True)
class Heading:
    """Head of a column: what it says, the figure's key, and how a first click sorts."""

    title: str
    key: str
    first: Direction


@dataclass(frozen=True)
class Cell:
    """One figure as text, with what it sorts by (nothing where undefined) and what is known of its certainty."""

    text: str
    sorts_as: str
    mark: Mark = ""
    interval: str = ""
    why: str = ""


@dataclass(frozen=True)
class Row:
    """Figures of a method, or of an image by a method; `method` is the method's place, `image` the image's name."""

    method: int
    cells: tuple[Cell, ...]
    image: str = ""


@dataclass(frozen=True)
class Table:
    """Headings and rows, in the order in which they are first shown; `left_out` rows are not in it."""

    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]
    left_out: int = 0


def by_headline(results: Sequence[Result]) -> list[Result]:
    """Sort results of one protocol, those on the same images together, the best first, undefined and partial last."""
    metric = results[0].rules.headline
    sign = 1 if metric.better == "lower" else -1

    def place(result: Result) -> tuple[bool, float, str]:
        value = result.summary[metric.key]
        return result.partial is not None, math.inf if math.isnan(value) else sign * value, result.method

    return in_sets(results, key=place)


def method_table(results: Sequence[Result], intervals: Sequence[Intervals]) -> Table:
    """Give the metrics of the methods of one protocol, in the order given; the images where they differ."""
    metrics = columns(results[0].rules.metrics())
    headings = [
        Heading(metric.title, metric.key, "ascending" if metric.better == "lower" else "descending")
        for metric in metrics
    ]
    apart = len(image_sets(results)) > 1
    if apart:
        headings.append(Heading("images", "images", "descending"))
    marks = {metric.key: column_marks(results, metric) for metric in metrics}
    rows = []
    for place, result in enumerate(results):
        drawn: Mapping[str, tuple[float, float]] = intervals[place] if intervals else {}
        cells = tuple(
            _cell(result.summary, metric.key, mark=marks[metric.key][place], ends=drawn) for metric in metrics
        )
        images = (Cell(images_of(result), str(len(result.counts) or "")),) if apart else ()
        rows.append(Row(place, (*cells, *images)))
    return Table(tuple(headings), tuple(rows))


def image_table(results: Sequence[Result]) -> Table:
    """Give the figures of every image by every method of one protocol, the worst first, undefined ones last.

    Of more than `MOST_IMAGE_ROWS` lines only the worst are kept.
    """
    rules = results[0].rules
    metrics = image_columns(rules.metrics())
    headings = tuple(Heading(metric.name_for_images, metric.image_key, _worst_first(metric)) for metric in metrics)
    headline = rules.image_headline.image_key
    sign = -1 if rules.image_headline.better == "lower" else 1
    ranked = sorted(
        (
            (math.inf if math.isnan(figures[headline]) else sign * figures[headline], name, place, figures)
            for place, result in enumerate(results)
            for name, figures in result.per_image.items()
        ),
        key=lambda line: line[:3],
    )
    rows = tuple(
        Row(place, tuple(_cell(figures, metric.image_key) for metric in metrics), name)
        for _, name, place, figures in islice(ranked, MOST_IMAGE_ROWS)
    )
    return Table(headings, rows, len(ranked) - len(rows))


def method_names(results: Sequence[Result]) -> list[str]:
    """Name the methods; of runs that share a name, with what tells them apart."""
    return names_of(results)


def _worst_first(metric: Metric) -> Direction:
    return "descending" if metric.better == "lower" else "ascending"


def _cell(
    figures: Summary, key: str, *, mark: Mark = "", ends: Mapping[str, tuple[float, float]] | None = None
) -> Cell:
    value = figures[key]
    low, high = (ends or {}).get(key, (math.nan, math.nan))
    return Cell(
        number(value, figures.bounds.get(key)),
        "" if math.isnan(value) else repr(value),
        mark=mark,
        interval="" if math.isnan(low) else f"{number(low)}–{number(high)}",  # noqa: RUF001  a range
        why=figures.undefined.get(key, ""),
    )
