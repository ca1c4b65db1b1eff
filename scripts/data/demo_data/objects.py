"""Classical methods that say how likely a pixel belongs to a foreground object.

They see the picture and nothing else. All but `local_entropy` lean on one belief: what touches the frame is background.
"""

import numpy as np
import skimage.segmentation
from numpy.typing import NDArray
from scipy import ndimage
from skimage.filters import threshold_otsu
from skimage.filters.rank import entropy
from skimage.graph import MCP_Geometric
from skimage.morphology import disk

from demo_data.pictures import grey, lab

Picture = NDArray[np.uint8]
Scores = NDArray[np.float64]

FRAME_WIDTH = 6
LOWEST_COLOUR = np.array([0.0, -64.0, -64.0])
BIN_WIDTHS = np.array([5.0, 6.0, 6.0])
COLOUR_BINS = (20, 22, 22)


def soft_otsu(picture: Picture) -> Scores:
    """Lightness against Otsu's threshold, softened; the class that fills most of the frame is the background."""
    lightness = ndimage.gaussian_filter(lab(picture)[..., 0], 1.0)
    threshold = threshold_otsu(lightness)
    side = -1.0 if np.mean(lightness[_frame(lightness.shape)] > threshold) > 0.5 else 1.0
    return np.asarray(1.0 / (1.0 + np.exp(-side * (lightness - threshold) / 12.0)))


def local_entropy(picture: Picture) -> Scores:
    """Entropy of 64 grey levels within 9 pixels, in bits over the greatest value of 6."""
    levels = np.rint(grey(picture) * 255).astype(np.uint8) // 4
    return np.asarray(entropy(levels, disk(9)) / 6.0)


def border_colours(picture: Picture) -> Scores:
    """How much rarer a pixel's colour is along the frame than in the whole picture, from smoothed Lab histograms."""
    colours = ndimage.gaussian_filter(lab(picture), (1.0, 1.0, 0.0))
    bins = np.clip((colours - LOWEST_COLOUR) / BIN_WIDTHS, 0, np.array(COLOUR_BINS) - 1).astype(np.int64)
    frame = _histogram(bins[_frame(bins.shape)])
    everywhere = _histogram(bins.reshape(-1, 3))
    ratio = (frame / np.maximum(everywhere, 1e-12))[tuple(np.moveaxis(bins, -1, 0))]
    return np.asarray(ndimage.gaussian_filter(1.0 / (1.0 + ratio), 1.5))


def random_walker(picture: Picture) -> Scores:
    """Random-walker probability (Grady, 2006) between automatic seeds.

    Seeds come from the mean of `border_colours` and the geodesic distance to the frame: background in the lowest 15 %
    of its range, object in the highest 20 %. The odds are taken to the power 1/4, since 8 bits would lose most
    probabilities to 0 and 1; that changes no ranking.
    """
    geodesic = geodesic_distance(picture)
    guess = border_colours(picture) + geodesic / geodesic.max()
    guess = (guess - guess.min()) / np.ptp(guess)
    seeds = np.select([guess <= 0.15, guess >= 0.8], [1, 2], default=0)
    probabilities = skimage.segmentation.random_walker(
        lab(picture) / 100.0, seeds, beta=600, mode="bf", channel_axis=-1, return_full_prob=True
    )
    background, inside = np.clip(probabilities, 0.0, 1.0) ** 0.25
    return np.asarray(inside / (inside + background))


def geodesic_distance(picture: Picture) -> Scores:
    """Least summed Lab contrast on any way to the frame (Wei and others, 2012), squeezed into [0, 1)."""
    colours = ndimage.gaussian_filter(lab(picture), (1.0, 1.0, 0.0))
    down, across = np.gradient(colours, axis=(0, 1))
    contrast = np.sqrt(np.sum(down**2 + across**2, axis=-1))
    outermost = np.pad(np.zeros(np.subtract(contrast.shape, 2), dtype=bool), 1, constant_values=True)
    distance, _ = MCP_Geometric(np.maximum(contrast - 1.0, 0.02)).find_costs(np.argwhere(outermost))
    return np.asarray(distance / (distance + 40.0))


METHODS = {method.__name__: method for method in (random_walker, border_colours, soft_otsu, local_entropy)}


def _frame(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    frame = np.ones(shape[:2], dtype=bool)
    frame[FRAME_WIDTH:-FRAME_WIDTH, FRAME_WIDTH:-FRAME_WIDTH] = False
    return frame


def _histogram(bins: NDArray[np.int64]) -> Scores:
    counts = np.zeros(COLOUR_BINS)
    np.add.at(counts, tuple(bins.T), 1.0)
    return np.asarray(ndimage.gaussian_filter(counts / len(bins), 1.0))
