"""Pictures of scored objects: what is drawn at a threshold of score, and the reliability of scores."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import segbench as sb
from segbench.protocols.states import State
from segbench.report.plots.curves import RELIABILITY

SIZE = (40, 60)


def box(x, y, width, height):
    return [[x, y, x + width, y, x + width, y + height, x, y + height]]


@pytest.fixture
def run(tmp_path):
    """Two objects, a crowd, and detections: IoU 8/12 at .9, false at .6, a crowd excuses .5, the second found at .2."""
    objects = [box(4, 20, 10, 10), box(30, 20, 10, 10)]
    truth = {
        "images": [{"id": 1, "file_name": "a.png", "height": SIZE[0], "width": SIZE[1]}],
        "categories": [{"id": 1, "name": "cell"}],
        "annotations": [
            {"id": k + 1, "image_id": 1, "category_id": 1, "segmentation": mask, "area": 100, "iscrowd": 0}
            for k, mask in enumerate(objects)
        ],
    }
    crowd = np.zeros(SIZE[::-1], int)  # column by column
    crowd[45:58, 1:12] = 1
    changes = np.flatnonzero(np.diff(crowd.ravel())) + 1
    runs = np.diff([0, *changes, crowd.size]).tolist()
    truth["annotations"].append({
        "id": 3, "image_id": 1, "category_id": 1, "iscrowd": 1, "segmentation": {"size": list(SIZE), "counts": runs},
    })  # fmt: skip
    masks = [box(6, 20, 10, 10), box(4, 3, 8, 8), box(47, 3, 6, 6), box(30, 20, 10, 10)]
    detections = [
        {"image_id": 1, "category_id": 1, "segmentation": mask, "score": score}
        for mask, score in zip(masks, (0.9, 0.6, 0.5, 0.2), strict=True)
    ]
    for name, content in (("gt", truth), ("ours", detections)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return sb.evaluate(tmp_path / "gt.json", tmp_path / "ours.json", "objects")


@pytest.fixture
def drawn(run):
    from segbench.aggregator.rereading import files_of, reread

    sample = reread(run, files_of(run)["a"])
    return run.rules.pictures(sample, run.counts["a"], np.array([0.2, 0.5, 0.9, 0.95]))


def test_states_follow_the_threshold(drawn):
    lowest, middle, high, none = drawn.states
    first, second, false, in_crowd = (25, 15), (25, 39), (5, 4), (5, 47)
    assert [states[second] for states in drawn.states] == [State.TRUE, *[State.MISSED] * 3]
    assert [states[first] for states in (lowest, high)] == [State.TRUE] * 2
    assert none[first] == State.NOTHING
    assert none[25, 13] == State.MISSED
    assert high[25, 4] == State.PARTNER
    assert [states[false] for states in (middle, high)] == [State.FALSE, State.NOTHING]
    assert [states[in_crowd] for states in (middle, high)] == [State.IGNORED, State.NOTHING]
    assert none[1, 45] == State.IGNORED  # the outline of the crowd


def test_metrics_and_words_follow_the_threshold(drawn):
    assert drawn.metrics["R"].tolist() == [1, 0.5, 0.5, 0]
    assert drawn.metrics["P"][:3] == pytest.approx([2 / 3, 0.5, 1])
    assert np.isnan(drawn.metrics["P"][3])
    assert drawn.words[1:] == [
        "true: cell .90 (IoU .67); false: cell .60; left out: cell .50 (IoU 1.00); missed: cell",
        "true: cell .90 (IoU .67); missed: cell",
        "missed: 2 cell",
    ]


def test_brightness_is_the_highest_score(drawn):
    greys = [drawn.soft[place] for place in ((25, 10), (7, 8), (5, 50), (25, 35), (39, 0))]
    assert greys == sorted(greys, reverse=True)
    assert greys[-1] == 0
    assert len(set(greys)) == 5


def test_overlays_are_drawn_at_the_best_f(run, tmp_path):
    from PIL import Image

    assert run.rules.thresholds_of(run.table)[1] == 0.2  # F 4 / 5, at .9 2 / 3
    sb.export_overlays(run, tmp_path / "best")
    sb.export_overlays(run, tmp_path / "high", threshold=0.9)
    best, high = (np.asarray(Image.open(tmp_path / name / "ours" / "a.png")) for name in ("best", "high"))
    assert (best == State.FALSE).any()
    assert not (high == State.FALSE).any()
    above = slice(8, 20), slice(4, 30)
    assert (high[above] == State.TRUE).any()  # the score is written there, and no outline lies there


@pytest.mark.usefixtures("run")
def test_no_detections_are_all_missed(tmp_path):
    (tmp_path / "ours.json").write_text("[]")
    result = sb.evaluate(tmp_path / "gt.json", tmp_path / "ours.json", "objects")
    assert sb.export_overlays(result, tmp_path / "o") == []
    sb.export_report([result], tmp_path / "page.html")
    assert "missed: 2 cell" in (tmp_path / "page.html").read_text()


def test_the_page_slides_through_scores(run, tmp_path):
    sb.export_report([run], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert re.search(r'"cuts": ?\[\[0\.2, ?0\.6, ?0\.9\]\]', page)  # not .5, which the crowd excuses
    assert "true: cell .90 (IoU .67); missed: cell" in page


def test_reliability_is_the_share_of_true_detections(run):
    counts = run.table.confidences
    assert counts.scores.tolist() == [0.9, 0.6, 0.2]
    assert counts.positives.tolist() == [1, 0, 1]
    axes = RELIABILITY.draw([run], ax=Figure().subplots())
    assert axes.get_legend_handles_labels()[1][0] == "[ECE=.5000] ours"  # (.1 + .6 + .8) / 3


def test_the_legend_names_what_the_curve_is_of(run):
    axes = sb.plot_pr(run, ax=Figure().subplots())
    ap_50 = f"{run.summary['coco_ap_50']:.4f}".removeprefix("0")
    assert axes.get_legend_handles_labels()[1] == [f"[AP50={ap_50}] ours"]
    assert axes.get_ylabel() == "Precision at IoU .5"


def test_a_class_is_drawn_and_not_taken_apart_again(run):
    of_class = run.parts("class")["cell"]
    assert of_class.axes == ()
    assert len(sb.plot_pr(of_class, ax=Figure().subplots()).lines) > 0
