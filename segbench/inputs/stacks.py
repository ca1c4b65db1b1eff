"""Stacks of one map per class: which axis goes through the classes, and which classes the maps may belong to."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from segbench.core.errors import DataError
from segbench.core.messages import Either, Message, Setting, joined, protocol_with
from segbench.inputs.class_names import labels_text, written_classes
from segbench.inputs.label_rules import VOIDS
from segbench.loaders.reading import decode_truth

if TYPE_CHECKING:
    from segbench.core.arrays import Array
    from segbench.loaders.arrays import StackError
    from segbench.loaders.listing import SampleFiles


Argument: TypeAlias = Literal["classes", "labels"]
"""What Python calls the classes that the command line lists with ``--classes``: those of `Labels`, or of `Classes`."""
CLASSES: tuple[Argument, ...] = get_args(Argument)


_NEAR_ONE = 0.01
"""How far sums of half floats after a softmax may be from 1."""
_LINE = 8
"""Pixels of a line, at least, and lines of an axis, at most about twice as many, whose sums are no accident."""


class ClassMapsError(DataError):
    """A prediction can be read, but is not one map per class."""


def class_axis(
    file: str, stack: tuple[int, ...], truth: Array, labels: Sequence[int], *, argument: Argument, hint: Message | str
) -> int:
    """Return the axis of a stack that goes through the classes, 0 or -1; `hint` is for a stack of another size."""
    classes, shape = len(labels), truth.shape
    first, last = stack == (classes, *shape), stack == (*shape, classes)
    if first != last:
        return 0 if first else -1
    if first:
        problem = Message(
            "class-axis", "shape ({shape}) can be (classes, height, width) or (height, width, classes)", shape=stack
        )
        save = "save label maps" if argument == "classes" else "save one folder per class"
        raise ClassMapsError(file, problem, save)
    turned = shape[::-1]
    transposed = turned != shape and turned in (stack[1:], stack[:-1])
    problem = Message(
        "other-size",
        "shape ({shape}), expected ({first}) or ({last}): {classes} of the ground truth's size{transposed}",
        shape=stack,
        first=(classes, *shape),
        last=(*shape, classes),
        classes="1 class" if classes == 1 else f"{classes} classes",
        transposed=" (it looks transposed)" if transposed else "",
    )
    if transposed:
        hint = "swap rows and columns where the scores are saved"
    elif shape in (stack[1:], stack[:-1]):
        hint = _of_other_number(labels, truth, stack[0] if stack[1:] == shape else stack[-1], argument)
    elif 1 in (stack[0], stack[-1]):
        resize = Either("repairs=Repairs(resize='nearest')", "--resize-predictions nearest")
        hint = Message("fix", "save one map as (height, width); of files, {resize} resizes it", resize=resize)
    raise ClassMapsError(file, problem, hint)


def refuse_other_softmax(file: str, stack: Any, axis: int) -> None:
    """Refuse scores that sum to 1 along rows or columns, as after a softmax over another axis than that of the classes.

    An array or a tensor, of which some lines are summed.
    """
    shape, own = tuple(stack.shape), axis % stack.ndim
    if "float" not in str(stack.dtype):
        return
    for other in (number for number, length in enumerate(shape) if number != own and length >= _LINE):
        whole = (own, other)
        lines = stack[tuple(slice(None, None, 1 if k in whole else max(1, n // _LINE)) for k, n in enumerate(shape))]
        over_other, over_own = (bool((abs(lines.sum(along) - 1) < _NEAR_ONE).all()) for along in (other, own))
        if over_other and not over_own:
            problem = Message(
                "softmax-axis",
                "scores sum to 1 along axis {axis}, and not over the classes, which are axis {expected}",
                axis=other,
                expected=own,
            )
            raise ClassMapsError(
                file, problem, "take the softmax over the axis of the classes, and save the scores again"
            )


def _of_other_number(labels: Sequence[int], truth: Array, maps: int, argument: Argument) -> Message:
    """Say what to do with another number of maps than of classes."""
    if 0 in labels and maps == len(labels) - 1:
        name = Message("fix", "or name a class for each of the {maps} maps, in their order", maps=maps)
        return joined([_without_background(labels, argument), name])
    listed = classes_of_maps(truth, maps, argument)
    hint = Message(
        "fix", "name a class for each of the {maps} maps, in their order: {listed}", maps=maps, listed=listed
    )
    if argument == "labels" and 0 not in labels and maps == len(labels) + 1:
        return hint + "; or, if label 0 is the background, save stacks without its map"
    return hint


def _without_background(labels: Sequence[int], argument: Argument) -> Message:
    """Say what to do with maps of all classes but label 0."""
    if argument == "classes":
        save = "save its map, too, since the highest of all decides, or label maps with 0 where no map is high enough"
        return Message("fix", "if label 0, the background, has no map, {save}", save=save)
    others = [label for label in labels if label]
    listed = Either(f"labels={others}", f"--classes {labels_text(others)}")
    return Message("fix", "if label 0, the background, has no map, leave it out: {listed}", listed=listed)


def is_one_map(stack: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether an array with one more axis than an image is a single map."""
    return stack in ((1, *shape), (*shape, 1))


def classes_of_maps(truth: Array, maps: int, argument: Argument) -> Setting | Either:
    """Say how to list the classes of so many maps: those of a ground truth, as far as it shows them."""
    import numpy as np

    values = np.unique(truth)
    known = values[~np.isin(values, VOIDS)]
    mask = values.size <= 2 and bool(np.isin(values[-1:], VOIDS).any())
    labels = next(
        (values_of_maps.astype(int).tolist() for values_of_maps in (known, values) if values_of_maps.size == maps), None
    )
    if not mask and (not known.size or (known[0] >= 0 and known[-1] < maps)):
        labels = list(range(maps))
    if labels is None:
        return Either(f"{argument}=...", "--classes")
    text = written_classes(labels, list(map(str, labels)))
    if argument == "classes":
        return Setting("classes", text)
    python = f"labels={f'range({maps})' if labels == list(range(maps)) else labels}"
    options = f"--classes {quote(text)}"
    return Either(f"{python}, void=()", f"{options} --void none") if 255 in labels else Either(python, options)


class ClassStackError(DataError):
    """A stack of so many maps, one per class, where a protocol reads one; `stored` are those of its ground truth."""

    def __init__(self, error: DataError, values: Sequence[float], maps: int) -> None:
        import numpy as np

        of_labels, of_scores = (
            Message("fix", "{classes}", classes=classes_of_maps(np.array(values), maps, argument))
            for argument in CLASSES
        )
        labels = protocol_with("Labels", "segbench labels GT PRED ", of_labels)
        if maps == 2 and len(values) <= 2:
            labels = Message("fix", "{command}", command=Either("Labels()", "segbench labels GT PRED"))
        hint = Message(
            "alternatives",
            "{labels} for the argmax, or {scores} for the scores of each class",
            labels=labels,
            scores=protocol_with("Classes", "segbench pixels GT PRED ", of_scores),
        )
        super().__init__(error.path, error.what, hint)
        self.stored, self.maps = values, maps

    def of_set(self, values: Sequence[float]) -> DataError:
        """Return the error with advice on the values of a set, of which an image may show too few."""
        return ClassStackError(self, values, self.maps)


def with_its_classes(error: StackError, files: SampleFiles) -> DataError:
    """Say of a stack which commands read it, if it has the size of its ground truth."""
    import numpy as np

    try:
        truth = decode_truth(files)
    except DataError:
        return error
    if truth is not None and truth.shape in (error.values["shape"][1:], error.values["shape"][:-1]):
        maps = error.values["shape"][0 if truth.shape == error.values["shape"][1:] else -1]
        return ClassStackError(error, np.unique(truth).tolist(), maps)
    return error
