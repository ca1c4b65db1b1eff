"""Pictures inside the page: small, lossless where a pixel means something, honest about what a thumbnail leaves out.

A map is a PNG of 8-bit grey levels which the page's script decodes itself: what a browser gives back of a decoded
picture may be altered on purpose, against fingerprinting. Photographs are WebP and only looked at.
"""

from __future__ import annotations

import base64
import io
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.decoded import MAX_PIXELS, Source, shown, size
from segbench.loaders.images import decode
from segbench.loaders.listing import list_place
from segbench.loaders.raster import PILLOW_NAMES
from segbench.loaders.source import read_bytes
from segbench.protocols.states import State
from segbench.report.overlays import COLOURS

Levels = NDArray[np.uint8]

THIN = 0.12
"""Where less than this share of an image is tinted, there are lines or small objects."""

_QUALITY = 72
# Pixels that are right hide less of the photograph than those that are wrong.
_ALPHAS = {State.TRUE: 110, State.IGNORED: 110}


def block_side(shape: tuple[int, ...], longest: int) -> int:
    """Give the side of the blocks of pixels, each of which is one pixel of a thumbnail."""
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


def tint(states: Levels, share: float) -> str:
    """Write states in their colours as a PNG in base64, transparent where there is nothing."""
    from PIL import Image

    image, file = Image.fromarray(states, "P"), io.BytesIO()
    image.putpalette(bytes.fromhex("".join(COLOURS[state].removeprefix("#") for state in State)))
    image.save(file, "PNG", optimize=True, transparency=bytes(alphas(share)))
    return _base64(file)


def alphas(share: float) -> list[int]:
    """Say how opaque each state is over a photograph of which this share is tinted."""
    return [0 if state is State.NOTHING else 255 if share < THIN else _ALPHAS.get(state, 175) for state in State]


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


def photographs(place: str) -> dict[str, Source]:
    """Find the photograph of each image in a folder, an archive or at a URL: its name, with any extension."""
    return {shown(unicodedata.normalize("NFC", entry.stem)): entry.source for entry in list_place(place).entries}


def read_photograph(path: Source) -> Levels:
    """Read a photograph as 8-bit grey or RGB."""
    data = read_bytes(path)
    form = PILLOW_NAMES.get(path.suffix.lower())
    if form is None:
        return _as_bytes(decode(data, path, role="prediction").array)
    from PIL import Image

    pixels = None
    try:
        image = Image.open(io.BytesIO(data), formats=(form,))
        if image.width * image.height <= MAX_PIXELS:
            pixels = np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))
    except Exception as error:
        problem = f"is not a photograph that can be shown ({error})"
        raise DataError(shown(path), problem, "write the file again") from error
    if pixels is None:
        raise DataError(shown(path), f"{size(image.size[::-1])} is more than {MAX_PIXELS} pixels", "make it smaller")
    return pixels


def _as_bytes(pixels: NDArray[Any]) -> Levels:
    if pixels.dtype == np.bool_:
        return np.where(pixels, np.uint8(255), np.uint8(0))
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "iu" else 1
    return np.rint(np.clip(pixels / full, 0, 1) * 255).astype(np.uint8)
