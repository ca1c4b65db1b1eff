"""Classes: label maps, counted as a run would or predicted where scores are expected, and one soft map per class."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from segbench.checks.findings import Finding, Place, failing, finding, found_in, holding
from segbench.checks.label_damage import PLURALS
from segbench.checks.probes import (
    ClassStackError,
    Inspected,
    LabelProbe,
    Probe,
    Ranking,
    ScoreProbe,
    UncountedError,
    coloured_files,
    count_as_run,
    few_distinct,
    mask_ranking,
    score_probe,
)
from segbench.checks.scores import score_findings
from segbench.core.arrays import IntArray
from segbench.core.capabilities import ByClass, Confusing, LeftOut, Numbered, TwoSided, inputs_as
from segbench.core.errors import DataError
from segbench.core.expected import Expected, ExpectedScores
from segbench.core.grouping import grouped
from segbench.core.inputs import inputs_of
from segbench.core.messages import Either, Message, Setting, as_message, joined
from segbench.core.names import first_names
from segbench.core.numbers import written
from segbench.core.protocol import Protocol
from segbench.core.sample import SIDES, Sample, Side
from segbench.inputs.class_names import (
    format_background,
    read_classes,
    void_without,
    with_background,
    written_classes,
)
from segbench.inputs.label_rules import (
    LABELS_BELOW,
    OFTEN_VOID,
    ORDER,
    VOIDS,
    LabelRule,
    ManyValuesError,
    equals_any,
    is_apart,
    listed,
)
from segbench.inputs.label_values import Remapping
from segbench.inputs.nodata import decode_for
from segbench.inputs.numberings import StoredLabels
from segbench.inputs.predicted_labels import are_label_maps, instead_of_label_maps, labels_seen
from segbench.inputs.renumbering import RENUMBERED, Renumbering, find_renumbering
from segbench.inputs.stacks import ClassMapsError
from segbench.loaders.decoded import shown
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import how_to_save_labels, read
from segbench.loaders.repairs import Repairs
from segbench.protocols.labels.counts import LabelCounts
from segbench.protocols.labels.settings import Labels

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


@dataclass(frozen=True, kw_only=True)
class ClassesProbe(Probe):
    """What one image of many classes holds."""

    classes: tuple[ScoreProbe, ...]  # of each, in order
    truth_file: str
    foreign: tuple[float, ...]  # some labels in it that are neither a class nor void, rising
    zeros: int  # pixels with label 0 that is void
    pixels: int


def probe_classes(files: SampleFiles, protocol: Protocol, classes: ByClass, repairs: Repairs) -> Probe:
    """Inspect one image, class by class."""
    expected = classes.expected_of_one
    try:
        sample = decode_for(protocol, read(files), repairs)
        truth, maps = classes.maps(sample)
    except DataError as error:
        return Probe(image=files.name, failure=error)
    void = expected.void or ()
    counted = ~equals_any(truth, void)
    if sample.field is not None:
        counted &= sample.field
    known = tuple(map(float, classes.labels))
    names = list(map(shown, (files.prediction, *files.scales)))
    if len(names) < len(maps):
        names = [f"{names[0]} (class {name})" for name in classes.class_names]
    scores = expected.scores or ExpectedScores()
    single = len(sample.predictions) == 1 and sample.predictions[0].ndim == truth.ndim
    return ClassesProbe(
        image=sample.name,
        inputs=Inspected.of(sample),
        may_hold_labels=single,
        labels=labels_seen(sample, void) if single else None,
        prediction=sample.prediction_file,
        coloured=coloured_files(sample, files),
        classes=tuple(
            score_probe((sample.name, name), soft, equals_any(truth, (label,)), counted, scores)
            for name, soft, label in zip(names, maps, known, strict=True)
        ),
        facts=classes.labels_held(truth, counted),
        truth_file=shown(files.ground_truths[0]),
        foreign=few_distinct(truth[counted & ~equals_any(truth, known)]),
        zeros=int(np.count_nonzero(truth == 0)) if 0 in void else 0,
        pixels=truth.size,
    )


def class_map_findings(failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """List predictions that are not one soft map per class, and those that are where one map is read."""
    maps = {image: error for image, error in failures.items() if isinstance(error, ClassMapsError)}
    several = {image: error for image, error in failures.items() if isinstance(error, ClassStackError)}
    values = sorted({value for error in several.values() for value in error.stored})
    stacks = {image: error.of_set(values) for image, error in several.items()}
    no_maps = Message(
        "class-maps",
        "{count:many prediction} of {total} inspected {count:verb are} not one soft map per class",
        count=len(maps),
        total=total,
    )
    one_each = Message(
        "class-stacks",
        "{count:many prediction} of {total} inspected {count:verb have} one map per class",
        count=len(stacks),
        total=total,
    )
    return [*failing(no_maps, maps), *failing(one_each, stacks)]


def class_findings(probes: Sequence[Probe], classes: ByClass | None) -> list[Finding]:
    """Judge the labels and the maps of the images inspected, one finding for all classes that show it."""
    if not probes or classes is None:
        return []
    seen = cast("Sequence[ClassesProbe]", probes)
    expected = classes.expected_of_one.scores or ExpectedScores()
    every = score_findings([one for probe in seen for one in probe.classes], expected)
    over_all = [replace(each, fix=_FIXES.get(each.kind, each.fix)) for each in every if each.kind in _OVER_ALL]
    maps = zip(*(probe.classes for probe in seen), strict=True)
    drawn = {title: [one for one in of if one.share >= RARE] for title, of in zip(classes.titles, maps, strict=True)}
    found = [
        *_foreign(seen, classes),
        *_void_zero_of_scores(seen, classes.expected_of_one.void or ()),
        *over_all,
        *_of_classes(drawn, expected),
    ]
    coarse = {each.kind for each in over_all} & {"levels-unscaled", "few-levels"}
    return [each for each in found if not (coarse and each.kind == "saturated")]


def _of_classes(drawn: Mapping[str, Sequence[ScoreProbe]], expected: ExpectedScores) -> Iterator[Finding]:
    """Judge the maps of each class; findings of the same kind are one, which names the classes."""
    judged = {title: score_findings(of, expected) for title, of in drawn.items()}
    for kind in _OF_A_CLASS:
        titles = [title for title, found in judged.items() if any(_whole(one, drawn[title], kind) for one in found)]
        together = score_findings([one for title in titles for one in drawn[title]], expected)
        if found := next((one for one in together if one.kind == kind), None):
            of_all = f"all {len(titles)} classes" if len(titles) == len(drawn) > 1 else first_names(titles, _NAMED)
            turn_some = kind == "inverted" and len(titles) < sum(map(bool, drawn.values()))
            yield replace(found, message=f"{of_all}: " + found.message, fix=_TURN_SOME if turn_some else found.fix)


def _whole(found: Finding, of: Sequence[ScoreProbe], kind: str) -> bool:
    """Return whether a class shows a finding: in all images, if maps are constant, as a rare class may be missed."""
    return found.kind == kind and (kind != "constant" or len(found.places) == len(of))


def _foreign(seen: Sequence[ClassesProbe], classes: ByClass) -> Iterator[Finding]:
    """Find labels that are neither a class nor void, those apart that often mean void."""
    void, highest = classes.expected_of_one.void or (), max(classes.labels)
    foreign = {label for probe in seen for label in probe.foreign}
    often_void = {label for label in foreign if label in OFTEN_VOID or is_apart(label, highest)}
    for usual in (True, False):
        labels = {
            probe.truth_file: [label for label in probe.foreign if (label in often_void) == usual] for probe in seen
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
            total=len(seen),
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


def _void_zero_of_scores(seen: Sequence[ClassesProbe], void: Sequence[float]) -> list[Finding]:
    """Find label 0 left out as void in most pixels, which is background rather than what nobody labelled."""
    zeros, pixels = sum(probe.zeros for probe in seen), sum(probe.pixels for probe in seen)
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
    places = [Place(probe.truth_file) for probe in seen if probe.zeros and 2 * zeros > pixels]
    return finding(message, fix, places, side="ground truth")


@dataclass(frozen=True, kw_only=True)
class CountsProbe(Probe):
    """What counting one image showed."""

    truth_file: str
    counts: LabelCounts
    outside: Mapping[int, IntArray]  # by predicted labels that are not classes, the pixels of each class
    left_out: LeftOut
    joined: Mapping[str, Sequence[int]]  # values that a remapping should name, by its setting
    stored: StoredLabels | None  # None of masks
    values: tuple[tuple[float, ...], tuple[float, ...]]  # some of the ground truth and the prediction, if of masks

    @property
    def stack(self) -> bool:
        """Whether the prediction has one map per class, whose order no remapping changes."""
        return self.stored is not None and self.stored.by_place


def probe_counts(files: SampleFiles, protocol: Protocol, inputs: Confusing, repairs: Repairs) -> Probe:
    """Count the labels of one image, as the run would."""
    try:
        sample = decode_for(protocol, read(files), repairs)
        counted = count_as_run(sample, _by_class(protocol))
        stored = inputs.stored(sample)
    except DataError as error:
        if isinstance(error, UncountedError):
            with suppress(DataError):  # where they are no label maps
                error.stored = inputs.stored(sample)
        return Probe(image=files.name, failure=error)
    return CountsProbe(
        image=files.name,
        inputs=Inspected.of(sample),
        prediction=sample.prediction_file,
        mask=ranking_of_mask(sample, counted.counts) if inputs.masks else None,
        truth_file=shown(files.ground_truths[0]),
        counts=counted.counts,
        facts=counted.facts,
        outside=inputs.predicted_outside(sample) if counted.counts.matrix[:, -1].any() else {},
        left_out=inputs.left_out(sample) if counted.counts.ignored else LeftOut(),
        joined=inputs.joined(sample),
        stored=stored,
        values=_values_of_mask(sample, inputs) if inputs.masks else ((), ()),
    )


def _by_class(protocol: Protocol) -> Protocol:
    """Return the protocol that counts the label maps of this one by true and predicted class."""
    counts_by_class = issubclass(protocol.counts, LabelCounts)
    return protocol if counts_by_class else cast("Labels", inputs_of(Labels, protocol.inputs))


def _values_of_mask(sample: Sample, inputs: Confusing) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return some values of the ground truth that are not void, and some that are predicted."""
    drawn = few_distinct(sample.ground_truths[0].reshape(-1))
    void = tuple(map(float, inputs.void or ()))
    return tuple(value for value in drawn if value not in void), few_distinct(sample.predictions[0].reshape(-1))


def mask_values(probes: Sequence[Probe]) -> tuple[list[float], list[float]]:
    """Return some values of ground truth and predictions that are masks, over all images inspected."""
    sides = [probe.values for probe in probes if isinstance(probe, CountsProbe)]
    sides += [(truth.values, ()) for probe in probes for truth in probe.truths]
    drawn, predicted = (sorted({value for side in sides for value in side[k]}) for k in (0, 1))
    return drawn, predicted


def ranking_of_mask(sample: Sample, counts: LabelCounts) -> Ranking:
    """Judge a predicted mask by its counts."""
    negative, positive = counts.matrix.tolist()
    of = sample.name, sample.prediction_file
    return mask_ranking(of, positive[1], negative[1], sum(positive), counts.pixels)


def label_map_findings(
    probes: Sequence[Probe], failures: Mapping[str, DataError], total: int, protocol: Protocol, images: int
) -> list[Finding]:
    """Judge the label maps inspected; the `total` also counts those that failed, `images` those of the whole set."""
    counted = [probe for probe in probes if isinstance(probe, CountsProbe)]
    uncounted = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    inputs = inputs_as(protocol, Confusing)
    remapped = _remapped(counted, uncounted, inputs)
    if remapped:
        return remapped  # and what the given maps make of labels says nothing
    found = uncounted_findings(failures, total)
    void = [probe for probe in counted if not probe.counts.pixels]
    message = Message(
        "all-void",
        "{count:many ground truth} of {total} inspected {count:verb are} void everywhere",
        count=len(void),
        total=len(counted),
    )
    fix = Message(
        "alternatives",
        "check {void}, {gt_map} and {field}",
        void=Setting("void"),
        gt_map=Setting("gt_map"),
        field=Setting("field"),
    )
    found += finding(message, fix, (Place(probe.truth_file) for probe in void), side="ground truth")
    if counted and inputs:
        numbered = _predicted_labels(counted, inputs)
        found += [*numbered, *_void_class(counted), *_joined(counted, inputs)]
        if not any(one.kind == "renumbered" for one in numbered):
            found += [
                *_void_zero(counted, inputs),
                *_never_predicted(counted, inputs, getattr(protocol, "background", ())),
            ]
    return found + _identical(counted, total, images)


_FEWEST_IDENTICAL = 3
"""Images of several classes that are predicted exactly, from which those that were not inspected may be so, too."""


def _identical(counted: Sequence[CountsProbe], total: int, images: int) -> list[Finding]:
    """Find that predictions are the ground truth, pixel by pixel; images of one class alone do not show it."""
    with_pixels = [probe for probe in counted if probe.counts.pixels]
    if not all(np.trace(probe.counts.matrix) == probe.counts.pixels and probe.left_out.same for probe in with_pixels):
        return []
    several = sum(np.count_nonzero(probe.counts.matrix.any(axis=1)) > 1 for probe in with_pixels)
    message = Message("identical", "every prediction is identical to the ground truth: every metric will be perfect")
    least = 1
    if len(counted) < images:
        message = Message(
            "identical",
            "all {count} predictions inspected, of {total:many image}, are identical to the ground truth",
            count=len(with_pixels),
            total=images,
        )
        least = max(_FEWEST_IDENTICAL, (len(with_pixels) + 1) // 2)
    if several < least or 2 * len(with_pixels) <= total:
        return []
    return finding(message, "check that these are predictions", (Place(probe.prediction) for probe in with_pixels))


def _remapped(
    counted: Sequence[CountsProbe], uncounted: Mapping[str, UncountedError], inputs: Confusing | None
) -> list[Finding]:
    """Find that stored labels have other numbers than the maps expect, and the maps that they need."""
    stored = {probe.prediction: probe.stored for probe in counted if probe.stored}
    stored |= {error.inputs.files["prediction"]: error.stored for error in uncounted.values() if error.stored}
    if not stored or inputs is None:
        return []
    renumbered = inputs.renumbered(StoredLabels.sum([*stored.values()]))
    if renumbered is None:
        return []
    places = [Place(file, "values " + holding(of_image.predicted.tolist())) for file, of_image in stored.items()]
    message = Message("renumbered", "{numberings}", numberings=renumbered.what)
    return finding(message, renumbered.fix, places, images=uncounted)


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


def one_sided_findings(probes: Sequence[Probe], inputs: TwoSided | None) -> list[Finding]:
    """Find a rule under which nothing inspected is positive, or everything: a run is refused at its end."""
    counted = [probe for probe in probes if probe.facts]
    try:
        if inputs:
            inputs.require_both_sides({probe.image: probe.facts for probe in counted}, "what was inspected")
    except DataError as error:
        places = (Place(probe.inputs.files["ground truth"], holding(probe.facts)) for probe in counted)
        message = Message("no-positives", "{reason}", reason=error.what)
        return finding(message, error.hint, places, side="ground truth")
    return []


def mask_findings(probes: Sequence[Probe], numbered: Numbered | None, total: int) -> list[Finding]:
    """Find masks where objects have numbers: a run of such images alone is refused at its end."""
    try:
        if numbered:
            numbered.require_numbers({probe.image: probe.facts for probe in probes})
    except DataError as error:
        side: Side = "ground truth" if error.path == "ground truth" else "prediction"
        places = (Place(probe.inputs.files[side]) for probe in probes)
        message = Message("masks", "{path} {reason}", path=error.path, reason=error.what)
        return finding(message, error.hint, places, side=side, whole=len(probes) == total)
    return []


_NEARLY_EVERY = 0.9
"""Share of the images in which a number lies on the background that makes it the background."""


def background_findings(probes: Sequence[Probe]) -> list[Finding]:
    """Find maps of objects whose background has a number, and so counts as an object."""
    findings: list[Finding] = []
    for side in SIDES:
        judged = [probe for probe in probes if side in probe.on_background]
        seen = [(probe, number) for probe in judged if (number := probe.on_background[side])]
        if not seen or len(seen) < _NEARLY_EVERY * len(judged):
            continue
        numbers = sorted({number.number for _, number in seen})
        named = "the highest number of a map" if all(number.highest for _, number in seen) else "one number of a map"
        other = SIDES[side == "ground truth"]
        message = Message(
            "numbered-background",
            "{number} of the {maps} lies on most of the background of the {other_maps}, in {count} of "
            "{total:many image} inspected, and counts as an object",
            number=f"number {numbers[0]}" if len(numbers) == 1 else f"{named} ({listed(numbers)})",
            numbers=numbers,
            maps=PLURALS[side],
            other_maps=PLURALS[other],
            count=len(seen),
            total=len(judged),
        )
        where = (
            Place(
                probe.inputs.files[side],
                Message("detail", "{number} on {share:.0%}", number=number.number, share=number.share),
            )
            for probe, number in seen
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


def _predicted_labels(counted: Sequence[CountsProbe], inputs: Confusing) -> list[Finding]:
    """Find labels that number the classes differently, which of some images only a shift shows, or that are none."""
    together = _renumbering(counted, images=len(counted))
    # Beside a shift in all images together, one that shows it is no accident.
    images = len(counted) if together else 1
    by_image = [(probe, own) for probe in counted if (own := _renumbering([probe], images=images)) and own.shift]
    by_image = [(probe, own) for probe, own in by_image if not together or own.shift == together.shift]
    found = together or (by_image[0][1] if by_image else None)
    off = [probe for probe, _ in by_image] or counted[: len(counted) * bool(found)]
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
        numbered = finding(message, fix, [Place(probe.prediction) for probe in off])
    known = Remapping.parse(found.remap).labels if found else ()
    outside = {
        probe.prediction: [label for label in probe.outside if label not in known]
        for probe in counted
        if together or probe not in off
    }
    outside = {file: labels for file, labels in outside.items() if labels}
    return [*numbered, *_outside(outside, counted, inputs)]


def _renumbering(probes: Sequence[CountsProbe], *, images: int) -> Renumbering | None:
    """Compare the numbers of the classes over probes, among so many images; masks are told as inverted instead."""
    if any(probe.mask for probe in probes):
        return None
    classes = read_classes(probes[0].counts.classes)[0]
    outside = sorted({label for probe in probes for label in probe.outside})
    none = np.zeros(len(classes), np.int64)
    columns = [*np.sum([probe.counts.matrix[:, :-1] for probe in probes], axis=0).T]
    columns += [np.sum([probe.outside.get(label, none) for probe in probes], axis=0) for label in outside] + [none]
    return find_renumbering(np.column_stack(columns), [*classes, *outside], classes, images=images)


def _numbered_alike(found: Renumbering, probes: Sequence[CountsProbe], inputs: Confusing, *, of_all: bool) -> Message:
    """Say how predictions get the numbers of the ground truth, those of all images or of some."""
    labels, given = read_classes(probes[0].counts.classes)[0], str(inputs.pred_map)
    if probes[0].stack:
        return Message("fix", "save the maps of the classes alone, in the order of {given}", given=Setting("classes"))
    if not of_all:
        return Message("fix", "save these files again; {given} would change all files", given=Setting("pred_map"))
    if given:
        stored = StoredLabels.sum([probe.stored for probe in probes if probe.stored])
        matrix, values = stored.by_class(str(inputs.gt_map), labels)
        by_value = find_renumbering(matrix, values, labels, images=len(probes))
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


def _outside(found: Mapping[str, Sequence[float]], counted: Sequence[CountsProbe], inputs: Confusing) -> list[Finding]:
    """Find predicted labels that are not classes, given those of each file."""
    outside = sorted({label for some in found.values() for label in some})
    mapping = Remapping.parse(str(inputs.pred_map))
    stored = sorted({value for probe in counted if probe.stored for value in probe.stored.predicted.tolist()})
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


def _of_mapped(mapped: Sequence[float], counted: Sequence[CountsProbe], inputs: Confusing) -> Iterator[Message]:
    """Say what to do about labels that are not classes because a remapping makes them of other values."""
    labels, void = read_classes(counted[0].counts.classes)[0], inputs.void or ()
    true_values = {value for probe in counted if probe.stored for value in probe.stored.truth.tolist()}
    if true_values.issubset({*labels, *void}):
        moved = [Setting(name, "") for name in ("gt_map", "pred_map") if getattr(inputs, name)]
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
    counted: Sequence[CountsProbe],
    inputs: Confusing,
) -> Iterator[Message]:
    """Say what to do about labels that are not classes as they are stored."""
    void = inputs.void or ()
    labels, names = read_classes(counted[0].counts.classes)
    if len(labels) == 2 and len(outside) == 1 and not any(probe.counts.matrix[:, 1].any() for probe in counted):
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
        if not any(probe.counts.ignored for probe in counted):
            yield Message("fix", "if these are the ground truth, mind the order: {order}", order=ORDER)
    if as_void != outside:
        lossy = {probe.inputs.lossy["prediction"] for probe in counted if probe.prediction in found}
        if len(lossy) == 1 and all(lossy):
            yield as_message(how_to_save_labels(lossy.pop()))
        else:
            yield Message(
                "alternatives",
                "add labels to {classes} that the ground truth holds, too, or remap them: {pred_map}",
                classes=Setting("classes"),
                pred_map=Setting("pred_map"),
            )


def _void_zero(counted: Sequence[CountsProbe], inputs: Confusing) -> list[Finding]:
    """Find label 0 left out as void where it may be the background, in which predictions of a class are wrong.

    Where 0 means unlabelled, it has few of the pixels, and no prediction holds it.
    """
    zeros, classes = (sum(getattr(probe.left_out, name) for probe in counted) for name in ("zeros", "classes"))
    pixels = sum(probe.counts.pixels + probe.counts.ignored for probe in counted)
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
    return finding(message, fix, (Place(probe.prediction) for probe in counted if probe.left_out.classes))


def _joined(counted: Sequence[CountsProbe], inputs: Confusing) -> Iterator[Finding]:
    """Find labels that a remapping does not name, and that so count as the classes of others."""
    sides: dict[str, Side] = {"gt_map": "ground truth", "pred_map": "prediction"}
    for name, side in sides.items():
        labels = sorted({label for probe in counted for label in probe.joined.get(name, ())})
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
            Place(probe.truth_file if name == "gt_map" else probe.prediction, holding(probe.joined[name]))
            for probe in counted
            if probe.joined.get(name)
        )
        yield from finding(message, fix, places, side=side)


def _never_predicted(
    counted: Sequence[CountsProbe], inputs: Confusing, labels_in_no_mean: Sequence[int]
) -> list[Finding]:
    """Find label 0 as a class that most ground truths hold and no prediction does, right as these are elsewhere."""
    labels, names = read_classes(counted[0].counts.classes)
    if inputs.masks or 0 not in labels:
        return []
    row, matrix = labels.index(0), np.sum([probe.counts.matrix for probe in counted], axis=0)
    held = [probe for probe in counted if probe.counts.matrix[row].any()]
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
    return finding(message, fix, (Place(probe.truth_file) for probe in held), side="ground truth")


def _background(counted: Sequence[CountsProbe]) -> list[int]:
    """Give the labels that may be background: 0, and those that are left out as void although predictions hold them."""
    predicted = {label for probe in counted for label in probe.left_out.labels}
    return sorted({0, *predicted.difference(OFTEN_VOID)})


def _as_background(counted: Sequence[CountsProbe], void: Sequence[int]) -> Message:
    """Write the settings under which these labels are background, and no longer void."""
    background, (labels, names) = _background(counted), read_classes(counted[0].counts.classes)
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
    if any(probe.left_out.zeros for probe in counted):
        return Message(
            "fix", "{background}, and leave 0 out of {given}", background=settings, given=Setting("gt_map", None)
        )
    return settings


def _void_class(counted: Sequence[CountsProbe]) -> list[Finding]:
    """Find a class whose label means void in most data sets, beside small labels of classes."""
    labels, names = read_classes(counted[0].counts.classes)
    *others, highest = sorted(labels)
    if highest not in VOIDS or len(others) < 2 or others[-1] >= LABELS_BELOW:
        return []
    row = labels.index(highest)
    held = [probe for probe in counted if probe.counts.matrix[row].any()]
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
    return finding(message, fix, (Place(probe.truth_file) for probe in held), side="ground truth")


REPLACED = ("labels", "void", "grey-ground-truth", "mixed-ground-truth")
"""Findings that suggest which labels to count: with label maps predicted, none helps."""


def predicted_label_findings(probes: Sequence[Probe], rule: LabelRule | None, *, counted: bool) -> list[Finding]:
    """Find that predictions are label maps; `rule` says what is positive, `counted` whether a run would count them."""
    with_labels = [probe for probe in probes if probe.may_hold_labels]
    found = [probe.labels for probe in with_labels]
    if not are_label_maps(found):
        return []
    labels = sorted({int(label) for one in found if one for label in one.truth if label >= 0 and label.is_integer()})
    coloured = any(one.coloured for one in found if one)
    message = Message(
        "label-map",
        "{count:many prediction} of {total} inspected {count:verb are} label maps, as the ground truth is ({of}), and "
        "{number} is not a score",
        count=len(found),
        total=len(found),
        of="in colour" if coloured else f"{len(labels)} labels",
        labels=labels,
        number="the grey level of a colour" if coloured else "the number of a label",
    )
    if coloured:
        fix = Message(
            "fix",
            "evaluate colours of labels with {labels} (r,g,b,label,name per line), or those of ids of segments with "
            "{objects}; or save the scores before argmax, one soft map per class",
            labels=Either("Labels(palette=FILE)", "segbench labels GT PRED --palette FILE"),
            objects=Either("Objects(kind='panoptic')", "segbench objects GT PRED --kind panoptic"),
        )
    else:
        positive = str(rule) if rule and rule.comparison == "=" else str(labels[-1])
        fix = instead_of_label_maps(written_classes(labels, list(map(str, labels))), positive)
    places = [
        Place(probe.prediction, as_message(one.values)) for probe, one in zip(with_labels, found, strict=True) if one
    ]
    images = [probe.image for probe in with_labels]
    return finding(message, joined((fix, _NUMBERS) if counted else (fix,)), places, images=images)


_NUMBERS = Message(
    "fix",
    "{command} counts the numbers of the labels as scores",
    command=Either("evaluate", "--no-check"),
)


def numbered_region_findings(probes: Sequence[Probe], expected: Expected) -> list[Finding]:
    """Find that predictions number regions where lines are expected."""
    numbered = [probe for probe in probes if probe.regions]
    if 2 * len(numbered) <= len(probes):
        return []
    message = Message(
        "label-map",
        "{count:many prediction} of {total} inspected {count:verb are} label maps, and the number of a label is not a "
        "score",
        count=len(numbered),
        total=len(probes),
    )
    rule, values = expected.rule, {value for probe in numbered for value in probe.regions}
    if rule and rule.comparison == "=" and values.issuperset(rule.values):
        fixes = [
            Message(
                "fix",
                "save what {given} names as masks of 0 and 255, 255 * numpy.isin(labels, [{labels}])",
                given=Setting("positive", str(rule)),
                labels=written(rule.values),
            )
        ]
    else:
        fixes = [Message("fix", "save their borders as masks of 0 and 255, 255 * segbench.label_boundaries(labels)")]
        if expected.lines and expected.lines.label_maps:
            regions = Either("Regions()", "segbench regions GT PRED")
            fixes.append(Message("fix", "regions are compared by {regions}", regions=regions))
    places = (Place(probe.prediction, "values " + holding(probe.regions)) for probe in numbered)
    return finding(message, joined([*fixes, _NUMBERS]), places, images=[probe.image for probe in numbered])


def region_findings(probes: Sequence[LabelProbe], of_soft_maps: Message | str) -> list[Finding]:
    """Find predicted label maps that look like soft maps, meant for another protocol, or counted as it says."""
    soft = [probe for probe in probes if probe.soft]
    message = Message(
        "soft-map",
        "{count:many prediction} of {total} inspected {count:verb look} like soft maps: every grey level is read as "
        "{region}",
        count=len(soft),
        total=len(probes),
        region="an object" if of_soft_maps else "a region",
    )
    give = Message(
        "fix",
        "give label maps, ucm2 or segs; soft maps are for {protocols}",
        protocols=Either("Pixels() or Boundaries()", "segbench pixels or segbench boundaries"),
    )
    return found_in(
        soft, message, of_soft_maps or give, lambda probe: Message("detail", "{labels} labels", labels=probe.labels)
    )
