"""What must hold for every figure of pixels, whatever the data."""

import numpy as np
import pytest
from cases import labels_and_scores
from hypothesis import given, settings
from hypothesis import strategies as st
from measured import pixel_summary
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

import segbench as sc
from segbench.core.scores import ScoreCounts

FIGURES = {
    "auc_roc": sc.auc_roc,
    "auc_pr": sc.auc_pr,
    "auc_pr trapezoid": lambda counts: sc.auc_pr(counts, method="trapezoid"),
    "auc_pr linear": lambda counts: sc.auc_pr(counts, method="linear"),
    "auc_pr achievable": lambda counts: sc.achievable_pr_curve(counts).area,
    "average precision": sc.average_precision,
    "best f": lambda counts: sc.best_f(counts).f,
    "best f, beta 2": lambda counts: sc.best_f(counts, beta=2).f,
    "fpr at 95 tpr": lambda counts: pixel_summary({"": counts})["fpr_at_95_tpr"],
}
UNCHANGED_BY_COPIES = [name for name in FIGURES if name not in ("auc_pr trapezoid", "fpr at 95 tpr")]
PIXELS = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=40)


@pytest.mark.parametrize("name", FIGURES)
@settings(max_examples=30)
@given(parts=st.lists(PIXELS, min_size=1, max_size=4), order=st.randoms())
def test_merge_order(counted, name, parts, order):
    images = [counted(*labels_and_scores(part)) for part in parts]
    shuffled = list(images)
    order.shuffle(shuffled)
    whole = counted(*labels_and_scores([pixel for part in parts for pixel in part]))
    found = [FIGURES[name](counts) for counts in (ScoreCounts.sum(images), ScoreCounts.sum(shuffled), whole)]
    assert np.array_equal(found, found[:1] * 3, equal_nan=True)


@pytest.mark.parametrize("name", FIGURES)
@settings(max_examples=30)
@given(pixels=PIXELS)
def test_rising_maps_of_scores_change_nothing(counted, name, pixels):
    labels, scores = labels_and_scores(pixels)
    found = [FIGURES[name](counted(labels, mapped)) for mapped in (scores, np.exp(scores / 3.0), scores**3 - 7.5)]
    assert np.array_equal(found, found[:1] * 3, equal_nan=True)


@pytest.mark.parametrize("name", UNCHANGED_BY_COPIES)
@settings(max_examples=30)
@given(pixels=PIXELS, copies=st.sampled_from([2, 3, 1000, 10**9]))
def test_every_pixel_counted_many_times_is_the_same_figure(counted, name, pixels, copies):
    once = counted(*labels_and_scores(pixels))
    times = ScoreCounts(once.scores, once.positives * copies, once.negatives * copies)
    assert FIGURES[name](times) == pytest.approx(FIGURES[name](once), rel=1e-13, nan_ok=True)


@given(PIXELS)
def test_auc_roc_stays_when_labels_and_scores_are_both_turned_round(counted, pixels):
    labels, scores = labels_and_scores(pixels)
    turned = sc.auc_roc(counted(~labels, -scores))
    assert turned == pytest.approx(sc.auc_roc(counted(labels, scores)), rel=1e-14, nan_ok=True)


@given(PIXELS)
def test_the_figures_are_scikit_learn_s(counted, pixels):
    labels, scores = labels_and_scores(pixels)
    if labels.all() or not labels.any():
        return
    counts = counted(labels, scores)
    assert sc.auc_roc(counts) == pytest.approx(roc_auc_score(labels, scores), rel=1e-13)
    assert sc.average_precision(counts) == pytest.approx(average_precision_score(labels, scores), rel=1e-13)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8), st.integers(1, 5)), min_size=2, max_size=40))
def test_duplicates_are_scikit_learn_s_weights(counted, weighted):
    labels, scores, weights = (np.array(column) for column in zip(*weighted, strict=True))
    if labels.all() or not labels.any():
        return
    counts = counted(np.repeat(labels, weights), np.repeat(scores, weights))
    assert sc.auc_roc(counts) == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights), rel=1e-12)
    expected = average_precision_score(labels, scores, sample_weight=weights)
    assert sc.average_precision(counts) == pytest.approx(expected, rel=1e-12)


@given(PIXELS)
def test_the_points_are_scikit_learn_s(counted, pixels):
    labels, scores = labels_and_scores(pixels)
    if labels.all() or not labels.any():
        return
    counts = counted(labels, scores)
    precision, recall, thresholds = precision_recall_curve(labels, scores)
    pr, roc = sc.pr_curve(counts), sc.roc_curve(counts)
    assert pr.thresholds[:0:-1].tolist() == thresholds.tolist()
    assert pr.precision[:0:-1] == pytest.approx(precision[:-1], rel=1e-14)
    assert pr.recall[:0:-1] == pytest.approx(recall[:-1], rel=1e-14)
    fpr, tpr, thresholds = roc_curve(labels, scores, drop_intermediate=False)
    assert roc.thresholds.tolist() == thresholds.tolist()
    assert roc.fpr == pytest.approx(fpr, rel=1e-14)
    assert roc.tpr == pytest.approx(tpr, rel=1e-14)
