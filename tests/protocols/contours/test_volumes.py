"""Contours of volumes, and of pixels that are not square: drawings worked by hand, and straightforward code."""

import itertools
import math
import re
import sqlite3
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusing import refused
from surface_peers import metrics as peer_metrics
from surface_peers import random_pair

from segbench import (
    Accumulator,
    ArgumentError,
    ContourCounts,
    Contours,
    DataError,
    Objects,
    count,
    evaluate,
    load_results,
)
from segbench.aggregator.codec import decode, encode
from segbench.core.sample import Sample
from segbench.inputs.spacing import decimal_text, exact, typed_spacing, whole_steps
from segbench.protocols.registry import StoredProtocol
from segbench.protocols.states import State

SURFACES = ("voxels", "areas")
DISTANCES = ("hd", "hd95", "assd", "masd")


def empty(*shape):
    return np.zeros(shape, bool)


def voxel(shape, *place):
    """Draw a mask of one voxel."""
    mask = empty(*shape)
    mask[place] = True
    return mask


def cube(size, *, hole=()):
    """Draw a full volume, without the voxel of a hole."""
    mask = np.ones((size,) * 3, bool)
    if hole:
        mask[hole] = False
    return mask


def measured(truth, predicted, **conventions):
    return count(truth, predicted, Contours(**conventions)).metrics()


class TestDrawings:
    def test_one_voxel_beside_another(self):
        truth, predicted = voxel((5, 4, 4), 0, 1, 1), voxel((5, 4, 4), 2, 1, 1)
        found = measured(truth, predicted, spacing=(3, 1, 1), nsd=[5.9, 6])
        assert [found[key] for key in DISTANCES] == [6, 6, 6, 6]
        assert [found["nsd@5.9"], found["nsd@6"], found["dice"]] == [0, 1, 0]

    def test_sides_of_a_voxel_are_those_of_the_axes(self):
        truth = voxel((2, 2, 2), 0, 0, 0)
        sizes = (3, 0.5, 7)
        apart = [voxel((2, 2, 2), *place) for place in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
        assert [measured(truth, other, spacing=sizes)["hd"] for other in apart] == [3, 0.5, 7]

    def test_a_full_cube_has_its_outer_voxels(self):
        to_prediction, to_truth = count(cube(3), cube(3), "contours").distances()
        assert to_prediction.units.tolist() == to_truth.units.tolist() == [26]

    def test_a_hole_has_a_surface(self):
        # 98 of 125 voxels lie on the outer surface, and 6 more around the hole, each 1 away from it.
        found = measured(cube(5), cube(5, hole=(2, 2, 2)))
        assert found["hd"] == 1
        assert found["hd95"] == pytest.approx(0.85)  # of 98 times 0 and 6 times 1 at place .95 * 103 = 97.85
        assert found["assd"] == pytest.approx(6 / 202)
        assert found["masd"] == pytest.approx((0 + 6 / 104) / 2)

    def test_an_element_at_each_corner_of_a_voxel(self):
        counts = count(voxel((3, 3, 3), 1, 1, 1), voxel((3, 3, 3), 1, 1, 1), Contours(surface="areas"))
        # Of each of eight corners the normal (1, 1, 1) / 8.
        assert counts.distances()[0].length == pytest.approx(8 * math.sqrt(3) / 8)
        assert counts.units.tolist() == [8, 8]

    def test_areas_of_a_box_are_those_of_its_faces_between_the_edges(self):
        mask = np.pad(np.ones((4, 5, 6), bool), 1)
        sizes = (3.0, 2.0, 0.5)
        counts = count(mask, mask, Contours(surface="areas", spacing=sizes))
        depth, height, width = sizes
        # Each corner inside a face is one of its rectangles; edges and corners are cut off.
        faces = 2 * (4 * 5 * height * width + 3 * 5 * depth * width + 3 * 4 * depth * height)
        edges = 4 * (
            3 * math.hypot(width, height) / 2 * depth
            + 4 * math.hypot(depth, width) / 2 * height
            + 5 * math.hypot(depth, height) / 2 * width
        )
        corners = 8 / 8 * math.sqrt((height * width) ** 2 + (depth * width) ** 2 + (depth * height) ** 2)
        assert counts.distances()[0].length == pytest.approx(faces + edges + corners)

    def test_several_components(self):
        truth = voxel((9, 3, 3), 0, 1, 1) | voxel((9, 3, 3), 8, 1, 1)
        predicted = voxel((9, 3, 3), 0, 1, 1)
        found = measured(truth, predicted, spacing=(2, 1, 1))
        assert (found["hd"], found["assd"], found["masd"]) == (16, 16 / 3, 4)

    def test_a_single_slice_is_all_surface(self):
        square = empty(1, 5, 5)
        square[:, 1:4, 1:4] = True
        (of_volume, _) = count(square, square, Contours(surface="voxels")).distances()
        (of_image, _) = count(square[0], square[0], Contours()).distances()
        assert (of_volume.units.tolist(), of_image.units.tolist()) == ([9], [8])

    @pytest.mark.parametrize("surface", SURFACES)
    def test_a_tolerance_is_compared_as_a_fraction(self, surface):
        truth, predicted = voxel((4, 1, 1), 0, 0, 0), voxel((4, 1, 1), 3, 0, 0)
        assert 3 * 0.7 < 2.1
        assert 3 * 0.1 > 0.3
        for size, tolerance, below in ((0.7, 2.1, 2.0999999), (0.1, 0.3, 0.2999999)):
            for spacing in (size, (size, size, size)):
                found = measured(truth, predicted, spacing=spacing, surface=surface, nsd=[tolerance, below])
                assert found[f"nsd@{tolerance}"] == 1
                assert found[f"nsd@{below}"] < 1


class TestEmptyMasks:
    @pytest.mark.parametrize("surface", SURFACES)
    def test_one_empty(self, surface):
        found = measured(empty(3, 4, 5), cube(3)[:, :, :1].repeat(5, 2)[:, [0, 1, 2, 0], :], surface=surface)
        assert all(math.isnan(found[key]) for key in DISTANCES)
        assert (found["dice"], found["nsd@2"]) == (0, 0)

    def test_the_diagonal_of_a_volume(self):
        found = measured(empty(155, 24, 24), voxel((155, 24, 24), 0, 0, 0), empty="diagonal", spacing=(1, 10, 10))
        assert found["hd95"] == pytest.approx(math.sqrt(155**2 + 2 * 240**2))
        assert round(found["hd95"], 2) == 373.13

    def test_a_number_stands_for_an_empty_mask(self):
        conventions = {"empty": 373.13, "spacing": (1, 2, 3)}
        assert measured(empty(3, 3, 3), cube(3), **conventions)["hd"] == 373.13
        both = measured(empty(3, 3, 3), empty(3, 3, 3), **conventions)
        assert (both["hd95"], both["nsd@2"]) == (0, 1)

    def test_brats_gives_missed_masks_374_mm(self):
        protocol = Contours(convention="brats", spacing=(1, 1, 1))
        assert (protocol.hd95, protocol.empty, protocol.surface) == ("larger", 374, "lengths")
        assert protocol.signature_fields()["convention"] == "brats 2023"
        assert count(empty(3, 3, 3), cube(3), protocol).metrics()["hd95"] == 374
        assert Contours(surface="areas").signature_fields()["convention"].startswith("deepmind")
        counted = evaluate({"a": (empty(3, 3, 3), cube(3))}, protocol=Contours(surface="areas"))
        assert counted.with_settings(convention="brats").summary["hd95"] == 374
        with refused("exclusive-settings", ArgumentError):
            Contours(convention="brats", empty=373.13)

    def test_both_empty(self):
        found = measured(empty(3, 3, 3), empty(3, 3, 3))
        assert all(math.isnan(found[key]) for key in (*DISTANCES, "nsd@2", "dice"))


def compare(truth, predicted, sizes, surface):
    """Compare all metrics with straightforward code, at tolerances that distances reach exactly."""
    tolerances = (0.5, 2.0, sizes[0], 2 * sizes[-1])
    conventions = {"surface": surface, "spacing": sizes, "nsd": tolerances}
    counts = count(truth, predicted, Contours(**conventions))
    found = dict(counts.metrics())
    found["hd95 union"] = counts.metrics(Contours(hd95="union", **conventions))["hd95"]
    expected = peer_metrics(truth, predicted, sizes, surface, tolerances)
    assert_allclose([found[key] for key in expected], list(expected.values()), rtol=1e-12)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("seed", range(60))
def test_straightforward_code_finds_the_same_in_volumes(seed, surface):
    compare(*random_pair(seed), surface)


@pytest.mark.parametrize("surface", ["pixels", "lengths"])
@pytest.mark.parametrize("seed", range(40))
def test_straightforward_code_finds_the_same_in_images(seed, surface):
    compare(*random_pair(seed, dimensions=2, largest=30), surface)


def ellipsoid(centre, radii):
    """Draw an ellipsoid in 16 slices of 64x64."""
    grids = np.ogrid[:16, :64, :64]
    return sum(((grid - c) / r) ** 2 for grid, c, r in zip(grids, centre, radii, strict=True)) <= 1


ELLIPSOIDS = {
    f"case_{n}": (
        ellipsoid((8, 32, 32), (6, 14 + 2 * n, 18 - 2 * n)),
        ellipsoid((8.5, 33, 31 + n), (5, 15 + 2 * n, 17 - 2 * n)),
    )
    for n in range(4)
}


@pytest.mark.parametrize(
    ("surface", "sizes", "expected"),
    [  # of MONAI 1.6.1 and medpy 0.5.2, and of surface-distance 0.1
        ("voxels", (1, 1, 1), {"hd": 3.0590, "hd95": 2.0607, "assd": 0.8177, "nsd@2": 0.9699}),
        ("areas", (1, 1, 1), {"hd": 3.0590, "hd95": 1.8456, "assd": 0.6420, "masd": 0.6409, "nsd@2": 0.9812}),
        ("voxels", (2.5, 0.7421875, 0.7421875), {"hd": 5.0, "hd95": 2.7503, "assd": 1.0893, "nsd@2": 0.7365}),
        ("areas", (2.5, 0.7421875, 0.7421875), {"hd": 5.0, "hd95": 2.6558, "assd": 0.7735, "nsd@2": 0.8493}),
    ],
)
def test_drawn_ellipsoids_have_the_values_of_other_tools(surface, sizes, expected):
    result = evaluate(ELLIPSOIDS, protocol=Contours(surface=surface, spacing=sizes))
    assert {key: round(result.summary[key], 4) for key in expected} == expected


def test_slices_of_ellipsoids_have_other_values():
    slices = {
        f"{name}_{z}": (truth[z], predicted[z]) for name, (truth, predicted) in ELLIPSOIDS.items() for z in range(16)
    }
    keys = ("dice", "hd95", "assd", "nsd@1", "nsd@2")
    for cases, surface, expected in (  # the table of docs/contours.md
        (ELLIPSOIDS, "voxels", [0.8615, 2.0607, 0.8177, 0.7992, 0.9699]),
        (ELLIPSOIDS, "areas", [0.8615, 1.8456, 0.6420, 0.8591, 0.9812]),
        (slices, "pixels", [0.6520, 3.0765, 1.6990, 0.3793, 0.5564]),
    ):
        summary = evaluate(cases, protocol=Contours(surface=surface, nsd=(1, 2))).summary
        assert [round(summary[key], 4) for key in keys] == expected


@pytest.mark.parametrize("surface", SURFACES)
def test_layers_where_neighbours_take_too_long(surface):
    # Noise against a single voxel far away, so that each layer is measured column by column.
    rng = np.random.default_rng(3)
    truth, predicted = rng.random((60, 4, 5)) < 0.5, voxel((60, 4, 5), 59, 0, 0)
    compare(truth, predicted, (1.5, 1.0, 0.75), surface)


@pytest.mark.parametrize("surface", SURFACES)
def test_more_voxels_than_are_counted_at_once(surface):
    rng = np.random.default_rng(4)
    truth, predicted = (rng.random((70, 80, 90)) < share for share in (0.5, 0.001))
    conventions = {"surface": surface, "spacing": (1.0, 0.5, 0.25)}
    counts = count(truth, predicted, Contours(**conventions))
    whole = counts.distances()
    turned = count(truth.T, predicted.T, Contours(surface=surface, spacing=(0.25, 0.5, 1.0))).distances()
    for direction, other in zip(whole, turned, strict=True):
        assert direction.squared.tolist() == other.squared.tolist()
        assert direction.length == pytest.approx(other.length)
    if surface == "voxels":
        expected = peer_metrics(truth, predicted, (1.0, 0.5, 0.25), surface)
        assert counts.metrics()["assd"] == pytest.approx(expected["assd"])


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("seed", range(5))
def test_permuted_and_flipped_axes_change_nothing(seed, surface):
    truth, predicted, sizes = random_pair(seed + 100)
    expected = measured(truth, predicted, surface=surface, spacing=sizes)
    keys = (*DISTANCES, "nsd@2", "dice")
    for axes in itertools.permutations(range(3)):
        permuted = [np.flip(mask.transpose(axes), axes[0]) for mask in (truth, predicted)]
        found = measured(*permuted, surface=surface, spacing=[sizes[axis] for axis in axes])
        assert_allclose([found[key] for key in keys], [expected[key] for key in keys], rtol=1e-12)


@pytest.mark.parametrize("surface", SURFACES)
def test_the_order_of_voxels_in_memory_changes_nothing(surface):
    truth, predicted, sizes = random_pair(7)
    protocol = Contours(surface=surface, spacing=sizes)
    in_other_order = (np.asfortranarray(mask) for mask in (truth, predicted))
    strided = (np.repeat(mask, 2, axis=2)[:, :, ::2] for mask in (truth, predicted))
    assert count(truth, predicted, protocol) == count(*in_other_order, protocol) == count(*strided, protocol)


class TestSpacing:
    def test_one_number_is_that_of_all_axes(self):
        truth, predicted, _ = random_pair(11)
        for surface in SURFACES:
            one = count(truth, predicted, Contours(surface=surface, spacing=0.7)).metrics()
            three = count(truth, predicted, Contours(surface=surface, spacing=(0.7, 0.7, 0.7))).metrics()
            assert_allclose(list(one.values()), list(three.values()), rtol=1e-12)

    def test_equal_sizes_measure_images_as_one_number_does(self):
        truth, predicted = np.zeros((2, 8, 8), np.uint8)
        truth[1:5, 1:5] = predicted[2:7, 2:5] = 1
        by_size, by_sizes = (count(truth, predicted, Contours(spacing=spacing)) for spacing in (0.7, (0.7, 0.7)))
        assert_allclose(list(by_size.metrics().values()), list(by_sizes.metrics().values()), rtol=1e-12)
        assert Contours(spacing=[0.7]).spacing == 0.7

    def test_two_equal_sizes_are_not_those_of_volumes(self):
        truth = np.ones((3, 4, 5), np.uint8)
        with refused("other-dimensions", DataError):
            count(truth, truth, Contours(spacing=(0.7, 0.7)))

    def test_single_precision_is_read_in_the_digits_that_give_it(self):
        assert Contours(spacing=np.array([3, 0.78, 0.78], np.float32)).spacing == (3, 0.78, 0.78)

    @pytest.mark.parametrize("surface", ["pixels", "lengths"])
    def test_square_pixels_of_each_image_are_as_those_of_all(self, surface):
        truth, predicted, _ = random_pair(3, dimensions=2, largest=30)
        truth_of = {"a": (truth, predicted)}
        of_all = evaluate(truth_of, protocol=Contours(spacing=0.7, surface=surface))
        of_each = evaluate(truth_of, protocol=Contours(spacing={"a": 0.7}, surface=surface))
        keys = (*DISTANCES, "nsd@2")
        assert_allclose([of_each.summary[key] for key in keys], [of_all.summary[key] for key in keys], rtol=1e-12)

    @pytest.mark.parametrize(
        ("text", "spacing"),
        [
            ("0.7", 0.7),
            ("0.5x0.7", (0.7, 0.5)),
            ("0.5,0.7", (0.7, 0.5)),
            ("0.78x0.78x3", (3.0, 0.78, 0.78)),
            (" 0.78, 0.78, 3 ", (3.0, 0.78, 0.78)),
            ("header", "header"),
            ("cases.csv", "cases.csv"),
        ],
    )
    def test_what_is_typed_is_in_the_order_of_headers(self, text, spacing):
        assert typed_spacing(text) == spacing

    @pytest.mark.parametrize(
        ("spacing", "text"),
        [((3, 0.78, 0.78), "0.78x0.78x3"), ((0.7, 0.5), "0.5x0.7"), (0.7, "0.7"), ("header", "header")],
    )
    def test_the_signature_has_what_is_typed(self, spacing, text):
        assert Contours(spacing=spacing).signature_fields()["spacing"] == text

    def test_a_file_gives_each_image_its_spacing(self, tmp_path):
        listed = tmp_path / "cases.csv"
        listed.write_text('name,age,spacing\na,60,0.5x0.5x3\nb.nii.gz,61,"1,1,2"\nc,62,0.7\n')
        protocol = Contours(spacing=listed)
        assert dict(protocol.spacing) == {"a": (3.0, 0.5, 0.5), "b.nii.gz": (2.0, 1.0, 1.0), "c": (0.7,)}
        truth, predicted = voxel((3, 3, 3), 0, 0, 0), voxel((3, 3, 3), 1, 0, 0)
        result = evaluate(dict.fromkeys("abc", (truth, predicted)), protocol=protocol)
        assert [result.per_image[name]["hd"] for name in "abc"] == [3, 2, 0.7]

    def test_a_file_with_a_wrong_spacing_is_refused(self, tmp_path):
        listed = tmp_path / "cases.csv"
        listed.write_text("name,spacing\na,0.5x\n")
        with refused("wrong-spacing", DataError, image="a", text="0.5x"):
            Contours(spacing=listed)

    @pytest.mark.parametrize("spacing", [(1, 1e-300, 1), 1e300, (1, 1e10)])
    def test_sizes_far_from_any_pixel_are_refused_with_the_range(self, spacing):
        with refused("wrong-value", ArgumentError) as raised:
            Contours(spacing=spacing)
        assert "from 1e-12 to 1e+09" in str(raised.value)
        assert Contours(spacing=(1e-12, 1e9)).spacing == (1e-12, 1e9)

    @pytest.mark.parametrize("protocol", [Contours, partial(Objects, kind="components", min_size=2)])
    def test_sizes_by_name_are_for_images_with_names(self, protocol):
        with refused("needs-names", ArgumentError):
            count(cube(3), cube(3), protocol(spacing={"a": (1, 1, 2)}))

    @pytest.mark.parametrize("spacing", [0, -1, (1, 0, 1), (), (1, 2, 3, 4), math.nan, math.inf, {"a": "header"}, {}])
    def test_what_makes_no_sense_is_refused(self, spacing):
        with pytest.raises(ArgumentError):
            Contours(spacing=spacing)

    def test_other_texts_are_refused(self):
        with refused("wrong-value", ArgumentError, received="headers"):
            Contours(spacing="headers")

    def test_sizes_for_other_axes_are_refused(self):
        with refused("other-dimensions", DataError, axes=3, sizes=2, spacing="0.5x0.7"):
            count(cube(3), cube(3), Contours(spacing=(0.7, 0.5)))
        with refused("other-dimensions", DataError, axes=2, sizes=3):
            count(cube(3)[0], cube(3)[0], Contours(spacing=(1, 1, 2)))

    def test_an_image_without_spacing_is_named(self):
        with refused("no-spacing", DataError, path="b"):
            evaluate({"b": (cube(3), cube(3))}, protocol=Contours(spacing={"a": (1, 1, 2)}))

    def test_arrays_have_no_header(self):
        with refused("no-spacing", DataError, path="ground_truth"):
            count(cube(3), cube(3), Contours(spacing="header"))

    def test_the_spacing_of_a_header_is_taken(self):
        sides = voxel((3, 3, 3), 0, 0, 0), voxel((3, 3, 3), 1, 0, 0)
        sample = Sample("a", sides[:1], sides[1:], spacing=(2.5, 0.7421875, 0.7421875), volume=True)
        protocol = Contours(spacing="header").for_volumes()
        counts = protocol.count(sample).counts
        assert (counts.steps.tolist(), counts.unit) == ([[64, 19, 19]], "0.0390625")
        assert counts.metrics(protocol)["hd"] == 2.5

    def test_a_header_that_is_not_used_is_noted(self):
        sides = voxel((3, 3, 3), 0, 0, 0), voxel((3, 3, 3), 1, 0, 0)
        sample = Sample("a", sides[:1], sides[1:], spacing=(2.5, 0.7, 0.7), volume=True)
        for spacing in (1.0, 0.7):
            (note,) = Contours(spacing=spacing, surface="voxels").count(sample).notes
            assert note.message.kind == "header-spacing"

    def test_volumes_take_the_spacing_of_headers_by_themselves(self):
        assert Contours().for_volumes(with_header=True) == Contours(surface="voxels", spacing="header")
        assert Contours(spacing=0.7, surface="lengths").for_volumes(with_header=True) == Contours(
            surface="areas", spacing=0.7
        )

    def test_a_spacing_of_1_is_not_that_of_headers(self):
        protocol = Contours(spacing=1).for_volumes(with_header=True)
        assert protocol.signature_fields()["spacing"] == "1"
        assert Contours().signature_fields() == Contours(spacing=1).signature_fields()

    def test_surfaces_of_volumes_are_not_for_images(self):
        with refused("other-dimensions", DataError):
            count(cube(3)[0], cube(3)[0], Contours(surface="areas"))

    def test_very_uneven_sizes_are_rounded_and_noted(self):
        sizes = (1.1234567, 0.1357913, 7.9876543)
        truth, predicted = voxel((700, 3, 900), 0, 0, 0), voxel((700, 3, 900), 699, 2, 899)
        result = evaluate({"a": (truth, predicted)}, protocol=Contours(spacing=sizes))
        assert [note.message.kind for note in result.notes if "spacing" in note.message.kind] == ["rounded-spacing"]
        assert int(result.counts["a"].squared.max()) < 2**62
        expected = math.hypot(*np.multiply(sizes, (699, 2, 899)))
        assert result.summary["hd"] == pytest.approx(expected, rel=1e-6)
        near = evaluate({"a": (truth, np.roll(truth, 1, 0))}, protocol=Contours(spacing=sizes))
        assert near.summary["hd"] == sizes[0]
        assert not near.notes

    @given(st.lists(st.decimals(min_value="0.00001", max_value=1000, places=5), min_size=1, max_size=3))
    @settings(deadline=None)
    def test_steps_are_whole_numbers_without_a_common_divisor(self, sizes):
        fractions = [Fraction(size) for size in sizes]
        steps = whole_steps(fractions, [1] * len(sizes))
        assert [number * steps.unit for number in steps.numbers] == fractions
        assert math.gcd(*steps.numbers) == 1
        assert Fraction(decimal_text(steps.unit)) == steps.unit

    @given(
        st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3), st.lists(st.integers(1, 2000), min_size=3, max_size=3)
    )
    @settings(deadline=None)
    def test_steps_fit_and_are_nearly_those_given(self, sizes, box):
        steps = whole_steps([exact(size) for size in sizes], box)
        assert sum((size * number) ** 2 for size, number in zip(box, steps.numbers, strict=True)) < 2**62
        diagonal = math.hypot(*np.multiply(sizes, box))
        for size, number, count_along in zip(sizes, steps.numbers, box, strict=True):
            assert abs(number * float(steps.unit) - size) * count_along <= 1e-5 * diagonal


class TestCounts:
    def test_counts_of_one_spacing_add_up(self):
        pairs = [random_pair(seed)[:2] for seed in range(4)]
        for surface in SURFACES:
            counts = [count(*pair, Contours(surface=surface, spacing=(3, 1, 2))) for pair in pairs]
            total = sum(counts)
            assert total == ContourCounts.sum(counts[::-1])
            for direction in (0, 1):
                lengths = [of_image.distances()[direction].length for of_image in counts]
                assert total.distances()[direction].length == pytest.approx(sum(lengths))

    def test_counts_of_several_spacings_keep_them_apart(self):
        pairs = [random_pair(seed)[:2] for seed in range(4)]
        spacings = [(3, 1, 2), (1, 1, 1), (3, 1, 2), (0.7, 0.1, 0.3)]
        for surface in SURFACES:
            protocols = [Contours(surface=surface, spacing=sizes) for sizes in spacings]
            counts = [count(*pair, protocol) for pair, protocol in zip(pairs, protocols, strict=True)]
            total = ContourCounts.sum(counts)
            assert total.unit == "0.1,1,1"
            assert total.steps.tolist() == [[7, 1, 3], [1, 1, 1], [3, 1, 2]]
            assert total == counts[3] + (counts[1] + counts[0]) + counts[2] == decode(encode(total))
            assert total.areas.tolist() == sum(of_image.areas for of_image in counts).tolist()
            assert total.metrics(protocols[0])["dice"] == pytest.approx(
                2 * total.areas[0, 2] / total.areas[0, :2].sum()
            )
            with refused("several-spacings", ArgumentError, spacings=3):
                total.distances()

    def test_counts_in_mm_and_in_voxels_do_not_add_up(self):
        with refused("other-counts", ArgumentError):
            count(cube(3), cube(3), "contours") + count(cube(3), cube(3), Contours(spacing=(1, 1, 1)))

    def test_volumes_and_images_do_not_add_up(self):
        with refused("other-counts", ArgumentError):
            count(cube(3), cube(3), "contours") + count(cube(3)[0], cube(3)[0], "contours")

    @pytest.mark.parametrize(
        "changed",
        [{"unit": "x"}, {"unit": "1,2"}, {"unit": "0"}, {"steps": [0, 1, 1]}, {"steps": []}, {"elements": []}],
    )
    def test_counts_that_do_not_fit_are_refused(self, changed):
        counts = count(cube(3), cube(3), Contours(surface="areas", spacing=(3, 1, 1)))
        with pytest.raises(ArgumentError):
            _changed(counts, changed)

    def test_classes_are_measured_one_by_one(self):
        rng = np.random.default_rng(5)
        truth, predicted = rng.integers(0, 4, (2, 6, 7, 8))
        for surface in SURFACES:
            counts = count(truth, predicted, Contours(classes=4, surface=surface, spacing=(3, 1, 1)))
            for label in range(4):
                alone = count(truth == label, predicted == label, Contours(surface=surface, spacing=(3, 1, 1)))
                assert counts.one(label) == alone

    def test_void_voxels_are_in_no_mask(self):
        truth, predicted = np.array([[[0, 1, 255, 1]]]), np.array([[[0, 1, 1, 1]]])
        counts = count(truth, predicted, Contours(classes=2, surface="voxels"))
        assert counts.areas.tolist() == [[1, 1, 1], [2, 2, 2]]
        valid = truth != 255
        counts = count(truth == 1, predicted == 1, Contours(surface="voxels"), valid)
        assert counts.areas.tolist() == [[2, 2, 2]]


def _changed(counts, changed):
    """Make counts with some fields changed."""
    fields = {name: value for name, value in vars(counts).items() if name != "origin"}
    return ContourCounts(**(fields | changed))


PAIRS = {f"case_{seed}": random_pair(seed)[:2] for seed in range(5)}
SPACING = {name: (1 + number, 0.5, 0.75) for number, name in enumerate(PAIRS)}


class TestResults:
    def test_keys_are_those_of_volumes(self):
        result = evaluate(PAIRS, protocol=Contours(spacing=(3, 1, 1)))
        assert list(result.summary.metrics) == ["dice", *DISTANCES, "nsd@2", "one_empty", "both_empty"]
        assert [metric.heading for metric in result.metrics if metric.key == "hd95"] == ["HD95 (mm)"]

    def test_without_spacing_the_unit_is_voxels(self):
        result = evaluate(PAIRS, protocol="contours")
        assert [metric.heading for metric in result.metrics if metric.key == "hd95"] == ["HD95 (voxels)"]
        assert "surface:voxels" in result.signature

    def test_summaries_are_means_over_cases(self):
        result = evaluate(PAIRS, protocol=Contours(spacing=SPACING, surface="areas"))
        expected = [measured(*pair, spacing=SPACING[name], surface="areas")["hd95"] for name, pair in PAIRS.items()]
        assert result.summary["hd95"] == pytest.approx(np.mean(expected))

    def test_results_files_keep_counts_and_spacings(self, tmp_path):
        protocol = Contours(spacing=SPACING, surface="areas", nsd=(1, 2))
        result = evaluate(PAIRS, protocol=protocol, results=tmp_path / "r.segbench")
        (loaded,) = load_results(tmp_path / "r.segbench")
        assert loaded.summary == result.summary
        assert loaded.rules == result.rules
        assert loaded.with_settings(nsd=3, hd95="union").summary["nsd@3"] >= result.summary["nsd@2"]
        with refused("not-measuring", ArgumentError):
            loaded.with_settings(spacing=0.7)

    def test_no_whole_number_in_json_is_too_large_for_others(self, tmp_path):
        sizes = (1.1234567, 0.7654321, 7.9876543)
        truth, predicted = voxel((90, 3, 90), 0, 0, 0), voxel((90, 3, 90), 89, 2, 89)
        result = evaluate({"a": (truth, predicted)}, protocol=Contours(spacing=sizes), results=tmp_path / "r.segbench")
        assert int(result.counts["a"].squared.max()) > 2**53
        header = zstandard.decompress(encode(result.counts["a"])).split(b"\n")[0]
        with sqlite3.connect(tmp_path / "r.segbench") as store:
            tables = [name for (name,) in store.execute("select name from sqlite_master where type = 'table'")]
            cells = [cell for table in tables for row in store.execute(f"select * from {table}") for cell in row]  # noqa: S608
        texts = [header.decode(), *(cell for cell in cells if isinstance(cell, str))]
        assert max(int(number) for text in texts for number in re.findall(r"(?<![\w.])\d+(?![\w.])", text)) < 2**53

    def test_one_number_stays_a_setting_of_measuring(self):
        result = evaluate(PAIRS, protocol="contours")
        scaled = result.with_settings(spacing=0.7)
        assert scaled.summary["hd"] == pytest.approx(0.7 * result.summary["hd"])
        with refused("not-measuring", ArgumentError):
            result.with_settings(spacing=(3, 1, 1))

    def test_the_stored_protocol_is_the_same(self):
        for spacing in (0.7, (0.5, 0.7), (3, 1, 1), SPACING, "header"):
            protocol = Contours(spacing=spacing, empty=374)
            stored = StoredProtocol.of(protocol)
            assert stored.restored("contours") == protocol
            assert ("spacing" in stored.measuring) == isinstance(spacing, float)

    def test_accumulators_take_volumes(self):
        by_name, by_batch = Accumulator("contours"), Accumulator(Contours(surface="voxels"))
        volumes = np.random.default_rng(0).random((2, 3, 5, 6, 7)) < 0.5
        for number, (truth, predicted) in enumerate(zip(*volumes, strict=True)):
            by_name.update(truth, predicted, name=number)
        by_batch.update(*volumes, names=range(3))
        assert by_name.compute().summary == by_batch.compute().summary
        with refused("other-dimensions", DataError):
            by_name.update(volumes[0, 0, 0], volumes[1, 0, 0], name="flat")

    def test_volumes_after_images_are_refused(self):
        accumulator = Accumulator("contours")
        accumulator.update(cube(3)[0], cube(3)[0], name="a")
        with refused("mixed-dimensions", ArgumentError):
            accumulator.update(cube(3), cube(3), name="b")

    def test_boundary_iou_of_a_volume_says_why_it_is_undefined(self):
        # As where a protocol for images is asked for the metrics of counts of volumes.
        counts = count(cube(3), cube(3), "contours")
        reason = Contours().table({"a": counts}).image_summary().undefined["boundary_iou"]
        assert reason.kind == "flat-metric"

    @pytest.mark.parametrize("surface", SURFACES)
    def test_plots_have_distances_in_mm(self, surface):
        result = evaluate(PAIRS, protocol=Contours(spacing=SPACING, surface=surface))
        tolerances = result.table.tolerances
        place = tolerances.at.tolist().index(2)
        assert tolerances.nsd[place] == pytest.approx(result.summary["nsd@2"])
        assert tolerances.share[-1] == pytest.approx(1)

    def test_pictures_show_how_far_surfaces_are_off(self):
        truth, predicted = voxel((3, 3, 3), 0, 0, 0), voxel((3, 3, 3), 1, 0, 0)
        sample = Sample("a", (truth,), (predicted,), volume=True)
        for size, state in ((1.0, "PARTNER"), (3.0, "NEAR"), (9.0, "FAR"), (11.0, "FALSE")):
            states = Contours(spacing=(size, 1, 1), surface="voxels").states(sample, 0.5)
            assert states[1, 0, 0] == getattr(State, state)
