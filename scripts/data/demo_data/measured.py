"""Ground truth that was measured rather than drawn: the motorcycle's depth edges and the horse's silhouette."""

import numpy as np
import skimage.data
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import thin

from demo_data.pictures import small_picture

# Disparities are pixels of the 741 x 500 picture: the wall lies at 7 to 35, the motorcycle at 42 to 60.
STEP = 2.5
SEEN_THROUGH = 40.0
SHORTEST_EDGE = 12


def horse_silhouette() -> NDArray[np.bool_]:
    """Mask of the horse, which is drawn in black on white."""
    return small_picture("horse") < 128


def motorcycle_disparity() -> NDArray[np.float64]:
    """Measured disparity of the motorcycle picture at its size in the demo set, without gaps.

    The measurement has no value for 7 % of the pixels, most of them hidden from the right camera. What is hidden is the
    farther surface, so a gap takes the smaller of the nearest measured values to its left and right.
    """
    disparity = skimage.data.stereo_motorcycle()[2].astype(np.float64)
    measured = np.isfinite(disparity)
    width = disparity.shape[1]
    columns = np.arange(width)
    before = np.maximum.accumulate(np.where(measured, columns, -1), axis=1)
    after = np.minimum.accumulate(np.where(measured, columns, width)[:, ::-1], axis=1)[:, ::-1]
    bordered = np.pad(np.where(measured, disparity, np.inf), ((0, 0), (1, 1)), constant_values=np.inf)
    filled = np.minimum(np.take_along_axis(bordered, before + 1, 1), np.take_along_axis(bordered, after + 1, 1))
    return ndimage.median_filter(filled, size=3)[::2, : width - 1 : 2]


def depth_edges(disparity: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Edges one pixel wide where the disparity jumps by more than `STEP`, without crumbs of under `SHORTEST_EDGE`."""
    padded = np.pad(disparity, ((0, 1), (0, 1)), mode="edge")
    here = padded[:-1, :-1]
    jump = np.maximum(np.abs(here - padded[:-1, 1:]), np.abs(here - padded[1:, :-1]))
    edges = thin(jump > STEP)
    pieces, _ = ndimage.label(edges, structure=np.ones((3, 3)))
    lengths = np.bincount(pieces.ravel())
    return np.asarray(edges & (lengths[pieces] >= SHORTEST_EDGE))


def without_background(objects: NDArray[np.bool_], disparity: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The outlined motorcycle without the wall and floor that were measured behind it, as between the spokes."""
    return objects & (disparity >= SEEN_THROUGH)
