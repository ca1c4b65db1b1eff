"""What tests of refusals share: kind, values and settings of an error, never its wording."""

from contextlib import contextmanager

import pytest

from segbench import DataError, SegbenchError
from segbench.core.messages import Either, Message


@contextmanager
def refused(kind, error=SegbenchError, *, path=None, settings=None, **values):
    """Insist that a block raises an error of a kind, with these values and settings (name: value) among its own."""
    with pytest.raises(error) as raised:
        yield raised
    insist(raised.value, kind, path=path, settings=settings, **values)


def insist(error, kind, *, path=None, settings=None, **values):
    """Insist that an error is of a kind, with these values and settings (name: value) among its own."""
    assert error is not None, f"nothing was refused, expected {kind}"
    assert error.kind == kind, error
    assert {name: error.values.get(name) for name in values} == values
    if path is not None:
        assert getattr(error, "path", error.values.get("path")) == path
    if settings is not None:
        assert {advised.name: advised.value for advised in error.settings} == settings


def within(said, kind):
    """Return the values of the only message of a kind that an error or a message holds, however deep."""
    (message,) = (message for message in _messages_in(said) if message.kind == kind)
    return message.values


def _messages_in(said):
    """Yield a message, those of its values, and theirs."""
    parts = ()
    if isinstance(said, Message):
        yield said
        parts = said.values.values()
    elif isinstance(said, SegbenchError):
        parts = (said.what, said.hint) if isinstance(said, DataError) else (said.message,)
    elif isinstance(said, Either):
        parts = (said.python, said.options)
    elif isinstance(said, tuple):
        parts = said
    for part in parts:
        yield from _messages_in(part)
