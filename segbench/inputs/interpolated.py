"""Labels of volumes that are not whole numbers: resampling with interpolation makes such values between labels."""

from __future__ import annotations

from segbench.core.arrays import Array
from segbench.core.errors import DataError
from segbench.core.messages import NOTHING, Message, alternatives

_MOSTLY_WHOLE = 0.5
"""The share of whole numbers above which values are labels between which some were interpolated, and no scores.

Where values reach beyond 0 and 1, they are no scores anyway.
"""
_PIECE = 2**22
"""Voxels that are looked at together."""


def refuse_interpolated(file: str, labels: Array, otherwise: Message = NOTHING) -> None:
    """Refuse a volume of floats that are not all whole, unless they may be scores; `otherwise` is what else to do."""
    import numpy as np

    if labels.ndim != 3 or labels.dtype.kind != "f" or not labels.size:
        return
    flat, between, first = labels.reshape(-1), 0, None
    for start in range(0, flat.size, _PIECE):
        piece = flat[start : start + _PIECE]
        fractions = piece[np.isfinite(piece) & (piece != np.rint(piece))]
        between += fractions.size
        first = float(fractions[0]) if first is None and fractions.size else first
    may_be_scores = between > (1 - _MOSTLY_WHOLE) * flat.size and not (flat.min() >= 0 and flat.max() > 1)
    if first is None or may_be_scores:
        return
    problem = Message(
        "interpolated-labels",
        "holds {value:.6g} and other numbers between labels in {count} of {total} voxels, expected whole numbers: "
        "it was probably resampled with interpolation",
        value=first,
        count=between,
        total=flat.size,
    )
    nearest = Message("fix", "resample the labels again by nearest neighbour")
    raise DataError(file, problem, alternatives([nearest, otherwise]))
