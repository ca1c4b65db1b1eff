"""What an image is reduced to for `check`: by its inputs, and from the arrays that a run counts."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from segbench import Classes, Labels, Objects, Pixels
from segbench.core.protocol import AsRead
from segbench.core.sample import Sample
from segbench.inputs.mask_summaries import summarized
from segbench.inputs.nodata import interpret_decoded
from segbench.inputs.summaries import UncountedError
from segbench.loaders.listing import SampleFiles
from segbench.loaders.reading import MASKS

FILES = SampleFiles("image", (Path("gt.png"),), Path("pred.png"))
SETTINGS = ("label_inputs", "scored_classes", "numbered_objects", "boundary_maps", "cut_masks", "saliency_maps")


def summary_of(protocol, truth, *predictions, field=None):
    maps = tuple(np.asarray(predicted, np.uint8) for predicted in predictions)
    sample = Sample("image", (np.asarray(truth, np.uint8),), maps, field)
    return summarized(protocol.inputs, sample, FILES, partial(interpret_decoded, protocol))


def test_label_maps_are_reduced_to_their_classes():
    summary = summary_of(Labels(classes=2), [[0, 1, 1, 255]], [[0, 1, 9, 255]])
    assert (summary.matrix.tolist(), summary.ignored, summary.pixels) == ([[1, 0, 0], [0, 1, 1]], 1, 3)
    assert {label: pixels.tolist() for label, pixels in summary.outside.items()} == {9: [0, 1]}
    assert (summary.left_out.same, summary.left_out.labels) == (True, (255,))
    assert (summary.named_classes, summary.mask) == (((0, 1), ("0", "1")), None)


def test_label_maps_that_a_run_refuses_keep_their_values():
    with pytest.raises(UncountedError) as raised:
        summary_of(Labels(classes=2), [[0, 1, 7]], [[0, 1, 1]])
    assert raised.value.stored.truth.tolist() == [0, 1, 7]


def test_masks_are_ranked():
    summary = summary_of(Labels(), [[0, 0, 255, 255]], [[0, 255, 255, 255]])
    assert (summary.mask.auc, summary.mask.share) == (0.75, 0.5)
    assert summary.values == ((0, 255), (0, 255))


def test_scores_are_summarized_of_ground_truth_that_a_run_refuses():
    summary = summary_of(Pixels(), [[0, 100, 200, 255]], [[0, 1, 2, 255]])
    assert summary.refused.kind == "several-values"
    assert (summary.scores.values, summary.scores.auc) == ((0, 1, 2, 255), 1)


def test_each_class_has_scores():
    summary = summary_of(Classes(labels=(0, 1), void=(255,)), [[0, 1, 255]], [[9, 1, 7]], [[2, 8, 7]])
    assert [(scores.file, scores.pixels, scores.auc) for scores in summary.classes] == [
        ("pred.png (class 0)", 2, 1),
        ("pred.png (class 1)", 2, 1),
    ]


def test_void_is_no_background_of_objects():
    """With its pixels, number 3 would lie on 4 of 9 pixels of the background, less than half of it."""
    truth = [[0] * 4 + [9] * 5 + [1] * 4]
    predicted = [[3] * 4 + [0] * 5 + [2] * 4]
    ((number, share, highest),) = filter(None, summary_of(Objects(void=9), truth, predicted).on_background.values())
    assert (number, share, highest) == (3, 1, True)


@pytest.mark.parametrize(("soft", "held"), [(True, "scores"), (False, "label_map")])
def test_inputs_without_a_summary_are_summarized_as_they_are_read(soft, held):
    inputs = AsRead(reads=MASKS if soft else Labels().reads)
    sample = Sample("image", (np.zeros((1, 3), np.uint8),), (np.array([[1, 2, 3]], np.uint8),))
    summary = summarized(inputs, sample, FILES, inputs.interpret)
    assert [name for name in ("scores", "label_map") if getattr(summary, name)] == [held]


def test_settings_about_files_do_without_numpy():
    modules = ", ".join(f"segbench.inputs.{name}" for name in SETTINGS)
    code = f"import sys, {modules}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
