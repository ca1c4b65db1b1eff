"""Volumes from files to counts: through Python and the command line, in folders and archives, and what is refused."""

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import kinds
from refusing import insist, refused, within
from volumes_written import SPACING, affine_of, labels_drawn, nifti_with, write_cases, write_nifti

from segbench import (
    Accumulator,
    ArgumentError,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    DataError,
    Labels,
    Objects,
    Pixels,
    Regions,
    Repairs,
    Saliency,
    check,
    count,
    evaluate,
)
from segbench.core.geometry import Geometry, corners_apart
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import MASKS, decode_sample
from segbench.loaders.reading import read as read_files
from segbench.loaders.source import LocalFile
from segbench.loaders.volume_pairs import distance_of_grids

CASES = [labels_drawn(seed=seed) for seed in range(3)]
PREDICTED = [np.where(labels_drawn(seed=9 + seed) == 1, labels_drawn(seed=5), case) for seed, case in enumerate(CASES)]
SOFT = [np.random.default_rng(seed).random(CASES[0].shape, np.float32) for seed in range(3)]
THREE = Labels(classes=3)
ABOVE_0 = Pixels(positive=">0")
SHAPE = Repairs(geometry="shape")


@pytest.fixture
def truths(tmp_path):
    return write_cases(tmp_path / "gt", CASES)


def sample_of(truth, prediction, reads=MASKS, repairs=None):
    """Decode a pair of files."""
    files = SampleFiles("case", (LocalFile(truth),), LocalFile(prediction))
    return decode_sample(read_files(files), reads, repairs)


def first_failure(result):
    """Return the error of the first image that failed."""
    failure = next(iter(result.failed.values()))
    return DataError(failure.path, failure.what, failure.hint)


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestCounting:
    @pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "u2", "f4", "f8"])
    def test_labels_are_counted_as_the_arrays_are(self, truths, tmp_path, dtype):
        write_cases(tmp_path / "pred", [case.astype(dtype) for case in PREDICTED])
        result = evaluate(truths, tmp_path / "pred", THREE)
        for number, arrays in enumerate(zip(CASES, PREDICTED, strict=True)):
            assert result.counts[f"case_{number}"] == count(*arrays, THREE)
        accumulator = Accumulator(THREE)
        for number, arrays in enumerate(zip(CASES, PREDICTED, strict=True)):
            accumulator.update(*(array.reshape(1, -1) for array in arrays), name=number)
        assert result.summary == accumulator.compute().summary

    def test_scores_are_counted_as_the_arrays_are(self, truths, tmp_path):
        result = evaluate(truths, write_cases(tmp_path / "soft", SOFT), ABOVE_0)
        for number, arrays in enumerate(zip(CASES, SOFT, strict=True)):
            assert result.counts[f"case_{number}"] == count(*arrays, ABOVE_0)

    def test_masks_without_a_rule(self, tmp_path):
        masks = [(case > 0).astype(np.float32) for case in CASES]
        result = evaluate(write_cases(tmp_path / "gt", masks), write_cases(tmp_path / "pred", masks), Labels())
        assert result.summary["iou"] == 1

    @pytest.mark.parametrize("ending", ["zip", "tar", "gztar"])
    def test_archives(self, truths, tmp_path, ending):
        predictions = write_cases(tmp_path / "pred", PREDICTED)
        packed = [shutil.make_archive(str(folder), ending, folder) for folder in (truths, predictions)]
        assert evaluate(*packed, THREE).summary == evaluate(truths, predictions, THREE).summary

    def test_single_files(self, truths, tmp_path):
        predictions = write_cases(tmp_path / "pred", PREDICTED)
        result = evaluate(truths / "case_0.nii.gz", predictions / "case_0.nii.gz", THREE)
        assert list(result.counts) == ["case_0"]

    def test_formats_pair_by_names_without_both_extensions(self, truths, tmp_path):
        write_cases(tmp_path / "pred", PREDICTED[:1], ".nii")
        np.save(tmp_path / "pred" / "case_1.npy", PREDICTED[1])
        tifffile.imwrite(tmp_path / "pred" / "case_2.tif", PREDICTED[2], photometric="minisblack")
        result = evaluate(truths, tmp_path / "pred", THREE)
        whole = evaluate(truths, write_cases(tmp_path / "all", PREDICTED), THREE)
        assert result.summary == whole.summary

    def test_arrays_are_volumes_on_request(self, tmp_path):
        for folder, arrays in (("gt", CASES), ("pred", PREDICTED)):
            (tmp_path / folder).mkdir()
            for number, array in enumerate(arrays):
                np.save(tmp_path / folder / f"case_{number}.npy", array)
        places = tmp_path / "gt", tmp_path / "pred"
        with refused("several-maps", DataError):
            raise first_failure(evaluate(*places, THREE))
        result = evaluate(*places, THREE, repairs=Repairs(volumes=True))
        assert result.counts["case_0"] == count(CASES[0], PREDICTED[0], THREE)
        assert "volumes:yes" in result.signature

    def test_scores_of_classes_beside_a_volume(self, truths, tmp_path):
        (tmp_path / "pred").mkdir()
        for number, case in enumerate(PREDICTED):
            np.savez(
                tmp_path / "pred" / f"case_{number}.npz",
                probabilities=np.eye(3, dtype=np.float32)[case].transpose(3, 0, 1, 2),
            )
        by_labels = evaluate(truths, write_cases(tmp_path / "labels", PREDICTED), THREE)
        assert evaluate(truths, tmp_path / "pred", THREE).summary == by_labels.summary
        of_classes = evaluate(truths, tmp_path / "pred", Classes(labels=range(3)))
        assert list(of_classes.counts) == ["case_0", "case_1", "case_2"]

    def test_stacks_beside_images_stay_stacks(self, tmp_path):
        truth = labels_drawn((7, 8))
        write_nifti(tmp_path / "gt" / "a.nii.gz", truth)
        (tmp_path / "pred").mkdir()
        np.save(tmp_path / "pred" / "a.npy", np.eye(3)[truth].transpose(2, 0, 1))
        assert evaluate(tmp_path / "gt", tmp_path / "pred", THREE).summary["pixel_accuracy"] == 1


class TestSample:
    def test_spacing_and_volume(self, truths):
        sample = sample_of(truths / "case_0.nii.gz", truths / "case_1.nii.gz")
        assert (sample.spacing, sample.volume) == (SPACING, True)

    def test_spacing_of_two_dimensions(self, tmp_path):
        path = tmp_path / "a.nii"
        path.write_bytes(nifti_with(CASES[0], dim=(2, 8, 42, 1, 1, 1, 1, 1)))
        sample = sample_of(path, path)
        assert (sample.spacing, sample.volume) == (SPACING[1:], False)

    def test_images_have_neither(self, tmp_path):
        tifffile.imwrite(tmp_path / "a.tif", CASES[0][0])
        sample = sample_of(tmp_path / "a.tif", tmp_path / "a.tif")
        assert (sample.spacing, sample.volume) == (None, False)

    def test_the_spacing_of_the_prediction_if_there_is_no_other(self, tmp_path, truths):
        np.save(tmp_path / "a.npy", CASES[0])
        sample = sample_of(tmp_path / "a.npy", truths / "case_0.nii.gz", repairs=Repairs(volumes=True))
        assert (sample.spacing, sample.volume) == (SPACING, True)

    @given(spacing=st.tuples(*[st.decimals("0.05", "9", places=6).map(float)] * 3))
    @settings(max_examples=10)
    def test_spacing_is_the_shortest_decimal(self, tmp_path_factory, spacing):
        path = write_nifti(tmp_path_factory.mktemp("s") / "a.nii", CASES[0], affine_of(spacing))
        found = sample_of(path, path).spacing
        assert [np.float32(number) for number in found] == [np.float32(number) for number in spacing]
        assert all(len(str(ours)) <= len(str(theirs)) for ours, theirs in zip(found, spacing, strict=True))


def evaluated(truths, prediction, tmp_path, protocol=THREE, **options):
    """Evaluate one prediction beside the first case."""
    shutil.rmtree(tmp_path / "one", ignore_errors=True)
    (tmp_path / "one").mkdir()
    shutil.copy(prediction, tmp_path / "one" / "case_0.nii.gz")
    return evaluate(truths, tmp_path / "one", protocol, images=["case_0"], **options)


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestGrids:
    """Pairs that are not on one grid."""

    @pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    def test_permuted_axes_are_named(self, truths, tmp_path, order):
        permuted = PREDICTED[0].transpose(order)
        path = write_nifti(tmp_path / "a.nii.gz", permuted)
        with refused("permuted-axes", shape=permuted.shape, expected=CASES[0].shape) as raised:
            raise first_failure(evaluated(truths, path, tmp_path))
        code = within(raised.value, "fix")["code"]
        assert eval(code, {"volume": permuted}).tolist() == PREDICTED[0].tolist()  # noqa: S307  our own advice

    def test_another_shape(self, truths, tmp_path):
        path = write_nifti(tmp_path / "a.nii.gz", PREDICTED[0][1:])
        with refused("other-shape", shape=(5, 7, 8), expected=(6, 7, 8)):
            raise first_failure(evaluated(truths, path, tmp_path, repairs=SHAPE))

    def test_an_image_beside_a_volume(self, truths, tmp_path):
        (tmp_path / "pred").mkdir()
        tifffile.imwrite(tmp_path / "pred" / "case_0.tif", PREDICTED[0][0])
        with refused("other-dimensions", shape=(7, 8), expected=(6, 7, 8)):
            raise first_failure(evaluate(truths, tmp_path / "pred", THREE, images=["case_0"]))

    def test_a_volume_beside_an_image(self, truths, tmp_path):
        (tmp_path / "gt2").mkdir()
        tifffile.imwrite(tmp_path / "gt2" / "case_0.tif", PREDICTED[0][0])
        with refused("other-dimensions", shape=(6, 7, 8), expected=(7, 8)):
            raise first_failure(evaluate(tmp_path / "gt2", truths, THREE, images=["case_0"]))

    @pytest.mark.parametrize(
        ("affine", "differs"),
        [
            (affine_of(origin=(0, 0, 0.0349)), ""),
            (affine_of(origin=(0, 0, 0.0351)), "shifted"),
            (affine_of(origin=(0.02, 0.02, 0.02)), ""),
            (affine_of(origin=(0.021, 0.021, 0.021)), "shifted"),
            (affine_of((2.5, 0.78, 0.704)), ""),
            (affine_of((2.5, 0.78, 0.706)), "other-spacing"),
            (affine_of() * [[-1], [1], [1], [1]], "turned-axes"),
            (affine_of()[[1, 0, 2, 3]], "turned-axes"),
        ],
    )
    def test_positions(self, truths, tmp_path, affine, differs):
        path = write_nifti(tmp_path / "a.nii.gz", PREDICTED[0], affine)
        result = evaluated(truths, path, tmp_path)
        if not differs:
            assert not result.failed
            return
        with refused("other-geometry", settings={"geometry": "shape"}) as raised:
            raise first_failure(result)
        assert within(raised.value, differs)
        alone = evaluated(truths, path, tmp_path, repairs=SHAPE)
        assert alone.counts["case_0"] == count(CASES[0], PREDICTED[0], THREE)
        assert kinds(alone.notes) == ["geometry-ignored"]
        assert "geometry:shape" in alone.signature

    def test_where_one_has_no_position_arrays_are_compared(self, truths, tmp_path):
        path = tmp_path / "a.nii.gz"
        path.write_bytes(nifti_with(PREDICTED[0], qform_code=0, sform_code=0, pixdim=(1, 9, 9, 9, 1, 1, 1, 1)))
        assert not evaluated(truths, path, tmp_path).failed

    @pytest.mark.parametrize("fields", [{"pixdim": (1, 0, 0.78, 2.5, 1, 1, 1, 1)}, {"srow_x": (0.7, 0.02, 0, 0)}])
    def test_a_spacing_that_cannot_be_relied_on(self, truths, tmp_path, fields):
        path = tmp_path / "a.nii.gz"
        path.write_bytes(nifti_with(PREDICTED[0], **fields))
        result = evaluated(truths, path, tmp_path)
        with refused(first_failure(result).kind, settings={"geometry": "shape"}):
            raise first_failure(result)
        assert first_failure(result).kind in ("wrong-spacing", "sheared")
        assert evaluated(truths, path, tmp_path, repairs=SHAPE).counts["case_0"] == count(CASES[0], PREDICTED[0], THREE)

    def test_a_spacing_that_is_given_takes_the_place_of_one_that_cannot_be_relied_on(self, truths, tmp_path):
        path = tmp_path / "a.nii.gz"
        path.write_bytes(nifti_with(PREDICTED[0], srow_x=(0.7, 0.02, 0, 0)))
        contours = Contours(classes=3)
        failure = first_failure(evaluated(truths, path, tmp_path, protocol=contours))
        with refused("sheared", settings={"spacing": None}):
            raise failure
        given = replace(contours, spacing=SPACING)
        alone = count(CASES[0], PREDICTED[0], replace(given, surface="voxels"))
        assert evaluated(truths, path, tmp_path, protocol=given, repairs=SHAPE).counts["case_0"] == alone

    @given(st.data())
    def test_axes_permuted_and_flipped_together_change_nothing(self, tmp_path_factory, data):
        order = data.draw(st.permutations(range(3)))
        flips = tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in range(3))
        folder = tmp_path_factory.mktemp("flipped")
        for name, array in (("gt", CASES[0]), ("pred", PREDICTED[0])):
            write_nifti(folder / name / "a.nii", array.transpose(order)[flips])
        result = evaluate(folder / "gt", folder / "pred", THREE)
        assert result.counts["a"] == count(CASES[0], PREDICTED[0], THREE)

    @pytest.mark.parametrize(
        ("change", "differs", "named"),
        [
            (np.diag([1, 1, 1.0007]), "other-spacing", {"spacing": "0.70049x0.7x2.5", "expected": "0.7x0.7x2.5"}),
            (((1, 0, 0), (0, 1, -0.005), (0, 0.005, 1)), "turned-axes", {"axes": ("x", "y"), "how": "are turned"}),
            (np.diag([1, 1, -1]), "turned-axes", {"axes": ("x",), "how": "is mirrored"}),
        ],
    )
    def test_what_differs_over_many_voxels(self, change, differs, named):
        steps = np.diag([2.5, 0.7, 0.7])
        geometries = []
        for columns in (np.array(change) @ steps, steps):
            affine = np.hstack([columns, np.zeros((3, 1))])
            geometries.append(Geometry(tuple(np.abs(columns.diagonal()).tolist()), tuple(map(tuple, affine.tolist()))))
        _, difference = distance_of_grids(*geometries, (100, 512, 512))
        assert difference.kind == differs
        assert {name: difference.values[name] for name in named} == named

    def test_corners_by_hand(self):
        here = Geometry((1.0, 1.0, 1.0), ((0, 0, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0)))
        longer = Geometry((1.0, 1.0, 2.0), ((0, 0, 2, 0), (0, 1, 0, 0), (1, 0, 0, 0)))
        assert corners_apart(here, longer, (2, 3, 5)) == 4  # the last of 5 voxels along x is at 4, and at 8


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestRefusals:
    @pytest.mark.parametrize("protocol", [Saliency(), Boundaries(), Regions()])
    def test_protocols_of_two_dimensions(self, truths, protocol):
        with refused("volume", shape=CASES[0].shape):
            raise first_failure(evaluate(truths, truths, protocol))

    @pytest.mark.parametrize("verb", ["saliency", "boundaries", "regions"])
    def test_their_commands(self, segbench, truths, verb):
        answer = segbench(verb, truths, truths)
        assert answer.code == 1
        assert answer.err.count("-> ") == 1
        assert "--volumes" not in segbench(verb, "--help-all").out

    @pytest.mark.parametrize("setting", [{"volumes": True}, {"geometry": "shape"}])
    def test_settings_of_volumes_beside_them(self, truths, setting):
        with refused("unfit-repairs", ArgumentError):
            evaluate(truths, truths, Regions(), repairs=Repairs(**setting))

    @pytest.mark.parametrize("repair", [{"resize": "nearest"}, {"crop": True}])
    def test_repairs(self, truths, repair):
        with refused("volume"):
            raise first_failure(evaluate(truths, truths, THREE, repairs=Repairs(**repair)))

    def test_a_scale_is_no_matter_of_size(self, truths, tmp_path):
        soft = write_cases(tmp_path / "soft", [scores * 100 for scores in SOFT])
        result = evaluate(truths, soft, ABOVE_0, repairs=Repairs(scale=100))
        assert not result.failed

    def test_a_field_of_view(self, truths):
        with refused("volume"):
            raise first_failure(evaluate(truths, truths, THREE, field=truths))

    @pytest.mark.parametrize("protocol", [THREE, Labels(), Pixels()])
    @pytest.mark.parametrize("side", ["gt", "pred"])
    def test_interpolated_labels(self, tmp_path, protocol, side):
        whole = [np.minimum(case, 1) if protocol != THREE else case for case in CASES]
        between = [case.astype(np.float32) for case in whole]
        for case in between:
            case[1, 2:5, 3] = 0.5
        folders = {"gt": whole, "pred": whole} | {side: between}
        if protocol == Pixels() and side == "pred":
            return  # these are scores
        places = [write_cases(tmp_path / name, arrays) for name, arrays in folders.items()]
        with refused("interpolated-labels", value=0.5) as raised:
            raise first_failure(evaluate(*places, protocol))
        assert raised.value.path == str(tmp_path / side / "case_0.nii.gz")

    def test_dicom_says_what_converts_it(self, segbench, truths, tmp_path):
        (tmp_path / "dicom").mkdir()
        (tmp_path / "dicom" / "case_0.dcm").write_bytes(bytes(128) + b"DICM")
        answer = segbench("labels", truths, tmp_path / "dicom", "--classes", "0-2")
        assert "dcm2niix" in answer.err


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestMixedSets:
    MASK = (CASES[0] == 1).astype(np.uint8)

    @pytest.mark.parametrize("protocol", [Contours(), Centerlines(), Objects(kind="components")])
    @pytest.mark.parametrize("first", ["image", "volume"])
    def test_what_is_unlike_the_first_is_left_out_in_a_run_and_in_the_check(self, tmp_path, protocol, first):
        names = {first: "a", "volume" if first == "image" else "image": "b"}
        for folder in ("gt", "pred"):
            write_nifti(tmp_path / folder / f"{names['volume']}.nii.gz", self.MASK)
            tifffile.imwrite(tmp_path / folder / f"{names['image']}.tif", self.MASK[0])
        result = evaluate(tmp_path / "gt", tmp_path / "pred", protocol)
        assert list(result.counts) == ["a"]
        insist(first_failure(result), "other-dimensions")
        (finding,) = check(tmp_path / "gt", tmp_path / "pred", protocol).errors
        assert finding.images == ("b",)

    def test_a_damaged_first_file_decides_nothing(self, tmp_path):
        for folder in ("gt", "pred"):
            write_nifti(tmp_path / folder / "b.nii.gz", self.MASK)
            (tmp_path / folder / "a.nii.gz").write_bytes(b"damaged")
        result = evaluate(tmp_path / "gt", tmp_path / "pred", Contours())
        assert (list(result.counts), result.settings["spacing"]) == (["b"], "header")

    def test_the_check_measures_volumes_by_the_headers_as_a_run_does(self, tmp_path):
        for folder in ("gt", "pred"):
            write_nifti(tmp_path / folder / "a.nii.gz", self.MASK)
            np.save(tmp_path / folder / "b.npy", self.MASK)
        read_as = {"protocol": Contours(), "repairs": Repairs(volumes=True)}
        insist(first_failure(evaluate(tmp_path / "gt", tmp_path / "pred", **read_as)), "no-spacing")
        (finding,) = check(tmp_path / "gt", tmp_path / "pred", **read_as).errors
        assert (finding.images, finding.places[0].detail.kind) == (("b",), "no-spacing")


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestNumbersOfMasks:
    @pytest.mark.parametrize("protocol", [Contours(), Contours(positive=1), Centerlines(), Labels(), Objects()])
    @pytest.mark.parametrize("side", ["gt", "pred"])
    def test_nan_is_named_and_no_threshold_is_advised(self, tmp_path, protocol, side):
        mask = (CASES[0] == 1).astype(np.float32)
        mask[0, 0, :2] = np.nan
        for folder in ("gt", "pred"):
            write_nifti(tmp_path / folder / "a.nii.gz", mask if folder == side else np.nan_to_num(mask))
        result = evaluate(tmp_path / "gt", tmp_path / "pred", protocol)
        insist(first_failure(result), "not-a-number", nan=2)
        assert first_failure(result).settings == ()


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestInterpolation:
    @pytest.mark.parametrize("protocol", [THREE, Contours(classes=3)])
    def test_labels_that_were_all_smoothed_are_named_with_a_value(self, truths, tmp_path, protocol):
        smoothed = [(case + np.roll(case, 1, axis=0) + 0.5).astype(np.float32) / 2 for case in CASES]
        report = check(truths, write_cases(tmp_path / "pred", smoothed), protocol)
        (finding,) = report.errors
        assert finding.kind == "interpolated-labels"
        assert within(finding.places[0].detail, "interpolated-labels")["value"] == smoothed[0].flat[0]

    def test_scores_are_not_taken_for_smoothed_labels(self, truths, tmp_path):
        result = evaluate(truths, write_cases(tmp_path / "soft", SOFT), THREE)
        insist(first_failure(result), "not-whole")


class TestFoldersOfNnunet:
    @pytest.fixture
    def predictions(self, tmp_path):
        folder = write_cases(tmp_path / "pred", PREDICTED)
        for number, case in enumerate(PREDICTED):
            np.savez(folder / f"case_{number}.npz", probabilities=np.eye(3)[case].transpose(3, 0, 1, 2))
            (folder / f"case_{number}.pkl").write_bytes(b"\x80\x04.")
        for name in ("dataset.json", "plans.json", "summary.json", "predict_from_raw_data_args.json"):
            (folder / name).write_text("{}")
        return folder

    def test_what_lies_beside_volumes_is_no_prediction(self, truths, tmp_path, predictions):
        result = evaluate(truths, predictions, THREE)
        assert result.summary == evaluate(truths, write_cases(tmp_path / "alone", PREDICTED), THREE).summary
        assert kinds(result.notes) == ["other-files", "files-beside-volumes"]

    def test_without_the_ending_of_the_truth_names_are_ambiguous(self, tmp_path, predictions):
        truths = write_cases(tmp_path / "nii", CASES, ".nii")
        with refused("repeated-names", DataError):
            evaluate(truths, predictions, THREE)

    @staticmethod
    def dataset(tmp_path, labels):
        path = tmp_path / "dataset.json"
        path.write_text(json.dumps({"labels": labels, "file_ending": ".nii.gz"}))
        return str(path)

    def test_classes_of_a_dataset(self, segbench, truths, predictions, tmp_path):
        path = self.dataset(tmp_path, {"background": 0, "liver": 1, "ignore": 2})
        answer = segbench("labels", truths, predictions, "--classes", path)
        assert "classes:background=0,liver=1|void:2|" in answer.out
        assert Labels(classes=path) == Labels(classes=2, names=["background", "liver"], void=2, background=0)
        assert Labels(classes=path, void=()).void == ()
        assert made_of(path).signature_fields()["void"] == "2"

    @pytest.mark.parametrize("protocol", [Labels, Contours])
    def test_the_background_that_a_dataset_names_is_in_no_mean(self, tmp_path, protocol):
        path = self.dataset(tmp_path, {"background": 0, "organ": 1, "tumor": 2})
        counted = [
            count(CASES[0], PREDICTED[0], protocol(classes=path, **settings)).metrics()
            for settings in ({}, {"background": 0}, {"background": ()})
        ]
        key = "mean_dice" if protocol is Labels else "dice"
        assert counted[0][key] == counted[1][key] != counted[2][key]
        implied = protocol(classes=path)
        assert (
            implied.with_settings(both_empty=1).background == (0,) if protocol is Labels else implied.background == (0,)
        )
        assert implied.with_settings(background=()).with_settings(background=0) == implied
        assert "background" not in protocol(classes=path, background=()).settings_as_text
        assert protocol(classes=3).background == ()

    def test_the_command_line_takes_the_background_of_a_dataset_or_none(self, segbench, truths, predictions, tmp_path):
        path = self.dataset(tmp_path, {"background": 0, "organ": 1, "tumor": 2})
        file = tmp_path / "r.segbench"

        def mean(*arguments):
            answer = segbench(*arguments, "--format", "csv")
            (row,) = csv.DictReader(answer.out.splitlines())
            return row["mean_dice_cases"]

        of_organs = mean("labels", truths, predictions, "--classes", path, "-o", file)
        of_all = mean("labels", truths, predictions, "--classes", path, "--background", "none")
        assert of_organs == mean("labels", truths, predictions, "--classes", path, "--background", "0") != of_all
        assert of_all == mean("show", file, "--background", "none")
        assert of_organs == mean("show", file)

    @pytest.mark.parametrize(
        "labels",
        [{"0": "background"}, {"background": 1, "organ": 0}, {"air": 0, "organ": 1}, {"background": 0, "all": [1, 2]}],
    )
    def test_other_labels_are_no_background(self, tmp_path, labels):
        assert Labels(classes=self.dataset(tmp_path, labels)).background == ()

    def test_the_decathlon_lists_names_by_label(self, tmp_path):
        path = self.dataset(tmp_path, {"0": "background", "2": "cancer, or |", "1": "organ"})
        assert Labels(classes=path).signature_fields()["classes"] == "background=0,organ=1,cancer; or ;=2"

    @pytest.mark.parametrize(
        ("labels", "kind"),
        [
            ({"background": 0, "whole": [1, 2], "again": [2, 1]}, "wrong-label"),
            ({"background": 0, "whole": [1, "x"]}, "wrong-label"),
            ({"background": 0, "liver": -1}, "wrong-label"),
            ({"background": 0, "liver": 1.5}, "wrong-label"),
            ({"background": 0, "liver": True}, "wrong-label"),
            ({"background": 0, "liver": 0}, "wrong-label"),
            ({"background": 0, "liver": []}, "wrong-label"),
            ({"ignore": 0}, "no-labels"),
            ({}, "no-labels"),
            ([1, 2], "no-labels"),
        ],
    )
    def test_what_names_no_classes(self, tmp_path, labels, kind):
        with refused(kind, DataError):
            Labels(classes=self.dataset(tmp_path, labels))

    def test_regions_are_classes_without_the_background(self, tmp_path):
        path = self.dataset(tmp_path, {"background": 0, "whole": [1, 2, 3], "core": [2, 3], "ignore": 4})
        fields = Labels(classes=path).signature_fields()
        assert (fields["classes"], fields["void"]) == ("whole=1+2+3,core=2+3", "4")
        with refused("wrong-classes", ArgumentError):
            made_of(path)

    @pytest.mark.parametrize("text", ["{", "[]", "null", "[" * 100_000])
    def test_what_is_no_dataset(self, tmp_path, text):
        path = tmp_path / "dataset.json"
        path.write_text(text)
        with pytest.raises(DataError):
            Labels(classes=str(path))


def made_of(path):
    """Return the classes of soft maps by a file, as the command line makes them."""
    from segbench.cli.options import protocol_group
    from segbench.protocols.registry import protocols_of

    kinds_of_pixels = protocols_of("pixels")
    typed = dict.fromkeys(parameter.name for parameter in protocol_group(kinds_of_pixels).parameters)
    return protocol_group(kinds_of_pixels).made(typed | {"classes": path})


class TestChecks:
    """Findings, by headers and by what a run makes of files."""

    def findings(self, truths, predictions, protocol=THREE, **options):
        report = check(truths, predictions, protocol, **options)
        return {finding.kind: finding for finding in report.findings}

    def test_nothing_is_found(self, truths, tmp_path):
        assert not self.findings(truths, write_cases(tmp_path / "pred", PREDICTED))

    @pytest.mark.parametrize(
        ("kind", "change"),
        [
            ("permuted-axes", lambda case: {"array": case.transpose(2, 1, 0)}),
            ("volume-shape", lambda case: {"array": case[1:]}),
            ("geometry", lambda case: {"array": case, "affine": affine_of(origin=(3, 0, 0))}),
            ("spacing", lambda case: {"array": case, "affine": affine_of() + np.eye(4, k=1) * 0.1}),
        ],
    )
    def test_grids(self, segbench, truths, tmp_path, kind, change):
        folder = write_cases(tmp_path / "pred", PREDICTED)
        write_nifti(folder / "case_1.nii.gz", **change(PREDICTED[1]))
        found = self.findings(truths, folder)
        assert list(found) == [kind]
        assert found[kind].images == ("case_1",)
        assert found[kind].severity == "error"
        answer = segbench("labels", truths, folder, "--classes", "0-2")
        assert answer.code == 1
        assert kind in answer.err

    def test_grids_in_archives(self, truths, tmp_path):
        folder = write_cases(tmp_path / "pred", PREDICTED, affine=affine_of(origin=(3, 0, 0)))
        packed = shutil.make_archive(str(folder), "zip", folder)
        assert list(self.findings(truths, packed)) == ["geometry"]
        assert not self.findings(truths, packed, repairs=SHAPE)

    def test_protocols_of_two_dimensions(self, truths):
        found = self.findings(truths, truths, Saliency())
        assert found["volumes"].images == ("case_0", "case_1", "case_2")

    def test_interpolated_labels(self, truths, tmp_path):
        between = [np.where(case == 1, np.float32(1.5), case) for case in PREDICTED]
        found = self.findings(truths, write_cases(tmp_path / "pred", between))
        assert list(found) == ["interpolated-labels"]

    def test_empty_cases(self, tmp_path):
        empty = np.zeros_like(CASES[0])
        truths = write_cases(tmp_path / "gt", [CASES[0], empty, empty])
        predictions = write_cases(tmp_path / "pred", [empty, empty, PREDICTED[0]])
        found = self.findings(truths, predictions)["empty-cases"]
        assert found.severity == "warning"
        assert [place.detail.values.get("side", "both") for place in found.places] == [
            "prediction",
            "both",
            "ground truth",
        ]

    @pytest.mark.parametrize("turn", ["[..., ::-1]", "[:, ::-1]", "[::-1]", ".transpose(2, 1, 0)"])
    def test_turned_arrays_without_header(self, tmp_path, turn):
        masks = [np.zeros((12, 12, 12), np.uint8) for _ in range(4)]
        for number, mask in enumerate(masks):
            mask[1:4, 2 + number % 2 : 6, 6:11] = 1
        truths = write_cases(tmp_path / "gt", masks)
        (tmp_path / "pred").mkdir()
        for number, mask in enumerate(masks):
            noise = np.random.default_rng(number).random(mask.shape)
            turned = eval(f"soft{turn}", {"soft": mask * 0.5 + noise})  # noqa: S307  our own advice
            np.save(tmp_path / "pred" / f"case_{number}.npy", turned)
        assert self.findings(truths, tmp_path / "pred", ABOVE_0)["turned"].fix.values["turn"] == turn

    def test_truncated_files_are_unreadable(self, truths, tmp_path):
        folder = write_cases(tmp_path / "pred", PREDICTED)
        path = folder / "case_1.nii.gz"
        path.write_bytes(path.read_bytes()[:-20])
        assert self.findings(truths, folder)["unreadable"].images == ("case_1",)


def test_the_command_line_counts_folders(segbench, truths, tmp_path):
    answer = segbench(
        "labels", truths, write_cases(tmp_path / "pred", PREDICTED), "--classes", "0-2", "--format", "json"
    )
    (result,) = json.loads(answer.out)["runs"]
    assert result["summary"]["miou"] == evaluate(truths, tmp_path / "pred", THREE).summary["miou"]
    answer = segbench("pixels", truths, write_cases(tmp_path / "soft", SOFT), "--positive", ">0")
    assert answer.code == 0
    answer = segbench("labels", truths, tmp_path / "pred", "--classes", "0-2", "--volumes", "--geometry", "shape")
    assert "geometry:shape|volumes:yes|" in answer.out
