"""Arrays that a training loop holds, read as images: NumPy's, PyTorch's tensors, and whatever supports DLPack.

`as_image`, `as_batch` and `as_planes` give a `Batch`; `content_of` names its ground truth as a digest names a file.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray, as_array, split_mask, without_hidden
from segbench.core.errors import VOLUMES, ArgumentError
from segbench.core.geometry import how_to_fit
from segbench.core.levels import note_on_levels
from segbench.core.messages import Message, Note
from segbench.core.numbers import verb
from segbench.core.protocol import Protocol
from segbench.core.sample import Reading
from segbench.loaders.arrays import squeezed
from segbench.protocols.pixels.tensors import Tensor, is_tensor, signed

CountOn = Literal["auto", "device", "host"]
Name = str | SupportsIndex
_MANY_PIXELS = 2**18  # of an image: to copy fewer from a GPU takes less time than to start its operations
BATCH_HINT = "give the images of a batch one by one, or in Accumulator.update with names=, one for each"
_EXPECTED_IMAGE, _EXPECTED_IMAGES = f"(height, width) for one image; {BATCH_HINT}", "(images, height, width)"
_COMBINED = "choose how they count together: Pixels(annotators='majority'), 'any', 'all' or 'each'"
_PER_ANNOTATOR = "expected one array of shape (height, width) per annotator"
DIGEST_BITS = 2**64 - 1
"""Digests of arrays are sums in 64 bits."""
_WORDS_A_ROW = 4096  # of eight bytes
_SHIFT = 29  # brings high bits down, which products lose; of no byte to the place of another
_LEFT_OUT, _SIZE = 0xD6E8FEB86659FD93, 0xA0761D6478BD642F


class Called(NamedTuple):
    """What errors call ground truth and prediction: as the parameters of `Accumulator.update` are called."""

    labels: str = "labels"
    scores: str = "scores"


_CALLED = Called()


@dataclass(frozen=True, eq=False)
class Batch:
    """Arrays of one batch, all of them NumPy's or all of them tensors on one device."""

    labels: Any  # a tuple where there are several annotators
    scores: Any
    valid: Any  # True where a pixel counts; None where all do
    tensors: bool
    volumes: bool = False  # whether images have three dimensions, and are no stacks of classes
    about: Any = None  # the instances of both sides, see `segbench.aggregator.instances`

    @property
    def notes(self) -> tuple[Note, ...]:
        """The note on soft maps of this type: wide integers, perhaps class numbers, are read as levels."""
        name = str(self.scores.dtype).removeprefix("torch.")
        return note_on_levels(np.dtype(name), scalable=False) if "int" in name else ()

    @property
    def note_on_axes(self) -> tuple[Note, ...]:
        """The note on an image that may be a batch."""
        axes = 0 if isinstance(self.labels, tuple) else len(squeezed(tuple(self.labels.shape)))
        if axes <= 2:
            return ()
        message = Message(
            "counted-as-volume",
            "arrays of {axes} axes: each counts as one image, a volume; {hint}",
            axes=axes,
            hint=BATCH_HINT,
        )
        return (Note(message),)

    def images(self, names: Sequence[Name]) -> Iterator[tuple[str, Batch]]:
        """Go through the images along the first axis."""
        images, truths = (
            len(part) if isinstance(part, list) or part.ndim else 0 for part in (self.scores, self.labels)
        )
        if not len(names) == images == truths:
            raise ArgumentError(
                Message(
                    "other-length",
                    "{names:many name} for {images:many image} (scores) and {truths} (labels) along the first axis",
                    names=len(names),
                    images=images,
                    truths=truths,
                )
            )
        for k, name in enumerate(names):
            valid = None if self.valid is None else self.valid[k]
            yield as_name(name), Batch(self.labels[k], self.scores[k], valid, self.tensors, self.volumes)


def are_volumes(protocol: Protocol, labels: Any, *, one_image: bool) -> bool:  # noqa: ANN401  arrays or a list
    """Return whether labels are a volume, or several along the first axis, for a protocol that counts volumes.

    Of a single slice they are one if the settings are for volumes. Protocols of single pixels take any shape anyway.
    """
    shape = getattr(labels, "shape", None)
    counts_volumes = protocol.takes_volumes or not (protocol.reads.pixelwise or protocol.reads.without_volumes)
    if shape is None or not counts_volumes:
        return False
    shape = tuple(shape) if one_image else tuple(shape[1:])
    return len(shape if protocol.of_volumes else squeezed(shape)) == 3


def as_image(
    labels: Any,  # noqa: ANN401  an array, or a list of those of annotators
    scores: Any,  # noqa: ANN401
    valid: object,
    *,
    count_on: CountOn,
    reads: Reading,
    called: Called = _CALLED,
) -> Batch:
    """Take the arrays of one image, as a protocol `reads` them."""
    if are_arrays(labels) and len(labels) == 1:
        labels = labels[0]
    if are_arrays(labels) and not reads.annotators:
        raise ArgumentError(
            Message(
                "several-annotators",
                "{name} is a list of {arrays} arrays, as of so many annotators, and one is expected; give one of them, "
                "or several images one by one{remedy}",
                name=called.labels,
                arrays=len(labels),
                remedy=f"; or {_COMBINED}" if reads.pixelwise else "",
            )
        )
    if not reads.pixelwise:
        return as_planes(labels, scores, valid, count_on, one_image=True, annotators=reads.annotators, called=called)
    if not are_arrays(labels):
        return as_batch(labels, scores, valid, count_on, images=1, called=called)
    soft = on_host(scores, called.scores)
    drawn = tuple(on_host(truth, called.labels) for truth in labels)
    batch = Batch(drawn, soft, None if valid is None else on_host(valid, "valid"), tensors=False)
    for truth in drawn:
        _check_shapes(replace(batch, labels=truth), called)
    return batch


def are_arrays(labels: object) -> bool:
    """Return whether labels are those of annotators: a list of arrays, and not of numbers, however deep."""
    return isinstance(labels, (list, tuple)) and bool(labels) and all(getattr(truth, "ndim", 0) for truth in labels)


def as_batch(
    labels: object, scores: object, valid: object, count_on: CountOn, *, images: int, called: Called = _CALLED
) -> Batch:
    """Take pixels of images as arrays on the host, or as tensors where the scores are; masked ones are not valid."""
    (labels, unlabelled), (scores, unscored) = split_mask(labels, called.labels), split_mask(scores, called.scores)
    tensors = _on_device(scores, count_on, least=images * _MANY_PIXELS)
    take = partial(_as_tensor, device=scores.device) if tensors else on_host  # type: ignore[attr-defined]
    valid_pixels = None if valid is None else take(valid, "valid")
    truth = take(labels, called.labels)
    batch = Batch(signed(truth) if tensors else truth, take(scores, called.scores), valid_pixels, tensors)
    _check_shapes(batch, called)
    for hidden in (unlabelled, unscored):
        if hidden is not None:
            visible = _as_tensor(~hidden, "valid", batch.scores.device) if batch.tensors else ~hidden
            batch = replace(batch, valid=visible if batch.valid is None else batch.valid & visible)
    return batch


def as_planes(
    labels: Any,  # noqa: ANN401  arrays or a list
    scores: Any,  # noqa: ANN401
    valid: object,
    count_on: CountOn,
    *,
    one_image: bool,
    annotators: bool = False,
    any_shape: bool = False,
    called: Called = _CALLED,
) -> Batch:
    """Take images as arrays on the host, stacks of scores as tensors; `labels` may list annotators or images.

    Where several `annotators` count together, they may also be an axis that scores lack. Labels of `any_shape` are one
    image, whatever their axes.
    """
    plane = _as_it_is if any_shape else partial(_plane, one_image=one_image)
    if one_image and isinstance(labels, (list, tuple)) and labels and not are_arrays(labels):
        labels = on_host(labels, called.labels)  # numbers in lists are one array
    if annotators:
        labels = _by_annotator(labels, scores, one_image=one_image, called=called)
    counted = None if valid is None else plane(on_host(valid, "valid"), "valid")
    if isinstance(labels, (list, tuple)):
        truths: Any = _annotators(labels, called) if one_image else [_annotators(part, called) for part in labels]
    else:
        (labels, unlabelled), (scores, unscored) = split_mask(labels, called.labels), split_mask(scores, called.scores)
        truths = plane(on_host(labels, called.labels), called.labels)
        if truths.ndim != (2 if one_image else 3) and not any_shape:
            raise ArgumentError(
                Message(
                    "other-shape",
                    "{name_has} shape ({shape}), expected {expected}; or {volumes}",
                    name_has=_with_verb(called.labels),
                    shape=truths.shape,
                    expected=_EXPECTED_IMAGE if one_image else _EXPECTED_IMAGES,
                    volumes=VOLUMES,
                )
            )
        if counted is not None:
            _check_valid(counted, truths.shape)
        hidden = [None if mask is None else plane(mask, "mask") for mask in (unlabelled, unscored)]
        if any(mask is not None and mask.shape != truths.shape for mask in hidden):
            raise ArgumentError(
                Message(
                    "masked-stack",
                    "{name} is a stack that masks values; leave pixels out with valid",
                    name=called.scores,
                )
            )
        counted = without_hidden(counted, *hidden)
    stack = plane(scores.detach(), called.scores) if _on_device(scores, count_on) else None
    if stack is None or not isinstance(truths, np.ndarray) or stack.ndim == truths.ndim:
        stack = plane(on_host(scores, called.scores), called.scores)
    return Batch(truths, stack, counted, tensors=False)


def _by_annotator(labels: Any, scores: Any, *, one_image: bool, called: Called) -> Any:  # noqa: ANN401  as above
    """Return labels with an axis of annotators before height and width as lists of their maps."""
    if isinstance(labels, (list, tuple)):
        return labels if one_image else [_by_annotator(part, None, one_image=True, called=called) for part in labels]
    if _axes(labels, called.labels, one_image=one_image) != 4 - one_image:
        return labels
    if scores is not None and _axes(scores, called.scores, one_image=one_image) != 3 - one_image:
        return labels
    drawn = on_host(labels, called.labels)  # which refuses masks
    return list(drawn) if one_image else [list(image) for image in drawn]


def _axes(array: Any, name: str, *, one_image: bool) -> int:  # noqa: ANN401  as above
    """Return the number of axes without one of a single channel."""
    known = hasattr(array, "ndim") and hasattr(array, "squeeze")  # as where a copy from a device would be slow
    plane: NDArray[Any] = _plane(array if known else on_host(array, name), name, one_image=one_image)
    return plane.ndim


def _annotators(truth: Any, called: Called) -> Any:  # noqa: ANN401  an array, or one per annotator
    if not isinstance(truth, (list, tuple)):
        return _annotator(truth, called.labels)
    if not truth:
        raise ArgumentError(
            Message("empty", "{name} is an empty list, {expected}", name=called.labels, expected=_PER_ANNOTATOR)
        )
    return tuple(_annotator(drawn, called.labels) for drawn in truth)


def _annotator(truth: object, name: str) -> NDArray[Any]:
    drawn = on_host(truth, name)
    drawn = _plane(drawn, name, one_image=True) if drawn.ndim > 1 else drawn
    if drawn.ndim != 2:
        raise ArgumentError(
            Message(
                "other-shape",
                "{name} is a list, {expected}; found shape ({shape})",
                name=name,
                expected=_PER_ANNOTATOR,
                shape=drawn.shape,
            )
        )
    return drawn


def _plane(array: Any, name: str, *, one_image: bool) -> Any:  # noqa: ANN401  an array or a tensor
    """Leave out an axis of one channel, before height and width; refuse images without pixels."""
    axis = 0 if one_image else 1
    shape = tuple(array.shape)
    if len(shape) < axis + 2:
        expected = _EXPECTED_IMAGE if one_image else _EXPECTED_IMAGES
        raise ArgumentError(
            Message(
                "other-shape",
                "{name} has shape ({shape}), expected {expected}",
                name=name,
                shape=shape,
                expected=expected,
            )
        )
    if 0 in shape[axis:]:
        raise ArgumentError(
            Message(
                "no-pixels",
                "{name} has shape ({shape}), expected at least one pixel in each image",
                name=name,
                shape=shape,
            )
        )
    return array.squeeze(axis) if len(shape) == axis + 3 and shape[axis] == 1 else array


def _as_it_is(array: Any, name: str) -> Any:  # noqa: ANN401  as above
    del name
    return array


def _on_device(scores: Any, count_on: CountOn, *, least: int = 0) -> bool:  # noqa: ANN401  whatever the user has
    """Return whether scores are a tensor that is counted where it is; by itself only if it has at least so many."""
    if count_on == "host" or not is_tensor(scores):
        return False
    # Metal has no float64, in which scores are rounded; a tensor without data has nothing to count.
    device = scores.device.type
    by_itself = device != "cpu" and scores.numel() >= least
    return device not in ("mps", "meta") and (count_on == "device" or by_itself)


def on_host(array: Any, name: str) -> NDArray[Any]:  # noqa: ANN401  whatever the user has
    """Return an array in the host's memory; one that is there already is not copied."""
    try:
        if is_tensor(array):
            plain = array.detach()
            return np.asarray((plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy(force=True))
        if hasattr(array, "__dlpack__") and not isinstance(array, (np.ndarray, np.generic)):
            return np.from_dlpack(array)
        return as_array(array, name)
    except ArgumentError:
        raise
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        kind = type(array).__name__
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ArgumentError(
            Message(
                "unreadable-array",
                "{name} ({type}) cannot be read ({reason}); give a NumPy array, or a tensor in the host's memory",
                name=name,
                type=kind,
                reason=reason,
            )
        ) from error


def as_name(name: Name) -> str:
    """Read the name of an image: a string, or a whole number such as its place in the data set."""
    if isinstance(name, str):
        if not name:
            raise ArgumentError(
                Message("not-a-name", "the name of an image is empty; give a text or a whole number", given="")
            )
        return name
    try:
        return str(operator.index(name))
    except TypeError:
        raise ArgumentError(
            Message(
                "not-a-name", "{given} is not the name of an image; give a string or a whole number", given=repr(name)
            )
        ) from None


def _check_shapes(batch: Batch, called: Called) -> None:
    labels, scores = tuple(batch.labels.shape), tuple(batch.scores.shape)
    if labels != scores:
        raise ArgumentError(
            Message(
                "other-shape",
                "{name_has} shape ({shape}), {other_name} ({expected}); expected the same ({hint})",
                name_has=_with_verb(called.labels),
                shape=labels,
                other_name=called.scores,
                expected=scores,
                hint=_advice_on_axis(labels, scores, called),
            )
        )
    if batch.valid is not None:
        _check_valid(batch.valid, labels)


def _with_verb(name: str) -> str:
    """Write what starts an error: ``labels have``, ``ground_truth has``."""
    return f"{name} {verb(2 if name.endswith('s') else 1, 'have')}"


def _check_valid(valid: Any, shape: tuple[int, ...]) -> None:  # noqa: ANN401  an array or a tensor
    valid_shape = tuple(valid.shape)
    if valid_shape != shape or str(valid.dtype) not in ("bool", "torch.bool"):
        raise ArgumentError(
            Message(
                "other-field",
                "valid has shape ({shape}) and dtype {dtype}, expected ({expected}) and bool",
                shape=valid_shape,
                dtype=str(valid.dtype),
                expected=shape,
            )
        )


def _advice_on_axis(labels: tuple[int, ...], scores: tuple[int, ...], called: Called) -> Message:
    """Say what to do about an axis that only one of the two has, or that nothing can be done."""
    of_labels = len(labels) > len(scores)
    long, short = (labels, scores) if of_labels else (scores, labels)
    name, other = called if of_labels else reversed(called)
    for axis, index in ((1, "[:, {}]"), (0, "[{}]"), (-1, "[..., {}]")):
        size = long[axis] if len(long) > len(short) > axis else 0
        if size and tuple(np.delete(long, axis).tolist()) == short:
            taken = name + index.format(1 if size > 1 else 0)
            if size > 1 and of_labels:
                return Message(
                    "axis-of-annotators",
                    "take the channel of the positive class, such as {taken} if that is channel 1; several annotators "
                    "are a list of arrays, for Pixels(annotators='majority')",
                    taken=taken,
                )
            if size > 1:
                return Message(
                    "axis-of-channels",
                    "take the channel of the positive class, such as {taken} if that is channel 1; a map for each "
                    "class is for Labels(classes=...) or Classes(labels=...)",
                    taken=taken,
                )
            if axis == 0:
                return Message(
                    "batch-of-one", "take {taken}, or {other}[None] for a batch of one", taken=taken, other=other
                )
            return Message("axis-of-one", "take {taken}", taken=taken)
    return how_to_fit(scores, labels, Message("other-pixels", "nothing is resized"))


def _as_tensor(array: Any, name: str, device: Any) -> Any:  # noqa: ANN401  tensors, of PyTorch's types
    if is_tensor(array):
        return array.detach().to(device)
    torch: Any = sys.modules["torch"]
    return torch.from_numpy(np.array(on_host(array, name), order="C")).to(device)


def content_of(batch: Batch) -> int:
    """Return a number that names the ground truth of one image and which pixels count, as a digest names a file.

    It depends on values alone: masks of bool and of floats 0 and 1 have the same. NumPy and PyTorch compute it by the
    same operations, so that of tensors on another device a few sums are copied, and no labels. Sums of products with
    constants take half the time of SHA-256. They find what differs by mistake, and prove nothing against intent.
    """
    labels, valid = batch.labels, batch.valid
    if batch.about is not None:
        labels = batch.about[0].numbers
    if isinstance(labels, tuple):
        labels = np.concatenate([truth.reshape(-1) for truth in labels])
    weighted_sum = _sum_of_tensor if batch.tensors else _sum_of_array
    labels = labels.reshape(-1)
    content = int(labels.shape[0]) * _SIZE
    if valid is not None:
        valid = valid.reshape(-1)
        labels = (sys.modules["torch"] if batch.tensors else np).where(valid, labels, 0)
        content += weighted_sum(~valid) * _LEFT_OUT
    return (content + weighted_sum(labels)) & DIGEST_BITS


def _sum_of_array(values: NDArray[Any]) -> int:
    with np.errstate(invalid="ignore"):  # of labels that are no whole numbers from 0 to 255
        octets = values.astype(np.uint8, copy=False)
    if values.dtype not in (np.bool_, np.uint8) and not np.array_equal(octets, values):
        octets = values.astype(np.float64).view(np.uint8)
    rows = np.zeros((-(-octets.size // (8 * _WORDS_A_ROW)), 8 * _WORDS_A_ROW), np.uint8)
    rows.reshape(-1)[: octets.size] = octets
    words = rows.view("<i8")
    return _joined((words ^ (words >> _SHIFT)) @ _weights(_WORDS_A_ROW))


def _sum_of_tensor(values: Tensor) -> int:
    torch: Any = sys.modules["torch"]
    octets = values.detach().to(torch.uint8)
    if values.dtype not in (torch.bool, torch.uint8) and not bool((octets.to(values.dtype) == values).all()):
        octets = values.to(torch.float64).view(torch.uint8)
    size = octets.numel()
    rows = torch.zeros((-(-size // (8 * _WORDS_A_ROW)), 8 * _WORDS_A_ROW), dtype=torch.uint8, device=values.device)
    rows.view(-1)[:size] = octets
    words = rows.view(torch.int64)
    return _joined(((words ^ (words >> _SHIFT)) * _weights_on(values.device)).sum(1).cpu().numpy())


@lru_cache(maxsize=16)
def _weights_on(device: Any) -> Tensor:  # noqa: ANN401  of PyTorch's type
    return sys.modules["torch"].from_numpy(_weights(_WORDS_A_ROW)).to(device)


def _joined(sums: IntArray) -> int:
    return int(sums @ _weights(len(sums)))


@lru_cache(maxsize=16)
def _weights(number: int) -> IntArray:
    """Return odd 64-bit numbers without a pattern (those of SplitMix64), the same on every machine."""
    mixed = np.arange(1, number + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed | np.uint64(1)).view(np.int64)
