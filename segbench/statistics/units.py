"""Which images belong together: patients, videos, scenes, photographs cut into tiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.interface import format_setting
from segbench.core.names import first_names
from segbench.core.numbers import many
from segbench.core.table import Table
from segbench.core.units import SummedRows, UnitTable
from segbench.loaders.file_list import read_column
from segbench.loaders.source import split_extension

FOLDER, NONE, UNIT = "folder", "none", "unit"
By = str | Mapping[str, str] | Callable[[str], str]
"""What says which images belong together, see `read_units`."""

_EXPECTED = "expected 'folder', a column of a CSV file, 'meta.csv:patient', or a pattern with # for the unit, '#_slice*'"
_LISTED = 5


@dataclass(frozen=True)
class Units:
    """The unit of each image by its name, and what units are called, in the singular."""

    of_images: Mapping[str, str]
    by: str = ""  # as it was written; empty for a mapping or a function

    @property
    def noun(self) -> str:
        """What a unit is called: the name of the column, without what marks it as a number."""
        _, colon, column = self.by.rpartition(":")
        return re.sub(r"[ _-]?id$", "", column, flags=re.IGNORECASE) or UNIT if colon and "#" not in self.by else UNIT

    @property
    def described(self) -> str:
        """How many units there are, and an example: 12 units, such as case_01 with 14 images."""
        images = grouped((unit, image) for image, unit in self.of_images.items())
        example = max(images, key=lambda unit: len(images[unit]))
        return f"{many(len(images), self.noun)}, such as {example} with {many(len(images[example]), 'image')}"


def read_units(by: By, images: Collection[str]) -> Units:
    """Say which unit each image is of.

    Parameters
    ----------
    by : str, mapping of str to str, or function
        ``"folder"`` for the first folder in the names of images; ``"meta.csv:patient"`` for a column of a CSV file
        with the names of images in a column called name, image or file, or in its first; a pattern of whole names,
        with folders and without suffix, in which ``#`` is the unit and takes as much as it can, and ``*`` is anything:
        ``"#_slice*"``; or the unit of each image by its name, or a function of the name.
    images : collection of str
        The names of all images.

    Raises
    ------
    ArgumentError
        If an image has no unit, or `by` is none of these.
    DataError
        If the CSV file cannot be read, has no such column, or puts an image into two units.
    """
    if callable(by):
        of_images = {image: str(by(image)) for image in images}
    elif isinstance(by, Mapping):
        of_images = _fitted({str(name): str(unit) for name, unit in by.items()}, images)
    elif by == FOLDER:
        of_images = {image: image.partition("/")[0] for image in images if "/" in image}
    elif "#" in by:
        of_images = _matched(by, images)
    else:
        path, colon, column = by.rpartition(":")
        if not (colon and path):
            raise ArgumentError(f"{format_setting('unit', by)} is not understood, {_EXPECTED}")
        of_images = _fitted(read_column(path, column), images)
    without = sorted(image for image in images if not of_images.get(image))
    if without:
        raise ArgumentError(_why_without(by, without, len(images)))
    return Units({image: of_images[image] for image in images}, by if isinstance(by, str) else "")


def _matched(pattern: str, images: Collection[str]) -> dict[str, str]:
    """Return the units of the images whose names a pattern matches."""
    if pattern.count("#") > 1:
        raise ArgumentError(f"{format_setting('unit', pattern)} has several #, expected one, which stands for the unit")
    parts = {"#": "(.+)", "*": ".*"}
    known = re.compile("".join(parts.get(character, re.escape(character)) for character in pattern), re.DOTALL)
    matches = ((image, known.fullmatch(image)) for image in images)
    return {image: match[1] for image, match in matches if match}


def _fitted(units: Mapping[str, str], images: Collection[str]) -> dict[str, str]:
    """Return the unit of each image, whose name may be written with the suffix of a file."""
    without_suffix = {split_extension(name)[0]: unit for name, unit in units.items()}
    return {image: units.get(image) or without_suffix.get(image, "") for image in images}


def _why_without(by: By, without: list[str], total: int) -> str:
    """Say which images have no unit, and what to do."""
    lacking = f"{len(without)} of {many(total, 'image')} belong to no unit: {first_names(without, _LISTED)}"
    if by == FOLDER:
        hint = "they lie in no sub-folder; give a pattern of names or a column of a CSV file"
    elif isinstance(by, str) and "#" in by:
        hint = "the pattern must match the whole name, with folders and without suffix; # is the unit, * anything"
    else:
        hint = "give each image its unit, its own name if it belongs to no other"
    said = f"{format_setting('unit', by)}: " if isinstance(by, str) else "unit: "
    return f"{said}{lacking}; {hint}"


def by_unit(
    table: Table, counts: Mapping[str, Counts], units: Units, measure: Callable[[Mapping[str, Any]], Table]
) -> UnitTable:
    """Return a table of the counts of images summed by unit; `measure` makes a table of counts by name."""
    unit_of_rows = [units.of_images[image] for image in table.image_of_rows]
    return UnitTable(
        SummedRows(table, unit_of_rows, units.noun), lambda: measure(summed_counts(counts, units))
    )


def summed_counts(counts: Mapping[str, Counts], units: Units) -> dict[str, Counts]:
    """Return the counts of each unit added up."""
    images = grouped((units.of_images[image], image) for image in counts)
    kind = type(next(iter(counts.values())))
    return {unit: kind.sum(counts[image] for image in names) for unit, names in images.items()}
