"""Classes: label maps, counted as a run would or predicted where scores are expected, and one soft map per class."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from segbench.checks.findings import Finding, Place, failing, finding, holding
from segbench.checks.label_damage import PLURALS, without_advice_on_damage
from segbench.checks.predicted import labels_as_scores
from segbench.checks.scores import SCORE_RULES
from segbench.checks.seen import Seen, rule
from segbench.core.errors import DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting, as_message, joined
from segbench.core.names import first_names
from segbench.core.sample import SIDES, Side
from segbench.inputs.class_names import (
    format_background,
    void_without,
    with_background,
    written_classes,
)
from segbench.inputs.label_inputs import LabelInputs
from segbench.inputs.label_rules import (
    LABELS_BELOW,
    OFTEN_VOID,
    ORDER,
    VOIDS,
    ManyValuesError,
    is_apart,
    listed,
)
from segbench.inputs.label_summaries import ClassesSummary, LabelsSummary
from segbench.inputs.label_values import Remapping
from segbench.inputs.numberings import StoredLabels
from segbench.inputs.renumbering import RENUMBERED, Renumbering, find_renumbering
from segbench.inputs.scored_classes import ScoredClasses
from segbench.inputs.stacks import ClassMapsError, ClassStackError
from segbench.inputs.summaries import ScoreSummary, UncountedError
from segbench.loaders.reading import how_to_save_labels

RARE = 0.001
"""Share of an image below which a class says little: a thing overlooked looks like inverted scores."""
_OVER_ALL = ("not-finite", "levels-unscaled", "few-levels", "range")
_OF_A_CLASS = ("inverted", "constant", "saturated")
_FIXES = {
    "levels-unscaled": Message(
        "fix",
        "save levels that use the full range of their type, or floats; soft maps of several classes cannot be rescaled",
    ),
    "range": Message(
        "fix", "save the maps of all classes on one scale; soft maps of several classes cannot be rescaled"
    ),
}
_TURN_SOME = Message("fix", "check which map belongs to which class, or invert only those maps")
_NAMED = 8


@rule("class-maps", "class-stacks", needs=["failures"])
def one_map_per_class(seen: Seen) -> list[Finding]:
    """List predictions that are not one soft map per class, and those that are where one map is read."""
    maps = {image: error for image, error in seen.failures.items() if isinstance(error, ClassMapsError)}
    several = {image: error for image, error in seen.failures.items() if isinstance(error, ClassStackError)}
    values = sorted({value for error in several.values() for value in error.stored})
    stacks = {image: error.of_set(values) for image, error in several.items()}
    no_maps = Message(
        "class-maps",
        "{count:many prediction} of {total} inspected {count:verb are} not one soft map per class",
        count=len(maps),
        total=seen.looked_at,
    )
    one_each = Message(
        "class-stacks",
        "{count:many prediction} of {total} inspected {count:verb have} one map per class",
        count=len(stacks),
        total=seen.looked_at,
    )
    return [*failing(no_maps, maps), *failing(one_each, stacks)]


@rule(*_OVER_ALL, *_OF_A_CLASS, needs=["class_summaries"], unless=[labels_as_scores])
def scores_of_classes(seen: Seen) -> list[Finding]:
    """Judge the maps of all classes, one finding for all classes that show it."""
    over_all = [
        replace(found, fix=_FIXES.get(found.kind, found.fix))
        for rule_of_scores in SCORE_RULES
        for found in rule_of_scores(
            seen.of_scores([score for summary in seen.class_summaries for score in summary.classes])
        )
        if found.kind in _OVER_ALL
    ]
    maps = zip(*(summary.classes for summary in seen.class_summaries), strict=True)
    titles = seen.classes.titles if seen.classes else ()
    drawn = {title: [score for score in of if score.share >= RARE] for title, of in zip(titles, maps, strict=True)}
    coarse = {found.kind for found in over_all} & {"levels-unscaled", "few-levels"}
    of_classes = [found for found in _of_classes(seen, drawn) if not (coarse and found.kind == "saturated")]
    return [*over_all, *of_classes]


def _of_classes(seen: Seen, drawn: Mapping[str, Sequence[ScoreSummary]]) -> Iterator[Finding]:
    """Judge the maps of each class; findings of the same kind are one, which names the classes."""
    judged = {title: _judged(seen, scores) for title, scores in drawn.items()}
    for kind in _OF_A_CLASS:
        titles = [title for title, found in judged.items() if any(_whole(one, drawn[title], kind) for one in found)]
        together = _judged(seen, [score for title in titles for score in drawn[title]])
        if found := next((found for found in together if found.kind == kind), None):
            of_all = f"all {len(titles)} classes" if len(titles) == len(drawn) > 1 else first_names(titles, _NAMED)
            turn_some = kind == "inverted" and len(titles) < sum(map(bool, drawn.values()))
            yield replace(found, message=f"{of_all}: " + found.message, fix=_TURN_SOME if turn_some else found.fix)


def _judged(seen: Seen, scores: Sequence[ScoreSummary]) -> list[Finding]:
    """Judge some of the maps by themselves."""
    alone = seen.of_scores(scores)
    return [found for rule_of_scores in SCORE_RULES for found in rule_of_scores(alone)]


def _whole(found: Finding, of: Sequence[ScoreSummary], kind: str) -> bool:
    """Return whether a class shows a finding: in all images, if maps are constant, as a rare class may be missed."""
    return found.kind == kind and (kind != "constant" or len(found.places) == len(of))


@rule("void", "no-class", needs=["class_summaries"], unless=[labels_as_scores])
def foreign_labels(seen: Seen) -> list[Finding]:
    """Find labels that are neither a class nor void, those apart that often mean void."""
    return list(_foreign(seen.class_summaries, seen.classes)) if seen.classes else []


def _foreign(summaries: Sequence[ClassesSummary], classes: ScoredClasses) -> Iterator[Finding]:
    """Give one finding for labels that often mean void, and one for others."""
    void, highest = tuple(map(float, classes.void)), max(classes.labels)
    foreign = {label for summary in summaries for label in summary.foreign}
    often_void = {label for label in foreign if label in OFTEN_VOID or is_apart(label, highest)}
    for usual in (True, False):
        labels = {
            summary.truth_file: [label for label in summary.foreign if (label in often_void) == usual]
            for summary in summaries
        }
        places = [Place(file, holding(some)) for file, some in labels.items() if some]
        together = sorted({label for some in labels.values() for label in some})
        count_as_negative = Message(
            "no-class",
            "{listed} {labels_count:verb are} neither a class nor void, and counts as negative in every class, in "
            "{count:many ground truth} of {total} inspected",
            listed=listed(together),
            labels=together,
            labels_count=len(together),
            count=len(places),
            total=len(summaries),
        )
        message = Message("void", "{labels}", labels=count_as_negative) if usual else count_as_negative
        fix = Message("fix", "{void}", void=Setting("void", tuple(together[:_NAMED])))
        if not usual:
            fix = Message(
                "alternatives",
                "nothing, if that is background; {void} if nobody labelled it; name classes in {classes}",
                void=Setting("void", tuple(sorted({*together[:_NAMED], *void}))),
                classes=Either("labels=...", "--classes"),
            )
        yield from finding(message, fix, places, side="ground truth")


@rule("void-background", needs=["class_summaries"], unless=[labels_as_scores])
def void_zero_of_scores(seen: Seen) -> list[Finding]:
    """Find label 0 left out as void in most pixels, which is background rather than what nobody labelled."""
    summaries, void = seen.class_summaries, tuple(map(float, seen.classes.void)) if seen.classes else ()
    zeros, pixels = sum(summary.zeros for summary in summaries), sum(summary.pixels for summary in summaries)
    message = Message(
        "void-background",
        "label 0 of the ground truth is left out as void, in {share:.0%} of the pixels",
        share=zeros / max(pixels, 1),
    )
    fix = Message(
        "fix",
        "if 0 is background, high scores there are wrong, and count with {void}",
        void=void_without(void, (0,)),
    )
    places = [Place(summary.truth_file) for summary in summaries if summary.zeros and 2 * zeros > pixels]
    return finding(message, fix, places, side="ground truth")


@rule("renumbered", needs=["looked_at"])
def stored_otherwise(seen: Seen) -> list[Finding]:
    """Find that stored labels have other numbers than the maps expect, and the maps that they need."""
    uncounted = _uncounted(seen)
    stored = {summary.prediction: summary.stored for summary in seen.counted if summary.stored}
    stored |= {error.inputs.files["prediction"]: error.stored for error in uncounted.values() if error.stored}
    if not stored or seen.label_inputs is None:
        return []
    renumbered = seen.label_inputs.renumbered(StoredLabels.sum([*stored.values()]))
    if renumbered is None:
        return []
    places = [Place(file, "values " + holding(of_image.predicted.tolist())) for file, of_image in stored.items()]
    message = Message("renumbered", "{numberings}", numberings=renumbered.what)
    return finding(message, renumbered.fix, places, images=uncounted)


def _uncounted(seen: Seen) -> Mapping[str, UncountedError]:
    """Return why images that can be read cannot be counted, by their names."""
    return {image: error for image, error in seen.failures.items() if isinstance(error, UncountedError)}


@rule("not-countable", needs=["failures"], unless=[stored_otherwise])
def uncountable(seen: Seen) -> list[Finding]:
    """List images that can be read, but not counted with these settings."""
    return without_advice_on_damage(uncounted_findings(seen.failures, seen.looked_at), seen)


@rule("all-void", needs=["counted"], unless=[stored_otherwise])
def void_everywhere(seen: Seen) -> list[Finding]:
    """Find label maps of which nothing counts."""
    void = [summary for summary in seen.counted if not summary.pixels]
    message = Message(
        "all-void",
        "{count:many ground truth} of {total} inspected {count:verb are} void everywhere",
        count=len(void),
        total=len(seen.counted),
    )
    fix = Message(
        "alternatives",
        "check {void}, {gt_map} and {field}",
        void=Setting("void"),
        gt_map=Setting("gt_map"),
        field=Setting("field"),
    )
    return finding(message, fix, (Place(summary.truth_file) for summary in void), side="ground truth")


@rule("renumbered", "outside-classes", needs=["counted"], unless=[stored_otherwise])
def predicted_labels(seen: Seen) -> list[Finding]:
    """Find labels that number the classes differently, which of some images only a shift shows, or that are none."""
    return without_advice_on_damage(_predicted_labels(seen.counted, seen.known_label_inputs), seen)


@rule("void-class", needs=["counted"], unless=[stored_otherwise])
def void_class(seen: Seen) -> list[Finding]:
    """Find a class whose label means void in most data sets, beside small labels of classes."""
    return _void_class(seen.counted)


@rule("joined-labels", needs=["counted"], unless=[stored_otherwise])
def joined_labels(seen: Seen) -> list[Finding]:
    """Find labels that a remapping does not name, and that so count as the classes of others."""
    return list(_joined(seen.counted, seen.known_label_inputs))


def _are_renumbered(seen: Seen) -> bool:
    """Return whether labels number the classes differently."""
    return any(found.kind == "renumbered" for found in predicted_labels(seen))


@rule("void-background", needs=["counted"], unless=[stored_otherwise])
def void_zero(seen: Seen) -> list[Finding]:
    """Find label 0 left out as void where it may be the background, in which predictions of a class are wrong."""
    return [] if _are_renumbered(seen) else _void_zero(seen.counted, seen.known_label_inputs)


@rule("never-predicted", needs=["counted"], unless=[stored_otherwise])
def never_predicted(seen: Seen) -> list[Finding]:
    """Find label 0 as a class that most ground truths hold and no prediction does, right as these are elsewhere."""
    if _are_renumbered(seen):
        return []
    background = getattr(seen.protocol, "background", ())
    return without_advice_on_damage(_never_predicted(seen.counted, seen.known_label_inputs, background), seen)


@rule("identical", needs=["looked_at"], unless=[stored_otherwise])
def identical(seen: Seen) -> list[Finding]:
    """Find that predictions are the ground truth, pixel by pixel; images of one class alone do not show it."""
    return _identical(seen.counted, seen.looked_at, seen.total)


_FEWEST_IDENTICAL = 3
"""Images of several classes that are predicted exactly, from which those that were not inspected may be so, too."""


def _identical(counted: Sequence[LabelsSummary], total: int, images: int) -> list[Finding]:
    """Find that predictions are the ground truth, pixel by pixel; images of one class alone do not show it."""
    with_pixels = [summary for summary in counted if summary.pixels]
    if not all(np.trace(summary.matrix) == summary.pixels and summary.left_out.same for summary in with_pixels):
        return []
    several = sum(np.count_nonzero(summary.matrix.any(axis=1)) > 1 for summary in with_pixels)
    message = Message("identical", "every prediction is identical to the ground truth: every metric will be perfect")
    least = 1
    if len(counted) < images:
        message = Message(
            "identical",
            "all {count} predictions inspected are identical to the ground truth",
            count=len(with_pixels),
        )
        least = max(_FEWEST_IDENTICAL, (len(with_pixels) + 1) // 2)
    if several < least or 2 * len(with_pixels) <= total:
        return []
    return finding(message, "check that these are predictions", (Place(summary.prediction) for summary in with_pixels))


def uncounted_findings(failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """List what cannot be counted, with advice that fits all images inspected, ground truth and predictions apart."""
    seen = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    found: list[Finding] = []
    for side, images in grouped((error.side, image) for image, error in seen.items()).items():
        errors: dict[str, DataError] = {image: seen[image].error for image in images}
        several = {image: error for image, error in errors.items() if isinstance(error, ManyValuesError)}
        values = sorted({value for error in several.values() for value in error.stored})
        other_side = sorted({value for error in several.values() for value in error.other_side})
        errors |= {image: error.of_set(values, other_side) for image, error in several.items() if error.stored}
        message = Message(
            "not-countable",
            "{count:many image} of {total} inspected cannot be counted with these settings",
            count=len(errors),
            total=total,
            errors=sorted({error.kind for error in errors.values()}),
        )
        found += failing(message, errors, side=side)
    return found


@rule("no-positives", needs=["two_sided"])
def one_sided_labels(seen: Seen) -> list[Finding]:
    """Find a rule under which nothing inspected is positive, or everything: a run is refused at its end."""
    counted = [summary for summary in seen.readable if summary.facts]
    try:
        if seen.two_sided:
            seen.two_sided.require_both_sides(
                {summary.image: summary.facts for summary in counted}, "what was inspected"
            )
    except DataError as error:
        places = (Place(summary.inputs.files["ground truth"], holding(summary.facts)) for summary in counted)
        message = Message("no-positives", "{reason}", reason=error.what)
        return finding(message, error.hint, places, side="ground truth")
    return []


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
        with_number = [(summary, number) for summary in judged if (number := summary.on_background[side])]
        if not with_number or len(with_number) < _NEARLY_EVERY * len(judged):
            continue
        numbers = sorted({number.number for _, number in with_number})
        highest = all(number.highest for _, number in with_number)
        named = "the highest number of a map" if highest else "one number of a map"
        other = SIDES[side == "ground truth"]
        message = Message(
            "numbered-background",
            "{number} of the {maps} lies on most of the background of the {other_maps}, in {count} of "
            "{total:many image} inspected, and counts as an object",
            number=f"number {numbers[0]}" if len(numbers) == 1 else f"{named} ({listed(numbers)})",
            numbers=numbers,
            maps=PLURALS[side],
            other_maps=PLURALS[other],
            count=len(with_number),
            total=len(judged),
        )
        where = (
            Place(
                summary.inputs.files[side],
                Message("detail", "{number} on {share:.0%}", number=number.number, share=number.share),
            )
            for summary, number in with_number
        )
        fix = Message(
            "fix",
            "if it is the background, save it as 0: labels[labels == {number}] = 0",
            number=numbers[0] if len(numbers) == 1 else "N",
        )
        if side == "ground truth" and not {*numbers}.isdisjoint(VOIDS):
            void = Setting("void", tuple(numbers))
            fix = Message("fix", "{save}; if nobody labelled it, {void}", save=fix, void=void)
        findings += finding(message, fix, where, side=side)
    return findings


def _predicted_labels(counted: Sequence[LabelsSummary], inputs: LabelInputs) -> list[Finding]:
    """Find labels that number the classes differently, which of some images only a shift shows, or that are none."""
    together = _renumbering(counted, images=len(counted))
    # Beside a shift in all images together, one that shows it is no accident.
    images = len(counted) if together else 1
    by_image = [(summary, own) for summary in counted if (own := _renumbering([summary], images=images)) and own.shift]
    by_image = [(summary, own) for summary, own in by_image if not together or own.shift == together.shift]
    found = together or (by_image[0][1] if by_image else None)
    off = [summary for summary, _ in by_image] or counted[: len(counted) * bool(found)]
    numbered: list[Finding] = []
    if found:
        moved = {label: own for label, own in found.classes.items() if label != own}
        message = Message(
            "renumbered",
            "{count:many prediction} of {total} inspected {count:verb seem} to {renumbered}: their labels lie mostly "
            "on other classes ({moved})",
            count=len(off),
            total=len(counted),
            renumbered=RENUMBERED,
            moved=first_names([f"{label} on {own}" for label, own in moved.items()], _NAMED),
            labels=[*moved],
            classes=[*moved.values()],
        )
        fix = _numbered_alike(found, off, inputs, of_all=bool(together))
        numbered = finding(message, fix, [Place(summary.prediction) for summary in off])
    known = Remapping.parse(found.remap).labels if found else ()
    outside = {
        summary.prediction: [label for label in summary.outside if label not in known]
        for summary in counted
        if together or summary not in off
    }
    outside = {file: labels for file, labels in outside.items() if labels}
    return [*numbered, *_outside(outside, counted, inputs)]


def _renumbering(summaries: Sequence[LabelsSummary], *, images: int) -> Renumbering | None:
    """Compare the numbers of the classes over summaries, among so many images; masks are told as inverted instead."""
    if any(summary.mask for summary in summaries):
        return None
    classes = summaries[0].named_classes[0]
    outside = sorted({label for summary in summaries for label in summary.outside})
    none = np.zeros(len(classes), np.int64)
    columns = [*np.sum([summary.matrix[:, :-1] for summary in summaries], axis=0).T]
    columns += [np.sum([summary.outside.get(label, none) for summary in summaries], axis=0) for label in outside] + [
        none
    ]
    return find_renumbering(np.column_stack(columns), [*classes, *outside], classes, images=images)


def _numbered_alike(
    found: Renumbering, summaries: Sequence[LabelsSummary], inputs: LabelInputs, *, of_all: bool
) -> Message:
    """Say how predictions get the numbers of the ground truth, those of all images or of some."""
    labels, given = summaries[0].named_classes[0], str(getattr(inputs, "pred_map", ""))
    if summaries[0].stack:
        return Message("fix", "save the maps of the classes alone, in the order of {given}", given=Setting("classes"))
    if not of_all:
        return Message("fix", "save these files again; {given} would change all files", given=Setting("pred_map"))
    if given:
        stored = StoredLabels.sum([summary.stored for summary in summaries if summary.stored])
        matrix, values = stored.by_class(str(getattr(inputs, "gt_map", "")), labels)
        by_value = find_renumbering(matrix, values, labels, images=len(summaries))
        if by_value is None:
            return Message(
                "fix",
                "correct {pred_map} by the definitions of both lists, for values as they are stored",
                pred_map=Setting("pred_map", None),
            )
        found = by_value
    if found.shift > 0 and min(labels) == 0:
        return Message(
            "fix",
            "{fix}; if label 0 of the ground truth means unlabelled, {classes} and {void} as well",
            fix=found.fix,
            classes=Setting("classes", f"1-{max(labels)}"),
            void=Setting("void", tuple(sorted({0, *(inputs.void or ())}))),
        )
    return found.fix


def _outside(
    found: Mapping[str, Sequence[float]], counted: Sequence[LabelsSummary], inputs: LabelInputs
) -> list[Finding]:
    """Find predicted labels that are not classes, given those of each file."""
    outside = sorted({label for some in found.values() for label in some})
    mapping = Remapping.parse(str(getattr(inputs, "pred_map", "")))
    stored = sorted({value for summary in counted if summary.stored for value in summary.stored.predicted.tolist()})
    mapped = [value for value in stored if value != mapping.label_of(value) in outside]
    message = Message(
        "outside-classes",
        "{count:many prediction} of {total} inspected {count:verb have} labels that are not classes ({listed}), and "
        "such pixels count as wrong",
        count=len(found),
        total=len(counted),
        listed=listed(outside),
        labels=outside,
    )
    fixes: list[Message] = []
    if mapped:
        message = Message(
            "outside-classes",
            "{outside}; {given} makes them of {listed_values}",
            outside=message,
            given=Setting("pred_map", None),
            listed_values=listed(mapped),
            values=mapped,
        )
        fixes += _of_mapped(mapped, counted, inputs)
        unmapped = {*stored}.difference(mapped)
        outside = [label for label in outside if label in unmapped]
    fixes += _of_outside(outside, found, counted, inputs)
    places = (Place(file, holding(own)) for file, own in found.items())
    return finding(message, Message("alternatives", "{fixes:; }", fixes=fixes), places)


def _of_mapped(mapped: Sequence[float], counted: Sequence[LabelsSummary], inputs: LabelInputs) -> Iterator[Message]:
    """Say what to do about labels that are not classes because a remapping makes them of other values."""
    labels, void = counted[0].named_classes[0], inputs.void or ()
    true_values = {value for summary in counted if summary.stored for value in summary.stored.truth.tolist()}
    if true_values.issubset({*labels, *void}):
        moved = [Setting(name, "") for name in ("gt_map", "pred_map") if getattr(inputs, name, "")]
        yield Message(
            "fix",
            "if both sides have the numbers of the classes as stored, {maps}",
            maps=joined(moved, " and "),
        )
    yield Message(
        "fix",
        "predict a class that counts in every pixel: by {given} {listed} are none",
        given=Setting("pred_map", None),
        listed=listed(mapped),
    )


def _of_outside(
    outside: Sequence[float],
    found: Mapping[str, Sequence[float]],
    counted: Sequence[LabelsSummary],
    inputs: LabelInputs,
) -> Iterator[Message]:
    """Say what to do about labels that are not classes as they are stored."""
    void = inputs.void or ()
    labels, names = counted[0].named_classes
    if len(labels) == 2 and len(outside) == 1 and not any(summary.matrix[:, 1].any() for summary in counted):
        yield Message(
            "fix",
            "if {label:g} marks class {name}, {pred_map}, or for masks leave out {given}",
            label=outside[0],
            name=names[1],
            pred_map=Setting("pred_map", f"{outside[0]:g}={labels[1]}"),
            given=Setting("classes", None),
        )
        outside = []
    if 0 in outside:
        yield Message("fix", "if 0 is background, {background}", background=_as_background(counted, void))
        outside = [label for label in outside if label not in _background(counted)]
    as_void = [label for label in outside if label in {*OFTEN_VOID, *void}]
    if as_void:
        yield Message(
            "fix",
            "predict a class in every pixel: {listed} {count:verb mark} pixels without one",
            listed=listed(as_void),
            count=len(as_void),
        )
        if not any(summary.ignored for summary in counted):
            yield Message("fix", "if these are the ground truth, mind the order: {order}", order=ORDER)
    if as_void != outside:
        lossy = {summary.inputs.lossy["prediction"] for summary in counted if summary.prediction in found}
        if len(lossy) == 1 and all(lossy):
            yield as_message(how_to_save_labels(lossy.pop()))
        else:
            yield Message(
                "alternatives",
                "add labels to {classes} that the ground truth holds, too, or remap them: {pred_map}",
                classes=Setting("classes"),
                pred_map=Setting("pred_map"),
            )


def _void_zero(counted: Sequence[LabelsSummary], inputs: LabelInputs) -> list[Finding]:
    """Find label 0 left out as void where it may be the background, in which predictions of a class are wrong.

    Where 0 means unlabelled, it has few of the pixels, and no prediction holds it.
    """
    zeros, classes = (sum(getattr(summary.left_out, name) for summary in counted) for name in ("zeros", "classes"))
    pixels = sum(summary.pixels + summary.ignored for summary in counted)
    if inputs.masks or not classes or (classes == zeros and 2 * zeros <= pixels):
        return []
    message = Message(
        "void-background",
        "label 0 of the ground truth is left out as void, in {share:.1%} of the pixels; predictions hold a class in "
        "{predicted:.1%} of these, which counts nowhere",
        share=zeros / pixels,
        predicted=classes / zeros,
    )
    fix = Message(
        "fix",
        "if 0 is background, such predictions are wrong: {background}",
        background=_as_background(counted, inputs.void or ()),
    )
    return finding(message, fix, (Place(summary.prediction) for summary in counted if summary.left_out.classes))


def _joined(counted: Sequence[LabelsSummary], inputs: LabelInputs) -> Iterator[Finding]:
    """Find labels that a remapping does not name, and that so count as the classes of others."""
    sides: dict[str, Side] = {"gt_map": "ground truth", "pred_map": "prediction"}
    for name, side in sides.items():
        labels = sorted({label for summary in counted for label in summary.joined.get(name, ())})
        if not labels:
            continue
        text = str(getattr(inputs, name))
        given = Remapping.parse(text).labels
        others = [value for value, label in given.items() if label in labels and value != label]
        message = Message(
            "joined-labels",
            "{given} does not name {listed}, which therefore {count:verb count} together with {listed_others}",
            given=Setting(name, None),
            listed=listed(labels),
            count=len(labels),
            listed_others=listed(others),
            labels=labels,
            others=others,
        )
        rest, void = "*" if len(labels) > 1 else labels[0], next(iter(inputs.void or ()), 255)
        settings = [Setting(name, f"{text},{rest}={void}")]
        settings += [Setting("void", (void,))] if name == "gt_map" and not inputs.void else []
        fix = Message(
            "fix",
            "if that is no class, {settings}; if it is meant, name it: {names:,}",
            settings=joined(settings, " and "),
            names=[f"{label}={label}" for label in labels],
        )
        places = (
            Place(summary.truth_file if name == "gt_map" else summary.prediction, holding(summary.joined[name]))
            for summary in counted
            if summary.joined.get(name)
        )
        yield from finding(message, fix, places, side=side)


def _never_predicted(
    counted: Sequence[LabelsSummary], inputs: LabelInputs, labels_in_no_mean: Sequence[int]
) -> list[Finding]:
    """Find label 0 as a class that most ground truths hold and no prediction does, right as these are elsewhere."""
    labels, names = counted[0].named_classes
    if inputs.masks or 0 not in labels:
        return []
    row, matrix = labels.index(0), np.sum([summary.matrix for summary in counted], axis=0)
    held = [summary for summary in counted if summary.matrix[row].any()]
    zeros, pixels = int(matrix[row].sum()), int(matrix.sum())
    if matrix[:, row].any() or 2 * len(held) <= len(counted) or 4 * np.trace(matrix) <= pixels - zeros:
        return []
    if np.count_nonzero(matrix[:, :-1].any(axis=0)) == 1:  # right elsewhere by chance: a class that is predicted always
        return []
    message = Message(
        "never-predicted",
        "label 0 counts as a class, in {share:.1%} of the pixels of the ground truth, and no prediction inspected "
        "holds it, so its IoU is 0 there",
        share=zeros / pixels,
    )
    kept = written_classes(*zip(*(of for of in zip(labels, names, strict=True) if of[0] != 0), strict=True))
    background: Message | str = ""
    if 0 in labels_in_no_mean:
        others = [label for label in labels_in_no_mean if label != 0]
        background = Message("fix", ", without {given}", given=format_background([0]))
        if others:
            background = Message("fix", ", with {background}", background=format_background(others))
    fix = Message(
        "fix",
        "if label 0 marks what nobody labelled, {classes} and {void}{background}",
        classes=Setting("classes", kept),
        void=Setting("void", tuple(sorted({0, *(inputs.void or ())}))),
        background=background,
    )
    return finding(message, fix, (Place(summary.truth_file) for summary in held), side="ground truth")


def _background(counted: Sequence[LabelsSummary]) -> list[int]:
    """Give the labels that may be background: 0, and those that are left out as void although predictions hold them."""
    predicted = {label for summary in counted for label in summary.left_out.labels}
    return sorted({0, *predicted.difference(OFTEN_VOID)})


def _as_background(counted: Sequence[LabelsSummary], void: Sequence[int]) -> Message:
    """Write the settings under which these labels are background, and no longer void."""
    background, (labels, names) = _background(counted), counted[0].named_classes
    if 0 in labels:  # which a remapping makes void, and gives its number to a class
        free = next(label for label in itertools.count() if label not in {*labels, *void})
        return Message(
            "fix",
            "{background}, and 0={free} in {given}",
            background=with_background(labels, names, [free]),
            free=free,
            given=Setting("gt_map", None),
        )
    settings = with_background(labels, names, background)
    if not {*background}.isdisjoint(void):
        return joined((settings, void_without(void, background)), " and ")
    if any(summary.left_out.zeros for summary in counted):
        return Message(
            "fix", "{background}, and leave 0 out of {given}", background=settings, given=Setting("gt_map", None)
        )
    return settings


def _void_class(counted: Sequence[LabelsSummary]) -> list[Finding]:
    """Find a class whose label means void in most data sets, beside small labels of classes."""
    labels, names = counted[0].named_classes
    *others, highest = sorted(labels)
    if highest not in VOIDS or len(others) < 2 or others[-1] >= LABELS_BELOW:
        return []
    row = labels.index(highest)
    held = [summary for summary in counted if summary.matrix[row].any()]
    message = Message(
        "void-class",
        "label {label} counts as a class, in {count:many ground truth} of {total} inspected; in most data sets it "
        "marks pixels that do not count",
        label=highest,
        count=len(held),
        total=len(counted),
    )
    kept = [(label, name) for label, name in zip(labels, names, strict=True) if label != highest]
    classes = Setting("classes", written_classes(*zip(*kept, strict=True)))
    fix = Message("fix", "if it does here, {classes}", classes=classes)
    return finding(message, fix, (Place(summary.truth_file) for summary in held), side="ground truth")
