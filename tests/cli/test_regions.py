import json

import numpy as np
import pytest
from cases import write_folder
from refusing import insist

TRUTH = np.array([[0, 1, 2, 2]] * 2, np.uint16)
HALVES = np.array([[1, 1, 2, 2]] * 2, np.uint8)


@pytest.fixture
def folders(tmp_path):
    truth = write_folder(tmp_path / "gt", {"a.1.png": TRUTH, "a.2.png": TRUTH + 1, "b.1.png": TRUTH})
    good = write_folder(tmp_path / "good", {"a.png": TRUTH.astype(np.uint8), "b.npy": TRUTH})
    halves = write_folder(tmp_path / "halves", {"a.png": HALVES, "b.tif": HALVES})
    return truth, good, halves


REGIONS = ("--gt-pattern", "*.#")


def runs(answer):
    assert answer.code == 0, answer
    return json.loads(answer.out)["runs"]


def test_run(segbench, folders):
    good, halves = runs(segbench("regions", *folders, *REGIONS, "--format", "json"))
    assert list(good["summary"])[:4] == ["covering_ods", "covering_ods_threshold", "covering_ois", "covering_best"]
    assert good["summary"]["covering_ods"] == good["summary"]["pri_ods"] == 1
    assert good["summary"]["voi_ods"] == good["summary"]["are_ods"] == 0
    # Two regions of two pixels are covered by half, one of four wholly.
    assert halves["summary"]["covering_ods"] == pytest.approx(0.75)
    assert "protocol:regions|thresholds:99|void:none|images:2" in good["signature"]


def test_void(segbench, folders):
    (run,) = runs(segbench("regions", folders[0], folders[2], *REGIONS, "--void", "0", "--format", "json"))
    assert run["summary"]["covering_ods"] == pytest.approx((8 + 6 + 6 - 2) / 20)
    assert "|void:0|" in run["signature"]
    assert segbench("regions", folders[0], folders[2], *REGIONS, "--void", "0.5").code == 2


def test_show_compare_plot_export(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    assert segbench("regions", *folders, *REGIONS, "-o", kept, "--intervals", "95").code == 0
    table = segbench("show", kept).out
    assert table.index("good") < table.index("halves")
    assert "- cover -" in table
    assert "covering_of_prediction" in segbench("show", kept, "--per-image", "--format", "csv").out
    assert segbench("show", kept, "--format", "latex").code == 0
    assert "the best cover ODS" in segbench("compare", kept).out
    assert segbench("plot", kept, "-o", tmp_path / "c.png").code == 0
    refused = segbench("plot", kept, "-o", tmp_path / "c.png", "--kind", "roc")
    assert refused.code == 2
    insist(refused.error, "no-plot", protocol="regions", plot="ROC curve", settings={"kind": "f"})
    assert segbench("export", kept, "--bsds", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "halves" / "eval_cover.txt").exists()
