"""MATLAB files: against scipy, which also writes them, and the layouts of the field."""

import io
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from refusing import parts_of, refused

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.matlab import annotators, categories, one_map, read_mat, segs, ucm2

from .encoders import FLOAT32, GREY8, GREY16, MASK, cell, mat

HERE = Path("folder/a.mat")
LABELS = (GREY8 % 5 + 1).astype(np.uint16)


def annotator(shift=0):
    return {"Boundaries": np.roll(MASK, shift), "Segmentation": np.roll(LABELS, shift)}


def read(**variables):
    return read_mat(mat(**variables), HERE)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("kind", ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_numbers_as_scipy_reads_them(kind, compressed):
    array = GREY8.astype("?" if kind == "bool" else kind)
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"a": array, "name": "text", "none": np.empty((0, 0))}, do_compression=compressed)
    found = read_mat(stream.getvalue(), HERE)
    expected = scipy.io.loadmat(io.BytesIO(stream.getvalue()))
    np.testing.assert_array_equal(found["a"], expected["a"])
    assert found["a"].dtype == array.dtype
    assert found["name"] is None  # text is not read
    assert found["none"].shape == (0, 0)


def test_doubles_that_matlab_stores_as_small_integers():
    def element(kind, content):
        return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)

    small = struct.pack("<HHBBBB", 2, 4, 1, 2, 3, 4)
    for values in (element(2, bytes([1, 2, 3, 4])), small):
        body = element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", 2, 2)) + element(1, b"a") + values
        header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
        data = header + element(14, body)
        packed = zlib.compress(element(14, body))
        for whole in (data, header + struct.pack("<II", 15, len(packed)) + packed):
            array = read_mat(whole, HERE)["a"]
            assert array.dtype == np.float64
            np.testing.assert_array_equal(array, scipy.io.loadmat(io.BytesIO(whole))["a"])
            np.testing.assert_array_equal(array, [[1, 3], [2, 4]])


def test_big_endian_files():
    def element(kind, content):
        return struct.pack(">II", kind, len(content)) + content + bytes(-len(content) % 8)

    body = element(6, struct.pack(">II", 11, 0)) + element(5, struct.pack(">ii", 1, 3)) + element(1, b"big")
    data = (
        b"MATLAB 5.0 MAT-file".ljust(124)
        + b"\x01\x00MI"
        + element(14, body + element(4, struct.pack(">3H", 1, 2, 500)))
    )
    found = read_mat(data, HERE)["big"]
    np.testing.assert_array_equal(found, scipy.io.loadmat(io.BytesIO(data))["big"])
    assert found.dtype == np.uint16
    assert found.dtype.isnative


def test_files_of_version_4_are_refused_with_the_remedy():
    for array in (FLOAT32, GREY8, np.eye(3)):
        stream = io.BytesIO()
        scipy.io.savemat(stream, {"a": array}, format="4")
        with refused("other-version", DataError, version="4"):
            read_mat(stream.getvalue(), HERE)
    with refused("damaged", DataError):
        read_mat(bytes(600), HERE)


def test_cells_and_structs_within_each_other_as_scipy_reads_them():
    inner = {"x": cell(GREY8, "t", cell(MASK)), "y": np.float32(2)}
    found = read(a=cell(inner, inner), b=np.array([(1, "u"), (2, "v")], [("n", "O"), ("s", "O")]))
    np.testing.assert_array_equal(found["a"][0][0]["x"][0], GREY8)
    np.testing.assert_array_equal(found["a"][1][0]["x"][2][0], MASK)
    assert [int(item["n"].item()) for item in found["b"]] == [1, 2]


@pytest.mark.parametrize("dtype", [bool, np.float64])
def test_sparse_matrices_are_filled(dtype):
    dense = np.where(GREY8 > 200, GREY8, 0).astype(dtype)
    found = read(a=scipy.sparse.csc_matrix(dense), empty=scipy.sparse.csc_matrix((3, 4)))
    np.testing.assert_array_equal(found["a"], dense)
    np.testing.assert_array_equal(found["empty"], np.zeros((3, 4)))


def test_a_cell_of_annotators():
    contents = read(groundTruth=cell(annotator(), annotator(1), annotator(2)))
    for part in ("Boundaries", "Segmentation"):
        maps = annotators(contents, HERE, part)
        assert len(maps) == 3
        for shift, found in enumerate(maps):
            np.testing.assert_array_equal(found, annotator(shift)[part])
            assert found.dtype == annotator()[part].dtype
            assert found.flags.c_contiguous


def test_a_struct_in_place_of_the_cell():
    (found,) = annotators(read(groundTruth=annotator(3)), HERE, "Segmentation")
    np.testing.assert_array_equal(found, annotator(3)["Segmentation"])


def test_sparse_boundaries():
    (found,) = annotators(read(groundTruth=cell({"Boundaries": scipy.sparse.csc_matrix(MASK)})), HERE, "Boundaries")
    np.testing.assert_array_equal(found, MASK)


def test_ground_truth_that_is_built_otherwise():
    for contents, names in [(read(other=GREY8), ("other",)), (read(groundTruth=GREY8), ("groundTruth",))]:
        with refused("missing-variable", DataError, variable="groundTruth", names=names):
            annotators(contents, HERE, "Segmentation")
    for contents, number in [
        (read(groundTruth=cell({"Boundaries": MASK})), 1),
        (read(groundTruth=cell(annotator(), GREY8)), 2),
        (read(groundTruth=cell({"Segmentation": cell(LABELS, LABELS)})), 1),
    ]:
        with refused("no-map", DataError, path=str(HERE), each="annotator", number=number) as caught:
            annotators(contents, HERE, "Segmentation")
        assert caught.value.values["otherwise"].values["part"] == "Segmentation"
    for contents, sizes in [
        (read(groundTruth=cell()), []),
        (read(groundTruth=cell(annotator(), {"Segmentation": LABELS.T.copy()})), [(19, 23), (23, 19)]),
    ]:
        with refused("several-sizes", DataError) as caught:
            annotators(contents, HERE, "Segmentation")
        assert [size.values["shape"] for size in parts_of(caught.value.values["sizes"], Message)] == sizes


def test_categories_that_are_built_otherwise():
    (found,) = categories(read(GTcls={"Boundaries": cell(GREY8 % 2)}), HERE)
    np.testing.assert_array_equal(found, GREY8 % 2 == 1)
    empty = np.zeros((0, 0), [("Boundaries", "O")])
    for built in (empty, GREY8, {"Boundaries": cell()}, {"Boundaries": GREY8}):
        with refused("missing-variable", DataError, variable="Boundaries"):
            categories(read(GTcls=built), HERE)
    with refused("no-map", DataError, each="category", number=2):
        categories(read(GTcls={"Boundaries": cell(GREY8, "text")}), HERE)
    with refused("several-maps", DataError, shape=(3, 4, 5), dtype="bool", role="ground truth"):
        categories(read(GTcls={"Boundaries": cell(np.zeros((3, 4, 5)))}), HERE)


def test_ultrametric_contour_maps():
    array = np.zeros((39, 47))
    array[3, 4] = 0.25
    np.testing.assert_array_equal(ucm2(read(ucm2=array), HERE), array)
    with refused("even-sides", DataError, shape=(38, 47)):
        ucm2(read(ucm2=array[1:]), HERE)
    with refused("missing-variable", DataError, variable="ucm2", names=("ucm",)):
        ucm2(read(ucm=array), HERE)


def test_sets_of_segmentations():
    found = segs(read(segs=cell(LABELS, LABELS * 2)), HERE)
    np.testing.assert_array_equal(found, [LABELS, LABELS * 2])
    for contents in (read(segs=cell()), read(segs=LABELS)):
        with refused("missing-variable", DataError, variable="segs"):
            segs(contents, HERE)
    with refused("no-map", DataError, path=str(HERE), each="segmentation", number=2):
        segs(read(segs=cell(LABELS, "text")), HERE)
    with refused("several-sizes", DataError) as caught:
        segs(read(segs=cell(LABELS, LABELS.T.copy())), HERE)
    assert [size.values["shape"] for size in parts_of(caught.value.values["sizes"], Message)] == [(19, 23), (23, 19)]


def test_the_one_map_among_other_variables():
    contents = read(LabelMap=GREY16, scale=2.0, name="text", ids=cell("a"))
    np.testing.assert_array_equal(one_map(contents, HERE, "ground truth").array, GREY16)
    both = read(prediction=FLOAT32, labels=GREY8)
    np.testing.assert_array_equal(one_map(both, HERE, "prediction").array, FLOAT32)
    with refused("several-arrays", DataError, count=2, names=("labels", "prediction")):
        one_map(both, HERE, "ground truth")
    with refused("several-arrays", DataError, count=0, names=("groundTruth",)):
        one_map(read(groundTruth=cell(annotator())), HERE, "prediction")
    for contents, role in [
        (read(groundTruth=cell(annotator())), "ground truth"),
        (read(segs=cell(LABELS)), "prediction"),
    ]:
        with refused("several-arrays", DataError, count=0):
            one_map(contents, HERE, role)
    with refused("damaged", DataError, reason="complex numbers, expected real ones"):
        read(a=GREY8 * 1j)


def test_files_that_cannot_be_read():
    sound = mat(groundTruth=cell(annotator()))
    for data, kind, values in [
        (b"MATLAB 7.3 MAT-file, Platform: GLNXA64", "other-version", {"version": "7.3 (HDF5)"}),
        (b"\x89HDF\r\n\x1a\n" + bytes(600), "other-version", {"version": "7.3 (HDF5)"}),
        (sound[:100], "damaged", {}),
        (sound[:-9], "damaged", {"reason": "459 bytes where 468 are declared"}),
        (sound[:128], "missing-variable", {}),
    ]:
        with refused(kind, DataError, path=str(HERE), **values):
            read_mat(data, HERE)


def test_declared_sizes_allocate_nothing():
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"c": cell(1.0, 2.0), "t": "text", "z": np.zeros((3, 5))})
    data = stream.getvalue()
    for dims in [(1, 2), (1, 4), (3, 5)]:
        at = data.index(struct.pack("<IIii", 5, 8, *dims)) + 8
        for huge in [(2**31 - 1, 2**31 - 1), (1, 2**31 - 1), (-1, 5)]:
            changed = data[:at] + struct.pack("<ii", *huge) + data[at + 8 :]
            with refused("damaged", DataError):
                read_mat(changed, HERE)


def test_a_variable_is_no_larger_than_the_bound(monkeypatch):
    data = mat(a=np.zeros((300, 300)))
    assert read_mat(data, HERE)["a"].shape == (300, 300)
    monkeypatch.setattr("segbench.loaders.matlab.MAX_PIXELS", 10_000)
    with refused("damaged", DataError, reason="variable 'a' of dimensions (300, 300)"):
        read_mat(data, HERE)


def test_sparse_matrices_with_impossible_indices():
    stream = io.BytesIO()
    dense = np.zeros((4, 3))
    dense[1, 1], dense[3, 2] = 5, 7
    scipy.io.savemat(stream, {"a": scipy.sparse.csc_matrix(dense)})
    data = stream.getvalue()
    rows, starts = struct.pack("<ii", 1, 3), struct.pack("<iiii", 0, 0, 1, 2)
    assert data.count(rows) == data.count(starts) == 1
    for old, new in [
        (rows, struct.pack("<ii", 1, 4)),
        (rows, struct.pack("<ii", -1, 3)),
        (starts, struct.pack("<iiii", 0, 2, 1, 2)),
        (starts, struct.pack("<iiii", 0, 0, 1, 9)),
        (starts, struct.pack("<iiii", 1, 1, 1, 2)),
        (starts, struct.pack("<iiii", 0, 308481, 0, 0)),
    ]:
        with refused("damaged", DataError):
            read_mat(data.replace(old, new), HERE)


BSDS = os.environ.get("SEGBENCH_BSDS500")


@pytest.mark.skipif(not BSDS, reason="SEGBENCH_BSDS500 does not name a folder with BSDS500")
def test_bsds500_as_scipy_reads_it():
    truths = sorted(Path(BSDS).rglob("groundTruth/**/*.mat"))[:20]
    assert truths
    for path in truths:
        expected = scipy.io.loadmat(path)["groundTruth"]
        contents = read_mat(path.read_bytes(), path)
        for part in ("Boundaries", "Segmentation"):
            maps = annotators(contents, path, part)
            assert len(maps) == expected.shape[1]
            for number, found in enumerate(maps):
                np.testing.assert_array_equal(found, expected[0, number][part][0, 0])
    for path in sorted(Path(BSDS).rglob("ucm2/**/*.mat"))[:5]:
        np.testing.assert_array_equal(ucm2(read_mat(path.read_bytes(), path), path), scipy.io.loadmat(path)["ucm2"])
    for path in sorted(Path(BSDS).rglob("*segs/**/*.mat"))[:5]:
        found = segs(read_mat(path.read_bytes(), path), path)
        np.testing.assert_array_equal(np.stack(found), np.stack(list(scipy.io.loadmat(path)["segs"][0])))
