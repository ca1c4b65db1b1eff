"""Names and arguments of other packages: the hint of each error is followed, and must give the right number."""

import inspect
import re

import numpy as np
import pytest
from refusing import refused

import segbench
from segbench import (
    Accumulator,
    ArgumentError,
    Boundaries,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    ScoredObjects,
    evaluate,
    load_results,
)

GROUND_TRUTH = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
PREDICTION = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])  # 3 of 4 right, 1 wrong
SCORES = np.where(PREDICTION == 1, 0.8, 0.2)
PAIR = [(GROUND_TRUTH, PREDICTION)]


def advice(error):
    """What an error says to write."""
    return re.search(r"write (?:protocol=)?(.*?)(?:, with result = .*|, or .*|$)", str(error.value))[1]


def follow(code, **values):
    return eval(code, {"segbench": segbench, **values})  # noqa: S307  our own message


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("iou", 3 / 5),
        ("IoU", 3 / 5),
        ("JaccardIndex", 3 / 5),
        ("dice", 3 / 4),
        ("dice_score", 3 / 4),
        ("miou", (3 / 5 + 11 / 13) / 2),
        ("pixel_accuracy", 14 / 16),
        ("hd95", 0.85),  # each border has three pixels at 0 and one at 1
        ("mae", 2 / 16),
    ],
)
def test_metrics_are_measured_by_evaluate(name, right):
    with pytest.raises(AttributeError) as error:
        getattr(segbench, name)
    assert follow(advice(error), ground_truth=GROUND_TRUTH == 1, prediction=PREDICTION == 1) == pytest.approx(right)


@pytest.mark.parametrize(
    ("name", "right"), [("average_precision_score", 3 / 4 * 3 / 4 + 1 / 16), ("roc_auc_score", 5 / 6)]
)
def test_functions_of_other_packages_take_a_result(name, right):
    with pytest.raises(AttributeError) as error:
        getattr(segbench, name)
    result = evaluate([(GROUND_TRUTH, SCORES)])
    assert follow(advice(error), result=result) == pytest.approx(right)


def test_results_are_saved_by_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AttributeError) as error:
        segbench.save_results  # noqa: B018  it is looked up
    follow(advice(error), result=evaluate([(GROUND_TRUTH, SCORES)], method="net"))
    assert [result.method for result in load_results("results.segbench")] == ["net"]


@pytest.mark.parametrize(
    ("arguments", "key", "right"),
    [
        ({"at": 0.5}, "iou@0.5", 3 / 5),
        ({"threshold": 0.5}, "iou@0.5", 3 / 5),
        ({"classes": 8}, "pixel_accuracy", 14 / 16),
        ({"num_classes": 8}, "pixel_accuracy", 14 / 16),
        ({"spacing": 2}, "hd95", 1.7),
        ({"voxelspacing": 2}, "hd95", 1.7),
        ({"ignore_index": 9, "protocol": "labels"}, "pixel_accuracy", 13 / 15),
        ({"ignore_index": 9, "protocol": Labels(classes=3)}, "pixel_accuracy", 13 / 15),
    ],
)
@pytest.mark.parametrize(
    "called",
    [
        evaluate,
        lambda _, **arguments: Accumulator(**arguments),
        lambda pairs, **arguments: segbench.count(*pairs[0], **arguments),
        lambda _, **arguments: segbench.check("gt", "pred", **arguments),
    ],
    ids=["evaluate", "Accumulator", "count", "check"],
)
def test_settings_of_protocols_are_written_with_the_protocol(called, arguments, key, right):
    truth = GROUND_TRUTH.copy()
    truth[3, 3] = arguments.get("ignore_index", 0)
    pairs = [(truth, SCORES if "iou" in key else PREDICTION)]
    with pytest.raises(TypeError) as error:
        called(pairs, **arguments)
    assert isinstance(error.value, ArgumentError)
    assert evaluate(pairs, protocol=follow(advice(error))).summary[key] == pytest.approx(right)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({"overwrite": True}, {"fresh": True}),
        ({"mask": "fov"}, {"field": "fov"}),
        ({"skip_missing": True}, {"allow_missing": True}),
        ({"metod": "net"}, {"method": "net"}),
        ({"sigmoid": True}, {"repairs": segbench.Repairs(scale="sigmoid")}),
        ({"scale": 255}, {"repairs": segbench.Repairs(scale=255)}),
        ({"save": True}, {"results": "results.segbench"}),
    ],
)
def test_other_arguments_of_evaluate(arguments, meant):
    with refused("unknown-argument", TypeError, called="evaluate", unknown=tuple(arguments)) as error:
        evaluate("gt", "pred", **arguments)
    written = follow(f"dict({re.search('write (.*)', str(error.value))[1]})")
    assert written == meant
    assert set(written) <= set(inspect.signature(evaluate).parameters)


@pytest.mark.parametrize(
    ("protocol", "arguments", "meant"),
    [
        (Labels, {"num_classes": 8}, Labels(classes=8)),
        (Labels, {"n_classes": 8}, Labels(classes=8)),
        (Labels, {"ignore_index": 255}, Labels(void=255)),
        (Labels, {"classes": 2, "class_names": ["a", "b"]}, Labels(classes=2, names=["a", "b"])),
        (Labels, {"classes": 3, "include_background": False}, Labels(classes=3, background="0")),
        (Labels, {"threshold": 0.5}, Labels(predicted_positive=">=0.5")),
        (Labels, {"num_classes": 8, "ignore_index": 255}, Labels(classes=8, void=255)),
        (Contours, {"voxelspacing": 1}, Contours(spacing=1)),
        (Contours, {"tolerance": 3}, Contours(nsd=3)),
        (Pixels, {"threshold": 0.5}, Pixels(at=0.5)),
        (Pixels, {"threshold": [0.3, 0.5]}, Pixels(at=(0.3, 0.5))),
        (Classes, {"num_classes": 3}, Classes(labels=(0, 1, 2))),
        (Boundaries, {"tolerance": 0.01}, Boundaries(max_dist=0.01)),
        (Boundaries, {"tolerance": 2}, Boundaries(max_dist="2px")),
        (Boundaries, {"nthresh": 33}, Boundaries(thresholds=33)),
        (Labels, {"ignore_index": 254}, Labels(void=254)),
        (ScoredObjects, {"iou_type": "bbox"}, ScoredObjects(overlap="box")),
        (ScoredObjects, {"iou_type": "segm"}, ScoredObjects(overlap="mask")),
        (ScoredObjects, {"iouType": "boundary"}, ScoredObjects(overlap="boundary")),
        (Objects, {"iou_threshold": 0.5}, Objects(iou=0.5)),
    ],
)
def test_settings_that_a_protocol_calls_otherwise(protocol, arguments, meant):
    with refused("unknown-argument", TypeError, called=protocol.__name__) as error:
        protocol(**arguments)
    written = follow(f"dict({', '.join(re.findall('write ([^;]*)', str(error.value)))})")
    known = {name: value for name, value in arguments.items() if name in inspect.signature(protocol).parameters}
    assert protocol(**known, **written) == meant


def test_settings_that_nobody_knows_are_refused_with_those_there_are():
    with refused("unknown-argument", ArgumentError, called="Pixels", listed="whatever", unknown=("whatever",)):
        Pixels(whatever=1)


def test_one_number_stands_for_a_list_of_one():
    assert Pixels(at=0.5) == Pixels(at=(0.5,))
    assert evaluate([(GROUND_TRUTH, SCORES)], protocol=Pixels(at=0.5)).summary["recall@0.5"] == 3 / 4


def test_signatures_stay_as_they_are_declared():
    assert "at" in inspect.signature(Pixels).parameters
    assert "protocol" in inspect.signature(Accumulator).parameters
    assert next(iter(inspect.signature(evaluate).parameters)) == "ground_truth"


@pytest.mark.parametrize("names", [("gt", "pred"), ("target", "preds"), ("y_true", "y_score")])
def test_arrays_under_names_of_other_packages_are_given_as_pairs(names):
    with refused("unknown-argument", unknown=names) as error:
        evaluate(**dict(zip(names, (GROUND_TRUTH, SCORES), strict=True)))
    followed = follow(advice(error).partition(", one")[0], ground_truth=GROUND_TRUTH, prediction=SCORES)
    assert followed.summary["ods_f"] == pytest.approx(3 / 4)


@pytest.mark.parametrize(("typed", "name"), [("preds", "scores"), ("target", "labels")])
def test_names_of_what_is_counted_are_those_of_update(typed, name):
    with refused("unknown-argument", unknown=(typed,)) as error:
        Accumulator().update(**{typed: GROUND_TRUTH})
    assert advice(error) == f"{name}=..."


@pytest.mark.parametrize("function", ["auc_pr", "auc_roc", "average_precision", "best_f", "pr_curve", "roc_curve"])
def test_functions_of_counts_say_how_arrays_are_counted(function):
    with refused("takes-counts", called=function) as error:
        getattr(segbench, function)(GROUND_TRUTH, SCORES)
    right = getattr(segbench, function)(evaluate([(GROUND_TRUTH, SCORES)]))
    followed = follow(advice(error), ground_truth=GROUND_TRUTH, scores=SCORES)
    assert repr(followed) == repr(right)


def test_results_are_compared_in_a_list():
    results = [evaluate(PAIR, protocol=Labels(), method=name) for name in "ab"]
    with refused("too-many-arguments", number=2):
        segbench.compare_results(*results)


def test_alpha_is_one_less_the_level():
    result = evaluate(PAIR, protocol=Labels())
    with refused("unknown-argument", unknown=("alpha",)) as error:
        result.intervals(alpha=0.1)
    assert advice(error) == "level=0.9"


@pytest.mark.parametrize(
    ("name", "right"), [("iou", 3 / 5), ("jaccard_index", 3 / 5), ("values", None), ("confidence_intervals", None)]
)
def test_attributes_of_results_are_found(name, right):
    result = evaluate(PAIR, protocol=Labels())
    with pytest.raises(AttributeError) as error:
        getattr(result, name)
    followed = follow(advice(error), result=result)
    assert right is None or followed == pytest.approx(right)


def test_metrics_of_a_summary_are_looked_up():
    summary = evaluate(PAIR, protocol=Labels()).summary
    with pytest.raises(AttributeError) as error:
        summary.iou  # noqa: B018  it is looked up
    assert follow(advice(error), summary=summary) == summary["iou"]


@pytest.mark.parametrize(("name", "right"), [("add_batch", "update"), ("aggregate", "compute"), ("clear", "reset")])
def test_methods_of_what_counts_batches_are_found(name, right):
    with pytest.raises(AttributeError, match=rf"write accumulator\.{right}\("):
        getattr(Accumulator(), name)


def test_settings_are_given_by_their_names():
    with refused("unnamed-setting", called="Labels") as error:
        Labels(3)
    assert follow(f"segbench.{advice(error)}") == Labels(classes=3)


@pytest.mark.parametrize(("word", "protocol"), [("miou", "labels"), ("hd95", "contours"), ("panoptic", "objects")])
def test_a_protocol_is_found_by_what_it_measures(word, protocol):
    with refused("unknown-protocol", meant=f"; perhaps {protocol!r} is meant"):
        Accumulator(word)
