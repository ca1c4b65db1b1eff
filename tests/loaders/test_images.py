"""One file to one map: every format as stored, and what is refused."""

import contextlib
import errno
import io
import logging
import os
import pickle
import struct
import warnings
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import skimage.color
import tifffile
from noted import noted
from PIL import Image
from refusing import refused

from segbench.core.errors import DataError
from segbench.loaders.images import EXTENSIONS, OF_VOLUMES, decode
from segbench.loaders.source import read_bytes

from .encoders import (
    COLOUR8,
    COLOUR16,
    FLOAT32,
    GREY8,
    GREY16,
    MASK,
    mat,
    npy,
    npz,
    paletted,
    pillow,
    png,
    png_of,
    sound_files,
    tiff,
)

SOUND = sound_files()
COLOURS = [[0, 0, 0], [255, 0, 0], [0, 255, 0], [128, 128, 128]]
LZW_DOUBLE = tiff(FLOAT32.astype(np.float64)).replace(b"\x03\x01\x03\0\1\0\0\0\1\0", b"\x03\x01\x03\0\1\0\0\0\5\0")
INDICES = (GREY8 % 4).astype(np.uint8)


def prediction(data, name="p.png"):
    return decode(data, Path("folder") / name, role="prediction")


def truth(data, name="g.png"):
    return decode(data, Path("folder") / name, role="ground truth")


@pytest.mark.parametrize("role", ["prediction", "ground truth", "field"])
@pytest.mark.parametrize("name", SOUND)
def test_every_format_as_stored(name, role):
    data, expected = SOUND[name]
    decoded = decode(data, Path(name), role=role)
    array = decoded.array
    assert array.flags.c_contiguous
    assert array.dtype.isnative
    assert array.shape == (19, 23)
    if expected is None:
        expected = np.asarray(Image.open(io.BytesIO(data)))
        expected = skimage.color.rgb2gray(expected) if expected.ndim == 3 else expected
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_every_extension_has_a_sound_file():
    tested = {Path(name).suffix.lower() for name in SOUND}
    aliases = {".apng", ".jpe", ".jfif", ".dib"}
    assert set(EXTENSIONS) - tested - OF_VOLUMES == aliases


def test_extensions_that_are_other_names_of_a_format():
    for alias, name in [(".apng", "grey.png"), (".jpe", "grey.jpg"), (".jfif", "grey.jpg"), (".dib", "grey.bmp")]:
        data = SOUND[name][0]
        np.testing.assert_array_equal(prediction(data, f"x{alias}").array, prediction(data, name).array)


@pytest.mark.parametrize(
    ("data", "name", "image"),
    [
        (pillow(COLOUR8, "PNG"), "c.png", COLOUR8),
        (png_of(COLOUR8), "c.png", COLOUR8),
        (pillow(COLOUR8, "BMP"), "c.bmp", COLOUR8),
        (pillow(COLOUR8, "WEBP", lossless=True), "c.webp", COLOUR8),
        (b"P6 23 19 255\n" + COLOUR8.tobytes(), "c.ppm", COLOUR8),
        (tiff(COLOUR16, photometric="rgb"), "c.tif", COLOUR16),
        (pillow(COLOUR8, "TIFF", compression="tiff_lzw"), "c.tif", COLOUR8),
        (npy(COLOUR8), "c.npy", COLOUR8),
        (npy(COLOUR16), "c.npy", COLOUR16),
    ],
)
def test_colour_becomes_the_grey_of_scikit_image(data, name, image):
    for decoded in (prediction(data, name), truth(data, name)):
        np.testing.assert_array_equal(decoded.array, skimage.color.rgb2gray(image))
        assert decoded.array.dtype == np.float64
        assert noted(decoded.notes) == [("", "turned-to-grey", {})]


def test_interlaced_and_filtered_pngs_agree():
    image = Image.fromarray(COLOUR8)
    np.testing.assert_array_equal(prediction(pillow(image, "PNG")).array, prediction(png_of(COLOUR8)).array)


def test_a_coloured_palette_is_labels_in_ground_truth_and_grey_in_predictions():
    data = paletted(INDICES, COLOURS)
    labels = truth(data)
    np.testing.assert_array_equal(labels.array, INDICES)
    assert labels.array.dtype == np.uint8
    colours = {"indices": (0, 1, 2, 3), "colours": ("000000", "ff0000", "00ff00", "808080")}
    assert noted(labels.notes) == [("", "palette-indices", colours)]
    for role in ("prediction", "field"):
        grey = decode(data, Path("p.png"), role=role)
        np.testing.assert_allclose(
            grey.array, skimage.color.rgb2gray(np.array(COLOURS, np.uint8)[INDICES]), rtol=0, atol=1e-15
        )
        assert noted(grey.notes) == [("", "turned-to-grey", {})]


def test_whether_a_palette_is_grey_does_not_depend_on_the_colours_an_image_uses():
    only_grey_ones = np.where(INDICES % 2, 3, 0).astype(np.uint8)
    data = paletted(only_grey_ones, COLOURS)
    np.testing.assert_array_equal(truth(data).array, only_grey_ones)
    np.testing.assert_array_equal(prediction(data).array, only_grey_ones // 3 * 128)
    assert prediction(data).array.dtype == np.uint8


def test_palettes_of_gif_bmp_and_tiff():
    grey = [[v * 40] * 3 for v in range(4)]
    for form, name in [("GIF", "p.gif"), ("BMP", "p.bmp"), ("TIFF", "p.tif")]:
        np.testing.assert_array_equal(truth(paletted(INDICES, grey, form), name).array, INDICES * 40)
        np.testing.assert_array_equal(truth(paletted(INDICES, COLOURS, form), name).array, INDICES)
    colormap = np.zeros((3, 256), np.uint16)
    colormap[:, :4] = np.array(COLOURS).T * 257
    tagged = tiff(INDICES, photometric="palette", colormap=colormap)
    np.testing.assert_array_equal(truth(tagged, "p.tif").array, INDICES)


def test_a_palette_index_without_colour_is_refused():
    packed = [bytes([0, 1, 2])] * 3
    data = png(packed, width=3, bits=8, colour_type=3, chunks=[(b"PLTE", bytes([0, 0, 0, 9, 9, 9]))])
    with refused("outside-palette", DataError, index=2, colours=2):
        prediction(data)


@pytest.mark.parametrize(("bits", "spread"), [(2, 85), (4, 17)])
def test_levels_of_two_and_four_bits_are_spread_as_png_defines_and_said(bits, spread):
    data = png([bytes([0b00011011]), bytes([0b11100100])], width=8 // bits, bits=bits, colour_type=0)
    expected = {2: [[0, 1, 2, 3], [3, 2, 1, 0]], 4: [[1, 11], [14, 4]]}[bits]
    decoded = prediction(data)
    np.testing.assert_array_equal(decoded.array, np.array(expected) * spread)
    assert noted(decoded.notes) == [("", "grey-spread", {"bits": bits})]


def test_alpha_must_be_opaque():
    alpha = np.full(GREY8.shape, 255, np.uint8)
    alpha[3, 4:6] = 254
    for data in (
        pillow(np.dstack([COLOUR8, alpha]), "PNG"),
        png_of(np.dstack([GREY8, alpha])),
    ):
        with refused("transparent", DataError, count=2, total=437) as caught:
            prediction(data)
        assert caught.value.hint
    for data, name in [
        (tiff(np.dstack([COLOUR8, alpha]), photometric="rgb", extrasamples=["unassalpha"]), "a.tif"),
        (tiff(np.dstack([GREY8, alpha]), extrasamples=["unassalpha"], planarconfig="contig"), "a.tif"),
        (npy(np.dstack([COLOUR8, alpha])), "a.npy"),
    ]:
        with refused("transparent", DataError, count=2, total=437):
            prediction(data, name)


@pytest.mark.parametrize("array", [GREY8, GREY16, COLOUR8])
def test_a_colour_declared_transparent_must_not_occur(array):
    image = array.reshape(19, 23, -1)
    key = image[2, 3].astype(">u2").tobytes()
    count = (image == np.frombuffer(key, ">u2")).all(axis=2).sum()
    assert count
    with refused("transparent", DataError, count=count, total=437):
        prediction(png_of(image, chunks=[(b"tRNS", key)]))
    absent = image.copy()
    absent[(image == np.frombuffer(key, ">u2")).all(axis=2)] += 1
    assert prediction(png_of(absent, chunks=[(b"tRNS", key)])).array.shape == (19, 23)


def test_transparent_palette_colours_matter_only_where_colours_do():
    alpha = bytes([255, 255, 0, 255])
    data = paletted(INDICES, COLOURS, transparency=alpha)
    np.testing.assert_array_equal(truth(data).array, INDICES)
    with refused("transparent", DataError, count=108, total=437):
        prediction(data)
    unused = np.where(INDICES == 2, 1, INDICES).astype(np.uint8)
    assert prediction(paletted(unused, COLOURS, transparency=alpha)).array.shape == (19, 23)
    data = paletted(unused, COLOURS, "GIF", transparency=2, optimize=False)
    np.testing.assert_array_equal(truth(data, "p.gif").array, unused)
    with refused("transparent", DataError, count=118, total=437):
        truth(paletted(INDICES, [[v] * 3 for v in range(4)], "GIF", transparency=1), "p.gif")


def test_several_images_in_one_file_are_refused():
    frames = [Image.fromarray(GREY8), Image.fromarray(GREY8.T.copy()).resize((23, 19))]
    for form, name in [("GIF", "a.gif"), ("PNG", "a.png"), ("WEBP", "a.webp"), ("TIFF", "a.tif")]:
        data = pillow(frames[0], form, save_all=True, append_images=frames[1:])
        with refused("several-images", DataError, images=2):
            prediction(data, name)


def test_white_is_zero_is_kept_as_stored_and_said():
    for data, expected in [
        (tiff(GREY8, photometric="miniswhite"), GREY8),
        (tiff(GREY16, photometric="miniswhite"), GREY16),
        (tiff(MASK, photometric="miniswhite"), MASK),
        (pillow(GREY8, "TIFF", compression="tiff_lzw", tiffinfo={262: 0}), ~GREY8),
        (pillow(MASK, "TIFF", compression="group4", tiffinfo={262: 0}), ~MASK),
    ]:
        decoded = prediction(data, "a.tif")
        np.testing.assert_array_equal(decoded.array, expected)
        assert noted(decoded.notes) == [("", "zero-is-white", {})]


def test_thumbnails_in_a_tiff_are_not_its_image():
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream) as writer:
        writer.write(GREY8)
        writer.write(GREY8[::2, ::2], subfiletype=1)
    np.testing.assert_array_equal(prediction(stream.getvalue(), "a.tif").array, GREY8)


def test_nan_and_infinity_are_kept():
    array = FLOAT32.copy()
    array[0, :3] = np.nan, np.inf, -np.inf
    for data, name in [(npy(array), "a.npy"), (tiff(array), "a.tif"), (npz(x=array), "a.npz")]:
        np.testing.assert_array_equal(prediction(data, name).array, array)


def test_arrays_that_are_no_map():
    objects = io.BytesIO()
    np.save(objects, np.array([{}], object), allow_pickle=True)
    for data, kind, values in [
        (objects.getvalue(), "python-objects", {}),
        (npy(np.zeros((4, 5, 6))), "several-maps", {"shape": (4, 5, 6), "role": "prediction"}),
        (npy(np.zeros((4, 5, 3))), "several-maps", {"shape": (4, 5, 3)}),
        (npy(np.zeros(5)), "several-maps", {"shape": (5,)}),
        (npy(np.zeros((0, 5))), "no-pixels", {"shape": (0, 5)}),
        (npy(np.zeros((0, 5, 3), np.uint8)), "several-maps", {"shape": (0, 5, 3)}),
        (npy(np.zeros((4, 5), complex)), "wrong-type", {"dtype": "complex128"}),
        (npy(np.zeros((4, 5), "M8[s]")), "wrong-type", {"dtype": "datetime64[s]"}),
        (npy(np.zeros((4, 5), "U3")), "wrong-type", {"dtype": "<U3"}),
        (npy(np.zeros((4, 5), [("a", "f4")])), "wrong-type", {}),
        (pickle.dumps(GREY8), "other-format", {"expected": "NPY"}),
        (npy(GREY8)[:-7], "damaged", {"found": 430, "expected": 437}),
        (npy(GREY8).replace(b"(19, 23)", b"(99999999, 99999999)"), "damaged", {}),
    ]:
        with refused(kind, DataError, **values):
            prediction(data, "a.npy")


def test_which_array_of_an_npz():
    for role, name in [("prediction", "prediction"), ("ground truth", "ground_truth"), ("field", "field")]:
        decoded = decode(npz(**{"other": MASK, name: GREY8}), Path("a.npz"), role=role)
        np.testing.assert_array_equal(decoded.array, GREY8)
    with refused("several-arrays", DataError, count=2, names=("a", "b")):
        prediction(npz(a=GREY8, b=MASK), "a.npz")
    with refused("several-arrays", DataError, count=0, names="none"):
        prediction(npz(), "a.npz")
    objects = io.BytesIO()
    np.savez(objects, np.array([{}], object))
    with refused("python-objects", DataError):
        prediction(objects.getvalue(), "a.npz")


def test_bombs_do_not_go_off():
    member = npy(GREY8)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", member + bytes(30_000_000))
    claims = bytearray(bomb.getvalue())
    at = claims.rindex((len(member) + 30_000_000).to_bytes(4, "little"))
    claims[at : at + 4] = (0xFFFFFFF0).to_bytes(4, "little")
    with refused("too-large", DataError, bytes=4294967280):
        prediction(bytes(claims), "a.npz")
    huge = png([b"\0"], width=1, bits=8, colour_type=0)

    header = b"IHDR" + struct.pack(">IIBBBBB", 30000, 30000, 8, 0, 0, 0, 0)
    huge = huge[:12] + header + struct.pack(">I", zlib.crc32(header)) + huge[33:]
    with refused("too-large", DataError, most=178956970):
        prediction(huge)
    with refused("too-large", DataError, most=178956970):
        prediction(b"P5 30000 30000 255\n", "a.pgm")
    with refused("too-large", DataError, most=178956970):
        prediction(pillow(GREY8, "GIF")[:6] + b"\xff\xff\xff\xff" + pillow(GREY8, "GIF")[10:], "a.gif")


def test_a_tiff_strip_that_unpacks_to_more_than_its_page_is_refused(monkeypatch):
    monkeypatch.setattr("segbench.loaders.tiff.MAX_PIXELS", 10_000)
    sound = tiff(GREY8, compression="zlib")
    with tifffile.TiffFile(io.BytesIO(sound)) as file:
        at = file.pages[0].dataoffsets[0]
        size = file.pages[0].databytecounts[0]
    bomb = zlib.compress(bytes(3_000_000), 9)
    counted = struct.pack("<HHII", 279, 4, 1, size)
    assert sound.count(counted) == 1
    data = sound[:at].replace(counted, struct.pack("<HHII", 279, 4, 1, len(bomb))) + bomb
    with refused("too-large", DataError, most=1048576):
        prediction(data, "a.tif")


def test_a_tiff_without_pixels_in_a_strip_is_not_taken_as_zeros():
    sound = tiff(GREY8, compression="zlib", rowsperstrip=10)
    with tifffile.TiffFile(io.BytesIO(sound)) as file:
        counts = struct.pack(f"<{len(file.pages[0].databytecounts)}H", *file.pages[0].databytecounts)
    assert sound.count(counts) == 1
    empty = sound.replace(counts, counts[:2] + bytes(2))
    with refused("damaged", DataError, missing=1, expected=2):
        prediction(empty, "a.tif")


@pytest.mark.parametrize("name", SOUND)
def test_every_truncated_file_is_refused_or_read_whole(name):
    data, _ = SOUND[name]
    whole = prediction(data, name).array
    for stop in {1, 2, 4, 8, 12, 20, 30, 60, len(data) // 4, len(data) // 2, len(data) * 3 // 4, len(data) - 30}:
        if 0 < stop < len(data):
            with pytest.raises(DataError) as caught:
                prediction(data[:stop], name)
            assert caught.value.path == str(Path("folder") / name)
            assert caught.value.hint
    for stop in () if name.startswith("plain") else range(len(data) - 14, len(data)):
        with contextlib.suppress(DataError):
            np.testing.assert_array_equal(prediction(data[:stop], name).array, whole)


def test_a_jpeg_that_ends_before_its_pixels_is_refused():
    data = pillow(GREY8, "JPEG")
    with refused("damaged", DataError, expected="JPG"):
        prediction(data[: data.index(b"\xff\xda")], "a.jpg")


def test_a_damaged_pixel_chunk_of_a_png_is_refused():
    for name in ("grey.png", "deep.png", "bilevel.png", "equal.png"):
        data = bytearray(SOUND[name][0])
        at = data.index(b"IDAT") + 4
        for position in (*range(at + 3, len(data) - 16, 11), len(data) - 17):
            data[position] ^= 4
            with refused("damaged", DataError, byte=33):
                prediction(bytes(data))
            data[position] ^= 4


def test_pixels_that_contradict_the_checksum_of_their_chunk_are_refused():
    data = SOUND["grey.png"][0]
    other = png_of(np.roll(GREY8, 1)[..., None])
    start = other.index(b"IDAT") - 4
    forged = bytearray(other)
    stop = start + 8 + int.from_bytes(other[start : start + 4], "big")
    forged[stop : stop + 4] = data[-16:-12]
    assert np.asarray(Image.open(io.BytesIO(bytes(forged)))).shape == (19, 23)  # Pillow alone does not notice
    with refused("damaged", DataError, byte=33):
        prediction(bytes(forged))


@pytest.mark.parametrize(
    ("data", "name", "kind", "values"),
    [
        (pillow(GREY8, "JPEG"), "a.png", "other-format", {"found": "JPEG", "expected": "PNG"}),
        (pillow(GREY8, "PNG"), "a.jpg", "other-format", {"found": "PNG", "expected": "JPG"}),
        (tiff(GREY8), "a.bmp", "other-format", {"found": "TIFF", "expected": "BMP"}),
        (npy(GREY8), "a.npz", "other-format", {"found": "NPY", "expected": "NPZ"}),
        (npz(a=GREY8), "a.npy", "other-format", {"found": "NPZ (or another zip archive)", "expected": "NPY"}),
        (b"<!DOCTYPE html><html>not found</html>", "a.png", "other-format", {"found": "HTML or XML"}),
        (b"version https://git-lfs.github.com/spec/v1\noid", "a.npy", "pointer", {"pointer": "a Git LFS pointer"}),
        (b"garbage, nothing else", "a.png", "other-format", {"expected": "PNG", "start": "b'garbage,'"}),
        (b"garbage, nothing else", "a.tif", "other-format", {"expected": "TIF", "start": "b'garbage,'"}),
        (pillow(COLOUR8, "JPEG", "CMYK"), "a.jpg", "unsupported-colour", {"space": "CMYK"}),
        (png_of(COLOUR16), "a.png", "unsupported-colour", {"bits": 16}),
        (png_of(np.dstack([GREY16, GREY16])), "a.png", "unsupported-colour", {"bits": 16}),
        (b"P5 2 1 15\n\x03\x04", "a.pgm", "other-maximum", {"maximum": 15}),
        (b"P3 1 1 65535\n1 2 3", "a.ppm", "other-maximum", {"maximum": 65535}),
        (b"P6 1 1 65535\n123456", "a.ppm", "other-maximum", {"maximum": 65535}),
        (b"Pf 1 1 -1.0\n1234", "a.pnm", "unsupported-colour", {"space": "F"}),
        (pillow(COLOUR8, "TIFF", "CMYK"), "a.tif", "unsupported-colour", {"space": "SEPARATED"}),
        (LZW_DOUBLE, "a.tif", "other-compression", {"bits": 64, "compression": "LZW"}),
        (b"P7\nWIDTH 2", "a.pnm", "other-format", {"expected": "PNM"}),
        (b"P5 -3 4 255\n", "a.pgm", "damaged", {"expected": "PGM", "reason": "header"}),
        (b"P5 3 4 70000\n", "a.pgm", "damaged", {"reason": "maxval must be greater than 0 and less than 65536"}),
        (b"P5 3 4\n", "a.pgm", "damaged", {"expected": "PGM"}),
        (b"P2 1 1 255\n-4", "a.pgm", "damaged", {"reason": "Channel value is negative: -4"}),
        (b"x", "a.xyz", "unknown-extension", {"extension": ".xyz"}),
        (b"x", "noextension", "unknown-extension", {"extension": ""}),
        pytest.param(mat(a=GREY8, b=GREY16), "a.mat", "several-arrays", {"count": 2, "names": ("a", "b")}, id="mat"),
    ],
)
def test_what_is_no_such_file_is_named(data, name, kind, values):
    with refused(kind, DataError, path=str(Path("folder") / name), **values):
        prediction(data, name)


def test_no_warning_and_no_log_gets_out(caplog, recwarn):
    caplog.set_level(logging.DEBUG)
    odd = tiff(GREY8).replace(b"tifffile.py", b"\xff\xfe\xfd\xfc\0\0\0\0\0\0\0")
    image = pillow(GREY8, "PNG")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for data, name in [(odd, "a.tif"), (image, "a.png"), (image[:50], "a.png"), (tiff(GREY8)[:200], "a.tif")]:
            with contextlib.suppress(DataError):
                prediction(data, name)
    assert not recwarn.list
    assert not [record for record in caplog.records if record.name == "tifffile"]


def test_threads_leave_the_warning_filters_as_they_were():
    before = list(warnings.filters)
    names = [name for name in SOUND for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        arrays = list(pool.map(lambda name: prediction(SOUND[name][0], name).array, names))
    assert all(array.shape == (19, 23) for array in arrays)
    assert warnings.filters == before
    assert not logging.getLogger("tifffile").filters


def test_reading_bytes(tmp_path):
    good = tmp_path / "a.png"
    good.write_bytes(b"abc")
    assert read_bytes(good) == b"abc"
    (tmp_path / "empty.png").touch()
    (tmp_path / "loop.png").symlink_to("loop.png")
    for path, kind, values in [
        (tmp_path / "none.png", "missing", {"expected": "file"}),
        (tmp_path, "not-a-file", {}),
        (tmp_path / "empty.png", "empty", {}),
        (tmp_path / "loop.png", "unreadable", {"reason": os.strerror(errno.ELOOP)}),
        (good / "b.png", "unreadable", {"reason": os.strerror(errno.ENOTDIR)}),
        (tmp_path / ("n" * 300), "unreadable", {"reason": os.strerror(errno.ENAMETOOLONG)}),
        (Path("nul\0.png"), "invalid-name", {"expected": "file"}),
    ]:
        with refused(kind, DataError, **values):
            read_bytes(path)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def refuse(_self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with refused("unreadable", DataError):
        read_bytes(tmp_path / "a.png")
