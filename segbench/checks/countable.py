"""Label maps counted as a run would: labels or colours without a meaning, void alone, copies of the ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.checks.findings import Finding, Place, are, look, stops
from segbench.checks.probes import Probe, UncountedError
from segbench.core.errors import DataError
from segbench.core.numbers import many
from segbench.core.protocol import Expected
from segbench.loaders.decoded import shown
from segbench.loaders.load import decode_sample, read
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import Repairs


@dataclass(frozen=True, kw_only=True)
class CountsProbe(Probe):
    """What counting one image showed."""

    truth_file: str
    pixels: int  # that count
    right: int  # of these, with the right label


def probe_counts(files: SampleFiles, expected: Expected, repairs: Repairs) -> Probe:
    """Count one image, as the run would."""
    try:
        sample = decode_sample(read(files), expected.reads, repairs)
    except DataError as error:
        return Probe(image=files.name, failure=error)
    try:
        counts = expected.counted_by.count(sample).counts
    except DataError as error:
        return Probe(image=files.name, failure=UncountedError(error.path, error.what, error.hint))
    return CountsProbe(
        image=files.name,
        prediction=sample.prediction_file,
        truth_file=shown(files.ground_truths[0]),
        pixels=counts.pixels,
        right=int(np.trace(counts.matrix)),
    )


def label_map_findings(probes: Sequence[Probe], failures: Mapping[str, DataError], inspected: int) -> list[Finding]:
    """Judge the label maps inspected; `inspected` also counts those that failed."""
    found = []
    uncounted = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    if uncounted:
        hints = dict.fromkeys(error.hint for error in uncounted.values() if error.hint)
        what = f"{many(len(uncounted), 'image')} of {inspected} inspected cannot be counted with these settings"
        places = (Place(error.path, error.what) for error in uncounted.values())
        found.append(stops("not-countable", "ground truth", what, "; ".join(list(hints)[:3]), places, images=uncounted))
    counted = [probe for probe in probes if isinstance(probe, CountsProbe)]
    void = [probe for probe in counted if not probe.pixels]
    if void:
        what = f"{many(len(void), 'ground truth')} of {len(counted)} inspected {are(len(void))} void everywhere"
        fix = "check --void, --gt-map and --field (void=, gt_map=, field=)"
        found.append(look("all-void", "ground truth", what, fix, (Place(probe.truth_file) for probe in void)))
    held = [probe for probe in counted if probe.pixels]
    if held and all(probe.right == probe.pixels for probe in held):
        what = f"all {len(held)} predictions inspected are identical to the ground truth: every metric will be perfect"
        places = (Place(probe.prediction) for probe in held)
        found.append(look("identical", "prediction", what, "check that PRED is the folder of predictions", places))
    return found
