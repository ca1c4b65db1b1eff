"""Predicted masks saved as JPEG, whose noise would count as scores."""

import json

import numpy as np
import pytest
from broken_folders import blobs
from PIL import Image
from refusing import insist, parts_of, within

import segbench as library
from segbench.core.messages import Message, Setting


@pytest.fixture
def saved(tmp_path):
    """Save ground truth, and predictions in a format; return the folders."""

    def save(maps, extension):
        made = blobs()
        (truth,) = made.write(tmp_path)[:1]
        folder = tmp_path / extension
        folder.mkdir()
        for name, scores in made.scores.items():
            Image.fromarray(maps(scores)).save(folder / f"{name}.{extension}", quality=75)
        return truth, folder

    return save


def as_mask(scores):
    return (scores >= 128).astype(np.uint8) * 255


def test_are_found_before_a_run(segbench, warned_of, saved):
    answer = segbench("pixels", *saved(as_mask, "jpg"))
    assert (answer.code, bool(answer.err)) == (0, True)
    (finding,) = warned_of
    assert (finding.kind, finding.severity, finding.side) == ("jpeg-masks", "warning", "prediction")
    assert finding.message.values["compression"] == "JPEG"


def test_the_advice_gives_the_number_of_the_masks(segbench, saved):
    labels = library.Labels(predicted_positive=">=128")
    of_jpeg, of_png = ([*saved(as_mask, extension)] for extension in ("jpg", "png"))
    (report,) = json.loads(segbench("check", *of_jpeg, "--format", "json").out)["reports"]
    settings = {finding["kind"]: finding["settings"] for finding in report["findings"]}
    assert settings["jpeg-masks"] == [{"name": "predicted_positive", "value": ">=128"}]
    expected = dict(library.evaluate(*of_png, library.Labels()).summary)
    assert dict(library.evaluate(*of_jpeg, labels).summary) == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


class TestLines:
    """Boundaries have a threshold of their own at which masks are cut."""

    def report(self, segbench, places, *options):
        answer = segbench("check", "boundaries", *places, *options, "--format", "json")
        return {one["kind"]: one["settings"] for one in json.loads(answer.out)["reports"][0]["findings"]}

    def test_the_advice_gives_the_number_of_the_masks(self, segbench, saved):
        options = ("--max-dist", "2px", "--thin-ground-truth")
        of_jpeg, of_png = ([*saved(as_mask, extension)] for extension in ("jpg", "png"))
        found = self.report(segbench, of_jpeg, *options)
        assert found == {"jpeg-masks": [{"name": "thresholds", "value": [0.5]}]}
        runs = [
            json.loads(segbench("boundaries", *places, *options, *more, "--format", "json").out)["runs"][0]["summary"]
            for places, more in ((of_jpeg, ("--thresholds", "0.5")), (of_png, ()))
        ]
        assert runs[0]["ods_f"] == pytest.approx(runs[1]["ods_f"])
        assert runs[0]["ois_f"] == pytest.approx(runs[1]["ods_f"])
        assert not self.report(segbench, of_jpeg, *options, "--thresholds", "0.5")

    def test_masks_are_not_told_to_be_suppressed(self, segbench, saved):
        assert self.report(segbench, saved(as_mask, "png"), "--thin-ground-truth").keys() == {"few-levels"}
        assert "not-suppressed" in self.report(segbench, saved(np.asarray, "jpg"), "--thin-ground-truth")


@pytest.fixture
def truth_as_jpeg(tmp_path):
    """Save masks and predicted masks, and the first again as JPEG of some quality; return the three folders."""

    def save(quality):
        y, x = np.ogrid[:96, :128]
        folders = [tmp_path / name for name in ("jpg", "png", "predicted")]
        for folder in folders:
            folder.mkdir()
        for k in range(4):
            mask = ((y - 40 - k) ** 2 / 900 + (x - 60) ** 2 / 1600 < 1).astype(np.uint8) * 255
            Image.fromarray(mask).save(folders[0] / f"{k}.jpg", quality=quality)
            Image.fromarray(mask).save(folders[1] / f"{k}.png")
            Image.fromarray(np.roll(mask, (2, k - 3), (0, 1))).save(folders[2] / f"{k}.png")
        return folders

    return save


@pytest.mark.parametrize("quality", [75, 95])
@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        ("labels", "not-countable"),
        ("pixels", "grey-ground-truth"),
        ("contours", "not-countable"),
        ("anomalies", "grey-ground-truth"),
    ],
)
def test_ground_truth_as_jpeg_is_not_taken_for_predictions(segbench, truth_as_jpeg, verb, kind, quality):
    jpeg, png, predicted = truth_as_jpeg(quality)
    error = segbench(verb, jpeg, predicted).error
    insist(error, "check-failed", findings=(kind,))
    assert Setting("positive", ">=128") in error.settings
    assert not any("order" in message.values for message in parts_of(error, Message))
    runs = [
        json.loads(segbench(verb, truth, predicted, *options, "--format", "json").out)["runs"][0]["summary"]
        for truth, options in ((jpeg, ("--positive", ">=128")), (png, ()))
    ]
    assert runs[0] == runs[1]


def test_ground_truth_that_may_be_soft_maps_has_both_ways_out(segbench, truth_as_jpeg):
    jpeg, png, predicted = truth_as_jpeg(5)
    error = segbench("pixels", jpeg, predicted).error
    insist(error, "check-failed", settings={"positive": ">=128"}, findings=("exchanged",))
    assert {"order", "positive"} == within(error, "finding")["fix"].values.keys()
    followed = segbench("check", jpeg, predicted, "--positive", ">=128", "--format", "json").out
    assert "exchanged" not in followed
    assert "exchanged" not in segbench("check", png, predicted, "--format", "json").out


@pytest.mark.parametrize(("maps", "extension"), [(np.asarray, "jpg"), (as_mask, "png")], ids=["soft maps", "PNG"])
def test_others_are_not(saved, maps, extension):
    assert "jpeg-masks" not in {finding.kind for finding in library.check(*saved(maps, extension)).findings}
