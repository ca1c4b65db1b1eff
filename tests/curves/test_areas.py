import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr, auc_roc, average_precision
from segbench.curves.curve import achievable_pr_curve, pr_curve, roc_curve, roc_hull
from segbench.statistics.intervals import intervals

COUNT = st.integers(0, 10**12) | st.integers(0, 50) | st.integers(0, 12).map(lambda power: 10**power)


def two_levels(a, f, w, x):
    """Make counts whose curve goes straight to (TP, FP) = (a, f), then straight on by (w, x)."""
    return ScoreCounts([2, 1], [a, w], [f, x])


def textbook_area(a, f, w, x):
    """Integrate the same two segments by the textbook's difference of logarithms, in 100 digits."""
    with localcontext() as context:
        context.prec = 100
        a, f, w, x = (Decimal(value) for value in (a, f, w, x))
        area = a * a / (a + f) if a else Decimal(0)
        if w:
            slope, start = (w + x) / w, a + f
            offset = (start - slope * a) / slope
            area += w / slope
            if start:
                area -= offset / slope * (((a + w + offset) / (a + offset)).ln())
        return float(area / (a + w))


@given(COUNT, COUNT, COUNT, COUNT)
def test_exact_area_is_right_to_the_last_digits_at_any_counts(a, f, w, x):
    if a + w == 0:
        return
    assert auc_pr(two_levels(a, f, w, x)) == pytest.approx(textbook_area(a, f, w, x), rel=2e-14)


def test_no_digits_are_lost_where_one_pixel_follows_a_thousand_million():
    counts = ScoreCounts([3, 2, 1], [0, 1, 1], [10**9, 1, 0])
    assert auc_pr(counts) == pytest.approx((0.5e-9 + 1.5e-9) / 2, rel=1e-8)


@given(st.integers(0, 40), st.integers(0, 400), st.integers(1, 3000), st.integers(0, 5000))
def test_trapezoid_is_the_sum_over_whole_true_positives(a, f, w, x):
    t = np.arange(a + w + 1)
    false = np.where(t <= a, f * t / max(a, 1) if a else f, f + x * (t - a) / w)
    precision = np.divide(t, t + false, out=np.zeros(t.size), where=t + false > 0)
    first = (a, f) if a else (w, x)
    if not (a == 0 and f > 0):
        precision[0] = first[0] / sum(first)
    expected = np.sum(precision[1:] + precision[:-1]) / 2 / (a + w)
    assert auc_pr(two_levels(a, f, w, x), method="trapezoid") == pytest.approx(expected, rel=1e-13)


PERFECT = [
    ([5, 21], [0, 0]),
    ([104, 1, 766], [0, 0, 0]),
    ([4795872, 10855257, 2755332, 32040670, 701696, 14590030, 0], [0, 0, 0, 0, 0, 0, 199542295]),
    ([191720313738663, 9359426293440183], [0, 0]),
    (
        [392614736977021, 1809594616340929, 2111996331442859, 4293748450642726, 440028413629168, 220686094598635],
        [0, 0, 0, 0, 0, 0],
    ),
]


def areas_of(counts):
    found = {method: auc_pr(counts, method=method) for method in ("exact", "trapezoid", "linear")}
    found |= {"average_precision": average_precision(counts), "achievable": achievable_pr_curve(counts).area}
    found |= {"roc": auc_roc(counts), "roc_hull": roc_hull(counts).area}
    resampled = intervals({"a": counts}, replicates=1).estimates
    return found | {
        f"resampled {key}": resampled[key] for key in ("auc_roc", "auc_pr", "auc_pr_achievable", "average_precision")
    }


@pytest.mark.parametrize(("positives", "negatives"), PERFECT)
def test_no_area_of_a_perfect_ranking_is_above_1(positives, negatives):
    areas = areas_of(ScoreCounts(range(len(positives), 0, -1), positives, negatives))
    assert {key: area for key, area in areas.items() if area > 1} == {}


@given(st.lists(st.tuples(COUNT, st.sampled_from([0, 0, 0, 1]) | COUNT), min_size=1, max_size=8))
def test_every_area_lies_from_0_to_1(levels):
    positives, negatives = zip(*levels, strict=True)
    areas = areas_of(ScoreCounts(range(len(levels), 0, -1), positives, negatives))
    assert {key: area for key, area in areas.items() if area > 1 or area < 0} == {}


@pytest.mark.parametrize("factor", [2, 7, 10**6])
def test_counts_times_a_factor_leave_the_exact_area_alone_but_not_the_trapezoids(factor):
    once = ScoreCounts([3, 2, 1], [1, 5, 2], [0, 9, 40])
    times = ScoreCounts(once.scores, once.positives * factor, once.negatives * factor)
    assert auc_pr(times) == pytest.approx(auc_pr(once), rel=1e-14)
    assert abs(auc_pr(times, method="trapezoid") - auc_pr(once, method="trapezoid")) > 1e-4
    assert auc_pr(times, method="trapezoid") == pytest.approx(auc_pr(once), rel=0.04 / factor)


def test_one_score_for_all_is_chance():
    counts = ScoreCounts([1], [3], [9])
    assert auc_roc(counts) == 0.5
    assert auc_pr(counts) == auc_pr(counts, method="linear") == average_precision(counts) == 0.25


def test_an_area_that_is_not_defined_is_nan():
    without_positives, without_negatives = ScoreCounts([1], [0], [4]), ScoreCounts([1], [4], [0])
    empty = ScoreCounts([], [], [])
    for counts in (without_positives, empty):
        assert np.isnan([auc_roc(counts), auc_pr(counts), average_precision(counts)]).all()
    assert np.isnan(auc_roc(without_negatives))
    assert auc_pr(without_negatives) == 1


def test_an_unknown_method_is_refused():
    with refused("wrong-value", ArgumentError, argument="method", value="'simpson'"):
        auc_pr(ScoreCounts([1], [1], [1]), method="simpson")


def test_the_area_of_a_curve_is_that_of_its_counts():
    counts = ScoreCounts([3, 2, 1], [1, 5, 2], [0, 9, 40])
    assert roc_curve(counts).area == auc_roc(counts)
    assert pr_curve(counts).area == auc_pr(counts)


def test_int32_counts_beyond_its_range_do_not_wrap_round():
    half = np.full(2, 2**30, dtype=np.int32)
    narrow, wide = ScoreCounts([2, 1], half, half[::-1]), ScoreCounts([2, 1], half.astype(np.int64), half)
    assert pr_curve(narrow).tp.tolist() == [0, 2**30, 2**31]
    assert auc_roc(narrow) == auc_roc(wide) == 0.5


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (10**6, 10**6), (3, 997), (10**12, 10**3)])
def test_the_worst_order_has_the_least_area(positives, negatives):
    prevalence = positives / (positives + negatives)
    counts = ScoreCounts.from_points([0], [negatives], positives, negatives)
    least = 1 + (1 - prevalence) * math.log1p(-prevalence) / prevalence
    assert auc_pr(counts) == pytest.approx(least, rel=1e-12, abs=1e-12 / prevalence if prevalence < 0.1 else 1e-12)
    if positives == negatives:
        assert auc_pr(counts) == pytest.approx(0.3068528, abs=5e-8)
