"""Overlapping regions of labels: classes that are the pixels with any of several labels, as BraTS has them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import of_kind
from PIL import Image
from refusing import parts_of, refused

from segbench import ArgumentError, Classes, DataError, LabelCounts, Labels, count
from segbench.core.messages import Setting
from segbench.inputs.class_names import read_class_labels, written_classes
from segbench.protocols.registry import StoredProtocol

BRATS = "WT=1+2+3,TC=1+3,ET=3"
MEMBERS = {"WT": (1, 2, 3), "TC": (1, 3), "ET": (3,)}


def row(text):
    return np.array([[int(mark) for mark in text]], np.uint8)


def masks_of(labels, members):
    """Return a label map in which label 1 is a region, and 0 all else."""
    return np.isin(labels, members).astype(np.uint8)


def drawn(seed, shape=(3, 4, 5), labels=4):
    rng = np.random.default_rng(seed)
    return tuple(rng.choice(rng.choice(labels, rng.integers(1, 5)), shape).astype(np.uint8) for _ in range(2))


def table_of(protocol, images):
    return protocol.table({name: count(*arrays, protocol) for name, arrays in images.items()})


def test_a_drawing_worked_by_hand():
    truth, predicted = row("01123300"), row("01113210")
    counts = count(truth, predicted, Labels(classes=BRATS))
    assert counts.names == ("WT", "TC", "ET")
    assert counts.label_names == ("0", "1", "2", "ET")
    tp, true, found = counts.by_class
    # WT: 5 of 5 found, and 1 more; TC: two of 1 and one of 3 of 4 found, and two more; ET: one of two.
    assert (tp.tolist(), true.tolist(), found.tolist()) == ([5, 3, 1], [5, 4, 2], [6, 5, 1])
    summary = Labels(classes=BRATS).table({"a": counts}).summary()
    assert summary["miou"] == pytest.approx((5 / 6 + 3 / 6 + 1 / 2) / 3)
    assert summary["mean_dice_cases"] == pytest.approx((10 / 11 + 6 / 9 + 2 / 3) / 3)
    assert (summary["pixels"], summary["classes"]) == (8, 3)
    assert not {"pixel_accuracy", "fw_iou", "kappa"} & summary.keys()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_each_region_is_measured_as_the_mask_that_it_is(seed):
    images = {f"{case}": drawn(seed + case) for case in range(3)}
    protocol = Labels(classes=BRATS)
    table = table_of(protocol, images)
    parts = protocol.divided("class", table.per_image).parts
    two = Labels(classes="other labels=0,region=1")
    dice = []
    for name, members in MEMBERS.items():
        alone = table_of(two, {case: tuple(masks_of(side, members) for side in pair) for case, pair in images.items()})
        of_region = parts[name].protocol.table(parts[name].counts)
        expected = alone.summary()
        measured = of_region.summary()
        shared = [metric.key for metric in of_region.metrics if metric.key]
        assert "mcc" in shared
        assert [measured[key] for key in shared] == pytest.approx([expected[key] for key in shared], nan_ok=True)
        dice.append(measured["dice_cases"])
    mean = np.nanmean(dice) if np.isfinite(dice).any() else np.nan
    assert table.summary()["mean_dice_cases"] == pytest.approx(mean, nan_ok=True)


def test_regions_that_do_not_overlap_are_classes():
    images = {f"{case}": drawn(case) for case in range(4)}
    regions = table_of(Labels(classes="a=1+2,b=3"), images).summary()
    merged = {name: tuple(np.array([0, 1, 1, 2])[side] for side in pair) for name, pair in images.items()}
    classes = table_of(Labels(classes="rest=0,a=1,b=2", background=0), merged).summary()
    assert {key: classes[key] for key in regions} == pytest.approx(dict(regions))


def test_classes_beside_regions():
    protocol = Labels(classes="rest=0,all=1+2+3,3", background=0)
    images = {f"{case}": drawn(case) for case in range(3)}
    summary = table_of(protocol, images).summary()
    without = table_of(Labels(classes="all=1+2+3,3"), images).summary()
    keys = [key for key in without if key not in ("miou_images", "classes")]
    assert {key: summary[key] for key in keys} == pytest.approx({key: without[key] for key in keys})
    assert protocol.divided("class", {}).parts.keys() == {"rest", "all", "3"}


def test_ways_to_write_them():
    protocol = Labels(classes=BRATS)
    assert Labels(classes=[(3, 2, 1), [1, 3], 3], names=["WT", "TC", "ET"]) == protocol
    assert Labels(classes=["1+2+3", "3+1", "3+3"], names=["WT", "TC", "ET"]) == protocol
    assert protocol.signature_fields()["classes"] == BRATS
    assert written_classes(*read_class_labels("1+2,0-3,a=3+4,7")) == "1+2,0-3,a=3+4,7"
    assert StoredProtocol.of(protocol).restored("labels") == protocol
    assert StoredProtocol.of(protocol.of_class("1+3")).restored("labels") == protocol.of_class("1+3")
    assert Labels(classes=BRATS, background=0) == protocol  # outside all regions, and in no mean
    assert Labels(classes=BRATS, void=(4,)).void == (4,)


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"classes": "a=1+2,b=2+1"}, "unfit-classes"),
        ({"classes": "a=1+2,a=3"}, "unfit-classes"),
        ({"classes": "a=1+2,b=255", "void": (2,)}, "unfit-classes"),
        ({"classes": "=1+2"}, "wrong-classes"),
        ({"classes": "a=1+"}, "wrong-classes"),
        ({"classes": "a=1+-2"}, "wrong-classes"),
        ({"classes": "a=1-3+4"}, "wrong-classes"),
        ({"classes": [(1, -2), 3]}, "wrong-value"),
        ({"classes": [(), 3]}, "wrong-value"),
        ({"classes": [(1, 2.5)]}, "wrong-value"),
        ({"classes": "a=1+2", "background": 1}, "unfit-background"),
        ({"classes": [range(1, 5000)]}, "wrong-value"),
        ({"classes": [(k, k + 5000) for k in range(1, 3000)]}, "too-many-classes"),
    ],
)
def test_what_is_no_region_is_refused(settings, kind):
    with refused(kind, ArgumentError):
        Labels(**settings)


def test_soft_maps_of_classes_have_none():
    with refused("wrong-classes", ArgumentError):
        Classes(labels=("1+2", 3))


def test_a_label_in_no_region_is_refused_with_ways_out():
    with refused("no-class", DataError, labels=(4,)) as error:
        count(row("0124"), row("0120"), Labels(classes=BRATS))
    advised = {setting.name: setting.value for setting in parts_of(error.value, Setting)}
    assert advised["classes"] == "4," + BRATS
    assert advised["background"] == 4
    labels = Labels(classes=advised["classes"], background=advised["background"])
    summary = table_of(labels, {"a": (row("0124"), row("0120"))}).summary()
    assert summary["miou"] == 1  # of WT and TC, ET being absent


def test_counts_add_up_only_with_the_same_regions():
    counts = count(*drawn(1), Labels(classes=BRATS))
    assert (counts + counts).by_class.tp.tolist() == (2 * counts.by_class.tp).tolist()
    with refused("counted-otherwise", ArgumentError):
        counts + LabelCounts("0-3", counts.matrix)


class TestCommand:
    @pytest.fixture
    def folders(self, tmp_path):
        for number in range(3):
            for folder, labels in zip(("gt", "pred"), drawn(number + 20, (6, 9)), strict=True):
                (tmp_path / folder).mkdir(exist_ok=True)
                labels[:2, :2] = [[0, 1], [2, 3]]
                Image.fromarray(labels).save(tmp_path / folder / f"{number}.png")
        return tmp_path / "gt", tmp_path / "pred"

    def test_tables_classes_and_comparison(self, folders, segbench, tmp_path):
        file = tmp_path / "r.segbench"
        ran = segbench("labels", *folders, f"other={folders[0]}", "--classes", BRATS, "-o", file)
        assert ran.code == 0
        assert f"classes:{BRATS}" in ran.out
        run, _ = json.loads(segbench("show", file, "--per-class", "--format", "json").out)["runs"]
        assert [*run["per_class"]] == ["WT", "TC", "ET"]
        assert segbench("compare", file, "--class", "TC").code == 0
        assert segbench("show", file, "--class", "TC", "--per-image").code == 0
        assert segbench("plot", file, "--kind", "confusion", "--only", "pred", "-o", tmp_path / "c.svg").code == 0

    def test_check(self, folders, segbench):
        assert segbench("check", "labels", *folders, "--classes", BRATS).code == 0

    def test_pictures_show_labels(self, folders, segbench, tmp_path):
        file = tmp_path / "r.segbench"
        segbench("labels", *folders, "--classes", BRATS, "-o", file)
        assert segbench("overlay", file, "-o", tmp_path / "overlays", "--classes").code == 0
        assert segbench("report", file, "-o", tmp_path / "r.html").code == 0
        page = (tmp_path / "r.html").read_text("utf-8")
        assert '"names": ["0", "1", "2", "ET"]' in page.replace('","', '", "').replace('"names":[', '"names": [')

    def test_a_file_of_nnunet_names_them(self, folders, tmp_path, segbench):
        labels = {"background": 0, "WT": [1, 2, 3], "TC": [1, 3], "ET": [3], "ignore": 4}
        description = tmp_path / "dataset.json"
        description.write_text(json.dumps({"labels": labels, "regions_class_order": [2, 1, 3]}))
        ran = segbench("labels", *folders, "--classes", description, "--background", "0", "--format", "json")
        (run,) = json.loads(ran.out)["runs"]
        assert (run["settings"]["classes"], run["settings"]["void"]) == (BRATS, "4")
        expected = segbench("labels", *folders, "--classes", BRATS, "--void", "4", "--format", "json")
        assert run["summary"] == json.loads(expected.out)["runs"][0]["summary"]


def test_notes_name_regions():
    images = {"a": (row("0022"), row("0022")), "b": (row("0000"), row("0300"))}
    notes = table_of(Labels(classes=BRATS), images).summary().notes
    assert of_kind(notes, "left-out")  # the second has no class but the background
    assert "ET" in str(of_kind(notes, "false-classes")[0])
