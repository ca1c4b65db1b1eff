"""Counts of the region benchmark: covered area, and sums over images of Rand index and variation of information.

Overlaps and entropies are not whole numbers. They are rounded to multiples of fixed units, too small to change a
printed digit, so that they add exactly, in any order, as all counts do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from segbench.core.arrays import MEAN_UNITS, IntArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import many, verb
from segbench.protocols.common_thresholds import CountsAtThresholds

COVERED_UNITS = 2**20
"""Units of covered area in a pixel."""


@dataclass(frozen=True, eq=False, repr=False)
class RegionCounts(CountsAtThresholds):
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
        super().__post_init__()
        if max(self.covered_best, self.covered.max(initial=0)) > self.area * COVERED_UNITS or (
            self.covered_pred.max(initial=0) > self.pixels * COVERED_UNITS
        ):
            raise ArgumentError(Message("inconsistent-counts", "more area covered than counted"))
        shares = (self.rand_index, self.adapted_rand, self.rand_precision, self.rand_recall)
        if max(share.max(initial=0) for share in shares) > self.images * MEAN_UNITS:
            raise ArgumentError(
                Message(
                    "inconsistent-counts",
                    "a share adds up to more than {images} {allow}",
                    images=many(self.images, "image"),
                    allow=verb(self.images, "allow"),
                )
            )

    @property
    def ground_truth(self) -> str:
        return f"{self.area} ground-truth pixels at {many(self.thresholds.size, 'threshold')}"
