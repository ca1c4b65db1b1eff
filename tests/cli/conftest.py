import sys
from typing import NamedTuple

import pytest

from segbench.cli.main import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def segbench(monkeypatch, capsys):
    """Run a command line and give its exit code and what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["segbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        return Answer(exit_.value.code or 0, *capsys.readouterr())

    return run
