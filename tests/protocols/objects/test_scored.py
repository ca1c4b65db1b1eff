"""Scored objects: drawings worked by hand, COCO's own tools, and what leaving out and adding up images gives."""

from __future__ import annotations

import runpy
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import segbench as sb
from segbench import Objects, ScoreCounts, ScoredObjectCounts, ScoredObjects, count
from segbench.aggregator.codec import decode, encode
from segbench.core.instances import decode_mask, encode_masks
from segbench.loaders.mask_codes import runs_of_texts

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "scripts/checks/check_coco.py"))
SIZE = (40, 60)


def bars(*lengths, size=SIZE):
    """Draw bars of one pixel height in rows of their own, from the left: IoU is a ratio of lengths."""
    masks = np.zeros((len(lengths), *size), bool)
    for row, length in enumerate(lengths):
        masks[row, row, :length] = True
    return masks


def scored(truth, predicted, **settings):
    return count(truth, predicted, Objects(kind="scored", **settings))


@pytest.mark.parametrize("settings", [{"classes": (1, 3)}, {"classes": (1, 3), "names": ("cat", "dog")}])
def test_objects_of_some_classes_are_scored_objects(settings):
    assert Objects(**settings) == ScoredObjects(**settings)
    assert not isinstance(Objects(divisor=1000, **settings), ScoredObjects)


def test_objects_of_kind_scored_are_scored_objects():
    assert Objects(kind="scored", overlap="box") == ScoredObjects(overlap="box")
    with pytest.raises(sb.ArgumentError, match="min_size"):
        Objects(kind="scored", min_size=3)


def test_one_of_two_found():
    truth = {"masks": bars(10, 10), "labels": [1, 1]}
    metrics = scored(truth, {"masks": bars(10), "labels": [1], "scores": [0.9]}).metrics()
    assert metrics["coco_ap"] == pytest.approx(51 / 101, abs=1e-12)  # of 101 recalls, those up to .5
    assert metrics["ap_exact"] == 0.5
    assert scored(truth, {"masks": bars(10, 10), "labels": [1, 1], "scores": [1, 1]}).metrics()["coco_ap"] == 1


def test_iou_at_a_threshold_is_enough():
    truth = {"masks": bars(20), "labels": [1]}
    metrics = scored(truth, {"masks": bars(12), "labels": [1], "scores": [0.9]})  # IoU .6
    assert metrics.metrics()["coco_ap"] == pytest.approx(0.3)  # .5, .55, .6 of ten
    assert metrics.matched.tolist() == [0b111 | 0b111 << 10]  # all, small


def test_a_detection_takes_the_last_of_equal_objects_and_others_the_rest():
    masks = np.concatenate([bars(10), bars(10)])
    truth = {"masks": masks, "labels": [1, 1]}
    counts = scored(truth, {"masks": masks, "labels": [1, 1], "scores": [0.9, 0.8]})
    assert np.all(counts.matched & 1023 == 1023)


def test_crowds_excuse_any_number_of_detections_by_their_own_area():
    crowd = {"masks": bars(60), "labels": [1], "iscrowd": [1]}
    inside = bars(20)
    detections = {"masks": np.concatenate([inside, inside]), "labels": [1, 1], "scores": [0.9, 0.8]}
    counts = scored(crowd, detections)
    assert counts.objects.tolist() == [[0, 0, 0, 0]]
    assert np.all(counts.ignored & 1023 == 1023)
    assert np.isnan(counts.metrics()["coco_ap"])


def test_objects_that_count_come_before_crowds():
    truth = {"masks": np.concatenate([bars(60), bars(10)]), "labels": [1, 1], "iscrowd": [1, 0]}
    counts = scored(truth, {"masks": bars(11), "labels": [1], "scores": [0.9]})
    assert counts.matched[0] & 1023 == 0b111111111  # IoU 10 / 11; at .95 only the crowd


@pytest.mark.parametrize(
    ("area", "ranges"), [(1024, (1, 1, 0)), (1024.5, (0, 1, 0)), (9216, (0, 1, 1)), (0, (1, 0, 0))]
)
def test_both_ends_of_ranges_belong_to_them(area, ranges):
    truth = {"masks": bars(10), "labels": [1], "area": [area]}
    counts = scored(truth, {"masks": bars(10), "labels": [1], "scores": [0.9]})
    assert counts.objects.tolist() == [[1, *ranges]]


def test_detections_are_of_the_range_of_their_mask_or_box():
    truth = {"masks": np.zeros((0, *SIZE), bool), "labels": []}
    wide = {"masks": bars(10), "labels": [1], "scores": [0.9], "boxes": [[0, 0, 40, 40]]}
    small, medium = 1023 << 10, 1023 << 20
    assert not scored(truth, wide).ignored[0] & small
    assert not scored(truth, wide, area="box").ignored[0] & medium


def test_boxes_and_boundaries():
    truth, predicted = np.zeros((2, 1, 30, 30), bool)
    truth[0, 5:25, 5:25] = predicted[0, 5:25, 6:26] = True
    truth[0, 10:20, 10:20] = False  # a hole
    sides = {"masks": truth, "labels": [1]}, {"masks": predicted, "labels": [1], "scores": [0.9]}
    assert scored(*sides).metrics()["coco_ap"] == pytest.approx(0.4)  # 280 / 420 pixels
    assert scored(*sides, overlap="box").metrics()["coco_ap"] == pytest.approx(0.9)  # 380 / 420


@pytest.mark.parametrize(("ratio", "average"), [(0.02, 0.0), (0.07, 0.5)])
def test_boundaries(ratio, average):
    truth, predicted = np.zeros((2, 1, 30, 30), bool)
    truth[0, 5:25, 5:25] = predicted[0, 5:25, 6:26] = True
    sides = {"masks": truth, "labels": [1]}, {"masks": predicted, "labels": [1], "scores": [0.9]}
    # Boundaries are 1 pixel wide, 38 / 114, or 3, 170 / 238; masks have 380 / 420.
    found = scored(*sides, overlap="boundary", boundary_ratio=ratio)
    assert found.metrics()["coco_ap"] == pytest.approx(average)
    crowd = {**sides[0], "iscrowd": [1]}
    assert scored(crowd, sides[1], overlap="boundary").ignored[0] & 1


def test_detections_beyond_the_limit_do_not_count():
    masks = bars(*[5] * 12)
    truth = {"masks": masks, "labels": [1] * 12}
    detections = {"masks": masks, "labels": [1] * 12, "scores": np.linspace(1, 0.5, 12)}
    metrics = scored(truth, detections, max_dets=11)
    assert metrics.scores.size == 11
    summary = ScoredObjects(max_dets=11).table({"a": metrics}).summary()
    assert [summary[f"coco_ar_{limit}"] for limit in (1, 10, 11)] == pytest.approx([1 / 12, 10 / 12, 11 / 12])


def test_means_are_over_classes_with_objects():
    truth = {"masks": bars(9, 9), "labels": [1, 2]}
    detections = {"masks": bars(9, 0, 9), "labels": [1, 2, 7], "scores": [0.9, 0.8, 0.7]}
    counts = scored(truth, detections)
    assert counts.metrics()["coco_ap"] == pytest.approx(0.5)
    result = sb.evaluate({"a": (truth, detections)}, protocol=Objects(kind="scored"))
    parts = result.parts("class")
    assert [parts[name].summary["coco_ap"] for name in ("1", "2")] == pytest.approx([1, 0])
    assert "no object" in str(parts["7"].summary.undefined["coco_ap"])


def test_areas_are_those_of_the_curve_engine():
    random = np.random.default_rng(3)
    hits, scores = random.random(40) < 0.5, np.round(random.random(40), 1)
    objects = int(hits.sum()) + 5
    masks = bars(*[5] * objects, size=(objects, 9))
    nothing = np.zeros((objects, 9), bool)
    nothing[:, 7] = True
    which = iter(range(objects))
    detected = np.array([masks[next(which)] if hit else nothing for hit in hits])
    truth = {"masks": masks, "labels": [1] * objects}
    counts = scored(truth, {"masks": detected, "labels": [1] * 40, "scores": scores})
    summary = ScoredObjects().table({"a": counts}).summary()
    levels = np.unique(scores)[::-1]
    positives, negatives = ([np.sum(hits[scores == at] == sign) for at in levels] for sign in (True, False))
    # Objects that are missed follow after so many false positives that their area is nothing.
    by_score = ScoreCounts([*levels, -1], [*positives, 5], [*negatives, 2**50])
    assert summary["ap_exact"] == pytest.approx(sb.auc_pr(by_score), abs=1e-12)
    assert summary["ap_achievable"] == pytest.approx(sb.achievable_pr_curve(by_score).area, abs=1e-12)


def test_equal_scores_have_the_lowest_precision_of_all_orders():
    masks = bars(5, size=(1, 9))
    missed = ~masks
    images = [(masks, [0.5]), (missed, [0.5]), (masks, [0.5]), (missed, [0.9])]
    truth = {"masks": masks, "labels": [1]}

    def average_precision(scores):
        sides = [
            (truth, {"masks": drawn, "labels": [1], "scores": [score]})
            for (drawn, _), score in zip(images, scores, strict=True)
        ]
        return sb.evaluate(dict(enumerate(sides)), protocol=Objects(kind="scored")).summary["coco_ap"]

    orders = [average_precision([*(0.5 + 0.01 * rank for rank in order), 0.9]) for order in permutations(range(3))]
    tied = average_precision([0.5, 0.5, 0.5, 0.9])
    assert tied == pytest.approx(min(orders))
    assert tied < max(orders)


def test_recalls_are_compared_as_floats():
    masks = bars(*[5] * 20)
    truth = {"masks": masks, "labels": [1] * 20}
    recalls = np.linspace(0, 1, 101)
    differing = [
        matched
        for matched in range(1, 21)
        if np.sum(matched / 20 >= recalls) != sum(matched * 100 >= 20 * k for k in range(101))
    ]
    assert differing  # as decimals, another recall is reached
    for matched in differing:
        sides = {"masks": masks[:matched], "labels": [1] * matched, "scores": np.linspace(1, 0.5, matched)}
        expected = np.mean(matched / 20 >= recalls)
        assert scored(truth, sides).metrics()["coco_ap"] == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def drawn():
    random = np.random.default_rng(4)
    return [image for k in range(3) for image in SCRIPT["draw_set"](random, ties=k == 1)]


@pytest.fixture(scope="module")
def counted(drawn):
    return SCRIPT["count_set"](drawn, ScoredObjects())


def test_leaving_out_images_is_measuring_the_others(counted):
    protocol = ScoredObjects()
    without = protocol.table(counted).without_each()
    for row, left_out in enumerate(sorted(counted)):
        rest = {name: counts for name, counts in counted.items() if name != left_out}
        np.testing.assert_allclose(without[row], protocol.table(rest).estimates, rtol=0, atol=1e-14)


def test_weights_are_repetitions(counted):
    protocol = ScoredObjects()
    names = sorted(counted)
    weights = np.random.default_rng(1).integers(0, 4, (4, len(names))).astype(np.float64)
    measured = protocol.table(counted).measure(weights)
    for row, times in zip(measured, weights.astype(int), strict=True):
        repeated = {
            f"{name} {k}": counted[name] for name, number in zip(names, times, strict=True) for k in range(number)
        }
        np.testing.assert_allclose(row, protocol.table(repeated).estimates, rtol=0, atol=1e-14)


def image_of_many(random):
    """Return the counts of an image with several detections of each of three classes, some of equal score."""
    detections = random.integers(0, 6, 3)
    scores = [-np.sort(-random.integers(1, 40, number) / 40) for number in detections]
    bits = random.integers(0, 2**40, (2, detections.sum()))
    return ScoredObjectCounts(
        labels=np.arange(3),
        called="",
        objects=np.repeat(random.integers(0, 8, (3, 1)), 4, axis=1) // [1, 2, 3, 4],
        detections=detections,
        scores=np.concatenate(scores),
        ranks=np.concatenate([np.arange(number) for number in detections]),
        matched=bits[0] & ~bits[1],
        ignored=bits[1],
        hits=random.integers(0, 3, detections.sum()),
    )


@pytest.mark.parametrize("most", [1, 2, 3])
def test_few_images_that_count_otherwise_are_measured_as_repetitions(most):
    random = np.random.default_rng(most)
    counted = {f"{k:02}": image_of_many(random) for k in range(40)}
    weights = np.ones((60, len(counted)))
    for row in weights:
        row[random.choice(row.size, most, replace=False)] = random.choice([0, 2, 3], most)
    protocol = ScoredObjects()
    for measured, times in zip(protocol.table(counted).measure(weights), weights.astype(int), strict=True):
        repeated = {f"{name} {k}": counted[name] for name, n in zip(counted, times, strict=True) for k in range(n)}
        np.testing.assert_allclose(measured, protocol.table(repeated).estimates, rtol=0, atol=1e-14)


def test_counts_add_up_in_any_order_and_are_stored(counted):
    protocol = ScoredObjects()
    total = ScoredObjectCounts.sum(counted.values())
    assert ScoredObjectCounts.sum(reversed([*counted.values()])) == total
    np.testing.assert_array_equal(protocol.table({"": total}).estimates, protocol.table(counted).estimates)
    for counts in (*counted.values(), total):
        assert decode(encode(counts)) == counts


def test_counts_that_do_not_fit_are_refused(counted):
    counts = next(counts for counts in counted.values() if counts.scores.size > 2)
    for changed in (
        {"scores": np.sort(counts.scores)},
        {"matched": counts.matched[:-1]},
        {"ignored": counts.matched | 1, "matched": counts.matched | 1},
        {"labels": counts.labels[::-1] if counts.labels.size > 1 else counts.labels[:0]},
        {"matched": counts.matched + 2**41},
    ):
        with pytest.raises(sb.ArgumentError, match="do not fit"):
            replace(counts, **changed)


def test_methods_are_compared_over_images_and_by_class(drawn, tmp_path):
    random = np.random.default_rng(7)
    for method in ("ours", "theirs"):
        accumulator = sb.Accumulator(Objects(kind="scored"), method=method)
        for number, image in enumerate(drawn):
            truth, predicted = SCRIPT["as_instances"](image)
            if method == "theirs":
                predicted = replace(predicted, scores=random.random(len(predicted)))
            accumulator.update(truth, predicted, name=number)
        accumulator.compute(results=tmp_path / "r.segbench")
    ours, theirs = sb.load_results(tmp_path / "r.segbench")
    comparison = sb.compare_results([ours, theirs])
    assert comparison.to_dataframe().size
    intervals = ours.intervals()
    low, high = intervals["coco_ap"]
    assert low < ours.summary["coco_ap"] < high
    assert any("few images hold some classes" in str(note) for note in intervals.notes)
    by_class = ours.parts("class")
    with_objects = [part.summary["coco_ap"] for part in by_class.values()]
    assert np.nanmean(with_objects) == pytest.approx(ours.summary["coco_ap"], abs=1e-12)


@pytest.mark.parametrize("tool", ["pycocotools", "faster-coco-eval"])
@pytest.mark.parametrize("kind", ["segm", "bbox"])
def test_numbers_are_those_of_cocos_tools(tool, kind):
    evaluate = SCRIPT["peers"]().get(tool)
    if evaluate is None:
        pytest.skip(f"{tool} is not installed")
    for seed in range(50):
        images = SCRIPT["draw_set"](np.random.default_rng(seed))
        assert np.abs(SCRIPT["differences"](images, evaluate, kind)).max() < 1e-12
    for seed in range(10):
        images = SCRIPT["draw_set"](np.random.default_rng(seed), ties=True)
        assert SCRIPT["differences"](images, evaluate, kind).max() < 1e-12


def test_runs_of_masks():
    mask = np.random.default_rng(0).random((7, 5)) < 0.5
    mask[0, 0] = True
    runs = encode_masks([mask])
    assert runs.runs[0] == 0
    np.testing.assert_array_equal(decode_mask(runs.runs, mask.shape), mask)
    assert encode_masks([np.zeros((2, 3))]).runs.tolist() == [6]
    assert runs_of_texts([b"06"])[0].tolist() == [0, 6]
