"""Folders given the wrong way round: soft maps where ground truth is expected, and two values where scores are."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.checks.findings import Finding, Place
from segbench.checks.seen import MOST_VALUES, Probe
from segbench.checks.truths import listed


def exchange_findings(probes: Sequence[Probe], found: Sequence[Finding]) -> list[Finding]:
    """Find that ground truth and predictions look exchanged, where grey levels were found in all ground truths."""
    grey = next((finding for finding in found if finding.key == "grey-ground-truth"), None)
    if grey is None or not all(_is_exchanged(probe) for probe in probes):
        return []
    return [
        Finding(
            key="exchanged",
            severity=grey.severity,
            about="names",
            message="the folders look exchanged: the first holds soft maps, the second two values an image",
            mend="ground truth comes first, predictions second",
            places=tuple(Place(probe.scores.file, listed(probe.scores.values)) for probe in probes if probe.scores),
            images=grey.images,
        )
    ]


def _is_exchanged(probe: Probe) -> bool:
    scores = probe.scores
    grey = all(len(truth.values) >= MOST_VALUES for truth in probe.truths)
    return scores is not None and bool(probe.truths) and grey and len(scores.values) == 2
