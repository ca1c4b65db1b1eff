"""Files made in memory, each format by code other than what decodes it where there is such code."""

import io
import lzma
import struct
import zlib

import numpy as np
import scipy.io
import tifffile
from PIL import Image

RNG = np.random.default_rng(7)
GREY8 = RNG.integers(0, 256, (19, 23), dtype=np.uint8)
GREY16 = RNG.integers(0, 65536, (19, 23), dtype=np.uint16)
COLOUR8 = RNG.integers(0, 256, (19, 23, 3), dtype=np.uint8)
COLOUR16 = RNG.integers(0, 65536, (19, 23, 3), dtype=np.uint16)
FLOAT32 = RNG.normal(size=(19, 23)).astype(np.float32)
MASK = GREY8 > 128


def pillow(image, form, mode=None, **options):
    image = Image.fromarray(image) if isinstance(image, np.ndarray) else image
    stream = io.BytesIO()
    (image.convert(mode) if mode else image).save(stream, form, **options)
    return stream.getvalue()


def paletted(indices, palette, form="PNG", **options):
    image = Image.fromarray(indices).copy()
    image.putpalette(np.asarray(palette, np.uint8).tobytes())
    return pillow(image, form, **options)


def tiff(array, **options):
    stream = io.BytesIO()
    tifffile.imwrite(stream, array, **options)
    return stream.getvalue()


def _lzw(data):
    """Pack by LZW with codes of 9 bits only: single bytes, and a table that is cleared before its codes get longer."""
    codes = [code for start in range(0, len(data), 250) for code in (256, *data[start : start + 250])]
    bits = "".join(f"{code:09b}" for code in [*codes, 257])
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _packbits(data):
    """Store bytes as PackBits does where none repeat."""
    parts = [data[start : start + 128] for start in range(0, len(data), 128)]
    return b"".join(bytes([len(part) - 1]) + part for part in parts)


def _zstd(data):
    """Store bytes as a frame of Zstandard, of one block that is not compressed."""
    return struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data)) + (len(data) << 3 | 1).to_bytes(3, "little") + data


TIFF_CODECS = {
    "NONE": (1, bytes),
    "LZW": (5, _lzw),
    "DEFLATE": (8, zlib.compress),
    "PACKBITS": (32773, _packbits),
    "LZMA": (34925, lzma.compress),
    "ZSTD": (50000, _zstd),
}
"""Compressions that any of tifffile and Pillow read: their tags, and code that packs by them."""


def tiff_by_hand(array, codec="NONE", *, order="<", predictor=1, tiled=False):
    """Write a grey TIFF in strips of 8 rows or tiles of 16x16, the specification's way."""
    height, width = array.shape
    edge = 16
    if tiled:
        padded = np.pad(array, [(0, -height % edge), (0, -width % edge)])
        tiles = [padded[y : y + edge, x : x + edge] for y in range(0, height, edge) for x in range(0, width, edge)]
    parts = tiles if tiled else [array[y : y + 8] for y in range(0, height, 8)]
    tag, pack = TIFF_CODECS[codec]
    packed = [pack(_predicted(part, order, predictor)) for part in parts]
    ends = 8 + np.cumsum([len(part) for part in packed])
    offsets, counts = [int(end) - len(part) for end, part in zip(ends, packed, strict=True)], list(map(len, packed))
    kind = "uif".index(array.dtype.kind) + 1
    fields = {256: [width], 257: [height], 258: [8 * array.itemsize], 259: [tag], 262: [1], 277: [1], 317: [predictor]}
    fields |= {322: [edge], 323: [edge], 324: offsets, 325: counts} if tiled else {273: offsets, 278: [8], 279: counts}
    fields |= {339: [kind]}
    lists, start = b"", int(ends[-1])
    entries = []
    for key, values in sorted(fields.items()):
        content = struct.pack(f"{order}{len(values)}I", *values)
        if len(values) > 1:
            place, lists = start + len(lists), lists + content
            content = struct.pack(f"{order}I", place)
        entries.append(struct.pack(f"{order}HHI", key, 4, len(values)) + content)
    mark = b"II" if order == "<" else b"MM"
    header = mark + struct.pack(f"{order}HI", 42, start + len(lists))
    directory = struct.pack(f"{order}H", len(entries)) + b"".join(entries) + bytes(4)
    return header + b"".join(packed) + lists + directory


def _predicted(part, order, predictor):
    """Return the bytes of a strip or tile, as differences along rows (2), or as those of the bytes of floats (3)."""
    if predictor == 2:
        part = np.diff(part, axis=1, prepend=part[:, :1] * 0)
    if predictor == 3:
        part = part.astype(part.dtype.newbyteorder(">")).view(np.uint8).reshape(*part.shape, -1)
        part = np.moveaxis(part, 2, 1).reshape(len(part), -1)
        part = np.diff(part, axis=1, prepend=part[:, :1] * 0)
    return part.astype(part.dtype.newbyteorder(order)).tobytes()


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def mat(**variables):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=True)
    return stream.getvalue()


def cell(*items):
    """Make what savemat writes as a 1xN cell."""
    array = np.empty((1, len(items)), object)
    for i, item in enumerate(items):
        array[0, i] = item
    return array


def png(rows, *, width, bits, colour_type, chunks=()):
    """Write a PNG from packed rows of bytes, the PNG specification's way, with every filter in turn."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    step = max(1, bits * channels // 8)
    packed, before = b"", np.zeros(len(rows[0]), int)
    for i, row in enumerate(np.array([list(row) for row in rows])):
        left = np.concatenate([np.zeros(step, int), row[:-step]]) if len(row) > step else np.zeros(len(row), int)
        guess = [0 * row, left, before, (left + before) // 2][i % 4]
        packed += bytes([i % 4]) + bytes(((row - guess) % 256).astype(np.uint8))
        before = row
    header = struct.pack(">IIBBBBB", width, len(rows), bits, colour_type, 0, 0, 0)
    parts = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(packed)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )


def png_of(array, **options):
    """Write a PNG of an array of shape (H, W, C) of uint8 or uint16."""
    channels = array.shape[2]
    rows = [row.astype(">u2").tobytes() if array.dtype == np.uint16 else row.tobytes() for row in array]
    return png(
        rows,
        width=array.shape[1],
        bits=8 * array.dtype.itemsize,
        colour_type={1: 0, 2: 4, 3: 2, 4: 6}[channels],
        **options,
    )


def sound_files():
    """Return one sound file of every kind that is read: its name, its bytes and, where bytes alone tell, its pixels."""
    seven = GREY8 % 16
    return {
        "grey.png": (pillow(GREY8, "PNG"), GREY8),
        "bilevel.png": (pillow(MASK, "PNG"), MASK),
        "deep.png": (pillow(GREY16, "PNG"), GREY16),
        "equal.png": (pillow(np.dstack([GREY8] * 3), "PNG"), GREY8),
        "opaque.png": (pillow(np.dstack([GREY8] * 3 + [GREY8 * 0 + 255]), "PNG"), GREY8),
        "grey-alpha.png": (png_of(np.dstack([GREY8, GREY8 * 0 + 255])), GREY8),
        "grey-palette.png": (paletted(seven, [[v * 10] * 3 for v in range(16)]), seven * 10),
        "upper.PNG": (pillow(GREY8, "PNG"), GREY8),
        "grey.jpg": (pillow(GREY8, "JPEG", quality=100), None),
        "colour.jpeg": (pillow(COLOUR8, "JPEG"), None),
        "grey.bmp": (pillow(GREY8, "BMP"), GREY8),
        "bilevel.bmp": (pillow(MASK, "BMP"), MASK),
        "equal.bmp": (pillow(np.dstack([GREY8] * 3), "BMP"), GREY8),
        "grey.gif": (pillow(GREY8, "GIF"), GREY8),
        "equal.webp": (pillow(np.dstack([GREY8] * 3), "WEBP", lossless=True), GREY8),
        "raw.pgm": (b"P5\n23 19\n255\n" + GREY8.tobytes(), GREY8),
        "deep.pgm": (b"P5 # by hand\n23\t19 65535\n" + GREY16.astype(">u2").tobytes(), GREY16),
        "plain.pgm": (b"P2\n23 19\n255\n" + b" ".join(b"%d" % v for v in GREY8.ravel()), GREY8),
        "equal.ppm": (b"P6 23 19 255\n" + np.dstack([GREY8] * 3).tobytes(), GREY8),
        "plain.ppm": (b"P3 23 19 255\n" + b"\n".join(b"%d" % v for v in np.dstack([GREY8] * 3).ravel()), GREY8),
        "raw.pbm": (b"P4 23 19\n" + np.packbits(~MASK, axis=1).tobytes(), MASK),
        "plain.pnm": (b"P1\n# white is 0\n23 19\n" + b"".join(b"%d" % v for v in (~MASK).ravel()), MASK),
        "plain-deep.pgm": (b"P2\n23 19\n65535\n" + b" ".join(b"%d" % v for v in GREY16.ravel()), GREY16),
        "grey.tif": (tiff(GREY8), GREY8),
        "bilevel.tif": (tiff(MASK), MASK),
        "deep.tiff": (tiff(GREY16, byteorder=">"), GREY16),
        "uint32.tif": (tiff(GREY16.astype(np.uint32) << 16), GREY16.astype(np.uint32) << 16),
        "float.tif": (tiff(FLOAT32, byteorder=">"), FLOAT32),
        "double.tif": (tiff(FLOAT32 / 3.0, compression="zlib"), FLOAT32 / 3.0),
        "half.tif": (tiff(FLOAT32.astype(np.float16)), FLOAT32.astype(np.float16).astype(np.float32)),
        "lzw.tif": (pillow(GREY8, "TIFF", compression="tiff_lzw"), GREY8),
        "lzw-deep.tif": (pillow(GREY16, "TIFF", compression="tiff_lzw"), GREY16),
        "lzw-float.tif": (pillow(FLOAT32, "TIFF", compression="tiff_lzw"), FLOAT32),
        "packbits.tif": (pillow(GREY8, "TIFF", compression="packbits"), GREY8),
        "fax.tif": (pillow(MASK, "TIFF", compression="group4"), MASK),
        "planes.tif": (tiff(np.stack([GREY8] * 3), photometric="rgb", planarconfig="separate"), GREY8),
        "equal.tif": (tiff(np.dstack([GREY16] * 3), photometric="rgb"), GREY16),
        "grey.npy": (npy(GREY8), GREY8),
        "fortran.npy": (npy(np.asfortranarray(FLOAT32)), FLOAT32),
        "big.npy": (npy(FLOAT32.astype(">f8")), FLOAT32.astype(np.float64)),
        "bool.npy": (npy(MASK), MASK),
        "batch.npy": (npy(FLOAT32[None, None]), FLOAT32),
        "last.npy": (npy(FLOAT32[..., None]), FLOAT32),
        "one.npz": (npz(anything=FLOAT32), FLOAT32),
        "map.mat": (mat(LabelMap=GREY16, scale=2.0), GREY16),
    }
