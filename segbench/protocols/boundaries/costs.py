"""What a pair costs, and the rule that makes the best assignment unique.

A pair of pixels at distance d costs ``rint(100 d)``: hundredths of a pixel. A ground-truth pixel left alone costs
``lambda = max(1, ceil(100 * 100 * max_dist_px))`` of the same unit. The sum of both is minimised, as in the official
code, and not first the number of unmatched pixels: a line of 200 pixels one pixel beside its ground truth, at a
tolerance of one pixel, gives 199 pairs at distance 0 and not 200 at distance 1. Among assignments of equal cost the
one with the least sum of tie-breaks over its pairs is *the* assignment. The tie-break of a pair depends on the
annotator's index a, the flat index p of the prediction pixel and the flat index g of the ground-truth pixel
(``y * width + x``) alone. In unsigned 64-bit arithmetic, with ``>>`` shifting in zeros (this is SplitMix64's
finaliser)::

    z = (p << 32 | g) + (a + 1) * 0x9E3779B97F4A7C15
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * 0x94D049BB133111EB
    tie_break = (z ^ z >> 31) >> 44                     # 20 bits

Both sums are minimised at once, as one integer: ``cost * S + tie_break`` with ``S = 2**20 * (ground-truth pixels +
1)``, which no sum of tie-breaks reaches. Prices and path lengths stay below ``2.2 * lambda * S`` in size; where that
would leave 64 bits (a million ground-truth pixels at a tolerance of 400 px) the request is refused.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from segbench.core.arrays import IntArray
from segbench.core.compiling import helper, int64, uint64
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting

TIE_BREAKS = 1 << 20
_ANNOTATOR = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_1 = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_2 = np.uint64(0x94D0_49BB_1331_11EB)
_LARGEST = 2**63 / 2.2


class Costs(NamedTuple):
    """Prices of pairs by their offset, for one ground truth of one image.

    What an unmatched pixel costs is taken off: a pair then costs less than 0, and a pixel left alone 0, on either side.
    """

    pair: IntArray  # (R + 1, R + 1): by |dy| and |dx|
    half_width: IntArray  # (R + 1,): the largest |dx| within the tolerance, by |dy|
    height: int
    width: int
    annotator: np.uint64


def costs(shape: tuple[int, ...], max_dist_px: float, pixels: int, annotator: int) -> Costs:
    """Tabulate the costs of pairs."""
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
    """Hash ``p << 32 | g`` (uint64) and the annotator's key (uint64) to a number from 0 to 2**20 - 1 (int64)."""
    z = pair + annotator
    z = (z ^ (z >> uint64(30))) * _MIX_1
    z = (z ^ (z >> uint64(27))) * _MIX_2
    return int64((z ^ (z >> uint64(31))) >> uint64(44))
