"""What stands for methods and their runs on the command line: PLACE, name=PLACE, name@run=PLACE and name@=GLOB.

Only the last two make runs, which are trainings of a method or folds of a cross-validation; the name of a folder may
hold an @.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import escape, glob
from pathlib import Path
from shlex import quote

import click

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.names import MethodRun, first_names
from segbench.core.numbers import many

_LISTED = 8


def places_by_name(arguments: Sequence[str], plural: str) -> dict[str, str]:
    """Read ``PLACE`` and ``name=PLACE`` into places by name; a place is a folder, an archive or a file."""
    from segbench.aggregator.methods import require_new

    named: dict[str, str] = {}
    for text in arguments:
        name, path = _name_and_place(text)
        require_new(named, name, path, plural)
        named[name] = path
    return named


def method_places(arguments: Sequence[str]) -> dict[MethodRun, str]:
    """Read places of predictions by method and run; the runs of each method are told on standard error."""
    from segbench.aggregator.methods import refuse_mixed, require_new, runs_by_method

    named: dict[MethodRun, str] = {}
    for text in arguments:
        name, path = _name_and_place(text)
        if _is_named(text) and "@" not in name and len(glob(path)) > 1:  # noqa: PTH207  a path from the root, too
            raise ArgumentError(
                Message(
                    "several-folders",
                    "{typed!r} is no folder, it matches several; to count each as a run, write {as_runs}",
                    typed=text,
                    as_runs=quote(f"{name}@={path}"),
                )
            )
        method, at, run = name.rpartition("@")
        if not at or not _is_named(text):
            of_text = {MethodRun(name): path}
        elif not method:
            raise ArgumentError(
                Message(
                    "half-a-name",
                    "{typed!r} gives no name before @; write ours@{run}={path}",
                    typed=text,
                    run=run or 1,
                    path=path,
                )
            )
        elif run:
            of_text = {MethodRun(method, run): path}
        else:
            of_text = _matching(text, method, path)
        for method_run, of_run in of_text.items():
            require_new(named, method_run, of_run)
            named[method_run] = of_run
    refuse_mixed(named)
    for method, names in runs_by_method(named).items():
        click.echo(f"{many(len(names), 'run')} of {method}: {', '.join(names)}", err=True)
    return named


def _is_named(text: str) -> bool:
    """Return whether a place has a name before it; a file whose name holds = is a place."""
    return "=" in text and not os.path.lexists(text)


def _name_and_place(text: str) -> tuple[str, str]:
    """Return the name that stands before a place, by default that of the place itself."""
    from segbench.loaders.source import method_name, shown

    name, _, path = text.partition("=") if _is_named(text) else (method_name(text), "", text)
    name = shown(name)
    if not name or not path:
        raise ArgumentError(Message("no-name", "{typed!r} gives no name; write name=PLACE", typed=text))
    return name, path


def _matching(text: str, method: str, pattern: str) -> dict[MethodRun, str]:
    """Return the folders and archives that a glob matches, or else files, as runs named by what its * stands for."""
    from segbench.aggregator.methods import require_new
    from segbench.loaders.pairing import natural
    from segbench.loaders.source import is_archive, method_name, shown

    if pattern.count("*") != 1:
        has_folders = "*" not in pattern and any(path.is_dir() for path in Path(pattern).glob("*"))
        example = quote(f"{method}@={pattern.rstrip('/')}/*" if has_folders else f"{method}@=PRED/seed*")
        raise ArgumentError(
            Message(
                "not-one-star",
                "{typed!r} has {stars} *, expected one, in place of the name of the run; write {example}, or name each "
                "run: {method}@1=FOLDER1 {method}@2=FOLDER2",
                typed=text,
                stars=pattern.count("*"),
                example=example,
                method=method,
            )
        )
    before, after = pattern.rstrip("/").split("*")
    paths = glob(f"{escape(before)}*{escape(after)}")  # noqa: PTH207  a path from the root, too
    folders = [path for path in paths if os.path.isdir(path) or is_archive(path)]  # noqa: PTH112  a str is enough
    runs: dict[MethodRun, str] = {}
    for path in folders or paths:
        matched = path[len(before) : len(path) - len(after)]
        name = matched if after else method_name(path)[len(os.path.basename(before)) :]  # noqa: PTH119  as above
        if not name:
            raise ArgumentError(
                Message(
                    "nothing-for-star",
                    "{typed!r} matches {path}, where nothing stands for *; name each run, this one {named_run}",
                    typed=text,
                    path=path,
                    named_run=quote(f"{method}@0={path}"),
                )
            )
        require_new(runs, MethodRun(method, shown(name)), path)
        runs[MethodRun(method, shown(name))] = path
    if not runs:
        raise ArgumentError(
            Message(
                "matches-nothing",
                "{typed!r} matches no folder, archive or file; {remedy}",
                typed=text,
                remedy=_what_would_match(method, before),
            )
        )
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
