"""What docs/coming_from/pycocotools.md says: the same call, the same numbers, and what differs."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import segbench as sb

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "scripts/checks/check_coco.py"))
KEYS = SCRIPT["KEYS"]
data_sets = pytest.importorskip("pycocotools.coco", reason="pycocotools is not installed")


@pytest.fixture(scope="module")
def coco():
    """Ground truth and results of images with objects of all sizes, with ids of images of their own."""
    random = np.random.default_rng(0)
    both = SCRIPT["as_coco"]([image for _ in range(6) for image in SCRIPT["draw_set"](random)])
    return json.loads(json.dumps(both, default=bytes.decode))  # RLE as texts


def evaluated(truth, results, kind, most=100):
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        data_set = data_sets.COCO()
        data_set.dataset = copy.deepcopy(truth)
        data_set.createIndex()
        evaluation = COCOeval(data_set, data_set.loadRes(copy.deepcopy(results)), kind)
        evaluation.params.maxDets = [1, 10, most]
        evaluation.evaluate()
        evaluation.accumulate()
        if most == 100:
            evaluation.summarize()
    return evaluation


@pytest.fixture
def measured(tmp_path):
    def measure(truth, results, **settings):
        for name, content in (("gt", truth), ("results", results)):
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        return sb.evaluate(tmp_path / "gt.json", tmp_path / "results.json", sb.Objects(kind="scored", **settings))

    return measure


def numbers(result):
    return np.nan_to_num([result.summary[key] for key in KEYS], nan=-1)


def with_boxes(results):
    from pycocotools import mask

    return [{**result, "bbox": mask.toBbox(result["segmentation"]).tolist()} for result in results]


def test_the_same_call_gives_the_same_numbers(coco, measured):
    np.testing.assert_allclose(numbers(measured(*coco)), evaluated(*coco, "segm").stats, rtol=0, atol=1e-12)


def test_boxes(coco, measured):
    truth, results = coco[0], with_boxes(coco[1])
    theirs = evaluated(truth, results, "bbox").stats
    ours = numbers(measured(truth, results, overlap="box", area="box"))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_boxes_of_results_without_have_the_area_of_masks_there(coco, measured):
    theirs = evaluated(*coco, "bbox").stats
    np.testing.assert_allclose(numbers(measured(*coco, overlap="box")), theirs, rtol=0, atol=1e-12)
    assert np.abs(numbers(measured(*coco, overlap="box", area="box")) - theirs).max() > 1e-3  # by area


def test_boxes_alone(coco, measured):
    truth, results = coco[0], [{**result} for result in with_boxes(coco[1])]
    for result in results:
        del result["segmentation"]
    theirs = evaluated(truth, results, "bbox").stats
    ours = numbers(measured(truth, results, overlap="box", area="box"))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_masks_with_boxes_have_the_area_of_their_boxes_there(coco, measured):
    truth, results = coco[0], with_boxes(coco[1])
    theirs = evaluated(truth, results, "segm").stats
    np.testing.assert_allclose(numbers(measured(truth, results, area="box")), theirs, rtol=0, atol=1e-12)
    by_mask = numbers(measured(truth, results))
    np.testing.assert_allclose(by_mask[:3], theirs[:3], rtol=0, atol=1e-12)
    assert np.abs(by_mask - theirs).max() > 1e-3  # by area


def test_classes_and_limits(coco, measured):
    evaluation = evaluated(*coco, "segm", most=300)
    precision = evaluation.eval["precision"][:, :, :, 0, 2]
    result = measured(*coco, max_dets=300)
    for k, label in enumerate(evaluation.params.catIds):
        if (precision[:, :, k] > -1).any():
            ours = result.parts("class")[str(label)].summary["coco_ap"]
            assert ours == pytest.approx(precision[:, :, k].mean(), abs=1e-12)
    with_objects = precision[precision > -1]
    assert result.summary["coco_ap"] == pytest.approx(with_objects.mean(), abs=1e-12)


def test_annotation_zero_is_right_here(coco, measured):
    truth = copy.deepcopy(coco[0])
    for annotation in truth["annotations"]:
        annotation["id"] -= 1
    theirs = evaluated(truth, coco[1], "segm").stats[0]
    ours = measured(truth, coco[1])
    assert ours.summary["coco_ap"] == measured(*coco).summary["coco_ap"]
    assert ours.summary["coco_ap"] >= theirs
    assert "annotation-zero" in [note.kind for note in ours.notes]


def test_no_detections_are_zero_here_and_an_error_there(coco, measured):
    assert measured(coco[0], []).summary["coco_ap"] == 0
    with pytest.raises(IndexError):
        evaluated(coco[0], [], "segm")
