"""Intervals and tests of the jackknife: against formulas, other libraries, and under changes of the score scale."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import of_kind
from sets import pixel_methods, row_of

import segbench
from segbench import Labels, ScoreCounts, count

NEED_SCORES = ("threshold", "@", "brier", "ece", "mce", "ace")
LEVEL = 0.95


def left_out(images, metric):
    """Pseudo-values of a metric of the summary, image by image."""
    images = dict(sorted(images.items()))
    measure = segbench.Pixels().table
    whole = measure(images).summary()[metric]
    without = [
        measure({name: counts for name, counts in images.items() if name != image}).summary()[metric]
        for image in images
    ]
    return whole, len(images) * whole - (len(images) - 1) * np.array(without)


@pytest.mark.parametrize("metric", ["ods_f", "ois_f", "auc_roc", "auc_pr_achievable", "average_precision"])
def test_own_intervals_are_those_of_the_rule(metric):
    (images,) = pixel_methods(9, gaps=(0,)).values()
    estimate, pseudo = left_out(images, metric)
    weights = np.array([images[name].total_positives for name in sorted(images)], float)
    off = pseudo - pseudo.mean()
    kurtosis = (off**4).mean() / (off**2).mean() ** 2
    e = weights.sum() ** 2 / (weights**2).sum()
    freedom = np.clip(min(e - 1, 2 * 9 / (kurtosis - 1)), 2, 8)
    reach = scipy.stats.t.ppf(0.975, freedom) * scipy.stats.sem(pseudo) / (estimate * (1 - estimate))
    at = math.log(estimate / (1 - estimate))
    expected = [1 / (1 + math.exp(-(at + end))) for end in (-reach, reach)]
    found = segbench.intervals(images)
    assert found[metric] == pytest.approx(tuple(expected), abs=1e-12)
    assert found.freedom[metric] == pytest.approx(freedom, rel=1e-9)


def labels_of_two_classes():
    rng = np.random.default_rng(3)
    truths = [rng.integers(0, 2, (12, 12)) for _ in range(9)]
    return {
        str(k): count(truth, np.where(rng.random(truth.shape) < 0.6 + 0.03 * k, truth, 1 - truth), Labels(classes=2))
        for k, truth in enumerate(truths)
    }


@pytest.mark.parametrize("metric", ["kappa", "mcc"])
def test_intervals_of_other_ranges_are_those_of_t(metric):
    found = segbench.intervals(labels_of_two_classes())
    reach = scipy.stats.t.ppf(0.975, found.freedom[metric]) * found.standard_errors[metric]
    expected = found.estimates[metric] - reach, found.estimates[metric] + reach
    assert found[metric] == pytest.approx(expected, abs=1e-12)


def test_intervals_of_other_ranges_end_where_these_do():
    images = dict(list(labels_of_two_classes().items())[:2])
    assert segbench.intervals(images, level=0.9999)["kappa"] == (-1, 1)


@pytest.mark.parametrize("metric", ["ods_f", "auc_roc", "average_precision"])
def test_differences_are_those_of_the_rule(metric):
    a, b = pixel_methods(11).values()
    (one, pseudo), (other, pseudo_b) = left_out(a, metric), left_out(b, metric)
    weights = np.array([a[name].total_positives for name in sorted(a)], float)
    freedom = np.clip(weights.sum() ** 2 / (weights**2).sum() - 1, 2, 10)
    error = scipy.stats.sem(pseudo - pseudo_b)
    reach = scipy.stats.t.ppf(0.975, freedom) * error
    found = row_of(segbench.compare({"a": a, "b": b}), metric)
    assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(one - other) / error, freedom), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((one - other - reach, one - other + reach), abs=1e-12)


def means_over_images():
    """Counts of two methods, and a metric that is a mean over images with its key for single images."""
    rng = np.random.default_rng(0)
    truths = [rng.integers(0, 3, (12, 12)) for _ in range(8)]
    maps = [rng.random((16, 16)) < 0.3 for _ in range(8)]
    labels = [
        {
            str(k): count(truth, np.where(rng.random(truth.shape) < right, truth, 0), Labels(classes=3))
            for k, truth in enumerate(truths)
        }
        for right in (0.8, 0.7)
    ]
    saliency = [
        {
            str(k): count(one, np.clip(one * 0.5 + rng.random(one.shape) * noise, 0, 1), "saliency")
            for k, one in enumerate(maps)
        }
        for noise in (0.4, 0.5)
    ]
    pixels = list(pixel_methods(8).values())
    return {
        "mean_image_f": (segbench.Pixels(), pixels, "f"),
        "mae": (segbench.Saliency(), saliency, "mae"),
        "s_measure": (segbench.Saliency(), saliency, "s_measure"),
        "miou_images": (segbench.Labels(classes=3), labels, "miou_of_truth"),
    }


@pytest.mark.parametrize("key", ["mean_image_f", "mae", "s_measure", "miou_images"])
class TestMeansOverImages:
    def values(self, key):
        protocol, methods, of_image = means_over_images()[key]
        each = [
            np.array([protocol.table({"": counts}).image_summary()[of_image] for counts in images.values()])
            for images in methods
        ]
        return protocol, dict(zip("ab", methods, strict=True)), each

    def test_a_difference_is_the_paired_t_test(self, key):
        protocol, methods, (one, other) = self.values(key)
        expected = scipy.stats.ttest_rel(one, other)
        found = row_of(segbench.compare(methods, protocol=protocol), key)
        assert found.difference == pytest.approx(np.mean(one) - np.mean(other), abs=1e-12)
        assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
        assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(LEVEL)), abs=1e-12)

    def test_the_standard_error_is_that_of_the_mean(self, key):
        protocol, methods, (one, _) = self.values(key)
        found = segbench.intervals(protocol.table(methods["a"]))
        assert found.standard_errors[key] == pytest.approx(scipy.stats.sem(one), abs=1e-12)


def placements(positives, negatives):
    """Share of negatives below each positive and of positives above each negative; equals count half."""
    psi = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    return psi.mean(axis=1), psi.mean(axis=0)


def test_of_images_of_one_pixel_the_variance_of_the_auc_is_nearly_delong_s():
    rng = np.random.default_rng(0)
    labels = rng.random(60) < 0.4
    scores = rng.normal(labels, 1).round(1)
    images = {
        str(k): segbench.count([label], [score]) for k, (label, score) in enumerate(zip(labels, scores, strict=True))
    }
    above, below = placements(scores[labels], scores[~labels])
    m, n = labels.sum(), (~labels).sum()
    expected = (59 / 60) * (above.var(ddof=1) * 1 / (m - 1) + below.var(ddof=1) / (n - 1))
    found = segbench.intervals(images).standard_errors["auc_roc"]
    assert found**2 == pytest.approx(expected, abs=1e-12)


def test_of_many_images_the_variance_of_the_auc_is_nearly_obuchowski_s():
    rng = np.random.default_rng(1)
    sets = []
    for _ in range(100):
        ease = rng.normal(1, 0.4)
        sets.append(
            (rng.normal(ease, 1, rng.integers(20, 40)).round(2), rng.normal(0, 1, rng.integers(40, 90)).round(2))
        )
    positives, negatives = (np.concatenate(part) for part in zip(*sets, strict=True))
    above, below = placements(positives, negatives)
    auc, m, n, count = above.mean(), positives.size, negatives.size, len(sets)
    starts = [np.cumsum([0, *(part.size for part in parts[:-1])]) for parts in zip(*sets, strict=True)]
    sums = [np.add.reduceat(part, start) for part, start in zip((above, below), starts, strict=True)]
    off = [total - auc * np.array([each[k].size for each in sets]) for k, total in enumerate(sums)]
    scale = count / (count - 1)
    expected = scale * ((off[0] ** 2).sum() / m**2 + (off[1] ** 2).sum() / n**2 + 2 * (off[0] * off[1]).sum() / (m * n))
    images = {
        str(k): segbench.count(np.repeat([1, 0], [p.size, q.size]), np.concatenate([p, q]))
        for k, (p, q) in enumerate(sets)
    }
    found = segbench.intervals(images).standard_errors["auc_roc"] ** 2
    assert found == pytest.approx(expected, rel=0.03)


ORDERS = {
    "a tenth": lambda scores: scores * 0.1,
    "cubed": lambda scores: scores**3,
    "ranks": lambda scores: np.unique(scores, return_inverse=True)[1].astype(np.float64),
}


@pytest.mark.parametrize("change", ORDERS)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 14))
def test_the_scale_of_scores_changes_no_interval_and_no_p_value(change, seed, images):
    methods = pixel_methods(images, seed=seed)
    every = np.unique(np.concatenate([counts.scores for counts in methods["b"].values()]))
    scale = dict(zip(every, ORDERS[change](every), strict=True))
    changed = {
        name: ScoreCounts([scale[score] for score in counts.scores], counts.positives, counts.negatives)
        for name, counts in methods["b"].items()
    }
    stored = segbench.compare(methods, replicates=50)
    scaled = segbench.compare({"a": methods["a"], "b": changed}, replicates=50)
    for one, other in zip(stored.differences, scaled.differences, strict=True):
        assert (one.low, one.high, one.p_value) == pytest.approx(
            (other.low, other.high, other.p_value), abs=1e-12, nan_ok=True
        )
    own = stored.intervals["b"], scaled.intervals["b"]
    for key in own[0]:
        if not any(word in key for word in NEED_SCORES):
            assert own[0][key] == pytest.approx(own[1][key], abs=1e-12, nan_ok=True), key


def test_nor_does_it_of_very_many_scores():
    rng = np.random.default_rng(0)
    methods = {"a": {}, "b": {}, "changed": {}}
    for image in range(8):
        labels = rng.random(4000) < 0.1
        scores = [1 / (1 + np.exp(-rng.normal(labels, 1))) for _ in range(2)]
        for name, values in zip(methods, [*scores, scores[1] ** 3], strict=True):
            methods[name][str(image)] = segbench.count(labels, values)
    comparison = segbench.compare(methods)
    for metric in ("ods_f", "auc_roc", "average_precision", "auc_pr"):
        stored, changed, between = comparison.rows(metric)
        assert (stored.low, stored.high, stored.p_value) == pytest.approx(
            (changed.low, changed.high, changed.p_value), abs=1e-12
        )
        assert between.p_value == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 12), st.sampled_from([0.8, 0.9, 0.95]))
def test_an_interval_excludes_0_exactly_where_p_is_below_its_level(seed, images, level):
    comparison = segbench.compare(pixel_methods(images, seed=seed, gaps=(0, 0.3), small=True), level=level)
    for found in comparison.differences:
        if not math.isnan(found.low + found.p_value):
            assert (found.low > 0 or found.high < 0) == (found.p_value < 1 - level)


def test_an_image_without_weight_counts_for_no_freedom():
    """Nine images of one pixel each and one of 10 000: as few as two of equal weight."""
    sizes = [10_000, *[20] * 9]
    images = {
        str(k): ScoreCounts([2, 1], [size * 3 // 4, size // 4], [size // 5 + k, 2 * size])
        for k, size in enumerate(sizes)
    }
    found = segbench.intervals(images)
    assert found.freedom["ods_f"] == 2
    (note,) = found.notes
    assert (note.kind, note.values["images"], note.values["heaviest"]) == ("unequal-weights", 10, "0")
    assert (note.values["effective"], note.values["percent"]) == pytest.approx((1, 98), abs=0.5)


def with_empty(images, empty):
    """Add images without positives, which have no F of their own."""
    return images | {f"empty {k}": ScoreCounts([2, 1], [0, 0], [1, 99]) for k in range(empty)}


def test_images_that_have_no_metric_make_its_mean_no_surer():
    """The mean F of two images with positives: they have one degree of freedom beside any number of others."""
    two = {"0": ScoreCounts([2, 1], [6, 4], [3, 90]), "1": ScoreCounts([2, 1], [8, 2], [1, 90])}
    for empty in (0, 8, 28):
        assert segbench.intervals(with_empty(two, empty)).freedom["mean_image_f"] == 1


@pytest.mark.parametrize(("held", "p"), [(2, math.nan), (5, math.nan), (6, 2**-5), (8, 2**-7)])
def test_a_test_of_signs_counts_the_images_that_have_the_metric(held, p):
    better, worse = (
        with_empty({str(k): ScoreCounts([2, 1], [hits, 10 - hits], [2, 98]) for k in range(held)}, 22)
        for hits in (8, 6)
    )
    comparison = segbench.compare({"a": better, "b": worse})
    assert row_of(comparison, "mean_image_f").p_value == pytest.approx(p, nan_ok=True)
    if held < 6:
        reason = comparison.pairs("mean_image_f").reason
        assert reason.kind == "too-few"
        assert str(reason).startswith(f"{held} of {held + 22} images count in it: ")


def label_sets(held):
    """Twelve label maps of which some hold class 2, and predictions with a few errors."""
    rng = np.random.default_rng(0)
    images = {}
    for image in range(12):
        truth = rng.integers(0, 3 if image < held else 2, (8, 8))
        guess = np.where(rng.random(truth.shape) < 0.7, truth, rng.integers(0, 2, truth.shape))
        images[str(image)] = count(truth, guess, Labels(classes=3))
    return images


@pytest.mark.parametrize(("held", "noted"), [(1, True), (4, True), (5, False)])
def test_a_class_that_few_images_hold_is_named(held, noted):
    found = segbench.intervals(segbench.Labels(classes=3).table(label_sets(held)))
    assert [note.values["held"] for note in of_kind(found.notes, "rare-classes")] == [(("2", held),)] * noted


def test_a_class_that_is_only_predicted_is_held_by_no_image():
    images = label_sets(0)
    images["0"] = count(np.zeros((2, 2), int), np.full((2, 2), 2), Labels(classes=3))
    (note,) = of_kind(segbench.intervals(images).notes, "rare-classes")
    assert ("2", 0) in note.values["held"]


def test_a_difference_to_a_calibrated_method_is_not_tested():
    rng = np.random.default_rng(0)
    methods = {"calibrated": {}, "wrong": {}}
    for image in range(30):
        scores = rng.random(400).round(2)
        labels = rng.random(400) < scores
        methods["calibrated"][str(image)] = segbench.count(labels, scores)
        methods["wrong"][str(image)] = segbench.count(labels, scores**3)
    comparison = segbench.compare(methods, protocol=segbench.Pixels(calibration=True))
    found = row_of(comparison, "ece")
    assert math.isnan(found.p_value)
    assert math.isnan(found.low)
    why = comparison.why_none("ece", "calibrated", "wrong")
    assert why["interval"] == why["p_value"]
    assert (why["p_value"].kind, why["p_value"].values) == ("by-chance", {"times": 6})
    assert row_of(comparison, "brier").p_value < 0.01


def test_calibration_has_no_interval_below_30_images():
    rng = np.random.default_rng(0)
    images = {str(k): segbench.count(rng.random(50) < 0.5, rng.random(50)) for k in range(29)}
    found = segbench.intervals(segbench.Pixels(calibration=True).table(images))
    reason = found.undefined["ece"]
    assert (reason.kind, reason.values) == ("too-few", {"number": 29, "noun": "image", "least": 30})
    assert found["brier"][0] < found.estimates["brier"] < found["brier"][1]


def half_without_positives(protocol):
    """Two methods over 12 images of 40 pixels; six of the images have 10 positives, the others have none."""
    rng = np.random.default_rng(0)
    truths = [np.repeat([k % 2, 0], [10, 30]) for k in range(12)]
    return {
        method: {
            str(k): segbench.count(truth, np.where(rng.random(40) < 0.7, truth, 1 - truth), protocol)
            for k, truth in enumerate(truths)
        }
        for method in "ab"
    }


@pytest.mark.parametrize("key", ["ods_f", "mean_image_f"])
def test_images_without_positives_count_for_no_freedom(key):
    assert row_of(segbench.compare(half_without_positives("pixels")), key).freedom == 5


@pytest.mark.parametrize("key", ["iou", "dice", "precision", "recall", "mcc", "iou_images", "dice_images"])
def test_images_without_the_class_count_for_no_freedom(key):
    assert row_of(segbench.compare(half_without_positives("labels")), key).freedom == 5


@pytest.mark.parametrize("protocol", [segbench.Labels(), segbench.Pixels(at=(0.5,))])
def test_all_images_count_where_negatives_do(protocol):
    key = {"labels": "specificity", "pixels": "specificity@0.5"}[protocol.name]
    comparison = segbench.compare(half_without_positives(protocol), protocol=protocol)
    assert row_of(comparison, key).freedom == pytest.approx((6 * 30 + 6 * 40) ** 2 / (6 * 30**2 + 6 * 40**2) - 1)


def test_all_images_count_alike_in_means_that_each_has():
    comparison = segbench.compare(half_without_positives("pixels"), protocol=segbench.Pixels(at=(0.5,)))
    assert row_of(comparison, "mean_image_accuracy@0.5").freedom == 11


def test_dice_of_masks_has_the_same_p_value_by_either_protocol():
    of_labels, of_pixels = (segbench.compare(half_without_positives(protocol)) for protocol in ("labels", "pixels"))
    assert row_of(of_labels, "dice").p_value == pytest.approx(row_of(of_pixels, "ods_f").p_value, abs=1e-12)
