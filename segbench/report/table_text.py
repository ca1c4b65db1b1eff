"""Tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io

from segbench.core.names import latex_name, markdown_name, one_line
from segbench.core.text_table import TextTable


def csv_table(table: TextTable) -> str:
    """Write a table as CSV."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([table.header, *table.rows])
    return lines.getvalue()


def markdown_table(table: TextTable) -> str:
    """Write a table as Markdown with its notes below; the best of a column is bold, and there is no underline."""
    from tabulate import tabulate

    rows = [
        [
            f"**{text}**" if table.marks.get((row, place)) == "best" else markdown_name(text)
            for place, text in enumerate(cells)
        ]
        for row, cells in enumerate(table.rows)
    ]
    header = [markdown_name(title) for title in table.header]
    sides = _sides(table, "left", "right")
    text: str = tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=sides if rows else None)
    return text + "\n" + "".join(f"\n{markdown_name(note)}\n" for note in table.notes)


def latex_table(table: TextTable) -> str:
    """Write a table for booktabs; the best of a column is bold, the second best underlined. Notes are comments."""
    rows = [
        [
            latex_name(text) if place < table.names else _latex_figure(text, table.marks.get((row, place), ""))
            for place, text in enumerate(cells)
        ]
        for row, cells in enumerate(table.rows)
    ]
    header = [latex_name(title) for title in table.header]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    first, *others = [
        " & ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() + r" \\"
        for cells in [header, *rows]
    ]
    start = rf"\begin{{tabular}}{{{''.join(_sides(table, 'l', 'r'))}}}"
    lines = [start, r"\toprule", first, r"\midrule", *others, r"\bottomrule", r"\end{tabular}"]
    # A note is a comment, for the caption is the author's.
    return "\n".join([*lines, *(f"% {one_line(note)}" for note in table.notes)]) + "\n"


def _latex_figure(text: str, mark: str) -> str:
    escaped = "--" if text == "-" else latex_name(text).replace("-", "$-$")
    return {"best": rf"\textbf{{{escaped}}}", "second": rf"\underline{{{escaped}}}"}.get(mark, escaped)


def _sides(table: TextTable, name: str, figure: str) -> list[str]:
    return [name if place < table.names else figure for place in range(len(table.header))]
