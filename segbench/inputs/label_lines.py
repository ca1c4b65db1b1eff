"""Lines of labels between lower and higher ones, as interpolation and compression with loss leave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from segbench.core.arrays import Array, BoolArray, distinct
from segbench.core.sample import SIDES, Sample, Side
from segbench.inputs.label_rules import MOST_LABELS
from segbench.inputs.predicted_labels import in_colour

_MOST_VOXELS = 2**24
"""Voxels of a volume that are looked at, at most."""


@dataclass(frozen=True)
class LabelLines:
    """How many pixels the labels of a map have, how many of these lie in lines or regions, and how many lines step."""

    labels: Array
    pixels: Array
    in_lines: Array  # pixels of lines of one or two pixels between a lower and a higher label
    in_steps: Array  # pixels of such lines with another one of the same direction beside them
    in_regions: Array  # pixels between two of the same label, in their row or column


def lines_in(labels: Array) -> LabelLines:
    """Find the labels of a map that lie in lines between a lower and a higher label."""
    ranks, values = labels, np.zeros(0)
    if labels.dtype not in (np.uint8, np.uint16):
        values, codes = np.unique(labels, return_inverse=True)
        ranks = codes.reshape(labels.shape).astype(np.uint16)
    across, down = _across(ranks), _across(np.ascontiguousarray(ranks.T))
    pixels = np.bincount(ranks.reshape(-1))
    present = np.flatnonzero(pixels)
    marked = (row_wise | column_wise.T for row_wise, column_wise in zip(across, down, strict=True))
    counts = (np.bincount(ranks[mask], minlength=pixels.size)[present] for mask in marked)
    return LabelLines(values if values.size else present, pixels[present], *counts)


def _across(ranks: Array) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Mark pixels of lines that cross rows, those beside another line that rises or falls as well, and regions."""
    lines, steps, regions = np.zeros((3, *ranks.shape), np.bool_)
    rises, falls = ranks[:, 1:] > ranks[:, :-1], ranks[:, 1:] < ranks[:, :-1]
    stays = ~(rises | falls)
    regions[:, 1:-1] = stays[:, :-1] & stays[:, 1:]
    for goes in (rises, falls):
        of_one = goes[:, :-1] & goes[:, 1:]
        lines[:, 1:-1] |= of_one
        beside = of_one[:, :-1] & of_one[:, 1:]
        steps[:, 1:-2] |= beside
        steps[:, 2:-1] |= beside
        of_two = goes[:, :-2] & stays[:, 1:-1] & goes[:, 2:]
        lines[:, 1:-2] |= of_two
        lines[:, 2:-1] |= of_two
    return lines, steps, regions


def label_lines(sample: Sample) -> Mapping[Side, LabelLines]:
    """Look at the sides of an image that hold label maps; of several maps of one side at the first."""
    lines: dict[Side, LabelLines] = {}
    for side, maps in zip(SIDES, (sample.ground_truths, sample.predictions), strict=True):
        if side not in sample.numbered or not maps or maps[0].dtype.kind not in "ui":
            continue
        labels = _slices_of(maps[0]) if sample.volume else maps[0]
        if labels.ndim == 2 and labels.size and not in_colour(labels) and distinct(labels).size <= MOST_LABELS:
            lines[side] = lines_in(labels)
    return lines


def _slices_of(volume: Array) -> Array:
    """Return slices of a volume below each other, as one map: all, or of a large one some that are evenly spread."""
    step = -(-volume.size // _MOST_VOXELS)
    return volume[::step].reshape(-1, volume.shape[-1])
