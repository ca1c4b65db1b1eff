"""The segments of panoptic maps: their numbers in both maps, and their classes; what cannot be is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from segbench.core.arrays import Array
from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, Setting, joined
from segbench.core.names import first_names
from segbench.core.protocol import Interpreted
from segbench.core.sample import Sample
from segbench.inputs.class_regions import MOST_CLASSES
from segbench.inputs.mask_pairs import refuse_numbers_with_loss, two_maps
from segbench.inputs.numberings import StoredLabels, find_numberings
from segbench.inputs.object_numbers import advice_on_levels, whole_numbers
from segbench.inputs.overlaps import Overlaps

_LISTED = 5
_INSTANCES = 2**32
"""What the class of a pixel is multiplied by where it has a file of its own."""
_OUTSIDE = -1
"""What pixels outside the field of view are given, which is no segment's number."""
_SIDES = ("ground truth", "prediction")


@dataclass(frozen=True)
class Segments:
    """What the values of a panoptic map are."""

    labels: Mapping[int, int]  # the class of each value; other values are void
    crowds: frozenset[int] = frozenset()


Classes = Mapping[int, tuple[str, bool]]
"""The name of each class of panoptic maps, and whether it has things, by its label."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PanopticPair(Interpreted):
    """Two panoptic maps, how their values lie on each other, and what these are."""

    truth: Array
    predicted: Array
    overlaps: Overlaps
    true_segments: Segments
    predicted_segments: Segments
    classes: Classes


def numbers_of_segments(sample: Sample, divisor: int | None, no_volumes: str) -> tuple[Array, Array]:
    """Return the numbers of the segments on both sides; those outside the field of view are no segment's."""
    refuse_numbers_with_loss(sample, advice_on_levels)
    whole = divisor is not None or sample.about[0] is not None
    truth, predicted = whole_numbers(sample, two_maps(sample, no_volumes)) if whole else _combined(sample)
    if sample.field is not None:
        truth = np.where(sample.field, truth.astype(np.int64), _OUTSIDE)
    return truth, predicted


def segments_in(sample: Sample, overlaps: Overlaps, settings: Any) -> tuple[Segments, Segments, Classes]:
    """Say what the values of both maps are; what cannot be is listed in one error for each map.

    The `settings` are those of `PanopticMaps`.
    """
    sides = [(overlaps.true, overlaps.true_areas), (overlaps.predicted, overlaps.predicted_areas)]
    pixels = [dict(zip(*map(np.ndarray.tolist, side), strict=True)) for side in sides]
    pixels[0].pop(_OUTSIDE, None)
    if sample.about[0] is not None:
        if settings.classes is not None or settings.things or tuple(settings.void) != (0,):
            problem = Message("json-and-settings", "has a JSON, which names the classes, things and void")
            settings_of_maps = [Setting(name, None) for name in ("classes", "things", "void")]
            raise DataError(sample.truth_file, problem, Message("fix", "leave out {given}", given=settings_of_maps))
        return _by_json(sample, pixels)
    classes, things = dict(zip(settings.classes or (), settings.names or (), strict=True)), settings.things
    both = zip(_files(sample), pixels, strict=True)
    true, predicted = (_labels(*side, settings.divisor or _INSTANCES, classes, settings.void) for side in both)
    crowds = frozenset(value for value, label in true.items() if value == label and label in things)
    titled = {label: (classes.get(label, str(label)), label in things) for label in {*classes, *things}}
    return Segments(true, crowds), Segments(predicted), titled


def notes_on_classes(sample: Sample, overlaps: Overlaps, settings: Any) -> tuple[Note, ...]:
    """Say that panoptic maps number the classes as another list of a known data set does, and how these belong."""
    if settings.classes is None or sample.about[0] is not None:
        return ()
    divisor, of_classes = settings.divisor or _INSTANCES, overlaps.true[overlaps.rows] != _OUTSIDE
    sides = (overlaps.true[overlaps.rows][of_classes], overlaps.predicted[overlaps.columns][of_classes])
    truth, predicted = (np.where(values < divisor, values, values // divisor) for values in sides)
    pairs = StoredLabels.of_pairs(truth, predicted, overlaps.pixels[of_classes])
    renumbered = find_numberings(pairs, settings.classes, settings.void, "", "")
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
    """Return the class of each value: the value itself below the divisor, for segments without an instance."""
    labels = {value: value // divisor if value >= divisor else value for value in values}
    known = {value: label for value, label in labels.items() if label not in void}
    strange = {label: value for value, label in known.items() if label not in classes}
    if classes and strange:
        listed = [
            f"class {label}" + (f" (value {value})" if value != label else "") for label, value in strange.items()
        ]
        problem = Message(
            "no-class",
            "holds {labels}, expected the {classes} classes or void",
            labels=first_names(listed, _LISTED),
            classes=len(classes),
        )
        settings = [Setting("classes", None), Setting("void", None)]
        fix = Message("fix", "name them all: {settings}", settings=settings)
        raise DataError(file, problem, _divisor_first(divisor, fix))
    if max(labels.values(), default=0) >= MOST_CLASSES:
        problem = Message(
            "no-class",
            "holds class {label}, expected classes below {most}",
            label=max(labels.values()),
            most=MOST_CLASSES,
        )
        raise DataError(file, problem, _divisor_first(divisor, Message("fix", "save numbers of classes")))
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
                "other-ids",
                "{which}: {ids}",
                which=which,
                ids=first_names([str(number) for number in sorted(ids)], _LISTED),
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
            problem = Message("other-segments", "{problems:; }", problems=problems)
            raise DataError(file, problem, "write the map and its JSON from the same segments")
        crowds = frozenset(number for number, (_, crowd, _) in segments.items() if crowd)
        sides.append(Segments({number: label for number, (label, *_) in segments.items()}, crowds))
        classes |= {label: (name, is_thing) for label, name, is_thing in about["classes"]}
    return sides[0], sides[1], classes


def _combined(sample: Sample) -> tuple[Array, Array]:
    """Put maps of classes and of instances together."""
    pairs = [list(sample.ground_truths), list(sample.predictions)]
    if not all(len(pair) == 2 and pair[0].shape == pair[1].shape for pair in pairs):
        maps_found = " and ".join(f"{len(pair)} in the {side}" for pair, side in zip(pairs, _SIDES, strict=True))
        problem = Message(
            "no-segments",
            "panoptic maps need a JSON, a divisor or two files of an image, found maps: {found}",
            found=maps_found,
        )
        fix = Message(
            "fix",
            "put the JSON beside its unpacked folder, or give {divisor}, or {pattern} for files of classes and "
            "instances",
            divisor=Setting("divisor", 1000),
            pattern=Setting("gt_pattern", "*_#"),
        )
        raise DataError(sample.truth_file, problem, fix)
    files = [name.rpartition("/")[2].lower() for name in sample.truth_files]
    if ("inst" in files[0]) == ("inst" in files[1]):
        problem = Message(
            "no-segments",
            "two maps, {files}, expected one with 'inst' in its name, and one of classes",
            files=" and ".join(files),
        )
        raise DataError(sample.truth_file, problem, "rename the maps of instances")
    if "inst" in files[0]:
        pairs[0].reverse()
    classes, instances = (whole_numbers(sample, maps) for maps in zip(*pairs, strict=True))
    combined = (
        np.where((part == 0) | (labels == 0), labels, labels.astype(np.int64) * _INSTANCES + part)
        for labels, part in zip(classes, instances, strict=True)
    )
    return next(combined), next(combined)


def _files(sample: Sample) -> tuple[str, str]:
    return sample.truth_file, sample.predicted_file
