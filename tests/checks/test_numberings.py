"""Labels whose numbers a preset or a map does not expect: the setting that is named gives the right number."""

from __future__ import annotations

import re
import warnings

import imageio.v3 as iio
import numpy as np
import pytest
from noted import advised, of_kind, values_of
from refusing import parts_of
from sklearn.metrics import jaccard_score

import segbench as library
from segbench import Boundaries, Labels, Objects
from segbench.core.messages import Message, Setting
from segbench.loaders.presets import load_preset

IDS = np.array([7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33])
IMAGES = 4


def random_label_maps(classes, share=0.75):
    """Draw ground truths with some void, 255, and predictions that are right in a share of the pixels."""
    rng = np.random.default_rng(classes)
    truths = rng.integers(0, classes, (IMAGES, 16, 32))
    predictions = np.where(rng.random(truths.shape) < share, truths, rng.integers(0, classes, truths.shape))
    return np.where(rng.random(truths.shape) < 0.1, 255, truths), predictions


def miou(truths, predictions):
    valid = truths != 255
    return jaccard_score(truths[valid], predictions[valid], average="macro")


def as_ids(labels):
    """Turn trainIds into labelIds, and void into the label of the ego vehicle."""
    return np.where(labels == 255, 1, IDS[labels % 255 % IDS.size])


def with_instances(labels):
    """Number the things of labelIds, as files of instanceIds do."""
    return np.where((labels >= 24) & (labels < 255), labels * 1000 + 2, labels)


def with_instances_of_train_ids(labels):
    return np.where((labels >= 11) & (labels < 19), labels * 1000, labels)


def settings_of(preset):
    options = load_preset(preset).options
    maps = {name: options[name] for name in ("gt_map", "pred_map") if name in options}
    return {"classes": options["classes"], "void": int(str(options["void"])), **maps}


def write(folder, truths, predictions):
    for side, maps in (("gt", truths), ("pred", predictions)):
        (folder / side).mkdir(exist_ok=True)
        for k, labels in enumerate(maps):
            iio.imwrite(folder / side / f"{k}.png", labels.astype(np.uint16 if maps.max() > 255 else np.uint8))
    return folder / "gt", folder / "pred"


def followed(found, folder, truths, predictions, settings):
    """Do what a finding advises, and return the mIoU."""
    settings = settings | advised(found.settings if found else ())
    sides = {"the ground truth": truths, "predictions": predictions}
    for part in parts_of(found.fix, Message) if found else ():
        if "multiple" in part.values:
            (formula,) = re.findall(r"numpy.where\(.*\)", str(part))
            for side in part.values["sides"]:
                sides[side] = eval(formula, {"numpy": np, "ids": sides[side]})  # noqa: S307
    return library.evaluate(*write(folder, *sides.values()), Labels(**settings)).summary["miou"]


STATES = {
    "trainIds": lambda labels: labels,
    "labelIds": as_ids,
    "instanceIds": lambda labels: with_instances(as_ids(labels)),
    "instances of trainIds": with_instances_of_train_ids,
}


@pytest.mark.parametrize("predicted", STATES)
@pytest.mark.parametrize("true", STATES)
@pytest.mark.parametrize("preset", ["cityscapes-labelids", "cityscapes"])
def test_cityscapes(tmp_path, preset, true, predicted):
    stored = random_label_maps(IDS.size)
    right = miou(*stored)
    truths, predictions = (STATES[state](labels) for state, labels in zip((true, predicted), stored, strict=True))
    settings = settings_of(preset)
    found = library.check(*write(tmp_path, truths, predictions), Labels(**settings)).findings
    if {true, predicted} == {"labelIds" if "gt_map" in settings else "trainIds"}:
        assert not found
        return
    assert [finding.kind for finding in found] == ["renumbered"]
    assert followed(found[0], tmp_path, truths, predictions, settings) == pytest.approx(right)


@pytest.mark.parametrize(("true", "predicted"), [(0, 1), (1, 0), (1, 1)])
def test_ade20k_that_is_reduced_already_or_not(tmp_path, true, predicted):
    """1: reduced to 0 to 149 already; 0: 1 to 150, with 0 for what nobody labelled."""
    reduced = random_label_maps(150)
    raw = [np.where(labels == 255, 0, labels + 1) for labels in reduced]
    truths, predictions = ((raw[side], reduced[side])[state] for side, state in enumerate((true, predicted)))
    found = library.check(*write(tmp_path, truths, predictions), Labels(**settings_of("ade20k"))).findings
    assert bool(found) == (true == 1)
    settings = settings_of("ade20k")
    assert followed(found[0] if found else None, tmp_path, truths, predictions, settings) == pytest.approx(
        miou(*reduced)
    )


def test_zeros_beside_classes_from_1_are_left_out_first(tmp_path):
    """Maps of ADE20K as stored on both sides, 0 where nobody labelled: no map is needed, void is."""
    truths, predictions = random_label_maps(150)
    raw = np.where(truths == 255, 0, truths + 1)
    raw[raw == 150] = 149  # so that a map to numbers one higher is possible
    places = write(tmp_path, raw, predictions + 1)
    (finding,) = library.check(*places, Labels(classes="1-150")).errors
    assert (finding.kind, finding.settings[0]) == ("not-countable", Setting("void", (0, 255)))
    found = library.evaluate(*places, Labels(classes="1-150", void=finding.settings[0].value)).summary["miou"]
    valid = raw > 0
    assert found == pytest.approx(
        jaccard_score(raw[valid], predictions[valid] + 1, average="macro", labels=range(1, 151), zero_division=0)
    )


@pytest.mark.parametrize("rule", ["1-5=0-4", "1-5=0-4,0=255"])
@pytest.mark.parametrize("names", [("gt_map",), ("pred_map",), ("gt_map", "pred_map")])
def test_own_maps_of_labels_that_are_remapped_already(tmp_path, rule, names):
    truths, predictions = random_label_maps(5)
    settings = {"classes": 5, **dict.fromkeys(names, rule)}
    found = library.check(*write(tmp_path, truths, predictions), Labels(**settings)).findings
    assert [finding.kind for finding in found] == ["renumbered"]
    assert found[0].fix.kind == "setting"
    assert advised(found[0].settings) == dict.fromkeys(names, "")
    assert followed(found[0], tmp_path, truths, predictions, settings) == pytest.approx(miou(truths, predictions))


def test_few_pixels_that_agree_by_chance_show_no_other_numbering():
    rng = np.random.default_rng(0)
    pairs = [tuple(rng.integers(0, 3, (2, 6, 6))) for _ in range(300)]
    result = library.evaluate(pairs, protocol=Labels(classes=3, pred_map="0=1,1=0"))
    assert result.notes == ()


def test_a_run_notes_the_setting(tmp_path):
    truths, predictions = random_label_maps(IDS.size)
    places = write(tmp_path, as_ids(truths), predictions)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (note,) = library.evaluate(*places, Labels(**settings_of("cityscapes-labelids"))).notes
    assert [str(warning.message) for warning in warned] == [str(note.message)]
    assert (note.kind, note.images, note.total) == ("other-numbers", IMAGES, IMAGES)
    assert values_of(note.message)["side"] == "predictions"
    assert advised(note.message.settings) == {"pred_map": ""}


def test_a_map_that_leaves_classes_out_is_meant(tmp_path):
    truths, predictions = random_label_maps(IDS.size)
    settings = {"classes": 19, "gt_map": "13=13,14=14,*=255"}
    found = library.check(*write(tmp_path, truths, predictions), Labels(**settings)).findings
    assert "renumbered" not in [finding.kind for finding in found]


def test_labels_that_a_map_makes_void_are_named_as_stored(tmp_path):
    truths, predictions = random_label_maps(IDS.size)
    predictions = np.where(predictions == 3, 0, as_ids(predictions))
    places = write(tmp_path, as_ids(truths), predictions)
    (found,) = library.check(*places, Labels(**settings_of("cityscapes-labelids"))).findings
    assert found.kind == "outside-classes"
    assert (values_of(found.message)["labels"], found.message.values["values"]) == ((255,), (0,))
    assert found.message.values["given"].name == "pred_map"


def test_panoptic_maps_of_the_other_numbering_are_noted():
    truths, predictions = random_label_maps(IDS.size)
    options = load_preset("cityscapes-instanceids").options
    void = [int(label) for label in str(options["void"]).split(",")]
    protocol = Objects(divisor=1000, classes=options["classes"], things=options["things"], void=void)
    true = with_instances(as_ids(truths))
    maps = {"right": with_instances(as_ids(predictions)), "other": with_instances_of_train_ids(predictions)}
    notes = {}
    for name, found in maps.items():
        pairs = {str(k): pair for k, pair in enumerate(zip(true, found, strict=True))}
        with warnings.catch_warnings(record=True, action="always") as warned:
            notes[name] = library.evaluate(pairs, protocol=protocol).notes
        assert len(warned) == (name == "other")
    assert notes["right"] == ()
    (note,) = notes["other"]
    assert (note.kind, values_of(note.message.values["what"])["side"]) == ("other-numbers", "predictions")
    assert values_of(note.message)["remapping"].startswith("0-1=7-8,2-4=11-13,5=17,")


class TestLabelMapsAmongEdges:
    """The number of a label is not a score of an edge."""

    LABELS = np.kron(np.random.default_rng(3).integers(0, 5, (3, 6, 6)), np.ones((8, 8), np.uint8)).astype(np.uint8)

    @pytest.mark.parametrize(("settings", "fix"), [
        ({"label_maps": True}, "255 * segbench.label_boundaries(labels)"),
        ({"positive": 2}, "255 * numpy.isin(labels, [2])"),
    ])  # fmt: skip
    def test_are_an_error_with_what_to_save(self, tmp_path, settings, fix):
        places = write(tmp_path, self.LABELS, np.roll(self.LABELS, 1, axis=2))
        found = library.check(*places, Boundaries(**settings)).errors
        assert [finding.kind for finding in found] == ["label-map"]
        first = [*parts_of(found[0].fix, Message)][1]
        assert str(first).endswith(fix)
        given = first.values.get("given")
        assert (str(given) if given else None) == ("positive='2'" if "positive" in settings else None)

    def test_pixels_that_nobody_labelled_are_not_advised_as_edges(self, tmp_path):
        truths = np.where(np.arange(48) < 8, -1, self.LABELS.astype(np.int16).clip(max=2))
        for side, maps in (("gt", truths), ("pred", np.random.default_rng(0).random(truths.shape))):
            (tmp_path / side).mkdir()
            for k, values in enumerate(maps):
                np.save(tmp_path / side / f"{k}.npy", values)
        places = tmp_path / "gt", tmp_path / "pred"
        (found,) = of_kind(library.check(*places, Boundaries()).errors, "labels")
        advice = [(setting.name, setting.value) for setting in found.settings]
        assert ("positive", ">0") in advice
        assert ("positive", ">-1") not in advice

    def test_numbers_of_regions_beside_drawn_lines_are_found(self, tmp_path):
        lines = np.array([255 * library.label_boundaries(labels) for labels in self.LABELS])
        places = write(tmp_path, lines, self.LABELS)
        (found,) = library.check(*places, Boundaries()).errors
        assert (found.kind, found.message.values) == ("label-map", {"count": 3, "total": 3})

    @pytest.mark.parametrize("levels", [3, 5, 256])
    @pytest.mark.parametrize("width", [1, 3])
    def test_lines_of_few_levels_are_none(self, tmp_path, levels, width):
        lines = np.array([library.label_boundaries(labels) for labels in self.LABELS])
        wide = np.maximum(lines, np.roll(lines, 1, axis=2)) if width > 1 else lines
        scores = wide * np.random.default_rng(0).integers(0, levels, wide.shape)
        places = write(tmp_path, 255 * lines, scores)
        assert "label-map" not in [finding.kind for finding in library.check(*places, Boundaries()).findings]
