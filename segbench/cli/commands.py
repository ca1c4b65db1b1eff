"""The commands of the command line: fixed verbs, the verbs of protocols, and those of ``run`` and ``check``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from segbench._version import __version__
from segbench.cli.command import Command, CommandGroup, Listed, flag
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.protocols.registry import verbs

if TYPE_CHECKING:
    from segbench.loaders.presets import Preset

_DEFAULT_VERB = "pixels"
"""The protocol for which ``check`` inspects files if none is named."""


class _Verb(NamedTuple):
    """A fixed verb, which runs the class of its name."""

    help: str
    examples: tuple[str, ...]


_OF_RESULTS = {
    "show": _Verb(
        "Print the metrics of a results file."
        "\n\nSeveral files are several data sets: methods are rows, and each set has its own columns.",
        ("segbench show results.segbench", "segbench show results.segbench --intervals 95 --format csv"),
    ),
    "compare": _Verb(
        "Say which method is best, and how sure that is."
        "\n\nMethods are compared on the same images, with intervals and p-values.",
        (
            "segbench compare results.segbench",
            "segbench compare results.segbench --metrics ods_f,auc_pr --format latex",
            "segbench compare results.segbench --against baseline --fail-if-worse 0.01",
        ),
    ),
    "plot": _Verb(
        "Draw all methods in a results file.",
        ("segbench plot results.segbench", "segbench plot results.segbench -o roc.png --kind roc --intervals 95"),
    ),
    "figure": _Verb(
        "Draw the figure of a paper: images in rows, photograph, ground truth and methods in columns."
        "\n\nBeside the PDF or PNG it writes a .txt with the facts for its caption and an alternative text.",
        (
            "segbench figure results.segbench --images PHOTOGRAPHS",
            "segbench figure results.segbench -o worst.pdf --rows worst:3,best:1 --width cvpr-column",
        ),
    ),
    "report": _Verb(
        "Write one page with tables, curves and pictures of the images."
        "\n\nIt is one HTML file for any browser, and needs no network.",
        ("segbench report results.segbench", "segbench report results.segbench -o page.html --images PHOTOGRAPHS"),
    ),
    "overlay": _Verb(
        "Draw true, false and missed pixels on each image."
        "\n\nIt writes one PNG per image and method. Pictures of label maps show wrong pixels.",
        ("segbench overlay results.segbench -o overlays", "segbench overlay results.segbench -o overlays --image NAME"),
    ),
    "export": _Verb(
        "Write results as the text files of the official benchmark.",
        ("segbench export results.segbench --bsds official",),
    ),
    "import": _Verb(
        "Read results of the official boundary benchmark.\n\nTables and plots then show them beside your own.",
        ("segbench export results.segbench --bsds official", "segbench import official -o imported.segbench"),
    ),
    "merge": _Verb(
        "Put the runs of several results files into one."
        "\n\nImages of one method that were counted in parts become one run.",
        ("segbench merge a.segbench b.segbench -o both.segbench",),
    ),
}
_TOOLS = {
    "nms": _Verb(
        "Suppress all but the ridges of soft boundary maps.\n\nThe maps of networks are usually evaluated like this.",
        ("segbench nms PRED thin", "segbench nms soft.zip thin --bits 16"),
    ),
    "verify": _Verb(
        "Recompute published numbers, and print what was expected and found."
        "\n\nExamples of papers and the demo's table are checked on the data that ship. The exit code is 1 if one "
        "differs.",
        ("segbench verify", "segbench verify --format json"),
    ),
    "demo": _Verb(
        "Benchmark four methods on nine photographs that ship with segbench."
        "\n\nIt prints who is best and all metrics, and writes the page of a report.",
        ("segbench demo", "segbench demo -o somewhere"),
    ),
}
_VERBS = _OF_RESULTS | _TOOLS
_CLASSES = {"report": "ReportCommand", "figure": "FigureCommand"}
"""Classes that are not called after their verb: `Report` is what a check finds."""
_MEASURING = ("show", "compare", "plot", "figure", "report", "overlay")
"""Verbs that take other settings of measuring than those of the run."""


@cache
def _fixed(name: str) -> Command:
    """Make the command of a fixed verb, which runs when an object is made of its options."""
    from segbench.cli.measuring import measuring_options
    from segbench.cli.options import group

    verb, module = _VERBS[name], "tools" if name in _TOOLS else "results"
    kind = getattr(import_module(f"segbench.cli.{module}"), _CLASSES.get(name, name.capitalize()))
    measuring = measuring_options() if name in _MEASURING else ()
    options = group(kind)

    def run(**values: Any) -> None:  # noqa: ANN401  what Click gives
        typed = {option.name: values[option.name] for option in measuring if option.name and values[option.name]}
        verb_run = options.made(values)
        if typed:
            verb_run = replace(verb_run, measuring=typed)
        verb_run()

    return Command(
        name,
        params=[*options.parameters, *measuring],
        callback=run,
        help=verb.help,
        examples=verb.examples,
    )


def _made(name: str, known: Collection[str], *, checks: bool) -> Command | None:
    """Make the command of a protocol's verb, or of a preset by its name or file, if it is one."""
    from segbench.cli.benchmark import command_for

    return command_for(name, checks=checks) if name in known or name.endswith(".toml") else None


@cache
def _presets() -> Mapping[str, Preset]:
    """List the presets that ship with segbench; this reads their files."""
    from segbench.loaders.presets import presets

    return presets()


def _commands() -> dict[str, Listed]:
    """List all commands: verbs of protocols, those of other packages first, and the others."""
    helps = {"run": _RUN.help or "", "check": _CHECK.help or ""}
    listed = {name: Listed("Benchmarks", text) for name, text in {**verbs(), **helps}.items()}
    listed |= {name: Listed("Results", verb.help) for name, verb in _OF_RESULTS.items()}
    listed |= {name: Listed("Tools", verb.help) for name, verb in _TOOLS.items()}
    return {name: command._replace(text=command.text.partition("\n")[0]) for name, command in listed.items()}


def _find(name: str) -> click.Command | None:
    """Make a command; where it is a fixed one, without looking for protocols."""
    if name in _VERBS:
        return _fixed(name)
    if name in ("run", "check"):
        return _RUN if name == "run" else _CHECK
    return _made(name, verbs(), checks=False)


def _listed_presets() -> dict[str, Listed]:
    return {name: Listed("Presets", f"{preset.title}.") for name, preset in _presets().items()}


def _list_presets(_: click.Context) -> str:
    from segbench.core.text_table import aligned

    return aligned([[preset.name, preset.title] for preset in _presets().values()], "<<")


def _of_preset(name: str) -> Command | None:
    """Make the command of a preset; what is none is an error that says which there are."""
    from segbench.cli.benchmark import command_for
    from segbench.loaders.presets import load_preset

    if name.startswith("-"):
        return None
    load_preset(name)
    return command_for(name, checks=False)


_RUN = CommandGroup(
    "run",
    listed=_listed_presets,
    find=_of_preset,
    help="Run the benchmark of a data set by its name, with its layout, protocol and options.\n\n"
    "The options are those of its protocol: segbench run drive --help. PRESET may also be a .toml file.",
    examples=["segbench run drive --info", "segbench run drive DRIVE/ predictions/ -o results.segbench"],
    params=[flag("--list", "List the presets.", _list_presets)],
    subcommand_metavar="PRESET ROOT PRED...",
)


def _listed_checks() -> dict[str, Listed]:
    checks = {verb: Listed("Protocols", f"Check files for segbench {verb}.") for verb in verbs()}
    return checks | _listed_presets()


def _begin_check(args: list[str]) -> list[str]:
    """Check as for pixels what does not begin with a protocol or a preset."""
    from segbench.loaders.hints import nearest

    name, known = args[0], _listed_checks()
    if name in known or name.endswith(".toml"):
        return args
    close = nearest([name.lower()], [*known]).get(name.lower())
    if close and not Path(name).exists():
        raise ArgumentError(
            Message(
                "unknown-command",
                "no protocol or preset is called {name!r}, and no folder; did you mean {close}?",
                name=name,
                close=close,
            )
        )
    return [_DEFAULT_VERB, *args]


_CHECK = CommandGroup(
    "check",
    listed=_listed_checks,
    find=lambda name: _made(name, _listed_checks(), checks=True),
    begun=_begin_check,
    help="Find mismatched files and the option that fixes each, before anything is counted.\n\n"
    "The options are those of the protocol: segbench check boundaries --help. Without a protocol, files are checked "
    "for segbench pixels.",
    examples=[
        "segbench check GT PRED",
        "segbench check boundaries GT PRED --gt-pattern '*.#'",
    ],
    subcommand_metavar="[PROTOCOL|PRESET] GT PRED...",
)


def _shell() -> str:
    """Name the current shell."""
    return Path(os.environ.get("SHELL", "")).stem


def _completion(context: click.Context) -> str:
    """Write the script that completes commands and options in the current shell."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(_shell())
    if completion is None:
        raise ArgumentError(
            Message(
                "unknown-shell",
                "no completion is known for the shell {shell!r}; set SHELL to bash, zsh or fish",
                shell=_shell(),
            )
        )
    return completion(context.command, {}, "segbench", "_SEGBENCH_COMPLETE").source()


def _install_completion(context: click.Context) -> str:
    """Save that script where the shell reads it."""
    from segbench.aggregator.writing import write_file

    shell, script = _shell(), _completion(context)
    fish = Path.home() / ".config/fish/completions/segbench.fish"
    file = fish if shell == "fish" else Path.home() / f".local/share/segbench/complete.{shell}"
    write_file(file, script.encode(), hint="move it elsewhere", make_folder=True)
    if shell != "fish":
        start = Path.home() / f".{shell}rc"
        lines = ["autoload -Uz compinit && compinit"] if shell == "zsh" else []
        lines.append(f". {shlex.quote(str(file))}")
        known = start.read_text().splitlines() if start.exists() else []
        with start.open("a") as stream:
            stream.writelines(f"\n{line}\n" for line in lines if line not in known)
    return f"written: {file}; open a new shell to use it"


app = CommandGroup(
    "segbench",
    listed=_commands,
    find=_find,
    params=[
        flag("--version", "Print the version.", lambda _: f"segbench {__version__}"),
        flag("--install-completion", "Install completion for the current shell.", _install_completion),
        flag("--show-completion", "Print the script that completes commands in the shell.", _completion),
    ],
    help="Benchmark edge detectors and segmentation models: two folders in, pooled curves and metrics out.",
    examples=[
        "segbench demo",
        "segbench pixels GT ours=PRED theirs=PRED2 -o results.segbench",
        "segbench report results.segbench",
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
