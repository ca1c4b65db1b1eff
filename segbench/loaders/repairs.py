"""Predictions of another size or range: which option fixes them, and repairs, which are made only on request.

Scores are scaled first, as stored; then sizes are changed, by the conventions of docs/repairs.md. A map that needs no
repair is left as it is, to the bit. A note ends with what holds for one image alone in brackets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import ArgumentError, DataError
from segbench.core.levels import are_levels, scores_of
from segbench.core.messages import NOTHING, Either, Message, Note, Setting, Side
from segbench.core.sample import Form, NoData, Reading
from segbench.core.settings import check_choice
from segbench.loaders.decoded import shown
from segbench.loaders.source import SampleFiles, read_header

Resize: TypeAlias = Literal["nearest", "bilinear"]
NoDataRule: TypeAlias = Literal["lowest", "exclude"]
GeometryRule: TypeAlias = Literal["header", "shape"]
Named: TypeAlias = Sequence[tuple[str, NDArray[Any]]]

_PER_IMAGE = " per image"
_CHANGED = {
    "resize": frozenset({"resized"}),
    "crop": frozenset({"cropped"}),
    "nodata": frozenset({"no-data-left-out", "no-data-lowest"}),
}
"""The kinds of notes that say that a repair changed an image."""


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """Resizing, cropping and scaling of predictions, and what to do where they have no data; none by default.

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
    nodata : {"lowest", "exclude"}, optional
        Where a GeoTIFF of scores declares that it has no data (``GDAL_NODATA``): give these pixels the lowest score of
        all, so that they are predicted last, or leave them out of prediction and ground truth, so that positives among
        them are lost to every metric; a note says how many. None: scores without data are refused.

    geometry : {"header", "shape"}
        Whether the voxels of volumes have to lie at the same positions by the headers of both files, where both tell,
        or only arrays have to have the same shape; a note says which images lie elsewhere. Nothing is resampled.
    volumes : bool
        Whether arrays of three axes in NPY and NPZ files, and TIFF files of several pages, are volumes. They are beside
        a ground truth whose header says that it is one.

    Raises
    ------
    ArgumentError
        If a repair is none of these, or `resize` and `crop` are both given.

    Examples
    --------
    >>> Repairs(resize="bilinear", scale=255).signature_fields()
    {'resize': 'bilinear', 'scale': '255'}
    """

    may_differ: ClassVar[frozenset[str]] = frozenset(
        {"resize", "scale", "geometry"}
    )  # others change the ground truth, too

    resize: Resize | None = None
    crop: bool = False
    scale: Scale | None = None
    nodata: NoDataRule | None = None
    geometry: GeometryRule = "header"
    volumes: bool = False

    def __post_init__(self) -> None:
        if self.resize is not None:
            as_resize(self.resize)
            if self.crop:
                raise ArgumentError(
                    Message(
                        "exclusive-settings",
                        "{resize} and {crop} exclude each other; give one",
                        resize=Either(Setting("resize"), "--resize-predictions"),
                        crop=Setting("crop", True),
                    )
                )
        if self.scale is not None:
            object.__setattr__(self, "scale", as_scale(self.scale))
        if self.nodata is not None:
            check_choice(self.nodata, Setting("nodata", None), get_args(NoDataRule))
        check_choice(self.geometry, Setting("geometry", None), get_args(GeometryRule))

    @property
    def of_maps(self) -> frozenset[str]:
        """The repairs that are made to maps; how volumes are read and compared is none."""
        return frozenset(self.signature_fields()) - {"geometry", "volumes"}

    def signature_fields(self) -> dict[str, str]:
        """Name the requested repairs; nothing where there are none."""
        fields = {"resize": self.resize, "crop": "lower right" if self.crop else None, "nodata": self.nodata}
        if self.scale is not None:
            fields["scale"] = f"minmax{_PER_IMAGE}" if self.scale == "minmax" else f"{self.scale}".removesuffix(".0")
        fields["geometry"] = self.geometry if self.geometry != "header" else None
        fields["volumes"] = "yes" if self.volumes else None
        return {name: text for name, text in fields.items() if text is not None}

    @classmethod
    def from_fields(cls, settings: Mapping[str, str]) -> Self:
        """Read what `signature_fields` wrote, among the other settings of a run."""
        resize, scale = settings.get("resize"), settings.get("scale")
        return cls(
            resize=None if resize is None else as_resize(resize),
            crop="crop" in settings,
            scale=None if scale is None else as_scale(scale.removesuffix(_PER_IMAGE)),
            nodata=cast("NoDataRule | None", settings.get("nodata")),
            geometry=cast("GeometryRule", settings.get("geometry", "header")),
            volumes="volumes" in settings,
        )


def as_repairs(repairs: object, reads: Reading) -> Repairs:
    """Read the repairs of a run, and refuse those that have no meaning for what its protocol reads."""
    if not isinstance(repairs, Repairs):
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value}, expected settings such as Repairs(resize='nearest')",
                argument="repairs",
                value=repr(repairs),
            )
        )
    reads.check_repairs(repairs)
    of_volumes = [Setting("volumes", True)] if repairs.volumes else []
    of_volumes += [Setting("geometry", repairs.geometry)] if repairs.geometry != "header" else []
    if of_volumes and reads.without_volumes:
        raise ArgumentError(
            Message(
                "unfit-repairs",
                "{given} is for volumes, and {reason}; leave it out",
                given=of_volumes[0],
                reason=reads.without_volumes,
            )
        )
    return repairs


def as_resize(text: str) -> Resize:
    """Read a way of resizing."""
    if text not in get_args(Resize):
        setting = Either(Setting("resize", text), f"--resize-predictions {text!r}")
        raise ArgumentError(
            Message("wrong-value", "{given} is not a resizing method; choose nearest or bilinear", given=setting)
        )
    return cast("Resize", text)


@dataclass(frozen=True, eq=False)
class ImageMaps:
    """The maps of one image with their files on the way to the protocols; `form` and `nodata` are the predictions'."""

    truths: Named
    predictions: Named
    form: Form
    field: NDArray[np.bool_] | None = None
    notes: tuple[Note, ...] = ()
    nodata: tuple[NoData | None, ...] = ()


def without_values_of_nodata(maps: ImageMaps) -> ImageMaps:
    """Write the lowest other score where scores have no data, so that no repair meets a value that is no score.

    Zeros stay: they are a score, too.
    """
    predictions = []
    for (name, array), hole in zip(maps.predictions, maps.nodata, strict=bool(maps.nodata)):
        if hole is not None and hole.value != 0:
            others = array[~hole.pixels]
            array = np.where(hole.pixels, others.min() if others.size else array.dtype.type(0), array)  # noqa: PLW2901
        predictions.append((name, array))
    return replace(maps, predictions=predictions) if maps.nodata else maps


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


def blank_truth(files: SampleFiles, shape: tuple[int, ...], repairs: Repairs) -> tuple[str, NDArray[Any]]:
    """Return the ground truth of an image that has none, in the size of the image, with the file that shows it."""
    name, sized_as = shown(files.prediction), files.sized_as
    known = read_header(sized_as, "ground truth").shape if sized_as else None
    if known is None and (repairs.resize or repairs.crop):
        problem = Message(
            "unknown-size",
            "has no ground truth, and the others do not all have one size, so the size of this image is not known",
        )
        hint = Message(
            "fix",
            "save all predictions in the size of their images, and leave out {repairs}",
            repairs=Either("repairs.resize and repairs.crop", "--resize-predictions and --crop"),
        )
        raise DataError(name, problem, hint)
    return (name, np.zeros(shape, np.uint8)) if known is None else (shown(sized_as), np.zeros(known, np.uint8))


def idle(settings: Mapping[str, str], notes: Iterable[Note]) -> tuple[Note, ...]:
    """Name the changes of sizes in a run's settings that changed no image."""
    kinds = {note.kind for note in notes}
    return tuple(
        Note(
            Message(
                "idle-repair",
                "{repair} did not change any prediction: {why}",
                repair=name,
                why="none has a value that its file declares as no data"
                if name == "nodata"
                else "each already has the size of its ground truth",
            )
        )
        for name, changed in _CHANGED.items()
        if name in settings and kinds.isdisjoint(changed)
    )


def _scaled(maps: ImageMaps, scale: Scale) -> ImageMaps:
    if maps.form not in ("soft", "ucm2"):
        problem = Message("scaled-labels", "label maps have no scale")
        raise DataError(
            maps.predictions[0][0], problem, Message("fix", "leave out {given}", given=Setting("scale", None))
        )
    if maps.form == "ucm2" and isinstance(scale, str):
        problem = Message("scaled-ucm2", "a ucm2 is 0 between contours, and {scale} would change that", scale=scale)
        raise DataError(maps.predictions[0][0], problem)
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
            predictions.append((name, bilinear(array, shape)))
        else:
            problem = Message("mixed-labels", "label maps, and bilinear would mix labels")
            raise DataError(name, problem, Message("fix", "take {resize}", resize=RESIZE))
        resized = Message("resized", "{side} resized, {how}", how=how)
        notes[Note(resized, "prediction", detail=_sizes(array.shape, shape))] = None
    nodata = tuple(hole and replace(hole, pixels=_touched(hole.pixels, shape, how)) for hole in maps.nodata)
    return replace(maps, predictions=predictions, notes=tuple(notes), nodata=nodata)


def _touched(pixels: NDArray[np.bool_], shape: tuple[int, ...], how: Resize | None) -> NDArray[np.bool_]:
    """Mark the pixels of a resized map that take anything from pixels that are marked."""
    if pixels.shape == shape:
        return pixels
    return bilinear(pixels, shape) > 0 if how == "bilinear" else nearest(pixels, shape)


def _cropped(maps: ImageMaps) -> ImageMaps:
    truth = maps.truths[0]
    common = tuple(map(min, *(array.shape for _, array in (truth, *maps.predictions))))
    notes = dict.fromkeys(maps.notes)
    sides: list[tuple[Side, tuple[str, NDArray[Any]]]] = [("prediction", named) for named in maps.predictions]
    for side, (name, array) in [*sides, ("ground truth", truth)]:
        if array.shape == common:
            continue
        if not (fixable(array.shape, truth[1].shape) and croppable(array.shape, common)):
            misfitting = (name, array)
            if side == "ground truth":
                misfitting = min(maps.predictions, key=lambda named: named[1].size)
            uncut = fixable(misfitting[1].shape, truth[1].shape)
            refused = "; cropping cuts at most a tenth, or 2 pixels" if uncut else ""
            raise misfit(_of(misfitting), _of(truth), soft=maps.form == "soft", refused=refused)
        cropped = Message("cropped", "{side} cropped at the lower right")
        notes[Note(cropped, side, detail=_sizes(array.shape, common))] = None
    window = tuple(slice(extent) for extent in common)
    return replace(
        maps,
        truths=[(name, np.ascontiguousarray(array[window])) for name, array in maps.truths],
        predictions=[(name, np.ascontiguousarray(array[window])) for name, array in maps.predictions],
        field=None if maps.field is None else np.ascontiguousarray(maps.field[window]),
        nodata=tuple(hole and replace(hole, pixels=hole.pixels[window]) for hole in maps.nodata),
        notes=tuple(notes),
    )


def _of(named: tuple[str, NDArray[Any]]) -> tuple[str, tuple[int, ...]]:
    return named[0], named[1].shape


def _sizes(shape: tuple[int, ...], changed: tuple[int, ...]) -> Message:
    return Message("sizes", "{size: x } to {changed: x }", size=shape, changed=changed)


MOST_CUT = 2, 0.1
"""How much cropping cuts off height and width at most: 2 pixels or a tenth, whichever is more."""

HINT = "save all maps of an image at one size"
RESIZE = Either(Setting("resize", "nearest", of="Repairs"), "--resize-predictions nearest")


class SizeError(DataError):
    """A map has another `size`, (H, W), than is `expected`."""


def require_same_size(named: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    """Refuse maps of different sizes."""
    first, expected = named[0]
    for name, shape in named[1:]:
        if shape != expected:
            raise SizeError(name, _other_size(shape, expected, first), HINT)


def misfit(
    prediction: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]], *, soft: bool, refused: str = ""
) -> SizeError:
    """Say that a prediction has not the size of its ground truth, and which option fixes it."""
    (name, shape), (first, expected) = prediction, truth
    problem = _other_size(shape, expected, first) + refused
    return SizeError(name, problem, how_to_fix(shape, expected, soft=soft, cropped=bool(refused)))


def require_doubled_size(prediction: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]]) -> None:
    """Refuse a ``ucm2`` that has not (2 h + 1) x (2 w + 1) pixels where ground truth has h x w."""
    name, shape = prediction
    expected = tuple(2 * extent + 1 for extent in truth[1])
    if shape != expected:
        guess = relation(shape, expected)
        problem = Message(
            "other-size",
            "ucm2 is {size: x } (height x width), expected {expected: x } (height x width), "
            "2 h + 1 and 2 w + 1 of {other}{guess}",
            size=shape,
            expected=expected,
            other=truth[0],
            guess=" (" + guess + ")" if guess else "",
        )
        raise SizeError(name, problem, HINT)


def _other_size(shape: tuple[int, ...], expected: tuple[int, ...], other: str) -> Message:
    """Say which size a map has and which it must have, as another one has."""
    guess = relation(shape, expected)
    return Message(
        "other-size",
        "{size: x } (height x width), expected {expected: x } (height x width) as in {other}{guess}",
        size=shape,
        expected=expected,
        other=other,
        guess=" (" + guess + ")" if guess else "",
    )


def fixable(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return whether a map may be resized or cropped: not one that is transposed, or a ``ucm2``."""
    return relation(shape, expected).kind not in ("transposed", "doubled")


def croppable(shape: tuple[int, ...], common: tuple[int, ...]) -> bool:
    """Return whether a map is so little larger that it may be cropped."""
    pixels, share = MOST_CUT
    return all(0 <= extent - kept <= max(pixels, share * extent) for extent, kept in zip(shape, common, strict=True))


def nearly(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return whether two sizes differ so little that cropping fixes it."""
    common = tuple(map(min, shape, expected))
    return croppable(shape, common) and croppable(expected, common)


def how_to_fix(shape: tuple[int, ...], expected: tuple[int, ...], *, soft: bool, cropped: bool = False) -> Message:
    """Say which option brings a prediction to the size expected, or that none does; cropping may be given."""
    guess = relation(shape, expected)
    if guess.kind == "transposed":
        return Message(
            "fix",
            "no option fixes that: swap rows and columns where the prediction is saved, or apply its EXIF orientation "
            "if it has one",
        )
    if guess.kind == "doubled":
        protocols = Either("Boundaries() or Regions()", "segbench boundaries or segbench regions")
        return Message(
            "fix", "no option fixes that: save it as ucm2 in a .mat file, for {protocols}", protocols=protocols
        )
    or_bilinear = Either(" or 'bilinear'", " or bilinear") if soft else ""
    resize = Message(
        "fix",
        "{resize}{or_bilinear}{alone} brings it to that size",
        resize=RESIZE,
        or_bilinear=or_bilinear,
        alone=Message("fix", ", without {given},", given=Setting("crop", None)) if cropped else "",
    )
    crop = Message(
        "fix",
        "{crop} cuts off excess rows and columns, at the lower right only",
        crop=Setting("crop", True, of="Repairs"),
    )
    excess = [extent - wanted for extent, wanted in zip(shape, expected, strict=True)]
    if not nearly(shape, expected):
        fix = resize
    elif max(map(abs, excess)) <= MOST_CUT[0]:
        fix = Message("alternatives", "{crop}; or {resize}", crop=crop, resize=resize)
    else:
        fix = Message("alternatives", "{resize}; if it was padded, {crop}", resize=resize, crop=crop)
    if nearly(shape, expected) and all(more > 1 for more in excess):
        fix = "if there is padding on all sides, remove it from the files first; otherwise " + fix
    return fix + "; without it nothing is changed"


def relation(shape: tuple[int, ...], expected: tuple[int, ...]) -> Message:
    """Say how a size may have come about; nothing where nothing fits."""
    if len(shape) != 2 or 0 in (*shape, *expected):
        return NOTHING
    height, width = shape
    if shape == expected[::-1] != expected:
        return Message("transposed", "it looks transposed")
    if shape == (2 * expected[0] + 1, 2 * expected[1] + 1):
        return Message(
            "doubled",
            "it has 2 h + 1 and 2 w + 1 pixels, as a ucm2 has, which the boundaries and regions protocols read",
        )
    off = abs(height - expected[0]), abs(width - expected[1])
    if max(off) <= 2:
        return Message("off-by-pixels", "it is off by {off: and } pixels", off=off)
    for ours, theirs, word in ((shape, expected, "larger"), (expected, shape, "smaller")):
        factor = ours[0] // theirs[0]
        if factor > 1 and ours == (theirs[0] * factor, theirs[1] * factor):
            return Message("off-by-factor", "it is {word} by a factor of {factor}", word=word, factor=factor)
    return NOTHING


_Named: TypeAlias = Literal["minmax", "sigmoid"]
Scale: TypeAlias = float | _Named


def as_scale(scale: float | str) -> Scale:
    """Read a scale: a number above 0, or the name of one."""
    if isinstance(scale, str) and scale in get_args(_Named):
        return cast("_Named", scale)
    try:
        number = math.nan if isinstance(scale, (bool, np.bool_)) else float(scale)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        value = f"{scale!r:.60}"
        raise ArgumentError(
            Message(
                "wrong-value",
                "{given} is not a scale; give a number above 0 (as 255), minmax or sigmoid",
                given=Either(f"scale={value}", f"--scale {value}"),
                argument="scale",
                value=value,
            )
        )
    return number


def scaled(stored: NDArray[Any], scale: Scale, name: str) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """Turn stored values into scores, in double precision."""
    kind = stored.dtype.kind
    if kind == "b":
        return stored, ()
    if scale == "sigmoid":
        from scipy.special import expit

        if kind != "f":
            problem = Message("not-floats", "{dtype} values, but logits are floats", dtype=stored.dtype.name)
            raise DataError(name, problem, "save them as floats")
        logits: NDArray[Any] = expit(stored.astype(np.float64))
        return logits, (Note(Message("sigmoid", "score = 1 / (1 + exp(-value))"), "prediction"),)
    if scale == "minmax":
        require_finite(stored, name, "so the map has no minimum and maximum")
        lowest, highest = float(stored.min()), float(stored.max())
        if lowest == highest:
            return stored, ()
        stretched = (stored.astype(np.float64) - lowest) / (highest - lowest)
        detail = Message("span", "{lowest:g} to {highest:g}", lowest=lowest, highest=highest)
        message = Message("stretched", "{side} stretched to its own minimum and maximum")
        return stretched, (Note(message, "prediction", detail=detail),)
    if scale == (1 if kind == "f" else np.iinfo(stored.dtype).max):
        return stored, ()
    message = Message("scaled", "score = value / {scale}", scale=scale)
    return stored.astype(np.float64) / scale, (Note(message, "prediction"),)


def require_finite(stored: NDArray[Any], name: str, why: str) -> None:
    """Refuse NaN and infinite values where they would touch others."""
    bad = stored.size - int(np.isfinite(stored).sum())
    if bad:
        problem = Message("not-finite", "{count} NaN and infinite scores, {why}", count=bad, why=why)
        raise DataError(name, problem, "write finite scores")


def nearest(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Take for each output pixel the input pixel in which its centre lies; of two the later one.

    The rule of Pillow's ``NEAREST`` and PyTorch's ``nearest-exact``, in whole numbers, so free of their rounding.
    """
    rows, columns = (
        (2 * np.arange(wanted) + 1) * length // (2 * wanted) for wanted, length in zip(shape, array.shape, strict=True)
    )
    return np.ascontiguousarray(array[np.ix_(rows, columns)])


def bilinear(stored: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Interpolate scores linearly along rows, then along columns.

    Levels are interpolated in whole numbers and divided once, so that scores which are equal stay ties. Between floats
    ``a`` and ``b`` a score is ``a + (b - a) t``, so that an area of one score keeps it to the bit; sums of weights, as
    libraries form them, differ in the last place and would not.
    """
    if are_levels(stored.dtype):
        full = 1 if stored.dtype == np.bool_ else np.iinfo(stored.dtype).max
        parts = _levels_between(_levels_between(stored.astype(np.int64), shape[0]).T, shape[1]).T
        return parts / (4 * shape[0] * shape[1] * full)
    return _along_columns(_along_columns(scores_of(stored), shape[0]).T, shape[1]).T


def _levels_between(levels: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Interpolate along columns, in parts of ``2 * wanted`` of a level."""
    length, parts = levels.shape[0], 2 * wanted
    centres = np.clip((2 * np.arange(wanted) + 1) * length - wanted, 0, (length - 1) * parts)
    above = np.minimum(centres // parts, max(length - 2, 0))
    share = (centres - above * parts)[:, np.newaxis]
    return levels[above] * (parts - share) + levels[np.minimum(above + 1, length - 1)] * share


def _along_columns(scores: NDArray[np.float64], wanted: int) -> NDArray[np.float64]:
    length = scores.shape[0]
    centres = np.clip((np.arange(wanted) + 0.5) * length / wanted - 0.5, 0, length - 1)
    above = np.minimum(centres.astype(np.intp), max(length - 2, 0))
    below = np.minimum(above + 1, length - 1)
    share = (centres - above)[:, np.newaxis]
    resized: NDArray[np.float64] = scores[above] + (scores[below] - scores[above]) * share
    return resized
