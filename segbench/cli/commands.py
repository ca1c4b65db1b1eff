"""The commands of the command line: fixed verbs, the verbs of protocols, and those of ``run`` and ``check``.

A command is made when it is run: its options take a while to import, and a list of commands shows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperGroup

from segbench._version import __version__
from segbench.cli.command import Command, LaterCommand, epilog, stopping, without_types
from segbench.cli.parameters import as_command
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.loaders.presets import Preset

_RESULTS = "segbench-demo/results.segbench"  # what segbench demo writes
_DEFAULT_VERB = "pixels"
"""The protocol for which ``check`` inspects files if none is named."""


class _Verb(NamedTuple):
    """A fixed verb: the function of its name in the module of its name; the docstring is its help."""

    panel: str
    text: str
    """The first line of that help."""
    examples: tuple[str, ...]


_VERBS = {
    "show": _Verb(
        "Results",
        "Print the metrics of a results file.",
        (f"segbench show {_RESULTS}", f"segbench show {_RESULTS} --intervals 95 --format csv"),
    ),
    "compare": _Verb(
        "Results",
        "Say which method is best, and how sure that is.",
        (
            f"segbench compare {_RESULTS}",
            f"segbench compare {_RESULTS} --metrics ods_f,auc_pr --format latex",
            f"segbench compare {_RESULTS} --against soft_otsu --fail-if-worse 0.01",
        ),
    ),
    "plot": _Verb(
        "Results",
        "Draw all methods in a results file.",
        (f"segbench plot {_RESULTS} -o pr.pdf", f"segbench plot {_RESULTS} -o roc.png --kind roc --intervals 95"),
    ),
    "report": _Verb(
        "Results",
        "Write one page with tables, curves and pictures of the images.",
        (f"segbench report {_RESULTS} -o page.html", f"segbench report {_RESULTS} -o page.html --panels 2"),
    ),
    "overlay": _Verb(
        "Results",
        "Draw true, false and missed pixels on each image.",
        (f"segbench overlay {_RESULTS} -o overlays", f"segbench overlay {_RESULTS} -o overlays --image coins"),
    ),
    "export": _Verb(
        "Results",
        "Write results as the text files of the official benchmark.",
        (f"segbench export {_RESULTS} --bsds official",),
    ),
    "import": _Verb(
        "Results",
        "Read results of the official benchmarks.",
        ("segbench export results.segbench --bsds official", "segbench import official -o imported.segbench"),
    ),
    "merge": _Verb(
        "Results",
        "Put the runs of several results files into one.",
        (f"segbench merge {_RESULTS} other.segbench -o both.segbench",),
    ),
    "nms": _Verb(
        "Tools",
        "Suppress all but the ridges of soft boundary maps.",
        ("segbench nms datasets/demo/edges/predictions/gradient thin", "segbench nms soft.zip thin --bits 16"),
    ),
    "presets": _Verb("Tools", "List the presets, or describe one.", ("segbench presets", "segbench presets drive")),
    "verify": _Verb(
        "Tools",
        "Recompute published numbers, and print what was expected and found.",
        ("segbench verify", "segbench verify --format json"),
    ),
    "demo": _Verb(
        "Tools",
        "Benchmark four methods on nine photographs that ship with segbench.",
        ("segbench demo", "segbench demo -o somewhere"),
    ),
}


@cache
def _fixed(name: str) -> Command:
    """Make the command of a fixed verb."""
    identifier = "import_" if name == "import" else name
    function = getattr(import_module(f"segbench.cli.{identifier}"), identifier)
    return as_command(function, name, _VERBS[name].examples, rich_help_panel=_VERBS[name].panel)


def _made_by(module: str, function: str) -> Callable[[str], Command]:
    """Give what makes a command by its name, and is imported when it is called."""

    def make(name: str) -> Command:
        command: Command = getattr(import_module(f"segbench.cli.{module}"), function)(name)
        return command

    return make


class _Group(TyperGroup):
    """Commands with flags as options."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401  the types are those of typer's own copy of click
        """Give the options, False by default: to read None as a flag, Typer would import Pydantic."""
        flags = without_types(super().get_params(ctx), ctx)
        for flag in flags:
            flag.default = flag.default or False
        return flags

    def make_context(self, info_name: str | None, args: list[str], **others: Any) -> Any:  # type: ignore[override]  # noqa: ANN401  as above
        """Read the command line, as `begun` gives it."""
        if args and args[0] not in ("-h", "--help") and not others.get("resilient_parsing"):
            args = self.begun(args)
        return super().make_context(info_name, args, **others)

    def begun(self, args: list[str]) -> list[str]:
        """Refuse a command line by its first word, or complete it."""
        return args


class Verbs(_Group):
    """All commands."""

    _listing = False

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  what typer gives
        super().__init__(**given)
        self.rich_markup_mode = None  # errors are plain lines

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401  as above
        """Name all commands, those of protocols first."""
        self._look_up()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  as above
        """Give a command by its name; for a list only with its first line."""
        if cmd_name in _VERBS and not self._listing:
            return _fixed(cmd_name)
        self._look_up()
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  as above
        """Write the help in panels, where errors are plain lines."""
        self.rich_markup_mode, self._listing = "rich", True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.rich_markup_mode, self._listing = None, False

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  as above
        """Read the command line."""
        with stopping():
            return super().make_context(*args, **kwargs)

    def invoke(self, *args: Any) -> Any:  # noqa: ANN401  as above
        """Run the command that was typed."""
        with stopping():
            return super().invoke(*args)

    def _look_up(self) -> None:
        """Fill in the commands: verbs of protocols, the ones of other packages first, and the others."""
        from segbench.protocols.registry import verbs

        self.commands.clear()
        make = _made_by("benchmark", "benchmark_command")
        for name, text in verbs().items():
            self.commands[name] = LaterCommand(name, text, make, panel="Benchmarks")
        self.commands["run"], self.commands["check"] = RunGroup(), CheckGroup()
        for name, verb in _VERBS.items():
            self.commands[name] = LaterCommand(name, verb.text, _fixed, panel=verb.panel)


class RunGroup(_Group):
    """``segbench run``, with the presets as its commands."""

    def __init__(self) -> None:
        super().__init__(
            name="run",
            help="Run the benchmark of a data set by its name, with its layout, protocol and options.\n\n"
            "The options are those of its protocol: segbench run drive --help. PRESET may also be a .toml file.",
            epilog=epilog(["segbench presets drive", "segbench run drive DRIVE/ predictions/ -o results.segbench"]),
            subcommand_metavar="PRESET ROOT PRED...",
            no_args_is_help=True,
            rich_help_panel="Benchmarks",
        )

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  as in `Verbs`
        """Name the presets."""
        return list(_presets())

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:  # noqa: ANN401, ARG002  as in `Verbs`
        """Give the command of a preset."""
        return _preset(cmd_name, _made_by("benchmark", "preset_command"))

    def begun(self, args: list[str]) -> list[str]:
        """Say what to write instead of a command line that does not begin with a preset."""
        from segbench.loaders.presets import load_preset

        if args[0].startswith("-"):
            raise ArgumentError(
                f"segbench run expects a preset before {args[0]}: segbench run PRESET ROOT PRED [OPTIONS]"
            )
        load_preset(args[0])  # which says what there is, if it is not a preset
        return args


class CheckGroup(_Group):
    """``segbench check``, with the verbs and presets as its commands."""

    def __init__(self) -> None:
        super().__init__(
            name="check",
            help="Find mismatched files and the option that fixes each, before anything is counted.\n\n"
            "The options are those of the protocol: segbench check boundaries --help. Without a protocol, files are "
            "checked for segbench pixels.",
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

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  as in `Verbs`
        """Name the verbs and the presets."""
        from segbench.protocols.registry import verbs

        return [*verbs(), *_presets()]

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:  # noqa: ANN401, ARG002  as in `Verbs`
        """Give the command of a verb or a preset."""
        from segbench.protocols.registry import verbs

        if cmd_name in verbs():
            text, make = f"Check files for segbench {cmd_name}.", _made_by("check", "check_command")
            return LaterCommand(cmd_name, text, make, panel="Protocols")
        return _preset(cmd_name, _made_by("check", "check_preset_command"))

    def begun(self, args: list[str]) -> list[str]:
        """Check as for pixels what does not begin with a protocol or a preset."""
        if self.get_command(None, args[0]) is None:
            _refuse_misspelt(args[0], self.list_commands(None))
            return [_DEFAULT_VERB, *args]
        return args


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


app = typer.Typer(
    cls=Verbs,
    help="Benchmark edge detectors and segmentation models: two folders in, pooled curves and metrics out.",
    epilog=epilog(
        [
            "segbench demo",
            "segbench pixels datasets/demo/objects/ground_truth datasets/demo/objects/predictions/soft_otsu",
            f"segbench report {_RESULTS} -o page.html",
        ]
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"segbench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Take the options of no command, which answer by themselves."""
