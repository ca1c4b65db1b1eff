"""Pictures of objects: the outlines of those that are found, missed and false."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.segmentation import find_boundaries

from segbench.core.arrays import Array
from segbench.core.metric import Summary, image_headline
from segbench.core.pictures import Pictures
from segbench.core.sample import Sample
from segbench.inputs.object_kinds import INSTANCES, PANOPTIC
from segbench.inputs.overlaps import Overlaps
from segbench.protocols.objects.counting import count_components, instance_pairs, match_panoptic
from segbench.protocols.states import State


def object_states(sample: Sample, rules: Any) -> tuple[Array, NDArray[np.uint8]]:
    """Give the objects of the ground truth, and outlines of found (components: at .5), missed and false ones."""
    image = rules.inputs.interpret(sample)
    truth, predicted = rules.numbers_in(image)
    found = image.overlaps if rules.kind == PANOPTIC else Overlaps.of(truth, predicted)
    states = np.full(truth.shape, State.NOTHING, np.uint8)
    places = np.searchsorted(found.true, truth), np.searchsorted(found.predicted, predicted)
    objects, hits = _fates(image, found, (truth, predicted), rules)
    if rules.kind == PANOPTIC:
        states[~objects[0][places[0]]] = State.IGNORED
    edges = [find_boundaries(place, mode="thick") for place in places]  # type: ignore[no-untyped-call]  # scikit-image
    kinds = ((State.PARTNER, 0, True), (State.TRUE, 1, True), (State.MISSED, 0, False), (State.FALSE, 1, False))
    for state, side, matched in kinds:  # matched ones lie below
        hit = np.isin(np.arange(objects[side].size), hits[side])
        states[edges[side] & (objects[side] & (hit == matched))[places[side]]] = state
    if sample.field is not None:
        states[~sample.field] = State.IGNORED
    return truth, states


def _fates(image: Any, found: Overlaps, maps: Any, rules: Any) -> tuple[Any, Any]:
    """Give which values are objects on both sides, and the places of those that are matched."""
    if rules.kind == PANOPTIC:
        true, labels, pairs, ignored = match_panoptic(found, image.true_segments, image.predicted_segments)
        return (true >= 0, (labels >= 0) & ~ignored), pairs[:2]
    objects = found.true > 0, found.predicted > 0
    if rules.kind == INSTANCES:
        pairs, at = instance_pairs(found).matched(), Fraction(str(rules.iou[0]))
        return objects, pairs.some(pairs.shared * at.denominator >= pairs.unions * at.numerator)[:2]
    sides = map(count_components(*maps).pairs, (0, 0), (0, 1))
    return objects, [np.flatnonzero(real)[2 * pair[0] >= pair[1]] for real, pair in zip(objects, sides, strict=True)]


def object_pictures(sample: Sample, rules: Any, summary: Summary) -> Pictures:
    """Draw an image for the report page: its objects in white, and what became of them."""
    truth, states = object_states(sample, rules)
    drawn = np.where(truth > 0, 255, 0).astype(np.uint8)
    drawn[np.isin(states, (State.PARTNER, State.MISSED))] = 127
    rank = image_headline(rules.metrics())
    return Pictures(drawn, drawn, states=[states], metrics={rank.name_for_images: np.array([summary[rank.image_key]])})
