"""Instance label maps: drawings worked by hand, and straightforward code in exact fractions on random maps."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from exact_objects import measured
from refusing import refused
from scipy.ndimage import distance_transform_edt

from segbench import ArgumentError, DataError, ObjectCounts, Objects, count, evaluate
from segbench.core.messages import Setting, part_of
from segbench.core.sample import Sample


def numbered_map(*rows):
    """Return a label map drawn in digits, a dot for 0."""
    return np.array([[int(letter.replace(".", "0")) for letter in row] for row in rows])


def metrics(truth, predicted, **settings):
    summary = count(truth, predicted, Objects(**settings)).metrics()
    return {key: summary[key] for key in scores_of(Objects(**settings))}


def scores_of(protocol):
    return [metric.image_key for metric in protocol.metrics() if metric.image_key and metric.kind == "score"]


def square(rows, columns, value=1, shape=(20, 20)):
    found = np.zeros(shape, int)
    found[slice(*rows), slice(*columns)] = value
    return found


def test_a_square_shifted_by_half_is_missed_and_false():
    found = count(square((0, 10), (0, 10)), square((0, 10), (5, 15)), "objects")
    assert found.objects.tolist() == [[1, 1, 0]]
    assert found.sizes.tolist() == [[0, 0]]
    assert found.metrics()["f1@0.5"] == 0


def test_two_squares_under_one_prediction_take_it_twice_in_aji_and_once_in_aji_plus():
    truth = numbered_map("1111.2222", "1111.2222", "1111.2222", "1111.2222")
    found = metrics(truth, np.ones_like(truth))
    assert found["aji"] == 4 / 9
    assert found["aji_plus"] == 4 / 13


def test_of_predictions_with_the_same_iou_aji_takes_the_lowest_number():
    truth, predicted = (
        numbered_map("1111.22"),
        numbered_map("4433.33"),
    )  # 4: 2 of 4; 3: 2 of 6; of the second object 3: 2 of 4
    assert metrics(truth, predicted)["aji"] == (2 + 2) / (4 + 4)
    truth, predicted = numbered_map("1111"), numbered_map("4433")
    assert metrics(truth, predicted)["aji"] == 2 / (4 + 2)


@pytest.mark.parametrize(("at", "f1"), [(0.5, 1.0), (0.500001, 0.0)])
def test_an_iou_of_exactly_half_is_enough_for_f1_at_half(at, f1):
    truth, predicted = numbered_map("1111"), numbered_map("11..")
    key = "f1@0.5" if at == 0.5 else "f1@0.500001"
    assert metrics(truth, predicted, iou=at)[key] == f1


def test_panoptic_quality_needs_more_than_half():
    found = metrics(numbered_map("1111"), numbered_map("11.."))
    assert (found["pq"], found["sq"], found["rq"]) == (0, 0, 0)
    found = metrics(numbered_map("111"), numbered_map("11."))
    assert (found["pq"], found["sq"], found["rq"]) == (2 / 3, 2 / 3, 1)


def test_nine_tenths_reach_point_nine():
    truth = numbered_map("1111111111")
    assert metrics(truth, numbered_map("111111111."))["f1@0.9"] == 1
    assert metrics(truth, numbered_map("11111111.."))["f1@0.9"] == 0


def test_an_object_split_into_two_halves_is_found_once_at_half():
    found = metrics(numbered_map("1111"), numbered_map("1122"))
    assert (found["precision@0.5"], found["recall@0.5"], found["matched_iou"]) == (1 / 2, 1, 1 / 2)


def test_two_objects_merged_are_found_once_at_half():
    found = metrics(numbered_map("1122"), numbered_map("3333"))
    assert (found["precision@0.5"], found["recall@0.5"], found["threat_score@0.5"]) == (1, 1 / 2, 1 / 2)


def test_the_numbers_of_objects_do_not_matter():
    truth, predicted = numbered_map("11.22.33"), numbered_map("33.11.2.")
    found = metrics(truth, predicted)
    renamed = np.array([0, 7, 2**24, 300])[predicted]
    assert metrics(truth, renamed) == found
    assert found["f1@0.5"] == 1
    assert found["f1@0.75"] == 2 / 3


def test_a_map_compared_with_itself_is_perfect():
    truth = numbered_map("11.22", "11.33", "..433")
    assert set(metrics(truth, truth).values()) == {1.0}


def test_maps_without_objects_are_undefined_and_left_out_of_means():
    empty, full = np.zeros((3, 3), int), np.ones((3, 3), int)
    assert all(map(math.isnan, metrics(empty, empty).values()))
    one_empty = metrics(empty, full)
    assert (one_empty["f1@0.5"], one_empty["aji"], one_empty["aji_plus"]) == (0, 0, 0)
    assert math.isnan(one_empty["recall@0.5"])
    found = evaluate({"a": (empty, empty), "b": (full, full)}, protocol=Objects())
    assert (found.summary["aji"], found.summary["f1_images@0.5"]) == (1, 1)
    (note,) = found.summary.notes
    assert (note.kind, note.metrics) == ("left-out", (("aji", "AJI"), ("aji_plus", "AJI+")))
    assert note.values == {"why": "no object in either map", "number": part_of(1, 2)}


@pytest.mark.parametrize(
    ("truth", "predicted", "key", "reason"),
    [
        ("..", "..", "f1@0.5", "no-objects"),
        ("..", "1.", "recall@0.75", "no-true-objects"),
        ("1.", "..", "precision_mean", "none-predicted"),
        ("1.", ".1", "matched_iou", "none-matched"),
    ],
)
def test_undefined_metrics_say_why(truth, predicted, key, reason):
    found = evaluate({"a": (numbered_map(truth), numbered_map(predicted))}, protocol=Objects()).summary
    assert found.undefined[key].kind == reason


def test_pooled_metrics_weigh_objects_and_means_weigh_images():
    images = {"a": (numbered_map("1.2.3"), numbered_map("1.2.3")), "b": (numbered_map("1...."), numbered_map("....1"))}
    found = evaluate(images, protocol=Objects()).summary
    assert found["f1@0.5"] == 6 / 8
    assert found["f1_images@0.5"] == (1 + 0) / 2
    assert found["threat_score@0.5"] == 3 / 5
    assert (found["true_objects"], found["predicted_objects"]) == (4, 4)


def test_void_pixels_are_in_no_object():
    truth, predicted = numbered_map("1122.9"), numbered_map("11.333")
    counts = count(truth, predicted, Objects(void=[9]))
    assert counts.objects.tolist() == [[2, 2, 0]]
    assert counts.metrics()["f1@0.5"] == 1 / 2
    hidden = count(truth, predicted, "objects", np.arange(6)[np.newaxis] < 2)
    assert hidden.metrics()["f1@0.5"] == 1


def test_seventy_thousand_objects_in_one_image():
    truth = np.kron(np.arange(1, 70001).reshape(250, 280), np.ones((4, 4), int))
    shifted = np.roll(truth, 1, axis=1)
    found = metrics(truth, shifted)
    assert found["f1@0.5"] == pytest.approx(1)  # 12 of 20 pixels, but for those that left the image
    assert found["matched_iou"] == pytest.approx(0.6, abs=0.01)


def random_maps(seed):
    """Return two small label maps: cells around seeds, some dropped, moved, merged or split."""
    rng = np.random.default_rng(seed)
    height, width = rng.integers(2, 13, 2)
    seeds = np.zeros((height, width), int)
    number = rng.integers(0, 7)
    seeds[rng.integers(0, height, number), rng.integers(0, width, number)] = np.arange(1, number + 1)
    places = distance_transform_edt(seeds == 0, return_distances=False, return_indices=True)
    truth = seeds[tuple(places)] * (rng.random((height, width)) > rng.choice([0, 0.2]))
    predicted = np.roll(truth, rng.integers(-2, 3, 2), axis=(0, 1))
    change = np.arange(8)
    change[rng.integers(0, 8)] = rng.choice([0, change[rng.integers(0, 8)]])
    predicted = change[predicted]
    if rng.random() < 0.5:
        predicted = np.where((predicted > 0) & (rng.random(predicted.shape) < 0.5), predicted + 9, predicted)
    return truth, predicted


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_random_maps_are_scored_as_by_exact_fractions(first):
    for seed in range(first, first + 50):
        truth, predicted = random_maps(seed)
        wanted = measured(truth, predicted)
        found = metrics(truth, predicted, iou=[k / 20 for k in range(10, 20)])
        for key, value in wanted.items():
            if value is None:
                assert math.isnan(found[key]), (seed, key)
            else:
                assert found[key] == pytest.approx(float(value), abs=1e-15, rel=1e-15), (seed, key)


@pytest.mark.parametrize("seed", range(20))
def test_turning_and_swapping(seed):
    truth, predicted = random_maps(seed)
    found = metrics(truth, predicted)
    assert metrics(truth.T, predicted.T) == pytest.approx(found, nan_ok=True)
    swapped = metrics(predicted, truth)
    assert swapped["f1@0.75"] == pytest.approx(found["f1@0.75"], nan_ok=True)
    assert swapped["precision@0.5"] == pytest.approx(found["recall@0.5"], nan_ok=True)
    assert swapped["aji_plus"] == pytest.approx(found["aji_plus"], nan_ok=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.float64])
def test_types_of_numbers_do_not_matter(dtype):
    truth, predicted = random_maps(3)
    assert count(truth.astype(dtype), predicted.astype(dtype), "objects") == count(truth, predicted, "objects")


def test_counts_add_up_in_any_order():
    parts = [count(*random_maps(seed), "objects") for seed in range(6)]
    total = ObjectCounts.sum(parts)
    assert total.objects.tolist() == sum(part.objects for part in parts).tolist()
    assert ObjectCounts.sum(parts[::-1]) == total
    assert (parts[0] + parts[1]).images == 2


@pytest.mark.parametrize(
    ("settings", "kind", "values"),
    [
        ({"iou": 0.4}, "wrong-value", {"argument": Setting("iou", None), "value": "0.4"}),
        ({"iou": []}, "wrong-value", {"given": Setting("iou", None), "values": ()}),
        ({"iou": 0.1234567 + 0.5}, "wrong-value", {"given": Setting("iou", None), "values": (0.6234567,)}),
        ({"kind": "boxes"}, "wrong-value", {"argument": Setting("kind", None), "value": "'boxes'"}),
        (
            {"kind": "components", "iou": 0.6},
            "no-meaning",
            {"given": Setting("iou", None), "kinds": "instances and panoptic", "objects": "components"},
        ),
        (
            {"things": "3"},
            "no-meaning",
            {"given": Setting("things", None), "kinds": "panoptic", "objects": "instances"},
        ),
        ({"at": 0.5}, "no-meaning", {"given": Setting("at", None), "kinds": "components", "objects": "instances"}),
        ({"divisor": 1}, "wrong-value", {"argument": Setting("divisor", None), "value": "1"}),
        ({"divisor": 10, "names": ["road"]}, "no-classes", {"classes": Setting("classes")}),
        (
            {"divisor": 10, "classes": "1-3", "things": "4"},
            "unfit-things",
            {"given": Setting("things", None), "label": 4},
        ),
        ({"divisor": 10, "things": [0]}, "unfit-things", {"given": Setting("things", None), "label": 0}),
        (
            {"kind": "components", "connectivity": 12},
            "wrong-value",
            {"argument": Setting("connectivity", None), "value": "12"},
        ),
        ({"kind": "components", "min_true": -1}, "wrong-value", {"argument": Setting("min_true", None), "value": "-1"}),
    ],
)
def test_settings_that_have_no_meaning_are_refused(settings, kind, values):
    with refused(kind, ArgumentError, **values):
        Objects(**settings)


@pytest.mark.parametrize(
    ("truth", "kind", "values"),
    [
        (np.array([[0.5, 1]]), "not-whole", {"lowest": 0.5}),
        (np.array([[-1, 1]]), "not-whole", {"lowest": -1}),
        (np.array([[False, True]]), "masks", {"value": 1}),
        (np.array([[0, 255]]), "masks", {"value": 255}),
    ],
)
def test_maps_that_hold_no_numbers_of_objects_are_refused(truth, kind, values):
    with refused(kind, DataError, path="ground_truth", **values):
        count(truth, np.array([[0, 1]]), "objects")


def test_stacks_of_overlapping_masks_are_refused():
    stack = np.zeros((2, 3, 3), int)
    with refused("other-dimensions", DataError):
        Objects().count(Sample("a", (stack[0],), (stack,)))


def test_counts_of_other_kinds_do_not_add_up():
    truth = numbered_map("1.2")
    with refused("counted-otherwise", ArgumentError, kinds="components and instances"):
        ObjectCounts.sum([count(truth, truth, "objects"), count(truth > 0, truth > 0, Objects(kind="components"))])


@pytest.mark.skipif("SEGBENCH_INSTANCES" not in os.environ, reason="SEGBENCH_INSTANCES does not name the label map")
def test_the_label_map_of_a_published_tool():
    file = Path(os.environ["SEGBENCH_INSTANCES"]) / "nuclei_mask2d.tif"
    result = evaluate(file, file, Objects())
    metrics = {metric.key for metric in Objects().metrics() if metric.kind == "score"}
    assert {result.summary[key] for key in metrics} == {1.0}
    assert result.summary["true_objects"] == 125
