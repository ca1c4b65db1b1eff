"""Label maps that were stored with loss, or resized with interpolation: their labels are noise beside borders."""

import io
import json
import runpy
import zipfile
from pathlib import Path

import numpy as np
import pytest
from noted import of_kind
from PIL import Image
from refusing import insist, parts_of

import segbench as library
from segbench.core.messages import Message

ROOT = Path(__file__).parents[2]
LOSSY = {
    "jpg": {"format": "JPEG", "quality": 95},
    "webp": {"format": "WEBP", "quality": 80},
    "tif": {"format": "TIFF", "compression": "jpeg"},
}
WITHOUT_LOSS = {
    "png": {"format": "PNG"},
    "webp": {"format": "WEBP", "lossless": True},
    "tif": {"format": "TIFF", "compression": "tiff_deflate"},
}
NAMES = {"jpg": "JPEG", "webp": "lossy WebP", "tif": "JPEG"}


def blocks(seed, numbers=(3, 7, 12)):
    """Draw 8 x 8 blocks of 7 pixels, of three classes."""
    return np.kron(np.random.default_rng(seed).choice(numbers, (8, 8)), np.ones((7, 7))).astype(np.uint8)


def disks(seed):
    """Draw twelve numbered squares."""
    numbers = np.random.default_rng(seed).permutation(np.arange(16)).reshape(4, 4)
    drawn = np.kron(numbers, np.pad(np.ones((10, 10)), 2)).astype(np.uint8)
    return np.where(drawn > 12, 0, drawn).astype(np.uint8)


TRUTHS = [blocks(k) for k in range(4)]
PREDICTIONS = [
    np.where(np.random.default_rng(k).random((8, 8)) < 0.85, blocks(k)[::7, ::7], 7).astype(np.uint8) for k in range(4)
]
PREDICTIONS = [np.kron(one, np.ones((7, 7))).astype(np.uint8) for one in PREDICTIONS]


def write(folder, maps, extension="png", settings=WITHOUT_LOSS["png"]):
    folder.mkdir()
    for place, one in enumerate(maps):
        picture = Image.fromarray(one)
        if settings["format"] == "WEBP":
            picture = picture.convert("RGB")
        picture.save(folder / f"{place}.{extension}", **settings)
    return folder


def findings(segbench, verb, *arguments):
    answer = segbench("check", verb, *arguments, "--format", "json")
    (report,) = json.loads(answer.out)["reports"]
    return {finding["kind"]: finding for finding in report["findings"]}, answer.code


LOST = ("lossy-labels", {"compression": "JPEG"})


def lost(error):
    """Return kind and values of what a check that stopped a run says of each file."""
    insist(error, "check-failed", findings=("not-countable",))
    return [(said.kind, said.values) for said in parts_of(error, Message) if said.kind == LOST[0]]


COMMANDS = {
    "labels": ("--classes", "0-20"),
    "contours": ("--classes", "0-20"),
    "regions": (),
}


@pytest.mark.parametrize("extension", LOSSY)
@pytest.mark.parametrize("verb", COMMANDS)
class TestStored:
    """What a file says of its compression, whatever its name."""

    @pytest.mark.parametrize("side", ["ground truth", "prediction"])
    def test_with_loss_is_told_before_a_run_and_below_its_table(
        self, segbench, warned_of, tmp_path, verb, extension, side
    ):
        gt, pred = write(tmp_path / "gt", TRUTHS), write(tmp_path / "pred", PREDICTIONS)
        damaged = write(tmp_path / "damaged", TRUTHS, extension, LOSSY[extension])
        places = (damaged, pred) if side == "ground truth" else (gt, damaged)
        found, _ = findings(segbench, verb, *places, *COMMANDS[verb])
        assert (found["lossy-labels"]["severity"], found["lossy-labels"]["side"]) == ("warning", side)
        values = {"count": 4, "numbers": "labels", "compressions": [NAMES[extension]]}
        assert found["lossy-labels"]["values"] == values
        answer = segbench(verb, *places, *COMMANDS[verb], "-o", tmp_path / "r.segbench")
        (finding,) = of_kind(warned_of, "lossy-labels")
        assert finding.described("options")["values"] == values
        assert finding.message.written("options") in answer.err
        (result,) = library.load_results(tmp_path / "r.segbench")
        (note,) = of_kind(result.notes, "stored-with-loss")
        assert (note.side, note.values["compression"]) == (side, NAMES[extension])
        assert note.written("options") in " ".join(answer.out.split())

    def test_without_loss_is_not(self, segbench, tmp_path, verb, extension):
        extension = extension.replace("jpg", "png")
        gt = write(tmp_path / "gt", TRUTHS, extension, WITHOUT_LOSS[extension])
        pred = write(tmp_path / "pred", PREDICTIONS, extension, WITHOUT_LOSS[extension])
        found, _ = findings(segbench, verb, gt, pred, *COMMANDS[verb])
        assert "lossy-labels" not in found
        assert "stored with loss" not in segbench(verb, gt, pred, *COMMANDS[verb]).out


def test_one_file_of_many_is_found_by_its_header(segbench, tmp_path):
    gt, pred = write(tmp_path / "gt", TRUTHS * 12), write(tmp_path / "pred", PREDICTIONS * 12)
    (pred / "1.png").unlink()
    Image.fromarray(PREDICTIONS[1]).save(pred / "1.jpg")
    found, _ = findings(segbench, "labels", gt, pred, "--classes", "0-20")
    (file,) = found["lossy-labels"]["files"]
    assert file == {"file": f"{pred}/1.jpg", "kind": "detail", "detail": "JPEG", "values": {"compression": "JPEG"}}


def test_members_of_archives_are_told_in_notes(segbench, tmp_path):
    gt, pred = write(tmp_path / "gt", TRUTHS), write(tmp_path / "pred", PREDICTIONS, "jpg", LOSSY["jpg"])
    with zipfile.ZipFile(tmp_path / "pred.zip", "w") as archive:
        for file in pred.iterdir():
            archive.write(file, file.name)
    out = segbench("labels", gt, tmp_path / "pred.zip", "--classes", "0-20").out
    assert "prediction: stored with loss; JPEG changes labels" in " ".join(out.split())


def test_python_has_the_note(tmp_path):
    gt, pred = write(tmp_path / "gt", TRUTHS), write(tmp_path / "pred", PREDICTIONS, "jpg", LOSSY["jpg"])
    (note,) = library.evaluate(gt, pred, library.Labels(classes="0-20")).notes
    assert (note.side, note.kind, note.values["compression"]) == ("prediction", "stored-with-loss", "JPEG")


def test_masks_cut_at_half_may_be_jpeg(segbench, tmp_path):
    masks = [np.where(one == 7, 255, 0).astype(np.uint8) for one in TRUTHS]
    gt = write(tmp_path / "gt", masks, "jpg", LOSSY["jpg"])
    found, _ = findings(segbench, "labels", gt, write(tmp_path / "pred", masks), "--positive", ">=128")
    assert "lossy-labels" not in found
    found, _ = findings(segbench, "pixels", gt, tmp_path / "pred", "--positive", ">=128")
    assert "lossy-labels" not in found


@pytest.mark.parametrize("rule", ["7", "3,7", ">0"])
def test_labels_that_a_rule_names_may_not(segbench, tmp_path, rule):
    gt = write(tmp_path / "gt", TRUTHS, "jpg", LOSSY["jpg"])
    scores = [np.where(one == 7, 200, 20).astype(np.uint8) for one in TRUTHS]
    found, _ = findings(segbench, "pixels", gt, write(tmp_path / "pred", scores), "--positive", rule)
    assert found["lossy-labels"]["side"] == "ground truth"


class TestObjects:
    """Where numbers are objects, noise becomes objects: an error."""

    @pytest.fixture
    def places(self, tmp_path):
        maps = [disks(k) for k in range(4)]
        write(tmp_path / "jpg", maps, "jpg", LOSSY["jpg"])
        return write(tmp_path / "png", maps), tmp_path / "jpg"

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_instances_are_refused(self, segbench, places, order):
        gt, pred = (places[k] for k in order)
        found, code = findings(segbench, "objects", gt, pred)
        assert (code, found.keys()) == (1, {"not-countable"})
        assert found["not-countable"]["side"] == ("prediction", "ground truth")[order[0]]
        answer = segbench("objects", gt, pred, "--no-check", "--format", "json")
        assert answer.code == 1
        failures = json.loads(answer.out)["runs"][0]["failures"].values()
        assert [(failure["kind"], failure["values"]) for failure in failures] == [LOST] * 4

    def test_panoptic_maps_are_refused(self, segbench, places):
        answer = segbench("objects", *places, "--divisor", "4")
        assert answer.code == 1
        assert lost(answer.error) == [LOST] * 4

    def test_objects_of_sequences_are_refused(self, segbench, tmp_path):
        (tmp_path / "gt").mkdir()
        (tmp_path / "pred").mkdir()
        write(tmp_path / "gt/boat", [disks(1)] * 3)
        write(tmp_path / "pred/boat", [disks(1)] * 3, "jpg", LOSSY["jpg"])
        answer = segbench("contours", tmp_path / "gt", tmp_path / "pred", "--sequences")
        assert answer.code == 1
        assert lost(answer.error) == [LOST] * 3

    def test_one_file_that_is_not_inspected_is_an_error(self, segbench, places):
        gt, pred = write(places[0].parent / "gt", [disks(k) for k in range(60)]), places[0].parent / "pred"
        write(pred, [disks(k) for k in range(60)])
        (pred / "2.png").unlink()
        Image.fromarray(disks(2)).save(pred / "2.jpg")
        found, code = findings(segbench, "objects", gt, pred)
        assert (code, found["lossy-labels"]["severity"]) == (1, "error")

    @pytest.mark.parametrize("side", ["ground truth", "prediction"])
    def test_masks_get_advice_that_gives_their_number(self, segbench, tmp_path, side):
        maps = [np.where(disks(k), 255, 0).astype(np.uint8) for k in range(4)]
        png, jpg = write(tmp_path / "png", maps), write(tmp_path / "jpg", maps, "jpg", LOSSY["jpg"])
        numbers = write(tmp_path / "numbers", [disks(k) for k in range(4)])
        places, option = ((jpg, numbers), ">=128") if side == "ground truth" else ((numbers, jpg), "0.5")
        found, _ = findings(segbench, "objects", *places)
        assert "--kind components with" in found["not-countable"]["fix"]
        assert option in found["not-countable"]["fix"]
        places = (jpg, png) if side == "ground truth" else (png, jpg)
        options = ("--positive", ">=128") if side == "ground truth" else ("--at", "0.5")
        runs = (
            segbench("objects", *both, "--kind", "components", *more, "--format", "json").out
            for both, more in ((places, options), ((png, png), ()))
        )
        damaged, intact = (json.loads(run)["runs"][0]["summary"] for run in runs)
        assert damaged["component_f1"] == intact["component_f1"]


def as_png(labels, **settings):
    """Store a map with loss, and read it as it will be saved as PNG."""
    saved = io.BytesIO()
    Image.fromarray(labels).save(saved, **settings)
    return np.asarray(Image.open(saved))


def resized(labels):
    return np.asarray(Image.fromarray(labels).resize((28, 28), 0).resize((56, 56), Image.Resampling.BILINEAR))


DAMAGE = {"stored": lambda labels: as_png(labels, format="JPEG", quality=75), "resized": resized}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("sides", ["ground truth", "prediction", "both"])
class TestValues:
    """Wherever a PNG comes from such a file, or was resized, its values show it."""

    @pytest.fixture
    def places(self, tmp_path, damage, sides):
        maps = {"ground truth": TRUTHS, "prediction": PREDICTIONS}
        changed = {
            side: list(map(DAMAGE[damage], drawn)) if sides in (side, "both") else drawn for side, drawn in maps.items()
        }
        return [write(tmp_path / side, drawn) for side, drawn in changed.items()]

    @pytest.mark.parametrize("verb", COMMANDS)
    def test_label_maps(self, segbench, places, sides, verb):
        found, code = findings(segbench, verb, *places, *COMMANDS[verb])
        assert code == 0
        assert sides in (found["mixed-labels"]["side"], "both")
        assert "mixed-labels" in segbench(verb, *places, *COMMANDS[verb]).err

    def test_no_advice_makes_classes_of_noise(self, segbench, places, sides):
        out = segbench("check", "labels", *places, "--classes", "3,7,12").out
        assert "mixed-labels" in out
        assert not [word for word in ("add labels", "list labels", "--pred-map", "--void") if word in out]
        assert ("not-countable" in out) == (sides != "prediction")


def test_lines_that_are_classes_are_none(segbench, tmp_path):
    rims = [np.zeros((56, 56), np.uint8) for _ in range(4)]
    for place, one in enumerate(rims):
        for top in (4, 30):
            one[top : top + 20, 4 + place : 50] = 128
            one[top + 2 : top + 18, 6 + place : 48] = 255
    gt, pred = write(tmp_path / "gt", rims), write(tmp_path / "pred", [np.where(one == 128, 0, one) for one in rims])
    found, _ = findings(segbench, "labels", gt, pred, "--classes", "0,128,255", "--void", "none")
    assert "mixed-labels" not in found


def test_an_outer_and_an_inner_line_of_bodies_on_both_sides_are_none(segbench, tmp_path):
    nested = np.zeros((56, 56), np.uint8)
    for label, margin in enumerate((10, 11, 12), start=1):
        nested[margin:-margin, margin:-margin] = label
    truths = [np.roll(nested, place, axis=0) for place in range(6)]
    places = write(tmp_path / "gt", truths), write(tmp_path / "pred", [np.roll(one, 2, axis=0) for one in truths])
    found, _ = findings(segbench, "labels", *places, "--classes", "0-3")
    assert "mixed-labels" not in found


@pytest.mark.parametrize("classes", [3, 5, 19, 150])
def test_random_labels_are_none(segbench, tmp_path, classes):
    rng = np.random.default_rng(classes)
    truths = [rng.integers(0, classes, (48, 64)).astype(np.uint8) for _ in range(4)]
    others = [rng.integers(200, 200 + min(classes, 55), (48, 64)).astype(np.uint8) for _ in range(4)]
    gt, pred = write(tmp_path / "gt", truths), write(tmp_path / "pred", others)
    found, _ = findings(segbench, "labels", gt, pred, "--classes", "0-254")
    assert "mixed-labels" not in found


def test_a_tenth_of_random_sets():
    script = runpy.run_path(str(ROOT / "scripts/checks/check_label_damage.py"))
    assert script["damaged_unnoticed"](20) == []
    assert script["false_alarms"](16) == []
