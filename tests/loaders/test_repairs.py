"""Repairs made on request: what they do to arrays, and what they refuse."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from noted import noted
from PIL import Image
from refusing import refused
from scipy.ndimage import zoom

from segbench import ArgumentError, DataError, Repairs
from segbench.loaders.reading import ImageMaps, repaired
from segbench.loaders.sizes import bilinear, nearest

sizes = st.tuples(st.integers(1, 40), st.integers(1, 40))
TRUTH = np.zeros((40, 60), np.uint8)


def mended(prediction, kind="soft", truths=(TRUTH,), field=None, **repairs):
    predictions = prediction if isinstance(prediction, list) else [prediction]
    maps = ImageMaps([("gt", truth) for truth in truths], [("pred", one) for one in predictions], kind, field)
    return repaired(maps, Repairs(**repairs))


def only(maps):
    ((_, array),) = maps.predictions
    return array


class TestNearest:
    def test_a_drawing_by_hand(self):
        drawing = np.array([[1, 2], [3, 4]], np.uint8)
        np.testing.assert_array_equal(
            nearest(drawing, (3, 4)), np.array([[1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]], np.uint8)
        )

    @given(sizes, sizes, st.integers(0, 2**32 - 1))
    def test_agrees_with_pillow_where_no_centre_lies_on_an_edge(self, given_size, wanted, seed):
        levels = np.random.default_rng(seed).integers(0, 256, given_size, np.uint8)
        ours = nearest(levels, wanted)
        theirs = np.asarray(Image.fromarray(levels).resize(wanted[::-1], Image.Resampling.NEAREST))
        rows, columns = (((2 * np.arange(m) + 1) * n) % (2 * m) != 0 for n, m in zip(given_size, wanted, strict=True))
        np.testing.assert_array_equal(ours[np.ix_(rows, columns)], theirs[np.ix_(rows, columns)])


class TestBilinear:
    def test_a_drawing_by_hand(self):
        drawing = np.array([[0.0, 1.0], [2.0, 3.0]])
        row = np.array([0, 0.25, 0.75, 1])
        np.testing.assert_array_equal(bilinear(drawing, (4, 4)), row + 2 * row[:, np.newaxis])
        # Halved, a pixel lies amid four and is their mean; thirded, it lies on one: nothing else is smoothed in.
        np.testing.assert_array_equal(bilinear(drawing, (1, 1)), [[1.5]])
        np.testing.assert_array_equal(bilinear(np.array([[9.0, 1, 9]]), (1, 1)), [[1]])

    @given(sizes, sizes, st.integers(0, 2**32 - 1))
    def test_agrees_with_scipy(self, given_size, wanted, seed):
        scores = np.random.default_rng(seed).random(given_size)
        factors = np.divide(wanted, given_size)
        theirs = zoom(scores, factors, order=1, mode="nearest", grid_mode=True)
        np.testing.assert_allclose(bilinear(scores, wanted), theirs, atol=1e-13)

    @given(sizes, sizes, st.floats(-1e6, 1e6))
    def test_an_area_of_one_score_keeps_it_to_the_bit(self, given_size, wanted, score):
        assert np.all(bilinear(np.full(given_size, score), wanted) == score)

    @given(sizes, sizes, st.integers(0, 2**32 - 1))
    def test_flips_and_transposes_commute(self, given_size, wanted, seed):
        scores = np.random.default_rng(seed).random(given_size)
        resized = bilinear(scores, wanted)
        np.testing.assert_allclose(bilinear(scores[::-1], wanted)[::-1], resized, atol=1e-13)
        np.testing.assert_allclose(bilinear(scores.T, wanted[::-1]).T, resized, atol=1e-13)

    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.bool_])
    @given(given_size=sizes, wanted=sizes, seed=st.integers(0, 2**32 - 1))
    def test_levels_that_are_equal_between_pixels_stay_ties(self, dtype, given_size, wanted, seed):
        """In fractions, which no order of additions rounds; two rows of levels have many equal values in between."""
        levels = np.random.default_rng(seed).integers(0, 4, given_size).astype(dtype)
        full = 1 if dtype == np.bool_ else np.iinfo(dtype).max

        def between(lines, number):
            for k in range(number):
                centre = min(max(Fraction(2 * k + 1, 2) * len(lines) / number - Fraction(1, 2), 0), len(lines) - 1)
                first = min(int(centre), max(len(lines) - 2, 0))
                second = lines[min(first + 1, len(lines) - 1)]
                yield [a + (b - a) * (centre - first) for a, b in zip(lines[first], second, strict=True)]

        rows = list(between([[Fraction(int(value), full) for value in row] for row in levels], wanted[0]))
        exact = zip(*between(list(zip(*rows, strict=True)), wanted[1]), strict=True)
        expected = np.array([[float(value) for value in row] for row in exact])
        np.testing.assert_array_equal(bilinear(levels, wanted), expected)


class TestResize:
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.bool_])
    def test_nearest_keeps_values_as_stored(self, dtype):
        small = (np.arange(600).reshape(20, 30) % 2).astype(dtype)
        maps = mended(small, resize="nearest")
        np.testing.assert_array_equal(only(maps), np.kron(small, np.ones((2, 2), dtype)))
        assert only(maps).dtype == dtype
        sizes = {"how": "nearest", "size": (20, 30), "changed": (40, 60)}
        assert noted(maps.notes) == [("prediction", "resized", sizes)]

    @pytest.mark.parametrize(
        ("dtype", "full"), [(np.uint8, 255), (np.uint16, 65535), (np.int32, 2**31 - 1), (np.bool_, 1), (np.float32, 1)]
    )
    def test_bilinear_interpolates_scores_not_levels(self, dtype, full):
        small = np.zeros((20, 30), dtype)
        small[:, 15:] = full
        resized = only(mended(small, resize="bilinear"))
        assert resized.dtype == np.float64
        np.testing.assert_array_equal(resized[7, 28:32], [0, 0.25, 0.75, 1])

    def test_what_fits_is_left_to_the_bit(self):
        levels = np.full((40, 60), 7, np.uint8)
        for how in ("nearest", "bilinear"):
            maps = mended(levels, resize=how)
            assert only(maps) is levels
            assert maps.notes == ()

    def test_label_maps_never_mix(self):
        scales = [np.ones((20, 30), np.uint16), np.full((40, 60), 3, np.uint16)]
        maps = mended(scales, "labels", resize="nearest")
        assert [array.shape for _, array in maps.predictions] == [(40, 60)] * 2
        with refused("mixed-labels", DataError, settings={"resize": "nearest"}):
            mended(scales, "labels", resize="bilinear")

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_what_is_not_finite_does_not_spread(self, value):
        small = np.zeros((20, 30))
        small[3, 3] = value
        with refused("not-finite", DataError, count=1, why="which bilinear resizing would spread"):
            mended(small, resize="bilinear")
        assert np.count_nonzero(~np.isfinite(only(mended(small, resize="nearest")))) == 4


class TestCrop:
    def test_cuts_whichever_is_larger_and_all_annotators_and_the_field_alike(self):
        truth = np.arange(2400).reshape(40, 60)
        prediction = np.arange(39 * 62).reshape(39, 62)
        maps = mended(prediction, truths=(truth, truth + 1), field=truth > 5, crop=True)
        np.testing.assert_array_equal(only(maps), prediction[:, :60])
        np.testing.assert_array_equal(maps.truths[0][1], truth[:39])
        np.testing.assert_array_equal(maps.truths[1][1], truth[:39] + 1)
        np.testing.assert_array_equal(maps.field, truth[:39] > 5)
        assert noted(maps.notes) == [
            ("prediction", "cropped", {"size": (39, 62), "changed": (39, 60)}),
            ("ground truth", "cropped", {"size": (40, 60), "changed": (39, 60)}),
        ]

    def test_all_predictions_of_an_image_come_to_one_size(self):
        maps = mended([np.zeros((41, 60), int), np.zeros((40, 59), int)], "labels", crop=True)
        assert {array.shape for _, array in (*maps.truths, *maps.predictions)} == {(40, 59)}

    @pytest.mark.parametrize("shape", [(255, 255), (255, 256), (257, 255)])
    def test_square_ground_truth_is_not_transposed(self, shape):
        maps = mended(np.zeros(shape), truths=(np.zeros((256, 256)),), crop=True)
        assert only(maps).shape == maps.truths[0][1].shape == tuple(np.minimum(shape, 256))

    @pytest.mark.parametrize("shape", [(44, 66), (36, 54), (40, 60)])
    def test_a_tenth_may_go(self, shape):
        assert only(mended(np.zeros(shape), crop=True)).shape == tuple(np.minimum(shape, (40, 60)))

    @pytest.mark.parametrize("shape", [(45, 60), (35, 60), (20, 30), (40, 120)])
    def test_more_may_not(self, shape):
        settings = {"resize": "nearest", "crop": None}
        with refused("other-size", DataError, expected=(40, 60), other="gt", settings=settings):
            mended(np.zeros(shape), crop=True)


class TestSizesNoOptionMends:
    @pytest.mark.parametrize("repairs", [{}, {"crop": True}, {"resize": "nearest"}, {"resize": "bilinear"}])
    @pytest.mark.parametrize(
        ("shape", "truth", "guess"),
        [((60, 40), (40, 60), "transposed"), ((40, 41), (41, 40), "transposed"), ((81, 121), (40, 60), "doubled")],
    )
    def test_are_refused_whatever_is_asked_for(self, repairs, shape, truth, guess):
        with refused("other-size", DataError, size=shape, expected=truth, other="gt", settings={}) as caught:
            mended(np.zeros(shape), truths=(np.zeros(truth),), **repairs)
        assert caught.value.values["guess"].kind == guess


@pytest.mark.parametrize(
    ("shape", "kind", "options"),
    [
        ((39, 61), "soft", ["crop", "resize"]),
        ((42, 60), "soft", ["crop", "resize"]),
        ((20, 30), "soft", ["resize"]),
        ((80, 120), "labels", ["resize"]),
        ((33, 70), "soft", ["resize"]),
        ((42, 62), "soft", ["crop", "resize"]),
        ((41, 61), "soft", ["crop", "resize"]),
        ((38, 58), "soft", ["crop", "resize"]),
        ((36, 56), "soft", ["resize", "crop"]),
        ((44, 64), "soft", ["resize", "crop"]),
    ],
)
def test_without_repairs_the_option_that_mends_it_is_named(shape, kind, options):
    mends = {"crop": True, "resize": "nearest"}
    with refused("other-size", DataError, size=shape, expected=(40, 60), other="gt") as caught:
        mended(np.zeros(shape, int), kind)
    assert [(advice.name, advice.value, advice.of) for advice in caught.value.settings] == [
        (name, mends[name], "Repairs") for name in options
    ]


class TestScale:
    levels = np.random.default_rng(3).integers(0, 256, (40, 60), np.uint8)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16, np.int32])
    def test_a_number_divides_stored_values_of_any_type(self, dtype):
        maps = mended(self.levels.astype(dtype), scale=255)
        np.testing.assert_array_equal(only(maps), self.levels / 255)
        assert noted(maps.notes) == [("prediction", "scaled", {"scale": 255})]

    @pytest.mark.parametrize(
        ("dtype", "scale"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1), (np.bool_, 255)]
    )
    def test_values_that_are_scores_already_stay(self, dtype, scale):
        stored = self.levels.astype(dtype)
        maps = mended(stored, scale=scale)
        assert only(maps) is stored
        assert maps.notes == ()

    def test_the_sigmoid_is_for_floats(self):
        logits = np.tile([-800.0, 0, np.log(3), 800], (40, 15))
        np.testing.assert_allclose(only(mended(logits, scale="sigmoid"))[0, :4], [0, 0.5, 0.75, 1], atol=1e-15)
        with refused("not-floats", DataError, dtype="uint8"):
            mended(self.levels, scale="sigmoid")

    def test_minmax_stretches_each_image_but_one_of_a_single_value(self):
        stretched = mended(np.clip(self.levels, 50, 150), scale="minmax")
        assert (only(stretched).min(), only(stretched).max()) == (0, 1)
        np.testing.assert_array_equal(only(stretched), (np.clip(self.levels, 50, 150).astype(float) - 50) / 100)
        assert noted(stretched.notes) == [("prediction", "stretched", {"lowest": 50, "highest": 150})]
        flat = np.full((40, 60), 9, np.uint8)
        assert only(mended(flat, scale="minmax")) is flat
        with refused("not-finite", DataError, count=1, why="so the map has no minimum and maximum"):
            mended(np.where(np.arange(60) + 60 * np.arange(40)[:, None], 0.5, np.nan), scale="minmax")

    def test_scales_before_it_resizes(self):
        logits = np.zeros((20, 30))
        logits[:, 15:] = np.log(3)
        resized = only(mended(logits, scale="sigmoid", resize="bilinear"))
        np.testing.assert_allclose(resized[0, 28:32], [0.5, 0.5625, 0.6875, 0.75], atol=1e-12)

    def test_what_has_no_scale_is_refused(self):
        with refused("scaled-labels", DataError, settings={}):
            mended(self.levels, "labels", scale=255)
        with refused("scaled-ucm2", DataError, scale="sigmoid"):
            mended(np.zeros((81, 121)), "ucm2", scale="sigmoid")
        assert only(mended(np.full((81, 121), 51.0), "ucm2", scale=255)).max() == 0.2


class TestSettings:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"resize": "cubic"},
            {"scale": 0},
            {"scale": -1},
            {"scale": float("nan")},
            {"scale": float("inf")},
            {"scale": "stretch"},
        ],
    )
    def test_wrong_ones_are_refused(self, wrong):
        ((name, value),) = wrong.items()
        with refused("wrong-value", ArgumentError) as caught:
            Repairs(**wrong)
        assert str(caught.value.values["given"]).startswith(f"{name}={value!r}")

    def test_two_that_exclude_each_other_are_refused(self):
        with refused("exclusive-settings", ArgumentError, settings={"resize": ..., "crop": True}):
            Repairs(resize="nearest", crop=True)

    @given(
        st.sampled_from([None, "nearest", "bilinear"]),
        st.booleans(),
        st.none() | st.sampled_from(["minmax", "sigmoid"]) | st.floats(1e-300, 1e300),
    )
    def test_are_read_again_from_the_signature(self, resize, crop, scale):
        repairs = Repairs(resize=resize, crop=crop and resize is None, scale=scale)
        assert Repairs.from_fields({"void": "none"} | repairs.signature_fields()) == repairs

    def test_none_at_all_leave_the_signature_as_it_was(self):
        assert Repairs().signature_fields() == {}
