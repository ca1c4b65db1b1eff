"""EXIF orientation, which viewers apply. Here pixels are read as stored, and a note says where that differs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

TAG = 0x0112
UPRIGHT = 1
TURNED = range(2, 9)
SIDEWAYS = range(5, 9)
"""Those that exchange rows and columns."""


def orientation_of(image: Image.Image, *, whole: bool = False) -> int:
    """Give the orientation of an image that Pillow opened; 1 where there is none, or a damaged one.

    Of a PNG what follows the pixels counts only if these are decoded, or are to be (`whole`).
    """
    from PIL import Image as Images

    with suppress(Exception):  # damaged metadata are no reason to refuse sound pixels
        exif = image.getexif() if whole else Images.Image.getexif(image)
        return known(exif.get(TAG))
    return UPRIGHT


def known(value: object) -> int:
    """Give the value of an orientation tag as a number, 1 for whatever has no meaning."""
    return int(value) if isinstance(value, int) and value in TURNED else UPRIGHT


def notes_on(orientation: int) -> tuple[str, ...]:
    """Say that an orientation was not applied."""
    return (f"EXIF orientation {orientation} was not applied: pixels are read as stored",) * (orientation in TURNED)
