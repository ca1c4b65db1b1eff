"""The instances of one image: masks that may overlap, with classes, and of predictions scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Instances:
    """The N instances of one side of an image, in the order of their file.

    A mask is a list of lengths of runs, as in COCO's uncompressed RLE: the image is scanned column by column, the first
    run is background, and runs alternate. Readers have checked that the runs of each mask add up to the image.

    Parameters
    ----------
    size : tuple of int
        Height and width of the image.
    runs : array of int, shape (R,)
        The lengths of the runs of all masks, one mask after the other.
    ends : array of int, shape (N,)
        Where the runs of each mask end in `runs`.
    classes : array of int, shape (N,)
        Ids of categories, as in the file.
    scores : array of float64, shape (N,), optional
        Confidences of any range; None of ground truth.
    crowds : array of bool, shape (N,)
        True where a mask is of several objects that nobody told apart; false of predictions.
    areas : array of float64, shape (N,)
        Areas as the file states them, in pixels, and of a box without a mask that of the box; NaN where it states none,
        as of detections with masks.
    boxes : array of float64, shape (N, 4)
        x, y, width and height as the file states them, in pixels; NaN where it states none.
    names : mapping of int to str
        What classes are called, by their ids, as far as the file says so.
    """

    size: tuple[int, int]
    runs: IntArray
    ends: IntArray
    classes: IntArray
    scores: FloatArray | None
    crowds: BoolArray
    areas: FloatArray
    boxes: FloatArray
    names: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ends)

    def where(self, kept: BoolArray) -> Self:
        """Return some of the instances."""
        lengths = np.diff(self.ends, prepend=0)
        return replace(
            self,
            runs=self.runs[np.repeat(kept, lengths)],
            ends=np.cumsum(lengths[kept]),
            classes=self.classes[kept],
            scores=None if self.scores is None else self.scores[kept],
            crowds=self.crowds[kept],
            areas=self.areas[kept],
            boxes=self.boxes[kept],
        )

    @property
    def numbers(self) -> FloatArray:
        """All that is known of ground truth as numbers, for digests."""
        parts = (self.size, self.runs, self.ends, self.classes, self.crowds, self.areas, self.boxes)
        listed = [np.nan_to_num(np.asarray(part, np.float64).reshape(-1), nan=-1.0) for part in parts]
        return np.concatenate(listed)


class Runs(NamedTuple):
    """The lengths of the runs of several masks, and where those of each mask end."""

    runs: IntArray
    ends: IntArray


def encode_masks(masks: Sequence[Array] | Array) -> Runs:
    """Return the runs of masks, each of shape (H, W); whatever is not 0 belongs to the mask."""
    lengths = [_runs_of(np.asarray(mask)) for mask in masks]
    ends = np.cumsum([runs.size for runs in lengths], dtype=np.int64)
    return Runs(np.concatenate([np.zeros(0, np.int64), *lengths]), ends)


def _runs_of(mask: Array) -> IntArray:
    """Return the runs of one mask."""
    pixels = (mask != 0).ravel(order="F")
    changes = np.flatnonzero(pixels[1:] != pixels[:-1]) + 1
    starts_inside = [0] if pixels.size and pixels[0] else []
    return np.diff(np.concatenate([[0], starts_inside, changes, [pixels.size]])).astype(np.int64, copy=False)


def decode_mask(runs: IntArray, size: tuple[int, int]) -> BoolArray:
    """Return the mask of these runs as an array of shape (H, W)."""
    height, width = size
    inside = np.arange(runs.size) % 2 == 1
    mask: BoolArray = np.repeat(inside, runs).reshape(width, height).T
    return mask
