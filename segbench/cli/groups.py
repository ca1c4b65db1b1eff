"""Commands that have commands: those of each protocol and each preset, which are made when they are needed.

The options of a command are those of its protocol, and importing that takes longer than a list of commands may take.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

from segbench.cli.parameters import epilog
from segbench.cli.wording import Command
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.loaders.presets import Preset

_DEFAULT_VERB = "pixels"
"""The protocol for which ``check`` inspects files if none is named."""


class LaterCommand(Command):
    """A command of which name and help are known, and that is made when it is run."""

    def __init__(self, name: str, text: str, make: Callable[[str], Command], *, panel: str | None = None) -> None:
        super().__init__(name, help=text, rich_help_panel=panel)
        self._make = make

    def make_context(self, info_name: str | None, args: list[str], **others: Any) -> Any:  # type: ignore[override]  # noqa: ANN401  the types are those of typer's own copy of click
        """Make the command, and let it read the command line."""
        return self._make(self.name or "").make_context(info_name, args, **others)


class RunGroup(TyperGroup):
    """``segbench run``, whose commands are the presets."""

    def __init__(self) -> None:
        super().__init__(
            name="run",
            help="Run the benchmark of a named data set: its layout, protocol and options.\n\n"
            "The options are those of the protocol's verb: segbench run drive --help. PRESET may also be a .toml file.",
            epilog=epilog(["segbench presets drive", "segbench run drive DRIVE/ predictions/ -o results.segbench"]),
            subcommand_metavar="PRESET ROOT PRED...",
            no_args_is_help=True,
            rich_help_panel="Benchmarks",
        )

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  as in `LaterCommand`
        """Name the presets."""
        return list(_presets())

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:  # noqa: ANN401, ARG002  as in `LaterCommand`
        """Give the command of a preset."""
        from segbench.cli.benchmark import preset_command

        return _preset(cmd_name, preset_command)

    def make_context(self, info_name: str | None, args: list[str], **others: Any) -> Any:  # type: ignore[override]  # noqa: ANN401  as in `LaterCommand`
        """Read the command line; if it does not begin with a preset, say what to write instead."""
        if args and args[0] not in ("-h", "--help") and not others.get("resilient_parsing"):
            _refuse_former("run", args)
            if args[0].startswith("-"):
                raise ArgumentError(
                    f"segbench run expects a preset before {args[0]}: segbench run PRESET ROOT PRED [OPTIONS]"
                )
            from segbench.loaders.presets import load_preset

            load_preset(args[0])  # which says what there is, if it is not a preset
        return super().make_context(info_name, args, **others)


class CheckGroup(TyperGroup):
    """``segbench check``, whose commands are the verbs and the presets."""

    def __init__(self) -> None:
        super().__init__(
            name="check",
            help="Find mismatched files and the option that fixes each, before anything is counted.\n\n"
            "The options are those of the verb: segbench check boundaries --help. Without a protocol files are checked "
            "as for segbench pixels.",
            epilog=epilog(
                [
                    "segbench check datasets/demo/objects/ground_truth datasets/demo/objects/predictions/soft_otsu",
                    (
                        "segbench check boundaries --gt-pattern '*.#' datasets/demo/edges/ground_truth "
                        "datasets/demo/edges/predictions/gradient"
                    ),
                ]
            ),
            subcommand_metavar="[PROTOCOL|PRESET] GT PRED...",
            no_args_is_help=True,
            rich_help_panel="Benchmarks",
        )

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  as in `LaterCommand`
        """Name the verbs and the presets."""
        from segbench.protocols.registry import verbs

        return [*verbs(), *_presets()]

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:  # noqa: ANN401, ARG002  as in `LaterCommand`
        """Give the command of a verb or a preset."""
        from segbench.cli.check import check_command, check_preset_command
        from segbench.protocols.registry import verbs

        if cmd_name in verbs():
            return LaterCommand(cmd_name, f"Check files for segbench {cmd_name}.", check_command, panel="Protocols")
        return _preset(cmd_name, check_preset_command)

    def make_context(self, info_name: str | None, args: list[str], **others: Any) -> Any:  # type: ignore[override]  # noqa: ANN401  as in `LaterCommand`
        """Read the command line; what does not begin with a protocol or a preset is checked as for pixels."""
        if args and args[0] not in ("-h", "--help") and not others.get("resilient_parsing"):
            _refuse_former("check", args)
            if self.get_command(None, args[0]) is None:
                _refuse_misspelt(args[0], self.list_commands(None))
                args = [_DEFAULT_VERB, *args]
        return super().make_context(info_name, args, **others)


def protocol_commands() -> Mapping[str, Command]:
    """Give the command of each protocol's verb, the ones of other packages last."""
    from segbench.cli.benchmark import benchmark_command
    from segbench.protocols.registry import verbs

    return {name: LaterCommand(name, text, benchmark_command, panel="Benchmarks") for name, text in verbs().items()}


def _refuse_misspelt(name: str, known: Sequence[str]) -> None:
    from segbench.loaders.hints import nearest

    close = nearest([name.lower()], known).get(name.lower())
    if close and not Path(name).exists():
        raise ArgumentError(f"no protocol or preset is called {name!r}, and no folder; did you mean {close}?")


def _preset(name: str, make: Callable[[str], Command]) -> Command | None:
    """Give the command of a preset by its name or file; None if there is no such preset."""
    from segbench.loaders.presets import load_preset

    if name in _presets():
        return LaterCommand(name, f"{_presets()[name].title}.", make, panel="Presets")
    return LaterCommand(name, load_preset(name).title, make) if name.endswith(".toml") else None


@cache
def _presets() -> Mapping[str, Preset]:
    """Give the presets that ship, which are files to be read."""
    from segbench.loaders.presets import presets

    return presets()


def _refuse_former(verb: str, words: list[str]) -> None:
    """Refuse a command line of the time before each protocol had a verb, and give the one that replaces it."""
    given: dict[str, str] = {}
    rest: list[str] = []
    left = iter(words)
    for word in left:
        option, equals, value = word.partition("=")
        if option in ("-p", "--protocol") or (option == "--preset" and verb == "run"):
            given[option.lstrip("-")[:3]] = value if equals else next(left, "")
        else:
            rest.append(word)
    folders = verb == "run" and (words[0] == "--pairs" or (_is_place(words[0]) and not words[0].endswith(".toml")))
    if not given and not folders:
        return
    protocol, preset = given.get("p") or given.get("pro"), given.get("pre")
    if preset is None:
        new = [protocol or _DEFAULT_VERB] if verb == "run" else ["check", protocol or _DEFAULT_VERB]
    else:
        new = ["run", preset] if protocol is None else [protocol, "--preset", preset]
    raise ArgumentError(f"each protocol is a command now; write: {shlex.join(['segbench', *new, *rest])}")


def _is_place(text: str) -> bool:
    from segbench.loaders.urls import is_url

    return text not in _presets() and (is_url(text) or Path(text).exists())
