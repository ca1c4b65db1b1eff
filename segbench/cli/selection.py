"""What verbs take from a results file: which runs, and how their images are resampled."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from segbench.cli.options import argument
from segbench.core.errors import ArgumentError, DataError, SegbenchError
from segbench.core.options import option
from segbench.protocols.class_names import in_no_mean

if TYPE_CHECKING:
    from segbench.aggregator.records import Run
    from segbench.aggregator.result import Result


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

    def chosen(self, class_name: str | None = None, *, partial: bool = False, join: bool = True) -> list[Result]:
        """Read the results, of one class if it is named; say on standard error what is left out or will be replaced.

        The runs of a method are joined, or not, see `segbench.join_runs`.
        """
        found = chosen_runs(self.results, self.only, class_name, partial=partial, join=join, measuring=self.measuring)
        tell(*found.left_out, *outdated(found.results))
        return found.results


def joined_if_alike(results: Sequence[Result]) -> list[Result]:
    """Join the runs of each method; where they do not have the same images, say why and return them as they are."""
    from segbench.aggregator.joining import join_runs

    try:
        return join_runs(results)
    except DataError as error:
        tell(f"not joined: {error}")
        return list(results)


def words_of_results(words: Callable[[Result], Collection[str]]) -> Callable[[click.Context], list[str]]:
    """Give what completes an option: words of the results in the files that were typed before it."""

    def complete(context: click.Context) -> list[str]:
        from segbench.aggregator.assembling import load_runs

        found: dict[str, None] = {}
        for place in context.args:  # what Click could not place, as an option without a value stands at the end
            with suppress(SegbenchError, OSError):
                results, _ = load_runs(Path(place.rpartition("=")[2]), partial=True)
                found |= dict.fromkeys(word for result in results for word in words(result))
        return [*found]

    return complete


KEYS = words_of_results(lambda result: result.summary)
"""What completes the keys of metrics."""


@dataclass(frozen=True, kw_only=True)
class OneGroup:
    """One of the groups of images, such as a category of a data set."""

    group: str | None = option("Take the images of one group, or category of a data set.", metavar="NAME", rare=True)


@dataclass(frozen=True, kw_only=True)
class ChosenParts(OneGroup):
    """The class, and the group of images, that a verb takes of runs that have been counted."""

    class_name: str | None = option(
        "Select one class of runs with --classes, measured against all others; compare takes each of them, too: all.",
        flag="--class",
        metavar="NAME",
        complete=words_of_results(lambda result: parts_of(result, "class")),
    )

    def of_group(self, results: Sequence[Result]) -> list[Result]:
        """Return the results of the images of the chosen group; all where none is chosen."""
        if self.group is None:
            return list(results)
        return [result.parts("group")[self.group] for result in results]

    def whole(self, results: Sequence[Result]) -> list[Result]:
        """Return the results of the chosen group, or of all images; which folders with a model each do not have."""
        found = self.of_group(results)
        for result in found:
            if "group" in result.axes and (reason := result.parts("group").undefined.get("pooled")):
                raise ArgumentError(f"{reason}; choose one with --group: {', '.join(result.parts('group'))}")
        return found

    def means(self, results: Sequence[Result]) -> list[Result]:
        """Return the means over groups, or the results of a chosen group; the results themselves without groups."""
        from segbench.aggregator.comparing import refuse_measured_apart

        if self.group is not None or not by_group(results):
            return self.of_group(results)
        refuse_measured_apart(results)
        means = []
        for result in results:
            groups = result.parts("group")
            if groups.mean is None:
                raise ArgumentError(f"{result.method}: {groups.undefined['mean']}")
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
            raise ArgumentError(f"--intervals {self.intervals:g} is not a confidence level in percent; write 95")
        return self.intervals / 100


@dataclass(frozen=True)
class Chosen:
    """Runs of a results file: the results of some, and those that are left out because they are not complete."""

    path: Path
    results: list[Result]
    stopped: list[Run]

    @property
    def left_out(self) -> list[str]:
        """Which runs are left out, in words."""
        listed = ", ".join(f"{run.label} ({_so_far(run)})" for run in self.stopped)
        return [f"left out because incomplete: {listed}; repeat the run to count the rest"] if listed else []

    def require(self, methods: Collection[str]) -> None:
        """Refuse methods of which no run is complete."""
        complete = {result.method for result in self.results}
        for run in self.stopped:
            if run.method in methods and run.method not in complete:
                raise self.not_complete(run)

    def not_complete(self, run: Run) -> DataError:
        """Say that a run is not complete where it must be."""
        return DataError(str(self.path), f"the run of {run.label!r} is not complete ({_so_far(run)})", "repeat it")

    def unfinished(self) -> dict[str, str]:
        """Give by method why it cannot be compared for certain: its run is not complete, or a later one is not."""
        from segbench.core.capabilities import competes

        kinds = {result.protocol for result in self.results}
        beside = [run for run in self.stopped if run.protocol in kinds]
        competing = [run for run in beside if competes(run.rules)]
        reasons = {run.method: f"its run is not complete ({_so_far(run)}); repeat it" for run in competing}
        return reasons | {result.method: result.outdated for result in self.results if result.outdated}


def _so_far(run: Run) -> str:
    """Say how many images of a run have been counted."""
    from segbench.aggregator.result import partial_images

    return partial_images((run.begun, run.images))


def outdated(results: Sequence[Result]) -> list[str]:
    """Say which results a later run will replace."""
    return [f"{result.label}: {result.outdated}" for result in results if result.outdated]


def tell(*notes: str) -> None:
    """Print notes on standard error."""
    for note in notes:
        click.secho(note, fg="yellow", err=True)


def chosen_runs(
    path: Path,
    only: str | None,
    class_name: str | None = None,
    *,
    partial: bool = False,
    join: bool = True,
    measuring: Mapping[str, Any] = MappingProxyType({}),
) -> Chosen:
    """Read the results of a file of a method, or with a text in their signature; of one class, if it is named.

    Results of one protocol are measured alike, and as `measuring` says; those of the runs of a method are joined.
    """
    from segbench.aggregator.assembling import load_runs
    from segbench.aggregator.joining import join_runs
    from segbench.aggregator.measuring import measured_alike, without_measuring
    from segbench.aggregator.result import names_of
    from segbench.cli.measuring import measured_as_typed

    results, stopped = load_runs(path, partial=partial)
    if only is None:
        found = Chosen(path, results, stopped)
    else:
        named = zip(names_of(results), results, strict=True)
        of_method = [result for name, result in named if only in (name, result.label, result.method)]
        unfinished = [run for run in stopped if only in (run.label, run.method)]
        if not of_method and not unfinished:
            of_method = [result for result in results if only in _identity(result, without_measuring(result))]
            unfinished = [run for run in stopped if only in run.signed]
        found = Chosen(path, of_method, unfinished)
    if not found.results:
        if found.stopped:
            raise found.not_complete(found.stopped[0])
        signatures = (_identity(result, without_measuring(result)) for result in results)
        listed = "\n  ".join(dict.fromkeys(signatures))
        raise ArgumentError(
            f"--only {only!r} matches neither a method nor a signature in {path}, which holds "
            f"{', '.join(names_of(results))}\n  {listed}"
        )
    measured = measured_alike(measured_as_typed(found.results, measuring, path))
    measured = join_runs(measured) if join else measured
    return replace(found, results=measured if class_name is None else _of_class(path, measured, class_name))


def _identity(result: Result, settings: Mapping[str, str]) -> str:
    """Write a signature with these settings."""
    from segbench.aggregator.records import resigned

    return resigned(result.signature, result.protocol, settings)


def _of_class(path: Path, chosen: Sequence[Result], class_name: str) -> list[Result]:
    """Return the results of a class; runs that have none are named on standard error."""
    by_run = [(result.method, parts_of(result, "class")) for result in chosen]
    runs = [classes[class_name] for _, classes in by_run if class_name in classes]
    if not runs:
        raise ArgumentError(f"--class {class_name!r}: {_classes_in(path, chosen)}")
    left_out = [method for method, classes in by_run if class_name not in classes]
    if left_out:
        click.echo(f"left out because they have no class {class_name!r}: {', '.join(left_out)}", err=True)
    return runs


def results_of_classes(path: Path, results: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the results of each class that several methods have, without the background that is in no mean.

    What is left out, and methods that lack a class, are named on standard error.
    """
    by_run = [(result.method, parts_of(result, "class")) for result in results]
    last = {name: part for _, classes in by_run for name, part in classes.items()}
    names = [name for name, part in last.items() if not in_no_mean(part.settings)]
    by_class = {name: [classes[name] for _, classes in by_run if name in classes] for name in names}
    found = {name: several for name, several in by_class.items() if len(several) > 1}
    if not found:
        raise ArgumentError(f"--class all: {_classes_in(path, results)}")
    if background := [name for name in last if name not in names]:
        said = f"left out, background: {', '.join(background)}; to compare methods by it: --class {background[0]}"
        click.echo(said, err=True)
    if lacking := [method for method, classes in by_run if not set(names) <= classes.keys()]:
        click.echo(f"left out where they lack a class: {', '.join(lacking)}", err=True)
    return found


def results_of_sets(
    files: Mapping[str, Path],
    only: str | None,
    class_name: str | None,
    measuring: Mapping[str, Any],
    *,
    join: bool,
) -> dict[str, list[Result]]:
    """Read the chosen results of each data set, complete or not; sets without any are named on standard error."""
    found: dict[str, list[Result]] = {}
    for name, path in files.items():
        try:
            chosen = chosen_runs(path, only, class_name, partial=True, join=join, measuring=measuring)
        except ArgumentError as error:
            if not found and name == [*files][-1]:
                raise
            click.echo(f"{name} has no columns: {error}", err=True)
        else:
            tell(*chosen.left_out)
            found[name] = chosen.results
    return found


def _classes_in(path: Path, results: Sequence[Result]) -> str:
    names = dict.fromkeys(name for result in results for name in parts_of(result, "class"))
    if not names:
        from segbench.report.tables import how_to_count_classes

        return f"no run in {path} has classes; {how_to_count_classes(results)}"
    return f"no such class; those of {path} are {', '.join(names)}"


def chosen_methods(found: Chosen, methods: str) -> Chosen:
    """Give the runs of methods in the order of a list, which names them as tables do."""
    wanted = dict.fromkeys(re.split(r",(?![^(]*\))", methods))  # names in tables hold commas in brackets
    found.require(wanted)
    known = {one.method: one for one in named_as_in_tables(found.results)}
    if unknown := sorted(wanted.keys() - known.keys()):
        raise ArgumentError(f"--methods {', '.join(unknown)}: not in {found.path}, which has {', '.join(known)}")
    stopped = [run for run in found.stopped if run.method in wanted]
    return replace(found, results=[known[name] for name in wanted], stopped=stopped)


def named_as_in_tables(results: Sequence[Result]) -> list[Result]:
    """Name runs of one method by the settings in which they differ."""
    from segbench.aggregator.result import names_of

    return [replace(result, method=name, run="") for name, result in zip(names_of(results), results, strict=True)]


def comparable(results: Sequence[Result]) -> list[Result]:
    """Give the results that can be compared image by image, and say which cannot."""
    for reason, left_out in (
        ("published without images", [result.method for result in results if result.published]),
        ("human annotators", [result.method for result in results if not result.published and not result.competes]),
    ):
        if left_out:
            click.echo(f"not compared ({reason}): {', '.join(left_out)}", err=True)
    return [result for result in results if result.competes and not result.published]
