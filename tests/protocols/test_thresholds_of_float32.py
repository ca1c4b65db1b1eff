"""Thresholds are rounded as scores are: a float32 score of .7, which is .699999988, reaches .7, as in NumPy."""

import numpy as np
import pytest
from cases import write_folder
from PIL import Image

from segbench import (
    Accumulator,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    count,
    evaluate,
    export_overlays,
    load_results,
)
from segbench.protocols.states import State

TRUTH = np.zeros((8, 9), np.uint8)
TRUTH[2:6, 2:7] = 1


def soft(of_background, of_object):
    return np.where(TRUTH, of_object, of_background)


@pytest.mark.parametrize(
    ("protocol", "scores"),
    [
        (Pixels(at=(0.7,)), soft(0.2, 0.7)),
        (Classes(labels=[1], at=(0.7,)), soft(0.2, 0.7)[np.newaxis]),
        (Boundaries(thresholds=(0.7,)), soft(0.2, 0.7)),
        (Contours(at=0.7), soft(0.2, 0.7)),
        (Centerlines(at=0.7), soft(0.2, 0.7)),
        (Centerlines(thresholds=(0.7,)), soft(0.2, 0.7)),
        (Objects(kind="components", at=0.2), soft(0.2, 0.9)),  # whose scores have to lie above
        (Labels(predicted_positive=">=0.7"), soft(0.2, 0.7)),
        (Labels(predicted_positive=">0.7"), soft(0.7, 0.9)),
        (Labels(predicted_positive=0.7), soft(0.2, 0.7)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_metrics_are_those_of_float64(protocol, scores):
    summaries = []
    for dtype in (np.float32, np.float64):
        accumulator = Accumulator(protocol)
        accumulator.update(TRUTH, scores.astype(dtype), name="a")
        summary = accumulator.compute().summary
        summaries.append({key: value for key, value in summary.items() if "threshold" not in key})
    np.testing.assert_equal(*summaries)


def test_curves_and_operating_points():
    counts = count(TRUTH, soft(0.2, 0.7).astype(np.float32))
    assert (counts.operating_point(0.7).tp, counts.at([0.7]).positives.tolist()) == (20, [20, 0])


def test_files_results_and_overlays(tmp_path):
    write_folder(tmp_path, {"gt/a.png": TRUTH * 255, "pred/a.npy": soft(0.2, 0.7).astype(np.float32)})
    evaluate(tmp_path / "gt", tmp_path / "pred", Pixels(at=(0.7,)), results=tmp_path / "r.segbench")
    (result,) = load_results(tmp_path / "r.segbench")
    assert result.summary["f@0.7"] == 1
    assert export_overlays(result, tmp_path / "out", threshold=0.7) == []
    states = np.asarray(Image.open(tmp_path / "out/pred/a.png"))
    assert np.count_nonzero(states == State.TRUE) == 20
