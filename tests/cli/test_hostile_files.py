"""Every format, hostile in every way, through the command line: `check` names it, `run` counts what is sound."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from loaders.encoders import mat, npy, npz, pillow, sound_files, tiff
from noted import problems_of
from refusing import insist, refused, within

from segbench import DataError, evaluate
from segbench.loaders.images import decode

RNG = np.random.default_rng(0)
SHAPE = (20, 24)
LONG = 16000
"""WebP goes no further than 16383."""


SOUND = {Path(name).suffix: data for name, (data, _) in reversed(sound_files().items()) if name.islower()}
ENCODED = {
    ".npy": npy,
    ".npz": lambda array: npz(a=array),
    ".mat": lambda array: mat(a=array),
    ".tif": tiff,
    ".png": lambda array: pillow(array, "PNG"),
    ".jpg": lambda array: pillow(array, "JPEG"),
    ".bmp": lambda array: pillow(array, "BMP"),
    ".gif": lambda array: pillow(array, "GIF"),
    ".webp": lambda array: pillow(array, "WEBP", "RGB", lossless=True),
    ".pgm": lambda array: b"P5\n%d %d\n255\n" % array.shape[::-1] + array.tobytes(),
    ".ppm": lambda array: b"P6\n%d %d\n255\n" % array.shape[::-1] + np.dstack([array] * 3).tobytes(),
    ".pbm": lambda array: b"P4\n%d %d\n" % array.shape[::-1] + np.packbits(array < 128, axis=1).tobytes(),
}
"""Formats that hold an 8-bit map of any size."""


def scores(shape, seed=0):
    """Make scores that no codec turns around."""
    rng = np.random.default_rng(seed)
    truth = rng.random(shape) < 0.4
    truth.flat[0], truth.flat[-1] = True, truth.size == 1
    return truth, (truth * 150 + rng.integers(0, 90, shape)).astype(np.uint8)


def write(folder, name, data):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)


@pytest.mark.parametrize("extension", sorted(SOUND))
def test_damaged_files_are_named_and_the_others_counted(segbench, tmp_path, extension):
    sound = SOUND[extension]
    truth = np.tri(*decode(sound, Path(f"a{extension}"), role="prediction").array.shape, dtype=np.uint8)
    broken = {
        "cut": sound[: len(sound) * 2 // 3],
        "head": sound[:11],
        "noise": RNG.bytes(500),
        "zeros": bytes(500),
        "page": b"<!DOCTYPE html><html>404 not found</html>",
        "pickle": b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94.",
        "none": b"",
    }
    for name in ("sound", *broken):
        write(tmp_path / "gt", f"{name}.npy", npy(truth))
        write(tmp_path / "pred", f"{name}{extension}", broken.get(name, sound))
    checked = segbench("check", tmp_path / "gt", tmp_path / "pred", "--format", "json")
    assert checked.code == 1
    findings = json.loads(checked.out)["reports"][0]["findings"]
    (unreadable,) = [finding for finding in findings if finding["kind"] == "unreadable"]
    assert {Path(file["file"]).stem for file in unreadable["files"]} == set(broken)
    for options in ([], ["--no-check"]):
        counted = segbench("pixels", tmp_path / "gt", tmp_path / "pred", "--format", "json", *options)
        assert counted.code == 1
        (run,) = json.loads(counted.out)["runs"]
        assert (run["images"], run["failed"]) == (1, len(broken))
        assert "Traceback" not in counted.err


@pytest.mark.parametrize("extension", ENCODED)
def test_images_of_one_pixel_and_of_one_row(segbench, tmp_path, extension):
    for shape in [(1, 1), (1, LONG), (LONG, 1)]:
        truth, soft = scores(shape)
        name = f"{shape[0]}x{shape[1]}"
        write(tmp_path / "gt", f"{name}.npy", npy(truth.astype(np.uint8)))
        write(tmp_path / "pred", f"{name}{extension}", ENCODED[extension](soft))
    counted = segbench("pixels", tmp_path / "gt", tmp_path / "pred", "--positive", "1", "--format", "json")
    (run,) = json.loads(counted.out)["runs"]
    assert (counted.code, run["images"], run["failed"]) == (0, 3, 0)
    figures = run["summary"]
    assert figures["positives"] + figures["negatives"] == 2 * LONG + 1
    checked = segbench("check", tmp_path / "gt", tmp_path / "pred", "--positive", "1", "--format", "json")
    assert not json.loads(checked.out)["reports"][0]["errors"]


NAMES = [
    "with space",
    "quote'\"",
    "new\nline",
    "\x1b[2J",
    "[red]",
    "<b>&amp;",
    "%41",
    "-j",
    "no\udcfftext",
    "..",
    "a" * 200,
]


@pytest.mark.skipif(os.name == "nt", reason="such names are none there")
def test_names_that_hold_anything_stay_names(segbench, tmp_path):
    names = [f"{name}." if name == ".." else name for name in NAMES]
    for seed, name in enumerate(names):
        truth, soft = scores((9, 9), seed)
        write(tmp_path / "gt", f"{name}.png", pillow(truth.astype(np.uint8) * 255, "PNG"))
        write(tmp_path / "pred", f"{name}.png", pillow(soft, "PNG"))
    before = sorted(os.walk(os.fsencode(tmp_path)))
    out, file = tmp_path / "out", tmp_path / "out" / "r.segbench"
    out.mkdir()
    assert segbench("check", tmp_path / "gt", tmp_path / "pred").code == 0
    assert segbench("pixels", tmp_path / "gt", tmp_path / "pred", "-o", file).code == 0
    shown = segbench("show", file, "--per-image")
    assert "\x1b[2J" not in shown.out
    for words in (
        ["overlay", file, "-o", out / "pictures"],
        ["report", file, "-o", out / "r.html"],
        ["plot", file, "-o", out / "r.svg"],
    ):
        answer = segbench(*words)
        assert answer.code == 0, answer.err
    assert len(list((out / "pictures").rglob("*.png"))) == len([name for name in names if not name.startswith(".")])
    assert "<b>&amp;" not in (out / "r.html").read_text("utf-8")
    after = [entry for entry in sorted(os.walk(os.fsencode(tmp_path))) if not entry[0].startswith(os.fsencode(out))]
    assert [(place, files) for place, _, files in after] == [(place, files) for place, _, files in before]


@pytest.mark.skipif(os.name == "nt", reason="links take rights there")
def test_links_in_circles_to_nothing_and_to_devices(segbench, tmp_path):
    truth, soft = scores(SHAPE)
    for side, array in (("gt", truth.astype(np.uint8) * 255), ("pred", soft)):
        write(tmp_path / side, "a.png", pillow(array, "PNG"))
        (tmp_path / side / "loop").symlink_to(".")
        (tmp_path / side / "self.png").symlink_to("self.png")
        (tmp_path / side / "device.png").symlink_to("/dev/zero")
        os.mkfifo(tmp_path / side / "pipe.png")
    checked = segbench("check", tmp_path / "gt", tmp_path / "pred")
    assert checked.code == 1
    assert "self.png" in checked.out
    counted = segbench("pixels", tmp_path / "gt", tmp_path / "pred", "--format", "json")
    (run,) = json.loads(counted.out)["runs"]
    assert (counted.code, run["images"], run["failed"]) == (1, 1, 1)


@pytest.mark.parametrize("options", [[], ["--invert"], ["--scale", "255"], ["--scale", "sigmoid"]], ids=str)
def test_a_signalling_nan_is_refused_as_any_other(segbench, tmp_path, options):
    truth, found = scores(SHAPE)
    found = (found / 255).astype(np.float32)
    for name in ("sound", "odd"):
        np.save(tmp_path / f"{name}.npy", truth)
        write(tmp_path / "gt", f"{name}.npy", (tmp_path / f"{name}.npy").read_bytes())
        np.save(tmp_path / f"{name}.npy", found)
        write(tmp_path / "pred", f"{name}.npy", (tmp_path / f"{name}.npy").read_bytes())
        found.view(np.uint32)[3, 4] = 0x7FA00000
    answer = segbench("pixels", tmp_path / "gt", tmp_path / "pred", *options, "--format", "json")
    assert answer.code == 1
    ((image, failure),) = json.loads(answer.out)["runs"][0]["failures"].items()
    assert (image, failure["kind"], failure["values"]) == ("odd", "not-finite", {"nan": 1, "infinite": 0})
    assert "RuntimeWarning" not in answer.err


SIDE_FILES = [
    ["pixels", "gt", "pred", "--images"],
    ["pixels", "--pairs"],
    ["labels", "gt", "pred", "--palette"],
    ["labels", "gt", "pred", "--classes"],
    ["pixels", "gt", "pred", "--preset"],
]


class TestPipesAndDevices:
    """They may have no end, or nobody who writes to them."""

    @pytest.fixture(autouse=True)
    def here(self, tmp_path, monkeypatch):
        truth, found = scores(SHAPE)
        for folder, array in (("gt", truth * np.uint8(255)), ("pred", found)):
            write(tmp_path / folder, "a.png", pillow(array, "PNG"))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("segbench.loaders.listing.LARGEST_LIST", 2**20)

    @pytest.mark.parametrize("command", SIDE_FILES, ids=" ".join)
    def test_a_text_without_end_or_writer_is_refused(self, segbench, command):
        Path("zero.toml").symlink_to("/dev/zero")
        os.mkfifo("pipe.toml")
        for name, kind in (("zero.toml", "device"), ("pipe.toml", "pipe")):
            answer = segbench(*command, name)
            assert answer.code == 1
            insist(answer.error, "endless", path=name, found=kind)

    @pytest.mark.parametrize("places", ["pipe.png pred/a.png", "gt/a.png pipe.png", "pipe.zip pred", "gt pipe.png"])
    def test_a_pipe_in_place_of_images_is_named(self, segbench, places):
        os.mkfifo(next(place for place in places.split() if "pipe" in place))
        answer = segbench("pixels", *places.split())
        assert answer.code == 1
        insist(answer.error, "check-failed")
        assert within(answer.error, "endless") == {"found": "pipe"}
        assert re.search(r"pipe\.(png|zip)", answer.err)

    def test_a_pipe_in_a_list_is_named(self, segbench):
        os.mkfifo("pipe.png")
        Path("list.csv").write_text("name,ground_truth,prediction\na,gt/a.png,pipe.png\n")
        answer = segbench("pixels", "--pairs", "list.csv")
        insist(answer.error, "check-failed", path="list.csv", findings=("list",))
        with refused("wrong-lines", DataError, count=1) as caught:
            evaluate(pairs="list.csv")
        assert problems_of(caught.value) == [(2, "not-a-file", {"file": str(Path("pipe.png").absolute())})]
