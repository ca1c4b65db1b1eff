"""Several annotators of the pixels protocol: a drawing counted by hand, invariants, files of every layout."""

import os
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from cases import save_cell, write_folder
from hypothesis import given
from refusing import refused

from segbench import ArgumentError, FailedImages, Pixels, ScoreCounts, count, evaluate
from segbench.core.messages import Setting
from segbench.core.sample import Sample
from segbench.inputs.label_rules import AnnotatorRule
from segbench.loaders.presets import shipped

BSDS500 = os.environ.get("SEGBENCH_BSDS500")
RULES = AnnotatorRule.__args__
images = st.integers(0, 2**32 - 1).map(np.random.default_rng)

# Three annotators of 4 x 4 pixels; the first row is void (9) for the third, the first pixel for all of them.
# Positive votes of voters, row by row:   -  0/2 1/2 2/2   0/3 1/3 2/3 3/3   0/3 0/3 0/3 0/3   3/3 2/3 2/3 1/3
FIRST = np.array([[9, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]], np.uint8)
SECOND = np.array([[9, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]], np.uint8)
THIRD = np.array([[9, 9, 9, 9], [0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]], np.uint8)
# Row k scores k / 4.
SCORES = np.repeat(np.arange(4)[:, np.newaxis] / 4, 4, axis=1)
BY_HAND = {
    "any": ScoreCounts([0.75, 0.5, 0.25, 0], [4, 0, 3, 2], [0, 4, 1, 1], 1),
    "all": ScoreCounts([0.75, 0.5, 0.25, 0], [1, 0, 1, 1], [3, 4, 3, 2], 1),
    "majority": ScoreCounts([0.75, 0.5, 0.25, 0], [3, 0, 2, 1], [1, 4, 2, 2], 1),
    "each": ScoreCounts([0.75, 0.5, 0.25, 0], [8, 0, 6, 3], [4, 12, 6, 3], 6),
}


def counted(truths, scores, field=None, **settings):
    return Pixels(**settings).count(Sample("drawing", tuple(truths), (scores,), field)).counts


def random_annotations(rng, annotators):
    truths = [rng.integers(0, 2, (5, 6), np.uint8) for _ in range(annotators)]
    for truth in truths:
        truth[rng.random(truth.shape) < 0.2] = 9
    return truths, rng.integers(0, 256, (5, 6), np.uint8)


class TestRules:
    @pytest.mark.parametrize("rule", RULES)
    def test_a_drawing_counted_by_hand(self, rule):
        assert counted([FIRST, SECOND, THIRD], SCORES, void=(9,), annotators=rule) == BY_HAND[rule]

    @pytest.mark.parametrize("rule", RULES)
    def test_the_same_from_arrays(self, rule):
        assert count([FIRST, SECOND, THIRD], SCORES, Pixels(positive=1, void=9, annotators=rule)) == BY_HAND[rule]

    @pytest.mark.parametrize("rule", RULES)
    def test_outside_the_field_nobody_has_a_voice(self, rule):
        field = np.ones((4, 4), bool)
        field[3] = False
        counts = counted([FIRST, SECOND, THIRD], SCORES, field, void=(9,), annotators=rule)
        by_hand = BY_HAND[rule]
        left_out = 12 if rule == "each" else 4
        expected = ScoreCounts(
            by_hand.scores[1:], by_hand.positives[1:], by_hand.negatives[1:], by_hand.ignored + left_out
        )
        assert counts == expected

    @given(images, st.integers(1, 5))
    def test_each_is_the_sum_of_single_runs(self, rng, annotators):
        truths, scores = random_annotations(rng, annotators)
        alone = [counted([truth], scores, positive="1", void=(9,)) for truth in truths]
        assert counted(truths, scores, positive="1", void=(9,), annotators="each") == ScoreCounts.sum(alone)

    @given(images, st.integers(1, 5), st.sampled_from(RULES))
    def test_the_order_of_annotators_does_not_matter(self, rng, annotators, rule):
        truths, scores = random_annotations(rng, annotators)
        assert counted(truths, scores, void=(9,), annotators=rule, positive="1") == counted(
            truths[::-1], scores, void=(9,), annotators=rule, positive="1"
        )

    @given(images, st.integers(1, 5))
    def test_any_finds_no_fewer_positives_than_majority_and_all(self, rng, annotators):
        truths, scores = random_annotations(rng, annotators)
        found = [
            counted(truths, scores, void=(9,), annotators=rule, positive="1") for rule in ("any", "majority", "all")
        ]
        positives = [counts.total_positives for counts in found]
        assert positives == sorted(positives, reverse=True)
        assert len({counts.ignored for counts in found}) == 1

    @given(images, st.sampled_from(RULES))
    def test_annotators_who_agree_count_as_one(self, rng, rule):
        (truth,), scores = random_annotations(rng, 1)
        one = counted([truth], scores, void=(9,), positive="1")
        assert counted([truth], scores, void=(9,), positive="1", annotators=rule) == one
        three = counted([truth] * 3, scores, void=(9,), positive="1", annotators=rule)
        assert three == (ScoreCounts.sum([one] * 3) if rule == "each" else one)

    def test_two_who_differ_have_no_majority(self):
        counts = count([np.array([True, True]), np.array([False, True])], [0.5, 0.25], Pixels(annotators="majority"))
        assert counts == ScoreCounts([0.5, 0.25], [0, 1], [1, 0])

    @pytest.mark.parametrize("rule", ["most", "", "Any"])
    def test_what_is_no_rule_is_refused(self, rule):
        with refused("wrong-value", ArgumentError, settings={"annotators": None}, value=repr(rule)):
            Pixels(annotators=rule)

    @pytest.mark.parametrize(("labels", "rule"), [([[0, 1], [1, 0]], None), ([[0], [1]], "any"), ([[[0, 1]]], "all")])
    def test_shapes_that_do_not_fit(self, labels, rule):
        with refused("other-shape", ArgumentError, name_has="ground_truth has", expected=(2,)):
            count(labels, [0.5, 0.2], Pixels(annotators=rule))

    def test_the_rule_stands_in_the_signature_only_when_given(self):
        assert "annotators" not in Pixels().signature_fields()
        assert Pixels(annotators="majority").signature_fields()["annotators"] == "majority"


class TestWhichValueIsPositive:
    def test_is_settled_over_all_annotators(self, tmp_path):
        # Each file alone holds one value; only the set shows that 255 is positive.
        black, white = np.zeros((2, 3), np.uint8), np.full((2, 3), 255, np.uint8)
        gt = write_folder(tmp_path / "gt", {"a.1.png": white, "a.2.png": white, "b.1.png": black, "b.2.png": black})
        pred = write_folder(tmp_path / "pred", {"a.png": white, "b.png": white})
        for rule in RULES:
            result = evaluate(gt, pred, Pixels(annotators=rule), gt_pattern="*.#")
            times = 2 if rule == "each" else 1
            assert (result.summary["positives"], result.summary["negatives"]) == (6 * times, 6 * times)

    def test_two_annotators_of_one_value_each(self):
        truths = [np.zeros((1, 2), np.uint8), np.full((1, 2), 255, np.uint8)]
        assert counted(truths, np.zeros((1, 2)), annotators="any").total_positives == 2
        assert counted(truths, np.zeros((1, 2)), annotators="majority").total_positives == 0

    def test_encodings_that_differ_are_not_guessed_at(self, tmp_path):
        first = np.array([[0, 1]], np.uint8)
        gt = write_folder(tmp_path / "gt", {"a.1.png": first, "a.2.png": first * 255})
        pred = write_folder(tmp_path / "pred", {"a.png": first})
        with pytest.warns(FailedImages):
            failed = evaluate(gt, pred, Pixels(annotators="any"), gt_pattern="*.#").failed
        assert (failed["a"].kind, failed["a"].values["values"]) == ("several-values", (0, 1, 255))
        assert Setting("positive", ">=1") in failed["a"].settings


class TestFiles:
    truths = (FIRST == 1, SECOND == 1, THIRD == 1)

    @pytest.mark.parametrize(
        ("names", "pattern"),
        [
            (["a.1.png", "a.2.png", "a.3.png"], "*.#"),
            (["a_manual1.png", "a_manual2.png", "a_manual10.png"], "*_manual#"),
            (["first/a.png", "second/a.png", "third/a.png"], "#/*"),
        ],
    )
    def test_every_layout_counts_the_same(self, tmp_path, names, pattern):
        masks = {name: truth * np.uint8(255) for name, truth in zip(names, self.truths, strict=True)}
        masks[Path(names[0]).with_name(f"b{Path(names[0]).name[1:]}").as_posix()] = self.truths[0] * np.uint8(255)
        gt = write_folder(tmp_path / "gt", masks)
        pred = write_folder(tmp_path / "pred", {"a.npy": SCORES, "b.npy": SCORES})
        for rule in RULES:
            result = evaluate(gt, pred, Pixels(annotators=rule), gt_pattern=pattern)
            assert result.counts["a"] == count(self.truths, SCORES, Pixels(annotators=rule))
            assert result.counts["b"] == count(self.truths[0], SCORES)
            assert f"annotators:{rule}" in result.signature

    def test_cells_of_a_mat_file(self, tmp_path):
        save_cell(tmp_path / "gt" / "a.mat", self.truths)
        save_cell(tmp_path / "gt" / "b.mat", self.truths[:1])
        pred = write_folder(tmp_path / "pred", {"a.npy": SCORES, "b.npy": SCORES})
        for rule in RULES:
            result = evaluate(tmp_path / "gt", pred, Pixels(annotators=rule))
            assert result.counts["a"] == count(self.truths, SCORES, Pixels(annotators=rule))
            assert result.counts["b"] == count(self.truths[0], SCORES)

    def test_the_edges_that_ship(self):
        demo = shipped("demo") / "edges"
        results = {
            rule: evaluate(
                demo / "ground_truth", demo / "predictions" / "gradient", Pixels(annotators=rule), gt_pattern="*.#"
            )
            for rule in RULES
        }
        two = {"camera", "chelsea", "coffee"}
        for name in results["each"].counts:
            positives = {rule: result.counts[name].total_positives for rule, result in results.items()}
            assert positives["any"] >= positives["majority"] == positives["all"]
            # What one or both drew, and again what both drew.
            assert positives["each"] == positives["any"] + (positives["all"] if name in two else 0)

    def test_without_a_rule_nothing_is_chosen(self, tmp_path):
        gt = write_folder(tmp_path / "gt", {"a.1.png": FIRST, "a.2.png": SECOND})
        pred = write_folder(tmp_path / "pred", {"a.npy": SCORES})
        with pytest.warns(FailedImages):
            result = evaluate(gt, pred, gt_pattern="*.#")
        assert not result.counts
        assert result.failed["a"].kind == "several-annotators"
        assert Setting("annotators", "majority") in result.failed["a"].settings


@pytest.mark.skipif(not BSDS500, reason="SEGBENCH_BSDS500 does not say where the data of BSDS500 are")
def test_the_annotators_of_bsds500(tmp_path):
    from scipy.io import loadmat

    truth = min(Path(BSDS500, "groundTruth").rglob("*.mat"))
    drawings = [cell["Boundaries"][0, 0].astype(bool) for cell in loadmat(truth)["groundTruth"][0]]
    scores = np.random.default_rng(0).integers(0, 256, drawings[0].shape, np.uint8)
    pred = write_folder(tmp_path / "pred", {f"{truth.stem}.png": scores})
    votes = np.sum(drawings, axis=0)
    expected = {"any": votes > 0, "all": votes == len(drawings), "majority": votes > len(drawings) / 2}
    for rule, labels in expected.items():
        result = evaluate(truth, pred / f"{truth.stem}.png", Pixels(annotators=rule))
        assert result.pooled == count(labels, scores)
    each = evaluate(truth, pred / f"{truth.stem}.png", Pixels(annotators="each")).pooled
    assert each == ScoreCounts.sum(count(labels, scores) for labels in drawings)
    assert len(drawings) > 2
