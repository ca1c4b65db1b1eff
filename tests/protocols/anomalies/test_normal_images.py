"""Masks of grey levels, normal images without a mask or a prediction, and maps of several scales."""

import json

import numpy as np
import pytest
from cases import write_folder
from noted import noted
from numpy.testing import assert_array_equal
from refusing import parts_of, refused, within

import segbench
from segbench import Anomalies, DataError, FailedImages, Repairs
from segbench.core.messages import Setting

RNG = np.random.default_rng(2)
NAMES = ("bad/0", "bad/1", "good/0", "good/1")
MASK = np.zeros((32, 48), np.uint8)
MASK[8:16, 10:30] = 255
MAPS = {name: (RNG.random(MASK.shape) + MASK / 255 * name.startswith("bad")).astype(np.float32) / 2 for name in NAMES}
SCALES = ("", "several-scales", {})


def evaluated(tmp_path, mask=MASK, maps=MAPS, masks=None, protocol="anomalies", **options):
    """Evaluate maps against a mask, which both anomalous images have, or several."""
    masks = masks or dict.fromkeys(NAMES[:2], mask)
    truth = write_folder(tmp_path / "gt", {f"{name}_mask.png": one for name, one in masks.items()})
    pred = write_folder(tmp_path / "pred", {f"{name}.npy": one for name, one in maps.items()})
    places = {"gt_pattern": "*_mask", "negatives": "good/*"}
    return segbench.evaluate(truth, pred, protocol, **places, **options)


def of_arrays(maps):
    masks = {name: MASK * name.startswith("bad") for name in maps}
    return segbench.evaluate({name: (masks[name], one) for name, one in maps.items()}, protocol=Anomalies())


def smaller(*names):
    return MAPS | {name: MAPS[name][::2, ::2] for name in names}


def with_halo(value):
    mask = MASK.copy()
    mask[7, 10:30] = value
    return mask


GREY = with_halo([*range(10), *range(246, 256)])


class TestValues:
    @pytest.mark.parametrize(
        ("mask", "key", "fix"),
        [(GREY, "grey-ground-truth", {"positive": ">=128"}), (with_halo(128), "void", {"void": (128,)})],
        ids=["halo", "third"],
    )
    def test_grey_levels_and_void_are_found_and_refused(self, tmp_path, mask, key, fix):
        with pytest.warns(FailedImages):
            assert set(evaluated(tmp_path, mask).failed) == {"bad/0", "bad/1"}
        places = {"gt_pattern": "*_mask", "negatives": "good/*"}
        (found,) = segbench.check(tmp_path / "gt", tmp_path / "pred", Anomalies(), **places).errors
        assert (found.kind, found.images) == (key, ("bad/0", "bad/1"))
        assert evaluated(tmp_path, mask, protocol=Anomalies(**fix)).failed == {}

    def test_advice_on_halos_gives_the_metrics_of_the_mask(self, tmp_path):
        mended = evaluated(tmp_path, GREY, protocol=Anomalies(positive=">=128"))
        mask = MASK.copy()
        mask[7, 20:30] = 255
        assert_array_equal([*mended.summary.values()], [*evaluated(tmp_path, mask).summary.values()])

    def test_arrays_with_grey_levels_are_refused(self):
        with refused("several-values", DataError, path="labels of '0'", settings={"positive": ">=128"}, count=20):
            segbench.evaluate([(GREY, MAPS["bad/0"])], protocol=Anomalies())
        with refused("several-values", DataError, path="ground_truth", settings={"positive": ">=128"}, count=20):
            segbench.count(GREY, MAPS["bad/0"], "anomalies")

    @pytest.mark.parametrize("values", [(0, 1), (0, 255), (0, 254), (0, 1, 2, 7)])
    def test_masks_of_two_values_and_of_numbers_are_counted(self, values):
        mask = np.resize(np.array(values, np.uint8), MASK.shape)
        counts = segbench.count(mask, MAPS["bad/0"], "anomalies")
        assert counts.total_anomalous == np.count_nonzero(mask)

    def test_a_rule_that_is_named_takes_all_above_0(self):
        counts = segbench.count(GREY, MAPS["bad/0"], segbench.Anomalies(positive=">0"))
        assert counts.total_anomalous == np.count_nonzero(GREY)


class TestSizes:
    def test_maps_of_normal_images_are_resized_like_the_others(self, tmp_path):
        result = evaluated(tmp_path, maps=smaller(*NAMES), repairs=Repairs(resize="nearest"))
        resized = {name: MAPS[name][::2, ::2].repeat(2, 0).repeat(2, 1) for name in NAMES}
        assert_array_equal([*result.summary.values()], [*of_arrays(resized).summary.values()])
        assert ("prediction", "resized", {"how": "nearest", "images": 4, "total": 4}) in noted(result.notes)

    def test_a_part_without_masks_is_resized_as_in_the_whole(self, tmp_path):
        result = evaluated(tmp_path, maps=smaller(*NAMES), repairs=Repairs(resize="nearest"), images=["good/*"])
        assert ("prediction", "resized", {"how": "nearest", "images": 2, "total": 2}) in noted(result.notes)

    def test_normal_maps_of_another_size_than_all_masks_are_refused(self, tmp_path):
        with pytest.warns(FailedImages):
            assert set(evaluated(tmp_path, maps=smaller("good/1")).failed) == {"good/1"}
        places = {"gt_pattern": "*_mask", "negatives": "good/*"}
        (found,) = segbench.check(tmp_path / "gt", tmp_path / "pred", Anomalies(), **places).errors
        assert (found.kind, found.images) == ("size-factor", ("good/1",))

    def test_normal_maps_are_not_resized_where_masks_differ_in_size(self, tmp_path):
        masks, maps = {"bad/0": MASK, "bad/1": MASK[1:]}, MAPS | {"bad/1": MAPS["bad/1"][1:]}
        assert evaluated(tmp_path, masks=masks, maps=maps).failed == {}
        with pytest.warns(FailedImages):
            result = evaluated(tmp_path, masks=masks, maps=maps, repairs=Repairs(resize="nearest"))
        assert set(result.failed) == {"good/0", "good/1"}
        assert {failure.kind for failure in result.failed.values()} == {"unknown-size"}


class TestDataSet:
    @pytest.fixture
    def run(self, segbench, tmp_path):
        """Run the preset on a category, with photographs of a size, and return the answer."""

        def made(*options, maps=MAPS, size=MASK.shape):
            root = tmp_path / "root" / "bottle"
            write_folder(root / "ground_truth", {f"{name}_mask.png": MASK for name in NAMES[:2]})
            write_folder(root / "test", {f"{name}.png": np.zeros(size, np.uint8) for name in NAMES})
            write_folder(tmp_path / "pred" / "bottle", {f"{name}.npy": one for name, one in maps.items()})
            return segbench("run", "mvtec-ad", root.parent, f"net={tmp_path}/pred", "--format", "json", *options)

        return made

    def test_normal_maps_have_the_size_of_their_photograph(self, run):
        answer = run("--resize-predictions", "nearest", maps=smaller(*NAMES))
        (found,) = json.loads(answer.out)["runs"]
        (resized,) = [note for note in found["notes"] if note["kind"] == "resized"]
        assert (resized["side"], resized["values"]) == ("prediction", {"how": "nearest", "images": 4, "total": 4})

    def test_photographs_of_another_size_than_masks_do_not_tell(self, run):
        assert run(size=(64, 96)).code == 0

    def test_a_normal_image_without_a_prediction_is_missed(self, run):
        maps = {name: one for name, one in MAPS.items() if name != "good/1"}
        answer = run(maps=maps)
        assert answer.code == 1
        assert within(answer.error, "without-prediction") == {"without_prediction": 1, "total": "4 images"}
        named = [said.values["part0"].values["text"] for said in within(answer.error, "files")["files"]]
        assert named == ["bottle/good/1"]
        (found,) = json.loads(run("--allow-missing", maps=maps).out)["runs"]
        assert found["settings"]["missing"] == "1 of 4"

    def test_pictures_are_drawn_of_maps_in_the_size_of_photographs(self, run, segbench, tmp_path):
        run("--resize-predictions", "nearest", "-o", tmp_path / "r.segbench", maps=smaller(*NAMES))
        answer = segbench("overlay", tmp_path / "r.segbench", "-o", tmp_path / "out")
        assert answer.code == 0, answer.err
        assert len(list((tmp_path / "out").rglob("*.png"))) == 4


class TestNames:
    def test_the_pattern_of_masks_is_found_beside_normal_images(self, tmp_path):
        evaluated(tmp_path)
        with refused("unpaired", DataError, missing=("bad/0_mask", "bad/1_mask")) as raised:
            segbench.evaluate(tmp_path / "gt", tmp_path / "pred", Anomalies(), negatives="good/*")
        assert Setting("gt_pattern", "*_mask") in raised.value.settings

    def test_normal_images_are_offered_before_a_part_of_the_set(self, tmp_path):
        evaluated(tmp_path)
        with refused("unpaired", DataError, extra=("good/0", "good/1")) as raised:
            segbench.evaluate(tmp_path / "gt", tmp_path / "pred", Anomalies(), gt_pattern="*_mask")
        names = [advised.name for advised in raised.value.settings]
        assert names.index("negatives") < names.index("images")

    def test_several_masks_need_one_of_them_where_no_rule_combines_them(self, tmp_path):
        truth = write_folder(tmp_path / "gt", {f"{one}/a_mask.png": MASK for one in ("first", "second")})
        pred = write_folder(tmp_path / "pred", {"a.npy": MAPS["bad/0"]})
        with pytest.warns(FailedImages):
            (failure,) = segbench.evaluate(truth, pred, Anomalies(), gt_pattern="#/*_mask").failed.values()
        assert failure.kind == "several-annotators"
        assert {advised.name for advised in parts_of(failure.hint, Setting)} == {"gt_pattern", "defects"}


class TestScales:
    @pytest.mark.parametrize("protocol", [Anomalies(), segbench.Pixels()], ids=["anomalies", "pixels"])
    def test_files_on_two_scales_are_noted(self, tmp_path, protocol):
        maps = MAPS | {"bad/1": MAPS["bad/1"] * 255}
        assert SCALES in noted(evaluated(tmp_path, maps=maps, protocol=protocol).summary.notes)
        assert SCALES not in noted(evaluated(tmp_path, protocol=protocol).summary.notes)

    def test_arrays_on_two_scales_are_noted(self):
        assert noted(of_arrays(MAPS | {"good/1": MAPS["good/1"] * 255}).summary.notes) == [SCALES]


def test_a_rate_above_the_limit_is_not_written_as_the_limit():
    scores = np.zeros((300, 300), np.float32)
    scores[0, 0] = 1
    summary = segbench.evaluate({"a": (scores * 0, scores), "b": (scores, scores)}, protocol=Anomalies()).summary
    reason = summary.undefined["aupimo"]
    assert (reason.kind, reason.values) == ("no-low-rate", {"rate": 1 / 90_000, "least": 1e-5})
    assert all(number in str(reason) for number in (" 1.111e-05", " 1e-05"))
