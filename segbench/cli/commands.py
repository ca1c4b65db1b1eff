"""The commands of the command line, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import typer

from segbench._version import __version__
from segbench.cli.compare import compare
from segbench.cli.demo import demo
from segbench.cli.export import export
from segbench.cli.groups import CheckGroup, RunGroup, protocol_commands
from segbench.cli.import_ import import_
from segbench.cli.merge import merge
from segbench.cli.nms import nms
from segbench.cli.overlay import overlay
from segbench.cli.parameters import epilog
from segbench.cli.plot import plot
from segbench.cli.presets import presets
from segbench.cli.report import report
from segbench.cli.show import show
from segbench.cli.stopping import Commands
from segbench.cli.verify import verify
from segbench.cli.wording import Command

_RESULTS = "segbench-demo/results.segbench"  # what segbench demo writes


class _Verb(NamedTuple):
    function: Callable[..., None]
    panel: str
    examples: tuple[str, ...]


_VERBS = (
    _Verb(show, "Results", (f"segbench show {_RESULTS}", f"segbench show {_RESULTS} --intervals 95 --format csv")),
    _Verb(compare, "Results", (f"segbench compare {_RESULTS}", f"segbench compare {_RESULTS} --metrics ods_f,auc_pr")),
    _Verb(
        plot,
        "Results",
        (f"segbench plot {_RESULTS} -o pr.pdf", f"segbench plot {_RESULTS} -o roc.png --kind roc --intervals 95"),
    ),
    _Verb(
        report,
        "Results",
        (f"segbench report {_RESULTS} -o page.html", f"segbench report {_RESULTS} -o page.html --panels 2"),
    ),
    _Verb(
        overlay,
        "Results",
        (f"segbench overlay {_RESULTS} -o overlays", f"segbench overlay {_RESULTS} -o overlays --image coins"),
    ),
    _Verb(export, "Results", (f"segbench export {_RESULTS} --csv tables",)),
    _Verb(
        import_,
        "Results",
        ("segbench export results.segbench --bsds official", "segbench import official -o imported.segbench"),
    ),
    _Verb(merge, "Results", (f"segbench merge {_RESULTS} other.segbench -o both.segbench",)),
    _Verb(
        nms,
        "Tools",
        ("segbench nms datasets/demo/edges/predictions/gradient thin", "segbench nms soft.zip thin --bits 16"),
    ),
    _Verb(presets, "Tools", ("segbench presets", "segbench presets drive")),
    _Verb(verify, "Tools", ("segbench verify", "segbench verify --format json")),
    _Verb(demo, "Tools", ("segbench demo", "segbench demo -o somewhere")),
)


class Verbs(Commands):
    """All commands; those of protocols are looked up when they are asked for."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  what typer gives
        super().__init__(**given)
        fixed = dict(self.commands)
        self.commands.clear()
        self.commands.update({"run": RunGroup(), "check": CheckGroup(), **fixed})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401  the types are those of typer's own copy of click
        """Name all commands, those of protocols first."""
        self._look_up()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  as above
        """Give a command by its name."""
        if cmd_name not in self.commands:
            self._look_up()
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  as above
        """Write the help in panels, where errors are plain lines."""
        self.rich_markup_mode = "rich"
        super().format_help(ctx, formatter)

    def _look_up(self) -> None:
        """Add the verbs of protocols to the commands."""
        fixed = dict(self.commands)
        self.commands.clear()
        self.commands.update({**protocol_commands(), **fixed})


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
for verb in _VERBS:
    name = verb.function.__name__.rstrip("_")
    app.command(name, cls=Command, rich_help_panel=verb.panel, epilog=epilog(verb.examples))(verb.function)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"segbench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    pass
