"""Masks as bits, 64 pixels a word: what thinning and matching read instead of pixels.

A mask of shape (H, W) becomes uint64 words of shape (H, ceil(W / 64)); bit b of word k is column 64 k + b. A window of
a few columns is then one or two words, and its pixels are found by counting trailing zeros. The pixels of a mask are
numbered in raster order; `ranks` gives the number of the first pixel of every word. A soft map becomes a stack of
masks, one per threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # comes with Numba
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray
from segbench.core.compiling import kernel

ONE = np.uint64(1)
ZERO = np.uint64(0)
FULL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def _trailing_zeros(_context: Any, _word: Any) -> Any:
    def codegen(_target: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


def _popcount(_context: Any, _word: Any) -> Any:
    def codegen(_target: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


trailing_zeros: Any = intrinsic(_trailing_zeros)
"""The position of the lowest set bit of a word that is not 0."""
popcount: Any = intrinsic(_popcount)
"""The number of set bits of a word."""


def pack(mask: BoolArray) -> NDArray[np.uint64]:
    """Pack a mask into words."""
    height, width = mask.shape
    words = np.zeros((height, -(-width // 64) * 8), np.uint8)
    packed = np.packbits(mask, axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return words.view("<u8").astype(np.uint64, copy=False)


def unpack(words: NDArray[np.uint64], width: int) -> BoolArray:
    """Undo `pack`."""
    octets = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=width, bitorder="little").view(np.bool_)


@kernel
def ranks(words: Array) -> Array:
    """Number the pixels of a mask in raster order."""
    numbers = np.zeros(words.size + 1, np.int32)
    for k in range(words.size):
        numbers[k + 1] = numbers[k] + popcount(words[k])
    return numbers


@kernel
def positions(words: Array, width: int, count: int) -> Array:
    """List the pixels of a mask."""
    pixels = np.empty(count, np.int32)
    n = 0
    for y in range(words.shape[0]):
        for k in range(words.shape[1]):
            word = words[y, k]
            while word != ZERO:
                pixels[n] = y * width + 64 * k + trailing_zeros(word)
                word &= word - ONE
                n += 1
    return pixels


def levels_of(scores: Array, thresholds: Array) -> NDArray[np.int32]:
    """Count the thresholds at or below each score."""
    return np.searchsorted(thresholds, scores, side="right").astype(np.int32)


def pack_levels(levels: Array, count: int) -> NDArray[np.uint64]:
    """Pack the map of every threshold, as it is."""
    return np.stack([pack(levels > k) for k in range(count)])


@kernel
def count_bits(maps: Array) -> Array:
    """Count the pixels of every map of a packed stack; int64, one a map."""
    counts = np.zeros(maps.shape[0], np.int64)
    for k in range(maps.shape[0]):
        for y in range(maps.shape[1]):
            for w in range(maps.shape[2]):
                counts[k] += popcount(maps[k, y, w])
    return counts
