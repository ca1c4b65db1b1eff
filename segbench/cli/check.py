"""``segbench check``: finds mismatches between folders before anything is counted, and the option that fixes each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

from segbench.cli.benchmark import data_group, option_names
from segbench.cli.command import Command
from segbench.cli.data import Data
from segbench.cli.parameters import command, group, protocol_group
from segbench.cli.presets import defaults_of

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol


class ReportForm(StrEnum):
    """How a report is printed."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """How many images are inspected and how findings are printed, as given on the command line."""

    sample: Annotated[int, typer.Option(min=1, help="Inspect this many images, evenly spread over the set.")] = 32
    everything: Annotated[bool, typer.Option("--all", help="Inspect every image.")] = False
    form: Annotated[ReportForm, typer.Option("--format", help="Choose how the report is printed.")] = ReportForm.TABLE


@cache
def check_command(verb: str) -> Command:
    """Make the command that checks files for the protocol of a verb."""
    from segbench.protocols.registry import examples_of

    arguments = (examples_of(verb) or ("GT PRED",))[0]
    examples = [f"segbench check {verb} {arguments}", f"segbench check {verb} {arguments} --all --format json"]
    return _command(verb, name=verb, text=f"Check files for segbench {verb}.", examples=examples)


def check_preset_command(preset: str) -> Command:
    """Make the command that checks predictions for a data set."""
    from segbench.loaders.presets import load_preset

    loaded = load_preset(preset)
    text = f"Check predictions for {loaded.title}."
    return _command(
        loaded.protocols[0], name=preset, text=text, examples=[f"segbench check {preset} ROOT PRED"], preset=preset
    )


def _command(verb: str, *, name: str, text: str, examples: list[str], preset: str | None = None) -> Command:
    from segbench.loaders.presets import load_preset
    from segbench.protocols.registry import protocols_of

    kinds = protocols_of(verb)
    groups = {
        "data": data_group(kinds[0], preset),
        "protocol": protocol_group(kinds),
        "inspection": group(Inspection, "Output"),
    }
    text += "\n\nThe exit code is 1 if there are images that could not be counted."
    defaults = None if preset is None else defaults_of(load_preset(preset), verb, option_names)
    return command(check, groups, name=name, help=text, examples=examples, option_names=option_names, defaults=defaults)


def check(context: typer.Context, *, data: Data, protocol: Protocol, inspection: Inspection) -> None:
    """Print what does not match, and the option that fixes it."""
    from segbench.checks.checking import check_methods
    from segbench.loaders.listing import listed_once
    from segbench.report.findings import report_json, show_reports

    context.with_resource(listed_once())
    sample = None if inspection.everything else inspection.sample
    reports = check_methods(data.pairings(context, protocol), protocol, data.repairs(), sample=sample)
    if inspection.form is ReportForm.JSON:
        typer.echo(report_json(reports), nl=False)
    else:
        from rich.console import Console

        show_reports(reports, Console())
    if any(report.stops for report in reports):
        raise typer.Exit(1)
