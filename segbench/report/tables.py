"""Tables of figures: a line a method, a line an image, or a line a threshold.

A `TextTable` is what the terminal and `segbench.report.table_text` write. The ``exact_`` functions give tables for
other programs: every figure, all digits, several protocols in one table, and empty where a figure is undefined or not
of the protocol.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from segbench.aggregator.result import Result, partial_text
from segbench.core.metric import columns, image_columns, optimistic_notes
from segbench.core.numbers import DIGITS, exact, number
from segbench.core.summary import Summary
from segbench.core.text_table import Mark, TextTable
from segbench.report.image_sets import failure_notes, images_of, set_notes
from segbench.report.ranking import BINS_NOTE, bin_notes, column_marks
from segbench.report.whose import few_names
from segbench.statistics.intervals import Intervals


def names_of(results: Sequence[Result]) -> list[str]:
    """Name the method of each result; of runs that share a name, with the settings in which they differ.

    A partial result says so in its name.
    """
    names = []
    for result in results:
        namesakes = [other for other in results if other.method == result.method]
        alike = [other.settings for other in namesakes if other.protocol == result.protocol]
        keys = dict.fromkeys(key for settings in alike for key in settings if key != "partial")
        told = [
            f"{key}:{result.settings.get(key, 'none')}"
            for key in keys
            if len({settings.get(key) for settings in alike}) > 1
        ]
        if len(alike) < len(namesakes):
            told.insert(0, result.protocol)
        if result.partial:
            told.append(f"partial: {partial_text(result.partial)} images")
        names.append(f"{result.method} ({', '.join(told)})" if told else result.method)
    return names


def summary_notes(results: Sequence[Result], names: Sequence[str]) -> tuple[str, ...]:
    """Give what summaries say beside their metrics, and why some are undefined; the same of several methods once."""
    alike: dict[str, list[str]] = {}
    for result, name in zip(results, names, strict=True):
        for note in result.summary.notes:
            alike.setdefault(note, []).append(name)
        for reason in dict.fromkeys(result.summary.undefined.values()):
            keys = [key for key, why in result.summary.undefined.items() if why == reason]
            alike.setdefault(f"undefined ({reason}): {', '.join(keys)}", []).append(name)
    return tuple(f"{few_names(methods, len(names))}: {note}" for note, methods in alike.items())


def by_protocol(results: Sequence[Result]) -> dict[str, list[int]]:
    """Give the places of the results of each protocol."""
    places: dict[str, list[int]] = {}
    for place, result in enumerate(results):
        places.setdefault(result.protocol, []).append(place)
    return places


def method_table(
    results: Sequence[Result],
    *,
    intervals: Sequence[Intervals] = (),
    digits: int = DIGITS,
    remarks: bool = True,
) -> TextTable:
    """Give a line a method, for results of one protocol.

    Intervals, one a result, stand behind the figure: ``.8123 [.7901, .8302]``. Where methods were not counted on the
    same images, the last column is the number of images. With `remarks` the notes of the summaries are among its notes.
    """
    metrics = columns(results[0].rules.metrics())
    names = names_of(results)
    rows = [[name] for name in names]
    marks: dict[tuple[int, int], Mark] = {}
    for place, metric in enumerate(metrics, start=1):
        for row, (result, mark) in enumerate(zip(results, column_marks(results, metric, digits=digits), strict=True)):
            text = number(result.summary[metric.key], result.summary.bounds.get(metric.key), digits=digits)
            ends = intervals[row].get(metric.key, (math.nan, math.nan)) if intervals else (math.nan, math.nan)
            if not math.isnan(ends[0]):
                text += " [{}, {}]".format(*(number(end, digits=digits) for end in ends))
            rows[row].append(text)
            marks[row, place] = mark
    header = ["method", *(metric.title for metric in metrics)]
    apart = set_notes(results, names)
    if apart:
        header.append("images")
        rows = [[*cells, images_of(result)] for cells, result in zip(rows, results, strict=True)]
    said = summary_notes(results, names) if remarks else ()
    notes = (*optimistic_notes(metrics), *bin_notes(results, names), *said, *failure_notes(results, names), *apart)
    # Columns without any figure go first, as those of areas do where all predictions are two-valued.
    empty = [all(math.isnan(result.summary[metric.key]) for result in results) for metric in metrics]
    spare = sorted(
        (not empty[place - 1], metric.priority, place)
        for place, metric in enumerate(metrics, start=1)
        if metric.priority or (empty[place - 1] and not all(empty))
    )
    return TextTable(header, rows, marks=marks, notes=notes, spare=tuple(place for *_, place in spare))


def exact_methods(results: Sequence[Result], *, intervals: Sequence[Intervals] = ()) -> TextTable:
    """Give a line a method: every key of the summary, ends of intervals and of bounds, number of images, signature.

    Bounds have the columns ``KEY_bound_low`` and ``KEY_bound_high``, only where a value is not exact. The column
    ``partial`` says how many images of how many were counted, only where a run stopped half-way.
    """
    stopped = any(result.partial for result in results)
    keys = list(dict.fromkeys(key for result in results for key in result.summary))
    uncertain = _bounded([result.summary for result in results])
    bounded = [key for key in keys if any(key in drawn for drawn in intervals)]
    ends = [f"{key}_{end}" for key in bounded for end in ("low", "high")]
    rows = []
    for place, result in enumerate(results):
        figures = [exact(result.summary.get(key, math.nan)) for key in keys]
        limits = [exact(end) for key in bounded for end in intervals[place].get(key, (math.nan, math.nan))]
        totals = [str(len(result.counts)), str(len(result.failed)), result.signature]
        partial = [partial_text(result.partial) if result.partial else ""] if stopped else []
        rows.append([result.method, *figures, *limits, *_bound_cells(result.summary, uncertain), *totals, *partial])
    titles = ["images", "failed", "signature", *(["partial"] if stopped else [])]
    return TextTable(["method", *keys, *ends, *_bound_titles(uncertain), *titles], rows)


def image_table(results: Sequence[Result], *, digits: int = DIGITS) -> TextTable:
    """Give a line an image and method, for results of one protocol; notes say why figures are undefined."""
    keys = _image_keys(results[0])
    rows: list[list[str]] = []
    remarks: dict[str, list[str]] = {}
    bounded = False
    for method, result in zip(names_of(results), results, strict=True):
        undefined: Counter[tuple[str, str]] = Counter()
        for name, figures in result.per_image.items():
            bounded |= bool(figures.bounds)
            rows.append([method, name, *(number(figures[key], figures.bounds.get(key), digits=digits) for key in keys)])
            for reason in dict.fromkeys(figures.undefined.values()):
                without = [key for key in keys if figures.undefined.get(key) == reason]
                undefined.update([(reason, ", ".join(without))] if without else [])
        for (reason, named), images in undefined.items():
            said = f"{named} undefined ({reason}): {images} of {len(result.counts)} images"
            remarks.setdefault(said, []).append(method)
    notes = (
        *([BINS_NOTE] if bounded else []),
        *(f"{few_names(methods, len(results))}: {said}" for said, methods in remarks.items()),
    )
    spare = tuple(range(len(keys) + 1, 2, -1))
    return TextTable(["method", "image", *keys], rows, names=2, notes=notes, spare=spare)


def _image_keys(result: Result) -> list[str]:
    return [metric.image_key for metric in image_columns(result.rules.metrics())]


def exact_images(results: Sequence[Result]) -> TextTable:
    """Give a line an image and method; bounds have columns as those of `exact_methods`."""
    keys = list(dict.fromkeys(key for result in results for key in _image_keys(result)))
    images = [
        (method, name, summary)
        for method, result in zip(names_of(results), results, strict=True)
        for name, summary in result.per_image.items()
    ]
    uncertain = [key for key in _bounded([summary for _, _, summary in images]) if key in keys]
    rows = [
        [
            method,
            name,
            *(exact(summary.get(key, math.nan)) for key in keys),
            *_bound_cells(summary, uncertain),
        ]
        for method, name, summary in images
    ]
    return TextTable(["method", "image", *keys, *_bound_titles(uncertain)], rows, names=2)


def _bounded(summaries: Sequence[Summary]) -> list[str]:
    """Name the metrics that have bounds in any of some summaries."""
    bounded = {key for summary in summaries for key in summary.bounds}
    return [key for key in dict.fromkeys(key for summary in summaries for key in summary) if key in bounded]


def _bound_titles(keys: Sequence[str]) -> list[str]:
    return [f"{key}_bound_{end}" for key in keys for end in ("low", "high")]


def _bound_cells(summary: Summary, keys: Sequence[str]) -> list[str]:
    return [exact(end) for key in keys for end in summary.bounds.get(key, (math.nan, math.nan))]
