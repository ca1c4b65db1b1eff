"""Several results files in one table: methods as rows, data sets as groups of columns."""

import csv
import io
import json
import re

import pytest
from methods import write_methods
from refusing import insist
from rich.console import Console

from segbench import load_results
from segbench.report.tables import TableSettings
from segbench.report.terminal import show


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two data sets of pixels; the second lacks a method, and has a run of saliency."""
    import segbench

    root = tmp_path_factory.mktemp("sets")
    for name, methods in (("a", {"good": 3.0, "poor": 1.0}), ("b_2", {"poor": 1.0, "new": 2.0})):
        truth, *predictions = write_methods(root / name, methods, images=3)
        for prediction in predictions:
            segbench.evaluate(truth, prediction, results=root / f"{name}.segbench")
    segbench.evaluate(truth, predictions[0], "saliency", results=root / "b_2.segbench")
    return root


def words(text):
    return [line.split() for line in text.splitlines()]


def test_methods_are_rows_and_sets_are_groups(segbench, files):
    answer = segbench("show", files / "a.segbench", files / "b_2.segbench", "--metrics", "ods_f,auc_pr,mae")
    assert answer.code == 0, answer.err
    values = {}
    for name in ("a", "b_2"):
        alone = segbench("show", files / f"{name}.segbench", "--metrics", "ods_f,auc_pr", "--only", "protocol:pixels")
        values |= {(name, method): numbers for method, *numbers in words(alone.out)[1:3]}
    lines = words(answer.out)
    assert [word for word in lines[0] if word.strip("-")] == ["a", "b_2"]
    assert lines[1] == ["method", "ODS", "F", "AUC-PR", "ODS", "F", "AUC-PR"]
    assert lines[2] == ["good", *values["a", "good"], "-", "-"]
    assert lines[3] == ["poor", *values["a", "poor"], *values["b_2", "poor"]]
    # A protocol that one set has alone is a table of that set, which is named all the same.
    assert ["method", "b_2", "MAE"] in lines


def test_signatures_say_of_which_set(segbench, files, tmp_path):
    from segbench import evaluate

    truth, poor = write_methods(tmp_path / "other", {"poor": 1.0}, images=2)
    evaluate(truth, poor, results=tmp_path / "other.segbench")
    lines = words(segbench("show", files / "a.segbench", tmp_path / "other.segbench").out)
    assert [line[0] for line in lines if line[-1].startswith("protocol:")] == ["a:", "other:"]


def test_sets_are_named_in_every_format(segbench, files):
    chosen = ("A_1=" + str(files / "a.segbench"), files / "b_2.segbench", "--metrics", "ods_f,ods_threshold")
    only = ("--only", "protocol:pixels")

    def shown(form):
        return segbench("show", *chosen, *only, "--format", form).out

    latex = re.sub(" +", " ", shown("latex")).splitlines()
    assert latex[2:5] == [
        r" & \multicolumn{2}{c}{A\_1} & \multicolumn{2}{c}{b\_2} \\",
        r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}",
        r"method & ODS F $\uparrow$ & ODS at & ODS F $\uparrow$ & ODS at \\",
    ]
    header, _, *rows = shown("markdown").splitlines()[:5]
    assert [cell.strip() for cell in header.split("|")[2:6]] == [
        *(r"A\_1 ODS F", r"A\_1 ODS at"),
        *(r"b\_2 ODS F", r"b\_2 ODS at"),
    ]
    # The best is that of its set.
    assert [row.count("**") // 2 for row in rows] == [1, 0, 1]
    read = {row["method"]: row for row in csv.DictReader(io.StringIO(shown("csv")))}
    assert read["good"]["b_2:ods_f"] == ""
    runs = json.loads(shown("json"))["runs"]
    assert [run["set"] for run in runs] == ["A_1", "A_1", "b_2", "b_2"]
    assert float(read["poor"]["A_1:ods_f"]) == next(run["summary"]["ods_f"] for run in runs if run["method"] == "poor")


def test_intervals_belong_to_their_set_and_notes_on_all_sets_are_said_once(segbench, files, tmp_path):
    answer = segbench("show", files / "a.segbench", files / "b_2.segbench", "--metrics", "ods_f", "--intervals", "95",
                      "--only", "protocol:pixels")  # fmt: skip
    assert re.search(r"^poor +\.\d{4} +\.\d{4}\n  95 % low +\.\d{4} +\.\d{4}\n", answer.out, re.MULTILINE)
    assert answer.out.splitlines().count("3 images: intervals over fewer than 10 are unreliable") == 1
    truth, poor = write_methods(tmp_path / "more", {"poor": 1.0}, images=4)
    segbench("pixels", truth, poor, "-o", tmp_path / "more.segbench")
    both = files / "a.segbench", tmp_path / "more.segbench"
    answer = segbench("show", *both, "--intervals", "95")
    assert "\na: 3 images: intervals over fewer than 10" in answer.out
    assert "\nmore: 4 images: intervals over fewer than 10" in answer.out


def test_runs_of_one_method_match_those_of_other_sets(segbench, files, tmp_path):
    truth, poor = write_methods(tmp_path / "c", {"poor": 1.0}, images=3)
    for options in ([], ["--invert"]):
        segbench("pixels", truth, poor, *options, "-o", tmp_path / "c.segbench")
    chosen = (files / "a.segbench", tmp_path / "c.segbench", "--metrics", "ods_f")
    rows = {line[0] + line[1]: line[2:] for line in words(segbench("show", *chosen).out) if line[0] == "poor"}
    assert set(rows) == {"poor(invert:no)", "poor(invert:yes)"}
    assert "-" not in rows["poor(invert:no)"]
    assert rows["poor(invert:yes)"][0] == "-"
    table = csv.DictReader(io.StringIO(segbench("show", *chosen, "--format", "csv").out))
    assert sorted(row["method"] for row in table if row["a:ods_f"] == "") == ["poor (invert:yes)"]


@pytest.mark.parametrize(("sets", "first"), [("AB", ["AB"]), ("ABCDE", ["AB", "CD", "E"])])
def test_a_narrow_terminal_shows_the_main_metrics_of_all_sets_and_then_the_others_of_each(files, sets, first):
    results = load_results(files / "a.segbench")
    drawn = [result.intervals(replicates=9) for result in results]
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system=None)
    named = [name for name in sets for _ in results]
    show(results * len(sets), console, TableSettings(intervals=drawn * len(sets), sets=named))
    table = console.file.getvalue().partition("ODS: best F")[0].splitlines()
    assert max(map(len, table)) <= 80
    blocks = ["".join(line.replace("-", "").split()) for line in table if line.startswith("   ")]
    assert blocks == [*first, *sets]
    headings = [line.split()[1:] for line in table if line.startswith("method")]
    middle = len(headings[0]) // 2
    assert headings[0][:middle] == headings[0][middle:]
    assert all(heading == headings[-1] for heading in headings[len(first) :])
    assert "hull*" in headings[-1]


def test_a_protocol_without_the_chosen_metrics_has_no_table(segbench, files):
    answer = segbench("show", files / "a.segbench", files / "b_2.segbench", "--metrics", "mae", "--format", "latex")
    assert answer.code == 0, answer.err
    assert answer.out.count(r"\begin{tabular}") == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "values"),
    [
        (("a.segbench", "b_2.segbench", "--per-image"), "several-files", {"option": "--per-image"}),
        (("a.segbench", "a.segbench"), "same-name", {"plural": "data sets", "name": "a"}),
        (("a.segbench", "=b_2.segbench"), "no-name", {"typed": "=b_2.segbench"}),
    ],
)
def test_what_has_no_meaning_is_refused(segbench, files, arguments, kind, values):
    answer = segbench(
        "show", *(files / text if text.endswith("segbench") and "=" not in text else text for text in arguments)
    )
    assert answer.code == 2
    insist(answer.error, kind, **values)


def test_a_set_without_the_method_has_no_columns(segbench, files):
    places = (files / "a.segbench", files / "b_2.segbench", "--metrics", "ods_f")
    for only, set_with, without in (("good", "a", "b_2"), ("new", "b_2", "a")):
        answer = segbench("show", *places, "--only", only)
        assert answer.code == 0
        assert only in [line[0] for line in words(answer.out)]
        assert set_with in answer.out.splitlines()[0]
        assert without not in answer.out.splitlines()[0]
        assert answer.err.startswith(f"{without} ")
    refused = segbench("show", *places, "--only", "absent")
    assert refused.code == 2
    insist(refused.error, "matches-nothing", typed="absent")
