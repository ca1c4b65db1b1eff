"""What all commands share: errors in plain words, an answer to Ctrl-C, examples at the end of the help."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
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

_PLACEHOLDERS = {"int": "N", "int range": "N", "float": "NUMBER", "str": "TEXT", "list[str]": "TEXT"}

_A_VALUE = re.compile(r"[\d.,]+|true|false|yes|no|on|off", re.IGNORECASE)

_ONE_FILE = (
    "; give one results file. segbench merge A.segbench B.segbench -o both.segbench puts methods of several files into "
    "one, and segbench show takes several files, one for each data set"
)


def without_types(parameters: list[Any], ctx: Any) -> list[Any]:  # noqa: ANN401  the types are those of typer's own copy of click
    """Give parameters of which the help shows no Python types; flags take no value, and arguments are described."""
    for each in parameters:
        if each.param_type_name == "argument":
            each.display_type_rich = lambda ctx: None  # noqa: ARG005  as typer calls it
        elif each.is_flag:
            each.metavar = ""
        elif each.metavar is None and hasattr(each, "display_type"):  # older versions have words
            shown = each.display_type(ctx).strip("<>")
            each.metavar = _PLACEHOLDERS.get(shown, shown)
    return parameters


class Command(TyperCommand):
    """A command that words its errors as this project does."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401  the types are those of typer's own copy of click
        """Give the parameters, see `without_types`."""
        return without_types(super().get_params(ctx), ctx)

    def make_context(self, info_name: str | None, args: list[str], **kwargs: Any) -> Any:  # type: ignore[override]  # noqa: ANN401  the types are those of typer's own copy of click
        """Read the command line, and say in plain words what of it cannot be read."""
        flags = {name for each in self.params if getattr(each, "is_flag", False) for name in each.opts}
        for option, value in itertools.pairwise(args):  # which would be taken for another prediction
            if option in flags and _A_VALUE.fullmatch(value) and not Path(value).exists():
                raise _USAGE_ERROR(f"{option} takes no value; leave out {value!r}")
        try:
            return super().make_context(info_name, args, **kwargs)
        except typer.BadParameter as error:
            error.message = _in_plain_words(error.message)
            raise
        except _USAGE_ERROR as error:
            option = getattr(error, "option_name", "")
            own = next((each for each in self.params if option in each.opts), None)
            if own and "requires an argument" in error.message:
                error.message = f"{option} needs a value: {option} {own.metavar or 'VALUE'}"
            elif option and not own:  # there is no such option
                others = _commands_with(option, kwargs.get("parent"))
                error.message += f"; it is an option of {', '.join(others)}" if others else ""
            elif "extra argument" in error.message and any(each.name == "results" for each in self.params):
                error.message += _ONE_FILE
            raise


class LaterCommand(Command):
    """A command with a name and a help text, the rest of which is made when it is run."""

    def __init__(self, name: str, text: str, make: Callable[[str], Command], *, panel: str | None = None) -> None:
        super().__init__(name, help=text, rich_help_panel=panel)
        self._make = make

    def make_context(self, info_name: str | None, args: list[str], **others: Any) -> Any:  # type: ignore[override]  # noqa: ANN401  as in `Command`
        """Make the command, and let it read the command line."""
        return self.made().make_context(info_name, args, **others)

    def made(self) -> Command:
        """Make the command."""
        return self._make(self.name or "")


def epilog(examples: Sequence[str]) -> str:
    """Give the end of a help text: commands that can be tried."""
    from rich.markup import escape

    return "\n\n".join(["Examples:" if len(examples) > 1 else "Example:", *map(escape, examples)])


class Stopped(Exception):  # noqa: N818  a wish of the user's, not an error
    """Ctrl-C was pressed, or SIGTERM received; the text says how far the command came, and how to continue."""


@contextmanager
def stopping(how_to_continue: Callable[[], str] = str) -> Iterator[None]:
    """End in `Stopped` on Ctrl-C, where typer's own commands would exit without a message."""
    try:
        yield
    except (Stopped, KeyboardInterrupt) as stopped:
        raise Stopped("; ".join(filter(None, (str(stopped) or "stopped", how_to_continue())))) from None


def _commands_with(flag: str, context: Any) -> list[str]:  # noqa: ANN401  as above
    """Name the commands that have an option."""
    every = {} if context is None else commands_of(context.find_root())
    return [f"segbench {name}" for name, each in every.items() if any(flag in one.opts for one in each.params)]


def commands_of(context: Any) -> dict[str, Any]:  # noqa: ANN401  as above
    """Make every command of a group, by name."""
    names = context.command.list_commands(context)
    every = {name: context.command.get_command(context, name) for name in names}
    return {name: each.made() if isinstance(each, LaterCommand) else each for name, each in every.items()}


def _in_plain_words(message: str) -> str:
    for pattern, words in _WORDS.items():
        message = re.sub(pattern, words, message)
    found = re.fullmatch(r"'(.*)' is not one of (.*)\.", message)
    close = difflib.get_close_matches(found[1], re.findall(r"'([^']*)'", found[2]), 1) if found else []
    return message + "".join(f" Did you mean {choice!r}?" for choice in close)
