"""Numbers along axes, written as in tables and legends: .5, or 0.5 where that is set.

Import it where Matplotlib is in use.
"""

from __future__ import annotations

import re

from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from segbench.drawing.numerals import has_leading_zeros

_ZERO_FIRST = re.compile(r"(?<![\d.])0(?=\.\d*[1-9])")
_NOTHING_BEHIND = re.compile(r"(?<![\d.])([01])\.0+(?!\d)")


class TickNumbers(ScalarFormatter):
    """Matplotlib's numbers with or without a zero before the point; 0 and 1, ends of most axes, without a point."""

    def __init__(self, *, zeros: bool) -> None:
        super().__init__()
        self._zeros = zeros

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write the number of a tick."""
        text = super().__call__(x, pos)
        return _NOTHING_BEHIND.sub(r"\1", text if self._zeros else _ZERO_FIRST.sub("", text))


def write_ticks(ax: Axes) -> None:
    """Number those axes as tables do that have Matplotlib's usual numbers."""
    for axis in (ax.xaxis, ax.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(TickNumbers(zeros=has_leading_zeros()))
