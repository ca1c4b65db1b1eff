"""Archives and file lists from the command line and from Python: the same images, the same figures."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, write_folder, write_papers
from refusing import insist, within

from segbench import Classes, Pixels, evaluate, load_results
from segbench.aggregator.benchmark import evaluate_pairing
from segbench.aggregator.pools import process_pool
from segbench.cli.methods import places_by_name
from segbench.core.errors import ArgumentError
from segbench.inputs import files
from segbench.loaders import listing
from segbench.loaders.listing import list_folder
from segbench.loaders.pairing import Inputs
from segbench.loaders.source import read_bounded


def test_a_file_list_gives_the_figures_of_its_folders(tmp_path, segbench):
    rng = np.random.default_rng(0)
    truth = rng.random((9, 9)) > 0.5
    for name, array in [("g", truth), ("hed", truth * 0.5 + rng.random((9, 9))), ("rcf", rng.random((9, 9)))]:
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "1.npy", array)
    place = tmp_path / "all.csv"
    place.write_text("name,ground_truth,prediction:hed,prediction:rcf\n1,g/1.npy,hed/1.npy,rcf/1.npy\n")
    listed = evaluate(pairs=place, method="rcf")
    folders = evaluate(tmp_path / "g", tmp_path / "rcf")
    assert (listed.method, dict(listed.counts)) == ("rcf", dict(folders.counts))
    assert listed.signature == folders.signature
    assert listed.inputs == Inputs(pairs=str(place), column="prediction:rcf")
    results = tmp_path / "r.segbench"
    answer = segbench("pixels", "--pairs", place, "-o", results)
    assert answer.code == 0, answer.err
    runs = load_results(results)
    assert [run.method for run in runs] == ["hed", "rcf"]
    assert runs[1].signature == listed.signature
    assert runs[1].inputs == listed.inputs
    beside = segbench("pixels", tmp_path / "g", tmp_path / "hed", "--pairs", place).error
    insist(beside, "beside-pairs", beside=("GT and PRED",))
    for wrong in (["pixels"], ["pixels", tmp_path / "g"], ["pixels", tmp_path, tmp_path, "--pairs", place]):
        assert segbench(*wrong).code == 2
    insist(segbench("pixels").error, "no-files", settings={"pairs": None})
    assert segbench("pixels", "--pairs", tmp_path / "none.csv").code == 1
    for wrong in ({}, {"ground_truth": "g", "pairs": place}, {"pairs": place}):
        with pytest.raises(ArgumentError):
            evaluate(**wrong)


@pytest.mark.parametrize("verb", ["pixels", "check"])
def test_what_a_file_list_takes_the_place_of_is_named(archives, segbench, verb):
    place = archives / "list.csv"
    place.write_text("name,ground_truth,prediction:hed\n1,gt/first.png,pred/first.npy\n")
    for option, value in (("--field", archives / "gt"), ("--gt-pattern", "*x"), ("--negatives", "good/*")):
        answer = segbench(verb, "--pairs", place, option, value)
        assert answer.code == 2
        insist(answer.error, "beside-pairs", beside=(option,), or_preset="")
    answer = segbench(verb, "--pairs", place, "--preset", "drive")
    assert answer.code == 2
    patterns = ("--gt-pattern", "--pred-pattern", "--field-pattern")
    insist(answer.error, "beside-pairs", beside=patterns, or_preset=" and --preset")
    assert segbench(verb, "--pairs", place, "--preset", "duts").code == 0


@pytest.fixture
def archives(tmp_path):
    """Write ground truth and predictions as folders and as archives; return the folder that holds them."""
    for folder in write_papers(tmp_path):
        for form in ("zip", "tar", "gztar"):
            shutil.make_archive(str(folder), form, folder)
        shutil.make_archive(str(folder.parent / f"{folder.name}-top"), "tar", folder.parent, folder.name)
    return tmp_path


FORMS = [".zip", ".tar", ".tar.gz"]


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_gives_the_figures_and_the_signature_of_its_folder(archives, form):
    expected = evaluate(archives / "gt", archives / "pred")
    found = evaluate(archives / f"gt{form}", archives / f"pred{form}")
    assert (found.method, found.signature, found.summary) == (expected.method, expected.signature, expected.summary)
    assert dict(found.counts) == dict(expected.counts)
    mixed = evaluate(archives / "gt-top.tar", archives / "pred", gt_pattern="gt/*")
    assert mixed.signature == expected.signature


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pool", ["processes", "forks", "threads"])
def test_workers_of_any_kind_read_archives(archives, form, pool):
    expected = evaluate(archives / "gt", archives / "pred")
    warm = evaluate(archives / f"gt{form}", archives / f"pred{form}")
    pools = {
        "processes": lambda: process_pool(2),
        "forks": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("fork")),
        "threads": lambda: ThreadPoolExecutor(4),
    }
    if pool == "forks" and "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("nothing can be forked here")
    with pools[pool]() as executor:
        found = evaluate(archives / f"gt{form}", archives / f"pred{form}", executor=executor)
    assert found.summary == warm.summary == expected.summary


def test_a_run_goes_on_with_the_same_images_packed(archives, monkeypatch):
    file = archives / "r.segbench"
    first = evaluate(archives / "gt", archives / "pred", results=file)
    monkeypatch.setattr("segbench.protocols.pixels.settings.Pixels.count", None)
    again = evaluate(archives / "gt.zip", archives / "pred.tar.gz", results=file)
    assert not again.failed
    assert again.signature == first.signature
    assert again.summary == first.summary
    (run,) = load_results(file)
    assert run.inputs == Inputs(ground_truth=str(archives / "gt.zip"), prediction=str(archives / "pred.tar.gz"))


def test_names_of_methods(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b").mkdir()
    given = [
        "a=b",
        "pred.tar.gz",
        "x=other.zip",
        "b\udcff",
    ]
    assert places_by_name(given, "methods") == {
        "a=b": "a=b",
        "pred": "pred.tar.gz",
        "x": "other.zip",
        "b\\udcff": "b\udcff",
    }
    for wrong in (["=x"], ["x="], ["a.zip", "a.tar"]):
        with pytest.raises(ArgumentError):
            places_by_name(wrong, "methods")


def test_a_dot_in_the_name_of_a_folder_stays(segbench, archives):
    folders = [archives / name for name in ("net_v1.0", "net_v1.5", "net.png")]
    for folder in folders:
        shutil.copytree(archives / "pred", folder)
    runs = json.loads(segbench("pixels", archives / "gt", *folders, "--format", "json").out)["runs"]
    assert [run["method"] for run in runs] == ["net_v1.0", "net_v1.5", "net.png"]
    assert evaluate(archives / "gt", archives / "net_v1.5").method == "net_v1.5"


@pytest.mark.parametrize(
    ("place", "name"),
    [("b/step_0.25.zip", "step_0.25"), ("b/hed.png", "hed"), ("net_v1.0.zip", "net_v1.0"), ("a.b.npy", "a.b")],
)
def test_only_a_known_extension_is_left_out(place, name):
    assert list(places_by_name([place], "methods")) == [name]


def test_folders_whose_name_is_no_text(segbench, archives):
    odd = archives / "m\udcff"
    shutil.copytree(archives / "pred", odd)
    for folder in (archives / "gt", odd):
        (first,) = folder.glob("first.*")
        first.rename(folder / f"\udcfe{first.suffix}")
    file = archives / "r.segbench"
    answer = segbench("pixels", archives / "gt", odd, "-o", file)
    assert answer.code == 0, answer.err
    (run,) = load_results(file)
    assert run.method == r"m\udcff"
    assert r"\udcfe" in run.counts
    assert run.inputs.prediction == str(odd)
    assert r"m\udcff" in segbench("show", file).out
    assert r"m\udcff" in json.loads(segbench("show", file, "--format", "json").out)["runs"][0]["method"]


def test_an_archive_is_counted_whose_first_images_do_not_fit(segbench, tmp_path):
    names = [f"{k}.npy" for k in range(6)]
    write_folder(tmp_path / "gt", dict.fromkeys(names, FIRST_TRUTH))
    write_folder(tmp_path / "pred", {name: FIRST_SCORES[: 4 - (k + 1) % 2] for k, name in enumerate(names)})
    for name in ("gt", "pred"):
        shutil.make_archive(str(tmp_path / name), "zip", tmp_path / name)
    for form in ("", ".zip"):
        answer = segbench("pixels", tmp_path / f"gt{form}", tmp_path / f"pred{form}", "--format", "json", "-j", 1)
        assert answer.code == 1
        (run,) = json.loads(answer.out)["runs"]
        assert (run["images"], run["failed"]) == (3, 3)


def test_each_place_is_listed_once_a_run(segbench, tmp_path, monkeypatch):
    maps = {f"class_{label}/{k}.npy": FIRST_SCORES for label in (0, 1) for k in range(2)}
    gt = write_folder(tmp_path / "gt", {f"{k}.npy": FIRST_TRUTH for k in range(2)})
    a, b = (write_folder(tmp_path / name, maps) for name in "ab")
    seen = []
    monkeypatch.setattr(listing, "list_folder", lambda folder: (seen.append(folder.name), list_folder(folder))[1])
    assert segbench("pixels", gt, a, b, "--classes", "0,1", "-j", 1).code == 0
    assert sorted(seen) == ["a", "b", "gt"]
    seen.clear()
    evaluate(gt, a, Classes(labels=[0, 1]))
    evaluate(gt, a, Classes(labels=[0, 1]))
    assert sorted(seen) == ["a", "a", "gt", "gt"]


@pytest.mark.parametrize("form", ["", ".zip"])
def test_workers_in_another_folder_find_relative_places(archives, monkeypatch, form):
    with process_pool(1) as pool:
        pool.submit(os.chdir, "/").result()
        monkeypatch.chdir(archives)
        pairing = files.find_files(Inputs(ground_truth=f"gt{form}", prediction=f"pred{form}"), Pixels())
        result = evaluate_pairing(pairing, Pixels(), method="pred", executor=pool)
    assert (len(result.counts), result.failed) == (2, {})
    assert result.inputs.prediction == str(archives / f"pred{form}")


class TestAListFromAPipe:
    LIST = "name,ground_truth,prediction,prediction:inverse\n1,gt/first.png,pred/first.npy,gt/first.png\n"

    @pytest.fixture
    def listed(self, archives, monkeypatch):
        (archives / "list.csv").write_text(self.LIST)
        monkeypatch.chdir(archives)
        return archives

    @pytest.fixture
    def opened(self, listed):
        """Open the list as a file, or as a pipe that holds it, at a number, as a shell does for what it starts."""
        with ExitStack() as later:

            def open_at(number, text, *, pipe=True):
                if pipe:
                    source, end = os.pipe()
                    os.write(end, text.encode())
                    os.close(end)
                else:
                    source = os.open(listed / "list.csv", os.O_RDONLY)
                if number == 0:
                    kept = os.dup(0)
                    later.callback(os.close, kept)
                    later.callback(os.dup2, kept, 0)
                else:
                    later.callback(os.close, number)
                if source != number:  # else it was given that number already
                    os.dup2(source, number)
                    os.close(source)

            yield open_at

    @pytest.mark.parametrize("place", ["/dev/stdin", "/dev/fd/63", "/dev/stdin < list.csv", "/proc/self/fd/0"])
    @pytest.mark.parametrize("verb", ["check", "pixels"])
    def test_is_read_once(self, segbench, opened, verb, place):
        opened(63 if place == "/dev/fd/63" else 0, self.LIST, pipe="<" not in place)
        answer = segbench(verb, "--format", "json", "--pairs", place.split()[0])
        assert answer.code == 0, answer.err
        found = json.loads(answer.out)
        assert [each["method"] for each in found.get("runs") or found["reports"]] == ["stdin", "inverse"]

    @pytest.mark.usefixtures("listed")
    def test_is_read_once_from_a_shell(self):
        command = f"{sys.executable} -m segbench pixels --format json --pairs <(cat list.csv)"
        answer = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=120)
        assert [run["method"] for run in json.loads(answer.stdout)["runs"]] == ["stdin", "inverse"]

    @pytest.mark.usefixtures("listed")
    def test_is_waited_for_where_it_takes_its_time(self):
        source, end = os.pipe()
        writer = threading.Timer(0.3, lambda: (os.write(end, b"late"), os.close(end)))
        writer.start()
        assert read_bounded(f"/dev/fd/{source}", 10, "", "") == b"late"
        writer.join()
        os.close(source)

    def test_its_pictures_say_why_there_are_none(self, segbench, opened):
        opened(0, self.LIST)
        assert segbench("pixels", "--pairs", "/dev/stdin", "-o", "r.segbench").code == 0
        answer = segbench("overlay", "r.segbench", "-o", "out")
        assert answer.code == 1
        insist(answer.error, "unknown-files", path="stdin", source="pipe")
        assert segbench("pixels", "gt", "stdin=pred", "gt", "--tuning-results", "r.segbench").code == 2


def test_a_url_is_to_be_downloaded_or_mounted(segbench, archives):
    answer = segbench("pixels", archives / "gt", "https://host/pred")
    assert answer.code == 1
    insist(answer.error, "check-failed", findings=("folder",))
    assert within(answer.error, "folder")["error"] == "url"
