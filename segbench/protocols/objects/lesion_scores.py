"""From the lesions of a volume to its lesion-wise Dice and HD95."""

from __future__ import annotations

import math

from segbench.core.arrays import FloatArray, IntArray

FARTHEST = 374.0
"""What stands for HD95 of a lesion that is missed or false, as in BraTS's code."""


def lesion_scores(voxels: IntArray, distances: FloatArray, false: int) -> tuple[float, float]:
    """Return the means of Dice and HD95 over lesions and false components: 1 and 0 where there are neither."""
    number = len(voxels) + false
    if not number:
        return 1.0, 0.0
    shared, true, predicted = voxels.T
    dice = math.fsum((2 * shared / (true + predicted)).tolist())
    return dice / number, math.fsum([*distances.tolist(), FARTHEST * false]) / number
