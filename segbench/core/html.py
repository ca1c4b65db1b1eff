"""HTML for notebooks: tables and remarks, in the colours of the page; text is escaped, since names come from files."""

from __future__ import annotations

from html import escape

from segbench.core.text_table import TextTable


def table_html(table: TextTable, caption: str = "") -> str:
    """Write a table, without its notes."""
    from tabulate import tabulate

    sides = ["left"] * table.names + ["right"] * (len(table.header) - table.names)
    text = tabulate(table.rows, table.header, tablefmt="html", colalign=sides, disable_numparse=True)
    return f"{remarks_html(caption) if caption else ''}{text}"


def remarks_html(*remarks: str) -> str:
    """Write remarks, one below the other."""
    return "".join(f"<div><small>{escape(remark)}</small></div>" for remark in remarks)
