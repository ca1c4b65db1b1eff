"""Pictures of objects: the outlines of those that are found, missed and false; begin with `object_states`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from skimage.segmentation import find_boundaries

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.metric import Summary, image_headline
from segbench.core.pictures import Pictures
from segbench.core.sample import Sample
from segbench.inputs.object_kinds import INSTANCES, PANOPTIC
from segbench.inputs.overlaps import Overlaps
from segbench.protocols.objects.counting import count_components, instance_pairs, match_panoptic
from segbench.protocols.states import State


class _Side(NamedTuple):
    """Which values of one map are objects, and which of these are matched or not."""

    objects: BoolArray
    matched: BoolArray
    unmatched: BoolArray


def object_states(sample: Sample, settings: Any) -> tuple[Array, NDArray[np.uint8]]:
    """Return the objects of the ground truth, and outlines of found (components: at .5), missed and false ones."""
    image = settings.inputs.interpret(sample)
    truth, predicted = settings.numbers_in(image, sample)
    overlaps = image.overlaps if settings.kind == PANOPTIC else Overlaps.of(truth, predicted)
    true_side, predicted_side = _sides(image, overlaps, truth, predicted, settings)
    true_index = np.searchsorted(overlaps.true, truth)
    predicted_index = np.searchsorted(overlaps.predicted, predicted)

    states = np.full(truth.shape, State.NOTHING, np.uint8)
    if settings.kind == PANOPTIC:
        states[~true_side.objects[true_index]] = State.IGNORED
    true_outlines = find_boundaries(true_index, mode="thick")  # type: ignore[no-untyped-call]  # scikit-image
    predicted_outlines = find_boundaries(predicted_index, mode="thick")  # type: ignore[no-untyped-call]  # scikit-image
    # Matched objects lie below.
    states[true_outlines & true_side.matched[true_index]] = State.PARTNER
    states[predicted_outlines & predicted_side.matched[predicted_index]] = State.TRUE
    states[true_outlines & true_side.unmatched[true_index]] = State.MISSED
    states[predicted_outlines & predicted_side.unmatched[predicted_index]] = State.FALSE
    if sample.field is not None:
        states[~sample.field] = State.IGNORED
    return truth, states


def _sides(image: Any, overlaps: Overlaps, truth: Array, predicted: Array, settings: Any) -> tuple[_Side, _Side]:
    """Say which values of either map are objects, and which are matched."""
    if settings.kind == PANOPTIC:
        panoptic = match_panoptic(overlaps, image.true_segments, image.predicted_segments)
        true_objects = panoptic.true_labels >= 0
        predicted_objects = (panoptic.predicted_labels >= 0) & ~panoptic.ignored
        true_matched, predicted_matched = panoptic.matched.rows, panoptic.matched.columns
        return _side(true_objects, true_matched), _side(predicted_objects, predicted_matched)
    true_objects, predicted_objects = overlaps.true > 0, overlaps.predicted > 0
    if settings.kind == INSTANCES:
        iou = Fraction(str(settings.iou[0]))
        pairs = instance_pairs(overlaps).matched()
        pairs = pairs.select(pairs.shared * iou.denominator >= pairs.unions * iou.numerator)
        return _side(true_objects, pairs.rows), _side(predicted_objects, pairs.columns)
    counts = count_components(truth, predicted, truth.size)
    shared, whole = counts.pairs(0, 0)
    true_matched = np.flatnonzero(true_objects)[2 * shared >= whole]
    shared, whole = counts.pairs(0, 1)
    predicted_matched = np.flatnonzero(predicted_objects)[2 * shared >= whole]
    return _side(true_objects, true_matched), _side(predicted_objects, predicted_matched)


def _side(objects: BoolArray, matched: IntArray) -> _Side:
    """Mark the objects at the indices `matched`."""
    is_matched = np.isin(np.arange(objects.size), matched)
    return _Side(objects, objects & is_matched, objects & ~is_matched)


def object_pictures(sample: Sample, settings: Any, summary: Summary) -> Pictures:
    """Draw an image for the report page: its objects in white, and what became of them."""
    truth, states = object_states(sample, settings)
    drawn = np.where(truth > 0, 255, 0).astype(np.uint8)
    drawn[np.isin(states, (State.PARTNER, State.MISSED))] = 127
    headline = image_headline(settings.metrics())
    return Pictures(
        drawn, drawn, states=[states], metrics={headline.name_for_images: np.array([summary[headline.image_key]])}
    )
