"""Picture of the regions in one image: ground truth, prediction, and how well each region was found."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arguments import as_real, as_whole
from segbench.core.arrays import as_array
from segbench.core.errors import ArgumentError
from segbench.core.pictures import outline
from segbench.drawing.palette import GUIDE
from segbench.protocols.regions.counting import count_regions, dense, hierarchies_of, regions_at
from segbench.protocols.regions.counts import COVERED_UNITS
from segbench.protocols.regions.inputs import as_label_maps

_LONGER_SIDE_INCHES = 4.5
_TITLE_INCHES = 0.5
_WASH = 0.55


def plot_regions(
    image: ArrayLike,
    segmentations_or_ucm2: ArrayLike | Iterable[ArrayLike],
    ground_truths: ArrayLike | Iterable[ArrayLike],
    *,
    threshold: float | None = None,
    thresholds: int | ArrayLike = 99,
    void: tuple[int, ...] = (),
    annotator: int = 0,
) -> NDArray[Any]:
    """Draw the regions of one image in four panels.

    Parameters
    ----------
    image : array, shape (H, W) or (H, W, 3)
        The photograph.
    segmentations_or_ucm2, ground_truths, thresholds, void
        As for `count_regions`.
    threshold : float, optional
        One of the thresholds; by default the best for this image's covering, the first of equals.
    annotator : int
        The annotator to draw the regions of, from 0. The threshold is the best for all annotators.

    Returns
    -------
    array of matplotlib Axes, shape (4,)
        The image; the annotator's regions; the predicted ones, both in their mean colours and outlined; and the
        annotator's regions coloured by their best overlap with a predicted one, with the covering of all annotators.
        Void pixels are grey there.

    Raises
    ------
    ArgumentError
        If an argument is out of range.
    DataError
        As `count_regions`; and if the image is of another size.
    """
    truths = as_label_maps(ground_truths, "ground truth of annotator")
    annotator = as_whole(annotator, "annotator", most=len(truths) - 1)
    if threshold is not None:
        threshold = as_real(threshold, "threshold", "one of the thresholds", least=-math.inf, most=math.inf)
    truth = truths[annotator]
    photograph = _photograph(image, truth.shape)
    counts = count_regions(segmentations_or_ucm2, truths, thresholds=thresholds, void=void)
    drawn_at = float(counts.thresholds[np.argmax(counts.covered)]) if threshold is None else threshold
    hierarchies, cuts = hierarchies_of(segmentations_or_ucm2, truth.shape, thresholds)
    predicted = regions_at(hierarchies, cuts, drawn_at)
    best = int(np.argmin(np.abs(cuts - drawn_at)))
    labels, number = dense(truth)
    kept = ~np.isin(truth, np.asarray(void))
    overlap = best_overlaps(predicted[kept], labels[kept], number)[labels]
    covering = counts.covered[best] / (COVERED_UNITS * counts.area)
    drawn_from = f" of annotator {annotator}" if len(truths) > 1 else ""

    of_all = " of all" if len(truths) > 1 else ""

    axes = _new_axes(truth.shape)
    axes[0].imshow(photograph)
    axes[0].set_title("image")
    axes[1].imshow(_mean_colours(photograph, labels))
    axes[1].set_title(f"regions{drawn_from}: {number}")
    axes[2].imshow(_mean_colours(photograph, dense(predicted)[0]))
    axes[2].set_title(f"predicted at {counts.thresholds[best]:g}: {dense(predicted)[1]}")
    drawn = axes[3].imshow(np.where(kept, overlap, np.nan), vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
    axes[3].set_facecolor(GUIDE)
    axes[3].contour(outline(labels) > 0, levels=[0.5], colors="white", linewidths=0.4)
    axes[3].set_title(f"best overlap (covering{of_all} {covering:.4f})")
    axes[3].figure.colorbar(drawn, ax=axes[3], shrink=0.8, label="intersection over union")
    return axes


def best_overlaps(predicted: NDArray[Any], truth: NDArray[Any], number: int) -> NDArray[np.float64]:
    """Give each ground-truth region's best intersection over union; labels are 0 to `number` - 1."""
    rows = int(predicted.max(initial=0)) + 1
    pairs, common = np.unique(truth.astype(np.int64) * rows + predicted, return_counts=True)
    g, p = np.divmod(pairs, rows)
    areas, predicted_areas = np.bincount(truth, minlength=number), np.bincount(predicted, minlength=rows)
    best = np.zeros(number)
    np.maximum.at(best, g, common / (areas[g] + predicted_areas[p] - common))
    return best


def _photograph(image: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    pixels = as_array(image, "image")
    if pixels.shape[:2] != shape or (pixels.ndim != 2 and pixels.shape[2:] != (3,)):
        raise ArgumentError(f"image has shape {pixels.shape}, expected {shape} or {(*shape, 3)}")
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "ui" else 1
    scaled = np.clip(pixels / full, 0, 1)
    return scaled if scaled.ndim == 3 else np.repeat(scaled[..., np.newaxis], 3, axis=2)


def _mean_colours(photograph: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Paint each region in its mean colour, a little lighter, with its outline in black."""
    flat = labels.ravel()
    areas = np.bincount(flat)
    means = np.stack([np.bincount(flat, photograph[..., c].ravel()) / areas for c in range(3)], axis=-1)
    painted: NDArray[np.float64] = _WASH * means[labels] + (1 - _WASH) * (0.5 + 0.5 * means[labels])
    painted[outline(labels) > 0] = 0
    return painted


def _new_axes(shape: tuple[int, ...]) -> NDArray[Any]:
    import matplotlib.pyplot as plt

    height, width = (_LONGER_SIDE_INCHES * side / max(shape) for side in shape)
    figure, grid = plt.subplots(2, 2, figsize=(2 * width + 1, 2 * (height + _TITLE_INCHES)), layout="constrained")
    axes: NDArray[Any] = grid.ravel()
    for ax in axes:
        ax.set_xticks([])
        ax.set_yticks([])
        for spine in ax.spines.values():
            spine.set(color=GUIDE, linewidth=0.5)
    del figure
    return axes
