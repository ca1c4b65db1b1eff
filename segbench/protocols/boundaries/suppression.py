"""Non-maximum suppression: thick soft maps of networks become lines before they are evaluated.

Settings as used: HED radius 1, border 5, multiplier 1.01; RCF 2, 5, 1.01; DexiNed 1, 5, 1.03; all with smoothing 1.
They change the result (without the smoothing PiDiNet's maps give ODS .8078 instead of .8067), so they belong to it.

The normal is taken from the sign of the mixed derivative, and where that is exactly 0, as on a drawn line along a row,
it points along the row, so that such a line stays thick, in the original as here. Maps of networks have no such pixels.
Where the denominator, ``Oxx + 1e-5``, is exactly 0 as well, the normal also points along the row (0 / 0 is undefined in
the original, which then reads outside the image).

Differences from ``edgesNmsMex`` of Dollar's Structured Edge Detection Toolbox: float64 instead of float32 throughout,
and nothing is rounded to 8 bits afterwards; both can move a pixel with an equally strong neighbour.

References
----------
Dollar, Zitnick: Fast Edge Detection Using Structured Forests. PAMI 2015.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.arrays import Array, FloatArray
from segbench.core.compiling import kernel
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.inputs.lines import as_radius, as_scores, as_suppression

_ORIENTATION_RADIUS = 4
_LARGEST_SCORE = 1e100  # second derivatives of larger ones could overflow


def nms(
    scores: ArrayLike, *, radius: int = 1, border: int = 5, multiplier: float = 1.01, smoothing: int = 1
) -> FloatArray:
    """Keep a soft boundary map only where it is strongest along its normal.

    Parameters
    ----------
    scores : array, shape (H, W)
        Soft boundary map: uint8 or uint16 levels, bool, or floats.
    radius : int
        Neighbours compared with on either side along the normal, in pixels, up to 100; 0 suppresses nothing.
    border : int
        Width in pixels of the margin in which scores fade linearly to 0; 0 for none.
    multiplier : float
        Above 0. A pixel stays where ``multiplier * score`` is at least each neighbour's: above 1, near ties stay.
    smoothing : int
        Radius of the triangle filter applied to the map itself first, up to 100, as HED's and RCF's scripts do; 0 for
        none.

    Returns
    -------
    array of float64, shape (H, W)
        Scores, 0 where suppressed.

    Raises
    ------
    ArgumentError
        If a setting is out of range or the map not two-dimensional.
    DataError
        If a score is NaN, infinite, or larger than 1e100 in size.

    Examples
    --------
    >>> ridge = np.tile([0.0, 0.2, 0.8, 0.3, 0.0], (5, 1))
    >>> nms(ridge, border=0, smoothing=0)[2]
    array([0. , 0. , 0.8, 0. , 0. ])
    """
    radius, border, multiplier = as_suppression(radius, border, multiplier)
    smoothing = as_radius(smoothing, "smoothing")
    soft = as_scores(scores, "prediction")
    if not soft.size:
        return soft.copy()
    largest = np.abs(soft).max()
    if largest > _LARGEST_SCORE:
        raise DataError(
            "prediction",
            Message(
                "too-large-scores",
                "scores up to {highest:g} in size, expected at most {expected:g}",
                highest=largest,
                expected=_LARGEST_SCORE,
            ),
        )
    soft = _triangle(soft, smoothing)
    kept = suppress(soft, _orientation(_triangle(soft, _ORIENTATION_RADIUS)), radius, multiplier)
    for axis, length in enumerate(soft.shape):
        margin = min(border, length // 2)
        fade = np.ones(length)
        if margin:
            fade[:margin] = np.arange(margin) / margin
            fade[length - margin :] = fade[:margin][::-1]
        kept *= np.expand_dims(fade, 1 - axis)
    return kept


def _triangle(soft: FloatArray, radius: int) -> FloatArray:
    """Smooth by weights 1 .. radius + 1 .. 1 along both axes, reflected at the borders."""
    from scipy.ndimage import correlate1d

    weights = np.minimum(np.arange(1, 2 * radius + 2), np.arange(2 * radius + 1, 0, -1)) / (radius + 1) ** 2
    rows = correlate1d(soft, weights, axis=0, mode="reflect")
    return correlate1d(rows, weights, axis=1, mode="reflect")


def _orientation(smooth: FloatArray) -> FloatArray:
    """Compute the direction of the normal, in radians from 0 to pi, x to the right and y down."""
    along_y, along_x = _gradient(smooth, 0), _gradient(smooth, 1)
    xx = _gradient(along_x, 1)
    xy, yy = _gradient(along_y, 1), _gradient(along_y, 0)
    rise, run = yy * np.sign(-xy), xx + 1e-5
    # Where the run is exactly 0 the slope is infinite, and its arctangent +-pi / 2; 0 where the rise is 0, too.
    slope = np.where(rise == 0, 0.0, np.copysign(np.inf, rise))
    np.divide(rise, run, out=slope, where=run != 0)
    return np.mod(np.arctan(slope), np.pi)


def _gradient(values: FloatArray, axis: int) -> FloatArray:
    if values.shape[axis] == 1:
        return np.zeros_like(values)
    return np.gradient(values, axis=axis)


@kernel
def suppress(soft: Array, normal: Array, radius: int, multiplier: float) -> Array:
    """Set to 0 each score that is weaker than a neighbour along the normal."""
    height, width = soft.shape
    kept = np.zeros_like(soft)
    # A sample never lies on the last row or column, so that there is always a next one to interpolate with.
    last_y, last_x = max(height - 1.001, 0.0), max(width - 1.001, 0.0)
    for y in range(height):
        for x in range(width):
            score = multiplier * soft[y, x]
            if score == 0:
                continue
            step_x, step_y = math.cos(normal[y, x]), math.sin(normal[y, x])
            strongest = True
            for d in range(-radius, radius + 1):
                if d == 0:
                    continue
                at_x = min(max(x + d * step_x, 0.0), last_x)
                at_y = min(max(y + d * step_y, 0.0), last_y)
                x0, y0 = int(at_x), int(at_y)
                x1, y1 = min(x0 + 1, width - 1), min(y0 + 1, height - 1)
                right, down = at_x - x0, at_y - y0
                upper = soft[y0, x0] * (1 - right) + soft[y0, x1] * right
                lower = soft[y1, x0] * (1 - right) + soft[y1, x1] * right
                if score < upper * (1 - down) + lower * down:
                    strongest = False
                    break
            if strongest:
                kept[y, x] = soft[y, x]
    return kept
