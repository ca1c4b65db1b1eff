"""Tables of results (`MetricTable`): one row per method, image, class, group, run or threshold.

Tables for readers are of one protocol; those for programs take results of several. Begin with `listed`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.measuring import measured_apart
from segbench.aggregator.result import AXES, Result, names_of, partial_text
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, Style, joined, notes_about, part_of
from segbench.core.metric import Metric, Summary, columns, image_columns, optimistic_notes
from segbench.core.names import few_names
from segbench.core.numbers import DIGITS, many, number
from segbench.core.settings import options_of
from segbench.core.text_table import TextTable, side_by_side
from segbench.inputs.class_names import in_no_mean
from segbench.loaders.belonging import ALL_IMAGES
from segbench.protocols.registry import protocols_of, verb_of
from segbench.report.metric_table import MetricTable, TableRow
from segbench.report.ranking import competing_sets, headline_order
from segbench.report.remarks import not_ranked_together, remarks, undefined_metrics
from segbench.statistics.intervals import Intervals
from segbench.statistics.spread import SpreadForm

SHOWN_THRESHOLDS = 21
RowKind = Literal["method", "image", "unit", "class", "class image", "object", "threshold", "group", "run"]
_LISTS_ALL = Either("result.curve lists", "--format csv and json list")


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """How results are listed.

    There is one of the `intervals` per result, or none. Metrics are those of some `keys` in this order, or some `first`
    and then all that have a column, with the `spread` of images. The `sets` name the data set of each result, a group
    of columns; without them there is a single one. The worst images come first by the metric `sort`. For readers are
    `digits`, `zeros` before the point, shares in `percent`, whether the best are `marked` in LaTeX, and the `style` of
    settings in texts.
    """

    rows: RowKind = "method"
    intervals: Sequence[Intervals] = ()
    keys: Sequence[str] | None = None
    first: Sequence[str] = ()
    sets: Sequence[str] = ()
    sort: str | None = None
    spread: SpreadForm = ""
    digits: int = DIGITS
    zeros: bool = False
    percent: bool = False
    marked: bool = True
    style: Style = "python"

    def chosen(self, values: Mapping[str, Any], *more: str) -> dict[str, Any]:
        """Return the values of the chosen metrics, after those of the keys in `more`."""
        keys = values if self.keys is None else [*more, *self.keys]
        return {key: values[key] for key in keys if key in values}


PLAIN = TableSettings()


class ResultSet(NamedTuple):
    """Results of one protocol on one data set, in the order of their rows, and their table."""

    results: list[Result]
    names: list[str]
    intervals: list[Intervals]
    table: MetricTable

    @property
    def signatures(self) -> list[str]:
        """The signatures of results and of their intervals, each once; of several each with its methods."""
        drawn = [f"|{result_intervals.signature}" for result_intervals in self.intervals] or [""] * len(self.results)
        both = zip(self.results, drawn, strict=True)
        signed = grouped((result.signature + end, name) for (result, end), name in zip(both, self.names, strict=True))
        if len(signed) == 1:
            return [*signed]
        return [f"{few_names(methods, len(self.names))}: {signature}" for signature, methods in signed.items()]


def listed(results: Sequence[Result], settings: TableSettings, *, every: bool = False) -> list[dict[str, ResultSet]]:
    """Return the parts of each table by data set: one table per protocol; of classes, or with `every`, a single one."""
    if every or settings.rows == "class":
        groups = [[*range(len(results))]]
    else:
        groups = [members for _, members in sorted(by_protocol(results, by_group=settings.rows == "group").items())]
    if settings.rows == "class image":
        groups = [members for members in groups if any("class" in results[k].axes for k in members)] or groups
    tables = []
    for members in groups:
        sets = [settings.sets[k] for k in members] if settings.sets else [""] * len(members)
        names = dict(zip(members, names_of([results[k] for k in members], sets), strict=True))
        of_sets = grouped(zip(sets, members, strict=True)).items()
        tables.append(
            {name: _part(results, part_members, names, settings, every=every) for name, part_members in of_sets}
        )
    shown = [parts for parts in tables if any(part.table.columns for part in parts.values())]
    return shown or tables


def _part(
    results: Sequence[Result], members: Sequence[int], names: Mapping[int, str], settings: TableSettings, *, every: bool
) -> ResultSet:
    """Make the table of some of the results."""
    if settings.rows == "group" and not any("group" in results[k].axes for k in members):
        settings = replace(settings, rows="method")
    if settings.rows == "method" and not every:
        members = [members[k] for k in headline_order([results[k] for k in members])]
    part_results, named = [results[k] for k in members], [names[k] for k in members]
    drawn = [settings.intervals[k] for k in members if settings.intervals]
    keys = settings.keys
    if settings.rows in ("image", "unit"):
        table = image_table(part_results, keys=keys, sort=settings.sort, units=settings.rows == "unit")
    elif settings.rows == "class image":
        classes = [((row.name, row.method), row.result) for row in part_rows(part_results, "class")]
        table = table_of_images(classes, labels=("class", "method"), keys=keys, sort=settings.sort)
    elif settings.rows == "threshold":
        table = threshold_table(part_results, digits=settings.digits, keys=keys, every=every)
    elif settings.rows in AXES:
        rows = part_rows(part_results, settings.rows, intervals=drawn)
        table = part_table(
            rows, part_results, settings.rows, keys=keys, every=every, spread=settings.spread, first=settings.first
        )
    else:
        table = method_table(
            part_results,
            intervals=drawn,
            keys=keys,
            every=every,
            names=named,
            spread=settings.spread,
            first=settings.first,
        )
    return ResultSet(part_results, named, drawn, replace(table, percent=settings.percent))


def table_of_sets(parts: Mapping[str, ResultSet], settings: TableSettings) -> TextTable:
    """Return the tables of data sets for readers side by side, with signatures as notes."""
    texts = {
        name: _signed(part, settings).text(digits=settings.digits, zeros=settings.zeros) for name, part in parts.items()
    }
    return side_by_side(texts, "-")


def _signed(part: ResultSet, settings: TableSettings) -> MetricTable:
    """Add the signatures to the notes of a table of methods."""
    signatures = part.signatures if settings.rows in ("method", "group", "object", "run") else ()
    return replace(part.table, notes=(*part.table.notes, *signatures))


def by_protocol(results: Sequence[Result], *, by_group: bool = False) -> dict[str, list[int]]:
    """Return the places of the results of each protocol, apart where they are in another unit or measured otherwise.

    Groups of images are other measurements where rows are `by_group` alone.
    """
    tables: dict[str, list[int]] = {}
    for members in grouped((result.protocol, index) for index, result in enumerate(results)).values():
        apart = measured_apart([results[index] for index in members])
        if not by_group:
            apart.pop("group_by", None)
        for k, index in enumerate(members):
            unit = results[index].rules.distance_unit
            differing = ", ".join(f"{name}:{texts[k]}" for name, texts in apart.items())
            name = results[index].protocol + (f" in {unit}" if unit else "") + (f" ({differing})" if differing else "")
            tables.setdefault(name, []).append(index)
    return tables


def method_table(
    results: Sequence[Result],
    *,
    intervals: Sequence[Intervals] = (),
    keys: Sequence[str] | None = None,
    every: bool = False,
    names: Sequence[str] = (),
    fold_rows: bool = True,
    spread: SpreadForm = "",
    numbered: bool = False,
    first: Sequence[str] = (),
) -> MetricTable:
    """Return one row per method; with `every`, all metrics, numbers of images and signatures, as other programs need.

    Below a method that pools folds stands the mean over folds, unless there are no `fold_rows`. Rows have their numbers
    of images where these differ, or where they are `numbered`.
    """
    names, sets = names or names_of(results), competing_sets(results)
    if every:
        stopped = any(result.partial for result in results)
        has_runs = any(result.runs or result.run for result in results)
        titles = ["images", "failed", "signature", *(["partial"] if stopped else []), *(["runs"] if has_runs else [])]
    else:
        titles = ["images"] if numbered or _differ_in_images(results) else []

    def texts(result: Result) -> dict[str, str]:
        return {
            "images": "-" if not every and (result.published or result.unnamed) else str(len(result.counts)),
            "failed": str(len(result.failed)),
            "signature": result.signature,
            "partial": partial_text(result.partial) if result.partial else "",
            "runs": result.settings.get("runs") or result.settings.get("folds", ""),
        }

    rows = []
    described = [result.spread if spread else {} for result in results]
    for k, result in enumerate(results):
        drawn, text_of = intervals[k] if intervals else {}, texts(result)
        deviations = {} if spread else result.sd
        row_texts = tuple(text_of[title] for title in titles)
        rows.append(TableRow((names[k],), result.summary, drawn, row_texts, k, deviations, described[k]))
        if result.pools_folds and fold_rows and not spread:
            mean = mean_of_folds(result)
            label = f"{names[k]}, mean of {many(len(result.runs), 'fold')}"
            rows.append(TableRow((label,), mean.summary, {}, tuple(texts(mean)[title] for title in titles), k, mean.sd))
    shown = _method_columns(results, keys, every=every, first=first)
    shown_remarks = remarks(results, intervals, keys=keys, names=names, deviations=not spread)
    notes = [*optimistic_notes(shown), *(remark.note for remark in shown_remarks if remark.kind != "run")]
    row_of = {row.method: number for number, row in reversed([*enumerate(rows)])}  # the first of each result
    competing = [[row_of[k] for k in members if results[k].competes] for members in sets]
    noun = next((result.measured.noun for result in results if result.spread), "image") if spread else "image"
    return MetricTable(("method",), shown, rows, tuple(titles), competing, notes=tuple(notes), spread=spread, noun=noun)


def _differ_in_images(results: Sequence[Result]) -> bool:
    """Return whether some results have more images than others."""
    return len({len(result.counts) for result in results if not result.published}) > 1


def mean_of_folds(result: Result) -> Result:
    """Return the mean over the folds that a result pools."""
    mean = result.parts("run").mean
    assert mean is not None  # noqa: S101  for types alone: each fold has images
    return mean


def metric_keys(results: Sequence[Result], rows: RowKind) -> list[str]:
    """Return the keys that a table can have, by what a row is: method, class, image or threshold."""
    if rows in ("image", "unit"):
        return list(image_metrics(results))
    if rows == "threshold":
        return list(dict.fromkeys(key for curve in threshold_columns(results) for key in curve))
    if rows in AXES and rows != "group":
        results = [row.result for row in part_rows(results, rows)]
    return [metric.key for metric in _method_columns(results, None, every=True)]


def _method_columns(
    results: Sequence[Result], keys: Sequence[str] | None, *, every: bool, first: Sequence[str] = ()
) -> tuple[Metric, ...]:
    """Choose the metrics of a table of methods: those of some keys, or some first and then all that have a column."""
    known = {metric.key: metric for result in results for metric in result.metrics if metric.key}
    if keys is not None:
        return _chosen(known, keys)
    if not every:
        return (*_chosen(known, first), *(metric for metric in columns(results[0].metrics) if metric.key not in first))
    measured = dict.fromkeys(key for result in results for key in result.summary)
    return tuple(known.get(key) or Metric(key=key) for key in measured)


def _chosen(known: Mapping[str, Metric], keys: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of some keys in their order, none of which goes to a second block first."""
    return tuple(replace(known[key], priority=0) for key in keys if key in known)


def image_table(
    results: Sequence[Result],
    *,
    keys: Sequence[str] | None = None,
    sort: str | None = None,
    most: int | None = None,
    units: bool = False,
) -> MetricTable:
    """Return one row per image and method, or per unit, see `table_of_images`."""
    methods = [((name,), result) for name, result in zip(names_of(results), results, strict=True)]
    return table_of_images(methods, labels=("method",), keys=keys, sort=sort, most=most, units=units)


def without_units(results: Sequence[Result]) -> ArgumentError:
    """Say how results get units, of which there are none."""
    how = Either("result.with_settings(unit=...)", "--unit folder, a column of a CSV file or a pattern of names")
    return ArgumentError(
        Message(
            "no-units",
            "{methods}: no units are known; say which images belong together: {how}",
            methods=names_of(results),
            how=how,
        )
    )


def table_of_images(
    named: Sequence[tuple[tuple[str, ...], Result]],
    *,
    labels: tuple[str, ...],
    keys: Sequence[str] | None,
    sort: str | None,
    most: int | None = None,
    units: bool = False,
) -> MetricTable:
    """Return one row per image (or unit) of each result; with `sort`, the worst first; at `most` so many of them.

    Results are named in the columns `labels`. Notes say why metrics of these rows are undefined.
    """
    results = [result for _, result in named]
    known = image_metrics(results)
    metrics = tuple(known.values()) if keys is None else _chosen(known, keys)
    summaries_of = [result.per_unit if units else result.per_image for result in results]
    if units and not any(summaries_of):
        raise without_units(results)
    noun = next((result.units.noun for result in results if result.units), "unit") if units else "image"
    # Rows are numbered through all results; those that are shown are read in the order of results files.
    names_of_result = [list(summaries) for summaries in summaries_of]
    first_rows = np.cumsum([0, *map(len, names_of_result)])
    order = np.arange(first_rows[-1])
    if sort in known:  # a file may hold runs of several protocols
        values = np.concatenate([summaries.column(sort) for summaries in summaries_of])
        order = worst_first(known[sort], values)
    shown = order[:most].tolist()
    row_of: dict[int, TableRow] = {}
    measures = [summaries.of_keys([metric.key for metric in metrics]) for summaries in summaries_of]
    for row_number in sorted(shown):
        k = int(np.searchsorted(first_rows, row_number, "right")) - 1
        name = names_of_result[k][row_number - first_rows[k]]
        result_labels, _ = named[k]
        row_of[row_number] = TableRow((*result_labels, name), measures[k](name), method=k)
    rows = [row_of[row_number] for row_number in shown]
    shown_keys, rows_of_result = [metric.key for metric in metrics], Counter(row.method for row in rows)
    undefined = Counter((note, row.method) for row in rows for note in undefined_metrics(row.summary, shown_keys))
    notes_of = []
    for (note, k), count in undefined.items():
        message = note.message.extended(": {number}", number=part_of(count, rows_of_result[k], noun))
        result_labels, _ = named[k]
        notes_of.append((replace(note, message=message), " of ".join(result_labels)))
    by_note = grouped(dict.fromkeys(notes_of))
    notes = [note.said_of(few_names(methods, len(named))) for note, methods in by_note.items()]
    published = dict.fromkeys(result.method for result in results if result.published)
    if published:
        unknown = Message("published", "published without images, so metrics of images are unknown")
        notes.append(Note(unknown).said_of(", ".join(published)))
    return MetricTable((*labels, noun), metrics, rows, notes=tuple(notes))


def worst_first(metric: Metric, values: FloatArray) -> NDArray[np.intp]:
    """Sort images by a metric: the lowest first, or where lower is better the highest; undefined last."""
    return np.argsort(np.where(np.isnan(values), np.inf, metric.direction * values), kind="stable")


def image_metrics(results: Sequence[Result]) -> dict[str, Metric]:
    """Return the metrics of single images by their keys there; the last ones go to a second block first."""
    metrics: dict[str, Metric] = {}
    for metric in (metric for result in results for metric in image_columns(result.metrics)):
        metrics.setdefault(metric.image_key, metric)
    return {
        key: replace(
            metric,
            key=key,
            title=key,
            group="",  # which says how images are pooled
            measured_in="",  # columns are named by keys alone
            image_title=metric.name_for_images,
            priority=len(metrics) - position if position else 0,
        )
        for position, (key, metric) in enumerate(metrics.items())
    }


@dataclass(frozen=True, eq=False)
class PartRow:
    """A part of one method, the mean of its parts, or all of them; `run` is the method's place among the results."""

    run: int
    method: str
    name: str
    result: Result
    kind: Literal["part", "mean", "all"] = "part"
    intervals: Intervals | None = None
    notes: tuple[Note, ...] = ()  # on all parts: which images are in none


def how_to_divide(results: Sequence[Result], axis: str) -> Message:
    """Say how results come to have classes, objects or groups, if their protocols can."""
    if axis != "class":
        option = AXES[axis].option(itertools.chain.from_iterable(result.counts for result in results))
        if AXES[axis].is_in_one:
            return Message("fix", "name them: {option}", option=option)
        return Message("fix", "count again: {option}", option=option)
    verbs = dict.fromkeys(verb_of(result.kind) for result in results)
    able = [verb for verb in verbs if any("classes" in options_of(kind) for kind in protocols_of(verb))]
    commands = " or ".join(f"segbench {verb} GT PRED --classes 0-18" for verb in able)
    again = Message("fix", "count again{with_classes}", with_classes=Either(" with classes=", f": {commands}"))
    return again if able else Message("no-classes", "their protocol has none")


def part_rows(
    results: Sequence[Result], axis: str, *, intervals: Sequence[Intervals] = (), with_means: bool = False
) -> list[PartRow]:
    """Return the rows of each part of each method; intervals of them are drawn as those given of the whole were.

    Of groups and objects their mean and all of them follow; methods without parts have a row of all alone. Of other
    parts the mean follows on request, by this name.
    """
    single_runs = axis == "run" and any(result.run for result in results)
    if axis != "group" and not single_runs and not any(axis in result.axes for result in results):
        raise ArgumentError(
            Message(
                "no-parts",
                "results of {protocols} have no {parts}; {how}",
                protocols=list(by_protocol(results)),
                parts=AXES[axis].plural,
                how=how_to_divide(results, axis),
            )
        )
    rows = []
    for run, (method, result) in enumerate(zip(names_of(results), results, strict=True)):
        of_method = _rows_of(PartRow(run, method, ALL_IMAGES, result, "all"), axis)
        mean = result.parts(axis).mean if with_means and axis in result.axes else None
        of_method += [] if mean is None else [PartRow(run, method, "mean", mean, "mean")]
        for row in of_method:
            drawn = None
            if intervals:
                whole = intervals[run]
                resampled = {"replicates": whole.replicates, "seed": whole.seed}
                drawn = row.result.intervals(level=whole.level, **resampled)
            rows.append(replace(row, intervals=drawn))
    return rows


def _rows_of(whole: PartRow, axis: str) -> list[PartRow]:
    """Return the rows of the parts of a method, then of their mean and of all of them."""
    result, has_rows = whole.result, AXES[axis].has_rows
    if axis not in result.axes:
        return [replace(whole, name="one run") if axis == "run" else whole] if has_rows else []
    parts = result.parts(axis)
    rows = [replace(whole, name=name, result=part, kind="part", notes=parts.notes) for name, part in parts.items()]
    if not has_rows or (len(parts) == 1 and not parts.notes):  # mean and all images are the same
        return rows
    if parts.mean is not None:
        noun = "fold" if axis == "run" and result.pools_folds else axis
        name = f"mean of {parts.mean.settings.get('mean', many(len(parts), noun))}"
        rows.append(replace(whole, name=name, result=parts.mean, kind="mean", notes=parts.notes))
    if parts.pooled is not None:
        rows.append(replace(whole, result=parts.pooled, notes=parts.notes))
    return rows


def part_table(
    parts: Sequence[PartRow],
    results: Sequence[Result],
    axis: str,
    *,
    keys: Sequence[str] | None,
    every: bool,
    spread: SpreadForm = "",
    first: Sequence[str] = (),
) -> MetricTable:
    """Return one row per part and method, the methods of a part one below the other; with `every` as `method_table`.

    Runs are below each other by method, and only their means compete. Of groups, objects and runs notes say what is
    wrong with them.
    """
    blocks = (
        [list(parts)]
        if every or axis == "run"
        else [*grouped(((part.kind, part.name), part) for part in parts).values()]
    )
    rows: list[TableRow] = []
    sets: list[list[int]] = []
    numbered = not every and any(_differ_in_images([part.result for part in block]) for block in blocks)
    for block in blocks:
        drawn = [part.intervals for part in block if part.intervals is not None]
        block_results = [part.result for part in block]
        table = method_table(
            block_results,
            intervals=drawn,
            keys=keys,
            every=every,
            fold_rows=False,
            spread=spread,
            numbered=numbered,
            first=first,
        )
        sets += [[row + len(rows) for row in competing] for competing in table.sets]
        rows += [row._replace(labels=(part.name, part.method)) for part, row in zip(block, table.rows, strict=True)]
    notes = _notes_on_parts(parts, table.columns, axis, keys, [] if every else blocks)
    if AXES[axis].has_rows:
        notes = _notes_around(notes, parts, results)
    if axis == "run":
        rows = [row for part, own in zip(parts, rows, strict=True) for row in (own, *_error_rows(part, own))]
        sets = []
    return replace(table, labels=(axis, "method"), rows=rows, sets=sets, notes=tuple(notes))


def _error_rows(part: PartRow, row: TableRow) -> list[TableRow]:
    """Return the standard errors of joined runs by their source; nothing of single ones."""
    errors = part.result.standard_errors
    titles = {"images": f"{part.result.measured.noun}s"} if errors else {}
    return [
        row._replace(
            labels=(f"standard error, {titles.get(source, source)}", part.method),
            summary=Summary(values),
            texts=("",) * len(row.texts),
            intervals={},
            sd={},
        )
        for source, values in errors.items()
    ]


def _notes_on_parts(
    parts: Sequence[PartRow],
    shown: Sequence[Metric],
    axis: str,
    keys: Sequence[str] | None,
    blocks: Sequence[Sequence[PartRow]],
) -> list[Note]:
    """Return the notes on the metrics of parts, and why some are undefined."""
    notes: list[Note] = [*optimistic_notes(shown), *([] if AXES[axis].has_rows else _ranked_apart(blocks))]
    notes += _notes_by_part(parts, keys)
    undefined = []
    for part, metric in itertools.product(parts, shown):
        reason = part.result.summary.undefined.get(metric.key)
        if reason:
            undefined.append(((part.method, reason), part.name))
    for (method, reason), within in grouped(dict.fromkeys(undefined)).items():
        message = Message(
            "undefined",
            "undefined ({reason}) in {axis} {parts}",
            reason=reason,
            axis=axis if len(within) == 1 else AXES[axis].plural,
            parts=within,
        )
        notes.append(Note(message).said_of(method))
    left_out = list(dict.fromkeys(part.name for part in parts if in_no_mean(part.result.settings)))
    if left_out:
        background = Message(
            "background-left-out", "left out of means over classes, background: {classes}", classes=left_out
        )
        notes.append(Note(background))
    return notes


def _notes_around(notes: Sequence[Note], parts: Sequence[PartRow], results: Sequence[Result]) -> list[Note]:
    """Add to the notes on parts which methods are ranked apart, which images are in no part, and which failed."""
    names = names_of(results)
    apart = not_ranked_together(results, names)
    of_notes = grouped(dict.fromkeys((note, part.method) for part in parts for note in part.notes))
    on_parts = [note.said_of(few_names(methods, len(names))) for note, methods in of_notes.items()]
    failed = []
    for method, result in zip(names, results, strict=True):
        number = part_of(len(result.failed), len(result.failed) + len(result.counts))
        for failure in [*result.failed.values()][:1]:
            message = Message(
                "failed", "{number} failed; the first: {failure}", number=number, failure=failure.sentence
            )
            failed.append(Note(message).said_of(method))
    return [*([] if apart is None else [apart]), *on_parts, *notes, *failed]


def _ranked_apart(groups: Sequence[Sequence[PartRow]]) -> list[Note]:
    """Say of which classes not all methods are ranked together."""
    apart = []
    for parts in groups:
        note = not_ranked_together([part.result for part in parts], [part.method for part in parts])
        if note is not None:
            apart.append((note, parts[0].name))
    return [
        note if len(names) == len(groups) else note.said_of(", ".join(names)) for note, names in grouped(apart).items()
    ]


def _notes_by_part(classes: Sequence[PartRow], keys: Sequence[str] | None) -> list[Note]:
    """Return the notes on parts: each once with its methods and parts, and numbers of images in one line."""
    notes_of = [(part, note) for part in classes for note in notes_about(part.result.summary.notes, keys)]
    of_notes = grouped(((part.name, note), part.method) for part, note in notes_of)
    methods = len({part.method for part in classes})
    parts_of: dict[tuple[Note, str], dict[Message | None, list[str]]] = {}
    for (name, note), noted_methods in of_notes.items():
        number = note.message.values.get("number")
        alike = note if number is None else note.with_values(number="")
        who = "" if len(noted_methods) == methods else ", ".join(noted_methods)
        parts_of.setdefault((alike, who), {}).setdefault(number, []).append(name)
    notes = []
    for (note, who), names in parts_of.items():
        if None in names:
            on_parts = note.said_of(", ".join(names[None]))
        else:
            of_parts = [
                Message("of-parts", "{number} ({parts})", number=number, parts=parts) for number, parts in names.items()
            ]
            on_parts = note.with_values(number=joined(of_parts))
        notes.append(on_parts.said_of(who) if who else on_parts)
    return notes


def threshold_columns(results: Sequence[Result]) -> list[Mapping[str, NDArray[Any]]]:
    """Return the columns of each pooled curve, ``threshold`` first; none for a result without a curve."""
    tables = [{} if result.drawn is None else result.drawn.columns for result in results]
    if results and not any(tables):
        protocols = " and ".join(by_protocol(results))
        others = Either("choose other results", "leave out --per-threshold, or choose other methods with --only")
        raise ArgumentError(
            Message(
                "no-curve",
                "results of {protocols} have no curve, so there are no thresholds to list; {others}",
                protocols=protocols,
                others=others,
            )
        )
    return tables


def threshold_table(
    results: Sequence[Result],
    *,
    digits: int = DIGITS,
    keys: Sequence[str] | None = None,
    every: bool = False,
) -> MetricTable:
    """Return one row per threshold and method; for readers some `SHOWN_THRESHOLDS`, and the best one, marked."""
    curves = threshold_columns(results)
    # A published curve lacks the counts: for readers the longest list of columns comes first. tpr is recall once more.
    sources = curves if every else sorted(curves, key=len, reverse=True)
    known = [key for key in dict.fromkeys(key for curve in sources for key in curve) if every or key != "tpr"]
    chosen = ["threshold", *(key for key in keys if key in known and key != "threshold")] if keys else known
    rows: list[TableRow] = []
    best = set()
    notes = []
    for name, curve, result in zip(names_of(results), curves, results, strict=True):
        if result.drawn is None:
            notes.append(Note(Message("no-curve", "no curve is known")).said_of(name))
            continue
        values, measure = curve[result.drawn.measure], result.drawn.measure
        highest = None if np.isnan(values).all() else int(np.nanargmax(values))
        kept = range(values.size) if every else _few(curve, highest)
        if len(kept) < values.size:
            message = Message(
                "some-thresholds",
                "{shown} of {total} thresholds{points}; {lists} all",
                shown=len(kept),
                total=values.size,
                points=f", at {result.chosen_points}" if result.chosen_points else "",
                lists=_LISTS_ALL,
            )
            notes.append(Note(message).said_of(name))
        if highest is not None:
            best |= {(len(rows) + position, measure) for position, at in enumerate(kept) if at == highest}
        lists = {key: curve[key].tolist() for key in chosen if key in curve}
        rows += [TableRow((name,), Summary({key: column[at] for key, column in lists.items()})) for at in kept]
    thresholds = [row.summary["threshold"] for row in rows]
    if any(
        math.isfinite(threshold) and float(number(threshold, digits=digits)) != threshold for threshold in thresholds
    ):
        rounded = Message(
            "rounded-thresholds", "thresholds are rounded here; {lists} them with all digits", lists=_LISTS_ALL
        )
        notes.append(Note(rounded))
    columns = tuple(Metric(key=key, title=key, kind="threshold" if key == "threshold" else "score") for key in chosen)
    return MetricTable(("method",), columns, rows, best=frozenset(best), notes=tuple(notes))


def _few(columns: Mapping[str, NDArray[Any]], best: int | None) -> list[int]:
    """Choose the thresholds that readers see: evenly along the list, or along recall where scores that occur are."""
    thresholds = columns["threshold"]
    total = thresholds.size
    if total <= SHOWN_THRESHOLDS:
        return list(range(total))
    kept: NDArray[Any] = np.linspace(0, total - 1, SHOWN_THRESHOLDS)
    recall = columns.get("recall", thresholds)
    if np.isinf(thresholds[0]) and not np.isnan(recall).any():
        # Most of these may lie where nothing happens any more.
        kept = np.searchsorted(recall, np.linspace(recall[0], recall[-1], SHOWN_THRESHOLDS))
    shown = np.rint(kept).astype(int).clip(0, total - 1).tolist()
    return sorted({0, total - 1, *shown, *([] if best is None else [best])})
