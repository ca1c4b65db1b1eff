"""Compiled loops: the sparse table of intersections of two maps of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, IntArray
from segbench.core.compiling import compiled

_FIRST_SLOTS = 2**12
_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


@compiled()
def intersections(truth: Array, predicted: Array) -> IntArray:
    """Count the pixels of each pair of values that two flat maps of one type have in the same places.

    Rows hold the value in either map and their number. Neighbouring pixels mostly hold the same pair, so that a run of
    them is looked up once. The table of pairs is hashed with open addresses and doubles when it is half full.
    """
    slots = np.full(_FIRST_SLOTS, -1, np.int32)
    cells = np.zeros((_FIRST_SLOTS // 2, 3), np.int64)
    used, stop = 0, np.uint64(0)
    size = np.uint64(truth.size)  # without a sign, so that no place is checked for being one from the end
    while stop < size:
        start, first, other = stop, truth[stop], predicted[stop]
        stop = start + np.uint64(1)
        while stop < size and truth[stop] == first and predicted[stop] == other:
            stop += np.uint64(1)
        row, column = np.int64(first), np.int64(other)
        slot = _slot_of(slots, cells, row, column)
        if slots[slot] < 0:
            if used == len(cells):
                cells = np.vstack((cells, np.zeros_like(cells)))
                slots = np.full(2 * slots.size, -1, np.int32)
                for known in range(used):
                    slots[_slot_of(slots, cells, cells[known, 0], cells[known, 1])] = known
                slot = _slot_of(slots, cells, row, column)
            slots[slot] = used
            cells[used, 0], cells[used, 1] = row, column
            used += 1
        cells[slots[slot], 2] += np.int64(stop - start)
    return cells[:used]


@compiled()
def _slot_of(slots: NDArray[np.int32], cells: IntArray, row: Any, column: Any) -> int:
    """Find the slot of a pair of values, or the empty one where it belongs."""
    mixed = (np.uint64(row) * _MULTIPLIERS[0] + np.uint64(column)) * _MULTIPLIERS[1]
    slot = np.int64(mixed >> np.uint64(33)) & (slots.size - 1)
    while slots[slot] >= 0 and (cells[slots[slot], 0] != row or cells[slots[slot], 1] != column):
        slot = (slot + 1) & (slots.size - 1)
    return int(slot)
