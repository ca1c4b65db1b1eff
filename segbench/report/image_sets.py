"""Which results were counted on the same images: only those compete for the best figure.

Conventions
-----------
1. The same images are those of the same names, and of the same content where both know it: results counted from files,
   or both from arrays. An image that failed for one method alone sets it apart from the others.
2. The images of a curve known from print are not known: it goes along where all others are on the same images, and is
   apart where they are not. So do human annotators, of whom images with one annotator tell nothing.
3. A partial result, of a run that stopped half-way, has the images counted so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from segbench.aggregator.result import Result
from segbench.report.whose import few_names


def image_sets(results: Sequence[Result]) -> list[list[int]]:
    """Give the places of results on the same images, the set of most images first, curves known from print last.

    Sets of partial results alone come after the others.
    """
    sets: list[list[int]] = []
    published: list[int] = []
    for place, result in sorted(enumerate(results), key=lambda at: not at[1].competes):
        found = [places for places in sets if _same(result, results[places[0]])]
        if result.published:
            published.append(place)
        elif found:
            found[0].append(place)
        elif not result.rules.competes and len(sets) == 1:
            sets[0].append(place)
        else:
            sets.append([place])
    sets.sort(key=lambda places: (all(results[k].partial for k in places), -len(results[places[0]].counts)))
    if len(sets) == 1:
        return [sorted(sets[0] + published)]
    return [*map(sorted, sets), *([published] if published else [])]


def in_sets(results: Sequence[Result], key: Callable[[Result], Any]) -> list[Result]:
    """Sort results within each set of images."""
    return [one for places in image_sets(results) for one in sorted((results[k] for k in places), key=key)]


def set_notes(results: Sequence[Result], names: Sequence[str]) -> tuple[str, ...]:
    """Say which methods were counted on which images, where they were not all counted on the same."""
    sets = image_sets(results)
    if len(sets) < 2:
        return ()
    told = [f"{few_names([names[k] for k in places], len(names))} ({_images(results[places[0]])})" for places in sets]
    return (f"not all on the same images, best only among those that are: {'; '.join(told)}",)


def failure_notes(results: Sequence[Result], names: Sequence[str]) -> tuple[str, ...]:
    """Say how many images of each method failed; of several methods alike once."""
    alike: dict[str, list[str]] = {}
    for result, name in zip(results, names, strict=True):
        if result.failed:
            total = len(result.failed) + len(result.counts)
            said = f"{len(result.failed)} of {total} image{'s'[: total != 1]} failed, in no figure"
            alike.setdefault(said, []).append(name)
    return tuple(f"{few_names(methods, len(names))}: {said}" for said, methods in alike.items())


def images_of(result: Result) -> str:
    """Write the number of images; a dash where it is not known."""
    return "-" if result.published or result.unnamed else str(len(result.counts))


def _same(one: Result, other: Result) -> bool:
    sources = [result.settings.get("source", "files") for result in (one, other)]
    # The digest of imported counts is that of the files that held them.
    known = sources[0] == sources[1] != "imported"
    return set(one.counts) == set(other.counts) and (not known or one.data == other.data)


def _images(result: Result) -> str:
    if result.published:
        return "known from print"
    count = len(result.counts)
    return f"{count} image{'s'[: count != 1]}, data:{result.data}" if not result.unnamed else "images without names"
