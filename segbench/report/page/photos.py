"""Photographs that lie beside the results: looked at, never measured."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.decoded import MAX_PIXELS, shown, size
from segbench.loaders.images import decode, read_bytes
from segbench.loaders.listing import list_place
from segbench.loaders.raster import PILLOW_NAMES
from segbench.loaders.source import Source

Picture = NDArray[np.uint8]


def photographs(place: str) -> dict[str, Source]:
    """Find the photograph of each image in a folder, an archive or at a URL: its name, with any extension."""
    return {shown(unicodedata.normalize("NFC", entry.stem)): entry.source for entry in list_place(place).entries}


def read_photograph(path: Source) -> Picture:
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
        raise DataError(shown(path), f"is no photograph that can be shown ({error})", "write the file anew") from error
    if pixels is None:
        raise DataError(shown(path), f"{size(image.size[::-1])} is more than {MAX_PIXELS} pixels", "make it smaller")
    return pixels


def _as_bytes(pixels: NDArray[Any]) -> Picture:
    if pixels.dtype == np.bool_:
        return np.where(pixels, np.uint8(255), np.uint8(0))
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "iu" else 1
    return np.rint(np.clip(pixels / full, 0, 1) * 255).astype(np.uint8)
