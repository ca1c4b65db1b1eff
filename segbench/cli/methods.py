"""What stands for methods and their runs on the command line: PLACE, name=PLACE, name@run=PLACE and name@=GLOB.

Only the last two make runs, which are trainings of a method or folds of a cross-validation; the name of a folder may
hold an @.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from glob import escape, glob
from itertools import count
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.names import MethodRun, first_names
from segbench.core.numbers import many

if TYPE_CHECKING:
    from segbench.loaders.pairing import Pairing

_LISTED = 8


def places_by_name(arguments: Sequence[str], plural: str) -> dict[str, str]:
    """Read ``PLACE`` and ``name=PLACE`` into places by name; a place is a folder, an archive or a file."""
    named: dict[str, str] = {}
    for text in arguments:
        name, path = _name_and_place(text)
        require_new(named, name, path, plural)
        named[name] = path
    return named


def method_places(arguments: Sequence[str]) -> dict[MethodRun, str]:
    """Read places of predictions by method and run; the runs of each method are told on standard error."""
    named: dict[MethodRun, str] = {}
    for text in arguments:
        name, path = _name_and_place(text)
        if _is_named(text) and "@" not in name and len(glob(path)) > 1:  # noqa: PTH207  a path from the root, too
            runs = quote(f"{name}@={path}")
            raise ArgumentError(f"{text!r} is no folder, it matches several; to count each as a run, write {runs}")
        method, at, run = name.rpartition("@")
        if not at or not _is_named(text):
            of_text = {MethodRun(name): path}
        elif not method:
            raise ArgumentError(f"{text!r} gives no name before @; write ours@{run or 1}={path}")
        elif run:
            of_text = {MethodRun(method, run): path}
        else:
            of_text = _matching(text, method, path)
        for method_run, of_run in of_text.items():
            require_new(named, method_run, of_run)
            named[method_run] = of_run
    refuse_mixed(named)
    for method, runs in _runs_of(named).items():
        click.echo(f"{many(len(runs), 'run')} of {method}: {', '.join(runs)}", err=True)
    return named


def _is_named(text: str) -> bool:
    """Return whether a place has a name before it; a file whose name holds = is a place."""
    return "=" in text and not os.path.lexists(text)


def _name_and_place(text: str) -> tuple[str, str]:
    """Return the name that stands before a place, by default that of the place itself."""
    from segbench.loaders.decoded import shown
    from segbench.loaders.source import method_name

    name, _, path = text.partition("=") if _is_named(text) else (method_name(text), "", text)
    name = shown(name)
    if not name or not path:
        raise ArgumentError(f"{text!r} gives no name; write name=PLACE")
    return name, path


def _matching(text: str, method: str, pattern: str) -> dict[MethodRun, str]:
    """Return the folders and archives that a glob matches, or else files, as runs named by what its * stands for."""
    from segbench.loaders.decoded import shown
    from segbench.loaders.pairing import natural
    from segbench.loaders.source import is_archive, method_name

    if pattern.count("*") != 1:
        has_folders = "*" not in pattern and any(path.is_dir() for path in Path(pattern).glob("*"))
        example = quote(f"{method}@={pattern.rstrip('/')}/*" if has_folders else f"{method}@=PRED/seed*")
        problem = f"{text!r} has {pattern.count('*')} *, expected one, in place of the name of the run"
        raise ArgumentError(f"{problem}; write {example}, or name each run: {method}@1=FOLDER1 {method}@2=FOLDER2")
    before, after = pattern.rstrip("/").split("*")
    paths = glob(f"{escape(before)}*{escape(after)}")  # noqa: PTH207  a path from the root, too
    folders = [path for path in paths if os.path.isdir(path) or is_archive(path)]  # noqa: PTH112  a str is enough
    runs: dict[MethodRun, str] = {}
    for path in folders or paths:
        matched = path[len(before) : len(path) - len(after)]
        name = matched if after else method_name(path)[len(os.path.basename(before)) :]  # noqa: PTH119  as above
        if not name:
            named_run = quote(f"{method}@0={path}")
            raise ArgumentError(
                f"{text!r} matches {path}, where nothing stands for *; name each run, this one {named_run}"
            )
        require_new(runs, MethodRun(method, shown(name)), path)
        runs[MethodRun(method, shown(name))] = path
    if not runs:
        raise ArgumentError(f"{text!r} matches no folder, archive or file; {_what_would_match(method, before)}")
    return {run: runs[run] for run in sorted(runs, key=lambda run: natural(run.run))}


def _what_would_match(method: str, before: str) -> str:
    """Say what is there in place of what a glob looked for, and what to write."""
    folder = Path(before).parent if not before.endswith("/") else Path(before)
    try:
        names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return f"there is no folder {folder}: correct the path"
    if not names:
        return f"{folder} holds no folders: correct the path, or name each run: {method}@1=FOLDER1 {method}@2=FOLDER2"
    all_of_them = quote(f"{method}@={folder}/*")
    first = quote(f"{method}@1={folder}/{names[0]}")
    return (
        f"{folder} holds {first_names(names, _LISTED)}: write {all_of_them} for all of them, or name each run: {first}"
    )


def require_new(known: Iterable[object], name: object, path: str, plural: str = "methods") -> None:
    """Refuse a name that another place has, also one that is written as a run is."""
    from segbench.loaders.decoded import shown

    if str(name) in map(str, known):
        of_run = isinstance(name, MethodRun) and name.run
        other = f"{name.method}@other" if isinstance(name, MethodRun) and of_run else "other"
        plural = "runs" if of_run else plural
        raise ArgumentError(f"two {plural} are called {str(name)!r}; give one another name: {other}={shown(path)}")


def refuse_mixed(paths: Mapping[MethodRun, str]) -> None:
    """Refuse a method that is given by itself and as runs."""
    from segbench.loaders.decoded import shown

    runs = _runs_of(paths)
    for method_run, path in paths.items():
        method = method_run.method
        if not method_run.run and method in runs:
            free = next(str(number) for number in count(1) if str(number) not in runs[method])
            problem = (
                f"{method!r} is given by itself and as {many(len(runs[method]), 'run')}, {', '.join(runs[method])}"
            )
            run, other = (quote(f"{name}={shown(path)}") for name in (f"{method}@{free}", f"{method}-2"))
            raise ArgumentError(f"{problem}; name this one, too, as a run, {run}, or as another method, {other}")


def _runs_of(named: Iterable[MethodRun]) -> dict[str, list[str]]:
    """Return the runs of each method that has any."""
    return grouped((of.method, of.run) for of in named if of.run)


def refuse_overlapping_runs(pairings: Mapping[MethodRun, Pairing]) -> None:
    """Refuse runs of one method that share some images but not all, and folds as such, before anything is counted."""
    from segbench.statistics.run_means import are_folds

    by_method = grouped((of.method, (of.run, pairing)) for of, pairing in pairings.items() if of.run)
    for method, runs in by_method.items():
        predicted = [name for _, pairing in runs for name in pairing.names]
        alone = len(set(predicted)) == len(predicted) and len(runs) > 1
        if alone and all(pairing.files and pairing.missing and not pairing.extra for _, pairing in runs):
            folds = f"each of the {len(runs)} runs of {method} has predictions of other images"
            raise ArgumentError(f"{folds}; if they are the folds of a cross-validation, add --allow-missing")
        if all(pairing.files and not pairing.incomplete for _, pairing in runs):  # else the error says what is lacking
            are_folds(method, {run: pairing.names for run, pairing in runs})
