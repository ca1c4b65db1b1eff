"""Predicted regions: whether a map holds labels, or scores that were meant for another protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.checks.findings import Finding, Place, many

MANY_LABELS = 32
"""A soft map of 8 bits has more levels than this, and a segmentation may have as many regions; so runs decide, too."""
SHORT_RUN = 3.0
"""How many pixels of a row hold one value: 1 or 2 on the slopes of soft maps, 8 in small superpixels."""


@dataclass(frozen=True, kw_only=True)
class LabelProbe:
    """What one predicted label map holds.

    Parameters
    ----------
    labels : int
        How many distinct labels.
    run : float
        Median number of neighbouring pixels of a row that share a label.
    """

    file: str
    labels: int
    run: float

    @property
    def soft(self) -> bool:
        """Whether it looks like scores."""
        return self.labels > MANY_LABELS and self.run <= SHORT_RUN


def label_probe(file: str, labels: NDArray[Any]) -> LabelProbe:
    """Look into a label map of at least one pixel."""
    starts = np.ones(labels.shape, np.bool_)
    starts[:, 1:] = labels[:, 1:] != labels[:, :-1]
    runs = np.diff(np.flatnonzero(starts), append=labels.size)
    return LabelProbe(file=file, labels=np.unique(labels).size, run=float(np.median(runs)))


def label_findings(probes: Sequence[LabelProbe]) -> list[Finding]:
    """Judge the label maps looked into."""
    soft = [probe for probe in probes if probe.soft]
    if not soft:
        return []
    return [
        Finding(
            key="soft-map",
            severity="look",
            about="prediction",
            message=f"{many(len(soft), 'prediction')} of {len(probes)} looked into look like soft maps: "
            "every grey level is read as a region",
            mend="give label maps, ucm2 or segs; soft maps are for segbench pixels or segbench boundaries",
            places=tuple(Place(probe.file, f"{probe.labels} labels") for probe in soft),
        )
    ]
