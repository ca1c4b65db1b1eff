"""What became of each pixel of an image at one threshold: the same four words for every protocol."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, BoolArray


class State(IntEnum):
    """What a pixel is."""

    NOTHING = 0  # negative, and predicted so; of boundaries: no boundary
    TRUE = 1  # found: predicted, and rightly so
    FALSE = 2  # predicted, but nothing is there
    MISSED = 3  # there, but not predicted
    IGNORED = 4  # void, or outside the field of view
    PARTNER = 5  # boundaries: ground truth that was found, a little way off; contours: predicted within the tolerance
    NEAR = 6  # contours: predicted within twice the tolerance
    FAR = 7  # contours: predicted within five times the tolerance


OF_MASKS: Mapping[int, str] = {
    State.TRUE: "true",
    State.FALSE: "false",
    State.MISSED: "missed",
    State.IGNORED: "left out",
}
"""What legends call the states of pixels that are positive or not."""


def states_of_labels(labels: BoolArray, predicted: BoolArray, valid: BoolArray | None = None) -> NDArray[np.uint8]:
    """Distinguish true, false and missed pixels."""
    import numpy as np

    states: Array = np.full(labels.shape, State.NOTHING, np.uint8)
    states[labels & predicted] = State.TRUE
    states[~labels & predicted] = State.FALSE
    states[labels & ~predicted] = State.MISSED
    if valid is not None:
        states[~valid] = State.IGNORED
    return states
