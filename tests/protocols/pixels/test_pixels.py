import tracemalloc

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, write_folder
from hypothesis import given
from PIL import Image
from refusing import refused

from segbench import (
    Accumulator,
    ArgumentError,
    Boundaries,
    DataError,
    FailedImages,
    Pixels,
    Regions,
    ScoreCounts,
    count,
    evaluate,
)
from segbench.core.messages import Setting
from segbench.core.sample import Sample

images = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def numbers_of(dtype):
    """Numbers of a type that float64 holds, those at its edges among them."""
    if dtype.kind == "f":
        edges = [
            0.0,
            -0.0,
            np.finfo(dtype).smallest_subnormal,
            -np.finfo(dtype).smallest_subnormal,
            np.finfo(dtype).max,
        ]
        anything = st.floats(width=8 * dtype.itemsize, allow_nan=False, allow_infinity=False)
        return st.sampled_from([float(edge) for edge in edges]) | anything
    least, most = max(np.iinfo(dtype).min, 1 - 2**53), min(np.iinfo(dtype).max, 2**53 - 1)
    return st.sampled_from([least, most, 0, 1]) | st.integers(least, most)


def assert_counted_like_unique(labels, scores, valid):
    """Compare counts with NumPy's distinct values of each class, bit by bit."""
    counts = count(labels, scores, valid=valid)
    kept = scores.astype(np.float32 if scores.dtype in (np.float16, np.float32) else np.float64)[valid] + 0.0
    if scores.dtype.kind in "iu":  # levels, as in files
        kept /= np.iinfo(scores.dtype).max
    distinct = np.unique(kept)[::-1]
    assert counts.scores.dtype == distinct.dtype
    assert counts.scores.tobytes() == distinct.tobytes()
    for found, wanted in ((counts.positives, labels[valid]), (counts.negatives, ~labels[valid])):
        values, times = np.unique(kept[wanted], return_counts=True)
        expected = np.zeros(distinct.size, np.int64)
        expected[np.searchsorted(-distinct, -values)] = times
        assert found.tolist() == expected.tolist()
    assert counts.ignored == np.sum(~valid)
    assert counts == ScoreCounts(counts.scores, counts.positives, counts.negatives, counts.ignored)


def counted(truth, scores, field=None, **settings):
    return Pixels(**settings).count(Sample("drawing", (truth,), (scores,), field)).counts


class TestCountPixels:
    def test_a_drawing_counted_by_hand(self):
        counts = count(FIRST_TRUTH, FIRST_SCORES)
        assert counts == ScoreCounts([1, 0.75, 0.5, 0.25, 0], [1, 1, 0, 2, 1], [0, 0, 1, 0, 10])

    def test_pixels_outside_are_ignored_whatever_they_hold(self):
        counts = count([True, False, True], [0.5, np.nan, 0.25], valid=np.array([True, False, True]))
        assert counts == ScoreCounts([0.5, 0.25], [1, 1], [0, 0], 1)

    def test_booleans_stored_as_any_byte_are_zero_or_one(self):
        # NumPy arrays of Pillow's 1-bit images hold 255 for True: as an index it would write outside the table.
        image = np.asarray(Image.fromarray(np.eye(64, dtype=bool)))
        assert image.view(np.uint8).max() == 255
        expected = count(np.eye(64, dtype=bool), np.eye(64, dtype=bool))
        assert count(image, image) == expected
        assert count(image, image, valid=image) == count(image, image, valid=np.eye(64, dtype=bool))
        assert count(image, image.astype(float)) == expected

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
    def test_levels_are_shares_of_the_largest(self, dtype):
        top = np.iinfo(dtype).max
        counts = count([1, 0, 1], np.array([top, 51 * (top // 255), 0], dtype))
        assert counts.scores.tolist() == [1.0, 0.2, 0.0]

    @given(st.data(), st.sampled_from(["f2", "f4", "f8", "i1", "i2", "i4", "u4", "i8", "u8"]), images)
    def test_exact_counts_are_those_of_unique_for_each_class(self, data, dtype, rng):
        scores = data.draw(hnp.arrays(dtype, st.integers(0, 40), elements=numbers_of(np.dtype(dtype))))
        scores = rng.choice(scores, 2 * scores.size)  # every other one is taken: not contiguous, and many ties
        shares = data.draw(st.tuples(*[st.sampled_from([0, 0.1, 0.5, 1])] * 2))
        labels, valid = (rng.random(scores.size) < share for share in shares)
        assert_counted_like_unique(labels[::2], scores[::2], valid[::-2])

    @pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
    @pytest.mark.parametrize("distinct", [1, 300, 10**9])
    @pytest.mark.parametrize("share", [0, 0.03, 0.5, 1])
    def test_long_arrays_are_counted_like_unique(self, dtype, distinct, share):
        rng = np.random.default_rng(0)
        scores = rng.integers(-distinct, distinct, 30_000)
        scores = (scores / 7).astype(dtype) if dtype.startswith("f") else scores.astype(dtype)
        labels, valid = rng.random(scores.size) < share, rng.random(scores.size) < 0.9
        assert_counted_like_unique(labels, scores, valid)

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, bool])
    @pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 1030, 100_003])
    def test_levels_are_counted_like_unique_in_images_of_any_size(self, dtype, size):
        rng = np.random.default_rng(size)
        levels = rng.integers(0, 65536, size).astype(dtype)
        labels, valid = np.arange(size, dtype=np.uint8) % 2, rng.random(size) < 0.9  # the first of them is 0
        top = 1 if dtype is bool else np.iinfo(dtype).max
        expected = count(labels, levels / top, valid=valid)
        assert count(labels, levels, valid=valid) == count(labels.astype(bool), levels, valid=valid) == expected
        assert count(labels, levels) == count(labels.astype(bool), levels / top)

    @pytest.mark.parametrize("size", [2**17 - 2, 2**17, 5 * 2**17 + 3])
    def test_more_pixels_of_one_level_than_small_integers_hold(self, size):
        counts = count(np.zeros(size, bool), np.zeros(size, np.uint8), valid=np.arange(size) > 0)
        assert counts == ScoreCounts([0], [0], [size - 1], 1)

    @given(
        hnp.arrays(
            np.float32, st.integers(1, 30), elements=st.sampled_from([np.nan, -np.nan, np.inf, -np.inf, 0.5, -0.5])
        ),
        images,
    )
    def test_scores_that_are_not_finite_are_refused_where_they_count(self, scores, rng):
        labels, valid = rng.random((2, scores.size)) < 0.5
        nan, infinite = np.isnan(scores[valid]).sum(), np.isinf(scores[valid]).sum()
        if nan or infinite:
            with refused("not-finite", DataError, path="prediction", nan=nan, infinite=infinite):
                count(labels, scores, valid=valid)
        else:
            assert_counted_like_unique(labels, scores, valid)

    @pytest.mark.parametrize("large", [2**53, -(2**53) - 1, 2**63 - 1])
    def test_integers_that_floats_cannot_tell_apart_are_refused(self, large):
        scores = np.array([large, large - 1 if large > 0 else large + 1, 0])
        with refused("inexact-scores", DataError, lowest=min(large, 0), highest=max(large, 0)):
            count([1, 0, 1], scores)
        assert count(np.array([1, 0, 1], bool), scores, valid=np.array([False, False, True])).scores.tolist() == [0.0]

    @pytest.mark.parametrize("protocol", ["pixels", "boundaries", "saliency", "anomalies"])
    def test_integers_that_floats_cannot_tell_apart_are_refused_by_every_protocol(self, protocol):
        labels, scores = np.array([[0, 255, 0, 255]]), 2**60 + np.array([[1, 2, 3, 4]])
        with refused("inexact-scores", DataError, path="scores of 'a'", lowest=2**60 + 1, highest=2**60 + 4):
            evaluate({"a": (labels, scores)}, protocol=protocol)

    def test_one_number_is_subtracted_from_the_large_integers_of_all_images(self, segbench, tmp_path):
        scores = {f"{k}.npy": 2**60 + np.array([[k + 1, k + 2]]) for k in range(3)}
        gt = write_folder(tmp_path / "gt", dict.fromkeys(scores, np.array([[0, 255]], np.uint8)))
        pred = write_folder(tmp_path / "pred", scores)
        with pytest.warns(FailedImages):
            failed = evaluate(gt, pred).failed
        assert [failure.values for failure in failed.values()] == [
            {"lowest": 2**60 + k + 1, "highest": 2**60 + k + 2} for k in range(3)
        ]
        (hint,) = {str(failure.hint) for failure in failed.values()}
        assert segbench("pixels", gt, pred).err.count(hint) == 1
        assert "such as" not in hint

    def test_integers_that_floats_cannot_tell_apart_are_refused_on_a_device(self):
        torch = pytest.importorskip("torch")
        with refused("inexact-scores", DataError, lowest=2**60, highest=2**60 + 1):
            Accumulator(count_on="device").update(torch.tensor([0, 1]), torch.tensor([2**60, 2**60 + 1]), name="a")

    def test_integers_over_a_range_that_floats_do_not_hold_become_ranks(self):
        with refused("inexact-scores", DataError, lowest=-(2**60), highest=2**60 + 1):
            evaluate({"a": ([0, 1, 1], np.array([-(2**60), 2**60, 2**60 + 1]))})

    @pytest.mark.filterwarnings("ignore:int64 values are levels")
    def test_large_integers_outside_the_field_do_not_matter(self):
        labels, scores, valid = [0, 1, 1], np.array([2**40, 2**41, 2**63 - 1]), np.array([True, True, False])
        assert evaluate({"a": (labels, scores, valid)}).summary["iou"] == 1

    @pytest.mark.parametrize(("share", "distinct"), [(0.1, 2**30), (0.5, 2**30), (1, 2**30), (0.1, 10)])
    def test_float32_takes_little_memory(self, share, distinct):
        rng = np.random.default_rng(0)
        labels, scores = rng.random(10**6) < share, rng.integers(0, distinct, 10**6).astype(np.float32)
        count(labels, scores)
        tracemalloc.start()
        count(labels, scores)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < (17.1 if distinct > 10 else 9) * scores.size  # which are sorted beside themselves

    def test_inputs_are_not_changed(self):
        labels, scores = np.array([1, 0, 1]), np.array([0.5, -0.0, 0.25], np.float32)
        before = labels.tobytes(), scores.tobytes()
        count(labels, scores)
        assert (labels.tobytes(), scores.tobytes()) == before

    def test_the_order_of_memory_does_not_matter(self):
        rng = np.random.default_rng(0)
        labels, scores = rng.random((30, 40)) < 0.5, rng.integers(0, 256, (30, 40), np.uint8)
        straight = count(labels, scores)
        assert count(labels.T, scores.T) == straight
        assert count(labels[::-1, ::-1], scores[::-1, ::-1]) == straight
        assert count(np.asfortranarray(labels), scores) == straight

    @pytest.mark.parametrize(
        ("labels", "scores", "error", "kind", "values"),
        [
            ([0, 1], [0.5], ArgumentError, "other-shape", {"shape": (2,), "expected": (1,)}),
            ([1, 2], [0.5, 0.5], DataError, "several-values", {"values": (1, 2)}),
            ([0, np.nan], [0.5, 0.5], DataError, "not-a-number", {"nan": 1}),
            (["a", "b"], [0.5, 0.5], ArgumentError, "no-array", {"argument": "ground_truth", "found": "list of <U1"}),
            ([0, 1], [0.5, np.nan], DataError, "not-finite", {"nan": 1, "infinite": 0}),
            ([0, 1], [np.inf, -np.inf], DataError, "not-finite", {"nan": 0, "infinite": 2}),
            ([0, 1], ["a", "b"], ArgumentError, "no-array", {"argument": "prediction", "found": "list of <U1"}),
        ],
    )
    def test_what_cannot_be_counted_is_refused(self, labels, scores, error, kind, values):
        with refused(kind, error, **values):
            count(labels, scores)

    @pytest.mark.parametrize(
        ("labels", "found", "rule"),
        [
            ([255, 255], (255,), 255),
            ([1, 255], (1, 255), 255),
            ([-1, 1], (-1, 1), 1),
            ([-1, 0], (-1, 0), 0),
            ([0, 128, 255], (0, 128, 255), ">=128"),
        ],
    )
    def test_labels_other_than_0_and_a_larger_one_are_refused_with_the_argument_that_reads_them(
        self, labels, found, rule
    ):
        with refused("several-values", DataError, path="ground_truth", count=len(found), values=found) as raised:
            count(labels, [0.5] * len(labels))
        assert raised.value.settings[-1] == Setting("positive", rule)

    def test_counts_add_up_if_the_same_value_was_positive(self):
        zero, one, full = ([0, 0], [0, 1], [0, 255])
        of_one, of_full = (count(labels, [0.2, 0.9]) for labels in (one, full))
        assert of_one == of_full, "what was positive is no part of the counts"
        assert (count(zero, [0.2, 0.9]) + of_full + count(full, [0.2, 0.9])).total_positives == 2
        for add_up in (
            lambda: of_one + of_full,
            lambda: sum([of_one, of_full]),
            lambda: ScoreCounts.sum([of_one, of_full]),
        ):
            with refused("several-positives", ArgumentError, settings={"positive": 1}, values=(1, 255)):
                add_up()
        by_rule = [count(labels, [0.2, 0.9], Pixels(positive=labels[1])) for labels in (one, full)]
        assert sum(by_rule).total_positives == 2

    @pytest.mark.parametrize("positive", [255, 255.0, "255", ">=128", [255], np.uint8(255), np.array([200, 255])])
    def test_positive_says_which_labels_are(self, positive):
        counts = count(np.array([0, 255, 7], np.uint8), [0.2, 0.9, 0.2], Pixels(positive=positive))
        assert counts == count([0, 1, 0], [0.2, 0.9, 0.2])

    def test_positive_goes_with_annotators_and_masks(self):
        labels = [np.array([0, 255, 9]), np.array([255, 255, 0])]
        counts = count(labels, [0.2, 0.9, 0.4], Pixels(positive=255, void=9, annotators="any"))
        assert (counts.total_positives, counts.total_negatives, counts.ignored) == (2, 1, 0)

    def test_positive_refuses_nan(self):
        with refused("not-a-number", DataError, path="ground_truth", nan=1):
            count([0, np.nan], [0.5, 0.5], Pixels(positive=1))

    def test_labels_outside_valid_may_hold_anything(self):
        labels = np.array([0, 1, 255])
        counts = count(labels, [0.2, 0.9, 0.5], valid=labels != 255)
        assert (counts.total_positives, counts.total_negatives, counts.ignored) == (1, 1, 1)
        with refused("several-values", DataError, path="ground_truth", values=(1, 255)):
            count(labels, [0.2, 0.9, 0.5], valid=labels != 0)


class TestRule:
    levels = np.array([[0, 1, 3], [127, 128, 255]], np.uint8)

    @pytest.mark.parametrize(
        ("rule", "positives"),
        [("255", 1), ("1,3", 2), (">=128", 2), (">128", 1), ("<= 3", 3), ("<1", 1), ("7", 0)],
    )
    def test_the_values_it_names_are_positive(self, rule, positives):
        counts = counted(self.levels, self.levels, positive=rule)
        assert (counts.total_positives, counts.total_negatives) == (positives, 6 - positives)

    @pytest.mark.parametrize("rule", ["", "white", ">=", ">=1,2", "nan", "1;2"])
    def test_what_is_no_rule_is_refused_when_settings_are_made(self, rule):
        with refused("wrong-rule", ArgumentError, given=Setting("positive", rule)):
            Pixels(positive=rule)

    @pytest.mark.parametrize("settings", [Pixels, Boundaries])
    @pytest.mark.parametrize(
        ("given", "text"),
        [
            (255, "255"),
            (0, "0"),
            (0.5, "0.5"),
            ((1, 3), "1,3"),
            ([1.0, 3], "1,3"),
            (range(2, 4), "2,3"),
            (np.uint8(7), "7"),
            (np.array([7, 8]), "7,8"),
        ],
    )
    def test_numbers_are_kept_as_the_text_of_the_rule(self, settings, given, text):
        assert settings(positive=given) == settings(positive=text)
        assert settings(positive=given).positive == text
        assert settings(positive=given).signature_fields() == settings(positive=text).signature_fields()

    @pytest.mark.parametrize("settings", [Pixels, Boundaries])
    @pytest.mark.parametrize(
        "given", [True, (), [True], (1, "3"), np.nan, b"255", {}, object(), np.array(255), 10**400]
    )
    def test_neither_text_nor_numbers(self, settings, given):
        with refused("wrong-rule", ArgumentError):
            settings(positive=given)

    def test_void_and_field_are_ignored_together(self):
        field = np.array([[True, True, True], [True, False, True]])
        counts = counted(self.levels, self.levels, field, positive=">=127", void=(255,))
        assert (counts.total_positives, counts.total_negatives, counts.ignored) == (1, 3, 2)

    def test_two_values_need_no_rule_also_beside_void(self):
        truth = np.array([[0, 7, 255]], np.uint8)
        assert counted(truth, truth, void=(255,)).total_positives == 1

    def test_three_values_need_a_rule(self):
        with refused("several-values", DataError, settings={"void": (255,), "positive": "7"}, values=(0, 7, 255)):
            counted(np.array([[0, 7, 255]], np.uint8), np.zeros((1, 3)))

    def test_all_void_counts_nothing_but_ignored(self):
        counts = counted(np.full((2, 2), 9, np.uint8), np.zeros((2, 2), np.uint8), void=(9,))
        assert (counts.scores.size, counts.ignored) == (0, 4)

    def test_nan_in_ground_truth_is_refused(self):
        with refused("not-a-number", DataError, path="drawing", nan=1):
            counted(np.array([[0.0, 1.0, np.nan]]), np.zeros((1, 3)), positive="1")


def test_several_annotators_are_not_reduced_to_one_in_silence():
    truth = np.eye(3, dtype=np.uint8)
    with refused("several-annotators", DataError, path="drawing", annotators=2) as raised:
        Pixels().count(Sample("drawing", (truth, truth), (truth,)))
    assert raised.value.settings[0] == Setting("annotators", "majority")


def summary_of(truth, scores):
    result = evaluate({"a": (truth, scores)}, protocol=Pixels(invert=True, at=(0.5,)))
    keys = "ods_f", "ods_recall", "iou", "f@0.5"
    return {key: result.summary[key] for key in keys}


class TestInvert:
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.bool_])
    def test_levels_are_mirrored(self, dtype):
        truth = np.array([[True, False, True]])
        scores = np.array([[0, 1, 1]], dtype)
        mirrored = counted(truth, scores, invert=True)
        assert mirrored.positives.sum() == 2
        assert mirrored.scores[0] == 1.0
        assert mirrored.positives[0] == 1

    @pytest.mark.parametrize("share", [0, 0.2, 0.9, 1])
    def test_levels_and_floats_predict_the_same_also_where_constant_and_at_a_threshold(self, share):
        truth, levels = np.array([[0, 1, 1, 0]]), np.full((1, 4), np.rint(share * 255), np.uint8)
        several = np.array([[share, 0.2, 0.8, 1]])
        for floats in (levels / 255, np.float32(levels / 255)):
            assert summary_of(truth, floats) == summary_of(truth, levels)
            predicted = summary_of(truth, levels)["ods_recall"] == 1
            assert predicted is (share < 1)
        assert (
            summary_of(truth, several)["f@0.5"] == summary_of(truth, np.rint(255 * several).astype(np.uint8))["f@0.5"]
        )

    @given(images)
    def test_inverting_twice_is_not_inverting(self, rng):
        truth, scores = rng.random((5, 6)) < 0.5, rng.integers(0, 256, (5, 6), np.uint8)
        assert counted(truth, 255 - scores, invert=True) == counted(truth, scores)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Pixels(void=(1234567,)), Pixels(void=(1234568,))),
        (Boundaries(thresholds=(0.5, 0.6)), Boundaries(thresholds=(0.5000004, 0.6))),
        (Boundaries(max_dist=0.0075), Boundaries(max_dist=0.00750001)),
        (Regions(thresholds=(0.5,)), Regions(thresholds=(0.50000001,))),
    ],
)
def test_settings_that_differ_in_late_digits_are_signed_apart(one, other):
    assert one.signature_fields() != other.signature_fields()


def test_the_order_of_void_labels_is_no_setting():
    assert Regions(void=(255, 0)) == Regions(void=(0, 255))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_values_that_the_type_of_the_ground_truth_does_not_hold_are_found_nowhere(dtype):
    edge = 2.0 ** (np.finfo(dtype).nmant + 1)
    truth = np.array([[0, edge], [edge, 0]], dtype)
    for void in (edge + 1, 1e300):
        accumulator = Accumulator(Pixels(void=(void,)))
        accumulator.update(truth, np.array([[0.1, 0.9], [0.8, 0.2]]), name="a")
        assert accumulator.compute().summary["ignored"] == 0
