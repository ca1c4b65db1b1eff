"""Palettes of label maps, whose indices are labels only where all files give an index the same colour.

Programs that reduce colours file by file give the same colour another index in each. A note says which colours an
image uses, so that a whole set can be judged without reading it twice; colours that no pixel has decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, Setting
from segbench.core.sample import SIDES, Side

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol

_INDICES = Message("palette-indices", "coloured palette: its indices are taken as labels")
_LEVELS = Message("palette-levels", "grey palette: its grey levels are taken, not its indices")
_MOST_USED = 32
"""Indices of an image that are compared: label maps use few, and a note on all 256 would take kilobytes."""
_SAVED = "save Image.fromarray(numpy.asarray({})) as PNG"
_COLOURS = _SAVED.format("Image.open(FILE).convert('RGB')")
_INDEXED = _SAVED.format("Image.open(FILE)")


def note_on_indices(used: NDArray[Any], palette: NDArray[np.uint8]) -> Note:
    """Say that indices are taken as labels, with the colours of the first that are used."""
    known = used[used < len(palette)][:_MOST_USED].tolist()
    colours = [palette[index].tobytes().hex() for index in known]
    return Note(_INDICES, detail=Message("colours", "{indices: }: {colours: }", indices=known, colours=colours))


def notes_on_levels(used: NDArray[Any], levels: NDArray[Any]) -> tuple[Note, ...]:
    """Say that levels of a grey palette are taken; empty where they are the indices."""
    return () if np.array_equal(used, levels) else (Note(_LEVELS),)


class Disagreement(NamedTuple):
    """Two files whose palettes give an index different meanings."""

    about: Side
    problem: Message
    files: tuple[str, str]
    surely: bool = True  # whether labels mean something else in these files, whatever was meant


@dataclass
class Palettes:
    """The colour of each index in a set, and the first files that do not agree; a few numbers for any set."""

    same_labels: int  # how many indices, from 0, mean the same in all files
    remapped: bool  # whether sides may count from different numbers
    by_colour: bool  # whether a table of colours can be given
    colours: Mapping[Side, dict[int, tuple[str, str]]] = field(default_factory=lambda: {side: {} for side in SIDES})
    taken: dict[tuple[Side, str], str] = field(default_factory=dict)  # a file of each kind of palette
    within: Disagreement | None = None
    without_colours: dict[tuple[Note, ...], tuple[Note, ...]] = field(default_factory=dict)  # once for all images
    of_set: dict[Note, Note] = field(default_factory=dict)  # as above, of notes that differ in their details

    @classmethod
    def of(cls, protocol: Protocol, settings: Mapping[str, str]) -> Palettes:
        """Begin the palettes of a set that is counted by a protocol, with the fields of its signature."""
        remapped = not settings.keys().isdisjoint(("gt_map", "pred_map"))
        return cls(protocol.reads.same_labels, remapped, hasattr(protocol, "palette"))

    def add(self, notes: Iterable[Note], files: Mapping[Side, str]) -> tuple[Note, ...]:
        """Add what the notes of an image say of its palettes, and return them without the colours."""
        colourless: dict[Note, None] = {}
        for note in notes:
            of_set = self.of_set.setdefault(note.of_set, note.of_set)
            side = next((side for side in SIDES if note.side == side), None)
            if side is None or note.kind not in (_INDICES.kind, _LEVELS.kind):
                colourless[replace(of_set, detail=note.detail, amount=note.amount) if of_set != note else of_set] = None
                continue
            colourless[of_set] = None
            detail_values = note.detail.values if isinstance(note.detail, Message) else {}
            indices, colours = detail_values.get("indices", ()), detail_values.get("colours", ())
            self._add(side, note.kind, zip(indices, colours, strict=False), files[side])  # files may be altered
        without = tuple(colourless)
        return self.without_colours.setdefault(without, without)

    def _add(self, side: Side, kind: str, colours: Iterable[tuple[int, str]], file: str) -> None:
        if not self.same_labels:
            return
        self.taken.setdefault((side, kind), file)
        files = tuple(self.taken.get((side, taken.kind), "") for taken in (_LEVELS, _INDICES))
        if all(files) and self.same_labels > 1:
            problem = Message(
                "grey-and-coloured-palettes",
                "the palette of {grey} is grey, and its levels are taken as labels; that of {coloured} is "
                "coloured, and its indices are",
                grey=files[0],
                coloured=files[1],
            )
            self.within = self.within or Disagreement(side, problem, (files[0], files[1]))
        known = self.colours[side]
        for index, colour in colours:
            other, before = known.setdefault(index, (colour, file))
            if other != colour and index < self.same_labels:
                problem = Message(
                    "palettes-differ",
                    "palettes differ, and their indices are taken as labels: {difference}",
                    difference=_difference(index, known, colour, file),
                )
                self.within = self.within or Disagreement(side, problem, (before, file))

    def disagreement(self) -> Disagreement | None:
        """Return files that do not agree, of one side or else of both; None where all do."""
        truth, predicted = (self.colours[side] for side in SIDES)
        differ = [index for index in truth.keys() & predicted if truth[index][0] != predicted[index][0]]
        differ = sorted(index for index in differ if index < self.same_labels)
        if self.within or self.remapped or not differ:
            return self.within
        common = {colour for colour, _ in truth.values()} & {colour for colour, _ in predicted.values()}
        at_the_same_index = {truth[index][0] for index in (truth.keys() & predicted) - set(differ)}
        moved = len(common - at_the_same_index)
        surely = moved > max(1, len(at_the_same_index)) and 2 * len(common) >= min(len(truth), len(predicted))
        colour, file = predicted[differ[0]]
        problem = Message(
            "palettes-differ",
            "palettes of ground truth and predictions differ, and their indices are taken as labels: {difference}",
            difference=_difference(differ[0], truth, colour, file),
        )
        return Disagreement("prediction", problem, (truth[differ[0]][1], file), surely)

    def hint(self, disagreement: Disagreement) -> Message:
        """Say how to save label maps whose palettes do not agree."""
        fix = Message(
            "fix",
            "if colours stand for labels, {save} and name the label of each: {table} of r,g,b,label,name",
            save=_COLOURS,
            table=Setting("palette", metavar="FILE"),
        )
        if self.same_labels == 1:
            fix = Message("fix", "save the background as 0 in all files")
        elif not self.by_colour:
            fix = Message("fix", "save each label as the same grey level in all files")
        if not disagreement.surely:
            return "right if indices are labels on both sides; " + fix
        return fix + f"; if indices are labels, {_INDEXED}, without palette"

    def require_agreement(self) -> None:
        """Refuse a set in which labels surely mean something else from file to file."""
        disagreement = self.disagreement()
        if disagreement and disagreement.surely:
            raise DataError(disagreement.about, disagreement.problem, self.hint(disagreement))


def _difference(index: int, known: Mapping[int, tuple[str, str]], colour: str, file: str) -> Message:
    """Say which colours an index has in two files."""
    first_colour, first_file = known[index]
    return Message(
        "colours",
        "index {index} is {first_colour:,} in {first_file} and {colour:,} in {file}",
        index=index,
        first_colour=tuple(bytes.fromhex(first_colour)),
        first_file=first_file,
        colour=tuple(bytes.fromhex(colour)),
        file=file,
    )
