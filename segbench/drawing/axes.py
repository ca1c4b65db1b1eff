"""What all plots share: axes, frames, names as text, and where the legend goes.

Sizes, fonts and line widths are Matplotlib's settings (rcParams), or parts of them, so that your own style applies.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.names import PART, latex_name, one_line, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

CURVE_LAYER = 3
OTHERS_LAYER = 2.5
"""Of the curves of methods that have no colour: behind those that have."""

_LONGEST_NAME = 24
_LONGEST_LINE = 16
_LINES_IN_A_ROW = 2.2
_LINES_AROUND = 5
_LETTER_WIDTH = 0.55
_AXES_WIDTH = 0.65
_MARGIN = 0.04
_NAMES_WIDTH = 0.33
_ROW_PART = 0.95
_BETWEEN = 1.2
_TRIES = 3

LEAST_LETTERS = 6.0
"""The least size of letters, in points: journals print none that are smaller."""
_ROW_OF_LETTERS = 1.25
"""Height of a row of letters, in their size."""
_SIZES = (1, 0.85, 0.75, 0.6)
_LEAST_LEFT = 0.75
_GAP = 0.4
_APART = 1.0
_LAYOUTS_OF_SQUARES = 10
_BETWEEN_COLUMNS = 0.4
"""What a further column of a legend takes beside its own width, a legend of one column, in the size of letters."""
_STYLE: dict[str, Any] = {"handlelength": 1.5, "handletextpad": 0.6, "columnspacing": 1.2, "labelspacing": 0.35}

_growing: WeakSet[Figure] = WeakSet()
"""Figures whose size nobody chose."""

_corners: WeakKeyDictionary[Legend, Sequence[str]] = WeakKeyDictionary()
"""Of the legends placed here; one that was removed or replaced is not drawn again."""


def new_axes(figure: Figure | None = None, *, may_grow: bool = True) -> Axes:
    """Make a pair of axes, in a new figure of the size of the settings unless one is given."""
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(layout="constrained")
    if may_grow:
        _growing.add(figure)
    return figure.subplots()


def as_axes(ax: Axes | None) -> Axes:
    """Take the axes that a caller gave, or make new ones."""
    from matplotlib.axes import Axes

    if ax is None:
        return new_axes()
    if not isinstance(ax, Axes):
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value}, expected one Axes of Matplotlib, as in axes[0]",
                argument="ax",
                value=type(ax).__name__,
            )
        )
    return ax


def fit_height(ax: Axes) -> None:
    """Make a figure as high as its rows need, one tick per row, if `new_axes` made it without a size."""
    import matplotlib as mpl

    most_lines = max((label.get_text().count("\n") + 1 for label in ax.get_yticklabels()), default=1)
    line_count = _LINES_AROUND + max(_LINES_IN_A_ROW, 1.4 * most_lines) * len(ax.get_yticks())
    grow_to(ax, line_count * mpl.rcParams["font.size"])


def grow_to(ax: Axes, height: float) -> bool:
    """Make a figure so high, in points, if `new_axes` made it without a size; return whether it did."""
    figure: Any = ax.get_figure(root=True)
    if figure in _growing:
        figure.set_figheight(height / 72)
    return figure in _growing


def letters(size: str) -> float:
    """Return a size of letters by its name, such as small, in points; at least `LEAST_LETTERS`."""
    from matplotlib.font_manager import FontProperties

    return max(LEAST_LETTERS, FontProperties(size=size).get_size_in_points())


def most_rows(ax: Axes, rows: int, *, lines: int = 1) -> int:
    """Return how many of some rows, with names of so many lines, fit into axes whose other texts are set."""
    figure: Any = ax.get_figure(root=True)
    if figure in _growing:
        return rows
    figure.draw_without_rendering()
    height = ax.get_window_extent().height * 72 / figure.dpi
    return max(1, min(rows, int(height / (_ROW_OF_LETTERS * lines * LEAST_LETTERS))))


def name_rows(ax: Axes, *, size: str) -> None:
    """Make the names of rows, 1 apart, small enough for their rows; those too high for these take one line."""
    widest = _NAMES_WIDTH * 72 * ax.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
    ax.tick_params(axis="y", labelsize=letters(size))
    lines = max((label.get_text().count("\n") + 1 for label in ax.get_yticklabels()), default=1)
    if lines * _ROW_OF_LETTERS * LEAST_LETTERS > cell_size(ax)[1]:
        ax.set_yticks(ax.get_yticks(), [_in_one_line(label.get_text()) for label in ax.get_yticklabels()])
    for _ in range(2):  # smaller letters leave more to the axes, but not always a higher row
        fit_letters(ax.get_yticklabels(), widest, _ROW_PART * cell_size(ax)[1])


def _in_one_line(text: str) -> str:
    """Join the lines of a name; a remark in brackets, or the second method of a pair, is a word of its own."""
    first, *others = text.split("\n")
    return first + "".join(f" {line}" if line.startswith(("(", "- ")) else line for line in others)


def space_ticks(ax: Axes) -> None:
    """Number the horizontal axis at as many places as leave room between the numbers."""
    for most in range(5, 0, -1):
        ax.locator_params(axis="x", nbins=most)
        width, _ = cell_size(ax)
        low, high = ax.get_xlim()
        ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
        apart = width * (ticks[1] - ticks[0]) if len(ticks) > 1 else math.inf
        if max(in_points(label)[0] for label in ax.get_xticklabels()) * _BETWEEN <= apart:
            return


def cell_size(ax: Axes) -> tuple[float, float]:
    """Return the width and the height, in points, of 1 by 1 in data units, once all is laid out."""
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()  # type: ignore[union-attr]
    width, height = np.abs(ax.transData.transform((1, 1)) - ax.transData.transform((0, 0))) * 72 / figure.dpi  # type: ignore[union-attr]
    return float(width), float(height)


def fit_letters(texts: Sequence[Text], width: float, height: float) -> float:
    """Make the letters of texts smaller until each fits into a box, in points; return the factor, 1 for as before.

    None are smaller than `LEAST_LETTERS` thereby, whether they fit or not.
    """
    factor = 1.0
    for _ in range(_TRIES):  # letters have whole dots, so that smaller ones may need more than their share
        boxes = [in_points(text) for text in texts]
        fits = [
            min(width / text_width, height / text_height)
            for text_width, text_height in boxes
            if text_width and text_height
        ]
        smallest = min((float(text.get_fontsize()) for text in texts), default=LEAST_LETTERS)
        scale = max(min([1.0, *fits]), min(1.0, LEAST_LETTERS / smallest))
        factor *= scale
        for text in texts:
            text.set_fontsize(scale * float(text.get_fontsize()))
        if scale == 1:
            break
    return factor


def in_points(text: Text) -> tuple[float, float]:
    """Return the width and the height of a text in points."""
    box, figure = text.get_window_extent(), text.get_figure(root=True)
    dots = figure.dpi / 72  # type: ignore[union-attr]
    return box.width / dots, box.height / dots


def as_text(name: str) -> str:
    r"""Write a name so that it is drawn as it is: no mathematics between dollars, no commands where LaTeX sets text."""
    import matplotlib as mpl

    return latex_name(name) if mpl.rcParams["text.usetex"] else one_line(name).replace("$", r"\$")


def short_names(names: Sequence[str]) -> list[str]:
    """Write names as texts for a plot, long ones without a stretch that others share, as far as they stay different."""
    return [as_text(name) for name in shortened(names, _LONGEST_NAME)]


def names_in_lines(names: Sequence[str]) -> list[str]:
    """Write names as `short_names`, those longer than a line in two, broken after ``_``, ``-`` or ``/`` or a blank."""
    return ["\n".join(as_text(line.strip()) for line in _in_two(name)) for name in shortened(names, _LONGEST_NAME)]


def _in_two(name: str) -> list[str]:
    ends = [part.end() for part in PART.finditer(name)][:-1]
    if len(name) <= _LONGEST_LINE or not ends:
        return [name]
    end = min(ends, key=lambda end: max(end, len(name) - end))
    return [name[:end], name[end:]]


def wrapped(ax: Axes, text: str, *, size: str | None = None) -> str:
    """Break a text into lines that fit below the axes, by the size of its letters."""
    import matplotlib as mpl

    width = _AXES_WIDTH * ax.get_figure(root=True).get_figwidth() * 72  # type: ignore[union-attr]
    longest = max(16, int(width / (_LETTER_WIDTH * letters(size or mpl.rcParams["axes.labelsize"]))))
    return "\n".join(line for paragraph in text.split("\n") for line in textwrap.wrap(paragraph, longest))


def fitted(values: ArrayLike, within: tuple[float, float] | None = None) -> tuple[float, float]:
    """Return the ends of an axis that fits the finite values, with a margin that stays within a range."""
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    margin = _MARGIN * (high - low) or 0.05 * abs(high) or 0.05
    least, most = within or (-math.inf, math.inf)
    return max(low - margin, min(low, least)), min(high + margin, max(high, most))


def centre(ax: Axes) -> None:
    """Move axes with their numbers, names and legend into the middle, where the layout has put the frame alone."""
    figure: Any = ax.get_figure(root=True)
    figure.draw_without_rendering()
    box = ax.get_tightbbox()
    if box is not None and figure.axes == [ax]:
        figure.set_layout_engine("none")
        shift = (figure.bbox.width - box.x0 - box.x1) / 2 / figure.bbox.width
        ax.set_position(ax.get_position(original=True).translated(shift, 0))


def open_frame(ax: Axes) -> None:
    """Leave out the upper and right sides, and the zeros before the points of numbers."""
    from segbench.drawing.ticks import write_point_first

    ax.spines[["top", "right"]].set_visible(False)
    write_point_first(ax)


def guide_width() -> float:
    """Return the width of lines that only guide the eye, in points."""
    import matplotlib as mpl

    return 0.5 * float(mpl.rcParams["lines.linewidth"])


def dot_size() -> float:
    """Return the size of the dot that marks a best point, in points."""
    import matplotlib as mpl

    return 0.8 * float(mpl.rcParams["lines.markersize"])


def draw_to_the_frame(ax: Axes, *lines: Line2D, margin: float = 0.008) -> None:
    """Let lines be as wide on the frame as elsewhere: cut them off a part of the axes beyond it."""
    from matplotlib.transforms import Bbox, TransformedBbox

    for line in lines:
        line.set_clip_path(None)
        line.set_clip_box(TransformedBbox(Bbox([[-margin, -margin], [1 + margin, 1 + margin]]), ax.transAxes))


def place_legend(ax: Axes, corners: Sequence[str]) -> None:
    """Draw the legend of all labelled artists: into a corner that no curve enters, else beside the axes or below them.

    Matplotlib's ``loc="best"`` always places the legend inside, over curves where no place is free: six methods with
    long names would hide most of a plot, and thirty leave no room for its axes. Legends of axes beside these, which may
    have become smaller, are placed again.
    """
    root: Any = ax.get_figure(root=True)
    others = [
        (other_ax, _corners[other_ax.get_legend()])
        for other_ax in root.axes
        if other_ax is not ax and other_ax.get_legend() in _corners
    ]
    for legend_ax, legend_corners in [(ax, corners), *others, *([(ax, corners)] if others else [])]:
        _place(legend_ax, legend_corners)
        legend = legend_ax.get_legend()
        if legend:
            _corners[legend] = legend_corners


def _place(ax: Axes, corners: Sequence[str]) -> None:
    entries = len(ax.get_legend_handles_labels()[1])
    if not entries:
        return
    previous = ax.get_legend()
    if previous:
        previous.remove()
    _lay_out(ax)
    legend = ax.legend(**_STYLE)
    usual = legend.prop.get_size_in_points()
    curves = [line for line in ax.lines if line.get_zorder() >= OTHERS_LAYER]
    named = ax.get_legend_handles_labels()[0]
    guides = [line for line in ax.lines if line in named and line not in curves]
    # A level line that goes on beside the legend is rather covered than that the axes are made small.
    for lines in ([*curves, *guides], curves):
        for size in _readable(usual):
            legend = ax.legend(fontsize=size * usual, **_STYLE)
            for corner in corners:
                legend.set_loc(corner)  # type: ignore[arg-type]  # one of Matplotlib's names
                if _is_free(ax, legend, lines):
                    return
    location = _outside(ax, ax.legend(**_STYLE), entries)
    ax.legend(frameon=False, **_STYLE, **location)
    for _ in range(_LAYOUTS_OF_SQUARES if ax.get_aspect() != "auto" else 0):
        before = ax.get_position(original=True).bounds
        _lay_out(ax)  # a square first gets a little less width, and becomes smaller by that only with a later layout
        if np.allclose(before, ax.get_position(original=True).bounds, atol=1e-3):
            break


def keep_quantity_inside(ax: Axes) -> None:
    """Write the name of the vertical axis in two lines if it leaves the figure, as in axes low above a long legend."""
    figure: Any = ax.get_figure(root=True)
    label = ax.yaxis.label
    _lay_out(ax)
    frame, length = ax.get_window_extent(), label.get_window_extent().height
    middle = (frame.y0 + frame.y1) / 2
    if middle + length / 2 > figure.bbox.y1 or middle - length / 2 < figure.bbox.y0:
        words = label.get_text().split(" ")
        halves = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
        if halves:
            ax.set_ylabel("\n".join(min(halves, key=lambda half: max(map(len, half)))))


def _lay_out(ax: Axes) -> None:
    """Lay out the figure, so that the axes have the size in which they will be drawn."""
    figure: Any = ax.get_figure(root=True)
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
    ax.apply_aspect()


def _is_free(ax: Axes, legend: Legend, lines: Sequence[Line2D]) -> bool:
    """Return whether a legend lies within the axes and no line passes through it."""
    within, frame = legend.get_window_extent(), ax.get_window_extent()
    box = within.padded(_APART * ax.get_figure(root=True).dpi / 72)  # type: ignore[union-attr]
    paths = [line.get_transform().transform_path(line.get_path()) for line in lines]
    return (
        within.width <= frame.width
        and within.height <= frame.height
        and not any(path.intersects_bbox(box, filled=False) or box.count_contains(path.vertices) for path in paths)
    )


def _outside(ax: Axes, legend: Legend, entries: int) -> dict[str, Any]:
    """Place a legend beside the axes or below them, whichever leaves them more room, perhaps in smaller letters."""
    figure: Any = ax.get_figure()
    width, height = legend.get_window_extent().size
    legend.set_in_layout(False)
    frame = ax.get_window_extent()
    with_ticks = ax.get_tightbbox() or frame
    # The width and height that the axes could have without a legend.
    whole = figure.bbox.size * _share_of_whole(ax)
    wide, high = whole - with_ticks.size + frame.size
    size_of = min if ax.get_aspect() != "auto" else math.prod
    usual = legend.prop.get_size_in_points()
    for size in _readable(usual):
        columns_beside = math.ceil(size * height / high)
        between = _BETWEEN_COLUMNS * size * usual * figure.dpi / 72
        columns_below = max(1, int((whole[0] + between) // (size * width + between)))
        beside = wide - columns_beside * size * width, high
        below = wide, high - math.ceil(entries / columns_below) * size * height / entries
        is_beside = size_of(beside) >= size_of(below)
        if size_of(beside if is_beside else below) >= _LEAST_LEFT * size_of((wide, high)):
            break
    # Beyond the numbers and names of the axes, where letters do not shrink.
    ticks_width = with_ticks.x1 - frame.x1 if is_beside else frame.y0 - with_ticks.y0
    gap = {"fontsize": size * usual, "borderaxespad": _GAP + ticks_width * 72 / figure.dpi / (size * usual)}
    if is_beside:
        ax.set_anchor("W")  # in the middle of its space a square would move the legend out of the figure
        return {"loc": "center left", "bbox_to_anchor": (1, 0.5), "ncols": columns_beside, **gap}
    middle = 0.5 if columns_below == 1 else ((with_ticks.x0 + with_ticks.x1) / 2 - frame.x0) / frame.width
    return {"loc": "upper center", "bbox_to_anchor": (middle, 0), "ncols": columns_below, **gap}


def _readable(usual: float) -> list[float]:
    """Return by how much the letters of a legend may shrink, the largest first, so that each can be read."""
    least = min(1.0, LEAST_LETTERS / usual)
    return [*(size for size in _SIZES if size > least), least]


def _share_of_whole(ax: Axes) -> tuple[float, float]:
    """Return the share of the width and of the height of the figure that these axes have in a grid."""
    spec = ax.get_subplotspec()
    if spec is None:
        return 1.0, 1.0
    rows, columns = spec.get_gridspec().get_geometry()
    return len(spec.colspan) / columns, len(spec.rowspan) / rows
