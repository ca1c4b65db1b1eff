"""What is wrong with an option, in the words of this project."""

from __future__ import annotations

import difflib
import re
from typing import Any, cast

import typer
from typer.core import TyperCommand

_WORDS = {
    r"^Value error, ": "",
    r"^Input should be ": "expected ",
    r", unable to parse string as .*": "",
    r"a valid integer": "a whole number",
    r"a valid number": "a number",
    r"greater than or equal to (\S+)": r"\1 or more",
    r"less than or equal to (\S+)": r"\1 or less",
}


_USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""Anything wrong with a command line: Typer names only this kind of it."""


class Command(TyperCommand):
    """A verb of the command line."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the types are those of typer's own copy of click
        """Read the command line, and say in plain words what of it cannot be read."""
        try:
            return super().make_context(*args, **kwargs)
        except typer.BadParameter as error:
            error.message = in_plain_words(error.message)
            raise
        except _USAGE_ERROR as error:
            if option := getattr(error, "option_name", ""):  # there is no such option
                error.message += "".join(f"; segbench {verb} has it" for verb in _verbs_with(option))
            raise


def _verbs_with(flag: str) -> list[str]:
    """Name the verbs of which the protocol has an option."""
    from segbench.core.options import options_of
    from segbench.protocols.registry import protocols_of, verbs

    return [
        verb for verb in verbs() if any(flag == each.flag for kind in protocols_of(verb) for each in options_of(kind))
    ]


def in_plain_words(message: str) -> str:
    """Reword what is said of a value."""
    for pattern, words in _WORDS.items():
        message = re.sub(pattern, words, message)
    found = re.fullmatch(r"'(.*)' is not one of (.*)\.", message)
    close = difflib.get_close_matches(found[1], re.findall(r"'([^']*)'", found[2]), 1) if found else []
    return message + "".join(f" Did you mean {choice!r}?" for choice in close)
