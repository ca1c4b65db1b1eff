"""Settings of measuring on the command line: given wherever a results file is read, they count nothing."""

import json
import re
import shlex

import numpy as np
import pytest
from cases import write_folder
from methods import write_methods
from refusing import insist, refused, within

from segbench import Pixels, evaluate, load_results
from segbench.core.messages import Setting


@pytest.fixture
def soft(tmp_path):
    return write_methods(tmp_path, {"ours": 2, "theirs": 1}, images=6)


@pytest.fixture
def maps(tmp_path):
    """Label maps of three classes, of two methods."""
    rng = np.random.default_rng(1)
    truth = {f"{k}.png": np.arange(120, dtype=np.uint8).reshape(10, 12) % 3 for k in range(5)}
    folders = [write_folder(tmp_path / "labels", truth)]
    for name in ("ours", "theirs"):
        wrong = {image: np.where(rng.random(of.shape) < 0.2, (of + 1) % 3, of) for image, of in truth.items()}
        folders.append(write_folder(tmp_path / f"maps-{name}", wrong))
    return folders


def ran(answer, code=0):
    assert answer.code == code, answer.err
    return answer


def runs_of(segbench, file, *options):
    return json.loads(ran(segbench("show", file, "--format", "json", *options)).out)["runs"]


def test_running_again_with_other_settings_adds_no_run_and_counts_nothing(segbench, soft, counts_nothing, tmp_path):
    file = tmp_path / "r.segbench"
    ran(segbench("pixels", *soft, "-o", file))
    counts_nothing()
    ran(segbench("pixels", *soft, "-o", file, "--at", "0.5"))
    runs = runs_of(segbench, file)
    assert [run["method"] for run in runs] == ["ours", "theirs"]
    assert all("f@0.5" in run["summary"] for run in runs)
    answer, *_ = json.loads(ran(segbench("compare", file, "--format", "json")).out)["answers"]
    assert (answer["metric"], answer["leader"]) == ("ods_f", "ours")


def test_a_file_without_a_setting_is_merged_and_compared_with_one_that_has_it(segbench, soft, tmp_path):
    ran(segbench("pixels", *soft[:2], "-o", tmp_path / "a", "--at", "0.5"))
    ran(segbench("pixels", soft[0], soft[2], "-o", tmp_path / "b", "--calibration"))
    ran(segbench("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "both"))
    keys = [set(run["summary"]) for run in runs_of(segbench, tmp_path / "both")]
    assert keys[0] == keys[1] >= {"f@0.5", "brier"}
    assert "f@0.5" in ran(segbench("compare", tmp_path / "both", "--metrics", "f@0.5,ece")).out.replace("F@", "f@")


def test_halves_that_were_made_with_different_settings_become_one_run_with_both(segbench, soft, tmp_path):
    for half, at in (("im0[0-2]", "0.3"), ("im0[3-5]", "0.5")):
        images = tmp_path / f"{at}.txt"
        images.write_text(f"{half}\n")
        ran(segbench("pixels", *soft[:2], "-o", tmp_path / at, "--at", at, "--images", images))
    ran(segbench("merge", tmp_path / "0.3", tmp_path / "0.5", "-o", tmp_path / "both"))
    (run,) = runs_of(segbench, tmp_path / "both")
    assert (run["images"], "f@0.3" in run["summary"], "f@0.5" in run["summary"]) == (6, True, True)
    expected = evaluate(*soft[:2], Pixels(at=(0.3, 0.5)))
    assert run["summary"] == {key: expected.summary[key] for key in expected.summary}


@pytest.fixture
def contours(segbench, soft, tmp_path):
    file = tmp_path / "c.segbench"
    ran(segbench("contours", *soft[:2], "-o", file, "--at", "0.5", "--nsd", "2"))
    return file


def test_two_tolerances_are_one_run_and_are_shown_in_one_order(segbench, soft, contours):
    ran(segbench("contours", *soft[:2], "-o", contours, "--at", "0.5", "--nsd", "3,1"))
    (run,) = runs_of(segbench, contours)
    assert [key for key in run["summary"] if key.startswith("nsd@")] == ["nsd@1", "nsd@3"]
    counted = ran(segbench("contours", *soft[:2], "--at", "0.5", "--nsd", "3,1", "--format", "json"))
    assert json.loads(counted.out)["runs"][0]["summary"] == run["summary"]


def test_none_takes_a_setting_away(segbench, soft, contours, tmp_path):
    (run,) = runs_of(segbench, contours, "--nsd", "none")
    assert not [key for key in run["summary"] if key.startswith("nsd")]
    assert "|nsd:none|" in run["signature"]
    file = tmp_path / "r.segbench"
    ran(segbench("pixels", *soft[:2], "-o", file))
    (plain,) = runs_of(segbench, file)
    ran(segbench("pixels", *soft[:2], "-o", file, "--at", "0.5", "--calibration"))
    assert runs_of(segbench, file, "--at", "none", "--no-calibration") == [plain]
    ran(segbench("pixels", *soft[:2], "-o", file, "--at", "none", "--group-by", "none"))
    assert runs_of(segbench, file) == [plain]


@pytest.mark.parametrize(
    ("option", "values"),
    [("--hd95", "larger, union"), ("--convention", "medpy")],
)
def test_settings_that_are_a_choice_have_no_none(segbench, contours, option, values):
    answer = ran(segbench("show", contours, option, "none"), code=2)
    insist(answer.error, "unreadable-option", option=option)
    assert values in answer.err


def test_distances_of_empty_masks_have_no_none(segbench, contours):
    answer = ran(segbench("show", contours, "--empty", "none"), code=2)
    insist(answer.error, "wrong-option", option="--empty", typed="none")


def test_thresholds_of_objects_are_needed(segbench, maps, tmp_path):
    ran(segbench("objects", *maps[:2], "-o", tmp_path / "o"))
    answer = ran(segbench("show", tmp_path / "o", "--iou", "none"), code=2)
    insist(answer.error, "wrong-option", option="--iou", typed="none")


def test_counting_again_by_one_number_names_the_spacing(segbench, soft, contours):
    ran(segbench("contours", *soft[:2], "-o", contours, "--at", "0.5", "--spacing", "0.5x0.7"))
    answer = ran(segbench("show", contours, "--only", "spacing:0.5x0.7", "--spacing", "0.7"), code=2)
    insist(answer.error, "count-again", command="segbench contours GT PRED --spacing 0.7 --at 0.5")


@pytest.mark.parametrize("spacing", ["0.5x0.7", "FILE.csv"])
def test_a_spacing_that_counts_have_is_taken_again(segbench, soft, counts_nothing, tmp_path, spacing):
    (tmp_path / "FILE.csv").write_text(
        "name,spacing\n" + "".join(f"{image.stem},0.5x0.7\n" for image in soft[0].iterdir())
    )
    spacing = spacing.replace("FILE", str(tmp_path / "FILE"))
    file, counted_with = tmp_path / "r.segbench", ("--at", "0.5", "--spacing", spacing)
    ran(segbench("contours", *soft[:2], "-o", file, *counted_with))
    counts_nothing()
    assert runs_of(segbench, file, "--spacing", spacing, "--nsd", "3") == runs_of(segbench, file, "--nsd", "3")
    (run,) = load_results(file)
    (again,) = load_results(file, spacing=run.rules.spacing)
    assert again.signature == run.signature == run.with_settings(spacing=run.rules.spacing).signature
    answer = ran(segbench("show", file, "--spacing", "0.5x0.6"), code=2)
    insist(answer.error, "count-again", command="segbench contours GT PRED --spacing 0.5x0.6 --at 0.5")


def test_what_decides_counts_needs_counting_again_by_a_command_that_works(segbench, soft, contours, tmp_path):
    ran(segbench("contours", *soft[:2], "-o", contours, "--at", "0.5", "--nsd", "1", "--positive", "255"))
    answer = ran(segbench("show", contours, "--only", "positive:255", "--at", "0.4"), code=2)
    command = "segbench contours GT PRED --at 0.4 --positive 255"
    insist(answer.error, "count-again", command=command)
    typed = [{"GT": soft[0], "PRED": soft[1]}.get(word, word) for word in shlex.split(command)[1:]]
    ran(segbench(*typed, "-o", tmp_path / "anew"))
    (run,) = runs_of(segbench, tmp_path / "anew")
    assert "|at:0.4|" in run["signature"]


def test_a_setting_of_another_kind_of_run_is_refused_with_the_reason(segbench, contours, maps, tmp_path):
    answer = ran(segbench("show", contours, "--background", "0"), code=2)
    insist(answer.error, "impossible-setting", verb="contours")
    assert within(answer.error, "unfit-setting")["setting"] == Setting("background", None)
    assert ran(segbench("show", contours, "--nsd", "1")).err == ""
    answer = ran(segbench("show", contours, "--iou", "0.5"), code=2)
    insist(answer.error, "not-of-protocol", option="--iou", verbs="objects", protocols="contours")
    ran(segbench("objects", *maps[:2], "-o", tmp_path / "o"))
    answer = ran(segbench("show", tmp_path / "o", "--at", "0.5"), code=2)
    insist(answer.error, "impossible-setting", verb="objects", settings={"kind": "components"})
    assert within(answer.error, "no-meaning")["given"] == Setting("at", None)


def test_a_convention_sets_what_it_measures_and_is_refused_where_it_counts_otherwise(segbench, contours):
    (run,) = runs_of(segbench, contours, "--convention", "medpy")
    assert run == runs_of(segbench, contours, "--hd95", "union")[0]
    for tool, name, expected in (("deepmind", "surface", "lengths"), ("davis", "sequences", "yes")):
        answer = ran(segbench("show", contours, "--convention", tool), code=2)
        insist(answer.error, "other-settings", name=name, expected=expected, settings={"convention": tool})


APART = {
    "labels": ["--background", "0"],
    "contours": ["--hd95", "union"],
    "contours of mm": ["--spacing", "0.5"],
    "contours of empty masks": ["--empty", "diagonal"],
}


@pytest.mark.parametrize("case", APART)
def test_values_that_make_other_tables_are_shown_apart_and_compared_by_one_of_them(segbench, maps, tmp_path, case):
    counting, differing = ["--classes", "0-2"], APART[case]
    file = tmp_path / "r.segbench"
    verb = case.split()[0]
    ran(segbench(verb, maps[0], f"ours={maps[1]}", "-o", file, *counting, *differing))
    ran(segbench(verb, maps[0], f"theirs={maps[2]}", "-o", file, *counting))
    shown = ran(segbench("show", file)).out
    assert len(re.findall("^method", shown, re.MULTILINE)) == 2
    answer = ran(segbench("compare", file), code=2)
    insist(answer.error, "measured-apart", differing=(differing[0].removeprefix("--"),))
    assert len(answer.error.settings) == 2
    assert answer.error.settings[0].written("options") == " ".join(differing)
    for choice in answer.error.settings:
        typed = choice.written("options").split()
        ran(segbench("compare", file, *typed))
        assert len(re.findall("^method", ran(segbench("show", file, *typed)).out, re.MULTILINE)) == 1


def test_runs_with_other_groups_are_one_run_and_tables_of_their_own(segbench, soft, counts_nothing, tmp_path):
    column = tmp_path / "meta.csv"
    column.write_text("name,sky\n" + "".join(f"im{k:02},{'clear' if k % 2 else 'rain'}\n" for k in range(6)))
    file = tmp_path / "r.segbench"
    ran(segbench("pixels", *soft, "-o", file))
    counts_nothing()
    ran(segbench("pixels", *soft[:2], "-o", file, "--group-by", f"{column}:sky"))
    assert len(load_results(file)) == 2
    shown = ran(segbench("show", file, "--metrics", "ods_f")).out
    assert re.findall(r"^(group|method) ", shown, re.MULTILINE) == ["group", "method"]
    assert len(re.findall("^method ", ran(segbench("show", file, "--per-image")).out, re.MULTILINE)) == 1
    ran(segbench("plot", file, "-o", tmp_path / "pr.svg"))  # a curve of all images
    answer = ran(segbench("compare", file), code=2)
    insist(answer.error, "measured-apart", differing=("group_by",))
    assert answer.error.settings == (Setting("group_by", f"{column}:sky"), Setting("group_by", "none"))
    for by in (f"{column}:sky", "none"):
        ran(segbench("compare", file, "--group-by", by))
    assert not re.search(r"^group ", ran(segbench("show", file, "--group-by", "none")).out, re.MULTILINE)
    ran(segbench("pixels", *soft[:2], "-o", file))
    assert not re.search(r"^group ", ran(segbench("show", file)).out, re.MULTILINE)


def test_selections_and_names_look_at_settings_of_counting_alone(segbench, soft, tmp_path):
    file = tmp_path / "r.segbench"
    for void in ([], ["--void", "3"]):
        ran(segbench("pixels", *soft[:2], "-o", file, "--at", "0.5", *void))
    assert {run["method"] for run in runs_of(segbench, file)} == {"ours"}
    assert "ours (void:3)" in ran(segbench("show", file, "--metrics", "ods_f")).out
    answer = ran(segbench("show", file, "--only", "at:0.5"), code=2)
    insist(answer.error, "matches-nothing", typed="at:0.5", methods=("ours (void:none)", "ours (void:3)"))
    assert "|at:" not in answer.error.values["listed"]
    assert len(runs_of(segbench, file, "--only", "void:3")) == 1


@pytest.mark.parametrize("verb", ["plot", "report"])
def test_other_verbs_take_them_too(segbench, maps, tmp_path, verb):
    file = tmp_path / "r.segbench"
    ran(segbench("labels", *maps, "-o", file, "--classes", "0-2"))
    page = tmp_path / ("page.html" if verb == "report" else "plot.svg")
    ran(segbench(verb, file, "-o", page, "--background", "0"))
    assert page.stat().st_size


@pytest.mark.parametrize("verb", ["show", "compare", "plot", "report", "overlay"])
def test_help_lists_them_by_protocol_in_80_columns(segbench, verb):
    shown = ran(segbench(verb, "--help-all")).out
    assert max(map(len, shown.splitlines())) <= 80
    panels = re.findall(r"^Other settings of (.*):$", shown, re.MULTILINE)
    assert panels == ["pixels", "labels and contours", "labels", "contours", "objects"]
    assert "--hd95 larger|union" in shown
    assert "Other settings" not in ran(segbench(verb, "--help")).out


def test_load_results_takes_them(segbench, soft, maps, tmp_path):
    file = tmp_path / "r.segbench"
    ran(segbench("pixels", *soft[:2], "-o", file))
    ran(segbench("labels", *maps[:2], "-o", file, "--classes", "0-2"))
    pixels, labels = load_results(file, at=0.5, background=0)
    assert "f@0.5" in pixels.summary
    assert labels.settings["background"] == "0"
    with refused("not-measuring", setting=Setting("nsd", None)):
        load_results(file, nsd=1)


def test_tuning_thresholds_are_taken_by_stored_runs_and_cut_no_other_metric(segbench, soft, tmp_path):
    tuning = write_methods(tmp_path / "tuning", {"ours": 2, "theirs": 1}, images=4)
    ran(segbench("pixels", *tuning, "-o", tmp_path / "t"))
    ran(segbench("pixels", *soft, "-o", tmp_path / "r"))
    ran(segbench("pixels", *soft, "-o", tmp_path / "anew", "--at", "0.3", "--tuning-results", tmp_path / "t"))
    options = ("--at", "0.3", "--tuning-results", tmp_path / "t")
    found, expected = runs_of(segbench, tmp_path / "r", *options), runs_of(segbench, tmp_path / "anew")
    assert found == expected
    assert all("|thresholds:tuning set" in run["signature"] for run in found)
    for run, folder in zip(found, soft[1:], strict=True):
        whole = evaluate(soft[0], folder, Pixels(at=(0.3,))).summary
        assert run["summary"]["precision@0.3"] == whole["precision@0.3"]
        assert run["summary"]["auc_pr"] != whole["auc_pr"]
    assert "leads" in ran(segbench("compare", tmp_path / "anew", "--metrics", "f@0.3")).out
    shown = ran(segbench("show", tmp_path / "anew", "--metrics", "auc_pr")).out
    assert re.findall(r"^(method|ours|theirs) ", shown, re.MULTILINE) == ["method", "ours", "theirs"]
    ran(segbench("pixels", *soft[:2], "-o", tmp_path / "anew"))
    answer = ran(segbench("compare", tmp_path / "anew"), code=2)
    insist(answer.error, "measured-apart", differing=("thresholds_source",))
    ran(segbench("compare", tmp_path / "anew", "--tuning-results", tmp_path / "t"))
    assert runs_of(segbench, tmp_path / "anew", "--tuning-results", "none", "--at", "none") == runs_of(
        segbench, tmp_path / "r"
    )


def test_a_convention_and_another_value_of_what_it_sets_are_refused(segbench, contours):
    answer = ran(segbench("show", contours, "--convention", "medpy", "--hd95", "larger"), code=2)
    insist(answer.error, "exclusive-settings", settings={"convention": "medpy", "hd95": "larger"})
