"""One map brought to another size: nearest for labels and levels, bilinear for scores.

Conventions
-----------
Pixels are areas: the centre of output pixel ``i`` of ``m`` lies at ``(i + 1/2) n / m - 1/2`` of ``n`` input pixels, so
that the corners of both images coincide (PyTorch's ``align_corners=False``, OpenCV's ``INTER_LINEAR``). Nothing is
smoothed before a map is made smaller. Beyond the outermost centres the outermost values hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def nearest(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Take for each output pixel the input pixel in which its centre lies; of two the later one.

    The rule of Pillow's ``NEAREST`` and PyTorch's ``nearest-exact``, in whole numbers, so free of their rounding.
    """
    rows, columns = (
        (2 * np.arange(wanted) + 1) * given // (2 * wanted) for wanted, given in zip(shape, array.shape, strict=True)
    )
    return np.ascontiguousarray(array[np.ix_(rows, columns)])


def bilinear(scores: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Interpolate linearly along rows, then along columns.

    Between ``a`` and ``b`` a score is ``a + (b - a) t``, so that an area of one score keeps it to the bit and ties stay
    ties; sums of weights, as libraries form them, differ in the last place and would not.
    """
    return _along_columns(_along_columns(scores, shape[0]).T, shape[1]).T


def _along_columns(scores: NDArray[np.float64], wanted: int) -> NDArray[np.float64]:
    given = scores.shape[0]
    centres = np.clip((np.arange(wanted) + 0.5) * given / wanted - 0.5, 0, given - 1)
    above = np.minimum(centres.astype(np.intp), max(given - 2, 0))
    below = np.minimum(above + 1, given - 1)
    share = (centres - above)[:, np.newaxis]
    resized: NDArray[np.float64] = scores[above] + (scores[below] - scores[above]) * share
    return resized
