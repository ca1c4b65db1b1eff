"""The instances in the files of an image, and the maps that ways of reading ask for in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from segbench.core.errors import DataError
from segbench.core.instances import Instances
from segbench.core.messages import Message, Note, Setting, protocol_with
from segbench.core.sample import Maps, OnTop, Rasterise, Reading, Side
from segbench.loaders.drawn_instances import drawn, highest_scores, instances_of_map, together
from segbench.loaders.instance_sources import InstanceSource
from segbench.loaders.instance_stacks import is_stack, stacked
from segbench.loaders.source import Source, shown

_IN_ONE_FILE: tuple[str, ...] = ("numbers", "kept")
"""Ways of reading for which several files of an image hold an object each."""


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
        raise DataError(shown(source), problem, "give maps")


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
        elif not reads.soft:
            template = "all detections are drawn, whatever their score; {setting} leaves out others"
            setting = Setting("min_score", 0.5, of="Repairs")
            notes = (*notes, Note(Message("all-scores", template, setting=setting)))
    if reads.soft and side == "prediction":
        _refuse_several_classes(instances, path)
        return Maps((highest_scores(instances) if scored else highest_scores(instances) > 0,), notes, "soft")
    values = instances.classes + getattr(path, "first_label", 0)
    if reads.instances in ("numbers", "regions"):
        values = np.arange(1, len(instances) + 1)
    if reads.instances == "numbers" and instances.crowds.any():
        crowds = int(np.count_nonzero(instances.crowds))
        problem = Message("crowds", "has {crowds:many crowd} of objects without a number each", crowds=crowds)
        fix = Message("fix", "measure instances as they are: {kind}", kind=Setting("kind", "scored"))
        raise DataError(shown(path), problem, fix)
    if (values == 0).any():
        problem = Message("class-0", "has objects of class 0, which pixels without objects have in a map of classes")
        raise DataError(shown(path), problem, "number classes from 1")
    painted, undecided = drawn(instances, values, on_top)
    if undecided:
        raise _overlapping(path, undecided)
    fits = painted.max(initial=0) <= np.iinfo(np.uint16).max
    return Maps((painted.astype(np.uint16) if fits else painted,), notes)


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


def _refuse_several_classes(instances: Instances, path: Source) -> None:
    """Refuse a soft map of several classes."""
    classes = np.unique(instances.classes)
    if classes.size > 1:
        problem = Message(
            "several-classes", "has instances of {count} classes, and a soft map is of one", count=classes.size
        )
        labels = protocol_with("Labels", "segbench labels GT PRED ", Setting("classes", classes.tolist()))
        fix = Message("fix", "count label maps with {labels}, or write each class by itself", labels=labels)
        raise DataError(shown(path), problem, fix)
