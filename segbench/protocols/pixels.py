"""The pixel protocol: every pixel is a case, its label from the ground truth, its score from the prediction.

Conventions
-----------
1. ``score >= threshold`` is positive; equal scores enter together.
2. Integer predictions are levels: score = value / maximum of the type (255, 65535); bool is 0 or 1. Floats are scores
   as they are, of any range. Nothing is stretched to a minimum or maximum.
3. Levels are counted exactly. Floats are exact while an image holds at most `segbench.counts.MAX_DISTINCT` distinct
   scores, else they are kept in bins and every figure has certain bounds; ``exact=True`` never bins.
4. Void pixels and pixels outside the field of view are counted as ignored and nowhere else.

References
----------
Arbelaez, Maire, Fowlkes, Malik: Contour Detection and Hierarchical Image Segmentation. PAMI 2011 (pooling over images).
Davis, Goadrich: The Relationship Between Precision-Recall and ROC Curves. ICML 2006 (counts behind both curves).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.counts import MAX_DISTINCT, ScoreCounts
from segbench.errors import ArgumentError, DataError
from segbench.levels import as_shares
from segbench.protocols.counted import Counted
from segbench.protocols.labels import LabelRule, equals_any, two_values
from segbench.sample import Reads, Sample

NEGATIVE, POSITIVE, IGNORED = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Pixels:
    """Settings of the pixel protocol.

    Parameters
    ----------
    positive : str, optional
        Which ground-truth values are positive: ``"255"``, ``"1,3"``, ``">=128"``. None: the set must hold exactly two
        values, and the larger is positive.
    void : tuple of float
        Ground-truth values whose pixels are left out and counted as ignored.
    invert : bool
        Low predictions mean positive (black edges on white): levels become 255 - value (65535 - value), floats -value.
    exact : bool
        Never bin float scores, whatever memory that takes.

    Raises
    ------
    ArgumentError
        If `positive` is no rule.

    Examples
    --------
    >>> Pixels(positive=">=128").signature_fields()["positive"]
    '>=128'
    """

    name: ClassVar[str] = "pixels"
    reads: ClassVar[Reads] = "masks"

    positive: str | None = None
    void: tuple[float, ...] = ()
    invert: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "void", tuple(sorted({float(value) for value in self.void})))
        if self.positive is not None:
            LabelRule.parse(self.positive)

    def signature_fields(self) -> dict[str, str]:
        """Name the settings that a figure depends on."""
        return {
            "positive": "larger" if self.positive is None else self.positive.replace(" ", ""),
            "void": ",".join(f"{value:g}" for value in self.void) or "none",
            "invert": "yes" if self.invert else "no",
            "floats": "exact" if self.exact else f"exact<={MAX_DISTINCT}",
        }

    def count(self, sample: Sample) -> Counted:
        """Count one image.

        Raises
        ------
        DataError
            If scores are not finite, there are several annotators, or the ground truth does not fit the rule.
        """
        if len(sample.ground_truths) > 1:
            raise DataError(
                sample.name,
                f"{len(sample.ground_truths)} annotators, the pixels protocol takes one ground truth",
                "choose one with --gt-pattern, or count boundaries, which takes several: -p boundaries",
            )
        prediction = as_shares(sample.predictions[0])
        ground_truth_file = sample.ground_truth_files[0] if sample.ground_truth_files else sample.name
        classes, label_values = classes_by(self, ground_truth_file, sample.ground_truths[0], sample.field)
        if self.invert:
            prediction = ~prediction if prediction.dtype.kind in "bu" else -prediction
        counts = _count(sample.prediction_file or sample.name, classes, prediction, exact=self.exact)
        return Counted(counts, label_values)


def classes_by(
    settings: Pixels, name: str, ground_truth: NDArray[Any], valid: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.uint8], tuple[float, ...]]:
    """Sort the pixels of a ground truth into `NEGATIVE`, `POSITIVE` and `IGNORED`.

    Returns
    -------
    classes : array of uint8, the shape of `ground_truth`
    label_values : tuple of float
        As in `Counted`.

    Raises
    ------
    DataError
        If the ground truth holds NaN, or no rule says which of more than two values are positive.
    """
    if ground_truth.dtype.kind == "f":
        refuse_nan(name, int(np.isnan(ground_truth).sum()))
    if settings.void:
        not_void = ~equals_any(ground_truth, settings.void)
        valid = not_void if valid is None else valid & not_void
    if settings.positive is not None:
        return _classes(LabelRule.parse(settings.positive).positive(ground_truth), valid), ()
    labels, label_values = two_values(name, ground_truth, valid)
    return _classes(labels, valid), label_values


def count_pixels(
    labels: ArrayLike, scores: ArrayLike, valid: ArrayLike | None = None, *, exact: bool = False
) -> ScoreCounts:
    """Count how many positive and negative pixels have each score.

    Parameters
    ----------
    labels : array of bool, or of 0 and 1, any shape
        Ground truth, True where positive.
    scores : array, the shape of `labels`
        Higher means more positive. uint8 and uint16 are levels, value / 255 and value / 65535; bool is 0 or 1; other
        numbers are taken as they are.
    valid : array of bool, the shape of `labels`, optional
        True where a pixel counts; the others are counted as ignored, whatever they hold.
    exact : bool
        Never fall back to bins, however many distinct scores there are.

    Returns
    -------
    ScoreCounts

    Raises
    ------
    ArgumentError
        If shapes differ, or labels hold anything but 0 and 1.
    DataError
        If a valid score is NaN or infinite.

    Examples
    --------
    >>> counts = count_pixels([0, 1, 1], [0.2, 0.9, 0.2])
    >>> counts.scores.tolist(), counts.positives.tolist(), counts.negatives.tolist()
    ([0.9, 0.2], [1, 1], [0, 1])
    """
    truth, values = np.asarray(labels), np.asarray(scores)
    if truth.shape != values.shape:
        raise ArgumentError(f"labels have shape {truth.shape}, scores {values.shape}; expected the same")
    if truth.dtype != np.bool_:
        ones = truth == 1
        if not np.all(ones | (truth == 0)):
            raise ArgumentError("labels hold values other than 0 and 1; compare them first, for instance mask >= 128")
        truth = ones
    counted = None if valid is None else np.asarray(valid)
    if counted is not None and (counted.shape != truth.shape or counted.dtype != np.bool_):
        raise ArgumentError(
            f"valid has shape {counted.shape} and dtype {counted.dtype}, expected {truth.shape} and bool"
        )
    return _count("scores", _classes(truth, counted), values, exact=exact)


def _classes(labels: NDArray[np.bool_], valid: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    classes = _zero_or_one(labels).view(np.uint8)
    return classes if valid is None else np.where(valid, classes, np.uint8(IGNORED))


def _count(name: str, classes: NDArray[np.uint8], scores: NDArray[Any], *, exact: bool) -> ScoreCounts:
    classes = np.ascontiguousarray(classes).reshape(-1)
    scores = np.ascontiguousarray(scores).reshape(-1)
    if scores.dtype == np.bool_:
        return _count_levels(classes, _zero_or_one(scores).view(np.uint8), 2, exact=exact)
    if scores.dtype in (np.uint8, np.uint16):
        return _count_levels(classes, scores, 1 << (8 * scores.itemsize), exact=exact)
    if scores.dtype.kind not in "iuf":
        raise DataError(name, f"scores are of type {scores.dtype}, expected numbers")
    if scores.dtype.kind == "f" and scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float32 if scores.dtype == np.float16 else np.float64)
    return _count_numbers(name, classes, scores, exact=exact)


def _zero_or_one(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Store True as the byte 1: NumPy takes any byte for True, and arrays of Pillow's 1-bit images hold 255."""
    bits: NDArray[np.bool_] = mask.view(np.uint8) != 0
    return bits


def _count_levels(classes: NDArray[np.uint8], levels: NDArray[Any], level_count: int, *, exact: bool) -> ScoreCounts:
    from segbench.protocols.kernels import histogram

    table = histogram(classes, levels, level_count)
    return counts_of_levels(table[NEGATIVE], table[POSITIVE], int(table[IGNORED].sum()), exact=exact)


def counts_of_levels(
    negatives: NDArray[np.int64], positives: NDArray[np.int64], ignored: int, *, exact: bool
) -> ScoreCounts:
    """Give the counts of levels, from two histograms over all of them."""
    seen = np.flatnonzero(negatives + positives)[::-1]
    return ScoreCounts(seen / (negatives.size - 1), positives[seen], negatives[seen], ignored, exact=exact)


def _count_numbers(name: str, classes: NDArray[np.uint8], scores: NDArray[Any], *, exact: bool) -> ScoreCounts:
    from segbench.protocols.distinct import distinct_by_class

    if scores.dtype.kind == "f" and not np.isfinite(scores).all():
        broken = scores[classes != IGNORED]
        refuse_not_finite(name, int(np.isnan(broken).sum()), int(np.isinf(broken).sum()))
    values, positives, negatives = distinct_by_class(classes, scores, first=POSITIVE, second=NEGATIVE)
    ignored = int(np.count_nonzero(classes == IGNORED))
    counts = ScoreCounts(values, positives, negatives, ignored, exact=exact)
    return counts if exact or values.size <= MAX_DISTINCT else counts.in_bins()


def refuse_nan(name: str, nan: int) -> None:
    """Refuse a ground truth that holds NaN."""
    if nan:
        raise DataError(name, f"holds {nan} NaN", "give them a value")


def refuse_not_finite(name: str, nan: int, infinite: int) -> None:
    """Refuse scores of valid pixels that are not finite."""
    if nan or infinite:
        raise DataError(
            name,
            f"{nan} NaN and {infinite} infinite scores, expected finite ones",
            "mend the prediction, or leave those pixels out with a mask",
        )
