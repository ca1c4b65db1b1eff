"""Which points of a line can be told apart on paper: enough to look exact, few enough for a vector file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_CELLS = 2_000


def thinned(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep the points of a line in the unit square that can be told apart."""
    kept = visible(x, y)
    return x[kept], y[kept]


def visible(*coordinates: FloatArray) -> NDArray[np.bool_]:
    """Mark the points that fall into another cell of a fine grid than the point before, and the last."""
    cells = np.rint(np.stack(coordinates) * _CELLS)
    kept: NDArray[np.bool_] = np.append(True, np.any(np.diff(cells, axis=1) != 0, axis=0))
    kept[-1] = True
    return kept
