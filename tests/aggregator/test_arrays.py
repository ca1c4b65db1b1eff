"""`evaluate` from arrays: pairs of labels and scores, with and without names, as if they lay in files."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, write_papers
from refusing import refused

from segbench import ArgumentError, Boundaries, Pixels, Repairs, Thresholds, evaluate

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


@pytest.mark.parametrize(("protocol", "kind"), [("pixels", "perhaps-batch"), ("labels", "other-shape")])
def test_batches_are_not_taken_for_images(protocol, kind):
    batch = (np.stack([FIRST_TRUTH] * 2), np.stack([FIRST_TRUTH > 0] * 2))
    with refused(kind, ArgumentError, shape=(2, 4, 4)):
        evaluate([batch], protocol=protocol)
    one = evaluate([tuple(part[:1] for part in batch)], protocol=protocol)  # as batches of one are
    assert (len(one.counts), one.notes) == (1, ())


def test_a_named_volume_counts_as_one_image_and_it_is_said():
    result = evaluate({"scan": (np.stack([FIRST_TRUTH] * 2), np.stack([FIRST_SCORES] * 2))})
    assert list(result.counts) == ["scan"]
    (note,) = result.notes
    assert (note.kind, note.values["axes"]) == ("counted-as-volume", 3)


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
