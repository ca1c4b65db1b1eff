"""Masks as lengths of runs: areas, boxes and overlaps of many masks that may lie on each other.

A mask is COCO's uncompressed RLE: the image is scanned column by column, the first run is background, and runs
alternate. The runs of all masks of an image lie one after the other, and `ends` says where those of each mask end.

Conventions
-----------
1. IoU is intersection over union in whole pixels, divided once; of a crowd it is the intersection over the detection's
   area, as detections need not cover all of a crowd. Masks that share no pixel have 0.
2. The box of a mask is x, y, width and height of its pixels; 0, 0, 0, 0 of an empty mask. Boxes overlap as rectangles
   of real numbers.
3. The boundary of a mask is its pixels with a distance of at most d to the background or the image's border, along
   rows, columns and diagonals alike (`boundaries_of`); d is a share of the image's diagonal, rounded to a whole number
   of at least 1.

References
----------
Lin et al.: Microsoft COCO: Common objects in context. ECCV 2014 (pycocotools 2.0.11, `maskApi.c`).
Cheng et al.: Boundary IoU: Improving object-centric image segmentation evaluation. CVPR 2021.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import kernel
from segbench.core.instances import Runs, decode_mask, encode_masks


class MeasuredMasks(NamedTuple):
    """Masks with their areas and boxes."""

    runs: IntArray
    ends: IntArray
    areas: FloatArray
    boxes: FloatArray


def measured_masks(masks: Runs, height: int) -> MeasuredMasks:
    """Measure masks of images of this height."""
    areas, boxes = np.zeros(masks.ends.size), np.zeros((masks.ends.size, 4))
    _measure_masks(masks.runs, masks.ends, height, areas, boxes)
    return MeasuredMasks(masks.runs, masks.ends, areas, boxes)


@kernel
def _measure_masks(
    runs: IntArray, ends: IntArray, height: int, areas: NDArray[np.float64], boxes: NDArray[np.float64]
) -> None:
    """Fill in the area of each mask, and its box."""
    begin = 0
    for mask in range(ends.size):
        position = np.int64(0)
        area = np.int64(0)
        left = top = np.int64(2**62)
        right = bottom = np.int64(-1)
        for k in range(begin, ends[mask]):
            length = runs[k]
            if (k - begin) % 2 == 1 and length > 0:
                area += length
                last = position + length - 1
                left, right = min(left, position // height), max(right, last // height)
                if position // height == last // height:
                    top, bottom = min(top, position % height), max(bottom, last % height)
                else:
                    top, bottom = np.int64(0), np.int64(height - 1)
            position += length
        begin = ends[mask]
        areas[mask] = area
        if area:
            boxes[mask, 0], boxes[mask, 1] = left, top
            boxes[mask, 2], boxes[mask, 3] = right - left + 1, bottom - top + 1
        else:
            boxes[mask] = 0


@kernel
def _shared_pixels(runs: IntArray, other: IntArray) -> int:
    """Count the pixels that two masks share."""
    shared = np.int64(0)
    k = n = 0
    k_ends, n_ends = runs[0], other[0]
    position = np.int64(0)
    while True:
        nearest = min(k_ends, n_ends)
        if k % 2 == 1 and n % 2 == 1:
            shared += nearest - position
        position = nearest
        while k_ends <= position:
            k += 1
            if k >= runs.size:
                return int(shared)
            k_ends += runs[k]
        while n_ends <= position:
            n += 1
            if n >= other.size:
                return int(shared)
            n_ends += other[n]


@kernel
def _shared_sides(box: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Return width and height of what two boxes share, at most 0 where that is nothing."""
    width = min(box[2] + box[0], other[2] + other[0]) - max(box[0], other[0])
    height = min(box[3] + box[1], other[3] + other[1]) - max(box[1], other[1])
    return width, height


@kernel
def overlap_masks(
    masks: MeasuredMasks, others: MeasuredMasks, crowds: BoolArray, pairs: IntArray
) -> NDArray[np.float64]:
    """Return the IoU of pairs of a mask and another, which may be a crowd; `pairs` has shape (2, pairs)."""
    overlaps = np.zeros(pairs.shape[1])
    for k in range(overlaps.size):
        row, column = pairs[0, k], pairs[1, k]
        width, height = _shared_sides(masks.boxes[row], others.boxes[column])
        if width <= 0 or height <= 0:
            continue
        begin = masks.ends[row - 1] if row else 0
        other_begin = others.ends[column - 1] if column else 0
        shared = _shared_pixels(masks.runs[begin : masks.ends[row]], others.runs[other_begin : others.ends[column]])
        if shared > 0:
            union = masks.areas[row] + others.areas[column] - shared
            overlaps[k] = shared / (masks.areas[row] if crowds[column] else union)
    return overlaps


@kernel
def overlap_boxes(boxes: FloatArray, others: FloatArray, crowds: BoolArray, pairs: IntArray) -> NDArray[np.float64]:
    """Return the IoU of pairs of a box and another, which may be a crowd; `pairs` has shape (2, pairs)."""
    overlaps = np.zeros(pairs.shape[1])
    for k in range(overlaps.size):
        box, other = boxes[pairs[0, k]], others[pairs[1, k]]
        width, height = _shared_sides(box, other)
        if width > 0 and height > 0:
            shared, area = width * height, box[2] * box[3]
            union = area + other[2] * other[3] - shared
            overlaps[k] = shared / (area if crowds[pairs[1, k]] else union)
    return overlaps


def boundaries_of(masks: MeasuredMasks, size: tuple[int, int], ratio: float) -> MeasuredMasks:
    """Return the boundaries of masks, as wide as `ratio` says, a share of the image's diagonal."""
    from scipy.ndimage import minimum_filter

    height, width = size
    distance = max(round(ratio * float(np.hypot(height, width))), 1)
    boundaries = []
    begin = 0
    for end, (x, y, w, h) in zip(masks.ends.tolist(), masks.boxes.astype(np.int64).tolist(), strict=True):
        mask = decode_mask(masks.runs[begin:end], size)
        begin = end
        inside = mask[y : y + h, x : x + w].astype(np.uint8)
        boundary = np.zeros(size, np.bool_)
        if inside.size:  # pixels outside of the box are background, as those outside of the image are
            inner = minimum_filter(inside, 2 * distance + 1, mode="constant", cval=0)
            boundary[y : y + h, x : x + w] = inside > inner
        boundaries.append(boundary)
    return measured_masks(encode_masks(boundaries), height)
