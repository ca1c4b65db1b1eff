import shutil

import imageio.v3 as iio
import numpy as np
import pytest
from cases import write_folder
from refusing import insist, within

import segbench as library

RIDGE = (np.tile(np.exp(-((np.arange(40) - 20) ** 2) / 18), (30, 1)) * 255).astype(np.uint8)


@pytest.fixture
def thick(tmp_path):
    return write_folder(tmp_path / "in", {"a.png": RIDGE, "deep/b.npy": RIDGE / 255})


def test_ridges_are_written_as_the_library_finds_them(segbench, thick, tmp_path):
    assert segbench("nms", thick, tmp_path / "out", "--radius", 2).code == 0
    expected = np.rint(library.nms(RIDGE, radius=2) * 255).astype(np.uint8)
    for name in ("a.png", "deep/b.png"):
        np.testing.assert_array_equal(iio.imread(tmp_path / "out" / name), expected)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(RIDGE) / 3


def test_archives_are_read_as_folders(segbench, thick, tmp_path):
    shutil.make_archive(str(tmp_path / "maps"), "zip", thick)
    for place, target in ((thick, "out"), (tmp_path / "maps.zip", "unpacked")):
        assert segbench("nms", place, tmp_path / target).code == 0
    for name in ("a.png", "deep/b.png"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "unpacked" / name).read_bytes()


def test_sixteen_bits_and_white_background(segbench, tmp_path):
    inverted = write_folder(tmp_path / "in", {"a.png": 255 - RIDGE})
    assert segbench("nms", inverted, tmp_path / "out", "--invert", "--bits", 16).code == 0
    written = iio.imread(tmp_path / "out" / "a.png")
    np.testing.assert_array_equal(written, np.rint(library.nms(RIDGE) * 65535).astype(np.uint16))


@pytest.mark.parametrize("inverted", [False, True])
def test_wide_integers_are_the_levels_that_run_takes_them_for(segbench, tmp_path, inverted):
    levels = (RIDGE / 255 * (2**31 - 1)).astype(np.int32)
    given = write_folder(tmp_path / "in", {"a.npy": 2**31 - 1 - levels if inverted else levels})
    answer = segbench("nms", given, tmp_path / "out", *["--invert"] * inverted)
    assert answer.code == 0
    assert "2147483647" in answer.err
    expected = np.rint(library.nms(levels / (2**31 - 1)) * 255).astype(np.uint8)
    np.testing.assert_array_equal(iio.imread(tmp_path / "out" / "a.png"), expected)


def test_a_bad_map_is_named_and_the_others_are_written(segbench, thick, tmp_path):
    write_folder(thick, {"c.npy": np.full((4, 4), np.nan), "d.npy": RIDGE / 100})
    answer = segbench("nms", thick, tmp_path / "out")
    assert answer.code == 1
    insist(answer.error, "unusable-files", path=str(thick), files=2)
    assert [failed.values["path"] for failed in answer.error.values["failures"].values.values()] == [
        str(thick / "c.npy"),
        str(thick / "d.npy"),
    ]
    assert within(answer.error.values["failures"].values["part1"].values["what"], "outside") == {
        "most": pytest.approx(2.48)
    }
    assert (tmp_path / "out" / "a.png").exists()
    assert not (tmp_path / "out" / "d.png").exists()


def test_the_folder_read_from_is_not_written_to(segbench, thick):
    answer = segbench("nms", thick, thick)
    assert answer.code == 2
    insist(answer.error, "input-folder")


def test_a_place_that_cannot_be_written_is_named(segbench, thick, tmp_path):
    (tmp_path / "taken").write_text("a file")
    answer = segbench("nms", thick, tmp_path / "taken")
    assert answer.code == 1
    insist(answer.error, "unwritable", path=str(tmp_path / "taken" / "a.png"), reason="File exists")
