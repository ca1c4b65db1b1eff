"""Bins for float scores: fine at both ends of [0, 1], where over-confident networks pile up.

A bin is found from the bits of a float. From 0 to 1/2 each power of two is cut into 256 bins of equal width down to
2**-126; from 1/2 to 1 the same is done with ``1 - score``, which float arithmetic gives exactly. That makes 64 004
bins; exactly 0 and exactly 1 have one each. Scores outside [0, 1] get 256 bins a power of two. A higher score never
has a lower bin, and the bin of a score depends on nothing but the score, so binned counts add in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.integers import IntArray

_MANTISSA_BITS_DROPPED = 44
_SCORES_AT_ONCE = 2**15
_LOWEST_EXPONENT = int(np.float64(2.0**-126).view(np.int64) >> _MANTISSA_BITS_DROPPED)


def bin_of(scores: NDArray[Any]) -> IntArray:
    """Number the bin of each score."""
    scores = np.asarray(scores)
    flat = scores.reshape(-1)
    bins = np.empty(flat.size, np.int64)
    # Piece by piece: what is computed on the way stays in the processor's cache, and takes no memory to speak of.
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, flat.size, _SCORES_AT_ONCE):
            some = slice(start, start + _SCORES_AT_ONCE)
            bins[some] = bins_by(np, flat[some].astype(np.float64))
    return bins.reshape(scores.shape)


def bins_by(library: Any, scores: Any) -> Any:  # noqa: ANN401  arrays of one library or the other
    """Number bins as `bin_of` does, with the functions of NumPy or of PyTorch."""
    where = library.where
    upper = scores >= 0.5
    bins = _octaves_by(library, where(upper, 1.0 - scores, library.abs(scores)))
    bins = where(upper, _TOP - bins, bins)
    below, beyond = scores < 0, scores > 1
    if below.any():
        bins = where(below, -bins, bins)
    if beyond.any():
        bins[beyond] = _octaves_by(library, scores[beyond]) + (_TOP + 1 - _ONE)
    return bins


def bin_floor(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Give the lowest score that the bin of each score can hold: as a threshold it cuts between bins, in any data."""
    scores = np.asarray(scores, dtype=np.float64)
    octaves = _octaves_by(np, np.where((scores >= 0.5) & (scores <= 1), 1.0 - scores, np.abs(scores)))
    lower, upper = _edge(octaves), _edge(octaves + 1)
    edge = np.where(scores < 0, -upper, np.where((scores < 0.5) | (scores > 1), lower, 1.0 - upper))
    bins = bin_of(scores)
    # Bins of mirrored scores leave their lower edge out, and some hold a single float.
    for floor in (np.nextafter(edge, np.inf), edge):
        scores = np.where(bin_of(floor) == bins, floor, scores)
    return scores


def _edge(octaves: IntArray) -> NDArray[np.float64]:
    """Give the magnitude at which an octave's part begins."""
    edges = ((octaves - 1 + _LOWEST_EXPONENT) << _MANTISSA_BITS_DROPPED).view(np.float64)
    return np.where(octaves <= 1, 0.0, edges)


def _octaves_by(library: Any, magnitude: Any) -> Any:  # noqa: ANN401  as `bins_by`
    bits = magnitude.view(library.int64) >> _MANTISSA_BITS_DROPPED
    return library.clip(bits - _LOWEST_EXPONENT, 0, None) + (magnitude != 0)


_TOP = 2 * int(_octaves_by(np, np.float64(0.5))) + 1
"""The bin of exactly 1: as many bins above 1/2 as below, and one of its own for 0."""
_ONE = int(_octaves_by(np, np.float64(1.0)))
