"""The instances in the files of an image, and the maps that ways of reading ask for in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from segbench.core.arrays import Array, IntArray
from segbench.core.errors import DataError
from segbench.core.instances import Instances
from segbench.core.messages import NOTHING, Either, Message, Note, Setting, protocol_with
from segbench.core.sample import Maps, OnTop, Rasterise, Reading, Side
from segbench.loaders.drawn_instances import drawn, highest_scores, instances_of_map, together
from segbench.loaders.instance_sources import InstanceSource
from segbench.loaders.instance_stacks import is_stack, stacked
from segbench.loaders.source import Source, shown

_IN_ONE_FILE: tuple[str, ...] = ("numbers", "kept")
"""Ways of reading for which several files of an image hold an object each."""
_IN_MASKS = 255


def instances_in(
    files: Sequence[Source],
    contents: Mapping[Source, bytes],
    reads: Reading,
    side: Side,
    rasterise: Rasterise = "labelme",
) -> Maps | None:
    """Return the instances of a side of an image; None where its files hold maps, which the way of reading decodes."""
    predicted = side == "prediction"
    source = files[0] if files else None
    if isinstance(source, InstanceSource):
        _refuse_unread(source, reads)
        boxes_only = getattr(reads, "boxes_only", False)
        return source.instances(contents[source], predicted=predicted, boxes_only=boxes_only, rasterise=rasterise)
    if source is None or reads.instances not in _IN_ONE_FILE or reads.as_volumes:
        return None
    if len(files) > 1:
        parts = [of_map(contents[file], file, None) for file in files]
        # Files of several objects each are those of annotators, or of classes and instances.
        return together(parts, source) if all(len(part.about) <= 1 for part in parts) else None
    if is_stack(source):
        return stacked(contents[source], source, predicted=predicted)
    return None


def of_map(data: bytes, path: Source, divisor: int | None) -> Maps:
    """Return the values of a label map, or its only object, as instances."""
    from segbench.loaders.images import decode

    return instances_of_map(decode(data, path, role="label map").array, divisor, path)


def _refuse_unread(source: InstanceSource, reads: Reading) -> None:
    """Refuse instances where nothing can be made of them."""
    if not reads.instances:
        problem = Message("needless-instances", "is a file of instances, which do not become {name}", name=reads.name)
        objects, contours = (
            protocol_with(name, f"segbench {name.lower()} GT PRED", NOTHING) for name in ("Objects", "Contours")
        )
        template = "measure the objects with {objects}, or how far their outlines lie apart with {contours}"
        raise DataError(shown(source), problem, Message("fix", template, objects=objects, contours=contours))


def as_map(
    maps: Maps, reads: Reading, side: Side, path: Source, *, on_top: OnTop | None, min_score: float | None = None
) -> Maps:
    """Return the map that stands for instances in a way of reading."""
    instances: Instances = maps.about
    notes = tuple(note for note in maps.notes if note.kind != "no-areas")  # which maps do not need
    scored = side == "prediction" and instances.scores is not None and not np.isnan(instances.scores).any()
    if scored and instances.scores is not None and len(instances):
        if min_score is not None:
            instances = instances.where(instances.scores >= min_score)
        elif not (reads.soft or reads.labels):
            template = "all detections are drawn, whatever their score; {setting} leaves out others"
            setting = Setting("min_score", 0.5, of="Repairs")
            notes = (*notes, Note(Message("all-scores", template, setting=setting)))
    if side == "prediction" and (reads.soft or reads.labels):
        soft_maps = _soft_maps(instances, reads, path, scored=scored)
        return Maps(soft_maps, notes, "stack" if reads.labels else "soft")
    painted, undecided = drawn(instances, _values(instances, reads, path), on_top)
    if undecided:
        raise _overlapping(path, undecided)
    fits = painted.max(initial=0) <= np.iinfo(np.uint16).max
    return Maps((painted.astype(np.uint16) if fits else painted,), notes)


def _labels(classes: IntArray, path: Source) -> IntArray:
    """Return the values of classes in label maps."""
    return classes + getattr(path, "first_label", 0)


def _values(instances: Instances, reads: Reading, path: Source) -> IntArray:
    """Return the value of each instance in a map."""
    if reads.instances == "masks":
        return np.full(len(instances), _IN_MASKS)
    if reads.instances == "regions":
        return np.arange(1, len(instances) + 1)
    if reads.instances == "numbers":
        if instances.crowds.any():
            crowds = int(np.count_nonzero(instances.crowds))
            problem = Message("crowds", "has {crowds:many crowd} of objects without a number each", crowds=crowds)
            fix = Message("fix", "measure instances as they are: {kind}", kind=Setting("kind", "scored"))
            raise DataError(shown(path), problem, fix)
        return np.arange(1, len(instances) + 1)
    values = _labels(instances.classes, path)
    if (values == 0).any():
        problem = Message("class-0", "has objects of class 0, which pixels without objects have in a map of classes")
        raise DataError(shown(path), problem, "number classes from 1")
    return values


def _soft_maps(instances: Instances, reads: Reading, path: Source, *, scored: bool) -> tuple[Array, ...]:
    """Return the soft map of instances, or of those of each class; without scores, masks of them."""
    values = _labels(instances.classes, path)
    if not scored:
        instances = replace(instances, scores=None)
    if reads.labels:
        by_class = [instances.where(values == label) for label in reads.labels]
    else:
        if reads.instances == "classes":
            named = _labels(np.array([*instances.names], np.int64), path)
            _refuse_several_classes({*values.tolist(), *named.tolist()}, path)
        by_class = [instances]
    return tuple(scores if scored else scores > 0 for scores in map(highest_scores, by_class))


def _overlapping(path: Source, pixels: int) -> DataError:
    """Say that instances overlap, and that a stack of them may be a volume."""
    problem = Message(
        "overlapping-instances",
        "instances lie on each other in {pixels:many pixel}, and a map has one value in each",
        pixels=pixels,
    )
    small, last = (Setting("on_top", order, of="Repairs") for order in ("smallest", "last"))
    if is_stack(path):
        template = "say which lies on top: {small}, or {last}; of a volume give {volumes}"
        fix = Message("fix", template, small=small, last=last, volumes=Setting("volumes", True, of="Repairs"))
    else:
        fix = Message("fix", "say which lies on top: {small}, or {last}", small=small, last=last)
    return DataError(shown(path), problem, fix)


def _refuse_several_classes(classes: Collection[int], path: Source) -> None:
    """Refuse a soft map of several classes."""
    if len(classes) > 1:
        problem = Message(
            "several-classes", "has instances of {count} classes, and a soft map is of one", count=len(classes)
        )
        listed = sorted(classes)
        by_class = Either(
            f"Classes(labels={listed})", f"segbench pixels GT PRED --classes {','.join(map(str, listed))}"
        )
        fix = Message("fix", "count a soft map for each class: {by_class}", by_class=by_class)
        raise DataError(shown(path), problem, fix)
