"""What tests of refusals share: kind, values and settings of an error, never its wording."""

from contextlib import contextmanager

import pytest

from segbench import DataError, SegbenchError
from segbench.core.messages import Either, Message, Setting


@contextmanager
def refused(kind, error=SegbenchError, *, path=None, settings=None, **values):
    """Insist that a block raises an error of a kind, with these values and settings (name: value) among its own."""
    with pytest.raises(error) as raised:
        yield raised
    insist(raised.value, kind, path=path, settings=settings, **values)


def insist(error, kind, *, path=None, settings=None, **values):
    """Insist that an error is of a kind, with these values and settings: name and value, None for those named alone."""
    assert error is not None, f"nothing was refused, expected {kind}"
    assert error.kind == kind, error
    assert {name: error.values.get(name) for name in values} == values
    if path is not None:
        assert getattr(error, "path", error.values.get("path")) == path
    if settings is not None:
        advised = {name: value for name, value in settings.items() if value is not None}
        assert {setting.name: setting.value for setting in error.settings} == advised
        assert settings.keys() - advised.keys() <= {setting.name for setting in parts_of(error, Setting)}


def result_or_error(action):
    """Return what an action returns, or the DataError that it raises."""
    try:
        return action()
    except DataError as error:
        return error


def refuse_constant(name):
    """Refuse NaN and infinity in JSON, as ``parse_constant`` of `json.loads`."""
    raise AssertionError(f"JSON holds {name}")


def within(said, kind):
    """Return the values of the only message of a kind that an error or a message holds, however deep."""
    (message,) = (message for message in parts_of(said, Message) if message.kind == kind)
    return message.values


def parts_of(said, type_):
    """Yield all messages, or all settings, of an error or a message, however deep."""
    parts = ()
    if isinstance(said, type_):
        yield said
    if isinstance(said, Message):
        parts = said.values.values()
    elif isinstance(said, SegbenchError):
        parts = said.message, getattr(said, "hint", ())
    elif isinstance(said, Either):
        parts = (said.python, said.options)
    elif isinstance(said, tuple):
        parts = said
    for part in parts:
        yield from parts_of(part, type_)
