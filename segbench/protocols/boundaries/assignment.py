"""The exact one-to-one assignment of boundary pixels, kept up to date over all thresholds; begin with `sweep`.

References
----------
Jonker, Volgenant: A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems. Computing 38,
1987.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, IntArray
from segbench.core.compiling import helper, index, int64, kernel, part, uint64
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.imaging.bits import FULL, ONE, ZERO, popcount, positions, ranks, trailing_zeros

TIE_BREAKS = 1 << 20
_ANNOTATOR = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_1 = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_2 = np.uint64(0x94D0_49BB_1331_11EB)
_LARGEST = 2**63 / 2.2
FREE, ABSENT = -1, -2  # in place of a mate
UNREACHABLE = np.int64(-(2**63))  # price of an absent pixel
NEW, SEEN, NONE = -1, -2, -3  # in place of a list: never scanned, scanned once, too long or no room
LONGEST_LIST = 256
_ROOM = 1 << 22
_CHUNK = 4096


class Costs(NamedTuple):
    """What pairs cost by their offset, for one ground truth of one image, and so which assignment is the best.

    A pair of pixels at distance d costs ``rint(100 d)``: hundredths of a pixel. A ground-truth pixel left alone costs
    ``lambda = max(1, ceil(100 * 100 * max_dist_px))`` of the same unit. The sum of both is minimised, as in the
    official code, and not first the number of unmatched pixels: a line of 200 pixels one pixel beside its ground truth,
    at a tolerance of one pixel, gives 199 pairs at distance 0 and not 200 at distance 1.

    Among assignments of equal cost the one with the least sum of `tie_break` over its pairs is *the* assignment. Both
    sums are minimised at once, as one integer: ``cost * S + tie_break`` with ``S = 2**20 * (ground-truth pixels + 1)``,
    which no sum of tie-breaks reaches. Path lengths stay below ``2.2 * lambda * S`` in size; where that would leave
    64 bits (a million ground-truth pixels at a tolerance of 400 px) the request is refused.

    In the table `lambda` is taken off: a pair then costs less than 0, and a pixel left alone 0, on either side.
    """

    pair: IntArray  # (R + 1, R + 1): by |dy| and |dx|
    half_width: IntArray  # (R + 1,): the largest |dx| within the tolerance, by |dy|
    height: int
    width: int
    annotator: np.uint64


def tabulate_costs(shape: tuple[int, ...], max_dist_px: float, pixels: int, annotator: int) -> Costs:
    """Tabulate what pairs cost with an annotator's ground truth of so many pixels."""
    reach = int(min(max_dist_px, max(*shape, 1) - 1))
    unmatched = max(1, math.ceil(100 * 100 * max_dist_px))
    scale = TIE_BREAKS * (pixels + 1)
    if unmatched * scale >= _LARGEST:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{pixels} ground-truth pixels at a tolerance of {tolerance:g} px are too many for exact 64-bit costs; "
                "lower {setting}",
                pixels=pixels,
                tolerance=max_dist_px,
                setting=Setting("max_dist", None),
            )
        )
    steps = np.arange(reach + 1)
    squared = steps[:, None] ** 2 + steps**2
    pair = np.rint(100 * np.sqrt(squared)).astype(np.int64) * scale - unmatched * scale
    half_width = (squared <= max_dist_px * max_dist_px).sum(axis=1) - 1
    key = np.uint64((annotator + 1) * int(_ANNOTATOR) & 0xFFFF_FFFF_FFFF_FFFF)
    height, width = shape
    return Costs(pair, half_width.astype(np.int64), height, width, key)


@helper
def tie_break(pair: Any, annotator: Any) -> Any:
    """Hash a pair, ``p << 32 | g`` (uint64), and the annotator's key (uint64) to 20 bits (int64).

    It depends on the annotator's index a and the flat indices ``y * width + x`` of the prediction pixel p and of the
    ground-truth pixel g alone. In unsigned 64-bit arithmetic (this is SplitMix64's finaliser)::

        z = (p << 32 | g) + (a + 1) * 0x9E3779B97F4A7C15
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9
        z = (z ^ z >> 27) * 0x94D049BB133111EB
        tie_break = (z ^ z >> 31) >> 44
    """
    z = pair + annotator
    z = (z ^ (z >> uint64(30))) * _MIX_1
    z = (z ^ (z >> uint64(27))) * _MIX_2
    return int64((z ^ (z >> uint64(31))) >> uint64(44))


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
    touched: NDArray[np.uint32]  # pixels with a length
    heap: NDArray[np.uint32]  # pixels by length, the least first
    slot: NDArray[np.int32]  # where each pixel lies in the heap, or -1
    line: NDArray[np.uint32]  # the neighbours on one line


def new_side(words: NDArray[np.uint64], width: int, *, prediction: bool) -> Side:
    """Number the pixels of a mask; none is live yet."""
    every = words.ravel()
    before = ranks(every)
    pixel = positions(words, width, int(before[-1]))
    room = max(LONGEST_LIST, min(_ROOM, 64 * pixel.size))
    lists = Lists(
        first=np.full(pixel.size, NEW, np.int64),
        size=np.zeros(pixel.size, np.int32),
        used=np.zeros(1, np.int64),
        pixel=np.empty(room, np.uint32),
        cost=np.empty(room, np.int64),
    )
    return Side(
        live=np.zeros_like(every),
        every=every,
        before=before,
        pixel=pixel,
        price=np.full(pixel.size, UNREACHABLE),
        mate=np.full(pixel.size, ABSENT, np.int32),
        lists=lists,
        shift=np.uint64(32 if prediction else 0),
    )


def scratch_for(rows: Side, columns: Side, width: int) -> Scratch:
    """Make clean room for searches between two sides."""
    room = max(rows.pixel.size, columns.pixel.size)
    return Scratch(
        length=np.zeros(room, np.int64),
        via=np.empty(room, np.uint32),
        touched=np.empty(room, np.uint32),
        heap=np.empty(room, np.uint32),
        slot=np.full(room, -1, np.int32),
        line=np.empty(width, np.uint32),
    )


@helper
def neighbours(  # noqa: PLR0917 - compiled code pays for every array that it takes out of a tuple
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
def _list_neighbours(x: int, own: Side, other: Side, costs: Costs) -> None:
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
            neighbour = pixel_of[pixels[n]]
            key = uint64(own.pixel[x]) << own.shift | uint64(neighbour) << other.shift
            list_costs[n] = pair[dy, abs(neighbour - y * costs.width - x0)] + tie_break(key, costs.annotator)
    first_of[x] = first
    own.lists.size[x] = end - first
    used[0] = end


@helper
def _push(z: int, queued: int, length: Array, heap: Array, slot: Array) -> int:
    """Put a pixel into the heap of path lengths, each at most once, or move it up after its length fell."""
    if slot[z] < 0:
        n = index(queued)
        queued += 1
    else:
        n = index(slot[z])
    while n > 0:
        above = index((n - 1) >> 1)
        if length[heap[above]] <= length[z]:
            break
        heap[n] = heap[above]
        slot[heap[n]] = n
        n = above
    heap[n] = z
    slot[z] = n
    return queued


@helper
def _pop(queued: int, length: Array, heap: Array, slot: Array) -> int:
    """Take the pixel of the least length, ``heap[0]``, out of the heap."""
    slot[heap[0]] = -1
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
        slot[heap[n]] = n
        n = below
    heap[n] = z
    slot[z] = n
    return queued


@part
def search(  # noqa: C901, PLR0912, PLR0915 - one loop; passing its arrays on would cost more than it does
    start: int, own: Side, other: Side, costs: Costs, scratch: Scratch
) -> tuple[int, int]:
    """Make the assignment optimal again after the pixel `start` came or lost its partner, by the shortest change.

    Return the pixel of the other side that this gave a partner, and the pixel of the own side that lost its own, or -1.

    Both sides are alike here. With what an unmatched pixel costs taken off every pair (see `Costs`), each pixel of
    either side has a price of at most 0, an unmatched one the price 0, and for every pair ``cost - price - price >=
    0``, with 0 for matched pairs. That is linear-programming duality: while it holds, the assignment is optimal.

    A pixel that appears, or that lost its partner, enters with price 0 and may break that. The search is Dijkstra's on
    the reduced costs, alternating between the sides, from that pixel. It ends at an unmatched pixel of the other side,
    at a pixel of the own side that had better give up its partner, or by leaving the newcomer alone, whichever is
    shortest (`best`), and never looks further than that. Then the prices of everything nearer than `best` move by the
    difference. While a search runs, the length of the path to a pixel is added to its price: a neighbour's offer, its
    path and the cost of the pair, is then compared with one number.
    """
    # In all of this x is a pixel of the own side and z one of the other, by their numbers.
    length, via, touched, heap, slot = scratch.length, scratch.via, scratch.touched, scratch.heap, scratch.slot
    own_price, own_pixel, list_of, list_size = own.price, own.pixel, own.lists.first, own.lists.size
    kept, kept_cost = own.lists.pixel, own.lists.cost
    price, mate, live, every, before = other.price, other.mate, other.live, other.every, other.before
    pair, half_width, width = costs.pair, costs.half_width, costs.width
    pixel_of, on_line = other.pixel, scratch.line
    best, end = int64(0), int64(-1)
    seen = queued = 0
    x = index(start)
    walked = int64(0)  # length of the path to x, less the price of x
    while True:
        if list_of[x] == SEEN:
            _list_neighbours(x, own, other, costs)
        if list_of[x] >= 0:
            first = index(list_of[x])
            for n in range(first, index(first + list_size[x])):
                z = kept[n]
                offer = walked + kept_cost[n]
                if offer < price[z]:
                    best, end, seen, queued = _reach(
                        z, offer, x, best, end, seen, queued, price, length, via, touched, heap, slot, mate, own_price
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
                size = neighbours(live, every, before, y * ((width + 63) >> 6), left, right, on_line, 0)
                for n in range(size):
                    z = on_line[index(n)]
                    offer = walked + pair[dy, abs(pixel_of[z] - y * width - x0)]
                    if offer >= price[z]:
                        continue
                    offer += tie_break(own_key | uint64(pixel_of[z]) << other.shift, costs.annotator)
                    if offer >= price[z]:
                        continue
                    best, end, seen, queued = _reach(
                        z, offer, x, best, end, seen, queued, price, length, via, touched, heap, slot, mate, own_price
                    )
        if queued == 0 or length[heap[0]] >= best:
            break
        nearest = heap[0]
        queued = _pop(queued, length, heap, slot)
        x = index(mate[nearest])
        walked = length[nearest] - own_price[x]

    own_price[start] = best
    for n in range(seen):
        z = touched[index(n)]
        price[z] -= max(length[z], best)
        if length[z] < best:
            own_price[index(mate[z])] += best - length[z]
        length[z] = 0
        slot[z] = -1
    return _augment(start, end, own.mate, mate, via)


@helper
def _reach(  # noqa: PLR0917 - as for `neighbours`
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
    slot: Array,
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
        queued = _push(z, queued, length, heap, slot)
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


class Sweep(NamedTuple):
    """The assignments of one annotator at all thresholds."""

    matched: IntArray  # (K,): pairs at each threshold
    partners: NDArray[np.int32]  # (K, N): flat index of each ground-truth pixel's partner or -1, if traced


def sweep(
    maps: NDArray[np.uint64],
    union: NDArray[np.uint64],
    ground_truth: NDArray[np.uint64],
    costs: Costs,
    used: NDArray[np.uint64],
    *,
    trace: bool = False,
) -> Sweep:
    """Match one annotator's pixels with the prediction's at every threshold, and mark those that are `used`.

    All masks are packed: `maps` and `used` have shape (K, H, words), lowest threshold first; `union`, of all maps,
    and `ground_truth` have shape (H, words).

    Neighbouring thresholds share nearly all their pixels. From the highest threshold down, pixels that appear or vanish
    change the assignment where they are and leave all others alone, so the whole sweep costs little more than one
    matching. Neighbours within the tolerance are read off the packed masks where they are needed, so memory stays
    linear in pixels.
    """
    rows = new_side(ground_truth, costs.width, prediction=False)
    rows.live[:] = rows.every
    rows.mate[:] = FREE
    rows.price[:] = 0
    columns = new_side(union & reached(rows.pixel, costs), costs.width, prediction=True)
    scratch = scratch_for(rows, columns, costs.width)
    levels = maps.shape[0]
    matched = np.zeros(levels, np.int64)
    partners = np.full((levels if trace else 0, rows.pixel.size), -1, np.int32)
    flat_maps, flat_used = maps.reshape(levels, -1), used.reshape(levels, -1)
    sweep_down(flat_maps, columns, rows, costs, scratch, flat_used, matched, partners)
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
    """Do the work of `sweep`: `columns`, `rows`, `scratch` and all that follow are changed in place.

    The masks `maps` and `used` have shape (K, words), `matched` (K,), and `partners` (K, N), or (0, N) if not wanted.
    """
    live, every, before, pixel = columns.live, columns.every, columns.before, columns.pixel
    mate_of, price = columns.mate, columns.price
    taken = np.zeros(live.size, np.uint64)
    changed, vanishing = np.empty(pixel.size, np.int32), np.empty(pixel.size, np.int32)
    pairs = 0
    for level in range(maps.shape[0] - 1, -1, -1):
        # A matched pixel that vanishes loses all pairs but its own, which is made dearer until the pixel's price is 0.
        # Searches of pixels that appear then end at its partner where they can, instead of pushing others along; only
        # the partners that are left over search themselves.
        n_vanishing = 0
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
                    vanishing[n_vanishing] = j
                    n_vanishing += 1
        n_changed = 0
        for w in range(live.size):
            word = maps[level, w] & every[w] & ~live[w]
            live[w] |= word
            while word != ZERO:
                bit = ONE << uint64(trailing_zeros(word))
                word &= word - ONE
                changed[n_changed] = before[w] + popcount(every[w] & (bit - ONE))
                mate_of[changed[n_changed]] = FREE
                price[changed[n_changed]] = 0
                n_changed += 1
        if n_changed > rows.mate.size:
            # More pixels than they could be matched with: it is quicker to match all of the others again.
            _unmatch(rows, columns, taken)
            pairs = 0
            for n in range(n_vanishing):
                mate_of[vanishing[n]] = ABSENT
                price[vanishing[n]] = UNREACHABLE
            for i in range(rows.mate.size):
                partner, _ = search(int64(i), rows, columns, costs, scratch)
                if partner >= 0:
                    pairs += 1
                    _flip(taken, pixel[partner], costs.width)
            n_changed = 0
        for first in range(0, n_changed, _CHUNK):
            # Whole lines appear at once. In order, each pixel would push those before it along; scattered, few do.
            chunk = min(n_changed - first, _CHUNK)
            step = _stride(chunk)
            n = int64(0)
            for _ in range(chunk):
                n = (n + step) % chunk
                j = int64(changed[first + n])
                partner, released = search(j, columns, rows, costs, scratch)
                if partner >= 0:
                    pairs += 1
                    _flip(taken, pixel[j], costs.width)
                elif released >= 0:
                    _flip(taken, pixel[j], costs.width)
                    _flip(taken, pixel[released], costs.width)
        n_changed = 0
        for n in range(n_vanishing):
            j = int64(vanishing[n])
            i = int64(mate_of[j])
            mate_of[j] = ABSENT
            price[j] = UNREACHABLE
            if i >= 0:
                _flip(taken, pixel[j], costs.width)
                rows.mate[i] = FREE
                rows.price[i] = 0
                changed[n_changed] = i
                n_changed += 1
        for n in range(n_changed):
            partner, _ = search(int64(changed[n]), rows, columns, costs, scratch)
            if partner >= 0:
                _flip(taken, pixel[partner], costs.width)
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
    """Return a step near the golden section of the size that visits every position once."""
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
