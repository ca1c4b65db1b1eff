"""Predictions given as ground truth: scores are no labels, whatever the rule for these, and errors name the order."""

import numpy as np
import pytest
from refusing import refused

import segbench
from segbench import (
    Accumulator,
    Anomalies,
    Boundaries,
    Centerlines,
    Contours,
    DataError,
    Labels,
    Objects,
    Pixels,
    Saliency,
)
from segbench.core.messages import Message
from segbench.inputs.label_rules import ORDER

RANDOM = np.random.default_rng(0)
MASK = (RANDOM.random((2, 24, 24)) < 0.3).astype(np.int64)
SCORES = np.clip(RANDOM.normal(0.3, 0.15, MASK.shape) + 0.3 * MASK, 0, 1)
PROTOCOLS = {
    "pixels": Pixels(positive=1),
    "several values": Pixels(positive=(1, 2), void=(255,)),
    "labels": Labels(positive=1, predicted_positive=">=0.5"),
    "contours": Contours(positive=1, at=0.5),
    "centerlines": Centerlines(positive=1, at=0.5),
    "components": Objects(kind="components", positive=1, at=0.5),
    "saliency": Saliency(positive=1),
    "boundaries": Boundaries(positive=1),
    "anomalies": Anomalies(),
    "anomalies by value": Anomalies(positive=1),
}


def names_the_order(message):
    """Return whether advice names the order of the arguments, in whichever of its parts."""
    values = [value for value in message.values.values() if isinstance(value, Message)]
    return message.values.get("order") == ORDER or any(map(names_the_order, values))


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_scores_are_no_labels(protocol):
    with pytest.raises(DataError) as raised:
        Accumulator(protocol).update(SCORES, MASK, names=[0, 1])
    assert (raised.value.path, raised.value.kind in ("not-whole", "exchanged")) == ("labels of '0'", True)
    assert names_the_order(raised.value.hint)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_labels_may_be_whole_floats(protocol):
    Accumulator(protocol).update(MASK.astype(float), MASK.astype(bool), names=[0, 1])


@pytest.mark.parametrize(
    "count",
    [
        lambda *arrays: segbench.count(*arrays, segbench.Pixels(positive=1)),
        lambda *arrays: segbench.count(*arrays, segbench.Saliency(positive=1)),
        lambda *arrays: segbench.count(*arrays, segbench.Labels(positive=1, predicted_positive=">=0.5")),
        lambda *arrays: segbench.count(*arrays, segbench.Contours(positive=1, at=0.5)),
        lambda *arrays: segbench.count(*arrays, segbench.Anomalies(positive=1)),
    ],
)
def test_functions_of_one_image(count):
    with refused("not-whole", DataError, path="ground_truth") as raised:
        count(SCORES[0], MASK[0])
    assert names_the_order(raised.value.hint)


@pytest.mark.parametrize(
    "protocol", [Contours(at=0.5), Centerlines(at=0.5), Saliency(), Boundaries(), Pixels(), Labels()]
)
def test_without_a_value_the_order_comes_first(protocol):
    with pytest.raises(DataError) as raised:
        Accumulator(protocol).update(SCORES, MASK * 255, names=[0, 1])
    assert raised.value.kind in ("several-values", "exchanged")
    assert names_the_order(raised.value.hint)


def test_a_bound_is_for_soft_labels():
    assert segbench.count(SCORES, MASK, segbench.Pixels(positive=">=0.5")).total_positives == np.sum(SCORES >= 0.5)
    assert segbench.count([0.5, 0.25], [0.1, 0.2], segbench.Pixels(positive=0.5)).total_positives == 1


def test_scores_where_nothing_counts_do_not_matter():
    labels = MASK.astype(float)
    labels[0, 0] = 0.5
    counts = segbench.count(labels, SCORES, segbench.Pixels(positive=1), labels != 0.5)
    assert counts.ignored == 24
    accumulator = Accumulator(Pixels(positive=1, void=(0.5,)))
    accumulator.update(labels, SCORES)
    assert accumulator.compute().unnamed.ignored == 24
    assert segbench.count(
        [labels[0], labels[0]], SCORES[0], segbench.Pixels(positive=1, annotators="any"), MASK[0] == labels[0]
    )


def test_labels_that_are_no_numbers():
    with refused("not-a-number", DataError, path="ground_truth", nan=1):
        segbench.count([[1, np.nan], [0, 1]], [[1, 0], [0, 1]], segbench.Contours(positive=1))


def test_of_files(tmp_path):
    for folder, arrays in (("scores", SCORES), ("masks", MASK.astype(np.uint8))):
        (tmp_path / folder).mkdir()
        for name, array in enumerate(arrays):
            np.save(tmp_path / folder / f"{name}.npy", array)
    with pytest.warns(segbench.FailedImages):
        failed = segbench.evaluate(tmp_path / "scores", tmp_path / "masks", Pixels(positive=1)).failed
    assert [names_the_order(failure.hint) for failure in failed.values()] == [True, True]
    report = segbench.check(tmp_path / "scores", tmp_path / "masks", Pixels(positive=1))
    assert report.refused
    assert [one.kind for one in report.findings] == ["exchanged"]
    assert names_the_order(report.findings[0].fix)
