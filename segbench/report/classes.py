"""Results of several classes, class by class: rows for every kind of table, and objects for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from segbench.aggregator.result import Result
from segbench.curves import Intervals
from segbench.errors import ArgumentError
from segbench.report.tables import COLUMNS, by_protocol, method_rows, names_of

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
    """Give each class of each method; intervals of them are drawn as those given of the whole were.

    Raises
    ------
    ArgumentError
        If no result is of several classes.
    """
    if all(result.protocol != "classes" for result in results):
        found = ", ".join(by_protocol(results))
        raise ArgumentError(f"there are no classes in results of {found}; run with -p pixels --classes 0-18")
    drawn: list[Intervals | None] = [*intervals] or [None] * len(results)
    return [
        ClassResult(run, method, name, of_class, None if whole is None else _drawn_alike(of_class, whole))
        for run, (method, result, whole) in enumerate(zip(names_of(results), results, drawn, strict=True))
        for name, of_class in result.classes.items()
    ]


def class_rows(classes: Sequence[ClassResult], *, exact: bool) -> tuple[list[str], list[list[str]]]:
    """Give header and rows of a table with a line a class and method, the figures those of the pixels protocol.

    With `exact` every key is a column and figures keep all their digits, for other programs.
    """
    if not classes:
        return ["method", "class", *(column.title for column in COLUMNS["pixels"])], []
    drawn = [one.intervals for one in classes if one.intervals is not None]
    header, rows = method_rows([one.result for one in classes], intervals=drawn, exact=exact)
    named = [[one.method, one.name, *row[1:]] for one, row in zip(classes, rows, strict=True)]
    return ["method", "class", *header[1:]], named


def _drawn_alike(result: Result, whole: Intervals) -> Intervals:
    return result.intervals(level=whole.level, method=whole.method, replicates=whole.replicates, seed=whole.seed)
