"""The heart of the matcher: repair an optimal assignment after one pixel came or lost its partner.

Both sides are alike here. With what an unmatched pixel costs taken off every pair (see `Costs`), each pixel of either
side has a price of at most 0, an unmatched one the price 0, and for every pair ``cost - price - price >= 0``, with 0
for matched pairs. That is linear-programming duality: while it holds, the assignment is optimal.

A pixel that appears, or whose partner vanished, enters with price 0 and may break that. The search is Dijkstra's on the
reduced costs, alternating between the sides, from that pixel. It ends at an unmatched pixel of the other side, at a
pixel of the own side that had better give up its partner, or by leaving the newcomer alone, whichever is shortest
(`best`), and never looks further than that. Then the prices of everything nearer than `best` move by the difference.

References
----------
Jonker, Volgenant: A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems. Computing 38,
1987.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from segbench.protocols.boundaries.costs import Costs, tie_break
from segbench.protocols.boundaries.heap import pop, push
from segbench.protocols.boundaries.jit import helper, int64, part, uint64
from segbench.protocols.boundaries.scan import keep, neighbours
from segbench.protocols.boundaries.sides import ABSENT, FAR, NEW, SEEN, Scratch, Side


@part
def search(  # noqa: C901, PLR0912, PLR0915 - one loop; passing its arrays on would cost more than it does
    start: int, own: Side, other: Side, costs: Costs, scratch: Scratch
) -> tuple[int, int]:
    """Find the shortest change that makes the assignment optimal again, and make it."""
    length, parent, touched, heap, place = scratch.length, scratch.parent, scratch.touched, scratch.heap, scratch.place
    own_price, own_pixel, list_of, list_size = own.price, own.pixel, own.lists.first, own.lists.size
    kept, kept_cost = own.lists.pixel, own.lists.cost
    price, mate_of, live, every, before = other.price, other.mate, other.live, other.every, other.before
    pair, half_width, width = costs.pair, costs.half_width, costs.width
    pixel_of, found = other.pixel, scratch.line
    best, end = int64(0), int64(-1)
    seen = queued = 0
    x = int64(start)
    walked = int64(0)  # length of the path to x, less the price of x
    while True:
        if list_of[x] == SEEN:
            keep(x, own, other, costs)
        if list_of[x] >= 0:
            for n in range(list_of[x], list_of[x] + list_size[x]):
                z = int64(kept[n])
                path = walked + kept_cost[n] - price[z]
                if path < min(best, length[z]) and mate_of[z] != ABSENT:
                    best, end, seen, queued = _reach(
                        z, path, x, best, end, seen, queued, length, parent, touched, heap, place, mate_of, own_price
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
                    z = int64(found[n])
                    path = walked + pair[dy, abs(pixel_of[z] - y * width - x0)] - price[z]
                    if path >= min(best, length[z]):
                        continue
                    path += tie_break(own_key | uint64(pixel_of[z]) << other.shift, costs.annotator)
                    if path < min(best, length[z]):
                        best, end, seen, queued = _reach(
                            z,
                            path,
                            x,
                            best,
                            end,
                            seen,
                            queued,
                            length,
                            parent,
                            touched,
                            heap,
                            place,
                            mate_of,
                            own_price,
                        )
        if queued == 0 or length[heap[0]] >= best:
            break
        nearest = heap[0]
        queued = pop(queued, length, heap, place)
        x = int64(mate_of[nearest])
        walked = length[nearest] - own_price[x]

    own_price[start] = best
    for n in range(seen):
        z = int64(touched[n])
        if length[z] < best:
            price[z] += length[z] - best
            own_price[mate_of[z]] += best - length[z]
        length[z] = FAR
        place[z] = -1
    return _augment(start, end, own.mate, mate_of, parent)


@helper
def _reach(  # noqa: PLR0917 - arrays one by one, as in `scan`
    z: int,
    path: int,
    x: int,
    best: int,
    end: int,
    seen: int,
    queued: int,
    length: NDArray[Any],
    parent: NDArray[Any],
    touched: NDArray[Any],
    heap: NDArray[Any],
    place: NDArray[Any],
    mate_of: NDArray[Any],
    own_price: NDArray[Any],
) -> tuple[int, int, int, int]:
    """Take the shorter way to z that leads through x."""
    if length[z] == FAR:
        touched[seen] = z
        seen += 1
    length[z] = path
    parent[z] = x
    if mate_of[z] < 0:
        return path, z, seen, queued
    given_up = path - own_price[mate_of[z]]
    if given_up < best:
        best, end = given_up, z
    if path < best:
        queued = push(z, queued, length, heap, place)
    return best, end, seen, queued


@helper
def _augment(
    start: int, end: int, own_mate: NDArray[Any], mate_of: NDArray[Any], parent: NDArray[Any]
) -> tuple[int, int]:
    """Change partners along the path that ends at a pixel of the other side."""
    if end < 0:
        return int64(-1), int64(-1)
    released = int64(mate_of[end])
    if released >= 0:
        own_mate[released] = -1
    z = end
    while True:
        x = parent[z]
        after = int64(own_mate[x])
        mate_of[z] = x
        own_mate[x] = z
        if x == start:
            break
        z = after
    return (int64(-1), released) if released >= 0 else (end, int64(-1))
