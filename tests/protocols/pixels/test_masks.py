"""Two-valued predictions are masks: what is evaluated, and from what that is decided."""

import numpy as np
import pytest
from measured import PIXELS, class_image_summary, class_summary, keys_of, pixel_image_summary, pixel_summary
from noted import noted, of_kind
from refusing import refused
from sklearn.metrics import f1_score, jaccard_score

from segbench import Accumulator, ClassCounts, Pixels, ScoreCounts, auc_pr, compare, count, curve_band, intervals
from segbench.curves.curve import pr_curve

NEED_A_RANKING = [
    "auc_roc",
    "auc_pr",
    "auc_pr_achievable",
    "average_precision",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "fpr_at_95_tpr",
]
FORMS = {
    "bool": lambda mask: mask,
    "0 and 255": lambda mask: mask.astype(np.uint8) * 255,
    "0 and 1 in 8 bits": lambda mask: mask.astype(np.uint8),
    "floats": lambda mask: mask.astype(np.float32),
    "any two floats": lambda mask: np.where(mask, -1.5, -7.25),
    "integers": lambda mask: mask.astype(np.int64),
}


def random_masks(images=6, seed=0):
    """Return truths and masks of some images; the first mask is empty, and the last image has nothing to find."""
    rng = np.random.default_rng(seed)
    truths = [rng.random((9, 11)) < 0.7 for _ in range(images)]
    masks = [truth & (rng.random((9, 11)) < 0.4) for truth in truths]
    masks[0][:] = False
    truths[-1][:] = False
    masks[-1][0, :4] = True
    return truths, masks


def counted(truths, predictions, **options):
    pairs = zip(truths, predictions, strict=True)
    return {str(k): count(truth, scores, Pixels(**options)) for k, (truth, scores) in enumerate(pairs)}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_masks_have_the_values_of_the_mask_and_no_areas(form):
    truths, masks = random_masks()
    summary = pixel_summary(counted(truths, map(form, masks)))
    truth, mask = np.concatenate(truths).ravel(), np.concatenate(masks).ravel()
    assert summary["ods_f"] == pytest.approx(f1_score(truth, mask))
    assert summary["iou"] == pytest.approx(jaccard_score(truth, mask))
    assert summary["ods_precision"] == (truth & mask).sum() / mask.sum()
    assert summary["ods_recall"] == (truth & mask).sum() / truth.sum()
    assert {summary.undefined[key].kind for key in NEED_A_RANKING} == {"two-valued"}
    assert np.isnan([summary[key] for key in NEED_A_RANKING]).all()
    assert set(summary.undefined) == set(NEED_A_RANKING)
    # An empty mask has F 0 where there is something to find; an image without positives has no F.
    each = [f1_score(t.ravel(), m.ravel()) for t, m in zip(truths[:-1], masks[:-1], strict=True)]
    assert each[0] == 0
    assert summary["mean_image_f"] == pytest.approx(np.mean(each))
    assert summary.notes[0].kind == "at-the-mask"


def test_calling_everything_positive_is_no_choice_that_masks_have():
    truth = np.arange(10) < 7
    summary = pixel_summary({"a": count(truth, np.arange(10) < 3)})
    assert summary["ods_f"] == 6 / 10  # and 14 / 17 with every pixel
    assert (summary["ods_threshold"], summary["iou"]) == (1, 3 / 7)


def test_soft_maps_have_the_iou_of_their_best_f():
    truths, _ = random_masks()
    rng = np.random.default_rng(3)
    images = counted(truths, [np.round(rng.random(truth.shape) + truth, 1) for truth in truths])
    summary = pixel_summary(images)
    assert summary["iou"] == pytest.approx(summary["ods_f"] / (2 - summary["ods_f"]))
    assert intervals(images, replicates=20).estimates["iou"] == pytest.approx(summary["iou"], rel=1e-12)


def test_soft_maps_that_do_best_by_calling_everything_positive_say_so():
    truth, scores = np.arange(10) < 8, np.arange(10) % 5
    assert noted(pixel_summary({"a": count(truth, scores)}).notes) == [("", "all-positive", {})]
    assert pixel_summary({"a": count(truth, truth + scores / 10)}).notes == ()
    assert pixel_summary({"a": count(np.ones(10, bool), scores)}).notes == (), "nothing can be wrong"


@pytest.mark.parametrize(
    ("value", "f", "precision"), [(0.0, 0, np.nan), (-3.0, 0, np.nan), (1.0, 2 * 2 / 7, 0.4), (0.2, 2 * 2 / 7, 0.4)]
)
def test_one_value_is_nothing_or_everything(value, f, precision):
    summary = pixel_summary({"a": count([1, 0, 1, 0, 0], np.full(5, value))})
    assert summary["ods_f"] == pytest.approx(f)
    assert summary["ods_precision"] == pytest.approx(precision, nan_ok=True)
    assert np.isfinite(summary["ods_threshold"])
    if np.isnan(precision):
        assert summary.undefined["ods_precision"].kind == "none-predicted"


def test_the_set_decides_and_not_the_image():
    soft = {"a": count([0, 1, 1], [0.1, 0.5, 0.9]), "b": count([0, 1, 1], [0.0, 0.0, 0.0])}
    of_set = ScoreCounts.sum(soft.values())
    assert "auc_pr" not in pixel_summary(soft).undefined
    assert pixel_image_summary(soft["b"], of_set)["f"] == pytest.approx(4 / 5)
    masks = {"a": count([0, 1, 1], np.array([0, 1, 1], bool)), "b": count([0, 1, 1], np.zeros(3, bool))}
    row = pixel_image_summary(masks["b"], ScoreCounts.sum(masks.values()))
    assert (row["f"], row["recall"], row["iou"], row["threshold"]) == (0, 0, 0, 1)
    assert {key: reason.kind for key, reason in row.undefined.items()} == {
        "precision": "none-predicted",
        **dict.fromkeys(("auc_roc", "auc_pr", "average_precision"), "two-valued"),
    }
    assert pixel_image_summary(soft["b"])["f"] == 0, "an image alone is its own set"


def test_counts_alone_are_no_masks():
    point = ScoreCounts.from_points([5], [2], 20, 2000)
    by_hand = ScoreCounts([1, 0], [5, 15], [2, 1998])
    for counts in (point, by_hand, count([0, 1, 1, 0], [0, 1, 0, 0]).at([1.0])):
        assert not counts.two_valued
        assert "auc_pr" not in pixel_image_summary(counts).undefined
    masks = count([0, 1, 1, 0], [0, 1, 0, 0])
    assert (masks.two_valued, (masks + by_hand).two_valued) == (True, False)
    assert auc_pr(masks) == pr_curve(masks).area > 0, "curves of counts are what they were"


def test_values_that_do_not_count_do_not_decide():
    valid = np.array([True, True, True, False])
    assert count([0, 1, 1, 0], [0.0, 1.0, 0.0, np.nan], valid=valid).two_valued
    nothing = count([0, 1], [0.2, 0.7], valid=np.zeros(2, bool))
    assert not nothing.two_valued
    assert (nothing + count([0, 1], [0, 1])).two_valued


def test_masks_on_two_scales_are_soft_maps():
    counts = count([0, 1], np.array([0, 1], np.uint8)) + count([0, 1], np.array([0, 255], np.uint8))
    assert not counts.two_valued


def test_resamples_are_evaluated_at_the_mask_too():
    """A resample of empty masks has F 0, not that of calling everything positive."""
    truths, masks = random_masks()
    images = counted(truths, masks)
    table = PIXELS.table(images)
    weights = np.eye(6)[[0, 1]]
    empty, other = table.measure(weights)[:, keys_of(table).index("ods_f")]
    assert empty == 0
    assert other == pytest.approx(f1_score(truths[1].ravel(), masks[1].ravel()))
    found = intervals(images)
    assert not np.isnan(found["ods_f"]).any()
    assert np.isnan(found["auc_pr"]).all()
    assert np.isnan(curve_band(images, replicates=20).low).all()


def test_masks_of_any_two_values_are_compared():
    truths, masks = random_masks(10)
    worse = [mask & (np.arange(11) % 2 == 0) for mask in masks]
    methods = {
        "0 and 1": counted(truths, map(FORMS["0 and 1 in 8 bits"], masks)),
        "0 and 255": counted(truths, map(FORMS["0 and 255"], masks)),
        "worse": counted(truths, map(FORMS["any two floats"], worse)),
    }
    result = compare(methods, replicates=50)
    rows = {(row.a, row.b): row for row in result.differences if row.metric == "ods_f"}
    same = rows["0 and 1", "0 and 255"]
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    assert rows["0 and 255", "worse"].difference > 0


def test_each_class_decides_for_itself():
    mask, soft = count([0, 1, 1, 0], [0, 1, 0, 0]), count([1, 0, 0, 1], [0.1, 0.2, 0.3, 0.15])
    one = ClassCounts(("cat", "dog"), (mask, soft))
    summary = class_summary({"a": one})
    assert summary["macro_ods_f"] == pytest.approx((2 / 3 + 2 * 2 / 6) / 2)
    assert "macro_auc_pr" not in summary.undefined
    (without,) = of_kind(summary.notes, "undefined-parts")
    assert (without.values["without"], without.values["reason"].kind) == (("cat",), "two-valued")
    (note,) = of_kind(summary.notes, "all-positive")
    assert str(note).startswith("dog: ")
    both = ClassCounts(("cat", "dog"), (mask, count([1, 0, 0, 1], [0, 0, 0, 0])))
    summary = class_summary({"a": both})
    assert summary.undefined["macro_auc_pr"].kind == summary.undefined["micro_auc_pr"].kind == "two-valued"
    assert summary["macro_ods_f"] == pytest.approx((2 / 3 + 0) / 2)
    assert class_image_summary(both)["macro_f"] == pytest.approx((2 / 3 + 0) / 2)


def test_tuning_takes_soft_maps():
    from segbench import DataError, tuned_thresholds

    accumulator = Accumulator()
    accumulator.update([0, 1, 1], [True, True, False], name="mask")
    with refused("two-valued", DataError, path="tuning set"):
        tuned_thresholds(accumulator.compute())


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_tensors_are_masks_as_well(library):
    torch = pytest.importorskip("torch")
    for scores in (torch.tensor([0, 255, 0], dtype=torch.uint8), torch.tensor([0.0, 1.0, 0.0])):
        accumulator = Accumulator(count_on="device" if library == "torch" else "host")
        accumulator.update(torch.tensor([0, 1, 1]), scores, name="a")
        assert accumulator.compute().pooled.two_valued
