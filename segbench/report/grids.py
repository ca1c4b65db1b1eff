"""Tables in the terminal: columns aligned, no digit cut, and of columns as many as fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from segbench.core.names import one_line
from segbench.core.text_table import TextTable

_STYLES: Mapping[str, str] = {"best": "bold", "second": "underline", "": ""}


def show_table(
    table: TextTable, console: Console, *, below: Mapping[int, Sequence[Sequence[str]]] | None = None
) -> list[int]:
    """Print a table, the best in bold, the second best underlined, its notes below; lines `below` a row are dim.

    A terminal too narrow for it gets fewer columns, if that is enough, and a line that names those left out. Returns
    the columns that are shown.
    """
    kept = _print_rows(table, console, below or {}) if table.rows else list(range(len(table.header)))
    for note in table.notes:
        say(console, note, "dim")
    return kept


def say(console: Console, text: str, style: str) -> None:
    """Print a line as it is, however long."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _print_rows(table: TextTable, console: Console, below: Mapping[int, Sequence[Sequence[str]]]) -> list[int]:
    lines = [table.header, *table.rows, *(more for several in below.values() for more in several)]
    widths = [
        max(cell_len(one_line(cells[place])) for cells in lines if place < len(cells))
        for place in range(len(table.header))
    ]
    kept = _kept(widths, table.spare, console.width) if console.is_terminal else list(range(len(widths)))

    def line(cells: Sequence[str], styles: Sequence[str] = ()) -> Text:
        text = Text()
        for place in kept:
            cell = one_line(cells[place]) if place < len(cells) else ""
            blank = " " * (widths[place] - cell_len(cell))
            # A style is that of the text alone: an underline would go on below blanks.
            text.append("" if place < table.names else blank)
            text.append(cell, style=styles[place] if styles else "")
            text.append(blank + " " if place < table.names else " ")
        text.rstrip()
        return text

    def show(text: Text, style: str = "") -> None:
        console.print(text, style=style, highlight=False, soft_wrap=True)

    show(line(table.header), "bold")
    for row, cells in enumerate(table.rows):
        show(line(cells, [_STYLES[table.marks.get((row, place), "")] for place in range(len(cells))]))
        for more in below.get(row, ()):
            show(line(more), "dim")
    if len(kept) < len(widths):
        left_out = ", ".join(title for place, title in enumerate(table.header) if place not in kept)
        hint = f"widen the terminal to {_total(widths)} columns, or add --format markdown"
        say(console, f"left out: {left_out}; to see all, {hint}", "dim")
    return kept


def _kept(widths: Sequence[int], spare: Sequence[int], room: int) -> list[int]:
    """Give the columns that fit, without as few of those to spare as that takes; all where nothing helps."""
    for count in range(len(spare) + 1):
        kept = [place for place in range(len(widths)) if place not in spare[:count]]
        if _total([widths[place] for place in kept]) <= room:
            return kept
    return list(range(len(widths)))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(widths) - 1
