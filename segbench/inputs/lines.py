"""Checks of inputs, made once: masks, soft maps, label maps, thresholds, and equal sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.arrays import Array, BoolArray, FloatArray, as_array, as_floats
from segbench.core.errors import ArgumentError, DataError
from segbench.core.levels import refuse_beyond_unit, refuse_nan, refuse_not_finite
from segbench.core.messages import Message, Setting
from segbench.core.numbers import written
from segbench.core.settings import as_real, as_whole
from segbench.loaders.reading import require_same_size

Reader = Callable[[Any, str], Array]

_MOST_THRESHOLDS = 65_535
_LARGEST_RADIUS = 100


def as_mask(mask: ArrayLike, name: str) -> BoolArray:
    """Read a mask: pixels other than 0 are on."""
    array = as_plane(mask, name)
    refuse_nan(name, array)
    return np.ascontiguousarray(array != 0)


def as_scores(scores: ArrayLike, name: str) -> FloatArray:
    """Read a soft map: levels of an unsigned type over its maximum, bool as 0 and 1, floats as they are."""
    array = as_plane(scores, name)
    if array.dtype in (np.uint8, np.uint16):
        return np.ascontiguousarray(array / np.float64(np.iinfo(array.dtype).max))
    if array.dtype.kind not in "bf":
        raise ArgumentError(
            Message(
                "unknown-scale",
                "{argument} has type {dtype}, expected uint8, uint16, bool or floats: "
                "the full scale of others is unknown",
                argument=name,
                dtype=str(array.dtype),
            )
        )
    refuse_not_finite(name, array)
    return np.ascontiguousarray(array, dtype=np.float64)


def as_thresholds(thresholds: int | ArrayLike) -> FloatArray:
    """Read a number of thresholds, evenly spaced as in the official code, or a rising list of them."""
    if np.ndim(thresholds) == 0:
        thresholds = as_whole(thresholds, Setting("thresholds", None), least=1, most=_MOST_THRESHOLDS)
        # With k / (K + 1), which may differ in the last bit, an official example has the area .3069 instead of .3076.
        return np.linspace(1 / (thresholds + 1), 1 - 1 / (thresholds + 1), int(thresholds))
    array = as_floats(thresholds, "thresholds")
    if array.ndim != 1 or not array.size or not np.isfinite(array).all() or np.any(np.diff(array) <= 0):
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value}; give a number of them, or a list of rising finite scores",
                argument=Setting("thresholds", None),
                value=repr(thresholds),
            )
        )
    return array


def number_or_list(thresholds: int | ArrayLike) -> int | tuple[float, ...]:
    """Check thresholds as `as_thresholds` does, and keep them as they were given, in Python's numbers."""
    checked = as_thresholds(thresholds)
    return checked.size if np.ndim(thresholds) == 0 else tuple(checked.tolist())


def check_unit_range(scores: FloatArray, name: str) -> None:
    """Refuse scores outside [0, 1], which evenly spaced thresholds would misread."""
    refuse_beyond_unit(
        name, scores, "but evenly spaced thresholds are for [0, 1]", ", or give the thresholds as a list"
    )


def as_tolerance(max_dist: float | str) -> float | str:
    """Read a tolerance: a fraction of the image's diagonal, or pixels as text, ``"2px"``, which stays text."""
    name, expected = Setting("max_dist", None), "a fraction of the diagonal, 0.0075, or pixels, 2px"
    if not isinstance(max_dist, str):
        return as_real(max_dist, name, expected, least=0, most=1)
    try:
        number = float(max_dist.removesuffix("px"))
    except ValueError:
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value!r:.60}, expected {expected}",
                argument=name,
                value=max_dist,
                expected=expected,
            )
        ) from None
    if not max_dist.endswith("px"):
        return as_real(number, name, expected, least=0, most=1)
    return f"{written(as_real(number, name, 'a number of pixels from 0 to 1000', least=0, most=1000))}px"


def tolerance_px(max_dist: float | str, shape: tuple[int, ...]) -> float:
    """Compute a tolerance in pixels of an image of this shape."""
    tolerance = as_tolerance(max_dist)
    return float(tolerance[:-2]) if isinstance(tolerance, str) else tolerance * math.hypot(*shape)


def parts_of(maps: ArrayLike | Iterable[ArrayLike]) -> list[Any]:
    """Return one map, or several, as a list of maps."""
    if isinstance(maps, np.ndarray) and maps.ndim == 2:
        return [maps]
    try:
        parts: list[Any] = list(maps)  # type: ignore[arg-type]  # an array of three dimensions iterates over maps
    except TypeError:
        raise ArgumentError(
            Message(
                "no-array", "found {value}, expected a map of shape (height, width), or several", value=f"{maps!r:.60}"
            )
        ) from None
    return [parts] if parts and all(np.ndim(part) == 1 for part in parts) else parts


def of_one_size(maps: ArrayLike | Iterable[ArrayLike], name: str, read: Reader) -> list[Array]:
    """Read one map, or several of one size."""
    read_maps = [read(part, f"{name} {k}") for k, part in enumerate(parts_of(maps))]
    if not read_maps:
        raise ArgumentError(Message("no-maps", "{argument}: the list is empty; give at least one map", argument=name))
    require_same_size([(f"{name} {k}", read_map.shape) for k, read_map in enumerate(read_maps)])
    return read_maps


def as_ground_truths(ground_truths: ArrayLike | Iterable[ArrayLike]) -> list[BoolArray]:
    """Read one mask, or one per annotator."""
    return of_one_size(ground_truths, "ground truth of annotator", _as_drawn)


def _as_drawn(mask: ArrayLike, name: str) -> BoolArray:
    """Read a mask that holds 0 and one other value, so that scores are not taken for one."""
    positive = as_mask(mask, name)
    if np.asarray(mask).dtype == np.bool_:
        return positive
    values = np.asarray(mask)[positive]
    if values.size and (values != values[0]).any():
        raise DataError(
            name,
            Message("several-values", "{number} values besides 0, expected at most one", number=np.unique(values).size),
            Message("fix", "scores come before ground truths; of grey levels say what is drawn: levels >= 128"),
        )
    return positive


def check_same_size(prediction: Array, ground_truth: Array, name: str = "prediction") -> None:
    """Refuse a prediction of another size than the ground truth."""
    require_same_size([("the ground truth", ground_truth.shape), (name, prediction.shape)])


def as_plane(array: ArrayLike, name: str) -> Array:
    """Read an array of height and width."""
    plane = as_array(array, name)
    if plane.ndim != 2:
        raise ArgumentError(
            Message(
                "wrong-shape",
                "{argument} has shape ({shape}), expected (height, width)",
                argument=name,
                shape=plane.shape,
            )
        )
    return plane


def as_suppression(radius: float, border: float, multiplier: float) -> tuple[int, int, float]:
    """Read the settings of suppression."""
    above_zero = as_real(multiplier, "multiplier", "a number above 0", least=0, most=math.inf, open_ends=True)
    return as_radius(radius, "radius"), as_whole(border, "border"), above_zero


def as_radius(radius: float, name: str) -> int:
    """Read a radius in pixels."""
    return as_whole(radius, name, most=_LARGEST_RADIUS)


def label_boundaries(label_map: ArrayLike) -> BoolArray:
    """Mark the boundaries of a label map, as BSDS500's ``seg2bdry(.., 'imageSize')`` does.

    On a grid of (2H + 1) x (2W + 1) points pixels have odd coordinates. Cracks between unequal 4-neighbours are marked,
    and a crossing where any crack beside it is marked; the first and last row and column then copy their inner
    neighbour. The boundary map is the grid at ``[2::2, 2::2]``: crossings, and cracks in the last row and column.

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
    labels = as_plane(label_map, "label_map")
    refuse_nan("label_map", labels)
    marked = np.zeros(labels.shape, np.bool_)
    below = labels[:-1] != labels[1:]
    right = labels[:, :-1] != labels[:, 1:]
    marked[:-1] |= below
    marked[:, :-1] |= right
    marked[:-1, :-1] |= below[:, 1:]
    marked[:-1, :-1] |= right[1:]
    return marked


def sample_ucm2(ucm2: Array) -> Array:
    """Sample the contour map of image size from one of double size."""
    if ucm2.ndim != 2 or min(ucm2.shape) < 3 or not all(side % 2 for side in ucm2.shape):
        raise ArgumentError(
            Message(
                "wrong-shape",
                "{argument} has shape ({shape}), expected (2 height + 1, 2 width + 1)",
                argument="ucm2",
                shape=ucm2.shape,
            )
        )
    return ucm2[2::2, 2::2]
