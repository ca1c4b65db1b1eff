"""Instances of both sides, which may overlap: those of the prediction with scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.core.protocol import InputSettings, Interpreted
from segbench.core.sample import Reading, Sample
from segbench.core.settings import option
from segbench.inputs.class_names import classes_of, refuse_unfit
from segbench.loaders.instance_files import INSTANCE_FILES

if TYPE_CHECKING:
    from segbench.core.instances import Instances
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles


@dataclass(frozen=True, eq=False, kw_only=True)
class InstancePair(Interpreted):
    """The instances of an image on both sides."""

    truth: Instances
    predicted: Instances


@dataclass(frozen=True, kw_only=True)
class ScoredInstances(InputSettings):
    """What instances with scores are in files."""

    reads: Reading = INSTANCE_FILES  # type: ignore[misc]  # of the protocol
    classes: int | Sequence[int] | str | None = option(
        "Count these classes alone, by their ids: 1,3, or person=1,car=3.",
        metavar="LIST",
        read=str,
        example="person=1,car=3",
        shown="all",
    )
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.classes is None:
            return
        labels, names = _classes(self.classes)
        names = names if self.names is None else tuple(map(str, self.names))
        refuse_unfit(labels, names, ())
        object.__setattr__(self, "classes", labels)
        object.__setattr__(self, "names", names)

    def interpret(self, sample: Sample) -> InstancePair:
        import numpy as np

        from segbench.core.instances import Instances

        truth, predicted = sample.about
        for side, instances in ((sample.truth_file, truth), (sample.predicted_file, predicted)):
            if not isinstance(instances, Instances):
                raise DataError(
                    side,
                    Message("no-instances", "holds no instances, which scored objects are"),
                    Message("fix", "for label maps of objects give {kind}", kind=Setting("kind", "instances")),
                )
        if predicted.size == (0, 0):  # without an instance that shows it
            predicted = replace(predicted, size=truth.size)
        if truth.size != predicted.size:
            problem = Message(
                "other-size", "is {size} pixels, and the ground truth {expected}; nothing is resized",
                size=predicted.size, expected=truth.size,
            )  # fmt: skip
            raise DataError(sample.predicted_file, problem)
        if predicted.scores is None or not np.isfinite(predicted.scores).all():
            problem = Message("no-scores", "has detections without a score, or with one that is no number")
            hint = Message(
                "fix",
                "give each a score; without scores, objects are {kind}, or of several classes {panoptic}",
                kind=Setting("kind", "instances"),
                panoptic=Setting("kind", "panoptic"),
            )
            raise DataError(sample.predicted_file, problem, hint)
        if self.classes is not None:
            truth, predicted = self._chosen(truth), self._chosen(predicted)
        return InstancePair(truth=truth, predicted=predicted)

    def summarize(
        self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], InstancePair]
    ) -> ImageSummary:
        """Summarize which classes are there."""
        import numpy as np

        from segbench.inputs.summaries import InstancesSeen, as_in_run, summary_of_maps

        pair = as_in_run(interpret, sample)
        true, predicted = (frozenset(side.classes.tolist()) for side in (pair.truth, pair.predicted))
        seen = InstancesSeen(
            true,
            predicted,
            names=sample.about[0].names,
            objects=len(pair.truth),
            crowds=int(np.count_nonzero(pair.truth.crowds)),
            detections=len(pair.predicted),
            scores=frozenset(np.unique(pair.predicted.scores)[:2].tolist()),
            **_boxes_seen(pair.predicted),
        )
        return summary_of_maps(sample, files, instances=seen)

    def _chosen(self, instances: Instances) -> Instances:
        """Return the instances of the classes that count, with their names."""
        import numpy as np

        labels: Any = self.classes
        names: Any = self.names
        chosen = instances.where(np.isin(instances.classes, labels))
        return replace(chosen, names=dict(zip(labels, names, strict=True)))


def _boxes_seen(instances: Instances) -> dict[str, int]:
    """Count boxes, those that leave the image, and those that may be two corners, for `InstancesSeen`."""
    import numpy as np

    boxes = instances.boxes[~np.isnan(instances.boxes[:, 0])]
    first, second, size = boxes[:, :2], boxes[:, 2:], np.array(instances.size[::-1])
    outside = (first + second > size + 1).any(axis=1)
    as_corners = ((second > first) & (second <= size)).all(axis=1)
    counts = {"boxes_outside": outside, "boxes_as_corners": as_corners}
    return {"boxes": len(boxes)} | {name: int(np.count_nonzero(chosen)) for name, chosen in counts.items()}


def _classes(classes: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the ids of classes and their names, by default their ids."""
    if isinstance(classes, str):
        labels, names = classes_of(classes)
        return tuple(map(int, labels)), names
    listed = tuple(range(classes)) if isinstance(classes, int) else tuple(int(label) for label in classes)
    return listed, tuple(map(str, listed))
