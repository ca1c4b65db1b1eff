"""Ctrl-C, which a terminal sends to a program and its workers alike, at any moment."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cases import write_folder

PROGRAM = """
import signal, sys
from segbench.cli.main import program
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
print('ready', file=sys.stderr, flush=True)
program()
"""

RUN = ("pixels", "gt", "pred", "--no-check")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("interrupts")
    rng = np.random.default_rng(0)
    masks = {f"{i}.png": (rng.random((200, 300)) < 0.2).astype(np.uint8) for i in range(60)}
    soft = {name: (mask * 60 + rng.integers(0, 190, mask.shape)).astype(np.uint8) for name, mask in masks.items()}
    return write_folder(root / "gt", masks), write_folder(root / "pred", soft)


def alive(group):
    """Return the processes of a group that have not ended; zombies wait only for whoever reaps them."""
    stats = [path.read_text(errors="replace") for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    states = [stat.rpartition(")")[2].split() for stat in stats]
    return [state for state in states if state[2] == str(group) and state[0] not in "ZX"]


def all_end(group):
    """Return whether the processes of a group end within seconds."""
    for _ in range(1000):
        if not alive(group):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="lists processes as Linux does")
@pytest.mark.parametrize(
    ("command", "delay"),
    [
        *(([*RUN, "-j", "2"], delay) for delay in (0.02, 0.4, 0.8, 1.5)),  # importing, starting workers, counting
        (["verify", "-j", "2"], 1.5),
    ],
)
def test_ends_all_processes_with_one_message(folders, command, delay):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command], cwd=folders[0].parent, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr.readline() == "ready\n"
    time.sleep(delay)
    done = process.poll() is not None
    if not done:
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in out + err
    assert done or process.returncode in (0, 130)
    assert process.returncode == 0 or "stopped" in err
    assert all_end(process.pid)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="lists processes as Linux does")
@pytest.mark.parametrize(("whom", "number"), [("kill", 15), ("killpg", 15), ("killpg", 1)])  # SIGTERM and SIGHUP
def test_a_signal_ends_workers_and_says_how_to_continue(folders, whom, number, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *RUN, "-j", "2", "-o", tmp_path / "r.segbench"], cwd=folders[0].parent,
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (tmp_path / "r.segbench-wal").exists():
        time.sleep(0.02)
    time.sleep(0.3)  # workers start
    getattr(os, whom)(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "stopped" in err
    assert "to continue:" in err
    assert "leaked" not in err
    assert "Traceback" not in out + err
    assert all_end(process.pid)


def test_a_results_file_that_was_not_written_keeps_nothing(segbench, folders, monkeypatch, tmp_path):
    def stop(*_arguments, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("segbench.checks.checking.check_methods", stop)
    answer = segbench("pixels", *folders, "-o", tmp_path / "k.segbench")
    assert answer.code == 130
    typed = ["segbench", "pixels", *map(str, folders), "-o", str(tmp_path / "k.segbench")]
    assert shlex.split(answer.err.splitlines()[-1]) == typed
    assert not (tmp_path / "k.segbench").exists()


def test_ends_any_command_with_130(segbench, folders, monkeypatch):
    def stop(*_arguments, **_settings):
        raise KeyboardInterrupt

    monkeypatch.chdir(folders[0].parent)
    monkeypatch.setattr("segbench.loaders.listing.list_place", stop)
    assert segbench("nms", "pred", "out")[:3] == (130, "", "\nstopped\n")
