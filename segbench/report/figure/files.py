"""A figure as files: PDF or PNG, its caption and alternative text."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from segbench.aggregator.writing import refuse_foreign, refuse_place, write_file
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.drawing.letters import draw_as_outlines
from segbench.drawing.written import FONTS, WRITTEN, families_for
from segbench.report.figure.drawing import DPI, axes_for, draw_grid
from segbench.report.figure.grid import FigureGrid

FORMATS = (".pdf", ".png")
LARGEST = 5_000_000
"""Bytes of a figure, above which its pictures have fewer dots per inch."""
_DOTS = (DPI, 200, 150, 100)
CAPTION_HEAD = "Facts for the caption, by segbench figure\n\n"
_HINT = "name another file"


def refuse_figure_place(path: Path, tiles: Path | None) -> None:
    """Refuse, before anything is read, a name that is no figure, or files that segbench did not write."""
    if path.suffix.lower() not in FORMATS:
        raise ArgumentError(
            Message(
                "other-suffix",
                "{path}: figures are written as {known}; give a name that ends in one of these",
                path=str(path),
                known=list(FORMATS),
            )
        )
    refuse_place(path)
    refuse_foreign({path.with_suffix(".txt"): None}, _HINT)
    if tiles is not None and tiles.is_file():
        raise ArgumentError(Message("not-a-folder", "{path} is a file, expected a folder", path=str(tiles)))


def save_figure(grid: FigureGrid, path: Path, *, say: Callable[[str], None] | None = None) -> tuple[Path, Path]:
    """Write a figure, and beside it its caption; return both places."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    suffix = path.suffix.lower()
    fonts: dict[Any, Any] = dict(FONTS)
    with mpl.rc_context(fonts), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        families = families_for([*grid.columns, *(words for _, words in grid.legend())], suffix, say)
        mpl.rcParams["font.family"] = families
        for dpi in _DOTS:
            figure = Figure(figsize=(grid.settings.inches, 1), dpi=DPI)
            draw_grid(grid, axes_for(figure), dpi=dpi)
            if suffix == ".pdf" and not mpl.rcParams["text.usetex"]:
                draw_as_outlines(figure, families)
            drawn = io.BytesIO()
            figure.savefig(drawn, format=suffix.removeprefix("."), dpi=dpi, metadata=WRITTEN[suffix])
            if drawn.tell() <= LARGEST:
                break
    write_file(path, drawn.getvalue(), hint=_HINT)
    text = path.with_suffix(".txt")
    write_file(text, caption_text(grid).encode("utf-8", "backslashreplace"), hint=_HINT)
    return path, text


def caption_text(grid: FigureGrid) -> str:
    """Return the facts of the caption and an alternative text."""
    facts = "\n".join(grid.caption)
    return f"{CAPTION_HEAD}{facts}\n\nAlternative text: {alternative_text(grid)}\n"


def alternative_text(grid: FigureGrid) -> str:
    """Describe a figure to those who do not see it."""
    across = "rows" if grid.settings.transpose else "columns"
    down = "columns" if grid.settings.transpose else "rows"
    meaning = "; ".join(grid.legend_in_words())
    sentences = [f"Grid of pictures. The {across} are {', '.join(grid.columns)}. The {down} are images."]
    before = len(grid.columns) - len(grid.methods)
    for view in grid.views:
        if view.box is not None:
            x, y, width, height = view.box
            sentences.append(f"Part of {view.image}: {width} by {height} pixels at {x}, {y}.")
            continue
        name = grid.first_layers(view.image).value_name
        values = [f"{method} {grid.written(grid.value(view, before + k))}" for k, method in enumerate(grid.methods)]
        sentences.append(f"{view.image}: {name} of {', '.join(values)}.")
    return " ".join([*sentences, f"Colours: {meaning}." if meaning else ""]).strip()
