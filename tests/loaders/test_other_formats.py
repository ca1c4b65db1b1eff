"""Files of formats that other fields use: the message names the format, and the page where the way out is."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from cases import write_folder
from noted import of_kind
from refusing import parts_of, refused, within

from segbench import Objects, evaluate
from segbench.core.messages import Message

PAGE = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text("utf-8")
POINTER = "see 'Files of other formats' in docs/inputs.md"
TITLES = {
    ".dcm": "DICOM files are not read: convert each series to a volume (dcm2niix",
    ".mgz": "volumes of FreeSurfer are not read",
    ".json": "JSON annotations other than those of COCO and LabelMe are not read",
    ".geojson": "GeoJSON annotations",
    ".h5": "HDF5 files are not read",
    ".hdf5": "HDF5 files are not read",
    ".txt": "text annotations",
    ".svs": "whole-slide images are not read",
    ".exr": "OpenEXR images are not read",
    ".zarr": "Zarr and N5 arrays are not read",
}


@pytest.fixture
def truth(tmp_path):
    return write_folder(tmp_path / "gt", {"a.png": np.eye(9, dtype=np.uint8) * 255})


def file_of(folder, ending):
    """Write what might be such a file; of Zarr, the folder that it is."""
    path = folder / f"a{ending}"
    chunk = path / "0" / "0.0" if ending == ".zarr" else path
    chunk.parent.mkdir(parents=True)
    chunk.write_bytes(b"some bytes")
    return path


@pytest.mark.parametrize("ending", TITLES)
@pytest.mark.parametrize("verb", ["pixels", "check"])
def test_a_folder_of_them(segbench, truth, tmp_path, verb, ending):
    file_of(tmp_path / "pred", ending)
    answer = segbench(verb, truth, tmp_path / "pred")
    said = " ".join((answer.out + answer.err).split())
    assert answer.code == 1
    assert TITLES[ending] in said
    assert POINTER in said
    assert f"only {ending} (1)" in said
    assert f"`{ending}`" in PAGE


@pytest.mark.parametrize("ending", [ending for ending in TITLES if ending != ".zarr"])
def test_a_single_file(segbench, truth, tmp_path, ending):
    file = file_of(tmp_path / "pred", ending)
    for place in (truth / "a.png", truth):
        answer = segbench("pixels", place, file)
        assert answer.code == 1
        assert TITLES[ending] in answer.err
        assert POINTER in answer.err


def test_the_page_has_the_section_that_messages_name():
    assert "\n## Files of other formats\n" in PAGE


def test_regions_of_imagej_in_archives(segbench, truth, tmp_path):
    folder = tmp_path / "rois"
    folder.mkdir()
    for name in ("a", "b"):
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr("0001-0002.roi", b"Iout")
    answer = segbench("objects", truth, folder / "a.zip")
    assert within(answer.error, "other-format")["format"] == "regions of ImageJ (ROI files)"
    with refused("unusable-archives", path=str(folder), count=2, total=2) as raised:
        evaluate(truth, folder, Objects())
    formats = of_kind(parts_of(raised.value, Message), "other-format")
    assert [said.values["format"] for said in formats] == ["regions of ImageJ (ROI files)"] * 2
    assert within(segbench("objects", truth, folder).error, "unusable-archives") == {"count": 2, "total": 2}


def test_damaged_archives_in_a_folder(segbench, truth, tmp_path):
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "a.zip").write_bytes(b"PK\3\4 cut")
    answer = segbench("check", truth, tmp_path / "shards")
    assert answer.code == 1
    assert "-> replace or remove these archives" in answer.out
