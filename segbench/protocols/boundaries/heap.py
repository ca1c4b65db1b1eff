"""A binary heap of pixels by path length; each pixel is in it at most once, and moves up when its length falls."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from segbench.protocols.boundaries.jit import helper, int64


@helper
def push(z: int, queued: int, length: NDArray[Any], heap: NDArray[Any], place: NDArray[Any]) -> int:
    """Put a pixel in, or move it up after its length fell."""
    n = int64(place[z])
    if n < 0:
        n = queued
        queued += 1
    while n > 0:
        above = (n - 1) >> 1
        if length[heap[above]] <= length[z]:
            break
        heap[n] = heap[above]
        place[heap[n]] = n
        n = above
    heap[n] = z
    place[z] = n
    return queued


@helper
def pop(queued: int, length: NDArray[Any], heap: NDArray[Any], place: NDArray[Any]) -> int:
    """Take out the pixel of the smallest key, ``heap[0]``; parameters and result as for `push`."""
    place[heap[0]] = -1
    queued -= 1
    if queued == 0:
        return queued
    z = heap[queued]
    n = 0
    while 2 * n + 1 < queued:
        below = 2 * n + 1
        if below + 1 < queued and length[heap[below + 1]] < length[heap[below]]:
            below += 1
        if length[heap[below]] >= length[z]:
            break
        heap[n] = heap[below]
        place[heap[n]] = n
        n = below
    heap[n] = z
    place[z] = n
    return queued
