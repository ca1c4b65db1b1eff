"""FROC of scored objects and of components with scores: drawings worked by hand, and the rules of official scripts."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from cases import drawn
from matplotlib.figure import Figure
from scipy.ndimage import label

import segbench as sb
from segbench import Objects, ScoredObjects, count

RATES = {f"froc_{name}": rate for name, rate in zip(
    ("1_8", "1_4", "1_2", "1", "2", "4", "8"), (Fraction(2) ** k for k in range(-3, 4)), strict=True
)}  # fmt: skip
COMPONENTS = Objects(kind="components", at=0.5)


def summary(images, protocol):
    counts = {f"{number:02}": count(*image, protocol) for number, image in enumerate(images)}
    return protocol.table(counts).summary()


# Independent code: sets of a class are lists of images, each with the number of objects and its detections: a score,
# the objects that it hits, and whether it hits anything, crowds included.


def points_of(images):
    """Return objects found and false detections for each score, falling, after the origin."""
    scores = sorted({score for _, detections in images for score, _, _ in detections}, reverse=True)
    points = [(0, 0)]
    for least in scores:
        kept = [[detection for detection in detections if detection[0] >= least] for _, detections in images]
        found = sum(len(set().union(*(hit for _, hit, _ in detections))) for detections in kept)
        points.append((found, sum(not hits for detections in kept for _, _, hits in detections)))
    return points


def found_at(points, limit, *, interpolate):
    """Return the objects found at a number of false detections."""
    below = [point for point in points if point[1] <= limit]
    beyond = points[len(below) :]
    found, false = below[-1]
    if interpolate and beyond:
        found += (limit - false) / (beyond[0][1] - false) * (beyond[0][0] - found)
    return found


def peer(classes, *, interpolate=False):
    """Compute every metric of classes, each a list of images, in fractions."""
    present = [images for images in classes if sum(objects for objects, _ in images)]
    values = {}
    for key, rate in RATES.items():
        of_classes = [
            Fraction(found_at(points_of(images), rate * len(images), interpolate=interpolate))
            / sum(objects for objects, _ in images)
            for images in present
        ]
        values[key] = sum(of_classes) / len(present) if present else math.nan
    of_rates = list(values.values())
    return values | {"froc": sum(of_rates) / 7, "froc_camelyon": sum(of_rates[1:]) / 6}


def as_luna16(images):
    """Compute the mean of LUNA16's script: `numpy.interp` over its points, those of `sklearn.metrics.roc_curve`."""
    points = np.array(points_of(images), float)
    rates = [float(rate) for rate in RATES.values()]
    return np.interp(rates, points[:, 1] / len(images), points[:, 0] / sum(n for n, _ in images)).mean()


def as_camelyon16(images):
    """Compute the mean of CAMELYON16's script and MONAI: a missed object has score 0, and the lowest score no point."""
    points = points_of(images)
    if points[-1][0] == sum(objects for objects, _ in images):
        points = points[:-1] if len(points) > 1 else points
    points = np.array(points, float)
    rates = [float(rate) for rate in RATES.values()][1:]
    return np.interp(rates, points[:, 1] / len(images), points[:, 0] / sum(n for n, _ in images)).mean()


def drawn_instances(rng):
    """Draw a set of instances of two classes, in which detections overlap several, miss, tie, or lie on crowds."""
    images = []
    for _ in range(rng.integers(1, 9)):
        numbers = rng.integers(0, 5), rng.integers(0, 8)
        masks = [np.zeros((number, 16, 20), bool) for number in numbers]
        for mask in (mask for side in masks for mask in side):
            (top, left), (height, width) = rng.integers(0, 13, 2), rng.integers(1, 6, 2)
            mask[top : top + height, left : left + width] = True
        labels = [rng.integers(1, 3, number) for number in numbers]
        crowds = (rng.random(numbers[0]) < 0.15).astype(int)
        scores = rng.integers(1, rng.choice([5, 100]), numbers[1]) / 100
        truth = {"masks": masks[0], "labels": labels[0], "iscrowd": crowds}
        images.append((truth, {"masks": masks[1], "labels": labels[1], "scores": scores}))
    return images


def of_classes(images, hit_iou=None):
    """Return what independent code takes of instances."""
    return [[_of_class(truth, predicted, label, hit_iou) for truth, predicted in images] for label in (1, 2)]


def reaches(mask, other, hit_iou):
    """Return whether two masks have an IoU of at least that."""
    return hit_iou is None or Fraction(int((mask & other).sum()), int((mask | other).sum())) >= Fraction(str(hit_iou))


def _of_class(truth, predicted, label, hit_iou):
    of_class = [k for k in range(len(truth["masks"])) if truth["labels"][k] == label]
    counted = {k for k in of_class if not truth["iscrowd"][k]}
    detections = []
    for mask, own_label, score in zip(predicted["masks"], predicted["labels"], predicted["scores"], strict=True):
        if own_label != label:
            continue
        hits = set()
        for k in of_class:
            shared = int((mask & truth["masks"][k]).sum())
            if shared and reaches(mask, truth["masks"][k] if k in counted else mask & truth["masks"][k], hit_iou):
                hits.add(k)
        detections.append((score, hits & counted, bool(hits)))
    return len(counted), detections


def drawn_maps(rng):
    """Draw masks and soft maps of few levels, so that components tie."""
    images = []
    for _ in range(rng.integers(1, 9)):
        truth = rng.random((14, 18)) < rng.choice([0.02, 0.1])
        scores = rng.integers(0, 256, truth.shape).astype(np.uint8)
        scores[rng.random(truth.shape) < rng.choice([0.8, 0.95])] = 0
        scores[truth & (rng.random(truth.shape) < 0.5)] = rng.choice([130, 200, 255])
        images.append((truth, scores // 8 * 8))
    return images


def of_components(images, hit_iou=None):
    """Return what independent code takes of components: numbers of objects and detections of the only class."""
    numbered = []
    for truth, scores in images:
        true, objects = label(truth, np.ones((3, 3)))
        predicted, components = label(scores > 127, np.ones((3, 3)))  # .5 of 255
        detections = []
        for number in range(1, components + 1):
            inside = predicted == number
            hits = {k for k in set(true[inside].tolist()) - {0} if reaches(inside, true == k, hit_iou)}
            detections.append((int(scores[inside].max()), hits, bool(hits)))
        numbered.append((objects, detections))
    return [numbered]


def test_a_drawing_worked_by_hand():
    truth = drawn("##......##", "##......##", "..........")
    scores = np.zeros(truth.shape)
    scores[0, 0], scores[2, 5], scores[0, 8] = 0.9, 0.8, 0.7
    counts = count(truth, scores, COMPONENTS)
    assert (counts.scores.tolist(), counts.hits.tolist()) == ([0.9, 0.8, 0.7], [2, 0, 2])
    measured = COMPONENTS.table({"a": counts}).summary()
    # In one image, no false detection is allowed up to 1/2: one of two is found. From 1 on the second one is.
    assert [measured[key] for key in RATES] == [0.5, 0.5, 0.5, 1, 1, 1, 1]
    assert measured["froc"] == pytest.approx(5.5 / 7, abs=1e-15)
    assert measured["froc_camelyon"] == pytest.approx(5 / 6, abs=1e-15)


def test_between_points_lies_a_straight_line():
    truth, scores = drawn("#.#.#"), np.array([[0.9, 0, 0.8, 0, 0.8]])
    empty, false = drawn("....."), np.array([[0, 0.8, 0, 0, 0]])
    protocol = Objects(kind="components", at=0.5, interpolate=True)
    measured = summary([(truth, scores), (empty, false)], protocol)
    # From (0, 1/3) to (1/2, 3/3) false detections per image.
    assert [measured[key] for key in RATES] == pytest.approx([1 / 2, 2 / 3, 1, 1, 1, 1, 1], abs=1e-15)
    assert summary([(truth, scores), (empty, false)], COMPONENTS)["froc_1_4"] == pytest.approx(1 / 3)


def test_an_object_is_found_once_and_further_hits_are_not_false():
    masks = np.zeros((3, 6, 9), bool)
    masks[0, :3, :3] = masks[1, 1:4, 1:4] = masks[2, 5, 8] = True
    truth = {"masks": masks[:1], "labels": [1]}
    counts = count(truth, {"masks": masks, "labels": [1, 1, 1], "scores": [0.9, 0.8, 0.7]}, ScoredObjects())
    assert counts.hits.tolist() == [2, 1, 0]
    assert count(truth, {"masks": masks, "labels": [1, 2, 1], "scores": [0.9, 0.8, 0.7]}, ScoredObjects()).hits[2] == 0


def test_a_detection_may_find_several_objects():
    truth = drawn("#.#.#")
    assert count(truth, np.array([[1, 1, 1.0, 0, 0]]), COMPONENTS).hits.tolist() == [3]


def test_crowds_excuse_detections():
    masks = np.ones((1, 4, 4), bool)
    truth = {"masks": masks, "labels": [1], "iscrowd": [1]}
    counts = count(truth, {"masks": masks, "labels": [1], "scores": [0.9]}, ScoredObjects())
    assert counts.hits.tolist() == [1]


def test_volumes_are_scans_and_components_reach_through_slices():
    truth, scores = np.zeros((3, 4, 5), bool), np.zeros((3, 4, 5))
    truth[0, 0, 0] = truth[1, 1, 1] = True  # one object: the voxels share a corner
    truth[2, 3, 4] = True
    scores[1, 1, 1], scores[0, 3, 0] = 0.9, 0.8
    assert count(truth, scores, COMPONENTS).hits.tolist() == [2, 0]
    assert summary([(truth, scores)], COMPONENTS)["froc_1"] == pytest.approx(1 / 2)


def test_hits_from_an_iou():
    truth, scores = drawn("#####....."), np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1, 1.0]])  # IoU .1
    assert count(truth, scores, COMPONENTS).hits.tolist() == [2]
    assert count(truth, scores, Objects(kind="components", at=0.5, hit_iou=0.1)).hits.tolist() == [2]
    assert count(truth, scores, Objects(kind="components", at=0.5, hit_iou=0.11)).hits.tolist() == [0]


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_instances_against_independent_code(seed, interpolate):
    images = drawn_instances(np.random.default_rng(seed))
    hit_iou = [None, 0.25][seed % 2]
    measured = summary(images, ScoredObjects(hit_iou=hit_iou, interpolate=interpolate))
    expected = peer(of_classes(images, hit_iou), interpolate=interpolate)
    assert {key: measured[key] for key in expected} == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_components_against_independent_code(seed, interpolate):
    images = drawn_maps(np.random.default_rng(seed))
    hit_iou = [None, 0.25][seed % 2]
    measured = summary(images, Objects(kind="components", at=0.5, hit_iou=hit_iou, interpolate=interpolate))
    expected = peer(of_components(images, hit_iou), interpolate=interpolate)
    assert {key: measured[key] for key in expected} == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("seed", range(20))
def test_the_script_of_luna16(seed):
    images = drawn_maps(np.random.default_rng(seed))
    measured = summary(images, Objects(kind="components", at=0.5, interpolate=True))
    assert measured["froc"] == pytest.approx(as_luna16(*of_components(images)), abs=1e-12)


@pytest.mark.parametrize("interpolate", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_rows_of_weights_are_sets_with_images_left_out_and_repeated(seed, interpolate):
    rng = np.random.default_rng(seed)
    images = drawn_instances(rng) + drawn_instances(rng)
    protocol = ScoredObjects(interpolate=interpolate)
    table = protocol.table({f"{number:02}": count(*image, protocol) for number, image in enumerate(images)})
    weights = np.ones((12, len(images)))
    weights[np.arange(6), rng.integers(0, len(images), 6)] = [0, 0, 0, 2, 3, 0]  # few images change
    weights[6:] = rng.integers(0, 3, (6, len(images)))
    for row, values in zip(weights.astype(int), table.measure(weights), strict=True):
        repeated = [image for image, times in zip(images, row, strict=True) for _ in range(times)]
        if not repeated:
            continue
        expected = peer(of_classes(repeated), interpolate=interpolate)
        measured = dict(zip(table.labels, values, strict=True))
        assert {key: measured[key] for key in expected} == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("images", "protocol"), [
    (drawn_instances(np.random.default_rng(1)), ScoredObjects()),
    (drawn_maps(np.random.default_rng(1)), COMPONENTS),
], ids=["instances", "components"])  # fmt: skip
def test_counts_add_up(images, protocol):
    counts = [count(*image, protocol) for image in images]
    assert sum(counts).metrics()["froc"] == summary(images, protocol)["froc"]
    assert np.array_equal(sum(counts[::-1]).hits, sum(counts).hits)


def test_masks_have_no_scores():
    masks = Objects(kind="components")
    assert "froc" not in count(drawn("#."), drawn("#."), masks).metrics()
    with pytest.raises(sb.ArgumentError, match=r"at=0\.5"):
        Objects(kind="components", hit_iou=0.5)
    with pytest.raises(sb.ArgumentError, match="interpolate"):
        Objects(interpolate=True)
    with pytest.raises(sb.ArgumentError, match="above 0"):
        ScoredObjects(hit_iou=0)
    mixed = [count(drawn("#."), prediction, Objects(kind="components", at=at)) for prediction, at in
             ((drawn("#."), None), (np.array([[1.0, 0]]), 0.5))]  # fmt: skip
    with pytest.raises(sb.ArgumentError, match="scores"):
        sum(mixed)


def test_nothing_true_is_undefined():
    empty = drawn("...")
    assert summary([(empty, np.array([[0, 1.0, 0]]))], COMPONENTS).undefined["froc"].kind == "no-true-objects"
    assert summary([(drawn("#.."), np.array([[0, 0.0, 1]]))], COMPONENTS)["froc"] == 0
    assert summary([(drawn("#.."), np.zeros((1, 3)))], COMPONENTS)["froc"] == 0


def test_interpolation_is_a_setting_of_measuring():
    images = drawn_maps(np.random.default_rng(3))
    result = sb.evaluate({str(number): image for number, image in enumerate(images)}, protocol=COMPONENTS)
    other = result.with_settings(interpolate=True)
    assert other.summary["froc"] == summary(images, Objects(kind="components", at=0.5, interpolate=True))["froc"]
    low, high = result.intervals()["froc"]
    assert low <= result.summary["froc"] <= high


def test_the_plot_has_the_values_of_the_table():
    images = drawn_maps(np.random.default_rng(5))
    result = sb.evaluate({str(number): image for number, image in enumerate(images)}, protocol=COMPONENTS)
    line = sb.plot(result, "froc", ax=Figure().subplots()).lines[0]
    read = dict(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True))
    assert [read[k] for k in range(-3, 4)] == [result.summary[key] for key in RATES]
    masks = sb.evaluate([(truth, truth) for truth, _ in images], protocol=Objects(kind="components"))
    with pytest.raises(sb.ArgumentError, match="no scores"):
        sb.plot(masks, "froc")


def test_the_axis_is_numbered_by_false_detections_per_image_in_plots_and_on_the_page(tmp_path):
    images = drawn_maps(np.random.default_rng(5))
    result = sb.evaluate({str(number): image for number, image in enumerate(images)}, protocol=COMPONENTS)
    written = ["1/8", "1/4", "1/2", "1", "2", "4", "8"]
    ax = sb.plot(result, "froc", ax=Figure().subplots())
    assert ax.get_xlabel() == "False detections per image"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == written
    sb.export_report(result, tmp_path / "page.html")
    (chart,) = re.findall(r'<svg[^>]*aria-label="Objects found at.*?</svg>', (tmp_path / "page.html").read_text())
    assert re.findall(r">([^<]+)</text>", chart)[:8] == [*written, "False detections per image"]
