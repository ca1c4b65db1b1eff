"""What a protocol makes of one image."""

from __future__ import annotations

from dataclasses import dataclass, replace

from segbench.counts import BoundaryCounts, RegionCounts, ScoreCounts


@dataclass(frozen=True)
class Counted:
    """The counts of one image, and the ground-truth values they rest on.

    Parameters
    ----------
    counts : ScoreCounts, BoundaryCounts or RegionCounts
        Of an image with a single ground-truth value and no rule, all pixels are negatives.
    label_values : tuple of float
        The one or two ground-truth values found where no rule names the positive ones; else empty.
    notes : tuple of str
        What was done to the data that settings asked for, to be shown to the user.
    """

    counts: ScoreCounts | BoundaryCounts | RegionCounts
    label_values: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


def swapped(counts: ScoreCounts) -> ScoreCounts:
    """Count as positive what was counted as negative: an image that turned out to hold the positive value alone."""
    return replace(counts, positives=counts.negatives, negatives=counts.positives)
