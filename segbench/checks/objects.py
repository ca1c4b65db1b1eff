"""Numbers of objects: masks instead of them, and backgrounds that have one."""

from __future__ import annotations

from segbench.checks.findings import Finding, Place, finding
from segbench.checks.label_damage import PLURALS
from segbench.checks.seen import Seen, rule
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.core.sample import SIDES, Side
from segbench.inputs.label_rules import VOIDS, listed


@rule("masks", needs=["numbered"])
def masks_for_objects(seen: Seen) -> list[Finding]:
    """Find masks where objects have numbers: a run of such images alone is refused at its end."""
    summaries = seen.readable
    try:
        if seen.numbered:
            seen.numbered.require_numbers({summary.image: summary.facts for summary in summaries})
    except DataError as error:
        side: Side = "ground truth" if error.path == "ground truth" else "prediction"
        places = (Place(summary.inputs.files[side]) for summary in summaries)
        message = Message("masks", "{path} {reason}", path=error.path, reason=error.what)
        return finding(message, error.hint, places, side=side, whole=len(summaries) == seen.total)
    return []


_NEARLY_EVERY = 0.9
"""Share of the images in which a number lies on the background that makes it the background."""


@rule("numbered-background", needs=["numbered"])
def numbered_backgrounds(seen: Seen) -> list[Finding]:
    """Find maps of objects whose background has a number, and so counts as an object."""
    findings: list[Finding] = []
    for side in SIDES:
        judged = [summary for summary in seen.readable if side in summary.on_background]
        with_number = [(summary, summary.on_background[side]) for summary in judged]
        numbered = [(summary, background) for summary, background in with_number if background]
        if not numbered or len(numbered) < _NEARLY_EVERY * len(judged):
            continue
        numbers = sorted({background.number for _, background in numbered})
        highest = all(background.highest for _, background in numbered)
        several = "the highest number of a map" if highest else "one number of a map"
        other_side: Side = "prediction" if side == "ground truth" else "ground truth"
        message = Message(
            "numbered-background",
            "{number} of the {maps} lies on most of the background of the {other_maps}, in {count} of "
            "{total:many image} inspected, and counts as an object",
            number=f"number {numbers[0]}" if len(numbers) == 1 else f"{several} ({listed(numbers)})",
            numbers=numbers,
            maps=PLURALS[side],
            other_maps=PLURALS[other_side],
            count=len(numbered),
            total=len(judged),
        )
        places = (
            Place(
                summary.inputs.files[side],
                Message("detail", "{number} on {share:.0%}", number=background.number, share=background.share),
            )
            for summary, background in numbered
        )
        fix = Message(
            "fix",
            "if it is the background, save it as 0: labels[labels == {number}] = 0",
            number=numbers[0] if len(numbers) == 1 else "N",
        )
        if side == "ground truth" and not {*numbers}.isdisjoint(VOIDS):
            void = Setting("void", tuple(numbers))
            fix = Message("fix", "{save}; if nobody labelled it, {void}", save=fix, void=void)
        findings += finding(message, fix, places, side=side)
    return findings
