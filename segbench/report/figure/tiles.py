r"""The cells of a figure as PNG, and a LaTeX tabular that sets them as wide as the text.

The tabular needs graphicx and xcolor, and a `\graphicspath` that says where the tiles are. File names have no letter
that means something to LaTeX, and begin with row and column, so that no two are alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from segbench.aggregator.writing import refuse_foreign, signed_png, write_file
from segbench.core.names import PART, latex_name
from segbench.core.pictures import ByteArray
from segbench.drawing.palette import GUIDE
from segbench.report.figure.cells import CASE
from segbench.report.figure.drawing import BOXES, DPI
from segbench.report.figure.grid import FigureGrid, View

TABULAR_HEAD = "% Written by segbench figure; needs graphicx and xcolor, and says where: \\graphicspath{{FOLDER/}}\n"
_HINT = "give another folder"
_GAP = 2  # points between cells
_LETTER, _LINE = 3.9, 9  # points of a letter and of a line of \scriptsize
_LONGEST_NAME = 40
_CORNER = r"\llap{\raisebox{1pt}{\setlength{\fboxsep}{1pt}\colorbox{white}{\scriptsize %s}}}"
_SWATCH = r"{\rule{0pt}{2pt}\rule{2pt}{0pt}}"


def save_tiles(grid: FigureGrid, folder: Path) -> Path:
    """Write each cell as a PNG, and a LaTeX tabular that sets them; return the place of the tabular."""
    from PIL import Image

    sizes = _sizes(grid)
    tiles: dict[Path, bytes] = {}
    names: dict[tuple[int, int], str] = {}
    for row, (view, size) in enumerate(zip(grid.views, sizes, strict=True)):
        for column, title in enumerate(grid.columns):
            pixels = grid.paint(view, column, size)
            if pixels is not None:
                names[row, column] = _file_name(row, column, view, title)
                tiles[folder / names[row, column]] = signed_png(
                    Image.fromarray(_with_boxes(pixels, view)), optimize=True
                )
    tabular = folder / "figure.tex"
    refuse_foreign(dict.fromkeys([*tiles, tabular]), _HINT)
    for tile, png in tiles.items():
        write_file(tile, png, hint=_HINT, make_folder=True)
    cells = [
        [_cell(grid, names.get((row, column), ""), view, column) for column in range(len(grid.columns))]
        for row, view in enumerate(grid.views)
    ]
    write_file(tabular, _tabular(grid, cells).encode("utf-8"), hint=_HINT, make_folder=True)
    return tabular


def _sizes(grid: FigureGrid) -> list[tuple[int, int]]:
    """Return height and width of the tiles of each view in dots: of equal width, or transposed of equal height."""
    dots = DPI * grid.settings.inches
    if grid.settings.transpose:
        height = dots / sum(view.shape[1] / view.shape[0] for view in grid.views)
        return [(max(1, int(height)), max(1, int(height * view.shape[1] / view.shape[0]))) for view in grid.views]
    width = dots / len(grid.columns)
    return [(max(1, round(width * view.shape[0] / view.shape[1])), max(1, int(width))) for view in grid.views]


def _file_name(row: int, column: int, view: View, title: str) -> str:
    crop = "" if view.box is None else f"-crop{view.box_number + 1}"
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{view.image}{crop}-{title}").strip("-")[:_LONGEST_NAME].rstrip("-")
    return f"{row + 1}-{column + 1}-{words}.png"


def _with_boxes(pixels: ByteArray, view: View) -> ByteArray:
    """Draw the boxes that other tiles show larger, or a frame in the colour of its own box."""
    import numpy as np
    from PIL import Image, ImageDraw

    height, width = pixels.shape[:2]
    scale = width / view.shape[1]
    boxes = [(number, [scale * side for side in box]) for number, box in enumerate(view.boxes)]
    if view.box is not None:
        boxes.append((view.box_number, [0, 0, width, height]))
    picture = Image.fromarray(pixels)
    pen = ImageDraw.Draw(picture)
    for number, (left, top, across, down) in boxes:
        edges = (left, top, max(left, left + across - 1), max(top, top + down - 1))
        pen.rectangle(edges, outline=CASE, width=6)
        inner = (edges[0] + 1, edges[1] + 1, edges[2] - 1, edges[3] - 1)
        if inner[2] > inner[0] and inner[3] > inner[1]:
            pen.rectangle(inner, outline=BOXES[number % len(BOXES)], width=3)
    return np.asarray(picture)


def _cell(grid: FigureGrid, name: str, view: View, column: int) -> str:
    """Return the LaTeX of a cell: its tile, and the metric in its corner."""
    if not name:
        return r"{\scriptsize none}"
    side = r"height=\tileheight" if grid.settings.transpose else r"width=\tilewidth"
    value = grid.value(view, column)
    corner = "" if math.isnan(value) else _CORNER % grid.written(value)
    return rf"\includegraphics[{side}]{{{name}}}{corner}"


def _tabular(grid: FigureGrid, cells: Sequence[Sequence[str]]) -> str:
    """Write a tabular of the tiles: images in rows, or transposed in columns, and what colours mean below."""
    if grid.settings.transpose:
        length, heads = _heads_beside(grid)
        lines = [" & ".join([head, *(row[k] for row in cells)]) for k, head in enumerate(heads)]
        columns = len(cells) + 1
    else:
        length, heads = _heads_above(grid)
        lines = [" & ".join(heads), *(" & ".join(row) for row in cells)]
        columns = len(heads)
    between = f"@{{\\hspace{{{_GAP}pt}}}}".join(["c"] * columns)
    body = f" \\\\[{_GAP}pt]\n".join(lines)
    legend = "\\quad\n".join(
        rf"\mbox{{\fcolorbox[HTML]{{{CASE[1:]}}}{{{(colour or GUIDE)[1:].upper()}}}{_SWATCH} {latex_name(words)}}}"
        for colour, words in grid.legend()
    )
    below = f"\\par\\smallskip\\scriptsize\\setlength{{\\fboxrule}}{{0.3pt}}\n{legend}\n" if legend else ""
    start = f"{{\\centering\\renewcommand{{\\arraystretch}}{{0}}{length}%\n\\begin{{tabular}}{{@{{}}{between}@{{}}}}\n"
    return f"{TABULAR_HEAD}{start}{body}\n\\end{{tabular}}%\n{below}\\par}}\n"


def _heads_above(grid: FigureGrid) -> tuple[str, list[str]]:
    """Return the definition of the width of tiles, and names above them, upright where a word is wider than a tile."""
    count = len(grid.columns)
    length = rf"\def\tilewidth{{\dimexpr(\linewidth-{_GAP * (count - 1)}pt)/{count}\relax}}"
    widest = max(len(part.strip()) for title in grid.columns for part in PART.findall(title))
    if widest * _LETTER > 72 * grid.settings.inches / count - _GAP:
        return length, [rf"\rotatebox{{90}}{{\scriptsize\strut {latex_name(title)}}}" for title in grid.columns]
    return length, [rf"\parbox[b]{{\tilewidth}}{{\centering\scriptsize {_breaking(title)}}}" for title in grid.columns]


def _heads_beside(grid: FigureGrid) -> tuple[str, list[str]]:
    """Return the definition of the height of tiles, and names to their left."""
    shares = sum(view.shape[1] / view.shape[0] for view in grid.views)
    height = 72 * grid.settings.inches / shares
    lines = max(math.ceil(len(title) * _LETTER / height) for title in grid.columns)
    room = _LINE * lines + _GAP * len(grid.views) + 2
    length = rf"\def\tileheight{{\dimexpr(\linewidth-{room}pt)*1000/{math.ceil(1000 * shares)}\relax}}"
    heads = [
        rf"\rotatebox{{90}}{{\parbox{{\tileheight}}{{\centering\scriptsize {_breaking(title)}}}}}"
        for title in grid.columns
    ]
    return length, heads


def _breaking(title: str) -> str:
    """Write a name that LaTeX may break behind each part, without hyphens."""
    parts = [latex_name(part.rstrip()) + (" " if part.endswith(" ") else "") for part in PART.findall(title)]
    return r"\allowbreak ".join(parts)
