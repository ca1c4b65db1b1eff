"""Undefined figures are shown as undefined, with the reason, and are ranked nowhere."""

import json
import math
import re

import numpy as np
import pytest
from cases import write_folder
from noted import of_kind

from segbench import (
    Annotators,
    Boundaries,
    BoundaryCounts,
    ClassCounts,
    Classes,
    Result,
    ScoreCounts,
    load_results,
)

ALONE = "images with one annotator are left out"
WHY = "no boundaries of two annotators"
EMPTY = "no boundary pixel in the ground truth or the prediction"
COLUMNS = ["f", "precision", "recall", "threshold", "area_pr"]
# A diagonal of 20 pixels: --max-dist .05 is one pixel.
ONE_PIXEL = ("--max-dist", "0.05", "--thresholds", "3")


def column(*places):
    drawn = np.zeros((12, 16), np.uint8)
    drawn[:, list(places)] = 255
    return drawn


@pytest.fixture
def kept(segbench, tmp_path):
    """Four images: one annotator, two who disagree by half, nothing drawn nor predicted, two who agree."""
    truths = {
        "alone.1.png": column(5),
        "apart.1.png": column(5, 10),
        "apart.2.png": column(5),
        "blank.1.png": column(),
        "same.1.png": column(5),
        "same.2.png": column(5),
    }
    truth = write_folder(tmp_path / "gt", truths)
    predictions = {"alone": column(5), "apart": column(5), "blank": column(), "same": column(12)}
    pred = write_folder(tmp_path / "pred", {f"{name}.png": map_ for name, map_ in predictions.items()})
    kept = tmp_path / "r.segbench"
    answer = segbench("boundaries", truth, pred, *ONE_PIXEL, "--gt-pattern", "*.#", "--human", "-o", kept)
    assert answer.code == 0, answer.err
    assert f"human: {ALONE} (2 of 4 images)" in answer.out
    return kept


def results_of(kept):
    return {result.method: result for result in load_results(kept)}


class TestImages:
    def test_python(self, kept):
        human, pred = (results_of(kept)[name].per_image for name in ("human", "pred"))
        for figures in (human["alone"], human["blank"]):
            assert all(math.isnan(figures[key]) for key in COLUMNS)
            assert {key: str(why) for key, why in figures.undefined.items()} == dict.fromkeys(COLUMNS, WHY)
        assert human["same"]["f"] == 1.0
        assert {key: why.kind for key, why in human["same"].undefined.items()} == {"area_pr": "one-threshold"}
        assert math.isnan(human["same"]["area_pr"])
        assert {key: str(why) for key, why in pred["blank"].undefined.items()} == dict.fromkeys(COLUMNS, EMPTY)
        assert pred["same"]["f"] == 0.0
        assert {key: why.kind for key, why in pred["same"].undefined.items()} == {"area_pr": "masks"}

    def test_table(self, segbench, kept):
        shown = segbench("show", kept, "--per-image").out
        assert re.search(r"human +alone +- +- +- +- +-\n", shown)
        assert re.search(r"human +same +1\.0000 +1\.0000 +1\.0000 +1\.0000 +-\n", shown)
        assert f"human: undefined ({WHY}): f, precision, recall, threshold, area_pr: 2 of 4 images" in shown
        assert f"pred: undefined ({EMPTY}): f, precision, recall, threshold, area_pr: 1 of 4 images" in shown

    def test_json(self, segbench, kept):
        runs = json.loads(segbench("show", kept, "--per-image", "--format", "json").out)["runs"]
        human = next(run for run in runs if run["method"] == "human")
        assert human["per_image"]["alone"] == dict.fromkeys(COLUMNS)
        assert human["image_undefined"]["alone"] == dict.fromkeys(COLUMNS, WHY)
        assert human["image_undefined"]["same"] == {"area_pr": "one threshold makes no curve"}

    def test_page(self, segbench, kept, tmp_path):
        assert segbench("report", kept, "-o", tmp_path / "r.html").code == 0
        page = (tmp_path / "r.html").read_text()
        rows = re.findall(
            r'data-v="(alone|apart|blank|same)">.*?</th><td class="text" data-v="(\w+)">.*?\n<td data-v="([^"]*)"', page
        )
        assert {row[:2] for row in rows if row[2] == ""} == {("alone", "human"), ("blank", "human"), ("blank", "pred")}
        assert [row[2] for row in rows[-3:]] == ["", "", ""]
        assert f'title="undefined: {WHY}"' in page
        of_pred, of_human = (path.split("M")[1:] for path in re.findall(r'<path class="points" d="(.*?)"', page))
        assert "-9-9h0" not in of_pred
        assert len(of_pred) == 3
        assert [point == "-9-9h0" for point in of_human] == [True, False, False]  # which is off the drawing


class TestSets:
    def test_intervals_leave_out_images_of_one_annotator(self):
        one = BoundaryCounts([1.0], [8], [10], [9], [10])
        alone = BoundaryCounts([1.0], [0], [0], [0], [0])
        other = BoundaryCounts([1.0], [9], [10], [8], [10])
        rules = Annotators(settings=Boundaries())
        human = Result("human", rules, {"thresholds": "annotators"}, "data:0", {"a": one, "b": other, "c": one})
        more = Result("human", rules, human.settings, "data:0", {**human.counts, "x": alone, "y": alone})
        drawn = more.intervals(replicates=500)
        assert dict(drawn) == dict(human.intervals(replicates=500))
        assert drawn["ods_f"][0] > 0.8, "a replicate of images of one annotator alone is no F of 0"
        assert (drawn.notes[0].kind, drawn.notes[0].values["images"]) == ("few-images", 3)


def number_in(note):
    """Of how many images a note is on how many."""
    values = note["values"]["number"]["values"]
    return values["count"], values["total"]


class TestMeansOverImages:
    """A mean that leaves images out says how many."""

    @pytest.fixture
    def notes(self, segbench, tmp_path):
        """Return the notes of a run on three images, of which only the first two hold anything."""

        def run(verb, *options):
            maps = {"a.png": column(5), "b.png": column(3, 4), "c.png": column()}
            truth, pred = (write_folder(tmp_path / side, maps) for side in ("gt", "pred"))
            answer = segbench(verb, truth, pred, *options, "--format", "json", "--no-check")
            (run,) = json.loads(answer.out)["runs"]
            return run["notes"]

        return run

    @pytest.mark.parametrize(
        ("command", "metrics", "why"),
        [
            (["pixels"], ["mean_image_f"], "without positive pixels"),
            (["labels"], ["iou_images", "dice_images"], "without positive pixels"),
            (["boundaries"], ["mean_image_f"], "without a boundary pixel"),
        ],
    )
    def test_a_note_says_how_many_are_left_out(self, notes, command, metrics, why):
        (note,) = (note for note in notes(*command) if note["kind"] == "left-out")
        assert (note["metrics"], note["values"]["why"]) == (metrics, why)
        assert number_in(note) == (1, 3)

    def test_means_over_classes_say_which_they_average_over_few(self, notes):
        options = ["labels", "--classes", "0,255", "--void", "none"]
        (note,) = (note for note in notes(*options) if note["kind"] == "unequal-classes")
        values = {"rarest": "255", "fewest": 2, "commonest": "0", "most": 3, "images": 3}
        assert (note["metrics"], note["values"]) == (["miou_classes"], values)

    def test_means_at_a_threshold_leave_out_images_without_a_value(self, notes):
        of_means = [note for note in notes("pixels", "--at", "0.5") if note["kind"] == "left-out"]
        (note,) = (note for note in of_means if "mean_image_precision@0.5" in note["metrics"])
        assert not any("specificity" in key for key in note["metrics"])
        assert number_in(note) == (1, 3)

    @pytest.mark.parametrize("groups", ["none", "folder"])
    @pytest.mark.parametrize("side", [12, 200])  # of the larger maps, a results file keeps the summary
    def test_a_note_names_the_metrics_that_the_table_holds(self, segbench, tmp_path, side, groups):
        rng = np.random.default_rng(0)
        truths = {f"{group}/{k}.npy": rng.random((side, side)) < 0.3 * k for group in "ab" for k in range(3)}
        maps = {name: 0.4 * rng.random((side, side)) if "2" in name else rng.random((side, side)) for name in truths}
        truth, pred = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", maps)
        kept = tmp_path / "r.segbench"
        assert segbench("pixels", truth, pred, "--at", 0.5, "-o", kept).code == 0

        def notes(keys):
            shown = segbench("show", kept, "--group-by", groups, "--metrics", keys).out
            return [line.partition("left out of ")[2] for line in shown.splitlines() if "left out of" in line]

        assert notes("ods_f") == []
        assert all(one.startswith("mean F, without positive pixels: ") for one in notes("mean_image_f"))
        at = notes("mean_image_mcc@0.5,f@0.5")
        assert at
        assert all(one.startswith("mean_image_mcc@0.5, without a value: ") for one in at)

    def test_a_table_of_classes_has_one_line_for_all(self, segbench, tmp_path):
        maps = {"a.png": [[1, 2], [3, 0]], "b.png": [[1, 0], [0, 0]], "c.png": [[0, 2], [3, 0]], "d.png": [[0] * 2] * 2}
        written = {name: np.array(map_, np.uint8) for name, map_ in maps.items()}
        truth, pred = (write_folder(tmp_path / side, written) for side in ("gt", "pred"))
        kept = tmp_path / "r.segbench"
        assert segbench("labels", truth, pred, "--classes", "0-3", "-o", kept).code == 0
        shown = segbench("show", kept, "--per-class").out
        number = "2 of 4 images (1, 2, 3)"
        assert f"left out of I IoU, I Dice, without positive pixels: {number}\n" in shown

    def test_means_over_classes_name_the_rarest(self):
        one, none = ScoreCounts([0.5], [3], [2]), ScoreCounts([0.5], [0], [5])
        counts = {name: ClassCounts(("0", "1"), (one, other)) for name, other in [("a", one), ("b", one), ("c", none)]}
        (note,) = of_kind(Classes(labels=(0, 1)).table(counts).summary().notes, "unequal-classes")
        assert note.values == {"rarest": "1", "fewest": 2, "commonest": "0", "most": 3, "images": 3}

    @pytest.mark.parametrize("verb", ["saliency", "regions"])
    def test_others_leave_out_none(self, notes, verb):
        assert not [note for note in notes(verb) if note["kind"] == "left-out"]
