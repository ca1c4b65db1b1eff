import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from refusing import refused
from scipy.ndimage import binary_closing
from skimage.morphology import thin as skimage_thin

import segbench as sb
from segbench.core.errors import ArgumentError
from segbench.imaging.bits import levels_of, pack, pack_levels, unpack
from segbench.imaging.thinning import thin_levels

masks = arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=24))


@given(masks, st.booleans())
def test_same_pixels_as_scikit_image(mask, closed):
    mask = binary_closing(mask) if closed else mask
    assert np.array_equal(sb.thin(mask), skimage_thin(mask))


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (40, 130), (65, 64)])
def test_full_and_empty_masks(shape):
    assert np.array_equal(sb.thin(np.ones(shape)), skimage_thin(np.ones(shape)))
    assert not sb.thin(np.zeros(shape)).any()


def test_a_mask_without_pixels():
    assert sb.thin(np.ones((0, 5))).shape == (0, 5)
    assert sb.thin(np.ones((5, 0))).shape == (5, 0)


def test_thick_lines_become_lines_of_one_pixel():
    mask = np.zeros((9, 30), bool)
    mask[3:6, 2:28] = True
    assert (sb.thin(mask).sum(axis=0) <= 1).all()
    assert sb.thin(mask)[4, 3:26].all()


@given(arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=20), elements=st.integers(0, 6)))
def test_every_threshold_alone_gives_the_same(scores):
    thresholds = np.array([1.0, 2.0, 3.0, 5.0, 6.0])
    levels = levels_of(scores.astype(float), thresholds)
    thinned, plain = thin_levels(levels, 5), pack_levels(levels, 5)
    for k, threshold in enumerate(thresholds):
        assert np.array_equal(unpack(plain[k], scores.shape[1]), scores >= threshold)
        assert np.array_equal(unpack(thinned[k], scores.shape[1]), skimage_thin(scores >= threshold))


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=140)))
def test_packing_and_back(mask):
    assert np.array_equal(unpack(pack(mask), mask.shape[1]), mask)


def test_input_is_not_changed():
    mask = np.ones((5, 7))
    sb.thin(mask)
    assert mask.all()


def test_not_an_image():
    with refused("wrong-shape", ArgumentError, shape=(3,)):
        sb.thin([1, 0, 1])
