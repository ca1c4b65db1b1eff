"""Pictures of objects: the outlines of those that are found, missed and false."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.metric import Metric, image_headline
from segbench.core.pictures import Pictures
from segbench.core.summary import Summary
from segbench.protocols.objects.counting import (
    Overlaps,
    Segments,
    count_components,
    instance_pairs,
    match_panoptic,
)
from segbench.protocols.states import State

BoolArray = NDArray[np.bool_]


def instance_states(truth: NDArray[Any], predicted: NDArray[Any], threshold: Fraction) -> NDArray[np.uint8]:
    """Outline objects that are matched at a threshold, missed ones and false ones."""
    found = Overlaps.of(truth, predicted)
    pairs = instance_pairs(found).matched()
    pairs = pairs.some(pairs.shared * threshold.denominator >= pairs.unions * threshold.numerator)
    true, false = found.true != 0, found.predicted != 0
    return _outlined(truth, predicted, found, [true, _marked(true, pairs.rows)], [false, _marked(false, pairs.columns)])


def panoptic_states(
    truth: NDArray[Any], predicted: NDArray[Any], found: Overlaps, segments: tuple[Segments, Segments]
) -> NDArray[np.uint8]:
    """Outline segments that are matched, missed ones and false ones, and mark what is left out."""
    true, labels, pairs, ignored = match_panoptic(found, *segments)
    sides = [true >= 0, _marked(true >= 0, pairs.rows)], [(labels >= 0) & ~ignored, _marked(labels >= 0, pairs.columns)]
    return _outlined(truth, predicted, found, *sides, left_out=true < 0)


def component_states(true: NDArray[Any], predicted: NDArray[Any], valid: BoolArray | None) -> NDArray[np.uint8]:
    """Outline components that are found at .5, missed ones and false ones."""
    found, counts = Overlaps.of(true, predicted), count_components(true, predicted)
    sides = [[values > 0, np.zeros(values.size, np.bool_)] for values in (found.true, found.predicted)]
    for place, (real, marked) in enumerate(sides):
        shared, whole = counts.pairs(0, place)
        marked[real] = 2 * shared >= whole
    states = _outlined(true, predicted, found, *sides)
    if valid is not None:
        states[~valid] = State.IGNORED
    return states


def object_pictures(
    truth: NDArray[Any], states: NDArray[np.uint8], metrics: Sequence[Metric], summary: Summary
) -> Pictures:
    """Draw an image for the report page: its objects in white, and what became of them."""
    drawn = np.where(truth > 0, 255, 0).astype(np.uint8)
    drawn[np.isin(states, (State.PARTNER, State.MISSED))] = 127
    rank = image_headline(metrics)
    return Pictures(drawn, drawn, states=[states], metrics={rank.name_for_images: np.array([summary[rank.image_key]])})


def _marked(objects: BoolArray, places: NDArray[np.int64]) -> BoolArray:
    marked = np.zeros_like(objects)
    marked[places] = True
    return marked


def _outlined(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    found: Overlaps,
    true: Sequence[BoolArray],
    false: Sequence[BoolArray],
    *,
    left_out: BoolArray | None = None,
) -> NDArray[np.uint8]:
    """Give states: of each side which values are objects, and which of these are matched; matched ones lie below."""
    from skimage.segmentation import find_boundaries

    places = np.searchsorted(found.true, truth), np.searchsorted(found.predicted, predicted)
    edges = [find_boundaries(place) for place in places]  # type: ignore[no-untyped-call]  # scikit-image is untyped
    states = np.full(truth.shape, State.NOTHING, np.uint8)
    if left_out is not None:
        states[left_out[places[0]]] = State.IGNORED
    drawn = ((State.PARTNER, 0, true, True), (State.TRUE, 1, false, True), (State.MISSED, 0, true, False))
    for state, side, (objects, matched), which in (*drawn, (State.FALSE, 1, false, False)):
        chosen = objects & (matched if which else ~matched)
        states[edges[side] & chosen[places[side]]] = state
    return states
