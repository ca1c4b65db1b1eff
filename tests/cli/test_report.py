import html
import re

from methods import write_methods
from refusing import insist

from segbench import load_results


def test_report(segbench, tmp_path):
    folders = write_methods(tmp_path, {"one": 0.5, "two": 2}, images=4)
    results, page = tmp_path / "r.segbench", tmp_path / "r.html"
    segbench("pixels", *folders, "-o", results)
    answer = segbench("report", results, "-o", page, "--title", "Mine & yours", "--panels", 1, "--no-intervals")
    assert answer.code == 0
    text = page.read_text()
    assert "<h1>Mine &amp; yours</h1>" in text
    assert all(html.escape(result.signature) in text for result in load_results(results))


def test_a_name_that_is_no_page(segbench, tmp_path):
    folders = write_methods(tmp_path, {"one": 1}, images=2)
    results = tmp_path / "r.segbench"
    segbench("pixels", *folders, "-o", results)
    answer = segbench("report", results, "-o", tmp_path / "r.txt")
    assert answer.code == 2
    insist(answer.error, "other-suffix")


def test_images_that_have_gone_are_told(segbench, told, tmp_path):
    gt, one = write_methods(tmp_path, {"one": 1}, images=2)
    results = tmp_path / "r.segbench"
    segbench("pixels", gt, one, "-o", results)
    one.rename(tmp_path / "elsewhere")
    answer = segbench("report", results, "-o", tmp_path / "r.html", "--no-intervals")
    assert answer.code == 0
    (note,) = told
    assert re.findall(r"\d+ of \d+", str(note))[0].split()[::2] == ["2", "2"]
    assert str(one) in str(note)
