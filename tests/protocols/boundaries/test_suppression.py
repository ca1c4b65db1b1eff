import math

import numpy as np
import pytest
from refusing import refused
from scipy.ndimage import map_coordinates

import segbench as sb
from segbench.core.errors import ArgumentError, DataError

RNG = np.random.default_rng(0)


def triangle(image, radius):
    weights = np.convolve(np.ones(radius + 1), np.ones(radius + 1)) / (radius + 1) ** 2
    padded = np.pad(image, radius, mode="symmetric")
    for axis in (0, 1):
        padded = np.apply_along_axis(np.convolve, axis, padded, weights, mode="valid")
    return padded


def by_the_book(scores, radius, border, multiplier, smoothing):
    """The description, pixel by pixel."""
    scores = triangle(scores, smoothing)
    height, width = scores.shape
    oy, ox = np.gradient(triangle(scores, 4))
    oxx = np.gradient(ox, axis=1)
    oyy, oxy = np.gradient(oy)
    angle = np.mod(np.arctan(oyy * np.sign(-oxy) / (oxx + 1e-5)), np.pi)
    kept = scores.copy()
    for y in range(height):
        for x in range(width):
            for d in [d for d in range(-radius, radius + 1) if d]:
                at = (
                    min(max(y + d * math.sin(angle[y, x]), 0), height - 1.001),
                    min(max(x + d * math.cos(angle[y, x]), 0), width - 1.001),
                )
                if multiplier * scores[y, x] < map_coordinates(scores, [[at[0]], [at[1]]], order=1)[0]:
                    kept[y, x] = 0
    for x in range(border):
        kept[:, x] *= x / border
        kept[:, width - 1 - x] *= x / border
    for y in range(border):
        kept[y] *= y / border
        kept[height - 1 - y] *= y / border
    return kept


@pytest.mark.parametrize(("radius", "border", "multiplier", "smoothing"), [(1, 5, 1.01, 1), (2, 3, 1.03, 0)])
def test_as_described(radius, border, multiplier, smoothing):
    scores = triangle(RNG.random((24, 31)), 2)
    expected = by_the_book(scores, radius, border, multiplier, smoothing)
    kept = sb.nms(scores, radius=radius, border=border, multiplier=multiplier, smoothing=smoothing)
    np.testing.assert_allclose(kept, expected, atol=1e-12)
    assert 0 < np.count_nonzero(kept) < 0.7 * kept.size


@pytest.mark.parametrize("transposed", [False, True])
def test_a_thick_line_becomes_its_ridge(transposed):
    y, x = np.mgrid[:41, :41]
    scores = np.exp(-(((x - 20 - 0.2 * (y - 20)) / 4) ** 2))
    kept = sb.nms(scores.T if transposed else scores) > 0.5
    kept = kept.T if transposed else kept
    assert (kept[8:-8].sum(axis=1) == 1).all()
    assert (np.abs(kept[8:-8].argmax(axis=1) - (20 + 0.2 * (np.arange(8, 33) - 20))) <= 1).all()


def test_a_ridge_along_a_row_has_no_normal_in_the_original_either():
    ridge = np.exp(-(((np.arange(31) - 15) / 4) ** 2))
    across_columns, across_rows = np.tile(ridge, (31, 1)), np.tile(ridge[:, None], (1, 31))
    assert (np.count_nonzero(sb.nms(across_columns, border=0, smoothing=0), axis=1) == 1).all()
    assert np.count_nonzero(sb.nms(across_rows, border=0, smoothing=0)) > 31


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (3, 3), (0, 4)])
def test_small_images(shape):
    assert sb.nms(np.ones(shape), border=0).shape == shape
    assert np.isfinite(sb.nms(np.ones(shape))).all()


def test_the_margin_fades():
    kept = sb.nms(np.ones((20, 20)), border=4)
    np.testing.assert_allclose(kept[10, :6], [0, 0.25, 0.5, 0.75, 1, 1])
    np.testing.assert_allclose(kept[10], kept[10, ::-1])


def test_levels_are_fractions_and_inputs_stay():
    levels = np.full((8, 8), 51, np.uint8)
    assert sb.nms(levels, border=0)[4, 4] == pytest.approx(0.2)
    assert (levels == 51).all()


def two_columns(height):
    """Two dark columns; where the second derivative is exactly -1e-5 depends on how bright they are."""
    scores = np.zeros((12, 15))
    scores[:, 7] = height
    scores[:, 8] = 0.3 * scores[:, 7]
    return scores


@pytest.mark.parametrize(
    "scale", [1.9935335326246828, 1.9389930683201626, 1.9568347433348372, 1.9746921811681188, 1.9956677241237475]
)
def test_an_infinite_slope_of_the_orientation(scale):
    scores = two_columns(2.5e-4 * (1 + 0.2 * (np.random.default_rng(0).random(12) - 0.5))) * scale
    with np.errstate(divide="ignore"):
        expected = by_the_book(scores, 1, 0, 1.01, 0)
    np.testing.assert_array_equal(sb.nms(scores, border=0, smoothing=0) > 0, expected > 0)


def test_where_rise_and_run_are_both_0_the_normal_lies_along_the_row():
    line = np.zeros((24, 31))
    line[:, 15] = 2.5e-4
    kept = sb.nms(line, border=0, smoothing=0)
    np.testing.assert_array_equal(kept, line)


def test_scores_too_large_for_second_derivatives():
    with refused("too-large-scores", DataError, path="prediction", highest=1e300):
        sb.nms([[1e300, -1e300]])


@pytest.mark.parametrize("option", ["radius", "smoothing"])
def test_a_radius_that_makes_no_sense(option):
    with refused("wrong-value", ArgumentError, argument=option, value="999999"):
        sb.nms(np.ones((4, 4)), **{option: 999999})
    sb.nms(np.ones((4, 4)), **{option: 100})


@pytest.mark.parametrize("option", [{"radius": -1}, {"border": 1.5}, {"smoothing": -2}, {"multiplier": 0}])
def test_settings_out_of_range(option):
    ((name, value),) = option.items()
    with refused("wrong-value", ArgumentError, argument=name, value=str(value)):
        sb.nms(np.ones((4, 4)), **option)


def test_nan_is_refused():
    with refused("not-finite", DataError, path="prediction", nan=1, infinite=0):
        sb.nms([[0.1, np.nan]])
