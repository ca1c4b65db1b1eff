"""Colours: palettes that do not agree, and files that were turned to grey."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.checks.findings import Finding, Place, finding
from segbench.checks.map_kinds import labels_as_scores
from segbench.checks.seen import Seen, rule
from segbench.checks.truths import photographs
from segbench.core.messages import Message, Setting
from segbench.core.numbers import written
from segbench.inputs.summaries import TruthSummary, UncountedError
from segbench.loaders.palettes import Palettes


@rule("palettes")
def palettes(seen: Seen) -> list[Finding]:
    """Find palettes that give an index another colour in another file, so that indices may not be labels."""
    collected = Palettes.of(seen.protocol, seen.protocol.signature_fields())
    for summary in seen.summaries:
        inputs = summary.failure.inputs if isinstance(summary.failure, UncountedError) else summary.inputs
        collected.add(inputs.notes, inputs.files)
    disagreement = collected.disagreement()
    if not disagreement:
        return []
    places = map(Place, disagreement.files)
    message = Message("palettes", "{reason}", reason=disagreement.problem)
    return finding(message, collected.hint(disagreement), places, side=disagreement.about, whole=disagreement.surely)


@rule("colour", needs=["readable"], unless=[labels_as_scores])
def turned_to_grey(seen: Seen) -> list[Finding]:
    """Find files that were turned to grey: masks of two colours, and others, which may be scores as colours."""
    pictures = {place.file for finding in photographs(seen) for place in finding.places}
    coloured = [file for summary in seen.readable for file in summary.coloured]
    truths = {truth.file: truth for truth in seen.truths}
    true_masks = [truths[file] for file in coloured if file in truths and len(truths[file].values) == 2]
    masks = {truth.file for truth in true_masks}
    masks |= {score.file for score in seen.scores if len(score.values) == 2}
    masks |= {mask.file for mask in seen.masks}  # an image of more values is not counted
    others = [file for file in coloured if file not in pictures | masks]
    predicted_masks = [file for file in coloured if file in masks and file not in truths]
    message = Message(
        "colour",
        "{count:many file} of those inspected {count:verb are} in colour, and turned to grey",
        count=len(others),
    )
    fix = "save one channel; a colour map applied to scores cannot be undone"
    findings = finding(message, fix, map(Place, others))
    message = Message(
        "colour",
        "{count:many predicted mask} of those inspected {count:verb are} of two colours, and turned to grey, in which "
        "the brighter is higher",
        count=len(predicted_masks),
    )
    findings += finding(message, "save masks of 0 and 255 in one channel", map(Place, predicted_masks))
    return findings + _coloured_truths(true_masks)


def _coloured_truths(masks: Sequence[TruthSummary]) -> list[Finding]:
    """Find ground truths of two colours, which say by their brightness alone what is positive."""
    if not masks:
        return []
    message = Message(
        "colour",
        "{count:many ground truth} of those inspected {count:verb are} of two colours, and turned to grey, in which "
        "the brighter is higher",
        count=len(masks),
    )
    halfway = round(sum(masks[0].values) / 2, 4)
    fix = Message(
        "fix",
        "save masks of 0 and 255 in one channel; or, if the darker colour marks what is to be found, {positive}",
        positive=Setting("positive", f"<{written(halfway)}"),
    )
    return finding(message, fix, (Place(truth.file) for truth in masks), side="ground truth")
