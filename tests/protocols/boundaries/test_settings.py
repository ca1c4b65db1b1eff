import json
import math

import numpy as np
import pytest
from cases import save_cell, write_folder
from noted import kinds, noted
from refusing import refused
from scipy.io import savemat

from segbench import (
    Accumulator,
    Annotators,
    ArgumentError,
    Boundaries,
    DataError,
    FailedImages,
    check,
    count,
    evaluate,
    nms,
)
from segbench.core.messages import Setting
from segbench.core.sample import Sample
from segbench.inputs.lines import label_boundaries
from segbench.protocols.boundaries.counting import count_boundary_maps

# A diagonal of 20 pixels, so that max_dist .05 is one pixel.
SHAPE = (12, 16)
PIXEL = Boundaries(max_dist=0.05, thresholds=(0.5,))


def column(*places, value=1.0):
    drawn = np.zeros(SHAPE)
    drawn[:, list(places)] = value
    return drawn


def four(counts):
    parts = (counts.matched_gt, counts.total_gt, counts.matched_pred, counts.total_pred)
    return [int(part.sum()) for part in parts]


def counted(root, truth, prediction, protocol=PIXEL, **options):
    write_folder(root / "gt", truth)
    write_folder(root / "pred", prediction)
    result = evaluate(root / "gt", root / "pred", protocol, **options)
    return {name: four(counts) for name, counts in result.counts.items()}


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "kind", "values"),
        [
            ({"max_dist": -1}, "wrong-value", {"argument": Setting("max_dist", None), "value": "-1"}),
            ({"max_dist": float("nan")}, "wrong-value", {"argument": Setting("max_dist", None), "value": "nan"}),
            ({"thresholds": 0}, "wrong-value", {"argument": Setting("thresholds", None), "value": "0"}),
            ({"thresholds": ()}, "wrong-value", {"argument": Setting("thresholds", None), "value": "()"}),
            ({"thresholds": (0.5, 0.5)}, "wrong-value", {"argument": Setting("thresholds", None)}),
            ({"thresholds": (0.2, float("inf"))}, "wrong-value", {"argument": Setting("thresholds", None)}),
            ({"nms": (-1, 5, 1.01)}, "wrong-value", {"argument": "radius", "value": "-1"}),
            ({"nms": (1, 5, 0)}, "wrong-value", {"argument": "multiplier", "value": "0"}),
            ({"nms": (1, 5, 1.01), "smoothing": -1}, "wrong-value", {"argument": "smoothing", "value": "-1"}),
            ({"positive": "many"}, "wrong-rule", {"given": Setting("positive", "many")}),
            ({"positive": "255", "label_maps": True}, "exclusive-settings", {"other": Setting("label_maps", None)}),
        ],
    )
    def test_what_cannot_be_is_refused_when_made(self, settings, kind, values):
        with refused(kind, ArgumentError, **values):
            Boundaries(**settings)

    @pytest.mark.parametrize("max_dist", ["px", "-1px", "2 mm", "7", "1e9px"])
    def test_a_tolerance_that_cannot_be_is_refused(self, max_dist):
        with refused("wrong-value", ArgumentError, settings={"max_dist": None}):
            Boundaries(max_dist=max_dist)

    @pytest.mark.parametrize("max_dist", [0.75, "0.75", 1])
    def test_a_percentage_as_a_fraction_of_the_diagonal_is_refused(self, max_dist):
        """At .75 of the diagonal all pixels match, after a long while; .75 % was meant."""
        with refused("wrong-value", ArgumentError, settings={"max_dist": None}, value=float(max_dist), expected=0.2):
            Boundaries(max_dist=max_dist)
        assert Boundaries(max_dist=0.2).max_dist == 0.2

    def test_a_tolerance_in_pixels_is_in_the_signature(self):
        assert Boundaries(max_dist="2.0px").signature_fields()["max_dist"] == "2px"
        assert Boundaries(max_dist="0.0075") == Boundaries()

    def test_the_signature_names_every_setting(self):
        assert Boundaries().signature_fields() == {
            "max_dist": "0.0075",
            "thresholds": "99",
            "thin": "yes",
            "nms": "no",
            "ground_truth": "nonzero",
            "invert": "no",
            "ties": "hash1",
        }
        fields = Boundaries(
            max_dist=0.011, thresholds=(0.25, 0.5), thin=False, nms=(2, 5, 1.03), smoothing=0, positive=">= 128"
        ).signature_fields()
        assert fields["thresholds"] == "0.25,0.5"
        assert (fields["thin"], fields["nms"]) == ("no", "2,5,1.03,smoothing 0")
        assert (fields["ground_truth"], fields["max_dist"]) == (">=128", "0.011")
        assert Boundaries(label_maps=True, invert=True).signature_fields()["ground_truth"] == "label maps"

    def test_no_two_settings_have_one_signature(self):
        every = [
            Boundaries(),
            Boundaries(max_dist=0.02),
            Boundaries(thresholds=9),
            Boundaries(thin=False),
            Boundaries(nms=(1, 5, 1.01)),
            Boundaries(nms=(1, 5, 1.01), smoothing=0),
            Boundaries(positive="1"),
            Boundaries(label_maps=True),
            Boundaries(invert=True),
        ]
        assert len({str(settings.signature_fields()) for settings in every}) == len(every)

    def test_the_human_point_does_not_depend_on_how_maps_are_read(self):
        plain = Annotators(settings=Boundaries()).signature_fields()
        other = Annotators(settings=Boundaries(nms=(1, 5, 1.01), invert=True, thresholds=5)).signature_fields()
        assert plain == other
        assert plain != Annotators(settings=Boundaries(max_dist=0.01)).signature_fields()


class TestGroundTruth:
    def test_png_masks(self, tmp_path):
        truth = {"a.png": column(5, value=255).astype(np.uint8)}
        assert counted(tmp_path, truth, {"a.npy": column(6)}) == {"a": [12, 12, 12, 12]}

    def test_beyond_the_tolerance_nothing_matches(self, tmp_path):
        truth = {"a.png": column(5, value=255).astype(np.uint8)}
        assert counted(tmp_path, truth, {"a.npy": column(7)}) == {"a": [0, 12, 0, 12]}

    @pytest.mark.parametrize(("pattern", "names"), [("*.#", "a.{}.png"), ("#/*", "{}/a.png")])
    def test_annotators_by_suffix_and_by_sub_folder(self, tmp_path, pattern, names):
        truth = {names.format(k): column(place).astype(np.uint8) for k, place in enumerate((5, 5, 12))}
        # The prediction's pixels count once, though two annotators match them.
        assert counted(tmp_path, truth, {"a.npy": column(6)}, gt_pattern=pattern) == {"a": [24, 36, 12, 12]}

    def test_mat_cells_hold_all_annotators(self, tmp_path):
        save_cell(tmp_path / "gt" / "a.mat", [column(5), column(12)])
        assert counted(tmp_path, {}, {"a.npy": column(6)}) == {"a": [12, 24, 12, 12]}

    def test_label_maps_become_boundaries(self, tmp_path):
        labels = np.ones(SHAPE, np.uint8)
        labels[:, 6:] = 2
        settings = Boundaries(max_dist=0, thresholds=(0.5,), label_maps=True)
        assert counted(tmp_path, {"a.png": labels}, {"a.npy": column(5)}, settings) == {"a": [12, 12, 12, 12]}

    def test_values_are_chosen_by_rule(self, tmp_path):
        truth = {"a.png": (column(5, value=200) + column(9, value=90)).astype(np.uint8)}
        settings = Boundaries(max_dist=0, thresholds=(0.5,), positive=">=128")
        assert counted(tmp_path, truth, {"a.npy": column(5)}, settings) == {"a": [12, 12, 12, 12]}

    def test_several_values_are_no_boundary_map(self):
        sample = Sample("a", (column(5, value=2) + column(9),), (column(5),), ground_truth_files=("gt/a.png",))
        with refused("several-values", DataError, path="gt/a.png", count=3, values=(0, 1, 2)) as raised:
            PIXEL.count(sample)
        assert raised.value.settings[-1] == Setting("label_maps", True)


class TestPredictions:
    truth = (column(5),)

    def test_eight_bits_are_levels(self):
        levels = (255 * column(5, value=0.6)).astype(np.uint8)
        settings = Boundaries(max_dist=0, thresholds=(0.59, 0.61))
        assert settings.count(Sample("a", self.truth, (levels,))).counts.total_pred.tolist() == [12, 0]

    def test_inverted(self):
        for scores in (1 - column(5), 255 - 255 * column(5).astype(np.uint8), column(5) == 0):
            counts = Boundaries(max_dist=0, thresholds=(0.5,), invert=True).count(Sample("a", self.truth, (scores,)))
            assert four(counts.counts) == [12, 12, 12, 12]

    def test_a_ucm2_is_sampled_at_the_image_size(self, tmp_path):
        double = np.zeros((2 * SHAPE[0] + 1, 2 * SHAPE[1] + 1))
        double[:, 12] = 0.9
        double[1::2, 1::2] = 1.0  # what lies between the samples does not count
        (tmp_path / "pred").mkdir()
        savemat(tmp_path / "pred" / "a.mat", {"ucm2": double})
        settings = Boundaries(max_dist=0, thresholds=(0.5,))
        assert counted(tmp_path, {"a.npy": column(5)}, {}, settings) == {"a": [12, 12, 12, 12]}

    def test_segs_bring_their_own_thresholds(self, tmp_path):
        coarse = np.ones(SHAPE, np.uint16)
        fine = coarse.copy()
        fine[:, 6:] = 2
        cell = np.empty((1, 2), object)
        cell[0, 0], cell[0, 1] = fine, coarse
        (tmp_path / "pred").mkdir()
        savemat(tmp_path / "pred" / "a.mat", {"segs": cell})
        write_folder(tmp_path / "gt", {"a.npy": column(5)})
        result = evaluate(tmp_path / "gt", tmp_path / "pred", PIXEL)
        counts = result.counts["a"]
        assert counts.thresholds.tolist() == [1, 2]
        assert counts.matched_gt.tolist() == [12, 0]
        expected = count_boundary_maps([label_boundaries(fine), label_boundaries(coarse)], [column(5)], max_dist=0.05)
        assert counts == expected

    def test_suppression_comes_first(self):
        rng = np.random.default_rng(0)
        soft = rng.random((20, 30))
        truth = rng.random((20, 30)) < 0.1
        counts = Boundaries(nms=(1, 5, 1.01), smoothing=2).count(Sample("a", (truth,), (soft,))).counts
        thinned = nms(soft, radius=1, border=5, multiplier=1.01, smoothing=2)
        assert counts == count([truth], thinned, "boundaries")
        assert counts != Boundaries().count(Sample("a", (truth,), (soft,))).counts

    @pytest.mark.parametrize(
        ("bad", "kind", "values"),
        [
            (np.nan, "not-finite", {"nan": 1}),
            (1.5, "outside-unit", {"highest": 1.5}),
            (-0.5, "outside-unit", {"lowest": -0.5}),
        ],
    )
    def test_scores_that_are_none_name_their_file(self, bad, kind, values):
        scores = column(5)
        scores[0, 0] = bad
        with refused(kind, DataError, path="pred/a.npy", **values):
            Boundaries().count(Sample("a", self.truth, (scores,), prediction_file="pred/a.npy"))

    @pytest.mark.parametrize("settings", [{}, {"positive": 1}, {"label_maps": True}])
    def test_ground_truth_without_a_number_is_named(self, settings):
        truth = column(5).astype(float)
        truth[0, 0] = np.nan
        with refused("not-a-number", DataError, path="gt/a.npy", nan=1):
            Boundaries(**settings).count(Sample("a", truth, (column(5),), ground_truth_files=("gt/a.npy",)))

    @pytest.mark.parametrize(("shape", "guess"), [(SHAPE[::-1], "transposed"), ((12, 15), "off-by-pixels")])
    def test_other_sizes_fail_with_a_reason(self, tmp_path, shape, guess):
        write_folder(tmp_path / "gt", {"a.npy": column(5), "b.npy": column(5)})
        write_folder(tmp_path / "pred", {"a.npy": np.zeros(shape), "b.npy": column(5)})
        with pytest.warns(FailedImages):
            result = evaluate(tmp_path / "gt", tmp_path / "pred", PIXEL)
        assert list(result.counts) == ["b"]
        assert (result.failed["a"].kind, result.failed["a"].values["guess"].kind) == ("other-size", guess)


class TestAnnotators:
    human = Annotators(settings=PIXEL)

    def count(self, *places):
        return four(self.human.count(Sample("a", tuple(column(place) for place in places), ())).counts)

    def test_by_hand(self):
        # The first two are a pixel apart, the third is alone: each is held against the other two.
        assert self.count(5, 6, 12) == [12 + 12 + 0, 3 * 24, 12 + 12 + 0, 3 * 12]

    def test_one_annotator_counts_nothing(self):
        assert self.count(5) == [0, 0, 0, 0]

    def test_a_set_of_one_annotator_an_image_has_no_human_point(self, tmp_path):
        write_folder(tmp_path / "gt", {"a.npy": column(5), "b.npy": column(7)})
        result = evaluate(tmp_path / "gt", None, self.human, results=tmp_path / "r.segbench")
        assert all(math.isnan(figure) for figure in result.summary.values())
        assert set(kinds(result.summary.undefined.values())) == {"no-annotators"}
        assert noted(result.notes) == [("", "one-annotator", {"images": 2, "total": 2})]
        intervals = result.intervals(replicates=20)
        assert intervals.undefined["ods_f"].kind == "no-annotators"
        assert math.isnan(intervals["ods_f"][0])

    def test_order_does_not_matter_where_nothing_is_tied(self):
        assert self.count(5, 6, 12) == self.count(12, 5, 6)

    def test_two_who_agree_are_perfect(self):
        assert self.count(5, 5) == [24, 24, 24, 24]

    def test_from_files_without_predictions(self, tmp_path):
        save_cell(tmp_path / "gt" / "a.mat", [column(5), column(6), column(12)])
        save_cell(tmp_path / "gt" / "alone.mat", [column(5)])
        result = evaluate(tmp_path / "gt", None, self.human)
        assert result.method == "human"
        assert result.summary["ods_recall"] == pytest.approx(1 / 3)
        assert result.summary["ods_precision"] == pytest.approx(2 / 3)
        assert four(result.counts["alone"]) == [0, 0, 0, 0]


@pytest.mark.parametrize("shape", [(12, 16), (120, 160)])
def test_a_tolerance_in_pixels_is_the_same_for_all_sizes(shape):
    truth, prediction = np.zeros((2, *shape))
    truth[2:10, 4] = prediction[2:10, 6] = 1
    assert four(count(truth, prediction, Boundaries(thresholds=[0.5], max_dist="2px"))) == [8, 8, 8, 8]
    assert four(count(truth, prediction, Boundaries(thresholds=[0.5], max_dist="1.9px"))) == [0, 8, 0, 8]


def test_thick_ground_truth_is_thinned_on_request(tmp_path):
    truth = {"a.png": (column(5, 6, 7) * 255).astype(np.uint8)}
    prediction = {"a.npy": column(6)}
    thick = counted(tmp_path / "thick", truth, prediction)
    thin = evaluate(tmp_path / "thick/gt", tmp_path / "thick/pred", Boundaries(max_dist="1px", thin_ground_truth=True))
    assert thick["a"][:2] == [12, 36]
    assert thin.summary["ods_recall"] == 1
    assert noted(thin.notes) == [("ground truth", "thinned", {"images": 1, "total": 1})]
    assert "thin_ground_truth:yes" in thin.signature


class TestCrispness:
    """How much of a map suppression leaves, and evaluation with and without it."""

    RIDGE = np.tile([0, 0, 0, 0, 0, 0, 0.2, 0.8, 0.3, 0, 0, 0, 0, 0, 0, 0], (40, 1))

    def write(self, root):
        truth = np.zeros((40, 16), np.uint8)
        truth[:, 7] = 255
        return write_folder(root / "gt", {"a.png": truth}), write_folder(root / "pred", {"a.npy": self.RIDGE})

    def test_is_the_share_that_suppression_leaves(self, tmp_path):
        gt, pred = self.write(tmp_path)
        result = evaluate(gt, pred, Boundaries(thresholds=3, crispness=True))
        kept = nms(self.RIDGE, radius=2, border=5, multiplier=1.01, smoothing=0)
        assert result.summary["crispness"] == pytest.approx(kept.sum() / self.RIDGE.sum(), abs=1e-9)
        assert result.per_image["a"]["crispness"] == result.summary["crispness"]

    def test_of_a_blank_map_is_undefined(self, tmp_path):
        gt, pred = self.write(tmp_path)
        np.save(pred / "a.npy", np.zeros((40, 16)))
        result = evaluate(gt, pred, Boundaries(thresholds=3, crispness=True))
        assert math.isnan(result.summary["crispness"])

    def test_is_no_metric_unless_asked_for(self, tmp_path):
        assert "crispness" not in evaluate(*self.write(tmp_path), Boundaries(thresholds=3)).summary

    def test_both_evaluations_are_in_one_table(self, tmp_path, segbench):
        gt, pred = self.write(tmp_path)
        answer = segbench("boundaries", gt, f"net={pred}", "--nms", "1,5,1.01", "--crisp", "--format", "json")
        standard, as_predicted = json.loads(answer.out)["runs"]
        assert [standard["method"], as_predicted["method"]] == ["net", "net, as predicted"]
        assert "thin:no|nms:no" in as_predicted["signature"]
        assert standard["summary"]["crispness"] == as_predicted["summary"]["crispness"]

    def test_without_anything_to_leave_out_is_refused(self, tmp_path, segbench):
        gt, pred = self.write(tmp_path)
        assert segbench("boundaries", gt, pred, "--no-thin", "--crisp").code == 2


@pytest.mark.parametrize(
    ("values", "advice"), [([0, 128, 255], (255, ">0")), ([0, 1, 255], (1, ">0")), ([0, 2, 250, 255], (">=128",))]
)
def test_the_error_of_more_values_agrees_with_check(tmp_path, values, advice):
    """Boundaries have no setting for void; its pixels are not boundary under the rule that check names, too."""
    truth = np.resize(np.array(values, np.uint8), (20, 20))
    accumulator = Accumulator(Boundaries())
    rules = tuple(Setting("positive", rule) for rule in advice)
    with refused("several-values", DataError, path="labels of 'a'", values=tuple(values)) as raised:
        accumulator.update(truth[None], truth[None] / np.float32(255), names=["a"])
    assert raised.value.settings == (*rules, Setting("label_maps", True))
    for folder, array in (("gt", truth), ("pred", np.resize(np.linspace(0, 1, 40), truth.shape))):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", array)
    errors = check(tmp_path / "gt", tmp_path / "pred", Boundaries()).errors
    assert errors[0].settings == rules
