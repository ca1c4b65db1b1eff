"""The grid of a figure laid out and drawn on one pair of axes, whose unit is a point: 72 to the inch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.core.names import PART
from segbench.drawing.axes import as_text
from segbench.drawing.palette import GUIDE
from segbench.report.figure.cells import CASE
from segbench.report.figure.grid import FigureGrid, View
from segbench.report.grounds import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 300
HIGHEST = 9.0
"""Inches that a page has for a figure."""
_POINTS = 72
_GAP, _AFTER_IMAGE = 2.0, 5.0  # between cells; between images where some are zoomed
_SIZES = (8.0, 7.0, 6.0)
LEAST = 6.0
"""The least size of letters, in points."""
_LINE = 1.25
_NARROWEST = 22.0
_MOST_LINES = 3
_HIGHEST_NAME = 110.0  # of names that are turned
_CUT = "…"
BOXES = ("#00e5ff", "#ff7ae0", "#7dff6b", "#ffd400")  # none like the contour of a prediction


@dataclass(frozen=True)
class _Placement:
    """Where cells lie, in points from the left and from the top."""

    lefts: Sequence[Sequence[float]]  # by view and column
    tops: Sequence[Sequence[float]]
    sizes: Sequence[tuple[float, float]]  # height and width of the cells of a view
    labels: Sequence[str]
    label_size: float
    upright: bool  # whether the names above are turned, as they are where they would have to be cut
    above: float  # height of the names above
    beside: float  # width of the names on the left
    bottom: float


def draw_grid(grid: FigureGrid, ax: Axes | None = None, *, dpi: float = DPI) -> Axes:
    """Draw a figure on these axes, as wide as they are, or on new ones as wide as the settings say."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = axes_for(plt.figure(figsize=(grid.settings.inches, 1)))
    figure: Any = ax.get_figure(root=True)
    own = ax.get_position().bounds == (0, 0, 1, 1)
    width = ax.get_window_extent().width * _POINTS / figure.dpi
    layout = _layout(grid, width, lambda text, size: _width_of(figure, text, size))
    legend = _legend_rows(grid, width, lambda text: _width_of(figure, text, LEAST))
    height = layout.bottom + (len(legend) * LEAST * 1.6 + 2 if legend else 0)
    if own:
        if height > HIGHEST * _POINTS:
            raise _too_high(grid, layout, height)
        figure.set_size_inches(width / _POINTS, height / _POINTS)
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", anchor="N")
    ax.set_axis_off()
    for row, view in enumerate(grid.views):
        for column in range(len(grid.columns)):
            height, width = layout.sizes[row]
            box = layout.lefts[row][column], layout.tops[row][column], width, height
            _draw_cell(ax, grid, (view, column), box, dpi)
    _draw_names(ax, grid, layout)
    _draw_legend(ax, legend, layout.bottom + 3)
    return ax


def axes_for(figure: Figure) -> Axes:
    """Return axes that fill a figure."""
    return figure.add_axes((0, 0, 1, 1))


def _layout(grid: FigureGrid, width: float, measure: Callable[[str, float], float]) -> _Placement:
    """Lay cells out: images in rows of equal width, or, transposed, in columns of equal height."""
    views, columns = grid.views, len(grid.columns)
    gaps = [_AFTER_IMAGE if view.box is not None and _is_last(views, k) else _GAP for k, view in enumerate(views)]
    if grid.settings.transpose:
        size = next((size for size in _SIZES if max(measure(text, size) for text in grid.columns) < 60), LEAST)
        beside = size * _LINE + 2
        aspects = [view.shape[1] / view.shape[0] for view in views]
        height = (width - beside - sum(gaps[:-1])) / sum(aspects)
        _refuse_narrow(min(aspects) * height, len(views), transposed=True)
        labels, label_size, _ = _fitted(grid.columns, height, measure)
        beside = max(text.count("\n") + 1 for text in labels) * label_size * _LINE + 2
        height = (width - beside - sum(gaps[:-1])) / sum(aspects)
        lefts, x = [], beside
        for aspect, gap in zip(aspects, gaps, strict=True):
            lefts.append([x] * columns)
            x += aspect * height + gap
        tops = [[k * (height + _GAP) for k in range(columns)]] * len(views)
        sizes = [(height, aspect * height) for aspect in aspects]
        return _Placement(lefts, tops, sizes, labels, label_size, False, 0.0, beside, columns * (height + _GAP) - _GAP)
    cell = (width - _GAP * (columns - 1)) / columns
    _refuse_narrow(cell, columns, transposed=False)
    labels, label_size, fit = _fitted(grid.columns, cell, measure)
    if fit:
        above = max(text.count("\n") + 1 for text in labels) * label_size * _LINE + 3
    else:
        labels = [_cut_off(as_text(name), _HIGHEST_NAME, measure) for name in grid.columns]
        above = max(measure(text, LEAST) for text in labels) + 4
    y, tops, sizes = above, [], []
    for view, gap in zip(views, gaps, strict=True):
        height = cell * view.shape[0] / view.shape[1]
        tops.append([y] * columns)
        sizes.append((height, cell))
        y += height + gap
    lefts = [[k * (cell + _GAP) for k in range(columns)]] * len(views)
    return _Placement(lefts, tops, sizes, labels, label_size, not fit, above, 0.0, y - gaps[-1])


def _is_last(views: Sequence[View], k: int) -> bool:
    return k + 1 < len(views) and views[k + 1].image != views[k].image


def _fitted(
    names: Sequence[str], width: float, measure: Callable[[str, float], float]
) -> tuple[list[str], float, bool]:
    """Write names as large as all fit on one line; else in small letters, on lines of their parts, cut at the end.

    Returned are the names, the size of their letters, and whether no name is cut.
    """
    for size in _SIZES:
        if max(measure(as_text(name), size) for name in names) <= width - _GAP:
            return [as_text(name) for name in names], size, True
    in_lines = [_in_lines(name, width, measure) for name in names]
    is_whole = not any(line.endswith(_CUT) for lines in in_lines for line in lines)
    return ["\n".join(map(as_text, lines)) for lines in in_lines], LEAST, is_whole


def _in_lines(name: str, width: float, measure: Callable[[str, float], float]) -> list[str]:
    lines = [""]
    for part in PART.findall(name):
        if lines[-1] and measure((lines[-1] + part).strip(), LEAST) > width:
            lines.append("")
        lines[-1] += part
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "".join(lines[_MOST_LINES - 1 :])]
    return [_cut_off(line.strip(), width, measure) for line in lines]


def _cut_off(line: str, width: float, measure: Callable[[str, float], float]) -> str:
    """Cut a line that is too long, and say so by dots."""
    kept = line
    while len(kept) > 1 and measure(kept if kept == line else kept + _CUT, LEAST) > width:
        kept = kept[:-1]
    return kept if kept == line else kept + _CUT


def _width_of(figure: Any, text: str, size: float) -> float:  # noqa: ANN401  a figure of any canvas
    """Return the width of a text in points."""
    drawn = figure.text(0, 0, text, fontsize=size)
    width = drawn.get_window_extent(figure._get_renderer()).width * _POINTS / figure.dpi  # noqa: SLF001  no other way
    drawn.remove()
    return float(width)


def _refuse_narrow(cell: float, count: int, *, transposed: bool) -> None:
    if cell < _NARROWEST:
        raise ArgumentError(
            Message(
                "too-narrow",
                "{count} pictures beside each other would be {width:.2f} inches wide, less than {least:.2f}; choose "
                "fewer by {fewer}, a larger {wider}, or turn the figure round by {transpose}",
                count=count,
                width=cell / _POINTS,
                least=_NARROWEST / _POINTS,
                fewer=Setting("rows" if transposed else "methods", None),
                wider=Setting("width", None),
                transpose=Setting("transpose", not transposed),
            )
        )


def _too_high(grid: FigureGrid, layout: _Placement, height: float) -> ArgumentError:
    """Say how many rows fit a page."""
    heights = [layout.sizes[0][0]] * len(grid.columns) if grid.settings.transpose else [h for h, _ in layout.sizes]
    room, fitting = HIGHEST * _POINTS - (height - sum(heights) - _GAP * (len(heights) - 1)), 0
    for of_row in heights:
        room -= of_row + _GAP
        fitting += room > -_GAP
    return ArgumentError(
        Message(
            "too-high",
            "the figure would be {height:.1f} inches high; {fitting:many row} of {total} fit {most:g} inches: choose "
            "fewer by {fewer}, or a smaller {width}",
            height=height / _POINTS,
            fitting=fitting,
            total=len(heights),
            most=HIGHEST,
            fewer=Setting("methods" if grid.settings.transpose else "rows", None),
            width=Setting("width", None),
        )
    )


def _draw_cell(
    ax: Axes, grid: FigureGrid, cell: tuple[View, int], box: tuple[float, float, float, float], dpi: float
) -> None:
    """Draw one picture in a box, its boxes or its frame, and the metric in its corner."""
    from matplotlib.image import AxesImage
    from matplotlib.patches import Rectangle

    (view, column), (left, top, width, height) = cell, box
    size = max(1, int(height * dpi / _POINTS)), max(1, int(width * dpi / _POINTS))
    pixels = grid.paint(view, column, size)
    if pixels is None:
        ax.add_patch(Rectangle((left, top), width, height, facecolor="#eeeeee", edgecolor="none"))
        ax.text(left + width / 2, top + height / 2, "none", ha="center", va="center", fontsize=LEAST, color=GUIDE)
        return
    image = AxesImage(ax, extent=(left, left + width, top + height, top), interpolation="none", resample=False)
    image.set_data(pixels)
    ax.add_image(image)
    ax.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor="#b0b0b0", linewidth=0.3))
    scale = width / view.shape[1]
    for k, (x, y, across, down) in enumerate(view.boxes):
        _draw_box(ax, (left + x * scale, top + y * scale, across * scale, down * scale), k)
    if view.box is not None:
        _draw_box(ax, (left + 0.75, top + 0.75, width - 1.5, height - 1.5), view.box_number)
    value = grid.value(view, column)
    if column >= len(grid.columns) - len(grid.methods) and view.box is None:
        label = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"}
        at = left + width - 1.0, top + height - 1.0
        ax.text(*at, grid.written(value), ha="right", va="bottom", fontsize=LEAST, color="black", bbox=label, zorder=5)


def _draw_box(ax: Axes, box: tuple[float, float, float, float], box_number: int) -> None:
    """Draw a box in a colour of its own, cased in dark so that it is seen on any picture."""
    from matplotlib.patches import Rectangle

    left, top, width, height = box
    for colour, line in ((CASE, 1.6), (BOXES[box_number % len(BOXES)], 0.8)):
        ax.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=colour, linewidth=line, zorder=4))


def _draw_names(ax: Axes, grid: FigureGrid, layout: _Placement) -> None:
    """Name the columns above them, or, transposed, the rows beside them."""
    for column, text in enumerate(layout.labels):
        height, width = layout.sizes[0]
        if grid.settings.transpose:
            at = layout.beside - 2, layout.tops[0][column] + height / 2
            look: dict[str, Any] = {"ha": "right", "va": "center", "rotation": 90}
        elif layout.upright:
            at = layout.lefts[0][column] + width / 2, layout.above - 2
            look = {"ha": "center", "va": "bottom", "rotation": 90}
        else:
            at = layout.lefts[0][column] + width / 2, layout.above - 2 - 0.25 * layout.label_size
            look = {"ha": "center", "va": "baseline"}
        ax.text(*at, text, fontsize=layout.label_size, linespacing=1.1, **look)


_Entry = tuple[str, str, float]


def _legend_rows(grid: FigureGrid, width: float, measure: Callable[[str], float]) -> list[list[_Entry]]:
    """Put what colours mean into rows: colour, words and width of each."""
    rows: list[list[_Entry]] = [[]]
    for colour, words in grid.legend():
        patch = (colour, as_text(words), measure(as_text(words)) + 16)
        if rows[-1] and sum(used for _, _, used in rows[-1]) + patch[2] > width:
            rows.append([])
        rows[-1].append(patch)
    return [row for row in rows if row]


def _draw_legend(ax: Axes, rows: Sequence[Sequence[_Entry]], top: float) -> None:
    from matplotlib.patches import Rectangle

    for row, entries in enumerate(rows):
        x = max(0.0, (ax.get_xlim()[1] - math.fsum(width for _, _, width in entries)) / 2)
        y = top + row * LEAST * 1.6
        for colour, words, width in entries:
            look: dict[str, Any] = {"facecolor": colour, "edgecolor": CASE, "linewidth": 0.3}
            if not colour:
                look |= {"facecolor": COLOURS["between"], "edgecolor": COLOURS["ignored"], "hatch": "////////"}
            ax.add_patch(Rectangle((x, y), 6.5, 6.5, **look))
            ax.text(x + 8.5, y + 3.25, words, fontsize=LEAST, va="center_baseline")
            x += width
