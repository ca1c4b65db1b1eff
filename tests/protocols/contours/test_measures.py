"""Metrics of contours: drawings worked by hand, empty masks, symmetry, and straightforward code on random masks."""

import math
import warnings

import numpy as np
import pytest
from cases import drawn
from numpy.testing import assert_allclose
from refusing import refused
from scipy.ndimage import binary_erosion, distance_transform_edt, gaussian_filter

from segbench import ContourCounts, Contours, DataError, count
from segbench.protocols.contours.measures import BUFFER, decay_of, recall_of

DISTANCES = ("hd", "hd95", "assd", "masd")


def metrics(truth, predicted, surface="pixels", **conventions):
    return count(truth, predicted, Contours(surface=surface, **conventions)).metrics()


def random_pair(seed):
    """Return two masks that are not empty: full, of one pixel, noise, at the border, or of many components."""
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, 40, 2)
    masks = np.zeros((2, height, width), bool)
    for mask in masks:
        kind = rng.integers(6)
        if kind == 0:
            mask[:] = True
        elif kind == 1:
            mask[rng.integers(height), rng.integers(width)] = True
        elif kind == 2:
            mask[:] = rng.random(mask.shape) < rng.random()
        elif kind == 3:
            mask[: rng.integers(1, height + 1), rng.integers(width) :] = True
        else:
            smooth = gaussian_filter(rng.standard_normal(mask.shape), rng.uniform(0.5, 5))
            mask[:] = smooth > rng.uniform(-1, 1) * smooth.std()
        mask[rng.integers(height), rng.integers(width)] |= not mask.any()
    return masks


def directed(truth, predicted):
    """Return the distances of the pixels of each inner boundary to the other, as medpy does."""
    edges = [mask ^ binary_erosion(mask) for mask in (truth, predicted)]
    return [distance_transform_edt(~other)[one] for one, other in (edges, edges[::-1])]


def elements(mask):
    """Return the corners on a contour and the length there, as surface-distance does."""
    padded = np.pad(mask, 1).astype(int)
    corners = np.stack([padded[:-1, :-1], padded[:-1, 1:], padded[1:, :-1], padded[1:, 1:]])
    total = corners.sum(axis=0)
    diagonal = (total == 2) & (corners[0] == corners[3])
    return (total > 0) & (total < 4), np.where(total % 2 == 1, math.sqrt(0.5), np.where(diagonal, math.sqrt(2), 1.0))


def of_lengths(truth, predicted):
    """Return the metrics that surface-distance has."""
    (gt, gt_lengths), (pred, pred_lengths) = elements(truth), elements(predicted)
    there, back = distance_transform_edt(~pred)[gt], distance_transform_edt(~gt)[pred]
    lengths = gt_lengths[gt], pred_lengths[pred]
    reached = []
    for far, long in ((there, lengths[0]), (back, lengths[1])):
        order = np.argsort(far)
        share = np.cumsum(long[order]) / long.sum()
        reached.append(far[order][np.argmax(share >= 0.95 - 1e-12)])
    means = [(far @ long) / long.sum() for far, long in zip((there, back), lengths, strict=True)]
    total = sum(map(np.sum, lengths))
    return {
        "hd": max(there.max(), back.max()),
        "hd95": max(reached),
        "assd": (there @ lengths[0] + back @ lengths[1]) / total,
        "masd": np.mean(means),
        "nsd@2": (lengths[0][there <= 2].sum() + lengths[1][back <= 2].sum()) / total,
    }


def band(mask):
    """Return the pixels of a mask near its background, eroding it by a square again and again."""
    times = max(1, round(0.02 * math.hypot(*mask.shape)))
    return mask ^ binary_erosion(mask, np.ones((3, 3)), iterations=times)


def seg2bmap(mask):
    """Return the boundary of a mask as the official code of DAVIS does."""
    right, lower, both = mask.copy(), mask.copy(), mask.copy()
    right[:, :-1], lower[:-1], both[:-1, :-1] = mask[:, 1:], mask[1:], mask[1:, 1:]
    boundary = (mask ^ right) | (mask ^ lower) | (mask ^ both)
    boundary[-1] = mask[-1] ^ right[-1]
    boundary[:, -1] = mask[:, -1] ^ lower[:, -1]
    boundary[-1, -1] = False
    return boundary


def f_of_davis(truth, predicted):
    """Return F of boundary pixels, as the official code of DAVIS does."""
    radius = math.ceil(0.008 * math.hypot(*truth.shape))
    gt, pred = seg2bmap(truth), seg2bmap(predicted)
    if not (gt.any() and pred.any()):
        return float(gt.any() == pred.any())
    precision = np.mean(distance_transform_edt(~gt)[pred] <= radius)
    recall = np.mean(distance_transform_edt(~pred)[gt] <= radius)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


LONG = drawn("......", ".####.", "......")
"""Four pixels in a row."""
SHIFTED = drawn("......", "..####", "......")


def test_distances_of_shifted_lines():
    found = metrics(LONG, SHIFTED, nsd=[0, 0.5, 1])
    # There: 1 of the first pixel and 0 of three; back: the same.
    assert [found[key] for key in ("hd", "assd", "masd")] == [1, 0.25, 0.25]
    assert found["hd95"] == pytest.approx(0.85)  # of (0, 0, 0, 1) at place .95 * 3 = 2.85
    assert [found[key] for key in ("nsd@0", "nsd@0.5", "nsd@1")] == [0.75, 0.75, 1]
    assert found["dice"] == 0.75


def test_union_of_both_directions():
    one, four = drawn("#...", "...."), drawn("####", "....")
    # There: 0; back: 0, 1, 2, 3. Together 0, 0, 1, 2, 3 at place 3.8, and alone 0, 1, 2, 3 at place 2.85.
    assert metrics(one, four, hd95="union")["hd95"] == pytest.approx(2.8)
    assert metrics(one, four)["hd95"] == pytest.approx(2.85)
    assert metrics(one, four)["assd"] == 1.2
    assert metrics(one, four)["masd"] == 0.75


def test_elements_at_corners():
    # A single pixel has four elements of length sqrt(1/2); two in a row have four of these, and two of length 1.
    counts = count(drawn("#..."), drawn("##.."), Contours(surface="lengths"))
    there, back = counts.distances()
    assert there.length == pytest.approx(4 * math.sqrt(0.5))
    assert back.length == pytest.approx(2 + 4 * math.sqrt(0.5))
    # The corners of the second pixel on the right, two elements, are 1 off.
    assert back.squared.tolist() == [0, 1]
    assert back.halves.tolist() == [2, 2]


def test_a_diagonal_is_two_halves():
    counts = count(drawn("#.", ".#"), drawn("#.", ".#"), Contours(surface="lengths"))
    # Six corners around one pixel each, and the one in the middle.
    assert counts.distances()[0].halves.tolist() == [6 + 2]


def test_95_percent_of_the_length_reached_exactly():
    # A row of 1 x 38 pixels: 74 elements of length 1 and four halves; of the second mask nothing lies farther than 0.
    row = np.zeros((3, 60), bool)
    row[1, 5:43] = True
    longer = row.copy()
    longer[1, 43:45] = True  # of 78 + 4 sqrt(1/2) the last four elements are 1 and 2 off: 4 % of the length
    found = metrics(row, longer, "lengths")
    assert found["hd95"] == 0
    assert found["hd"] == 2


def test_boundary_iou_by_hand():
    truth = np.zeros((40, 40), bool)
    truth[10:30, 10:30] = True
    predicted = np.roll(truth, 1, axis=1)
    # d = round(.02 * 56.57) = 1: frames of 76 pixels, which share the upper and lower edge but for one pixel a side.
    counts = count(truth, predicted, "contours")
    assert counts.bands.tolist() == [[76, 76, 38]]
    assert counts.metrics()["boundary_iou"] == 38 / 114


def test_the_image_border_is_contour_but_not_for_davis():
    full = np.ones((4, 5), bool)
    counts = count(full, full, "contours")
    assert counts.distances()[0].units.tolist() == [14]
    assert counts.davis.tolist() == [[0, 0, 0, 0]]
    assert counts.metrics()["f_davis"] == 1


def test_monai_surface_dice():
    truth, predicted = np.zeros((2, 10, 10), bool)
    truth[1:4, 1] = predicted[5:8, 6] = True
    found = metrics(truth, predicted, nsd=[0, 5.5, 6])
    assert [found[key] for key in ("nsd@0", "nsd@5.5", "nsd@6")] == [0, 2 / 6, 4 / 6]
    found = metrics(~truth, ~predicted, nsd=[0, 2.8, 3])
    assert [found[key] for key in ("nsd@0", "nsd@2.8", "nsd@3")] == [72 / 84, 81 / 84, 83 / 84]


EMPTY, SOME = np.zeros((3, 4), bool), np.eye(3, 4, dtype=bool)


@pytest.mark.parametrize("pair", [(EMPTY, SOME), (SOME, EMPTY)])
def test_one_mask_empty(pair):
    found = metrics(*pair)
    assert all(math.isnan(found[key]) for key in DISTANCES)
    assert [found[key] for key in ("nsd@2", "boundary_iou", "dice", "j", "f_davis", "j_and_f")] == [0] * 6


@pytest.mark.parametrize("pair", [(EMPTY, SOME), (SOME, EMPTY)])
def test_one_mask_empty_counts_as_the_diagonal(pair):
    found = metrics(*pair, empty="diagonal", spacing=2)
    assert [found[key] for key in DISTANCES] == [10] * 4
    assert found["nsd@2"] == 0


def test_both_masks_empty():
    found = metrics(EMPTY, EMPTY)
    assert all(math.isnan(found[key]) for key in (*DISTANCES, "nsd@2", "boundary_iou", "dice"))
    assert [found[key] for key in ("j", "f_davis", "j_and_f")] == [1, 1, 1]
    found = metrics(EMPTY, EMPTY, empty="diagonal")
    assert [found[key] for key in (*DISTANCES, "nsd@2")] == [0, 0, 0, 0, 1]
    assert math.isnan(found["dice"])


def test_spacing_scales_distances_and_tolerances():
    found = metrics(LONG, SHIFTED, spacing=0.7, nsd=[0.6, 0.7])
    assert found["hd"] == 0.7
    assert [found["nsd@0.6"], found["nsd@0.7"]] == [0.75, 1]


def test_a_tolerance_exceeded_by_rounding_alone_is_kept():
    truth, predicted = drawn("#..."), drawn("...#")
    found = metrics(truth, predicted, spacing=0.1, nsd=[0.3, 0.29])
    assert 3 * 0.1 > 0.3
    assert [found["nsd@0.3"], found["nsd@0.29"]] == [1, 0]


@pytest.mark.parametrize("seed", range(60))
def test_straightforward_code_finds_the_same(seed):
    truth, predicted = random_pair(seed)
    there, back = directed(truth, predicted)
    found, union = metrics(truth, predicted), metrics(truth, predicted, hd95="union")["hd95"]
    both = np.concatenate([there, back])
    expected = {
        "dice": 2 * (truth & predicted).sum() / (truth.sum() + predicted.sum()),
        "hd": both.max(),
        "hd95": max(np.percentile(there, 95), np.percentile(back, 95)),
        "assd": both.mean(),
        "masd": (there.mean() + back.mean()) / 2,
        "nsd@2": np.mean(both <= 2),
        "boundary_iou": (band(truth) & band(predicted)).sum() / (band(truth) | band(predicted)).sum(),
        "j": (truth & predicted).sum() / (truth | predicted).sum(),
        "f_davis": f_of_davis(truth, predicted),
    }
    assert_allclose([found[key] for key in expected], list(expected.values()), rtol=1e-9)
    assert_allclose(union, np.percentile(both, 95), rtol=1e-9)
    lengths, expected = metrics(truth, predicted, "lengths"), of_lengths(truth, predicted)
    assert_allclose([lengths[key] for key in expected], list(expected.values()), rtol=1e-9)


@pytest.mark.parametrize("surface", ["pixels", "lengths"])
@pytest.mark.parametrize("seed", range(20))
def test_swapped_masks_give_the_same(seed, surface):
    truth, predicted = random_pair(seed)
    found, swapped = (dict(metrics(*pair, surface)) for pair in ((truth, predicted), (predicted, truth)))
    assert found["buffer_precision@2"] == swapped["buffer_recall@2"]
    of_both_sides = [key for key in found if not key.startswith(BUFFER)]
    assert [found[key] for key in of_both_sides] == [swapped[key] for key in of_both_sides]


@pytest.mark.parametrize("seed", range(10))
def test_flips_and_turns_give_the_same_distances(seed):
    truth, predicted = random_pair(seed)
    found, turned = metrics(truth, predicted), metrics(truth[::-1].T, predicted[::-1].T)
    keys = (*DISTANCES, "nsd@2", "dice", "boundary_iou")
    assert_allclose([turned[key] for key in keys], [found[key] for key in keys], rtol=1e-12)


def test_rows_where_neighbours_take_too_long():
    rng = np.random.default_rng(0)
    truth, predicted = rng.random((40, 300)) < 0.5, np.zeros((40, 300), bool)
    predicted[3, 290] = predicted[35, 4] = True
    there, back = directed(truth, predicted)
    found = metrics(truth, predicted)
    assert_allclose([found["hd"], found["assd"]], [there.max(), np.concatenate([there, back]).mean()], rtol=1e-12)


@pytest.mark.parametrize("shape", [(700, 500), (3, 5000), (5000, 3)])
def test_images_too_large_for_the_memory_of_the_processor(shape):
    # Distances are found for some rows at a time, and sorted by digits: several of each.
    rng = np.random.default_rng(1)
    truth, predicted = rng.random(shape) < 0.01, np.zeros(shape, bool)
    predicted[0, 0] = predicted[-1, -1] = True
    there, back = directed(truth, predicted)
    counts = count(truth, predicted, "contours")
    for found, expected in zip(counts.distances(), (there, back), strict=True):
        squared, numbers = np.unique(np.rint(expected**2).astype(int), return_counts=True)
        assert found.squared.tolist() == squared.tolist()
        assert found.units.tolist() == numbers.tolist()


def test_void_is_background_in_both():
    truth, predicted = drawn("##..", "##.."), drawn("###.", "###.")
    valid = drawn("##.#", "##.#")
    assert count(truth, predicted, "contours", valid) == count(truth, truth, "contours")


def test_classes_are_measured_one_by_one():
    truth, predicted = np.array([[0, 1, 2, 255]]), np.array([[0, 1, 1, 0]])
    counts = count(truth, predicted, Contours(classes="0-2"))
    assert counts.areas.tolist() == [[1, 1, 1], [1, 2, 1], [1, 0, 0]]
    assert counts.one(1) == count(truth == 1, predicted == 1, "contours")
    assert math.isnan(counts.one(2).metrics()["hd"])


def test_sums_hold_the_distances_of_all_images():
    counts = [count(*random_pair(seed), Contours(surface="lengths")) for seed in range(5)]
    total = ContourCounts.sum(counts)
    assert total == ContourCounts.sum(counts[::-1])
    for place in (0, 1):
        assert total.distances()[place].length == pytest.approx(sum(one.distances()[place].length for one in counts))
        assert total.distances()[place].total == pytest.approx(sum(one.distances()[place].total for one in counts))
    reason = total.metrics().undefined["hd"]
    assert (reason.kind, reason.values) == ("added-up", {"images": 5, "noun": "image"})


def test_recall_and_decay_of_davis():
    values = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    assert recall_of(values) == 0.5
    assert decay_of(values) == pytest.approx(0.8 - 0.3)  # frames 0 to 2 and 5 to 7


@pytest.mark.parametrize("frames", [1, 2, 3, 5, 8, 70, 257, 400])
def test_decay_is_that_of_the_official_code(frames):
    values = np.random.default_rng(frames).random(frames)
    ids = (np.round(np.linspace(1, frames, 5) + 1e-10) - 1).astype(int)  # uint8 there, which overflows
    expected = values[ids[0] : ids[1] + 1].mean() - values[ids[3] : ids[4] + 1].mean()
    assert decay_of(values.tolist()) == pytest.approx(expected)


def test_sizes_that_differ_are_refused():
    with refused("other-size", DataError, path="prediction", shape=(4, 3), expected=(3, 4)):
        count(EMPTY, EMPTY.T, "contours")


@pytest.mark.parametrize("seed", range(20))
def test_medpy_finds_the_same(seed):
    binary = pytest.importorskip("medpy.metric.binary")
    truth, predicted = random_pair(seed)
    found = metrics(truth, predicted, hd95="union")
    expected = {
        "hd": binary.hd(predicted, truth),
        "hd95": binary.hd95(predicted, truth),
        "assd": binary.assd(predicted, truth),
        "dice": binary.dc(predicted, truth),
    }
    assert_allclose([found[key] for key in expected], list(expected.values()), rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_monai_finds_the_same(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monai = pytest.importorskip("monai.metrics")
        torch = pytest.importorskip("torch")
        truth, predicted = random_pair(seed)
        y, y_pred = (torch.from_numpy(mask[None, None]).float() for mask in (truth, predicted))
        given = {"y_pred": y_pred, "y": y, "include_background": True}
        expected = {
            "hd": monai.compute_hausdorff_distance(**given),
            "hd95": monai.compute_hausdorff_distance(**given, percentile=95),
            "assd": monai.compute_average_surface_distance(**given, symmetric=True),
            "nsd@2": monai.compute_surface_dice(**given, class_thresholds=[2.0]),
        }
    found = metrics(truth, predicted)
    assert_allclose([found[key] for key in expected], [float(value) for value in expected.values()], rtol=1e-5)
