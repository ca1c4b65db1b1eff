import json

import numpy as np
import pytest
import scipy.io
from cases import write_folder
from refusing import insist, within

COARSE = np.repeat([1, 2], 8)[np.newaxis].repeat(12, axis=0).astype(np.uint8)
FINE = COARSE + 2 * (np.arange(12) >= 6)[:, np.newaxis].astype(np.uint8)


@pytest.fixture
def folders(tmp_path):
    """Ground truth, predictions as a folder of label maps an image, and the same as ``segs``."""
    truth = write_folder(tmp_path / "gt", {"a.png": FINE})
    scales = write_folder(tmp_path / "scales", {"a/1.png": COARSE, "a/2.png": FINE, "a/10.png": FINE * 0 + 1})
    cell = np.empty((1, 3), object)
    cell[0, :] = [COARSE, FINE, FINE * 0 + 1]
    (tmp_path / "segs").mkdir()
    scipy.io.savemat(tmp_path / "segs" / "a.mat", {"segs": cell})
    return truth, scales, tmp_path / "segs"


@pytest.mark.parametrize("protocol", [["regions"], ["boundaries", "--label-maps"]])
def test_a_folder_of_label_maps_counts_as_segs_do(segbench, folders, protocol):
    truth, scales, segs = folders
    summaries = []
    for folder, pattern in ((scales, ["--pred-pattern", "*/#"]), (segs, [])):
        answer = segbench(*protocol, truth, folder, *pattern, "--format", "json")
        assert answer.code == 0, answer.err
        summaries.append(json.loads(answer.out)["runs"][0]["summary"])
    assert summaries[0] == summaries[1]
    best = summaries[0]["covering_ods" if protocol[0] == "regions" else "ods_f"]
    assert best == pytest.approx(1)


def test_pixels_take_one_prediction(segbench, folders):
    truth, scales, _ = folders
    answer = segbench("pixels", truth, scales, "--pred-pattern", "*/#", "--positive", "4")
    assert answer.code == 1
    insist(answer.error, "check-failed", findings=("unreadable",))
    assert within(answer.error, "several-images") == {"images": 3}


def test_a_changed_scale_is_counted_again(segbench, folders, tmp_path):
    truth, scales, _ = folders
    line = ("regions", truth, scales, "--pred-pattern", "*/#", "-o", tmp_path / "r.segbench")
    before = json.loads(segbench(*line, "--format", "json").out)["runs"][0]["summary"]
    write_folder(scales, {"a/2.png": COARSE})
    after = json.loads(segbench(*line, "--format", "json").out)["runs"][0]["summary"]
    assert after["covering_ods"] < before["covering_ods"]
