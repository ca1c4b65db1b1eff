"""Comparisons of methods as tables and JSON."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from segbench.core.summary import finite
from segbench.report.grids import show_table
from segbench.report.numbers import DIGITS, exact, number, signed
from segbench.report.tables import TextTable
from segbench.statistics.comparison import Comparison, Difference

_HEADER = ("figure", "a", "b", "of a", "of b", "a - b", "p", "p (Holm)", "wins", "ties", "losses")


_BOUNDED = ("estimate_a", "estimate_b", "difference")


def compared(comparison: Comparison) -> list[str]:
    """Give the keys of the metrics that tables show; JSON and CSV hold all."""
    return [metric.key for metric in comparison.metrics if metric.compared] or list(comparison.rank_shares)


def comparison_json(comparison: Comparison, *, signature: str) -> str:
    """Write a comparison as JSON: ``differences``, one object a figure and pair, ``rank_shares``, how it was drawn.

    What is not defined is null, with the reason under ``undefined``. ``bounds``, ``bounds_a`` and ``bounds_b`` of the
    difference and the two estimates are [low, high] where scores were counted in bins, and null where exact.
    """
    first = next(iter(comparison.intervals.values()))
    document = {
        "schema": 1,
        "signature": f"{signature}|{first.signature}|permutations:{comparison.permutations}",
        "images": comparison.images,
        "level": first.level,
        "permutations": comparison.permutations,
        "exact": comparison.exact,
        "differences": [_finite_row(row) for row in comparison.differences],
        "undefined": dict(comparison.undefined),
        "optimistic": [metric.key for metric in comparison.metrics if metric.optimistic],
        "rank_shares": {
            figure: {method: [finite(share) for share in shares] for method, shares in methods.items()}
            for figure, methods in comparison.rank_shares.items()
        },
        "notes": list(comparison.notes),
    }
    return json.dumps(document, indent=2) + "\n"


def comparison_table(comparison: Comparison, *, figures: Sequence[str], digits: int = DIGITS) -> TextTable:
    """Give a line a figure and pair, of the figures asked for in that order.

    Figures that no pair has are left out, unless there is no other; notes say which figures are undefined, and why.
    """
    defined = {row.figure for row in comparison.differences if not math.isnan(row.difference)}
    kept = [figure for figure in figures if figure in defined] or figures
    rows = sorted((row for row in comparison.differences if row.figure in kept), key=lambda row: kept.index(row.figure))
    notes = []
    for reason in dict.fromkeys(comparison.undefined.values()):
        without = [figure for figure in figures if comparison.undefined.get(figure) == reason]
        notes += [f"undefined ({reason}): {', '.join(without)}"] if without else []
    undecided = any(row.undecided for row in rows)
    header = [*_HEADER, *(["undecided"] if undecided else [])]
    cells = [[*_short_row(row, digits), *([str(row.undecided)] if undecided else [])] for row in rows]
    return TextTable(header, cells, names=3, notes=tuple(notes))


def exact_comparison(comparison: Comparison, *, figures: Sequence[str] | None = None) -> TextTable:
    """Give a line a figure and pair, every field with all its digits, for other programs; None asks for all figures.

    Bounds have columns only where some value has bounds.
    """
    names = [field.name for field in dataclasses.fields(Difference) if not field.name.startswith("bounds")]
    rows = [row for row in comparison.differences if figures is None or row.figure in figures]
    if figures is not None:
        rows.sort(key=lambda row: figures.index(row.figure))
    cells = [[_plain(getattr(row, name)) for name in names] for row in rows]
    if any(row.bounds for row in rows):
        names += [f"{name}_bound_{end}" for name in _BOUNDED for end in ("low", "high")]
        cells = [[*line, *_bound_cells(row)] for line, row in zip(cells, rows, strict=True)]
    return TextTable(names, cells, names=3)


def show_comparison(
    comparison: Comparison, console: Console, *, figures: Sequence[str], signature: str, digits: int = DIGITS
) -> None:
    """Print a comparison: differences with intervals and p-values, then how often each method is first."""
    table = comparison_table(comparison, figures=figures, digits=digits)
    several = len(table.rows) > len({cells[0] for cells in table.rows})
    # An empty line after the last row of each figure, where a figure has several.
    gaps: dict[int, Sequence[Sequence[str]]] = {
        row: [[]]
        for row, (cells, following) in enumerate(itertools.pairwise(table.rows))
        if several and cells[0] != following[0]
    }
    show_table(replace(table, notes=()), console, below=gaps)
    first = next(iter(comparison.intervals.values()))

    def say(text: str, style: str = "dim") -> None:
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    for figure in [figure for figure in figures if figure not in comparison.undefined][:1]:
        if any(math.isnan(share[0]) for share in comparison.rank_shares[figure].values()):
            continue
        shares = sorted(comparison.rank_shares[figure].items(), key=lambda item: -item[1][0])
        say(
            f"first, or equal to it, by {figure} in replicates: "
            + ", ".join(f"{name} {share[0]:.1%}" for name, share in shares)
        )
    images = "1 image" if comparison.images == 1 else f"{comparison.images} images"
    ways = "all" if comparison.exact else f"{comparison.permutations}"
    say(
        f"a - b: the difference with its {100 * first.level:g} % interval over {images}; "
        f"p: two-sided, {ways} ways of swapping images between a and b; Holm: corrected for the number of pairs"
    )
    for note in table.notes:
        say(note, "yellow")
    optimistic = {metric.key for metric in comparison.metrics if metric.optimistic}
    for figure in [figure for figure in figures if figure in optimistic]:
        say(f"{figure}: of hulls whose thresholds were chosen on the very images they describe: optimistic")
    for note in comparison.notes:
        say(note, "yellow")
    say(f"{signature}|{first.signature}|permutations:{comparison.permutations}")


def _short_row(row: Difference, digits: int) -> list[str]:
    ends = "" if math.isnan(row.low) else f" [{signed(row.low, digits=digits)}, {signed(row.high, digits=digits)}]"
    return [
        row.figure,
        row.a,
        row.b,
        number(row.estimate_a, row.bounds_a, digits=digits),
        number(row.estimate_b, row.bounds_b, digits=digits),
        signed(row.difference, row.bounds, digits=digits) + ends,
        number(row.p_value),
        number(row.p_holm),
        str(row.wins),
        str(row.ties),
        str(row.losses),
    ]


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else exact(value)


def _bound_cells(row: Difference) -> list[str]:
    pairs = (row.bounds_a, row.bounds_b, row.bounds)
    return [exact(end) for pair in pairs for end in pair or (math.nan, math.nan)]


def _finite_row(row: Difference) -> dict[str, Any]:
    fields = {**dataclasses.asdict(row), "bounds": row.bounds}
    return {key: finite(value) if isinstance(value, float) else value for key, value in fields.items()}
