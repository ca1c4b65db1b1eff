"""The commands of the command line, put together."""

from __future__ import annotations

import typer

from segbench._version import __version__
from segbench.cli.check import check
from segbench.cli.compare import compare
from segbench.cli.demo import demo
from segbench.cli.export import export
from segbench.cli.import_ import import_
from segbench.cli.merge import merge
from segbench.cli.nms import nms
from segbench.cli.overlay import overlay
from segbench.cli.plot import plot
from segbench.cli.presets import presets
from segbench.cli.report import report
from segbench.cli.run import run
from segbench.cli.show import show
from segbench.cli.stopping import Commands
from segbench.cli.verify import verify
from segbench.cli.wording import Command

app = typer.Typer(
    cls=Commands,
    help="Benchmark edge detectors and segmentation models: two folders in, pooled curves and figures out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (run, check, show, compare, plot, report, overlay, export, import_, merge, nms, presets, verify, demo):
    app.command(verb.__name__.rstrip("_"), cls=Command)(verb)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"segbench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    pass
