"""Predicted label maps where soft maps are expected: refused with what to do, and never confused with soft maps."""

import json

import numpy as np
import pytest
from cases import write_folder
from noted import advised, of_kind
from PIL import Image
from scipy.ndimage import gaussian_filter

import segbench as library

LABELS, IMAGES, SHAPE = 19, 4, (48, 64)


def truths(seed=0, labels=LABELS):
    rng = np.random.default_rng(seed)
    return {
        f"im{k}.png": np.kron(rng.integers(0, labels, (6, 8)), np.ones((8, 8))).astype(np.uint8) for k in range(IMAGES)
    }


def noisy(truth, rng, labels=LABELS, share=0.2):
    """Predict a label map that is right on most pixels."""
    wrong = rng.random(truth.shape) < share
    return np.where(wrong, rng.integers(0, labels, truth.shape), truth).astype(np.uint8)


def predicted(change=noisy, seed=1, of=None):
    rng = np.random.default_rng(seed)
    return {name: change(truth, rng) for name, truth in (of or truths()).items()}


def soft(truth, rng, label=16, high=255):
    """Predict a soft map of one class, in 8 bits up to `high`."""
    raised = 1 / (1 + np.exp(3 - 6 * (gaussian_filter((truth == label) * 1.0, 1) + 0.1 * rng.normal(size=truth.shape))))
    return np.rint(high * raised.clip(0, 1)).astype(np.uint8)


def as_palette(labels):
    image = Image.fromarray(labels, mode="P")
    image.putpalette(np.random.default_rng(5).integers(0, 256, 768).tolist())
    return image


@pytest.fixture
def checked(check_findings, tmp_path):
    """Check ground truth and predictions; return the exit code and the findings by key."""

    def check(gt, pred, *options):
        where = write_folder(tmp_path / "gt", gt), write_folder(tmp_path / "pred", pred)
        return check_findings(*where, *options)

    return check


@pytest.fixture
def folders(tmp_path):
    return write_folder(tmp_path / "gt", truths()), write_folder(tmp_path / "pred", predicted())


class TestPixels:
    def test_check_says_what_to_do_and_suggests_no_label(self, checked):
        code, found = checked(truths(), predicted())
        assert code == 1
        assert found.keys() == {"label-map"}
        finding = found["label-map"]
        assert finding["severity"] == "error"
        assert finding["side"] == "prediction"
        assert finding["images"] == ["im0", "im1", "im2", "im3"]
        assert (finding["values"]["count"], finding["values"]["total"]) == (4, 4)
        assert advised(finding["settings"])["classes"] == "0-18"
        assert "masks of 0 and 255" in finding["fix"]
        assert "no-check" not in finding["fix"]
        assert finding["files"][0]["detail"] == "values 0..18"

    @pytest.mark.parametrize("rule", ["16", "3,4", ">=16"])
    def test_a_chosen_label_is_refused_unless_unchecked(self, segbench, folders, rule):
        for verb in ("check", "pixels"):
            answer = segbench(verb, *folders, "--positive", rule)
            assert answer.code == 1
            assert "label-map: " in answer.out + answer.err
            assert "--no-check" in answer.out + answer.err
        counted = segbench("pixels", *folders, "--positive", rule, "--no-check", "--format", "json")
        assert counted.code == 0
        assert json.loads(counted.out)["runs"][0]["images"] == 4

    @pytest.mark.parametrize("options", [(), ("--void", "255"), ("--positive", "16")])
    def test_void_beside_the_labels(self, checked, options):
        gt = truths()
        for truth in gt.values():
            truth[:3] = 255
        _, found = checked(gt, predicted(), *options)
        assert found.keys() == {"label-map"}
        assert advised(found["label-map"]["settings"])["classes"] == "0-18"

    @pytest.mark.parametrize("as_type", [np.uint16, np.int64, np.float32])
    def test_arrays_of_any_type(self, checked, as_type):
        pred = {name.replace("png", "npy"): map_.astype(as_type) for name, map_ in predicted().items()}
        assert checked(truths(), pred)[1].keys() == {"label-map"}

    @pytest.mark.parametrize("options", [(), ("--positive", "16")])
    def test_palettes(self, segbench, folders, options):
        for path in folders[1].iterdir():
            as_palette(np.asarray(Image.open(path))).save(path)
        answer = segbench("check", *folders, *options)
        assert answer.code == 1
        assert "label-map: 4 predictions of 4" in answer.out
        assert "colours" in answer.out
        assert "turned to grey" not in answer.out

    def test_many_labels_predicted_that_these_images_lack(self, checked):
        few = truths(labels=5)
        assert checked(few, predicted(lambda t, rng: noisy(t, rng, LABELS, 0.3), of=few))[1].keys() == {"label-map"}

    def test_a_label_map_of_three_labels(self, checked):
        few = truths(labels=3)
        assert checked(few, predicted(lambda t, rng: noisy(t, rng, 3), of=few))[1].keys() == {"label-map"}

    def test_images_of_two_labels_each(self, checked):
        stripes = np.broadcast_to(np.arange(64) // 8 % 2, SHAPE)
        gt = {f"im{k}.png": (stripes * (k + 1)).astype(np.uint8) for k in range(3)}
        assert checked(gt, predicted(lambda t, _: np.roll(t, 1, 1), of=gt))[1].keys() == {"label-map"}


class TestNoLabelMaps:
    """Everything that a label map could be confused with counts as before."""

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(soft, id="8 bits"),
            pytest.param(lambda t, rng: soft(t, rng) // 51 * 51, id="six levels"),
            pytest.param(lambda t, rng: soft(t, rng, high=12), id="a class that is never sure"),
            pytest.param(lambda t, rng: soft(t, rng).astype(np.uint16) * 257, id="16 bits"),
            pytest.param(lambda t, rng: soft(t, rng) / np.float32(255), id="floats"),
            pytest.param(lambda t, rng: 255 * (noisy(t, rng) == 16).astype(np.uint8), id="mask of 0 and 255"),
            pytest.param(lambda t, rng: (noisy(t, rng) == 16).astype(np.uint8), id="mask of 0 and 1"),
            pytest.param(lambda t, _: np.zeros_like(t), id="nothing"),
        ],
    )
    def test_scores_and_masks(self, checked, change):
        pred = {name.replace("png", "npy"): map_ for name, map_ in predicted(change).items()}
        code, found = checked(truths(), pred, "--positive", "16")
        assert code == 0
        assert "label-map" not in found
        _, found = checked(truths(), pred)
        assert "positive" in advised(found["labels"]["settings"])

    @pytest.mark.parametrize(("low", "high"), [(0, 255), (0, 1)])
    def test_hard_masks_against_masks(self, checked, low, high):
        gt = {name: np.where(truth > 9, high, low).astype(np.uint8) for name, truth in truths().items()}
        pred = {name: np.where(map_ > 9, high, low).astype(np.uint8) for name, map_ in predicted().items()}
        assert checked(gt, pred)[0] == 0

    def test_masks_as_jpeg_leaves_them(self, segbench, tmp_path):
        masks = {
            name.replace("png", "jpg"): np.where(np.roll(t, 3, 1) > 9, 255, 0).astype(np.uint8)
            for name, t in truths().items()
        }
        where = write_folder(tmp_path / "gt", masks), write_folder(tmp_path / "pred", masks)
        shown = segbench("check", *where).out
        assert "grey-ground-truth" in shown
        assert "label-map" not in shown

    def test_one_soft_map_among_label_maps(self, checked):
        pred = predicted()
        pred["im0.png"] = soft(truths()["im0.png"], np.random.default_rng(2))
        assert "label-map" not in checked(truths(), pred, "--positive", "16")[1]


class TestEvaluate:
    def test_the_error_suggests_no_label(self, folders):
        with pytest.warns(library.FailedImages) as warned:
            result = library.evaluate(*folders)
        (said,) = warned[0].message.args
        assert (said.kind, said.values["failed"], said.values["first"].kind) == (
            "failed-images",
            IMAGES,
            "label-map-predicted",
        )
        failure = result.failed["im3"]
        assert (failure.kind, failure.values["values"].kind) == ("label-map-predicted", "several-values")
        assert advised(failure.settings) == {"classes": "0-18", "positive": "16"}


class TestClasses:
    EXPECTED = "is one map, or a label map, expected one soft map per class: 19"

    def test_check_and_run_say_what_is_wrong(self, segbench, folders):
        checked = segbench("check", *folders, "--classes", "0-18")
        assert checked.code == 1
        assert f"pred/im0.png: {self.EXPECTED}" in checked.out
        assert "error    class-maps: 4 predictions of 4 inspected are not one soft map per class" in checked.out
        assert "cannot be read" not in checked.out
        assert "maps of the classes, in this order" not in checked.out
        run = segbench("pixels", *folders, "--classes", "0-18")
        assert run.code == 1
        assert self.EXPECTED in run.err

    def test_one_class(self, segbench, folders, tmp_path):
        for verb in ("check", "pixels"):
            answer = segbench(verb, *folders, "--classes", "16")
            assert answer.code == 1
            assert "label-map: " in answer.out + answer.err
        softly = write_folder(tmp_path / "soft", predicted(soft))
        assert segbench("check", folders[0], softly, "--classes", "16").code == 0


@pytest.mark.parametrize("label", [255, LABELS])
def test_a_label_that_marks_pixels_without_one_is_not_to_become_a_class(tmp_path, label):
    def guessed(truth, rng):
        found = noisy(truth, rng)
        found[:4] = label
        return found

    folders = write_folder(tmp_path / "gt", truths()), write_folder(tmp_path / "pred", predicted(guessed))
    findings = library.check(*folders, library.Labels(classes=LABELS)).findings
    (found,) = of_kind(findings, "outside-classes")
    assert found.message.values["labels"] == (label,)
    assert ("classes" in advised(found.settings)) == (label == LABELS)
