"""Counts of the region benchmark: covered area, and sums over images of Rand index and variation of information.

Overlaps and entropies are no whole numbers. They are kept in fixed units, so fine that no printed digit moves, and are
whole numbers then: they add exactly, in any order, as all counts here do.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segbench.core.arguments import as_whole
from segbench.core.arrays import as_floats
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.integers import MEAN_UNITS, FloatArray, IntArray, added, as_counts, frozen

COVERED_UNITS = 2**20
"""Units of covered area in a pixel."""

_LARGEST = 2**63 - 1

SUMS = (
    "covered",
    "covered_pred",
    "rand_index",
    "voi_split",
    "voi_merge",
    "adapted_rand",
    "rand_precision",
    "rand_recall",
)


@dataclass(frozen=True, eq=False)
class RegionCounts(Counts):
    """How well the segmentations of an image, or of many, agree with all annotators, threshold by threshold.

    Counts of the same thresholds add with ``+``; the sum does not depend on the order.

    Parameters
    ----------
    thresholds : array of float64, shape (K,)
        Rising: levels of a contour map, or 1, 2, .. for a list of segmentations.
    images : int
        How many images are added up.
    area : int
        Pixels of all ground-truth regions, added up over annotators.
    pixels : int
        Pixels of the images.
    covered_best : int
        As `covered`, each ground-truth region at the threshold that suits it best.
    covered : array of int64, shape (K,)
        Area of each ground-truth region times its best overlap (intersection over union) with a predicted region, added
        up over regions and annotators; in units of 2**-20 pixels.
    covered_pred : array of int64, shape (K,)
        The same the other way round: area of each predicted region times its best overlap with a region of any
        annotator.
    rand_index : array of int64, shape (K,)
        Mean over annotators of the Rand index, added up over images; in units of 2**-36, as all that follow.
    voi_split, voi_merge : array of int64, shape (K,)
        The same of the conditional entropies in bits, of the prediction given the ground truth and the other way round.
        Their sum is the variation of information.
    adapted_rand : array of int64, shape (K,)
        The same of the F of the pairs of pixels that share a region, one minus the adapted Rand error.
    rand_precision, rand_recall : array of int64, shape (K,)
        The same of the precision and the recall of these pairs.

    Raises
    ------
    ArgumentError
        If lengths differ, thresholds do not rise, more is covered than there is, or a sum leaves 64 bits.

    Examples
    --------
    >>> one = RegionCounts([0.5], 1, 4, 4, 4 * 2**20, [2**21], [2**22], *([[2**35]] * 6))
    >>> (one + one).covered.tolist(), (one + one).images
    ([4194304], 2)
    """

    kind: ClassVar[str] = "regions"

    thresholds: FloatArray
    images: int
    area: int
    pixels: int
    covered_best: int
    covered: IntArray
    covered_pred: IntArray
    rand_index: IntArray
    voi_split: IntArray
    voi_merge: IntArray
    adapted_rand: IntArray
    rand_precision: IntArray
    rand_recall: IntArray

    def __post_init__(self) -> None:
        thresholds = as_floats(self.thresholds, "thresholds")
        object.__setattr__(self, "thresholds", frozen(thresholds))
        for name in ("images", "area", "pixels", "covered_best"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, most=_LARGEST))
        for name in SUMS:
            sums = as_counts(getattr(self, name), name).astype(np.int64, copy=False)
            if sums.shape != thresholds.shape:
                raise ArgumentError(f"{name} has {sums.size} entries for {thresholds.size} thresholds")
            object.__setattr__(self, name, frozen(sums))
        if np.any(np.diff(thresholds) <= 0):
            raise ArgumentError("thresholds must rise, each once")
        if max(self.covered_best, self.covered.max(initial=0)) > self.area * COVERED_UNITS or (
            self.covered_pred.max(initial=0) > self.pixels * COVERED_UNITS
        ):
            raise ArgumentError("more area covered than there is")
        shares = (self.rand_index, self.adapted_rand, self.rand_precision, self.rand_recall)
        if max(share.max(initial=0) for share in shares) > self.images * MEAN_UNITS:
            raise ArgumentError(f"a share adds up to more than the {self.images} images allow")

    def __add__(self, other: RegionCounts) -> RegionCounts:
        """Pool two images or sets of images counted at the same thresholds."""
        if not np.array_equal(self.thresholds, other.thresholds):
            raise ArgumentError(
                f"counts at {self.thresholds.size} thresholds and at {other.thresholds.size} others cannot be added; "
                "count both at the same thresholds"
            )
        return RegionCounts(
            self.thresholds,
            self.images + other.images,
            self.area + other.area,
            self.pixels + other.pixels,
            self.covered_best + other.covered_best,
            *(added(getattr(self, name), getattr(other, name), name) for name in SUMS),
        )

    @property
    def ground_truth(self) -> str:
        """What the counts tell of the ground truth, in words."""
        return f"{self.area} ground-truth pixels at {self.thresholds.size} thresholds"

    @property
    def settings(self) -> tuple[object, ...]:
        """What has to be equal for counts to add up."""
        return tuple(self.thresholds.tolist())

    def __eq__(self, other: object) -> bool:
        """Tell whether every threshold and every sum is the same."""
        if not isinstance(other, RegionCounts):
            return NotImplemented
        names = ("thresholds", "images", "area", "pixels", "covered_best", *SUMS)
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    @classmethod
    def sum(cls, counts: Iterable[RegionCounts]) -> RegionCounts:
        """Pool any number of counts, at least one."""
        return functools.reduce(operator.add, counts)
