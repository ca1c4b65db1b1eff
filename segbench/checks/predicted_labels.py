"""Predicted label maps where soft maps are expected; `segbench.protocols.predicted_labels` recognises them."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.checks.asked import Asked
from segbench.checks.findings import Finding, Place, many
from segbench.checks.seen import Probe
from segbench.protocols.pixels.class_names import written_classes
from segbench.protocols.predicted_labels import are_label_maps, instead_of_label_maps

REPLACED = ("labels", "void", "grey-ground-truth", "mixed-ground-truth")
"""Findings on the ground truth that suggest which of its labels to count: with label maps predicted, none helps."""


def predicted_label_findings(probes: Sequence[Probe], asked: Asked) -> list[Finding]:
    """Find that predictions are label maps, where that of all images is to be judged."""
    with_labels = [probe for probe in probes if probe.may_hold_labels]
    seen = [probe.labels for probe in with_labels]
    if not are_label_maps(seen):
        return []
    labels = sorted({int(label) for one in seen if one for label in one.truth if label >= 0 and label.is_integer()})
    rule = "" if asked.rule is None else str(asked.rule)
    mend = instead_of_label_maps(written_classes(labels, list(map(str, labels))), rule or str(labels[-1]))
    if rule or asked.classes:
        mend += "; --no-check counts the numbers of the labels as scores"
    return [
        Finding(
            key="label-map",
            severity="stops",
            about="prediction",
            message=f"{len(seen)} of {many(len(seen), 'prediction')} inspected are label maps, as the ground truth is "
            f"({len(labels)} labels), and the number of a label is not a score",
            mend=mend,
            places=tuple(
                Place(probe.prediction, one.values) for probe, one in zip(with_labels, seen, strict=True) if one
            ),
            images=tuple(probe.image for probe in with_labels),
        )
    ]
