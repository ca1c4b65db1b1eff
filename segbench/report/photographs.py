"""Photographs behind pictures: files of a folder or an archive, named as the images."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.pictures import ByteArray
from segbench.loaders.decoded import MAX_PIXELS, size
from segbench.loaders.images import decode
from segbench.loaders.listing import list_place
from segbench.loaders.raster import PILLOW_NAMES
from segbench.loaders.source import Source, read_bytes, shown


def photographs(folder: str) -> dict[str, Source]:
    """Find the photograph of each image in a folder or an archive: its name, with any extension."""
    return {shown(unicodedata.normalize("NFC", photo.stem)): photo.source for photo in list_place(folder).entries}


def read_photograph(path: Source) -> ByteArray:
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
        problem = Message("no-photograph", "is not a photograph that can be shown ({reason})", reason=str(error))
        raise DataError(shown(path), problem, "write the file again") from error
    if pixels is None:
        problem = Message(
            "too-large", "{size} is more than {most} pixels", size=size(image.size[::-1]), most=MAX_PIXELS
        )
        raise DataError(shown(path), problem, "make it smaller")
    return pixels


def _as_bytes(pixels: NDArray[Any]) -> ByteArray:
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "iu" else 1
    return np.rint(np.clip(pixels / full, 0, 1) * 255).astype(np.uint8)
