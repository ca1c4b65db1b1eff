"""Label maps predicted where soft maps are expected: how they are recognised.

A label is not a score: ranking pixels by the number of their label gives a meaningless curve.

Conventions
-----------
Predictions are label maps if the ground truth has at least three labels besides void, the predictions have at least
three values, all whole numbers, and one of these holds over all images seen:

1. Of all values, four in five are labels on both sides.
2. Where neither is label 0, both have the same label far more often than by chance (Cohen's kappa of .4 or more). Soft
   maps reach about 0, label maps of any use .6.

Where lines are expected, predictions of three values or more are label maps if their values are whole numbers that
leave few out, if they form areas, and if rows change value seldom: soft maps of lines, also thinned ones, do not.

Masks have two values. Soft maps of 8 bits have too many values, and those of few levels too few in common with the
ground truth. A prediction in colour, of which only the grey level is known here, is a label map if it has no more
colours than a label map has values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

import numpy as np

from segbench.core.arrays import Array, FloatArray, distinct, is_whole
from segbench.core.messages import Either, Message, Setting, protocol_with
from segbench.core.sample import Sample
from segbench.inputs.label_rules import VOIDS, are_grey_levels, equals_any
from segbench.loaders.arrays import COLOUR, TURNED_TO_GREY

_COMMON = 0.8
_KAPPA = 0.4
_MOST_FOREIGN = 64
_AREAS = 0.5
_FEWEST_REGIONS = 3
SHORT_RUN = 3.0
"""Pixels of a row with one value: 1 or 2 on slopes of soft maps, 8 in small superpixels."""


@dataclass(frozen=True, eq=False)
class LabelsSeen:
    """What one image shows about whether its prediction is a label map; numbers of pixels add up over annotators."""

    truth: frozenset[float]  # values where pixels count, without void; as in `predicted`
    predicted: frozenset[float]
    agreement: FloatArray  # pixels where neither is 0; those with the same value on both sides; as chance would give
    coloured: bool  # whether `predicted` are the grey levels of colours

    @property
    def values(self) -> str:
        """What the prediction holds, in words."""
        if not self.predicted:
            return "void everywhere"
        if self.coloured:
            return f"{len(self.predicted)} colours"
        return f"values {min(self.predicted):g}..{max(self.predicted):g}"


def instead_of_label_maps(classes: str, positive: str) -> Message:
    """Say what can be counted instead: classes as text, and a rule for one of them."""
    return Message(
        "alternatives",
        "evaluate label maps with {labels}; or save the scores before argmax, one soft map per class, and list the "
        "classes: {classes}; or turn one class of the predictions into masks of 0 and 255 and select the same class of "
        "the ground truth, for instance {positive}",
        labels=protocol_with("Labels", "segbench labels GT PRED ", Setting("classes", classes)),
        classes=Either("Classes(labels=...)", f"--classes {quote(classes)}"),
        positive=Setting("positive", positive),
    )


def labels_seen(sample: Sample, void: tuple[float, ...] = ()) -> LabelsSeen | None:
    """Inspect an image with a single predicted map; None where that holds no labels, whatever other images hold."""
    if len(sample.predictions) != 1:
        return None
    soft = sample.predictions[0]
    if soft.dtype == np.bool_ or soft.shape != sample.ground_truths[0].shape:
        return None
    coloured = any((note.kind, note.side) == (TURNED_TO_GREY.kind, "prediction") for note in sample.notes)
    if not (coloured or is_whole(soft)):
        return None
    labels = {label for truth in sample.ground_truths for label in distinct(truth).tolist()}
    if distinct(soft).size > _MOST_FOREIGN + 2 * len(labels):
        return None
    true: set[float] = set()
    predicted: set[float] = set()
    agreement = np.zeros(3)
    for truth in sample.ground_truths:
        valid = ~equals_any(truth, (*void, *VOIDS)) & (True if sample.field is None else sample.field)
        true.update(distinct(truth[valid]).tolist())
        predicted.update(distinct(soft[valid]).tolist())
        if not coloured:
            both = valid & (truth != 0) & (soft != 0)
            agreement += _agreement(truth[both], soft[both])
    return LabelsSeen(frozenset(true), frozenset(predicted.difference(() if coloured else VOIDS)), agreement, coloured)


def regions_in(soft: Array) -> tuple[float, ...]:
    """Return the values of a map predicted where lines are expected, rising, if they number regions; else none."""
    if soft.dtype == np.bool_ or soft.ndim != 2 or not soft.size or not is_whole(soft):
        return ()
    values = distinct(soft)
    if values.size < _FEWEST_REGIONS or values[0] < 0 or values[-1] >= 2 * values.size:
        return ()
    same_as_next = soft[:, 1:] == soft[:, :-1]
    of_regions = soft[:, 1:] != values[np.argmax([np.count_nonzero(soft == value) for value in values[:_MOST_FOREIGN]])]
    in_areas = np.count_nonzero(same_as_next & of_regions) > _AREAS * np.count_nonzero(of_regions)
    return tuple(values.tolist()) if in_areas and median_run(soft) > SHORT_RUN else ()


def median_run(values: Array) -> float:
    """Compute the median number of neighbouring pixels of a row with the same value."""
    starts = np.ones(values.shape, np.bool_)
    starts[:, 1:] = values[:, 1:] != values[:, :-1]
    return float(np.median(np.diff(np.flatnonzero(starts), append=values.size)))


def are_label_maps(seen: Sequence[LabelsSeen | None]) -> bool:
    """Decide over all images seen; one that holds no labels decides for all."""
    known = [labels for labels in seen if labels is not None]
    if len(known) < len(seen) or not known or all(are_grey_levels(sorted(labels.truth)) for labels in known):
        return False
    truth = frozenset[float]().union(*(labels.truth for labels in known))
    predicted = frozenset[float]().union(*(labels.predicted for labels in known))
    if min(len(truth), len(predicted)) < 3:  # masks
        return False
    if any(labels.coloured for labels in known):
        return True
    if len(truth & predicted) >= _COMMON * len(truth | predicted):
        return True
    pixels, same, by_chance = np.sum([labels.agreement for labels in known], axis=0)
    return bool(same - by_chance > 0 and same - by_chance >= _KAPPA * (pixels - by_chance))


def in_colour(labels: Array) -> bool:
    """Say whether a map holds packed colours, as the loaders give them."""
    return labels.dtype == np.uint32 and labels.ndim == 2 and bool(labels.size) and bool(labels.flat[0] >= COLOUR)


def _agreement(truth: Array, predicted: Array) -> tuple[float, float, float]:
    """Count pixels, those with the same value on both sides, and how many of them chance would give."""
    if not truth.size:
        return 0.0, 0.0, 0.0
    in_truth = dict(zip(*(part.tolist() for part in np.unique(truth, return_counts=True)), strict=True))
    in_predicted = dict(zip(*(part.tolist() for part in np.unique(predicted, return_counts=True)), strict=True))
    by_chance = sum(count * in_predicted.get(value, 0) for value, count in in_truth.items()) / truth.size
    return float(truth.size), float(np.count_nonzero(truth == predicted)), by_chance
