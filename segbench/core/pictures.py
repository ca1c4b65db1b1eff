"""What the report draws of one image and method: plain arrays, which the page packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray

ByteArray = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Pictures:
    """One image by one method, at thresholds that a reader slides through; arrays of shape (H, W)."""

    truth: ByteArray  # as it is drawn; with `reached`, labels: 0 negative, 1 positive, 2 left out
    truth_ranks: NDArray[Any]  # of the pixels that share a dot on the screen, the one of the highest rank is shown
    reached: ByteArray | None = None  # how many thresholds a score reaches, which gives states at any of them
    states: Sequence[ByteArray] = ()  # or else the states of the pixels at each threshold
    outlines: Sequence[ByteArray] = ()  # of what was predicted at each threshold
    soft: ByteArray | None = None  # the soft map, to be shown like a photograph
    # The places of predicted classes, and one more for no class; `truth` then also has a number for what is left out.
    classes: ByteArray | None = None
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)  # at each threshold, by the names that are shown
    counts: Mapping[str, Any] = field(default_factory=dict)  # with `reached`: TP and FP at each threshold, positives
    words: Sequence[str] = ()  # what is drawn at each threshold, listed
    note: str = ""  # what has to be said beside the picture


def outline(labels: NDArray[Any]) -> ByteArray:
    """Mark the pixels with a label that differs from the one below or to the right."""
    edges = np.zeros(labels.shape, np.uint8)
    edges[:-1][labels[:-1] != labels[1:]] = 255
    edges[:, :-1][labels[:, :-1] != labels[:, 1:]] = 255
    return edges
