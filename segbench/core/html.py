"""HTML for notebooks: tables, remarks and small drawings.

There are no scripts and no colours: text and lines take those of the page, dark or light. All text is escaped, since
names come from files.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from segbench.core.text_table import TextTable

if TYPE_CHECKING:
    from segbench.core.arrays import FloatArray

_SIDE, _MARGIN = 200, 24
_MOST_POINTS = 400


def table_html(table: TextTable, caption: str = "") -> str:
    """Write a table, without its notes."""
    groups, titles = table.heading()
    above = "".join(f'<th colspan="{columns}">{escape(group)}</th>' for group, columns in groups)
    above = f"<tr>{above}</tr>" if any(group for group, _ in groups) else ""
    head = above + "<tr>" + "".join(f"<th>{escape(title)}</th>" for title in titles) + "</tr>"
    sides = ["left"] * table.names + ["right"] * (len(table.header) - table.names)
    rows = (
        "".join(f'<td style="text-align:{side}">{escape(text)}</td>' for side, text in zip(sides, cells, strict=True))
        for cells in table.rows
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    caption = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"


def remarks_html(*remarks: str) -> str:
    """Write remarks, one below the other."""
    return "".join(f"<div><small>{escape(remark)}</small></div>" for remark in remarks)


def drawing_html(x: FloatArray, y: FloatArray, *, axes: tuple[str, str], caption: str) -> str:
    """Draw a line as SVG, in the colour of the text around it; y from 0 to 1, x too unless it reaches further."""
    import numpy as np

    low, high = min(x.min(initial=0.0), 0.0), max(x.max(initial=1.0), 1.0)
    x = (x - low) / (high - low)
    kept = np.unique(np.linspace(0, x.size - 1, min(x.size, _MOST_POINTS)).astype(int))
    path = " ".join(f"{_MARGIN + _SIDE * x[k]:.1f},{4 + _SIDE * (1 - y[k]):.1f}" for k in kept)
    line = f'<polyline points="{path}" stroke-width="2"/>'
    if len(kept) == 1:
        cx, cy = path.split(",")
        line = f'<circle cx="{cx}" cy="{cy}" r="3" fill="currentColor"/>'
    frame = f'<rect x="{_MARGIN}" y="4" width="{_SIDE}" height="{_SIDE}" opacity="0.4"/>'
    ends = escape(f"{axes[0]}, {low:g} to {high:g}")
    below = f'<text x="{_MARGIN + _SIDE / 2}" y="{_SIDE + 20}" text-anchor="middle">{ends}</text>'
    place = f"translate(14 {4 + _SIDE / 2}) rotate(-90)"
    beside = f'<text transform="{place}" text-anchor="middle">{escape(axes[1])}</text>'
    label = escape(f"{axes[1]} against {axes[0]}: {caption}")
    return (
        f'<svg width="{_SIDE + _MARGIN + 8}" height="{_SIDE + 28}" role="img" aria-label="{label}">'
        f'<g fill="none" stroke="currentColor">{frame}{line}</g>'
        f'<g fill="currentColor" font-size="11">{below}{beside}</g></svg>{remarks_html(caption)}'
    )
