"""Headers against the decoders: they may know less, and never something else."""

import numpy as np
import pytest
from loaders.encoders import GREY8, mat, npy, pillow, sound_files
from refusing import refused

from segbench import DataError
from segbench.loaders.images import decode, read_header
from segbench.loaders.source import read_bytes

SOUND = sound_files()


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", SOUND)
def test_a_header_tells_what_decoding_gives(name, tmp_path):
    path = written(tmp_path, name, SOUND[name][0])
    header = read_header(path, "prediction")
    decoded = decode(read_bytes(path), path, role="prediction").array
    assert header.size == path.stat().st_size
    assert not header.odd
    assert header.shape == decoded.shape
    same = {"float16": "float32"}.get(header.dtype, header.dtype)
    assert same in ("", decoded.dtype.name) or decoded.dtype == np.float64  # colour turned to grey


@pytest.mark.parametrize("name", [n for n in SOUND if n.endswith((".png", ".jpg", ".npy", ".npz", ".tif", ".mat"))])
def test_what_is_cut_short_looks_odd_or_has_the_same_size(name, tmp_path):
    path = written(tmp_path, name, SOUND[name][0][:-30])
    header = read_header(path, "prediction")
    assert header.odd or header.shape == read_header(written(tmp_path, f"_{name}", SOUND[name][0]), "prediction").shape


@pytest.mark.parametrize("extension", ["png", "jpg", "gif", "tif", "npy", "npz", "mat", "pgm"])
def test_garbage_is_odd_and_no_error(extension, tmp_path):
    assert read_header(written(tmp_path, f"a.{extension}", b"garbage" * 99), "ground truth").odd


def test_a_ucm2_is_known_and_a_cell_left_open(tmp_path):
    double = written(tmp_path, "a.mat", mat(ucm2=np.zeros((7, 9))))
    assert read_header(double, "prediction").doubled
    cells = np.empty((1, 2), object)
    cells[0, 0] = cells[0, 1] = GREY8
    assert read_header(written(tmp_path, "b.mat", mat(segs=cells)), "prediction").shape is None


@pytest.mark.parametrize(("make", "kind"), [(None, "missing"), (b"", "empty")])
def test_what_cannot_be_opened_is_said(make, kind, tmp_path):
    path = tmp_path / "a.png"
    if make is not None:
        path.write_bytes(make)
    with refused(kind, DataError, path=str(path)):
        read_header(path, "prediction")


def test_several_annotators_in_a_file_of_pickles_are_only_odd(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array([{"a": 1}], object), allow_pickle=True)
    assert read_header(path, "prediction").odd
    assert not read_header(written(tmp_path, "b.npy", npy(GREY8)), "prediction").odd
    assert not read_header(written(tmp_path, "b.png", pillow(GREY8, "PNG")), "prediction").odd
