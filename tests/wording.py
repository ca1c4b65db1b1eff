"""What tests of words share: the texts of a message, a setting or an error."""

import pytest

from segbench import SegbenchError


def texts(said):
    """Return what is said in Python, and with the options of the command line."""
    return str(said), said.written("options")


def texts_of_refusal(call):
    """Return the texts of the error that a call raises."""
    with pytest.raises(SegbenchError) as raised:
        call()
    return texts(raised.value)
