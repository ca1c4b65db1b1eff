"""Names that do not pair, and what was probably meant by them; folders that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from segbench.checks.copies import is_same_file
from segbench.checks.findings import Finding, Place, finding
from segbench.checks.seen import Seen, rule
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting, joined, together, write
from segbench.core.numbers import many
from segbench.loaders.hints import nearest
from segbench.loaders.pairing import (
    Pairing,
    condition_of_annotators,
    methods_in_sub_folders,
    pairing_hint,
    pattern_of_annotators,
    several_methods,
    unmatched,
)
from segbench.loaders.source import shown

_stopping = partial(finding, side="names", whole=True)


def problem_findings(pairing: Pairing) -> list[Finding]:
    """Find what makes all other findings void: a folder that cannot be used, or ground truth with the predictions."""
    error = pairing.problem
    if error is None:
        return _predictions_as_annotator(pairing)
    reason, lines = _reason(error)
    values = {"path": error.path, "reason": reason, "error": error.kind}
    if pairing.inputs.pairs:
        message = Message("list", "{path}: {reason}", **values)
    else:
        message = Message("folder", "{path}: {reason}", **values)
    return _stopping(message, error.hint, [Place(write(line)) for line in lines])


def _reason(error: DataError) -> tuple[Message, Sequence[Message | str]]:
    """Return what is wrong with a folder or a list, and apart from it the files or lines where it is."""
    counts, problems = dict(error.values), error.values.get("problems", ())
    counts.pop("problems", None)
    messages = (
        Message("wrong-lines", "holds faulty lines"),  # each method has its own: their number would make many findings
        Message("repeated-names", "{count} files share their name with another", **counts),
        Message("unusable-archives", "{count} of {total} archives cannot be used", **counts),
        Message("unusable-members", "{count} of its members cannot be read", **counts),
        Message("wrong-json", "is not as it should be", **counts),
        Message("wrong-jsons", "have {count} problems", **counts),
        Message("unknown-categories", "has categories that the ground truth does not list", **counts),
    )
    listed = next((message for message in messages if message.kind == error.kind), None)
    return (error.what, ()) if listed is None else (listed, problems)


def _predictions_as_annotator(pairing: Pairing) -> list[Finding]:
    """Find predictions that are among the annotators of their image."""
    inputs = pairing.inputs
    if inputs.alone:
        return []
    several = [files for files in pairing.files if len(files.ground_truths) > 1]
    doubled = [
        files for files in several if any(is_same_file(files.prediction, truth) for truth in files.ground_truths)
    ]
    if not doubled:
        return []
    truth, predicted = shown(str(inputs.ground_truth)), shown(str(inputs.prediction))
    contains = Message("contains", "the ground truth {truth} contains {predicted}", truth=truth, predicted=predicted)
    message = Message(
        "is-ground-truth",
        "predictions are read as an annotator, too, in {count:many image}: {where}",
        count=len(doubled),
        where=str(inputs.pairs) if inputs.pairs else contains,
    )
    fix = Message(
        "fix",
        "give a ground truth without predictions, or a pattern that fits none: {pattern}",
        pattern=Setting("gt_pattern", "gt/#/*"),
    )
    return _stopping(message, fix, (Place(shown(files.prediction)) for files in doubled))


@rule("unknown-images", "several-methods", "annotator-names", "unpaired", "no-mask", of_all=True)
def names(seen: Seen) -> list[Finding]:
    """Find names without partner, and names of images that do not exist."""
    pairing = seen.pairing
    inputs = pairing.inputs
    findings: list[Finding] = []
    if pairing.unknown:
        message = Message("unknown-images", "{unmatched}", unmatched=unmatched(pairing.unknown))
        fix = pairing_hint(Pairing(inputs, unknown=pairing.unknown))
        findings += _stopping(message, fix, map(Place, pairing.unknown))
    methods = methods_in_sub_folders(pairing)
    if methods:
        error = several_methods(inputs, methods)
        message = Message("several-methods", "{methods}", methods=error.what)
        return [*findings, *_stopping(message, error.hint, map(Place, methods))]
    pattern = pattern_of_annotators(pairing)
    if pattern:
        findings += _annotators(seen, pattern)
    elif pairing.missing or pairing.extra:
        findings += _unpaired(pairing)
    if pairing.without_field:
        masks = Pairing(inputs, without_field=pairing.without_field, other_fields=pairing.other_fields)
        message = Message(
            "no-mask",
            "{count:many image} without a mask in {folder}",
            count=len(pairing.without_field),
            folder=shown(str(inputs.field)),
        )
        findings += _stopping(message, pairing_hint(masks), map(Place, pairing.without_field))
    return findings


def _unpaired(pairing: Pairing) -> list[Finding]:
    """List images without a prediction, with the nearest name, and predictions without a ground truth."""
    total = len(pairing.files) + len(pairing.missing)
    without = Message(
        "without-prediction",
        "{without_prediction} of {total} {without_prediction:verb have} no prediction",
        without_prediction=len(pairing.missing),
        total=many(total, pairing.counted),
    )
    extra = Message(
        "without-ground-truth",
        "{without_ground_truth:many prediction} without a ground truth",
        without_ground_truth=len(pairing.extra),
    )
    counts = joined([part for part, names in ((without, pairing.missing), (extra, pairing.extra)) if names], ", ")
    nearest_names = nearest(pairing.missing, pairing.extra)
    places = []
    for name in pairing.missing:
        detail = Message("detail", "no prediction", lacks="prediction")
        if name in nearest_names:
            near = nearest_names[name]
            detail = Message("detail", "no prediction; nearest: {nearest}", lacks="prediction", nearest=near)
        places.append(Place(name, detail))
    places += [Place(name, Message("detail", "no ground truth", lacks="ground truth")) for name in pairing.extra]
    return _stopping(Message("unpaired", "{counts}", counts=counts), pairing_hint(pairing), places)


def _annotators(seen: Seen, pattern: str) -> list[Finding]:
    """Find that a pattern makes annotators of ground truths without a prediction."""
    pairing = seen.pairing
    message = Message(
        "annotator-names",
        "{count} ground truths look like several annotators of the predicted images",
        count=len(pairing.missing),
    )
    settings = [Setting("gt_pattern", pattern)]
    if seen.masks_drawn and seen.masks_drawn.several_annotators == "ruled":
        settings.append(Setting("annotators", "majority"))
    fix = joined((condition_of_annotators(pairing, pattern), together(*settings)), ": ")
    return _stopping(message, fix, map(Place, pairing.missing))
