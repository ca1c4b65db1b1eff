"""Other systems: line ends and marks of Windows, long paths, and workers that are not forked."""

import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from cases import write_folder, write_papers

from segbench import evaluate, process_pool

# What a text file says, and the command that reads it; {} is the folder of the test.
TEXTS = {
    "images.txt": ("# some\nfirst\n", "pixels {}/gt {}/pred --images {}/images.txt"),
    "pairs.csv": (
        "name,ground_truth,prediction\na,gt/first.png,pred/first.npy\nb,gt/second.png,pred/second.npy\n",
        "pixels --pairs {}/pairs.csv",
    ),
    "groups.csv": ("name,weather\nfirst,wet\nsecond,dry\n", "pixels {}/gt {}/pred --group-by {}/groups.csv:weather"),
    "mine.toml": ('title = "Mine"\n[layout]\nground_truth = "gt"\n', "run {}/mine.toml {} {}/pred"),
    "classes.txt": ("0 background\n1 cell\n", "labels {}/labels {}/labels --classes {}/classes.txt"),
    "defects_config.json": (
        '[{"defect_name": "x", "pixel_value": 255, "saturation_threshold": 1, "relative_saturation": true}]\n',
        "anomalies {}/gt {}/pred --defects {}/defects_config.json",
    ),
    "bsds/eval_bdry.txt": ("0.5 0.6 0.7 0.646154 0.6 0.7 0.646154 0.5\n", "import {}/bsds -o {}/imported.segbench"),
    "bsds/eval_bdry_thr.txt": (
        "0.25 0.9 0.4 0.553846\n0.5 0.6 0.7 0.646154\n",
        "import {}/bsds -o {}/imported.segbench",
    ),
}


@pytest.fixture
def folder(tmp_path):
    write_papers(tmp_path)
    write_folder(tmp_path / "labels", {"a.png": np.eye(4, dtype=np.uint8)})
    for name, (text, _) in TEXTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", TEXTS)
def test_texts_may_have_the_line_ends_and_the_mark_of_windows(name, folder, segbench):
    command = [part.format(folder) for part in TEXTS[name][1].split()]
    expected = segbench(*command)
    assert expected.code == 0, expected.err
    mark = b"" if name.startswith("bsds") else b"\xef\xbb\xbf"  # those are ASCII
    (folder / name).write_bytes(mark + (folder / name).read_bytes().replace(b"\n", b"\r\n"))
    (folder / "imported.segbench").unlink(missing_ok=True)
    found = segbench(*command)
    assert found.code == 0
    assert without_digest(found.out) == without_digest(expected.out)


def without_digest(text):
    """Leave out the digest of published counts, which is that of their files."""
    return re.sub(r"data:\w+", "", text)


def test_texts_are_read_where_only_pipes_can_be_set_to_block(folder, segbench, monkeypatch):
    def refuse(_file, _blocking):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr("os.set_blocking", refuse)
    assert segbench("labels", folder / "labels", folder / "labels", "--classes", folder / "classes.txt").code == 0


def test_paths_longer_than_260_characters(tmp_path, segbench, monkeypatch):
    deep = tmp_path.joinpath(*["a folder of a data set with a long name"] * 8)
    write_papers(deep)
    assert len(str(deep / "gt")) > 260
    monkeypatch.chdir(tmp_path)
    saved = deep / "r.segbench"
    for command in (
        ("check", deep / "gt", deep / "pred"),
        ("pixels", deep / "gt", deep / "pred", "-o", saved, "-j", "2"),
        ("report", saved, "-o", deep / "report.html"),
        ("overlay", saved, "-o", deep / "overlays"),
    ):
        assert segbench(*command).code == 0, command
    assert len(list((deep / "overlays").rglob("*.png"))) == 2


def test_pictures_of_images_whose_names_are_longer_than_a_file_name(tmp_path, segbench):
    names = ["/".join(["Straße bei Nacht und Regen"] * 12 + [end]) for end in ("a", "b")]
    write_folder(tmp_path / "gt", {f"{name}.png": np.eye(4, dtype=np.uint8) * 255 for name in names})
    write_folder(tmp_path / "pred", {f"{name}.png": np.eye(4, dtype=np.uint8) * 99 for name in names})
    assert segbench("pixels", tmp_path / "gt", tmp_path / "pred", "-o", tmp_path / "r.segbench").code == 0
    assert segbench("overlay", tmp_path / "r.segbench", "-o", tmp_path / "out").code == 0
    drawn = sorted((tmp_path / "out").rglob("*.png"))
    assert len(drawn) == 2
    assert all(len(os.fsencode(path.name)) <= 255 for path in drawn)


@pytest.mark.parametrize("device", ["nul", "COM1", "aux.v2"])
def test_names_of_devices_of_windows_are_no_files(device, tmp_path, segbench):
    write_folder(tmp_path / "gt", {f"{device}.png": np.eye(4, dtype=np.uint8) * 255})
    write_folder(tmp_path / "pred", {f"{device}.png": np.eye(4, dtype=np.uint8) * 99})
    assert segbench("pixels", tmp_path / "gt", tmp_path / "pred", "-o", tmp_path / "r.segbench").code == 0
    assert segbench("overlay", tmp_path / "r.segbench", "-o", tmp_path / "out").code == 0
    (drawn,) = (tmp_path / "out").rglob("*.png")
    assert drawn.name == f"%{ord(device[0]):X}{device[1:]}.png"


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=pytest.mark.slow if method == "spawn" else ())
        for method in multiprocessing.get_all_start_methods()
    ],
)
def test_workers_started_in_any_way_count_the_same(folder, method):
    alone = evaluate(folder / "gt", folder / "pred")
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert evaluate(folder / "gt", folder / "pred", executor=pool).summary == alone.summary


WITHOUT_FORK = """
import multiprocessing, multiprocessing.context, os, signal, sys

for module, names in {os: ["fork", "forkpty", "sched_getaffinity", "O_NONBLOCK"], signal: ["pthread_sigmask"]}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
sys.modules["fcntl"] = sys.modules["resource"] = None
for method in ("fork", "forkserver"):
    multiprocessing.context._concrete_contexts.pop(method, None)
multiprocessing.get_all_start_methods = lambda: ["spawn"]

if __name__ == "__main__":
    import segbench

    gt, pred = sys.argv[1:]
    with segbench.process_pool(2) as pool:
        print(segbench.evaluate(gt, pred, executor=pool).summary["ods_f"])
"""


@pytest.mark.slow
def test_workers_where_nothing_can_be_forked(folder):
    program = folder / "program.py"
    program.write_text(WITHOUT_FORK, "utf-8")
    command = [sys.executable, str(program), str(folder / "gt"), str(folder / "pred")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    with process_pool(2) as pool:
        assert float(done.stdout) == evaluate(folder / "gt", folder / "pred", executor=pool).summary["ods_f"]
