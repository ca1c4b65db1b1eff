"""Options that a message names: each must exist for the command that prints it, and not be what was just typed."""

import functools
import re
from contextlib import suppress

import click

_OPTION = re.compile(r"(?<![\w/'-])(--[a-z][a-zA-Z0-9_-]*[a-zA-Z0-9])(?:[ =]('[^']*'|[^\s;:()]+))?")
_DESCRIPTION = re.compile(r" (?:names|leaves|left|is|has)\b")
_COMMAND = re.compile(r"segbench ([a-z]+)(?: ([a-z][\w-]*))?")
_A_RUN = "the command of the run"
_ADVICE = re.compile(r"(?:\b(?:give|try|add|use|set|or)|->|(?:;|->) [^;]*:) $")
"""What stands before an option that the reader shall type, as in "for colours give --palette FILE"."""


@functools.cache
def _options_of(*words):
    """Return the options of the command that some words name, none where they name none."""
    from segbench import SegbenchError
    from segbench.cli.command import CommandGroup
    from segbench.cli.commands import app

    command, flags = app, {"--help"}
    with click.Context(app, info_name="segbench") as context, suppress(SegbenchError):  # of a preset that is none
        for word in words:
            command = command.get_command(context, word) if isinstance(command, CommandGroup) else None
            if command is None:
                return frozenset()
            flags |= {flag for parameter in command.params for flag in parameter.opts}
        return frozenset(flags)
    return frozenset()


def _own_options(arguments):
    """Return the options of the command that was typed; check without a protocol is that of pixels."""
    first, second = (*arguments[:2], "", "")[:2]
    if first in ("check", "run"):
        return _options_of(first, second) or _options_of(first, "pixels" if first == "check" else second)
    return _options_of(first)


def _commands_in(text):
    """Return the options of each command that a text names."""
    named = map(_own_options, [*_COMMAND.findall(text), *[("pixels", "")] * (_A_RUN in text)])
    return [options for options in named if options]


def _typed(arguments):
    """Return the values that were typed, by option; "" for flags."""
    values = dict.fromkeys(arguments, "")
    for option, value in zip(arguments, (*arguments[1:], "--"), strict=True):
        name, equals, joined = option.partition("=")
        values[name] = joined if equals else "" if value.startswith("--") else value
    return {option: value for option, value in values.items() if option.startswith("--")}


def wrong_advice(arguments, messages):
    """List options in the lines of messages that the command line with these arguments cannot take, or was given."""
    own = _own_options(arguments)
    if not own:  # of a mistyped command
        return []
    typed, wrong = _typed(arguments), []
    for line in messages.splitlines():
        for match in _OPTION.finditer(line):
            option, value = match.groups("")
            before = line[: match.start()]
            commands = _commands_in(before)
            if option not in typed and not any(option in options for options in (own, *commands)):
                wrong.append(f"{option} is no option here: {line}")
            value = value.rstrip(",.").strip("'")
            same = value == typed.get(option) or (value.isalpha() and value.isupper())
            advised = _ADVICE.search(before) and not _DESCRIPTION.match(line[match.end() :])
            if option in typed and same and advised and not commands:
                wrong.append(f"{option} {value} was given: {line}")
    return wrong
