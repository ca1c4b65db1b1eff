"""Repairs of whole runs: never without being asked for, always in the signature and in the notes."""

from dataclasses import fields

import numpy as np
import pytest
from cases import write_folder
from noted import noted

from segbench import (
    Annotators,
    ArgumentError,
    Boundaries,
    FailedImages,
    Pixels,
    Regions,
    Repairs,
    count,
    evaluate,
    export_overlays,
    load_results,
)

RNG = np.random.default_rng(5)
MASKS = {f"{name}.png": (RNG.random((40, 60)) < 0.3) * np.uint8(255) for name in "abc"}
SCORES = {name: (mask // 3 + RNG.integers(0, 150, mask.shape)).astype(np.uint8) for name, mask in MASKS.items()}


@pytest.fixture
def run(tmp_path):
    """Evaluate predictions, made of the scores one by one, the first of which fits."""

    def made(change, protocol=None, *, suffix=".png", truths=MASKS, **options):
        changed = {
            name.replace(".png", suffix): scores if place == 0 and suffix == ".png" else change(scores)
            for place, (name, scores) in enumerate(SCORES.items())
        }
        gt, pred = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", changed)
        return evaluate(gt, pred, protocol or Pixels(), results=tmp_path / "r.segbench", **options)

    return made


@pytest.mark.parametrize("protocol", [Pixels(), Boundaries(thresholds=3)], ids=["pixels", "boundaries"])
@pytest.mark.parametrize(
    ("change", "mending", "signed", "note"),
    [
        (
            lambda scores: scores[:-1],
            Repairs(crop=True),
            "|crop:lower right|",
            ("ground truth", "cropped", {}),
        ),
        (
            lambda scores: scores[::2, ::2],
            Repairs(resize="bilinear"),
            "|resize:bilinear|",
            ("prediction", "resized", {"how": "bilinear"}),
        ),
        (
            lambda scores: scores[:33, :47],
            Repairs(resize="nearest"),
            "|resize:nearest|",
            ("prediction", "resized", {"how": "nearest"}),
        ),
    ],
)
def test_sizes_are_mended_only_when_asked_for(run, protocol, change, mending, signed, note):
    with pytest.warns(FailedImages):
        refused = run(change, protocol)
    assert list(refused.counts) == ["a"]
    assert {name: failure.kind for name, failure in refused.failed.items()} == {"b": "other-size", "c": "other-size"}
    (repair,) = (field.name for field in fields(mending) if getattr(mending, field.name) != field.default)
    assert repair in [advised.name for advised in refused.failed["b"].settings]
    result = run(change, protocol, repairs=mending)
    assert list(result.counts) == ["a", "b", "c"]
    assert signed in result.signature
    side, kind, values = note
    assert noted(result.notes) == [(side, kind, values | {"images": 2, "total": 3})]
    assert result.counts["a"] == refused.counts["a"]
    assert [(noted_of.side, noted_of.kind) for noted_of in result.image_notes["b"]] == [(side, kind)]
    assert "a" not in result.image_notes


def test_numbers_are_those_of_the_map_repaired_by_hand(run):
    result = run(lambda scores: np.pad(scores, ((0, 3), (0, 5))), repairs=Repairs(crop=True))
    for name, mask in MASKS.items():
        assert result.counts[name.removesuffix(".png")] == count(mask > 0, SCORES[name])


def test_scores_out_of_range_are_brought_back(run, tmp_path):
    result = run(lambda scores: scores.astype(np.float32), suffix=".npy", repairs=Repairs(scale=255))
    assert noted(result.notes) == [("prediction", "scaled", {"scale": 255, "images": 3, "total": 3})]
    for name, mask in MASKS.items():
        assert result.counts[name.removesuffix(".png")] == count(mask > 0, SCORES[name])
    (again,) = load_results(tmp_path / "r.segbench")
    assert (again.notes, again.image_notes) == (result.notes, result.image_notes)


def test_other_repairs_are_another_run(run, tmp_path):
    for repairs in (Repairs(resize="nearest"), Repairs(resize="bilinear"), Repairs(resize="bilinear", scale=255)):
        run(lambda scores: scores[::2, ::2], repairs=repairs)
    results = load_results(tmp_path / "r.segbench")
    assert len({result.signature for result in results}) == 3
    assert results[0].pooled != results[1].pooled
    assert results[1].pooled == results[2].pooled  # 8-bit levels are divided by 255 in any case


def test_a_repair_that_nothing_needed_is_said_to_have_done_nothing(run):
    result = run(lambda scores: scores, repairs=Repairs(crop=True))
    (note,) = result.notes
    assert (note.kind, note.values["repair"]) == ("idle-repair", "crop")
    assert result.pooled == run(lambda scores: scores).pooled


def test_invert_is_counted_like_a_repair(run):
    for protocol in (Pixels(invert=True), Boundaries(invert=True, thresholds=3)):
        result = run(lambda scores: scores, protocol)
        assert result.settings["invert"] == "yes"
        assert noted(result.notes) == [("prediction", "inverted", {"images": 3, "total": 3})]


@pytest.mark.parametrize(
    ("protocol", "repairs"),
    [
        (Regions(), Repairs(resize="bilinear")),
        (Regions(), Repairs(scale="minmax")),
        (Annotators(settings=Boundaries()), Repairs(crop=True)),
    ],
)
def test_repairs_without_meaning_are_refused_before_a_file_is_read(tmp_path, protocol, repairs):
    with pytest.raises(ArgumentError):
        evaluate(tmp_path / "nowhere", None, protocol, repairs=repairs)


def test_pictures_are_drawn_of_the_repaired_maps(run, tmp_path):
    result = run(lambda scores: scores[::2, ::2], repairs=Repairs(resize="bilinear"))
    assert export_overlays([result], tmp_path / "overlays") == []


def test_images_that_need_no_ground_truth_are_resized_like_the_others(run):
    defects = {name: mask for name, mask in MASKS.items() if name != "c.png"}
    options = {"truths": defects, "negatives": "c"}
    result = run(lambda scores: scores[::2, ::2], repairs=Repairs(resize="nearest"), **options)
    resized = SCORES["c.png"][::2, ::2].repeat(2, axis=0).repeat(2, axis=1)
    assert result.counts["c"] == count(np.zeros(resized.shape, bool), resized)
    assert ("prediction", "resized", {"how": "nearest", "images": 2, "total": 3}) in noted(result.notes)
