"""The search of the matcher: make an assignment optimal again after one pixel came or lost its partner.

Both sides are alike here. With what an unmatched pixel costs taken off every pair (see `Costs`), each pixel of either
side has a price of at most 0, an unmatched one the price 0, and for every pair ``cost - price - price >= 0``, with 0
for matched pairs. That is linear-programming duality: while it holds, the assignment is optimal.

A pixel that appears, or that lost its partner, enters with price 0 and may break that. The search is Dijkstra's on the
reduced costs, alternating between the sides, from that pixel. It ends at an unmatched pixel of the other side, at a
pixel of the own side that had better give up its partner, or by leaving the newcomer alone, whichever is shortest
(`best`), and never looks further than that. Then the prices of everything nearer than `best` move by the difference.
While a search runs, the length of the path to a pixel is added to its price: a neighbour's offer, its path and the cost
of the pair, is then compared with one number.

Neighbours on the other side are read off a packed mask, a word at a time. Compiled code pays for every array that it
takes out of a tuple, so functions that are called in inner loops take the arrays themselves.

References
----------
Jonker, Volgenant: A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems. Computing 38,
1987.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, IntArray
from segbench.core.compiling import helper, index, int64, part, uint64
from segbench.imaging.bits import FULL, ONE, ZERO, popcount, positions, ranks, trailing_zeros
from segbench.protocols.boundaries.costs import Costs, tie_break

FREE, ABSENT = -1, -2  # in place of a mate
UNREACHABLE = np.int64(-(2**63))  # price of an absent pixel
NEW, SEEN, NONE = -1, -2, -3  # in place of a list: never scanned, scanned once, too long or no room
LONGEST_LIST = 256
_ROOM = 1 << 22


class Lists(NamedTuple):
    """Neighbours of the pixels that searches came to twice, with costs, as far as there is room."""

    first: IntArray  # where the list of each pixel begins, or NEW, SEEN or NONE
    size: NDArray[np.int32]
    used: IntArray  # (1,): entries in use
    pixel: NDArray[np.uint32]
    cost: IntArray


class Side(NamedTuple):
    """The pixels of one side, numbered in raster order."""

    live: NDArray[np.uint64]  # packed mask, flattened: pixels that may be matched now
    every: NDArray[np.uint64]  # packed mask, flattened: pixels that are numbered
    before: NDArray[np.int32]  # pixels of `every` before each word
    pixel: NDArray[np.int32]  # flat index of each pixel
    price: IntArray  # at most 0; 0 where unmatched, UNREACHABLE where absent
    mate: NDArray[np.int32]  # partner on the other side; FREE; ABSENT while not live
    lists: Lists
    shift: np.uint64  # of the pixel in the key of a pair: 32 for predictions, 0 for ground truth


class Scratch(NamedTuple):
    """Room for a search, as long as the larger side, and clean between searches."""

    length: IntArray  # of the shortest path to each pixel of the other side, less than 0; 0 where none
    via: NDArray[np.uint32]  # the own pixel before it on that path
    touched: NDArray[np.uint32]
    heap: NDArray[np.uint32]
    place: NDArray[np.int32]
    line: NDArray[np.uint32]  # the neighbours on one line


def side(words: NDArray[np.uint64], width: int, *, prediction: bool) -> Side:
    """Number the pixels of a mask; none is live yet."""
    every = words.ravel()
    before = ranks(every)
    pixel = positions(words, width, int(before[-1]))
    room = max(LONGEST_LIST, min(_ROOM, 64 * pixel.size))
    lists = Lists(
        np.full(pixel.size, -1, np.int64),
        np.zeros(pixel.size, np.int32),
        np.zeros(1, np.int64),
        np.empty(room, np.uint32),
        np.empty(room, np.int64),
    )
    price, mate = np.full(pixel.size, UNREACHABLE), np.full(pixel.size, ABSENT, np.int32)
    return Side(np.zeros_like(every), every, before, pixel, price, mate, lists, np.uint64(32 if prediction else 0))


def scratch_for(rows: Side, columns: Side, width: int) -> Scratch:
    """Make clean room for searches between two sides."""
    room = max(rows.pixel.size, columns.pixel.size)
    return Scratch(
        np.zeros(room, np.int64),
        np.empty(room, np.uint32),
        np.empty(room, np.uint32),
        np.empty(room, np.uint32),
        np.full(room, -1, np.int32),
        np.empty(width, np.uint32),
    )


@helper
def neighbours(  # noqa: PLR0917 - see above
    words: Array,
    every: Array,
    before: Array,
    line: int,
    first: int,
    last: int,
    pixels: Array,
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
def _keep(x: int, own: Side, other: Side, costs: Costs) -> None:
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


@helper
def _push(z: int, queued: int, length: Array, heap: Array, place: Array) -> int:
    """Put a pixel into the heap of path lengths, each at most once, or move it up after its length fell."""
    if place[z] < 0:
        n = index(queued)
        queued += 1
    else:
        n = index(place[z])
    while n > 0:
        above = index((n - 1) >> 1)
        if length[heap[above]] <= length[z]:
            break
        heap[n] = heap[above]
        place[heap[n]] = n
        n = above
    heap[n] = z
    place[z] = n
    return queued


@helper
def _pop(queued: int, length: Array, heap: Array, place: Array) -> int:
    """Take the pixel of the least length, ``heap[0]``, out of the heap."""
    place[heap[0]] = -1
    queued -= 1
    if queued == 0:
        return queued
    z = heap[index(queued)]
    n = index(0)
    while 2 * n + 1 < queued:
        below = index(2 * n + 1)
        after = index(below + 1)
        if after < queued and length[heap[after]] < length[heap[below]]:
            below = after
        if length[heap[below]] >= length[z]:
            break
        heap[n] = heap[below]
        place[heap[n]] = n
        n = below
    heap[n] = z
    place[z] = n
    return queued


@part
def search(  # noqa: C901, PLR0912, PLR0915 - one loop; passing its arrays on would cost more than it does
    start: int, own: Side, other: Side, costs: Costs, scratch: Scratch
) -> tuple[int, int]:
    """Find the shortest change that makes the assignment optimal again, and make it."""
    length, via, touched, heap, place = scratch.length, scratch.via, scratch.touched, scratch.heap, scratch.place
    own_price, own_pixel, list_of, list_size = own.price, own.pixel, own.lists.first, own.lists.size
    kept, kept_cost = own.lists.pixel, own.lists.cost
    price, mate, live, every, before = other.price, other.mate, other.live, other.every, other.before
    pair, half_width, width = costs.pair, costs.half_width, costs.width
    pixel_of, found = other.pixel, scratch.line
    best, end = int64(0), int64(-1)
    seen = queued = 0
    x = index(start)
    walked = int64(0)  # length of the path to x, less the price of x
    while True:
        if list_of[x] == SEEN:
            _keep(x, own, other, costs)
        if list_of[x] >= 0:
            first = index(list_of[x])
            for n in range(first, index(first + list_size[x])):
                z = kept[n]
                offer = walked + kept_cost[n]
                if offer < price[z]:
                    best, end, seen, queued = _reach(
                        z, offer, x, best, end, seen, queued, price, length, via, touched, heap, place, mate, own_price
                    )
        else:
            if list_of[x] == NEW:
                list_of[x] = SEEN
            y0, x0 = divmod(int64(own_pixel[x]), width)
            own_key = uint64(own_pixel[x]) << own.shift
            reach = half_width[0]
            for line in range(2 * half_width.size - 1):
                dy = (line + 1) >> 1
                if walked + pair[dy, 0] >= best:
                    break
                y = y0 - dy if line & 1 else y0 + dy
                if y < 0 or y >= costs.height:
                    continue
                reach = min(reach, half_width[dy])
                while reach > 0 and walked + pair[dy, reach] >= best:
                    reach -= 1
                left, right = max(x0 - reach, 0), min(x0 + reach, width - 1)
                size = neighbours(live, every, before, y * ((width + 63) >> 6), left, right, found, 0)
                for n in range(size):
                    z = found[index(n)]
                    offer = walked + pair[dy, abs(pixel_of[z] - y * width - x0)]
                    if offer >= price[z]:
                        continue
                    offer += tie_break(own_key | uint64(pixel_of[z]) << other.shift, costs.annotator)
                    if offer >= price[z]:
                        continue
                    best, end, seen, queued = _reach(
                        z, offer, x, best, end, seen, queued, price, length, via, touched, heap, place, mate, own_price
                    )
        if queued == 0 or length[heap[0]] >= best:
            break
        nearest = heap[0]
        queued = _pop(queued, length, heap, place)
        x = index(mate[nearest])
        walked = length[nearest] - own_price[x]

    own_price[start] = best
    for n in range(seen):
        z = touched[index(n)]
        price[z] -= max(length[z], best)
        if length[z] < best:
            own_price[index(mate[z])] += best - length[z]
        length[z] = 0
        place[z] = -1
    return _augment(start, end, own.mate, mate, via)


@helper
def _reach(  # noqa: PLR0917 - see above
    z: int,
    offer: int,
    x: int,
    best: int,
    end: int,
    seen: int,
    queued: int,
    price: Array,
    length: Array,
    via: Array,
    touched: Array,
    heap: Array,
    place: Array,
    mate: Array,
    own_price: Array,
) -> tuple[int, int, int, int]:
    """Take the shorter path to z that leads through x, unless it is longer than the best."""
    path = offer - price[z] + length[z]
    if path >= best:
        return best, end, seen, queued
    if length[z] == 0:
        touched[index(seen)] = z
        seen += 1
    price[z] = offer
    length[z] = path
    via[z] = x
    if mate[z] < 0:
        return path, int64(z), seen, queued
    given_up = path - own_price[index(mate[z])]
    if given_up < best:
        best, end = given_up, int64(z)
    if path < best:
        queued = _push(z, queued, length, heap, place)
    return best, end, seen, queued


@helper
def _augment(start: int, end: int, own_mate: Array, mate: Array, via: Array) -> tuple[int, int]:
    """Change partners along the path that ends at a pixel of the other side."""
    if end < 0:
        return int64(-1), int64(-1)
    released = int64(mate[end])
    if released >= 0:
        own_mate[released] = -1
    z = end
    while True:
        x = via[z]
        after = int64(own_mate[x])
        mate[z] = x
        own_mate[x] = z
        if x == start:
            break
        z = after
    return (int64(-1), released) if released >= 0 else (end, int64(-1))
