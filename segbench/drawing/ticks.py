"""Numbers along axes, written as in tables and legends: .5, not 0.5. Import it where Matplotlib is in use."""

from __future__ import annotations

import re

from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

_ZERO_FIRST = re.compile(r"(?<![\d.])0(?=\.\d*[1-9])")
_NOTHING_BEHIND = re.compile(r"(?<![\d.])([01])\.0+(?!\d)")


class PointFirst(ScalarFormatter):
    """Matplotlib's numbers without a zero before the point; 0 and 1, ends of most axes, without a point."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write the number of a tick."""
        text = super().__call__(x, pos)
        return _NOTHING_BEHIND.sub(r"\1", _ZERO_FIRST.sub("", text))


def write_point_first(ax: Axes) -> None:
    """Number those axes so that have Matplotlib's usual numbers."""
    for axis in (ax.xaxis, ax.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(PointFirst())
