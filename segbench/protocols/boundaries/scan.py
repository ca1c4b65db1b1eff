"""Neighbours of a pixel on the other side: read off a packed mask, a word a line.

Compiled code pays for every array it takes out of a tuple, so that these functions, called in inner loops, take the
arrays themselves.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from segbench.protocols.boundaries.bits import FULL, ONE, ZERO, popcount, trailing_zeros
from segbench.protocols.boundaries.costs import Costs, tie_break
from segbench.protocols.boundaries.jit import helper, int64, uint64
from segbench.protocols.boundaries.sides import LONGEST_LIST, NONE, Side


@helper
def neighbours(  # noqa: PLR0917 - see above
    words: NDArray[Any],
    every: NDArray[Any],
    before: NDArray[Any],
    line: int,
    first: int,
    last: int,
    pixels: NDArray[Any],
    size: int,
) -> int:
    """List the pixels of a packed mask on one line, between two columns."""
    for k in range(first >> 6, (last >> 6) + 1):
        word = words[line + k]
        if k == first >> 6:
            word &= FULL << uint64(first & 63)
        if k == last >> 6:
            word &= FULL >> uint64(63 - (last & 63))
        while word != ZERO:
            bit = trailing_zeros(word)
            word &= word - ONE
            pixels[size] = before[line + k] + popcount(every[line + k] & ((ONE << uint64(bit)) - ONE))
            size += 1
    return size


@helper
def keep(x: int, own: Side, other: Side, costs: Costs) -> None:
    """Keep a list of all neighbours of a pixel, live or not, with costs, unless it is too long or there is no room."""
    first_of, used = own.lists.first, own.lists.used
    pixels, list_costs, pixel_of = own.lists.pixel, own.lists.cost, other.pixel
    every, before, pair, half_width = other.every, other.before, costs.pair, costs.half_width
    y0, x0 = divmod(int64(own.pixel[x]), costs.width)
    if pixels.size - used[0] < LONGEST_LIST:
        first_of[x] = NONE
        return
    first = end = used[0]
    for y in range(max(y0 - half_width.size + 1, 0), min(y0 + half_width.size, costs.height)):
        dy = abs(y - y0)
        begin = end
        if begin - first + 2 * half_width[dy] + 1 > LONGEST_LIST:
            first_of[x] = NONE
            return
        left, right = max(x0 - half_width[dy], 0), min(x0 + half_width[dy], costs.width - 1)
        end = neighbours(every, every, before, y * ((costs.width + 63) >> 6), left, right, pixels, begin)
        for n in range(begin, end):
            there = pixel_of[pixels[n]]
            key = uint64(own.pixel[x]) << own.shift | uint64(there) << other.shift
            list_costs[n] = pair[dy, abs(there - y * costs.width - x0)] + tie_break(key, costs.annotator)
    first_of[x] = first
    own.lists.size[x] = end - first
    used[0] = end
