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
    noted = Palettes.of(seen.protocol, seen.protocol.signature_fields())
    for summary in seen.summaries:
        known = summary.failure.inputs if isinstance(summary.failure, UncountedError) else summary.inputs
        noted.add(known.notes, known.files)
    disagreement = noted.disagreement()
    if not disagreement:
        return []
    places = map(Place, disagreement.files)
    message = Message("palettes", "{reason}", reason=disagreement.what)
    return finding(message, noted.hint(disagreement), places, side=disagreement.about, whole=disagreement.surely)


@rule("colour", needs=["readable"], unless=[labels_as_scores])
def turned_to_grey(seen: Seen) -> list[Finding]:
    """Find files that were turned to grey: masks of two colours, and others, which may be scores as colours."""
    pictures = {place.file for found in photographs(seen) for place in found.places}
    coloured = [file for summary in seen.readable for file in summary.coloured]
    drawn = {truth.file: truth for truth in seen.truths}
    masks = [drawn[file] for file in coloured if file in drawn and len(drawn[file].values) == 2]
    two = {truth.file for truth in masks}
    two |= {score.file for score in seen.scores if len(score.values) == 2}
    two |= {mask.file for mask in seen.masks}  # an image of more values is not counted
    others = [file for file in coloured if file not in pictures | two]
    predicted = [file for file in coloured if file in two and file not in drawn]
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
        count=len(predicted),
    )
    findings += finding(message, "save masks of 0 and 255 in one channel", map(Place, predicted))
    return findings + _coloured_truths(masks)


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
    bound = round(sum(masks[0].values) / 2, 4)
    fix = Message(
        "fix",
        "save masks of 0 and 255 in one channel; or, if the darker colour marks what is to be found, {positive}",
        positive=Setting("positive", f"<{written(bound)}"),
    )
    return finding(message, fix, (Place(truth.file) for truth in masks), side="ground truth")
