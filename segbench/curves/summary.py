"""The figures of a benchmark, with what is known of their certainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

import numpy as np

from segbench.counts import ScoreCounts
from segbench.curves.areas import auc_roc, average_precision, pr_area
from segbench.curves.bounds import image_bounds, score_bounds
from segbench.curves.fmeasure import best_f, f_of, fpr_at_tpr
from segbench.curves.hull import hull_points
from segbench.curves.imagewise import BestFs, best_fs
from segbench.curves.points import cumulate
from segbench.display import Displayed

_IMAGES_AT_ONCE = 256
_WITHOUT_POSITIVES = "no positive pixels"
_WITHOUT_NEGATIVES = "no negative pixels"
WITHOUT_NAMES = "some pixels came without the name of an image, so images are not told apart"
_AT_ODS = {key: f"ods_{key}" for key in ("f", "precision", "recall", "threshold")}
_OVER_IMAGES = ("ois_f", "ois_precision", "ois_recall", "mean_image_f")
_WITHOUT_SCORES = "scores are not known, the curve was given by its points"


@dataclass(frozen=True, eq=False)
class Summary(Displayed, Mapping[str, float | int]):
    """Figures by name, in the order they are reported.

    Parameters
    ----------
    figures : mapping of str to float or int
        nan where a figure is not defined.
    bounds : mapping of str to (low, high)
        Certain bounds of the figures that are not exact; each holds the exact figure and the one given.
    undefined : mapping of str to str
        Why a figure is nan.
    optimistic : tuple of str
        Figures of a hull that was made on the data it describes.
    threshold_source : str
        Where thresholds come from when they are not the scores themselves, for instance a tuning set.
    notes : tuple of str
        What to say beside the figures.

    Examples
    --------
    >>> summary = Summary({"ods_f": float("nan")}, undefined={"ods_f": "no positive pixels"})
    >>> summary["ods_f"], summary.undefined["ods_f"]
    (nan, 'no positive pixels')
    """

    figures: Mapping[str, float | int]
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    optimistic: tuple[str, ...] = ()
    threshold_source: str = ""
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> float | int:
        """Give the figure of that name."""
        return self.figures[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the figures."""
        return iter(self.figures)

    def __len__(self) -> int:
        """Count the figures."""
        return len(self.figures)

    @property
    def empty(self) -> bool:
        """Whether there is no figure at all, only totals."""
        return all(isinstance(figure, int) or math.isnan(figure) for figure in self.figures.values())


def pixel_summary(per_image: Mapping[str, ScoreCounts], *, unnamed: ScoreCounts | None = None) -> Summary:
    """Every figure of the pixel benchmark, from the counts of its images.

    Parameters
    ----------
    per_image : mapping of str to ScoreCounts
        Counts by the image's name.
    unnamed : ScoreCounts, optional
        Pixels of images that are not told apart: they are part of the pooled figures, and figures over images
        (``ois_*``, ``mean_image_f``) are undefined.

    Returns
    -------
    Summary
        ``positives negatives ignored``, totals over images; ``auc_roc auc_pr auc_pr_achievable average_precision`` of
        the pooled curve; ``ods_*``, the best F over thresholds common to all images; ``ois_*``, each image at the
        threshold of its own best F, counts added (an image without positives adds the false positives of its highest
        score); ``mean_image_f``, the mean of the images' best F over those that have positives; ``fpr_at_95_tpr``.
        Of binned scores, a best F is that at the best edge of a bin, and ``bounds`` covers all that exact scores allow.

    Notes
    -----
    ``ois_f`` can be below ``ods_f``: an image's best threshold need not be best for the pool.

    Examples
    --------
    >>> image = ScoreCounts([0.9, 0.1], [3, 1], [1, 5])
    >>> summary = pixel_summary({"a": image, "b": image})
    >>> summary["positives"], summary["ods_f"], summary["ods_threshold"]
    (8, 0.75, 0.9)
    """
    pooled, chosen, sources = _pooled(per_image)
    if unnamed is not None:
        pooled = ScoreCounts.sum([pooled, unnamed] if per_image else [unnamed])
    tp, fp, positives = int(chosen.tp.sum()), int(chosen.fp.sum()), int(chosen.positives.sum())
    each = chosen.f[chosen.positives > 0]
    ods = best_f(pooled)
    points = cumulate(pooled)
    figures: dict[str, float | int] = {
        **_totals(pooled),
        "auc_roc": auc_roc(pooled),
        "auc_pr": pr_area(points),
        "auc_pr_achievable": pr_area(hull_points(points)),
        "average_precision": average_precision(pooled),
        "ods_f": ods.f,
        "ods_precision": ods.precision,
        "ods_recall": ods.recall,
        "ods_threshold": ods.threshold,
        "ois_f": f_of(tp, fp, positives),
        "ois_precision": tp / (tp + fp) if tp + fp else math.nan,
        "ois_recall": tp / positives if positives else math.nan,
        "mean_image_f": float(np.mean(each)) if each.size else math.nan,
        "fpr_at_95_tpr": fpr_at_tpr(pooled),
    }
    bounds = {_AT_ODS.get(key, key): pair for key, pair in score_bounds(pooled).items()}
    reasons = {} if unnamed is None else dict.fromkeys(_OVER_IMAGES, WITHOUT_NAMES)
    figures |= dict.fromkeys(reasons, math.nan)
    if unnamed is None and pooled.binned:
        bounds |= image_bounds((per_image[name] for name in sorted(per_image)), chosen)
    source = ", ".join(sorted(sources - {""}))
    return _finished(figures, pooled, bounds, ("auc_pr_achievable",), source, reasons=reasons)


def _pooled(per_image: Mapping[str, ScoreCounts]) -> tuple[ScoreCounts, BestFs, set[str]]:
    """Give the sum, the best F of each image in order of names, and the sources of thresholds.

    Counts may be unpacked as they are asked for, so each is asked for once, and few are held at a time.
    """
    names = iter(sorted(per_image))
    sums = ScoreCounts.sum(())
    best: list[BestFs] = []
    sources: set[str] = set()
    while images := [per_image[name] for name in islice(names, _IMAGES_AT_ONCE)]:
        part = ScoreCounts.sum(images)
        sums = sums + part if best else part
        best.append(best_fs(images))
        sources.update(image.threshold_source for image in images)
    return sums, BestFs.joined(best), sources


def pixel_image_figures(counts: ScoreCounts) -> Summary:
    """Figures of one image: a row of the table of images.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of the image.

    Returns
    -------
    Summary
        ``positives negatives ignored``, ``f precision recall threshold`` at the image's best F, ``auc_roc auc_pr
        average_precision``.

    Examples
    --------
    >>> pixel_image_figures(ScoreCounts([0.9, 0.1], [3, 1], [1, 5]))["f"]
    0.75
    """
    best = best_f(counts)
    figures: dict[str, float | int] = {
        **_totals(counts),
        "f": best.f,
        "precision": best.precision,
        "recall": best.recall,
        "threshold": best.threshold,
        "auc_roc": auc_roc(counts),
        "auc_pr": pr_area(cumulate(counts)),
        "average_precision": average_precision(counts),
    }
    return _finished(figures, counts, score_bounds(counts), (), counts.threshold_source)


def _totals(counts: ScoreCounts) -> dict[str, int]:
    return {
        "positives": counts.total_positives,
        "negatives": counts.total_negatives,
        "ignored": counts.ignored,
    }


def _finished(
    figures: dict[str, float | int],
    counts: ScoreCounts,
    bounds: Mapping[str, tuple[float, float]],
    optimistic: tuple[str, ...],
    source: str,
    *,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> Summary:
    undefined: dict[str, str] = {}
    for key, figure in figures.items():
        if key in ("positives", "negatives", "ignored"):
            continue
        if not figures["positives"]:
            figures[key] = math.nan
            undefined[key] = _WITHOUT_POSITIVES if figures["negatives"] else "no pixels"
        elif math.isnan(figure):
            other = _WITHOUT_NEGATIVES if counts.scores_known or "threshold" not in key else _WITHOUT_SCORES
            undefined[key] = reasons.get(key, other)
    known = {key: pair for key, pair in bounds.items() if key in figures and key not in undefined}
    return Summary(figures, known, undefined, optimistic, source)
