"""Predictions as levels: how their values become scores, are turned around, and how floats are rounded to them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Either, Message, Note, Setting
from segbench.core.settings import Quantize

ROUNDING = 1e-6
"""Tolerance for scores slightly outside [0, 1], as of sums of softmax and resized maps."""
_AT_ONCE = 2**14  # pixels that stay in the cache


BEYOND_EXACT = 2**53
"""From here on float64 does not hold every integer."""

FAR_BEYOND = 100
"""A score above this, beside maps that end at 1 or below, is of another scale."""

LOGIT = -1.0
"""Scores above this may be of tanh or cosines; logits go further."""

RESIZED = -0.25
"""Cubic resizing and Lanczos leave scores from 0 to 1 above this."""

ROUNDS = Message("text", "but {setting} rounds scores from 0 to 1", setting=Setting("quantize", None))
"""Why scores that are rounded must be in [0, 1]."""


def are_apart(highest: Collection[float]) -> bool:
    """Return whether the highest scores of some maps are of a scale from 0 to 1, and those of others far beyond."""
    return any(0 < score <= 1 for score in highest) and max(highest) > FAR_BEYOND


def are_wide(dtype: np.dtype[Any]) -> bool:
    """Return whether values are integers too wide or signed to be counted level by level."""
    return dtype.kind in "iu" and dtype not in (np.uint8, np.uint16)


def note_on_scales(highest: Collection[float]) -> tuple[Note, ...]:
    """Return a note if images lie on different scales, given the highest score of each."""
    if not are_apart(highest):
        return ()
    message = Message(
        "several-scales",
        "scores of some images are from 0 to 1, and those of others go far beyond; give all on one scale",
    )
    return (Note(message),)


def note_on_levels(dtype: np.dtype[Any], *, scalable: bool = True) -> tuple[Note, ...]:
    """Return a note that wide integers are taken as levels, in case they were meant as scores; else empty."""
    if not are_wide(dtype):
        return ()
    message = Message(
        "wide-levels",
        "{dtype} values are levels: score = value / {largest}; store scores as floats{others}",
        dtype=dtype.name,
        largest=int(np.iinfo(dtype).max),
        others=", or set the scale, such as 255" if scalable else ", and masks as bool",
    )
    return (Note(message, doubt=True),)


def note_on_ones(stored: NDArray[Any]) -> tuple[Note, ...]:
    """Return a note that scores of 0 and 1 in 8 or 16 bits are nearly 0 as levels; empty for other values."""
    if stored.dtype not in (np.uint8, np.uint16) or not stored.size or stored.max() != 1:
        return ()
    message = Message(
        "ones-as-levels",
        "predictions of 0 and 1 in {dtype}: 1 is a score of 1 / {largest}",
        dtype=stored.dtype.name,
        largest=int(np.iinfo(stored.dtype).max),
    )
    return (Note(message),)


def refuse_low_levels(name: str, stored: NDArray[Any]) -> None:
    """Refuse integers of 32 bits or more that at most fill 16: divided by the maximum of their type all are about 0."""
    highest = int(stored.max()) if are_wide(stored.dtype) and stored.dtype.itemsize >= 4 and stored.size else 0
    if 0 < highest <= np.iinfo(np.uint16).max:
        problem = Message(
            "low-levels",
            "{dtype} values up to {highest}, which is a score of {score:.0e}",
            dtype=stored.dtype.name,
            highest=highest,
            score=highest / np.iinfo(stored.dtype).max,
        )
        # As uint8, a mask of 0 and 1 would still be about 0.
        narrow = "bool" if highest == 1 else np.min_scalar_type(highest).name
        of_files = Message(
            "fix", "{scale} with the highest score that there can be", scale=Setting("scale", metavar="N")
        )
        arrays = f"floats from 0 to 1 or {narrow}"
        raise DataError(name, problem, Message("fix", "use {use}", use=Either(arrays, of_files)))


def refuse_inexact(name: str, stored: NDArray[Any]) -> None:
    """Refuse whole scores that float64 may not hold: those that differ by little would become equal."""
    if stored.dtype.kind not in "iu" or stored.dtype.itemsize < 8 or not stored.size:
        return
    lowest, highest = int(stored.min()), int(stored.max())
    if max(-lowest, highest) < BEYOND_EXACT:
        return
    problem = Message(
        "inexact-scores",
        "integer scores from {lowest} to {highest}, expected none of 2**53 or more in magnitude, "
        "which float64 does not hold exactly",
        lowest=lowest,
        highest=highest,
    )
    change = "replace all scores by their ranks among those of all images"
    if highest - lowest < BEYOND_EXACT:
        # Not the lowest score of this image: that of each would change which scores of two images are equal.
        change = f"subtract the same whole number, the lowest score of all images, from all scores, or {change}"
    raise DataError(name, problem, f"{change} and only then turn them into float64")


def how_to_scale(lowest: float, highest: float) -> Message:
    """Say which scale brings floats into [0, 1]: 255 only where they reach half of it."""
    if lowest < 0:  # no division brings these into it
        sigmoid = Setting("scale", "sigmoid", of="Repairs")
        return Message("fix", "{sigmoid} for logits, or save others between 0 and 1", sigmoid=sigmoid)
    if 128 <= highest <= 255:
        return Message("fix", "{scale}", scale=Setting("scale", 255, of="Repairs"))
    divided = Setting("scale", of="Repairs", metavar="N")
    return Message("fix", "{divided} with the highest score that there can be", divided=divided)


def how_to_change(lowest: float, highest: float) -> str:
    """Say what brings arrays of floats into [0, 1]."""
    if are_signed(lowest, highest):
        return "apply (s + 1) / 2 to scores from -1 to 1"
    return "apply a sigmoid to logits" if lowest < 0 else "divide them by the highest score that there can be"


def are_signed(lowest: float, highest: float) -> bool:
    """Return whether scores from the lowest to the highest look like those from -1 to 1, of tanh or cosines."""
    return LOGIT - ROUNDING <= lowest < RESIZED and highest <= 1 + ROUNDING


def are_beyond_shares(lowest: float, highest: float) -> bool:
    """Return whether thresholds of scores from 0 to 1 do not fit scores from the lowest to the highest."""
    return lowest < RESIZED or highest > 1 + ROUNDING


def refuse_nan(name: str, values: Any) -> None:  # noqa: ANN401  an array or a tensor
    """Refuse ground truth, or scores of classes, with values that are no numbers."""
    may_hold = getattr(values.dtype, "kind", "f") == "f"
    nan = int((values != values).sum()) if may_hold else 0  # noqa: PLR0124  only NaN differs from itself
    if nan:
        problem = Message("not-a-number", "holds {nan} NaN, expected a number in each pixel", nan=nan)
        raise DataError(name, problem, "give them a value")


def refuse_not_finite(name: str, scores: Any) -> None:  # noqa: ANN401  an array or a tensor
    """Refuse scores of pixels that count where they are not finite."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is found like any other
        if not math.prod(scores.shape) or math.isfinite(float(scores.max()) - float(scores.min())):
            return
        nan, infinite = (int(broken.sum()) for broken in (scores != scores, abs(scores) == math.inf))  # noqa: PLR0124
    if nan or infinite:
        problem = Message(
            "not-finite", "{nan} NaN and {infinite} infinite scores, expected finite ones", nan=nan, infinite=infinite
        )
        raise DataError(name, problem, "fix the prediction")


def refuse_beyond_unit(name: str, scores: Any, why: Message | str, otherwise: Message | str = "") -> None:  # noqa: ANN401  as above
    """Refuse scores outside [0, 1]; `otherwise` is what else may be done than to scale them."""
    lowest, highest = (float(scores.min()), float(scores.max())) if math.prod(scores.shape) else (0.0, 1.0)
    if lowest < -ROUNDING or highest > 1 + ROUNDING:
        scale = how_to_scale(lowest, highest)
        arrays = Either(f"{how_to_change(lowest, highest)}, or for files ", "")
        problem = Message(
            "outside-unit", "scores from {lowest:g} to {highest:g}, {why}", lowest=lowest, highest=highest, why=why
        )
        hint = Message("fix", "{arrays}use {scale}{otherwise}", arrays=arrays, scale=scale, otherwise=otherwise)
        raise DataError(name, problem, hint)


def refuse_unfit_to_round(name: str, scores: NDArray[Any], valids: Sequence[NDArray[np.bool_] | None]) -> None:
    """Refuse scores that are not in [0, 1] where pixels count for any annotator."""
    masks = [valid for valid in valids if valid is not None]
    counted = scores[np.logical_or.reduce(masks)] if len(masks) == len(valids) else scores
    refuse_not_finite(name, counted)
    refuse_beyond_unit(name, counted, ROUNDS)


def are_of_shares(thresholds: Sequence[float]) -> bool:
    """Return whether thresholds are of scores from 0 to 1; 0 may be of logits."""
    return bool(thresholds) and all(0 < threshold <= 1 for threshold in thresholds)


def as_shares(
    prediction: NDArray[Any], name: str = "prediction", valid: NDArray[np.bool_] | None = None
) -> NDArray[Any]:
    """Divide wide integers, exact where they count, by the maximum of their type; leave all else as it is."""
    refuse_inexact(name, prediction if valid is None else prediction[valid])
    return prediction / np.iinfo(prediction.dtype).max if are_wide(prediction.dtype) else prediction


def scores_of(stored: NDArray[Any], name: str = "prediction") -> NDArray[np.float64]:
    """Return scores as floats: integers, which have to be exact, over the maximum of their type, bool as 0 and 1."""
    refuse_inexact(name, stored)
    scores = stored.astype(np.float64)
    return scores / np.iinfo(stored.dtype).max if stored.dtype.kind in "iu" else scores


def doubts_on_cuts(
    cuts: Sequence[float], setting: Message | Setting, lowest: float, highest: float
) -> tuple[Note, ...]:
    """Doubt scores from the lowest to the highest beside thresholds of `setting` if these are of scores from 0 to 1."""
    if not are_of_shares(cuts) or not are_beyond_shares(lowest, highest):
        return ()
    message = Message(
        "scores-outside",
        "scores outside 0 to 1 beside {given}: {fix}",
        given=setting,
        fix=how_to_change(lowest, highest),
    )
    return (Note(message, doubt=True, detail=span(lowest, highest)),)


def span(lowest: float, highest: float) -> Message:
    """Return the range of the scores of an image, as the detail of a note."""
    return Message("span", "{lowest:number} to {highest:number}", lowest=lowest, highest=highest)


def are_levels(dtype: np.dtype[Any]) -> bool:
    """Return whether predictions of this type are masks or levels of 8 or 16 bits."""
    return dtype == np.bool_ or dtype in (np.uint8, np.uint16)


def quantized(scores: NDArray[Any], bits: Quantize) -> NDArray[Any]:
    """Round scores in [0, 1] to levels, half to even; what lies outside, where no pixel counts, becomes 0."""
    levels: NDArray[Any] = np.empty(scores.shape, np.uint8 if bits == 8 else np.uint16)
    flat_scores, rounded_to = scores.reshape(-1), levels.reshape(-1)
    for start in range(0, flat_scores.size, _AT_ONCE):
        chunk = flat_scores[start : start + _AT_ONCE].astype(np.float64)
        chunk[~((chunk >= -ROUNDING) & (chunk <= 1 + ROUNDING))] = 0
        rounded_to[start : start + _AT_ONCE] = np.rint(chunk * (2**bits - 1))
    return levels


def rounded(thresholds: ArrayLike, bits: Quantize | None) -> NDArray[np.float64]:
    """Round thresholds in [0, 1] as `quantized` rounds scores, so that a score equal to one still reaches it."""
    unrounded = np.asarray(thresholds, np.float64)
    if bits is None:
        return unrounded
    full = 2**bits - 1
    return np.where((unrounded >= 0) & (unrounded <= 1), np.rint(unrounded * full) / full, unrounded)


def in_type_of(dtype: np.dtype[Any], thresholds: ArrayLike) -> NDArray[np.float64]:
    """Round thresholds to float32 if scores are, as NumPy and PyTorch do, so that a score of .7 reaches .7."""
    unrounded = np.asarray(thresholds, np.float64)
    with np.errstate(over="ignore"):
        return (
            unrounded.astype(np.float32).astype(np.float64) if dtype.kind == "f" and dtype.itemsize <= 4 else unrounded
        )


def mirrored(soft: NDArray[Any]) -> NDArray[Any]:
    """Turn levels or floats around, 0 into 1 and 1 into 0: black on white becomes white on black."""
    turned: NDArray[Any] = ~soft if soft.dtype.kind in "bu" else 1 - soft
    return turned


INVERTED = Note(Message("inverted", "{side} inverted: low values mean positive"), side="prediction")
