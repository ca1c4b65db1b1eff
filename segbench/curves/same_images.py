"""Whether counts go together at all: the same thresholds, the same images, the same ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from segbench.counts import BoundaryCounts, ClassCounts, RegionCounts, ScoreCounts
from segbench.errors import ArgumentError

_LISTED = 5

Measured = TypeVar("Measured", BoundaryCounts, RegionCounts)


def at_common_thresholds(*sets: Mapping[str, Measured]) -> list[Measured]:
    """Give the counts of all images, of each set in sorted order of their names, if their thresholds are the same.

    Raises
    ------
    ArgumentError
        If images were counted at different thresholds.
    """
    named = [(name, per_image[name]) for per_image in sets for name in sorted(per_image)]
    first, thresholds = named[0][0], named[0][1].thresholds
    for name, counts in named:
        if not np.array_equal(counts.thresholds, thresholds):
            raise ArgumentError(
                f"{first} was counted at {thresholds.size} thresholds, {name} at "
                f"{counts.thresholds.size} others; count all images at the same thresholds"
            )
    return [counts for _, counts in named]


def refuse_different(methods: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that all methods have the same images, counted against the same ground truth.

    Raises
    ------
    ArgumentError
        Naming what one method has and another has not.
    """
    (first, reference), *others = methods.items()
    problems: list[str] = []
    for name, per_image in others:
        for present, absent, images in (
            (first, name, sorted(set(reference) - set(per_image))),
            (name, first, sorted(set(per_image) - set(reference))),
        ):
            if images:
                more = f" and {len(images) - _LISTED} more" if len(images) > _LISTED else ""
                problems.append(f"{present} has {', '.join(images[:_LISTED])}{more}, {absent} has not")
        for image in sorted(set(reference) & set(per_image)):
            totals = [ground_truth_totals(images[image]) for images in (reference, per_image)]
            if totals[0] != totals[1]:
                problems.append(f"{image} has {totals[0]} in {first}, {totals[1]} in {name}")
                break
    if problems:
        raise ArgumentError(
            f"methods are compared on the same images and ground truth, but {'; '.join(problems)}; "
            "count all methods on the same set"
        )


def ground_truth_totals(counts: object) -> str:
    """Say in words what is known of an image's ground truth from its counts."""
    if isinstance(counts, ScoreCounts):
        return f"{counts.total_positives} positives and {counts.total_negatives} negatives"
    if isinstance(counts, BoundaryCounts):
        return f"{counts.total_gt.max(initial=0)} ground-truth pixels at {counts.thresholds.size} thresholds"
    if isinstance(counts, RegionCounts):
        return f"{counts.area} ground-truth pixels at {counts.thresholds.size} thresholds"
    if isinstance(counts, ClassCounts):
        held = ", ".join(
            f"{part.total_positives} of {name}" for name, part in zip(counts.names, counts.counts, strict=True)
        )
        return f"{held} among {counts.pixels} pixels"
    return type(counts).__name__
