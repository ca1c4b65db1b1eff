"""What tests of refusals share: kind, values and settings of an error, never its wording."""

from contextlib import contextmanager

import pytest

from segbench import SegbenchError


@contextmanager
def refused(kind, error=SegbenchError, *, path=None, settings=None, **values):
    """Insist that a block raises an error of a kind, with these values and settings (name: value) among its own."""
    with pytest.raises(error) as raised:
        yield raised
    assert raised.value.kind == kind, raised.value
    assert {name: raised.value.values.get(name) for name in values} == values
    if path is not None:
        assert raised.value.path == path
    if settings is not None:
        assert {advised.name: advised.value for advised in raised.value.settings} == settings
