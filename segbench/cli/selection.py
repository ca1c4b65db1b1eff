"""What verbs take from a results file: which runs, and how their images are resampled."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from segbench.cli.options import argument
from segbench.core.errors import ArgumentError, DataError, SegbenchError
from segbench.core.messages import Message, Note, Setting, as_note, option_of
from segbench.core.names import first_names
from segbench.core.settings import option
from segbench.inputs.class_names import in_no_mean

if TYPE_CHECKING:
    from segbench.aggregator.records import Run
    from segbench.aggregator.result import Result

EVERY_PART = "all"
"""The name that stands for each class, object or group where methods are compared."""

LEVEL = 0.95
"""The confidence level of comparisons for which no other is chosen."""
_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Only:
    """The runs that a verb takes."""

    only: str | None = option(
        "Select the runs of this method, or those with this text in their signature: protocol:pixels.",
        metavar="TEXT",
        rare=True,
    )
    measuring: Mapping[str, Any] = field(default_factory=dict)  # options of `segbench.cli.measuring` that were typed


@dataclass(frozen=True, kw_only=True)
class OneFile(Only):
    """The runs of one results file that a verb takes."""

    results: Path = argument("RESULTS", "Results file, as written by segbench pixels GT PRED -o results.segbench.")

    def chosen(
        self, parts: Mapping[str, str] = MappingProxyType({}), *, partial: bool = False, join: bool = True
    ) -> list[Result]:
        """Read the results, or the parts of them that are named; say what is left out or will be replaced.

        The runs of a method are joined, or not, see `segbench.join_runs`.
        """
        chosen = chosen_runs(self.results, self.only, parts, partial=partial, join=join, measuring=self.measuring)
        tell(*chosen.left_out, *outdated(chosen.results))
        return chosen.results


@dataclass(frozen=True, kw_only=True)
class Renaming:
    """Names of methods as they are printed."""

    names: str | None = option(
        "Print methods by other names: ours=Ours,dlv3=DeepLabV3+.", metavar="NAME=NAME,...", rare=True
    )

    @property
    def renamed(self) -> dict[str, str]:
        """The printed name of each method that has another."""
        pairs = [typed.partition("=") for typed in (self.names or "").split(",") if typed]
        wrong = next((name for name, sign, printed in pairs if not (name and sign and printed)), None)
        if wrong is not None:
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "--names {value!r}: expected names and how they are printed, such as ours=Ours",
                    value=self.names,
                )
            )
        return {name.strip(): printed.strip() for name, _, printed in pairs}

    def with_names(self, results: Sequence[Result]) -> list[Result]:
        """Return the results with the names that are printed."""
        from segbench.aggregator.renaming import renamed_results

        return renamed_results(results, self.renamed)


def joined_if_alike(results: Sequence[Result]) -> list[Result]:
    """Join the runs of each method; where they do not have the same images, say why and return them as they are."""
    from segbench.aggregator.joining import join_runs

    try:
        return join_runs(results)
    except DataError as error:
        tell(Message("not-joined", "not joined: {reason}", reason=error.failure.sentence))
        return list(results)


def words_of_results(words: Callable[[Result], Collection[str]]) -> Callable[[click.Context], list[str]]:
    """Return a completer of an option, which offers words of the results in the files typed before it."""

    def complete(context: click.Context) -> list[str]:
        from segbench.aggregator.assembling import load_runs

        completions: dict[str, None] = {}
        for typed in context.args:  # what Click could not place, as an option without a value stands at the end
            with suppress(SegbenchError, OSError):
                results, _ = load_runs(Path(typed.rpartition("=")[2]), partial=True)
                completions |= dict.fromkeys(word for result in results for word in words(result))
        return [*completions]

    return complete


KEYS = words_of_results(lambda result: result.summary)
"""What completes the keys of metrics."""


@dataclass(frozen=True, kw_only=True)
class ChosenParts:
    """The class, object or group of images that a verb takes of runs that have been counted."""

    class_name: str | None = option(
        "Select one class of runs with --classes, measured against all others; compare takes each of them, too: all.",
        flag="--class",
        metavar="NAME",
        complete=words_of_results(lambda result: parts_of(result, "class")),
    )
    object_name: str | None = option(
        "Select one object of runs with --sequences, as show --per-object names it.",
        flag="--object",
        metavar="NAME",
        complete=words_of_results(lambda result: parts_of(result, "object")),
        rare=True,
    )
    group: str | None = option(
        "Select the images of one group, or category of a data set; compare takes each of them, too: all.",
        metavar="NAME",
        complete=words_of_results(lambda result: parts_of(result, "group")),
        rare=True,
    )

    @property
    def parts(self) -> dict[str, str]:
        """The parts that are named, by axis, in the order in which results are taken apart."""
        named = {"class": self.class_name, "object": self.object_name, "group": self.group}
        return {axis: name for axis, name in named.items() if name is not None}


def refuse_unpooled(results: Sequence[Result]) -> None:
    """Refuse groups with a model each, whose images have no common result."""
    for result in results:
        groups = parts_of(result, "group")
        reason = result.parts("group").undefined.get("pooled") if groups else None
        if reason:
            raise ArgumentError(
                Message(
                    "not-pooled",
                    "{reason}; choose one with {group}: {groups}",
                    reason=reason,
                    group=Setting("group", None),
                    groups=list(groups),
                )
            )


def means_over_groups(results: Sequence[Result]) -> list[Result]:
    """Return the mean over groups of each result; the results themselves without groups."""
    from segbench.aggregator.comparing import refuse_measured_apart

    if not by_group(results):
        return list(results)
    refuse_measured_apart(results)
    means = []
    for result in results:
        groups = result.parts("group")
        if groups.mean is None:
            raise ArgumentError(
                Message("no-mean", "{method}: {why}", method=result.method, why=groups.undefined["mean"])
            )
        means.append(groups.mean)
    return means


def by_group(results: Sequence[Result]) -> bool:
    """Return whether the images of a run are in groups."""
    return any("group" in result.axes for result in results)


def parts_of(result: Result, axis: str) -> Mapping[str, Result]:
    """Return the parts of a result along an axis; none where it has none."""
    from segbench.aggregator.result import parts_if_any

    return parts_if_any(result, axis)


@dataclass(frozen=True, kw_only=True)
class Leveled:
    """Whether there are intervals, and of which level."""

    intervals: float | None = option(
        "Add intervals over images at this confidence level in percent: 95.", metavar="PERCENT"
    )

    @property
    def level(self) -> float | None:
        """The confidence level as a share."""
        if self.intervals is None:
            return None
        if not 1 <= self.intervals < 100:
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "--intervals {value:g} is not a confidence level in percent; write 95",
                    value=self.intervals,
                )
            )
        return self.intervals / 100


@dataclass(frozen=True)
class Chosen:
    """Runs of a results file: the results of some, and those that are left out because they are not complete."""

    path: Path
    results: list[Result]
    stopped: list[Run]
    images_left_out: tuple[Note, ...] = ()

    @property
    def left_out(self) -> list[Note]:
        """Which images and runs are left out, in words."""
        listed = ", ".join(f"{run.label} ({_so_far(run)})" for run in self.stopped)
        runs = [as_note(f"left out because incomplete: {listed}; repeat the run to count the rest")] if listed else []
        return [*self.images_left_out, *runs]

    def require(self, methods: Collection[str]) -> None:
        """Refuse methods of which no run is complete."""
        complete = {result.method for result in self.results}
        for run in self.stopped:
            if run.method in methods and run.method not in complete:
                raise self.not_complete(run)

    def not_complete(self, run: Run) -> DataError:
        """Say that a run is not complete where it must be."""
        problem = Message(
            "incomplete-run", "the run of {run!r} is not complete ({so_far})", run=run.label, so_far=_so_far(run)
        )
        return DataError(str(self.path), problem, "repeat it")

    def unfinished(self) -> dict[str, str]:
        """Return, by method, why a comparison is not certain: its run, or a later one, is not complete."""
        kinds = {result.protocol for result in self.results}
        beside = [run for run in self.stopped if run.protocol in kinds]
        competing = [run for run in beside if run.rules.competes]
        reasons = {run.method: f"its run is not complete ({_so_far(run)}); repeat it" for run in competing}
        return reasons | {result.method: str(result.outdated) for result in self.results if result.outdated}


def _so_far(run: Run) -> str:
    """Say how many images of a run have been counted."""
    from segbench.aggregator.result import partial_images

    return partial_images((run.begun, run.images))


def outdated(results: Sequence[Result]) -> list[Message]:
    """Say which results a later run will replace."""
    return [f"{result.label}: " + result.outdated for result in results if result.outdated]


def tell(*notes: Note | Message | str) -> None:
    """Print notes on standard error."""
    for note in notes:
        click.secho(as_note(note).written("options"), fg="yellow", err=True)


def chosen_runs(
    path: Path,
    only: str | None,
    parts: Mapping[str, str] = MappingProxyType({}),
    *,
    partial: bool = False,
    join: bool = True,
    measuring: Mapping[str, Any] = MappingProxyType({}),
) -> Chosen:
    """Read the results of a file of a method, or with a text in their signature; of these the parts by axis.

    Results of one protocol are measured alike, and as `measuring` says; those of the runs of a method are joined.
    """
    from segbench.aggregator.assembling import load_runs
    from segbench.aggregator.joining import join_runs
    from segbench.aggregator.measuring import measured_alike, without_measuring
    from segbench.aggregator.result import names_of
    from segbench.cli.measuring import measured_as_typed

    results, stopped = load_runs(path, partial=partial)
    if only is None:
        chosen = Chosen(path, results, stopped)
    else:
        named = zip(names_of(results), results, strict=True)
        of_method = [result for name, result in named if only in (name, result.label, result.method)]
        unfinished = [run for run in stopped if only in (run.label, run.method)]
        if not of_method and not unfinished:
            of_method = [result for result in results if only in _identity(result, without_measuring(result))]
            unfinished = [run for run in stopped if only in run.signed]
        chosen = Chosen(path, of_method, unfinished)
    if not chosen.results:
        if chosen.stopped:
            raise chosen.not_complete(chosen.stopped[0])
        signatures = (_identity(result, without_measuring(result)) for result in results)
        listed = "\n  ".join(dict.fromkeys(signatures))
        raise ArgumentError(
            Message(
                "matches-nothing",
                "--only {typed!r} matches neither a method nor a signature in {path}, which holds {methods}\n"
                "  {listed}",
                typed=only,
                path=str(path),
                methods=names_of(results),
                listed=listed,
            )
        )
    measured = measured_alike(measured_as_typed(chosen.results, measuring, path))
    measured = join_runs(measured) if join else measured
    for axis, name in parts.items():
        measured = _of_part(path, measured, axis, name)
    return replace(chosen, results=measured)


def _identity(result: Result, settings: Mapping[str, str]) -> str:
    """Write a signature with these settings."""
    from segbench.aggregator.records import resigned

    return resigned(result.signature, result.protocol, settings)


def _of_part(path: Path, results: Sequence[Result], axis: str, name: str) -> list[Result]:
    """Return the results of a class, object or group; runs that lack it are named on standard error."""
    parts = [result.parts(axis)[name] for result in results if name in parts_of(result, axis)]
    if not parts:
        raise ArgumentError(f"{option_of(axis)} {quote(name)}: " + _parts_in(path, results, axis))
    lacking = [result.method for result in results if name not in parts_of(result, axis)]
    if lacking:
        click.echo(f"left out because they have no {axis} {name!r}: {', '.join(lacking)}", err=True)
    return parts


def results_of_parts(path: Path, results: Sequence[Result], axis: str) -> dict[str, list[Result]]:
    """Return the results of each class, object or group that several methods have, without a background in no mean.

    What is left out, and methods that lack a part, are named on standard error.
    """
    from segbench.aggregator.result import AXES

    by_run = [(result.method, parts_of(result, axis)) for result in results]
    all_parts = {name: part for _, parts in by_run for name, part in parts.items()}
    names = [name for name, part in all_parts.items() if not in_no_mean(part.settings)]
    by_part = {name: [parts[name] for _, parts in by_run if name in parts] for name in names}
    shared = {name: several for name, several in by_part.items() if len(several) > 1}
    if not shared:
        raise ArgumentError(f"{option_of(axis)} {EVERY_PART}: " + _parts_in(path, results, axis))
    background = [name for name in all_parts if name not in names]
    if background:
        message = f"left out, background: {', '.join(background)}; to compare methods by it: --class {background[0]}"
        click.echo(message, err=True)
    lacking = [method for method, parts in by_run if not set(names) <= parts.keys()]
    if lacking:
        click.echo(f"left out where they lack one of the {AXES[axis].plural}: {', '.join(lacking)}", err=True)
    return shared


def results_of_sets(
    files: Mapping[str, Path],
    only: str | None,
    parts: Mapping[str, str],
    measuring: Mapping[str, Any],
    *,
    join: bool,
) -> dict[str, list[Result]]:
    """Read the chosen results of each data set, complete or not; sets without any are named on standard error."""
    by_set: dict[str, list[Result]] = {}
    for name, path in files.items():
        try:
            chosen = chosen_runs(path, only, parts, partial=True, join=join, measuring=measuring)
        except ArgumentError as error:
            if not by_set and name == [*files][-1]:
                raise
            click.echo(f"{name} has no columns: {error.written('options')}", err=True)
        else:
            tell(*chosen.left_out)
            by_set[name] = chosen.results
    return by_set


def _parts_in(path: Path, results: Sequence[Result], axis: str) -> Message:
    """Say which parts the runs of a file have along an axis, or how they come to have some."""
    from segbench.aggregator.result import AXES
    from segbench.report.tables import how_to_divide

    plural = AXES[axis].plural
    names = dict.fromkeys(name for result in results for name in parts_of(result, axis))
    if not names:
        return Message(
            "no-parts",
            "no run in {path} has {parts}; {how}",
            path=str(path),
            parts=plural,
            how=how_to_divide(results, axis),
        )
    return Message(
        "no-such-part",
        "there is no such {axis}; the {parts} are {known}",
        axis=axis,
        parts=plural,
        known=first_names(list(names), _LISTED),
    )


def names_listed(typed: str | None) -> list[str]:
    """Return names that were typed with commas between; names in tables hold commas in brackets."""
    return re.split(r",(?![^(]*\))", typed) if typed else []


def chosen_methods(runs: Chosen, methods: str) -> Chosen:
    """Return the runs of the listed methods, in that order; the list names them as tables do."""
    wanted = dict.fromkeys(names_listed(methods))
    runs.require(wanted)
    known = {result.method: result for result in named_as_in_tables(runs.results)}
    unknown = sorted(wanted.keys() - known.keys())
    if unknown:
        raise ArgumentError(
            Message(
                "unknown-methods",
                "--methods {unknown}: not in {path}, which has {known}",
                unknown=unknown,
                path=str(runs.path),
                known=list(known),
            )
        )
    stopped = [run for run in runs.stopped if run.method in wanted]
    return replace(runs, results=[known[name] for name in wanted], stopped=stopped)


def on_common(runs: Chosen) -> Chosen:
    """Return the runs on the images that all of them have."""
    from segbench.aggregator.comparing import on_common_images

    if len({result.protocol for result in runs.results}) != 1:
        return runs  # which comparing refuses
    results, left_out = on_common_images(runs.results)
    return replace(runs, results=results, images_left_out=left_out)


def named_as_in_tables(results: Sequence[Result]) -> list[Result]:
    """Name runs of one method by the settings in which they differ."""
    from segbench.aggregator.result import names_of

    return [replace(result, method=name, run="") for name, result in zip(names_of(results), results, strict=True)]


def comparable(results: Sequence[Result]) -> list[Result]:
    """Return the results that can be compared image by image, and print which cannot."""
    for reason, left_out in (
        ("published without images", [result.method for result in results if result.published]),
        ("human annotators", [result.method for result in results if not result.published and not result.competes]),
    ):
        if left_out:
            click.echo(f"not compared ({reason}): {', '.join(left_out)}", err=True)
    return competing(results)


def competing(results: Sequence[Result]) -> list[Result]:
    """Return the results that can be compared image by image."""
    return [result for result in results if result.competes and not result.published]
