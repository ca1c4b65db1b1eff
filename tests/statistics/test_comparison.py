import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured import pixel_image_summary, pixel_summary
from refusing import refused
from sets import pixel_methods

from segbench import compare, count
from segbench.core.errors import DataError
from segbench.core.scores import ScoreCounts
from segbench.statistics.pairs import holm


def method(count, seed, skill, levels=8):
    """Make images with the same ground truth for every seed, and scores of some skill."""
    truth, rng = np.random.default_rng(99), np.random.default_rng(seed)
    images = {}
    for k in range(count):
        positives, negatives = int(truth.integers(20, 60)), int(truth.integers(100, 300))
        rising = np.linspace(1, skill, levels)
        images[f"{k:02}"] = ScoreCounts(
            np.arange(levels)[::-1],
            rng.multinomial(positives, rising[::-1] / rising.sum()),
            rng.multinomial(negatives, rising / rising.sum()),
        )
    return images


JUMP = ("ods_precision", "ods_recall", "fpr_at_95_tpr")


def row(result, figure, a=None, b=None):
    return next(r for r in result.differences if r.metric == figure and (a is None or (r.a, r.b) == (a, b)))


def test_every_figure_but_thresholds_is_compared():
    result = compare({"x": method(6, 0, 4), "y": method(6, 1, 4)}, replicates=20)
    figures = set(pixel_summary({})) - {"positives", "negatives", "ignored", "ods_threshold"}
    assert {r.metric for r in result.differences} == set(result.rank_shares) == figures
    summaries = [pixel_summary(method(6, seed, 4)) for seed in (0, 1)]
    for r in result.differences:
        assert (r.estimate_a, r.estimate_b) == pytest.approx(tuple(summary[r.metric] for summary in summaries))
        assert r.difference == pytest.approx(r.estimate_a - r.estimate_b)


def test_turning_the_pair_round_turns_the_result_round():
    a, b = method(12, 0, 6), method(12, 1, 3)
    there = compare({"a": a, "b": b}, replicates=200)
    back = compare({"b": b, "a": a}, replicates=200)
    for one, other in zip(there.differences, back.differences, strict=True):
        assert one.difference == -other.difference
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), rel=1e-9, nan_ok=True)
        assert one.p_value == pytest.approx(other.p_value, nan_ok=True)
        assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)


def test_a_method_against_itself():
    a = method(12, 0, 6)
    for r in compare({"a": a, "again": dict(a)}, replicates=100).differences:
        assert r.difference == 0
        assert (r.p_value, r.p_holm) == (
            (1, 1) if r.metric not in JUMP else pytest.approx((math.nan,) * 2, nan_ok=True)
        )
        if r.metric not in JUMP:
            assert (r.low, r.high) == (0, 0)
        assert (r.wins, r.ties, r.losses) == (0, 12, 0)


def test_wins_are_of_images_by_themselves_and_fewer_false_positives_win():
    a, b = method(9, 0, 5), method(9, 1, 4)
    result = compare({"a": a, "b": b}, replicates=10)
    each = [(pixel_image_summary(a[name]), pixel_image_summary(b[name])) for name in a]
    assert row(result, "ods_f").wins == sum(x["f"] > y["f"] for x, y in each)
    assert row(result, "auc_pr").losses == sum(x["auc_pr"] < y["auc_pr"] for x, y in each)
    rates = [(pixel_summary({"_": a[name]}), pixel_summary({"_": b[name]})) for name in a]
    assert row(result, "fpr_at_95_tpr").wins == sum(x["fpr_at_95_tpr"] < y["fpr_at_95_tpr"] for x, y in rates)


def test_an_image_without_positives_is_neither_won_nor_lost():
    a, b = method(4, 0, 6), method(4, 1, 3)
    a["void"] = b["void"] = ScoreCounts([2, 1], [0, 0], [3, 9])
    r = row(compare({"a": a, "b": b}, replicates=10), "ods_f")
    assert r.wins + r.ties + r.losses == 4


def test_intervals_of_differences_are_narrower_than_their_parts_suggest():
    a = method(20, 0, 5)
    b = {name: ScoreCounts(c.scores, c.positives, np.roll(c.negatives, 1)) for name, c in a.items()}
    result = compare({"a": a, "b": b})
    r = row(result, "auc_roc")
    low, high = result.intervals["a"]["auc_roc"]
    assert r.low <= r.difference <= r.high
    assert r.high - r.low < 2 * (high - low)


def test_ranks_of_three_methods():
    methods = {"poor": method(15, 0, 2), "good": method(15, 1, 20), "fair": method(15, 2, 6)}
    result = compare(methods, replicates=100)
    shares = result.rank_shares["auc_roc"]
    assert [shares[name] for name in ("good", "fair", "poor")] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert [(r.a, r.b) for r in result.differences if r.metric == "ods_f"] == [
        ("poor", "good"),
        ("poor", "fair"),
        ("good", "fair"),
    ]
    for figure in ("auc_roc", "ods_f"):
        rows = [r for r in result.differences if r.metric == figure]
        assert [r.p_holm for r in rows] == holm(np.array([r.p_value for r in rows])).tolist()


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]), ([0.5, 0.6], [1, 1]), ([0.02], [0.02]), ([], [])],
)
def test_holm(p_values, expected):
    assert holm(np.array(p_values)) == pytest.approx(expected)


def test_a_single_pair_is_not_corrected():
    methods = {name: method(12, seed=0, skill=skill) for name, skill in (("a", 1.0), ("b", 2.0))}
    assert all(each.p_holm == each.p_value for each in compare(methods).differences if each.p_value >= 0)


def test_holm_leaves_undefined_p_values_out_of_the_number():
    assert holm(np.array([0.01, math.nan])) == pytest.approx([0.01, math.nan], nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_raises_p_values_and_keeps_their_order(p_values):
    corrected = holm(np.array(p_values)).tolist()
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    assert min(corrected) == min(len(p_values) * min(p_values), 1)
    assert [x for _, x in sorted(zip(p_values, corrected, strict=True))] == sorted(corrected)


def test_different_images_are_refused_with_their_names():
    a, b = method(6, 0, 5), method(6, 1, 4)
    del b["03"]
    b["extra"] = b.pop("00")
    with refused("other-images", DataError, methods=("a", "b")) as raised:
        compare({"a": a, "b": b})
    lacking = [problem.values for problem in raised.value.values["problems"]]
    assert [(of["present"], of["names"], of["absent"]) for of in lacking] == [("a", "00, 03", "b"), ("b", "extra", "a")]


@pytest.mark.parametrize("images", [1, 5])
def test_fewer_than_6_images_have_neither_interval_nor_p_value(images):
    result = compare({"a": method(images, 0, 5), "b": method(images, 1, 4)})
    found = row(result, "ods_f")
    assert np.isnan([found.low, found.high, found.p_value, found.p_holm, found.freedom]).all()
    reason = result.pairs("ods_f").reason
    assert (reason.kind, reason.values["images"]) == ("too-few", images)
    assert reason.values["enough"].values == {"least": 6, "noun": "image"}
    assert str(reason) in str(result)


def test_six_images_have_both():
    found = row(compare({"a": method(6, 0, 5), "b": method(6, 1, 4)}), "ods_f")
    assert not np.isnan([found.low, found.high, found.p_value]).any()


def test_a_difference_that_is_the_same_in_every_image_has_the_p_value_of_signs():
    one, other = ScoreCounts([2, 1], [3, 1], [1, 4]), ScoreCounts([2, 1], [3, 1], [2, 3])
    found = row(compare({name: {str(k): c for k in range(8)} for name, c in (("a", one), ("b", other))}), "ods_f")
    assert found.p_value == 2 / 2**8
    assert math.isnan(found.low)


def test_a_metric_undefined_without_an_image_has_no_p_value():
    methods = pixel_methods(8)
    for images in methods.values():
        for name in list(images)[1:]:
            counts = images[name]
            images[name] = ScoreCounts(counts.scores, 0 * counts.positives, counts.negatives)
    assert math.isnan(row(compare(methods), "ods_f").p_value)
    reason = compare(methods).pairs("ods_f").reason
    assert (reason.kind, reason.values["name"]) == ("undefined-without", "000")


def test_quantiles_of_a_pair_do_not_depend_on_a_third_method():
    a, b = method(30, 0, 6), method(30, 1, 3)
    nothing = {
        k: ScoreCounts([0], [one.positives.sum()], [one.negatives.sum()], of_predictions=True) for k, one in a.items()
    }
    alone, beside = (compare(methods, replicates=50) for methods in ({"a": a, "b": b}, {"a": a, "b": b, "c": nothing}))
    expected, found = (row(each, "ods_precision", "a", "b") for each in (alone, beside))
    assert math.isnan(row(beside, "ods_precision", "a", "c").low)
    assert (found.low, found.high) == (expected.low, expected.high)


def test_no_interval_holds_a_difference_that_cannot_be():
    """A perfect method against one that finds nothing: F cannot differ by more than 1."""
    totals = [(9 + k, 40 - k) for k in range(9)]
    found = {
        "perfect": {str(k): ScoreCounts([2, 1], [p, 0], [0, n]) for k, (p, n) in enumerate(totals)},
        "poor": {str(k): ScoreCounts([2, 1], [k, p - k], [n, 0]) for k, (p, n) in enumerate(totals)},
    }
    for r in compare(found).differences:
        assert math.isnan(r.low) or -1 <= r.low <= r.difference <= r.high <= 1


def test_a_choice_of_thresholds_hardly_moves_intervals(monkeypatch):
    """Of many distinct scores, images are left out at a choice: intervals move by less than 1e-4."""
    found = {"a": {}, "b": {}}
    for k in range(16):
        rng = np.random.default_rng(k)
        labels = rng.random(12_000) < rng.uniform(0.1, 0.3)
        for name, skill in (("a", 1.5), ("b", 1.3)):
            found[name][str(k)] = count(labels, rng.normal(size=labels.size) + skill * labels)
    some = compare(found)
    for module in ("segbench.curves.pooled", "segbench.protocols.pixels.image_set"):
        monkeypatch.setattr(f"{module}.RESAMPLED_ABOVE", 2**20)
    monkeypatch.setattr("segbench.curves.pooled.REDUCED_ABOVE", 2**20)
    every = compare(found)
    for key in ("ods_f", "ois_f", "mean_image_f", "auc_pr", "auc_pr_achievable", "average_precision", "auc_roc", "iou"):
        (one,), (other,) = some.rows(key), every.rows(key)
        ends = [(r.low, r.high, *by.intervals["a"][key]) for r, by in ((one, some), (other, every))]
        assert ends[0] == pytest.approx(ends[1], abs=1e-4), key
        assert (one.difference, one.wins) == (pytest.approx(other.difference, abs=1e-14), other.wins)


class TestAnswer:
    def methods(self, *skills, images=30):
        return {f"skill {skill}": method(images, k, skill) for k, skill in enumerate(skills)}

    def test_a_leader_is_better_than_every_other_method(self):
        found = compare(self.methods(2, 30, 3)).answer()
        assert found.leader == "skill 30"
        assert found.verdict.startswith("skill 30 leads skill 3 by ")
        assert found.verdict.endswith(" ODS F (p < .0001); it is significantly better than every other method")

    def test_without_significance_nobody_leads(self):
        methods = self.methods(5, images=10) | {"twin": method(10, 7, 5.01)}
        found = compare(methods).answer()
        assert found.leader == ""
        assert found.verdict.startswith("No clear winner by ODS F: ")
        assert " cannot be told apart on 10 images (p = ." in found.verdict

    def test_letters_name_the_methods_that_each_is_better_than(self):
        found = compare(self.methods(2, 30, 3)).answer()
        assert [(one.method, one.letter, one.better_than) for one in found.standings] == [
            ("skill 30", "a", ("b", "c")),
            ("skill 3", "b", ("c",)),
            ("skill 2", "c", ()),
        ]

    def test_of_a_metric_where_lower_is_better_the_lowest_is_first(self):
        found = compare(self.methods(2, 30, 3)).answer("fpr_at_95_tpr")
        estimates = [one.estimate for one in found.standings]
        assert estimates == sorted(estimates)

    def test_a_matrix_marks_significant_differences(self):
        table = compare(self.methods(2, 30, 3)).answer().matrix()
        first = table.rows[0]
        assert first[0] == "a skill 30"
        assert all(cell.startswith(".") and cell.endswith("**") for cell in first[1:])

    def test_methods_compared_have_no_answer_below_6_images(self):
        found = compare(self.methods(2, 30, images=5)).answer()
        assert found.verdict.startswith("skill 30 has the best ODS F, ")
        assert found.verdict.endswith(
            "without a test (5 images: differences have intervals and p-values from 6 images on)"
        )

    def test_methods_that_share_the_best_value_are_all_named(self):
        best = method(5, 0, 3)
        found = compare({"one": best, "two": dict(best), "worse": method(5, 1, 2)}).answer()
        assert found.verdict.startswith("one and two share the best ODS F, ")


def test_rank_shares_of_equals_share_the_better_rank():
    images = method(8, 0, 5)
    ranks = compare({"a": images, "b": dict(images), "c": method(8, 3, 1)}).rank_shares["auc_roc"]
    assert ranks == {"a": (1, 0, 0), "b": (1, 0, 0), "c": (0, 0, 1)}


def test_without_positives_everything_is_undefined():
    images = {str(k): ScoreCounts([2, 1], [0, 0], [3, 9]) for k in range(3)}
    for r in compare({"a": images, "b": images}, replicates=10).differences:
        assert all(math.isnan(value) for value in (r.difference, r.low, r.p_value, r.p_holm))
        assert (r.wins, r.ties, r.losses) == (0, 0, 0)


@pytest.mark.parametrize("gaps", [(0, 0.1), (0, 0.1, 0.2, 0.3, 0.4, 0.5), tuple(0.05 * k for k in range(20))])
def test_as_many_images_as_a_difference_is_said_to_need_make_it_significant(gaps):
    few = pixel_methods(12, gaps=gaps)
    answer = compare(few).answer()
    copies = round(int(re.search(r"about (\d+) images", answer.needed)[1]) / 12)
    more = {
        name: {f"{name} {k}": counts for name, counts in images.items() for k in range(copies)}
        for name, images in few.items()
    }
    assert compare(more).answer().standings[0].better_than[:1] == ("b",)


def test_a_mask_beside_a_soft_map_is_noted():
    """The soft map has its best threshold on these images, the mask has not."""
    soft, mask = {}, {}
    rng = np.random.default_rng(0)
    for k in range(10):
        labels = rng.random(400) < 0.3
        scores = labels * 0.4 + rng.random(400) * 0.6
        soft[str(k)], mask[str(k)] = (count(labels, found) for found in (scores, scores > 0.5))
    note, *_ = compare({"soft": soft, "mask": mask}).notes
    assert (note.kind, note.before) == ("at-the-mask", "mask: ")
    assert compare({"mask": mask, "other": mask}).notes == ()


def test_comparisons_can_be_pickled():
    found = compare(pixel_methods(8))
    found.answer()
    again = pickle.loads(pickle.dumps(found))  # noqa: S301  our own
    assert str(again) == str(found)
