"""Files of one side lie in folders and those of the other do not: what pairs by itself, and what never does."""

import shutil

import numpy as np
import pytest
from cases import write_folder
from noted import noted
from refusing import parts_of, refused

import segbench
from segbench.core.messages import Setting
from segbench.inputs.files import find_files
from segbench.loaders.pairing import Inputs

MASK = np.array([[0, 1], [1, 0]], np.uint8)
CITIES = [f"{city}/{city}_{frame:06}" for city in ("bochum", "ulm") for frame in range(2)]
SESSIONS = [f"sub-{k}/ses-1/sub-{k}_ses-1" for k in ("a1", "a2")]
"""Names of BIDS, with folders that the base name repeats."""
FLAT = [name.partition("/")[2] for name in CITIES]


def folders(root, truths, predictions):
    """Write ground truth and predictions, each image with a number of its own, which scores tell from others."""
    for side, names in (("gt", truths), ("pred", predictions)):
        write_folder(root / side, {f"{name}.png": MASK for name in names})
    return str(root / "gt"), str(root / "pred")


def pairs(places, protocol=None, **options):
    """Pair and return the prediction of each image, by their names."""
    truth, prediction = places
    pairing = find_files(Inputs(ground_truth=truth, prediction=prediction, **options), protocol or segbench.Labels())
    pairing.require_complete()
    return {files.name: str(files.prediction).removeprefix(f"{prediction}/")[:-4] for files in pairing.files}


@pytest.mark.parametrize(
    ("truths", "predictions"),
    [
        (CITIES, FLAT),
        (FLAT, CITIES),
        (CITIES[:2], FLAT[:2]),
        (SESSIONS, ["sub-a1_ses-1", "sub-a2_ses-1"]),
        (SESSIONS[:1], ["sub-a1_ses-1"]),
        (CITIES, [f"results/{name}" for name in FLAT]),
        ([f"val/{name}" for name in CITIES], FLAT),
    ],
    ids=[
        "cities",
        "predictions in cities",
        "one city",
        "sessions",
        "one session",
        "a folder of results",
        "a folder above the cities",
    ],
)
def test_unambiguous_base_names_pair_and_the_images_keep_the_names_of_the_ground_truth(tmp_path, truths, predictions):
    assert pairs(folders(tmp_path, truths, predictions)) == dict(zip(truths, predictions, strict=True))


def test_it_is_said_and_groups_are_those_of_the_ground_truth(tmp_path):
    result = segbench.evaluate(*folders(tmp_path, CITIES, FLAT), "labels")
    pair = {"truth": "bochum/bochum_000000", "prediction": "bochum_000000"}
    assert noted(result.notes)[0] == ("", "paired-without-folders", pair)
    assert list(result.parts("group", by="folder")) == ["bochum", "ulm"]


def test_chosen_images_pair_where_others_have_no_prediction(tmp_path):
    places = folders(tmp_path, CITIES, FLAT[:2])
    assert list(pairs(places, images=("bochum/*",))) == CITIES[:2]


def test_archives_pair_in_the_same_way(tmp_path):
    truth, prediction = folders(tmp_path, CITIES, FLAT)
    archive = shutil.make_archive(str(tmp_path / "net"), "zip", prediction)
    assert len(segbench.evaluate(truth, archive, "labels").counts) == len(CITIES)


@pytest.mark.parametrize(
    ("truths", "predictions"),
    [
        (CITIES, FLAT[:-1]),
        (CITIES, [*FLAT, "other"]),
        ([*CITIES, f"copies/{FLAT[0]}"], FLAT),
        (CITIES, [*FLAT, f"old/{FLAT[0]}"]),
        ([*CITIES, "own"], [*FLAT, "own"]),
        (["bottle/img0", "bottle/img1"], ["cable/img0", "cable/img1"]),
        (["val/img0", "val/img1"], ["test/img0", "test/img1"]),
        (["bottle/000", "cable/001"], ["hazelnut/000", "hazelnut/001"]),
        (["bear/b0", "camel/c0"], ["x/b0", "y/c0"]),
        (["bear/00000", "camel/00001"], ["00000", "00001"]),
        (["anna/img0", "ben/img0"], ["img0"]),
        (["img0"], ["out/img0"]),
    ],
    ids=[
        "a prediction is missing",
        "a prediction too many",
        "a name in two folders",
        "a prediction in two folders",
        "one name pairs as it is",
        "other folders",
        "other parts",
        "numbers in other folders",
        "folders on both sides",
        "frames of sequences",
        "annotators",
        "a pattern does it",
    ],
)
def test_nothing_pairs_by_base_name_where_that_may_be_wrong(tmp_path, truths, predictions):
    with refused("unpaired"):
        pairs(folders(tmp_path, truths, predictions))


def test_frames_of_several_sequences_in_one_folder_are_refused(tmp_path):
    sequences = segbench.Contours(sequences=True)
    places = folders(tmp_path, ["bear/a0", "bear/a1", "camel/c0", "camel/c1"], ["a0", "a1", "c0", "c1"])
    with refused("joined-sequences", number=2, sequences="bear, camel"):
        pairs(places, sequences)


def test_negatives_are_never_paired_by_base_name(tmp_path):
    places = folders(tmp_path, ["a0", "a1"], ["broken/a0", "good/a1"])
    with refused("unpaired", missing=("a0", "a1"), extra=("broken/a0",)):
        pairs(places, segbench.Anomalies(), negatives="good/*")


@pytest.mark.parametrize(
    ("command", "suffix", "values", "number"),
    [
        (("labels", "--preset", "cityscapes"), "labelTrainIds", MASK, '"miou": 1.0'),
        (("run", "cityscapes-labelids"), "labelIds", MASK + 7, '"miou": 1.0'),
        (("run", "cityscapes-instanceids"), "instanceIds", MASK.astype(np.uint16) + 26001, '"pq": 1.0'),
    ],
)
def test_predictions_of_cityscapes_in_one_folder_need_only_their_suffix(
    segbench, tmp_path, command, suffix, values, number
):
    """The names of the official images, in a folder for all cities."""
    write_folder(tmp_path / "root", {f"gtFine/val/{name}_gtFine_{suffix}.png": values for name in CITIES})
    write_folder(tmp_path / "net", {f"{name}_leftImg8bit.png": values for name in FLAT})
    run = *command, tmp_path / "root", tmp_path / "net"
    assert Setting("pred_pattern", "*_leftImg8bit") in set(parts_of(segbench(*run).error, Setting))
    answer = segbench(*run, "--pred-pattern", "*_leftImg8bit", "--format", "json")
    assert answer.code == 0
    assert number in answer.out
