"""Repairs that are made only on request: predictions of another size, and scores of another range.

Conventions
-----------
1. Scores are scaled first, as stored; then sizes are changed. All of it happens before anything is counted.
2. A map that needs no repair is left as it is, to the bit: levels stay levels.
3. What was repaired is a note of the image; a note ends with what holds for one image alone in brackets.
4. The field of view and the annotators must agree in size as stored; what cropping cuts off the ground truth it cuts
   off all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import given, setting
from segbench.core.levels import scores_of
from segbench.core.sample import Form, Reading
from segbench.loaders.resizing import bilinear, nearest
from segbench.loaders.scaling import Scale, as_scale, require_finite, scaled
from segbench.loaders.sizes import croppable, fixable, misfit

Resize: TypeAlias = Literal["nearest", "bilinear"]
Named: TypeAlias = Sequence[tuple[str, NDArray[Any]]]

_PER_IMAGE = " per image"
_WITHOUT_TRUTH = "no ground truth"
_RESIZED, _CROPPED = "prediction resized", "cropped at the lower right"


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """What may be done to predictions that do not match the ground truth; by default nothing.

    Each repair is part of the signature, and a note of the result says in how many images it changed anything.

    Parameters
    ----------
    resize : {"nearest", "bilinear"}, optional
        Bring predictions of another size to the ground truth's; pixel centres aligned, nothing smoothed before.
        ``"nearest"`` takes values as stored; ``"bilinear"`` interpolates scores, so that levels become floats, and is
        for soft maps alone. A transposed map and a ``ucm2`` are refused.
    crop : bool
        Cut prediction and ground truth at the lower right to the size that they have in common, at most a tenth of a
        height or width, or 2 pixels. Not together with `resize`.
    scale : float, {"minmax", "sigmoid"}, optional
        How stored values become scores, of any type but bool, which stays 0 or 1. A number divides them: 255 for floats
        from 0 to 255. ``"sigmoid"`` is for logits. ``"minmax"`` stretches each image to its own minimum and maximum, as
        PySODMetrics does: scores of different images then no longer compare, and pooled metrics change.

    Raises
    ------
    ArgumentError
        If a repair is none of these, or `resize` and `crop` are both given.

    Examples
    --------
    >>> Repairs(resize="bilinear", scale=255).signature_fields()
    {'resize': 'bilinear', 'scale': '255'}
    """

    may_differ: ClassVar[frozenset[str]] = frozenset({"resize", "scale"})  # crop changes the ground truth, too

    resize: Resize | None = None
    crop: bool = False
    scale: Scale | None = None

    def __post_init__(self) -> None:
        if self.resize is not None:
            as_resize(self.resize)
            if self.crop:
                resize = setting("--resize-predictions", "resize=...")
                raise ArgumentError(f"{resize} and {given('crop', True)} exclude each other; give one")
        if self.scale is not None:
            object.__setattr__(self, "scale", as_scale(self.scale))

    def signature_fields(self) -> dict[str, str]:
        """Name the requested repairs; nothing where there are none."""
        fields = {"resize": self.resize, "crop": "lower right" if self.crop else None}
        if self.scale is not None:
            fields["scale"] = f"minmax{_PER_IMAGE}" if self.scale == "minmax" else f"{self.scale}".removesuffix(".0")
        return {name: text for name, text in fields.items() if text is not None}

    @classmethod
    def from_fields(cls, settings: Mapping[str, str]) -> Self:
        """Read what `signature_fields` wrote, among the other settings of a run."""
        resize, scale = settings.get("resize"), settings.get("scale")
        return cls(
            resize=None if resize is None else as_resize(resize),
            crop="crop" in settings,
            scale=None if scale is None else as_scale(scale.removesuffix(_PER_IMAGE)),
        )

    def without_truth(self, shape: tuple[int, ...]) -> tuple[str, ...]:
        """Say that sizes are not changed where there is no ground truth to take them from."""
        if self.resize is None and not self.crop:
            return ()
        return (f"{_WITHOUT_TRUTH}, so the prediction keeps its own size [{_sides(shape)}]",)


def as_repairs(repairs: object, reads: Reading) -> Repairs:
    """Read the repairs of a run, and refuse those that have no meaning for what its protocol reads."""
    if not isinstance(repairs, Repairs):
        raise ArgumentError(f"repairs is {repairs!r}, expected settings such as Repairs(resize='nearest')")
    reads.check_repairs(repairs)
    return repairs


def as_resize(text: str) -> Resize:
    """Read a way of resizing."""
    if text not in get_args(Resize):
        chosen = setting(f"--resize-predictions {text!r}", f"resize={text!r}")
        raise ArgumentError(f"{chosen} is not a resizing method; choose nearest or bilinear")
    return cast("Resize", text)


@dataclass(frozen=True, eq=False)
class ImageMaps:
    """The maps of one image with their files on the way to the protocols; `form` is that of the predictions."""

    truths: Named
    predictions: Named
    form: Form
    field: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()


def repaired(maps: ImageMaps, repairs: Repairs) -> ImageMaps:
    """Make the requested repairs, and require that predictions, but for a ``ucm2``, have the ground truth's size."""
    if not maps.predictions:
        return maps
    if repairs.scale is not None:
        maps = _scaled(maps, repairs.scale)
    if maps.form == "ucm2":
        return maps
    if repairs.crop:
        return _cropped(maps)
    return _resized(maps, repairs.resize)


def idle(settings: Mapping[str, str], notes: Sequence[str]) -> tuple[str, ...]:
    """Name the changes of sizes in a run's settings that changed no image."""
    said = {"resize": _RESIZED, "crop": _CROPPED}
    blank = any(note.startswith(_WITHOUT_TRUTH) for note in notes)
    why = "each with a ground truth already has its size" if blank else "each already has the size of its ground truth"
    return tuple(
        f"{name} did not change any prediction: {why}"
        for name, text in said.items()
        if name in settings and not any(text in note for note in notes)
    )


def _scaled(maps: ImageMaps, scale: Scale) -> ImageMaps:
    if maps.form not in ("soft", "ucm2"):
        raise DataError(maps.predictions[0][0], "label maps have no scale", f"leave out {given('scale')}")
    if maps.form == "ucm2" and isinstance(scale, str):
        raise DataError(maps.predictions[0][0], f"a ucm2 is 0 between contours, and {scale} would change that")
    ((name, stored),) = maps.predictions
    scores, notes = scaled(stored, scale, name)
    return replace(maps, predictions=[(name, scores)], notes=(*maps.notes, *notes))


def _resized(maps: ImageMaps, how: Resize | None) -> ImageMaps:
    shape = maps.truths[0][1].shape
    predictions, notes = [], dict.fromkeys(maps.notes)
    for name, array in maps.predictions:
        if array.shape == shape:
            predictions.append((name, array))
            continue
        if how is None or not fixable(array.shape, shape):
            raise misfit((name, array.shape), _of(maps.truths[0]), soft=maps.form == "soft")
        if how == "nearest":
            predictions.append((name, nearest(array, shape)))
        elif maps.form == "soft":
            require_finite(array, name, "which bilinear resizing would spread")
            predictions.append((name, bilinear(scores_of(array), shape)))
        else:
            hint = setting("--resize-predictions nearest", "repairs=Repairs(resize='nearest')")
            raise DataError(name, "label maps, and bilinear would mix labels", f"take {hint}")
        notes[f"{_RESIZED}, {how} [{_sides(array.shape)} to {_sides(shape)}]"] = None
    return replace(maps, predictions=predictions, notes=tuple(notes))


def _cropped(maps: ImageMaps) -> ImageMaps:
    truth = maps.truths[0]
    common = tuple(map(min, *(array.shape for _, array in (truth, *maps.predictions))))
    notes = dict.fromkeys(maps.notes)
    for what, (name, array) in [*(("prediction", one) for one in maps.predictions), ("ground truth", truth)]:
        if array.shape == common:
            continue
        if not (fixable(array.shape, truth[1].shape) and croppable(array.shape, common)):
            found = (name, array) if what == "prediction" else min(maps.predictions, key=lambda named: named[1].size)
            refused = "; cropping cuts at most a tenth, or 2 pixels" if fixable(found[1].shape, truth[1].shape) else ""
            raise misfit(_of(found), _of(truth), soft=maps.form == "soft", refused=refused)
        notes[f"{what} {_CROPPED} [{_sides(array.shape)} to {_sides(common)}]"] = None
    window = tuple(slice(extent) for extent in common)
    return replace(
        maps,
        truths=[(name, np.ascontiguousarray(array[window])) for name, array in maps.truths],
        predictions=[(name, np.ascontiguousarray(array[window])) for name, array in maps.predictions],
        field=None if maps.field is None else np.ascontiguousarray(maps.field[window]),
        notes=tuple(notes),
    )


def _of(named: tuple[str, NDArray[Any]]) -> tuple[str, tuple[int, ...]]:
    return named[0], named[1].shape


def _sides(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
