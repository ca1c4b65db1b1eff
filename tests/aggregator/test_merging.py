import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from cases import FIRST_SCORES, write_folder
from refusing import refused

from segbench import (
    ArgumentError,
    Contours,
    DataError,
    FailedImages,
    evaluate,
    export_overlays,
    import_bsds,
    load_results,
    merge_results,
)
from segbench.aggregator.store import ResultsFile
from segbench.core.messages import Message, NoteWarning


def part(root, papers, image):
    """Count one of the two images alone."""
    gt, pred = papers
    folders = [root / image / "gt", root / image / "pred"]
    for folder, source in zip(folders, (gt / f"{image}.png", pred / f"{image}.npy"), strict=True):
        folder.mkdir(parents=True)
        shutil.copy(source, folder)
    evaluate(*folders, results=root / f"{image}.segbench")
    return root / f"{image}.segbench"


def test_images_counted_in_parts_are_as_if_counted_together(papers, tmp_path):
    parts = [part(tmp_path, papers, image) for image in ("second", "first")]
    merge_results(parts, tmp_path / "all.segbench", join=["pred"])
    (merged,) = load_results(tmp_path / "all.segbench")
    together = evaluate(*papers)
    assert dict(merged.summary) == dict(together.summary)
    assert merged.signature == together.signature
    assert dict(merged.counts) == dict(together.counts)


def test_methods_stand_side_by_side_and_published_curves_too(papers, tmp_path):
    evaluate(*papers, method="a", results=tmp_path / "a")
    evaluate(*papers, method="b", results=tmp_path / "b")
    np.savetxt(tmp_path / "eval_bdry_thr.txt", [[0.3, 0.9, 0.5, 0.642857], [0.6, 0.5, 0.9, 0.642857]])
    (tmp_path / "eval_bdry.txt").write_text("0.45 0.7 0.7 0.7 0.72 0.71 0.714965 0.5")
    (published,) = import_bsds(tmp_path, method="c", results=tmp_path / "c")
    merge_results([tmp_path / "a", tmp_path / "b", tmp_path / "c"], tmp_path / "all")
    kept = load_results(tmp_path / "all")
    assert [result.method for result in kept] == ["a", "b", "c"]
    assert kept[2].signature == published.signature


def test_pictures_are_drawn_of_all_parts_and_notes_kept(papers, tmp_path):
    for image in ("first", "second"):
        (papers[0] / f"{image}.txt").write_text("left out")
    parts = [part(tmp_path, papers, image) for image in ("first", "second")]
    (merged,) = merge_results(parts, tmp_path / "all.segbench", join=["pred"])
    assert merged.inputs == load_results(tmp_path / "all.segbench")[0].inputs
    assert export_overlays([merged], tmp_path / "pictures") == []
    assert sorted(path.name for path in tmp_path.glob("pictures/**/*.png")) == ["first.png", "second.png"]
    merge_results([tmp_path / "all.segbench"], tmp_path / "again.segbench")
    assert load_results(tmp_path / "again.segbench")[0].inputs == merged.inputs


def test_an_image_that_failed_in_one_part_is_taken_from_another(papers, tmp_path):
    good = (papers[1] / "first.npy").read_bytes()
    (papers[1] / "first.npy").write_bytes(b"junk")
    with pytest.warns(FailedImages):
        evaluate(*papers, results=tmp_path / "one")
    (papers[1] / "first.npy").write_bytes(good)
    whole = evaluate(*papers, results=tmp_path / "two")
    for order in (["one", "two"], ["two", "one"]):
        (merged,) = merge_results([tmp_path / name for name in order], tmp_path / "-".join(order))
        assert merged.signature == whole.signature
        assert not merged.failed


def test_runs_cut_short_can_be_left_out(papers, tmp_path):
    def stop(_done, _total):
        raise KeyboardInterrupt

    evaluate(*papers, method="whole", results=tmp_path / "one")
    with pytest.raises(KeyboardInterrupt):
        evaluate(*papers, method="cut", results=tmp_path / "one", progress=stop)
    with refused("incomplete-run", DataError, settings={"leave_out": ("cut",)}, method="cut"):
        merge_results([tmp_path / "one"], tmp_path / "all")
    (merged,) = merge_results([tmp_path / "one"], tmp_path / "all", leave_out=["cut"])
    assert merged.method == "whole"


def test_parts_of_one_folder_are_joined_without_asking_and_so_are_copies_that_share_an_image(papers, tmp_path):
    for folder, name in zip(papers, ("first.png", "first.npy"), strict=True):
        shutil.copy(folder / name, folder / name.replace("first", "third"))
    copy = shutil.copytree(papers[1], tmp_path / "copy" / "pred")
    for name, folder, images in (("a", papers[1], ["first"]), ("b", papers[1], ["second"]), ("c", copy, ["!first"])):
        evaluate(papers[0], folder, images=images, results=tmp_path / name)
    for order in ("abc", "cba"):
        (merged,) = merge_results([tmp_path / name for name in order], tmp_path / order)
        assert list(merged.counts) == ["first", "second", "third"]


def halves(tmp_path, **of_each):
    """Count label maps in two parts, each with its own value of a setting."""
    truth, wrong = np.zeros((4, 5), np.uint8), np.zeros((4, 5), np.uint8)
    truth[:2], wrong[:3] = 1, 1
    maps = {"gt": truth, "net": wrong}
    folders = [write_folder(tmp_path / side, {"a.png": part, "b.png": part}) for side, part in maps.items()]
    ((name, values),) = of_each.items()
    for image, value in zip("ab", values, strict=True):
        rules = Contours(classes=2, **{name: value})
        evaluate(*folders, rules, images=[image], method="net", results=tmp_path / image)
    return [tmp_path / "a", tmp_path / "b"]


@pytest.mark.parametrize(
    ("name", "values", "texts"),
    [
        ("background", ((), 0), ("none", "0")),
        ("hd95", ("union", "larger"), ("union", "larger")),
        ("empty", ("undefined", "diagonal"), ("undefined", "diagonal")),
        ("spacing", (0.7, 1), ("0.7", "1")),
    ],
)
def test_parts_with_settings_of_which_a_run_has_one_take_the_first_and_say_how_to_show_others(
    tmp_path, segbench, name, values, texts
):
    files, both = halves(tmp_path, **{name: values}), tmp_path / "both"
    answer = segbench("merge", *files, "-o", both)
    assert answer.code == 0
    command = f"segbench show {both} --{name} {texts[1]}"
    assert f"; to show it with others: {command}\n" in answer.err
    (merged,) = load_results(both)
    assert merged.signature == merged.with_settings(**{name: values[0]}).signature
    shown = json.loads(segbench(*command.split()[1:], "--format", "json").out)["runs"][0]
    assert shown["signature"] == merged.with_settings(**{name: values[1]}).signature != merged.signature
    with pytest.warns(NoteWarning) as warned:
        merge_results(files, tmp_path / "again")
    (said,) = (warning.message.args[0] for warning in warned)
    assert (said.kind, said.values["method"], said.values["differing"]) == ("measured-apart", "net", (name,))
    assert (said.values["taken"], said.values["first"]) == (f"{name}:{texts[0]}", str(files[0]))
    assert said.values["other"].python == f"result.with_settings({name}=...)"


def test_parts_with_one_value_or_with_lists_that_are_joined_have_no_note(tmp_path, segbench):
    files = halves(tmp_path, nsd=((1,), (2,)))
    answer = segbench("merge", *files, "-o", tmp_path / "both")
    assert "note" not in answer.err
    (merged,) = load_results(tmp_path / "both")
    assert merged.rules.nsd == (1, 2)


class TestRefusals:
    def test_two_folders_under_one_name(self, papers, tmp_path):
        other = write_folder(tmp_path / "weak", {"second.npy": np.zeros((4, 4))})
        evaluate(*papers, images=["first"], method="net", results=tmp_path / "one")
        evaluate(papers[0], other, images=["second"], method="net", results=tmp_path / "two")
        both = [tmp_path / "one", tmp_path / "two"]
        places = {"method": "net", "here": str(other), "known": str(both[0]), "there": str(papers[1])}
        with refused(
            "other-predictions", DataError, path=str(both[1]), settings={"join": ("net",)}, **places
        ) as raised:
            merge_results(both, tmp_path / "all")
        assert raised.value.hint.values["other"].python == "method='net-2'"
        assert not (tmp_path / "all").exists()
        (merged,) = merge_results(both, tmp_path / "all", join=["net"])
        assert len(merged.counts) == 2
        evaluate(papers[0], other, images=["second"], method="net-2", results=tmp_path / "three")
        found = merge_results([tmp_path / "one", tmp_path / "three"], tmp_path / "apart")
        assert [(result.method, len(result.counts)) for result in found] == [("net", 1), ("net-2", 1)]

    def test_a_method_to_join_that_is_in_no_file(self, papers, tmp_path):
        evaluate(*papers, results=tmp_path / "one")
        with refused("unknown-runs", ArgumentError, given=("'nte'",), known=("'pred'",)):
            merge_results([tmp_path / "one"], tmp_path / "all", join=["nte"])

    def test_an_image_counted_with_other_files_than_in_the_second_part(self, papers, tmp_path):
        for part, image in (("one", "first"), ("two", "second")):
            evaluate(*papers, images=[image], results=tmp_path / part)
        write_folder(papers[1], {"second.npy": FIRST_SCORES / 2})
        evaluate(*papers, images=["second"], results=tmp_path / "three")
        first_two = f"{tmp_path / 'one'} and {tmp_path / 'two'}"
        with refused("other-files", DataError, path=str(tmp_path / "three"), image="second", known=first_two):
            merge_results([tmp_path / part for part in ("one", "two", "three")], tmp_path / "all")

    def test_an_image_counted_with_other_files(self, papers, tmp_path):
        evaluate(*papers, results=tmp_path / "one")
        write_folder(papers[1], {"first.npy": FIRST_SCORES / 2})
        evaluate(*papers, results=tmp_path / "two")
        known = str(tmp_path / "one")
        with refused("other-files", DataError, path=str(tmp_path / "two"), image="first", method="pred", known=known):
            merge_results([tmp_path / "one", tmp_path / "two"], tmp_path / "all")
        assert not (tmp_path / "all").exists()

    def test_a_part_stopped_before_its_first_image(self, papers, tmp_path):
        evaluate(*papers, results=tmp_path / "one")
        with ResultsFile(tmp_path / "two", create=True):
            pass
        with refused("nothing-saved", DataError, path=str(tmp_path / "two")):
            merge_results([tmp_path / "one", tmp_path / "two"], tmp_path / "all")

    def test_a_file_that_exists(self, papers, tmp_path):
        evaluate(*papers, results=tmp_path / "one")
        with refused("exists", ArgumentError) as raised:
            merge_results([tmp_path / "one"], tmp_path / "one")
        assert raised.value.values["path"] == str(tmp_path / "one")

    def test_another_version(self, papers, tmp_path, monkeypatch):
        first = part(tmp_path, papers, "first")
        monkeypatch.setattr("segbench.aggregator.records.__version__", "0.0.7")
        with refused("other-run", DataError, method="pred", known=str(first)):
            merge_results([first, part(tmp_path, papers, "second")], tmp_path / "all")


KILLED_AT_THE_SECOND_RUN = """
import os, sys
from segbench import merge_results
from segbench.aggregator import merging

write, written = merging._finish, []

def killed(*run):
    if written:
        os._exit(9)
    written.append(write(*run))

merging._finish = killed
merge_results(sys.argv[1:3], sys.argv[3])
"""


def test_a_merge_that_is_killed_leaves_nothing_that_looks_complete(papers, tmp_path):
    parts, whole = [tmp_path / "a.segbench", tmp_path / "b.segbench"], tmp_path / "all.segbench"
    for method, file in zip("ab", parts, strict=True):
        evaluate(*papers, method=method, results=file)
    ended = subprocess.run([sys.executable, "-c", KILLED_AT_THE_SECOND_RUN, *parts, whole], check=False)
    assert ended.returncode == 9
    assert not whole.exists()
    assert [result.method for result in merge_results(parts, whole)] == ["a", "b"]


@pytest.mark.skipif(os.name == "nt", reason="no locks there tell the files of a process that lives")
def test_hidden_files_of_killed_merges_are_removed_and_those_of_running_ones_kept(papers, tmp_path):
    parts, whole = [tmp_path / "a.segbench", tmp_path / "b.segbench"], tmp_path / "all.segbench"
    for method, file in zip("ab", parts, strict=True):
        evaluate(*papers, method=method, results=file)

    def databases():
        """The files that were added, without those that SQLite keeps beside its files for a while."""
        names = {re.sub("-(wal|shm|journal)$", "", path.name) for path in tmp_path.iterdir()}
        return names - {"gt", "pred", *(part.name for part in parts)}

    waiting = [sys.executable, "-c", KILLED_AT_THE_SECOND_RUN.replace("os._exit(9)", "input()"), *parts, whole]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as running:
        try:
            while not [*tmp_path.glob(".segbench-*-db")]:
                assert running.poll() is None
            of_running = databases()
            for _ in range(2):
                subprocess.run([sys.executable, "-c", KILLED_AT_THE_SECOND_RUN, *parts, whole], check=False)
            assert len([*tmp_path.glob(".segbench-*.tmp")]) == 2  # the second removed what the first killed had left
            merge_results(parts, whole)
            assert databases() == {*of_running, "all.segbench"}
        finally:
            running.kill()
    merge_results(parts, tmp_path / "again.segbench")
    assert [*tmp_path.glob(".*")] == []


def test_a_merge_that_fails_leaves_no_file(papers, tmp_path, monkeypatch):
    evaluate(*papers, results=tmp_path / "r.segbench")

    def full(*_):
        raise DataError("m.segbench", Message("disk-full", "cannot grow, because the disk is full"))

    with monkeypatch.context() as patched:
        patched.setattr("segbench.aggregator.merging._finish", full)
        with refused("disk-full", DataError, path="m.segbench"):
            merge_results([tmp_path / "r.segbench"], tmp_path / "m.segbench")
    assert [path.name for path in tmp_path.glob("*segbench*")] == ["r.segbench"]
    assert merge_results([tmp_path / "r.segbench"], tmp_path / "m.segbench")
