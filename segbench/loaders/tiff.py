"""TIFF files: integers and floats of any width through tifffile, some compressions through Pillow.

tifffile reads every number format but, without further packages, only files that are not compressed or compressed by
deflate or PackBits; Pillow brings LZW, LZMA, JPEG and the fax codes and is used for these where it keeps the values.
"""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.errors import DataError
from segbench.loaders.arrays import as_map
from segbench.loaders.channels import one_channel, through_palette
from segbench.loaders.decoded import MAX_PIXELS, Decoded, Role, size

EXTENSIONS = (".tif", ".tiff")
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, YCBCR = 0, 1, 2, 3, 6
PLANES = 2
TIFFFILE_READS = frozenset({1, 8, 32773, 32946})
"""Compression tags: none, deflate, PackBits, deflate by its old number."""
DEFLATE = frozenset({8, 32946})
MAX_RATIO = 1032
"""What deflate can at most shrink."""


def decode_tiff(data: bytes, path: str, role: Role) -> Decoded:
    """Decode a TIFF file of one page.

    Parameters
    ----------
    data : bytes
        The whole file.
    path : str
        The file, for errors.
    role : {"prediction", "ground truth", "field"}
        Decides what a coloured palette means and whether numbers may be negative.

    Returns
    -------
    Decoded
        Values as stored; where zero is white ("min is white") levels are turned round, and a note says so.

    Raises
    ------
    DataError
        For several pages, missing pixels, transparency, and colour spaces other than grey, palette and RGB. Whatever
        the libraries raise on damaged data comes out as it is.
    """
    import tifffile

    with tifffile.TiffFile(io.BytesIO(data)) as tiff:
        pages: list[Any] = [page for page in tiff.pages if not getattr(page, "is_reduced", False)]
        if len(pages) != 1:
            raise DataError(path, f"{len(pages)} pages, expected one image", "save one file an image")
        page = pages[0]
        by_pillow = int(page.compression) not in TIFFFILE_READS
        _refuse_damage(data, page, path)
        pixels = _by_pillow(data, page.dtype, page.bitspersample, path) if by_pillow else page.asarray()
        if page.planarconfig == PLANES and not by_pillow and pixels.ndim == 3:
            pixels = np.moveaxis(pixels, 0, -1)
        photometric = int(page.photometric)
        colormap = page.colormap if photometric == PALETTE else None
    if colormap is not None and pixels.ndim == 2:
        return through_palette(pixels, (colormap.T >> 8).astype(np.uint8), role, path)
    if pixels.ndim == 3 and pixels.shape[2] == 2 and pixels.dtype in (np.uint8, np.uint16):
        return one_channel(pixels, path)
    decoded = as_map(pixels, path, role)
    if photometric != WHITE_IS_ZERO or decoded.array.dtype.kind not in "bu":
        return decoded
    note = "zero is declared white, so levels were turned round"
    if by_pillow and decoded.array.dtype in (np.uint8, np.bool_):  # Pillow has done so
        return Decoded(decoded.array, (*decoded.notes, note))
    return Decoded(np.invert(decoded.array), (*decoded.notes, note))


def _refuse_damage(data: bytes, page: Any, path: str) -> None:  # noqa: ANN401  tifffile's pages have no useful type
    """Refuse a page that is too large, lacks pixels, has no colour space that could be grey, or is a bomb."""
    shape = (int(page.imagelength), int(page.imagewidth))
    if shape[0] * shape[1] > MAX_PIXELS:
        raise DataError(path, f"{size(shape)} is more than {MAX_PIXELS} pixels", "cut it into parts")
    if int(page.photometric) not in (WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, YCBCR):
        raise DataError(path, f"colour space {page.photometric!s}, expected grey, palette or RGB", "convert it to grey")
    strips = list(zip(page.dataoffsets, page.databytecounts, strict=True))
    missing = sum(offset + count > len(data) or count == 0 for offset, count in strips)
    if missing:
        what = f"truncated: the pixels of {missing} of {len(strips)} strips or tiles are missing"
        raise DataError(path, what, "write the file anew")
    if int(page.compression) in DEFLATE:
        # tifffile sets no bound to what a strip unpacks to.
        most = max(page.nbytes, 1 << 20)
        for offset, count in strips:
            if count * MAX_RATIO > MAX_PIXELS * 2:
                packed = zlib.decompressobj()
                packed.decompress(memoryview(data)[offset : offset + count], most)
                if packed.unconsumed_tail:
                    raise DataError(path, f"a strip unpacks to more than {most} bytes", "write the file anew")


def _by_pillow(data: bytes, stored: np.dtype[Any] | None, bits: int, path: str) -> NDArray[Any]:
    """Decode by Pillow, and insist that it holds every value the file can store."""
    from PIL import Image

    image = Image.open(io.BytesIO(data), formats=("TIFF",))
    pixels = np.asarray(image)
    if image.mode == "CMYK" or stored is None or bits in (2, 4) or not np.can_cast(stored, pixels.dtype):
        raise DataError(
            path,
            f"{image.mode} image of {bits} bits a value in this compression",
            "save it uncompressed or with deflate",
        )
    return pixels
