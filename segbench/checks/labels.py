"""Label maps that are to be counted as such: labels or colours without meaning, void alone, and copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.checks.asked import Asked
from segbench.checks.findings import Finding, Place, many
from segbench.checks.seen import Probe
from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.decoded import shown
from segbench.loaders.load import decode_sample, read
from segbench.loaders.pairing import SampleFiles
from segbench.protocols.labels.counts import LabelCounts


class UncountedError(DataError):
    """Label maps that can be read, but not counted with these settings."""


@dataclass(frozen=True, kw_only=True)
class LabelsProbe(Probe):
    """What one image of label maps holds: its files, pixels that count, and pixels with the right label."""

    truth_file: str
    pixels: int
    right: int


def probe_labels(files: SampleFiles, asked: Asked, protocol: Protocol) -> Probe:
    """Count one image, as the run would."""
    try:
        sample = decode_sample(read(files), asked.reads, asked.repairs)
    except DataError as error:
        return Probe(image=files.name, failure=error)
    try:
        counts = protocol.count(sample).counts
    except DataError as error:
        return Probe(image=files.name, failure=UncountedError(error.path, error.what, error.hint))
    if not isinstance(counts, LabelCounts):  # of a protocol of another package
        return Probe(image=files.name)
    return LabelsProbe(
        image=files.name,
        prediction=sample.prediction_file,
        truth_file=shown(files.ground_truths[0]),
        pixels=counts.pixels,
        right=int(np.trace(counts.matrix)),
    )


def label_map_findings(probes: Sequence[Probe], failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """Judge the label maps inspected."""
    found = []
    uncounted = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    if uncounted:
        hints = list(dict.fromkeys(error.hint for error in uncounted.values() if error.hint))
        found.append(
            Finding(
                key="not-countable",
                severity="stops",
                about="ground truth",
                message=f"{many(len(uncounted), 'image')} of {total} cannot be counted with these settings",
                mend="; ".join(hints[:3]),
                places=tuple(Place(error.path, error.what) for error in uncounted.values()),
                images=tuple(uncounted),
            )
        )
    seen = [probe for probe in probes if isinstance(probe, LabelsProbe)]
    void = [probe for probe in seen if not probe.pixels]
    if void:
        found.append(
            Finding(
                key="all-void",
                severity="look",
                about="ground truth",
                message=f"{many(len(void), 'ground truth')} of {len(seen)} inspected are void everywhere",
                mend="check --void, --gt-map and --field",
                places=tuple(Place(probe.truth_file) for probe in void),
            )
        )
    counted = [probe for probe in seen if probe.pixels]
    if counted and all(probe.right == probe.pixels for probe in counted):
        found.append(
            Finding(
                key="identical",
                severity="look",
                about="prediction",
                message=f"all {len(counted)} predictions inspected are the ground truth itself: every metric will be 1",
                mend="check that PRED is the folder of predictions",
                places=tuple(Place(probe.prediction) for probe in counted),
            )
        )
    return found
