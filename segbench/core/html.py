"""HTML for notebooks: tables and remarks.

There are no scripts and no colours: text takes those of the page, dark or light. All text is escaped, since
names come from files.
"""

from __future__ import annotations

from html import escape

from segbench.core.text_table import TextTable


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
