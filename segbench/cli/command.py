"""What all commands share: help in panels, errors in plain words, an answer to Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from segbench.cli.options import Argument, Choice, Option
from segbench.core.messages import Message, plain
from segbench.core.names import first_names

_ONE_FILE = (
    "give one results file. segbench merge A.segbench B.segbench -o both.segbench puts methods of several files into "
    "one, and segbench show takes several files, one for each data set"
)
_EVERYTHING = "segbench.help_all"
_NAMED = 3

_Rows = dict[str, list[tuple[str, str]]]
"""What is typed and what it means, of each panel."""


def flag(name: str, help: str, answer: Callable[[click.Context], str]) -> click.Option:  # noqa: A002  as Click calls it
    """Make an option that is answered instead of a command."""

    def callback(context: click.Context, _: click.Parameter, wanted: object) -> None:
        if wanted and not context.resilient_parsing:
            click.echo(answer(context))
            context.exit()

    return Option([name], is_flag=True, expose_value=False, is_eager=True, help=help, callback=callback)


def _everything(context: click.Context) -> str:
    """Return the help with rare options."""
    context.meta[_EVERYTHING] = True
    return context.get_help()


class UsageError(click.UsageError):
    """A command line that cannot be read; `said` has its kind and values."""

    def __init__(self, message: Message, context: click.Context | None) -> None:
        super().__init__(message.written("options"), context)
        self.said = message


class Command(click.Command):
    """A command that words its errors and shows its help as this project does."""

    def __init__(self, name: str, *, examples: Sequence[str] = (), **others: Any) -> None:  # noqa: ANN401  as Click takes them
        super().__init__(name, **others)
        self.examples = examples
        if any(isinstance(parameter, Option) and parameter.rare for parameter in self.params):
            self.params.append(flag("--help-all", "Show all options; these are the usual ones.", _everything))

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401  as Click declares it
    ) -> click.Context:
        """Read the command line, and say in plain words what of it cannot be read."""
        typed = [*args]  # Click takes them out
        try:
            return super().make_context(info_name, args, parent, **extra)
        except (click.exceptions.NoArgsIsHelpError, UsageError):  # a help, with nothing before it, and our own errors
            raise
        except click.UsageError as error:
            raise UsageError(self._explained(error, typed, parent), error.ctx) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, of which Click takes the last without a word."""
        if not ctx.resilient_parsing:
            *_, typed = self.make_parser(ctx).parse_args(args=[*args])
            for parameter in typed:
                valued = isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.multiple
                if valued and typed.count(parameter) > 1:
                    message = Message(
                        "given-twice",
                        "{option} is given {times} times; give it once",
                        option=parameter.opts[-1],
                        times=typed.count(parameter),
                    )
                    raise UsageError(message, ctx)
        return super().parse_args(ctx, args)

    def _explained(self, error: click.UsageError, args: list[str], parent: click.Context | None) -> Message:
        """Add to a message what was probably meant."""
        if isinstance(error, click.NoSuchOption):
            return self._no_such_option(error, args, parent)
        text = error.format_message()
        if isinstance(error, click.MissingParameter) and isinstance(error.param, Argument):
            return Message("no-argument", "{text}: {help}", text=text.rstrip("."), help=error.param.help)
        if "extra argument" in text and "results" in [parameter.name for parameter in self.params]:
            return Message("one-file", "{text}; {advice}", text=text.rstrip("."), advice=_ONE_FILE)
        param = getattr(error, "param", None)
        option = param.opts[-1] if param is not None else getattr(error, "option_name", "")
        if isinstance(error, click.BadOptionUsage) and "requires an argument" in text:
            text = text.rstrip(".") + self._values_of(option)
        return Message("unreadable-option", "{text}", text=text, option=option) if option else plain(text)

    def _values_of(self, option: str) -> str:
        """Say which values an option takes that was typed without one, and which it has where it is left out."""
        from segbench.core.guesses import options_meant

        for parameter in self.params:
            if isinstance(parameter, Option) and option in parameter.opts and isinstance(parameter.type, Choice):
                default = f"; without {option}, it is {parameter.default_text}" if parameter.default_text else ""
                metric = option.removeprefix("--").upper()  # taken for a switch that measures it
                advice = "".join(f"; {sentence}" for sentence, _ in options_meant(option) if metric in sentence)
                return f": {' or '.join(parameter.type.choices)}{default}{advice}"
        return "."

    def _no_such_option(self, error: click.NoSuchOption, args: list[str], parent: click.Context | None) -> Message:
        """Say what an option that there is not was probably meant for."""
        from segbench.cli.guesses import option_meant
        from segbench.core.guesses import option_typed

        name, values = option_typed(error.option_name, args)
        own = {flag: getattr(parameter, "value", "") for parameter in self.params for flag in parameter.opts}
        every = {} if parent is None else commands_of(parent.find_root())
        has = [verb for verb, command in every.items() if any(name in parameter.opts for parameter in command.params)]
        meant = option_meant(name, values, own, args)
        near = [*(error.possibilities or ())]
        if name != error.option_name:
            error = click.NoSuchOption(name, ctx=error.ctx)
        if meant:
            return Message("no-such-option", "No such option: {typed}; {meant}", typed=name, meant=meant, near=near)
        if has:
            return Message(
                "option-of-others",
                "No such option: {typed}; it is an option of {others}",
                typed=name,
                commands=has,
                others=first_names([f"segbench {verb}" for verb in has], _NAMED),
            )
        return Message("no-such-option", "{text}", text=error.format_message(), typed=name, meant=meant, near=near)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help with a panel for each kind of option."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        panels = self.rows(ctx, everything=_EVERYTHING in ctx.meta)
        if self.examples:
            panels["Examples" if len(self.examples) > 1 else "Example"] = [(example, "") for example in self.examples]
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def rows(self, ctx: click.Context, *, everything: bool) -> _Rows:
        """Return the rows of the help by panel title, arguments first; `everything` includes rare options."""
        rows: _Rows = {"Arguments": []}
        for parameter in self.get_params(ctx):
            if not isinstance(parameter, (Argument, Option)):  # --help is Click's own
                rows.setdefault("Options", []).append((", ".join(parameter.opts), getattr(parameter, "help", "")))
            elif everything or not parameter.rare:
                rows.setdefault(parameter.panel, []).append(parameter.row(ctx))
        return {panel: several for panel, several in rows.items() if several}


class Listed(NamedTuple):
    """A command in a list of commands."""

    panel: str
    text: str


class CommandGroup(Command, click.Group):
    """Commands that are made when they are run: their options take a while to import, and a list shows none of them.

    `listed` gives them by name, `find` makes one of any name, and `begun` refuses a command line or completes it.
    """

    def __init__(
        self,
        name: str,
        *,
        listed: Callable[[], Mapping[str, Listed]],
        find: Callable[[str], click.Command | None],
        begun: Callable[[list[str]], list[str]] = list,
        **others: Any,  # noqa: ANN401  as Click takes them
    ) -> None:
        super().__init__(name, no_args_is_help=True, **others)
        self.listed, self._find, self._begun = listed, find, begun

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  as Click declares it
        """Name the commands."""
        return [*self.listed()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  as above
        """Make a command."""
        return self._find(cmd_name)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401  as Click declares it
    ) -> click.Context:
        """Read the command line, as `begun` gives it."""
        if args and args[0] not in ("-h", "--help") and not extra.get("resilient_parsing"):
            args = self._begun(args)
        with stopping():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  as Click declares it
        """Run the command that was typed."""
        with stopping():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed, and name the nearest where there is none."""
        name, *others = args
        command = self._find(name)
        if command is None and not name.startswith("-") and not ctx.resilient_parsing:
            from segbench.cli.guesses import command_meant

            meant = command_meant(name, self.listed())
            raise UsageError(
                Message("no-such-command", "No such command {typed!r}. {meant}", typed=name, meant=meant), ctx
            )
        return (name, command, others) if command else super().resolve_command(ctx, args)

    def rows(self, ctx: click.Context, *, everything: bool) -> _Rows:
        """Return the rows of the help: options, then commands."""
        rows = super().rows(ctx, everything=everything)
        for name, command in self.listed().items():
            rows.setdefault(command.panel, []).append((name, command.text))
        return rows

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command without making any."""
        completions = [
            CompletionItem(name, help=command.text)
            for name, command in self.listed().items()
            if name.startswith(incomplete)
        ]
        return completions + Command.shell_complete(self, ctx, incomplete)


class Stopped(Exception):  # noqa: N818  a wish of the user's, not an error
    """Ctrl-C was pressed, or SIGTERM received; the text says how far the command came, and how to continue."""


@contextmanager
def stopping(how_to_continue: Callable[[], str] = str) -> Iterator[None]:
    """End in `Stopped` on Ctrl-C, where Click's own commands would exit without a message."""
    try:
        yield
    except (Stopped, KeyboardInterrupt) as stopped:
        raise Stopped("; ".join(filter(None, (str(stopped) or "stopped", how_to_continue())))) from None


def commands_of(context: click.Context) -> dict[str, click.Command]:
    """Make every command of the group of a context, by name."""
    group = context.command
    assert isinstance(group, CommandGroup)  # noqa: S101  for types alone
    every = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in every.items() if command is not None}
