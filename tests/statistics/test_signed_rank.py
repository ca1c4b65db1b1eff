"""The signed-rank test: its p-value, estimate and interval beside other codes and enumeration, and what answers say."""

import functools
import itertools
import math
import pickle

import numpy as np
import pytest
from refusing import refused
from scipy import ndimage
from scipy.stats import wilcoxon
from sets import pixel_methods

from segbench import (
    Anomalies,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    Regions,
    Saliency,
    compare,
    compare_results,
    evaluate,
)
from segbench.core.errors import ArgumentError
from segbench.core.messages import Setting
from segbench.statistics.signed_rank import (
    fewest_differences,
    hodges_lehmann,
    side_of_ranks,
    signed_rank_p,
    walsh_interval,
)


def midranks(sizes):
    """Return the mean position of each value among all, from 1."""
    return np.array([(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes])


def enumerated_p(differences):
    """Compute p from every choice of signs."""
    ranks = midranks(np.abs(differences))[differences != 0]
    signs = np.array(list(itertools.product((0, 1), repeat=ranks.size)))
    sums, found = signs @ ranks, ranks[differences[differences != 0] > 0].sum()
    return min(2 * min(np.mean(sums <= found + 1e-9), np.mean(sums >= found - 1e-9)), 1)


def generated_p(differences):
    """Compute p from the product of (1 + x^rank), in whole numbers of any size."""
    ranks = (2 * midranks(np.abs(differences))[differences != 0]).astype(int).tolist()
    choices = {0: 1}
    for rank in ranks:
        both = dict(choices)
        for total, ways in choices.items():
            both[total + rank] = both.get(total + rank, 0) + ways
        choices = both
    found = int((2 * midranks(np.abs(differences)))[differences > 0].sum())
    found = min(found, sum(ranks) - found)
    return min(2 * sum(ways for total, ways in choices.items() if total <= found) / 2 ** len(ranks), 1)


def walsh_averages(differences):
    pairs = itertools.combinations_with_replacement(differences.tolist(), 2)
    return np.sort([(one + other) / 2 for one, other in pairs])


class TestPValue:
    @pytest.mark.parametrize("number", [1, 2, 5, 6, 13, 14, 30, 49, 50])
    def test_without_ties_is_that_of_scipy(self, number):
        for seed in range(5):
            differences = np.random.default_rng(seed).normal(0.3, 1, number)
            expected = wilcoxon(differences, zero_method="pratt", method="exact").pvalue
            assert signed_rank_p(differences) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("number", range(2, 14))
    def test_of_at_most_13_with_ties_and_zeros_is_that_of_scipy(self, number):
        for seed in range(10 if number < 9 else 1):  # which SciPy enumerates
            differences = np.random.default_rng(seed).integers(-2, 4, number).astype(float)
            if differences.any():
                assert signed_rank_p(differences) == pytest.approx(wilcoxon(differences, zero_method="pratt").pvalue)

    @pytest.mark.parametrize("number", [80, 300])
    def test_of_more_than_50_is_the_normal_approximation_of_scipy(self, number):
        for seed in range(10):
            differences = np.random.default_rng(seed).integers(-6, 9, number).astype(float)
            assert np.count_nonzero(differences) > 50
            expected = wilcoxon(differences, zero_method="pratt", method="asymptotic", correction=False).pvalue
            assert signed_rank_p(differences) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("number", [14, 16, 18])
    def test_with_ties_and_zeros_is_that_of_every_choice_of_signs(self, number):
        differences = np.random.default_rng(number).integers(-3, 5, number).astype(float)
        assert np.unique(np.abs(differences)).size < number
        assert signed_rank_p(differences) == pytest.approx(enumerated_p(differences), rel=1e-12)

    @pytest.mark.parametrize(("number", "zeros"), [(25, 0), (50, 0), (50, 70)])
    def test_with_ties_is_exact_up_to_50_that_are_not_0(self, number, zeros):
        random = np.random.default_rng(number)
        differences = np.append(random.choice([-2.0, -1, 1, 2, 3], number), np.zeros(zeros))
        assert signed_rank_p(differences) == pytest.approx(generated_p(differences), rel=1e-12)

    def test_four_equal_differences_beside_ten_zeros_have_an_eighth(self):
        differences = np.append(np.full(4, 0.1), np.zeros(10))
        assert signed_rank_p(differences) == 0.125  # the two sides, of 16 choices of signs
        assert wilcoxon(differences, zero_method="pratt").pvalue == pytest.approx(0.0455, abs=1e-4)

    def test_no_more_than_rounding_apart_is_tied(self):
        sizes = np.array([0.1, 0.2, 0.2 + 5e-11, -0.1 + 5e-11, 0.3, -0.2])
        assert signed_rank_p(sizes) == signed_rank_p(sizes.round(3))
        assert signed_rank_p(np.array([5e-11, -5e-11, 0.0])) == 1
        apart = np.array([0.1, 0.2, 0.2 + 1e-9, -0.1 + 1e-9, 0.3, -0.2])
        assert signed_rank_p(apart) != signed_rank_p(apart.round(3))

    def test_all_zero_is_1_and_none_has_no_value(self):
        assert signed_rank_p(np.zeros(7)) == 1
        assert math.isnan(signed_rank_p(np.full(7, np.nan)))

    def test_missing_differences_are_left_out(self):
        differences = np.array([0.5, np.nan, -0.2, 0.3, np.nan, 0.1, 0.4, 0.6])
        known = differences[~np.isnan(differences)]
        assert signed_rank_p(differences) == signed_rank_p(known)
        assert hodges_lehmann(differences) == hodges_lehmann(known)
        assert walsh_interval(differences, 0.95) == walsh_interval(known, 0.95)

    def test_turns_round(self):
        differences = np.random.default_rng(1).integers(-3, 6, 20).astype(float)
        assert signed_rank_p(-differences) == signed_rank_p(differences)
        assert side_of_ranks(-differences) == -side_of_ranks(differences) == -1


class TestEstimateAndInterval:
    def test_are_those_of_the_published_example(self):
        """Hamilton's scale of nine patients: Hollander and Wolfe, examples 3.1, 3.3 and 3.4; R prints the same."""
        before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
        after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
        differences = after - before
        assert signed_rank_p(differences) == pytest.approx(0.0390625)
        assert hodges_lehmann(differences) == pytest.approx(-0.46)
        assert walsh_interval(differences, 0.95) == pytest.approx((-0.786, -0.010))

    @pytest.mark.parametrize("number", [1, 2, 7, 20, 61])
    @pytest.mark.parametrize("tied", [False, True])
    def test_are_walsh_averages(self, number, tied):
        random = np.random.default_rng(number)
        differences = random.integers(-3, 4, number) / 8 if tied else random.normal(size=number)
        averages = walsh_averages(differences)
        assert hodges_lehmann(differences) == pytest.approx(np.median(averages), abs=1e-15)
        low, high = walsh_interval(differences, 0.9)
        if number < 5:
            assert math.isnan(low)
            assert math.isnan(high)
        else:
            assert low in averages
            assert high in averages

    def test_begin_where_the_tables_of_the_signed_rank_say(self):
        """Critical values of T, two-sided .05: 0, 2, 3, 5, 8, 25, 52 and 89 of 6, 7, 8, 9, 10, 15, 20 and 25 pairs."""
        critical = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 15: 25, 20: 52, 25: 89}
        for number, most in critical.items():
            differences = np.random.default_rng(number).normal(size=number)
            averages = walsh_averages(differences)
            assert walsh_interval(differences, 0.95) == pytest.approx((averages[most], averages[-1 - most]))

    @pytest.mark.parametrize("number", [6, 12, 50, 51, 120])
    @pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
    def test_excludes_0_where_p_is_small_without_ties(self, number, level):
        for seed in range(20):
            differences = np.random.default_rng(seed).normal(0.3, 1, number)
            low, high = walsh_interval(differences, level)
            if not math.isnan(low):
                assert (signed_rank_p(differences) <= 1 - level) == (low > 0 or high < 0)

    def test_zeros_are_in_it(self):
        assert hodges_lehmann(np.zeros(8)) == 0
        assert walsh_interval(np.zeros(8), 0.95) == (0, 0)
        # Of 3 + 3 values, 6 of 21 averages are 0, and 15 above: the median is the 5th of these.
        assert hodges_lehmann(np.array([0, 0, 0, 1.0, 2.0, 4.0])) == 1.0

    def test_of_many_is_counted_in_memory_of_a_few_rows(self):
        differences = np.random.default_rng(0).normal(0.01, 1, 200_000)  # whose averages would take 160 GB
        low, high = walsh_interval(differences, 0.95)
        assert low < hodges_lehmann(differences) < high
        assert high - low == pytest.approx(2 * 1.96 * math.sqrt(math.pi / 3 / 200_000), rel=0.02)


def test_equal_means_with_failures_of_one_method_are_another_question():
    """Distances of one method are ten times as far in 5 % of the images, of the other all are larger: docs say .78."""
    random, rejected = np.random.default_rng(0), 0
    for _ in range(400):
        hard, own = random.normal(0, 0.6 * math.sqrt(0.7), 30), random.normal(0, 0.6 * math.sqrt(0.3), (2, 30))
        failing = np.where(random.random(30) < 0.05, 10, 1)
        rejected += signed_rank_p(np.exp(hard + own[0]) * failing - np.exp(hard + own[1]) * 1.45) <= 0.05
    assert 0.7 < rejected / 400 < 0.86


@pytest.mark.parametrize("tests", [1, 2, 3, 10, 66])
def test_so_many_differences_can_be_significant(tests):
    fewest = fewest_differences(0.95, tests)
    assert tests * 2 / 2**fewest <= 0.05 < tests * 2 / 2 ** (fewest - 1)


# Metrics that are means over images


def squares(seed):
    random, mask = np.random.default_rng(seed), np.zeros((72, 70), int)
    for label in range(1, 5):
        y, x = random.integers(0, 50, 2)
        mask[y : y + random.integers(6, 20), x : x + random.integers(6, 20)] = label
    return mask


@functools.cache
def sets_of_protocols():
    """Return images of unequal sizes and classes by protocol, so that no pooled metric is a mean by chance."""
    random = np.random.default_rng(0)
    truth = [np.where(squares(seed) > 4 - seed % 3, 0, squares(seed))[: 66 + seed] for seed in range(7)]
    wrong = [
        np.where(random.random(labels.shape) < 0.02, 4, np.roll(labels, k % 3, 1)) for k, labels in enumerate(truth)
    ]
    masks, binary = ([(labels > 0).astype(int) for labels in maps] for maps in (truth, wrong))
    soft = [
        np.clip((0.5 * mask + random.random(mask.shape) * 0.6) * (0.4 + 0.1 * k), 0, 1).round(2)
        for k, mask in enumerate(binary)
    ]
    parts, found = ([ndimage.label(mask)[0] for mask in maps] for maps in (masks, binary))
    of_classes = [
        np.stack([np.clip(0.4 * (labels == k) + score, 0, 1) for k in range(5)])
        for labels, score in zip(wrong, soft, strict=True)
    ]
    anomalous = [np.kron(mask, np.ones((4, 5), int)) * (k % 3 > 0) for k, mask in enumerate(masks)]
    scores = [random.permutation(mask.size).reshape(mask.shape) / mask.size + mask / 3 for mask in anomalous]
    return {
        "pixels": (Pixels(at=(0.4,)), masks, soft),
        "masks": (Pixels(), masks, binary),
        "labels": (Labels(classes=5), truth, wrong),
        "binary labels": (Labels(), masks, binary),
        "contours": (Contours(nsd=(1, 2)), masks, binary),
        "contours of classes": (Contours(classes=5), truth, wrong),
        "sequences": (Contours(sequences=True, all_frames=True), masks, binary),
        "saliency": (Saliency(positive=1), masks, soft),
        "boundaries": (Boundaries(crispness=True), masks, soft),
        "regions": (Regions(), parts, found),
        "centerlines": (Centerlines(), masks, binary),
        "centerlines of soft maps": (Centerlines(thresholds=(0.2, 0.4, 0.6, 0.8)), masks, soft),
        "anomalies": (Anomalies(), anomalous, scores),
        "objects": (Objects(), parts, found),
        "components": (Objects(kind="components"), masks, binary),
        "classes": (Classes(labels=range(5)), truth, of_classes),
    }


BY_CHANCE = {
    *("miou_classes", "mean_dice_cases", "mean_iou_cases"),  # as both classes are in every image
    *("pri_ods", "voi_ods", "voi_split", "voi_merge", "are_ods", "are_precision", "are_recall"),  # of one threshold
    *("specificity_max", "pd"),  # as lowest thresholds and images with as many targets are alike
}


def measured_on(protocol, truth, predicted):
    pairs = enumerate(zip(truth, predicted, strict=True))
    return evaluate({f"{k % 3}/{k:02}": pair for k, pair in pairs}, protocol=protocol).measured


KINDS = (
    "pixels", "masks", "labels", "binary labels", "contours", "contours of classes", "sequences", "saliency",
    "boundaries", "regions", "centerlines", "centerlines of soft maps", "anomalies", "objects", "components", "classes",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:int64 values are levels")  # as masks may be
@pytest.mark.parametrize("kind", KINDS)
def test_metrics_that_are_means_over_images_say_so(kind):
    table = measured_on(*sets_of_protocols()[kind])
    images = table.measure_images()
    known = ~np.isnan(table.estimates) & ~np.isnan(images).all(axis=0)
    means = np.where(known, np.nansum(images, axis=0) / np.maximum((~np.isnan(images)).sum(axis=0), 1), np.nan)
    equal = np.isclose(means, table.estimates, rtol=1e-10)
    scores = [place for place, metric in enumerate(table.metrics) if metric.key and metric.kind == "score"]
    found = {table.metrics[place].key for place in scores if equal[place]}
    said = {table.metrics[place].key for place in scores if table.metrics[place].mean_over_images and known[place]}
    assert found - BY_CHANCE == said
    assert bool(said) == (kind != "centerlines of soft maps")


# Answers


def distances(values, **others):
    """Return a result of contours whose HD95 is these values: a square moved by so many pixels; none for no value."""
    pairs = []
    for value in values:
        truth = np.zeros((14, 90), int)
        truth[3:11, 3:11] = 1
        pairs.append((truth, np.zeros_like(truth) if value is None else np.roll(truth, value, 1)))
    return evaluate(pairs, protocol=Contours(), **others)


def compared(a, b, **settings):
    return compare_results([distances(a, method="a"), distances(b, method="b")], test="signed-rank", **settings)


ONE_TO_EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]
TWICE = [2, 4, 6, 8, 10, 12, 14, 16]


class TestAnswer:
    def test_names_test_estimate_wins_ties_and_losses(self):
        # Differences are -1 to -8: the median of their averages is -4.5, the fourth from either end -7 and -2.
        comparison = compared(ONE_TO_EIGHT, TWICE)
        (row,) = comparison.rows("hd95")
        assert (row.signed_rank_p, row.hodges_lehmann) == (2 / 2**8, -4.5)
        assert (row.hodges_lehmann_low, row.hodges_lehmann_high) == (-7, -2)
        assert (row.wins, row.ties, row.losses) == (8, 0, 0)
        verdict = comparison.answer().verdict
        assert verdict.startswith("a leads b by 4.5")
        assert verdict.endswith("(Hodges-Lehmann estimate; signed-rank test, p = .008; 8 wins, 0 ties, 0 losses)")
        assert comparison.signature.startswith("differences:signed-rank-95|")

    def test_table_has_the_same(self):
        lines = str(compared(ONE_TO_EIGHT, TWICE).answer()).splitlines()
        assert lines[2].split()[-4:] == ["a", "leads", "by", "W-T-L"]
        assert lines[4].split()[-2:] == ["4.5000", "8-0-0"]
        assert "better than: p of the signed-rank test at most .05" in lines[5]

    def test_both_tests_are_there_whichever_decides(self):
        (by_ranks,) = compared(ONE_TO_EIGHT, TWICE).rows("hd95")
        (by_t,) = compare_results([distances(ONE_TO_EIGHT, method="a"), distances(TWICE, method="b")]).rows("hd95")
        assert by_ranks == by_t
        assert by_ranks.p_value != by_ranks.signed_rank_p
        assert (by_ranks.by("t-test"), by_ranks.by("signed-rank").p_value) == (by_t, by_t.signed_rank_p)

    def test_turned_round(self):
        (row,) = compared(ONE_TO_EIGHT, TWICE).rows("hd95", against="a")
        assert (row.a, row.hodges_lehmann, row.hodges_lehmann_low, row.hodges_lehmann_high) == ("b", 4.5, 2, 7)
        assert (row.wins, row.losses, row.signed_rank_p) == (0, 8, 2 / 2**8)

    def test_side_is_of_the_differences_where_the_mean_is_on_the_other(self):
        # a is better in eleven images and fails in one, so that its mean is 3 / 12 px worse: T is 12 of 78.
        comparison = compared([1] * 11 + [70], [*range(2, 13), 1])
        (row,) = comparison.rows("hd95")
        assert row.difference == pytest.approx(3 / 12)
        assert (row.signed_rank_p, row.wins, row.losses) == (pytest.approx(2 * 70 / 2**12), 11, 1)
        assert comparison.answer().leader == "a"
        assert comparison.answer().verdict.endswith("11 wins, 0 ties, 1 loss; the mean of b is better)")
        assert comparison.answer().standings[0].better_than == ("b",)

    def test_images_without_a_value_are_left_out(self):
        whole = compared(ONE_TO_EIGHT, TWICE).rows("hd95")[0]
        (row,) = compared([*ONE_TO_EIGHT, 30, None], [*TWICE, None, 1]).rows("hd95")
        assert (row.signed_rank_p, row.hodges_lehmann) == (whole.signed_rank_p, whole.hodges_lehmann)
        assert (row.wins, row.ties, row.losses) == (8, 0, 0)

    def test_no_image_that_both_have_is_said(self):
        comparison = compared([1, 2, 3, None, None, None, None], [None, None, None, 1, 2, 3, 4])
        assert comparison.why_none("hd95", "a", "b")["p_value"].kind == "none-in-common"
        assert math.isnan(comparison.rows("hd95")[0].signed_rank_p)
        assert comparison.answer().verdict.startswith("No clear winner by HD95")

    def test_fewer_than_six_that_are_not_0_are_said(self):
        comparison = compared([1] * 12, [2, 2, 2, 2, *[1] * 8])
        (row,) = comparison.rows("hd95")
        assert (row.signed_rank_p, row.wins, row.ties, row.losses) == (0.125, 4, 8, 0)
        assert comparison.answer().verdict.endswith(
            "4 wins, 8 ties, 0 losses; 4 differences are not 0, and with fewer than 6 p cannot be .05 or less)"
        )

    def test_too_few_for_holm_are_said(self):
        methods = [
            distances([k + step for k in range(6)], method=name) for name, step in zip("abc", (0, 7, 20), strict=True)
        ]
        answer = compare_results(methods, test="signed-rank").answer()
        # 3 pairs of 6 images: 3 * 2 / 64 = .094
        assert answer.leader == ""
        assert answer.verdict.endswith(
            "at most 6 differences of a pair are not 0, and with fewer than 7 none of 3 p-values can be .05 or less)"
        )
        assert "none of 3" not in compare_results(methods, test="signed-rank", level=0.9).answer().verdict

    def test_too_few_images_have_no_interval(self):
        comparison = compared([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
        (row,) = comparison.rows("hd95")
        assert (row.signed_rank_p, row.hodges_lehmann) == (2 / 2**5, -3)
        assert math.isnan(row.hodges_lehmann_low)
        (reason,) = comparison.why_none("hd95", "a", "b").values()
        assert (reason.kind, reason.values["images"], reason.values["least"]) == ("too-few", 5, 6)
        assert "interval" not in compared([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], level=0.9).why_none("hd95", "a", "b")

    def test_the_same_in_every_image_has_p_1(self):
        (row,) = compared(ONE_TO_EIGHT, ONE_TO_EIGHT).rows("hd95")
        assert (row.signed_rank_p, row.hodges_lehmann) == (1, 0)
        assert (row.hodges_lehmann_low, row.hodges_lehmann_high) == (0, 0)
        assert (row.wins, row.ties, row.losses) == (0, 8, 0)

    def test_an_estimate_of_0_has_the_side_of_its_ranks(self):
        # Of 80 zeros and 20 positive differences, most averages are 0.
        comparison = compared([2] * 20 + [1] * 80, [1] * 100)
        assert comparison.rows("hd95")[0].hodges_lehmann == 0
        assert comparison.rows("hd95")[0].signed_rank_p < 0.0001
        assert comparison.answer().leader == "b"

    def test_holm_is_over_all_pairs_and_classes(self):
        methods = [
            distances([k + step for k in range(10)], method=name) for name, step in zip("abc", (0, 7, 20), strict=True)
        ]
        rows = compare_results(methods, test="signed-rank").rows("hd95")
        assert [row.signed_rank_p for row in rows] == [2 / 2**10] * 3
        assert [row.signed_rank_p_holm for row in rows] == [3 * 2 / 2**10] * 3

    def test_comparisons_can_be_pickled(self):
        comparison = compared(ONE_TO_EIGHT, TWICE)
        again = pickle.loads(pickle.dumps(comparison))  # noqa: S301  our own
        assert again.answer().verdict == comparison.answer().verdict


class TestWhichMetric:
    def test_the_first_mean_over_images_stands_for_a_headline_that_is_none(self):
        answer = compare(pixel_methods(20, gaps=(0, 0.6)), test="signed-rank").answer()
        assert answer.metric.key == "mean_image_f"
        assert answer.verdict.startswith("b leads a by .")
        assert answer.verdict.endswith("; judged by mean F, the first mean over images, since ODS F is none")

    def test_a_headline_that_is_a_mean_is_judged_by_itself(self):
        comparison = compared(ONE_TO_EIGHT, TWICE)
        assert comparison.metric().key == "hd95"  # Dice comes first in the table
        assert "judged by" not in comparison.answer().verdict

    def test_others_have_no_test_and_the_reason(self):
        comparison = compare(pixel_methods(12), test="signed-rank")
        verdict = comparison.answer("ods_f").verdict
        assert verdict.endswith("without a test (the signed-rank test is for means over images)")
        (row,) = comparison.rows("ods_f")
        assert math.isnan(row.signed_rank_p)
        assert math.isnan(row.hodges_lehmann)
        assert not math.isnan(row.p_value)
        assert comparison.answer("ods_f").leader == ""

    def test_means_over_groups_are_refused(self):
        random = np.random.default_rng(0)
        pairs = {f"{k % 2}/{k}": (random.random((6, 6)) < 0.4, random.random((6, 6))) for k in range(12)}
        means = [evaluate(pairs, method=name).parts("group", "folder").mean for name in "ab"]
        with refused("ranks-of-parts", ArgumentError, given=Setting("test", "signed-rank"), parts="groups"):
            compare_results(means, test="signed-rank")

    def test_protocols_without_a_mean_are_refused(self):
        random = np.random.default_rng(0)
        pairs = [(random.random((70, 70)) < 0.4, random.random((70, 70))) for _ in range(6)]
        results = [evaluate(pairs, method=name, protocol=Centerlines(thresholds=(0.3, 0.6))) for name in "ab"]
        with refused("ranks-without-mean", ArgumentError, given=Setting("test", "signed-rank"), noun="image"):
            compare_results(results, test="signed-rank")

    def test_unknown_tests_are_refused(self):
        expected = "'t-test' or 'signed-rank'; perhaps 'signed-rank' is meant"
        with refused("wrong-value", argument=Setting("test", None), value="'wilcoxon'", expected=expected):
            compare(pixel_methods(8), test="wilcoxon")
