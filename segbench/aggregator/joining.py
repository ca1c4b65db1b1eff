"""The runs of one method joined: trainings on the same images, or the folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import combinations

from segbench.core.errors import DataError
from segbench.core.interface import format_setting, setting
from segbench.core.names import MethodRun, first_names
from segbench.core.numbers import many

_LISTED = 8


def are_folds(images: Mapping[str, AbstractSet[str]]) -> bool:
    """Return whether no two runs have an image in common."""
    return all(first.isdisjoint(second) for first, second in combinations(images.values(), 2))


def refuse_partial_overlap(method: str, images: Mapping[str, AbstractSet[str]]) -> None:
    """Refuse runs of a method, given the images of each, that share some images but not all."""
    different = [(first, second) for first, second in combinations(images, 2) if images[first] != images[second]]
    if are_folds(images) or not different:
        return
    first, second = max(different, key=lambda pair: len(images[pair[0]] & images[pair[1]]))
    shared, either = sorted(images[first] & images[second]), images[first] | images[second]
    what = f"runs {first} and {second} share {len(shared)} of {many(len(either), 'image')}, expected all of them, as "
    what += "trainings on the same images do, or none, as folds of a cross-validation do"
    place = MethodRun(method, second)
    hints = []
    if common := sorted(frozenset.intersection(*map(frozenset, images.values()))):
        few = len(common) <= _LISTED
        these = format_setting("images", ",".join(common)) if few else format_setting("images", "LIST.txt")
        these = setting(these, format_setting("images", common if few else "LIST.txt"))
        listed = "" if few else f" with the names of these {len(common)}"
        hints.append(f"to compare trainings, count only the images that all runs have: {these}{listed}")
    if shared:
        hints.append(f"for folds, take {first_names(shared, _LISTED)} out of the predictions of {place}")
    raise DataError(method, what, "; ".join(hints))
