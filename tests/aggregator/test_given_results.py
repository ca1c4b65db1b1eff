"""Functions of counts take a result, too, and use its pooled counts or those of its images."""

import numpy as np
import pytest
from refusing import refused

import segbench
from segbench import ArgumentError, Boundaries, Classes, Pixels, Regions

FEW = {"replicates": 20}

OF_POOLED = {
    "auc_roc": segbench.auc_roc,
    "auc_pr": segbench.auc_pr,
    "average_precision": segbench.average_precision,
    "best_f": segbench.best_f,
    "roc_curve": lambda counts: segbench.roc_curve(counts).tpr.tolist(),
    "pr_curve": lambda counts: segbench.pr_curve(counts).precision.tolist(),
    "roc_hull": lambda counts: segbench.roc_hull(counts).fpr.tolist(),
    "achievable_pr_curve": lambda counts: segbench.achievable_pr_curve(counts).area,
    "dominates": lambda counts: repr(segbench.dominates(counts, counts)),  # its recall is nan, which equals nothing
    "thresholds_from": lambda counts: segbench.thresholds_from(counts).values.tolist(),
}
OF_IMAGES = {
    "intervals": lambda images: dict(segbench.intervals(images, **FEW)),
    "curve_band": lambda images: segbench.curve_band(images, **FEW).low.tolist(),
}


def accumulated(protocol, method="net", shift=0.0):
    rng = np.random.default_rng(1)
    accumulator = segbench.Accumulator(protocol, method=method)
    for name in "abc":
        labels = rng.random((12, 12)) < 0.3
        scores = np.clip(0.5 * labels + rng.random(labels.shape) / 2 - shift * rng.random(labels.shape), 0, 1)
        if protocol.name == "regions":
            labels, scores = labels.astype(int), scores > 0.5
        accumulator.update(labels, scores.astype(int) if protocol.name == "regions" else scores, name=name)
    return accumulator.compute()


@pytest.fixture(scope="module")
def result():
    return accumulated(Pixels())


@pytest.mark.parametrize("function", OF_POOLED.values(), ids=OF_POOLED.keys())
def test_a_result_stands_for_its_pooled_counts(result, function):
    assert function(result) == function(result.pooled)


@pytest.mark.parametrize("function", OF_IMAGES.values(), ids=OF_IMAGES.keys())
def test_a_result_stands_for_the_counts_of_its_images(result, function):
    np.testing.assert_equal(function(result), function(result.counts))


def test_boundaries_and_regions():
    edges, parts = accumulated(Boundaries()), accumulated(Regions(thresholds=3))
    assert segbench.boundary_curve(edges).f.tolist() == segbench.boundary_curve(edges.pooled).f.tolist()
    assert segbench.region_curve(parts).voi.tolist() == segbench.region_curve(parts.pooled).voi.tolist()
    with refused(
        "no-counts", ArgumentError, argument="counts", found="Result of BoundaryCounts", expected="RegionCounts"
    ):
        segbench.region_curve(edges)


@pytest.mark.parametrize("function", OF_POOLED.values(), ids=OF_POOLED.keys())
@pytest.mark.parametrize("given", [None, [0.5, 1.0], {"a": 1}, np.zeros(3)], ids=["None", "list", "mapping", "array"])
def test_anything_else_is_refused_by_the_argument_s_name(function, given):
    with refused("no-counts", ArgumentError, found=type(given).__name__, expected="ScoreCounts"):
        function(given)


def test_a_result_of_classes_names_the_results_in_it():
    labels = np.array([[0, 1], [2, 1]])
    accumulator = segbench.Accumulator(Classes(labels=[0, 1, 2]))
    accumulator.update(labels, np.stack([labels == label for label in range(3)]).astype(float), name="a")
    result = accumulator.compute()
    with refused("no-counts", ArgumentError, argument="counts", found="Result of ClassCounts", expected="ScoreCounts"):
        segbench.auc_roc(result)
    assert segbench.auc_roc(result.parts("class")["1"]) == 1


class TestCompare:
    def test_results_are_compared_as_compare_results_does(self, result):
        other = accumulated(Pixels(), "other", 0.3)
        found = segbench.compare([result, other], **FEW)
        assert str(found.differences) == str(segbench.compare_results([result, other], **FEW).differences)
        assert {(row.a, row.b) for row in found.differences} == {("net", "other")}

    def test_a_mapping_names_results(self, result):
        found = segbench.compare({"one": result, "two": accumulated(Pixels(), "net", 0.3)}, **FEW)
        assert {(row.a, row.b) for row in found.differences} == {("one", "two")}

    def test_counts_and_results_together(self, result):
        other = accumulated(Pixels(), "other", 0.3)
        found = segbench.compare({"one": result.counts, "two": other}, **FEW)
        of_counts = segbench.compare({"one": result.counts, "two": other.counts}, **FEW)
        assert str(found.differences) == str(of_counts.differences)

    @pytest.mark.parametrize("given", [None, 3, "ab", [1, 2], [{"a": 1}]])
    def test_anything_else_is_refused(self, given):
        with refused("not-results", ArgumentError):
            segbench.compare(given)
