"""`evaluate` from arrays: pairs of labels and scores, with and without names, as if they lay in files."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, write_papers
from refusing import refused, within

from segbench import (
    Accumulator,
    Anomalies,
    ArgumentError,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    DataError,
    Labels,
    Objects,
    Pixels,
    Repairs,
    Thresholds,
    count,
    evaluate,
)

PAPERS = {"first": (FIRST_TRUTH * 255, FIRST_SCORES), "second": (SECOND_TRUTH * 255, SECOND_SCORES)}


@pytest.mark.parametrize("protocol", [Pixels(), Pixels(positive=255), Pixels(void=(7,), quantize=8), Boundaries()])
def test_arrays_give_the_metrics_of_the_same_files(tmp_path, protocol):
    files, arrays = evaluate(*write_papers(tmp_path), protocol), evaluate(PAPERS, protocol=protocol)
    assert arrays.summary == files.summary
    assert {name: dict(one) for name, one in arrays.per_image.items()} == {
        name: dict(one) for name, one in files.per_image.items()
    }
    assert "|source:arrays|images:2|" in arrays.signature
    assert not files.failed


@pytest.mark.parametrize("kind", [list, tuple, iter, lambda pairs: zip(*zip(*pairs, strict=True), strict=True)])
def test_images_without_names_are_numbered(kind):
    result = evaluate(kind(list(PAPERS.values())), protocol="pixels")
    assert list(result.counts) == ["0", "1"]
    assert result.summary == evaluate(PAPERS).summary
    assert result.method == "arrays"


def test_names_may_be_numbers_and_the_method_has_one():
    result = evaluate({3: PAPERS["first"], np.int64(11): PAPERS["second"]}, method="net")
    assert (list(result.counts), result.method) == (["11", "3"], "net")


def test_a_third_array_leaves_pixels_out():
    labels, scores = PAPERS["first"]
    valid = np.ones(labels.shape, bool)
    valid[0] = False
    assert evaluate([(labels, scores, valid)]).counts["0"].ignored == 4


class Indexed:
    """What PyTorch calls a map-style data set: without an end that iteration would find."""

    def __len__(self):
        return len(PAPERS)

    def __getitem__(self, place):
        return list(PAPERS.values())[place % len(PAPERS)]


def test_a_data_set_with_an_index_is_gone_through():
    told = []
    result = evaluate(Indexed(), progress=lambda *done: told.append(done))
    assert result.summary == evaluate(PAPERS).summary
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("protocol", ["pixels", "labels", "contours", Objects(kind="components"), "anomalies"])
def test_batches_are_not_taken_for_images(protocol):
    batch = (np.stack([FIRST_TRUTH] * 2), np.stack([FIRST_TRUTH > 0] * 2))
    with refused("perhaps-batch", ArgumentError, shape=(2, 4, 4)):
        evaluate([batch], protocol=protocol)
    one = evaluate([tuple(part[:1] for part in batch)], protocol=protocol)  # as batches of one are
    assert (len(one.counts), one.notes) == (1, ())


@pytest.mark.parametrize(
    ("protocol", "key"),
    [
        (Pixels(), "ods_f"),
        (Labels(classes=2), "mean_dice_cases"),
        (Classes(labels=range(2)), "macro_ods_f"),
        (Contours(), "hd"),
        (Objects(), "f1@0.5"),
        (Centerlines(), "cldice"),
        (Anomalies(), "aupro"),
    ],
    ids=lambda of: getattr(of, "name", of),
)
def test_a_named_volume_counts_as_one_image_as_its_file_does_and_it_is_said(tmp_path, protocol, key):
    truth = np.zeros((4, 6, 8), np.uint8)
    truth[1:3, 2:5, 2:7] = 1
    predicted = np.roll(truth, 1, axis=2)
    if key == "macro_ods_f":
        predicted = np.stack([1 - predicted, predicted]).astype(np.float32)  # an axis of classes first
    result = evaluate({"scan": (truth, predicted)}, protocol=protocol)
    accumulator = Accumulator(protocol)
    accumulator.update(truth[np.newaxis], predicted[np.newaxis], names=["scan"])
    for folder, array in (("gt", truth), ("pred", predicted)):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "scan.npy", array)
    of_files = evaluate(tmp_path / "gt", tmp_path / "pred", protocol, repairs=Repairs(volumes=True))
    assert result.counts == accumulator.compute().counts == of_files.counts
    assert result.summary[key] == of_files.summary[key] > 0
    (note,) = (note for note in result.notes if note.kind == "counted-as-volume")
    assert note.values["axes"] == 3
    if key in ("ods_f", "mean_dice_cases"):
        assert count(truth, predicted, protocol) == result.counts["scan"]


@pytest.mark.parametrize(
    "protocol", [Pixels(), Labels(classes=2), Contours(), Contours(classes=2), Objects(), Objects(kind="components")]
)
def test_permuted_axes_are_named_with_the_order_that_puts_them_right(protocol):
    truth = np.zeros((4, 6, 8), np.uint8)
    truth[1:3, 2:5, 2:7] = 1
    predicted = truth.transpose(1, 2, 0)
    code = "volume.transpose(2, 0, 1)"
    for action in (
        lambda: count(truth, predicted, protocol),
        lambda: evaluate({"a": (truth, predicted)}, protocol=protocol),
    ):
        with pytest.raises((ArgumentError, DataError)) as raised:
            action()
        assert within(raised.value, "permuted-axes")["code"] == code
    assert count(truth, predicted.transpose(2, 0, 1), protocol) == count(truth, truth, protocol)


def test_a_transposed_image_is_named_too():
    mask = np.ones((4, 6), bool)
    with refused("other-size", DataError) as raised:
        count(mask, mask.T, "contours")
    assert within(raised.value, "permuted-axes")["code"] == "image.transpose(1, 0)"


@pytest.mark.parametrize(
    "protocol", [Contours(spacing=(3, 1, 1)), Contours(surface="voxels"), Centerlines(connectivity=26)]
)
def test_settings_of_volumes_say_what_arrays_are(protocol):
    volume = np.ones((3, 4, 5), bool)
    result = evaluate([(volume, volume)], protocol=protocol)
    assert (list(result.counts), result.notes) == (["0"], ())


def test_progress_is_told():
    told = []
    evaluate(PAPERS, progress=lambda done, total: told.append((done, total)))
    evaluate(iter(PAPERS.values()), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2), (1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("images", "kind", "values"),
    [
        (3, "not-arrays", {"given": "3"}),
        ([], "no-images", {}),
        (PAPERS["first"], "not-arrays", {"image": "0", "type": "ndarray"}),
        (np.zeros((2, 2, 4, 4)), "not-arrays", {"image": "0", "type": "ndarray"}),
        ({"a": PAPERS["first"][:1]}, "not-arrays", {"image": "'a'", "type": "tuple"}),
        ({"a": (np.zeros((2, 3)), np.zeros((3, 2)))}, "other-shape", {"shape": (2, 3), "expected": (3, 2)}),
        ({1.5: PAPERS["first"]}, "not-a-name", {"given": "1.5"}),
    ],
)
def test_what_is_no_images(images, kind, values):
    with refused(kind, ArgumentError, **values):
        evaluate(images)


@pytest.mark.parametrize(
    "beside",
    [
        {"field": "masks"},
        {"gt_pattern": "*_m"},
        {"negatives": "*"},
        {"repairs": Repairs(scale=255)},
        {"thresholds": Thresholds([0.5], "x")},
        {"pairs": "list.csv"},
        {"executor": ThreadPoolExecutor(1)},
        {"images": "a"},
        {"allow_missing": True},
        {"fresh": True},
    ],
    ids=lambda beside: next(iter(beside)),
)
def test_what_is_for_files_is_refused_beside_arrays(beside):
    with refused("for-files-only", ArgumentError, arguments=tuple(beside)):
        evaluate(PAPERS, **beside)


def test_labels_and_scores_apart_are_to_be_given_as_pairs():
    with refused("for-files-only", ArgumentError, arguments=("prediction",)):
        evaluate([FIRST_TRUTH], [FIRST_SCORES])
