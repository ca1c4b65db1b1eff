"""Classical edge detectors with soft, ridge-shaped answers in [0, 1]."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.signal import fftconvolve
from skimage.feature import canny
from skimage.filters.rank import entropy
from skimage.morphology import disk

from demo_data.pictures import grey, lab

Picture = NDArray[np.uint8]
Scores = NDArray[np.float64]

RADIUS = 5
ORIENTATIONS = 8


def gradient(picture: Picture) -> Scores:
    """Lab gradient magnitude times scale, the mean of three scales, m / (m + 15)."""
    colours = lab(picture)
    magnitude = np.mean([sigma * _magnitude(colours, sigma) for sigma in (1.0, 1.5, 2.0)], axis=0)
    return np.asarray(magnitude / (magnitude + 15.0))


def canny_votes(picture: Picture) -> Scores:
    """Share of 32 Canny runs, four scales by eight thresholds, that mark a pixel; blurred by half a pixel."""
    luminance = grey(picture)
    votes = [
        canny(luminance, sigma=sigma, low_threshold=0.4 * high, high_threshold=high)
        for sigma in (1.0, 1.5, 2.2, 3.2)
        for high in np.geomspace(0.02, 0.5, 8)
    ]
    return np.asarray(ndimage.gaussian_filter(np.mean(votes, axis=0), 0.5))


def entropy_gradient(picture: Picture) -> Scores:
    """Gradient of the entropy of 32 grey levels within 5 pixels: edges of texture."""
    levels = np.rint(grey(picture) * 255).astype(np.uint8) // 8
    magnitude = 2.0 * ndimage.gaussian_gradient_magnitude(entropy(levels, disk(5)) / 5.0, 2.0)
    return np.asarray(magnitude / (magnitude + 0.1))


def half_discs(picture: Picture) -> Scores:
    """Greatest chi-squared difference between the two halves of a disc, over eight orientations (Martin, 2004).

    Compared are smoothed histograms of the Lab channels; grey pictures have the lightness only.
    """
    colours = lab(picture)
    histograms = [_soft_bins(colours[..., 0], 0, 100, 12)]
    if picture.ndim == 3:
        histograms += [_soft_bins(colours[..., channel], -40, 60, 10) for channel in (1, 2)]
    differences = [
        np.mean([_chi_squared(histogram, *_halves(angle)) for histogram in histograms], axis=0)
        for angle in np.arange(ORIENTATIONS) * np.pi / ORIENTATIONS
    ]
    return np.asarray(np.max(differences, axis=0))


METHODS = {method.__name__: method for method in (half_discs, gradient, canny_votes, entropy_gradient)}


def _magnitude(colours: Scores, sigma: float) -> Scores:
    down = ndimage.gaussian_filter(colours, (sigma, sigma, 0), order=(1, 0, 0))
    across = ndimage.gaussian_filter(colours, (sigma, sigma, 0), order=(0, 1, 0))
    return np.asarray(np.sqrt(np.sum(down**2 + across**2, axis=-1)))


def _soft_bins(channel: Scores, low: float, high: float, bins: int) -> Scores:
    """Membership of every pixel in every bin, shape (bins, height, width), padded by `RADIUS`."""
    position = np.clip((channel - low) / (high - low) * (bins - 1), 0, bins - 1)
    membership = np.clip(1 - np.abs(position - np.arange(bins)[:, np.newaxis, np.newaxis]), 0, 1)
    smooth = ndimage.gaussian_filter1d(membership, 0.8, axis=0)
    return np.pad(smooth, ((0, 0), (RADIUS, RADIUS), (RADIUS, RADIUS)), mode="reflect")


def _halves(angle: float) -> tuple[Scores, Scores]:
    """Weights of the two halves of a disc that is cut at `angle`."""
    y, x = np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1]
    distance = np.hypot(x, y)
    weight = np.exp(-0.5 * (distance / (0.6 * RADIUS)) ** 2) * (distance <= RADIUS)
    side = np.round(x * np.sin(angle) - y * np.cos(angle), 9)
    left, right = weight * (side > 0), weight * (side < 0)
    return left / left.sum(), right / right.sum()


def _chi_squared(histogram: Scores, left: Scores, right: Scores) -> Scores:
    g, h = (fftconvolve(histogram, half[np.newaxis], mode="valid", axes=(1, 2)) for half in (left, right))
    return np.asarray(0.5 * np.sum((g - h) ** 2 / np.maximum(g + h, 1e-9), axis=0))
