from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured import PIXELS, keys_of, pixel_summary
from noted import of_kind
from refusing import refused
from threadpoolctl import threadpool_info

from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.core.table import Table
from segbench.curves.curve import pr_curve, roc_curve
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.statistics.bands import curve_band
from segbench.statistics.intervals import intervals
from segbench.statistics.measured import Measured

FIGURES = set(pixel_summary({})) - {"positives", "negatives", "ignored"}
IMAGE = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6)


def image(pairs, first=0.0):
    positives, negatives = zip(*pairs, strict=True) if pairs else ((), ())
    return ScoreCounts(first + np.arange(len(pairs))[::-1], positives, negatives)


def some_images(count, seed=0, levels=20):
    rng = np.random.default_rng(seed)
    easy = np.linspace(0.2, 3, levels)
    return {
        f"{k:03}": ScoreCounts(
            np.arange(levels)[::-1],
            rng.poisson(easy[::-1] * rng.uniform(0.5, 3)),
            rng.poisson(easy * rng.uniform(2, 9)),
        )
        for k in range(count)
    }


def same(found, expected):
    assert set(found) == FIGURES
    for key in FIGURES:
        assert found[key] == pytest.approx(expected[key], rel=1e-14, nan_ok=True), key


@settings(max_examples=60, deadline=None)
@given(st.lists(IMAGE, min_size=1, max_size=6), st.data())
def test_weights_are_copies_of_images(images, data):
    per_image = {str(k): image(pairs, first=k % 3) for k, pairs in enumerate(images)}
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(images), max_size=len(images)))
    table = PIXELS.table(per_image)
    copies = {f"{name} {k}": per_image[name] for name, n in zip(per_image, times, strict=True) for k in range(n)}
    found = table.measure(np.array([times, np.ones(len(times))], dtype=np.float64))
    same(dict(zip(keys_of(table), found[0], strict=True)), pixel_summary(copies))
    same(dict(zip(keys_of(table), found[1], strict=True)), pixel_summary(per_image))


def test_many_images_of_many_scores_are_laid_out_sparsely():
    rng = np.random.default_rng(0)
    images = {
        f"{k:03}": ScoreCounts(
            np.sort(rng.choice(8_000, 200, replace=False))[::-1], rng.integers(0, 3, 200), rng.integers(0, 9, 200)
        )
        for k in range(2200)
    }
    table = PIXELS.table(images)
    same(dict(zip(keys_of(table), table.measure(np.ones((1, 2200)))[0], strict=True)), pixel_summary(images))


def draws(images, *, replicates, seed=0):
    """Every metric in every resample, by key."""
    table = PIXELS.table(images)
    drawn = Measured(table, 0.95, replicates, seed).draws
    return dict(zip(keys_of(table), drawn.T, strict=True))


def test_the_same_seed_draws_the_same_and_another_seed_others():
    images = some_images(30)
    first, again, other = (intervals(images, replicates=50, seed=seed) for seed in (1, 1, 2))
    assert str(dict(first)) == str(dict(again))
    assert first["ods_precision"] != other["ods_precision"]
    assert first["ods_f"] == other["ods_f"]
    assert first.signature == "intervals:jackknife-95|resamples:50-1"


def test_a_draw_is_of_as_many_images_with_replacement():
    # Image k has 4**k positives, so the pooled total tells how often each was drawn.
    images = {str(k): ScoreCounts([1], [4**k], [1]) for k in range(3)}
    precision = draws(images, replicates=500)["ods_precision"]
    seen = {round(3 * p / (1 - p)) for p in precision}
    assert seen == {i * 1 + j * 4 + (3 - i - j) * 16 for i in range(4) for j in range(4 - i)}


def test_metrics_that_jump_have_quantiles_of_resamples():
    images = some_images(30)
    found = intervals(images, level=0.8, replicates=300)
    drawn = draws(images, replicates=300)["ods_precision"]
    assert found["ods_precision"] == pytest.approx(tuple(np.quantile(drawn, [0.1, 0.9])))


def test_below_30_images_metrics_that_jump_have_no_interval_but_a_reason():
    found = intervals(some_images(29), replicates=20)
    assert np.isnan(found["ods_precision"]).all()
    reason = found.undefined["ods_precision"]
    assert (reason.kind, reason.values) == ("too-few", {"number": 29, "noun": "image", "least": 30})


def test_metrics_that_never_have_an_interval_promise_none_for_more_images():
    assert intervals(some_images(29), replicates=20).undefined["fpr_at_95_tpr"].kind == "jumps"


def test_few_images_are_said_to_be_few():
    assert intervals(some_images(9)).notes[0].values["images"] == 9
    assert intervals(some_images(10)).notes == ()


def test_without_negatives_only_metrics_that_need_them_have_no_interval():
    found = intervals({str(k): ScoreCounts([1], [4], [0]) for k in range(12)})
    assert found.undefined["auc_roc"].kind == "no-negatives"
    assert found.undefined["ods_f"].kind != "no-negatives"


@pytest.mark.parametrize("best", [0, 1])
def test_images_all_alike_have_no_interval_of_no_width(best):
    found = intervals({str(k): ScoreCounts([2, 1], [3, best], [best, 4]) for k in range(12)})
    assert np.isnan(found["ods_f"]).all()
    assert found.undefined["ods_f"].kind == "no-spread"


def test_the_image_without_which_a_metric_is_undefined_is_named():
    images = {f"{k}": ScoreCounts([2, 1], [3 * (k == 4), 0], [1, 4]) for k in range(10)}
    found = intervals(images)
    assert np.isnan(found["ods_f"]).all()
    reason = found.undefined["ods_f"]
    assert (reason.kind, reason.values) == ("undefined-without", {"noun": "image", "name": "4"})


def test_resamples_without_positives_are_left_out_and_counted():
    images = {str(k): ScoreCounts([2, 1], [3 * (k < 2), 0], [1, 4]) for k in range(30)}
    found = intervals(images, replicates=400)
    missing = int(np.isnan(draws(images, replicates=400)["ods_precision"]).sum())
    assert 20 < missing < 100  # two images in thirty are not drawn in (28 / 30)**30 = 13 % of the resamples
    notes = of_kind(found.notes, "undefined-resamples")
    assert {note.metrics[0][0]: note.values["resamples"] for note in notes}["ods_precision"] == missing


def test_a_band_of_images_all_alike_is_the_curve():
    counts = ScoreCounts([3, 2, 1], [3, 1, 4], [1, 4, 5])
    images = {str(k): counts for k in range(5)}
    pr, roc = pr_curve(counts), roc_curve(counts)
    band = curve_band(images, points=9, replicates=10)
    assert np.array_equal(band.low, band.high)
    assert band.at[3] == pr.recall[1]
    assert band.low[[0, 3, 4, 8]] == pytest.approx(pr.precision[[0, 1, 2, 3]])
    # Halfway along the last step: 6 true and 7.5 false positives.
    assert band.low[6] == pytest.approx(6 / 13.5)
    band = curve_band(images, space="roc", points=11, replicates=10)
    assert band.low[[0, 1, 5, 10]] == pytest.approx([3 / 8 * 0, *roc.tpr[1:4]])


def test_a_roc_band_starts_at_the_top_of_a_first_vertical_step():
    images = {str(k): ScoreCounts([2, 1], [3, 1], [0, 4]) for k in range(5)}
    assert curve_band(images, space="roc", points=2, replicates=5).low.tolist() == [0.75, 1]


def test_a_pr_band_starts_at_zero_where_a_false_positive_ranks_first():
    images = {str(k): ScoreCounts([3, 2, 1], [0, 3, 1], [1, 0, 4]) for k in range(5)}
    assert curve_band(images, points=5, replicates=5).low[[0, 3]].tolist() == [0, 0.75]


def test_a_pr_band_starts_at_the_first_score_of_each_resample():
    images = {"a": ScoreCounts([3, 1], [1, 1], [0, 4]), "b": ScoreCounts([2, 1], [1, 1], [1, 4])}
    band = curve_band(images, points=2, replicates=200)
    assert (band.low[0], band.high[0]) == (0.5, 1)


def test_a_boundary_band_of_images_all_alike_is_the_curve_where_it_was_measured():
    counts = BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [16, 5])
    band = curve_band({str(k): counts for k in range(5)}, points=11, replicates=10)
    assert band.low[[4, 6, 8]] == pytest.approx([0.8, 0.65, 0.5])
    assert np.array_equal(band.low, band.high, equal_nan=True)
    assert np.isnan(band.low[[0, 3, 9, 10]]).all()


def test_where_recall_folds_back_a_boundary_band_follows_the_curve_from_the_highest_threshold():
    # From .6 to .3 recall rises from .4 to .8 as precision falls from .8 to .5; at .1 thick lines are matched worse.
    counts = BoundaryCounts([0.1, 0.3, 0.6], [6, 8, 4], [10, 10, 10], [6, 8, 4], [60, 16, 5])
    band = curve_band({str(k): counts for k in range(5)}, points=11, replicates=10)
    assert band.low[[4, 5, 6, 7, 8]] == pytest.approx([0.8, 0.725, 0.65, 0.575, 0.5])


def test_a_boundary_band_widens_with_what_images_differ_in():
    images = {str(k): BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [12 + k, 5]) for k in range(12)}
    band = curve_band(images, points=11, replicates=200)
    assert band.high[4] - band.low[4] == pytest.approx(0, abs=1e-12)
    assert band.low[8] < 8 / 17.5 < band.high[8]


def test_one_image_has_no_band_and_boundaries_no_roc_band():
    assert np.isnan(curve_band(some_images(1), replicates=5).high).all()
    counts = BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [16, 5])
    assert np.isnan(curve_band({"a": counts}, replicates=5).low).all()
    with refused("no-roc", ArgumentError):
        curve_band({"a": counts}, space="roc")


def test_a_band_holds_most_of_the_curve_of_all_images():
    images = some_images(30)
    band = curve_band(images, replicates=400)
    middle = np.interp(band.at, *_points(pr_curve(ScoreCounts.sum(images.values()))))
    assert np.mean((band.low <= middle) & (middle <= band.high)) > 0.9


def test_a_band_without_positives_is_undefined_and_options_are_checked():
    assert np.isnan(curve_band({"a": ScoreCounts([1], [0], [4])}, replicates=5).low).all()
    with refused("wrong-value", ArgumentError, argument="space", value="'pi'"):
        curve_band(some_images(3), space="pi")
    with refused("wrong-value", ArgumentError, argument="points", value="1"):
        curve_band(some_images(3), points=1)


def _points(curve):
    return curve.recall, curve.precision


def test_products_take_one_core_and_leave_the_number_of_threads_as_it_was():
    def threads():
        return {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    class Rows:
        __array_ufunc__ = None
        shape = (4, 1)

        def __rmatmul__(self, weights):
            during.append(threads())
            return weights.sum(axis=1, keepdims=True)

    class Sums(Table):
        rows, images = Rows(), 4
        columns = formulas = None

        def score(self, sums):
            return sums

    during = []
    before = threads()
    with ThreadPoolExecutor(8) as pool:
        measured = list(pool.map(Sums().measure, [np.full((2, 4), k) for k in range(200)]))
    assert threads() == before
    assert [sums[0, 0] for sums in measured] == [4 * k for k in range(200)]
    assert len(during) == 200
    assert all(1 in found.values() for found in during)  # of NumPy's; SciPy may bring another
