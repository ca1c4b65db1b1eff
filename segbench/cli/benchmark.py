"""The verbs of protocols, ``segbench pixels`` and so on, and ``segbench check``, which takes the same files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from segbench.cli.command import Command, flag, stopping
from segbench.cli.counting import Workers, count_methods, thresholds_of
from segbench.cli.data import Data, defaults_of, without_meaning
from segbench.cli.options import OptionGroup, group, protocol_group
from segbench.cli.printing import Printed, print_reasons, print_run, print_saved
from segbench.cli.progress import ProgressOption
from segbench.cli.selection import Leveled, joined_if_alike, tell
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting, option_of
from segbench.core.settings import option

if TYPE_CHECKING:
    from segbench.core.names import MethodRun
    from segbench.core.protocol import Protocol
    from segbench.loaders.pairing import Pairing
    from segbench.loaders.reading import Repairs


@dataclass(frozen=True, kw_only=True)
class RunOptions(Leveled, Workers, ProgressOption, Printed):
    """What is counted and what is printed, as given on the command line."""

    human: bool = option(
        "Also compare each annotator with the others, as a method called 'human'.", False, panel="Protocol", rare=True
    )
    tuning_results: Path | None = option(
        "Take the thresholds from a results file with a run of each method on a tuning set.",
        panel="Protocol",
        rare=True,
    )
    crisp: bool = option(
        "Also evaluate each map without suppression and thinning (C-Eval), and measure crispness.",
        False,
        panel="Protocol",
    )
    no_check: bool = option("Skip the quick check of the files before counting.", False, panel="Data", rare=True)
    output: Path | None = option("Save the results in this file (.segbench), or continue it.", flag="-o --output")
    fresh: bool = option("Recount the images of this run that the results file already holds.", False, rare=True)
    per_class: bool = option("Print one row per class, however many there are.", False, rare=True)


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """How many images are inspected and how findings are printed, as given on the command line."""

    everything: bool = option(
        "Inspect and count every image, and not just 32 that are evenly spread.", False, flag="--all"
    )
    form: Literal["table", "json"] = option("Choose how the report is printed.", "table", flag="--format")


def command_for(name: str, *, checks: bool) -> Command:
    """Make the command that counts images, or `checks` files, by a protocol's verb or by a preset."""
    from segbench.protocols.registry import examples_of, protocols_of, verbs

    preset = None
    if name not in verbs():
        from segbench.loaders.presets import load_preset

        preset = load_preset(name)
    verb = preset.protocols[0] if preset else name
    lines = examples_of(verb) or ("GT PRED",)
    if checks:
        about = f"predictions for {preset.title}" if preset else f"files for segbench {verb}"
        text = f"Check {about}.\n\nThe exit code is 1 if there are images that could not be counted."
        checked = lines[0].partition(" -o ")[0]  # counts nothing
        examples = [f"segbench check {name} {checked}{more}" for more in ("", " --all --format json")]
        examples = [f"segbench check {name} ROOT PRED"] if preset else examples
    elif preset:
        text = "\n\n".join(filter(None, (f"Run segbench {verb} on {preset.title}.", preset.note)))
        examples = [f"segbench run {name} ROOT PRED -o results.segbench", f"segbench run {name} --info"]
    else:
        text = f"{verbs()[verb]}\n\n{protocols_of(verb)[0].title}"
        examples = [f"segbench {verb} {words}" for words in examples_of(verb) or ("GT PRED -o results.segbench",)]
    defaults = defaults_of(preset, verb, option_names) if preset else {}
    groups = _groups(verb, name if preset else None, checks=checks)

    def callback(**values: object) -> None:
        made = {key: option_group.made(values) for key, option_group in groups.items()}
        if checks:
            check(**made)
        else:
            count(**made)

    params = [parameter for option_group in groups.values() for parameter in option_group.parameters]
    if preset is not None and not checks:
        info = flag("--info", "Describe the data set, and print the command that the preset stands for.", _described)
        params.append(info)
    return Command(
        name,
        params=params,
        callback=callback,
        help=text,
        examples=examples,
        context_settings={"obj": option_names, "default_map": defaults},
    )


def _described(context: click.Context) -> str:
    """Describe the data set of a command, with the command line that its preset stands for."""
    from segbench.core.text_table import aligned
    from segbench.loaders.presets import load_preset

    preset = load_preset(context.command.name or "")
    words = [f"--field ROOT/{preset.layout['field'][0]}"] if "field" in preset.layout else []
    words += [
        option_of(name) + ("" if value is True else f" {shlex.quote(str(value))}")
        for name, value in preset.options.items()
    ]
    start = f"segbench {preset.protocols[0]} ROOT/{preset.layout['ground_truth'][0]} PRED"
    paths = {
        name.replace("_", " "): " or ".join(f"ROOT/{path}" for path in paths) for name, paths in preset.layout.items()
    }
    rows = {"data set": preset.title, "home": preset.home, "cite": preset.cite, "layout": preset.known_from, **paths}
    rows |= {f"columns of {protocol}": ", ".join(keys) for protocol, keys in preset.columns.items()}
    rows |= {"protocols": ", ".join(preset.protocols), "the same as": " ".join([start, *words]), "note": preset.note}
    return aligned([[name, text] for name, text in rows.items() if text or name != "note"], "<<")


@cache
def option_names(verb: str) -> frozenset[str]:
    """Name the parameters of a verb, by which presets give options."""
    return frozenset(parameter.name or "" for group in _groups(verb).values() for parameter in group.parameters)


def _groups(verb: str, preset: str | None = None, *, checks: bool = False) -> Mapping[str, OptionGroup]:
    """Return the options of a verb: those of all benchmarks that apply to its protocol, and those of the protocol."""
    from segbench.core.protocol import Companions, Divided, Pooling
    from segbench.protocols.registry import protocols_of

    kinds = protocols_of(verb)
    first = kinds[0]
    fixed = {} if preset is None else {"preset": preset}
    shared = {"data": group(Data, "Data", without=without_meaning(first), **fixed), "protocol": protocol_group(kinds)}
    if checks:
        return shared | {"inspection": group(Inspection, "Output")}
    needed = {"human": Companions, "crisp": Companions, "per_class": Divided, "tuning_results": Pooling}
    unused = [name for name, capability in needed.items() if not any(issubclass(kind, capability) for kind in kinds)]
    return shared | {"run": group(RunOptions, "Output", without=unused)}


def count(*, data: Data, protocol: Protocol, run: RunOptions) -> None:
    """Count the images of each method, print the metrics and save the counts."""
    from segbench.core.protocol import Divided
    from segbench.loaders.listing import listed_once

    if run.per_class and protocol.capability(Divided) is None:
        raise ArgumentError(
            Message(
                "needs-classes",
                "--per-class prints what --classes names; add {setting}",
                setting=Setting("classes", "0-18"),
            )
        )
    if run.output is not None:
        from segbench.aggregator.store import require_results_name

        require_results_name(run.output)
    columns = data.first_columns(protocol)
    level, repairs, tuned = run.level, data.repairs(protocol), run.tuning_results
    click.get_current_context().with_resource(listed_once())
    pairings = data.pairings(protocol)
    with stopping(lambda: _how_to_continue(run.output)):
        if not run.no_check:
            quick_check(pairings, protocol, repairs)
        results = count_methods(
            pairings,
            protocol,
            output=run.output,
            fresh=run.fresh,
            workers=run,
            progress=run.progress,
            human=run.human,
            crisp=run.crisp,
            repairs=repairs,
            belonging=data.belonging(pairings.values()),
            tuning=None if tuned is None else thresholds_of(tuned, pairings, protocol, repairs),
        )
    shown = joined_if_alike(results)
    intervals = [] if level is None else [result.intervals(level=level) for result in shown]
    print_run(shown, run.form, per_class=run.per_class, intervals=intervals, first=columns)
    unusable = [result for result in results if result.failed or result.summary.empty]
    if run.form != "table" or not sys.stdout.isatty():  # a table in the terminal has the reasons below it
        print_reasons(unusable)
    if run.output:
        print_saved(run.output)
    if unusable:
        raise click.exceptions.Exit(1)


def quick_check(pairings: Mapping[MethodRun, Pairing], protocol: Protocol, repairs: Repairs) -> None:
    """Refuse what cannot be counted at all, all at once, and warn of the rest on standard error."""
    from segbench.checks.checking import check_methods
    from segbench.report.findings import refusal, warnings_of

    reports = check_methods(pairings, protocol, repairs, quick=True)
    refused = {
        report.label: pairing.inputs
        for report, pairing in zip(reports, pairings.values(), strict=True)
        if report.refused
    }
    if refused:
        paths = {str(inputs.prediction or inputs.pairs) for inputs in refused.values()}
        raise DataError(paths.pop() if len(paths) == 1 else ", ".join(refused), refusal(reports))
    tell(*warnings_of(reports))


def _how_to_continue(output: Path | None) -> str:
    if output is None:
        return "nothing was saved, because no results file was named (-o)"
    from segbench.aggregator.store import is_results_file

    line = shlex.join(["segbench", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
    if not is_results_file(output):
        return f"{output} was not written yet; to start again:\n  {line}"
    return f"{output} keeps every image counted so far; to continue:\n  {line}"


def check(*, data: Data, protocol: Protocol, inspection: Inspection) -> None:
    """Print what does not match, and the option that fixes it."""
    from segbench.checks.checking import check_methods
    from segbench.checks.seen import SAMPLE
    from segbench.loaders.listing import listed_once
    from segbench.report.findings import report_json, show_reports

    click.get_current_context().with_resource(listed_once())
    sample = None if inspection.everything else SAMPLE
    reports = check_methods(data.pairings(protocol), protocol, data.repairs(protocol), sample=sample)
    if inspection.form == "json":
        click.echo(report_json(reports), nl=False)
    else:
        from rich.console import Console

        show_reports(reports, Console())
    if any(report.errors for report in reports):
        raise click.exceptions.Exit(1)
