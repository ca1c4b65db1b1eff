"""Output files: complete or as they were before, and never in place of an input."""

import errno
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, write_folder
from refusing import insist

WRITERS = {
    "pdf": ["plot", "r.segbench", "-o", "out/x.pdf", "--only", "protocol:pixels"],
    "png": ["plot", "r.segbench", "-o", "out/x.png", "--only", "protocol:pixels"],
    "html": ["report", "r.segbench", "-o", "out/x.html", "--no-intervals"],
    "bsds": ["export", "r.segbench", "--bsds", "out", "--only", "protocol:boundaries"],
    "overlay": ["overlay", "r.segbench", "-o", "out", "--only", "protocol:pixels"],
    "nms": ["nms", "pred", "out"],
}


@pytest.fixture
def here(tmp_path, monkeypatch, segbench):
    root = tmp_path
    monkeypatch.chdir(root)
    write_folder(root / "gt", {"first.png": FIRST_TRUTH * 255, "second.png": SECOND_TRUTH * 255})
    soft = {"first.png": FIRST_SCORES, "second.png": SECOND_SCORES}
    write_folder(root / "pred", {name: (scores * 255).astype("uint8") for name, scores in soft.items()})
    for protocol in ("pixels", "boundaries"):
        assert segbench(protocol, "gt", "pred", "-o", "r.segbench").code == 0
    database = sqlite3.connect("r.segbench")
    database.execute("PRAGMA journal_mode = DELETE")  # with a write-ahead log, even readers write
    database.close()
    (root / "out").mkdir()
    return root


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("arguments", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_leaves_what_was_there(here, segbench, small_files, arguments):
    assert segbench(*arguments).code == 0
    written = contents(here / "out")
    assert written
    for path, data in written.items():
        older = data if path.suffix == ".txt" else data + b"\nan older version"  # which has no place for a mark
        (here / "out" / path).write_bytes(older)
    before = contents(here / "out")
    with small_files(10):
        answer = segbench(*arguments)
    assert answer.code == 1
    assert os.strerror(errno.EFBIG) in answer.err
    if arguments[0] != "overlay":  # which goes on with the other pictures
        insist(answer.error, "unwritable", reason=os.strerror(errno.EFBIG))
    assert contents(here / "out") == before


def test_links_and_permissions_stay(here, segbench):
    target = here / "out" / "target.svg"
    assert segbench("plot", "r.segbench", "-o", target, "--only", "protocol:pixels").code == 0
    target.write_bytes(target.read_bytes() + b"<!-- older -->")
    target.chmod(0o640)
    link = here / "out" / "link.svg"
    link.symlink_to("target.svg")
    assert segbench("plot", "r.segbench", "-o", "out/link.svg", "--only", "protocol:pixels").code == 0
    assert link.is_symlink()
    assert b"older" not in target.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


BY_HAND = b"notes on what segbench wrote"  # a name in a text is no mark
IN_THE_WAY = {
    "plot": (["plot", "r.segbench", "--only", "protocol:pixels"], "pr.pdf"),
    "report": (["report", "r.segbench", "--only", "protocol:pixels"], "report.html"),
    "overlay": ([*WRITERS["overlay"]], "out/pred/second.png"),
    "nms": (["nms", "pred", "out"], "out/second.png"),
    "export": ([*WRITERS["bsds"]], "out/eval_bdry.txt"),
    "run": (["pixels", "gt", "pred", "-o", "new.segbench"], "new.segbench"),
    "run, its log": (["pixels", "gt", "pred", "-o", "new.segbench"], "new.segbench-wal"),
    "merge": (["merge", "r.segbench", "-o", "new.segbench"], "new.segbench"),
    "import": (["import", "official", "-o", "new.segbench"], "new.segbench"),
    "demo, its page": (["demo", "-o", "out"], "out/report.html"),
    "demo, its results": (["demo", "-o", "out"], "out/results.segbench"),
    "completion": (["--install-completion"], ".local/share/segbench/complete.bash"),
}


@pytest.mark.parametrize(("arguments", "name"), IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_what_segbench_did_not_write_is_kept_and_nothing_is_written(here, segbench, monkeypatch, arguments, name):
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert segbench("export", "r.segbench", "--bsds", "official", "--only", "protocol:boundaries").code == 0
    (here / name).parent.mkdir(parents=True, exist_ok=True)
    (here / name).write_bytes(BY_HAND)
    before = contents(here)
    answer = segbench(*arguments)
    assert answer.code == 2
    insist(answer.error, "foreign")
    assert answer.error.values["path"].endswith(name)
    assert contents(here) == before


def test_ground_truth_and_predictions_in_the_order_of_other_verbs(here, segbench):
    before = contents(here / "pred")
    answer = segbench("nms", "gt", "pred")
    assert answer.code == 2
    insist(answer.error, "foreign", files=2)
    assert answer.error.values["path"] == "pred/first.png"
    assert contents(here / "pred") == before


@pytest.mark.parametrize("arguments", WRITERS.values(), ids=WRITERS)
def test_what_segbench_wrote_is_written_again(here, segbench, arguments):
    for _ in range(2):
        assert segbench(*arguments).code == 0
    assert contents(here / "out")


def test_a_folder_in_place_of_a_picture_keeps_the_others_from_being_written(here, segbench):
    (here / "out" / "second.png").mkdir()
    assert segbench("nms", "pred", "out").code == 2
    assert contents(here / "out") == {}


def test_a_database_of_another_program_stays_as_it_is(here, segbench):
    database = sqlite3.connect("notes.db")
    database.execute("CREATE TABLE notes (text)")
    database.commit()
    database.close()
    before = (here / "notes.db").read_bytes()
    answer = segbench("pixels", "gt", "pred", "-o", "notes.db")
    assert answer.code == 2
    insist(answer.error, "foreign")
    assert answer.error.values["path"].endswith("notes.db")
    assert (here / "notes.db").read_bytes() == before


@pytest.mark.parametrize(("verb", "name"), [("plot", "pr.pdf"), ("report", "report.html")])
def test_a_file_without_a_name_is_written_again(here, segbench, verb, name):
    for _ in range(2):
        assert segbench(verb, "r.segbench", "--only", "protocol:pixels").code == 0
    assert (here / name).stat().st_size > 1000


def test_a_new_file_has_the_permissions_of_any_other(here, segbench):
    assert segbench("plot", "r.segbench", "-o", "out/x.svg", "--only", "protocol:pixels").code == 0
    (here / "out" / "other").write_bytes(b"")
    assert (here / "out" / "x.svg").stat().st_mode == (here / "out" / "other").stat().st_mode


def test_pipes_are_written_to(here, segbench):
    pipe = here / "out" / "x.svg"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert segbench("plot", "r.segbench", "-o", pipe, "--only", "protocol:pixels").code == 0
    reader.join(20)
    assert b"<svg" in read[0]
    assert pipe.is_fifo()


@pytest.mark.slow
def test_links_to_the_standard_output_are_written_to(here):
    (here / "x.svg").symlink_to("/dev/stdout")
    command = [sys.executable, "-m", "segbench", "plot", "r.segbench", "-o", "x.svg", "--only", "protocol:pixels"]
    answer = subprocess.run(command, capture_output=True, check=True)
    assert b"<svg" in answer.stdout


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("verb", ["plot", "report"])
def test_a_folder_that_is_not_there_is_refused_before_anything_is_drawn(segbench, verb):
    answer = segbench(verb, "r.segbench", "-o", "missing/x.html", "--only", "protocol:pixels")
    assert answer.code == 1
    insist(answer.error, "no-folder", path="missing/x.html")


@pytest.mark.skipif(os.name == "nt", reason="folders are not protected like this there")
def test_a_folder_that_takes_no_files_is_refused_before_anything_is_drawn(open_place, as_nobody, segbench):
    results = open_place / "r.segbench"
    assert segbench("pixels", open_place / "data" / "gt", open_place / "data" / "pred", "-o", results).code == 0
    assert segbench("report", results, "-o", open_place / "x.html").code == 0  # loads modules, which nobody may read
    (open_place / "x.html").unlink()
    open_place.chmod(0o555)
    with as_nobody():
        answer = segbench("report", results, "-o", open_place / "x.html")
    open_place.chmod(0o755)
    assert answer.code == 1
    insist(answer.error, "unwritable", path=str(open_place / "x.html"))


@pytest.mark.skipif(os.name == "nt", reason="folders are not protected like this there")
def test_files_in_folders_that_take_no_new_ones_are_written_to(open_place, as_nobody, segbench):
    results, picture = open_place / "r.segbench", open_place / "out" / "x.svg"
    assert segbench("pixels", open_place / "data" / "gt", open_place / "data" / "pred", "-o", results).code == 0
    picture.parent.mkdir()
    assert segbench("plot", results, "-o", picture).code == 0  # also loads modules, which nobody may read
    picture.write_bytes(picture.read_bytes() + b"<!-- older -->")
    picture.chmod(0o666)
    picture.parent.chmod(0o555)
    with as_nobody():
        assert segbench("plot", results, "-o", picture).code == 0
    picture.parent.chmod(0o755)
    assert b"older" not in picture.read_bytes()


@pytest.mark.parametrize("kind", ["html", "pdf", "png", "svg"])
def test_results_files_are_not_overwritten_whatever_their_name(here, segbench, kind):
    name = f"out/z.{kind}"
    shutil.copy("r.segbench", name)
    before = (here / name).read_bytes()
    answer = segbench("report" if kind == "html" else "plot", "r.segbench", "-o", name, "--only", "protocol:pixels")
    assert answer.code == 2
    insist(answer.error, "results-file")
    assert answer.error.values["path"] == name
    assert (here / name).read_bytes() == before
    assert segbench("show", name).code == 0


def test_the_results_file_that_is_read_is_not_overwritten(here, segbench):
    (here / "r.segbench").rename("z.html")
    assert segbench("report", "z.html", "-o", "z.html").code == 2
    (here / "link.html").symlink_to("z.html")
    assert segbench("report", "z.html", "-o", "link.html").code == 2
    assert segbench("show", "z.html").code == 0


@pytest.mark.parametrize("spelt", ["the same", "through a link", "in other letters"])
def test_pictures_do_not_overwrite_what_was_counted(here, segbench, spelt):
    before = contents(here / "pred")
    output = "." if spelt == "the same" else "out"
    if spelt == "through a link":
        (here / "out" / "pred").symlink_to(here / "pred")
    if spelt == "in other letters":  # one file by two paths, as PRED/first.png is where upper and lower case are one
        (here / "out" / "pred").mkdir()
        (here / "out" / "pred" / "first.png").hardlink_to(here / "pred" / "first.png")
    answer = segbench("overlay", "r.segbench", "-o", output, "--only", "protocol:pixels")
    assert answer.code == 2
    insist(answer.error, "input-file")
    assert answer.error.values["path"].endswith("pred/first.png")
    assert contents(here / "pred") == before


def test_suppressed_maps_of_names_that_are_one_file_do_not_overwrite_each_other(here, segbench):
    (here / "pred" / "Second.png").write_bytes((here / "pred" / "first.png").read_bytes())
    (here / "out" / "first.png").symlink_to("Second.png")  # as a.png and A.png are where upper and lower case are one
    answer = segbench("nms", "pred", "out")
    assert answer.code == 1
    insist(answer.error, "unusable-files", path="pred", files=1)
    failure = answer.error.values["failures"]
    assert (failure.kind, failure.values["path"]) == ("overwrites", "pred/first.png")
    assert failure.values["what"].values == {"path": "out/first.png"}


def test_suppressed_maps_do_not_overwrite_the_maps(here, segbench):
    before = contents(here / "pred")
    (here / "out" / "first.png").symlink_to(here / "pred" / "first.png")
    answer = segbench("nms", "pred", "out")
    assert answer.code == 2
    insist(answer.error, "input-file")
    assert answer.error.values["path"] == "out/first.png"
    assert contents(here / "pred") == before
