"""Label maps: counted as a run would, predicted where scores are expected, and scores where they are expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.checks.findings import Finding, Place, failing, finding, found_in, inspected
from segbench.checks.probes import LabelProbe, Probe, UncountedError
from segbench.checks.truths import listed
from segbench.core.capabilities import Confusing
from segbench.core.errors import DataError
from segbench.core.interface import format_setting, setting
from segbench.core.numbers import many
from segbench.core.protocol import Facts, Protocol
from segbench.loaders.decoded import shown
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import decode_sample, read
from segbench.loaders.repairs import Repairs
from segbench.protocols.class_names import written_classes
from segbench.protocols.labels.counting import ForeignLabelsError
from segbench.protocols.labels.counts import LabelCounts
from segbench.protocols.predicted_labels import are_label_maps, instead_of_label_maps


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
    probes: Sequence[Probe], failures: Mapping[str, DataError], total: int, counted_by: Confusing | None
) -> list[Finding]:
    """Judge the label maps inspected; the `total` also counts those that failed."""
    counted = [probe for probe in probes if isinstance(probe, CountsProbe)]
    uncounted: dict[str, DataError] = {i: error for i, error in failures.items() if isinstance(error, UncountedError)}
    causes = {image: error.__cause__ for image, error in uncounted.items()}
    foreign = {image: error for image, error in causes.items() if isinstance(error, ForeignLabelsError)}
    from_one = not any(probe.counts.matrix[0].any() for probe in counted) and all(e.remap for e in foreign.values())
    uncounted |= {image: error.judged(from_one=from_one) for image, error in foreign.items()}
    what = f"{many(len(uncounted), 'image')} of {total} inspected cannot be counted with these settings"
    found = failing("not-countable", what, uncounted, about="ground truth")
    void = [probe for probe in counted if not probe.counts.pixels]
    what = f"{inspected(void, len(counted), 'are', 'ground truth')} void everywhere"
    fix = f"check {format_setting('void')}, {format_setting('gt_map')} and {format_setting('field')}"
    places = (Place(probe.truth_file) for probe in void)
    found += finding("all-void", what, fix, places, about="ground truth")
    if counted and counted_by:
        found += [*_one_sided(counted, counted_by), *_outside(counted, counted_by)]
    held = [probe for probe in counted if probe.counts.pixels]
    if all(np.trace(probe.counts.matrix) == probe.counts.pixels for probe in held):
        what = "every prediction inspected is identical to the ground truth: every metric will be perfect"
        places = (Place(probe.prediction) for probe in held)
        found += finding("identical", what, "check that these are predictions", places)
    return found


def _one_sided(counted: Sequence[CountsProbe], counted_by: Confusing) -> list[Finding]:
    """Find a rule under which nothing inspected is positive, or everything: a run is refused at its end."""
    try:
        facts = {probe.image: probe.facts for probe in counted if probe.facts}
        counted_by.require_both_sides(facts, "what was inspected")
    except DataError as error:
        places = (Place(probe.truth_file, listed(probe.facts)) for probe in counted)
        return finding("no-positives", error.what, error.hint, places, about="ground truth")
    return []


def _outside(counted: Sequence[CountsProbe], counted_by: Confusing) -> list[Finding]:
    """Find predicted labels that are not classes, above all because they count from 1."""
    outside = [probe for probe in counted if probe.outside]
    if not outside:
        return []
    labels = listed(sorted({label for probe in outside for label in probe.outside}))
    what = f"{inspected(outside, len(counted), 'have')} labels that are not classes ({labels}), "
    if remap := counted_by.missing_pred_map({probe.image: probe.counts for probe in counted}):
        what += "and label 0 is never predicted: labels seem to count from 1"
        fix = format_setting("pred_map", remap)
    else:
        what += "and such pixels count as wrong"
        fix = f"add labels to {format_setting('classes')}, or remap them: {format_setting('pred_map')}"
    places = (Place(probe.prediction, listed(probe.outside)) for probe in outside)
    return finding("outside-classes", what, fix, places)


REPLACED = ("labels", "void", "grey-ground-truth", "mixed-ground-truth")
"""Findings on the ground truth that suggest which of its labels to count: with label maps predicted, none helps."""


def predicted_label_findings(probes: Sequence[Probe], rule: str, *, counted: bool) -> list[Finding]:
    """Find that predictions are label maps; `rule` says what is positive, `counted` whether a run would count them."""
    with_labels = [probe for probe in probes if probe.may_hold_labels]
    found = [probe.labels for probe in with_labels]
    if not are_label_maps(found):
        return []
    labels = sorted({int(label) for one in found if one for label in one.truth if label >= 0 and label.is_integer()})
    what = f"{inspected(found, len(found), 'are')} label maps, as the ground truth is "
    if any(one.coloured for one in found if one):
        what += "(in colour), and the grey level of a colour is not a score"
        command = setting("segbench labels GT PRED --palette FILE", "Labels(palette=FILE)")
        of_ids = setting("segbench objects GT PRED --kind panoptic", "Objects(kind='panoptic')")
        fix = (
            f"evaluate colour-coded label maps with {command}, which has r,g,b,label,name per line, or, where colours "
            f"are ids of segments, with {of_ids}; or save the scores before argmax, one soft map per class"
        )
    else:
        what += f"({len(labels)} labels), and the number of a label is not a score"
        fix = instead_of_label_maps(written_classes(labels, list(map(str, labels))), rule or str(labels[-1]))
    if counted:
        fix += f"; {setting('--no-check', 'evaluate')} counts the numbers of the labels as scores"
    places = [Place(probe.prediction, one.values) for probe, one in zip(with_labels, found, strict=True) if one]
    images = [probe.image for probe in with_labels]
    return finding("label-map", what, fix, places, images=images)


def region_findings(probes: Sequence[LabelProbe], of_soft_maps: str) -> list[Finding]:
    """Find predicted label maps that look like soft maps, meant for another protocol, or counted as it says."""
    soft = [probe for probe in probes if probe.soft]
    what = f"{inspected(soft, len(probes), 'look')} like soft maps: "
    what += "they hold more than two values" if of_soft_maps else "every grey level is read as a region"
    protocols = setting("segbench pixels or segbench boundaries", "Pixels() or Boundaries()")
    fix = of_soft_maps or f"give label maps, ucm2 or segs; soft maps are for {protocols}"
    return found_in(soft, "soft-map", what, fix, lambda probe: f"{probe.labels} labels")
