"""Compiled loops over masks of 0 and 1: Betti numbers, in one pass over the runs of each row, and Lee's skeleton."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray
from segbench.core.compiling import compiled, index, root_of
from segbench.imaging.thinning import queue_all, queue_beside

ByteArray = NDArray[np.uint8]


@compiled()
def betti_numbers(mask: ByteArray, diagonal: int) -> tuple[int, int]:
    """Count components and holes; `diagonal` is 1 where pixels touch at corners, too, else 0.

    Two runs in neighbouring rows that touch either join two components or, as their component is the same, close a
    loop around a hole. Outside the mask is background.
    """
    height, width = mask.shape
    parents = np.empty(height * ((width + 1) // 2), np.int64)
    edges = np.empty((2, width + 2), np.int64)  # of this row and the one above: where runs start and end, in turn
    components = holes = runs = above = 0
    for r in range(height):
        ends, ends_above, changes, last = edges[r & 1], edges[1 - (r & 1)], 0, np.uint8(0)
        for c in range(width):
            ends[changes] = c
            changes += mask[r, c] != last
            last = mask[r, c]
        ends[changes] = width
        found = (changes + 1) // 2
        for run in range(runs, runs + found):
            parents[run] = run
        components += found
        one = other = 0
        while one < above and other < found:
            start_above, end_above = ends_above[2 * one], ends_above[2 * one + 1]
            start, end = ends[2 * other], ends[2 * other + 1]
            if start_above < end + diagonal and start < end_above + diagonal:
                a, b = root_of(parents, runs - above + one), root_of(parents, runs + other)
                if a == b:
                    holes += 1
                else:
                    components -= 1
                    parents[max(a, b)] = min(a, b)
            if end_above < end:
                one += 1
            else:
                other += 1
        runs += found
        above = found
    return components, holes


@compiled()
def betti_of_patches(mask: ByteArray, side: int, diagonal: int) -> IntArray:
    """Count components and holes of each whole patch of a grid from the top-left corner, shape (patches, 2)."""
    rows, columns = mask.shape[0] // side, mask.shape[1] // side
    found = np.empty((rows * columns, 2), np.int64)
    for row in range(rows):
        for column in range(columns):
            patch = mask[row * side : (row + 1) * side, column * side : (column + 1) * side]
            found[row * columns + column] = betti_numbers(patch, diagonal)
    return found


@compiled()
def lee_skeleton(  # noqa: C901 - one loop over turns, whose parts share all arrays
    mask: ByteArray, deletable: ByteArray, simple: ByteArray, steps: IntArray
) -> ByteArray:
    """Thin a mask by Lee's method, from the four borders in turn, until nothing changes.

    Turns of kind b delete from border b, see `segbench.imaging.thinning`. Candidates of a border are collected first,
    then deleted one after the other in the order of rows, if they are still `simple`. The pattern of a pixel has a bit
    for each of its neighbours, at the `steps`, and bit 8 for itself. After the first four turns only pixels beside one
    that was deleted in the last four are visited: no others can have become candidates.
    """
    height, width = mask.shape
    stride = width + 2
    offsets = steps[:, 0] * stride + steps[:, 1]
    pattern = np.zeros((height + 2) * stride, np.uint16)
    pixels = np.empty(np.count_nonzero(mask), np.uint32)  # of the padded image, in the order of rows
    total = 0
    for y in range(height):
        for x in range(width):
            if mask[y, x]:
                pixels[total] = (y + 1) * stride + x + 1
                total += 1
    for pixel in pixels:
        pattern[pixel] |= 256
        for b in range(8):
            pattern[index(pixel + offsets[b])] |= 1 << ((b + 4) & 7)
    queued = np.zeros(pattern.size, np.bool_)
    queue, deleted = np.empty_like(pixels), np.empty_like(pixels)
    starts = np.zeros(4, np.int64)  # where in `deleted` each of the last four turns began
    gone = turn = 0
    while turn < 4 or starts[turn & 3] < gone:
        border = np.uint8(1 << (turn & 3))
        if turn < 4:
            size = queue_all(pixels, pattern, deletable, border, queue)
        else:
            before = deleted[starts[turn & 3] : gone]
            size = queue_beside(before, offsets, pattern, deletable, border, queued, queue)
            queue[:size].sort()
        starts[turn & 3] = gone
        for n in range(size):
            pixel = queue[n]
            queued[pixel] = False
            if simple[pattern[pixel] & 255]:
                pattern[pixel] &= 255
                for b in range(8):
                    pattern[index(pixel + offsets[b])] &= 511 - (1 << ((b + 4) & 7))
                deleted[gone] = pixel
                gone += 1
        turn += 1
    skeleton = np.zeros((height, width), np.uint8)
    for pixel in pixels:
        skeleton[pixel // stride - 1, pixel % stride - 1] = pattern[pixel] >> 8
    return skeleton
