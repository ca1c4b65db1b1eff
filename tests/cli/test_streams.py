"""Standard streams that cannot encode all that a command prints: accents, ±, Chinese, names that are no text."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, write_folder

from segbench import Boundaries, evaluate
from segbench.cli.main import main
from segbench.cli.methods import places_by_name

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
COMMANDS = [
    ["show", "r.segbench", "--intervals", "95"],
    ["show", "r.segbench", "--per-image"],
    ["show", "r.segbench", "--format", "json"],
    ["show", "r.segbench", "--format", "csv"],
    ["show", "r.segbench", "--format", "markdown"],
    ["show", "r.segbench", "--format", "latex"],
    ["show", "é日.segbench"],
    ["compare", "r.segbench"],
    ["compare", "r.segbench", "--format", "csv"],
    ["pixels", "gt", "né日", "-j", "1"],
    ["check", "gt", "né日"],
    ["check", "gt", "né日", "--format", "json"],
    ["run", "--list"],
    ["run", "drive", "--info"],
    ["plot", "r.segbench", "-o", "é日.png"],
    ["overlay", "r.segbench", "-o", "out é日"],
    ["nms", "né日", "nms é日"],
    ["--help"],
]


def program(folder, arguments, **settings):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHONIO"))}
    command = [sys.executable, "-m", "segbench", *arguments]
    return subprocess.run(command, cwd=folder, env=environment | settings, capture_output=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("streams")
    write_folder(root / "gt", {"é first 日.png": FIRST_TRUTH * 255, "second.png": SECOND_TRUTH * 255})
    write_folder(root / "né日", {"é first 日.npy": FIRST_SCORES, "second.npy": SECOND_SCORES})
    write_folder(root / "bytes", {"é first 日.npy": FIRST_SCORES, "second.npy": 1 - SECOND_SCORES})
    (root / "bytes").rename(root / os.fsdecode(b"\xff\xfe"))
    places = ["gt", "né日", os.fsdecode(b"\xff\xfe"), "b±=né日"]
    for method, place in places_by_name(places, "methods").items():
        evaluate(root / "gt", root / place, method=method, results=root / "r.segbench")
    return root


@pytest.fixture
def printed(folder, monkeypatch):
    """Run a command line with streams of an encoding; return its exit code and the bytes it printed."""

    def run(arguments, encoding):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2)]
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["segbench", *arguments])
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        with pytest.raises(SystemExit) as exit_:
            main()
        for stream in streams:
            stream.flush()
        return exit_.value.code or 0, *(stream.buffer.getvalue() for stream in streams)

    return run


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_any_encoding_will_do(printed, arguments, encoding):
    code, out, _ = printed(arguments, encoding)
    assert code == (1 if "é日.segbench" in arguments else 0)
    if "json" in arguments:
        json.loads(out.decode("ascii"))
    if "csv" in arguments and "--format" in arguments:
        rows = list(csv.reader(io.StringIO(out.decode("latin-1")), strict=True))
        assert len(rows) > 1
        assert len(set(map(len, rows))) == 1


@pytest.mark.parametrize("arguments", [["check", "gt", "né日"], ["pixels", "gt", "né日", "-j", "1"]])
def test_so_will_the_c_locale(folder, arguments):
    answer = program(folder, arguments, **C_LOCALE)
    assert b"Traceback" not in answer.stderr
    assert answer.returncode == 0, answer.stderr


def test_names_that_are_no_text_are_printed_in_utf_8(folder):
    answer = program(folder, ["pixels", "gt", os.fsdecode(b"\xff\xfe"), "-o", os.fsdecode(b"\xff.segbench"), "-j", "1"])
    assert answer.returncode == 0, answer.stderr.decode()
    assert b"Traceback" not in answer.stderr
    assert "\\udcff" in answer.stderr.decode()


def test_a_file_name_that_the_locale_lacks_is_said(folder):
    evaluate(folder / "gt", folder / "né日", Boundaries(thresholds=1, positive=255), results=folder / "edges.segbench")
    answer = program(folder, ["export", "edges.segbench", "--bsds", "official"], **C_LOCALE)
    assert answer.returncode == 1
    assert "LC_ALL=C.UTF-8" in answer.stderr.decode()
