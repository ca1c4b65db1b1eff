"""Runs of one method: trainings measured on the same images, or the folds of a cross-validation, each on its own.

Here it is decided which they are, and written how many there are; `segbench.statistics.means` has their table.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from shlex import quote
from typing import Any

from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting, as_message, joined, option_of
from segbench.core.names import few_names, first_names
from segbench.core.numbers import many
from segbench.core.table import Table

_LISTED = 8
_SINGLE = (1, "run")


def told_of_runs(tables: Mapping[str, Table]) -> str:
    """Say how many runs or folds of each method are compared: ``3 runs of ours, 1 of theirs``, or nothing."""
    numbers = {
        name: (len(set(table.folds)) or table.runs, "fold" if table.folds else "run") for name, table in tables.items()
    }
    if set(numbers.values()) == {_SINGLE}:
        return ""
    by_number = grouped((number, name) for name, number in numbers.items())
    if len(by_number) == 1:
        return f"{many(*next(iter(by_number)))} of each"
    told, last = [], ""
    for (number, noun), names in by_number.items():
        told.append(f"{number if noun == last else many(number, noun)} of {few_names(names, len(tables))}")
        last = noun
    varies = any(table.runs > 1 for table in tables.values())
    return ", ".join([*told, *(["taken to vary alike"] if varies and _SINGLE in by_number else [])])


def with_trainings(rows: str, tables: Iterable[Table]) -> str:
    """Say what is drawn at random, given the images or units in words: ``60 images and trainings``."""
    tables = [*tables]
    if any(table.folds for table in tables):
        return f"{rows} or folds"
    return f"{rows} and trainings" if any(table.runs > 1 for table in tables) else rows


def are_folds(method: str, runs: Mapping[str, Collection[str]]) -> bool:
    """Return whether the runs of a method, each with its images, are folds with images of their own.

    They are not where all are on the same images, as trainings are.

    Raises
    ------
    ArgumentError
        If a run has no images.
    DataError
        If some runs share a part of their images.
    """
    images = {run: frozenset(names) for run, names in runs.items()}
    without = [run for run, names in images.items() if not names]
    if without:
        raise ArgumentError(
            Message(
                "no-images",
                "{method}: run {runs} has no images, expected at least one",
                method=method,
                runs=without,
            )
        )
    if len(set(images.values())) == 1:
        return False
    if len(frozenset.union(*images.values())) == sum(map(len, images.values())):
        return True
    overlapping = [(a, b) for a, b in itertools.combinations(images, 2) if images[a] & images[b]]
    unlike = [(a, b) for a, b in overlapping if images[a] != images[b]]
    if unlike:
        a, b = unlike[0]
        overlap = Message(
            "overlapping-runs",
            "runs {run} and {other} share {shared} images, of {images} and {other_images}",
            run=a,
            other=b,
            shared=len(images[a] & images[b]),
            images=len(images[a]),
            other_images=len(images[b]),
        )
        remedy = _remedy(images, a, b)
    else:
        a, b = overlapping[0]
        overlap = Message(
            "repeated-folds", "runs {run} and {other} are on the same images, others on different ones", run=a, other=b
        )
        remedy = as_message("of a cross-validation that was repeated, give the folds of one repetition")
    raise DataError(method, overlap + "; expected the same images in all (trainings) or in no two (folds)", remedy)


def _remedy(images: Mapping[str, frozenset[str]], first: str, second: str) -> Message:
    """Say how runs that share a part of their images become trainings, or folds."""
    remedies: list[Message] = []
    common = sorted(frozenset.intersection(*images.values()))
    if common:
        few = len(common) <= _LISTED
        listed = f" {quote(','.join(common))}" if few else f" LIST.txt, with the names of these {len(common)}"
        images_of_all = Either(f"images={common if few else 'LIST.txt'!r}", f"{option_of('images')}{listed}")
        remedies.append(
            Message(
                "common-images",
                "to compare trainings, count the images that all have: {option}",
                option=images_of_all,
                value=Setting("images", tuple(common)),
            )
        )
    shared = first_names(sorted(images[first] & images[second]), _LISTED)
    remedies.append(Message("pool-folds", "to pool folds, take {shared} out of one of them", shared=shared))
    return joined(remedies)


def named_runs(method: str, runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Name the counts of each run of a method as messages do; those of folds are put together."""
    if len(runs) == 1:
        return {method: next(iter(runs.values()))}
    if not are_folds(method, runs):
        return {f"{method}@{run}": counts for run, counts in runs.items()}
    return {method: {image: counts for images in runs.values() for image, counts in images.items()}}
