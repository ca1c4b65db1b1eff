"""A figure as files: PDF or PNG, its caption and alternative text, and its cells as tiles for LaTeX."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from segbench.aggregator.writing import refuse_foreign, refuse_place, signed_png, write_file
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.names import latex_name
from segbench.drawing.letters import draw_as_outlines
from segbench.drawing.palette import GUIDE
from segbench.drawing.written import FONTS, WRITTEN, families_for
from segbench.report.bsds import file_names
from segbench.report.figure.drawing import DPI, axes_for, draw_grid
from segbench.report.figure.grid import FigureGrid, View

FORMATS = (".pdf", ".png")
LARGEST = 5_000_000
"""Bytes of a figure, above which its pictures have fewer dots per inch."""
_DOTS = (DPI, 200, 150, 100)
CAPTION_HEAD = "Facts for the caption, by segbench figure\n\n"
TABULAR_HEAD = "% Written by segbench figure; needs graphicx and xcolor. Say where the tiles are by \\graphicspath.\n"
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


def save_tiles(grid: FigureGrid, folder: Path) -> Path:
    """Write each cell as a PNG, and a LaTeX tabular that sets them; return the place of the tabular."""
    from PIL import Image

    columns = grid.columns
    share = 1 / (len(grid.views) if grid.settings.transpose else len(columns))
    longest = int(DPI * grid.settings.inches * share)
    names = file_names(
        f"{view.image}{'' if view.box is None else f'-crop{view.box_number + 1}'}-{column}"
        for view in grid.views
        for column in columns
    )
    tiles: dict[Path, bytes] = {}
    cells: list[list[str]] = []
    for row, view in enumerate(grid.views):
        height, width = view.shape
        size = max(1, longest * height // width), longest
        written: list[str] = []
        for column in range(len(columns)):
            pixels = grid.paint(view, column, size)
            name = f"{names[row * len(columns) + column]}.png"
            if pixels is not None:
                tiles[folder / name] = signed_png(Image.fromarray(pixels), optimize=True)
            written.append(_tex_cell(name if pixels is not None else "", share, _corner(grid, view, column)))
        cells.append(written)
    tabular = folder / "figure.tex"
    refuse_foreign(dict.fromkeys([*tiles, tabular]), "give another folder")
    for tile, png in tiles.items():
        write_file(tile, png, hint="give another folder", make_folder=True)
    write_file(tabular, _tabular(grid, cells).encode("utf-8"), hint="give another folder", make_folder=True)
    return tabular


def _corner(grid: FigureGrid, view: View, column: int) -> str:
    """Return the number in the corner of a cell; empty where nothing is measured."""
    value = grid.value(view, column)
    return "" if math.isnan(value) else grid.written(value)


def _tex_cell(name: str, share: float, value: str) -> str:
    if not name:
        return "--"
    picture = rf"\includegraphics[width={0.97 * share:.4f}\linewidth]{{\detokenize{{{name}}}}}"
    if not value:
        return picture
    return rf"\shortstack{{{picture}\\[-1pt]\tiny {value}}}"


def _tabular(grid: FigureGrid, cells: list[list[str]]) -> str:
    r"""Write a tabular of the tiles: images in rows, or transposed in columns, and what colours mean below."""
    heads = [latex_name(column) for column in grid.columns]
    if grid.settings.transpose:
        lines = [
            " & ".join([rf"\rotatebox{{90}}{{\scriptsize {head}}}", *(row[k] for row in cells)])
            for k, head in enumerate(heads)
        ]
        columns = len(cells) + 1
    else:
        lines = [" & ".join(rf"\scriptsize {head}" for head in heads), *(" & ".join(row) for row in cells)]
        columns = len(heads)
    swatch = r"{\rule{0pt}{2pt}\rule{2pt}{0pt}}"
    legend = r"\quad ".join(
        rf"\colorbox[HTML]{{{(colour or GUIDE)[1:].upper()}}}{swatch} {latex_name(words)}"
        for colour, words in grid.legend()
    )
    body = " \\\\\n".join(lines)
    below = f"\\par\\smallskip{{\\scriptsize {legend}}}\n" if legend else ""
    start = f"\\begin{{tabular}}{{@{{}}*{{{columns}}}{{c@{{\\hspace{{1pt}}}}}}@{{}}}}\n"
    return f"{TABULAR_HEAD}{{\\centering\n{start}{body}\n\\end{{tabular}}\n{below}}}\n"
