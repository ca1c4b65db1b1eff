"""Whole numbers packed in as many bits as the largest of each block takes, which is much quicker than zlib.

Imported only where counts of many scores are packed or unpacked, because Numba is slow to load.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.compiling import compiled

BLOCK = 128
"""Numbers that are packed in the same number of bits; in w bits they fill 2 w words of 64 bits."""

Words = NDArray[np.uint64]


def pack(values: NDArray[Any]) -> bytes:
    """Pack whole numbers from 0: how many bits each block takes per number, one byte each, then the blocks."""
    whole = np.append(values, np.zeros(-values.size % BLOCK, values.dtype)).astype(np.uint64)
    widths = bits_of(np.bitwise_or.reduce(whole.reshape(-1, BLOCK), axis=1))
    words = np.zeros(2 * int(widths.sum()), np.uint64)
    pack_blocks(whole, widths, words)
    return widths.tobytes().ljust(_aligned(widths.size), b"\0") + words.astype("<u8").tobytes()


def unpack(data: bytes, offset: int, values: NDArray[Any], *, running: bool = False) -> int:
    """Fill in numbers that `pack` packed into the bytes from `offset`, or their running sums; give where they end."""
    widths = np.frombuffer(data, np.uint8, -(-values.size // BLOCK), offset)
    if widths.max(initial=0) > 8 * values.itemsize - (values.dtype.kind == "i"):
        raise ValueError("numbers of too many bits")
    words = np.frombuffer(data, "<u8", 2 * int(widths.sum()), offset + _aligned(widths.size))
    unpack_blocks(words, widths, values, running)
    return offset + _aligned(widths.size) + words.nbytes


def _aligned(size: int) -> int:
    """Round up to whole words."""
    return size + (-size & 7)


@compiled()
def bits_of(values: Words) -> NDArray[np.uint8]:
    """Give how many bits each number takes."""
    bits = np.zeros(values.size, np.uint8)
    for k in range(values.size):
        while bits[k] < 64 and values[k] >> np.uint64(bits[k]):
            bits[k] += 1
    return bits


@compiled()
def pack_blocks(values: Words, widths: NDArray[np.uint8], words: Words) -> None:
    """Write each block of numbers into words, low bits first."""
    at = np.uint64(0)
    for block in range(widths.size):
        width = np.uint64(widths[block])
        for k in range(BLOCK):
            bit = np.uint64(k) * width
            word, shift = at + (bit >> np.uint64(6)), bit & np.uint64(63)
            value = values[block * BLOCK + k]
            words[word] |= value << shift
            if shift + width > np.uint64(64):
                words[word + np.uint64(1)] |= value >> (np.uint64(64) - shift)
        at += np.uint64(2) * width


@compiled()
def unpack_blocks(words: Words, widths: NDArray[np.uint8], values: NDArray[Any], running: bool) -> None:  # noqa: FBT001  Numba takes no keywords quickly
    """Read each block of numbers; with `running` each is added to those before, as far as their type holds the sum."""
    at = total = np.uint64(0)
    for block in range(widths.size):
        width = np.uint64(widths[block])
        start = block * BLOCK
        mask = ~np.uint64(0) >> (np.uint64(64) - width) if width else np.uint64(0)
        for k in range(min(BLOCK, values.size - start)):
            bit = np.uint64(k) * width
            word, shift = at + (bit >> np.uint64(6)), bit & np.uint64(63)
            value = words[word] >> shift if width else np.uint64(0)
            if shift + width > np.uint64(64):
                value |= words[word + np.uint64(1)] << (np.uint64(64) - shift)
            total = (value & mask) + (total if running else np.uint64(0))
            values[start + k] = total
        at += np.uint64(2) * width
