"""The prediction files of one image to maps: which form they have, and what was done to which of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.interface import given
from segbench.core.levels import note_on_levels
from segbench.core.sample import Reads
from segbench.loaders import matlab
from segbench.loaders.decoded import Role, Source, shown
from segbench.loaders.images import STACKS, decode, decode_stack
from segbench.loaders.pairing import SampleFiles

Maps: TypeAlias = tuple[NDArray[Any], ...]

Form: TypeAlias = Literal["map", "ucm2", "labels"]
"""What a prediction is: one map, a contour map of double size, or label maps, one per threshold or scale."""

_LISTED_ONE_BY_ONE = 4


def read_predictions(
    files: SampleFiles, contents: Mapping[Source, bytes], reads: Reads
) -> tuple[Maps, tuple[str, ...], Form]:
    """Decode all prediction files of an image."""
    scales = bool(files.scales) and reads != "classes"
    role: Role = "ground truth" if reads == "regions" or (scales and reads == "boundaries") else "prediction"
    if reads == "labels":
        role = "predicted label map"
    maps, said, form = _maps_in(contents[files.prediction], files.prediction, reads, role)
    if scales and (reads == "masks" or form != "map"):
        many = f"{1 + len(files.scales)} predictions of one image, expected one"
        what = many if reads == "masks" else f"{form} beside other scales"
        hint = f"only label maps can have one file per scale; correct {given('pred_pattern')} or the list"
        raise DataError(shown(files.prediction), what, hint)
    further = [decode(contents[path], path, role=role) for path in files.scales]
    maps += tuple(one.array for one in further)
    notes = [said, *(one.notes for one in further)]
    if reads == "classes":
        notes = [(*of, *note_on_levels(one.dtype, scalable=False)) for of, one in zip(notes, maps, strict=True)]
    return maps, _notes_on_maps(notes, files.tags), "labels" if scales else form


def _notes_on_maps(notes: Sequence[tuple[str, ...]], tags: Sequence[str]) -> tuple[str, ...]:
    """Say of each note which maps it is on, unless it is on all."""
    names = tags or [f"map {place}" for place in range(1, len(notes) + 1)]
    on = {note: [n for n, of in zip(names, notes, strict=True) if note in of] for said in notes for note in said}
    return tuple(note if len(some) == len(notes) else f"{note}, in {_named(some)}" for note, some in on.items())


def _named(maps: Sequence[str]) -> str:
    return f"{len(maps)} maps" if len(maps) > _LISTED_ONE_BY_ONE else ", ".join(map(shown, maps))


def _maps_in(data: bytes, path: Source, reads: Reads, role: Role) -> tuple[Maps, tuple[str, ...], Form]:
    """Give the soft map or the label maps in one file, notes, and which it is."""
    if reads == "annotators":
        return (), (), "map"
    if reads in ("classes", "labels") and path.suffix.lower() in STACKS:
        return (decode_stack(data, path, role=role),), (), "map"
    if reads not in ("masks", "labels") and path.suffix.lower() in matlab.FORMAT.extensions:
        contents = matlab.read_mat(data, path)
        if "ucm2" in contents:
            return (matlab.ucm2(contents, path),), (), "ucm2"
        if "segs" in contents:
            return matlab.segs(contents, path), (), "labels"
    decoded = decode(data, path, role=role)
    return (decoded.array,), decoded.notes, "map"
