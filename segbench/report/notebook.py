"""What notebooks show of results, curves and figures: HTML of tables and small drawings.

No script and no colour of its own: text and lines take those of the page, dark or light. Whatever comes from file names
is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import singledispatch
from html import escape

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.metric import columns
from segbench.core.numbers import number
from segbench.core.scores import ScoreCounts
from segbench.core.summary import Summary
from segbench.core.text_table import TextTable
from segbench.curves.curve import Curve
from segbench.curves.explain import AreaExplanation
from segbench.curves.fmeasure import BestF
from segbench.protocols.boundaries.curve import BoundaryCurve, measured
from segbench.protocols.regions.curve import RegionCurve
from segbench.report.points import FloatArray, area_bounds, boundary_points, pr_points, roc_points
from segbench.report.threshold_tables import pixel_f
from segbench.statistics.comparison import Comparison, compared, comparison_table
from segbench.statistics.intervals import Intervals

_SIDE, _MARGIN = 200, 24
_MOST_POINTS = 400


@singledispatch
def html_of(shown: object) -> str:
    """Give the HTML that a notebook shows; what has no look of its own is its ``repr``."""
    return f"<pre>{escape(repr(shown))}</pre>"


@html_of.register
def _(shown: Result) -> str:
    images = f"{len(shown.counts)} image{'s'[: len(shown.counts) != 1]}"
    failed = f", {len(shown.failed)} failed" if shown.failed else ""
    caption = f"{shown.method} ({shown.protocol}, {images}{failed})"
    metrics = columns(shown.rules.metrics())
    titles = [metric.title for metric in metrics]
    figures = [number(shown.summary[metric.key], shown.summary.bounds.get(metric.key)) for metric in metrics]
    notes = "".join(map(_line, [*shown.summary.notes, shown.signature]))
    return _table(TextTable(titles, [figures], names=0), caption) + notes


@html_of.register
def _(shown: Summary) -> str:
    rows = [[key, number(value, shown.bounds.get(key)), shown.undefined.get(key, "")] for key, value in shown.items()]
    header = ["figure", "value", "undefined"]
    if not shown.undefined:
        rows, header = [row[:2] for row in rows], header[:2]
    return _table(TextTable(header, rows))


@html_of.register
def _(shown: Intervals) -> str:
    rows = [[key, number(shown.estimates[key]), *map(number, ends)] for key, ends in shown.items()]
    per_cent = f"{100 * shown.level:g} %"
    table = TextTable(["figure", "value", f"{per_cent} low", f"{per_cent} high"], rows)
    return _table(table) + "".join(map(_line, [*shown.notes, shown.signature]))


@html_of.register
def _(shown: BestF) -> str:
    rows = [[field.name, number(getattr(shown, field.name))] for field in fields(shown)]
    return _table(TextTable(["figure", "value"], rows))


@html_of.register
def _(shown: AreaExplanation) -> str:
    rows = [[name, number(figure), why] for name, figure, why in shown.rows()]
    return _table(TextTable(["figure", "value", "why"], rows))


@html_of.register
def _(shown: ScoreCounts) -> str:
    totals = [shown.scores.size, shown.total_positives, shown.total_negatives]
    return _table(TextTable(["scores", "positives", "negatives"], [list(map(str, totals))], names=0))


@html_of.register
def _(shown: Comparison) -> str:
    table = comparison_table(shown, figures=compared(shown))
    return _table(table) + "".join(map(_line, (*table.notes, *shown.notes)))


@html_of.register
def _(shown: Curve) -> str:
    points = pr_points(shown) if shown.space == "pr" else roc_points(shown)
    axes = ("recall", "precision") if shown.space == "pr" else ("false positive rate", "true positive rate")
    if shown.mask is not None:
        return _drawing(points, axes, f"F of the mask {number(pixel_f(shown)[shown.mask].item())}")
    name = ("achievable AUC-PR" if shown.optimistic else "AUC-PR") if shown.space == "pr" else "AUC-ROC"
    return _drawing(points, axes, f"{name} {number(shown.area, area_bounds(shown))}, {shown.tp.size - 1} thresholds")


@html_of.register
def _(shown: BoundaryCurve) -> str:
    best = measured(shown)
    text = f"ODS F {number(best['ods_f'])} at {number(best['ods_threshold'])}, {shown.thresholds.size} thresholds"
    return _drawing(boundary_points(shown), ("recall", "precision"), text)


@html_of.register
def _(shown: RegionCurve) -> str:
    known = np.isfinite(shown.thresholds) & np.isfinite(shown.covering)
    best = float(shown.covering[known].max()) if known.any() else math.nan
    text = f"covering ODS {number(best)}, {shown.thresholds.size} thresholds"
    return _drawing((shown.thresholds[known], shown.covering[known]), ("threshold", "covering"), text)


def _table(table: TextTable, caption: str = "") -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in table.header)
    body = "".join(f"<tr>{''.join(_cells(cells, table.names))}</tr>" for cells in table.rows)
    above = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(cells: Sequence[str], names: int) -> Iterable[str]:
    for place, text in enumerate(cells):
        side = "left" if place < names else "right"
        yield f'<td style="text-align:{side}">{escape(text)}</td>'


def _line(text: str) -> str:
    return f"<div><small>{escape(text)}</small></div>"


def _drawing(points: tuple[FloatArray, FloatArray], axes: tuple[str, str], caption: str) -> str:
    """Draw a line in the unit square as SVG, in the colour of the text around it."""
    x, y = points
    kept = np.unique(np.linspace(0, x.size - 1, min(x.size, _MOST_POINTS)).astype(int))
    path = " ".join(f"{_MARGIN + _SIDE * x[k]:.1f},{4 + _SIDE * (1 - y[k]):.1f}" for k in kept)
    line = f'<polyline points="{path}" stroke-width="2"/>'
    if len(kept) == 1:
        cx, cy = path.split(",")
        line = f'<circle cx="{cx}" cy="{cy}" r="3" fill="currentColor"/>'
    frame = f'<rect x="{_MARGIN}" y="4" width="{_SIDE}" height="{_SIDE}" opacity="0.4"/>'
    below = f'<text x="{_MARGIN + _SIDE / 2}" y="{_SIDE + 20}" text-anchor="middle">{escape(axes[0])}, 0 to 1</text>'
    place = f"translate(14 {4 + _SIDE / 2}) rotate(-90)"
    beside = f'<text transform="{place}" text-anchor="middle">{escape(axes[1])}</text>'
    label = escape(f"{axes[1]} against {axes[0]}: {caption}")
    return (
        f'<svg width="{_SIDE + _MARGIN + 8}" height="{_SIDE + 28}" role="img" aria-label="{label}">'
        f'<g fill="none" stroke="currentColor">{frame}{line}</g>'
        f'<g fill="currentColor" font-size="11">{below}{beside}</g></svg>{_line(caption)}'
    )
