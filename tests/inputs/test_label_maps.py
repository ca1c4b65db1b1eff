"""Label maps and masks as protocols count them: pixels by true and predicted class, and what is refused."""

import numpy as np
import pytest
from refusing import refused

from segbench import Contours, DataError, Labels
from segbench.core.sample import Sample

TRUTH = np.array([[0, 0, 1, 1, 2, 255]], np.uint8)
PREDICTED = np.array([[0, 1, 1, 1, 7, 0]], np.uint8)


def interpreted(protocol, truth=TRUTH, predicted=PREDICTED, field=None):
    return protocol.inputs.interpret(Sample("image", (truth,), (predicted,), field))


@pytest.mark.parametrize("protocol", [Labels, Contours])
def test_pixels_by_true_and_predicted_class(protocol):
    image = interpreted(protocol(classes=3))
    assert image.matrix.tolist() == [[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 0, 1]]
    assert (image.ignored, image.facts) == (1, (0, 1))
    assert [note.kind for note in image.notes] == ["labels-outside"]


def test_pixels_outside_the_field_are_left_out_beside_void():
    image = interpreted(Labels(classes=3), field=np.array([[True, False, True, True, True, True]]))
    assert image.matrix[0].tolist() == [1, 0, 0, 0]
    assert image.ignored == 2


def test_masks_are_negative_and_positive():
    image = interpreted(Labels(positive=1, void=(2, 255)), predicted=np.array([[0, 1, 1, 1, 0, 1]], np.uint8))
    assert image.matrix.tolist() == [[1, 1, 0], [0, 2, 0]]
    assert image.ignored == 2


@pytest.mark.parametrize("protocol", [Labels, Contours])
def test_labels_that_are_no_class_are_refused(protocol):
    with refused("no-class", DataError, labels=(2,)):
        interpreted(protocol(classes=2))


@pytest.mark.parametrize("protocol", [Labels, Contours])
@pytest.mark.parametrize("lowest", [-1024, 0])
@pytest.mark.parametrize("side", ["truth", "predicted"])
def test_intensities_are_no_labels(protocol, lowest, side):
    """As those of CT, which a set has beside its labels."""
    sides = dict.fromkeys(("truth", "predicted"), np.arange(2400).reshape(40, 60) % 3)
    sides[side] = np.arange(lowest, lowest + 2400, dtype=np.int16).reshape(40, 60)
    with refused("intensities", DataError, count=2400, lowest=lowest, highest=lowest + 2399) as raised:
        interpreted(protocol(classes=3), **sides)
    assert "labelsTr" in str(raised.value.hint)
    assert ("segbench objects" in raised.value.hint.written("options")) == (lowest == 0)


def test_an_image_alone_does_not_show_that_labels_count_from_1():
    with refused("no-class", DataError, labels=(3,)) as raised:
        interpreted(Labels(classes=3), np.array([[1, 2, 3]]), np.array([[1, 2, 2]]))
    assert str(raised.value.hint).startswith("list 3, too: classes='0-3'; or if no image has label 0")
    assert str(raised.value.of_set([1, 2, 3], []).hint).startswith("if no image has label 0")


def test_few_of_many_labels_are_listed():
    foreign = np.arange(1, 2000, 3).reshape(1, -1)
    with refused("no-class", DataError) as raised:
        interpreted(Labels(classes=2, void=()), foreign, foreign * 0)
    assert "labels 4,7,10,13,16,19,22,25 and " in str(raised.value.hint)
    assert len(raised.value.hint.written("options")) < 600


@pytest.mark.parametrize("protocol", [Labels, Contours])
def test_an_error_says_that_labels_have_other_numbers_than_the_classes(protocol):
    """Those of Cityscapes as its files hold them: to list them as classes would count four of the nineteen."""
    train_ids = np.repeat(np.array([[0, 10, 13, 18]], np.uint8), 16, axis=0)
    label_ids = np.array([7, 23, 26, 33], np.uint8)[np.searchsorted([0, 10, 13, 18], train_ids)]
    with pytest.raises(DataError) as raised:
        interpreted(protocol(classes=19), label_ids, train_ids)
    assert [setting.name for setting in raised.value.hint.settings] == ["gt_map"]
