"""Photographs behind pictures: files of a folder or an archive, named as the images."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Collection
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
from segbench.loaders.source import METAIMAGE, NIFTI, NRRD, Source, extension_of, read_bytes, shown

_CHANNEL = "_0000"
_DARKEST, _BRIGHTEST = 0.5, 99.5  # percentiles of volumes that are black and white


def photographs(folder: str, images: Collection[str]) -> dict[str, Source]:
    """Find the photographs of images in a folder or an archive, each named as its image, with any extension.

    Else it is the only file whose name goes on after the image's with ``_``, as ``NAME_leftImg8bit`` of Cityscapes, or
    lies in further folders.
    """
    by_name = {shown(unicodedata.normalize("NFC", photo.stem)): photo.source for photo in list_place(folder).entries}
    # nnU-Net calls the first channel of a case NAME_0000.
    channels = {name.removesuffix(_CHANNEL): path for name, path in by_name.items() if name.endswith(_CHANNEL)}
    longer: dict[str, list[Source]] = {}
    for name, path in by_name.items():
        longer.setdefault(_image_of(name, images), []).append(path)
    return {image: paths[0] for image, paths in longer.items() if len(paths) == 1} | channels | by_name


def _image_of(name: str, images: Collection[str]) -> str:
    """Return the image whose name that of a photograph, perhaps without folders, begins with, the longest; or ""."""
    parts = name.split("/")
    for folders in range(len(parts)):
        *inner, stem = parts[folders:]
        words = stem.split("_")
        for end in range(len(words), 0, -1):
            image = "/".join([*inner, "_".join(words[:end])])
            if image in images:
                return image
    return ""


def no_photograph(image: str, folder: str) -> Message:
    """Say that an image has no photograph, and how it would be found."""
    return Message(
        "no-photograph",
        "{image}: has no photograph in {folder}; expected a single file called {name}.* or {name}_*",
        image=image,
        folder=folder,
        name=image.rpartition("/")[2],
    )


def read_photograph(path: Source) -> ByteArray:
    """Read a photograph as 8-bit grey or RGB."""
    data = read_bytes(path)
    form = PILLOW_NAMES.get(path.suffix.lower())
    if form is None:
        # CT has negative numbers, which scores may not have.
        is_volume = extension_of(path.name) in (*NIFTI, *METAIMAGE, *NRRD)
        decoded = decode(data, path, role="ground truth" if is_volume else "prediction")
        return _as_grey(decoded.array) if decoded.volume or decoded.geometry else _as_bytes(decoded.array)
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


def _as_grey(voxels: NDArray[Any]) -> ByteArray:
    """Return grey levels from the .5 to the 99.5 percentile of the values that are finite."""
    finite_voxels = voxels[np.isfinite(voxels)]
    if not finite_voxels.size:
        return np.zeros(voxels.shape, np.uint8)
    low, high = np.percentile(finite_voxels, (_DARKEST, _BRIGHTEST)).tolist()
    shares = (np.nan_to_num(voxels.astype(np.float32), nan=low) - low) / ((high - low) or 1)
    return np.rint(255 * np.clip(shares, 0, 1)).astype(np.uint8)


def _as_bytes(pixels: NDArray[Any]) -> ByteArray:
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "iu" else 1
    return np.rint(np.clip(pixels / full, 0, 1) * 255).astype(np.uint8)
