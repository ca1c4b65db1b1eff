"""Label maps and hard masks: confusion matrices and their metrics."""

import math
import warnings
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from cases import write_folder
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import kinds, noted, of_kind
from PIL import Image
from refusing import refused

import segbench
from segbench import ArgumentError, DataError, LabelCounts, Labels, count
from segbench.aggregator.codec import decode, encode
from segbench.core.messages import Setting, part_of
from segbench.core.metric import headline
from segbench.core.numbers import number
from segbench.core.sample import Sample
from segbench.drawing.palette import FALSE_POSITIVE, GUIDE, class_colours
from segbench.protocols.states import State
from segbench.report.grounds import BETWEEN
from segbench.report.grounds import COLOURS as STATE_COLOURS

SCORES = [metric.key for metric in Labels(classes=3).metrics() if metric.kind == "score"]
POSITIVE = ["iou", "dice", "precision", "recall", "specificity", "ber", "mcc", "iou_images", "dice_images"]
POSITIVE += ["iou_cases", "dice_cases"]


def label_map(text):
    """Read a drawing: a digit per pixel, v for void, x for a label outside the classes."""
    table = {"v": 255, "x": 99}
    return np.array([[table.get(mark) or int(mark) for mark in row] for row in text.split()], np.uint8)


def summary_of(images):
    protocol = Labels.measuring(next(iter(images.values())))
    return protocol.table(images).summary()


def random_maps(seed, classes=5, shape=(17, 23), *, void=True):
    rng = np.random.default_rng(seed)
    # Of a varying number of classes, so that some are absent from one side or from both.
    held, predicted = (rng.choice(classes, rng.integers(1, classes + 1), replace=False) for _ in range(2))
    truth, prediction = rng.choice(held, shape), rng.choice(predicted, shape)
    prediction = np.where(rng.random(shape) < rng.random(), truth, prediction)
    if void:
        truth = np.where(rng.random(shape) < 0.1, 255, truth)
    return truth.astype(np.uint8), prediction.astype(np.uint8)


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes:UserWarning")
def test_a_drawing_worked_by_hand():
    truth = label_map("00011 00011 22vvv")
    predicted = label_map("00111 0x011 20000")
    counts = count(truth, predicted, Labels(classes=3))
    assert counts.matrix.tolist() == [[4, 1, 0, 1], [0, 4, 0, 0], [1, 0, 1, 0]]
    assert (counts.ignored, counts.pixels) == (3, 12)
    summary = summary_of({"a": counts})
    iou = [4 / 7, 4 / 5, 1 / 2]
    expected = {
        "miou": sum(iou) / 3,
        "fw_iou": (6 * iou[0] + 4 * iou[1] + 2 * iou[2]) / 12,
        "pixel_accuracy": 9 / 12,
        "mean_accuracy": (4 / 6 + 4 / 4 + 1 / 2) / 3,
        "mean_dice": (8 / 11 + 8 / 9 + 2 / 3) / 3,
        "kappa": (9 / 12 - (6 * 5 + 4 * 5 + 2 * 1) / 144) / (1 - (6 * 5 + 4 * 5 + 2 * 1) / 144),
    }
    for key, value in expected.items():
        assert summary[key] == pytest.approx(value, abs=1e-15), key
    assert [summary[key] for key in ("classes_present", "pixels", "ignored", "outside")] == [3, 12, 3, 1]


def test_a_mask_worked_by_hand():
    truth, predicted = label_map("0011 0011"), label_map("0110 0010")
    counts = count(truth, predicted, "labels")
    tp, fp, fn, tn = 2, 1, 2, 3
    assert counts.matrix.tolist() == [[tn, fp, 0], [fn, tp, 0]]
    summary = summary_of({"a": counts})
    expected = {
        "iou": 2 / 5, "dice": 4 / 7, "precision": 2 / 3, "recall": 1 / 2, "specificity": 3 / 4,
        "ber": (1 / 2 + 1 / 4) / 2, "mcc": (tp * tn - fp * fn) / math.sqrt(3 * 4 * 4 * 5),
        "iou_images": 2 / 5, "dice_images": 4 / 7, "miou": (2 / 5 + 3 / 6) / 2,
    }  # fmt: skip
    for key, value in expected.items():
        assert summary[key] == pytest.approx(value, abs=1e-10), key
    assert headline(Labels().metrics()).key == "iou"


def test_d_i_and_c_worked_by_hand():
    """Two images: class 1 is in the first alone, but predicted in both; of class 2 there is nothing."""
    images = {
        "a": count(label_map("0011"), label_map("0001"), Labels(classes=3)),
        "b": count(label_map("0000"), label_map("0001"), Labels(classes=3)),
    }
    summary = summary_of(images)
    a0, a1, b0 = 2 / 3, 1 / 2, 3 / 4
    assert summary["miou"] == pytest.approx((5 / 7 + 1 / 3) / 2, abs=1e-15)
    assert summary["miou_images"] == pytest.approx(((a0 + a1) / 2 + b0) / 2, abs=1e-10)
    assert summary["miou_classes"] == pytest.approx(((a0 + b0) / 2 + a1) / 2, abs=1e-10)
    assert summary["miou_images_5"] == pytest.approx((a0 + a1) / 2, abs=1e-10)
    assert summary["miou_classes_5"] == pytest.approx((a0 + a1) / 2, abs=1e-10)
    assert ("", "absent-classes", {"classes": "2"}) in noted(summary.notes)


def test_means_over_a_single_image_are_the_metrics_of_that_image():
    thirds = count(label_map("0000000 1111111 2222222"), label_map("0011111 1111122 2222200"), Labels(classes=3))
    summary = summary_of({"a": thirds})
    of_images = ("miou_images", "miou_classes", "miou_images_5", "miou_classes_5")
    assert {key: summary[key] for key in of_images} == dict.fromkeys(of_images, summary["miou"])
    summary = summary_of({"a": count([0, 0, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 1, 1], "labels")})
    assert (summary["iou_images"], summary["dice_images"]) == (summary["iou"], summary["dice"])


def test_means_over_images_are_rounded_once():
    images = {str(n): count([1, 0, 1, 0, 1, 1, 1], np.arange(7) < n, "labels") for n in range(1, 7)}
    ious = [Fraction(summary_of({n: image})["iou"]) for n, image in images.items()]
    assert summary_of(images)["iou_images"] == float(sum(ious)) / 6


def test_the_worst_images_are_a_twentieth_rounded_down():
    for images in (1, 19, 20, 39, 40, 100):
        counts = {f"{k:03}": LabelCounts("0-1", [[k, 100 - k, 0], [0, 100, 0]]) for k in range(1, images + 1)}
        summary = summary_of(counts)
        worst = range(1, max(1, images // 20) + 1)
        expected = np.mean([(k / 100 + 100 / (200 - k)) / 2 for k in worst])
        assert summary["miou_images_5"] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("classes", range(2, 8))
def test_scikit_learn_agrees(classes):
    """1000 cases in all, many in one call: labels of different cases differ, so their values do not mix."""
    sklearn, metrics = pytest.importorskip("sklearn"), pytest.importorskip("sklearn.metrics")
    maps = [random_maps(case, classes=classes, shape=(9, 11)) for case in range(classes, 1002, 6)]
    pairs = [(truth[truth != 255].astype(int), predicted[truth != 255].astype(int)) for truth, predicted in maps]
    counts = {f"{case:04}": count(*pair, Labels(classes=classes)) for case, pair in enumerate(maps)}
    table = Labels(classes=classes).table(counts)
    ours = dict(zip((metric.key for metric in table.metrics), table.measure_images().T, strict=True))
    true, found = (np.concatenate([case * classes + pair[k] for case, pair in enumerate(pairs)]) for k in (0, 1))
    by_class = {"labels": range(classes * len(maps)), "average": None, "zero_division": math.nan}
    with sklearn.config_context(skip_parameter_validation=True, assume_finite=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = metrics.confusion_matrix(true, found, labels=by_class["labels"])
        iou = metrics.jaccard_score(true, found, **by_class | {"zero_division": 0}).reshape(-1, classes)
        precision, recall, dice, pixels = (
            part.reshape(-1, classes) for part in metrics.precision_recall_fscore_support(true, found, **by_class)
        )
        kappa = [metrics.cohen_kappa_score(*pair) if len(np.unique(pair)) > 1 else math.nan for pair in pairs]
        two = [k for k, pair in enumerate(pairs) if classes == 2 and all(len(set(part.tolist())) == 2 for part in pair)]
        mcc = [metrics.matthews_corrcoef(*pairs[k]) for k in two]
        ber = [1 - metrics.balanced_accuracy_score(*pairs[k]) for k in two]
    for k, image in enumerate(counts.values()):
        part = slice(k * classes, (k + 1) * classes)
        assert np.array_equal(image.matrix[:, :-1], matrix[part, part])
    held = pixels > 0
    iou[~held & np.isnan(precision)] = math.nan  # scikit-learn counts a class that neither side holds as 0
    expected = {
        "miou": np.nanmean(iou, axis=1),
        "fw_iou": np.nansum(iou * pixels, axis=1) / pixels.sum(axis=1),
        "mean_dice": np.nanmean(dice, axis=1),
        "mean_accuracy": np.nanmean(np.where(held, recall, math.nan), axis=1),
        "kappa": kappa,
    }
    if classes == 2:
        expected |= {"iou": iou[:, 1], "dice": dice[:, 1], "precision": precision[:, 1], "recall": recall[:, 1]}
        assert len(two) > 10
        np.testing.assert_allclose(ours["mcc"][two], mcc, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours["ber"][two], ber, rtol=0, atol=1e-12)
    for key, values in expected.items():
        np.testing.assert_allclose(ours[key], values, rtol=0, atol=1e-12, err_msg=key)
    of_truth = np.nanmean(np.where(held, iou, math.nan), axis=1)
    np.testing.assert_allclose(ours["miou_images"], of_truth, rtol=0, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_permuted_classes_permute_results(seed, classes):
    truth, predicted = random_maps(seed, classes)
    order = np.random.default_rng(seed).permutation(classes)
    table = np.append(order, np.full(256 - classes, 255)).astype(np.uint8)
    one = count(truth, predicted, Labels(classes=classes))
    other = count(table[truth], table[predicted], Labels(classes=classes))
    assert np.array_equal(other.matrix[np.ix_(order, order)], one.matrix[:, :-1])
    first, second = summary_of({"a": one}), summary_of({"a": other})
    for key in SCORES:
        assert first[key] == pytest.approx(second[key], abs=1e-14, nan_ok=True), key


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_order_flips_and_merging_do_not_matter(seed):
    images = {str(k): random_maps(seed + k) for k in range(4)}
    counts = {name: count(*maps, Labels(classes=5)) for name, maps in images.items()}
    flipped = {name: count(*(m[::-1].T for m in maps), Labels(classes=5)) for name, maps in images.items()}
    renamed = {f"{9 - int(name)}": one for name, one in counts.items()}
    summaries = [dict(summary_of(each)) for each in (counts, flipped, renamed)]
    assert str(summaries[0]) == str(summaries[1]) == str(summaries[2])  # to the last bit, nan included
    assert LabelCounts.sum(counts.values()) == LabelCounts.sum(reversed(list(counts.values())))


def test_perfect_predictions_are_one():
    truth, _ = random_maps(3)
    summary = summary_of({"a": count(truth, truth, Labels(classes=5))})
    assert {summary[key] for key in SCORES} == {1.0}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int8, np.int16, np.int32, np.int64, np.uint32, np.float32])
def test_any_type_of_whole_numbers(dtype):
    truth, predicted = (maps.clip(0, 100) for maps in random_maps(0, void=False))
    expected = count(truth, predicted, Labels(classes=5))
    for one, other in product((np.uint8, dtype), repeat=2):
        assert count(truth.astype(one), predicted.astype(other), Labels(classes=5)) == expected


def test_a_field_of_view_leaves_out():
    truth, predicted = random_maps(0)
    field = np.random.default_rng(1).random(truth.shape) < 0.5
    expected = count(np.where(field, truth, 255), predicted, Labels(classes=5))
    assert count(truth, predicted, Labels(classes=5), field) == expected
    masked = np.ma.masked_array(truth, ~field)
    assert count(masked, predicted, Labels(classes=5)) == expected


def test_stacks_are_reduced_by_argmax_and_ties_go_to_the_lower_class():
    truth = label_map("012 210")
    stack = np.zeros((3, 2, 3), np.float32)
    stack[2, 0, 0] = 1
    stack[1:, 1, 1] = 0.5
    expected = count(truth, label_map("200 010"), Labels(classes=3))
    assert count(truth, stack, Labels(classes=3)) == expected
    assert count(truth, np.moveaxis(stack, 0, 2), Labels(classes=3)) == expected
    assert count(truth, (stack * 200).astype(np.uint8), Labels(classes=3)) == expected
    with refused("colour-or-scores", DataError, shape=(2, 3, 3), classes=3):
        count(truth, np.moveaxis((stack * 200).astype(np.uint8), 0, 2), Labels(classes=3))
    shifted = count(truth + 10, stack, Labels(classes=range(10, 13)))
    assert np.array_equal(shifted.matrix, expected.matrix)
    with refused("other-size", DataError, shape=(3, 2, 3), first=(4, 2, 3), last=(2, 3, 4)):
        count(truth, stack, Labels(classes=4))
    with refused("not-a-number", DataError, path="prediction", nan=1):
        count(truth, np.where(stack == 1, np.nan, stack), Labels(classes=3))
    with refused("class-axis", DataError, shape=(2, 2, 2)):
        count(truth[:, :2], np.zeros((2, 2, 2)), Labels(classes=2))


def test_maps_replace_labels_on_either_side():
    truth, predicted = label_map("012 v99"), label_map("112 333")
    mapped = count(truth, predicted, Labels(classes=2, gt_map="0=0,1-2=1,9=255", pred_map={1: 0, 2: 1, 3: 7}))
    assert mapped.matrix.tolist() == [[1, 0, 0], [1, 1, 0]]
    assert mapped.ignored == 3
    rest = count(truth, predicted, Labels(classes=2, gt_map="1=0,2=1,*=255", pred_map="1=0,*=1"))
    assert rest.matrix.tolist() == [[1, 0, 0], [0, 1, 0]]
    negative = count(np.array([-1, 0, 1]), np.array([0, 0, 1]), Labels(classes=2, gt_map="-1=255"))
    assert (negative.ignored, negative.pixels) == (1, 2)
    reduced = count(np.array([0, 1, 150]), np.array([0, 0, 149]), Labels(classes=150, gt_map="1-150=0-149,0=255"))
    assert (reduced.ignored, reduced.matrix[0, 0], reduced.matrix[149, 149]) == (1, 1, 1)


@pytest.mark.parametrize("text", ["7", "7=", "a=1", "1-3=0-1", "3-1=0", "1=0,1=2", "*=1,*=2", "*-3=1", "1=0;2=1"])
def test_what_is_no_remapping_is_refused(text):
    with refused("wrong-remapping", ArgumentError):
        Labels(classes=2, gt_map=text)


def test_labels_without_meaning_are_listed():
    truth = label_map("0123 4v00")
    advised = {"classes": "0-4", "gt_map": "2=LABEL", "background": "2-4"}
    with refused("no-class", DataError, path="ground_truth", settings=advised, labels=(2, 3, 4)):
        count(truth, truth, Labels(classes=2))
    with refused("no-class", settings={"void": (255,), "gt_map": "255=LABEL"}, labels=(255,)):
        count(truth, truth, Labels(classes=5, void=()))
    field = truth < 2
    assert count(truth, truth, Labels(classes=2), field).pixels == 4


@pytest.mark.parametrize(
    ("truth", "predicted", "kind", "path", "values"),
    [
        ([0, 1, 2], [0, 1, 1], "several-values", "ground_truth", (0, 1, 2)),
        ([0, 1, 1], [0, 1, 2], "several-values", "prediction", (0, 1, 2)),
        ([0, 1, 1], [0.5, 1, 0.2], "several-values", "prediction", (0.2, 0.5, 1)),
        ([0, 1, math.nan], [0, 1, 1], "not-a-number", "ground_truth", None),
        ([0, 1, 1], [0, 1, math.nan], "not-a-number", "prediction", None),
    ],
)
def test_what_is_no_mask_is_refused(truth, predicted, kind, path, values):
    with refused(kind, DataError, path=path, values=values):
        count(truth, predicted, "labels")


def test_what_is_no_label_map_is_refused():
    with refused("not-whole", DataError, path="prediction"):
        count([0, 1], [0.25, 1], Labels(classes=2))
    with refused("not-a-number", DataError, path="ground_truth", nan=1):
        count([0, math.nan], [0, 1], Labels(classes=2))
    with refused("far-apart", DataError, path="prediction", lowest=0, highest=10**6):
        count([0, 1], [0, 10**6], Labels(classes=2))
    with refused("other-size", DataError, path="prediction", shape=(3,), expected=(2,)):
        count([0, 1], [0, 1, 1], Labels(classes=2))


def test_masks_of_any_two_values():
    truth, predicted = label_map("0011 0011"), label_map("0110 0010")
    expected = count(truth, predicted, "labels")
    assert count(truth * 255, predicted, Labels(positive=255)) == expected
    assert count(truth.astype(bool), predicted * 128, "labels") == expected
    assert count(truth * 200 + 20, predicted * 200 + 20, Labels(positive=">=128")) == expected
    assert count(truth, np.stack([1 - predicted, predicted]).astype(float), "labels") == expected
    ones = np.full((2, 2), 255, np.uint8)
    assert count(ones, ones, Labels(positive=255)).matrix.tolist() == [[0, 0, 0], [0, 4, 0]]
    void = count(np.where(predicted, 7, truth), predicted, Labels(void=[7]))
    assert (void.ignored, void.pixels) == (3, 5)


def test_which_value_is_positive_is_settled_over_the_set():
    full, half = np.full((2, 2), 200, np.uint8), np.array([[0, 200], [0, 200]], np.uint8)
    result = segbench.evaluate({"a": (full, full > 0), "b": (half, full > 0)}, protocol="labels")
    assert result.counts["a"].matrix.tolist() == [[0, 0, 0], [0, 4, 0]]
    assert result.summary["iou"] == pytest.approx(6 / 8)


def test_undefined_metrics_say_why():
    nothing = summary_of({"a": count([0, 0], [0, 0], "labels")})
    assert math.isnan(nothing["iou"])
    assert nothing.undefined["iou"].kind == "no-positives"
    void = summary_of({"a": count([255, 255], [0, 0], Labels(classes=2))})
    assert set(kinds(void.undefined.values())) == {"no-pixels"}
    assert set(void.undefined) == {*SCORES, *POSITIVE}


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes:UserWarning")
@pytest.mark.parametrize(
    ("truth", "predicted", "reasons"),
    [
        ([0, 0], [0, 0], {"precision": "none-predicted", "mcc": "no-positives"}),
        (
            [1, 1],
            [1, 1],
            {"mcc": "no-negatives", "specificity": "no-negatives", "ber": "no-negatives"},
        ),
        ([0, 1], [0, 0], {"precision": "none-predicted", "mcc": "predicted-alike"}),
        ([0, 1], [1, 1], {"mcc": "predicted-alike"}),
        ([0, 1], [5, 5], {"precision": "none-predicted", "mcc": "predicted-alike"}),
        ([0, 0], [0, 1], {"recall": "no-positives", "mcc": "no-positives"}),
    ],
)
def test_reasons_of_two_classes(truth, predicted, reasons):
    summary = summary_of({"a": count(truth, predicted, Labels(classes=2))})
    assert {key: summary.undefined[key].kind for key in reasons} == reasons
    assert all(math.isnan(summary[key]) for key in reasons)
    assert "precision" in reasons or not math.isnan(summary["precision"])


def test_images_without_a_pixel_that_counts_are_named():
    images = {str(k): count(*random_maps(k), Labels(classes=5)) for k in range(3)}
    assert not of_kind(summary_of(images).notes, "left-out")
    images["void"] = count(label_map("vvv"), label_map("012"), Labels(classes=5))
    left_out = {"why": "void everywhere", "number": part_of(1, 4)}
    assert noted(of_kind(summary_of(images).notes, "left-out")) == [("", "left-out", left_out)]


def test_columns_of_images_have_one_name_each():
    for protocol in (Labels(classes=3), Labels(), segbench.Classes(labels=[0, 1])):
        titles = [metric.name_for_images for metric in protocol.metrics() if metric.image_key]
        assert len(titles) == len(set(titles))


def test_settings_are_checked():
    assert Labels(classes=3) == Labels(classes=[0, 1, 2]) == Labels(classes="0-2")
    assert Labels(classes="road=0,car=13").names == ("road", "car")
    assert Labels(classes=256).void == ()
    for wrong, kind, values in (
        ({"classes": [0, 0]}, "unfit-classes", {"role": "label", "values": "0"}),
        ({"classes": 2, "void": [1]}, "unfit-classes", {"labels": "1"}),
        ({"classes": 2, "names": ["a"]}, "unfit-classes", {"labels": 2, "names": 1}),
        ({"classes": 0}, "wrong-value", {"argument": "classes", "value": "0"}),
        ({"names": ["a"]}, "no-classes", {}),
        ({"classes": 2, "positive": 1}, "no-meaning", {}),
        ({"positive": "x"}, "wrong-rule", {}),
        ({"classes": [0, 1], "names": ["a|b", "c"]}, "unfit-classes", {"name": "a|b"}),
        ({"gt_map": 3}, "wrong-remapping", {"name": "gt_map", "given": "3"}),
    ):
        with refused(kind, ArgumentError, **values):
            Labels(**wrong)


@pytest.mark.parametrize("classes", [4097, 10**30, range(10**30), "0-4096", "0-999999999", "0-3000,4000-8000"])
@pytest.mark.parametrize("protocol", [Labels, segbench.Contours, partial(segbench.Objects, kind="panoptic")])
def test_more_classes_than_can_be_counted_are_refused_first(protocol, classes):
    with refused("too-many-classes", ArgumentError, most=4096):
        protocol(classes=classes)


def test_as_many_classes_as_can_be_counted():
    matrix = count([0, 4095], [4095, 4095], Labels(classes=4096)).matrix
    assert (matrix.sum(), matrix[0, 4095], matrix[4095, 4095]) == (2, 1, 1)


def test_a_remapping_of_more_values_than_maps_hold_is_refused_first():
    with refused("wrong-remapping", ArgumentError, most=65536, label="7"):
        Labels(classes=3, gt_map="3-999999999=7")


def test_counts_are_checked_and_survive_packing():
    counts = count(*random_maps(0), Labels(classes=5))
    assert decode(encode(counts)) == counts
    assert decode(encode(counts)).matrix.shape == (5, 6)
    with refused("other-size", ArgumentError, shape=(2, 2), expected=(2, 3)):
        LabelCounts("0-1", [[1, 2], [3, 4]])
    with refused("counted-otherwise", ArgumentError, name="classes", ours="0-4", theirs="0-5"):
        counts + count(*random_maps(0, 3), Labels(classes=6))
    with refused("negative", ArgumentError, argument="matrix", value=-1):
        LabelCounts("0", [[-1, 0]])


def test_inputs_are_not_modified():
    truth, predicted = random_maps(0)
    kept = truth.copy(), predicted.copy()
    truth.flags.writeable = predicted.flags.writeable = False
    Labels(classes=5, gt_map="0=1", pred_map="*=2").count(Sample("a", (truth,), (predicted,), truth > 1))
    assert np.array_equal(truth, kept[0])
    assert np.array_equal(predicted, kept[1])


def test_each_class_against_all_others():
    images = {str(k): random_maps(k, void=k > 0) for k in range(3)}
    result = segbench.evaluate(images, protocol=Labels(classes=5, names="abcde"))
    pooled = result.pooled.matrix
    for place, (name, of_class) in enumerate(result.parts("class").items()):
        tp, fn = pooled[place, place], pooled[place].sum() - pooled[place, place]
        fp = pooled[:, place].sum() - tp
        assert of_class.summary["iou"] == pytest.approx(tp / (tp + fp + fn), abs=1e-15)
        assert of_class.summary["recall"] == pytest.approx(tp / (tp + fn), abs=1e-15)
        assert of_class.summary["pixels"] == result.summary["pixels"]
        assert name == "abcde"[place]
    classes = [one.summary["iou"] for one in result.parts("class").values()]
    assert result.summary["miou"] == pytest.approx(np.nanmean(classes), abs=1e-14)
    means = [one.summary["iou_images"] for one in result.parts("class").values()]
    assert result.summary["miou_classes"] == pytest.approx(np.nanmean(means), abs=1e-9)


def test_results_travel_through_files_workers_and_accumulators(tmp_path):
    images = {f"{k:02}": random_maps(k) for k in range(7)}
    for folder, place in (("gt", 0), ("pred", 1)):
        (tmp_path / folder).mkdir()
        for name, maps in images.items():
            np.save(tmp_path / folder / f"{name}.npy", maps[place])
    protocol = Labels(classes=5)
    file = tmp_path / "r.segbench"
    folders = tmp_path / "gt", tmp_path / "pred"
    result = segbench.evaluate(*folders, protocol, results=file)
    with segbench.process_pool(2) as pool:
        assert dict(segbench.evaluate(*folders, protocol, executor=pool).counts) == dict(result.counts)
    (loaded,) = segbench.load_results(file)
    assert str(dict(loaded.summary)) == str(dict(result.summary))
    assert segbench.evaluate(*folders, protocol, results=file).reused == 7
    halves = []
    for part in ("0[0-3]", "0[4-6]"):
        half = tmp_path / f"{len(halves)}.segbench"
        segbench.evaluate(*folders, protocol, images=[part], results=half)
        halves.append(half)
    segbench.merge_results(halves, tmp_path / "m.segbench")
    (merged,) = segbench.load_results(tmp_path / "m.segbench")
    assert merged.signature == result.signature
    assert str(dict(merged.summary)) == str(dict(result.summary))
    accumulator = segbench.Accumulator(protocol)
    truths, predictions = (np.stack([maps[place] for maps in images.values()]) for place in (0, 1))
    accumulator.update(truths[:3], predictions[:3], names=list(images)[:3])
    accumulator.update(truths[3:], np.eye(5)[predictions[3:]].transpose(0, 3, 1, 2), names=list(images)[3:])
    assert str(dict(accumulator.compute().summary)) == str(dict(result.summary))


def saved(folder, name, image):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


COLOURS = np.array([[0, 0, 0], [128, 0, 0], [0, 128, 0], [224, 224, 192]], np.uint8)
PALETTE = "0,0,0,0,background;128,0,0,1,plane;0,128,0,2,bicycle;224,224,192,255,void"


def as_colours(labels):
    return COLOURS[np.where(labels == 255, 3, labels)]


@pytest.mark.parametrize("form", ["palette", "colours", "rgba", "grey in rgb", "16 bits"])
def test_label_images_of_any_form(form, tmp_path):
    truth, predicted = random_maps(5, 3)
    protocol = Labels(classes=3, palette=PALETTE if form in ("colours", "rgba") else "")
    for folder, labels in (("gt", truth), ("pred", predicted)):
        if form == "palette":
            image = Image.frombytes("P", labels.shape[::-1], labels.tobytes())
            image.putpalette([*COLOURS.reshape(-1).tolist(), *range(200)])
        elif form == "16 bits":
            image = Image.fromarray(labels.astype(np.uint16))
        elif form == "grey in rgb":
            image = Image.fromarray(np.stack([labels] * 3, axis=2))
        else:
            image = Image.fromarray(as_colours(labels))
            image = image.convert("RGBA") if form == "rgba" else image
        saved(tmp_path / folder, "a.png", image)
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", protocol)
    assert not result.failed
    assert result.counts["a"] == count(truth, predicted, Labels(classes=3)) or form in ("colours", "rgba")
    assert np.array_equal(result.counts["a"].matrix, count(truth, predicted, Labels(classes=3)).matrix)


def test_a_palette_names_the_classes(tmp_path):
    file = tmp_path / "palette.csv"
    file.write_text("# PASCAL VOC\n" + PALETTE.replace(";", "\n").replace("0,128,0,2", "0 128 0  2"))
    protocol = Labels(palette=str(file))
    assert protocol.names == ("background", "plane", "bicycle")
    assert protocol == Labels(palette=PALETTE)
    rows = file.read_text()
    for header in ("r,g,b,label,name\n", "# colours\nR, G, B, label\n"):  # as advice names the columns
        file.write_text(header + rows)
        assert Labels(palette=str(file)) == protocol
    assert "palette" in protocol.signature_fields()
    assert Labels(palette={(0, 0, 0): 0, (9, 9, 9): 1}).classes == (0, 1)
    for wrong, kind, values in (
        ("0,0,0", "unreadable", {"expected": "a palette"}),
        ("0,0,0,0;0,0", "wrong-palette", {"row": 2}),
        ("0,0,300,0", "wrong-palette", {"row": 1}),
        ("0,0,0,0;0,0,0,1", "wrong-palette", {"colour": "0,0,0"}),
        (str(tmp_path / "none.csv"), "unreadable", {}),
    ):
        with refused(kind, **values):
            Labels(palette=wrong)
    header = tmp_path / "header.csv"
    header.write_text("red,green,blue,id,name\n0,0,0,0,road\n", encoding="utf-8")
    with refused("wrong-palette", ArgumentError, row=1, text="red,green,blue,id,name"):
        Labels(palette=str(header))


def test_colours_without_meaning_are_listed(tmp_path):
    truth, predicted = random_maps(5, 3)
    saved(tmp_path / "gt", "a.png", Image.fromarray(as_colours(truth)))
    saved(tmp_path / "pred", "a.png", Image.fromarray(as_colours(predicted) + 1))
    folders = tmp_path / "gt", tmp_path / "pred"
    unknown = failure(*folders, Labels(palette=PALETTE))
    assert (unknown.kind, unknown.values["colours"].startswith("1,1,1")) == ("unknown-colours", True)
    assert unknown.hint.kind == "fix"
    coloured = failure(*folders, Labels(classes=3))
    assert (coloured.kind, coloured.settings) == ("in-colour", (Setting("palette", metavar="FILE"),))


def test_labels_in_three_channels_are_refused_beside_a_palette(tmp_path):
    truth, predicted = random_maps(5, 3)
    saved(tmp_path / "gt", "a.png", Image.fromarray(as_colours(truth)))
    saved(tmp_path / "pred", "a.png", Image.fromarray(np.stack([predicted] * 3, axis=2)))
    found = failure(tmp_path / "gt", tmp_path / "pred", Labels(palette=PALETTE))
    assert (found.kind, found.hint.values["part1"].kind) == ("unknown-colours", "one-channel")


def failure(*arguments, **options):
    with pytest.warns(segbench.FailedImages):
        (reason,) = segbench.evaluate(*arguments, **options).failed.values()
    return reason


def test_predictions_of_another_size_are_refused_or_resized_by_nearest_neighbour(tmp_path):
    truth, predicted = (maps[:16, :20] for maps in random_maps(5, 3))
    large = np.kron(predicted, np.ones((2, 2), np.uint8))
    saved(tmp_path / "gt", "a.png", Image.fromarray(truth))
    saved(tmp_path / "pred", "a.png", Image.fromarray(large))
    protocol = Labels(classes=3)
    folders = tmp_path / "gt", tmp_path / "pred"
    nearest = Setting("resize", "nearest", of="Repairs")
    assert failure(*folders, protocol).settings == (nearest,)
    saved(tmp_path / "short", "a.png", Image.fromarray(predicted[:-1]))
    near = failure(folders[0], tmp_path / "short", protocol)
    assert set(near.settings) == {Setting("crop", value=True, of="Repairs"), nearest}
    resized = segbench.evaluate(*folders, protocol, repairs=segbench.Repairs(resize="nearest"))
    assert resized.counts["a"] == count(truth, predicted, Labels(classes=3))
    for wrong in ({"resize": "bilinear"}, {"scale": 255}):
        with refused("unfit-repairs", ArgumentError):
            segbench.evaluate(*folders, protocol, repairs=segbench.Repairs(**wrong))


def test_pictures(tmp_path):
    import matplotlib.pyplot as plt

    for k in range(3):
        truth, predicted = random_maps(k, 3)
        saved(tmp_path / "gt", f"{k}.png", Image.fromarray(truth))
        saved(tmp_path / "pred", f"{k}.png", Image.fromarray(predicted))
        saved(tmp_path / "masks", f"{k}.png", Image.fromarray((truth == 1).astype(np.uint8)))
        saved(tmp_path / "hard", f"{k}.png", Image.fromarray(np.uint8(255) * (predicted == 1)))
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", Labels(classes=3, names=["a", "$b", "c"]))
    ax = segbench.plot_confusion(result)
    assert len(ax.get_yticks()) == len(ax.get_xticks()) == 3
    bars = segbench.plot_classes([result, result], level=0.9, replicates=20)
    assert len(bars.patches) == 6
    plt.close("all")
    with refused("unknown-metric", ArgumentError, metric="f"):
        segbench.plot_classes(result, metric="f")
    masks = segbench.evaluate(tmp_path / "masks", tmp_path / "hard", "labels")
    with refused("other-classes", ArgumentError, found="pred has a, $b, c; hard has none"):
        segbench.plot_classes([result, masks])
    assert segbench.export_overlays([result, masks], tmp_path / "overlays") == []
    truth, predicted = random_maps(1, 3)
    with Image.open(tmp_path / "overlays/pred/1.png") as drawn:
        states = np.asarray(drawn)
    errors = np.where(truth == 255, State.IGNORED, np.where(truth == predicted, State.NOTHING, State.FALSE))
    assert np.array_equal(np.where(states == BETWEEN, State.IGNORED, states), errors)
    with Image.open(tmp_path / "overlays/hard/1.png") as drawn:
        assert np.array_equal(np.asarray(drawn) == 3, (truth == 1) & (predicted != 1))
    with refused("no-parts", DataError, path="hard") as raised:
        segbench.export_overlays([result, masks], tmp_path / "none", classes=True)
    assert raised.value.hint.values["given"] == segbench.Setting("classes", value=True)
    assert not (tmp_path / "none").exists()
    segbench.export_report([result, masks], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert f"<small>mIoU {number(result.per_image['1']['miou'])}</small></a>" in page
    assert f"<small>IoU {number(masks.per_image['1']['iou'])}</small></a>" in page


def test_names_and_intervals_of_many_classes_fit_into_a_low_plot():
    from matplotlib.figure import Figure

    names = [f"class {k}" for k in range(19)]
    pairs = {str(k): random_maps(k, 19) for k in range(6)}
    result = segbench.evaluate(pairs, protocol=Labels(classes=19, names=names))
    figure = Figure(figsize=(7, 3), layout="constrained")
    ax = segbench.plot_classes([result] * 3, level=0.9, ax=figure.subplots())
    figure.draw_without_rendering()
    extents = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(not one.overlaps(other) for one, other in pairwise(extents))
    bar = ax.patches[0].get_window_extent().height * 72 / figure.dpi
    assert all(width < bar / 2 for line in ax.collections for width in np.ravel(line.get_linewidth()))


def test_pictures_of_classes_are_side_by_side_with_the_metric_of_the_image(tmp_path):
    truth, predicted = np.zeros((2, 40, 60), np.uint8)
    truth[:, 30:] = predicted[:, 20:] = 1
    truth[-1, :5] = 255
    saved(tmp_path / "gt", "a.png", Image.fromarray(truth))
    saved(tmp_path / "pred", "a.png", Image.fromarray(predicted))
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", Labels(classes=2))
    assert segbench.export_overlays([result], tmp_path / "out", classes=True) == []
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["pred"]
    with Image.open(tmp_path / "out/pred/a.png") as drawn:
        bottom = drawn.convert("RGB").crop((0, drawn.height - 1, *drawn.size)).tobytes()
        metric = number(result.per_image["a"]["miou"])
        assert drawn.info["Description"] == f"ground truth | prediction | errors, mIoU {metric}"
    zero, one, right, wrong = map(bytes.fromhex, (*(c[1:] for c in class_colours(2)), "ffffff", FALSE_POSITIVE[1:]))
    parts = (zero * 25 + one * 30, zero * 20 + one * 40, right * 15 + wrong * 10 + right * 30)
    places = [bottom.find(part) for part in parts]
    assert -1 < places[0] < places[1] < places[2]
    hatching = {bottom[k : k + 3].hex() for k in range(places[0] - 15, places[0], 3)}
    assert hatching <= {GUIDE[1:].lower(), STATE_COLOURS["between"][1:].lower()}


def test_check_finds_what_cannot_be_counted(tmp_path):
    for k in range(3):
        truth, predicted = random_maps(k, 4)
        saved(tmp_path / "gt", f"{k}.png", Image.fromarray(np.full_like(truth, 255) if k == 2 else truth))
        saved(tmp_path / "pred", f"{k}.png", Image.fromarray(predicted))
        saved(tmp_path / "copy", f"{k}.tif", Image.fromarray(truth))
    folders = tmp_path / "gt", tmp_path / "pred"
    findings = {one.kind: one for one in segbench.check(*folders, Labels(classes=4)).findings}
    assert findings.keys() == {"all-void"}
    assert findings["all-void"].message.values == {"count": 1, "total": 3}
    soft = {one.kind: one for one in segbench.check(*folders).findings}
    assert [str(place.detail) for place in soft["label-map"].places] == [
        "values 0..3",
        "values 0..3",
        "void everywhere",
    ]
    assert [Path(place.file).name for place in findings["all-void"].places] == ["2.png"]
    report = segbench.check(*folders, Labels(classes=1))
    assert report.errors
    (finding,) = of_kind(report.findings, "not-countable")
    assert finding.message.values["errors"] == ("no-class",)
    assert "gt_map" in [advised.name for advised in finding.settings]
    masks, predicted = segbench.check(*folders, "labels").errors
    assert (masks.side, predicted.side) == ("ground truth", "prediction")
    assert Setting("classes", "0-3") in masks.settings
    for k in range(3):
        truth, predicted = random_maps(k, 4)
        for kind, values in (("coloured-gt", truth), ("coloured", predicted)):
            channels = np.stack([values * 60, 255 - values, values ^ 7], axis=-1).astype(np.uint8)
            saved(tmp_path / kind, f"{k}.png", Image.fromarray(channels))
        saved(tmp_path / "mask-gt", f"{k}.png", Image.fromarray(np.uint8(255) * (truth == 1)))
        saved(tmp_path / "mask", f"{k}.png", Image.fromarray(np.uint8(255) * (predicted == 1)))
    by_colour = {one.kind: one.fix for one in segbench.check(tmp_path / "coloured-gt", tmp_path / "coloured").findings}
    assert by_colour["label-map"].values["labels"].python == "Labels(palette=FILE)"
    of_masks = {one.kind: one.fix for one in segbench.check(tmp_path / "mask-gt", tmp_path / "mask").findings}
    assert of_masks["few-levels"].values["labels"].values["labels"].python == "Labels()"
    copies = {one.kind: one for one in segbench.check(tmp_path / "gt", tmp_path / "copy", Labels(classes=4)).findings}
    assert copies["identical"].side == "prediction"


def test_labels_in_a_loop_are_no_levels():
    accumulator = segbench.Accumulator(Labels(classes=3))
    accumulator.update(np.zeros((1, 2, 2), np.int64), np.ones((1, 2, 2), np.int64), names=["a"])
    assert accumulator.compute().notes == ()


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
def test_labels_that_count_from_one(tmp_path):
    """Five classes stored as 1 to 5 on one side or on both, where 0 to 4 are expected; 255 is void."""
    rng = np.random.default_rng(0)
    for k in range(2):
        truth = np.kron(rng.permutation(6).reshape(2, 3), np.ones((4, 4))).astype(np.uint8)
        predicted = np.roll(truth % 5, 1, axis=1)
        saved(tmp_path / "gt", f"{k}.png", Image.fromarray(np.where(truth == 5, 255, truth)))
        saved(tmp_path / "gt1", f"{k}.png", Image.fromarray(np.where(truth == 5, 255, truth + 1)))
        saved(tmp_path / "pred", f"{k}.png", Image.fromarray(predicted))
        saved(tmp_path / "pred1", f"{k}.png", Image.fromarray(predicted + 1))

    def found(gt, pred, **options):
        report = segbench.check(tmp_path / gt, tmp_path / pred, Labels(classes=5, **options))
        return {one.kind: one for one in report.findings}

    remap = {"gt_map": "1-5=0-4"}, {"pred_map": "1-5=0-4"}
    assert found("gt", "pred") == found("gt1", "pred1", **remap[0], **remap[1]) == {}
    truths = found("gt1", "pred1")["not-countable"]
    remaps = Setting("gt_map", "1-5=0-4"), Setting("pred_map", "1-5=0-4")
    from_one, *_, more = truths.alternatives
    assert (from_one, more) == ((Setting("classes", "1-5"),), (Setting("classes", "0-5"),))
    assert truths.settings[1:3] == remaps
    assert truths.message.values["errors"] == ("no-class",)
    predictions = found("gt", "pred1")["renumbered"]
    assert predictions.severity == "warning"
    assert predictions.settings == remaps[1:]
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred1", Labels(classes=5))
    assert result.summary.notes[-1].message.settings == remaps[1:]
    with pytest.warns(segbench.FailedImages):
        failed = segbench.evaluate(tmp_path / "gt1", tmp_path / "pred1", Labels(classes=5)).failed
    assert {failure.kind for failure in failed.values()} == {"no-class"}
    assert {failure.settings[0] for failure in failed.values()} == {Setting("classes", "1-5")}


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
def test_other_labels_outside_the_classes():
    truth = np.array([[0, 1], [2, 2]])
    notes = segbench.evaluate({"a": (truth, [[0, 1], [9, 9]])}, protocol=Labels(classes=3)).summary.notes
    assert noted(notes) == [("", "outside-classes", {"pixels": 2, "predicted": "pixels are"})]
    advised = {"classes": "0-2,9,256", "gt_map": "9=LABEL", "background": "9,256"}
    with refused("no-class", DataError, path="labels of 'a'", settings=advised, labels=(9, 256)):
        segbench.Accumulator(Labels(classes=3)).update(np.array([[0, 256], [2, 9]]), truth, name="a")


def test_masks_have_no_classes_and_the_remedy_is_said(tmp_path):
    for k in range(2):
        mask = np.eye(4, dtype=np.uint8) * 255
        saved(tmp_path / "gt", f"{k}.png", Image.fromarray(mask))
        saved(tmp_path / "pred", f"{k}.png", Image.fromarray(mask))
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", "labels")
    from segbench.report.tables import part_rows

    with refused("no-parts", ArgumentError, protocols=("labels",), parts="classes"):
        part_rows([result], "class")


def test_a_report_of_more_classes_than_a_picture_holds_says_so(tmp_path):
    many = np.arange(72, dtype=np.uint16).reshape(8, 9) * 4
    for folder in ("gt", "pred"):
        saved(tmp_path / folder, "a.png", Image.fromarray(many))
    for most, fits in ((253, True), (254, False)):
        gt_map = f"{most}-299=0"
        protocol = Labels(classes=most, void=(), gt_map=gt_map, pred_map=gt_map)
        result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", protocol)
        segbench.export_report([result], tmp_path / "report.html")
        written = (tmp_path / "report.html").read_text("utf-8")
        assert (f"{most} classes, expected at most 253" in written) is not fits


def test_a_bound_reads_every_prediction_alike():
    mask = np.array([[0, 255, 255, 0]])

    def matrix(found):
        return segbench.count(mask, np.array([found]), segbench.Labels(positive=">=128")).matrix.tolist()

    assert matrix([0, 20, 20, 0]) == [[2, 0, 0], [2, 0, 0]]
    assert matrix([0, 20, 20, 200]) == [[1, 1, 0], [2, 0, 0]]
    assert matrix([0, 1, 1, 0]) == [[2, 0, 0], [0, 2, 0]]


def test_means_of_positives_say_how_many_images_they_leave_out():
    mask, blank = np.array([[0, 1]]), np.array([[0, 0]])
    pairs = {"a": (mask, mask), "b": (blank, mask), "c": (mask, mask), "d": (blank, blank), "e": (mask, blank)}
    notes = segbench.evaluate(pairs, protocol=segbench.Labels()).summary.notes
    left_out = {"why": "without positive pixels", "number": part_of(2, 5)}
    assert noted(of_kind(notes, "left-out")) == [("", "left-out", left_out)]


class TestMasksCountedAsClasses:
    """Of masks of 0 and 255, the default void leaves out all that is to be found."""

    MASK = np.eye(8, dtype=np.uint8) * 255
    REFUSED = partial(refused, "one-class", DataError, path="ground truth", label=0, void=(255,), where="the whole set")

    @pytest.fixture
    def places(self, tmp_path):
        return [write_folder(tmp_path / name, {"a.npy": self.MASK, "b.npy": self.MASK.T}) for name in ("gt", "pred")]

    @pytest.mark.parametrize("protocol", [Labels, segbench.Contours])
    def test_files(self, protocol, places):
        with self.REFUSED(settings={"gt_map": "255=1", "pred_map": "255=1"}):
            segbench.evaluate(*places, protocol(classes=2))
        assert segbench.evaluate(*places, protocol(classes=2, gt_map={255: 1}, pred_map={255: 1})).counts
        one = segbench.evaluate(*places, protocol(classes=2), images=["a"])
        assert one.counts, "a part of a set may lack a class"

    @pytest.mark.parametrize("protocol", [Labels, segbench.Contours])
    def test_arrays(self, protocol):
        accumulator = segbench.Accumulator(protocol(classes=2))
        accumulator.update(self.MASK, self.MASK // 255, name="a")
        with self.REFUSED():
            accumulator.compute()
        accumulator.update(self.MASK // 255, self.MASK // 255, name="b")
        assert accumulator.compute().summary, "beside an image of both classes, one may hold a single class and void"

    def test_one_image_may_hold_one_class_and_void(self):
        for protocol in (Labels, segbench.Contours):
            assert segbench.count(self.MASK, self.MASK, protocol(classes=2))

    @pytest.mark.parametrize("protocol", [Labels, segbench.Contours])
    def test_check(self, protocol, places):
        findings = {finding.kind: finding for finding in segbench.check(*places, protocol(classes=2)).findings}
        refusal = findings["not-countable"]
        assert (refusal.side, refusal.message.values["error"]) == ("ground truth", "one-class")
        assert refusal.settings == (Setting("gt_map", "255=1"), Setting("pred_map", "255=1"))
