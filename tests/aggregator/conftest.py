import pytest

from segbench.aggregator import executors


@pytest.fixture
def decoded(monkeypatch):
    """The names of images whose files are decoded from now on."""
    names = []
    whole = executors.decode_for

    def decode(protocol, raw, repairs):
        names.append(raw.files.name)
        return whole(protocol, raw, repairs)

    monkeypatch.setattr(executors, "decode_for", decode)
    return names
