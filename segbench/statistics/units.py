"""Units that names of images suggest where none were named: patients, videos, scenes, photographs cut into tiles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, Setting
from segbench.core.names import first_names
from segbench.core.units import UnitTable
from segbench.loaders.belonging import FEWEST_UNITS, FOLDER, UNIT, Assignment, by_name
from segbench.statistics.answer import p_text
from segbench.statistics.means import GroupMeans
from segbench.statistics.measured import Measured

_NUMBERED = re.compile(r"(.*?\D)\d+", re.DOTALL)  # what stands before the last number of a name
_SEPARATED = re.compile(r"[_\-. /].*", re.DOTALL)
_YEAR = re.compile(r"(19|20)\d\d\D*")
_SIGNIFICANT = 0.01


def unknown_units(measured: Measured) -> tuple[Note, ...]:
    """Say that images of units which names suggest resemble each other, by the first mean over images."""
    table = measured.table
    means = (column for column, metric in enumerate(table.metrics) if metric.mean_over_images and metric.key)
    column = next(means, None)
    if column is None or isinstance(table, (GroupMeans, UnitTable)) or table.in_named_groups:
        return ()
    suggested = _suggested_units(table.names)
    return () if suggested is None else _note_on_units(suggested, table.names, measured.of_images[:, column])


def _suggested_units(names: Sequence[str]) -> Assignment | None:
    """Return the units that names suggest: folders, or what stands before numbers; None without such.

    There are two at least, and half of them have several images. A year before a number says nothing. Of several
    numbers, such as those of row and column of a tile, as many are left out as can be: units that are too small would
    still resemble each other.
    """
    by_folder = by_name(UNIT, FOLDER, names)
    if _have_several_images(by_folder, names):
        return Assignment(UNIT, FOLDER, by_folder)
    suggested, pattern = None, ""
    tail = _common_tail(names)
    while tail:
        pattern = f"{tail}*{pattern}"
        units = by_name(UNIT, f"#{pattern}", names)
        if _have_several_images(units, names):
            suggested = Assignment(UNIT, f"#{pattern}", units)
        tail = _common_tail([*set(units.values())])
    return suggested


def _have_several_images(units: Mapping[str, str], names: Sequence[str]) -> bool:
    """Return whether all images are of several units, at least half of which have several images."""
    images = Counter(units.values())
    with_several = sum(number > 1 for number in images.values())
    years = any(_YEAR.fullmatch(unit) for unit in images)
    return len(units) == len(names) and len(images) > 1 and 2 * with_several >= len(images) and not years


def _common_tail(names: Sequence[str]) -> str:
    """Return what stands between unit and number in all names, such as ``_slice_``; empty if not in all of them."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    stems = [match[1] if match else "" for match in matches]
    backwards = [re.split(r"\d", stem)[-1][::-1] for stem in stems]
    tail = _SEPARATED.search(_common_start(backwards)[::-1])
    return tail[0] if tail else ""


def _common_start(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    first, last = min(texts), max(texts)  # which differ at the earliest
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(character for character, _ in same)


def _note_on_units(suggested: Assignment, names: Sequence[str], values: FloatArray) -> tuple[Note, ...]:
    """Say that images of units which their names suggest resemble each other, by a value of each image.

    By Kruskal and Wallis' test over the units, at .01; nothing where values do not differ.
    """
    from scipy.stats import kruskal

    known = ~np.isnan(values)
    of_units = grouped(
        (suggested.of_images[name], value)
        for name, value, is_known in zip(names, values, known, strict=True)
        if is_known
    )
    if len(of_units) < 2 or len(set(values[known].tolist())) < 2:
        return ()
    p = float(kruskal(*of_units.values()).pvalue)
    if not p < _SIGNIFICANT:
        return ()
    alike = Message(
        "alike",
        "images whose names begin alike ({example}) resemble each other ({p} by Kruskal and Wallis)",
        example=first_names([*of_units], 2),
        p=p_text(p),
    )
    if len(of_units) < FEWEST_UNITS:
        message = Message(
            "few-unknown-units",
            "{alike}, and {units} are too few to test over: if they are patients or videos, intervals and p-values "
            "hold for these alone",
            alike=alike,
            units=len(of_units),
        )
        return (Note(message),)
    message = Message(
        "unknown-units",
        "{alike}: if they are patients or videos, {unit}; if they are fixed categories, {group}",
        alike=alike,
        unit=Setting("unit", suggested.by),
        group=Setting("group_by", suggested.by),
    )
    return (Note(message),)
