"""Centerlines of volumes: skeletons in one orientation, and Betti numbers worked by hand and by other code."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused
from scipy.ndimage import generate_binary_structure, label
from skimage.measure import euler_number
from skimage.morphology import skeletonize
from volumes_written import affine_of, write_nifti

from segbench import Accumulator, ArgumentError, Centerlines, DataError, count, evaluate
from segbench.aggregator.codec import decode, encode
from segbench.core.sample import Sample
from segbench.protocols.centerlines.volumes import (
    betti_numbers_of_volume,
    euler_characteristic,
    orientation_of,
    skeleton_of_volume,
)

VOLUMES = Centerlines(connectivity=26)
ERRORS = ("betti0_error", "betti1_error", "betti2_error", "euler_error")


def empty(*shape):
    return np.zeros(shape, bool)


def shell(size=5):
    """Draw a cube with a hole of one voxel less on each side."""
    mask = np.ones((size,) * 3, bool)
    mask[(slice(1, -1),) * 3] = False
    return mask


def ring(size=5):
    """Draw a square of lines."""
    mask = empty(3, size + 2, size + 2)
    mask[1, 1:-1, 1:-1] = True
    mask[1, 2:-2, 2:-2] = False
    return mask


def torus():
    """Draw a hollow ring, with two tunnels and a cavity."""
    mask = empty(5, 11, 11)
    mask[1:4, 1:10, 1:10] = True
    mask[:, 4:7, 4:7] = False
    mask[2, 2:9, 2:9] = False
    mask[1:4, 3:8, 3:8] |= shell_of_hole()
    return mask


def shell_of_hole():
    """Draw the wall around the hole of the torus."""
    wall = empty(3, 5, 5)
    wall[:, [0, -1]] = True
    wall[:, :, [0, -1]] = True
    return wall


def noise(rng):
    return rng.random(rng.integers(1, 8, 3)) < rng.random()


class TestTopology:
    @pytest.mark.parametrize(
        ("mask", "expected"),
        [
            (empty(3, 3, 3), (0, 0, 0)),
            (np.ones((1, 1, 1), bool), (1, 0, 0)),
            (np.ones((3, 4, 5), bool), (1, 0, 0)),
            (shell(), (1, 0, 1)),
            (ring(), (1, 1, 0)),
            (torus(), (1, 2, 1)),
        ],
        ids=["empty", "voxel", "full", "shell", "ring", "torus"],
    )
    def test_drawings(self, mask, expected):
        assert betti_numbers_of_volume(mask, 26) == betti_numbers_of_volume(mask, 6) == expected

    def test_voxels_touch_at_corners_or_not(self):
        diagonal = np.zeros((2, 2, 2), bool)
        diagonal[0, 0, 0] = diagonal[1, 1, 1] = True
        assert betti_numbers_of_volume(diagonal, 26) == (1, 0, 0)
        assert betti_numbers_of_volume(diagonal, 6) == (2, 0, 0)

    def test_background_touches_the_other_way(self):
        mask = shell()
        mask[0, 0, 0] = False  # opens the cavity at a corner alone
        assert betti_numbers_of_volume(mask, 26)[2] == 1
        assert betti_numbers_of_volume(mask, 6)[2] == 0

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32), st.sampled_from([26, 6]))
    def test_numbers_are_those_of_other_code(self, seed, neighbours):
        mask = noise(np.random.default_rng(seed))
        steps = {26: 3, 6: 1}
        components, tunnels, cavities = betti_numbers_of_volume(mask, neighbours)
        assert components == label(mask, generate_binary_structure(3, steps[neighbours]))[1]
        outside = np.pad(~mask, 1, constant_values=True)
        assert cavities == label(outside, generate_binary_structure(3, steps[32 - neighbours]))[1] - 1
        assert components - tunnels + cavities == euler_number(np.pad(mask, 1), steps[neighbours])
        assert tunnels >= 0

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 2**32), st.permutations(range(3)), st.tuples(*[st.sampled_from([1, -1])] * 3))
    def test_turning_a_volume_changes_nothing(self, seed, order, steps):
        mask = noise(np.random.default_rng(seed))
        turned = np.transpose(mask, order)[tuple(slice(None, None, step) for step in steps)]
        for neighbours in (26, 6):
            assert betti_numbers_of_volume(turned, neighbours) == betti_numbers_of_volume(mask, neighbours)

    def test_a_volume_of_one_slice_has_the_numbers_of_its_image(self):
        rng = np.random.default_rng(3)
        pairs = [rng.random((2, 9, 12)) < 0.5 for _ in range(5)]
        for truth, predicted in pairs:
            of_image = count(truth, predicted, Centerlines(skeleton="lee"))
            of_volume = count(truth[np.newaxis], predicted[np.newaxis], VOLUMES)
            assert of_volume.betti0.tolist() == of_image.betti0.tolist()
            assert of_volume.betti1.tolist() == of_image.betti1.tolist()
            assert (of_volume.betti2.tolist(), of_volume.euler.tolist()) == ([0], of_image.euler.tolist())

    def test_the_table_of_a_code_does_not_depend_on_what_lies_elsewhere(self):
        mask = empty(4, 4, 4)
        assert euler_characteristic(mask.view(np.uint8), np.arange(256, dtype=np.int16).astype(np.int8)) == 0


class TestSkeletons:
    def test_it_is_that_of_scikit_image(self):
        mask = np.random.default_rng(0).random((6, 30, 9)) < 0.7
        assert np.array_equal(skeleton_of_volume(mask, None), skeletonize(mask, method="lee").astype(bool))

    def test_surroundings_without_voxels_do_not_matter(self):
        mask = np.random.default_rng(1).random((5, 8, 7)) < 0.7
        padded = np.pad(mask, ((3, 1), (0, 2), (4, 5)))
        assert np.array_equal(skeleton_of_volume(padded, None)[3:-1, :-2, 4:-5], skeleton_of_volume(mask, None))

    @pytest.mark.parametrize(
        ("order", "steps"), [*itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3))]
    )
    def test_axes_are_turned_to_one_orientation(self, order, steps):
        mask = np.random.default_rng(2).random((6, 7, 8)) < 0.6
        flip = tuple(slice(None, None, step) for step in steps)
        affine = np.diag([1.0, 1.0, 1.0])[:, ::-1] * (3, 0.7, 0.5)  # columns z, y and x of positions x, y and z
        columns = affine[:, order] * steps
        turned_affine = tuple(map(tuple, np.column_stack([columns, np.zeros(3)]).tolist()))
        skeleton = skeleton_of_volume(np.transpose(mask, order)[flip], turned_affine)
        upright = np.transpose(skeleton[flip], np.argsort(order))
        assert np.array_equal(upright, skeleton_of_volume(mask, None))

    def test_oblique_axes_are_taken_as_the_closest(self):
        turn = np.radians(20)
        rotation = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
        affine = np.column_stack([rotation @ np.eye(3)[:, ::-1] * (1, 1, -1), np.zeros(3)])
        assert orientation_of(affine.tolist()) == ((0, 1, 2), (1, 1, -1))


class TestCounts:
    def test_a_line_with_a_gap_and_a_shell(self):
        truth, predicted = empty(9, 9, 20), empty(9, 9, 20)
        truth[4, 4, 2:18] = predicted[4, 4, 2:18] = True
        predicted[4, 4, 9] = False
        predicted[6:9, 6:9, 0:3] = True
        predicted[7, 7, 1] = False
        metrics = count(truth, predicted, "centerlines").metrics()
        assert [metrics[key] for key in ERRORS] == [2, 0, 1, 3]
        assert metrics["cldice_sensitivity"] == 15 / 16
        assert not [key for key in metrics if key.endswith("patches")]

    @pytest.mark.parametrize(("side", "expected"), [(0, 0.0), (1, 0.0)])
    def test_one_mask_is_empty(self, side, expected):
        masks = [empty(4, 5, 6), empty(4, 5, 6)]
        masks[side][1:3, 1:3, 1:3] = True
        metrics = count(*masks, VOLUMES).metrics()
        assert (metrics["cldice"], metrics["betti0_error"]) == (expected, 1)

    def test_soft_volumes_at_thresholds(self):
        truth, scores = empty(5, 5, 12), np.zeros((5, 5, 12))
        truth[2, 2, 1:11], scores[2, 2, 1:11], scores[2, 2, 1:5] = True, 0.5, 0.9
        result = evaluate({"a": (truth, scores)}, protocol=Centerlines(thresholds=[0.4, 0.6], connectivity=26))
        assert result.summary["cldice_threshold"] == 0.4
        assert result.counts["a"].true_inside.tolist() == [10, 4]

    def test_counts_are_packed_and_added(self):
        truth, predicted = shell(), np.ones((5, 5, 5), bool)
        counts = count(truth, predicted, VOLUMES)
        assert decode(encode(counts)) == counts
        both = counts + counts
        assert (both.betti2.tolist(), both.images) == ([2], 2)

    def test_images_and_volumes_do_not_add(self):
        mask = np.ones((3, 3), bool)
        with refused("counted-otherwise", ArgumentError):
            count(mask, mask, "centerlines") + count(shell(), shell(), "centerlines")

    def test_void_is_background(self):
        truth = shell().astype(np.uint8)
        truth[0, 0, 0] = 255
        counts = count(truth, shell(), Centerlines(positive=1, void=[255]))
        assert counts.betti2.tolist() == counts.betti0.tolist() == [0]


class TestSets:
    def test_folders_are_counted_as_arrays(self, tmp_path):
        rng = np.random.default_rng(5)
        for name in ("a", "b"):
            for folder in ("gt", "pred"):
                write_nifti(tmp_path / folder / f"{name}.nii.gz", (rng.random((6, 7, 8)) < 0.5).astype(np.uint8))
        result = evaluate(tmp_path / "gt", tmp_path / "pred", "centerlines")
        import nibabel

        for name in ("a", "b"):
            arrays = [
                np.asarray(nibabel.load(tmp_path / folder / f"{name}.nii.gz").dataobj).T for folder in ("gt", "pred")
            ]
            assert result.counts[name] == count(*arrays, "centerlines")
        assert "connectivity:26" in result.signature
        assert "skeleton:lee" in result.signature
        assert "betti2_error" in result.summary

    def test_files_that_are_turned_have_the_same_numbers(self, tmp_path):
        rng = np.random.default_rng(6)
        masks = {folder: (rng.random((6, 7, 8)) < 0.6).astype(np.uint8) for folder in ("gt", "pred")}
        flipped = affine_of(origin=(8 * 0.7, 0, 0))
        flipped[0, 0] *= -1
        for folder, mask in masks.items():
            write_nifti(tmp_path / "upright" / folder / "a.nii.gz", mask)
            write_nifti(tmp_path / "turned" / folder / "a.nii.gz", mask[:, :, ::-1], flipped)
        upright, turned = (
            evaluate(tmp_path / name / "gt", tmp_path / name / "pred", "centerlines").counts["a"]
            for name in ("upright", "turned")
        )
        assert upright == turned

    def test_an_accumulator_takes_volumes(self):
        accumulator = Accumulator("centerlines")
        accumulator.update(shell(), np.ones((5, 5, 5), bool), name="a")
        accumulator.update(np.stack([shell()] * 2), np.ones((2, 5, 5, 5), bool), names=["b", "c"])
        assert accumulator.compute().summary["betti2_error"] == 1

    def test_an_accumulator_of_images_takes_no_volumes(self):
        accumulator = Accumulator("centerlines")
        accumulator.update(np.ones((5, 5), bool), np.ones((5, 5), bool), name="a")
        with refused("mixed-dimensions", ArgumentError):
            accumulator.update(shell(), shell(), name="b")


class TestErrors:
    @pytest.mark.parametrize("skeleton", ["thin", "medial-axis"])
    def test_skeletons_of_images(self, skeleton):
        with refused("not-of-volumes", ArgumentError):
            Centerlines(skeleton=skeleton, connectivity=26)
        with refused("not-of-volumes", ArgumentError):
            count(shell(), shell(), Centerlines(skeleton=skeleton))

    def test_images_where_volumes_are_meant(self):
        mask = np.ones((4, 4), bool)
        with refused("other-dimensions", DataError):
            count(mask, mask, VOLUMES)

    def test_other_sizes(self):
        with refused("other-size", DataError):
            VOLUMES.count(Sample("a", (shell(),), (shell(6),), volume=True))
