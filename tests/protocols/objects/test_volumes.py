"""Objects of volumes: components, instances, and BraTS's lesions, worked by hand and by code written from its own."""

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused
from scipy.ndimage import binary_dilation, generate_binary_structure, label
from surface_peers import metrics as surface_metrics
from volumes_written import write_nifti

from segbench import Accumulator, ArgumentError, DataError, Objects, check, count, evaluate, load_results
from segbench.aggregator.codec import decode, encode
from segbench.core.sample import Sample
from segbench.protocols.objects.lesions import count_lesions, hd95_of_areas, largest_of_size

STEPS = {26: 3, 18: 2, 6: 1}


def components(**settings):
    return Objects(kind="components", **settings)


def empty(*shape):
    return np.zeros(shape, bool)


def boxes(shape, *corners):
    """Draw cubes of two voxels a side at these corners."""
    mask = empty(*shape)
    for corner in corners:
        mask[tuple(slice(start, start + 2) for start in corner)] = True
    return mask


def blobs(rng, shape=(9, 10, 11)):
    """Draw a few boxes, and some voxels."""
    mask = rng.random(shape) < rng.choice([0, 0.01, 0.03])
    for _ in range(rng.integers(0, 4)):
        start = [rng.integers(0, extent) for extent in shape]
        mask[tuple(slice(place, place + rng.integers(1, 4)) for place in start)] = True
    return mask


def lesion_wise(truth, predicted, spacing, dilate, min_size):
    """Compute BraTS's lesion-wise Dice and HD95 as its published code does, lesion by lesion over the whole volume."""
    all_neighbours, of_edges = np.ones((3, 3, 3)), generate_binary_structure(3, 2)

    def dilated(mask):
        return binary_dilation(mask, of_edges, iterations=dilate) if dilate else mask

    true_components, predicted_components = (label(mask, all_neighbours)[0] for mask in (truth, predicted))
    joined, n_joined = label(dilated(truth), all_neighbours)
    lesions = np.where(true_components > 0, joined, 0)
    taken, dice, distances = set(), [], []
    for number in range(1, n_joined + 1):
        lesion = lesions == number
        touching = set(np.unique(predicted_components[dilated(lesion)]).tolist()) - {0}
        taken |= touching
        if lesion.sum() * np.prod(spacing) <= min_size:
            continue
        prediction = np.isin(predicted_components, list(touching))
        dice.append(2 * (lesion & prediction).sum() / (lesion.sum() + prediction.sum()))
        distances.append(surface_metrics(lesion, prediction, spacing, "areas")["hd95"] if touching else 374)
    false = set(np.unique(predicted_components).tolist()) - {0} - taken
    number = len(dice) + len(false)
    if not number:
        return 1.0, 0.0
    return sum(dice) / number, (sum(distances) + 374 * len(false)) / number


class TestComponents:
    @pytest.mark.parametrize(
        ("apart", "touching"), [((1, 1, 1), {26}), ((0, 1, 1), {26, 18}), ((0, 0, 1), {26, 18, 6}), ((0, 0, 2), set())]
    )
    def test_neighbours(self, apart, touching):
        mask = empty(3, 3, 4)
        mask[0, 0, 0] = mask[apart] = True
        for connectivity in STEPS:
            counts = count(mask, mask, components(connectivity=connectivity))
            assert counts.objects.tolist() == [[1 if connectivity in touching else 2] * 2 + [0]]

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 2**32), st.sampled_from([26, 18, 6]))
    def test_numbers_are_those_of_scipy(self, seed, connectivity):
        rng = np.random.default_rng(seed)
        truth, predicted = (rng.random((6, 7, 8)) < rng.random() for _ in range(2))
        counts = count(truth, predicted, components(connectivity=connectivity))
        structure = generate_binary_structure(3, STEPS[connectivity])
        assert counts.objects[0, :2].tolist() == [label(mask, structure)[1] for mask in (truth, predicted)]
        true_numbers, n_true = label(truth, structure)
        found = np.unique(true_numbers[predicted & truth]).size
        predicted_numbers, n_predicted = label(predicted, structure)
        false = n_predicted - np.unique(predicted_numbers[predicted & truth]).size
        expected = 2 * found / (found + n_true + false) if n_true + false else None
        assert counts.metrics().get("lesion_f1") == pytest.approx(expected, nan_ok=True) or expected is None

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 2**32), st.permutations(range(3)), st.tuples(*[st.sampled_from([1, -1])] * 3))
    def test_turning_a_volume_changes_nothing(self, seed, order, steps):
        rng = np.random.default_rng(seed)
        masks = [blobs(rng) for _ in range(2)]
        sizes = (3.0, 0.7, 0.5)
        flip = tuple(slice(None, None, step) for step in steps)
        turned = [np.transpose(mask, order)[flip] for mask in masks]
        measured = count(*masks, components(dilate=1, min_size=2, spacing=sizes)).metrics()
        of_turned = count(*turned, components(dilate=1, min_size=2, spacing=[sizes[axis] for axis in order])).metrics()
        assert measured == pytest.approx(dict(of_turned), nan_ok=True, rel=1e-12)

    def test_a_volume_of_one_slice_has_the_numbers_of_its_image(self):
        rng = np.random.default_rng(2)
        truth, predicted = rng.random((2, 12, 13)) < 0.4
        of_image = count(truth, predicted, components()).metrics()
        of_volume = count(truth[np.newaxis], predicted[np.newaxis], components(connectivity=26)).metrics()
        of_targets = {"pd", "fa"}  # of images alone
        assert {key: of_volume[key] for key in of_image.keys() - of_targets} == {
            key: of_image[key] for key in of_image.keys() - of_targets
        }

    def test_void_is_in_no_object(self):
        truth = boxes((2, 2, 6), (0, 0, 0)).astype(np.uint8)
        truth[..., 3:] = 255
        counts = count(truth, np.ones((2, 2, 6), bool), components(positive=1, void=[255]))
        assert counts.lesions.tolist() == [[8, 8, 12]]


class TestInstances:
    def test_counts_are_those_of_the_slices_beside_each_other(self):
        rng = np.random.default_rng(4)
        truth, predicted = (np.repeat(np.repeat(rng.integers(0, 5, (4, 3, 3)), 2, 1), 3, 2) for _ in range(2))
        of_volume = count(truth, predicted, "objects")
        assert of_volume == count(truth.reshape(4 * 6, 9), predicted.reshape(4 * 6, 9), "objects")
        assert set(of_volume.metrics()) >= {"f1@0.5", "pq", "aji", "aji_plus"}

    def test_a_cube_shifted_by_half(self):
        truth, predicted = np.zeros((2, 4, 4, 8), int)
        truth[:, :, :4], predicted[:, :, 2:6] = 3, 8
        metrics = count(truth, predicted, "objects").metrics()
        assert metrics["aji"] == pytest.approx(32 / 96)
        assert metrics["f1@0.5"] == metrics["pq"] == 0

    def test_small_objects_are_left_out_on_both_sides(self):
        truth, predicted = np.zeros((2, 2, 4, 12), np.int64)
        truth[:, :2, :2], truth[:, :, 4:8], truth[0, 0, 10] = 1, 2, 2**40  # of 8, 32 and 1 voxels
        predicted[:, :2, :2], predicted[:, :, 4:8], predicted[:, 3, 11] = 5, 2**41, 7  # of 8, 32 and 2
        assert count(truth, predicted, "objects").objects.tolist() == [[3, 3, 0]]
        assert count(truth, predicted, Objects(min_size=1)).objects.tolist() == [[2, 3, 0]]
        assert count(truth, predicted, Objects(min_size=8)).objects.tolist() == [[1, 1, 0]]
        in_mm = Objects(min_size=8, spacing=(2, 0.7, 0.7))  # of .98 mm³ each
        assert count(truth, predicted, in_mm).objects.tolist() == [[1, 1, 0]]
        assert count(truth, predicted, Objects(min_size=7.8, spacing=(2, 0.7, 0.7))).objects.tolist() == [[2, 2, 0]]

    def test_what_is_predicted_on_small_objects_is_void(self):
        truth, predicted = np.zeros((2, 1, 1, 8), int)
        truth[..., :2], truth[..., 3:7] = 1, 2
        predicted[..., :7] = 9
        counts = count(truth, predicted, Objects(min_size=2))
        assert (counts.shared.tolist(), counts.whole.tolist()) == ([4], [5])


class TestSizes:
    @pytest.mark.parametrize(
        ("size", "sizes", "voxels"),
        [(50, (1, 1, 1), 50), (0.3, (0.1, 1, 1), 3), (2.1, (0.7, 1, 1), 3), (1, (2, 2, 2), 0)],
    )
    def test_they_are_exact(self, size, sizes, voxels):
        assert largest_of_size(size, sizes) == voxels

    def test_in_two_dimensions_they_are_areas(self):
        truth = np.zeros((4, 9), bool)
        truth[:2, :2] = truth[:, 4:8] = True
        assert count(truth, truth, components(min_size=4)).objects.tolist() == [[1, 1, 0]]
        assert count(truth, truth, components(min_size=4, spacing=(2, 1))).objects.tolist() == [[2, 2, 0]]
        assert count(truth, truth, components(min_size=16, spacing=2)).objects.tolist() == [[1, 1, 0]]


class TestLesions:
    def test_one_found_one_missed_one_false(self):
        truth = boxes((4, 4, 20), (0, 0, 0), (0, 0, 8))
        predicted = boxes((4, 4, 20), (0, 0, 1), (0, 0, 16))
        counts = count(truth, predicted, components(spacing=(3, 1, 1)))
        assert counts.lesions.tolist() == [[4, 8, 8], [0, 8, 0]]
        assert counts.false_lesions == 1
        metrics = counts.metrics()
        assert metrics["lesion_dice"] == pytest.approx(0.5 / 3)
        assert metrics["lesion_hd95"] == pytest.approx((1 + 374 + 374) / 3)

    def test_lesions_that_touch_after_dilation_are_one(self):
        truth = boxes((4, 4, 20), (0, 0, 0), (0, 0, 8))  # six voxels between them
        predicted = boxes((4, 4, 20), (0, 0, 0))
        assert count(truth, predicted, components(dilate=2)).lesions.tolist() == [[8, 8, 8], [0, 8, 0]]
        assert count(truth, predicted, components(dilate=3)).lesions.tolist() == [[8, 16, 8]]

    def test_a_prediction_beside_a_lesion_touches_its_dilation(self):
        truth, predicted = boxes((4, 4, 20), (0, 0, 0)), boxes((4, 4, 20), (0, 0, 4))  # two voxels between them
        assert count(truth, predicted, components(dilate=2)).lesions.tolist() == [[0, 8, 0]]
        counts = count(truth, predicted, components(dilate=3))
        assert (counts.lesions.tolist(), counts.false_lesions) == ([[0, 8, 8]], 0)
        metrics = counts.metrics()
        assert (metrics["lesion_dice"], metrics["lesion_hd95"]) == (0, 4)

    def test_one_prediction_serves_several_lesions_whole(self):
        truth = boxes((2, 2, 20), (0, 0, 0), (0, 0, 8))
        predicted = np.ones((2, 2, 20), bool)
        counts = count(truth, predicted, components())
        assert (counts.lesions.tolist(), counts.false_lesions) == ([[8, 8, 80], [8, 8, 80]], 0)
        assert counts.metrics()["lesion_dice"] == pytest.approx(16 / 88)

    def test_small_lesions_are_left_out_with_what_touches_them(self):
        truth = boxes((4, 4, 30), (0, 0, 0), (0, 0, 12))
        truth[:, :, 12:16] = True
        predicted = boxes((4, 4, 30), (0, 0, 0), (0, 0, 12))
        predicted[3, 3, 29] = True  # is false, although it is small
        counts = count(truth, predicted, components(dilate=1, min_size=8))
        assert (counts.lesions.tolist(), counts.false_lesions) == ([[8, 64, 8]], 1)
        assert count(truth, predicted, components(dilate=1, min_size=7)).lesions.tolist() == [[8, 8, 8], [8, 64, 8]]
        in_mm = components(dilate=1, min_size=4, spacing=(0.5, 1, 1))
        assert count(truth, predicted, in_mm).lesions.tolist() == [[8, 64, 8]]

    @pytest.mark.parametrize(("min_size", "corners"), [(0, []), (8, [(0, 0, 0)])])
    def test_no_lesion_and_none_predicted(self, min_size, corners):
        truth = boxes((4, 4, 9), *corners)
        metrics = count(truth, truth, components(min_size=min_size, connectivity=26)).metrics()
        assert (metrics["lesion_dice"], metrics["lesion_hd95"]) == (1, 0)

    def test_means_are_those_of_cases(self):
        truth, predicted = boxes((4, 4, 20), (0, 0, 0), (0, 0, 8)), boxes((4, 4, 20), (0, 0, 0))
        none = empty(4, 4, 20)
        result = evaluate(
            {"half": (truth, predicted), "none": (none, none), "false": (none, predicted)}, protocol=components()
        )
        assert result.summary["lesion_dice"] == pytest.approx((0.5 + 1 + 0) / 3)
        assert result.summary["lesion_hd95"] == pytest.approx((187 + 0 + 374) / 3)
        assert result.per_image["half"]["lesion_dice"] == 0.5

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32))
    def test_they_are_those_of_straightforward_code(self, seed):
        rng = np.random.default_rng(seed)
        truth, predicted = blobs(rng), blobs(rng)
        spacing = [(1.0, 1.0, 1.0), (2.5, 0.75, 0.5), (0.7, 0.7, 3.0)][rng.integers(3)]
        dilate, min_size = int(rng.integers(0, 4)), float(rng.choice([0, 2, 8]))
        metrics = count(
            truth, predicted, components(connectivity=26, dilate=dilate, min_size=min_size, spacing=spacing)
        ).metrics()
        expected = lesion_wise(truth, predicted, spacing, dilate, min_size)
        assert (metrics["lesion_dice"], metrics["lesion_hd95"]) == pytest.approx(expected, rel=1e-9)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 2**32), st.integers(0, 3))
    def test_surroundings_do_not_matter(self, seed, dilate):
        rng = np.random.default_rng(seed)
        truth, predicted = blobs(rng), blobs(rng)
        padded = [np.pad(mask, ((3, 4), (0, 5), (6, 3))) for mask in (truth, predicted)]
        settings_of_count = {"connectivity": 26, "dilate": dilate, "largest_left_out": 2}
        lesions, of_padded = (
            count_lesions(*masks, (1.0, 2.0, 1.0), **settings_of_count) for masks in ((truth, predicted), padded)
        )
        assert sorted(lesions.voxels.tolist()) == sorted(of_padded.voxels.tolist())
        assert sorted(lesions.distances.tolist()) == sorted(of_padded.distances.tolist())
        assert lesions.false == of_padded.false

    def test_small_lesions_in_a_large_component_have_the_hd95_of_whole_volumes(self):
        corners = [(2, 3, 4), (9, 9, 9), (3, 8, 14)]
        truth = boxes((12, 14, 18), *corners)
        predicted = np.ones(truth.shape, bool)
        predicted[0], predicted[5:7, 5:7, 5:7] = False, False
        sizes = (2.5, 0.78, 0.7)
        lesions = count_lesions(truth, predicted, sizes, connectivity=26, dilate=0, largest_left_out=0)
        expected = [hd95_of_areas(boxes(truth.shape, corner), predicted, sizes) for corner in sorted(corners)]
        assert sorted(lesions.distances.tolist()) == sorted(expected)

    def test_hd95_of_a_single_lesion_is_that_of_contours(self):
        rng = np.random.default_rng(8)
        truth, predicted = np.ones((2, 6, 7, 8), bool)
        truth[rng.random(truth.shape) < 0.2], predicted[rng.random(truth.shape) < 0.2] = False, False
        spacing = (2.5, 0.78, 0.7)
        expected = surface_metrics(truth, predicted, spacing, "areas")["hd95"]
        assert hd95_of_areas(truth, predicted, spacing) == pytest.approx(expected, rel=1e-12)


class TestCounts:
    def counted(self, **settings):
        return count(boxes((4, 4, 9), (0, 0, 0)), boxes((4, 4, 9), (0, 0, 1)), components(**settings))

    def test_they_are_packed(self):
        counts = self.counted(spacing=(0.7, 1, 1))
        assert decode(encode(counts)) == counts
        assert (counts.unit, counts.connectivity) == ("mm", 26)

    def test_they_add_up_but_lesions_are_means_over_cases(self):
        counts = self.counted()
        both = counts + counts
        assert both.lesions.tolist() == [[4, 8, 8]] * 2
        assert both.metrics()["lesion_f1"] == 1
        assert "lesion_dice" in both.metrics().undefined

    def test_other_connectivity_and_unit_do_not_add_up(self):
        for settings_of_other in ({"connectivity": 6}, {"spacing": 2}):
            with refused("counted-otherwise", ArgumentError):
                self.counted() + self.counted(**settings_of_other)

    @pytest.mark.parametrize(
        "damage",
        [{"distances": np.array([np.nan])}, {"distances": np.array([-1.0])}, {"lesions": np.zeros((1, 3), int)}],
    )
    def test_what_no_count_can_hold_is_refused(self, damage):
        from dataclasses import replace

        with refused("unfit-counts", ArgumentError):
            replace(self.counted(), **damage)


class TestSets:
    @pytest.fixture
    def folders(self, tmp_path):
        rng = np.random.default_rng(5)
        for name in ("a", "b"):
            for folder in ("gt", "pred"):
                write_nifti(tmp_path / folder / f"{name}.nii.gz", blobs(rng).astype(np.uint8))
        return tmp_path / "gt", tmp_path / "pred"

    def arrays_of(self, folders, name):
        return [np.asarray(nibabel.load(folder / f"{name}.nii.gz").dataobj).T for folder in folders]

    def test_folders_are_counted_as_arrays(self, folders):
        result = evaluate(*folders, components(dilate=1, min_size=2))
        for name in ("a", "b"):
            arrays = self.arrays_of(folders, name)
            expected = count(*arrays, components(dilate=1, min_size=2, spacing=(2.5, 0.78, 0.7)))
            assert result.counts[name] == expected
        assert "spacing:header" in result.signature
        assert "connectivity:26" in result.signature

    def test_a_spacing_of_1_is_not_that_of_headers(self, folders):
        result = evaluate(*folders, components(spacing=1))
        for name in ("a", "b"):
            assert result.counts[name] == count(*self.arrays_of(folders, name), components())
        assert "spacing:1" in result.signature

    def test_label_maps_of_instances(self, folders):
        numbered = [label(array, np.ones((3, 3, 3)))[0] for array in self.arrays_of(folders, "a")]
        for folder, array in zip(folders, numbered, strict=True):
            write_nifti(folder.parent / "instances" / folder.name / "a.nii.gz", array.astype(np.int16))
        result = evaluate(*(folder.parent / "instances" / folder.name for folder in folders), Objects())
        assert result.counts["a"] == count(*numbered, Objects())
        assert "spacing" not in result.signature

    def test_results_are_kept(self, folders, tmp_path):
        result = evaluate(*folders, components(dilate=1), results=tmp_path / "results.segbench")
        (loaded,) = load_results(tmp_path / "results.segbench")
        assert loaded.summary == result.summary
        assert loaded.counts["b"] == result.counts["b"]

    def test_an_accumulator_takes_volumes(self):
        truth, predicted = boxes((4, 4, 20), (0, 0, 0)), boxes((4, 4, 20), (0, 0, 1))
        for protocol in (components(), Objects()):
            accumulator = Accumulator(protocol)
            arrays = [mask if protocol.kind == "components" else mask.astype(int) * 3 for mask in (truth, predicted)]
            accumulator.update(*arrays, name="a")
            accumulator.update(*(np.stack([array] * 2) for array in arrays), names=["b", "c"])
            assert accumulator.compute().summary["true_objects"] == 3


class TestErrors:
    @pytest.mark.parametrize("name", ["min_true", "min_predicted"])
    def test_sizes_of_two_kinds(self, name):
        with refused("exclusive-settings", ArgumentError):
            components(min_size=3, **{name: 2})

    @pytest.mark.parametrize("settings_of_protocol", [{"connectivity": 18}, {"dilate": 3}])
    def test_images_where_volumes_are_meant(self, settings_of_protocol):
        mask = np.ones((4, 4), bool)
        with refused("other-dimensions", DataError, settings=dict.fromkeys(settings_of_protocol)):
            count(mask, mask, components(**settings_of_protocol))

    def test_panoptic_maps(self, tmp_path):
        labels = np.full((3, 4, 5), 1001)
        with refused("no-volumes", ArgumentError):
            count(labels, labels, Objects(divisor=1000))
        for folder in ("gt", "pred"):
            write_nifti(tmp_path / folder / "a.nii.gz", labels.astype(np.int16))
        with refused("no-volumes", ArgumentError):
            evaluate(tmp_path / "gt", tmp_path / "pred", Objects(divisor=1000))

    @pytest.mark.parametrize(
        ("settings_of_protocol", "kind"),
        [
            ({"kind": "instances", "dilate": 3}, "no-meaning"),
            ({"kind": "panoptic", "min_size": 3}, "no-meaning"),
            ({"kind": "panoptic", "spacing": 2}, "no-meaning"),
            ({"kind": "instances", "spacing": 2}, "no-effect"),
            ({"kind": "components", "connectivity": 12}, "wrong-value"),
            ({"kind": "components", "min_size": -1}, "wrong-value"),
            ({"kind": "components", "dilate": 1.5}, "wrong-value"),
            ({"kind": "components", "spacing": "wide"}, "wrong-value"),
        ],
    )
    def test_settings_without_meaning(self, settings_of_protocol, kind):
        with refused(kind, ArgumentError):
            Objects(**settings_of_protocol)

    def test_headers_without_a_spacing(self):
        sample = Sample("a", (boxes((3, 3, 3), (0, 0, 0)),), (boxes((3, 3, 3), (0, 0, 0)),), volume=True)
        with refused("no-spacing", DataError):
            components(connectivity=26, spacing="header").count(sample)


class TestCheck:
    def test_many_numbered_objects_are_no_soft_maps(self, tmp_path):
        numbers = np.kron(np.arange(64).reshape(4, 4, 4), np.ones((6, 3, 8))).astype(np.int16)
        numbers[np.random.default_rng(0).random(numbers.shape) < 0.05] = 0
        for folder in ("gt", "pred"):
            write_nifti(tmp_path / folder / "a.nii.gz", numbers)
        assert not check(tmp_path / "gt", tmp_path / "pred", "objects").findings
