"""Label maps counted as a run would: labels or colours without a meaning, void alone, copies of the ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.checks.findings import Finding, Place, failing, look
from segbench.checks.probes import Probe, UncountedError
from segbench.checks.truths import listed
from segbench.core.capabilities import Confusing
from segbench.core.errors import DataError
from segbench.core.interface import given
from segbench.core.numbers import many, verb
from segbench.core.protocol import Facts, Protocol
from segbench.loaders.decoded import shown
from segbench.loaders.load import decode_sample, read
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import Repairs
from segbench.protocols.labels.counting import ForeignLabelsError
from segbench.protocols.labels.counts import LabelCounts


@dataclass(frozen=True, kw_only=True)
class CountsProbe(Probe):
    """What counting one image showed."""

    truth_file: str
    counts: LabelCounts
    facts: Facts
    outside: Sequence[float]  # predicted labels that are not classes


def probe_counts(files: SampleFiles, protocol: Protocol, counted_by: Confusing, repairs: Repairs) -> Probe:
    """Count one image, as the run would."""
    try:
        sample = decode_sample(read(files), protocol.reads, repairs)
    except DataError as error:
        return Probe(image=files.name, failure=error)
    try:
        counted = protocol.count(sample)
    except DataError as error:
        uncounted = UncountedError(error.path, error.what, error.hint)
        uncounted.__cause__ = error
        return Probe(image=files.name, failure=uncounted)
    return CountsProbe(
        image=files.name,
        prediction=sample.prediction_file,
        truth_file=shown(files.ground_truths[0]),
        counts=counted.counts,
        facts=counted.facts,
        outside=counted_by.predicted_outside(sample) if counted.counts.matrix[:, -1].any() else (),
    )


def label_map_findings(
    probes: Sequence[Probe], failures: Mapping[str, DataError], inspected: int, counted_by: Confusing | None
) -> list[Finding]:
    """Judge the label maps inspected; `inspected` also counts those that failed."""
    found: list[Finding] = []
    counted = [probe for probe in probes if isinstance(probe, CountsProbe)]
    uncounted: dict[str, DataError] = {i: error for i, error in failures.items() if isinstance(error, UncountedError)}
    causes = {image: error.__cause__ for image, error in uncounted.items()}
    foreign = {image: error for image, error in causes.items() if isinstance(error, ForeignLabelsError)}
    from_one = not any(probe.counts.matrix[0].any() for probe in counted) and all(e.remap for e in foreign.values())
    uncounted |= {image: error.judged(from_one=from_one) for image, error in foreign.items()}
    if uncounted:
        what = f"{many(len(uncounted), 'image')} of {inspected} inspected cannot be counted with these settings"
        found.append(failing("not-countable", "ground truth", what, uncounted))
    void = [probe for probe in counted if not probe.counts.pixels]
    if void:
        what = f"{many(len(void), 'ground truth')} of {len(counted)} inspected {verb(len(void), 'are')} void everywhere"
        fix = f"check {given('void')}, {given('gt_map')} and {given('field')}"
        found.append(look("all-void", "ground truth", what, fix, (Place(probe.truth_file) for probe in void)))
    if counted and counted_by:
        found += [*_one_sided(counted, counted_by), *_outside(counted, counted_by)]
    held = [probe for probe in counted if probe.counts.pixels]
    if held and all(np.trace(probe.counts.matrix) == probe.counts.pixels for probe in held):
        what = "every prediction inspected is identical to the ground truth: every metric will be perfect"
        places = (Place(probe.prediction) for probe in held)
        found.append(look("identical", "prediction", what, "check that these are predictions", places))
    return found


def _one_sided(counted: Sequence[CountsProbe], counted_by: Confusing) -> Iterator[Finding]:
    """Find a rule under which nothing inspected is positive, or everything: a run is refused at its end."""
    try:
        facts = {probe.image: probe.facts for probe in counted if probe.facts}
        counted_by.require_both_sides(facts, "what was inspected")
    except DataError as error:
        places = (Place(probe.truth_file, listed(probe.facts)) for probe in counted)
        yield look("no-positives", "ground truth", error.what, error.hint, places)


def _outside(counted: Sequence[CountsProbe], counted_by: Confusing) -> Iterator[Finding]:
    """Find predicted labels that are not classes, above all because they count from 1."""
    outside = [probe for probe in counted if probe.outside]
    if not outside:
        return
    labels = listed(sorted({label for probe in outside for label in probe.outside}))
    what = f"{many(len(outside), 'prediction')} of {len(counted)} inspected {verb(len(outside), 'have')} labels that "
    what += f"are not classes ({labels}), "
    fix = f"add labels to {given('classes')}, or remap them: {given('pred_map')}"
    remap = counted_by.missing_pred_map({probe.image: probe.counts for probe in counted})
    if remap:
        what += "and label 0 is never predicted: labels seem to count from 1"
        fix = given("pred_map", remap)
    else:
        what += "and such pixels count as wrong"
    places = (Place(probe.prediction, listed(probe.outside)) for probe in outside)
    yield look("outside-classes", "prediction", what, fix, places)
