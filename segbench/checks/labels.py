"""Label maps: predicted where scores are expected, and scores where label maps are expected."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.checks.findings import Finding, Place, look, stops
from segbench.checks.probes import LabelProbe, Probe
from segbench.core.interface import setting
from segbench.core.numbers import many, verb
from segbench.protocols.class_names import written_classes
from segbench.protocols.predicted_labels import are_label_maps, instead_of_label_maps

REPLACED = ("labels", "void", "grey-ground-truth", "mixed-ground-truth")
"""Findings on the ground truth that suggest which of its labels to count: with label maps predicted, none helps."""


def predicted_label_findings(probes: Sequence[Probe], rule: str, *, counted: bool) -> list[Finding]:
    """Find that predictions are label maps, which is judged over all images (`segbench.protocols.predicted_labels`).

    `rule` says what is positive, if anything does, and `counted` whether a run would count them nevertheless.
    """
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
        fix = (
            f"evaluate colour-coded label maps with {command}, which has r,g,b,label,name per line; or save the scores "
            "before argmax, one soft map per class"
        )
    else:
        what += f"({len(labels)} labels), and the number of a label is not a score"
        fix = instead_of_label_maps(written_classes(labels, list(map(str, labels))), rule or str(labels[-1]))
    if counted:
        fix += f"; {setting('--no-check', 'evaluate')} counts the numbers of the labels as scores"
    return [
        stops(
            "label-map",
            "prediction",
            what,
            fix,
            (Place(probe.prediction, one.values) for probe, one in zip(with_labels, found, strict=True) if one),
            images=[probe.image for probe in with_labels],
        )
    ]


def region_findings(probes: Sequence[LabelProbe]) -> list[Finding]:
    """Find predicted regions that look like soft maps, meant for another protocol."""
    soft = [probe for probe in probes if probe.soft]
    if not soft:
        return []
    what = f"{many(len(soft), 'prediction')} of {len(probes)} inspected {verb(len(soft), 'look')} like soft maps: "
    protocols = setting("segbench pixels or segbench boundaries", "Pixels() or Boundaries()")
    fix = f"give label maps, ucm2 or segs; soft maps are for {protocols}"
    places = (Place(probe.file, f"{probe.labels} labels") for probe in soft)
    return [look("soft-map", "prediction", f"{what}every grey level is read as a region", fix, places)]
