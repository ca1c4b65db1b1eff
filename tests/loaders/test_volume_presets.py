"""Every preset of volumes on a miniature made in its layout."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from noted import kinds
from refusing import refused
from volumes_written import write_nifti

import segbench
from segbench import ArgumentError, Objects, evaluate
from segbench.cli.commands import app

MSD = "Task{}/labelsTr/{{}}.nii.gz"
KITS, BRATS = "{}/segmentation.nii.gz", "{0}/{0}-seg.nii.gz"
# two cases, their ground truth below the root, other files of a case, the labels, and Dice of each class where the last
# label, of 64 voxels as each, lacks 16
SETS = {
    "acdc": (
        *(("patient101_frame01", "patient101_frame14"), "database/testing/patient101/{}_gt.nii.gz"),
        *(("database/testing/patient101/{}.nii.gz",), (1, 2, 3), {"RV": 1, "MYO": 1, "LV": 6 / 7}),
    ),
    "brats": (
        *(("BraTS-GLI-00000-000", "BraTS-GLI-00002-001"), f"ASNR-MICCAI-BraTS2023-GLI-Challenge-TrainingData/{BRATS}"),
        *(("ASNR-MICCAI-BraTS2023-GLI-Challenge-TrainingData/{0}/{0}-t1c.nii.gz",), (1, 2, 3)),
        {"WT": 22 / 23, "TC": 14 / 15, "ET": 6 / 7},
    ),
    "brats2021": (
        *(("BraTS2021_00000", "BraTS2021_00002"), "{0}/{0}_seg.nii.gz", ("{0}/{0}_flair.nii.gz",), (1, 2, 4)),
        {"WT": 22 / 23, "TC": 14 / 15, "ET": 6 / 7},
    ),
    "kits19": (
        *(("case_00000", "case_00001"), f"data/{KITS}", ("data/{}/imaging.nii.gz",), (1, 2)),
        {"kidney": 14 / 15, "tumor": 6 / 7},
    ),
    "kits23": (
        *(("case_00000", "case_00400"), f"dataset/{KITS}", ("dataset/{}/imaging.nii.gz",), (1, 2, 3)),
        {"kidney_and_mass": 22 / 23, "mass": 14 / 15, "tumor": 1},
    ),
    "msd-brain-tumour": (
        *(("BRATS_001", "BRATS_002"), MSD.format("01_BrainTumour"), (), (1, 2, 3)),
        {"edema": 1, "non-enhancing tumor": 1, "enhancing tumour": 6 / 7},
    ),
    "msd-colon": (("colon_001", "colon_005"), MSD.format("10_Colon"), (), (1,), {"colon cancer primaries": 6 / 7}),
    "msd-heart": (("la_003", "la_004"), MSD.format("02_Heart"), (), (1,), {"left atrium": 6 / 7}),
    "msd-hepatic-vessel": (
        *(("hepaticvessel_001", "hepaticvessel_002"), MSD.format("08_HepaticVessel"), (), (1, 2)),
        {"Vessel": 1, "Tumour": 6 / 7},
    ),
    "msd-hippocampus": (
        *(("hippocampus_001", "hippocampus_003"), MSD.format("04_Hippocampus"), (), (1, 2)),
        {"Anterior": 1, "Posterior": 6 / 7},
    ),
    "msd-liver": (("liver_0", "liver_1"), MSD.format("03_Liver"), (), (1, 2), {"liver": 1, "cancer": 6 / 7}),
    "msd-lung": (("lung_001", "lung_003"), MSD.format("06_Lung"), (), (1,), {"cancer": 6 / 7}),
    "msd-pancreas": (
        *(("pancreas_001", "pancreas_004"), MSD.format("07_Pancreas"), (), (1, 2)),
        {"pancreas": 1, "cancer": 6 / 7},
    ),
    "msd-prostate": (("prostate_00", "prostate_01"), MSD.format("05_Prostate"), (), (1, 2), {"PZ": 1, "TZ": 6 / 7}),
    "msd-spleen": (("spleen_2", "spleen_3"), MSD.format("09_Spleen"), (), (1,), {"spleen": 6 / 7}),
}
MASKS = ("brats-lesions", "isles2022")
"""Presets of single masks, tested below."""


def drawn(labels):
    """Draw a cube of 4x4x4 voxels of each label, side by side along x, behind one of background."""
    return np.repeat(np.array([0, *labels], np.uint8), 4) * np.ones((4, 4, 1), np.uint8)


def results_of(*arguments, to):
    ended = CliRunner().invoke(app, [*map(str, arguments), "-o", str(to / "r.segbench")])
    assert ended.exit_code == 0, (ended.output, ended.exception)
    (result,) = segbench.load_results(to / "r.segbench")
    assert not result.failed
    return result


@pytest.fixture
def made(tmp_path):
    """Return a function that writes the miniature of a preset, and returns where it and the predictions lie."""

    def write(name):
        cases, place, beside, labels, _ = SETS[name]
        truth = drawn(labels)
        predicted = truth.copy()
        predicted[:, :, -1] = 0  # the last plane of the last label
        for case in cases:
            write_nifti(tmp_path / "root" / place.format(case), truth)
            write_nifti(tmp_path / f"pred/{case}.nii.gz", predicted)
            for image in beside:
                write_nifti(tmp_path / "root" / image.format(case), truth.astype(np.int16) * 100)
        return tmp_path / "root", tmp_path / "pred"

    return write


@pytest.mark.parametrize("name", sorted(SETS))
def test_classes_of_a_preset_fit_its_layout(name, made, tmp_path):
    result = results_of("run", name, *made(name), to=tmp_path)
    expected = SETS[name][-1]
    dice = {name: part.summary["dice_cases"] for name, part in result.parts("class").items()}
    dice.pop("background", None)
    assert dice == pytest.approx(expected)
    assert result.summary["mean_dice_cases"] == pytest.approx(np.mean(list(expected.values())))
    assert len(result.counts) == 2


@pytest.mark.parametrize("name", sorted(SETS))
def test_contours_of_a_preset_are_measured_in_mm(name, made, tmp_path):
    result = results_of("contours", "--preset", name, *made(name), to=tmp_path)
    # One voxel of .7 mm lacks along x; the classes that hold all of their voxels have a distance of 0.
    expected = [0 if dice == 1 else 0.7 for dice in SETS[name][-1].values()]
    assert result.summary["hd"] == pytest.approx(np.mean(expected))


def test_brats_counts_regions_that_neither_side_holds(made, tmp_path):
    root, predictions = made("brats")
    case, place = "BraTS-GLI-00000-000", SETS["brats"][1]
    without_enhancing = drawn((1, 2, 0))
    write_nifti(root / place.format(case), without_enhancing)
    write_nifti(predictions / f"{case}.nii.gz", without_enhancing)
    result = results_of("run", "brats", root, predictions, to=tmp_path)
    assert result.parts("class")["ET"].summary["dice_cases"] == pytest.approx((1 + 6 / 7) / 2)


WHOLE, ENHANCING = {"lesion_dice": 0.5, "lesion_hd95": 187}, {"lesion_dice": 1}
OF_MASKS = ("--predicted-positive", "1")


@pytest.mark.parametrize(
    ("regions", "stored", "expected"),
    [
        ((), 3, WHOLE),
        (("--positive", "3"), 3, ENHANCING),
        ((), 1, WHOLE),
        (("--positive", "3", *OF_MASKS), 1, ENHANCING),
    ],
)
def test_lesions_of_brats_are_found_and_missed(regions, stored, expected, tmp_path):
    truth = np.zeros((6, 8, 40), np.uint8)
    truth[1:5, 2:6, 2:6] = 3  # 87.36 mm³
    truth[1:5, 2:6, 18:22] = 2
    truth[2, 3, 34] = 1  # a single voxel, which is too small to count
    case = "BraTS-GLI-00000-000"
    write_nifti(tmp_path / "root" / BRATS.format(case), truth)
    predicted = np.uint8(stored * (truth == 3))
    if stored == 3:
        predicted[0, 0, 0] = 4  # no label of any region
    write_nifti(tmp_path / f"pred/{case}.nii.gz", predicted)
    result = results_of("run", "brats-lesions", tmp_path / "root", tmp_path / "pred", *regions, to=tmp_path)
    assert {key: result.summary[key] for key in expected} == pytest.approx(expected)


def test_masks_of_a_region_beside_labels_of_brats_are_noted(tmp_path):
    truth = np.zeros((6, 8, 10), np.uint8)
    truth[1:5, 2:6, 2:6] = 3
    predicted = np.uint8(truth == 3)
    masks = Objects(kind="components", positive=3, predicted_positive="same")
    for folder, array in (("gt", truth), ("pred", predicted)):
        write_nifti(tmp_path / folder / "a.nii.gz", array)
    result = evaluate(tmp_path / "gt", tmp_path / "pred", masks)
    assert "no-value-of-truth" in kinds(result.notes)
    advised = replace(masks, predicted_positive=">0")
    assert evaluate(tmp_path / "gt", tmp_path / "pred", advised).summary["lesion_dice"] == 1
    with refused("exclusive-settings", ArgumentError):
        replace(masks, at=0.5)


@pytest.mark.parametrize(
    ("protocol", "key", "expected"), [("labels", "dice", 2 / 3), ("objects", "lesion_f1_images", 2 / 3)]
)
@pytest.mark.parametrize("subjects", [("sub-strokecase0001", "sub-strokecase0002"), ("sub-strokecase0001",)])
def test_lesions_of_isles_are_masks(protocol, key, expected, subjects, tmp_path):
    truth = np.zeros((4, 8, 20), np.uint8)
    truth[1:3, 2:4, 2:4] = truth[1:3, 2:4, 10:12] = 1
    predicted = truth.copy()
    predicted[:, :, 10:] = 0  # one of two lesions of the same size
    for subject in subjects:
        place = tmp_path / f"root/derivatives/{subject}/ses-0001"
        write_nifti(place / f"{subject}_ses-0001_msk.nii.gz", truth)
        write_nifti(tmp_path / f"pred/{subject}_ses-0001.nii.gz", predicted)
    result = results_of(protocol, "--preset", "isles2022", tmp_path / "root", tmp_path / "pred", to=tmp_path)
    assert result.summary[key] == pytest.approx(expected)


ADVISED = (  # what notes of presets advise, and Dice of the classes
    ("kits23", ("--classes", "kidney=1,tumor=2,cyst=3,0", "--background", "0"), (1, 1, 6 / 7)),
    ("msd-brain-tumour", ("--classes", "0,WT=1+2+3,TC=2+3,ET=3"), (22 / 23, 14 / 15, 6 / 7)),
    ("brats", ("--classes", "WT=1+2+3,TC=1+3,ET=3,RC=4"), (22 / 23, 14 / 15, 6 / 7, 1)),
    ("acdc", ("--unit", "folder", "--intervals", "95"), (1, 1, 6 / 7)),
)


@pytest.mark.parametrize(("name", "options", "expected"), ADVISED)
def test_what_notes_advise_works(name, options, expected, made, tmp_path):
    note = segbench.load_preset(name).note
    assert all(option in note for option in options if option not in ("--intervals", "95"))
    result = results_of("run", name, *made(name), *options, to=tmp_path)
    assert result.summary["mean_dice_cases"] == pytest.approx(np.mean(expected))
