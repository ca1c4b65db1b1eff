"""Counts of centerlines: pixels of skeletons inside the other mask, and differences of topology."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.settings import set_fields
from segbench.inputs.cut_masks import CONNECTIVITY_OF_VOLUMES
from segbench.protocols.common_thresholds import CountsAtThresholds

TOTALS = ("images", "patches", "true_area", "true_skeleton")
ERRORS = ("betti0", "betti1", "euler")
ERRORS_OF_VOLUMES = ("betti0", "betti1", "betti2", "euler")


@dataclass(frozen=True, eq=False, repr=False)
class CenterlineCounts(CountsAtThresholds):
    """What the centerlines of one image, or of many, are scored by: of masks at one threshold, 1.

    Parameters
    ----------
    thresholds : array of float64, shape (K,)
        Rising scores; a pixel is predicted where ``score >= threshold``.
    skeleton : str
        The method of the skeletons, as in `Centerlines`.
    connectivity : {8, 4, 26, 6}
        How many pixels of a component touch a pixel; of volumes how many voxels touch a voxel.
    images, patches : int
        How many images are added up, and how many patches of 64 by 64 pixels they have; volumes have none.
    true_area, true_skeleton : int
        Pixels of the ground truth, and of its skeleton.
    area, skeleton_pixels : array of int, shape (K,)
        Pixels of the prediction, and of its skeleton.
    skeleton_inside, true_inside : array of int, shape (K,)
        Pixels of the prediction's skeleton inside the ground truth, and of the ground truth's inside the prediction.
    betti0, betti1, euler : array of int, shape (K,)
        Absolute differences in components, in holes (of volumes: tunnels), and in the Euler characteristic, of whole
        images.
    betti0_patches, betti1_patches, euler_patches : array of int, shape (K,)
        Those of all patches added up.
    betti2 : array of int, shape (K,)
        Absolute differences in cavities of volumes; 0 of images.

    Raises
    ------
    ArgumentError
        If arrays do not fit each other, or hold anything but counts.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count
    >>> truth, predicted = np.zeros((2, 7, 9), bool)
    >>> truth[2:5, 1:8] = predicted[2:5, 1:5] = True
    >>> counts = count(truth, predicted, "centerlines")
    >>> counts.true_skeleton, counts.true_inside.tolist(), counts.skeleton_pixels.tolist()
    (6, [4], [3])
    """

    kind: ClassVar[str] = "centerlines"
    same: ClassVar[tuple[str, ...]] = ("thresholds", "skeleton", "connectivity")

    skeleton: str
    connectivity: int
    images: int
    patches: int
    true_area: int
    true_skeleton: int
    area: IntArray
    skeleton_pixels: IntArray
    skeleton_inside: IntArray
    true_inside: IntArray
    betti0: IntArray
    betti1: IntArray
    euler: IntArray
    betti0_patches: IntArray
    betti1_patches: IntArray
    euler_patches: IntArray
    betti2: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if not np.size(self.betti2):
            set_fields(self, betti2=np.zeros(np.size(self.thresholds), np.int64))
        super().__post_init__()

    @property
    def of_volumes(self) -> bool:
        """Whether volumes were counted."""
        return self.connectivity in CONNECTIVITY_OF_VOLUMES.values()

    @property
    def ground_truth(self) -> str:
        return f"{self.true_area} pixels"

    @property
    def precision(self) -> FloatArray:
        """The share of the predicted skeleton inside the ground truth at each threshold; nan without a skeleton."""
        return parts_of(self.columns)[0]

    @property
    def sensitivity(self) -> FloatArray:
        """The share of the true skeleton inside the prediction at each threshold; nan without a skeleton."""
        return parts_of(self.columns)[1]

    @property
    def cldice(self) -> FloatArray:
        """ClDice at each threshold; 0 where one mask is empty, nan where both are."""
        return parts_of(self.columns)[2]

    @property
    def columns(self) -> FloatArray:
        """What clDice is computed from at each threshold, shape (6, K)."""
        totals = np.repeat([[self.true_area], [self.true_skeleton]], self.thresholds.size, axis=1)
        return np.vstack([totals, self.rows[:4]]).astype(np.float64)


def parts_of(columns: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute precision, sensitivity and clDice from `CenterlineCounts.columns`, shape (..., 6, K); each (..., K)."""
    true_area, true_skeleton, area, skeleton, inside, true_inside = np.moveaxis(columns, -2, 0)
    with np.errstate(invalid="ignore"):  # 0 / 0 of empty skeletons
        precision, sensitivity = inside / skeleton, true_inside / true_skeleton
        total = precision + sensitivity
        cldice: FloatArray = 2 * precision * sensitivity / np.where(total == 0, 1, total)
    cldice[(true_area == 0) != (area == 0)] = 0
    return precision, sensitivity, cldice
