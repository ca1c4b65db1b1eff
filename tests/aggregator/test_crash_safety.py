"""What a results file must survive: several writers, kills, full disks, places one may not write to."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import programs
import pytest
from cases import FIRST_SCORES, write_folder
from refusing import refused, within

import segbench
from segbench import DataError, evaluate, load_results
from segbench.aggregator import executors

PROGRAM = [sys.executable, "-m", "segbench"]


def write_many(root, count, *, seed=0, name="pred"):
    rng = np.random.default_rng(seed)
    masks = {f"im{i:03}.png": (np.random.default_rng(i).random((40, 60)) < 0.2).astype(np.uint8) for i in range(count)}
    soft = {key: (mask * 60 + rng.integers(0, 190, mask.shape)).astype(np.uint8) for key, mask in masks.items()}
    return write_folder(root / "gt", masks), write_folder(root / name, soft)


def integrity(file):
    database = sqlite3.connect(file)
    try:
        return database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()


def images_in(file):
    if not file.exists():
        return 0
    database = sqlite3.connect(file)
    try:
        made = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return database.execute("SELECT count(*) FROM images").fetchone()[0] if made else 0
    finally:
        database.close()


def document(result):
    return dict(result.summary), result.signature, {name: result.counts[name] for name in result.counts}


class TestSeveralWriters:
    def test_processes_that_write_one_file_at_once_all_end_right(self, tmp_path):
        gt, pred = write_many(tmp_path, 60)
        _, other = write_many(tmp_path, 60, seed=1, name="other")
        file = tmp_path / "r.segbench"
        running = {
            tmp_path / str(k): programs.start(
                tmp_path / str(k), "pixels", gt, folder, "-j", "1", "-o", file, "--format", "json"
            )
            for k, folder in enumerate((pred, pred, other))
        }
        printed = [programs.printed(*one) for one in running.items()]
        assert [process.exitcode for process in running.values()] == [0, 0, 0], printed
        assert integrity(file) == "ok"
        for (out, _), folder in zip(printed, (pred, pred, other), strict=True):
            (run,) = json.loads(out)["runs"]
            alone = evaluate(gt, folder)
            assert run["summary"]["ods_f"] == alone.summary["ods_f"]
            (kept,) = [result for result in load_results(file) if result.method == folder.name]
            assert document(kept) == document(alone)

    def start_four(self, tmp_path, gt, folders):
        """Count four folders under one name at once; return the exit codes and what was printed on standard error."""
        file = tmp_path / "r.segbench"
        running = {
            tmp_path / str(k): programs.start(
                tmp_path / str(k), "pixels", gt, f"net={folder}", "-j", "1", "--no-check", "-o", file
            )
            for k, folder in enumerate(folders)
        }
        errors = [programs.printed(*one)[1] for one in running.items()]
        return [process.exitcode for process in running.values()], errors

    def test_of_four_predictions_under_one_name_one_is_kept(self, tmp_path):
        folders = [write_many(tmp_path, 60, seed=seed, name=f"model{seed}") for seed in range(4)]
        gt = folders[0][0]
        codes, errors = self.start_four(tmp_path, gt, [folder for _, folder in folders])
        assert sorted(codes) == [0, 1, 1, 1], errors
        assert sum("with other predictions" in error for error in errors) == 3
        (kept,) = load_results(tmp_path / "r.segbench")
        assert document(kept) == document(evaluate(gt, folders[codes.index(0)][1]))

    def test_the_same_predictions_at_once_are_no_conflict(self, tmp_path):
        gt, pred = write_many(tmp_path, 60)
        copies = [shutil.copytree(pred, tmp_path / f"copy{k}") for k in range(3)]
        codes, errors = self.start_four(tmp_path, gt, [pred, *copies])
        assert codes == [0, 0, 0, 0], errors


class TestOtherPredictionsUnderOneName:
    @pytest.fixture
    def models(self, tmp_path):
        gt, a = write_many(tmp_path, 6, name="a/preds")
        return gt, a, write_many(tmp_path, 6, seed=1, name="b/preds")[1], tmp_path / "r.segbench"

    def test_are_refused_and_another_name_keeps_both(self, segbench, models):
        gt, a, b, file = models
        assert segbench("pixels", gt, a, "-o", file).code == 0
        answer = segbench("pixels", gt, b, "-o", file)
        assert (answer.code, answer.error.kind) == (1, "other-predictions")
        assert (answer.error.values["run"], answer.error.values["predictions"]) == ("preds", str(a))
        (kept,) = load_results(file)
        assert document(kept) == document(evaluate(gt, a))
        advised = re.search(r"another name, (\S+),", answer.err)[1]
        assert segbench("pixels", gt, advised, "-o", file).code == 0
        assert [result.summary["ods_f"] for result in load_results(file)] == [
            evaluate(gt, folder).summary["ods_f"] for folder in (a, b)
        ]

    def test_replace_the_stored_run_with_fresh(self, models):
        gt, a, b, file = models
        evaluate(gt, a, results=file)
        with refused("other-predictions", DataError, path=str(file), settings={"fresh": True}, predictions=str(a)):
            evaluate(gt, b, results=file)
        evaluate(gt, b, results=file, fresh=True)
        (kept,) = load_results(file)
        assert document(kept) == document(evaluate(gt, b))
        with refused("other-predictions", DataError, path=str(file), predictions=str(b)):
            evaluate(gt, a, results=file)

    def test_replace_it_also_where_a_fresh_run_was_cut_short(self, models):
        gt, a, b, file = models
        evaluate(gt, a, results=file)
        with pytest.raises(KeyboardInterrupt):
            evaluate(gt, b, results=file, fresh=True, progress=stop)
        evaluate(gt, b, results=file)
        (kept,) = load_results(file)
        assert document(kept) == document(evaluate(gt, b))

    def test_in_the_same_folder_replace_the_run(self, models):
        gt, a, b, file = models
        evaluate(gt, a, results=file)
        shutil.copytree(b, a, dirs_exist_ok=True)
        evaluate(gt, a, results=file)
        (kept,) = load_results(file)
        assert document(kept) == document(evaluate(gt, b))

    def test_of_a_column_of_a_list_are_given_another_column(self, segbench, models):
        gt, a, b, file = models
        for name, folder in (("a", a), ("b", b)):
            rows = [f"{path.stem},{path},{folder / path.name}" for path in gt.iterdir()]
            file.with_name(f"{name}.csv").write_text("\n".join(["name,ground_truth,prediction:net", *rows]))
        assert segbench("pixels", "--pairs", file.with_name("a.csv"), "-o", file).code == 0
        answer = segbench("pixels", "--pairs", file.with_name("b.csv"), "-o", file)
        assert (answer.code, answer.error.kind, answer.error.values["run"]) == (1, "other-predictions", "net")
        assert within(answer.error, "another-name")["name"].split()[0] == "prediction:net-2"


def stop(_done, _total):
    raise KeyboardInterrupt


class TestWhatIsCountedAgain:
    def test_what_another_version_counted_is(self, papers, tmp_path, decoded, monkeypatch):
        file = tmp_path / "r.segbench"
        with monkeypatch.context() as patch:
            patch.setattr("segbench.aggregator.store.__version__", "0.0.7")
            evaluate(*papers, results=file)
        decoded.clear()
        evaluate(*papers, results=file)
        assert decoded == ["first", "second"]

    def test_an_image_that_failed_is_tried_again(self, papers, tmp_path, decoded, monkeypatch):
        file = tmp_path / "r.segbench"
        with monkeypatch.context() as patch:
            patch.setattr(executors, "read", lambda _files: (_ for _ in ()).throw(OSError("the disk was away")))
            with pytest.warns(segbench.FailedImages):
                assert len(evaluate(*papers, results=file).failed) == 2
        evaluate(*papers, results=file)
        assert decoded == ["first", "second"]
        assert load_results(file)[0].failed == {}


class TestACompleteRunStays:
    """What was once complete is there until another is, and is not lost to a mistake."""

    def test_while_another_of_the_same_is_cut_short(self, papers, tmp_path):
        def stop(_done, _total):
            raise KeyboardInterrupt

        first = evaluate(*papers, results=tmp_path / "r")
        for changes in ({}, {"fresh": True}):
            write_folder(papers[1], {"first.npy": FIRST_SCORES / 2})
            with pytest.raises(KeyboardInterrupt):
                evaluate(*papers, results=tmp_path / "r", progress=stop, **changes)
            (kept,) = load_results(tmp_path / "r")
            assert document(kept) == document(first)
        again = evaluate(*papers, results=tmp_path / "r")
        (kept,) = load_results(tmp_path / "r")
        assert document(kept) == document(again) == document(evaluate(*papers))

    def test_where_nothing_of_the_next_can_be_counted(self, papers, tmp_path):
        first = evaluate(*papers, results=tmp_path / "r")
        for path in papers[1].iterdir():
            path.write_bytes(b"junk")
        with pytest.warns(segbench.FailedImages), pytest.warns(segbench.ReplacedRun) as warned:
            evaluate(*papers, results=tmp_path / "r")
        assert [warning.message.args[0].kind for warning in warned if warning.category is segbench.ReplacedRun] == [
            "kept-run"
        ]
        (kept,) = load_results(tmp_path / "r")
        assert document(kept) == document(first)


def papers_of(place):
    return place / "data" / "gt", place / "data" / "pred"


class TestReadOnly:
    @pytest.mark.parametrize("what", ["folder", "file"])
    def test_figures_are_shown_and_nothing_is_left_behind(self, open_place, as_nobody, what):
        file = open_place / "r.segbench"
        made = evaluate(*papers_of(open_place), results=file)
        file.chmod(0o444)
        if what == "folder":
            open_place.chmod(0o555)
        with as_nobody():
            assert document(load_results(file)[0]) == document(made)
        open_place.chmod(0o755)
        assert sorted(open_place.iterdir()) == [open_place / "data", file]

    def test_writing_is_refused_with_a_reason(self, open_place, as_nobody):
        file = open_place / "r.segbench"
        evaluate(*papers_of(open_place), results=file)
        file.chmod(0o444)
        with as_nobody(), refused("read-only", DataError, path=str(file)):
            evaluate(*papers_of(open_place), results=file)

    def test_a_folder_one_may_not_write_to(self, open_place, as_nobody):
        open_place.chmod(0o555)
        with (
            as_nobody(),
            refused("unopenable", DataError, path=str(open_place / "r.segbench")),
        ):
            evaluate(*papers_of(open_place), results=open_place / "r.segbench")
        open_place.chmod(0o755)


class TestFullDisk:
    def test_is_said_and_the_same_command_goes_on(self, tmp_path, segbench):
        gt, pred = write_many(tmp_path, 150)
        command = ["pixels", gt, pred, "-j", "1", "-o", tmp_path / "r.segbench", "--format", "json"]
        full = programs.start(tmp_path / "full", *command, largest_file=60_000)
        _, said = programs.printed(tmp_path / "full", full)
        assert full.exitcode == 1
        assert "free some space" in said
        assert "Traceback" not in said
        assert integrity(tmp_path / "r.segbench") == "ok"
        kept = images_in(tmp_path / "r.segbench")
        assert 0 < kept < 150
        after, undisturbed = segbench(*command), segbench("pixels", gt, pred, "-j", 1, "--format", "json")
        assert (after.code, after.out) == (0, undisturbed.out)

    def test_sqlites_own_word_for_it(self, tmp_path, monkeypatch):
        plain = sqlite3.connect

        def tight(*place, **options):
            database = plain(*place, **options)
            database.execute("PRAGMA max_page_count = 6")
            return database

        monkeypatch.setattr(sqlite3, "connect", tight)
        gt, pred = write_many(tmp_path / "many", 40)
        with refused("disk-full", DataError, path=str(tmp_path / "r.segbench")):
            evaluate(gt, pred, results=tmp_path / "r.segbench")
        monkeypatch.undo()
        assert integrity(tmp_path / "r.segbench") == "ok"
        assert document(evaluate(gt, pred, results=tmp_path / "r.segbench")) == document(evaluate(gt, pred))


class TestKills:
    @pytest.mark.parametrize(("protocol", "images", "kills"), [("pixels", 120, 2), ("boundaries", 40, 1)])
    def test_a_run_killed_again_and_again_ends_as_one_never_disturbed(
        self, tmp_path, segbench, protocol, images, kills
    ):
        gt, pred = write_many(tmp_path, images)
        file = tmp_path / "r.segbench"
        command = [protocol, gt, pred, "--format", "json"]
        undisturbed = segbench(*command)  # compiles, where that is to be done
        chance = random.Random(0)  # noqa: S311  no secret
        held = 0
        for _ in range(kills):
            process = programs.start(tmp_path / "killed", *command, "-j", "2", "-o", file)
            until = time.monotonic() + 30
            while images_in(file) <= min(held, images - 20) and process.is_alive() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.05))
            process.kill()
            process.join()
            assert integrity(file) == "ok"
            assert images_in(file) >= held
            held = images_in(file)
        assert held
        resumed = segbench(*command, "-o", file)
        assert (resumed.code, resumed.out) == (0, undisturbed.out)

    @pytest.mark.skipif(os.name == "nt", reason="its Ctrl-C reaches a whole console")
    def test_ctrl_c_says_how_far_it_came_and_how_to_go_on(self, tmp_path):
        gt, pred = write_many(tmp_path / "it's here", 1)
        for folder in (gt, pred):
            for k in range(1, 900):
                os.link(folder / "im000.png", folder / f"im{k:03}.png")
        file = tmp_path / "r.segbench"
        command = ["boundaries", gt, pred, "-j", "2", "-o", file, "--fresh"]
        process = subprocess.Popen(
            [*PROGRAM, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Shells ignore SIGINT for what they start in the background, and so would this process.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no other thread runs here
        )
        until = time.monotonic() + 60
        while images_in(file) < 10 and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers too
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert out == ""
        said, again = err.strip().rsplit("\n", 1)
        assert "of 900 images of 'pred' done; " in said
        assert " keeps every image counted so far; to continue:" in said
        assert "Traceback" not in err
        assert shlex.split(again) == ["segbench", *(str(part) for part in command if part != "--fresh")]
        assert integrity(file) == "ok"
        assert images_in(file) >= 10

    def test_ctrl_c_without_a_results_file(self, segbench_stopped):
        assert segbench_stopped.code == 130
        assert "nothing was saved, because no results file was named (-o)" in segbench_stopped.err


@pytest.fixture
def segbench_stopped(papers, monkeypatch, capsys):
    from segbench.cli.main import main

    class Answer:
        pass

    def stop(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("segbench.aggregator.executors.read", stop)
    monkeypatch.setattr(sys, "argv", ["segbench", "pixels", *map(str, papers)])
    with pytest.raises(SystemExit) as exit_:
        main()
    answer = Answer()
    answer.code, answer.err = exit_.value.code, capsys.readouterr().err
    return answer
