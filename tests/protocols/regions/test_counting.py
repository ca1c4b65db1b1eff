import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusing import refused
from scipy import ndimage
from scipy.io import loadmat
from skimage.metrics import adapted_rand_error, variation_of_information

from segbench import ArgumentError, DataError, RegionCounts, Regions, count, region_curve
from segbench.core.sample import Sample
from segbench.inputs.region_maps import regions_of
from segbench.protocols.regions.counting import count_regions

BSDS500 = os.environ.get("SEGBENCH_BSDS500")

# Two columns of four pixels each; predicted as three rows and five.
TRUTH = np.array([[1, 1, 2, 2]] * 2)
PREDICTION = np.array([[7, 7, 7, 9]] * 2)

labels = arrays(np.int64, (6, 5), elements=st.integers(0, 4))


def figures(prediction, truths, **options):
    return region_curve(count(truths, prediction, Regions(**options)))


def by_pairs(prediction, truth):
    """Count pairs of pixels one by one: all, together in the prediction, in the truth, in both."""
    pairs = list(itertools.combinations(zip(prediction.ravel(), truth.ravel(), strict=True), 2))
    predicted, true = (np.array([a[k] == b[k] for a, b in pairs]) for k in (0, 1))
    return len(pairs), predicted.sum(), true.sum(), (predicted & true).sum(), (predicted == true).sum()


def at_each_threshold(ucm2, thresholds):
    return [ndimage.label(ucm2 <= threshold, np.ones((3, 3)))[0][1::2, 1::2] for threshold in thresholds]


def double_grid(vertical, horizontal):
    """Put contour strengths between pixels; crossings take the strongest beside them, as in an ultrametric map."""
    height, width = vertical.shape[0], horizontal.shape[1]
    ucm2 = np.zeros((2 * height + 1, 2 * width + 1))
    ucm2[1::2, 2:-1:2], ucm2[2:-1:2, 1::2] = vertical, horizontal
    crossings = ucm2[2:-1:2, 2:-1:2]
    for beside in (ucm2[1:-2:2, 2:-1:2], ucm2[3::2, 2:-1:2], ucm2[2:-1:2, 1:-2:2], ucm2[2:-1:2, 3::2]):
        np.maximum(crossings, beside, out=crossings)
    ucm2[[0, -1]] = ucm2[[1, -2]]
    ucm2[:, [0, -1]] = ucm2[:, [1, -2]]
    return ucm2


def same_sums(one, other):
    names = ("area", "covered_best", "covered", "covered_pred", "rand_index", "voi_split", "voi_merge", "adapted_rand")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


class TestByHand:
    def test_covering(self):
        # The left region: 4 of 6. The right one: 2 of 4. The other way round the same overlaps, areas of 6 and 2.
        counts = count(TRUTH, PREDICTION, "regions")
        assert counts.area == counts.pixels == 8
        assert counts.covered[0] == pytest.approx((4 * 4 / 6 + 4 * 2 / 4) * 2**20, abs=1)
        assert counts.covered_pred[0] == pytest.approx((6 * 4 / 6 + 2 * 2 / 4) * 2**20, abs=1)
        assert counts.covered_best == counts.covered[0]

    def test_rand_index_and_entropies(self):
        curve = figures(PREDICTION, TRUTH)
        # 28 pairs; together in the truth 12, in the prediction 16, in both 6 + 1 + 1.
        assert curve.rand_index[0] == pytest.approx(1 - (12 + 16 - 2 * 8) / 28)
        assert curve.rand_precision[0] == pytest.approx(8 / 16)
        assert curve.rand_recall[0] == pytest.approx(8 / 12)
        assert curve.adapted_rand_error[0] == pytest.approx(1 - 2 * 8 / (12 + 16))
        # The right region is halved, one bit over half of the pixels; the prediction of 6 mixes 4 and 2.
        assert curve.voi_split[0] == pytest.approx(0.5)
        assert curve.voi_merge[0] == pytest.approx(6 / 8 * -(2 / 3 * np.log2(2 / 3) + 1 / 3 * np.log2(1 / 3)))

    def test_annotators_add_their_areas_and_share_the_means(self):
        one, other = count(TRUTH, PREDICTION, "regions"), count(PREDICTION, PREDICTION, "regions")
        both = count([TRUTH, PREDICTION], PREDICTION, "regions")
        assert both.area == 16
        assert both.covered == one.covered + other.covered
        assert abs(2 * both.rand_index[0] - one.rand_index[0] - other.rand_index[0]) <= 2
        assert both.covered_pred[0] == 8 * 2**20, "the second annotator has both regions"
        assert both.images == 1

    def test_each_region_at_its_own_threshold(self):
        fine, coarse = np.array([[1, 1, 2, 3]] * 2), np.array([[1, 1, 1, 1]] * 2)
        truth = [np.array([[1, 1, 2, 3]] * 2), coarse]
        counts = count_regions(regions_of(truth, [fine, coarse]))
        assert counts.thresholds.tolist() == [1, 2]
        assert counts.covered_best == 16 * 2**20
        assert counts.covered.max() < counts.covered_best

    def test_void_pixels_are_in_no_area(self):
        truth = TRUTH.copy()
        truth[:, 2] = 0
        assert count(truth, PREDICTION, Regions(void=(0,))) == count(
            truth[:, [0, 1, 3]], PREDICTION[:, [0, 1, 3]], "regions"
        ).__class__([1], 1, 6, 8, 6 * 2**20, [6 * 2**20], [8 * 2**20], *([[2**36]] + [[0]] * 2 + [[2**36]] * 3))
        assert count(truth, PREDICTION, "regions").area == 8, "0 is a region unless it is void"
        inside = truth != 0
        assert count(truth, PREDICTION, "regions", inside).pixels == 6

    def test_an_annotator_without_pixels_is_passed_over(self):
        nothing = np.zeros_like(TRUTH)
        assert count([TRUTH, nothing], PREDICTION, Regions(void=(0,))).area == 8
        with refused("all-void", DataError):
            count(nothing, PREDICTION, Regions(void=[0]))


class TestHierarchies:
    def test_a_small_contour_map(self):
        # Three pixels: a contour of .2, then one of exactly .5, which is no contour at the threshold .5.
        ucm2 = double_grid(np.array([[0.2, 0.5]]), np.empty((0, 3)))
        truth = np.array([[1, 1, 2]])
        counts = count(truth, ucm2, Regions(thresholds=[0.1, 0.3, 0.5]))
        assert counts.covered.tolist() == [2**21, 3 * 2**20, round(2 * 2 / 3 * 2**20) + round(2**20 / 3)]
        assert counts.covered_best == 3 * 2**20

    @settings(max_examples=40)
    @given(
        arrays(np.uint8, (7, 8), elements=st.integers(0, 5)),
        arrays(np.uint8, (6, 9), elements=st.integers(0, 5)),
        arrays(np.int64, (2, 7, 9), elements=st.integers(0, 3)),
    )
    def test_merged_tables_are_those_of_every_threshold(self, vertical, horizontal, truths):
        ucm2 = double_grid(vertical / 5, horizontal / 5)
        counts = count(list(truths), ucm2, Regions(thresholds=7))
        assert same_sums(counts, count_regions(regions_of(truths, at_each_threshold(ucm2, counts.thresholds))))
        truths[:, 0, 0] = 0
        some = {"void": (3,), "valid": truths[0] < 2}
        segmentations = at_each_threshold(ucm2, counts.thresholds)
        assert same_sums(
            count_regions(regions_of(truths, ucm2, thresholds=7, **some)),
            count_regions(regions_of(truths, segmentations, **some)),
        )

    def test_crossings_connect_diagonally(self):
        ucm2 = double_grid(np.full((2, 1), 0.9), np.full((1, 2), 0.9))
        ucm2[2, 2] = 0.1
        assert region_curve(count(np.ones((2, 2), int), ucm2, Regions(thresholds=[0.5]))).covering == 1

    def test_levels_of_8_bits(self):
        ucm2 = double_grid(np.array([[0.2, 0.6]]), np.empty((0, 3)))
        truth = np.array([[1, 2, 2]])
        as_bytes = np.rint(ucm2 * 255).astype(np.uint8)
        assert count(truth, as_bytes, Regions(thresholds=4)) == count(truth, as_bytes / 255, Regions(thresholds=4))


class TestAgreement:
    @settings(max_examples=40)
    @given(labels, labels)
    def test_scikit_image(self, prediction, truth):
        curve = figures(prediction, truth)
        split, merge = variation_of_information(truth, prediction)
        assert curve.voi_split[0] == pytest.approx(split, abs=1e-6)
        assert curve.voi_merge[0] == pytest.approx(merge, abs=1e-6)
        pairs, predicted, true, both, alike = by_pairs(prediction, truth)
        if predicted and true:
            error, precision, recall = adapted_rand_error(truth, prediction, ignore_labels=())
            assert curve.adapted_rand_error[0] == pytest.approx(error)
            # Exchanged against what scikit-image says of them; counted pair by pair they are these.
            assert (curve.rand_precision[0], curve.rand_recall[0]) == pytest.approx((recall, precision))
            assert (curve.rand_precision[0], curve.rand_recall[0]) == pytest.approx((both / predicted, both / true))
        assert curve.rand_index[0] == pytest.approx(alike / pairs)


class TestInvariants:
    @given(labels, labels)
    def test_names_of_labels_and_place_do_not_matter(self, prediction, truth):
        counts = count(truth, prediction, "regions")
        renamed = np.array([40000, 3, 0, 77, 5])
        assert count(truth, renamed[prediction], "regions") == counts
        assert count(renamed[truth], prediction, "regions") == counts
        assert count(truth, prediction.astype(np.uint64) * 2**40, "regions") == counts
        assert count(truth[::-1], prediction[::-1], "regions") == counts
        assert count(truth.T, prediction.T, "regions") == counts

    @given(labels)
    def test_perfect_is_one(self, truth):
        counts = count([truth, truth], truth, "regions")
        assert counts.covered == counts.covered_best == counts.area * 2**20
        assert counts.rand_index == counts.adapted_rand == counts.rand_precision == counts.rand_recall == 2**36
        assert counts.voi_split == counts.voi_merge == 0

    @given(labels, labels, labels)
    def test_order_of_annotators(self, prediction, one, other):
        assert count([one, other], prediction, "regions") == count([other, one], prediction, "regions")

    @given(labels, labels)
    def test_exchange_turns_split_into_merge(self, prediction, truth):
        there, back = count(truth, prediction, "regions"), count(prediction, truth, "regions")
        assert (there.voi_split, there.rand_precision) == (back.voi_merge, back.rand_recall)
        assert (there.covered, there.rand_index) == (back.covered_pred, back.rand_index)

    def test_sums_do_not_depend_on_order(self):
        counts = [
            count(TRUTH, PREDICTION, "regions"),
            count(TRUTH, TRUTH, "regions"),
            count(PREDICTION, TRUTH, "regions"),
        ]
        assert RegionCounts.sum(counts) == counts[2] + (counts[0] + counts[1])
        assert RegionCounts.sum(counts).images == 3


class TestSizes:
    def test_65535_regions_and_one(self):
        many = np.arange(65536).reshape(256, 256)
        many[0, 0] = 1
        one = np.ones_like(many)
        for prediction, truth in ((many, many), (many, one), (one, many), (one, one)):
            counts = count(truth, prediction.astype(np.uint16), "regions")
            assert counts.area == 65536
            assert (counts.covered[0] == 65536 * 2**20) == (prediction is truth)

    def test_a_contour_map_of_many_regions(self):
        rng = np.random.default_rng(0)
        ucm2 = double_grid(rng.random((256, 255)), rng.random((255, 256)))
        truth = np.arange(65536).reshape(256, 256)
        counts = count(truth, ucm2, Regions(thresholds=9))
        segmentations = at_each_threshold(ucm2, counts.thresholds)
        assert same_sums(counts, count_regions(regions_of(truth, segmentations)))

    def test_one_pixel(self):
        counts = count(np.array([[1]]), np.array([[3]]), "regions")
        assert counts.rand_index == counts.adapted_rand == 2**36


class TestRefusals:
    @pytest.mark.parametrize(
        ("prediction", "kind", "values"),
        [
            (PREDICTION[:1], "other-size", {"size": (1, 4), "expected": (2, 4)}),
            (np.full((5, 9), np.nan), "not-finite", {"nan": 45, "infinite": 0}),
            (np.full((5, 9), 2.0), "outside-unit", {"lowest": 2, "highest": 2}),
        ],
    )
    def test_data(self, prediction, kind, values):
        with refused(kind, DataError, path="prediction", **values):
            count(TRUTH, prediction, "regions")

    @pytest.mark.parametrize(
        ("prediction", "truth", "path", "kind", "values"),
        [
            (PREDICTION * 1.0, TRUTH, "prediction", "not-whole", {"dtype": "float64"}),
            (PREDICTION, TRUTH * 1.0, "ground_truth", "not-whole", {"dtype": "float64"}),
            (-PREDICTION, TRUTH, "prediction", "negative-label", {"label": -9}),
            (PREDICTION, -TRUTH, "ground_truth", "negative-label", {"label": -2}),
            (np.full((5, 9), 0.5), TRUTH, "prediction", "contours-on-pixels", {"pixels": 8, "threshold": 0.01}),
        ],
    )
    def test_what_is_no_segmentation(self, prediction, truth, path, kind, values):
        with refused(kind, DataError, path=path, **values):
            count(truth, prediction, "regions")

    def test_arguments(self):
        with refused("empty", ArgumentError, name="ground_truth"):
            count([], PREDICTION, "regions")
        with refused("wrong-value", ArgumentError, settings={"thresholds": None}, value="0"):
            count(TRUTH, np.zeros((5, 9)), Regions(thresholds=0))
        with refused("counted-otherwise", ArgumentError, name="thresholds"):
            count(TRUTH, PREDICTION, "regions") + count_regions(regions_of(TRUTH, [TRUTH, TRUTH]))
        with refused("inconsistent-counts", ArgumentError):
            RegionCounts([1], 1, 4, 4, 2**23, [0], [0], *([[0]] * 6))
        with refused("wrong-value", ArgumentError, settings={"void": None}, value="0.5"):
            Regions(void=(0.5,))

    def test_the_file_at_fault_is_named(self):
        sample = Sample("a", (TRUTH, -TRUTH), (PREDICTION,), ground_truth_files=("one.png", "two.png"))
        with refused("negative-label", DataError, path="two.png", label=-2):
            Regions().count(sample)
        sample = Sample("a", (TRUTH,), (PREDICTION / 2,), prediction_file="p.npy")
        with refused("not-whole", DataError, path="p.npy", dtype="float64"):
            Regions().count(sample)


@pytest.mark.skipif(not BSDS500, reason="SEGBENCH_BSDS500 does not say where BSDS500 is")
def test_an_image_of_bsds500_merged_and_direct():
    ucm2 = loadmat(Path(BSDS500) / "ucm2" / "2018.mat")["ucm2"]
    cell = loadmat(Path(BSDS500) / "groundTruth" / "2018.mat")["groundTruth"].ravel()
    truths = [annotator["Segmentation"][0, 0] for annotator in cell]
    counts = count(truths, ucm2, "regions")
    assert same_sums(counts, count_regions(regions_of(truths, at_each_threshold(ucm2, counts.thresholds))))
