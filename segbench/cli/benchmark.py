"""``segbench pixels``, ``segbench boundaries`` and so on: folders to metrics, by one protocol each."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segbench.cli.choices import FORM, Form, print_run
from segbench.cli.command import Command, stopping
from segbench.cli.counting import count_methods
from segbench.cli.data import Data, without_meaning
from segbench.cli.parameters import Group, command, group, protocol_group
from segbench.cli.presets import defaults_of
from segbench.cli.progress import PROGRESS, Progress
from segbench.cli.resampling import INTERVALS, interval_settings
from segbench.cli.tuning import Tuning, thresholds_of
from segbench.cli.workers import Workers
from segbench.core.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol
    from segbench.loaders.pairing import Pairing
    from segbench.loaders.repairs import Repairs


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is counted and what is printed, as given on the command line."""

    human: Annotated[
        bool,
        typer.Option(
            "--human",
            help="Also compare each annotator with the others, as a method called 'human'.",
            rich_help_panel="Protocol",
        ),
    ] = False
    no_check: Annotated[
        bool,
        typer.Option("--no-check", help="Skip the quick check of the files before counting.", rich_help_panel="Data"),
    ] = False
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Save the results in this file (.segbench), or continue it."
        ),
    ] = None
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Recount the images of this run that the results file already holds."),
    ] = False
    intervals: Annotated[float | None, INTERVALS] = None
    per_class: Annotated[bool, typer.Option("--per-class", help="Print one row per class, however many there are.")] = (
        False
    )
    form: Annotated[Form, FORM] = Form.TABLE
    progress: Annotated[Progress, PROGRESS] = Progress.AUTO


@cache
def benchmark_command(verb: str) -> Command:
    """Make the command of a protocol's verb."""
    from segbench.protocols.registry import examples_of, protocols_of, verbs

    protocol = protocols_of(verb)[0]
    examples = [f"segbench {verb} {words}" for words in examples_of(verb) or ("GT PRED -o results.segbench",)]
    text = f"{verbs()[verb]}\n\n{protocol.title}"
    return command(count, _groups(verb), name=verb, help=text, examples=examples, option_names=option_names)


def preset_command(name: str) -> Command:
    """Make the command that runs the first protocol of a preset."""
    from segbench.loaders.presets import load_preset

    preset = load_preset(name)
    verb = preset.protocols[0]
    text = f"Run segbench {verb} on {preset.title}." + (f"\n\n{preset.note}" if preset.note else "")
    examples = [f"segbench run {name} ROOT PRED -o results.segbench", f"segbench presets {name}"]
    defaults = defaults_of(preset, verb, option_names)
    return command(
        count,
        _groups(verb, name),
        name=name,
        help=text,
        examples=examples,
        option_names=option_names,
        defaults=defaults,
    )


@cache
def option_names(verb: str) -> frozenset[str]:
    """Name the parameters of a verb, by which presets give options."""
    return frozenset(parameter.name for each in _groups(verb).values() for parameter in each.parameters)


def _groups(verb: str, preset: str | None = None) -> Mapping[str, Group]:
    """Give the options of a verb: those of all benchmarks that apply to its protocol, and those of the protocol."""
    from segbench.core.capabilities import Annotated, Parts, Pooling
    from segbench.protocols.registry import protocols_of

    kinds = protocols_of(verb)
    first = kinds[0]
    unused = [] if issubclass(first, Annotated) else ["human"]
    unused += [] if any(issubclass(kind, Parts) for kind in kinds) else ["per_class"]
    return {
        "data": data_group(first, preset),
        "protocol": protocol_group(kinds),
        "tuning": group(Tuning, "Protocol", without=() if issubclass(first, Pooling) else Tuning.names()),
        "run": group(Run, "Output", without=unused),
        "workers": group(Workers, "Workers"),
    }


def data_group(protocol: type[Protocol], preset: str | None) -> Group:
    """Give the options that say where images lie, as far as they apply to a protocol."""
    fixed = {} if preset is None else {"preset": preset}
    return group(Data, "Data", without=without_meaning(protocol), **fixed)


def count(
    context: typer.Context, *, data: Data, protocol: Protocol, tuning: Tuning, run: Run, workers: Workers
) -> None:
    """Count the images of each method, print the metrics and save the counts."""
    from segbench.core.capabilities import Parts
    from segbench.loaders.listing import listed_once

    if run.per_class and protocol.capability(Parts) is None:
        raise ArgumentError("--per-class prints what --classes names; add --classes 0-18")
    if run.fresh and run.output is None:
        raise ArgumentError("--fresh recounts images of a results file; name the file with -o")
    if run.output is not None:
        from segbench.aggregator.database import require_results_name

        require_results_name(run.output)
    resampling = None if run.intervals is None else interval_settings(run.intervals)
    repairs = data.repairs()
    context.with_resource(listed_once())
    pairings = data.pairings(context, protocol)
    with stopping(lambda: _how_to_continue(run.output)):
        if run.no_check:  # whoever repeats the run must know
            pairings = {
                method: replace(pairing, inputs=replace(pairing.inputs, unchecked=True))
                for method, pairing in pairings.items()
            }
        else:
            quick_check(pairings, protocol, repairs)
        results = count_methods(
            pairings,
            protocol,
            output=run.output,
            fresh=run.fresh,
            workers=workers,
            progress=run.progress,
            human=run.human,
            repairs=repairs,
            tuning=thresholds_of(tuning, pairings, protocol, workers=workers, progress=run.progress, repairs=repairs),
        )
    intervals = [] if resampling is None else [result.intervals(**resampling) for result in results]
    print_run(results, run.form, per_class=run.per_class, intervals=intervals)
    unusable = [result for result in results if result.failed or result.summary.empty]
    if run.form is not Form.TABLE or not sys.stdout.isatty():  # a table in the terminal has the reasons below it
        print_reasons(unusable)
    if run.output:
        print_saved(run.output)
    if unusable:
        raise typer.Exit(1)


def quick_check(pairings: Mapping[str, Pairing], protocol: Protocol, repairs: Repairs) -> None:
    """Refuse what cannot be counted at all, all at once, and warn of the rest on standard error."""
    from segbench.checks.checking import quick_check as checked
    from segbench.loaders.urls import masked
    from segbench.report.findings import refusal, warnings_of

    reports = checked(pairings, protocol, repairs)
    refused = {report.method: pairings[report.method].inputs for report in reports if report.refused}
    if refused:
        places = {masked(str(inputs.prediction or inputs.pairs)) for inputs in refused.values()}
        raise DataError(places.pop() if len(places) == 1 else ", ".join(refused), refusal(reports))
    for line in warnings_of(reports):
        typer.secho(line, fg="yellow", err=True)


def print_reasons(results: Sequence[Result]) -> None:
    """Say on standard error why images failed, and why results without any metric have none."""
    from segbench.report.remarks import remarks

    for result in results:
        for remark in remarks([result]):
            if remark.kind == "failed" or (remark.kind == "undefined" and result.summary.empty):
                text = f"{remark.text}:" if remark.details else remark.text
                typer.secho("\n  ".join([text, *remark.details]), fg="red", err=True)


def print_saved(output: Path) -> None:
    """Say where results are saved, and what can be done with them."""
    typed = shlex.quote(str(output))
    typer.echo(f"Saved to {output}. Next: segbench show {typed}, segbench plot {typed} -o plot.pdf", err=True)


def _how_to_continue(output: Path | None) -> str:
    if output is None:
        return "nothing was saved, because no results file was named (-o)"
    from segbench.aggregator.database import is_results_file

    line = shlex.join(["segbench", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
    if not is_results_file(output):
        return f"{output} was not written yet; to start again:\n  {line}"
    return f"{output} keeps every image counted so far; to continue:\n  {line}"
