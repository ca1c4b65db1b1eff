"""Instances of annotations: ids of classes that differ, and what is odd about masks."""

from __future__ import annotations

from segbench.checks.findings import Finding, Place, finding
from segbench.checks.seen import Seen, rule
from segbench.core.messages import Message, Setting, as_message
from segbench.core.numbers import of_all
from segbench.core.sample import Side
from segbench.inputs.label_rules import first_of

_NAMED = 5
_MOSTLY = 0.9
_FIXES = {
    "empty-instances": "coordinates may be shares of height and width, or of an image of another size",
    "outside-image": "if they are of an image of another size, scale them",
    "lines-left-out": "draw objects as polygons, rectangles, circles or masks",
    "annotation-zero": "number annotations from 1, so that other tools give the same",
    "no-areas": "add them: COCO's areas are those of polygons before they are drawn",
}


@rule("classes-shifted", "classes-numbered", "classes-unknown")
def other_classes(seen: Seen) -> list[Finding]:
    """Find predictions whose ids of classes the ground truth does not list, perhaps as they begin at 0."""
    judged = [(summary, summary.instances) for summary in seen.readable if summary.instances]
    listed = {label for _, instances in judged for label in (*instances.names, *instances.truth)}
    predicted = {label for _, instances in judged for label in instances.predicted}
    unknown = predicted - listed
    with_objects = {label for _, instances in judged for label in instances.truth}
    foreign = unknown or predicted - with_objects
    if not foreign or not listed:
        return []
    predictions = [Place(summary.inputs.files["prediction"]) for summary, seen in judged if seen.predicted & foreign]
    ids = sorted({label for _, instances in judged for label in instances.names})
    if unknown and max(predicted) < len(ids) and any(ids[label] != label + 1 for label in predicted):
        message = Message(
            "classes-numbered",
            "categories {foreign} are not those of the ground truth; they may number its {length} categories from 0",
            foreign=first_of(sorted(map(float, foreign))),
            length=len(ids),
        )
        examples = [f"{ids[label]} for {label}" for label in sorted(predicted)[:_NAMED]]
        return finding(message, Message("fix", "write their ids: {examples}", examples=examples), predictions)
    for step, verb, towards in ((1, "add", "to"), (-1, "subtract", "from")):
        shifted = {label + step for label in predicted}
        if shifted <= listed if unknown else shifted == with_objects:
            message = Message(
                "classes-shifted",
                "categories {foreign} {are} the ground truth, but all are if 1 is {verb}ed",
                foreign=first_of(sorted(map(float, foreign))),
                are="are not those of" if unknown else "are not those of objects in",
                verb=verb,
            )
            fix = Message("fix", "{verb} 1 {towards} each category_id", verb=verb, towards=towards)
            return finding(message, fix, predictions)
    if not unknown:
        return []
    message = Message(
        "classes-unknown",
        "categories {unknown} are not among those of the ground truth, {listed}, and count in no metric",
        unknown=first_of(sorted(map(float, unknown))),
        listed=first_of(sorted(map(float, listed))),
    )
    return finding(message, "write category_id as the ground truth does", predictions)


@rule(*_FIXES)
def odd_instances(seen: Seen) -> list[Finding]:
    """Find instances that count, although something is odd about them."""
    files_with: dict[tuple[Message, Side], list[Place]] = {}
    for summary in seen.readable:
        for note in summary.inputs.notes:
            if note.kind in _FIXES:
                side: Side = "prediction" if note.side == "prediction" else "ground truth"
                seen_in = Place(summary.inputs.files[side], as_message(note.detail))
                files_with.setdefault((note.message, side), []).append(seen_in)
    return [
        odd
        for (message, side), of_side in files_with.items()
        for odd in finding(message, _FIXES[message.kind], of_side, side=side)
    ]


@rule("boxes-as-corners")
def corners_for_boxes(seen: Seen) -> list[Finding]:
    """Find boxes that seem to be given by two corners."""
    judged = [(summary.inputs.files["prediction"], summary.instances) for summary in seen.readable if summary.instances]
    boxes = sum(instances.boxes for _, instances in judged)
    as_corners = sum(instances.boxes_as_corners for _, instances in judged)
    outside = [Place(file) for file, instances in judged if instances.boxes_outside]
    if boxes < _FEWEST or as_corners < _MOSTLY * boxes or not outside:
        return []
    template = "{detections} a bbox like corners x0, y0, x1, y1, expected x, y, width and height"
    message = Message("boxes-as-corners", template, detections=of_all(as_corners, boxes, "detection", "have"))
    return finding(message, "write x1 - x0 and y1 - y0 as width and height", outside)


_FEWEST = 10
"""Images, or detections, that say something of a set."""


@rule("mostly-crowds", "images-without-annotations", "images-without-detections", "one-score")
def one_sided_instances(seen: Seen) -> list[Finding]:
    """Find sets in which most objects are crowds, most images hold nothing, or all scores are the same."""
    images = [(summary.inputs.files, summary.instances) for summary in seen.readable if summary.instances]
    if not images:
        return []
    findings: list[Finding] = []
    objects = sum(instances.objects for _, instances in images)
    crowds = sum(instances.crowds for _, instances in images)
    if 2 * crowds > objects:
        message = Message(
            "mostly-crowds",
            "{crowds} of {objects:many annotation} are crowds, in which detections are neither right nor wrong",
            crowds=crowds,
            objects=objects,
        )
        with_crowds = [Place(files["ground truth"]) for files, instances in images if instances.crowds]
        findings += finding(message, "set iscrowd to 0 for single objects", with_crowds, side="ground truth")
    empty = [Place(files["ground truth"]) for files, instances in images if not instances.objects]
    if len(images) >= _FEWEST and 2 * len(empty) > len(images):
        message = Message(
            "images-without-annotations",
            "{images} of {total:many image} inspected {images:verb have} no annotation: all detections there are false",
            images=len(empty),
            total=len(images),
        )
        fix = Message("fix", "if nobody annotated them, count the others: {images}", images=Setting("images", "LIST"))
        findings += finding(message, fix, empty, side="ground truth")
    unseen = [Place(files["prediction"]) for files, seen_in in images if seen_in.objects and not seen_in.detections]
    if len(images) >= _FEWEST and 2 * len(unseen) > len(images):
        message = Message(
            "images-without-detections",
            "{images} of {total:many image} inspected {images:verb have} objects and no detection",
            images=len(unseen),
            total=len(images),
        )
        findings += finding(message, "give the detections of all images of this ground truth", unseen)
    scores = frozenset[float]().union(*(instances.scores for _, instances in images))
    if len(scores) == 1 and sum(instances.detections for _, instances in images) >= _FEWEST:
        template = "all detections have the score {score:g}: curves have one point, and AP says little"
        message = Message("one-score", template, score=next(iter(scores)))
        detected = [Place(files["prediction"]) for files, instances in images if instances.detections]
        findings += finding(message, "write the confidence of each detection", detected)
    return findings
