"""One annotator, all thresholds: the assignment is kept up to date from the highest threshold down to the lowest.

Neighbouring thresholds share nearly all their pixels. Pixels that appear or vanish change the assignment where they
are and leave the rest of it alone, so the whole sweep costs little more than one matching. Neighbours within the
tolerance are read off the packed masks where they are needed, so memory stays linear in pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, IntArray
from segbench.core.compiling import helper, int64, kernel, uint64
from segbench.imaging.bits import FULL, ONE, ZERO, popcount, trailing_zeros
from segbench.protocols.boundaries.costs import Costs
from segbench.protocols.boundaries.search import ABSENT, FREE, UNREACHABLE, Scratch, Side, scratch_for, search, side

_CHUNK = 4096


class Sweep(NamedTuple):
    """The assignments of one annotator at all thresholds."""

    matched: IntArray  # (K,): pairs at each threshold
    partners: NDArray[np.int32]  # (K, N): flat index of each ground-truth pixel's partner or -1, if traced


def sweep(
    maps: NDArray[np.uint64],
    every: NDArray[np.uint64],
    ground_truth: NDArray[np.uint64],
    pair_costs: Costs,
    used: NDArray[np.uint64],
    *,
    trace: bool = False,
) -> Sweep:
    """Match one annotator's pixels with the prediction's at every threshold, and mark those that are `used`."""
    rows = side(ground_truth, pair_costs.width, prediction=False)
    rows.live[:] = rows.every
    rows.mate[:] = FREE
    rows.price[:] = 0
    columns = side(every & reached(rows.pixel, pair_costs), pair_costs.width, prediction=True)
    scratch = scratch_for(rows, columns, pair_costs.width)
    count = maps.shape[0]
    matched = np.zeros(count, np.int64)
    partners = np.full((count if trace else 0, rows.pixel.size), -1, np.int32)
    flat = maps.reshape(count, -1), used.reshape(count, -1)
    sweep_down(flat[0], columns, rows, pair_costs, scratch, flat[1], matched, partners)
    return Sweep(matched, partners)


@kernel
def reached(pixels: Array, costs: Costs) -> Array:
    """Pack the mask of all pixels within the tolerance of any of these."""
    half_width = costs.half_width
    within = np.zeros((costs.height, (costs.width + 63) >> 6), np.uint64)
    for pixel in pixels:
        y0, x0 = divmod(int64(pixel), costs.width)
        for y in range(max(y0 - half_width.size + 1, 0), min(y0 + half_width.size, costs.height)):
            reach = half_width[abs(y - y0)]
            first, last = max(x0 - reach, 0), min(x0 + reach, costs.width - 1)
            for k in range(first >> 6, (last >> 6) + 1):
                word = FULL
                if k == first >> 6:
                    word &= FULL << uint64(first & 63)
                if k == last >> 6:
                    word &= FULL >> uint64(63 - (last & 63))
                within[y, k] |= word
    return within


@kernel
def sweep_down(  # noqa: C901, PLR0912, PLR0915, PLR0917 - the whole sweep is one call from Python
    maps: Array,
    columns: Side,
    rows: Side,
    costs: Costs,
    scratch: Scratch,
    used: Array,
    matched: Array,
    partners: Array,
) -> None:
    """Do the work of `sweep`: `columns`, `rows`, `scratch` and all that follow are changed in place."""
    live, every, before, pixel = columns.live, columns.every, columns.before, columns.pixel
    mate_of, price = columns.mate, columns.price
    taken = np.zeros(live.size, np.uint64)
    changed, vanishing = np.empty(pixel.size, np.int32), np.empty(pixel.size, np.int32)
    pairs = 0
    for level in range(maps.shape[0] - 1, -1, -1):
        # A matched pixel that vanishes loses all pairs but its own, which is made dearer until the pixel's price is 0.
        # Searches of pixels that appear then end at its partner where they can, instead of pushing others along; only
        # the partners that are left over search themselves.
        gone = 0
        for w in range(live.size):
            word = live[w] & ~maps[level, w]
            live[w] ^= word
            while word != ZERO:
                bit = ONE << uint64(trailing_zeros(word))
                word &= word - ONE
                j = int64(before[w] + popcount(every[w] & (bit - ONE)))
                if mate_of[j] == FREE:
                    mate_of[j] = ABSENT
                    price[j] = UNREACHABLE
                else:
                    price[j] = 0
                    vanishing[gone] = j
                    gone += 1
        size = 0
        for w in range(live.size):
            word = maps[level, w] & every[w] & ~live[w]
            live[w] |= word
            while word != ZERO:
                bit = ONE << uint64(trailing_zeros(word))
                word &= word - ONE
                changed[size] = before[w] + popcount(every[w] & (bit - ONE))
                mate_of[changed[size]] = FREE
                price[changed[size]] = 0
                size += 1
        if size > rows.mate.size:
            # More pixels than they could be matched with: it is quicker to match all of the others again.
            _unmatch(rows, columns, taken)
            pairs = 0
            for n in range(gone):
                mate_of[vanishing[n]] = ABSENT
                price[vanishing[n]] = UNREACHABLE
            for i in range(rows.mate.size):
                found, _ = search(int64(i), rows, columns, costs, scratch)
                if found >= 0:
                    pairs += 1
                    _flip(taken, pixel[found], costs.width)
            size = 0
        for first in range(0, size, _CHUNK):
            # Whole lines appear at once. In order, each pixel would push those before it along; scattered, few do.
            count = min(size - first, _CHUNK)
            step = _stride(count)
            n = int64(0)
            for _ in range(count):
                n = (n + step) % count
                j = int64(changed[first + n])
                found, released = search(j, columns, rows, costs, scratch)
                if found >= 0:
                    pairs += 1
                    _flip(taken, pixel[j], costs.width)
                elif released >= 0:
                    _flip(taken, pixel[j], costs.width)
                    _flip(taken, pixel[released], costs.width)
        size = 0
        for n in range(gone):
            j = int64(vanishing[n])
            i = int64(mate_of[j])
            mate_of[j] = ABSENT
            price[j] = UNREACHABLE
            if i >= 0:
                _flip(taken, pixel[j], costs.width)
                rows.mate[i] = FREE
                rows.price[i] = 0
                changed[size] = i
                size += 1
        for n in range(size):
            found, _ = search(int64(changed[n]), rows, columns, costs, scratch)
            if found >= 0:
                _flip(taken, pixel[found], costs.width)
            else:
                pairs -= 1
        for w in range(taken.size):
            used[level, w] |= taken[w]
        matched[level] = pairs
        if partners.size:
            for i in range(rows.mate.size):
                if rows.mate[i] >= 0:
                    partners[level, i] = pixel[rows.mate[i]]


@helper
def _unmatch(rows: Side, columns: Side, taken: Array) -> None:
    """Undo all pairs."""
    row_mate, row_price, column_mate, column_price = rows.mate, rows.price, columns.mate, columns.price
    row_price[:] = 0
    row_mate[:] = FREE
    for j in range(column_mate.size):
        if column_mate[j] != ABSENT:
            column_mate[j] = FREE
            column_price[j] = 0
    taken[:] = ZERO


@helper
def _stride(size: int) -> int:
    """Give a step near the golden section of the size that visits every place once."""
    step: int = max(int64(size * 0.618), int64(1))
    while True:
        a, b = size, step
        while b:
            a, b = b, a % b
        if a <= 1:
            return step
        step += 1


@helper
def _flip(words: Array, pixel: int, width: int) -> None:
    y, x = divmod(int64(pixel), width)
    words[y * ((width + 63) >> 6) + (x >> 6)] ^= ONE << uint64(x & 63)
