import os
from pathlib import Path

import numpy as np
import pytest

from segbench import DataError, Regions, evaluate, export_bsds, import_bsds, load_results
from segbench.report.documents import document
from segbench.report.tables import Listing

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


def test_what_is_exported_is_read_again(result, tmp_path):
    export_bsds([result], tmp_path / "mine")
    (read,) = import_bsds(tmp_path / "mine", results=tmp_path / "r.segbench")
    assert (read.method, read.protocol, read.notes, len(read.counts)) == ("mine", "regions", (), 0)
    for key in ("covering_ods", "covering_ods_threshold", "covering_best", "pri_ois", "voi_ods"):
        assert read.summary[key] == pytest.approx(result.summary[key], rel=1e-5)
    assert "no counts" in read.summary.undefined["are_ods"]
    (kept,) = load_results(tmp_path / "r.segbench")
    assert dict(kept.summary) == pytest.approx(dict(read.summary), nan_ok=True)
    assert kept.curve.voi.tolist() == read.curve.voi.tolist()
    export_bsds([kept], tmp_path / "again")
    for name in ("eval_cover.txt", "eval_cover_th.txt", "eval_RI_VOI.txt", "eval_RI_VOI_thr.txt"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "mine" / name).read_bytes()


def test_rows_that_say_otherwise_are_noted_and_damage_refused(result, tmp_path):
    export_bsds([result], tmp_path / "mine")
    (tmp_path / "mine" / "eval_cover.txt").write_text("1 0.6 0.6 0.6\n")
    assert "covering_ods is printed as 0.6, the best of its rows is 0.583333" in import_bsds(tmp_path / "mine")[0].notes
    (tmp_path / "mine" / "eval_cover.txt").write_text("1 1.6 0.6 0.6\n")
    with pytest.raises(DataError, match=r"covering_ods is 1\.6, expected 0 to 1"):
        import_bsds(tmp_path / "mine")
    (tmp_path / "mine" / "eval_cover.txt").write_text("1 0.6\n")
    with pytest.raises(DataError, match="line 1 has 2 numbers"):
        import_bsds(tmp_path / "mine")


def test_csv(result):
    header, row = document([result], "csv", Listing(rows="threshold")).splitlines()
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
