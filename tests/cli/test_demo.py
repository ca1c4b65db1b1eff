import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_whoever_reads_one_line_of_it_has_the_page(tmp_path):
    program = "from segbench.cli.main import main; main()"
    demo = subprocess.Popen(
        [sys.executable, "-c", program, "demo", "-o", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    demo.stdout.readline()
    demo.stdout.close()
    demo.wait(100)
    assert {path.name for path in tmp_path.iterdir()} == {"results.segbench", "report.html"}


def test_the_demo_makes_figures_and_a_page(segbench, tmp_path):
    answer = segbench("demo", "-o", tmp_path / "demo")
    assert answer.code == 0
    assert answer.out.splitlines()[-2] == f"Report: {tmp_path / 'demo' / 'report.html'}"
    assert "random_walker" in (tmp_path / "demo" / "report.html").read_text()
    runs = json.loads(segbench("show", tmp_path / "demo" / "results.segbench", "--format", "json").out)["runs"]
    assert len(runs) >= 3
    assert all(run["images"] >= 8 and run["failed"] == 0 for run in runs)
    figures = [run["summary"]["ods_f"] for run in runs]
    assert max(figures) - min(figures) > 0.1


def test_no_place_to_write_is_said(segbench, tmp_path):
    (tmp_path / "file").write_text("")
    answer = segbench("demo", "-o", tmp_path / "file")
    assert answer.code == 1
    assert str(tmp_path / "file") in answer.err
