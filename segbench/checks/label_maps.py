"""Label maps and masks on both sides: numbers of classes, void, labels that are no class, copies of ground truth."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from segbench.checks.findings import Finding, Place, finding, holding, uncounted_findings
from segbench.checks.label_damage import without_advice_on_damage
from segbench.checks.seen import Seen, rule
from segbench.checks.volumes import interpolated
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting, as_message, joined
from segbench.core.names import first_names
from segbench.core.sample import Side
from segbench.inputs.class_names import format_background, void_without, with_background, written_classes
from segbench.inputs.label_inputs import LabelInputs
from segbench.inputs.label_rules import LABELS_BELOW, OFTEN_VOID, ORDER, VOIDS, listed
from segbench.inputs.label_summaries import LabelsSummary
from segbench.inputs.label_values import Remapping, pairs_text
from segbench.inputs.numberings import StoredLabels
from segbench.inputs.renumbering import RENUMBERED, Renumbering, find_renumbering
from segbench.inputs.summaries import UncountedError
from segbench.loaders.reading import how_to_save_labels

_NAMED = 8
"""How many labels are named at most."""
_FEWEST_IDENTICAL = 3
"""Images of several classes that are predicted exactly, from which those that were not inspected may be so, too."""


@rule("renumbered", needs=["looked_at"])
def stored_otherwise(seen: Seen) -> list[Finding]:
    """Find that stored labels have other numbers than the maps expect, and the maps that they need."""
    uncounted = {image: error for image, error in _uncounted(seen).items() if error.error.kind != "intensities"}
    stored = {summary.prediction: summary.stored for summary in seen.counted if summary.stored}
    stored |= {error.inputs.files["prediction"]: error.stored for error in uncounted.values() if error.stored}
    if not stored or seen.label_inputs is None:
        return []
    renumbered = seen.label_inputs.renumbered(StoredLabels.sum([*stored.values()]))
    if renumbered is None:
        return []
    places = [Place(file, "values " + holding(labels.predicted.tolist())) for file, labels in stored.items()]
    message = Message("renumbered", "{numberings}", numberings=renumbered.what)
    return finding(message, renumbered.fix, places, images=uncounted)


def _uncounted(seen: Seen) -> Mapping[str, UncountedError]:
    """Return why images that can be read cannot be counted, by their names."""
    return {image: error for image, error in seen.failures.items() if isinstance(error, UncountedError)}


@rule("not-countable", needs=["failures"], unless=[stored_otherwise])
def uncountable(seen: Seen) -> list[Finding]:
    """List images that can be read, but not counted with these settings."""
    known = {image for finding_of_volumes in interpolated(seen) for image in finding_of_volumes.images}
    failures = {image: error for image, error in seen.failures.items() if image not in known}
    inputs = seen.label_inputs
    has_labels = inputs is not None and not inputs.masks and not inputs.regions
    counted = {
        label
        for summary in (seen.counted if has_labels else ())
        for label, row in zip(summary.named_classes[0], summary.matrix, strict=True)
        if row.any()
    }
    return without_advice_on_damage(uncounted_findings(failures, seen.looked_at, counted), seen)


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
    labels, names = seen.counted[0].named_classes
    *others, highest = sorted(labels)
    if seen.known_label_inputs.regions:  # in one of which it was listed
        return []
    if highest not in VOIDS or len(others) < 2 or others[-1] >= LABELS_BELOW:
        return []
    row = labels.index(highest)
    with_label = [summary for summary in seen.counted if summary.matrix[row].any()]
    message = Message(
        "void-class",
        "label {label} counts as a class, in {count:many ground truth} of {total} inspected; in most data sets it "
        "marks pixels that do not count",
        label=highest,
        count=len(with_label),
        total=len(seen.counted),
    )
    other_classes = {label: name for label, name in zip(labels, names, strict=True) if label != highest}
    classes = Setting("classes", written_classes([*other_classes], [*other_classes.values()]))
    fix = Message("fix", "if it does here, {classes}", classes=classes)
    return finding(message, fix, (Place(summary.truth_file) for summary in with_label), side="ground truth")


@rule("joined-labels", needs=["counted"], unless=[stored_otherwise])
def joined_labels(seen: Seen) -> list[Finding]:
    """Find labels that a remapping does not name, and that so count as the classes of others."""
    counted, inputs = seen.counted, seen.known_label_inputs
    findings: list[Finding] = []
    sides: dict[str, Side] = {"gt_map": "ground truth", "pred_map": "prediction"}
    for name, side in sides.items():
        labels = sorted({label for summary in counted for label in summary.joined.get(name, ())})
        if not labels:
            continue
        mapping = str(getattr(inputs, name))
        label_of = Remapping.parse(mapping).labels
        others = [value for value, label in label_of.items() if label in labels and value != label]
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
        unnamed = "*" if len(labels) > 1 else labels[0]
        void = next(iter(inputs.void or ()), 255)
        settings = [Setting(name, f"{mapping},{unnamed}={void}")]
        settings += [Setting("void", (void,))] if name == "gt_map" and not inputs.void else []
        fix = Message(
            "fix",
            "if that is no class, {settings}; if it is meant, name it: {names}",
            settings=joined(settings, " and "),
            names=first_names(pairs_text({label: label for label in labels}).split(","), _NAMED, ","),
        )
        places = (
            Place(summary.truth_file if name == "gt_map" else summary.prediction, holding(summary.joined[name]))
            for summary in counted
            if summary.joined.get(name)
        )
        findings += finding(message, fix, places, side=side)
    return findings


def _are_renumbered(seen: Seen) -> bool:
    """Return whether labels number the classes differently."""
    return any(finding.kind == "renumbered" for finding in predicted_labels(seen))


@rule("void-background", needs=["counted"], unless=[stored_otherwise])
def void_zero(seen: Seen) -> list[Finding]:
    """Find label 0 left out as void where it may be the background, in which predictions of a class are wrong.

    Where 0 means unlabelled, it has few of the pixels, and no prediction holds it.
    """
    counted, inputs = seen.counted, seen.known_label_inputs
    zeros = sum(summary.left_out.zeros for summary in counted)
    as_class = sum(summary.left_out.classes for summary in counted)  # of these pixels, those predicted as a class
    pixels = sum(summary.pixels + summary.ignored for summary in counted)
    unlabelled = as_class == zeros and 2 * zeros <= pixels
    if _are_renumbered(seen) or inputs.masks or not as_class or unlabelled:
        return []
    message = Message(
        "void-background",
        "label 0 of the ground truth is left out as void, in {share:.1%} of the pixels; predictions hold a class in "
        "{predicted:.1%} of these, which counts nowhere",
        share=zeros / pixels,
        predicted=as_class / zeros,
    )
    fix = Message(
        "fix",
        "if 0 is background, such predictions are wrong: {background}",
        background=_as_background(counted, inputs.void or ()),
    )
    return finding(message, fix, (Place(summary.prediction) for summary in counted if summary.left_out.classes))


@rule("never-predicted", needs=["counted"], unless=[stored_otherwise])
def never_predicted(seen: Seen) -> list[Finding]:
    """Find label 0 as a class that most ground truths hold and no prediction does, right as these are elsewhere."""
    counted, inputs = seen.counted, seen.known_label_inputs
    labels_in_no_mean = getattr(seen.protocol, "background", None) or ()
    labels, names = counted[0].named_classes
    if _are_renumbered(seen) or inputs.masks or inputs.regions or 0 not in labels:
        return []
    row, matrix = labels.index(0), np.sum([summary.matrix for summary in counted], axis=0)
    images_of_zero = [summary for summary in counted if summary.matrix[row].any()]
    zeros, pixels = int(matrix[row].sum()), int(matrix.sum())
    if matrix[:, row].any() or 2 * len(images_of_zero) <= len(counted) or 4 * np.trace(matrix) <= pixels - zeros:
        return []
    if np.count_nonzero(matrix[:, :-1].any(axis=0)) == 1:  # right elsewhere by chance: a class that is predicted always
        return []
    message = Message(
        "never-predicted",
        "label 0 counts as a class, in {share:.1%} of the pixels of the ground truth, and no prediction inspected "
        "holds it, so its IoU is 0 there",
        share=zeros / pixels,
    )
    others = {label: name for label, name in zip(labels, names, strict=True) if label != 0}
    without_zero = written_classes([*others], [*others.values()])
    background: Message | str = ""
    if 0 in labels_in_no_mean:
        others_in_no_mean = [label for label in labels_in_no_mean if label != 0]
        background = Message("fix", ", without {given}", given=format_background([0]))
        if others_in_no_mean:
            background = Message("fix", ", with {background}", background=format_background(others_in_no_mean))
    fix = Message(
        "fix",
        "if label 0 marks what nobody labelled, {classes} and {void}{background}",
        classes=Setting("classes", without_zero),
        void=Setting("void", tuple(sorted({0, *(inputs.void or ())}))),
        background=background,
    )
    places = (Place(summary.truth_file) for summary in images_of_zero)
    return without_advice_on_damage(finding(message, fix, places, side="ground truth"), seen)


@rule("identical", needs=["looked_at"], unless=[stored_otherwise])
def identical(seen: Seen) -> list[Finding]:
    """Find that predictions are the ground truth, pixel by pixel; images of one class alone do not show it."""
    with_pixels = [summary for summary in seen.counted if summary.pixels]
    if not all(np.trace(summary.matrix) == summary.pixels and summary.left_out.same for summary in with_pixels):
        return []
    several = sum(np.count_nonzero(summary.matrix.any(axis=1)) > 1 for summary in with_pixels)
    message = Message("identical", "every prediction is identical to the ground truth: every metric will be perfect")
    least = 1
    if len(seen.counted) < seen.total:
        message = Message(
            "identical",
            "all {count} predictions inspected are identical to the ground truth",
            count=len(with_pixels),
        )
        least = max(_FEWEST_IDENTICAL, (len(with_pixels) + 1) // 2)
    if several < least or 2 * len(with_pixels) <= seen.looked_at:
        return []
    return finding(message, "check that these are predictions", (Place(summary.prediction) for summary in with_pixels))


def _predicted_labels(counted: Sequence[LabelsSummary], inputs: LabelInputs) -> list[Finding]:
    """Find labels that number the classes differently, which of some images only a shift shows, or that are none."""
    of_all = _renumbering(counted, images=len(counted))
    # Beside a shift in all images together, one that shows it is no accident.
    images = len(counted) if of_all else 1
    shifts = [(summary, _renumbering([summary], images=images)) for summary in counted]
    shifted = [(summary, own) for summary, own in shifts if own and own.shift]
    if of_all:
        shifted = [(summary, own) for summary, own in shifted if own.shift == of_all.shift]
    renumbering = of_all or next((own for _, own in shifted), None)
    renumbered: Sequence[LabelsSummary] = ()
    known: Collection[float] = ()
    findings: list[Finding] = []
    if renumbering:
        renumbered = [summary for summary, _ in shifted] or counted
        known = Remapping.parse(renumbering.remap).labels
        moved = {label: own for label, own in renumbering.classes.items() if label != own}
        message = Message(
            "renumbered",
            "{count:many prediction} of {total} inspected {count:verb seem} to {renumbered}: their labels lie mostly "
            "on other classes ({moved})",
            count=len(renumbered),
            total=len(counted),
            renumbered=RENUMBERED,
            moved=first_names([f"{label} on {own}" for label, own in moved.items()], _NAMED),
            labels=[*moved],
            classes=[*moved.values()],
        )
        fix = _numbered_alike(renumbering, renumbered, inputs, of_all=bool(of_all))
        findings = finding(message, fix, [Place(summary.prediction) for summary in renumbered])
    outside = {
        summary.prediction: [label for label in summary.outside if label not in known]
        for summary in counted
        if of_all or summary not in renumbered
    }
    outside = {file: labels for file, labels in outside.items() if labels}
    return [*findings, *_outside(outside, counted, inputs)]


def _renumbering(summaries: Sequence[LabelsSummary], *, images: int) -> Renumbering | None:
    """Compare the numbers of the classes over summaries, among so many images; masks are told as inverted instead."""
    if any(summary.mask for summary in summaries):
        return None
    classes, _ = summaries[0].named_classes
    outside = sorted({label for summary in summaries for label in summary.outside})
    none = np.zeros(len(classes), np.int64)
    columns = [*np.sum([summary.matrix[:, :-1] for summary in summaries], axis=0).T]
    columns += [np.sum([summary.outside.get(label, none) for summary in summaries], axis=0) for label in outside]
    columns.append(none)
    return find_renumbering(np.column_stack(columns), [*classes, *outside], classes, images=images)


def _numbered_alike(
    renumbering: Renumbering, summaries: Sequence[LabelsSummary], inputs: LabelInputs, *, of_all: bool
) -> Message:
    """Say how predictions get the numbers of the ground truth, those of all images or of some."""
    labels, _ = summaries[0].named_classes
    if summaries[0].stack:
        return Message("fix", "save the maps of the classes alone, in the order of {given}", given=Setting("classes"))
    if not of_all:
        return Message("fix", "save these files again; {given} would change all files", given=Setting("pred_map"))
    if getattr(inputs, "pred_map", ""):
        stored = StoredLabels.sum([summary.stored for summary in summaries if summary.stored])
        matrix, values = stored.by_class(str(getattr(inputs, "gt_map", "")), labels)
        by_value = find_renumbering(matrix, values, labels, images=len(summaries))
        if by_value is None:
            return Message(
                "fix",
                "correct {pred_map} by the definitions of both lists, for values as they are stored",
                pred_map=Setting("pred_map", None),
            )
        renumbering = by_value
    if renumbering.shift > 0 and min(labels) == 0:
        return Message(
            "fix",
            "{fix}; if label 0 of the ground truth means unlabelled, {classes} and {void} as well",
            fix=renumbering.fix,
            classes=Setting("classes", f"1-{max(labels)}"),
            void=Setting("void", tuple(sorted({0, *(inputs.void or ())}))),
        )
    return renumbering.fix


def _outside(
    outside: Mapping[str, Sequence[float]], counted: Sequence[LabelsSummary], inputs: LabelInputs
) -> list[Finding]:
    """Find predicted labels that are not classes, given those of each file."""
    labels = sorted({label for of_file in outside.values() for label in of_file})
    mapping = Remapping.parse(str(getattr(inputs, "pred_map", "")))
    stored = sorted({value for summary in counted if summary.stored for value in summary.stored.predicted.tolist()})
    mapped = [value for value in stored if value != mapping.label_of(value) in labels]
    message = Message(
        "outside-classes",
        "{count:many prediction} of {total} inspected {count:verb have} labels that are not classes ({listed}), and "
        "such pixels count as wrong",
        count=len(outside),
        total=len(counted),
        listed=listed(labels),
        labels=labels,
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
        labels = [label for label in labels if label in unmapped]
    fixes += _of_unmapped(labels, outside.keys(), counted, inputs)
    places = (Place(file, holding(of_file)) for file, of_file in outside.items())
    return finding(message, Message("alternatives", "{fixes:; }", fixes=fixes), places)


def _of_mapped(mapped: Sequence[float], counted: Sequence[LabelsSummary], inputs: LabelInputs) -> Iterator[Message]:
    """Say what to do about labels that are not classes because a remapping makes them of other values."""
    (labels, _), void = counted[0].named_classes, inputs.void or ()
    true_values = {value for summary in counted if summary.stored for value in summary.stored.truth.tolist()}
    if true_values.issubset({*labels, *void}):
        maps = [Setting(name, "") for name in ("gt_map", "pred_map") if getattr(inputs, name, "")]
        yield Message(
            "fix",
            "if both sides have the numbers of the classes as stored, {maps}",
            maps=joined(maps, " and "),
        )
    yield Message(
        "fix",
        "predict a class that counts in every pixel: by {given} {listed} are none",
        given=Setting("pred_map", None),
        listed=listed(mapped),
    )


def _of_unmapped(
    outside: Sequence[float],
    files: Collection[str],
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
        lossy = {summary.inputs.lossy["prediction"] for summary in counted if summary.prediction in files}
        if len(lossy) == 1 and all(lossy):
            yield as_message(how_to_save_labels(lossy.pop()))
        else:
            yield Message(
                "alternatives",
                "add labels to {classes} that the ground truth holds, too, or remap them: {pred_map}",
                classes=Setting("classes"),
                pred_map=Setting("pred_map"),
            )


def _background(counted: Sequence[LabelsSummary]) -> list[int]:
    """Return the labels that may be background: 0, and those left out as void that predictions hold nevertheless."""
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
