import math
from dataclasses import replace

import numpy as np
import pytest
from cases import write_papers
from methods import write_methods
from noted import noted
from refusing import refused

from segbench import (
    Accumulator,
    Anomalies,
    ArgumentError,
    Boundaries,
    Centerlines,
    Contours,
    DataError,
    Labels,
    Objects,
    Pixels,
    Regions,
    Repairs,
    Result,
    Saliency,
    boundary_curve,
    compare,
    compare_results,
    evaluate,
)
from segbench.protocols.boundaries.official import PublishedCurve


@pytest.fixture
def results(tmp_path):
    truth, *folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=5)
    return [evaluate(truth, folder) for folder in folders]


def test_results_compare_as_their_counts_do(results):
    ours = compare_results(results, replicates=100, seed=3)
    counts = compare({result.method: result.counts for result in results}, replicates=100, seed=3)
    assert str(ours.differences) == str(counts.differences)


def test_one_result_or_one_name_twice_is_refused(results):
    with refused("too-few-methods", ArgumentError):
        compare_results(results[:1])
    with refused("several-of-one-name", ArgumentError, methods=("a",)):
        compare_results([results[0], results[0]])


def test_accumulators_of_one_name_are_asked_for_names():
    made = []
    for level in (0.9, 0.2):
        accumulator = Accumulator()
        accumulator.update([[0, 1]], [[0.1, level]], names=["a"])
        made.append(accumulator.compute())
    with refused("several-of-one-name", ArgumentError, methods=("accumulated",)):
        compare_results(made)


def test_every_setting_that_differs_is_named(results, tmp_path):
    other = evaluate(tmp_path / "gt", tmp_path / "b", Pixels(positive="255", void=(3,), quantize=8))
    with refused(
        "other-settings",
        ArgumentError,
        refused="positive is larger in a, 255 in b; void is none in a, 3 in b",
        differing=("positive", "void"),
    ):
        compare_results([results[0], other])


def test_rounded_and_exact_scores_are_compared_with_a_note(tmp_path):
    truth, *folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=5, levels=False, shape=(60, 80))
    first = evaluate(truth, folders[0])
    found = compare_results([first, evaluate(truth, folders[1], Pixels(quantize=8))], replicates=10)
    assert ("", "other-repairs", {"differing": "quantize is none in a, 8 in b"}) in noted(found.notes)


def test_protocols_do_not_mix(results, tmp_path):
    other = evaluate(tmp_path / "gt", tmp_path / "b", Boundaries(thresholds=3))
    with refused(
        "several-protocols", ArgumentError, found="pixels (a), boundaries (b)", protocols=("pixels", "boundaries")
    ):
        compare_results([results[0], other])


def test_a_published_curve_has_nothing_to_compare(tmp_path):
    truth, folder = write_methods(tmp_path, {"a": 2}, images=2)
    counted = evaluate(truth, folder, Boundaries(thresholds=3))
    printed = Result(
        "print",
        Boundaries(thresholds=3),
        counted.settings,
        counted.signature,
        {},
        published=PublishedCurve(boundary_curve(counted.pooled)),
    )
    with refused("published", ArgumentError, methods=("print",)):
        compare_results([counted, printed])


def test_what_is_undefined_has_the_reason_of_the_summary(tmp_path):
    folders = write_papers(tmp_path)
    results = [evaluate(*folders, Pixels(positive="7"), method=name) for name in "ab"]
    compared = compare_results(results, replicates=10)
    reason = compared.undefined["auc_pr"]
    assert (reason.kind, reason.values["methods"]) == ("no-positives", ("a", "b"))
    assert all(math.isnan(share) for share in compared.rank_shares["auc_pr"]["a"])
    assert results[0].intervals(replicates=10).undefined["auc_pr"].kind == "no-positives"


@pytest.mark.parametrize(
    ("protocol", "repairs", "note"),
    [
        (Pixels(), Repairs(scale=255), "scale is none in a, 255 in b"),
        (
            Pixels(invert=True),
            Repairs(resize="nearest"),
            "invert is no in a, yes in b; resize is none in a, nearest in b",
        ),
        (Boundaries(thresholds=3, invert=True), Repairs(), "invert is no in a, yes in b"),
    ],
    ids=["scale", "resize", "boundaries"],
)
def test_what_only_repairs_predictions_may_differ_and_is_noted(tmp_path, protocol, repairs, note):
    truth, *folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=5)
    results = [
        evaluate(truth, folders[0], replace(protocol, invert=False)),
        evaluate(truth, folders[1], protocol, repairs=repairs),
    ]
    found = compare_results(results, replicates=10)
    assert noted(found.notes[:1]) == [("", "other-repairs", {"differing": note})]
    of_counts = compare({result.method: result.counts for result in results}, protocol=protocol, replicates=10)
    assert str(found.differences) == str(of_counts.differences)


def test_cropping_changes_the_ground_truth_and_is_refused(tmp_path):
    truth, *folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=5)
    results = [evaluate(truth, folders[0]), evaluate(truth, folders[1], repairs=Repairs(crop=True))]
    with refused("other-settings", ArgumentError, refused="crop is none in a, lower right in b", differing=("crop",)):
        compare_results(results)


@pytest.mark.parametrize(
    "protocol",
    [
        Anomalies(),
        Boundaries(thresholds=3),
        Centerlines(),
        Contours(),
        Labels(classes=2),
        Objects(),
        Pixels(),
        Regions(),
        Saliency(positive=">0"),
    ],
)
def test_arrays_with_another_ground_truth_are_refused(protocol):
    masks = np.zeros((2, 24, 24), np.uint8)
    masks[0, 4:10, 3:12] = masks[1, 8:20, 2:6] = 1
    predicted = masks.copy()
    predicted[:, 5] = 0
    if protocol.name in ("anomalies", "boundaries", "pixels", "saliency"):
        predicted = predicted / 2
    ours, same, mirrored = (
        evaluate(zip(truths, predicted, strict=True), protocol=protocol, method=name)
        for name, truths in (("ours", masks), ("same", masks.astype(np.int64)), ("mirrored", masks[:, :, ::-1]))
    )
    assert ours.signature == same.signature
    assert compare_results([ours, same]).methods == ("ours", "same")
    with refused("other-ground-truth", DataError):
        compare_results([ours, mirrored])


def test_arrays_of_which_other_pixels_count_are_refused():
    labels, scores = np.array([[0, 1, 0, 1]]), np.array([[0.1, 0.9, 0.2, 0.3]])
    ours, theirs = (
        evaluate([(labels, scores, np.array([valid]))] * 2, method=str(valid))
        for valid in ([True, True, True, False], [True, False, True, True])
    )
    with refused("other-ground-truth", DataError):
        compare_results([ours, theirs])


def test_label_maps_of_predictions_may_differ():
    results = []
    for name, protocol, first in (("a", Labels(classes=2), 0), ("b", Labels(classes=2, pred_map="1-2=0-1"), 1)):
        accumulator = Accumulator(protocol, method=name)
        accumulator.update(np.array([[[0, 1, 1]]]), np.array([[[0, 0, 1]]]) + first, names=["image"])
        results.append(accumulator.compute())
    comparison = compare_results(results, replicates=10)
    assert noted(comparison.notes[:1]) == [("", "other-repairs", {"differing": "pred_map is none in a, 1-2=0-1 in b"})]
    assert {row.difference for row in comparison.differences if row.metric == "miou"} == {0}
