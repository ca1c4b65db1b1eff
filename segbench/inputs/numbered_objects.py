"""Maps whose values are numbers of objects, 0 for none; light to import, as settings are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from segbench.core.errors import DataError
from segbench.core.messages import NOTHING, Message, Setting, as_message, joined, together
from segbench.core.protocol import Facts, InputSettings
from segbench.core.sample import SIDES, Reading, Sample, Side
from segbench.core.settings import set_fields
from segbench.inputs.instance_maps import INSTANCE_MAPS
from segbench.inputs.label_rules import (
    ManyValuesError,
    are_grey_levels,
    counted,
    equals_any,
    first_of,
    void_labels,
)
from segbench.inputs.object_kinds import COMPONENTS
from segbench.inputs.sides import DrawnMasks

if TYPE_CHECKING:
    from segbench.core.arrays import Array
    from segbench.inputs.object_numbers import NumberedPair
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles

NO_LABEL_MAP = "objects that overlap have no label map: keep the one on top"
"""What to do with volumes, or stacks of objects."""

_MOST_OBJECTS = 254
_NO_OBJECT = 255.0
"""What DAVIS's annotations hold where they leave open what is there; its code for given objects sets it to 0."""
_PREDICTED = 1000
"""What is added to the numbers of predicted objects among the facts of a frame, above all numbers of true ones."""


def sequence_of(name: str) -> str:
    """Return the folder of a frame."""
    return name.rpartition("/")[0]


@dataclass(frozen=True, kw_only=True)
class NumberedObjects(InputSettings):
    """Instance label maps: a number for each object of an image on either side."""

    void: Sequence[int] = ()
    """Ground-truth values of pixels that are left out on both sides."""
    reads: ClassVar[Reading] = replace(INSTANCE_MAPS, numbered=SIDES)

    def __post_init__(self) -> None:
        set_fields(self, void=void_labels(self.void))

    def interpret(self, sample: Sample) -> NumberedPair:
        """Return the numbers of the objects on both sides; void pixels are in none."""
        import numpy as np

        from segbench.inputs.mask_pairs import left_out, refuse_numbers_with_loss, two_maps
        from segbench.inputs.object_numbers import (
            NumberedPair,
            advice_on_levels,
            parts_of,
            refuse_masks,
            whole_numbers,
        )

        refuse_numbers_with_loss(sample, advice_on_levels)
        truth, predicted = whole_numbers(sample, two_maps(sample, NO_LABEL_MAP))
        refuse_masks(sample, (truth, predicted))
        ignored = left_out(sample, sample.ground_truths[0], self.void)
        if ignored is not None:
            truth, predicted = (np.where(ignored, values.dtype.type(0), values) for values in (truth, predicted))
        facts = (parts_of(truth, predicted),)
        return NumberedPair(truth=truth, predicted=predicted, ignored=ignored, facts=facts)

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Refuse masks where objects have numbers."""
        if complete:
            self.require_numbers(facts)
        return frozenset()

    def require_numbers(self, facts: Mapping[str, Facts]) -> None:
        """Refuse images that are masks instead, as far as their facts show it."""
        from segbench.inputs.object_numbers import require_numbers

        require_numbers(facts.values())

    def summarize(
        self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], NumberedPair]
    ) -> ImageSummary:
        """Summarize the numbers of objects, and those that lie on the background."""
        from segbench.inputs.object_numbers import on_background
        from segbench.inputs.summaries import as_in_run, summary_of_labels

        objects = as_in_run(interpret, sample)
        return summary_of_labels(sample, files, objects.facts, on_background=on_background(objects))

    @property
    def instead_of_soft_maps(self) -> Message:
        return components_of_soft_maps(Setting("positive", ">0"))


def components_of_soft_maps(*settings: Setting) -> Message:
    """Say how to count soft maps where objects have numbers."""
    masks = together(Setting("kind", COMPONENTS), Setting("at", 0.5), *settings)
    return Message("fix", "cut them at a score, for the components of a mask: {masks}", masks=masks)


@dataclass(frozen=True, kw_only=True)
class SequenceObjects(InputSettings, DrawnMasks):
    """Frames of sequences, a folder each, in which an object has one number, as in DAVIS.

    255 is background of the ground truth, but not of predictions.
    """

    void: Sequence[int] = ()
    """Ground-truth values of pixels that are background on both sides."""
    reads: Reading  # type: ignore[misc]  # of the protocol
    no_volumes: str
    """What to do with images of more than two dimensions."""

    def __post_init__(self) -> None:
        set_fields(self, void=void_labels(self.void), reads=replace(self.reads, same_labels=1, numbered=SIDES))

    @property
    def by_image(self) -> bool:
        return True

    def interpret(self, sample: Sample) -> NumberedPair:
        """Return the numbers of the objects on both sides, as bytes; void pixels are in none."""
        import numpy as np

        from segbench.core.arrays import is_whole
        from segbench.inputs.mask_pairs import left_out, refuse_numbers_with_loss, two_maps
        from segbench.inputs.object_numbers import NumberedPair
        from segbench.inputs.predicted_labels import in_colour

        refuse_numbers_with_loss(sample, _advice_on_levels)
        truth, predicted = two_maps(sample, self.no_volumes)
        ignored = left_out(sample, truth, self.void)
        files = sample.truth_file, sample.predicted_file
        for file, numbers in zip(files, (truth, predicted), strict=True):
            if in_colour(numbers):
                raise DataError(
                    file,
                    Message("in-colour", "is in colour, expected the number of an object for each pixel"),
                    Message(
                        "fix",
                        "save the number of its object for each pixel, for instance the index of its colour in a "
                        "palette",
                    ),
                )
        left_open = equals_any(truth, (_NO_OBJECT,))
        true_numbers = np.where(left_open, truth.dtype.type(0), truth)
        objects = []
        for file, numbers in zip(files, (true_numbers, predicted), strict=True):
            inside = numbers if ignored is None else np.where(ignored, numbers.dtype.type(0), numbers)
            if not is_whole(inside) or inside.min() < 0 or inside.max() > _MOST_OBJECTS:
                raise _not_numbered(sample, file, inside)
            objects.append(inside.astype(np.uint8))
        true_held, predicted_held = (np.flatnonzero(np.bincount(numbers.reshape(-1))[1:]) + 1 for numbers in objects)
        facts = [0.0, *map(float, true_held)]
        if left_open.any():
            facts.append(_NO_OBJECT)
        facts += map(float, predicted_held + _PREDICTED)
        return NumberedPair(truth=objects[0], predicted=objects[1], ignored=ignored, facts=tuple(facts))

    def summarize(
        self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], NumberedPair]
    ) -> ImageSummary:
        """Summarize frames, those of one object as masks."""
        import numpy as np

        from segbench.inputs.mask_summaries import summary_of_masks
        from segbench.inputs.summaries import as_in_run, ranking_of_masks

        objects = as_in_run(interpret, sample)
        ranking = None
        if np.unique(objects.truth).size <= 2:
            ranking = ranking_of_masks(sample, objects.truth != 0, objects.predicted != 0, None)
        return summary_of_masks(self, sample, files, objects, ranking)

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Refuse predicted objects that the first frame of their sequence does not number."""
        from segbench.loaders.pairing import natural

        every_value = {value for of_frame in facts.values() for value in of_frame}
        true_values = sorted(value for value in every_value if value < _PREDICTED)
        predicted = sorted(value - _PREDICTED for value in every_value if value >= _PREDICTED)
        numbers: dict[str, float] = {}
        for name in sorted(facts, key=natural) if complete else ():
            highest = max(value for value in facts[name] if value < _NO_OBJECT)
            number = numbers.setdefault(sequence_of(name), highest)
            highest_predicted = max(facts[name]) - _PREDICTED
            if highest_predicted > number:
                raise DataError(
                    name,
                    Message(
                        "unknown-object",
                        "the prediction holds object {predicted:g}, and the first frame of its sequence {highest:g}",
                        predicted=highest_predicted,
                        highest=number,
                    ),
                    _advice_on_objects(true_values, [0.0, *predicted]),
                )
        return frozenset()


def _not_numbered(sample: Sample, file: str, inside: Array) -> DataError:
    """Return the error for values that are no numbers of objects."""
    import numpy as np

    values = np.unique(inside)
    problem = Message(
        "not-numbered",
        "holds {count} distinct values ({values}), expected numbers of objects from 0 to {expected}",
        **counted(values),
        expected=_MOST_OBJECTS,
    )
    if file == sample.truth_file:
        return DataError(file, problem, _advice_on_objects([], values.tolist()))
    true_values = np.unique(sample.ground_truths[0]).tolist()
    return ManyValuesError(file, problem, true_values, _advice_on_objects, values.tolist())


def _advice_on_objects(true_values: Sequence[float], predicted: Sequence[float]) -> Message:
    """Say how predictions of these values get the numbers of the objects in the ground truth, given its values."""
    numbers = [value for value in true_values if value not in (0, _NO_OBJECT)]
    if not numbers and _NO_OBJECT in true_values:
        numbers = [_NO_OBJECT]
    by_hand = Message("fix", "save the number of its object for each pixel, and 0 for none")
    others = set(predicted) - {0, _NO_OBJECT}
    if others and _NO_OBJECT in predicted and others.issubset(numbers):
        return Message("fix", "save 0, and not {value}, where no object is predicted", value=_NO_OBJECT)
    if not numbers:
        return by_hand
    if len(numbers) > 1:
        return Message(
            "fix", "{by_hand}; the ground truth numbers {numbers}", by_hand=by_hand, numbers=first_of(numbers)
        )
    mask = as_message(Setting("positive", numbers[0]))
    if sum(value != 0 for value in predicted) > 1:
        shares = min(predicted) >= 0 and max(predicted) <= 1
        soft = shares or are_grey_levels(predicted)
        mask = joined([mask, Setting("at", 0.5) if soft else "save masks of 0 and 255"], " and ")
    return Message(
        "fix",
        "if {number:g} is the only object of every sequence, {mask}; otherwise {by_hand}",
        number=numbers[0],
        mask=mask,
        by_hand=by_hand,
    )


def _advice_on_levels(side: Side) -> Message:
    """Say what to do with the masks of a single object where objects have numbers."""
    settings = [Setting("positive", ">=128")]
    if side == "prediction":
        settings.append(Setting("at", 0.5))
    return Message("fix", "for masks of a single object give {settings}", settings=joined(settings, " and "))
