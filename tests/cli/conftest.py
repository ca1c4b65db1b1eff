"""What tests of commands share beside the program itself: the notes it prints, and whether it counts."""

import pytest

from segbench.aggregator import executors
from segbench.cli import selection
from segbench.core.messages import as_note


@pytest.fixture
def told(monkeypatch):
    """Return a list of the notes that commands print on standard error, which grows as they run."""
    notes = []

    def record(said):
        notes.append(as_note(said))
        return notes[-1]

    monkeypatch.setattr(selection, "as_note", record)
    return notes


@pytest.fixture
def counts_nothing(monkeypatch):
    """Return a function that lets every image fail that is counted from then on."""

    def refuse(*_arguments):
        raise AssertionError("an image was counted")

    return lambda: monkeypatch.setattr(executors, "decode_for", refuse)
