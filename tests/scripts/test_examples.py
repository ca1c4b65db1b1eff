"""The examples that users copy run, and print what the command line prints."""

import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

import segbench

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "datasets/demo/objects"


@pytest.fixture
def example(monkeypatch, capsys):
    """Run an example as a program; return its exit code and what it printed."""

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        try:
            runpy.run_path(str(ROOT / "scripts/examples" / name), run_name="__main__")
            code = 0
        except SystemExit as exit_:
            code = exit_.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def _threads(monkeypatch):
    """Take threads in place of processes, which would import this process's main module."""
    monkeypatch.setattr(segbench, "process_pool", ThreadPoolExecutor)


@pytest.mark.usefixtures("_threads")
def test_folders_are_counted_once_and_the_best_is_first(example, tmp_path):
    arguments = (DEMO / "ground_truth", DEMO / "predictions", "-o", tmp_path / "r.segbench")
    code, out, err = example("evaluate_folders.py", *arguments)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == [
        "random_walker", "border_colours", "soft_otsu", "local_entropy",
    ]  # fmt: skip
    assert "ods_f 0.8465 [" in out
    assert example("evaluate_folders.py", *arguments) == (code, out, err)
    assert len(segbench.load_results(tmp_path / "r.segbench")) == 4


@pytest.mark.usefixtures("_threads")
def test_a_folder_that_does_not_fit_keeps_no_other_from_being_counted(example, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "soft_otsu").symlink_to(DEMO / "predictions/soft_otsu")
    code, out, err = example(
        "evaluate_folders.py", DEMO / "ground_truth", tmp_path, "-o", tmp_path.parent / "r.segbench"
    )
    assert code == 1
    assert err.startswith("empty: ")
    assert out.startswith("soft_otsu ")


def test_mpi_with_threads_in_the_place_of_ranks(example, monkeypatch, tmp_path):
    futures = ModuleType("mpi4py.futures")

    def executor():
        pool = ThreadPoolExecutor(2)
        pool.num_workers = 2
        return pool

    futures.MPIPoolExecutor = executor
    monkeypatch.setitem(sys.modules, "mpi4py", ModuleType("mpi4py"))
    monkeypatch.setitem(sys.modules, "mpi4py.futures", futures)
    kept = tmp_path / "r.segbench"
    code, out, _ = example("evaluate_mpi.py", DEMO / "ground_truth", DEMO / "predictions/soft_otsu", "-o", kept)
    assert code == 0
    assert out.startswith("2 workers\n")
    assert f"{segbench.load_results(kept)[0].summary['ods_f']:.6g}" in out
    assert "protocol:pixels|" in out


def test_the_training_loop_learns(example):
    code, out, _ = example("training_loop.py")
    assert code == 0
    ods = [float(line.split("ODS ")[1].split(",")[0]) for line in out.splitlines() if line.startswith("epoch")]
    assert ods[-1] > ods[0]
    assert "after Holm's correction for all pairs" in out


@pytest.mark.slow
def test_trainings_with_other_seeds_differ_and_the_same_seed_repeats(example, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    assert example("train_seeds.py", tmp_path / "seeds") == (0, "", "")
    runs = sorted((tmp_path / "seeds" / "texture").iterdir())
    maps = [(run / "coins.png").read_bytes() for run in runs]
    assert [run.name for run in runs] == ["seed1", "seed2", "seed3"]
    assert len(set(maps)) == 3
    example("train_seeds.py", tmp_path / "again")
    assert (tmp_path / "again" / "texture" / "seed2" / "coins.png").read_bytes() == maps[1]
