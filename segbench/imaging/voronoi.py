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
    """Write the columns with a positive that is nearest to some pixel of a row, and return how many there are.

    `rows` holds the row of each column's nearest positive, below 0 for none, and `squares` its squared distance. Ties
    are SciPy's.
    """
    number = 0
    last = second_last = np.int64(0)  # columns of the cells found last
    square_last = square_second_last = np.int64(0)
    for column in range(rows.size):
        if rows[column] < 0:
            continue
        square = squares[column]
        while number >= 2:
            gap_before, gap = last - second_last, column - last
            if (gap_before + gap) * (square_last - gap_before * gap) <= gap * square_second_last + gap_before * square:
                break
            number -= 1
            last, square_last = second_last, square_second_last
            if number >= 2:
                second_last = np.int64(cells[number - 2])
                square_second_last = squares[second_last]
        cells[number] = column
        number += 1
        second_last, square_second_last = last, square_last
        last, square_last = np.int64(column), square
    return number


@compiled()
def ends_of_cells(squares: IntArray, cells: NDArray[np.int32], ends: NDArray[np.int32]) -> None:
    """Write where in a row each of the cells ends; a pixel as near to two positives belongs to the left one."""
    last = cells.size - 1
    for k in range(last):
        left, right = np.int64(cells[k]), np.int64(cells[k + 1])
        # A column is at most as far from the left positive as from the right one where twice the column times the gap
        # is at most the bound. Most cells are neighbours, and division is slow.
        gap = right - left
        bound = squares[right] + right * right - squares[left] - left * left
        end = (bound >> 1 if gap == 1 else bound // (2 * gap)) + 1
        ends[k] = min(max(end, 0), squares.size)
    ends[last] = squares.size
