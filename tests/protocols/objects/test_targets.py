"""Pd and Fa of infrared small targets: components that match by their centroids."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from cases import drawn
from scipy.ndimage import label

from segbench import Objects, count

COMPONENTS = Objects(kind="components")


def summary(pairs):
    return COMPONENTS.table({str(number): count(*pair, COMPONENTS) for number, pair in enumerate(pairs)}).summary()


def components_in(mask):
    """Return the pixels of each component in scan order."""
    numbers, components = label(mask, np.ones((3, 3)))
    return [np.argwhere(numbers == number) for number in range(1, components + 1)]


def square(component, other):
    """Return the squared distance of two centroids."""
    centroids = [[Fraction(int(total), len(pixels)) for total in pixels.sum(axis=0)] for pixels in (component, other)]
    return sum((one - another) ** 2 for one, another in zip(*centroids, strict=True))


def peer(pairs):
    """Compute Pd and Fa pair by pair of components, the nearest first."""
    found = components = false_pixels = pixels = 0
    for truth, predicted in pairs:
        true, right = components_in(truth), components_in(predicted)
        squares = sorted((square(true[i], right[j]), i, j) for i, j in product(range(len(true)), range(len(right))))
        taken = {}
        for distance, i, j in squares:
            if distance < 9 and i not in taken.values() and j not in taken:
                taken[j] = i
        found += len(taken)
        components += len(true)
        false_pixels += sum(len(pixels) for j, pixels in enumerate(right) if j not in taken)
        pixels += truth.size
    return {"pd": found / components if components else math.nan, "fa": false_pixels / pixels}


def in_scan_order(pairs):
    """Compute Pd and Fa as the code of BasicIRSTD: each true component takes the first in scan order that is near."""
    found = components = false_pixels = pixels = 0
    for truth, predicted in pairs:
        true, right = components_in(truth), components_in(predicted)
        components += len(true)
        pixels += truth.size
        for component in true:
            near = next((k for k, other in enumerate(right) if square(component, other) < 9), None)
            if near is not None:
                found += 1
                del right[near]
        false_pixels += sum(map(len, right))
    return {"pd": found / components if components else math.nan, "fa": false_pixels / pixels}


def drawn_pairs(rng):
    """Draw sets of small targets, some near others, some shifted by exactly 3 pixels, some missed, some false."""
    pairs = []
    for _ in range(rng.integers(1, 5)):
        truth, predicted = np.zeros((2, 24, 30), bool)
        for row, column in rng.integers(2, 22, (rng.integers(0, 6), 2)):
            height, width = rng.integers(1, 4, 2)
            truth[row : row + height, column : column + width] = True
            if rng.random() < 0.8:
                down, right = rng.integers(-3, 4, 2) * (rng.random() < 0.7)
                top, left = max(row + down, 0), max(column + right, 0)
                predicted[top : top + height, left : left + width] = True
        predicted |= rng.random(predicted.shape) < rng.choice([0, 0.01, 0.03])
        pairs.append((truth, predicted))
    return pairs


def test_a_drawing_worked_by_hand():
    truth = drawn("##....#...", "##........", "..........")
    predicted = drawn(".##......#", ".##......#", "..........")
    # The first is found one column off; the second lies 3 columns and half a row off; 2 of 30 pixels are false.
    found = count(truth, predicted, COMPONENTS)
    assert (found.targets, found.false_pixels, found.pixels) == (1, 2, 30)
    assert (found.metrics()["pd"], found.metrics()["fa"]) == (1 / 2, 2 / 30)


def test_a_distance_of_exactly_3_is_too_far():
    assert count(drawn("#...."), drawn("...#."), COMPONENTS).targets == 0
    # Centroids at 1/3 and 10/3: floats give 3.0000000000000004, and with other offsets less than 3.
    corner = drawn("##", "#.")
    for offset in range(20):
        truth, predicted = np.zeros((2, 30, 30), bool)
        truth[offset : offset + 2, offset : offset + 2] = predicted[offset : offset + 2, offset + 3 : offset + 5] = (
            corner
        )
        assert count(truth, predicted, COMPONENTS).targets == 0


def test_the_nearest_is_taken_not_the_first():
    truth, predicted = drawn("..#......"), drawn("#.#......")
    found = count(truth, predicted, COMPONENTS)
    assert (found.targets, found.false_pixels) == (1, 1)
    wide = count(drawn("...#....."), drawn("##.#....."), COMPONENTS)
    assert (wide.targets, wide.false_pixels) == (1, 2)  # in scan order the two pixels would be taken, and one false


def test_a_component_is_taken_once():
    assert count(drawn("#.#..."), drawn(".#...."), COMPONENTS).metrics()["pd"] == 1 / 2


@pytest.mark.parametrize("seed", range(40))
def test_component_by_component(seed):
    pairs = drawn_pairs(np.random.default_rng(seed))
    found = summary(pairs)
    assert {key: found[key] for key in ("pd", "fa")} == pytest.approx(peer(pairs), abs=1e-12, nan_ok=True)


def test_void_pixels_are_in_no_total():
    truth = np.array([[1, 1, 255, 255, 0, 0]])
    found = count(truth, drawn("######"), Objects(kind="components", positive=1, void=[255]))
    assert (found.targets, found.false_pixels, found.pixels) == (1, 2, 4)


def test_images_without_targets():
    empty, full = drawn("..."), drawn("##.")
    assert summary([(empty, full)]).undefined["pd"].kind == "no-true-objects"
    assert summary([(empty, full)])["fa"] == 2 / 3
    assert [summary([(full, empty)])[key] for key in ("pd", "fa")] == [0, 0]


def test_counts_add_up():
    pairs = drawn_pairs(np.random.default_rng(3))
    total = sum(count(*pair, COMPONENTS) for pair in pairs)
    assert {key: total.metrics()[key] for key in ("pd", "fa")} == pytest.approx(peer(pairs), abs=1e-12, nan_ok=True)


def test_volumes_have_none():
    volume = np.zeros((3, 4, 5), bool)
    assert "pd" not in count(volume, volume, COMPONENTS).metrics()
