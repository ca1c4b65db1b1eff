"""Proof that an assignment is the best: a lower bound that trusts nothing the search did.

For any prices of at most 0 on the prediction pixels, every ground-truth pixel must pay at least the least of
``cost - price`` over the pixels within its tolerance, or what it costs to stay alone; adding the prices themselves,
that is a lower bound of the cost of *every* assignment (weak duality). An assignment whose cost equals the bound is
optimal.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from segbench.protocols.boundaries.bits import FULL, ONE, ZERO, popcount, trailing_zeros
from segbench.protocols.boundaries.costs import Costs, tie_break
from segbench.protocols.boundaries.jit import int64, part, uint64
from segbench.protocols.boundaries.sides import Side


@part
def certify(rows: Side, columns: Side, costs: Costs, sums: NDArray[Any]) -> None:
    """Sum the cost of the assignment, and its lower bound.

    Sums may leave 64 bits, so that each is given in two parts; `whole` puts them together.
    """
    live, every, before, price, mate = columns.live, columns.every, columns.before, columns.price, rows.mate
    pair, half_width, width = costs.pair, costs.half_width, costs.width
    sums[:] = 0
    for i in range(rows.pixel.size):
        y0, x0 = divmod(int64(rows.pixel[i]), width)
        least = paid = int64(0)
        for y in range(max(y0 - half_width.size + 1, 0), min(y0 + half_width.size, costs.height)):
            reach = half_width[abs(y - y0)]
            first, last = max(x0 - reach, 0), min(x0 + reach, width - 1)
            for k in range(first >> 6, (last >> 6) + 1):
                w = y * ((width + 63) >> 6) + k
                word = live[w]
                if k == first >> 6:
                    word &= FULL << uint64(first & 63)
                if k == last >> 6:
                    word &= FULL >> uint64(63 - (last & 63))
                while word != ZERO:
                    bit = trailing_zeros(word)
                    word &= word - ONE
                    j = before[w] + popcount(every[w] & ((ONE << uint64(bit)) - ONE))
                    key = uint64(columns.pixel[j]) << columns.shift | uint64(rows.pixel[i])
                    cost = pair[abs(y - y0), abs((k << 6) + bit - x0)] + tie_break(key, costs.annotator)
                    least = min(least, cost - price[j])
                    if mate[i] == j:
                        paid = cost
        sums[0] += paid >> 32
        sums[1] += paid & 0xFFFF_FFFF
        sums[2] += least >> 32
        sums[3] += least & 0xFFFF_FFFF
    for j in range(price.size):
        if price[j] > 0:  # no valid price: make the bound fail
            sums[2] -= int64(1) << 40
        sums[2] += price[j] >> 32
        sums[3] += price[j] & 0xFFFF_FFFF


def whole(high: int, low: int, alone: int, pixels: int) -> int:
    """Put a sum together, with what unmatched pixels cost put back."""
    return (int(high) << 32) + int(low) + int(alone) * pixels
