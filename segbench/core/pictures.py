"""What the report draws of one image and method: plain arrays, which the page packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
ByteArray = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Pictures:
    """One image by one method, at thresholds that a reader slides through.

    Parameters
    ----------
    truth : array of uint8, shape (H, W)
        The ground truth as it is drawn; with `reached`, labels: 0 negative, 1 positive, 2 left out.
    truth_ranks : array of int, shape (H, W)
        Of the pixels that share a dot on the screen, the one of the highest rank is shown.
    reached : array of uint8, shape (H, W), optional
        How many of the thresholds the score of a pixel reaches, from which the page derives states at any of them.
    states : sequence of array of uint8, shape (H, W)
        Or else the states of the pixels at each threshold.
    outlines : sequence of array of uint8, shape (H, W)
        Outlines of what was predicted at each threshold, if there are any.
    soft : array of uint8, shape (H, W), optional
        The soft map, to be shown like a photograph.
    classes : array of uint8, shape (H, W), optional
        The place of the predicted class of each pixel, and of those outside the classes their number; `truth` holds the
        same of the ground truth, with the next number for what is left out.
    metrics : mapping of str to array, shape (thresholds,)
        Metrics of the image at each threshold, by the names that the page shows.
    counts : mapping of str to list or int
        With `reached`, TP and FP at each threshold, and positives.
    note : str
        What has to be said beside the picture.
    """

    truth: ByteArray
    truth_ranks: NDArray[Any]
    reached: ByteArray | None = None
    states: Sequence[ByteArray] = ()
    outlines: Sequence[ByteArray] = ()
    soft: ByteArray | None = None
    classes: ByteArray | None = None
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def scores_of(soft: NDArray[Any]) -> FloatArray:
    """Give the scores of a soft map that holds levels or scores."""
    full = np.iinfo(soft.dtype).max if soft.dtype.kind == "u" else 1
    return np.asarray(soft / np.float64(full))


def outline(labels: NDArray[Any]) -> ByteArray:
    """Mark the pixels with a label that differs from the one below or to the right."""
    edges = np.zeros(labels.shape, np.uint8)
    edges[:-1][labels[:-1] != labels[1:]] = 255
    edges[:, :-1][labels[:, :-1] != labels[:, 1:]] = 255
    return edges
