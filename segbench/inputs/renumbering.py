"""Predictions that number the classes differently from the ground truth, as a confusion matrix shows it.

Conventions
-----------
All labels are off by one if far more pixels agree after a shift by one, in more than one class, however weak the model.

Otherwise a predicted label and a class belong together if each has more pixels in common with the other than with any
other label or class. The numbers differ if labels that belong to a class of another number hold most pixels, counting
those with an IoU above .5; one class that keeps its number, such as the background, is left aside. It takes three such
labels, or two that are exchanged: a constant prediction has one, and a model that confuses classes few of the pixels.

In a single image, where a weak model may miss all, only a shift is told, and only if two IoUs are above .5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from segbench.core.messages import Either, Message, Note, Setting
from segbench.inputs.label_values import Remapping, pairs_text
from segbench.inputs.numberings import known_maps

if TYPE_CHECKING:
    from segbench.core.arrays import IntArray

RENUMBERED = "number the classes differently from the ground truth"
CHOSEN = "; check and complete it by the definitions of both lists: the mapping that agrees best flatters a method"


@dataclass(frozen=True, kw_only=True)
class Renumbering:
    """Which class each predicted label belongs to."""

    classes: Mapping[int, int]
    remap: str  # as a remapping of predictions is written
    shift: int  # by how much all classes are higher than their labels if that is one or minus one; else 0
    defined: bool = False  # whether a data set of these classes comes with the remapping

    @property
    def fix(self) -> Message:
        """Name the setting."""
        chosen = "" if self.shift or self.defined else CHOSEN
        return Message("fix", "{pred_map}{chosen}", pred_map=Setting("pred_map", self.remap), chosen=chosen)


def find_renumbering(
    matrix: IntArray, labels: Sequence[int], classes: Sequence[int], *, images: int
) -> Renumbering | None:
    """Compare the predicted `labels` with the classes of the rows; None if the numbers agree.

    The last column of the matrix holds all other predictions.
    """
    known = matrix[:, :-1]
    best = known.argmax(axis=1)
    rows = np.flatnonzero((known.argmax(axis=0)[best] == np.arange(len(classes))) & known.any(axis=1))
    columns = best[rows]
    both, of_class, of_label = known[rows, columns], matrix.sum(axis=1)[rows], known.sum(axis=0)[columns]
    pairs_of_labels = np.array([np.array(labels)[columns], np.array(classes)[rows]])
    clear, moved = 3 * both > of_class + of_label, pairs_of_labels[0] != pairs_of_labels[1]
    shift = _common_shift(matrix, labels, classes)
    sure = images > 1 or np.count_nonzero(clear) > 1
    if shift and sure and (pairs_of_labels[1] - pairs_of_labels[0] == shift)[clear].all():
        stays = bool(known[:, 0 if shift < 0 else len(classes) - 1].any())
        shifted = {label - shift: label for label in classes if label - shift in labels}
        return Renumbering(classes=shifted, remap=_shifted(shift, classes, stays=stays), shift=shift)
    others = {int(label): int(own) for label, own in pairs_of_labels[:, clear & moved].T}
    several = len(others) > 2 or (len(others) == 2 and others.keys() == {*others.values()})
    aside = known.sum(axis=1)[rows][clear & ~moved].max(initial=0)
    if images == 1 or not several or 2 * both[clear & moved].sum() <= known.sum() - aside:
        return None
    pairs = dict(sorted(pairs_of_labels.T.tolist()))
    defined = [text for text in known_maps(tuple(classes)) if _gives(text, others)]
    return Renumbering(
        classes=pairs, remap=defined[0] if defined else pairs_text(pairs), shift=0, defined=bool(defined)
    )


def _gives(text: str, pairs: Mapping[int, int]) -> bool:
    """Return whether a remapping gives labels these classes."""
    mapping = Remapping.parse(text)
    return all(mapping.label_of(value) == label for value, label in pairs.items())


def _common_shift(matrix: IntArray, labels: Sequence[int], classes: Sequence[int]) -> int:
    """Return 1 or -1 if all classes are higher by it than their labels; 0 if they are not."""
    size = len(classes)
    if tuple(classes) != tuple(range(classes[0], classes[0] + size)):
        return 0
    columns = {label: column for column, label in enumerate(labels)}
    agreeing = int(np.trace(matrix[:, :size]))
    for shift in (-1, 1):
        own = matrix[range(size), [columns.get(label - shift, -1) for label in classes]]
        largest = np.count_nonzero((own > 0) & (own == matrix.max(axis=1)))
        if largest > 1 and own.sum() > max(2 * agreeing, matrix.sum() / 4):
            return shift
    return 0


def _shifted(shift: int, classes: Sequence[int], *, stays: bool) -> str:
    """Write the remapping of all labels; one at the end that `stays`, and so would join a class, becomes no class."""
    first, last = classes[0], classes[-1]
    if shift < 0:
        remap, end = f"{first + 1}-{last + 1}={first}-{last}", first
    else:
        remap, end = f"{max(first, 1) - 1}-{last - 1}={max(first, 1)}-{last}", last
    return f"{remap},{end}={255 if 255 not in classes else -1}" if stays else remap


def notes_on_predictions(matrix: IntArray, classes: Sequence[int], images: int, *, remapped: bool) -> tuple[Note, ...]:
    """Say what is odd in the predicted labels of all images, given their matrix: outside, and other numbers.

    Of labels that were `remapped`, or may be ids of instances, it does not show which remapping stored values need.
    """
    notes: list[Note] = []
    outside = int(matrix[:, -1].sum())
    if outside:
        predicted = "pixel is" if outside == 1 else "pixels are"
        message = Message(
            "outside-classes",
            "{pixels} {predicted} predicted outside the classes and counted as wrong",
            pixels=outside,
            predicted=predicted,
        )
        notes.append(Note(message))
    if len(classes) > 2 and (renumbering := find_renumbering(matrix, classes, classes, images=images)):
        as_stored = Message(
            "compare-stored",
            "{check} compares the values as stored",
            check=Either("segbench.check(..., Labels(...))", "segbench check labels"),
        )
        fix = as_stored if remapped or renumbering.defined else renumbering.fix
        if renumbering.shift:
            notes.append(Note(Message("off-by-one", "all predicted labels seem to be off by one: {fix}", fix=fix)))
        else:
            renumbered = Message(
                "other-numbering",
                "predictions seem to number the classes differently from the ground truth: {fix}",
                fix=fix,
            )
            notes.append(Note(renumbered))
    return tuple(notes)
