"""What became of each pixel of an image at one threshold, in the same words for every protocol.

Pictures, overlays and report pages take their colours and legends from `State`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, BoolArray


class State(IntEnum):
    """The outcome of a pixel; values are palette indices of overlays."""

    NOTHING = 0  # negative and predicted so
    TRUE = 1  # positive and predicted so
    FALSE = 2  # negative, but predicted positive
    MISSED = 3  # positive, but not predicted
    IGNORED = 4  # void, or outside the field of view
    PARTNER = 5  # boundaries: ground truth that a prediction nearby matches; contours: predicted within the tolerance
    NEAR = 6  # contours: predicted within twice the tolerance
    FAR = 7  # contours: predicted within five times the tolerance


OF_MASKS: Mapping[int, str] = {
    State.TRUE: "true",
    State.FALSE: "false",
    State.MISSED: "missed",
    State.IGNORED: "left out",
}
"""What legends call the states of pixels that are positive or not."""


def seen_in(states: NDArray[np.uint8]) -> BoolArray:
    """Mark the pixels of which a picture shows something: they count, and are positive or predicted so."""
    import numpy as np

    return np.isin(states, (State.NOTHING, State.IGNORED), invert=True)


def states_of_labels(labels: BoolArray, predicted: BoolArray, valid: BoolArray | None = None) -> NDArray[np.uint8]:
    """Return the state of each pixel of a mask: true, false, missed or, where not `valid`, left out."""
    import numpy as np

    states: Array = np.full(labels.shape, State.NOTHING, np.uint8)
    states[labels & predicted] = State.TRUE
    states[~labels & predicted] = State.FALSE
    states[labels & ~predicted] = State.MISSED
    if valid is not None:
        states[~valid] = State.IGNORED
    return states
