"""What masks and label maps mean beside soft maps: labels, where they count, scores, and what the whole set decides."""

import pickle

import numpy as np
import pytest
from refusing import refused

from segbench import Classes, DataError, Pixels
from segbench.core.sample import Sample

TRUTH = np.array([[0, 1, 2, 255]], np.uint8)
LEVELS = np.array([[0, 51, 204, 255]], np.uint8)


def interpreted(protocol, *truths, scores=LEVELS, field=None):
    return protocol.inputs.interpret(Sample("image", truths, (scores,), field))


def test_a_rule_names_positives_and_void_does_not_count():
    pixels = interpreted(Pixels(positive=(1, 2), void=255), TRUTH)
    ((labels, valid),) = pixels.labelled
    assert labels.tolist() == [[False, True, True, False]]
    assert valid.tolist() == [[True, True, True, False]]
    assert (pixels.scores is LEVELS, pixels.bits, pixels.facts) == (True, None, ())


def test_pixels_outside_the_field_do_not_count():
    pixels = interpreted(Pixels(positive=1), TRUTH, field=np.array([[True, False, True, True]]))
    assert pixels.labelled[0][1].tolist() == [[True, False, True, True]]


def test_values_are_facts_where_no_rule_names_them():
    assert interpreted(Pixels(void=(2, 255)), TRUTH).facts == (0, 1)
    assert interpreted(Pixels(void=(0, 1, 2)), TRUTH).facts == (255,)


def test_an_image_of_the_larger_value_alone_is_turned():
    inputs = Pixels().inputs
    assert inputs.settle({"a": (0, 255), "b": (255,), "c": (0,)}) == {(255,)}
    with refused("several-values", DataError):
        inputs.settle({"a": (0, 255), "b": (1,)})


@pytest.mark.parametrize(
    ("rule", "labels"),
    [("any", [[[0, 1, 1]]]), ("all", [[[0, 0, 1]]]), ("majority", [[[0, 0, 1]]]), ("each", [[[0, 1, 1]], [[0, 0, 1]]])],
)
def test_annotators_are_brought_together(rule, labels):
    drawn = np.array([[0, 1, 1]]), np.array([[0, 0, 1]])
    pixels = interpreted(Pixels(annotators=rule), *drawn, scores=LEVELS[:, :3])
    assert [one.astype(int).tolist() for one, _ in pixels.labelled] == labels


def test_scores_are_inverted_and_then_rounded():
    pixels = interpreted(
        Pixels(positive=1, void=255, invert=True, quantize=8), TRUTH, scores=np.array([[0, 0.2, 0.8, 1]])
    )
    assert (pixels.scores.tolist(), pixels.scores.dtype, pixels.bits) == ([[255, 204, 51, 0]], np.uint8, 8)
    assert [note.kind for note in pixels.notes] == ["inverted"]


def test_scores_that_cannot_be_rounded_are_refused_where_pixels_count():
    scores = np.array([[0, 0.2, 0.8, 9]])
    with refused("outside-unit", DataError):
        interpreted(Pixels(positive=1, quantize=8), TRUTH, scores=scores)
    assert interpreted(Pixels(positive=1, void=255, quantize=8), TRUTH, scores=scores).bits == 8


def test_each_class_is_scored_against_all_others():
    stack = np.stack([LEVELS, LEVELS[:, ::-1], LEVELS])
    classes = interpreted(Classes(labels=range(3), names=["road", "car", "bus"]), TRUTH, scores=stack)
    pixels = list(classes.of_each_class())
    assert [one.labelled[0][0].astype(int).tolist() for one in pixels] == [
        [[1, 0, 0, 0]],
        [[0, 1, 0, 0]],
        [[0, 0, 1, 0]],
    ]
    assert [one.scores.tolist() for one in pixels] == [LEVELS.tolist(), LEVELS[:, ::-1].tolist(), LEVELS.tolist()]
    assert [one.file for one in pixels] == ["image (class road)", "image (class car)", "image (class bus)"]
    assert (classes.valid.tolist(), classes.facts, classes.notes) == ([[True, True, True, False]], (0, 2), ())


def test_labels_of_no_class_are_noted():
    classes = interpreted(Classes(labels=(0, 1)), TRUTH, scores=np.stack([LEVELS, LEVELS]))
    assert [note.message.values for note in classes.notes] == [{"label": 2}]


@pytest.mark.parametrize(
    "protocol",
    [
        Pixels(positive=(3, 1), void=[7], quantize=8, at=0.5),
        Classes(labels=range(3), void=9, invert=True, at=(0.5, 0.2)),
    ],
    ids=["pixels", "classes"],
)
def test_a_protocol_has_the_settings_of_its_inputs(protocol):
    for of_workers in (protocol, pickle.loads(pickle.dumps(protocol))):  # noqa: S301  our own
        inputs = of_workers.inputs
        assert {name: getattr(of_workers, name) for name in inputs.__dataclass_fields__} == {
            name: getattr(inputs, name) for name in inputs.__dataclass_fields__
        }
        assert of_workers.reads == inputs.reads
