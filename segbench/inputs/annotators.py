"""Combine the annotators of an image by a rule: any, all, majority or each.

Conventions
-----------
Annotators are ignored where they marked the pixel void; the rule is applied to the others.

any
    Positive where at least one annotator says so.
all
    Positive where all annotators say so.
majority
    Positive where more than half of the annotators say so; a tie is negative.
each
    Every pixel is counted once an annotator: the counts are the sum of the counts against each annotator alone. A pixel
    that 2 of 5 call positive adds 2 positives and 3 negatives, as a soft label of .4 would.

A pixel that is void for every annotator is left out and counted as ignored, under ``each`` once an annotator. With one
annotator all rules count the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, Setting

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray
    from segbench.core.sample import Sample

ONE_ANNOTATOR = Note(Message("one-annotator", "images with one annotator are left out"))
"""The note on an image that cannot show how well annotators agree."""

AnnotatorRule: TypeAlias = Literal["any", "all", "majority", "each"]

Labelled: TypeAlias = "tuple[BoolArray, BoolArray | None]"
"""Labels, True where positive, and where they count; None for everywhere."""


def take_one() -> Message:
    """Return the remedy where an image has several ground truths, and only one can be counted."""
    pattern = Setting("gt_pattern", "*_manual1")
    return Message("fix", "take one of them by its name, such as {pattern}, or one column of a list", pattern=pattern)


def only_truth(sample: Sample, expected: str) -> Array:
    """Give the ground truth of an image that must have one alone."""
    if len(sample.ground_truths) > 1:
        number = len(sample.ground_truths)
        what = Message("annotators", "{number} annotators, expected one {expected}", number=number, expected=expected)
        raise DataError(sample.truth_file, what, take_one())
    return sample.ground_truths[0]


def brought_together(annotators: Sequence[Labelled], rule: AnnotatorRule | None) -> list[Labelled]:
    """Combine the labels of several annotators into one map; ``each`` keeps them apart."""
    if len(annotators) == 1 or rule == "each":
        return list(annotators)
    import numpy as np

    votes: Array = np.zeros(annotators[0][0].shape, np.int32)
    voters: Array = np.zeros_like(votes)
    for labels, valid in annotators:
        voters += True if valid is None else zero_or_one(valid)
        votes += zero_or_one(labels) if valid is None else zero_or_one(labels) & zero_or_one(valid)
    if rule == "any":
        positive = votes > 0
    elif rule == "all":
        positive = votes == voters
    else:
        positive = 2 * votes > voters
    return [(positive, voters > 0)]


def zero_or_one(mask: BoolArray) -> BoolArray:
    """Store True as the byte 1: NumPy takes any byte for True, and arrays of Pillow's 1-bit images hold 255."""
    import numpy as np

    stored = mask.view(np.uint8)
    return stored != 0 if stored.max(initial=0) > 1 else mask
