"""Channels to one map: colour to grey, transparency, palettes.

Colour becomes grey as ``skimage.color.rgb2gray`` does it: the luma of ITU-R 709 over values divided by the type's
maximum, in float64. Where all channels are equal nothing is computed and the dtype stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.decoded import Decoded, Role

LUMA = (0.2125, 0.7154, 0.0721)
OPAQUE_HINT = "flatten it onto a background, or save it without transparency"


def one_channel(image: NDArray[Any], path: str) -> Decoded:
    """Turn an image of one to four channels into a map."""
    channels = image.shape[2]
    if channels in (2, 4):
        require_opaque(image[..., -1], np.iinfo(image.dtype).max, path)
    first = image[..., 0]
    if channels < 3 or (np.array_equal(first, image[..., 1]) and np.array_equal(first, image[..., 2])):
        return Decoded(np.ascontiguousarray(first))
    return Decoded(luma(image[..., :3]), ("colour turned to grey (ITU-R 709 luma, 0..1)",))


COLOUR = 0xFF000000
"""What packed colours are raised by, so that none looks like a label."""


def packed_colours(image: NDArray[Any], path: str) -> Decoded:
    """Turn an 8-bit image in colour into numbers for palettes of labels: `COLOUR` + 65536 r + 256 g + b."""
    if image.shape[2] < 3:
        return one_channel(image, path)
    if image.dtype != np.uint8:
        raise DataError(path, "is in colour with 16 bits, expected 8 bits as palettes have", "save labels, not colours")
    if image.shape[2] == 4:
        require_opaque(image[..., 3], 255, path)
    wide = image.astype(np.uint32)
    return Decoded(np.uint32(COLOUR) | wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2])


def luma(rgb: NDArray[Any]) -> NDArray[np.float64]:
    """Give ``skimage.color.rgb2gray`` of an 8- or 16-bit image of shape (H, W, 3)."""
    scaled = np.multiply(rgb, 1.0 / np.iinfo(rgb.dtype).max, dtype=np.float64)
    grey: NDArray[np.float64] = scaled @ np.array(LUMA)
    return grey


def require_opaque(alpha: NDArray[Any], opaque: int, path: str) -> None:
    """Refuse an image with a pixel whose alpha is below `opaque`."""
    see_through = int(np.count_nonzero(alpha != opaque))
    if see_through:
        raise DataError(
            path, f"{see_through} of {alpha.size} pixels are not opaque, so their value is unknown", OPAQUE_HINT
        )


def through_palette(indices: NDArray[np.uint8], palette: NDArray[np.uint8], role: Role, path: str) -> Decoded:
    """Turn the indices of a palette image into a map."""
    grey = bool((palette[:, :1] == palette[:, 1:]).all())
    if role == "ground truth" and not grey:
        return Decoded(np.ascontiguousarray(indices), ("coloured palette: its indices are taken as labels",))
    used = np.flatnonzero(np.bincount(indices.ravel(), minlength=1))
    if used[-1] >= len(palette):
        raise DataError(path, f"palette index {used[-1]} in a palette of {len(palette)} colours", "save it anew")
    colours = palette[used]
    levels = one_channel(colours[None], path)
    table = np.zeros(int(used[-1]) + 1, levels.array.dtype)
    table[used] = levels.array[0]
    return Decoded(table[indices], levels.notes)
