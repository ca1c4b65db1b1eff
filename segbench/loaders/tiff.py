"""TIFF files: integers and floats of any width through tifffile, some compressions through Pillow.

tifffile reads every number format but, without further packages, only files that are not compressed or compressed by
deflate or PackBits; Pillow brings LZW, LZMA, JPEG and the fax codes and is used for these where it keeps the values.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note
from segbench.core.sample import NoData
from segbench.loaders.arrays import as_map, one_channel, squeezed, through_palette
from segbench.loaders.decoded import (
    AS_VOLUME,
    MAX_PIXELS,
    ORIENTATION,
    UPRIGHT,
    Decoded,
    Format,
    Header,
    Role,
    too_large,
)
from segbench.loaders.raster import WEBP_LOSSLESS, notes_on_orientation, orientation_of
from segbench.loaders.source import CUT, WRITE_AGAIN
from segbench.loaders.volumes import as_volume, shape_of_volume

_MASK_IGNORED = Message("internal-mask", "an internal mask in the file is ignored")
_NAN_READ = Message("nan-read", "nan, which the file declares as no data, is read as -1")
_WHITE_IS_ZERO = Message("zero-is-white", "zero is declared white; values are used as stored")
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, YCBCR = 0, 1, 2, 3, 6
GDAL_NODATA = 42113
"""The tag in which GDAL writes, as text, the value that means that there are no data."""
MASK_PAGE = 4
"""The bit of a page's kind that says that it masks another."""
PLANES = 2
TIFFFILE_READS = frozenset({1, 8, 32773, 32946})
"""Compression tags: none, deflate, PackBits, deflate by its old number."""
DEFLATE = frozenset({8, 32946})
LOSSY = {
    6: "JPEG",
    7: "JPEG",
    33003: "JPEG 2000",
    33004: "JPEG 2000",
    33005: "JPEG 2000",
    34712: "JPEG 2000",
    34892: "JPEG",
    50001: "lossy WebP",
}
"""Compression tags of pixels that need not be those that were saved."""
FLOAT_PREDICTOR = 3
"""Differences of the bytes of floats: tifffile undoes it only by a further package, Pillow for all but PackBits."""
NATIVE = {"I;16BS": "I;16NS", "I;32BS": "I;32NS", "F;32BF": "F;32NF"}
"""What Pillow calls numbers of big-endian files, and what they are once libtiff has unpacked them."""
OFFSETS_AND_COUNTS = (273, 279), (324, 325)
"""Tags of strips and of tiles."""
NUMBERS = {3: "H", 4: "I", 16: "Q"}
"""Types of tags with whole numbers, as `struct` writes them."""
MAX_RATIO = 1032
"""What deflate can at most shrink."""
MAX_PAGES, MAX_SLICES = 100, 2**14
"""Pages that are looked at, also of a volume: an image with its thumbnails has a few, and a damaged file may lead on
without end."""


def _decode(data: bytes, path: str, role: Role) -> Decoded:
    """Decode a TIFF file of one page, beside thumbnails and masks."""
    import tifffile

    with tifffile.TiffFile(io.BytesIO(data)) as tiff:
        pages, masks = _pages(tiff, path)
        if len(pages) != 1:
            problem = Message("several-images", "{images} pages, expected one image", images=len(pages))
            raise DataError(path, problem, "save one file per image; " + AS_VOLUME)
        return _map_of_page(data, pages[0], path, role, masks=masks)


def _decode_volume(data: bytes, path: str, role: Role) -> Decoded:
    """Decode a TIFF file of a page for each slice; one of a single page is an image."""
    import tifffile

    with tifffile.TiffFile(io.BytesIO(data)) as tiff:
        pages, masks = _pages(tiff, path, most=MAX_SLICES)
        if len(pages) == 1:
            return _map_of_page(data, pages[0], path, role, masks=masks)
        _refuse_other_axes(tiff, path)
        first = _map_of_page(data, pages[0], path, role, masks=masks)
        shape_of_volume((*first.array.shape[::-1], len(pages)), path)
        slices = np.empty((len(pages), *first.array.shape), first.array.dtype)
        for number, page in enumerate(pages):
            array = _map_of_page(data, page, path, role, masks=masks).array
            if array.shape != first.array.shape or array.dtype != first.array.dtype:
                problem = Message(
                    "several-sizes",
                    "page {number} is {shape: x } (height x width) of {dtype}, and the first {expected: x } of {first}",
                    number=number + 1,
                    shape=array.shape,
                    dtype=array.dtype.name,
                    expected=first.array.shape,
                    first=first.array.dtype.name,
                )
                raise DataError(path, problem, "save the slices of one volume in a file, and nothing else")
            slices[number] = array
    return Decoded(as_volume(slices, path, role), first.notes, lossy=first.lossy, volume=True)


def _refuse_other_axes(tiff: Any, path: str) -> None:  # noqa: ANN401  tifffile's have no useful type
    """Refuse pages that go through channels or times, by the metadata of OME and ImageJ."""
    known = tiff.imagej_metadata or {}
    counts = {"channels": int(known.get("channels", 1)), "times": int(known.get("frames", 1))}
    for axis, name in (("C", "channels"), ("T", "times")):
        sizes = re.findall(rf'\bSize{axis}="([0-9]{{1,9}})"', tiff.ome_metadata or "")
        counts[name] = max([counts[name], *map(int, sizes)])
    several = [f"{count} {name}" for name, count in counts.items() if count > 1]
    if several:
        problem = Message(
            "other-dimensions", "holds {several: and }, expected the slices of one volume", several=several
        )
        raise DataError(path, problem, "save each volume as a file of its own")


def _map_of_page(
    data: bytes,
    page: Any,  # noqa: ANN401  as below
    path: str,
    role: Role,
    *,
    masks: bool,
) -> Decoded:
    """Decode a page; `masks` says whether the file has masks of pages, which are ignored."""
    by_pillow = int(page.compression) not in TIFFFILE_READS or page.predictor == FLOAT_PREDICTOR
    _refuse_damage(data, page, path)
    orientation = orientation_of(page.tags.valueof(ORIENTATION))
    declared, gaps = _declared_nodata(page), _gaps(page)
    if all(gaps):
        pixels = np.zeros(page.shape, page.dtype)
    elif by_pillow:
        pixels = _by_pillow(_with_gaps_bridged(_upright(data, page), page, gaps), page, path)
    else:
        pixels = page.asarray(maxworkers=1)
    if any(gaps) and not _in_planes(page):
        pixels = _with_gaps_filled(pixels, page, gaps, declared)
    if page.planarconfig == PLANES and not by_pillow and pixels.ndim == 3:
        pixels = np.moveaxis(pixels, 0, -1)
    photometric = int(page.photometric)
    colormap = page.colormap if photometric == PALETTE else None
    lossy = _lossy(page, io.BytesIO(data))
    inverted = by_pillow and photometric == WHITE_IS_ZERO and pixels.dtype in (np.uint8, np.bool_)
    nodata = _nodata(declared, np.invert(pixels) if inverted else pixels)
    notes: tuple[Note, ...] = (Note(_MASK_IGNORED),) if masks else ()
    if nodata:
        pixels, replaced = _readable(pixels, nodata, role)
        notes += replaced
        nodata = replace(nodata, value=-1.0) if replaced else nodata
    decoded = _one_map(pixels, colormap, photometric, path, role, by_pillow=by_pillow)
    notes = (*decoded.notes, *notes_on_orientation(orientation), *notes)
    return decoded._replace(notes=notes, lossy=lossy, nodata=nodata)


def _declared_nodata(page: Any) -> float | None:  # noqa: ANN401  as below
    """Read the value that is declared to mean that there are no data, which GDAL writes as text."""
    try:
        return float(str(page.tags.valueof(GDAL_NODATA)).strip("\0 ").replace(",", "."))
    except ValueError:
        return None


def _nodata(value: float | None, pixels: NDArray[Any]) -> NoData | None:
    """Find the pixels that hold, in all channels, the value declared to mean that there are no data."""
    if value is None:
        return None
    if math.isnan(value):
        equal = np.isnan(pixels) if pixels.dtype.kind == "f" else np.zeros(pixels.shape, np.bool_)
    else:
        with np.errstate(over="ignore"):  # GDAL writes numbers in double precision
            equal = pixels == (pixels.dtype.type(value) if pixels.dtype.kind == "f" else value)
    marked: NDArray[np.bool_] = np.reshape(equal, squeezed(pixels.shape))
    if marked.ndim == 3:
        marked = np.logical_and.reduce(marked, axis=2)
    return NoData(value, marked) if marked.any() else None


def _readable(pixels: NDArray[Any], nodata: NoData, role: Role) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """Replace a value that no map of this role can hold: a negative level, or a label of NaN."""
    if role == "prediction" and pixels.dtype.kind == "i" and nodata.value < 0:
        return np.where(nodata.pixels.reshape(pixels.shape), pixels.dtype.type(0), pixels), ()
    if role != "prediction" and math.isnan(nodata.value):
        labels = np.where(nodata.pixels.reshape(pixels.shape), pixels.dtype.type(-1), pixels)
        return labels, (Note(_NAN_READ),)
    return pixels, ()


def _in_planes(page: Any) -> bool:  # noqa: ANN401  as below
    """Return whether channels are stored one after the other."""
    return bool(page.planarconfig == PLANES and page.samplesperpixel > 1)


def _gaps(page: Any) -> list[bool]:  # noqa: ANN401  as below
    """Say of each strip or tile whether it is not stored, which stands for no data, or 0."""
    segments = zip(page.dataoffsets, page.databytecounts, strict=True)
    return [offset == 0 and count == 0 for offset, count in segments]


def _with_gaps_bridged(data: bytes, page: Any, gaps: Sequence[bool]) -> bytes:  # noqa: ANN401  as below
    """Have strips or tiles that are not stored point to one that is, as Pillow reads none without."""
    if not any(gaps):
        return data
    stored = gaps.index(False)
    written = bytearray(data)
    tags = next(tags for tags in OFFSETS_AND_COUNTS if tags[0] in page.tags)
    for code, values in zip(tags, (page.dataoffsets, page.databytecounts), strict=True):
        tag = page.tags[code]
        bridged = [values[stored] if gap else value for gap, value in zip(gaps, values, strict=True)]
        layout = f"{page.parent.byteorder}{len(bridged)}{NUMBERS[int(tag.dtype)]}"
        struct.pack_into(layout, written, tag.valueoffset, *bridged)
    return bytes(written)


def _holds(dtype: np.dtype[Any], value: float) -> bool:
    """Return whether integers of a type can have a value."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else np.iinfo(np.uint8)
    return value.is_integer() and limits.min <= value <= limits.max


def _with_gaps_filled(
    pixels: NDArray[Any],
    page: Any,  # noqa: ANN401  as below
    gaps: Sequence[bool],
    nodata: float | None,
) -> NDArray[Any]:
    """Write the value for no data, or 0, where strips or tiles are not stored."""
    value = 0.0 if nodata is None else nodata
    if pixels.dtype.kind != "f" and not _holds(pixels.dtype, value):
        value = 0.0
    height, width = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    filled, across = pixels.copy(), -(-page.imagewidth // width)
    for number, missing in enumerate(gaps):
        if missing:
            top, left = number // across * height, number % across * width
            filled[top : top + height, left : left + width] = value
    return filled


def _header(file: BinaryIO, _role: Role) -> Header:
    """Read what tifffile knows of the first page before it decodes it."""
    import tifffile

    with tifffile.TiffFile(file) as tiff:
        page: Any = tiff.pages[0]
        length = file.seek(0, io.SEEK_END)
        short = any(map(lambda offset, count: offset + count > length, page.dataoffsets, page.databytecounts))
        return Header(
            (int(page.imagelength), int(page.imagewidth)),
            page.dtype.name if page.dtype else "",
            odd=short or page.dtype is None,
            orientation=orientation_of(page.tags.valueof(ORIENTATION)),
            lossy=_lossy(page, file),
        )


def _lossy(page: Any, file: BinaryIO) -> str:  # noqa: ANN401  tifffile's pages have no useful type
    """Name the lossy compression of a page; WebP may be without loss, which the first strip or tile shows."""
    compression = LOSSY.get(int(page.compression), "")
    if compression != "lossy WebP" or not page.dataoffsets:
        return compression
    file.seek(page.dataoffsets[0] + 12)
    return "" if file.read(4) == WEBP_LOSSLESS else compression


def _one_map(
    pixels: NDArray[Any],
    colormap: NDArray[np.uint16] | None,
    photometric: int,
    path: str,
    role: Role,
    *,
    by_pillow: bool,
) -> Decoded:
    if colormap is not None and pixels.ndim == 2:
        return through_palette(pixels, (colormap.T >> 8).astype(np.uint8), role, path)
    if pixels.ndim == 3 and pixels.shape[2] == 2 and pixels.dtype in (np.uint8, np.uint16):
        return one_channel(pixels, path, role)
    decoded = as_map(pixels, path, role)
    if photometric != WHITE_IS_ZERO or decoded.array.dtype.kind not in "bu":
        return decoded
    turned = by_pillow and decoded.array.dtype in (np.uint8, np.bool_)  # by Pillow, to what the values look like
    array = np.invert(decoded.array) if turned else decoded.array
    return Decoded(array, (*decoded.notes, Note(_WHITE_IS_ZERO)))


def _pages(tiff: Any, path: str, *, most: int = MAX_PAGES) -> tuple[list[Any], bool]:  # noqa: ANN401  as above
    """Return the pages that are neither thumbnails nor masks of others, and whether there are masks."""
    pages = list(islice(tiff.pages, most + 1))
    if len(pages) > most:
        problem = Message("several-images", "more than {most} pages, expected one image", most=most)
        raise DataError(path, problem, "save one file per image; " + AS_VOLUME)
    whole = [page for page in pages if not getattr(page, "is_reduced", False)]
    images = [page for page in whole if not int(getattr(page, "subfiletype", 0)) & MASK_PAGE]
    return (images, len(images) < len(whole)) if images else (whole, False)


def _refuse_damage(data: bytes, page: Any, path: str) -> None:  # noqa: ANN401  as above
    """Refuse a page that is too large, lacks pixels, has no colour space that could be grey, or is a bomb."""
    shape = (int(page.imagelength), int(page.imagewidth))
    if shape[0] * shape[1] > MAX_PIXELS:
        raise too_large(path, shape)
    tile = (page.tilelength, page.tilewidth, page.tiledepth, page.samplesperpixel)
    unpacked = max(math.prod(page.shaped), math.prod(tile)) * (page.dtype.itemsize if page.dtype else 1)
    if unpacked > MAX_PIXELS * 8:
        raise DataError(path, Message("too-large", "unpacks to {bytes} bytes", bytes=unpacked), CUT)
    if int(page.photometric) not in (WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, YCBCR):
        problem = Message(
            "unsupported-colour",
            "colour space {space}, expected grey, palette or RGB",
            space=_name(page.photometric),
        )
        raise DataError(path, problem, "convert it to grey")
    strips = list(zip(page.dataoffsets, page.databytecounts, strict=True))
    expected = max(math.prod(page.chunked), len(strips))
    sparse = not (_in_planes(page) and int(page.compression) not in TIFFFILE_READS)
    lost = (offset + count > len(data) or (count == 0 and not (sparse and offset == 0)) for offset, count in strips)
    missing = sum(lost) + expected - len(strips)
    if missing:
        problem = Message(
            "damaged",
            "truncated: the pixels of {missing} of {expected} strips or tiles are missing",
            missing=missing,
            expected=expected,
        )
        raise DataError(path, problem, WRITE_AGAIN)
    if int(page.compression) in DEFLATE:
        # tifffile sets no bound to what a strip unpacks to.
        most = max(page.nbytes, 1 << 20)
        for offset, count in strips:
            if count * MAX_RATIO > MAX_PIXELS * 2:
                packed = zlib.decompressobj()
                packed.decompress(memoryview(data)[offset : offset + count], most)
                if packed.unconsumed_tail:
                    problem = Message("too-large", "a strip unpacks to more than {most} bytes", most=most)
                    raise DataError(path, problem, WRITE_AGAIN)


def _upright(data: bytes, page: Any) -> bytes:  # noqa: ANN401  as above
    """Take out the orientation, which Pillow would apply to TIFF files, and to no others."""
    tag = page.tags.get(ORIENTATION)
    if tag is None or orientation_of(tag.value) == UPRIGHT:
        return data
    order: Literal["little", "big"] = "little" if page.parent.byteorder == "<" else "big"
    end = tag.valueoffset + tag.valuebytecount
    return data[: tag.valueoffset] + UPRIGHT.to_bytes(tag.valuebytecount, order) + data[end:]


def _by_pillow(data: bytes, page: Any, path: str) -> NDArray[Any]:  # noqa: ANN401  as above
    """Decode by Pillow, and insist that it holds every value the file can store."""
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(data), formats=("TIFF",))
    except UnidentifiedImageError:
        pixels = None
    else:
        image.tile = [tile._replace(args=_native(tile.args)) for tile in image.tile]
        pixels = np.asarray(image)
    bits = page.bitspersample
    predicted = page.predictor == FLOAT_PREDICTOR
    ignored = predicted and int(page.compression) in TIFFFILE_READS - DEFLATE
    if pixels is None or page.dtype is None or ignored or bits in (2, 4) or not np.can_cast(page.dtype, pixels.dtype):
        problem = Message(
            "other-compression",
            "{bits}-bit values in the compression {compression}{predictor}",
            bits=bits,
            compression=_name(page.compression),
            predictor=f" with predictor {FLOAT_PREDICTOR}" if predicted else "",
        )
        saved = "save it uncompressed or with deflate"
        raise DataError(path, problem, f"{saved}, without predictor" if predicted else saved)
    return pixels.astype(page.dtype, copy=False) if page.dtype.kind == "i" else pixels  # Pillow widens 16 bits


def _native(args: Any) -> Any:  # noqa: ANN401  Pillow's: a raw mode and what else its decoder takes, or a mode
    """Return a decoder's arguments for numbers in native byte order, as libtiff gives them."""
    return (NATIVE.get(args[0], args[0]), *args[1:]) if isinstance(args, tuple) else args


def _name(tag: Any) -> str:  # noqa: ANN401  an enumeration, or a number that tifffile does not know
    return str(getattr(tag, "name", tag))


FORMAT = Format(
    "TIFF",
    (".tif", ".tiff"),
    (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    _decode,
    _header,
    decode_volume=_decode_volume,
)
