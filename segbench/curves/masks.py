"""Two-valued predictions: hard masks, evaluated at the mask itself.

Conventions
-----------
1. The values of prediction files or arrays decide, over the whole set and among the pixels that count
   (`ScoreCounts.two_valued`): an image with an empty mask is a mask among masks and a soft map among soft maps. Counts
   of curves given by their points, or taken at chosen thresholds, are never two-valued.
2. Pixels with the larger of the two values are predicted positive. Where the whole set holds a single value, all pixels
   are if it is above 0, and none otherwise.
3. Precision, recall, F and IoU are those of the mask. Metrics that need a ranking of pixels or a choice of thresholds
   (areas, OIS, the false positive rate at a recall) are undefined.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from segbench.core.messages import Message
from segbench.core.notes import Note
from segbench.core.scores import ScoreCounts, Several
from segbench.curves.curve import EMPTY_MASK_THRESHOLD, Curve, pr_curve
from segbench.curves.points import BestFs

TWO_VALUED = Message("two-valued", "two-valued predictions")
AT_THE_MASK = Note(
    Message(
        "at-the-mask",
        "two-valued predictions: ODS, P, R, IoU and mean are those at the mask, not at the best threshold",
    )
)


def mask_threshold(pooled: ScoreCounts) -> float | None:
    """Threshold at which two-valued predictions are their masks."""
    if not pooled.two_valued:
        return None
    highest = float(pooled.scores[0])
    return highest if pooled.scores.size == 2 or highest > 0 else EMPTY_MASK_THRESHOLD


def pixel_curve(pooled: ScoreCounts) -> Curve:
    """Return the precision-recall curve of a whole set; for two-valued predictions, the point of the mask."""
    threshold = mask_threshold(pooled)
    curve = pr_curve(pooled)
    if threshold is None:
        return curve
    return replace(curve, mask=int(np.count_nonzero(pooled.scores >= threshold)))


def mask_points(images: Several, threshold: float) -> BestFs:
    """Return the point of each image at the mask, in place of its best F."""
    predicted = images.scores >= threshold
    return BestFs(
        images.totals(images.positives * predicted),
        images.totals(images.negatives * predicted),
        images.totals(images.positives),
        images.totals(images.negatives),
        np.full(images.ends.size, threshold),
        images.highest,
    )
