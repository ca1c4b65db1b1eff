"""What became of each pixel of an image at one threshold: the same four words for every protocol."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class State(IntEnum):
    """What a pixel is."""

<<<<<<< HEAD
    NOTHING = 0  # negative, and predicted so; of boundaries: no boundary
    TRUE = 1  # found: predicted, and rightly so
    FALSE = 2  # predicted, but nothing is there
    MISSED = 3  # there, but not predicted
    IGNORED = 4  # void, or outside the field of view
    PARTNER = 5  # of boundaries: a ground-truth pixel that was found, a little way off
=======
    NOTHING
        Negative, and predicted so; of boundaries: no boundary.
    TRUE
        Found: predicted, and rightly so.
    FALSE
        Predicted, but nothing is there.
    MISSED
        There, but not predicted.
    IGNORED
        Void, or outside the field of view.
    PARTNER
        Boundaries: a ground-truth pixel that was found, a little way off. Contours: a predicted pixel within the
        tolerance.
    NEAR, FAR
        Contours only: a predicted pixel within twice and five times the tolerance.
    """

    NOTHING = 0
    TRUE = 1
    FALSE = 2
    MISSED = 3
    IGNORED = 4
    PARTNER = 5
    NEAR = 6
    FAR = 7
>>>>>>> cont2


OF_MASKS: Mapping[int, str] = MappingProxyType(
    {State.TRUE: "true", State.FALSE: "false", State.MISSED: "missed", State.IGNORED: "left out"}
)
"""What legends call the states of pixels that are positive or not."""


def states_of_labels(
    labels: NDArray[np.bool_], predicted: NDArray[np.bool_], valid: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """Distinguish true, false and missed pixels."""
    import numpy as np

    states: NDArray[Any] = np.full(labels.shape, State.NOTHING, np.uint8)
    states[labels & predicted] = State.TRUE
    states[~labels & predicted] = State.FALSE
    states[labels & ~predicted] = State.MISSED
    if valid is not None:
        states[~valid] = State.IGNORED
    return states
