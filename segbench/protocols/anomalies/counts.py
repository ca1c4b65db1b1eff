"""Counts of the anomaly protocol: normal pixels by score and image size, anomalous ones by score and component size."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from segbench.core.arrays import (
    LARGEST_TOTAL,
    FloatArray,
    IntArray,
    as_counts,
    as_floats,
    frozen,
    total_of,
    within_total,
)
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import many
from segbench.core.scores import ScoreCounts
from segbench.core.settings import as_whole


@dataclass(frozen=True, eq=False, repr=False)
class AnomalyCounts(Counts):
    """Pixels of an image, or of many, by score: normal ones by the size of the image, anomalous ones by component.

    Counts add with ``+``; the sum does not depend on order or grouping. Components of equal size add up, and so do
    normal images of equal size. 12 bytes per entry with float32 scores, which is at most one per pixel.

    Parameters
    ----------
    scores : array of float, shape (L,)
        Scores of normal pixels, not rising.
    normal, image_sizes : array of int, shape (L,)
        Normal pixels with that score, and the size of the normal images in which they are, in counted pixels; 0 for
        those of anomalous images.
    found_scores : array of float, shape (M,)
        Scores of anomalous pixels, not rising.
    anomalous, component_sizes : array of int, shape (M,)
        Anomalous pixels with that score, and the size of the components in which they are.
    normal_images, anomalous_images : array of float
        The scores of images, not rising.
    ignored : int
        Pixels left out (void, outside the field of view).

    Raises
    ------
    ArgumentError
        If lengths differ, scores rise, a count is negative, or pixels do not fill their components or images.

    Examples
    --------
    >>> from segbench import count
    >>> counts = count([[0, 1], [0, 0]], [[0.1, 0.9], [0.4, 0.1]], "anomalies")
    >>> counts.scores.tolist(), counts.normal.tolist(), counts.anomalous.tolist(), counts.anomalous_images.tolist()
    ([0.4, 0.1], [1, 2], [1], [0.9])
    """

    kind: ClassVar[str] = "anomalies"

    scores: FloatArray
    normal: IntArray
    image_sizes: IntArray
    found_scores: FloatArray
    anomalous: IntArray
    component_sizes: IntArray
    normal_images: FloatArray
    anomalous_images: FloatArray
    ignored: int = 0

    def __post_init__(self) -> None:
        for name in ("scores", "found_scores", "normal_images", "anomalous_images"):
            values = np.asarray(getattr(self, name))
            values = frozen(values if values.dtype in (np.float32, np.float64) else as_floats(values, name))
            if values.ndim != 1 or np.isnan(values[:1]).any() or not np.all(values[1:] <= values[:-1]):
                raise ArgumentError(
                    Message("not-falling", "{argument} must be one row of numbers that do not rise", argument=name)
                )
            object.__setattr__(self, name, values)
        for scores, names, texts in (
            ("scores", ("normal", "image_sizes"), ("normal pixels", "normal images")),
            ("found_scores", ("anomalous", "component_sizes"), ("anomalous pixels", "components")),
        ):
            for name in names:
                counts = as_counts(getattr(self, name), name)
                if counts.size != getattr(self, scores).size:
                    raise ArgumentError(
                        Message(
                            "other-length",
                            "{argument} has {length} entries for {expected} {scores}",
                            argument=name,
                            length=counts.size,
                            expected=getattr(self, scores).size,
                            scores=scores,
                        )
                    )
                object.__setattr__(self, name, counts)
            pixels, sizes = (getattr(self, name) for name in names)
            _refuse_unfilled(pixels, sizes, within_total(total_of(pixels), names[0]), *texts)
        if not np.all(self.component_sizes):
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "{argument} has {value}, expected {expected}",
                    argument="component_sizes",
                    value=0,
                    expected="at least 1",
                )
            )
        object.__setattr__(self, "ignored", as_whole(self.ignored, "ignored", most=LARGEST_TOTAL))

    @property
    def components(self) -> int:
        """Anomalous components in all."""
        return round(float((self.anomalous / self.component_sizes).sum()))  # as they fill their components

    @property
    def total_normal(self) -> int:
        """Normal pixels in all."""
        return total_of(self.normal)

    @property
    def total_anomalous(self) -> int:
        """Anomalous pixels in all."""
        return total_of(self.anomalous)

    @cached_property
    def pixels(self) -> ScoreCounts:
        """Anomalous and normal pixels by score, as the pixel protocol counts them."""
        return replace(self.pixels_between(-math.inf, math.inf), ignored=self.ignored)

    def pixels_between(self, lowest: float, below: float) -> ScoreCounts:
        """Return the pixels with scores from `lowest` up to, not including, `below`; ignored ones are left out."""
        in_range = falling_between(self.scores, lowest, below)
        scores, normal = _distinct(self.scores[in_range], self.normal[in_range])
        in_range = falling_between(self.found_scores, lowest, below)
        found_scores, anomalous = _distinct(self.found_scores[in_range], self.anomalous[in_range])
        return ScoreCounts.sum(
            (
                ScoreCounts(scores, np.zeros_like(normal), normal, of_predictions=True),
                ScoreCounts(found_scores, anomalous, np.zeros_like(anomalous), of_predictions=True),
            )
        )

    @property
    def ground_truth(self) -> str:
        return f"{many(self.components, 'component')} of {self.total_anomalous} among {self.total_normal} normal pixels"

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[Self]) -> Self:
        parts = list(counts)
        scores, normal, image_sizes = _merged([(part.scores, part.normal, part.image_sizes) for part in parts])
        found_scores, anomalous, component_sizes = _merged(
            [(part.found_scores, part.anomalous, part.component_sizes) for part in parts]
        )
        return cls(
            scores,
            normal,
            image_sizes,
            found_scores,
            anomalous,
            component_sizes,
            normal_images=_falling([part.normal_images for part in parts]),
            anomalous_images=_falling([part.anomalous_images for part in parts]),
            ignored=sum(part.ignored for part in parts),
        )


def _falling(parts: list[FloatArray]) -> FloatArray:
    """Return the scores of all images, falling."""
    return np.sort(np.concatenate([np.empty(0), *parts]))[::-1]


def _refuse_unfilled(pixels: IntArray, sizes: IntArray, total: int, pixels_called: str, parts_called: str) -> None:
    """Refuse pixels that do not fill whole components, or images, of these sizes; size 0 stands for none."""
    if not sizes.size:
        return
    if np.all(sizes == sizes[0]):  # mostly, as those of one image
        totals = {int(sizes[0]): total} if sizes[0] else {}
    else:
        distinct, index = np.unique(sizes, return_inverse=True)
        sums = np.zeros(distinct.size, np.int64)
        np.add.at(sums, index.reshape(-1), pixels)
        totals = {size: filled for size, filled in zip(distinct.tolist(), sums.tolist(), strict=True) if size}
    for size, filled in totals.items():
        if filled % size:
            raise ArgumentError(
                Message(
                    "inconsistent-counts",
                    "{pixels} {called} do not fill {parts} of {size} pixels",
                    pixels=filled,
                    called=pixels_called,
                    parts=parts_called,
                    size=size,
                )
            )


def falling_between(scores: FloatArray, lowest: float, below: float) -> slice:
    """Return where falling scores lie from `lowest` up to, not including, `below`."""
    if (lowest, below) == (-math.inf, math.inf):  # a search would convert all scores
        return slice(None)
    start, stop = scores.size - np.searchsorted(scores[::-1], (below, lowest))
    return slice(int(start), int(stop))


def _distinct(scores: FloatArray, pixels: IntArray) -> tuple[FloatArray, IntArray]:
    """Add the pixels of equal scores up."""
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])[: scores.size])
    if starts.size == scores.size:
        return scores, pixels
    return scores[starts], np.add.reduceat(pixels, starts, dtype=np.int64)


def _merged(parts: list[tuple[FloatArray, IntArray, IntArray]]) -> tuple[FloatArray, IntArray, IntArray]:
    """Add the pixels of equal scores and sizes up."""
    parts = [part for part in parts if part[0].size]
    if len(parts) < 2:
        return parts[0] if parts else (np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    scores, pixels, sizes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((sizes, -scores))
    scores, pixels, sizes = scores[order], pixels[order], sizes[order]
    starts = np.flatnonzero(np.append(True, (scores[1:] != scores[:-1]) | (sizes[1:] != sizes[:-1])))
    return scores[starts], np.add.reduceat(pixels, starts, dtype=np.int64), sizes[starts]
