import os
from pathlib import Path

import numpy as np
import pytest

from segbench import Regions, evaluate, export_bsds
from segbench.report.documents import document
from segbench.report.tables import TableSettings

BSDS500 = os.environ.get("SEGBENCH_BSDS500")
FILES = ["eval_RI_VOI.txt", "eval_RI_VOI_thr.txt", "eval_cover.txt", "eval_cover_img.txt", "eval_cover_th.txt"]
IMAGES = ("2018", "3063", "5096", "6046", "8068")


@pytest.fixture
def result(tmp_path):
    truth, halves = np.array([[1, 1, 2, 2]], np.uint8), np.array([[1, 1, 1, 2]], np.uint8)
    for folder, array in (("gt", truth), ("pred", halves)):
        (tmp_path / folder).mkdir()
        for name in ("a", "b"):
            np.save(tmp_path / folder / f"{name}.npy", array)
    return evaluate(tmp_path / "gt", tmp_path / "pred", Regions())


def test_files_by_hand(result, tmp_path):
    assert export_bsds([result], tmp_path / "out") == [tmp_path / "out"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    # Overlaps of 2 / 3 and 1 / 2; the other way round weighted with areas of 3 and 1.
    cover = (tmp_path / "out" / "eval_cover.txt").read_text()
    assert cover == "         1   0.583333   0.583333   0.583333\n"
    images = (tmp_path / "out" / "eval_cover_img.txt").read_text()
    assert images == "         1          1   0.583333      0.625\n         2          1   0.583333      0.625\n"


def test_csv(result):
    header, row = document([result], "csv", TableSettings(rows="threshold")).splitlines()
    assert header.startswith("method,threshold,covering,covering_of_prediction,rand_index,voi,voi_split,voi_merge")
    assert row.startswith("pred,1.0,0.58333")


@pytest.mark.skipif(not BSDS500, reason="SEGBENCH_BSDS500 does not say where BSDS500 is")
@pytest.mark.parametrize(("test", "kind"), [("test_1", "ucm2"), ("test_4", "bench_segs"), ("test_5", "bench_segs")])
def test_official_examples_byte_for_byte(test, kind, tmp_path):
    root = Path(BSDS500)
    for name in IMAGES:
        for folder, there in (("gt", "groundTruth"), ("pred", kind)):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{name}.mat").write_bytes((root / there / f"{name}.mat").read_bytes())
    export_bsds([evaluate(tmp_path / "gt", tmp_path / "pred", Regions(thresholds=5))], tmp_path / "out")
    for file in FILES:
        assert (tmp_path / "out" / file).read_text() == (root / "official" / test / file).read_text(), file
