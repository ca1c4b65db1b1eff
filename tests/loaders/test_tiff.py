"""TIFF files of every number type, compression, byte order, predictor and layout, as written and as read by tifffile.

The files are made without imagecodecs, which tifffile needs for LZW and Zstandard and for predictors of floats.
"""

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
import tifffile
from refusing import refused

import segbench
from segbench.core.errors import DataError
from segbench.loaders.images import decode

from .encoders import TIFF_CODECS, tiff_by_hand

RNG = np.random.default_rng(3)
TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]
BY_TIFFFILE = ["NONE", "DEFLATE", "PACKBITS"]
BY_PILLOW = {"u1", "u2", "i2", "i4", "f4"}
"""Types of which Pillow keeps every value; what takes Pillow is refused for all others."""


def values_of(kind):
    if kind[0] == "f":
        return RNG.normal(size=(19, 23)).astype(kind)
    limits = np.iinfo(kind)
    return RNG.integers(limits.min, limits.max, (19, 23), dtype=kind, endpoint=True)


def decoded(data):
    return decode(data, Path("a.tif"), role="label map").array


def ways(codec, kind):
    """Return the predictors that a compression takes with a type, byte orders and layouts."""
    predictors = [1, 3] if kind[0] == "f" else [1, 2]
    return itertools.product(predictors[: 1 if codec in ("NONE", "PACKBITS") else 2], "<>", [False, True])


@pytest.mark.parametrize("codec", TIFF_CODECS)
@pytest.mark.parametrize("kind", TYPES)
def test_numbers_are_read_as_written_or_refused(kind, codec):
    array = values_of(kind)
    for predictor, order, tiled in ways(codec, kind):
        data = tiff_by_hand(array, codec, order=order, predictor=predictor, tiled=tiled)
        if kind in BY_PILLOW or (codec in BY_TIFFFILE and predictor < 3):
            expected = array.astype(np.float32) if kind == "f2" else array
            assert decoded(data).dtype == expected.dtype
            np.testing.assert_array_equal(decoded(data), expected)
        else:
            with refused("other-compression", DataError):
                decoded(data)


@pytest.mark.parametrize("kind", TYPES)
def test_tifffile_reads_the_same_where_it_can(kind):
    array = values_of(kind)
    for codec in BY_TIFFFILE:
        for predictor, order, tiled in ways(codec, kind):
            data = tiff_by_hand(array, codec, order=order, predictor=predictor, tiled=tiled)
            if predictor < 3:
                np.testing.assert_array_equal(decoded(data), tifffile.imread(io.BytesIO(data)))


@pytest.mark.parametrize("codec", ["LZW", "ZSTD", "LZMA"])
def test_big_endian_masks_are_not_inverted(tmp_path, codec):
    mask = np.where(RNG.random((19, 23)) < 0.3, 255, 0)
    for folder, array in [("gt", mask.astype("i2")), ("pred", (mask / 255).astype("f4"))]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "0.tif").write_bytes(tiff_by_hand(array, codec, order=">"))
    assert segbench.evaluate(tmp_path / "gt", tmp_path / "pred").summary["ods_f"] == 1


def test_floats_packed_by_differences_of_bytes_are_refused_with_a_remedy_that_works():
    array = values_of("f8")
    with refused("other-compression", DataError, bits=64, compression="ADOBE_DEFLATE", predictor=" with predictor 3"):
        decoded(tiff_by_hand(array, "DEFLATE", predictor=3))
    np.testing.assert_array_equal(decoded(tiff_by_hand(array, "DEFLATE")), array)


def test_a_predictor_that_readers_do_not_agree_on_is_refused():
    with refused("other-compression", DataError, bits=32, compression="NONE", predictor=" with predictor 3"):
        decoded(tiff_by_hand(values_of("f4"), "NONE", predictor=3))
