"""Figures over the images of the boundary benchmark: what pools, what averages, by the rules of BSDS500.

The conventions are those of `segbench.curves.boundary`, rules 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from segbench.counts import BoundaryCounts
from segbench.curves.boundary import (
    BoundaryBest,
    area_pr,
    area_pr_extended,
    boundary_curve,
    boundary_ods,
    f_of,
    r50,
    ratio,
)
from segbench.curves.summary import Summary
from segbench.errors import ArgumentError

KEYS = (
    "ods_f",
    "ods_precision",
    "ods_recall",
    "ods_threshold",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "mean_image_f",
    "area_pr",
    "area_pr_extended",
    "r50",
)

IMAGE_KEYS = ("f", "precision", "recall", "threshold", "area_pr")

_NO_CURVE = "one threshold makes no curve"
_IMAGES_AT_ONCE = 256


def best_of_image(counts: BoundaryCounts) -> int:
    """Place of the first best threshold of one image, not interpolated."""
    return int(np.argmax(boundary_curve(counts).f))


def has_pixels(counts: BoundaryCounts) -> bool:
    """Tell whether there is any pixel to match, in ground truth or prediction."""
    return bool(counts.total_gt.any() or counts.total_pred.any())


@dataclass(frozen=True, eq=False)
class BestOfImages:
    """Each image at the first of its best thresholds, not interpolated.

    Parameters
    ----------
    totals : array of int64, shape (N, 4)
        Matched and total ground truth, matched and total prediction there.
    f : array of float64, shape (N,)
        F there.
    has_pixels : array of bool, shape (N,)
        Whether there is any pixel to match, in ground truth or prediction.
    """

    totals: NDArray[np.int64]
    f: NDArray[np.float64]
    has_pixels: NDArray[np.bool_]

    @property
    def ois(self) -> BoundaryBest:
        """F of the added counts (rule 3); the threshold is nan."""
        totals = self.totals.sum(axis=0)
        recall, precision = (float(ratio(totals[n], totals[n + 1])) for n in (0, 2))
        return BoundaryBest(float(f_of(recall, precision)), recall, precision, float("nan"))

    @property
    def mean_f(self) -> float:
        """Mean F (rule 3) of the images that have a pixel to match; nan if none has."""
        return float(np.mean(self.f[self.has_pixels])) if self.has_pixels.any() else float("nan")


def best_of_images(images: Iterable[BoundaryCounts]) -> BestOfImages:
    """Find the best threshold of every image, many images at a time.

    Raises
    ------
    ArgumentError
        If there is no image.

    Examples
    --------
    >>> image = BoundaryCounts([0.3, 0.6], [8, 2], [10, 10], [8, 2], [20, 2])
    >>> round(best_of_images([image, image]).ois.f, 4)
    0.5333
    """
    waiting = iter(images)
    parts = []
    while batch := list(islice(waiting, _IMAGES_AT_ONCE)):
        counts = np.array([one.rows for one in batch])
        f = f_of(ratio(counts[:, 0], counts[:, 1]), ratio(counts[:, 2], counts[:, 3]))
        rows, best = np.arange(len(batch)), f.argmax(axis=1)
        has_pixels = counts[:, (1, 3)].max(axis=(1, 2)) > 0
        parts.append(BestOfImages(counts[rows, :, best], f[rows, best], has_pixels))
    if not parts:
        raise ArgumentError("no images")
    return BestOfImages(
        np.concatenate([part.totals for part in parts]),
        np.concatenate([part.f for part in parts]),
        np.concatenate([part.has_pixels for part in parts]),
    )


def boundary_summary(per_image: Mapping[str, BoundaryCounts]) -> Summary:
    """All figures of the boundary benchmark.

    Parameters
    ----------
    per_image : mapping of str to BoundaryCounts
        Counts by the image's name, at the same thresholds; of none, every figure is undefined.

    Returns
    -------
    Summary
        ``ods_f ods_precision ods_recall ods_threshold ois_f ois_precision ois_recall mean_image_f area_pr
        area_pr_extended r50``.

    Raises
    ------
    ArgumentError
        If thresholds differ.

    Examples
    --------
    >>> summary = boundary_summary({"a": BoundaryCounts([0.5], [8], [10], [4], [5])})
    >>> round(summary["ods_f"], 3), round(summary["ois_f"], 3)
    (0.8, 0.8)
    """
    if not per_image:
        return Summary(dict.fromkeys(KEYS, float("nan")), undefined=dict.fromkeys(KEYS, "no image was counted"))
    # Counts may be unpacked as they are asked for: never all of them at once.
    curve = boundary_curve(BoundaryCounts.sum(per_image[name] for name in sorted(per_image)))
    best = best_of_images(per_image[name] for name in sorted(per_image))
    ods, ois = boundary_ods(curve), best.ois
    figures = {
        "ods_f": ods.f,
        "ods_precision": ods.precision,
        "ods_recall": ods.recall,
        "ods_threshold": ods.threshold,
        "ois_f": ois.f,
        "ois_precision": ois.precision,
        "ois_recall": ois.recall,
        "mean_image_f": best.mean_f,
        "area_pr": area_pr(curve),
        "area_pr_extended": area_pr_extended(curve),
        "r50": r50(curve),
    }
    if curve.thresholds.size == 1:
        figures |= dict.fromkeys(("area_pr", "area_pr_extended", "r50"), float("nan"))
    reasons = {"r50": "no threshold has precision .5", "mean_image_f": "no image has a boundary pixel"}
    undefined = {
        key: _NO_CURVE if curve.thresholds.size == 1 and key != "mean_image_f" else reasons[key]
        for key, figure in figures.items()
        if np.isnan(figure)
    }
    return Summary(figures, undefined=undefined)


def annotators_summary(per_image: Mapping[str, BoundaryCounts]) -> Summary:
    """All figures of annotators compared with each other: those of `boundary_summary`, where two drew one image.

    The images of which `has_pixels` says no are left out: they add nothing to any figure.

    Examples
    --------
    >>> annotators_summary({"a": BoundaryCounts([1.0], [0], [0], [0], [0])}).undefined["ods_f"]
    'no image has boundaries of two annotators'
    """
    if per_image and not any(map(has_pixels, per_image.values())):
        reason = "no image has boundaries of two annotators"
        return Summary(dict.fromkeys(KEYS, float("nan")), undefined=dict.fromkeys(KEYS, reason))
    return boundary_summary(per_image)


def boundary_image_figures(
    counts: BoundaryCounts, *, without_pixels: str = "no boundary pixel in the ground truth or the prediction"
) -> Summary:
    """Figures of one image: a row of the table of images.

    Parameters
    ----------
    counts : BoundaryCounts
        Counts of the image.
    without_pixels : str
        Why the figures are undefined where there is no pixel to match; ``mean_image_f`` leaves such images out, too.

    Returns
    -------
    Summary
        ``f precision recall threshold`` at the image's first best threshold, not interpolated, and ``area_pr``, which
        is undefined for a single threshold.

    Examples
    --------
    >>> round(boundary_image_figures(BoundaryCounts([0.5], [8], [10], [4], [5]))["f"], 3)
    0.8
    """
    if not has_pixels(counts):
        return Summary(dict.fromkeys(IMAGE_KEYS, float("nan")), undefined=dict.fromkeys(IMAGE_KEYS, without_pixels))
    curve = boundary_curve(counts)
    best = best_of_image(counts)
    has_curve = curve.thresholds.size > 1
    figures = (
        float(curve.f[best]),
        float(curve.precision[best]),
        float(curve.recall[best]),
        float(curve.thresholds[best]),
        area_pr(curve) if has_curve else float("nan"),
    )
    undefined = {} if has_curve else {"area_pr": _NO_CURVE}
    return Summary(dict(zip(IMAGE_KEYS, figures, strict=True)), undefined=undefined)
