import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from measured import class_summary
from noted import noted
from refusing import refused
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, roc_auc_score

from segbench import ArgumentError, ClassCounts, Classes, DataError, Pixels, ScoreCounts
from segbench.core.messages import Setting
from segbench.core.sample import Sample

# 13 pixels count, 3 are void: 4 of class 0, 5 of class 1, 4 of class 2.
TRUTH = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 1, 255], [2, 2, 255, 255]], np.uint8)
FIRST = np.array([[255, 255, 255, 0], [255, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 255]], np.uint8)
SECOND = np.where((TRUTH == 1) | (TRUTH == 255), 255, 0).astype(np.uint8)
THIRD = np.zeros((4, 4), np.uint8)
STACK = np.stack([FIRST, SECOND, THIRD])


def sample(truth, *predictions, **more):
    return Sample("a", (truth,), predictions, **more)


def counted(truth, *predictions, **settings):
    settings = {"labels": range(3)} | settings
    return Classes(**settings).count(sample(truth, *predictions)).counts


def test_a_drawing_counted_by_hand():
    counts = counted(TRUTH, *STACK)
    assert counts.names == ("0", "1", "2")
    assert counts["0"] == ScoreCounts([1, 0], [3, 1], [1, 8], 3)
    assert counts["1"] == ScoreCounts([1, 0], [5, 0], [0, 8], 3)
    assert counts["2"] == ScoreCounts([0], [4], [9], 3)
    assert counts.micro == ScoreCounts([1, 0], [8, 5], [1, 25], 9)
    assert (counts.pixels, counts.ignored) == (13, 3)
    summary = class_summary({"a": counts})
    # Each map is a mask, that of class 2 an empty one.
    assert summary["macro_ods_f"] == pytest.approx(np.mean([6 / 8, 1, 0]))
    assert summary["macro_iou"] == pytest.approx(np.mean([3 / 5, 1, 0]))
    assert summary["micro_ods_f"] == pytest.approx(16 / 22)
    assert summary["micro_iou"] == pytest.approx(8 / 14)
    assert summary.undefined["macro_average_precision"].kind == "two-valued"
    assert summary.undefined["micro_auc_roc"].kind == "two-valued"
    assert (summary["micro_positives"], summary["micro_negatives"]) == (13, 26)


@pytest.mark.parametrize(
    "prediction",
    [
        (STACK,),
        (np.moveaxis(STACK, 0, 2),),
        (np.asfortranarray(STACK),),
        tuple(STACK),
        (STACK.astype(np.uint16) * 257,),
        ((STACK == 255),),
    ],
)
def test_every_form_of_prediction_gives_the_same_counts(prediction):
    assert counted(TRUTH, *prediction) == counted(TRUTH, *STACK)


def test_the_order_of_labels_is_that_of_the_maps():
    turned = counted(TRUTH, STACK[::-1], labels=(2, 1, 0))
    assert turned.names == ("2", "1", "0")
    assert all(turned[name] == counted(TRUTH, STACK)[name] for name in "012")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64])
def test_each_class_agrees_with_an_independent_library(dtype):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, (20, 25)).astype(np.uint8)
    truth[:2] = 255
    stack = rng.random((4, 20, 25)) * 0.6 + 0.4 * (truth == np.arange(4)[:, None, None])
    stack = stack.astype(dtype) if dtype().dtype.kind == "f" else np.rint(stack * np.iinfo(dtype).max).astype(dtype)
    summary = class_summary({"a": counted(truth, stack, labels=range(4))})
    valid = truth != 255
    cases = [(truth[valid] == k, stack[k][valid].astype(np.float64)) for k in range(4)]
    for figure, peer in (("average_precision", average_precision_score), ("auc_roc", roc_auc_score)):
        assert summary[f"macro_{figure}"] == pytest.approx(np.mean([peer(*case) for case in cases]), abs=1e-12)
        every = [np.concatenate(part) for part in zip(*cases, strict=True)]
        assert summary[f"micro_{figure}"] == pytest.approx(peer(*every), abs=1e-12)


def test_fixed_thresholds_and_calibration_agree_with_an_independent_library():
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, (20, 30))
    maps = random.integers(0, 256, (3, 20, 30)).astype(np.uint8)
    protocol = Classes(labels=range(3), at=(0.5,), calibration=True)
    summary = protocol.table({"a": protocol.count(Sample("a", (truth,), (maps,))).counts}).summary()
    labels = [(truth == label).ravel() for label in range(3)]
    scores = (maps / 255).reshape(3, -1)
    brier = [brier_score_loss(one, soft) for one, soft in zip(labels, scores, strict=True)]
    assert summary["macro_brier"] == pytest.approx(np.mean(brier), abs=1e-12)
    assert summary["micro_brier"] == pytest.approx(brier_score_loss(np.ravel(labels), scores.ravel()), abs=1e-12)
    for average in ("macro", "micro"):
        expected = f1_score(np.transpose(labels), scores.T >= 0.5, average=average)
        assert summary[f"{average}_f@0.5"] == pytest.approx(expected, abs=1e-12)


def test_each_class_is_what_pixels_count_of_its_map():
    rng = np.random.default_rng(4)
    truth, stack = rng.integers(0, 6, (9, 8)).astype(np.int32), rng.random((3, 9, 8)).astype(np.float32)
    field = rng.random((9, 8)) < 0.8
    every = Classes(labels=(0, 2, 5), void=(1,), invert=True).count(sample(truth, stack, field=field)).counts
    for k, label in enumerate((0, 2, 5)):
        alone = Pixels(positive=str(label), void=(1,), invert=True).count(sample(truth, stack[k], field=field)).counts
        assert every[str(label)] == alone


LABELS = arrays(np.uint8, (3, 4), elements=st.sampled_from([0, 1, 2, 7, 255]))
STACKS = arrays(np.uint8, (3, 3, 4))


@given(LABELS, STACKS, st.permutations(range(3)))
def test_permuting_labels_permutes_classes(truth, stack, order):
    moved = np.select([truth == k for k in range(3)], order, truth.astype(int)).astype(np.uint8)
    counts, turned = counted(truth, stack), counted(moved, stack[np.argsort(order)])
    assert all(turned[str(order[k])] == counts[str(k)] for k in range(3))


@given(LABELS, STACKS, LABELS, STACKS)
def test_counts_add_like_pixels_side_by_side(truth, stack, other_truth, other_stack):
    one, other = counted(truth, stack), counted(other_truth, other_stack)
    both = counted(np.vstack([truth, other_truth]), np.concatenate([stack, other_stack], axis=1))
    assert one + other == other + one == both
    assert ClassCounts.sum([one, other, one]) == both + one


def test_labels_that_are_no_class_are_negatives_and_said_to_be():
    answer = Classes(labels=(1,), void=()).count(sample(TRUTH, SECOND))
    assert answer.counts["1"].total_negatives == 11
    assert noted(answer.notes) == [("ground truth", "label-not-class", {"label": label}) for label in (0, 2, 255)]
    many = np.arange(16, dtype=np.uint8).reshape(4, 4)
    assert noted(Classes(labels=(1,)).count(sample(many, SECOND)).notes[:1]) == [
        ("ground truth", "labels-not-classes", {"labels": 8})
    ]


def test_negative_labels_can_be_void():
    truth = np.where(TRUTH == 255, -1, TRUTH.astype(np.int64))
    assert counted(truth, STACK, void=(-1,)) == counted(TRUTH, STACK)


@pytest.mark.parametrize(
    ("truth", "predictions", "path", "kind", "values"),
    [
        (TRUTH, (STACK[:2],), "a", "other-size", {"shape": (2, 4, 4), "first": (3, 4, 4), "last": (4, 4, 3)}),
        (TRUTH[:3], (STACK,), "a", "other-size", {"shape": (3, 4, 4), "first": (3, 3, 4), "transposed": ""}),
        (TRUTH[:2], (STACK[:, :, :2],), "a", "other-size", {"transposed": " (it looks transposed)"}),
        (TRUTH[:3, :3], (STACK[:, :3, :3],), "a", "class-axis", {"shape": (3, 3, 3)}),
        (TRUTH + 0.5, (STACK,), "a", "not-whole", {"role": "the ground truth"}),
        (TRUTH, (np.where(STACK > 0, np.nan, 0.5),), "a (class 0)", "not-finite", {"nan": 4, "infinite": 0}),
    ],
)
def test_what_cannot_be_counted_is_refused(truth, predictions, path, kind, values):
    with refused(kind, DataError, path=path, **values):
        counted(truth, *predictions)


@pytest.mark.parametrize(
    ("maps", "kind", "advised", "values"),
    [
        ((FIRST,), "one-map", {"classes": "0-2"}, {"expected": 3}),
        ((FIRST, SECOND), "other-number-of-maps", {}, {"maps": 2, "expected": 3}),
    ],
)
def test_maps_that_are_not_one_per_class_are_refused(maps, kind, advised, values):
    with refused(kind, DataError, settings={"pred_pattern": "class_#/*", **advised}, **values):
        counted(TRUTH, *maps)


def test_nan_in_void_pixels_is_let_be():
    stack = STACK / 255
    stack[:, TRUTH == 255] = np.nan
    assert counted(TRUTH, stack) == counted(TRUTH, STACK)


def test_several_annotators_are_refused():
    with refused("annotators", DataError, number=2, expected="label map"):
        Classes(labels=range(3)).count(Sample("a", (TRUTH, TRUTH), (STACK,)))


@pytest.mark.parametrize(
    ("settings", "kind", "values"),
    [
        ({"labels": []}, "unfit-classes", {"labels": 0, "names": 0}),
        ({"labels": 6}, "wrong-value", {"argument": "labels", "value": "6"}),
        ({"labels": [1, 1]}, "unfit-classes", {"role": "label", "values": "1"}),
        ({"labels": [0, 1], "names": ["a"]}, "unfit-classes", {"labels": 2, "names": 1}),
        ({"labels": [0, 1], "names": ["a", "a"]}, "unfit-classes", {"role": "name", "values": "a"}),
        ({"labels": [0, 255]}, "unfit-classes", {"labels": "255", "void": Setting("void", ())}),
        ({"labels": [0.5]}, "wrong-value", {"argument": Setting("labels", None), "value": "0.5"}),
        ({"labels": [-1]}, "unfit-classes", {"label": -1}),
        ({"labels": [3], "names": ["7"]}, "unfit-classes", {"label": 3, "name": "7"}),
        ({"labels": range(4097)}, "too-many-classes", {"most": 4096}),
        ({"labels": [3], "names": ["a|b"]}, "unfit-classes", {"name": "a|b"}),
        ({"labels": [3], "names": [" "]}, "unfit-classes", {"name": " "}),
    ],
)
def test_settings_are_checked_when_made(settings, kind, values):
    with refused(kind, ArgumentError, **values):
        Classes(**settings)


def test_counts_of_other_classes_do_not_add():
    counts = counted(TRUTH, STACK)
    with refused("other-counts", ArgumentError, classes="0, 1, 2; a, b, c"):
        counts + counted(TRUTH, STACK, labels=range(3), names="abc")
    with refused("inconsistent-counts", ArgumentError, pixels=("(5, 0)", "(6, 0)")):
        ClassCounts(("a", "b"), (ScoreCounts([1], [2], [3]), ScoreCounts([1], [2], [4])))
    with refused("unknown-class", ArgumentError, name="x", classes=("0", "1", "2")):
        counts["x"]
