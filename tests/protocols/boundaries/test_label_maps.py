import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from refusing import refused

import segbench as sb
from segbench.core.errors import ArgumentError, DataError
from segbench.inputs.lines import sample_ucm2


def on_the_double_grid(labels):
    """The rule, step by step, on the grid itself."""
    height, width = labels.shape
    grid = np.zeros((2 * height + 1, 2 * width + 1), bool)
    for y in range(height):
        for x in range(width):
            if y + 1 < height and labels[y, x] != labels[y + 1, x]:
                grid[2 * y + 2, 2 * x + 1] = True
            if x + 1 < width and labels[y, x] != labels[y, x + 1]:
                grid[2 * y + 1, 2 * x + 2] = True
    for y in range(2, 2 * height, 2):
        for x in range(2, 2 * width, 2):
            grid[y, x] = grid[y - 1, x] or grid[y + 1, x] or grid[y, x - 1] or grid[y, x + 1]
    grid[0], grid[-1] = grid[1], grid[-2]
    grid[:, 0], grid[:, -1] = grid[:, 1], grid[:, -2]
    return grid[2::2, 2::2]


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 2)))
def test_same_as_the_grid(labels):
    assert np.array_equal(sb.label_boundaries(labels), on_the_double_grid(labels))


def test_last_row_and_column_are_cracks():
    marked = sb.label_boundaries([[1, 1, 2], [1, 1, 2]])
    assert marked.tolist() == [[False, True, False], [False, True, False]]
    marked = sb.label_boundaries([[1, 1], [1, 2]])
    assert marked.tolist() == [[True, True], [True, False]]


def test_one_region_has_no_boundary():
    assert not sb.label_boundaries(np.full((4, 5), 7)).any()


def test_nan_is_no_label():
    with refused("not-a-number", DataError, path="label_map", nan=1):
        sb.label_boundaries([[1.0, np.nan]])


@pytest.mark.parametrize("shape", [(4, 5), (5, 4), (1, 5), (5,)])
def test_not_of_double_size(shape):
    with refused("wrong-shape", ArgumentError, argument="ucm2", shape=shape):
        sample_ucm2(np.zeros(shape))
