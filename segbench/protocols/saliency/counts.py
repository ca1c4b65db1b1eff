"""Counts of the saliency protocol: sums over images, in fixed units that add exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from segbench.core.arguments import as_real, as_whole
from segbench.core.arrays import IntArray, added, as_counts
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError

UNITS = 2**44
"""Units in 1: fine enough that no value moves by more than 3e-14, coarse enough for 2**18 images."""

LEVELS = 256

BETA2 = "a number from 0 to 1000"

_LARGEST = 2**63 - 1
_TOTALS = ("images", "pixels", "positives")
SCALARS = (
    "mae",
    "s_measure",
    "weighted_f",
    "f_max_of_image",
    "f_adaptive",
    "e_adaptive",
    "mean_iou",
    "mean_dice",
    "ber",
)
CURVES = ("precision", "recall", "f", "e")


@dataclass(frozen=True, eq=False, repr=False)
class SaliencyCounts(Counts):
    """Metrics of an image, or their sums over many, in units of 2**-44.

    Counts of the same settings add with ``+``; the sum does not depend on the order.

    Parameters
    ----------
    beta2 : float
        The weight of precision in F.
    weighted : bool
        Whether weighted F was computed; else `weighted_f` is 0.
    images, pixels, positives : int
        How many images are added up, their pixels, and those that are positive.
    mae, s_measure, weighted_f, f_max_of_image, f_adaptive, e_adaptive, mean_iou, mean_dice, ber : int
        The metrics, added up over images.
    precision, recall, f, e : array of int64, shape (256,)
        The same at rising thresholds 0 to 255.

    Raises
    ------
    ArgumentError
        If a number is negative or not whole, a curve has another length, or a sum leaves 64 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count_saliency
    >>> counts = count_saliency(np.array([[0, 1], [0, 1]]), np.array([[0, 0.5], [0, 1.0]]))
    >>> counts.mae / 2**44, (counts + counts).images
    (0.125, 2)
    """

    kind: ClassVar[str] = "saliency"

    beta2: float
    weighted: bool
    images: int
    pixels: int
    positives: int
    mae: int
    s_measure: int
    weighted_f: int
    f_max_of_image: int
    f_adaptive: int
    e_adaptive: int
    mean_iou: int
    mean_dice: int
    ber: int
    precision: IntArray
    recall: IntArray
    f: IntArray
    e: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta2", as_real(self.beta2, "beta2", BETA2, least=0, most=1000))
        for name in (*_TOTALS, *SCALARS):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, most=_LARGEST))
        for name in CURVES:
            curve = as_counts(getattr(self, name), name).astype(np.int64, copy=False)
            if curve.size != LEVELS:
                raise ArgumentError(f"{name} has {curve.size} entries, expected one for each of {LEVELS} thresholds")
            curve.flags.writeable = False
            object.__setattr__(self, name, curve)

    @classmethod
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Add up images; there must be one."""
        settings: tuple[float, bool] | None = None
        totals = dict.fromkeys((*_TOTALS, *SCALARS), 0)
        curves = {name: np.zeros(LEVELS, np.int64) for name in CURVES}
        for one in counts:
            settings = settings or one.settings
            if settings != one.settings:
                raise ArgumentError(
                    f"counts have (beta2, weighted) {settings} and {one.settings}; count all with the same settings"
                )
            totals = {name: total + getattr(one, name) for name, total in totals.items()}
            curves = {name: added(curve, getattr(one, name), name) for name, curve in curves.items()}
        if settings is None:
            raise ArgumentError("there are no counts to add up; count an image first")
        fields_: dict[str, Any] = {"beta2": settings[0], "weighted": settings[1], **totals, **curves}
        return cls(**fields_)

    @property
    def settings(self) -> tuple[float, bool]:
        """What has to be equal for counts to add up."""
        return self.beta2, self.weighted

    @property
    def ground_truth(self) -> str:
        """What the counts say of the ground truth, in words."""
        return f"{self.positives} positive of {self.pixels} pixels"

    @property
    def row(self) -> IntArray:
        """Curves, then scalars, then the number of images, as one array."""
        scalars = [getattr(self, name) for name in (*SCALARS, "images")]
        return np.concatenate([*(getattr(self, name) for name in CURVES), np.array(scalars, np.int64)])
