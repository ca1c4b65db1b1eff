"""Progress of a run on standard error, where there is a terminal and where there is none."""

import re
from types import SimpleNamespace

import pytest
from methods import write_methods

from segbench.aggregator import executors

LINE = re.compile(r"^a: (\d+) of 12 \((\d+) %\) in \d:\d\d:\d\d", re.MULTILINE)


@pytest.fixture
def folders(tmp_path):
    return write_methods(tmp_path, {"a": 1.0})


@pytest.fixture
def slow(monkeypatch):
    """Let each image take a twentieth of a second by the clock of progress, also on a busy machine."""
    decoded, clock = executors.decode_for, [0.0]

    def decode(*arguments):
        clock[0] += 0.05
        return decoded(*arguments)

    monkeypatch.setattr(executors, "decode_for", decode)
    monkeypatch.setattr("segbench.cli.progress.time", SimpleNamespace(monotonic=lambda: clock[0]))


def test_lines_come_every_ten_per_cent(segbench, folders):
    answer = segbench("pixels", *folders, "-j", "1", "--progress", "lines")
    shares = [int(share) for _, share in LINE.findall(answer.err)]
    assert [share // 10 for share in shares] == list(range(1, 11))
    assert not LINE.search(answer.out)


@pytest.mark.usefixtures("slow")
def test_lines_come_every_minute_where_ten_per_cent_take_longer(segbench, folders, monkeypatch):
    monkeypatch.setattr("segbench.cli.progress._MINUTE", 0.01)
    answer = segbench("pixels", *folders, "-j", "1", "--progress", "lines")
    assert len(LINE.findall(answer.err)) == 12


@pytest.mark.usefixtures("slow")
def test_lines_are_the_choice_where_there_is_no_terminal(segbench, folders, monkeypatch):
    monkeypatch.setattr("segbench.cli.progress._QUIET", 0.22)
    answer = segbench("pixels", *folders, "-j", "1")
    first, *others = [int(done) for done, _ in LINE.findall(answer.err)]
    assert first == 5  # nothing is printed of what is over at once
    assert others


def test_a_short_run_without_a_terminal_prints_none(segbench, folders):
    assert not LINE.search(segbench("pixels", *folders, "-j", "1").err)


@pytest.mark.usefixtures("slow")
def test_none_prints_none(segbench, folders, monkeypatch):
    monkeypatch.setattr("segbench.cli.progress._QUIET", 0)
    assert not LINE.search(segbench("pixels", *folders, "-j", "1", "--progress", "none").err)


def test_a_bar_is_drawn_also_without_a_terminal(segbench, folders):
    assert "12/12" in segbench("pixels", *folders, "-j", "1", "--progress", "bar").err


@pytest.mark.parametrize("command", [("nms", "a", "thin"), ("overlay", "r.segbench", "-o", "overlays")])
def test_other_commands_have_lines_too(segbench, folders, monkeypatch, command):
    monkeypatch.chdir(folders[0].parent)
    assert segbench("pixels", "gt", "a", "-o", "r.segbench").code == 0
    assert " of 12 (100 %) in 0:00:" in segbench(*command, "--progress", "lines").err
