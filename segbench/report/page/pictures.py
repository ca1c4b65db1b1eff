"""Pictures inside the page: small, lossless where a pixel means something, honest about what a thumbnail leaves out.

A map is a PNG of 8-bit grey levels which the page's script decodes itself: what a browser gives back of a decoded
picture may be altered on purpose, against fingerprinting. Photographs are WebP and only looked at.
"""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.uint8]

_QUALITY = 72


def block_side(shape: tuple[int, ...], longest: int) -> int:
    """Give the side of the blocks of pixels, each of which one pixel of a thumbnail stands for."""
    return -(-max(shape) // longest)


def picked(ranks: NDArray[Any], side: int) -> NDArray[np.int64]:
    """Choose of each block the pixel of the highest rank, the first of equals."""
    height, width = ranks.shape
    rows, columns = -(-height // side), -(-width // side)
    padded = np.full((rows * side, columns * side), -1, np.int64)
    padded[:height, :width] = ranks
    blocks = padded.reshape(rows, side, columns, side).swapaxes(1, 2).reshape(rows, columns, side * side)
    down, right = np.divmod(blocks.argmax(axis=2), side)
    places: NDArray[np.int64] = (side * np.arange(rows)[:, None] + down) * width + side * np.arange(columns) + right
    return places


def png(levels: Levels) -> str:
    """Write grey levels as a PNG in base64."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(levels).save(file, "PNG", optimize=True)
    return _base64(file)


def photograph(pixels: NDArray[Any], longest: int) -> str:
    """Write a photograph as a WebP in base64, its longest side no longer than `longest`."""
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((longest, longest))
    file = io.BytesIO()
    picture.save(file, "WEBP", quality=_QUALITY, method=4)
    return _base64(file)


def _base64(file: io.BytesIO) -> str:
    return base64.b64encode(file.getvalue()).decode("ascii")
