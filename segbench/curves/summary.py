"""The figures of a benchmark, with what is known of their certainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from segbench.counts import ScoreCounts
from segbench.curves.areas import auc_roc, average_precision, pr_area
from segbench.curves.bounds import image_bounds, score_bounds
from segbench.curves.fmeasure import f_of, fpr_at_tpr
from segbench.curves.hull import hull_points
from segbench.curves.masks import AT_THE_MASK, NEED_A_RANKING, TWO_VALUED, mask_point, mask_points, mask_threshold
from segbench.curves.operating import OperatingPoint, best_iou
from segbench.curves.points import cumulate
from segbench.curves.pooled import PooledPixels, pool_pixels
from segbench.display import Displayed

_WITHOUT_POSITIVES = "no positive pixels"
_WITHOUT_NEGATIVES = "no negative pixels"
WITHOUT_NAMES = "some pixels came without the name of an image, so images are not told apart"
_AT_ODS = {key: f"ods_{key}" for key in ("f", "precision", "recall", "threshold")}
_OVER_IMAGES = ("ois_f", "ois_precision", "ois_recall", "mean_image_f")
_NOTHING_PREDICTED = "nothing is predicted positive"
_ALL_PREDICTED = "ODS: the best F is that of predicting every pixel positive"
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


def pixel_summary(
    per_image: Mapping[str, ScoreCounts], *, unnamed: ScoreCounts | None = None, pool: PooledPixels | None = None
) -> Summary:
    """Every figure of the pixel benchmark, from the counts of its images.

    Parameters
    ----------
    per_image : mapping of str to ScoreCounts
        Counts by the image's name.
    unnamed : ScoreCounts, optional
        Pixels of images that are not told apart: they are part of the pooled figures, and figures over images
        (``ois_*``, ``mean_image_f``) are undefined.
    pool : PooledPixels, optional
        All of these pooled, where that has been done before.

    Returns
    -------
    Summary
        ``positives negatives ignored``, totals over images; ``auc_roc auc_pr auc_pr_achievable average_precision`` of
        the pooled curve; ``ods_*``, the best F over thresholds common to all images; ``ois_*``, each image at the
        threshold of its own best F, counts added (an image without positives adds the false positives of its highest
        score); ``mean_image_f``, the mean of the images' best F over those that have positives; ``fpr_at_95_tpr``.
        Of binned scores, a best F is that at the best edge of a bin, and ``bounds`` covers all that exact scores allow.
        ``iou`` is the intersection over union at the ODS threshold, TP / (P + FP).

        Two-valued predictions are evaluated at the mask (`segbench.curves.masks`): ``ods_*`` and ``iou`` are its
        values, ``mean_image_f`` is the mean of each image's F at the mask, and areas, ``ois_*`` and
        ``fpr_at_95_tpr`` are undefined. A note says so, and also where soft maps reach their best F by predicting
        every pixel positive.

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
    pool = pool or pool_pixels(per_image, () if unnamed is None else (unnamed,))
    pooled, chosen = pool.counts, pool.chosen
    mask = mask_threshold(pooled)
    if mask is not None:
        chosen = mask_points((per_image[name] for name in sorted(per_image)), mask)
    tp, fp, positives = int(chosen.tp.sum()), int(chosen.fp.sum()), int(chosen.positives.sum())
    each = chosen.f[chosen.positives > 0]
    ods = _chosen_point(pooled, mask)
    points = cumulate(pooled)
    figures: dict[str, float | int] = {
        **_totals(pooled),
        "auc_roc": pool.auc_roc,
        "auc_pr": pool.auc_pr,
        "auc_pr_achievable": pr_area(hull_points(points)),
        "average_precision": pool.average_precision,
        "ods_f": ods.f,
        "ods_precision": ods.precision,
        "ods_recall": ods.recall,
        "ods_threshold": ods.threshold,
        "iou": ods.iou,
        "ois_f": f_of(tp, fp, positives),
        "ois_precision": tp / (tp + fp) if tp + fp else math.nan,
        "ois_recall": tp / positives if positives else math.nan,
        "mean_image_f": float(np.mean(each)) if each.size else math.nan,
        "fpr_at_95_tpr": fpr_at_tpr(pooled),
    }
    bounds = {_AT_ODS.get(key, key): pair for key, pair in score_bounds(pooled).items()}
    reasons = {} if unnamed is None else dict.fromkeys(_OVER_IMAGES, WITHOUT_NAMES)
    if mask is not None:
        reasons |= dict.fromkeys(NEED_A_RANKING, TWO_VALUED)
    figures |= dict.fromkeys(reasons, math.nan)
    if unnamed is None and pooled.binned and mask is None:
        bounds |= image_bounds((per_image[name] for name in sorted(per_image)), chosen)
    source = ", ".join(sorted(pool.sources - {""}))
    return _finished(
        figures, pooled, bounds, ("auc_pr_achievable",), source, reasons=reasons, notes=_notes_on(ods, mask)
    )


def _chosen_point(counts: ScoreCounts, mask: float | None) -> OperatingPoint:
    """Give the point at the mask, or of soft maps the point of the best F, which has the best IoU, too."""
    return best_iou(counts) if mask is None else mask_point(counts, mask)


def _notes_on(ods: OperatingPoint, mask: float | None) -> tuple[str, ...]:
    if mask is not None:
        return (AT_THE_MASK,)
    everything = ods.positives > 0 and ods.negatives > 0 and (ods.tp, ods.fp) == (ods.positives, ods.negatives)
    return (_ALL_PREDICTED,) if everything else ()


def pixel_image_figures(counts: ScoreCounts, of_set: ScoreCounts | None = None) -> Summary:
    """Figures of one image: a row of the table of images.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of the image.
    of_set : ScoreCounts, optional
        Pixels of the whole set, which decide whether its predictions are two-valued; by default the image is the set.

    Returns
    -------
    Summary
        ``positives negatives ignored``, ``f precision recall threshold iou`` at the image's best F, ``auc_roc auc_pr
        average_precision``. In a set of two-valued predictions they are those at the mask, without areas.

    Examples
    --------
    >>> pixel_image_figures(ScoreCounts([0.9, 0.1], [3, 1], [1, 5]))["f"]
    0.75
    """
    mask = mask_threshold(counts if of_set is None else of_set)
    best = _chosen_point(counts, mask)
    figures: dict[str, float | int] = {
        **_totals(counts),
        "f": best.f,
        "precision": best.precision,
        "recall": best.recall,
        "threshold": best.threshold,
        "iou": best.iou,
        "auc_roc": auc_roc(counts),
        "auc_pr": pr_area(cumulate(counts)),
        "average_precision": average_precision(counts),
    }
    bounds = {} if mask is not None else score_bounds(counts)
    reasons = {} if mask is None else {key: TWO_VALUED for key in NEED_A_RANKING if key in figures}
    figures |= dict.fromkeys(reasons, math.nan)
    return _finished(figures, counts, bounds, (), counts.threshold_source, reasons=reasons)


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
    notes: tuple[str, ...] = (),
) -> Summary:
    undefined: dict[str, str] = {}
    for key, figure in figures.items():
        if key in ("positives", "negatives", "ignored"):
            continue
        if not figures["positives"]:
            figures[key] = math.nan
            undefined[key] = _WITHOUT_POSITIVES if figures["negatives"] else "no pixels"
        elif math.isnan(figure):
            undefined[key] = reasons.get(key, _why_undefined(key, counts))
    known = {key: pair for key, pair in bounds.items() if key in figures and key not in undefined}
    return Summary(figures, known, undefined, optimistic, source, notes)


def _why_undefined(key: str, counts: ScoreCounts) -> str:
    if "precision" in key:
        return _NOTHING_PREDICTED
    return _WITHOUT_SCORES if "threshold" in key and not counts.scores_known else _WITHOUT_NEGATIVES
