"""One image by `count`, by `evaluate` of a pair, and by an accumulator: the same counts, or the same refusal."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

import segbench
from segbench import ArgumentError, DataError, SegbenchError

PROTOCOLS = [
    segbench.Pixels(),
    segbench.Pixels(positive=">0", void=255, at=0.5, calibration=True),
    segbench.Pixels(invert=True, quantize=8),
    segbench.Classes(labels=range(2)),
    segbench.Labels(),
    segbench.Labels(classes=3),
    segbench.Labels(classes=2, background=0),
    segbench.Boundaries(thresholds=5, max_dist="1px"),
    segbench.Boundaries(thresholds=3, label_maps=True, crispness=True),
    segbench.Regions(thresholds=5),
    segbench.Saliency(),
    segbench.Contours(nsd=(1, 2)),
    segbench.Contours(at=0.5, void=255),
    segbench.Contours(classes=3, background=0),
    segbench.Centerlines(),
    segbench.Centerlines(thresholds=3),
    segbench.Objects(iou=0.5),
    segbench.Objects(kind="components", at=0.5),
    segbench.Objects(kind="panoptic", divisor=10, classes=3),
    segbench.Anomalies(),
    segbench.Anomalies(void=255, image_score="top1"),
]
DRAWN = np.zeros((8, 10), int)
DRAWN[1:4, 1:6], DRAWN[5:7, 2:9] = 1, 2


def maps(rng):
    """Draw a map of one of many types: masks, labels, levels, scores, with void, of one value, or not finite."""
    noise = rng.random(DRAWN.shape)
    moved = np.roll(DRAWN, rng.integers(0, 3), rng.integers(0, 2))
    mask = moved > 0
    kinds = {
        "bool": mask,
        "0 and 1": mask.astype(rng.choice(["uint8", "int64", "float32"])),
        "0 and 255": (mask * 255).astype(rng.choice(["uint8", "uint16", "float64"])),
        "labels": moved.astype(rng.choice(["uint8", "int64"])),
        "void": np.where(noise < 0.1, 255, mask).astype(np.uint8),
        "labels and void": np.where(noise < 0.1, 255, moved).astype(np.uint8),
        "1 and 2": mask + 1,
        "levels": np.rint(255 * np.clip(0.6 * mask + 0.4 * noise, 0, 1)).astype(np.uint8),
        "scores": np.clip(0.6 * mask + 0.4 * noise, 0, 1).astype(rng.choice(["float16", "float32", "float64"])),
        "logits": 6 * noise - 3,
        "nan": np.where(noise < 0.05, np.nan, noise),
        "panoptic": moved * 10 + mask,
        "one value": np.full(DRAWN.shape, rng.choice([0, 1, 255]), np.uint8),
        "masked": np.ma.array(mask, mask=noise < 0.1),
        "one channel": mask[None],
        "classes": np.stack([noise, 1 - noise, noise / 2]).astype(np.float32),
        "two classes": np.stack([noise, 1 - noise]),
        "half": mask[::2, ::2],
        "a row": mask.ravel(),
    }
    return kinds[rng.choice(list(kinds))]


def outcome(count_image):
    """Return counts, or the type of what is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return count_image()
        except SegbenchError as error:
            return type(error)


def accumulated(protocol, truth, predicted, valid):
    accumulator = segbench.Accumulator(protocol)
    accumulator.update(truth, predicted, valid, name="0")
    return accumulator.compute()


def is_left_to_the_set(protocol, truth, valid):
    """Return whether an image shows by itself less, or more, than a set of it would say; see `segbench.count`."""
    held = np.unique(np.asarray(truth).astype(float) if valid is None else np.asarray(truth)[valid].astype(float))
    if isinstance(truth, np.ma.MaskedArray):
        held = np.unique(truth.compressed().astype(float))
    masks = protocol.name in ("pixels", "labels") and protocol.positive is None
    if masks and getattr(protocol, "classes", None) is None:
        return np.asarray(truth).dtype != bool and (held.size == 1 or held[0] != 0)
    of_two_classes = protocol.name in ("labels", "contours", "classes")
    return of_two_classes and 255 in held  # a set of images with one class and void is refused, one image is not


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
@given(seed=st.integers(0, 10**6), leave_out=st.booleans())
def test_the_same_counts_or_the_same_refusal(protocol, seed, leave_out):
    rng = np.random.default_rng(seed)
    truth, predicted = maps(rng), maps(rng)
    shape = np.shape(truth)
    valid = rng.random(shape) < 0.8 if leave_out else None
    if valid is not None and valid.ndim == 3:
        valid = None
    if len(np.squeeze(truth).shape) != 2:  # of any shape `Pixels` and `Labels` take; see below
        return
    counts = outcome(lambda: segbench.count(truth, predicted, protocol, valid))
    arrays = (truth, predicted) if valid is None else (truth, predicted, valid)
    by_pair = outcome(lambda: segbench.evaluate([arrays], protocol=protocol))
    assert type(by_pair) is type(outcome(lambda: accumulated(protocol, truth, predicted, valid)))
    if is_left_to_the_set(protocol, truth, valid):
        return
    if isinstance(counts, type):
        assert by_pair == counts
        return
    assert counts == by_pair.counts["0"]
    assert_same(counts.metrics(), by_pair.per_image["0"])


def assert_same(metrics, expected):
    assert list(metrics) == list(expected)
    assert [*map(repr, metrics.values())] == [*map(repr, expected.values())]
    assert metrics.undefined == expected.undefined


class TestWhatAnImageShowsByItself:
    SCORES = np.array([[0.2, 0.9, 0.4]])

    @pytest.mark.parametrize("protocol", [segbench.Pixels(), segbench.Labels()])
    def test_a_value_above_0_is_positive(self, protocol):
        predicted = self.SCORES if protocol.name == "pixels" else self.SCORES > 0.5
        of_bool = segbench.count([[False, True, False]], predicted, protocol)
        for value in (1, 255, 0.5):
            assert segbench.count(np.array([[0, value, 0]]), predicted, protocol) == of_bool
        nothing = segbench.count([[0, 0, 0]], predicted, protocol)
        assert nothing == segbench.count(np.zeros((1, 3), bool), predicted, protocol)
        for odd in ([[1, 1, 1]], [[255, 255, 255]], [[1, 2, 1]], [[-1, 0, 0]]):
            with refused("several-values", DataError, path="ground_truth") as raised:
                segbench.count(odd, predicted, protocol)
            assert {advised.name for advised in raised.value.settings} == {"positive"}
        assert (nothing + of_bool).ground_truth != nothing.ground_truth

    def test_all_true_is_as_it_is(self):
        assert segbench.count(np.ones((1, 3), bool), self.SCORES).total_positives == 3

    def test_masks_of_different_values_do_not_add_up(self):
        ones, levels = (segbench.count(np.array([[0, value]]), [[0, 1]], "labels") for value in (1, 255))
        assert ones == levels
        with refused("several-positives", ArgumentError, listed="1 and 255", values=(1, 255)):
            ones + levels

    def test_an_image_may_hold_one_class_and_void(self):
        assert segbench.count([[1, 255]], [[1, 0]], segbench.Labels(classes=2)).ignored == 1


class TestAnnotators:
    LINES = np.zeros((2, 9, 9), bool)
    LINES[0, 4], LINES[1, 5] = True, True

    @pytest.mark.parametrize("several", [list, tuple])
    def test_a_list_of_arrays_is_one_for_each(self, several):
        counts = segbench.count(several(self.LINES), self.LINES[0] * 0.5, segbench.Boundaries(thresholds=1))
        assert counts.total_gt.tolist() == [18]
        assert segbench.count(several(self.LINES), self.LINES[0].astype(int), "regions").area == 2 * 81

    def test_nested_lists_of_numbers_are_one_array(self):
        line = self.LINES[0].tolist()
        for protocol in ("boundaries", "contours", "labels", "pixels", "saliency"):
            assert segbench.count(line, line, protocol) == segbench.count(self.LINES[0], self.LINES[0], protocol)

    @pytest.mark.parametrize(
        "name", ["pixels", "labels", "saliency", "contours", "centerlines", "objects", "anomalies"]
    )
    def test_one_is_expected(self, name):
        with refused("several-annotators", ArgumentError, name="ground_truth", arrays=2):
            segbench.count(list(self.LINES), self.LINES[0], name)

    def test_an_array_of_them_is_none(self):
        with refused("other-shape", ArgumentError, shape=(2, 9, 9)):
            segbench.count(self.LINES, self.LINES[0], "boundaries")

    def test_a_rule_for_pixels_holds_for_pairs_as_well(self):
        drawn, protocol = list(self.LINES), segbench.Pixels(annotators="any")
        counts = segbench.count(drawn, self.LINES[0], protocol)
        assert counts.total_positives == 18
        assert segbench.evaluate([(drawn, self.LINES[0])], protocol=protocol).counts["0"] == counts


class TestBatches:
    TRUTH = np.random.default_rng(0).integers(0, 3, (4, 6, 5))
    SCORES = np.random.default_rng(1).random((4, 3, 6, 5))

    def test_pixels_and_labels_add_all_up(self):
        each = [segbench.count(truth == 1, scores[1]) for truth, scores in zip(self.TRUTH, self.SCORES, strict=True)]
        assert segbench.count(self.TRUTH == 1, self.SCORES[:, 1]) == sum(each)
        labels = segbench.Labels(classes=3)
        pairs = zip(self.TRUTH, self.SCORES, strict=True)
        total = sum(segbench.count(truth, scores, labels) for truth, scores in pairs)
        assert segbench.count(self.TRUTH, self.SCORES, labels) == total
        assert segbench.count(self.TRUTH, self.SCORES.argmax(1), labels) == total
        assert segbench.count(self.TRUTH, self.SCORES.swapaxes(0, 1), labels) == total

    @pytest.mark.parametrize("name", ["objects", "centerlines", "saliency", "anomalies"])
    def test_others_refuse_them(self, name):
        with refused("other-shape", ArgumentError, shape=(4, 6, 5)):
            segbench.count(self.TRUTH, self.TRUTH, name)

    def test_classes_take_a_map_for_each(self):
        classes = segbench.Classes(labels=range(3))
        assert segbench.count(self.TRUTH[0], self.SCORES[0], classes).names == ("0", "1", "2")
        with refused("other-shape", ArgumentError, shape=(4, 6, 5)):
            segbench.count(self.TRUTH, self.SCORES, classes)


@pytest.mark.parametrize(
    ("protocol", "kind", "values"),
    [
        (segbench.Objects(kind="panoptic", classes=3), "no-arrays", {"settings": {"divisor": 1000}}),
        (segbench.Objects(kind="components", at="best"), "no-arrays", {"settings": {"at": 0.5}}),
        (
            segbench.Anomalies(image_scores={"a": 0.5}),
            "files-needed",
            {"settings": {"image_scores": None, "image_score": "max"}},
        ),
        (segbench.Annotators(settings=segbench.Boundaries()), "from-files", {}),
    ],
)
def test_what_needs_names_or_files(protocol, kind, values):
    with refused(kind, ArgumentError, **values):
        segbench.count(DRAWN, DRAWN, protocol)


class TestMetrics:
    TRUTH, PREDICTED = DRAWN > 0, np.roll(DRAWN, 1, 0) > 0

    def test_settings_are_those_that_count_was_given(self):
        counts = segbench.count(self.TRUTH, self.PREDICTED, segbench.Contours(nsd=1))
        assert "nsd@1" in counts.metrics()
        assert "nsd@3" in counts.metrics(segbench.Contours(nsd=3))
        assert counts == segbench.count(self.TRUTH, self.PREDICTED, "contours"), "they are no part of the counts"

    def test_sums_are_measured_as_one_image(self):
        counts = segbench.count(self.TRUTH, self.PREDICTED, "contours")
        total = (counts + counts).metrics()
        assert total["dice"] == counts.metrics()["dice"]
        assert math.isnan(total["hd"])
        assert (total.undefined["hd"].kind, total.undefined["hd"].values["images"]) == ("added-up", 2)

    def test_different_settings_ask_for_a_protocol(self):
        low, high = (segbench.count(self.TRUTH, self.PREDICTED * 0.9, segbench.Pixels(at=at)) for at in (0.3, 0.5))
        with refused("measured-otherwise", ArgumentError):
            (low + high).metrics()
        half = segbench.Pixels(at=0.5)
        assert (low + high).metrics(half)["recall@0.5"] == low.metrics(half)["recall@0.5"]
        assert "recall@0.3" in (low + low).metrics()

    def test_counts_of_a_result_are_measured_by_defaults(self):
        result = segbench.evaluate([(self.TRUTH, self.PREDICTED)], protocol=segbench.Contours(nsd=1))
        assert "nsd@2" in result.counts["0"].metrics()
        assert_same(result.counts["0"].metrics(result.rules), result.per_image["0"])

    def test_another_kind_of_counts(self):
        with refused("other-counts", ArgumentError, counted="LabelCounts", counts="ScoreCounts"):
            segbench.count(self.TRUTH, self.PREDICTED).metrics("labels")
