"""Folders with one thing wrong each: the check names that and nothing else, and a run never gives another number."""

import json
import shutil
from dataclasses import dataclass, field

import imageio.v3 as iio
import numpy as np
import pytest
from broken_folders import (
    NAMES,
    SHAPE,
    Folders,
    bits_of_two_kinds,
    blobs,
    cells,
    clipped,
    colour_map,
    copied,
    doubled,
    each,
    holed,
    lacks_mask,
    lines,
    masks_beside_maps,
    masks_of_two_kinds,
    mixed_masks,
    one_off,
    photographs,
    renamed,
    ringing,
    same_name_twice,
    small_masks,
    spread,
    truncate,
    truth_as_prediction,
    two_annotators,
    with_value,
)
from noted import advised, of_kind
from refusing import insist, within
from scipy.ndimage import gaussian_filter

import segbench as library


@dataclass
class Case:
    """How a clean set is broken, the one finding, what a run does, and the settings that are advised."""

    break_: object
    key: str
    run: str
    mend: dict = field(default_factory=dict)
    options: tuple = ()
    verb: str = "pixels"
    made: object = blobs
    files: object = None


LINES = {"made": lines, "verb": "boundaries"}
REFUSED, GOES_ON, FAILS = "refused", "goes on", "fails an image"

CASES = {
    "a name differs": Case(
        renamed("scores", lambda n: n[:-1] + "0", only=1),
        "unpaired",
        REFUSED,
        {"gt_pattern": ..., "pred_pattern": ..., "pairs": ..., "allow_missing": True, "images": ...},
    ),
    "a suffix": Case(renamed("truth", lambda n: f"{n}_gt"), "unpaired", REFUSED, {"gt_pattern": "*_gt"}),
    "annotators as suffixes": Case(two_annotators("*.#"), "annotator-names", REFUSED, {"gt_pattern": "*.#"}, **LINES),
    "annotators by word": Case(
        two_annotators("*_manual#"), "annotator-names", REFUSED, {"gt_pattern": "*_manual#", "annotators": "majority"}
    ),
    "annotators in folders": Case(
        two_annotators("by#/*"), "annotator-names", REFUSED, {"gt_pattern": "#/*", "annotators": "majority"}
    ),
    "annotators in a cell": Case(
        None, "annotators", REFUSED, {"annotators": "majority", "gt_pattern": "*_manual1"}, files=cells
    ),
    "one name twice": Case(same_name_twice, "folder", REFUSED, {}),
    "no mask for an image": Case(lacks_mask, "no-mask", REFUSED, {"field_pattern": ...}),
    "masks of another size": Case(small_masks, "size-differs", REFUSED, {}),
    "transposed": Case(each("scores", np.transpose), "size-transposed", REFUSED, {}),
    "off by one": Case(
        each("scores", lambda a: a[:-1, :-1]), "size-near", REFUSED, {"crop": True, "resize": "nearest"}
    ),
    "one is off by one": Case(
        each("scores", lambda a: a[:-1], only=1), "size-near", FAILS, {"crop": True, "resize": "nearest"}
    ),
    "half the size": Case(each("scores", lambda a: a[::2, ::2]), "size-factor", REFUSED, {"resize": "nearest"}),
    "another size": Case(each("scores", lambda a: a[:20, :30]), "size-differs", REFUSED, {"resize": "nearest"}),
    "double size": Case(each("scores", doubled), "size-ucm2", REFUSED, {}),
    "unreadable": Case(None, "unreadable", FAILS, {}, files=truncate),
    "scores turned around": Case(each("scores", np.invert), "inverted", GOES_ON, {"invert": True, "positive": "0"}),
    "masks turned around": Case(each("truth", np.invert), "inverted", GOES_ON, {"positive": "0", "invert": True}),
    "one map turned around": Case(each("scores", np.invert, only=1), "partly-inverted", GOES_ON, {}),
    "most maps turned around": Case(each("scores", np.invert, only=4), "partly-inverted", GOES_ON, {}),
    "inverted by mistake": Case(None, "inverted", GOES_ON, {"positive": "0"}, options=("--invert",)),
    "black on white": Case(each("scores", np.invert), "inverted", GOES_ON, {"invert": True}, **LINES),
    "0 and 1 in 8 bits": Case(each("scores", lambda a: (a > 128).astype(np.uint8)), "few-levels", GOES_ON, {}),
    "0 and 1 in 8 bits, boundaries": Case(
        each("scores", lambda a: (a > 128).astype(np.uint8)), "levels-unscaled", GOES_ON, {"scale": 1}, **LINES
    ),
    "8 bits in 16": Case(each("scores", lambda a: a.astype(np.uint16)), "levels-unscaled", GOES_ON, {"scale": 255}),
    "floats up to 255": Case(
        each("scores", lambda a: a.astype(np.float32), extension=".npy"), "range", GOES_ON, {"scale": 255}
    ),
    "floats up to 255, not whole": Case(
        each("scores", lambda a: a * (254.9 / a.max()), extension=".npy"), "range", GOES_ON, {"scale": 255}
    ),
    "floats up to 255, boundaries": Case(
        each("scores", lambda a: a.astype(np.float32), extension=".npy"), "range", REFUSED, {"scale": 255}, **LINES
    ),
    "floats a little above 1, boundaries": Case(
        each("scores", lambda a: a * (1.1 / a.max()), extension=".npy"),
        "range",
        REFUSED,
        {"scale": ...},
        **LINES,
    ),
    "logits": Case(
        each("scores", lambda a: a / np.float32(32) - 4, extension=".npy"), "range", GOES_ON, {"scale": "sigmoid"}
    ),
    "logits, saliency": Case(
        each("scores", lambda a: a / np.float32(32) - 4, extension=".npy"),
        "range",
        GOES_ON,
        {"scale": "sigmoid"},
        verb="saliency",
    ),
    "below 0 by resizing, boundaries": Case(
        each("scores", lambda a: a / np.float32(250) - 0.02, extension=".npy"), "range", REFUSED, {}, **LINES
    ),
    "logits, boundaries": Case(
        each("scores", lambda a: a / np.float32(32) - 4, extension=".npy"),
        "range",
        REFUSED,
        {"scale": "sigmoid"},
        **LINES,
    ),
    "clipped": Case(each("scores", clipped), "saturated", GOES_ON, {}),
    "grey levels of JPEG": Case(each("truth", ringing), "grey-ground-truth", REFUSED, {"positive": ">0"}),
    "soft maps for regions": Case(None, "soft-map", GOES_ON, {}, verb="regions"),
    "grey levels under a rule": Case(
        each("truth", ringing), "grey-ground-truth", GOES_ON, {"positive": ">0"}, options=("--positive", "255")
    ),
    "two scores only": Case(
        each("scores", lambda a: np.where(a > 128, 255, 0).astype(np.uint8)), "few-levels", GOES_ON, {}
    ),
    "all zero": Case(each("scores", np.zeros_like, only=2), "constant", GOES_ON, {}),
    "one for three": Case(copied, "duplicates", GOES_ON, {}),
    "the ground truth": Case(truth_as_prediction, "is-ground-truth", GOES_ON, {}),
    "void": Case(each("truth", with_value(255, labels=True)), "void", REFUSED, {"void": [255]}),
    "void under a rule": Case(
        each("truth", with_value(255, labels=True)), "void", GOES_ON, {"void": [255]}, options=("--positive", "1")
    ),
    "a third grey value": Case(each("truth", with_value(128)), "void", REFUSED, {"void": [128], "positive": "128,255"}),
    "labels": Case(
        each("truth", lambda a: a // 255 * 3 + np.eye(*SHAPE, dtype=np.uint8)), "labels", REFUSED, {"positive": ">0"}
    ),
    "0 and 1 beside 0 and 255": Case(mixed_masks, "mixed-ground-truth", REFUSED, {"positive": ">=1"}),
    "0 and 1 beside 0 and 255, predicted": Case(masks_of_two_kinds, "mixed-masks", GOES_ON, {}),
    "0 and 1 beside soft maps": Case(masks_beside_maps, "mixed-levels", GOES_ON, {}),
    "8 bits beside 16 in 16": Case(bits_of_two_kinds, "mixed-levels", GOES_ON, {}),
    "photographs": Case(photographs, "photographs", REFUSED, {"gt_pattern": "*_mask"}),
    "padded on all sides": Case(
        each("scores", lambda a: np.pad(a, 1)), "size-near", REFUSED, {"crop": True, "resize": "nearest"}
    ),
    "names one off": Case(None, "exchanged-images", REFUSED, {"pairs": ...}, made=one_off),
    "names one off, resized": Case(
        None, "exchanged-images", GOES_ON, {"pairs": ...}, options=("--resize-predictions", "nearest"), made=one_off
    ),
    "nothing positive": Case(each("truth", np.zeros_like), "no-positives", REFUSED, {"images": ..., "positive": 255}),
    "NaN in ground truth": Case(
        each("truth", lambda a: np.where(np.eye(*SHAPE), np.nan, a), extension=".npy"),
        "nan-ground-truth",
        REFUSED,
        {"void": ...},
    ),
    "not finite": Case(each("scores", holed, extension=".npy"), "not-finite", REFUSED, {"field": ...}),
    "in colour": Case(each("scores", colour_map), "colour", GOES_ON, {}),
    "wide integers": Case(
        each("scores", lambda a: a.astype(np.int32), extension=".npy"), "wide-integers", GOES_ON, {"scale": ...}
    ),
    "floats beside levels": Case(
        each("scores", lambda a: a / np.float32(255), only=2, extension=".npy"), "mixed-types", GOES_ON, {}
    ),
    "not suppressed": Case(
        each("scores", spread, extension=".npy"), "not-suppressed", GOES_ON, {"nms": [1, 5, 1.01]}, **LINES
    ),
    "suppressed before": Case(None, "already-suppressed", GOES_ON, {}, ("--nms", "1,5,1.01"), **LINES),
    "ground truth black on white": Case(
        each("truth", np.invert), "inverted-ground-truth", GOES_ON, {"positive": 0}, **LINES
    ),
    "ground truth drawn on both sides": Case(
        each("truth", lambda a: a | np.roll(a, 1, axis=0) | np.roll(a, 1, axis=1)),
        "thick-ground-truth",
        GOES_ON,
        {"thin_ground_truth": True, "label_maps": True},
        **LINES,
    ),
    "ground truth filled": Case(
        None, "thick-ground-truth", GOES_ON, {"thin_ground_truth": True, "label_maps": True}, verb="boundaries"
    ),
}


def broken(case, root):
    if case.break_ is None and case.key == "thick-ground-truth":
        filled, drawn = blobs(), lines()
        folders = type(drawn)(filled.truth, drawn.scores)
    else:
        folders = case.made()
    if case.break_:
        case.break_(folders)
    paths = folders.write(root)
    if case.files:
        case.files(root)
    masks = ("--field", paths[2]) if len(paths) > 2 else ()
    return (*paths[:2], *case.options, *masks)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
class TestOneThingWrong:
    def test_check_names_it_and_nothing_else(self, segbench, case, tmp_path):
        answer = segbench("check", case.verb, *broken(case, tmp_path), "--format", "json")
        (report,) = json.loads(answer.out)["reports"]
        (finding,) = report["findings"]
        assert finding["kind"] == case.key
        mend = {name: None if value is ... else value for name, value in case.mend.items()}
        assert advised(finding["settings"]) == mend
        assert finding["count"] == len(finding["files"]) > 0
        stops = finding["severity"] == "error"
        assert (answer.code, report["errors"]) == (int(stops), stops)
        assert stops == (case.run != GOES_ON)

    def test_run_refuses_or_gives_the_same_number(self, segbench, warned_of, case, tmp_path):
        arguments = broken(case, tmp_path)
        checked = segbench(case.verb, *arguments, "--format", "json")
        if case.run == REFUSED:
            assert (checked.code, checked.out) == (1, "")
            insist(checked.error, "check-failed", findings=(case.key,))
            return
        unchecked = segbench(case.verb, *arguments, "--format", "json", "--no-check")
        assert checked.code == unchecked.code == int(case.run == FAILS)
        assert checked.out == unchecked.out
        seen_before_a_run = case.key not in ("duplicates", "is-ground-truth", "constant")
        if seen_before_a_run:
            assert [finding.kind for finding in warned_of] == [case.key]
            assert checked.err
        failed = json.loads(unchecked.out)["runs"][0]["failed"]
        assert (failed > 0) == bool(unchecked.err) == (case.run == FAILS)


class TestHint:
    """``--no-check`` is named where it counts an image."""

    @pytest.mark.parametrize(
        "change",
        [
            renamed("scores", lambda name: f"{name}_out", only=1),
            each("scores", np.transpose),
            mixed_masks,
            each("scores", holed, extension=".npy"),
        ],
    )
    def test_is_silent_where_nothing_counts(self, segbench, tmp_path, change):
        folders = blobs()
        change(folders)
        refused = segbench("pixels", *folders.write(tmp_path))
        assert (refused.code, refused.out) == (1, "")
        assert "--no-check" not in refused.err

    def test_is_given_where_an_image_not_inspected_may_count(self, segbench, tmp_path):
        names = tuple(f"im{k:02}" for k in range(34))
        folders = blobs(names=names)
        for name in names[:33]:
            folders.scores[f"{name}.npy"] = holed(folders.scores.pop(name))
        where = folders.write(tmp_path)
        refused = segbench("pixels", *where)
        assert (refused.code, refused.out) == (1, "")
        assert "--no-check" in refused.err
        (run,) = json.loads(segbench("pixels", *where, "--no-check", "--format", "json", "-j", 1).out)["runs"]
        assert (run["images"], run["failed"]) == (1, 33)


@pytest.mark.parametrize("name", ["not suppressed", "ground truth drawn on both sides", "ground truth filled"])
def test_thick_lines_are_no_finding_where_nothing_is_thinned(segbench, tmp_path, name):
    case = CASES[name]
    answer = segbench("check", "boundaries", *broken(case, tmp_path), "--no-thin", "--format", "json")
    assert case.key not in {finding["kind"] for finding in json.loads(answer.out)["reports"][0]["findings"]}


def test_of_many_files_a_run_names_a_few(segbench, tmp_path):
    made = blobs(names=tuple(f"n{k:02}" for k in range(30)))
    made.scores = {f"{name}_out": scores for name, scores in made.scores.items()}
    err = segbench("pixels", *made.write(tmp_path)).err
    assert err.count(": no prediction") == 10
    assert err.endswith("  and 50 more\n  -> try --pred-pattern '*_out'\n")


def test_faults_of_a_list_are_said_once(segbench, tmp_path):
    blobs().write(tmp_path)
    rows = ["name,ground_truth,prediction:a,prediction:b", "ape,gt/none.png,pred/ape.png,pred/lost.png"]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    err = segbench("pixels", "--pairs", tmp_path / "pairs.csv").err
    heading, *faults, mend = err.splitlines()
    which = f"list: {tmp_path}/pairs.csv: holds faulty lines"
    assert heading == f"segbench: {tmp_path}/pairs.csv: nothing is counted; {which}"
    assert [fault.rpartition("/")[2].split(":")[0] for fault in faults] == ["none.png", "lost.png"]
    assert mend.startswith("  -> correct the list")
    rows[0] = "name,gt,prediction:a,prediction:b"
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    err = segbench("pixels", "--pairs", tmp_path / "pairs.csv").err
    assert err.count("no column 'ground_truth'") == 1
    assert "-> columns are name, ground_truth, prediction or prediction:METHOD" in err


def test_folders_the_wrong_way_round(segbench, tmp_path):
    truth, scores = blobs().write(tmp_path)
    refused = segbench("pixels", scores, truth)
    assert refused.code == 1
    insist(refused.error, "check-failed", settings={"positive": ">0"}, findings=("exchanged",))
    (report,) = json.loads(segbench("check", scores, truth, "--format", "json").out)["reports"]
    assert [finding["kind"] for finding in report["findings"]] == ["exchanged"]  # what goes on is not advised beside it
    assert segbench("pixels", truth, scores).code == 0


@pytest.mark.parametrize("verb", ["saliency", "anomalies"])
def test_folders_the_wrong_way_round_where_masks_are_cut_by_a_rule(segbench, tmp_path, verb):
    folders = blobs()
    folders.truth["ape"][...] = 0  # a normal image
    truth, scores = folders.write(tmp_path)
    refused = segbench(verb, scores, truth)
    assert refused.code == 1
    insist(refused.error, "check-failed", findings=("exchanged",))
    assert "few-levels" not in refused.err
    assert segbench(verb, truth, scores).code == 0
    assert segbench(verb, scores, truth, "--positive", ">=200").code == 0


def test_blurred_masks_beside_predicted_masks_are_not_exchanged(segbench, tmp_path):
    y, x = np.ogrid[:240, :320]
    mask = np.where((y - 110) ** 2 + (x - 150) ** 2 < 4000, 255, 0).astype(np.uint8)
    blurred = np.rint(gaussian_filter(mask.astype(float), 1.5)).astype(np.uint8)
    assert np.unique(blurred).size > 33
    truth, predicted = Folders(dict.fromkeys(NAMES, blurred), dict.fromkeys(NAMES, np.roll(mask, 3, 0))).write(tmp_path)
    assert "exchanged" not in segbench("check", "saliency", truth, predicted).out


def test_jpegs_are_named_where_there_are_any(segbench, tmp_path):
    truth, scores = blobs().write(tmp_path)
    for path in truth.iterdir():
        iio.imwrite(path.with_suffix(".jpg"), iio.imread(path), quality=60)
        path.unlink()
    (report,) = json.loads(segbench("check", truth, scores, "--format", "json").out)["reports"]
    assert [finding["kind"] for finding in report["findings"]] == ["grey-ground-truth"]
    assert "JPEG" in report["findings"][0]["values"]["leaving"]


@pytest.mark.parametrize("again", ["gt", "pred/../gt", "link"])
def test_one_folder_given_twice(segbench, warned_of, tmp_path, monkeypatch, again):
    truth, _ = blobs().write(tmp_path / "set")
    (truth.parent / "link").symlink_to(truth)
    monkeypatch.chdir(truth.parent)
    assert segbench("pixels", truth, again).err
    (finding,) = of_kind(warned_of, "is-ground-truth")
    assert finding.message.values == {"count": 6, "total": 6, "how": "the same files"}


@pytest.mark.parametrize("verb", ["check", "boundaries"])
def test_predictions_inside_the_ground_truth_are_no_annotator(segbench, tmp_path, monkeypatch, verb):
    made = lines()
    made.write(tmp_path)
    top = tmp_path / "top"
    for name, folder in (("ann1", "gt"), ("ann2", "gt"), ("net", "pred")):
        shutil.copytree(tmp_path / folder, top / name)
    monkeypatch.chdir(tmp_path)
    words = (verb, "boundaries") if verb == "check" else (verb,)
    answer = segbench(*words, "top", tmp_path / "top" / "net", "--gt-pattern", "#/*")
    assert answer.code == 1
    advice = {"gt_pattern": "gt/#/*"}
    if verb == "check":
        report = library.check("top", tmp_path / "top" / "net", "boundaries", gt_pattern="#/*")
        (finding,) = report.findings
        assert (finding.kind, finding.message.values["count"]) == ("is-ground-truth", 6)
        assert finding.message.values["where"].values["truth"] == "top"
        assert advised(finding.settings) == advice
    else:
        insist(answer.error, "check-failed", settings=advice, findings=("is-ground-truth",))
        assert within(answer.error, "is-ground-truth")["count"] == 6
        assert within(answer.error, "contains")["truth"] == "top"


def test_annotators_of_bsds500_are_for_boundaries(segbench, tmp_path):
    truth, scores = blobs().write(tmp_path)
    cells(tmp_path)
    (report,) = json.loads(segbench("check", truth, scores, "--format", "json").out)["reports"]
    assert [finding["kind"] for finding in report["findings"]] == ["annotators"]
    assert "segbench check boundaries GT PRED; else --annotators" in report["findings"][0]["fix"]


def test_of_one_file_the_verb_is_singular(segbench, tmp_path):
    made = blobs()
    made.scores["ape"] = made.scores["ape"][::2, ::2]
    truth, scores = made.write(tmp_path)
    (scores / f"{NAMES[1]}.png").unlink()
    text = segbench("check", truth, scores).out
    assert "1 prediction is larger or smaller by a whole factor (1 of 5 images)" in text
    assert "1 of 6 ground truths has no prediction" in text
    assert "-> --allow-missing leaves out images without a prediction; or add or remove" in text


def test_methods_that_are_refused_are_named_and_share_what_is_wrong_with_the_ground_truth(segbench, tmp_path):
    made = blobs()
    each("truth", lambda a: a // 255 + np.arange(64, dtype=np.uint8) // 16 + 1)(made)
    truth, scores = made.write(tmp_path)
    shutil.copytree(scores, tmp_path / "other")
    (tmp_path / "other" / "bee.png").unlink()
    err = segbench("labels", truth, f"a={scores}", f"b={tmp_path / 'other'}", "--classes", "0-2").err
    assert err.startswith("segbench: a, b: nothing is counted")
    assert err.count("not-countable: ") == 1
    assert err.count("ape.png: values 3, 4, 5 are neither") == 1
    assert "\nb: unpaired: 1 of 6 ground truths has no prediction\n" in err
