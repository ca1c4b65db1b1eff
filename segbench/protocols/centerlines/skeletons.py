"""Masks to skeletons, by the method that is asked for."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import BoolArray
from segbench.protocols.centerlines.choices import Skeleton


def skeleton_of(mask: BoolArray, method: Skeleton) -> BoolArray:
    """Give the skeleton of a mask."""
    if method == "thin":
        from segbench.protocols.boundaries.thinning import thin

        return thin(mask)
    from skimage.morphology import medial_axis, skeletonize

    mask = np.require(mask, requirements="W")  # scikit-image refuses arrays that are read-only, as files are read
    if method == "medial-axis":  # which breaks ties in an order drawn at random
        return np.asarray(medial_axis(mask, rng=0))  # type: ignore[no-untyped-call]  # scikit-image is untyped
    return np.asarray(skeletonize(mask, method=method), np.bool_)  # type: ignore[no-untyped-call]  # scikit-image is untyped
