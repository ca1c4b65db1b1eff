"""What all plots share: axes, frames, names as text, and where the legend goes.

Sizes, fonts and line widths are Matplotlib's settings (rcParams), or parts of them, so that your own style applies.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.names import PART, latex_name, one_line, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
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

_growing: WeakSet[Figure] = WeakSet()
"""Figures whose size nobody chose."""


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
    _keep_ticks(ax)
    box = ax.get_tightbbox()
    if box is not None and figure.axes == [ax]:
        figure.set_layout_engine("none")
        shift = (figure.bbox.width - box.x0 - box.x1) / 2 / figure.bbox.width
        ax.set_position(ax.get_position(original=True).translated(shift, 0))


def _keep_ticks(ax: Axes) -> None:
    """Keep the numbers along axes, of which a later layout could choose longer ones, without room for them."""
    from matplotlib.ticker import FixedLocator

    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        if not isinstance(axis.get_major_locator(), FixedLocator):
            axis.set_major_locator(FixedLocator([tick for tick in axis.get_majorticklocs() if low <= tick <= high]))


def open_frame(ax: Axes) -> None:
    """Leave out the upper and right sides, and number the axes as tables do."""
    from segbench.drawing.ticks import write_ticks

    ax.spines[["top", "right"]].set_visible(False)
    write_ticks(ax)


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


def lay_out(ax: Axes) -> None:
    """Lay out the figure, so that the axes have the size in which they will be drawn."""
    figure: Any = ax.get_figure(root=True)
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
    ax.apply_aspect()


def keep_quantity_inside(ax: Axes) -> None:
    """Write the name of the vertical axis in two lines if it leaves the figure, as in axes low above a long legend."""
    figure: Any = ax.get_figure(root=True)
    label = ax.yaxis.label
    lay_out(ax)
    frame, length = ax.get_window_extent(), label.get_window_extent().height
    middle = (frame.y0 + frame.y1) / 2
    if middle + length / 2 > figure.bbox.y1 or middle - length / 2 < figure.bbox.y0:
        words = label.get_text().split(" ")
        halves = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
        if halves:
            ax.set_ylabel("\n".join(min(halves, key=lambda half: max(map(len, half)))))
