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

from segbench.core.numbers import exact, many
from segbench.core.summary import finite
from segbench.core.text_table import TextTable
from segbench.report.terminal import say, show_table
from segbench.statistics.comparison import (
    Comparison,
    Difference,
    compared,
    comparison_table,
    disagreements,
    rank_table,
    significance_table,
)

_BOUNDED = ("estimate_a", "estimate_b", "difference")


def comparison_json(comparison: Comparison, *, signature: str, metrics: Sequence[str] | None) -> str:
    """Write a comparison as JSON: ``differences``, one object per metric and pair, ``rank_shares``, how it was drawn.

    What is not defined is null, with the reason under ``undefined``. ``bounds``, ``bounds_a`` and ``bounds_b`` of the
    difference and the two estimates are [low, high] where scores were counted in bins, and null where exact. `metrics`
    chooses what is compared; None means all.
    """
    shown = list(comparison.rank_shares) if metrics is None else metrics
    document = {
        "schema": 1,
        "signature": f"{signature}|{comparison.signature}",
        "images": comparison.images,
        "level": comparison.level,
        "permutations": comparison.permutations,
        "exact": comparison.exact,
        "differences": [_finite_row(row) for row in _chosen(comparison, metrics)],
        "undefined": {key: reason for key, reason in comparison.undefined.items() if key in shown},
        "optimistic": [metric.key for metric in comparison.metrics if metric.optimistic],
        "rank_shares": {
            key: {method: [finite(share) for share in shares] for method, shares in comparison.rank_shares[key].items()}
            for key in shown
        },
        "notes": [*disagreements(comparison, metrics or compared(comparison)), *comparison.notes],
    }
    return json.dumps(document, indent=2) + "\n"


def exact_comparison(comparison: Comparison, *, metrics: Sequence[str] | None) -> TextTable:
    """Give one row per metric and pair, every field with all its digits, for other programs; None means all metrics.

    Bounds have columns only where some value has bounds.
    """
    names = [field.name for field in dataclasses.fields(Difference) if not field.name.startswith("bounds")]
    rows = _chosen(comparison, metrics)
    cells = [[_plain(getattr(row, name)) for name in names] for row in rows]
    if any(row.bounds for row in rows):
        names += [f"{name}_bound_{end}" for name in _BOUNDED for end in ("low", "high")]
        cells = [[*line, *_bound_cells(row)] for line, row in zip(cells, rows, strict=True)]
    return TextTable(names, cells, names=3)


def show_comparison(
    comparison: Comparison,
    console: Console,
    *,
    metrics: Sequence[str],
    signature: str,
    digits: int,
    zeros: bool,
) -> None:
    """Print a comparison: differences with intervals and p-values, then how often each method is first."""
    table = comparison_table(comparison, metrics=metrics, digits=digits)
    several = len(table.rows) > len({cells[0] for cells in table.rows})
    # An empty line after the last row of each metric, where a metric has several.
    gaps: dict[int, Sequence[Sequence[str]]] = {
        row: [[]]
        for row, (cells, following) in enumerate(itertools.pairwise(table.rows))
        if several and cells[0] != following[0]
    }
    for place, one in enumerate([replace(table, notes=()), *stability_tables(comparison, metrics)]):
        if place:
            console.print()
        show_table(one.with_leading_zeros() if zeros else one, console, below={} if place else gaps)
    for text in _explanations(comparison, metrics):
        say(console, text, "dim")
    others = [metric.key for metric in comparison.metrics if metric.key not in metrics]
    if others and list(metrics) == compared(comparison):
        say(console, f"left out: {', '.join(others)}; --metrics KEYS shows them, --format csv and json all", "dim")
    for note in _warnings(comparison, table, metrics):
        say(console, note, "yellow")
    say(console, f"{signature}|{comparison.signature}", "dim")


def comparison_tables(
    comparison: Comparison, *, metrics: Sequence[str], signature: str, digits: int, zeros: bool
) -> list[TextTable]:
    """Give the tables of a comparison for papers, with every warning and the signature below the first."""
    table = comparison_table(comparison, metrics=metrics, digits=digits)
    notes = [*_explanations(comparison, metrics), *_warnings(comparison, table, metrics)]
    below = (*notes, f"{signature}|{comparison.signature}")
    tables = [replace(table, notes=below), *stability_tables(comparison, metrics)]
    return [one.with_leading_zeros() for one in tables] if zeros else tables


def _chosen(comparison: Comparison, metrics: Sequence[str] | None) -> list[Difference]:
    """Give the differences of some metrics, in their order; None means all, pair by pair."""
    if metrics is None:
        return list(comparison.differences)
    rows = [row for row in comparison.differences if row.metric in metrics]
    return sorted(rows, key=lambda row: metrics.index(row.metric))


def stability_tables(comparison: Comparison, metrics: Sequence[str]) -> list[TextTable]:
    """Give ranks in resamples and p-values of all pairs by the first metric, for three methods or more."""
    shown = _ranked_by(comparison, metrics)
    if len(comparison.intervals) < 3 or not shown:
        return []
    return [rank_table(comparison, shown), significance_table(comparison, shown)]


def _ranked_by(comparison: Comparison, metrics: Sequence[str]) -> str:
    """Give the first of the metrics that is defined and has ranks."""
    for key in [key for key in metrics if key not in comparison.undefined][:1]:
        if not any(math.isnan(share[0]) for share in comparison.rank_shares[key].values()):
            return key
    return ""


def _explanations(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """Say what the columns hold, and how often each method is first."""
    said = []
    if ranked := _ranked_by(comparison, metrics):
        shares = sorted(comparison.rank_shares[ranked].items(), key=lambda item: -item[1][0])
        listed = ", ".join(f"{name} {share[0]:.1%}" for name, share in shares)
        said.append(f"first or tied for first by {ranked} in resamples: {listed}")
    images = many(comparison.images, "image")
    ways = "all" if comparison.exact else f"{comparison.permutations}"
    corrected = "; Holm: corrected for the number of pairs" if len(comparison.intervals) > 2 else ""
    said.append(
        f"a - b: the difference with its {100 * comparison.level:g} % interval over {images}; "
        f"p: two-sided, {ways} ways of swapping images between a and b{corrected}"
    )
    lower = [metric.key for metric in comparison.metrics if metric.better == "lower" and metric.key in metrics]
    if lower:
        said.append(f"lower is better: {', '.join(lower)}; a wins on an image where its value is better")
    return said


def _warnings(comparison: Comparison, table: TextTable, metrics: Sequence[str]) -> list[str]:
    """Give the notes that a reader of the table must not miss."""
    optimistic = {metric.key for metric in comparison.metrics if metric.optimistic}
    tuned = "optimistic: thresholds of the hulls were tuned on these same images"
    hulls = [f"{key}: {tuned}" for key in metrics if key in optimistic]
    return [*table.notes, *disagreements(comparison, metrics), *hulls, *comparison.notes]


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else exact(value)


def _bound_cells(row: Difference) -> list[str]:
    pairs = (row.bounds_a, row.bounds_b, row.bounds)
    return [exact(end) for pair in pairs for end in pair or (math.nan, math.nan)]


def _finite_row(row: Difference) -> dict[str, Any]:
    fields = {**dataclasses.asdict(row), "bounds": row.bounds}
    return {key: finite(value) if isinstance(value, float) else value for key, value in fields.items()}
