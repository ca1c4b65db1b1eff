"""Several methods and runs of methods against one ground truth: their names, and what is refused before counting."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from shlex import quote
from typing import TypeAlias

from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting
from segbench.core.names import MethodRun
from segbench.core.settings import as_path
from segbench.loaders.pairing import Pairing
from segbench.loaders.source import method_name, shown
from segbench.statistics.runs import are_folds

Place: TypeAlias = str | os.PathLike[str]
Predictions: TypeAlias = Mapping[str, Place] | list[str] | list[Path] | list[Place] | tuple[Place, ...]
"""Predictions of several methods: by name, where ``"ours@1"`` is a run of ``"ours"``, or named after their folders."""


def places_of(predictions: Predictions) -> dict[MethodRun, str]:
    """Read places of predictions by method and run."""
    if not predictions:
        raise ArgumentError(
            Message("empty", "prediction is empty, expected the paths of one or more methods: {{'ours': PRED}}")
        )
    if isinstance(predictions, Mapping):
        paths = {f"prediction[{name!r}]": path for name, path in predictions.items()}
        methods = [_method_run(name) for name in predictions]
    else:
        paths = {f"prediction[{number}]": path for number, path in enumerate(predictions)}
        methods = []
    folders = [as_path(path, argument) for argument, path in paths.items()]
    methods = methods or [MethodRun(method_name(folder)) for folder in folders]
    named: dict[MethodRun, str] = {}
    for method, folder in zip(methods, folders, strict=True):
        require_new(named, method, folder)
        named[method] = folder
    refuse_mixed(named)
    return named


def _method_run(name: object) -> MethodRun:
    """Read the name of a method, or of one of its runs."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(
            Message(
                "not-a-name",
                "prediction holds the name {given}, expected a text that names a method: 'ours'",
                given=f"{name!r:.60}",
            )
        )
    method, at, run = name.rpartition("@")
    if at and not (method and run):
        lacking = "run after" if method else "method before"
        raise ArgumentError(
            Message(
                "half-a-name",
                "prediction holds the name {given!r} with no {lacking} @; write {method}@{run}",
                given=name,
                lacking=lacking,
                method=method or "ours",
                run=run or 1,
            )
        )
    return MethodRun(shown(method), shown(run)) if at else MethodRun(shown(name))


def named_place(name: object, path: str) -> Either:
    """Return a name with its place as it is typed."""
    return Either(f"{{{str(name)!r}: {path!r}}}", quote(f"{name}={path}"))


def require_new(known: Iterable[object], name: object, path: str, plural: str = "methods") -> None:
    """Refuse a name that another place has, also one that is written as a run is."""
    if str(name) in map(str, known):
        other = "other"
        if isinstance(name, MethodRun) and name.run:
            other, plural = f"{name.method}@other", "runs"
        another = named_place(other, shown(path))
        raise ArgumentError(
            Message(
                "same-name",
                "two {plural} are called {name!r}; give one another name: {another}",
                plural=plural,
                name=str(name),
                another=another,
            )
        )


def refuse_mixed(paths: Mapping[MethodRun, str]) -> None:
    """Refuse a method that is given by itself and as runs."""
    runs = runs_by_method(paths)
    for method_run, path in paths.items():
        method = method_run.method
        if not method_run.run and method in runs:
            free = next(str(number) for number in count(1) if str(number) not in runs[method])
            raise ArgumentError(
                Message(
                    "run-and-method",
                    "{method!r} is given by itself and as {number:many run}, {runs}; name this one, too, as a run, "
                    "{run}, or as another method, {other}",
                    method=method,
                    number=len(runs[method]),
                    runs=runs[method],
                    run=named_place(f"{method}@{free}", shown(path)),
                    other=named_place(f"{method}-2", shown(path)),
                )
            )


def runs_by_method(named: Iterable[MethodRun]) -> dict[str, list[str]]:
    """Return the runs of each method that has any."""
    return grouped((method_run.method, method_run.run) for method_run in named if method_run.run)


def refuse_overlapping_runs(pairings: Mapping[MethodRun, Pairing]) -> None:
    """Refuse runs of one method that share some images but not all, and folds as such, before anything is counted."""
    by_method = grouped(
        (method_run.method, (method_run.run, pairing)) for method_run, pairing in pairings.items() if method_run.run
    )
    for method, runs in by_method.items():
        predicted = [name for _, pairing in runs for name in pairing.names]
        share_no_image = len(set(predicted)) == len(predicted) and len(runs) > 1
        if share_no_image and all(pairing.files and pairing.missing and not pairing.extra for _, pairing in runs):
            raise ArgumentError(
                Message(
                    "perhaps-folds",
                    "each of the {runs} runs of {method} has predictions of other images; if they are the folds of a "
                    "cross-validation, add {setting}",
                    runs=len(runs),
                    method=method,
                    setting=Setting("allow_missing", True),
                )
            )
        if all(pairing.files and not pairing.incomplete for _, pairing in runs):  # else the error says what is lacking
            are_folds(method, {run: pairing.names for run, pairing in runs})
