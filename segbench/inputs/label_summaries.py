"""Summaries of images with classes: of two label maps, and of a soft map for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from segbench.core.arrays import IntArray
from segbench.inputs.numberings import StoredLabels
from segbench.inputs.summaries import ImageSummary, ScoreSummary


class LeftOut(NamedTuple):
    """What predictions hold where pixels of an image are left out."""

    same: bool = True  # whether it is what the ground truth holds there
    zeros: int = 0  # pixels with label 0 in the ground truth, as stored, that are void
    classes: int = 0  # those of them where a class is predicted
    labels: tuple[int, ...] = ()  # labels that are void and are predicted, too, rising


@dataclass(frozen=True, kw_only=True)
class LabelsSummary(ImageSummary):
    """What two label maps, or two masks, hold."""

    truth_file: str
    named_classes: tuple[Sequence[int], Sequence[str]]  # labels and names
    matrix: IntArray  # pixels by true and predicted class; the last column holds predictions outside the classes
    ignored: int
    outside: Mapping[int, IntArray]  # by predicted labels that are not classes, the pixels of each class
    left_out: LeftOut
    joined: Mapping[str, Sequence[int]]  # values that a remapping should name, by its setting
    stored: StoredLabels | None  # None of masks
    values: tuple[tuple[float, ...], tuple[float, ...]]  # some of the ground truth and the prediction, if of masks

    @property
    def pixels(self) -> int:
        """Pixels that count."""
        return int(self.matrix.sum())

    @property
    def stack(self) -> bool:
        """Whether the prediction has one map per class, whose order no remapping changes."""
        return self.stored is not None and self.stored.by_place


@dataclass(frozen=True, kw_only=True)
class ClassesSummary(ImageSummary):
    """What a label map and the soft map of each class hold."""

    classes: tuple[ScoreSummary, ...]  # of each, in order
    truth_file: str
    foreign: tuple[float, ...]  # some labels in it that are neither a class nor void, rising
    zeros: int  # pixels with label 0 that is void
    pixels: int
