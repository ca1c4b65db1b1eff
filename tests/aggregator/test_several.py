"""`evaluate` with several predictions: methods and runs by name, or paths named after their folders."""

import numpy as np
import pytest
from refusing import refused

from segbench import ArgumentError, DataError, evaluate, join_runs, load_results, tuned_thresholds

DEMO = "datasets/demo/objects"
GT = f"{DEMO}/ground_truth"
WALKER, OTSU = (f"{DEMO}/predictions/{name}" for name in ("random_walker", "soft_otsu"))


@pytest.fixture
def folders(tmp_path):
    """Ground truth of two images, and predictions of three methods: of the last for one image alone."""
    rng = np.random.default_rng(0)
    names = {"gt": ("a", "b"), "ours": ("a", "b"), "theirs": ("a", "b"), "lacking": ("a",)}
    for place, images in names.items():
        (tmp_path / place).mkdir()
        for name in images:
            array = np.eye(6, dtype=np.uint8) if place == "gt" else rng.random((6, 6))
            np.save(tmp_path / place / f"{name}.npy", array)
    return tmp_path


def test_each_result_is_that_of_the_method_alone():
    results = evaluate(GT, {"ours": WALKER, "theirs": OTSU})
    alone = [evaluate(GT, WALKER, method="ours"), evaluate(GT, OTSU, method="theirs")]
    assert [result.to_dict() for result in results] == [result.to_dict() for result in alone]


def test_paths_are_named_after_their_folders(folders):
    results = evaluate(folders / "gt", [folders / "ours", str(folders / "theirs")])
    assert [result.method for result in results] == ["ours", "theirs"]
    assert [result.method for result in evaluate(folders / "gt", (folders / "ours",))] == ["ours"]


def test_keys_with_an_at_are_runs(folders):
    results = evaluate(folders / "gt", {"net@1": folders / "ours", "net@2": folders / "theirs"})
    assert [(result.method, result.run) for result in results] == [("net", "1"), ("net", "2")]
    assert list(join_runs(results)[0].parts("run")) == ["1", "2"]


def test_all_are_saved_as_load_results_reads_them(folders):
    path = folders / "results.segbench"
    results = evaluate(folders / "gt", {"ours": folders / "ours", "theirs": folders / "theirs"}, results=path)
    assert [result.to_dict() for result in load_results(path)] == [result.to_dict() for result in results]


def test_nothing_is_counted_where_one_does_not_pair(folders):
    path = folders / "results.segbench"
    with refused("unpaired", DataError, missing=("b",), extra=()):
        evaluate(folders / "gt", [folders / "ours", folders / "lacking"], results=path)
    assert not path.exists()


def test_runs_that_share_some_images_are_refused_before_counting(folders):
    done = []
    with refused(
        "overlapping-runs",
        DataError,
        settings={"images": ("a",)},
        run="1",
        other="2",
        shared=1,
        images=2,
        other_images=1,
    ):
        evaluate(
            folders / "gt",
            {"net@1": folders / "ours", "net@2": folders / "lacking"},
            allow_missing=True,
            progress=lambda *numbers: done.append(numbers),
        )
    assert done == []


def test_progress_is_that_of_all(folders):
    done = []
    evaluate(folders / "gt", [folders / "ours", folders / "theirs"], progress=lambda *numbers: done.append(numbers))
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("predictions", "kind", "values"),
    [
        ({}, "empty", {}),
        ([], "empty", {}),
        ({"a": OTSU, "a@1": OTSU}, "run-and-method", {"method": "a", "number": 1, "runs": ("1",)}),
        ({"@1": OTSU}, "half-a-name", {"given": "@1", "lacking": "method before", "method": "ours", "run": "1"}),
        ({"ours@": OTSU}, "half-a-name", {"given": "ours@", "lacking": "run after", "method": "ours", "run": 1}),
        ({1: OTSU}, "not-a-name", {"given": "1"}),
        ([OTSU, f"{OTSU}/"], "same-name", {"plural": "methods", "name": "soft_otsu"}),
        (
            {"a": np.zeros(3)},
            "wrong-value",
            {"argument": "prediction['a']", "value": "array([0., 0., 0.])", "expected": "one path"},
        ),
        (
            [np.zeros(3)],
            "wrong-value",
            {"argument": "prediction[0]", "value": "array([0., 0., 0.])", "expected": "one path"},
        ),
    ],
)
def test_what_names_no_predictions_is_refused(predictions, kind, values):
    with refused(kind, ArgumentError, **values):
        evaluate(GT, predictions)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("method", "net"),
        ("run", "1"),
        ("pairs", "list.csv"),
        ("thresholds", tuned_thresholds(evaluate([([0, 1, 1, 0], [0.1, 0.9, 0.5, 0.5])]))),
    ],
)
def test_arguments_for_one_method_are_refused(argument, value):
    with refused("for-one-only", argument=argument):
        evaluate(GT, [WALKER, OTSU], **{argument: value})


def test_arrays_stay_pairs():
    result = evaluate([([0, 1], [0.2, 0.9]), ([0, 1], [0.3, 0.7])])
    assert list(result.counts) == ["0", "1"]
    with refused("for-files-only", ArgumentError, arguments=("prediction",)):
        evaluate({"a": ([0, 1], [0.2, 0.9])}, {"ours": WALKER})
