"""Soft maps of several classes in a folder each: which folder is which class, and that none is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from segbench.errors import DataError
from segbench.loaders.decoded import shown
from segbench.loaders.pairing import Pairing, SampleFiles

ClassOf = Callable[[str], int | None]

_LISTED = 20


def has_class_folders(prediction: Path, class_of: ClassOf) -> bool:
    """Tell whether a folder holds a sub-folder called after a class."""
    return prediction.is_dir() and any(
        class_of(path.name) is not None and path.is_dir() for path in prediction.iterdir()
    )


def in_class_order(pairing: Pairing, names: Sequence[str], class_of: ClassOf) -> Pairing:
    """Bring the maps of each image into the order of the classes.

    Parameters
    ----------
    pairing : Pairing
        Without tags, of stacks, only a note is added.
    names : sequence of str
        The classes, as notes and errors call them.
    class_of : callable
        From a tag to the place of its class among `names`; None for a tag that names none.

    Returns
    -------
    Pairing
        Without the files of tags that name no class; a note says which tag is which class, and which were left out.

    Raises
    ------
    DataError
        For images that lack a class, and tags that name the same class: all of them.
    """
    if not any(files.tags for files in pairing.files):
        note = f"maps of a stack, in this order: {', '.join(names)}"
        return pairing if len(names) == 1 else replace(pairing, notes=(*pairing.notes, note))
    tags = dict.fromkeys(tag for files in pairing.files for tag in files.tags)
    places = {tag: place for tag in tags if (place := class_of(tag)) is not None}
    _refuse_doubles(pairing, names, places)
    foreign = [tag for tag in tags if tag not in places]
    incomplete = {
        files.name: [name for place, name in enumerate(names) if place not in {places.get(tag) for tag in files.tags}]
        for files in pairing.files
    }
    incomplete = {name: lacking for name, lacking in incomplete.items() if lacking}
    if incomplete:
        raise _missing(pairing, incomplete, len(names), foreign)
    by_place = sorted(places, key=places.__getitem__)
    told = ", ".join(f"{shown(tag)} is {names[places[tag]]}" for tag in by_place)
    notes = (*pairing.notes, f"predictions by class: {told}")
    if foreign:
        notes += (f"predictions of no class left out: {', '.join(map(shown, foreign))}",)
    return replace(pairing, files=tuple(_ordered(files, places) for files in pairing.files), notes=notes)


def _ordered(files: SampleFiles, places: dict[str, int]) -> SampleFiles:
    by_tag = dict(zip(files.tags, (files.prediction, *files.scales), strict=True))
    tags = sorted((tag for tag in by_tag if tag in places), key=places.__getitem__)
    first, *others = (by_tag[tag] for tag in tags)
    return replace(files, prediction=first, scales=tuple(others), tags=tuple(tags))


def _refuse_doubles(pairing: Pairing, names: Sequence[str], places: dict[str, int]) -> None:
    by_place: dict[int, list[str]] = {}
    for tag, place in places.items():
        by_place.setdefault(place, []).append(tag)
    doubled = {names[place]: tags for place, tags in by_place.items() if len(tags) > 1}
    if doubled:
        listed = "; ".join(f"{name}: {', '.join(map(shown, tags))}" for name, tags in doubled.items())
        where = shown(pairing.files[0].prediction.parent.parent)
        raise DataError(where, f"several predictions of one class ({listed})", "keep one of each")


def _missing(pairing: Pairing, incomplete: dict[str, list[str]], classes: int, foreign: Sequence[str]) -> DataError:
    by_classes: dict[tuple[str, ...], list[str]] = {}
    for image, lacking in incomplete.items():
        by_classes.setdefault(tuple(lacking), []).append(image)
    lines = []
    for classes_lacking, images in by_classes.items():
        more = f" and {len(images) - _LISTED} more" if len(images) > _LISTED else ""
        lines.append(f"\n  {', '.join(classes_lacking)}: missing for {', '.join(map(shown, images[:_LISTED]))}{more}")
    if foreign:
        lines.append(f"\n  (found, but no class: {', '.join(map(shown, foreign))})")
    where = shown(pairing.files[0].prediction.parent.parent)
    what = f"{len(incomplete)} of {len(pairing.files)} images lack maps of some of {classes} classes:{''.join(lines)}\n"
    return DataError(where, what, "write a map for every class, or name those there are: --classes")
