"""Boundaries of label maps and of ultrametric contour maps, by the double-grid rule of BSDS500.

On a grid of (2H + 1) x (2W + 1) points pixels have odd coordinates. Cracks between unequal 4-neighbours are marked, and
a crossing where any crack beside it is marked; the first and last row and column then copy their inner neighbour. The
boundary map of image size is the grid at ``[2::2, 2::2]``: crossings, and cracks in the last row and column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import as_array
from segbench.core.errors import ArgumentError
from segbench.core.levels import refuse_nan


def label_boundaries(label_map: ArrayLike) -> NDArray[np.bool_]:
    """Mark the boundaries of a label map, as BSDS500's ``seg2bdry(.., 'imageSize')`` does.

    Parameters
    ----------
    label_map : array, shape (H, W)
        Any labels; only whether they are equal matters.

    Returns
    -------
    array of bool, shape (H, W)
        True at the upper left pixel of a crossing that touches a boundary. The last pixel is never marked.

    Raises
    ------
    ArgumentError
        If it is not two-dimensional.
    DataError
        If a label is NaN.

    Examples
    --------
    >>> label_boundaries([[1, 1, 2], [1, 1, 2], [3, 3, 3]]).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 0, 0]])
    """
    labels = as_array(label_map, "label_map")
    if labels.ndim != 2:
        raise ArgumentError(f"label_map has shape {labels.shape}, expected (height, width)")
    refuse_nan("label_map", labels)
    marked = np.zeros(labels.shape, np.bool_)
    below = labels[:-1] != labels[1:]
    right = labels[:, :-1] != labels[:, 1:]
    marked[:-1] |= below
    marked[:, :-1] |= right
    marked[:-1, :-1] |= below[:, 1:]
    marked[:-1, :-1] |= right[1:]
    return marked


def sample_ucm2(ucm2: NDArray[Any]) -> NDArray[Any]:
    """Sample the contour map of image size from one of double size."""
    if ucm2.ndim != 2 or min(ucm2.shape) < 3 or not all(side % 2 for side in ucm2.shape):
        raise ArgumentError(f"ucm2 has shape {ucm2.shape}, expected (2 height + 1, 2 width + 1)")
    return ucm2[2::2, 2::2]
