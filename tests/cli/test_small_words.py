"""Small untruths in what is printed: rounded thresholds, names in sentences, help as an error, names said twice."""

import re

import numpy as np
import pytest
from cases import write_folder
from refusing import insist

from segbench import evaluate, export_report

NAMES = ("0", "1", "2", "3", "4", "5")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Six images and two methods, whose names begin with a small letter."""
    root, rng = tmp_path_factory.mktemp("words"), np.random.default_rng(0)
    truth = {name: rng.random((16, 16)) < 0.3 for name in NAMES}
    write_folder(root / "gt", {f"{name}.png": mask.astype(np.uint8) * 255 for name, mask in truth.items()})
    for method in ("net", "fcn"):
        scores = {f"{name}.npy": 0.4 * mask + 0.6 * rng.random(mask.shape) for name, mask in truth.items()}
        write_folder(root / method, scores)
    return root


def test_thresholds_are_printed_rounded_down_wherever_metrics_are():
    result = evaluate([([0, 1], [0.2, 0.69998]), ([0, 1], [0.1, 0.8])])  # both positives reach .69998, not .7
    assert result.summary["ods_threshold"] == 0.69998
    assert re.search(r"^ods_threshold +\.6999$", str(result), re.MULTILINE)
    assert re.search(r"^ods_threshold +\.6999$", str(result.summary), re.MULTILINE)
    assert re.search(r"^ods_threshold +\.6999 ", str(result.intervals()), re.MULTILINE)
    assert ".6999" in result.summary._repr_html_()


def test_names_of_methods_keep_their_letters_in_sentences_of_the_page(folders, tmp_path):
    write_folder(tmp_path / "fcn", {f"{name}.npy": np.eye(16, dtype=bool) for name in NAMES})
    results = [evaluate(folders / "gt", folder) for folder in (folders / "net", tmp_path / "fcn")]
    export_report(results, tmp_path / "page.html", intervals=0.95)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "fcn: two-" in page.replace("<wbr>", "")
    assert not re.search(r"\b(Fcn|Net)\b", page)


def test_settings_that_tell_runs_apart_are_said_once(folders, segbench, tmp_path):
    file, paths = tmp_path / "r.segbench", [folders / name for name in ("gt", "net", "fcn")]
    for options in ((), ("--void", "3")):
        assert segbench("pixels", *paths, *options, "-o", file).code == 0
    answer = segbench("show", file)
    said = re.search(r"the best is marked only among those that do: (.*)", answer.out)[1]
    assert sorted(said.split("; ")) in (
        ["fcn, net (void:3)", "fcn, net (void:none)"],
        ["net, fcn (void:3)", "net, fcn (void:none)"],
    )


@pytest.mark.parametrize("words", [(), ("run",), ("check",)])
def test_a_command_without_arguments_prints_its_help_once_and_no_error(segbench, words):
    answer = segbench(*words)
    assert answer.code == 2
    assert answer.err.startswith("Usage: segbench")
    assert answer.err.count("Usage:") == 1
    assert "Error" not in answer.err


def test_names_of_metrics_mean_those_of_the_table_at_hand(folders, segbench, tmp_path):
    file = tmp_path / "r.segbench"
    segbench("pixels", folders / "gt", folders / "net", "-o", file)
    assert segbench("show", file, "--metrics", "F1", "--format", "csv").out.startswith("method,ods_f,")
    by_f = segbench("show", file, "--per-image", "--sort", "f", "--format", "csv").out
    for typed in ("dice", "F1"):
        assert segbench("show", file, "--per-image", "--sort", typed, "--format", "csv").out == by_f
    refused = segbench("show", file, "--metrics", "miou").error
    insist(refused, "unknown-metric", option="--metrics", unknown=("miou",))
    assert (refused.values["advice"].kind, refused.values["advice"].values["verbs"]) == (
        "measured-by",
        ("labels", "saliency"),
    )
    assert refused.values["known"].startswith("ods_f")


def test_a_check_that_finds_nothing_says_what_it_looked_at(folders, segbench):
    answer = segbench("check", folders / "gt", folders / "net")
    looked_at = "names, sizes, types and copies of all files, and at the values of 6 of 6 images"
    assert f"nothing found: looked at {looked_at}" in " ".join(answer.out.split())
