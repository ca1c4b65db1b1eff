"""The setting `spacing`: how far apart pixels or voxels are, of all images, of each, or as their headers say.

Light to import, as settings are. Sizes are exact decimals: those of a case become whole numbers of a common unit.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard, cast

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message, Setting
from segbench.core.numbers import written
from segbench.core.sample import Reading, Sample
from segbench.core.settings import as_real, read_numbers

HEADER = "header"
SMALLEST_TOO_LARGE = 2**62
"""Squared distances are below this number."""
_EXACT = Context(prec=400)
_MOST_SIZES = 3
_SIZES = 1e-12, 1e9
"""The smallest and the largest size that is taken, in any unit."""
_EXTENSION = re.compile(r"\.(nii|nii\.gz|mha|mhd|nrrd|tiff?|npy|npz|png)$", re.IGNORECASE)
_EXAMPLE = Either("0.7, (3, 0.78, 0.78), 'header' or a CSV file", "0.7, 0.78x0.78x3, header or FILE.csv")

Sizes = tuple[float, ...]
"""How far apart pixels or voxels are along each axis, in the order of the axes of arrays."""
SizesOfImages = tuple[tuple[str, Sizes], ...]
"""The sizes of each image by its name, sorted."""
Spacing = float | Sizes | SizesOfImages | str
"""What the setting becomes: the size of square pixels, those of all images, those of each, or ``"header"``."""
Lookup = float | Sizes | Mapping[str, Sizes] | str
"""The same with the sizes of each image by its name, see `as_lookup`."""


class Steps(NamedTuple):
    """How far apart pixels or voxels are along each axis: whole numbers without a common divisor, and their unit."""

    numbers: tuple[int, ...]
    unit: Fraction
    is_rounded: bool = False


def typed_spacing(text: str) -> Any:
    """Read what was typed: sizes in the order of headers, width x height x depth, to that of axes, depth first."""
    text = text.strip()
    if text == HEADER or text.lower().endswith(".csv"):
        return text
    sizes = read_numbers(re.sub(r"\s*[x*,\s]\s*", ",", text))[::-1]
    return sizes[0] if len(sizes) == 1 else sizes


def read_spacing(value: Any) -> Spacing:
    """Read a value of the setting; a CSV file has a column `spacing` beside the names, with sizes as they are typed."""
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if path == HEADER:
            return HEADER
        if path.lower().endswith(".csv"):
            return _sizes_in_file(path)
        raise _wrong(value)
    if isinstance(value, Mapping):
        return _sizes_of_images(value.items())
    if not hasattr(value, "__len__"):
        return _as_size(value)
    values = list(value)
    if values and all(isinstance(pair, Sequence) and len(pair) == 2 and isinstance(pair[0], str) for pair in values):
        return _sizes_of_images(values)  # as they are stored
    sizes = tuple(map(_as_size, values))
    if not 0 < len(sizes) <= _MOST_SIZES:
        raise _wrong(value)
    return sizes[0] if len(sizes) == 1 else sizes  # two equal sizes are not those of a volume


def _wrong(value: Any) -> ArgumentError:
    """Return the error for a value that is no spacing."""
    return ArgumentError(
        Message(
            "wrong-value",
            "{setting} is {received!r}, expected the size of pixels, as in {example}",
            setting=Setting("spacing", None),
            received=str(value) if isinstance(value, os.PathLike) else value,
            example=_EXAMPLE,
        )
    )


def _as_size(value: Any) -> float:
    """Read the size of a pixel along an axis; of single precision, as headers have it, in the digits that give it."""
    if getattr(value, "itemsize", 8) < 8 and hasattr(value, "dtype"):
        value = float(str(value))
    least, most = _SIZES
    expected = f"sizes of pixels from {least:g} to {most:g} along each axis, as in 0.78"
    return as_real(value, Setting("spacing", None), expected, least=least, most=most)


def _sizes_of_images(pairs: Iterable[tuple[str, Any]]) -> SizesOfImages:
    """Read the sizes of each image; one number is that of all axes."""
    sizes = {}
    for name, value in pairs:
        of_image = read_spacing(value)
        if isinstance(of_image, str) or _is_by_image(of_image):
            raise _wrong(value)
        sizes[name] = tuple(of_image) if isinstance(of_image, tuple) else (of_image,)
    if not sizes:
        raise _wrong({})
    return tuple(sorted(sizes.items()))  # type: ignore[arg-type]  # of numbers, as was just seen


def _sizes_in_file(path: str) -> SizesOfImages:
    """Read the sizes of each image from a CSV file."""
    from segbench.loaders.file_list import read_column
    from segbench.loaders.source import shown

    try:
        texts = read_column(path, "spacing")
    except DataError as error:
        if error.kind != "missing-column":
            raise
        texts = read_column(path)
    sizes = {}
    for name, text in texts.items():
        try:
            sizes[name] = typed_spacing(text)
            read_spacing(sizes[name])
        except (ValueError, ArgumentError):
            problem = Message("wrong-spacing", "gives {image!r} the spacing {text!r}", image=name, text=text)
            hint = "write width x height x depth, as in 0.78x0.78x3, or one number"
            raise DataError(shown(path), problem, hint) from None
    if not sizes:
        raise DataError(shown(path), Message("no-images", "names no image"), "write a row for each image")
    return _sizes_of_images(sizes.items())


def spacing_text(spacing: Spacing) -> str:
    """Write the setting as it is typed: sizes in the order of headers; of each image a digest of them."""
    if isinstance(spacing, str):
        return spacing
    if isinstance(spacing, float):
        return written(spacing)
    if isinstance(spacing[0], tuple):
        from hashlib import sha256

        text = ",".join(f"{name}={spacing_text(sizes)}" for name, sizes in spacing)
        return f"by-image-{sha256(text.encode()).hexdigest()[:8]}"
    return "x".join(written(size) for size in spacing[::-1])


def typed_text(spacing: Spacing) -> str:
    """Write the setting so that it can be typed; sizes of each image are in a file."""
    return "FILE.csv" if _is_by_image(spacing) else spacing_text(spacing)


def as_lookup(spacing: Spacing) -> Lookup:
    """Return the setting as `sizes_of` takes it: sizes of images by their names, with extension and without."""
    if _is_by_image(spacing):
        return {_EXTENSION.sub("", name): of_image for name, of_image in spacing} | dict(spacing)
    return cast("Lookup", spacing)


def _is_by_image(spacing: Spacing) -> TypeGuard[SizesOfImages]:
    """Return whether each image has sizes of its own."""
    return isinstance(spacing, tuple) and isinstance(spacing[0], tuple)


def why_not_without_name(spacing: Spacing) -> Message | str:
    """Say why an image without a name has no sizes; nothing if it has."""
    if not _is_by_image(spacing):
        return ""
    return Message(
        "needs-names",
        "{setting} has sizes by the names of images, and this one has no name; give its own: {own}",
        setting=Setting("spacing", None),
        own=Setting("spacing", metavar="(D, H, W)"),
    )


def is_of_volumes(spacing: Spacing) -> bool:
    """Return whether a setting has the sizes of voxels along three axes, the same in all images."""
    return isinstance(spacing, tuple) and not _is_by_image(spacing) and len(spacing) == _MOST_SIZES


def reading_for(reads: Reading, spacing: Spacing) -> Reading:
    """Return a way of reading that knows whose spacing is measured with, as faulty headers matter by that."""
    if spacing == 1:
        return reads
    return replace(reads, spacing="header" if spacing == HEADER else "given")


def sizes_of(spacing: Lookup, sample: Sample, dimensions: int) -> Sizes | None:
    """Return the sizes of an image along its axes; None where one number for all images scales distances afterwards."""
    if isinstance(spacing, float):
        return None
    if isinstance(spacing, str):
        sizes, source = sample.spacing, Message("header", "the header of {file}", file=sample.truth_file)
        if sizes is None:
            raise DataError(
                sample.truth_file,
                Message("no-spacing", "has no spacing in its header"),
                Message(
                    "fix",
                    "give the size of pixels, {setting}, or a CSV file of names and spacings",
                    setting=_for_each_axis(dimensions),
                ),
            )
    elif isinstance(spacing, Mapping):
        sizes = spacing.get(sample.name)
        source = Message("setting", "{setting}", setting=Setting("spacing", None))
        if sizes is None:
            raise DataError(
                sample.name,
                Message("no-spacing", "has no spacing, as others have"),
                Message("fix", "add it to {setting}", setting=Setting("spacing", None)),
            )
    else:
        sizes, source = spacing, Message("setting", "{setting}", setting=Setting("spacing", None))
    if len(sizes) == 1:
        return tuple(sizes) * dimensions
    if len(sizes) != dimensions:
        raise DataError(
            sample.truth_file,
            Message(
                "other-dimensions",
                "has {axes} axes, and {source} has {sizes} sizes: {spacing}",
                axes=dimensions,
                source=source,
                sizes=len(sizes),
                spacing=spacing_text(tuple(sizes)),
            ),
            Message("fix", "give a size for each axis: {setting}", setting=_for_each_axis(dimensions)),
        )
    return tuple(sizes)


def _for_each_axis(dimensions: int) -> Either:
    """Say how a size for each axis is given: in Python in the order of axes, on the command line of headers."""
    if dimensions == 2:
        return Either(Setting("spacing", metavar="(H, W)"), "--spacing WxH")
    return Either(Setting("spacing", metavar="(D, H, W)"), "--spacing WxHxD")


@lru_cache(maxsize=2**12)
def exact(size: float) -> Fraction:
    """Return the shortest decimal that is read as a number."""
    return Fraction(repr(float(size)))


def whole_steps(sizes: Sequence[Fraction], box: Sequence[int]) -> Steps:
    """Return sizes as whole numbers of a common unit, in which the squared diagonal of a box fits into 62 bits.

    Where it does not fit, sizes are rounded to the finest unit in which it does.
    """
    steps = _without_divisor(sizes)
    if _fits(steps.numbers, box):
        return steps
    diagonal = math.sqrt(sum((count * float(size)) ** 2 for count, size in zip(box, sizes, strict=True)))
    unit = Decimal(diagonal / 2**31)
    digit = Decimal((0, (1,), unit.adjusted() - 5))
    unit = (unit // digit) * digit
    while True:
        unit += digit
        finest = Fraction(unit)
        rounded = [max(1, round(size / finest)) for size in sizes]
        if _fits(rounded, box):
            steps = _without_divisor([number * finest for number in rounded])
            return steps._replace(is_rounded=True)


def _without_divisor(sizes: Sequence[Fraction]) -> Steps:
    """Return sizes as whole numbers without a common divisor."""
    denominator = math.lcm(*(size.denominator for size in sizes))
    numbers = [size.numerator * (denominator // size.denominator) for size in sizes]
    divisor = math.gcd(*numbers)
    return Steps(tuple(number // divisor for number in numbers), Fraction(divisor, denominator))


def _fits(numbers: Sequence[int], box: Sequence[int]) -> bool:
    """Return whether the squared diagonal of a box fits."""
    return squared_diagonal(box, numbers) < SMALLEST_TOO_LARGE


def squared_diagonal(box: Sequence[int], steps: Sequence[int]) -> int:
    """Return the squared diagonal of a box, in squares of the unit of the steps."""
    return sum((count * step) ** 2 for count, step in zip(box, steps, strict=True))


def decimal_text(unit: Fraction) -> str:
    """Write a unit, which is a decimal, with all its digits."""
    return format(_EXACT.divide(Decimal(unit.numerator), Decimal(unit.denominator)), "f")
