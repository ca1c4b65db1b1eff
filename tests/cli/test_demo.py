import json


def test_the_demo_makes_figures_and_pictures(segbench, tmp_path):
    answer = segbench("demo", "-o", tmp_path / "demo")
    assert answer.code == 0
    for picture in ("pr.png", "roc.png"):
        assert (tmp_path / "demo" / picture).read_bytes().startswith(b"\x89PNG")
    runs = json.loads(segbench("show", tmp_path / "demo" / "results.segbench", "--format", "json").out)["runs"]
    assert len(runs) >= 3
    assert all(run["images"] >= 8 and run["failed"] == 0 for run in runs)
    figures = [run["summary"]["ods_f"] for run in runs]
    assert max(figures) - min(figures) > 0.1


def test_no_place_to_write_is_said(segbench, tmp_path):
    (tmp_path / "file").write_text("")
    answer = segbench("demo", "-o", tmp_path / "file")
    assert answer.code == 1
    assert "cannot be made" in answer.err
