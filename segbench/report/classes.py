"""Results of several classes, class by class: tables with a line a class and method, and objects for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.numbers import DIGITS
from segbench.core.text_table import Mark, TextTable
from segbench.report.tables import by_protocol, exact_methods, method_table, names_of
from segbench.statistics.intervals import Intervals

FEW = 20
"""Lines of classes that are printed without being asked for."""


@dataclass(frozen=True, eq=False)
class ClassResult:
    """One class of one method, with its intervals where drawn; `run` is the method's place among the results."""

    run: int
    method: str
    name: str
    result: Result
    intervals: Intervals | None = None


def class_results(results: Sequence[Result], *, intervals: Sequence[Intervals] = ()) -> list[ClassResult]:
    """Give each class of each method; intervals of them are drawn as those given of the whole were."""
    if not any(result.classes for result in results):
        found = ", ".join(by_protocol(results))
        raise ArgumentError(f"results of {found} have no classes; run segbench pixels GT PRED --classes 0-18")
    drawn: list[Intervals | None] = [*intervals] or [None] * len(results)
    return [
        ClassResult(run, method, name, of_class, None if whole is None else _drawn_alike(of_class, whole))
        for run, (method, result, whole) in enumerate(zip(names_of(results), results, drawn, strict=True))
        for name, of_class in result.classes.items()
    ]


def class_table(classes: Sequence[ClassResult], *, digits: int = DIGITS) -> TextTable:
    """Give a line a class and method, the methods of a class one below the other and the best of them marked."""
    header = ["class", "method"]
    rows: list[list[str]] = []
    marks: dict[tuple[int, int], Mark] = {}
    notes: tuple[str, ...] = ()
    spare: tuple[int, ...] = ()
    for name in dict.fromkeys(one.name for one in classes):
        of_name = [one for one in classes if one.name == name]
        table = method_table(
            [one.result for one in of_name], intervals=_intervals(of_name), digits=digits, remarks=False
        )
        marks |= _moved(table.marks, down=len(rows))
        rows += [[name, one.method, *row[1:]] for one, row in zip(of_name, table.rows, strict=True)]
        header, notes = ["class", "method", *table.header[1:]], table.notes
        spare = tuple(place + 1 for place in table.spare)
    return TextTable(header, rows, names=2, marks=marks, notes=(*notes, *_remarks(classes)), spare=spare)


def _remarks(classes: Sequence[ClassResult]) -> tuple[str, ...]:
    """Give what summaries of classes say beside their figures; of several classes of a method alike once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in classes:
        for note in one.result.summary.notes:
            alike.setdefault((one.method, note), []).append(one.name)
    return tuple(f"{method}, {', '.join(names)}: {note}" for (method, note), names in alike.items())


def exact_classes(classes: Sequence[ClassResult]) -> TextTable:
    """Give a line a class and method, every key of the pixels protocol."""
    table = exact_methods([one.result for one in classes], intervals=_intervals(classes))
    rows = [[one.name, one.method, *row[1:]] for one, row in zip(classes, table.rows, strict=True)]
    return TextTable(["class", "method", *table.header[1:]], rows, names=2)


def _moved(marks: Mapping[tuple[int, int], Mark], *, down: int) -> dict[tuple[int, int], Mark]:
    return {(row + down, place + 1): mark for (row, place), mark in marks.items()}


def _intervals(classes: Sequence[ClassResult]) -> list[Intervals]:
    return [one.intervals for one in classes if one.intervals is not None]


def _drawn_alike(result: Result, whole: Intervals) -> Intervals:
    return result.intervals(level=whole.level, method=whole.method, replicates=whole.replicates, seed=whole.seed)
