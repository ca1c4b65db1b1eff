"""What states of pixels look like over a photograph: pale grey photographs, colours nearly opaque, hatched gaps.

Colours hold over any photograph because all photographs become alike: `washed` makes them grey, and so pale that every
ground lies between 80 and 100 % of white. ``scripts/checks/state_colours.py`` measures the colours over such grounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.pictures import ByteArray
from segbench.drawing.palette import FALSE_POSITIVE, FAR, GUIDE, MATCHED, MATCHED_TRUTH, MISS, NEAR, class_colours
from segbench.protocols.states import State

OPACITY = 0.85
"""How opaque states are over a photograph."""
DARKEST = 0.8
"""The darkest ground, as a share of white."""
BETWEEN = len(State)
"""The index in `PALETTE` of what lies between the lines of a hatching."""

NAMED = {
    State.NOTHING: ("#ffffff", "white"),
    State.TRUE: (MATCHED, "blue"),
    State.FALSE: (FALSE_POSITIVE, "red"),
    State.MISSED: (MISS, "orange"),
    State.IGNORED: (GUIDE, "hatched grey"),
    State.PARTNER: (MATCHED_TRUTH, "sky blue"),
    State.NEAR: (NEAR, "olive"),
    State.FAR: (FAR, "magenta"),
}
"""The colour of each state, and what it is called."""
COLOURS = {state.name.lower(): NAMED[state][0] for state in State} | {"between": "#dcdcdc"}
_LUMA = (0.299, 0.587, 0.114)
_LINES = 64  # of a hatching, along the longest side of a picture
_LEAST_STEP = 3


def as_bytes(colours: Iterable[str]) -> ByteArray:
    """Return red, green and blue of colours, shape (colours, 3)."""
    rgb = b"".join(bytes.fromhex(colour.removeprefix("#")) for colour in colours)
    return np.frombuffer(rgb, np.uint8).reshape(-1, 3)


PALETTE = as_bytes(COLOURS.values())
"""Red, green and blue of each state, and of `BETWEEN`."""
MASK_PALETTE = as_bytes(["#000000", "#ffffff", GUIDE, COLOURS["between"]])
"""Red, green and blue of what is negative, positive and left out, and between the lines of its hatching."""


def class_palette(classes: int) -> ByteArray:
    """Return red, green and blue of each class, of no class, of what is left out and between its lines."""
    return as_bytes([*class_colours(classes), "#ffffff", GUIDE, COLOURS["between"]])


def washed(photograph: NDArray[Any]) -> ByteArray:
    """Make a photograph of 8 bits, grey or in colour, grey and pale, so that states hold over it; shape (H, W, 3)."""
    grey = photograph if photograph.ndim == 2 else photograph[..., :3] @ np.array(_LUMA)
    pale = np.rint(255 * DARKEST + (1 - DARKEST) * grey).astype(np.uint8)
    return np.repeat(pale[..., np.newaxis], 3, axis=2)


def hatched(states: ByteArray, step: int = 0, *, left_out: int = State.IGNORED, between: int = BETWEEN) -> ByteArray:
    """Hatch what is left out: every other stripe becomes `between`; a stripe is `step` pixels wide, or as fits."""
    is_left_out = states == left_out
    if not is_left_out.any():
        return states
    step = step or max(_LEAST_STEP, math.ceil(max(states.shape) / (2 * _LINES)))
    rows, columns = (np.arange(extent) for extent in states.shape)
    stripes = (rows[:, np.newaxis] + columns) // step % 2 == 1
    return np.where(is_left_out & stripes, np.uint8(between), states)


def hatched_labels(labels: ByteArray, palette: ByteArray, step: int = 0) -> ByteArray:
    """Hatch what is left out of a label map that is drawn with `MASK_PALETTE` or a `class_palette`."""
    return hatched(labels, step, left_out=len(palette) - 2, between=len(palette) - 1)


def blended(states: ByteArray, ground: ByteArray, opacity: float = OPACITY) -> ByteArray:
    """Lay the colours of states, hatched or not, over a washed photograph of their size."""
    seen = states != State.NOTHING
    colours = opacity * PALETTE[states[seen]] + (1 - opacity) * ground[seen]
    picture = ground.copy()
    picture[seen] = np.rint(colours).astype(np.uint8)
    return picture
