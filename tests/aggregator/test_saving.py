"""`Result.save`: what is read back is what was saved, and what is no run is refused with the whole to save."""

from pathlib import Path

import numpy as np
import pytest
from refusing import refused

from segbench import (
    Accumulator,
    ArgumentError,
    Boundaries,
    Contours,
    DataError,
    FailedImages,
    Labels,
    Pixels,
    Regions,
    ReplacedRun,
    Saliency,
    evaluate,
    join_runs,
    load_results,
)

DEMO = "datasets/demo/objects"


def images(seed=0, names=("a/0", "a/1", "b/0", "b/1")):
    rng = np.random.default_rng(seed)
    truths = {name: np.random.default_rng(9).random((8, 9)) < 0.3 for name in names}
    return {name: (truth, rng.random(truth.shape)) for name, truth in truths.items()}


def maps(seed=0):
    return {name: (truth, scores > 0.5) for name, (truth, scores) in images(seed).items()}


def known(result):
    """All that a result says of itself, as plain values."""
    assigned = {kind: (part.by, dict(part.of_images)) for kind, part in result.assigned.items()}
    run = result.to_dict(intervals=result.intervals())
    return run, assigned, result.inputs, dict(result.truths), dict(result.image_notes), dict(result.counts)


def reread(result, path):
    result.save(path)
    (again,) = join_runs(load_results(path))
    return again


@pytest.mark.parametrize(
    ("protocol", "arrays"),
    [
        (Pixels(at=0.5, calibration=True), images()),
        (Labels(classes=2), maps()),
        (Boundaries(), images()),
        (Regions(), maps()),
        (Saliency(), images()),
        (Contours(nsd=(1, 2)), maps()),
    ],
)
def test_results_of_arrays_are_read_as_they_were_saved(tmp_path, protocol, arrays):
    result = evaluate(arrays, protocol=protocol, method="net", run="1")
    assert known(load(result, tmp_path)) == known(result)


def load(result, folder):
    result.save(folder / "saved.segbench")
    (again,) = load_results(folder / "saved.segbench")
    return again


def test_settings_of_measuring_groups_and_units_are_kept(tmp_path):
    result = evaluate(images()).with_settings(at=(0.2, 0.5), group_by="folder", unit="#/*")
    again = load(result, tmp_path)
    assert known(again) == known(result)
    assert list(again.parts("group")) == ["a", "b"]


def test_notes_on_images_are_not_doubled(tmp_path):
    result = evaluate(f"{DEMO}/ground_truth", f"{DEMO}/predictions/random_walker", Labels(predicted_positive=">=128"))
    once = load(result, tmp_path)
    assert once.notes == result.notes
    assert load(once, tmp_path).notes == result.notes  # saved into the file that it came from


def test_failed_images_are_kept(tmp_path):
    truth = np.eye(4, dtype=bool)
    for place, arrays in {"gt": (truth, truth), "pred": (truth / 2, np.full((4, 4), np.nan))}.items():
        (tmp_path / place).mkdir()
        for name, array in zip("ab", arrays, strict=True):
            np.save(tmp_path / place / f"{name}.npy", array)
    with pytest.warns(FailedImages):
        result = evaluate(tmp_path / "gt", tmp_path / "pred")
    assert load(result, tmp_path).failed == result.failed != {}


def test_pixels_without_names_stay_without(tmp_path):
    accumulator = Accumulator(Pixels(positive=1), method="net")
    pairs = images()
    accumulator.update(*pairs["a/0"])
    accumulator.update(*pairs["a/1"])
    accumulator.update(*pairs["b/0"], name="b/0")
    result = accumulator.compute()
    again = load(result, tmp_path)
    assert known(again) == known(result)
    assert again.unnamed == result.unnamed
    assert "|images:unnamed|" in again.signature


def test_accumulators_save_pixels_without_names(tmp_path):
    accumulator = Accumulator(Pixels(positive=1), method="net")
    accumulator.update(*images()["a/0"])
    result = accumulator.compute(results=tmp_path / "saved.segbench")
    (again,) = load_results(tmp_path / "saved.segbench")
    assert str(again.summary) == str(result.summary)
    assert again.unnamed == result.unnamed


def test_partial_results_stay_partial(tmp_path):
    accumulator = Accumulator(method="net", results=tmp_path / "first.segbench")
    for name, pair in images().items():
        accumulator.update(*pair, name=name)
    (partial,) = load_results(tmp_path / "first.segbench", partial=True)
    partial.save(tmp_path / "second.segbench")
    (again,) = load_results(tmp_path / "second.segbench", partial=True)
    assert again.partial == partial.partial == (4, None)
    assert known(again) == known(partial)


def test_joined_runs_are_saved_run_by_run(tmp_path):
    trainings = [evaluate(images(seed), method="net", run=str(seed)) for seed in (1, 2)]
    (joined,) = join_runs(trainings)
    assert reread(joined, tmp_path / "saved.segbench").summary == joined.summary
    saved = load_results(tmp_path / "saved.segbench")
    assert [(run.label, run.signature) for run in saved] == [(run.label, run.signature) for run in trainings]


def test_folds_are_saved_run_by_run(tmp_path):
    pairs = images()
    folds = [
        evaluate({name: pairs[name] for name in names}, method="net", run=run)
        for run, names in {"1": ("a/0", "a/1"), "2": ("b/0", "b/1")}.items()
    ]
    (joined,) = join_runs(folds)
    assert reread(joined, tmp_path / "saved.segbench").summary == joined.summary


@pytest.mark.parametrize(
    ("part", "what", "axis"),
    [
        (lambda result: result.parts("group")["a"], "one of", "group"),
        (lambda result: result.parts("group").mean, "a mean over", "group"),
        (lambda result: result.parts("class")["1"], "one of", "class"),
        (lambda result: result.parts("class").mean, "a mean over", "class"),
        (lambda result: result.parts("group")["a"].parts("class")["1"], "one of", "class"),
    ],
)
def test_parts_are_refused_with_the_whole_to_save(tmp_path, part, what, axis):
    result = evaluate(maps(), protocol=Labels(classes=2), method="net").with_settings(group_by="folder")
    path = tmp_path / "saved.segbench"
    with refused("part-of-result", ArgumentError, what=what, method="net", axis=axis):
        part(result).save(path)
    assert not path.exists()
    result.save(path)
    assert list(load_results(path)[0].parts(axis)) == list(result.parts(axis))


def test_a_run_of_other_images_is_replaced_with_a_warning(tmp_path):
    path = tmp_path / "saved.segbench"
    evaluate(images(), method="net").save(path)
    other = evaluate(images(1, names=("c", "d")), method="net")
    with pytest.warns(ReplacedRun) as warned:
        other.save(path)
    assert warned[0].filename == __file__
    assert warned[0].message.args[0].kind == "replaced-run"
    assert list(load_results(path)[0].counts) == ["c", "d"]


def test_fresh_replaces_predictions_of_another_folder(tmp_path):
    path = tmp_path / "saved.segbench"
    first, second = (
        evaluate(f"{DEMO}/ground_truth", f"{DEMO}/predictions/{name}", "pixels", method="net")
        for name in ("random_walker", "soft_otsu")
    )
    first.save(path)
    walker = str(Path(DEMO).absolute() / "predictions" / "random_walker")
    with refused(
        "other-predictions", DataError, path=str(path), settings={"fresh": True}, run="net", predictions=walker
    ):
        second.save(path)
    second.save(path, fresh=True)
    assert load_results(path)[0].summary == second.summary


def test_evaluate_saves_arrays(tmp_path):
    path = tmp_path / "saved.segbench"
    result = evaluate(images(), method="net", group_by="folder", results=path)
    (again,) = load_results(path)
    assert known(again) == known(result)


def test_evaluate_refuses_a_place_before_it_counts(tmp_path):
    def pairs():
        raise AssertionError("counted")
        yield

    with refused("not-a-database", ArgumentError, name="results.segbench"):
        evaluate(pairs(), results=tmp_path / "results.csv")
