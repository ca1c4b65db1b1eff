"""Several runs of a method, trainings and folds: against formulas, in a worked example, and in small simulations.

Formulas are written here again, from confusion counts alone.
"""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from noted import of_kind
from refusing import refused
from sets import pixel_methods, row_of

import segbench
from segbench import LabelCounts
from segbench.core.errors import DataError
from segbench.statistics.means import RunMeans

LABELS = segbench.Labels(classes=2)
SETS = 40  # of each kind, 200 in all


def draw_runs(rng, images, runs, tau, methods=2):
    """Draw TP, FP and FN, shape (methods, runs, images, 3): skill varies by image, by run and by both."""
    size = (np.exp(rng.normal(0, 0.7, images)) * 800).astype(int) + 5
    shared, counts = rng.normal(0, 0.5, images), np.empty((methods, runs, images, 3), np.int64)
    for method in counts:
        of_method = rng.normal(0, 0.2, images)
        for run in method:
            logits = 1.6 + shared + of_method + rng.normal(0, 0.15, images) + rng.normal(0, tau)
            recall = 1 / (1 + np.exp(-logits))
            tp = rng.binomial(size, recall)
            run[:] = np.stack([tp, rng.poisson(size * (1 - recall)), size - tp], 1)
    return counts


def as_counts(run, names=None):
    """Counts of images whose ground truth has 10 000 pixels of background."""
    names = names or [f"{image:03}" for image in range(len(run))]
    return {
        name: LabelCounts("0-1", np.array([[10_000 - fp, fp, 0], [fn, tp, 0]]))
        for name, (tp, fp, fn) in zip(names, run.tolist(), strict=True)
    }


def as_runs(method):
    return [as_counts(run) for run in method]


def in_folds(run, folds):
    """Each fold's images as a run of its own; images are dealt to folds in turn."""
    counts = as_counts(run)
    return [{name: counts[name] for name in list(counts)[fold::folds]} for fold in range(folds)]


def iou(counts):
    return counts[..., 0] / counts.sum(-1)


def pseudo_values(counts, left_out):
    """Pseudo-values of the pooled IoU, one for each set of images that is left out."""
    parts = len(left_out)
    without = np.array([iou(counts.sum(0) - counts[images].sum(0)) for images in left_out])
    return parts * iou(counts.sum(0)) - (parts - 1) * without


def singly(images):
    return [[image] for image in range(images)]


def freedom_of_images(counts):
    weights = counts[:, 0] + counts[:, 2]
    return max(weights.sum() ** 2 / (weights**2).sum() - 1, min(2, len(weights) - 1))


def variance_of_images(ours, theirs):
    """Of the difference of means over runs, each shape (runs, images, 3)."""
    images = ours.shape[1]
    of_ours, of_theirs = (
        np.mean([pseudo_values(run, singly(images)) for run in method], 0) for method in (ours, theirs)
    )
    return (of_ours - of_theirs).var(ddof=1) / images


def means(*methods):
    return [np.mean([iou(run.sum(0)) for run in method]) for method in methods]


def variance_of_runs(method):
    return np.var([iou(run.sum(0)) for run in method], ddof=1)


def random_sets(seed):
    rng = np.random.default_rng(seed)
    for _ in range(SETS):
        images, tau = int(rng.integers(6, 13)), float(rng.choice([0.02, 0.1, 0.3]))
        yield rng, images, tau


def test_differences_of_several_runs_have_the_degrees_of_freedom_of_satterthwaite():
    for rng, images, tau in random_sets(0):
        numbers = [int(runs) for runs in rng.integers(2, 6, 2)]
        drawn = draw_runs(rng, images, max(numbers), tau)
        ours, theirs = drawn[0, : numbers[0]], drawn[1, : numbers[1]]
        v_i, freedom = variance_of_images(ours, theirs), freedom_of_images(ours[0])
        v_r = [variance_of_runs(method) / len(method) for method in (ours, theirs)]
        v = v_i + sum(v_r)
        joined = v**2 / (v_i**2 / freedom + sum(part**2 / (n - 1) for part, n in zip(v_r, numbers, strict=True)))
        a, b = means(ours, theirs)
        row = row_of(segbench.compare({"ours": as_runs(ours), "theirs": as_runs(theirs)}), "iou")
        assert row.difference == pytest.approx(a - b, abs=1e-12)
        assert row.standard_error == pytest.approx(math.sqrt(v), rel=1e-9)
        assert row.freedom == pytest.approx(joined, rel=1e-7)
        assert row.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(a - b) / math.sqrt(v), joined), rel=1e-6)
        reach = scipy.stats.t.ppf(0.975, joined) * math.sqrt(v)
        assert (row.low, row.high) == pytest.approx((max(a - b - reach, -1), min(a - b + reach, 1)), abs=1e-9)


def test_a_single_run_is_taken_to_vary_as_those_of_the_other_method_do():
    for rng, images, tau in random_sets(1):
        runs = int(rng.integers(2, 6))
        ours, theirs = draw_runs(rng, images, runs, tau)
        theirs = theirs[:1]
        v_i, freedom = variance_of_images(ours, theirs), freedom_of_images(ours[0])
        v_r = variance_of_runs(ours) * (1 / runs + 1)
        a, b = means(ours, theirs)

        def reach(p, v_i=v_i, v_r=v_r, freedom=freedom, runs=runs):
            return math.sqrt(sum(v * scipy.stats.t.isf(p / 2, df) ** 2 for v, df in ((v_i, freedom), (v_r, runs - 1))))

        p = scipy.optimize.brentq(lambda p: reach(p) - abs(a - b), 1e-30, 1, xtol=1e-16, rtol=1e-13)  # noqa: B023  at once
        for methods, sign in (
            ({"ours": as_runs(ours), "theirs": as_runs(theirs)}, 1),
            ({"theirs": as_counts(theirs[0]), "ours": as_runs(ours)}, -1),
        ):
            row = row_of(segbench.compare(methods), "iou")
            assert row.p_value == pytest.approx(p, rel=1e-6)
            ends = sorted(np.clip([sign * (a - b + side * reach(0.05)) for side in (-1, 1)], -1, 1))
            assert (row.low, row.high) == pytest.approx(tuple(ends), abs=1e-9)
            assert (row.p_value < 0.05) == (not row.low <= 0 <= row.high)
            assert row.standard_error == pytest.approx(math.sqrt(v_i + v_r), rel=1e-9)


def test_own_intervals_reach_as_far_as_images_and_trainings_together():
    for rng, images, tau in random_sets(2):
        runs = int(rng.integers(2, 6))
        (ours,) = draw_runs(rng, images, runs, tau, methods=1)
        pseudo = np.mean([pseudo_values(run, singly(images)) for run in ours], 0)
        off = pseudo - pseudo.mean()
        kurtosis, e = (off**4).mean() / (off**2).mean() ** 2, freedom_of_images(ours[0])
        freedom = np.clip(2 * images / (kurtosis - 1), min(2, e), e)
        v_i, v_r = pseudo.var(ddof=1) / images, variance_of_runs(ours) / runs
        reach = math.sqrt(v_i * scipy.stats.t.ppf(0.975, freedom) ** 2 + v_r * scipy.stats.t.ppf(0.975, runs - 1) ** 2)
        (mean,) = means(ours)
        at, width = math.log(mean / (1 - mean)), reach / (mean * (1 - mean))
        found = segbench.intervals(as_runs(ours))
        assert found["iou"] == pytest.approx(
            tuple(1 / (1 + math.exp(-at - side * width)) for side in (-1, 1)), abs=1e-9
        )
        assert found.standard_errors["iou"] == pytest.approx(math.sqrt(v_i + v_r), rel=1e-9)
        sources = found.components["iou"]
        assert sources["images"].error == pytest.approx(math.sqrt(v_i), rel=1e-9)
        assert (sources["trainings"].error, sources["trainings"].freedom) == pytest.approx((math.sqrt(v_r), runs - 1))


@pytest.mark.parametrize("same_folds", [True, False])
def test_differences_of_folds_take_the_variance_of_whole_folds_where_it_is_larger(same_folds):
    larger = 0
    for rng, fewer, tau in random_sets(3):
        images, folds = fewer + 6, int(rng.integers(3, 6))
        drawn = draw_runs(rng, images, 1, 0)[:, 0]
        sets = [list(range(fold, images, folds)) for fold in range(folds)]
        for method in drawn:  # a fold shares a training, which misses some of what the others find
            for fold in sets:
                lost = (method[fold, 0] * abs(rng.normal(0, tau))).clip(max=method[fold, 0]).astype(int)
                method[fold, 0] -= lost
                method[fold, 2] += lost
        ours, theirs = drawn
        v_i = variance_of_images(ours[np.newaxis], theirs[np.newaxis])
        v_f = (pseudo_values(ours, sets) - pseudo_values(theirs, sets)).var(ddof=1) / folds
        v, freedom = (v_f, folds - 1) if v_f > v_i else (v_i, freedom_of_images(ours))
        larger += v_f > v_i
        methods = {
            "ours": in_folds(ours, folds),
            "theirs": in_folds(theirs, folds) if same_folds else as_counts(theirs),
        }
        row = row_of(segbench.compare(methods), "iou")
        d = iou(ours.sum(0)) - iou(theirs.sum(0))
        assert row.difference == pytest.approx(d, abs=1e-12)
        assert (row.standard_error, row.freedom) == pytest.approx((math.sqrt(v), freedom), rel=1e-8)
        assert row.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(d) / math.sqrt(v), freedom), rel=1e-6)
    assert SETS / 10 < larger < SETS * 9 / 10


def test_methods_with_other_folds_have_what_either_adds():
    rng, added = np.random.default_rng(5), 0
    for _ in range(SETS // 4):
        drawn = draw_runs(rng, 18, 1, 0)[:, 0]
        sets = [[list(range(fold, 18, folds)) for fold in range(folds)] for folds in (4, 3)]
        for method, of_method in zip(drawn, sets, strict=True):
            for fold in of_method:
                lost = (method[fold, 0] * abs(rng.normal(0, 0.1))).astype(int)
                method[fold] += np.stack([-lost, 0 * lost, lost], 1)
        ours, theirs = drawn
        v_i = variance_of_images(ours[np.newaxis], theirs[np.newaxis])
        v_f = [(pseudo_values(ours, of) - pseudo_values(theirs, of)).var(ddof=1) / len(of) for of in sets]
        if min(v_f) <= v_i:
            continue
        added += 1
        row = row_of(segbench.compare({"ours": in_folds(ours, 4), "theirs": in_folds(theirs, 3)}), "iou")
        assert (row.standard_error, row.freedom) == pytest.approx((math.sqrt(sum(v_f) - v_i), 2), rel=1e-8)
    assert added


def test_two_folds_tell_too_little_of_trainings():
    ours, theirs = (in_folds(method[0], 2) for method in draw_runs(np.random.default_rng(0), 12, 1, 0))
    comparison = segbench.compare({"ours": ours, "theirs": theirs})
    reason = segbench.intervals(ours).undefined["iou"]
    assert (reason.kind, reason.values) == ("too-few", {"number": 2, "least": 3})
    assert comparison.why_none("iou", "ours", "theirs") == {"interval": reason, "p_value": reason}
    assert math.isnan(row_of(comparison, "iou").p_value)


def test_a_metric_undefined_without_a_fold_has_no_interval():
    def fold(name, false_positives):
        positives = 9 if name == "a" else 0  # of the images of the first fold alone
        missed = [min(k, positives) for k in false_positives]
        return {
            f"{name}{k}": LabelCounts("0-1", np.array([[50 - fp, fp, 0], [fn, positives - fn, 0]]))
            for k, (fp, fn) in enumerate(zip(false_positives, missed, strict=True))
        }

    methods = {"ours": [fold(name, [3, 1, 2]) for name in "abc"], "theirs": [fold(name, [4, 5, 1]) for name in "abc"]}
    comparison = segbench.compare(methods)
    reason = segbench.intervals(methods["ours"]).undefined["recall"]
    assert (reason.kind, reason.values) == ("undefined-without", {"noun": "fold", "name": "1"})
    assert comparison.why_none("recall", "ours", "theirs")["p_value"] == reason


def test_the_own_interval_of_folds_takes_the_larger_variance_too():
    (drawn,) = draw_runs(np.random.default_rng(0), 20, 1, 0, methods=1)[:, 0]
    for lost in (0, 0.5):
        ours = drawn.copy()
        ours[::4, 0] -= (lost * ours[::4, 0]).astype(int)
        ours[:, 2] = drawn[:, 0] + drawn[:, 2] - ours[:, 0]
        pseudo = pseudo_values(ours, [list(range(fold, 20, 4)) for fold in range(4)])
        v_f, v_i = pseudo.var(ddof=1) / 4, variance_of_images(ours[np.newaxis], np.tile([1, 0, 0], (1, 20, 1)))
        found, plain = segbench.intervals(in_folds(ours, 4)), segbench.intervals(as_counts(ours))
        assert (v_f > v_i) == (lost > 0)
        if not lost:
            assert found["iou"] == plain["iou"]
            continue
        mean = iou(ours.sum(0))
        reach = scipy.stats.t.ppf(0.975, 3) * math.sqrt(v_f) / (mean * (1 - mean))
        expected = [1 / (1 + math.exp(-math.log(mean / (1 - mean)) - side * reach)) for side in (-1, 1)]
        assert found["iou"] == pytest.approx(tuple(expected), abs=1e-9)
        assert (found.standard_errors["iou"], found.freedom["iou"]) == pytest.approx((math.sqrt(v_f), 3))
        assert found.components["iou"]["folds"].error == pytest.approx(math.sqrt(v_f))


def accuracies(*correct):
    """Images of 10 pixels, of which so many are right: accuracies are means over images."""
    return {
        f"image {k}": LabelCounts("0-1", np.array([[right - 4, 6 - (right - 4), 0], [0, 4, 0]]))
        for k, right in enumerate(correct)
    }


def test_a_difference_by_hand():
    # Runs of ours have .8 and .6, so s^2 = .02 and v_r = .01; theirs .5 and .5, which adds nothing. Image by image the
    # means over runs are .8 .7 .6 .8 .7 .6, those of theirs .5, so that v_i = .008 / 6, with 5 degrees of freedom.
    ours = [accuracies(9, 8, 7, 9, 8, 7), accuracies(7, 6, 5, 7, 6, 5)]
    theirs = [accuracies(*[5] * 6), accuracies(*[5] * 6)]
    row = row_of(segbench.compare({"ours": ours, "theirs": theirs}), "pixel_accuracy")
    v_i, v_r = 0.008 / 6, 0.01
    freedom = (v_i + v_r) ** 2 / (v_i**2 / 5 + v_r**2 / 1)
    assert row.difference == pytest.approx(0.2)
    assert row.standard_error == pytest.approx(math.sqrt(v_i + v_r))
    assert row.freedom == pytest.approx(freedom)
    assert row.p_value == pytest.approx(2 * scipy.stats.t.sf(0.2 / math.sqrt(v_i + v_r), freedom))
    # Over images alone p would be .0001.


@pytest.fixture(scope="module")
def simulated():
    """p-values of equally good methods, 3 runs against 3 and against 1: 30 images, logits of runs with an SD of .1."""
    rng, p_values = np.random.default_rng(0), []
    for _ in range(100):
        ours, theirs = draw_runs(rng, 30, 3, 0.1)
        methods = {"ours": as_runs(ours), "theirs": as_runs(theirs), "single": as_counts(theirs[0])}
        of_pairs = {(row.a, row.b): row.p_value for row in segbench.compare(methods).rows("iou")}
        p_values.append([of_pairs["ours", "theirs"], of_pairs["ours", "single"]])
    return np.array(p_values)


@pytest.mark.slow
class TestEquallyGoodMethods:
    def test_p_values_are_those_recorded(self, simulated):
        expected = [[0.044633, 0.227841], [0.943264, 0.385156], [0.834636, 0.688253]]
        assert simulated[:3] == pytest.approx(np.array(expected), abs=1e-5)

    def test_they_are_seldom_told_apart(self, simulated):
        assert np.all((simulated < 0.05).mean(axis=0) <= 0.1)  # .07 and .03; over images alone .24 and .30


def two_methods(images=12, runs=3, tau=0.1, seed=0):
    return draw_runs(np.random.default_rng(seed), images, runs, tau)


def test_a_list_of_one_run_is_that_run():
    ours, theirs = (as_counts(method[0]) for method in two_methods())
    plain, listed = (segbench.compare(methods) for methods in ({"a": ours, "b": theirs}, {"a": [ours], "b": (theirs,)}))
    assert repr(listed.differences) == repr(plain.differences)
    assert str(listed) == str(plain)
    assert repr(segbench.intervals([ours])) == repr(segbench.intervals(ours))


def test_results_are_joined_to_runs_as_their_counts_are():
    rng = np.random.default_rng(0)
    truths = {str(k): rng.random((12, 12)) < 0.3 for k in range(8)}

    def results(skill):
        return [
            segbench.evaluate(
                {name: (gt, (gt * skill + rng.random(gt.shape)).round(1) / 2) for name, gt in truths.items()}
            )
            for _ in range(3)
        ]

    ours, theirs = results(0.5), results(0.3)
    of_results = segbench.compare({"ours": ours, "theirs": theirs})
    counts = {"ours": [run.counts for run in ours], "theirs": [run.counts for run in theirs]}
    assert repr(of_results.differences) == repr(segbench.compare(counts).differences)
    mixed = segbench.compare({"ours": ours, "theirs": theirs[0].counts})
    assert repr(mixed.differences) == repr(segbench.compare({"ours": ours, "theirs": theirs[0]}).differences)
    other = segbench.evaluate({name: (gt, gt) for name, gt in truths.items()}, protocol="saliency")
    with refused("several-protocols", found="pixels (ours@1, theirs), saliency (ours@2)"):
        segbench.compare({"ours": [ours[0], other], "theirs": theirs[0]})


@pytest.mark.parametrize("as_given", [as_runs, lambda method: in_folds(method[0], 3)])
def test_with_units_images_of_a_unit_count_as_one(as_given):
    ours, theirs = two_methods(images=24)

    def summed(method):  # images of a unit are 3 apart, so that they lie in one fold
        return method.reshape(len(method), 4, 2, 3, 3).sum(2).reshape(len(method), 12, 3)

    def unit_of(name):
        block, place = divmod(int(name), 6)
        return f"{3 * block + place % 3:03}"

    by_unit = segbench.compare({"ours": as_given(ours), "theirs": as_given(theirs)}, unit=unit_of)
    at_once = segbench.compare({"ours": as_given(summed(ours)), "theirs": as_given(summed(theirs))})
    found, expected = row_of(by_unit, "iou"), row_of(at_once, "iou")
    for field in ("difference", "standard_error", "freedom", "p_value", "low", "high"):
        assert getattr(found, field) == pytest.approx(getattr(expected, field), rel=1e-9)


def test_runs_that_are_alike_add_nothing():
    ours, theirs = (as_counts(method[0]) for method in two_methods())
    plain = row_of(segbench.compare({"a": ours, "b": theirs}), "iou")
    for methods in ({"a": [ours] * 4, "b": [theirs] * 3}, {"a": [ours] * 4, "b": theirs}):
        row = row_of(segbench.compare(methods), "iou")
        assert (row.p_value, row.low, row.high) == pytest.approx((plain.p_value, plain.low, plain.high), rel=1e-9)
    assert row_of(segbench.compare({"a": [ours] * 2, "b": ours}), "iou").p_value == 1


def test_the_order_of_runs_changes_nothing():
    ours, theirs = two_methods()
    rows = [
        row_of(segbench.compare({"a": as_runs(ours[order]), "b": as_runs(theirs)}), "iou")
        for order in ([0, 1, 2], [2, 0, 1])
    ]
    assert rows[0].p_value == pytest.approx(rows[1].p_value, rel=1e-9)


def test_methods_of_one_run_are_compared_as_without_the_others():
    ours, theirs = two_methods()
    (third,) = two_methods(seed=1)[:1, 0]
    third[:, 2] += ours[0, :, [0, 2]].sum(0) - third[:, [0, 2]].sum(1)  # of the same ground truth
    third[:, 0] += third[:, 2].clip(max=0)
    third[:, 2] = third[:, 2].clip(min=0)
    single = {"theirs": as_counts(theirs[0]), "third": as_counts(third)}
    alone, beside = (segbench.compare(methods) for methods in (single, {"ours": as_runs(ours), **single}))
    (expected,) = alone.rows("iou")
    found = next(row for row in beside.rows("iou") if (row.a, row.b) == ("theirs", "third"))
    assert (found.p_value, found.low, found.high, found.freedom) == (
        expected.p_value,
        expected.low,
        expected.high,
        expected.freedom,
    )
    assert beside.intervals["third"]["iou"] == alone.intervals["third"]["iou"]


class TestWhatIsSaid:
    def test_how_many_runs(self):
        ours, theirs = map(as_runs, two_methods())
        numbers = ("3 runs of ours, 1 of theirs, taken to vary alike", "3 runs of ours, 2 of theirs", "3 runs of each")
        for given, runs in enumerate(numbers, start=1):
            compared = segbench.compare({"ours": ours, "theirs": theirs[:given]})
            (note,) = of_kind(compared.notes, "over-trainings")
            assert note.values["runs"] == runs
            assert f"{runs})" in compared.answer().verdict

    def test_what_two_runs_are_worth(self):
        ours = as_runs(two_methods()[0])
        (note,) = segbench.intervals(ours[:2]).notes
        assert note.kind == "two-runs"
        assert (note.values["t"], note.values["of_three"]) == pytest.approx((12.706, 4.303), abs=1e-3)
        assert not segbench.intervals(ours).notes

    def test_what_folds_share(self):
        ours, theirs = (in_folds(method[0], 4) for method in two_methods())
        compared = segbench.compare({"ours": ours, "theirs": theirs})
        assert "4 folds of each)" in compared.answer().verdict
        assert (compared.notes[-1].kind, compared.notes[-1].values["folds"]) == ("folds-share-images", 4)

    def test_of_single_runs_that_others_may_differ(self):
        better, worse = pixel_methods(12, gaps=(1, 0)).values()
        compared = segbench.compare({"a": better, "b": worse})
        (note,) = of_kind(compared.notes, "single-runs")
        assert note.values["several"].python.startswith("compare({'ours': [")
        assert str(note) in str(compared)
        assert not of_kind(segbench.compare({"a": better, "b": [worse, worse]}).notes, "single-runs")
        assert not of_kind(segbench.compare({"a": better, "b": dict(better)}).notes, "single-runs")

    def test_methods_that_cannot_be_told_apart_from_the_best_may_differ_from_each_other(self):
        varied = [accuracies(*[right, right, right - 1] * 4) for right in (10, 8, 6)]
        steady = [accuracies(*[7, 7, 6] * 4)] * 3
        worse = accuracies(*[5, 6, 5] * 4)
        answer = segbench.compare({"varied": varied, "steady": steady, "worse": worse}).answer("pixel_accuracy")
        assert answer.verdict == (
            "No clear winner by acc: steady and worse cannot be told apart from varied on 12 images"
        )
        assert answer.side("steady", "worse") == 1

    def test_what_p_values_are_over(self):
        ours, theirs = two_methods()
        runs = segbench.compare({"ours": as_runs(ours), "theirs": as_counts(theirs[0])})
        assert runs.over("12 images") == "12 images and trainings"
        folds = segbench.compare({name: in_folds(run, 4) for name, run in (("ours", ours[0]), ("theirs", theirs[0]))})
        assert folds.over("images") == "images or folds"
        single = segbench.compare({"ours": as_counts(ours[0]), "theirs": as_counts(theirs[0])})
        assert single.over("images") == "images"

    def test_when_more_runs_help_more_than_images(self):
        ours, theirs = two_methods(images=30, runs=3, tau=0.3, seed=4)
        comparison = segbench.compare({"ours": as_runs(ours), "theirs": as_runs(theirs)})
        runs = [[segbench.intervals(run).estimates["miou"] for run in as_runs(method)] for method in (ours, theirs)]
        v_r = sum(np.var(of_method, ddof=1) / 3 for of_method in runs)
        v_i = row_of(comparison, "miou").standard_error ** 2 - v_r
        (sentence,) = comparison.answer().sentences()[1:]
        of_images, of_trainings = (f"{math.sqrt(v):.4f}".removeprefix("0") for v in (v_i, v_r))
        assert sentence == (
            f"More images alone would not make a difference of .049 significant: trainings vary it by {of_trainings}, "
            f"images by {of_images}"
        )


def distances(*found):
    """Counts of contours, of images with one square, which a method finds or not; the sizes of its squares."""
    truth = np.zeros((20, 20), bool)
    truth[5:15, 5:15] = True
    images = {}
    for k, size in enumerate(found):
        prediction = np.zeros((20, 20), bool)
        prediction[5 : 5 + size, 5 : 5 + size] = True
        images[str(k)] = segbench.count(truth, prediction, "contours")
    return images


def test_all_runs_of_a_pair_are_measured_on_the_images_that_all_have():
    ours = [distances(0, 9, 8, 8, 9, 7, 6, 9), distances(8, 9, 9, 6, 8, 0, 8, 9)]  # without a distance in 0, and in 5
    theirs = distances(7, 0, 7, 9, 6, 7, 9, 5)  # without one in 1
    kept = ("2", "3", "4", "6", "7")

    def on_kept(images):
        return {name: counts for name, counts in images.items() if name in kept}

    comparison = segbench.compare({"ours": ours, "theirs": theirs})
    row = row_of(comparison, "hd95")
    assert (row.both, row.lacking_a, row.lacking_b) == (5, 2, 1)
    assert comparison.answer("hd95").verdict.endswith("; ours finds nothing in 2, theirs in 1")
    expected = row_of(segbench.compare({"ours": [*map(on_kept, ours)], "theirs": on_kept(theirs)}), "hd95")
    assert (row.estimate_a, row.estimate_b) == (expected.estimate_a, expected.estimate_b)
    assert row.difference == pytest.approx(row.estimate_a - row.estimate_b)


def test_a_metric_that_a_run_lacks_is_undefined():
    ours = [distances(*[9] * 8), distances(*[0] * 8)]
    comparison = segbench.compare({"ours": ours, "theirs": distances(*[8] * 8)})
    assert math.isnan(row_of(comparison, "hd95").difference)
    reason = comparison.undefined["hd95"]
    assert (reason.values["runs"], reason.values["methods"]) == (("2",), ("ours",))
    assert math.isfinite(row_of(comparison, "dice").difference)


def test_metrics_that_jump_have_quantiles_that_trainings_widen():
    runs = list(pixel_methods(40, gaps=(0, 0.2, -0.2)).values())
    found, apart = segbench.intervals(runs), [segbench.intervals(run) for run in runs]
    table = RunMeans({str(k): segbench.Pixels().table(run) for k, run in enumerate(runs)})
    place = [metric.key for metric in table.metrics].index("ods_precision")
    v_r = np.var([of_run.estimates["ods_precision"] for of_run in apart], ddof=1) / 3
    low, high = segbench.intervals([runs[0]] * 3)["ods_precision"]
    assert (low, high) == pytest.approx(apart[0]["ods_precision"], abs=1e-12)
    assert table.run_variances[place] == pytest.approx(v_r)
    reach = scipy.stats.t.ppf(0.975, 2) * math.sqrt(v_r)
    low, high = found["ods_precision"]
    assert high - low > 2 * reach
    with_folds = segbench.intervals([{name: run[name]} for run in runs[:1] for name in run])
    assert with_folds.undefined["ods_precision"].kind == "jumps"


def test_wins_and_ranks_are_of_means_over_runs():
    ours, theirs = two_methods(tau=0.3)
    comparison = segbench.compare({"ours": as_runs(ours), "theirs": as_runs(theirs)})
    of_images = [iou(method).mean(0) for method in (ours, theirs)]
    row = row_of(comparison, "iou")
    assert (row.wins, row.losses) == (np.sum(of_images[0] > of_images[1]), np.sum(of_images[0] < of_images[1]))
    ranks = comparison.rank_shares["iou"]
    assert sum(ranks["ours"]) == pytest.approx(1)


class TestRefused:
    def test_runs_that_share_some_images(self):
        run = as_counts(two_methods()[0, 0])
        fewer = dict(list(run.items())[:8])
        sharing = {"run": "1", "other": "2", "shared": 8, "images": 12, "other_images": 8}
        advised = {"images": tuple(fewer)}
        with refused("overlapping-runs", DataError, path="ours", settings=advised, **sharing):
            segbench.compare({"ours": [run, fewer], "theirs": run})
        with refused("overlapping-runs", DataError, settings=advised, **sharing):
            segbench.intervals([run, fewer])
        row = segbench.compare({"ours": [{name: run[name] for name in fewer}, fewer], "theirs": fewer})  # as it says
        assert row.images == 8

    def test_a_cross_validation_that_was_repeated(self):
        folds = in_folds(two_methods()[0, 0], 3)
        with refused("repeated-folds", DataError, run="1", other="4"):
            segbench.intervals(folds * 2)

    @pytest.mark.parametrize(
        ("runs", "given"), [([], "an empty list"), ([3], "a list of int"), (["path"], "a list of str")]
    )
    def test_what_is_no_run(self, runs, given):
        run = as_counts(two_methods()[0, 0])
        with refused("not-results", method="ours", given=given):
            segbench.compare({"ours": runs, "theirs": run})

    def test_a_run_without_images(self):
        run = as_counts(two_methods()[0, 0])
        with refused("other-images", path="ours, theirs") as raised:
            segbench.compare({"ours": [{}], "theirs": run})
        (lacking,) = raised.value.values["problems"]
        assert (lacking.kind, lacking.values["absent"], lacking.values["images"]) == ("lacking-images", "ours", 12)

    def test_other_ground_truth_of_one_run(self):
        ours, theirs = two_methods()
        other = as_counts(two_methods(seed=1)[0, 0])
        with refused("other-images", DataError, methods=("ours@1", "ours@2", "theirs")) as raised:
            segbench.compare({"ours": [as_counts(ours[0]), other], "theirs": as_counts(theirs[0])})
        (problem,) = raised.value.values["problems"]
        assert (problem.kind, problem.values["image"], problem.values["other_method"]) == (
            "other-ground-truth",
            "000",
            "ours@2",
        )


def test_means_over_groups_leave_out_whole_folds_of_all_groups():
    rng = np.random.default_rng(3)
    truths = {f"{group}/{k}": rng.random((12, 12)) < 0.3 for group in "ABC" for k in range(6)}
    folds = [{name: truth for name, truth in truths.items() if int(name[-1]) % 3 == fold} for fold in range(3)]
    trainings = [
        segbench.evaluate(
            {name: (truth, (truth * skill + rng.random(truth.shape)).round(1) / 2) for name, truth in fold.items()},
            method="net",
            run=str(run),
        )
        for run, (fold, skill) in enumerate(zip(folds, (0.3, 0.5, 0.4), strict=True))
    ]
    (net,) = segbench.join_runs(trainings)

    def mean_without(fold):
        left_out = folds[fold] if fold is not None else {}
        of_groups = [
            {name: counts for name, counts in net.counts.items() if name[0] == group and name not in left_out}
            for group in "ABC"
        ]
        return np.mean([segbench.intervals(images).estimates["ods_f"] for images in of_groups])

    found, mean = net.parts("group", by="folder").mean.intervals(), mean_without(None)
    pseudo = [3 * mean - 2 * mean_without(fold) for fold in range(3)]
    assert found.estimates["ods_f"] == pytest.approx(mean)
    assert found.components["ods_f"]["folds"].error == pytest.approx(scipy.stats.sem(pseudo))
