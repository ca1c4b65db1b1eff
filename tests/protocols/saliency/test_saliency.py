"""Saliency: drawings worked by hand, degenerate images, invariants, SciPy, and the official values of 100 images."""

import json
import math
from dataclasses import fields
from fractions import Fraction
from functools import partial
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from noted import noted
from numpy.testing import assert_allclose, assert_array_equal
from refusing import refused
from scipy.ndimage import convolve, distance_transform_edt

import segbench
from segbench import ArgumentError, DataError, Saliency, count
from segbench.core.messages import Setting
from segbench.protocols.saliency import kernels
from segbench.protocols.saliency.counts import UNITS

ONES = Saliency(positive=1)
DEMO = Path(__file__).parents[3] / "datasets/demo/objects"


def value(counts, key):
    """Return the mean over images of a metric, or of a curve."""
    return getattr(counts, key) / (UNITS * counts.images)


def random_case(seed, shape=(21, 34), levels=256):
    rng = np.random.default_rng(seed)
    labels = rng.random(shape) < rng.choice([0.05, 0.4, 0.9])
    return labels, rng.integers(0, levels, shape).astype(np.uint8)


def alike(one, other, units=16):
    return all(
        np.abs(np.asarray(getattr(one, each.name), float) - np.asarray(getattr(other, each.name), float)).max() <= units
        for each in fields(one)
    )


class TestByHand:
    """Two rows and two columns: the right column is salient, and the map has 0, 1/2, 0 and 1."""

    @pytest.fixture
    def counts(self):
        return count([[0, 1], [0, 1]], [[0.0, 0.5], [0.0, 1.0]], ONES)

    def test_mae_is_an_eighth(self, counts):
        assert value(counts, "mae") == 0.125

    def test_curves_step_at_one_half(self, counts):
        # floor(255 / 2) = 127 finds both pixels up to 127, and one of two beyond; everything is found at 0.
        assert_array_equal(value(counts, "precision")[[0, 1, 127, 128, 255]], [0.5, 1, 1, 1, 1])
        assert_array_equal(value(counts, "recall")[[0, 1, 127, 128, 255]], [1, 1, 1, 0.5, 0.5])
        of_half = 1.3 * 0.5 / (0.3 + 0.5)
        assert_allclose(value(counts, "f")[[1, 128]], [1, of_half], atol=1e-13)

    def test_adaptive_threshold_is_twice_the_mean(self, counts):
        # 2 * 1.5 / 4 = .75: one of two is found.
        assert_allclose(value(counts, "f_adaptive"), 1.3 * 0.5 / 0.8, atol=1e-13)

    def test_maxima_and_means_over_thresholds(self, counts):
        assert value(counts, "f_max_of_image") == 1
        metrics = counts.metrics()
        assert_allclose(metrics["mean_iou"], (0.5 + 127 * 1 + 128 * 0.5) / 256, atol=1e-13)
        assert_allclose(metrics["mean_dice"], (2 / 3 + 127 + 128 * 2 / 3) / 256, atol=1e-13)

    def test_ber_is_measured_at_one_half_included(self, counts):
        assert value(counts, "ber") == 0

    def test_e_of_one_of_two(self, counts):
        prediction, truth = Fraction(1, 4), Fraction(1, 2)
        pairs = [(1, 1 - prediction, 1 - truth), (1, -prediction, 1 - truth), (2, -prediction, -truth)]
        aligned = sum(number * (2 * p * t / (p * p + t * t) + 1) ** 2 / 4 for number, p, t in pairs)
        assert_allclose(value(counts, "e_adaptive"), float(aligned / 3), atol=1e-13)

    def test_s(self, counts):
        # Positives: mean .75, variance .125; negatives are right. The centroid's row and column go to the first part.
        deviation = math.sqrt(0.125)
        of_objects = 0.5 * (2 * 0.75 / (0.75**2 + 1 + deviation)) + 0.5 * 1
        # Centroid: rows (0 + 1) / 2 rounds up to 1, column 1: one part holds all. x = 3/8, y = 1/2.
        x, y = 0.375, 0.5
        variance_x, variance_y = ((0.25 + 1) - 4 * x * x) / 3, 1 / 3
        covariance = (1.5 - 4 * x * y) / 3
        of_regions = 4 * x * y * covariance / ((x * x + y * y) * (variance_x + variance_y))
        assert_allclose(value(counts, "s_measure"), (of_objects + of_regions) / 2, atol=1e-13)


class TestDegenerateImages:
    def test_without_positives(self):
        counts = count(np.zeros((4, 5)), np.linspace(0, 1, 20).reshape(4, 5), ONES)
        assert_allclose(value(counts, "s_measure"), 0.5, atol=1e-13)  # 1 - mean
        assert [value(counts, key) for key in ("weighted_f", "f_max_of_image", "f_adaptive")] == [0] * 3
        assert counts.metrics()["mean_iou"] == 0
        # The share of negative predictions, of one pixel less than there are.
        assert_allclose(value(counts, "e")[[0, 255]], [0, 19 / 19], atol=1e-13)
        assert_allclose(value(counts, "ber"), 0.5, atol=1e-13)

    def test_all_positive(self):
        counts = count(np.ones((4, 5)), np.linspace(0, 1, 20).reshape(4, 5), ONES)
        assert_allclose(value(counts, "s_measure"), 0.5, atol=1e-13)
        assert_allclose(value(counts, "e")[[0, 255]], [20 / 19, 1 / 19], atol=1e-13)
        assert value(counts, "f_max_of_image") == 1

    @pytest.mark.parametrize("level", [0, 64, 255])
    def test_a_constant_map_is_not_stretched(self, level):
        labels = np.zeros((4, 6))
        labels[1:3, 2:4] = 1
        counts = count(labels, np.full((4, 6), level, np.uint8), ONES)
        assert_allclose(value(counts, "mae"), (20 * level + 4 * (255 - level)) / 255 / 24, atol=1e-13)
        assert_allclose(value(counts, "precision")[level], 4 / 24, atol=1e-13)
        assert value(counts, "f_adaptive") == value(counts, "f")[0 if level == 64 else level] * (level != 64)

    @pytest.mark.parametrize("salient", [0, 1])
    @pytest.mark.parametrize("score", [0.0, 1.0])
    def test_one_pixel(self, salient, score):
        counts = count([[salient]], [[score]], ONES)
        right = float(salient == score)
        assert value(counts, "s_measure") == right
        assert value(counts, "mae") == 1 - right
        assert value(counts, "f_max_of_image") == salient  # at threshold 0 everything is found
        assert counts.images == counts.pixels == 1

    def test_positives_in_the_last_row_and_column_leave_parts_empty(self):
        labels = np.zeros((4, 6))
        labels[3, 5] = 1
        counts = count(labels, labels, ONES)
        assert_allclose(value(counts, "s_measure"), 1, atol=1e-12)

    def test_a_perfect_map(self):
        labels = np.zeros((8, 9))
        labels[2:5, 3:7] = 1
        counts = count(labels, labels, ONES)
        for key, expected in {"mae": 0, "s_measure": 1, "weighted_f": 1, "f_max_of_image": 1, "ber": 0}.items():
            assert_allclose(value(counts, key), expected, atol=1e-12)
        assert_allclose(value(counts, "e_adaptive"), 72 / 71, atol=1e-12)


class TestInvariants:
    @pytest.mark.parametrize("seed", range(6))
    def test_types_of_one_map_agree(self, seed):
        labels, levels = random_case(seed)
        for stretch in (True, False):
            of_levels = count(labels, levels, Saliency(positive=1, stretch=stretch))
            assert alike(of_levels, count(labels, levels / 255, Saliency(positive=1, stretch=stretch)))
            assert alike(
                of_levels, count(labels, levels.astype(np.uint16) * 257, Saliency(positive=1, stretch=stretch))
            )

    @pytest.mark.filterwarnings("ignore:scores like logits:UserWarning")
    @pytest.mark.parametrize("seed", range(6))
    def test_a_stretched_map_does_not_depend_on_range(self, seed):
        labels, levels = random_case(seed, levels=100)
        assert alike(count(labels, levels / 2.0 - 7, ONES), count(labels, levels / 128.0, ONES))

    def test_arrays_are_not_modified(self):
        labels, levels = random_case(0)
        before = labels.copy(), levels.copy()
        count(labels, levels, ONES)
        assert_array_equal(labels, before[0])
        assert_array_equal(levels, before[1])

    def test_images_twice_change_nothing(self):
        pairs = [random_case(seed) for seed in range(4)]
        once = segbench.evaluate(pairs, protocol=Saliency(positive=1))
        twice = segbench.evaluate([*pairs, *pairs], protocol=Saliency(positive=1))
        for key, estimate in once.summary.items():
            assert_allclose(twice.summary[key], estimate, atol=1e-15)

    def test_the_table_measures_what_the_summary_holds(self):
        pairs = [random_case(seed) for seed in range(4)]
        result = segbench.evaluate(pairs, protocol=Saliency(positive=1))
        table = result.table
        assert_allclose(table.measure(np.ones((1, 4)))[0], table.estimates, atol=1e-14)
        alone = {name: segbench.evaluate([pair], protocol=Saliency(positive=1)).summary
                 for name, pair in zip(result.per_image, pairs, strict=True)}  # fmt: skip
        for name, values in result.per_image.items():
            assert_allclose(values["f_max"], alone[name]["f_max_of_image"], atol=1e-14)


class TestWeightedF:
    @pytest.mark.parametrize("seed", range(40))
    def test_the_nearest_positive_is_that_of_scipy(self, seed):
        rng = np.random.default_rng(seed)
        labels = rng.random(rng.integers(1, 40, 2)) < rng.choice([0.005, 0.05, 0.5])
        labels[tuple(rng.integers(0, labels.shape))] = True
        expected = distance_transform_edt(~labels, return_distances=False, return_indices=True)
        nearest = kernels.nearest_rows(labels.view(np.uint8))
        cells, ends = np.empty((2, labels.shape[1]), np.int32)
        for r, rows in enumerate(nearest):
            squares = (rows.astype(np.int64) - r) ** 2
            number = kernels.cells_of_row(rows, squares, cells)
            kernels.ends_of_cells(squares, cells[:number], ends)
            starts = np.maximum.accumulate(np.r_[0, ends[: number - 1]])
            columns = np.repeat(cells[:number], np.maximum(ends[:number] - starts, 0))
            assert_array_equal(columns, expected[1, r])
            assert_array_equal(rows[columns], expected[0, r])

    @pytest.mark.parametrize("seed", range(20))
    def test_agrees_with_filters_of_scipy(self, seed):
        """The definition of Margolin et al., written with SciPy."""
        rng = np.random.default_rng(seed)
        shape = rng.integers(1, 40, 2)
        labels = rng.random(shape) < rng.choice([0.02, 0.5])
        labels[tuple(rng.integers(0, shape))] = True
        scores = rng.random(shape).round(1)
        distances, nearest = distance_transform_edt(~labels, return_indices=True)
        errors = np.abs(scores - labels)
        spread = np.where(labels, errors, errors[tuple(nearest)])
        along = np.exp(-(np.arange(-3, 4) ** 2) / 50)
        gauss = np.outer(along, along)
        blurred = convolve(spread, gauss / gauss.sum(), mode="constant")
        weighted = np.where(labels, np.minimum(errors, blurred), errors * (2 - 0.5 ** (distances / 5)))
        true = labels.sum() - weighted[labels].sum()
        precision, recall = true / (true + weighted[~labels].sum()), 1 - weighted[labels].mean()
        expected = 2 * precision * recall / (precision + recall)
        found = count(labels, scores, Saliency(positive=1, stretch=False))
        assert_allclose(value(found, "weighted_f"), expected, atol=1e-12)


SIGMOID, DIVIDED = Setting("scale", "sigmoid", of="Repairs"), Setting("scale", of="Repairs", metavar="N")


class TestSettings:
    def test_each_changes_the_signature(self):
        signatures = {tuple(each.signature_fields().values()) for each in (
            Saliency(), Saliency(positive="255"), Saliency(stretch=False),
        )}  # fmt: skip
        assert len(signatures) == 3

    def test_others_are_refused(self):
        with refused("wrong-rule", ArgumentError, given=Setting("positive", "much")):
            Saliency(positive="much")

    @pytest.mark.parametrize(
        ("scores", "settings", "advice"),
        [
            ([[0.0, 2.0]], {"stretch": False}, [DIVIDED]),
            ([[7.0, 7.0]], {}, [DIVIDED]),
            ([[-7.0, -7.0]], {}, [SIGMOID]),
            ([[-7.0, 7.0]], {"stretch": False}, [SIGMOID]),
        ],
    )
    def test_maps_of_another_range_are_refused(self, scores, settings, advice):
        found = {"lowest": scores[0][0], "highest": scores[0][1]}
        with refused("outside-unit", DataError, path="prediction", **found) as raised:
            count([[0, 1]], scores, Saliency(positive=1, **settings))
        assert list(raised.value.settings) == advice

    def test_scores_that_are_not_finite_are_refused(self):
        with refused("not-finite", DataError, path="prediction", nan=1, infinite=0):
            count([[0, 1]], [[0.0, np.nan]], Saliency(positive=1))

    @pytest.mark.parametrize(
        ("labels", "scores", "kind"),
        [
            ([[0, 2]], [[0, 1]], "no-positives"),
            ([[0, 1]], [[0, 1, 0]], "no-positives"),
            ([0, 1], [0, 1], "other-shape"),
        ],
    )
    def test_arrays_of_other_values_or_shapes_are_refused(self, labels, scores, kind):
        with refused(kind):
            count(labels, scores, "saliency")

    @pytest.mark.parametrize(
        ("values", "rule"),
        [([0, 1000], "1000"), (range(400), "399"), (range(0, 65536, 5), ">=32768"), ([0, 1234567], "1234567")],
    )
    def test_labels_are_refused_with_a_rule_that_fits_them(self, values, rule):
        labels = np.array([values])
        with refused("rule-for-8-bits", DataError, path="ground_truth", highest=max(values)) as raised:
            count(labels, labels / 2.0**30, "saliency")
        assert raised.value.settings == (Setting("positive", rule), Setting("positive", ">0"))


class TestGroundTruthThatTheRuleDoesNotFit:
    """The default rule is for levels of 8 bits: what it cannot read is an error with the rule that can."""

    @pytest.mark.parametrize(
        ("to_mask", "kind", "highest", "rule"),
        [
            (lambda labels: labels.astype(np.uint8), "no-positives", 1, ">=1"),
            (lambda labels: labels * np.uint8(100), "no-positives", 100, ">=100"),
            (lambda labels: np.full(labels.shape, np.uint8(7)), "no-positives", 7, ">=7"),
            (lambda labels: labels * (np.arange(34) / 32), "no-positives", 0.96875, ">0.5"),
            (lambda labels: labels * np.uint16(60000) + np.uint16(200), "rule-for-8-bits", 60200, ">32896"),
        ],
    )
    def test_is_refused(self, to_mask, kind, highest, rule):
        labels, levels = random_case(0)
        expected = {"settings": {"positive": rule}, "rule": ">128", "highest": highest}
        with refused(kind, DataError, path="ground_truth", **expected):
            count(to_mask(labels), levels, Saliency(positive=">128"))
        with refused(kind, DataError, **expected):
            segbench.evaluate([(to_mask(labels), levels)], protocol=Saliency())

    @pytest.mark.parametrize("rule", [">=1", ">128"])
    def test_the_rule_named_reads_masks_of_either_range(self, rule):
        labels, levels = random_case(0)
        expected = count(labels, levels, ONES)
        for factor in (1, 255, 65535) if rule == ">=1" else (255, 65535):
            assert count(labels * np.uint16(factor), levels, Saliency(positive=rule)) == expected

    def test_blank_masks_are_background(self):
        labels, levels = random_case(0)
        result = segbench.evaluate([(labels * np.uint8(0), levels)], protocol=Saliency())
        assert result.notes == ()
        assert result.summary["f_max"] == 0

    def test_dark_grey_masks_are_counted_with_a_note(self, tmp_path):
        labels, levels = random_case(0)
        write_folders(tmp_path, labels * (levels // 3), levels)
        result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", protocol=Saliency())
        assert noted(result.notes) == [("ground truth", "nothing-salient", {"rule": ">128", "images": 1, "total": 1})]
        ((of_image,),) = result.image_notes.values()
        assert of_image.values == {"rule": ">128", "highest": 85}

    def test_check_refuses_what_a_run_would(self, segbench, tmp_path):
        labels, levels = random_case(0)
        write_folders(tmp_path, labels * np.uint8(100), levels)
        folders = tmp_path / "gt", tmp_path / "pred"
        checked = segbench("check", "saliency", *folders, "--format", "json")
        counted = segbench("saliency", *folders, "--no-check", "--format", "json")
        assert (checked.code, counted.code) == (1, 1)
        (finding,) = json.loads(checked.out)["reports"][0]["findings"]
        (failure,) = json.loads(counted.out)["runs"][0]["failures"].values()
        assert (failure["kind"], failure["values"]["highest"]) == ("no-positives", 100)
        assert (finding["kind"], finding["values"]["errors"]) == ("not-countable", ["no-positives"])
        assert finding["settings"] == failure["settings"] == [{"name": "positive", "value": ">=100"}]


class TestPlots:
    @pytest.fixture
    def result(self):
        return segbench.evaluate([random_case(seed) for seed in range(3)], protocol=Saliency(positive=1))

    @pytest.mark.parametrize(
        ("draw", "key"), [(partial(segbench.plot, kind="f"), "f_max"), (partial(segbench.plot, kind="e"), "e_max")]
    )
    def test_dots_are_at_the_maximum_of_the_mean_curve(self, result, draw, key):
        curve, dot = draw(result).lines
        ((at, height),) = dot.get_xydata()
        assert_allclose(height, result.summary[key], atol=1e-15)
        measured = {"f_max": result.curve.f, "e_max": result.curve.e}[key]
        assert_allclose(measured[round(255 * at)], height, atol=1e-15)
        assert abs(curve.get_ydata().max() - height) < 1e-3
        if key == "f_max":
            assert at == result.summary["f_max_threshold"]

    def test_lines_of_equal_f_weigh_precision(self, result):
        lines = segbench.plot_pr(result).lines[:9]
        for f, line in zip(np.arange(1, 10) / 10, lines, strict=True):
            recall, precision = line.get_xydata()[1:].T
            assert_allclose(1.3 * precision * recall / (0.3 * precision + recall), f, atol=1e-9)

    def test_other_protocols_have_no_e(self):
        result = segbench.evaluate([random_case(0)])
        with refused("no-plot", ArgumentError, settings={"kind": "pr"}, protocol="pixels", plot="E"):
            segbench.plot(result, "e")


class TestCheck:
    """What is ordinary of saliency maps is not found, and remedies are those that saliency has."""

    def test_saturated_and_unscaled_maps_are_ordinary(self, segbench, tmp_path):
        labels = np.zeros((60, 60), np.bool_)
        labels[20:40, 20:40] = True
        wide = np.zeros(labels.shape, np.uint8)
        wide[10:50, 10:50] = 255
        wide[:5] = np.arange(60)
        write_folders(tmp_path, labels, wide)
        answer = segbench("check", "saliency", tmp_path / "gt", tmp_path / "pred")
        assert (answer.code, "nothing found" in answer.out) == (0, True)

    @pytest.mark.parametrize(
        ("map_of", "options", "kind", "settings"),
        [
            (lambda levels: np.where(levels > 9, levels, np.nan), (), "not-finite", []),
            (lambda levels: levels - 100.0, ("--no-stretch",), "outside-unit", [{"name": "scale", "value": "sigmoid"}]),
        ],
    )
    def test_remedies(self, segbench, tmp_path, map_of, options, kind, settings):
        labels, levels = random_case(0)
        write_folders(tmp_path, labels, map_of(levels))
        answer = segbench("saliency", tmp_path / "gt", tmp_path / "pred", *options, "--format", "json", "--no-check")
        assert answer.code == 1
        (failure,) = json.loads(answer.out)["runs"][0]["failures"].values()
        assert (failure["kind"], failure["settings"][:1]) == (kind, settings)

    def test_rounding_is_not_refused(self):
        labels, levels = random_case(0)
        share = levels / 255
        share = (share - share.min()) / np.ptp(share)
        unstretched = Saliency(stretch=False)
        exact, rounded = (
            segbench.evaluate([(labels, one)], protocol=unstretched) for one in (share, share * (1 + 2e-7) - 1e-7)
        )
        assert dict(rounded.summary) == pytest.approx(dict(exact.summary), abs=3e-3)


def write_folders(folder, labels, scores):
    """Write one image; floats as NPY."""
    for name, array in (("gt", labels), ("pred", scores)):
        (folder / name).mkdir()
        if array.dtype.kind == "f":
            np.save(folder / name / "a.npy", array)
        else:
            iio.imwrite(folder / name / "a.png", array)


class TestCommand:
    def test_files_are_measured_shown_and_compared(self, segbench, tmp_path):
        kept = tmp_path / "r.segbench"
        folders = [DEMO / "predictions/random_walker", DEMO / "predictions/soft_otsu"]
        counted = segbench("saliency", DEMO / "ground_truth", *folders, "-o", kept)
        assert counted.code == 0, counted.err
        assert "protocol:saliency|positive:>128|stretch:yes|" in counted.out
        again = segbench("saliency", DEMO / "ground_truth", *folders, "-o", kept)
        assert again.out == counted.out
        assert segbench("compare", kept).code == 0
        assert "mae" in segbench("show", kept, "--per-image", "--format", "csv").out
        assert segbench("show", kept, "--intervals", "95").code == 0
        drawn = segbench("overlay", kept, "-o", tmp_path / "pictures", "--image", "coins", "--only", "soft_otsu")
        assert "soft_otsu: at threshold .3725 (f_max_threshold)" in drawn.err
        assert segbench("plot", kept, "--kind", "e", "-o", tmp_path / "e.svg").code == 0

    def test_one_bit_masks_need_no_rule(self, segbench, tmp_path):
        labels, levels = random_case(0)
        write_folders(tmp_path, labels, levels)
        answer = segbench("saliency", tmp_path / "gt", tmp_path / "pred", "--format", "json")
        assert answer.code == 0, answer.err
        assert not answer.err.count("no-positives")


def test_a_range_beyond_floats_is_an_error_that_names_the_map():
    scores = np.array([[-1.7e308, 1.7e308], [0, 1]])
    with refused("out-of-range", DataError, settings={"scale": "sigmoid"}, lowest=-1.7e308, highest=1.7e308):
        count(np.eye(2), scores, ONES)


@pytest.mark.parametrize(("level", "rows", "s_of_regions"), [(51, slice(4, 5), 0.75), (255, slice(0, 2), 1)])
def test_regions_in_which_nothing_varies_score_1(level, rows, s_of_regions):
    # PySODMetrics 1.6.2 gives .4848 and .0250; these are exact.
    truth = np.zeros((10, 10), bool)
    truth[rows, rows] = True
    value, share = Fraction(level, 255), Fraction(int(truth.sum()), 100)
    objects = sum(part * 2 * mean / (mean**2 + 1) for part, mean in ((share, value), (1 - share, 1 - value)))
    found = count(truth, np.full((10, 10), level, np.uint8), ONES).s_measure / UNITS
    assert found == pytest.approx(float(objects + Fraction(s_of_regions)) / 2, abs=1e-12)


def test_the_curves_of_a_set_are_the_means_of_those_of_its_images():
    rng = np.random.default_rng(0)
    images = [count(rng.random((9, 7)) < 0.4, rng.random((9, 7)), ONES) for _ in range(3)]
    of_set = segbench.saliency_curve(sum(images[1:], images[0])).columns
    of_images = [segbench.saliency_curve(image).columns for image in images]
    for name in ("precision", "recall", "f", "e"):
        assert of_set[name].max() <= 1.1
        assert_allclose(of_set[name], np.mean([columns[name] for columns in of_images], axis=0), rtol=1e-12)
