"""What is odd beside a positive value, and beside a threshold, is said in notes; what cannot be right is refused."""

from dataclasses import replace

import numpy as np
import pytest
from noted import kinds, noted, of_kind
from refusing import refused

import segbench
from segbench import (
    Accumulator,
    Anomalies,
    Centerlines,
    Contours,
    DataError,
    Labels,
    Objects,
    Pixels,
    Repairs,
    Saliency,
    Sample,
    evaluate,
)
from segbench.core.messages import Setting

pytestmark = pytest.mark.filterwarnings("ignore:scores outside 0 to 1")  # see tests/aggregator/test_doubts.py
RANDOM = np.random.default_rng(0)
SCORES = RANDOM.random((1, 20, 20))
MASKS = {
    "contours": Contours(at=0.5),
    "centerlines": Centerlines(at=0.5),
    "components": Objects(kind="components", at=0.5),
}


NOTHING_PREDICTED = ("", "nothing-predicted", {"given": Setting("at", 0.5)})
KINDS = {"objects": {"kind": "components"}}


def labels_of(*values):
    return np.resize(np.array(values), SCORES.shape)


def as_negative(values, number, void):
    """Return side, kind and values of the note on values like void beside the positive value 1."""
    left_out = {"given": Setting("positive", "1"), "void": Setting("void", void)}
    return "ground truth", "void-as-negative", {"values": values, "number": number} | left_out


def notes(protocol, labels, scores=SCORES):
    accumulator = Accumulator(protocol)
    accumulator.update(labels, scores, names=["a"])
    return accumulator.compute().notes


class TestValues:
    @pytest.mark.parametrize(
        "protocol",
        [
            Pixels(positive=1),
            Labels(positive=1, predicted_positive=">=0.5"),
            Contours(positive=1, at=0.5),
            Centerlines(positive=1, at=0.5),
            Objects(kind="components", positive=1, at=0.5),
            Anomalies(positive=1),
        ],
    )
    def test_void_that_is_not_declared(self, protocol):
        assert noted(notes(protocol, labels_of(0, 1, 255))) == [as_negative("255", 1, (255,))]

    def test_other_values_of_void(self):
        found = notes(Pixels(positive=1, void=(7,)), labels_of(-100, -1, 0, 1, 7))
        assert noted(found) == [as_negative("-100, -1", 2, (-100, -1, 7))]

    @pytest.mark.parametrize("dtype", [np.uint8, np.float32])
    def test_jpeg(self, dtype):
        (note,) = notes(Pixels(positive=255), labels_of(3, 12, 250, 254, 255).astype(dtype))
        assert (note.side, note.kind, note.message.settings) == (
            "ground truth",
            "grey-as-negative",
            (Setting("positive", ">=128"),),
        )
        assert (note.values["half"], note.values["given"]) == ("128", Setting("positive", "255"))
        assert notes(Saliency(positive=255), labels_of(3, 12, 250, 254, 255)) == (note,)

    @pytest.mark.parametrize(
        ("rule", "values"),
        [
            (3, range(19)),  # a class of a label map
            (3, range(255)),
            (149, range(150)),
            (1, (0, 1)),
            (255, (0, 255)),
            (0, (0, 255)),  # black on white
            (128, (0, 128, 255)),  # three classes in grey
            ("128,255", (0, 128, 255)),
            (255, (0, 85, 170, 255)),
            (255, (0, 3, 255)),
            (">=128", (3, 12, 250, 254)),
        ],
    )
    def test_label_maps_and_masks_have_no_note(self, rule, values):
        assert notes(Pixels(positive=rule), labels_of(*values)) == ()

    @pytest.mark.parametrize("level", [127, 128, 200])
    def test_a_level_between_those_of_masks_is_void_or_positive(self, level):
        """As the unknown band of trimaps and the borders of objects are."""
        for masks in (
            Pixels(positive=255),
            Labels(positive=255, predicted_positive=">=0.5"),
            Contours(positive=255, at=0.5),
        ):
            (note,) = notes(masks, labels_of(0, level, 255))
            assert (note.side, note.kind, note.values["value"]) == ("ground truth", "value-as-negative", level)
            assert note.message.settings == (Setting("void", (level,)), Setting("positive", f"{level},255"))
            assert notes(replace(masks, void=(level,)), labels_of(0, level, 255)) == ()
            assert notes(replace(masks, positive=f"{level},255"), labels_of(0, level, 255)) == ()
        (note,) = notes(Saliency(positive=255), labels_of(0, level, 255))
        assert (note.kind, note.message.settings) == ("value-as-negative", (Setting("positive", f"{level},255"),))

    def test_void_that_is_declared(self):
        assert notes(Pixels(positive=1, void=(255,)), labels_of(0, 1, 255)) == ()
        assert notes(Labels(positive=1, void=(255,)), labels_of(0, 1, 255), labels_of(0, 1)) == ()

    def test_pixels_that_are_left_out_have_no_say(self):
        labels = labels_of(0, 1, 255)
        accumulator = Accumulator(Pixels(positive=1))
        accumulator.update(labels, SCORES, labels != 255)
        assert accumulator.compute().notes == ()

    def test_accumulators_keep_notes(self):
        one, other = Accumulator(Pixels(positive=1)), Accumulator(Pixels(positive=1))
        other.update(labels_of(0, 1, 255), SCORES)
        one.merge(other)
        assert noted(one.compute().notes) == [as_negative("255", 1, (255,))]

    def test_files_say_of_how_many_images(self, tmp_path):
        for folder, arrays in (("gt", [labels_of(0, 1)[0], labels_of(0, 1, 255)[0]]), ("pred", [SCORES[0]] * 2)):
            (tmp_path / folder).mkdir()
            for name, array in enumerate(arrays):
                np.save(tmp_path / folder / f"{name}.npy", array)
        result = evaluate(tmp_path / "gt", tmp_path / "pred", Pixels(positive=1))
        (note,) = of_kind(result.notes, "void-as-negative")
        assert (note.values["values"], note.values["images"], note.values["total"]) == ("255", 1, 2)


@pytest.mark.parametrize("protocol", MASKS.values(), ids=MASKS)
class TestThresholds:
    MASK = labels_of(0, 1, 1, 0).astype(np.uint8)

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64])
    def test_masks_of_0_and_1_need_none(self, protocol, dtype):
        with refused("low-levels", DataError, path="predictions", settings={"scale": 1}):
            notes(protocol, self.MASK, self.MASK.astype(dtype))

    def test_one_image_alone(self, protocol):
        at = type(protocol)(at=0.5, **KINDS.get(protocol.name, {}))
        with refused("low-levels", DataError, path="predictions", settings={"scale": 1}):
            segbench.count(self.MASK[0], self.MASK[0], at)

    def test_floats_are_compared_as_they_are_counted(self, protocol):
        at = type(protocol)(at=0.7, **KINDS.get(protocol.name, {}))
        cut, all_high = np.where(self.MASK, 0.7, 0.2), np.full(self.MASK.shape, 0.7)
        for dtype in (np.float32, np.float64):
            found = [notes(at, self.MASK, scores.astype(dtype)) for scores in (cut, all_high)]
            if protocol.name == "objects":  # whose scores have to be above the threshold
                assert [*map(kinds, found)] == [["nothing-predicted"]] * 2
            else:
                assert [*map(kinds, found)] == [[], ["all-predicted"]]
            assert {note.values["given"] for of_scores in found for note in of_scores} == {Setting("at", 0.7)}

    @pytest.mark.parametrize("scores", [MASK * 255, MASK > 0, MASK.astype(float)])
    def test_other_masks_are_above_half(self, protocol, scores):
        assert notes(protocol, self.MASK, scores) == ()

    def test_levels_that_are_all_but_0_are_levels_beside_others(self, protocol):
        accumulator = Accumulator(protocol)
        accumulator.update(self.MASK, self.MASK, names=["blank"])
        accumulator.update(self.MASK, self.MASK * 200, names=["other"])
        assert noted(accumulator.compute().notes) == [NOTHING_PREDICTED]

    def test_masks_of_0_and_1_among_soft_maps(self, protocol):
        accumulator = Accumulator(protocol)
        for name, scores in enumerate([self.MASK, self.MASK, self.MASK * 200, self.MASK * 255]):
            accumulator.update(self.MASK, scores, names=[name])
        with refused("mixed-levels", DataError, path="predictions", settings={}, images=2, total=4):
            accumulator.compute()

    @pytest.mark.parametrize(("level", "share"), [(128, 0.5), (200, 0.7824), (1000, 0.015251), (65535, 0.999992)])
    def test_levels_are_told_the_score_that_cuts_them_so(self, protocol, level, share):
        levels = labels_of(0, level - 1, level, level).astype(np.uint8 if level < 256 else np.uint16)
        with refused("above-scores", DataError, settings={"at": share}, given=Setting("at", level)) as raised:
            notes(replace(protocol, at=level), self.MASK, levels)
        assert raised.value.hint.values["levels"] == str(level)
        truth = levels[0] >= level
        found = []
        for at, scores in ((share, levels[0]), (0.5, truth)):
            cut = replace(protocol, at=at)
            counts = cut.count(Sample("a", (truth,), (scores,))).counts
            found.append(repr(cut.table({"a": counts}).summary()))
        assert found[0] == found[1]

    @pytest.mark.parametrize("scores", [MASK * 255, MASK > 0, MASK * 0.9])
    def test_levels_and_shares_are_below_a_threshold_of_levels(self, protocol, scores):
        with refused("above-scores", DataError, path="predictions", given=Setting("at", 128)):
            notes(replace(protocol, at=128), self.MASK, scores)

    def test_masks_of_0_and_1_are_not_told_to_take_a_scale_that_leaves_them_below(self, protocol):
        with refused("low-levels", DataError, settings={}):
            notes(replace(protocol, at=128), self.MASK, self.MASK)

    def test_floats_on_the_scale_of_levels_are_cut_there(self, protocol, tmp_path):
        levels = np.array([[0, 127, 128, 255]])
        for folder, array in (("gt", levels > 127), ("pred", levels.astype(np.float32))):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", array)
        found = evaluate(tmp_path / "gt", tmp_path / "pred", replace(protocol, at=128))
        assert not of_kind(found.notes, "nothing-predicted", "all-predicted", "scores-outside")
        assert segbench.check(tmp_path / "gt", tmp_path / "pred", replace(protocol, at=128)).findings == ()

    def test_check_finds_levels_below_a_threshold_of_levels(self, protocol, tmp_path):
        for folder, array in (("gt", self.MASK[0] > 0), ("pred", self.MASK[0] * np.uint8(200))):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", array)
        (finding,) = segbench.check(tmp_path / "gt", tmp_path / "pred", replace(protocol, at=128)).errors
        advice = finding.fix.values["thresholds"]
        assert (advice.values["bits"], advice.values["levels"], advice.settings) == (8, "128", (Setting("at", 0.5),))

    def test_masks_of_0_and_1_beside_one_that_is_unclear(self, protocol):
        accumulator = Accumulator(protocol)
        few = np.zeros_like(self.MASK)
        few[0, 0, 1] = 1
        for name, scores in enumerate([self.MASK, self.MASK, few]):
            accumulator.update(self.MASK, scores, names=[name])
        with refused("low-levels", DataError, settings={"scale": 1}):
            accumulator.compute()

    def test_nearly_empty_maps_are_no_masks(self, protocol):
        truth, dark = np.ones((1, 8, 8), np.uint8), np.zeros((1, 8, 8), np.uint8)
        truth[0, 0] = 0
        dark[0, 1, 1] = 1
        accumulator = Accumulator(protocol)
        for name, scores in enumerate([dark, dark, truth * 200]):
            accumulator.update(truth, scores, names=[name])
        assert noted(accumulator.compute().notes) == [NOTHING_PREDICTED]

    def test_files_of_masks(self, protocol, tmp_path):
        for folder in ("gt", "pred"):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", self.MASK[0])
        places, plain = (tmp_path / "gt", tmp_path / "pred"), type(protocol)(**KINDS.get(protocol.name, {}))
        with refused("low-levels", DataError, settings={"scale": 1}):
            evaluate(*places, protocol)
        scaled = evaluate(*places, protocol, repairs=Repairs(scale=1), results=tmp_path / "r")
        (stored,) = segbench.load_results(tmp_path / "r")
        assert repr(stored.summary) == repr(scaled.summary)
        of_masks = evaluate(*places, plain).summary.metrics  # which have no score, thus no FROC
        assert repr({key: scaled.summary[key] for key in of_masks}) == repr(dict(of_masks))
        report = segbench.check(tmp_path / "gt", tmp_path / "pred", protocol)
        (finding,) = [finding for finding in report.findings if finding.kind != "is-ground-truth"]
        assert (finding.kind, finding.message.values["error"]) == ("not-countable", "low-levels")

    def test_logits(self, protocol, tmp_path):
        logits = 12 * SCORES - 6
        (note,) = notes(protocol, self.MASK, logits)
        assert (note.kind, note.doubt, note.values["given"]) == ("scores-outside", True, Setting("at", 0.5))
        assert note.values["fix"] == "apply a sigmoid to logits"
        for folder, array in (("gt", self.MASK[0]), ("pred", logits[0])):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", array)
        report = segbench.check(tmp_path / "gt", tmp_path / "pred", protocol)
        (error,) = of_kind(report.findings, "range")
        assert error.severity == "error"
        why = error.message.values["why"]
        assert (why.kind, why.values["like"], why.values["at"]) == ("other-thresholds", "like logits, ", (0.5,))
        assert "sigmoid" in {advised.value for advised in error.settings}

    def test_scores_from_minus_1_to_1(self, protocol, tmp_path):
        signed = np.float32(2) * SCORES - 1
        (note,) = notes(protocol, self.MASK, signed)
        assert (note.kind, note.values["given"]) == ("scores-outside", Setting("at", 0.5))
        assert note.values["fix"] == "apply (s + 1) / 2 to scores from -1 to 1"
        assert notes(protocol, self.MASK, 1.2 * SCORES - 0.2) == ()  # what resizing adds
        for folder, array in (("gt", self.MASK[0]), ("pred", signed[0])):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", array)
        for checked, at in ((protocol, Setting("at", 0)), (Pixels(at=(0.5,)), Setting("at", (0,)))):
            report = segbench.check(tmp_path / "gt", tmp_path / "pred", checked)
            (warning,) = of_kind(report.findings, "range")
            why = warning.message.values["why"]
            assert (why.kind, why.values["like"], why.values["at"]) == ("other-thresholds", "", (0.5,))
            assert warning.settings[-1] == at
        followed = replace(protocol, at=0)
        assert "range" not in {
            one.kind for one in segbench.check(tmp_path / "gt", tmp_path / "pred", followed).findings
        }
        at_half, at_0 = Accumulator(protocol), Accumulator(followed)
        at_half.update(self.MASK, (signed + 1) / 2, names=["a"])
        at_0.update(self.MASK, signed, names=["a"])
        assert repr(at_half.compute().summary) == repr(at_0.compute().summary)

    def test_scores_up_to_100(self, protocol, tmp_path):
        (note,) = notes(protocol, self.MASK, 100 * SCORES)
        assert (note.kind, note.values["given"]) == ("scores-outside", Setting("at", 0.5))
        assert note.values["fix"] == "divide them by the highest score that there can be"
        for folder, array in (("gt", self.MASK[0]), ("pred", 100 * SCORES[0])):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", array)
        for checked, severity in ((protocol, "error"), (Pixels(at=(0.5,)), "warning")):
            report = segbench.check(tmp_path / "gt", tmp_path / "pred", checked)
            (found,) = of_kind(report.findings, "range")
            assert found.severity == severity
            assert (found.message.values["why"].kind, found.message.values["why"].values["at"]) == (
                "other-thresholds",
                (0.5,),
            )
            assert found.settings == (Setting("scale", of="Repairs", metavar="N"),)

    def test_scores_that_have_no_bound_are_cut_with_a_warning(self, protocol, tmp_path):
        for folder, array in (("gt", self.MASK[0]), ("pred", 3 * SCORES[0])):
            (tmp_path / folder).mkdir()
            np.save(tmp_path / folder / "a.npy", array)
        report = segbench.check(tmp_path / "gt", tmp_path / "pred", protocol)
        assert [one.severity for one in report.findings if one.kind == "range"] == ["warning"]

    def test_all_or_nothing(self, protocol):
        assert noted(notes(protocol, self.MASK, SCORES / 3)) == [NOTHING_PREDICTED]
        (note,) = notes(protocol, self.MASK, 0.6 + SCORES / 3)
        assert (note.kind, note.values["given"]) == ("all-predicted", Setting("at", 0.5))

    def test_maps_that_have_nothing_odd(self, protocol):
        assert notes(protocol, self.MASK) == ()
        assert notes(protocol, self.MASK, (255 * SCORES).astype(np.uint8)) == ()


@pytest.mark.parametrize("protocol", [*(replace(one, at=0) for one in MASKS.values()), Pixels(at=(0,))])
def test_logits_at_0_are_not_told_to_be_scaled(protocol, tmp_path):
    for folder, array in (("gt", TestThresholds.MASK[0]), ("pred", 12 * SCORES[0] - 6)):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", array)
    places = tmp_path / "gt", tmp_path / "pred"
    assert "range" not in {one.kind for one in segbench.check(*places, protocol).findings}
    rounded = segbench.check(*places, Pixels(at=(0,), quantize=8)).errors
    assert [one for one in rounded if Setting("at", (0.5,)) in one.settings]


def test_thresholds_of_logits():
    assert notes(Contours(at=0), TestThresholds.MASK, 12 * SCORES - 6) == ()
    found = notes(Centerlines(thresholds=(0.3, 0.6)), TestThresholds.MASK, 12 * SCORES - 6)
    assert (found[0].kind, found[0].values["given"]) == ("scores-outside", Setting("thresholds", (0.3, 0.6)))


def test_thresholds_of_a_list_are_not_called_at(tmp_path):
    for folder, array in (("gt", SCORES[0] > 0.5), ("pred", 12 * SCORES[0] - 6)):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", array)
    report = segbench.check(tmp_path / "gt", tmp_path / "pred", Centerlines(thresholds=(0.3, 0.6)))
    (message,) = (finding.message for finding in report.findings if finding.kind == "range")
    why = message.values["why"]
    assert (why.kind, why.values["like"], why.values["at"]) == ("other-thresholds", "like logits, ", (0.3, 0.6))
