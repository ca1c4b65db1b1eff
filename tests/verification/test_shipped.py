import re
import shutil
from pathlib import Path

import pytest
from refusing import refused

import segbench
from segbench.verification import shipped
from segbench.verification.checks import expected
from segbench.verification.shipped import paper_parts

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def checks():
    return segbench.verify()


def of(checks, group, what):
    (check,) = (check for check in checks if (check.group, check.what) == (group, what))
    return check


@pytest.mark.slow
def test_all_that_ships_is_as_expected(checks):
    assert [check for check in checks if check.state != "as expected"] == []
    assert len(checks) >= 150
    assert all(check.source and check.part and check.group for check in checks)


def test_no_two_checks_have_one_name(checks):
    names = [(check.part, check.group, check.what) for check in checks]
    assert len(set(names)) == len(names)


def test_what_the_papers_print_wrongly_is_said(checks):
    wrong = {
        ("figure 6", "auc_pr, exact"): r"prints \.031",
        ("figure 6", "auc_pr, linear"): r"prints \.50",
        ("figure 7, curve I", "auc_pr, exact"): r"prints \.514",
        ("tables 2 to 5", "precision at .75"): r"prints \.4",
        ("tables 6 to 9, as printed", "recall at .5"): "prints 4/8",
        ("score 1 of twenty samples", "auc_roc"): "19 labels",
    }
    for (group, what), words in wrong.items():
        assert re.search(words, of(checks, group, what).note)
    assert of(checks, "tables 2 to 5", "precision at .75").got == 1


def test_the_table_of_the_demo_is_that_of_the_readme():
    printed = {line.split()[0]: line.split()[1:] for line in README.read_text("utf-8").splitlines() if line}
    for method, figures in expected("demo")["methods"].items():
        assert printed[method] == figures


def test_every_folder_of_the_papers_is_used():
    used = {case["data"] for paper in expected("papers")["paper"] for case in paper["case"] if "data" in case}
    assert used == {path.name for path in (README.parent / "datasets" / "papers").iterdir()}


def test_a_wrong_expectation_is_off(monkeypatch):
    case = expected("papers")["paper"][0]["case"][0]
    monkeypatch.setitem(case["metrics"][1], "is", "0.376")
    off = [check for check in paper_parts()[0].checks() if check.state == "off"]
    assert [(check.group, check.what, check.expected) for check in off] == [
        ("table 1, from A to B", "precision at recall .30", 0.376)
    ]
    assert off[0].got == pytest.approx(0.375)


def test_what_cannot_be_computed_is_off():
    undefined = segbench.Check(part="", group="", what="", expected=1, got=float("nan"), allowed=0.1, source="")
    assert undefined.state == "off"


def test_a_shipped_image_that_is_damaged_is_named(monkeypatch, tmp_path):
    shutil.copytree(README.parent / "datasets" / "papers", tmp_path / "papers")
    (tmp_path / "papers" / "tables_2_to_5" / "predictions" / "table.png").write_bytes(b"no picture")
    monkeypatch.setattr(shipped, "shipped", lambda name: tmp_path / name)
    with refused("not-counted", segbench.DataError, path="predictions", count=1) as raised:
        paper_parts()[1].checks()
    (problem,) = raised.value.values["problems"]
    assert problem.values["path"] == str(tmp_path / "papers/tables_2_to_5/predictions/table.png")
