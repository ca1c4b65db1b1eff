"""EXIF orientation: pixels stay as stored in every format, and a note says so."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import tifffile
from loaders.encoders import png_of
from noted import noted
from PIL import Image

from segbench.loaders.images import decode, read_header

STORED = np.arange(0, 240, dtype=np.uint8).reshape(12, 20)


def exif(value):
    tags = Image.Exif()
    tags[0x0112] = value
    return tags


def by_pillow(form, value, array=STORED, **options):
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, form, exif=exif(value), **options)
    return stream.getvalue()


def by_tifffile(value, order, **options):
    stream = io.BytesIO()
    tifffile.imwrite(stream, STORED, byteorder=order, extratags=[(0x0112, "H", 1, value, True)], **options)
    return stream.getvalue()


def with_exif_last(data, value):
    """Put EXIF data behind the pixels of a PNG, where the format allows them, too."""
    content = exif(value).tobytes().removeprefix(b"Exif\0\0")
    chunk = struct.pack(">I", len(content)) + b"eXIf" + content + struct.pack(">I", zlib.crc32(b"eXIf" + content))
    return data[:-12] + chunk + data[-12:]


FILES = {
    "a.jpg": lambda value: by_pillow("JPEG", value, quality=100),
    "a.png": lambda value: by_pillow("PNG", value),
    "last.png": lambda value: with_exif_last(png_of(STORED[..., None]), value),
    "a.webp": lambda value: by_pillow("WEBP", value, np.dstack([STORED] * 3), lossless=True),
    "plain.tif": lambda value: by_pillow("TIFF", value),
    "lzw.tif": lambda value: by_pillow("TIFF", value, compression="tiff_lzw"),
    "lzma.tif": lambda value: by_pillow("TIFF", value, compression="lzma"),
    "little.tif": lambda value: by_tifffile(value, "<"),
    "big.tif": lambda value: by_tifffile(value, ">"),
    "bigtiff.tif": lambda value: by_tifffile(value, "<", bigtiff=True),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("value", range(10))
def test_pixels_are_read_as_stored_with_a_note(name, value, tmp_path):
    if name in ("lzw.tif", "lzma.tif") and value not in range(1, 9):
        pytest.skip("libtiff does not write such a value")
    data = FILES[name](value)
    decoded = decode(data, Path(name), role="prediction")
    assert decoded.array.shape == STORED.shape
    assert np.abs(decoded.array.astype(int) - STORED).max() <= (3 if name == "a.jpg" else 0)
    expected = [("", "orientation", {"orientation": value})] if 2 <= value <= 8 else []
    assert [note for note in noted(decoded.notes) if note[1] == "orientation"] == expected
    (tmp_path / name).write_bytes(data)
    header = read_header(tmp_path / name, "prediction")
    assert not header.odd
    assert header.shape == STORED.shape
    assert header.orientation == (value if 2 <= value <= 8 and name != "last.png" else 1)


def test_damaged_exif_data_refuse_no_image():
    whole = by_pillow("JPEG", 6)
    start = whole.index(b"Exif\0\0") + 6
    damaged = whole[:start] + b"\xff" * 8 + whole[start + 8 :]
    decoded = decode(damaged, Path("a.jpg"), role="prediction")
    assert decoded.array.shape == STORED.shape
    assert decoded.notes == ()
