"""Stacks of one map per class, given with the wrong classes, without any, or to a protocol that reads one map."""

import json

import numpy as np
import pytest
from cases import write_folder
from refusing import refused
from scipy.special import softmax
from sklearn.metrics import f1_score, jaccard_score, roc_auc_score

import segbench as package
from segbench import ArgumentError, Classes, DataError
from segbench.core.messages import Either, Setting

RNG = np.random.default_rng(8)
TRUTH = RNG.integers(0, 3, (20, 30)).astype(np.uint8)
SCORES = RNG.random((3, 20, 30)) + np.stack([label == TRUTH for label in range(3)]) * 0.6
MIOU = jaccard_score(TRUTH.ravel(), SCORES.argmax(0).ravel(), average="macro")


@pytest.fixture
def folders(tmp_path):
    """Write ground truth and predictions as given."""

    def write(truth=TRUTH, predicted=SCORES):
        return write_folder(tmp_path / "gt", {"a.npy": truth}), write_folder(tmp_path / "pred", {"a.npy": predicted})

    return write


def metric(answer, key):
    assert answer.code == 0, answer.err + answer.out
    return json.loads(answer.out)["runs"][0]["summary"][key]


def advised(answer):
    """Return the settings that would help the only image of a run."""
    (failure,) = json.loads(answer.out)["runs"][0]["failures"].values()
    return failure["settings"]


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("given", [(), ("--classes", "3")])
@pytest.mark.parametrize(("verb", "key"), [("labels", "miou"), ("pixels", "macro_iou")])
def test_the_classes_of_the_maps_are_named(segbench, folders, verb, key, given, axis):
    places = folders(predicted=np.moveaxis(SCORES, 0, axis))
    assert segbench(verb, *places, *given).code == 1
    checked = segbench("check", verb, *places, *given, "--format", "json")
    assert [
        finding for finding in json.loads(checked.out)["reports"][0]["findings"] if "--classes 0-2" in finding["fix"]
    ]
    found = metric(segbench(verb, *places, "--classes", "0-2", "--format", "json"), key)
    if verb == "labels":
        assert found == pytest.approx(MIOU)


@pytest.mark.parametrize("stack", [SCORES[None, 1], SCORES[1, ..., None]], ids=["first", "last"])
def test_one_map_with_three_axes_is_a_map(segbench, folders, stack):
    places = folders(truth=(TRUTH == 1).astype(np.uint8), predicted=stack / 2)
    answer = segbench("labels", *places, "--no-check", "--format", "json")
    assert advised(answer)[:1] == [{"name": "predicted_positive", "value": ">=0.5"}]
    found = metric(segbench("labels", *places, "--predicted-positive", ">=0.5", "--format", "json"), "dice")
    assert found == pytest.approx(f1_score((TRUTH == 1).ravel(), (SCORES[1] >= 1).ravel()))
    labels = folders(predicted=SCORES.argmax(0)[None])
    assert metric(segbench("labels", *labels, "--classes", "0-2", "--format", "json"), "miou") == pytest.approx(MIOU)


def test_check_names_the_verb_of_stacks(segbench, folders):
    answer = segbench("check", *folders(), "--format", "json")
    (finding,) = json.loads(answer.out)["reports"][0]["findings"]
    assert (answer.code, finding["kind"]) == (1, "class-stacks")
    assert "segbench labels GT PRED --classes 0-2" in finding["fix"]
    assert "segbench pixels GT PRED --classes 0-2" in finding["fix"]


def test_check_names_no_classes_where_two_maps_are_those_of_a_mask(segbench, folders):
    places = folders(truth=(TRUTH == 1) * np.uint8(255), predicted=SCORES[[0, 1]])
    (finding,) = json.loads(segbench("check", *places, "--format", "json").out)["reports"][0]["findings"]
    assert "segbench labels GT PRED for the argmax" in finding["fix"]
    found = metric(segbench("labels", *places, "--format", "json"), "dice")
    assert found == pytest.approx(f1_score((TRUTH == 1).ravel(), (SCORES[1] > SCORES[0]).ravel()))


OF_MASKS = {"a.npy": np.uint8(255) * (TRUTH == 1), "b.npy": np.zeros_like(TRUTH)}
TWO_MAPS = {name: np.stack([1 - SCORES[1] / 2, SCORES[1] / 2]) for name in OF_MASKS}


class TestTwoMapsBesideMasksOf0And255:
    """Label 255 is void by default, and images without anything to find show no value but 0."""

    @pytest.fixture
    def places(self, tmp_path):
        return write_folder(tmp_path / "gt", OF_MASKS), write_folder(tmp_path / "pred", TWO_MAPS)

    @pytest.mark.parametrize(
        "command",
        ["pixels", "centerlines", "contours --at 0.5", "objects --kind components --at 0.5", "boundaries"],
    )
    def test_are_told_the_classes_of_the_whole_set(self, segbench, places, command):
        verb, *options = command.split()
        said = segbench("check", verb, *places, *options, "--format", "json").out
        finding = json.loads(said)["reports"][0]["findings"][0]
        assert finding["kind"] == "class-stacks"
        assert finding["fix"].count("segbench pixels GT PRED") == 1
        assert "segbench pixels GT PRED --classes 0,255 --void none" in finding["fix"]

    def test_are_refused_where_nothing_but_one_class_counts(self, segbench, places):
        given = (*places, "--classes", "0-1")
        (finding,) = json.loads(segbench("check", *given, "--format", "json").out)["reports"][0]["findings"]
        assert (finding["kind"], finding["values"]["error"]) == ("not-countable", "one-class")
        assert finding["fix"] == "count it: --classes 0,255 and --void none"
        assert segbench("pixels", *given).code == 1
        with refused("one-class", DataError, path="ground truth", settings={"void": ()}, label=0):
            package.evaluate(*places, Classes(labels=[0, 1]))

    def test_are_counted_as_advised(self, segbench, places):
        answer = segbench("pixels", *places, "--classes", "0,255", "--void", "none", "--format", "json")
        truth, scores = (np.stack([*maps.values()]) for maps in (OF_MASKS, TWO_MAPS))
        expected = roc_auc_score(truth.ravel() == 255, scores[:, 1].ravel())
        assert metric(answer, "macro_auc_roc") == pytest.approx(expected)

    def test_a_label_of_no_class_has_negatives(self):
        truth = np.where(TRUTH == 0, 255, TRUTH)
        found = package.evaluate([(truth, SCORES[:2])], protocol=Classes(labels=[1, 3]))
        assert found.summary["classes_present"] == 1


@pytest.mark.parametrize(
    ("truth", "maps", "listed"),
    [
        (TRUTH, 4, Setting("classes", "0-3")),
        (TRUTH * 100, 3, Setting("classes", "0,100,200")),
        (np.where(TRUTH == 2, 255, TRUTH), 3, Setting("classes", "0-2")),
        ((TRUTH == 1) * 255, 3, Either("classes=...", "--classes")),
    ],
)
def test_the_classes_suggested_are_those_of_the_ground_truth(truth, maps, listed):
    with refused("other-size", DataError, path="prediction", shape=(maps, 20, 30)) as raised:
        package.count(truth, RNG.random((maps, 20, 30)), "labels")
    assert raised.value.hint.values == {"maps": maps, "listed": listed}


@pytest.mark.parametrize(
    ("stack", "reduced"),
    [
        (RNG.random((3, 8, 10)), "numpy.array([0, 5, 9])[scores.argmax(axis=0)]"),
        (RNG.random((8, 10, 3)), "numpy.array([0, 5, 9])[scores.argmax(axis=-1)]"),
        (SCORES.swapaxes(1, 2), "swap rows and columns"),
    ],
)
def test_the_reduction_suggested_gives_labels_and_not_places(stack, reduced):
    with refused("other-size", DataError, path="prediction", shape=stack.shape) as raised:
        package.count(TRUTH, stack, package.Labels(classes=[0, 5, 9]))
    assert reduced in raised.value.hint.values["text"]


def test_arrays_name_the_protocols_of_stacks():
    with refused("other-shape", ArgumentError, name_has="labels have", shape=(20, 30), expected=(3, 20, 30)):
        package.evaluate([(TRUTH, SCORES)])
    with refused("other-size", DataError, classes="1 class") as raised:
        package.evaluate([(TRUTH, SCORES)], protocol=Classes(labels=[3]))
    assert raised.value.hint.values["listed"].python == "labels=range(3)"


def test_a_map_of_the_background_that_is_no_class_may_be_left_out():
    with refused("other-size", DataError, classes="2 classes"):
        package.evaluate([(TRUTH, SCORES)], protocol=Classes(labels=[1, 2]))
    assert package.evaluate([(TRUTH, SCORES[1:])], protocol=Classes(labels=[1, 2])).summary["classes"] == 2


class TestSoftmaxOverAnotherAxis:
    """Scores that a softmax made of those of a row or column, rather than of those of the classes of a pixel."""

    BY_AXIS = softmax(4 * SCORES, 0), softmax(4 * SCORES, 1), softmax(4 * SCORES, 2)

    @pytest.mark.parametrize("last", [False, True])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize("wrong", [1, 2])
    @pytest.mark.parametrize(
        "protocol", [package.Labels(classes=3), Classes(labels=range(3))], ids=["labels", "pixels"]
    )
    def test_is_refused(self, protocol, wrong, dtype, last):
        stack = self.BY_AXIS[wrong].astype(dtype)
        stack, own, other = (np.moveaxis(stack, 0, -1), 2, wrong - 1) if last else (stack, 0, wrong)
        with refused("softmax-axis", DataError, axis=other, expected=own):
            package.evaluate([(TRUTH, stack)], protocol=protocol)

    @pytest.mark.parametrize("verb", ["labels", "pixels", "contours"])
    def test_is_found_before_a_run(self, segbench, folders, verb):
        places = folders(predicted=self.BY_AXIS[2])
        checked = segbench("check", verb, *places, "--classes", "0-2", "--format", "json")
        counted = segbench(verb, *places, "--classes", "0-2", "--no-check", "--format", "json")
        assert (checked.code, counted.code) == (1, 1)
        finding = json.loads(checked.out)["reports"][0]["findings"][0]
        assert finding["kind"] == ("class-maps" if verb == "pixels" else "not-countable")
        (failure,) = json.loads(counted.out)["runs"][0]["failures"].values()
        assert failure["kind"] == "softmax-axis"

    def test_over_the_classes_gives_the_metric_of_the_scores(self):
        miou = package.evaluate([(TRUTH, self.BY_AXIS[0])], protocol=package.Labels(classes=3)).summary["miou"]
        assert miou == pytest.approx(MIOU)
        wrong = package.Labels(classes=3).table(
            {"": package.count(TRUTH, self.BY_AXIS[2].argmax(0), package.Labels(classes=3))}
        )
        assert wrong.summary()["miou"] != pytest.approx(MIOU)

    @pytest.mark.parametrize("stack", [
        np.ones((3, 20, 30)),
        np.zeros((3, 20, 30)),
        np.full((3, 20, 30), 1 / 3),
        np.stack([label == TRUTH for label in range(3)]).astype(float),
        RNG.normal(size=(3, 20, 30)),
        softmax(RNG.random((3, 20, 30)), 0),
    ], ids=["ones", "zeros", "constant", "one-hot", "logits", "probabilities"])  # fmt: skip
    def test_other_scores_are_counted(self, stack):
        counts = package.count(TRUTH, stack, package.Labels(classes=3))
        assert (counts.matrix == package.count(TRUTH, stack.argmax(0), package.Labels(classes=3)).matrix).all()
