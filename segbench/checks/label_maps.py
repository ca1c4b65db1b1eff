"""Label maps: counted as a run would, predicted where scores are expected, and scores where they are expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.checks.findings import Finding, Place, as_error, as_warning, failing
from segbench.checks.probes import LabelProbe, Probe, UncountedError
from segbench.checks.truths import listed
from segbench.core.capabilities import Confusing
from segbench.core.errors import DataError
from segbench.core.interface import format_setting, setting
from segbench.core.numbers import many, verb
from segbench.core.protocol import Facts, Protocol
from segbench.loaders.decoded import shown
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import decode_sample, read
from segbench.loaders.repairs import Repairs
from segbench.protocols.class_names import written_classes
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
        return Probe(image=files.name, failure=UncountedError(error.path, error.what, error.hint))
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
    if uncounted:
        what = f"{many(len(uncounted), 'image')} of {inspected} inspected cannot be counted with these settings"
        found.append(failing("not-countable", "ground truth", what, uncounted))
    void = [probe for probe in counted if not probe.counts.pixels]
    if void:
        what = f"{many(len(void), 'ground truth')} of {len(counted)} inspected {verb(len(void), 'are')} void everywhere"
        fix = f"check {format_setting('void')}, {format_setting('gt_map')} and {format_setting('field')}"
        found.append(as_warning("all-void", "ground truth", what, fix, (Place(probe.truth_file) for probe in void)))
    if counted and counted_by:
        found += [*_one_sided(counted, counted_by), *_outside(counted, counted_by)]
    held = [probe for probe in counted if probe.counts.pixels]
    if held and all(np.trace(probe.counts.matrix) == probe.counts.pixels for probe in held):
        what = "every prediction inspected is identical to the ground truth: every metric will be perfect"
        places = (Place(probe.prediction) for probe in held)
        found.append(as_warning("identical", "prediction", what, "check that these are predictions", places))
    return found


def _one_sided(counted: Sequence[CountsProbe], counted_by: Confusing) -> Iterator[Finding]:
    """Find a rule under which nothing inspected is positive, or everything: a run is refused at its end."""
    try:
        facts = {probe.image: probe.facts for probe in counted if probe.facts}
        counted_by.require_both_sides(facts, "what was inspected")
    except DataError as error:
        places = (Place(probe.truth_file, listed(probe.facts)) for probe in counted)
        yield as_warning("no-positives", "ground truth", error.what, error.hint, places)


def _outside(counted: Sequence[CountsProbe], counted_by: Confusing) -> Iterator[Finding]:
    """Find predicted labels that are not classes, above all because they count from 1."""
    outside = [probe for probe in counted if probe.outside]
    if not outside:
        return
    labels = listed(sorted({label for probe in outside for label in probe.outside}))
    what = f"{many(len(outside), 'prediction')} of {len(counted)} inspected {verb(len(outside), 'have')} labels that "
    what += f"are not classes ({labels}), "
    fix = f"add labels to {format_setting('classes')}, or remap them: {format_setting('pred_map')}"
    remap = counted_by.missing_pred_map({probe.image: probe.counts for probe in counted})
    if remap:
        what += "and label 0 is never predicted: labels seem to count from 1"
        fix = format_setting("pred_map", remap)
    else:
        what += "and such pixels count as wrong"
    places = (Place(probe.prediction, listed(probe.outside)) for probe in outside)
    yield as_warning("outside-classes", "prediction", what, fix, places)


REPLACED = ("labels", "void", "grey-ground-truth", "mixed-ground-truth")
"""Findings on the ground truth that suggest which of its labels to count: with label maps predicted, none helps."""


def predicted_label_findings(probes: Sequence[Probe], rule: str, *, counted: bool) -> list[Finding]:
    """Find that predictions are label maps; `rule` says what is positive, `counted` whether a run would count them."""
    with_labels = [probe for probe in probes if probe.may_hold_labels]
    found = [probe.labels for probe in with_labels]
    if not are_label_maps(found):
        return []
    labels = sorted({int(label) for one in found if one for label in one.truth if label >= 0 and label.is_integer()})
    what = f"{len(found)} of {many(len(found), 'prediction')} inspected {verb(len(found), 'are')} label maps, as the "
    what += "ground truth is "
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
    return [
        as_error(
            "label-map",
            "prediction",
            what,
            fix,
            (Place(probe.prediction, one.values) for probe, one in zip(with_labels, found, strict=True) if one),
            images=[probe.image for probe in with_labels],
        )
    ]


def region_findings(probes: Sequence[LabelProbe], of_soft_maps: str) -> list[Finding]:
    """Find predicted label maps that look like soft maps, meant for another protocol, or counted as it says."""
    soft = [probe for probe in probes if probe.soft]
    if not soft:
        return []
    what = f"{many(len(soft), 'prediction')} of {len(probes)} inspected {verb(len(soft), 'look')} like soft maps: "
    protocols = setting("segbench pixels or segbench boundaries", "Pixels() or Boundaries()")
    fix = f"give label maps, ucm2 or segs; soft maps are for {protocols}"
    places = [Place(probe.file, f"{probe.labels} labels") for probe in soft]
    if of_soft_maps:
        return [as_warning("soft-map", "prediction", f"{what}they hold more than two values", of_soft_maps, places)]
    return [as_warning("soft-map", "prediction", f"{what}every grey level is read as a region", fix, places)]
