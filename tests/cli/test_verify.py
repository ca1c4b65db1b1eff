import io
import json

import pytest
from refusing import insist
from rich.console import Console

from segbench import Check
from segbench.verification.checks import expected
from segbench.verification.shipped import paper_parts
from segbench.verification.terminal import show_part, show_verdict


def printed_checks(checks, width):
    console = Console(file=io.StringIO(), width=width)
    show_part(checks, console)
    show_verdict(checks, console)
    return console.file.getvalue()


def check(**fields):
    known = {"part": "A paper", "group": "table 1", "what": "AUC-PR, exact", "source": "section 4"}
    return Check(**known | {"expected": 0.0801748, "got": 0.08017484, "allowed": 5e-8} | fields)


def test_a_wrong_expectation_makes_exit_1_and_is_named_last(segbench, monkeypatch):
    monkeypatch.setattr("segbench.verification.verifying.parts", lambda **_places: paper_parts())
    case = expected("papers")["paper"][0]["case"][-1]
    monkeypatch.setitem(case["metrics"][0], "is", "1/2")
    answer = segbench("verify", "-j", 1, "--progress", "none")
    assert answer.code == 1
    *_, off, verdict = answer.out.splitlines()
    assert "figure 7, curve II: auc_roc: expected .5, got .875" in off
    done, _, every = verdict.split()[:3]
    assert int(every) - int(done) == 1
    assert answer.err == ""


def test_json_holds_every_check(segbench, monkeypatch):
    monkeypatch.setattr("segbench.verification.verifying.parts", lambda **_places: paper_parts())
    answer = segbench("verify", "--format", "json", "-j", 1)
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["schema"] == 1
    assert document["off"] == document["not_checked"] == 0
    assert document["as_expected"] == len(document["checks"]) >= 50
    first = document["checks"][0]
    assert list(first) == [
        *("part", "group", "what", "state", "expected", "got", "difference", "allowed", "source"),
        *("note", "missing"),
    ]
    assert abs(first["difference"]) <= first["allowed"]


@pytest.mark.parametrize("arguments", [("--format", "csv"), ("-j", "0"), ("somewhere",), ("--bsds",)])
def test_wrong_arguments(segbench, arguments):
    assert segbench("verify", *arguments).code == 2


@pytest.mark.parametrize(
    ("option", "kind"),
    [("--bsds500", "no-known-values"), ("--curves", "no-results"), ("--saliency", "no-known-values")],
)
def test_a_folder_without_anything_is_said_before_anything_is_derived(segbench, tmp_path, option, kind):
    answer = segbench("verify", option, tmp_path)
    assert (answer.code, answer.out) == (1, "")
    insist(answer.error, kind, path=str(tmp_path))


@pytest.mark.parametrize("width", [80, 120])
def test_lines_of_the_table_fit(width):
    text = printed_checks(
        [check(), check(what="true positives at threshold .25", expected=544, got=544, allowed=0)], width
    )
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert " .0801748 .08017484 4e-08 5e-08 section 4" in " ".join(text.split())
    assert lines[-1] == "2 of 2 as expected"


def test_what_is_not_checked_is_no_failure_and_says_why():
    lost = check(got=float("nan"), allowed=float("nan"), missing="17 of 200 images lie there")
    text = printed_checks([check(), lost], 80)
    assert "not checked, table 1: 17 of 200 images lie there" in text
    assert text.splitlines()[-1] == "1 of 1 as expected, 1 not checked"


def test_names_are_no_markup():
    assert "[red]me[/red] [/]" in printed_checks([check(group="[red]me[/red] [/]")], 80)
