"""What must be known beside the metrics of several methods, each remark once, with the methods it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from segbench.aggregator.merging import lacking
from segbench.aggregator.result import Result, names_of
from segbench.core.errors import LISTED, Failure
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, as_note, notes_about, part_of
from segbench.core.metric import Summary, columns
from segbench.core.names import few_names
from segbench.core.numbers import many, verb
from segbench.report.ranking import competing_sets, why_apart
from segbench.statistics.intervals import Intervals

_FEWEST_IMAGES = 2


@dataclass(frozen=True)
class Remark:
    """One remark; a note of the run is not for tables in papers; `details` are lines below it."""

    note: Note
    kind: Literal["table", "run", "note", "undefined", "failed"] = "note"
    details: tuple[Message | Failure, ...] = ()


def remarks(
    results: Sequence[Result],
    intervals: Sequence[Intervals] = (),
    *,
    keys: Sequence[str] | None = None,
    names: Sequence[str] = (),
    deviations: bool = True,
) -> list[Remark]:
    """Return the remarks on results of one protocol and on the intervals of each; `keys` are the metrics shown.

    Of means over runs the table shows standard `deviations`, or not.
    """
    names = names or names_of(results)
    of_each = []
    for name, result in zip(names, results, strict=True):
        of_each += [(remark, name) for remark in _remarks_on(result, keys, deviations=deviations)]
    apart = not_ranked_together(results, names)
    shown = [] if apart is None else [Remark(apart, "undefined")]
    shown += [
        replace(remark, note=remark.note.said_of(few_names(methods, len(names))))
        for remark, methods in grouped(dict.fromkeys(of_each)).items()
    ]
    made = list(zip(names, results, intervals, strict=False))
    said_of = [(note, name) for name, _, result_intervals in made for note in notes_about(result_intervals.notes, keys)]
    for name, result, result_intervals in made:
        said_of += [(note, name) for note in _without_intervals(result, result_intervals, keys)]
    for note, methods in grouped(dict.fromkeys(said_of)).items():
        attributed = note if len(methods) == len(names) else note.said_of(few_names(methods, len(names)))
        shown.append(Remark(attributed, "undefined"))
    return shown


def run_notes(results: Sequence[Result], *, of_metrics: bool = False) -> list[Note]:
    """Return the notes of runs, or also those of metrics, each with the methods that it is on."""
    notes = [
        (note, name)
        for name, result in zip(names_of(results), results, strict=True)
        for note in (*result.notes, *(result.summary.notes if of_metrics else ()))
    ]
    return [note.said_of(few_names(methods, len(results))) for note, methods in grouped(notes).items()]


def undefined_metrics(summary: Summary, keys: Iterable[str] | None) -> list[Note]:
    """Say which metrics are undefined, and why; all metrics, or those of some keys."""
    reasons = grouped((summary.undefined[key], (key, key)) for key in keys or summary if key in summary.undefined)
    return [
        Note(Message("undefined", "undefined ({reason}): {metrics}", reason=reason), metrics=tuple(without))
        for reason, without in reasons.items()
    ]


def _without_intervals(result: Result, intervals: Intervals, keys: Sequence[str] | None) -> list[Note]:
    """Say which of the metrics shown have a value but no interval, and why; nothing where none has one."""
    shown = keys or [metric.key for metric in columns(result.metrics)]
    lacking = [key for key in shown if key in intervals.undefined and key not in result.summary.undefined]
    if intervals.images < _FEWEST_IMAGES:
        return []  # which a note says
    reasons = grouped((intervals.undefined[key], (key, key)) for key in lacking)
    return [
        Note(Message("no-interval", "no interval ({reason}): {metrics}", reason=reason), metrics=tuple(without))
        for reason, without in reasons.items()
    ]


def _remarks_on(result: Result, keys: Sequence[str] | None, *, deviations: bool) -> Iterable[Remark]:
    """Yield the remarks on one result."""
    if result.pools_folds:
        folds = many(len(result.runs), "fold")
        pooled = Message("folds-pooled", "all images of {folds} pooled, each counted in its fold alone", folds=folds)
        yield Remark(Note(pooled), "table")
        if deviations:
            mean_of_folds = Message(
                "mean-of-folds", "mean of {folds}: mean ± SD over folds, each measured by itself", folds=folds
            )
            yield Remark(Note(mean_of_folds), "table")
    elif result.sd:
        mean = "mean ± SD" if deviations else "mean"
        runs = many(len(result.runs), "run")
        yield Remark(Note(Message("mean-of-runs", "{mean} over {runs}", mean=mean, runs=runs)), "table")
    yield from (Remark(note, "run") for note in result.notes)
    yield from (Remark(as_note(note), "undefined") for note in (lacking(result), result.outdated) if note)
    yield from (Remark(note) for note in notes_about(result.summary.notes, keys))
    yield from (Remark(note, "undefined") for note in undefined_metrics(result.summary, keys))
    if result.failed:
        failed = len(result.failed)
        left_out = Message(
            "failed",
            "{number} failed and {verb} left out of all metrics",
            number=part_of(failed, failed + len(result.counts)),
            verb=verb(failed, "are"),
        )
        yield Remark(Note(left_out), "failed", tuple(_failures(result.failed)))


def _failures(failed: Mapping[str, Failure]) -> Iterable[Message | Failure]:
    """Yield one line per reason, ``gt/a.png: ...``, and below them once the remedies that several reasons share."""
    groups = grouped(((failure.what, failure.hint), failure) for failure in failed.values())
    counts = Counter(remedy for _, remedy in [*groups][:LISTED])
    shared = [remedy for remedy, count in counts.items() if remedy and count > 1]
    for (problem, remedy), (first, *others) in [*groups.items()][:LISTED]:
        failure = Failure(first.path, problem) if remedy in shared else first
        if others:
            reason, path = Either(failure.reason("python"), failure.reason("options")), failure.path
            images = 1 + len(others)
            yield Message(
                "failed", "{images} images: {reason} (first: {path})", images=images, reason=reason, path=path
            )
        else:
            yield failure
    yield from (Message("fix", "-> {remedy}", remedy=remedy) for remedy in shared)
    if len(groups) > LISTED:
        every = Either("result.failed", "--format json")
        yield Message("more", "... and {more} more reasons; {every} lists all", more=len(groups) - LISTED, every=every)


def not_ranked_together(results: Sequence[Result], names: Sequence[str]) -> Note | None:
    """Say which methods have other images or settings than others, so that they are ranked apart; None if none."""
    sets = competing_sets(results)
    if len(sets) == 1:
        return None
    different, of_sets = why_apart(results, sets)
    methods = []
    for members in sets:
        own = [results[k].label for k in members]  # the settings that tables add follow in brackets
        told_apart = own if len(set(own)) == len(own) else [names[k] for k in members]
        methods.append(few_names(told_apart, len(names)))
    listed = "; ".join(f"{of_set} ({has})" for of_set, has in zip(methods, of_sets, strict=True))
    message = Message(
        "ranked-apart",
        "not all methods have the same {different}; the best is marked only among those that do: {sets}",
        different=different,
        sets=listed,
    )
    return Note(message)
