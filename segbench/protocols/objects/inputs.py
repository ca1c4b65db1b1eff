"""The files of an image as maps of objects, or as masks; what their values cannot mean is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from segbench.core.arrays import Array, is_whole
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting, joined
from segbench.core.names import first_names
from segbench.core.notes import Note
from segbench.core.sample import Sample
from segbench.inputs.class_names import MOST_CLASSES
from segbench.inputs.mask_pairs import left_out, masks_at, refuse_numbers_with_loss, two_maps
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, PANOPTIC
from segbench.inputs.predicted_labels import in_colour
from segbench.protocols.objects.counting import Classes, Overlaps, Segments, components_of
from segbench.protocols.objects.numbering import advice_on_levels, advice_on_masks

Maps = tuple[Array, Array]

_LISTED = 5
_INSTANCES = 2**32
"""What the class of a pixel is multiplied by where it has a file of its own."""
_LARGEST = 2**62
_OUTSIDE = -1
"""What pixels outside the field of view are given, which is no segment's number."""
_STACKS = "objects that overlap have no label map: keep the one on top"
_SIDES = ("ground truth", "prediction")


def maps_of(sample: Sample, rules: Any) -> Maps:
    """Give maps of integers on both sides: numbers of objects, or of segments."""
    void = tuple(map(float, rules.void or ()))
    if rules.kind != COMPONENTS:
        refuse_numbers_with_loss(sample, advice_on_levels)
    if rules.kind == INSTANCES:
        return _instances(sample, void)
    if rules.kind == COMPONENTS:
        at = None if rules.at is None else (rules.at,)
        numbers = Message("fix", "for numbers of objects give {kind}", kind=Setting("kind", INSTANCES))
        settings: dict[str, Any] = {"positive": rules.positive, "no_volumes": _STACKS, "of_labels": lambda _: numbers}
        mask, (found,) = masks_at(sample, at, above=True, void=void, **settings)
        sizes = {name: getattr(rules, name) for name in ("connectivity", "min_true", "min_predicted")}
        return components_of(mask, found, **sizes)
    whole = rules.divisor is not None or sample.about[0] is not None
    truth, predicted = _numbers(sample, two_maps(sample, _STACKS)) if whole else _combined(sample)
    if sample.field is not None:
        truth = np.where(sample.field, truth.astype(np.int64), _OUTSIDE)
    return truth, predicted


def _instances(sample: Sample, void: Sequence[float]) -> Maps:
    """Give the numbers of objects on both sides; void pixels are in none."""
    maps = _numbers(sample, two_maps(sample, _STACKS))
    for file, values in zip(_files(sample), maps, strict=True):
        if values.dtype == np.bool_ or (values.max() == 255 and not ((values > 0) & (values < 255)).any()):
            value = int(values.max())
            what = Message("masks", "is a mask of 0 and {value}, expected a number for each object", value=value)
            raise DataError(file, what, advice_on_masks())
    hidden = left_out(sample, sample.ground_truths[0], void)
    if hidden is None:
        return maps
    truth, predicted = (np.where(hidden, values.dtype.type(0), values) for values in maps)
    return truth, predicted


def segments_in(sample: Sample, found: Overlaps, rules: Any) -> tuple[Segments, Segments, Classes]:
    """Say what the values of both maps are; what cannot be is listed in one error for each map."""
    held = [(found.true, found.true_areas), (found.predicted, found.predicted_areas)]
    pixels = [dict(zip(*map(np.ndarray.tolist, side), strict=True)) for side in held]
    pixels[0].pop(_OUTSIDE, None)
    if sample.about[0] is not None:
        if rules.classes is not None or rules.things or tuple(rules.void or ()) != (0,):
            what = Message("json-and-settings", "has a JSON, which names the classes, things and void")
            settings = [Setting(name, None) for name in ("classes", "things", "void")]
            raise DataError(sample.truth_file, what, Message("fix", "leave out {given}", given=settings))
        return _by_json(sample, pixels)
    classes, things = dict(zip(rules.classes or (), rules.names or (), strict=True)), rules.things
    both = zip(_files(sample), pixels, strict=True)
    true, predicted = (_labels(*side, rules.divisor or _INSTANCES, classes, rules.void or ()) for side in both)
    crowds = frozenset(value for value, label in true.items() if value == label and label in things)
    titled = {label: (classes.get(label, str(label)), label in things) for label in {*classes, *things}}
    return Segments(true, crowds), Segments(predicted), titled


def notes_on_classes(sample: Sample, found: Overlaps, rules: Any) -> tuple[Note, ...]:
    """Say that panoptic maps number the classes as another list of a known data set does, and how these belong."""
    if rules.classes is None or sample.about[0] is not None:
        return ()
    divisor, kept = rules.divisor or _INSTANCES, found.true[found.rows] != _OUTSIDE
    sides = (found.true[found.rows][kept], found.predicted[found.columns][kept])
    truth, predicted = (np.where(values < divisor, values, values // divisor) for values in sides)
    renumbered = rules.class_rules.renumbered_pairs(truth, predicted, found.pixels[kept])
    if renumbered is None:
        return ()
    message = Message(
        "other-numbers",
        "{what}: save these with the labels of {classes}, {remapped}",
        what=renumbered.what,
        classes=Setting("classes", None),
        remapped=joined(
            (
                Message("remapping", "{remapping} in {side}", remapping=remapping, side=side)
                for side, remapping in zip(_SIDES, renumbered.likely.maps, strict=True)
                if remapping
            ),
            " and ",
        ),
    )
    return (Note(message, doubt=True),)


def _labels(
    file: str, values: Iterable[int], divisor: int, classes: Mapping[int, str], void: Sequence[float]
) -> dict[int, int]:
    """Give the class of each value: the value itself below the divisor, for segments without an instance."""
    labels = {value: value // divisor if value >= divisor else value for value in values}
    known = {value: label for value, label in labels.items() if label not in void}
    strange = {label: value for value, label in known.items() if label not in classes}
    if classes and strange:
        listed = [
            f"class {label}" + (f" (value {value})" if value != label else "") for label, value in strange.items()
        ]
        what = Message(
            "no-class",
            "holds {labels}, expected the {classes} classes or void",
            labels=first_names(listed, _LISTED),
            classes=len(classes),
        )
        settings = [Setting("classes", None), Setting("void", None)]
        fix = Message("fix", "name them all: {settings}", settings=settings)
        raise DataError(file, what, _divisor_first(divisor, fix))
    if max(labels.values(), default=0) >= MOST_CLASSES:
        what = Message(
            "no-class",
            "holds class {label}, expected classes below {most}",
            label=max(labels.values()),
            most=MOST_CLASSES,
        )
        raise DataError(file, what, _divisor_first(divisor, Message("fix", "save numbers of classes")))
    return known


def _divisor_first(divisor: int, otherwise: Message) -> Message:
    """Advise to correct the divisor, where there is one, or what is advised otherwise."""
    if divisor == _INSTANCES:
        return otherwise
    correct = Message("fix", "correct {name}, which is {divisor}", name=Setting("divisor", None), divisor=divisor)
    return joined([correct, otherwise], ", or ")


def _by_json(sample: Sample, pixels: Sequence[Mapping[int, int]]) -> tuple[Segments, Segments, Classes]:
    """Take what the JSON of each side says of its ids, which must be those that have pixels."""
    sides: list[Segments] = []
    classes: dict[int, tuple[str, bool]] = {}
    for file, areas, about in zip(_files(sample), pixels, sample.about, strict=True):
        segments = {number: (label, crowd, area) for number, label, crowd, area in about["segments"]}
        missing, strange = segments.keys() - areas.keys(), areas.keys() - segments.keys() - {0}
        problems = [
            Message(
                "other-ids", "{which}: {ids}", which=which, ids=first_names([str(one) for one in sorted(ids)], _LISTED)
            )
            for which, ids in (("ids in its JSON without pixels", missing), ("ids that its JSON lacks", strange))
            if ids and (sample.field is None or ids is strange)
        ]
        if not sides and not problems and sample.field is None:  # predicted areas are often those of another size
            problems += [
                Message(
                    "overlap",
                    "segment {id} has {pixels} pixels, and its JSON says {area}: segments overlap",
                    id=number,
                    pixels=areas[number],
                    area=area,
                )
                for number, (_, _, area) in segments.items()
                if area is not None and area != areas[number]
            ][:_LISTED]
        if problems:
            what = Message("other-segments", "{problems:; }", problems=problems)
            raise DataError(file, what, "write the map and its JSON from the same segments")
        crowds = frozenset(number for number, (_, crowd, _) in segments.items() if crowd)
        sides.append(Segments({number: label for number, (label, *_) in segments.items()}, crowds))
        classes |= {label: (name, thing) for label, name, thing in about["classes"]}
    return sides[0], sides[1], classes


def _combined(sample: Sample) -> Maps:
    """Put maps of classes and of instances together."""
    pairs = [list(sample.ground_truths), list(sample.predictions)]
    if not all(len(pair) == 2 and pair[0].shape == pair[1].shape for pair in pairs):
        found = " and ".join(f"{len(pair)} in the {side}" for pair, side in zip(pairs, _SIDES, strict=True))
        what = Message(
            "no-segments",
            "panoptic maps need a JSON, a divisor or two files of an image, found maps: {found}",
            found=found,
        )
        fix = Message(
            "fix",
            "put the JSON beside its unpacked folder, or give {divisor}, or {pattern} for files of classes and "
            "instances",
            divisor=Setting("divisor", 1000),
            pattern=Setting("gt_pattern", "*_#"),
        )
        raise DataError(sample.truth_file, what, fix)
    files = [name.rpartition("/")[2].lower() for name in sample.truth_files]
    if ("inst" in files[0]) == ("inst" in files[1]):
        what = Message(
            "no-segments",
            "two maps, {files}, expected one with 'inst' in its name, and one of classes",
            files=" and ".join(files),
        )
        raise DataError(sample.truth_file, what, "rename the maps of instances")
    if "inst" in files[0]:
        pairs[0].reverse()
    classes, instances = (_numbers(sample, each) for each in zip(*pairs, strict=True))
    combined = (
        np.where((part == 0) | (labels == 0), labels, labels.astype(np.int64) * _INSTANCES + part)
        for labels, part in zip(classes, instances, strict=True)
    )
    return next(combined), next(combined)


def _files(sample: Sample) -> tuple[str, str]:
    return sample.truth_file, sample.predicted_file


def _numbers(sample: Sample, maps: Sequence[Array]) -> Maps:
    """Give the maps of both sides as whole numbers from 0."""
    found = []
    for file, values in zip(_files(sample), maps, strict=True):
        if in_colour(values):
            what = Message("in-colour", "is in colour, expected a number for each object")
            fix = Message(
                "fix",
                "colours are ids with a JSON beside the folder: {kind}; or save numbers",
                kind=Setting("kind", PANOPTIC),
            )
            raise DataError(file, what, fix)
        lowest, highest = float(values.min()), float(values.max())
        if not is_whole(values) or lowest < 0 or highest > _LARGEST:
            what = Message(
                "not-whole",
                "holds values from {lowest:g} to {highest:g}, expected whole numbers from 0",
                lowest=lowest,
                highest=highest,
            )
            raise DataError(file, what, "save numbers of objects")
        found.append(values.astype(np.int64) if values.dtype.kind == "f" else values)
    return found[0], found[1]
