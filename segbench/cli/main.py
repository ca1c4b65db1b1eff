"""The command line: its verbs, and what the shell is told when something is wrong."""

from __future__ import annotations

import sys

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
from segbench.cli.verify import verify
from segbench.cli.wording import Command
from segbench.errors import ArgumentError, SegbenchError

app = typer.Typer(
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


def main() -> None:
    """Run the command line: exit 0 when done, 1 when the data is at fault, 2 when the command line is."""
    try:
        app()
    except SegbenchError as error:
        typer.secho(f"segbench: {error}", fg="red", err=True)
        sys.exit(2 if isinstance(error, ArgumentError) else 1)
    except BrokenPipeError:
        # Whoever read our output has had enough of it, as head does.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # A name too long, a folder one may not enter: what no reader or writer foresaw is still the place's fault.
        from segbench.loaders.decoded import shown

        typer.secho(f"segbench: {shown(error)}; check the path, disk and rights", fg="red", err=True)
        sys.exit(1)
