"""Which positive pixel of a row is nearest: the cells of the Voronoi diagram on a line.

References
----------
Maurer, Qi, Raghavan: A Linear Time Algorithm for Computing Exact Euclidean Distance Transforms of Binary Images in
Arbitrary Dimensions. PAMI 2003.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray
from segbench.core.compiling import compiled


@compiled()
def cells_of_row(rows: NDArray[np.int32], squares: IntArray, cells: NDArray[np.int32]) -> int:
    """Find the columns with a positive that is nearest to some place of a row, and give how many there are.

    These are the cells of the Voronoi diagram on the line (Maurer, Qi and Raghavan, PAMI 2003), with SciPy's ties.
    """
    number = 0
    before = middle = np.int64(0)
    of_before = of_middle = np.int64(0)
    for c in range(rows.size):
        if rows[c] < 0:
            continue
        here = squares[c]
        while number >= 2:
            a, b = middle - before, c - middle
            if (a + b) * (of_middle - a * b) <= b * of_before + a * here:
                break
            number -= 1
            middle, of_middle = before, of_before
            if number >= 2:
                before = np.int64(cells[number - 2])
                of_before = squares[before]
        cells[number] = c
        number += 1
        before, of_before = middle, of_middle
        middle, of_middle = np.int64(c), here
    return number


@compiled()
def ends_of_cells(squares: IntArray, cells: NDArray[np.int32], ends: NDArray[np.int32]) -> None:
    """Find where in a row each of the cells ends; of two as near a positive the left one has the place."""
    last = cells.size - 1
    for k in range(last):
        a, b = np.int64(cells[k]), np.int64(cells[k + 1])
        # The distance to a is at most that to b where 2 c (b - a) is at most this.
        most = squares[b] + b * b - squares[a] - a * a
        end = (most >> 1 if b - a == 1 else most // (2 * (b - a))) + 1  # most are neighbours, and division is slow
        ends[k] = min(max(end, 0), squares.size)
    ends[last] = squares.size
