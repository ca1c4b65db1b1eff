"""Counts of the saliency protocol: sums of metrics over images, in fixed units that add exactly."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from segbench.core.arrays import IntArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.protocols.common_thresholds import AddedByField

UNITS = 2**44
"""Units in 1: fine enough that no value moves by more than 3e-14, coarse enough for 2**18 images."""

LEVELS = 256


@dataclass(frozen=True, eq=False, repr=False)
class SaliencyCounts(AddedByField):
    """Metrics of an image, or their sums over many, in units of 2**-44.

    Counts of the same settings add with ``+``; the sum does not depend on the order.

    Parameters
    ----------
    images, pixels, positives : int
        How many images are added up, their pixels, and those that are positive.
    mae, s_measure, weighted_f, f_max_of_image, f_adaptive, e_adaptive, ber : int
        The metrics, added up over images.
    precision, recall, f, e, iou, dice, specificity : array of int64, shape (256,)
        The same at rising thresholds 0 to 255. Specificity is 0 where an image has no true positive.

    Raises
    ------
    ArgumentError
        If a number is negative or not whole, a curve has another length, or a sum leaves 64 bits.

    Examples
    --------
    >>> from segbench import count
    >>> counts = count([[False, True]] * 2, [[0, 0.5], [0, 1.0]], "saliency")
    >>> counts.mae / 2**44, (counts + counts).images
    (0.125, 2)
    """

    kind: ClassVar[str] = "saliency"

    images: int
    pixels: int
    positives: int
    mae: int
    s_measure: int
    weighted_f: int
    f_max_of_image: int
    f_adaptive: int
    e_adaptive: int
    ber: int
    precision: IntArray
    recall: IntArray
    f: IntArray
    e: IntArray
    iou: IntArray
    dice: IntArray
    specificity: IntArray

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, curve in zip(self.arrays, self.rows, strict=True):
            if curve.size != LEVELS:
                raise ArgumentError(
                    Message(
                        "other-length",
                        "{argument} has {length} entries, expected one for each of {expected} thresholds",
                        argument=name,
                        length=curve.size,
                        expected=LEVELS,
                    )
                )

    @property
    def ground_truth(self) -> str:
        return f"{self.positives} positive of {self.pixels} pixels"

    @property
    def row(self) -> IntArray:
        """Curves, then scalars, then the number of images, as one array."""
        scalars = [getattr(self, name) for name in (*SCALARS, "images")]
        return np.concatenate([*self.rows, np.array(scalars, np.int64)])


CURVES = SaliencyCounts.arrays
_TOTALS = ("images", "pixels", "positives")
SCALARS = tuple(field.name for field in fields(SaliencyCounts) if field.name not in (*_TOTALS, *CURVES))
"""The metrics of images that are no curves."""
