"""The two sides of the assignment, and the room a search needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.boundaries.bits import positions, ranks

FAR = np.int64(2**62)
FREE, ABSENT = -1, -2  # in place of a mate
NEW, SEEN, NONE = -1, -2, -3  # in place of a list: never scanned, scanned once, too long or no room
LONGEST_LIST = 256
_ROOM = 1 << 22


class Lists(NamedTuple):
    """Neighbours of the pixels that searches came to twice, with costs, as far as there is room."""

    first: NDArray[np.int64]  # where the list of each pixel begins, or NEW, SEEN or NONE
    size: NDArray[np.int32]
    used: NDArray[np.int64]  # (1,): entries in use
    pixel: NDArray[np.int32]
    cost: NDArray[np.int64]


class Side(NamedTuple):
    """The pixels of one side, numbered in raster order."""

    live: NDArray[np.uint64]  # packed mask, flattened: pixels that may be matched now
    every: NDArray[np.uint64]  # packed mask, flattened: pixels that are numbered
    before: NDArray[np.int32]  # pixels of `every` before each word
    pixel: NDArray[np.int32]  # flat index of each pixel
    price: NDArray[np.int64]  # at most 0; 0 where unmatched
    mate: NDArray[np.int32]  # partner on the other side; FREE; ABSENT while not live
    lists: Lists
    shift: np.uint64  # where the pixel stands in the key of a pair: 32 for predictions, 0 for ground truth


class Scratch(NamedTuple):
    """Room for a search, as long as the larger side, and clean between searches."""

    length: NDArray[np.int64]  # of the shortest path to each pixel of the other side, FAR where none
    parent: NDArray[np.int32]  # the own pixel that it comes from
    touched: NDArray[np.int32]
    heap: NDArray[np.int32]
    place: NDArray[np.int32]
    line: NDArray[np.int32]  # the neighbours on one line


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
        np.empty(room, np.int32),
        np.empty(room, np.int64),
    )
    price, mate = np.zeros(pixel.size, np.int64), np.full(pixel.size, ABSENT, np.int32)
    return Side(np.zeros_like(every), every, before, pixel, price, mate, lists, np.uint64(32 if prediction else 0))


def scratch_for(rows: Side, columns: Side, width: int) -> Scratch:
    """Make clean room for searches between two sides."""
    room = max(rows.pixel.size, columns.pixel.size)
    return Scratch(
        np.full(room, FAR),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.full(room, -1, np.int32),
        np.empty(width, np.int32),
    )
