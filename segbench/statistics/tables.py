"""Counts laid out as a table, by the protocol that measures such counts; and whether methods can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import setting
from segbench.core.names import first_names
from segbench.core.protocol import Protocol
from segbench.core.table import Table, Tabled
from segbench.protocols.registry import measuring, protocols


def table_of(counts: Mapping[str, Any] | Table | Tabled) -> Table:
    """Lay out counts of any protocol."""
    table = getattr(counts, "table", counts)
    if isinstance(table, Table):
        if not table.images:
            raise ArgumentError(f"found {type(counts).__name__} without images, expected at least one image")
        return table
    if not isinstance(counts, Mapping):
        raise ArgumentError(f"found {type(counts).__name__}, expected one result, or counts by the name of the image")
    return protocol_measuring(counts).table(counts)


def protocol_measuring(*sets: Mapping[str, Any]) -> Protocol:
    """Give the protocol that measures counts of this type, which all images must have."""
    kinds = {type(counts): counts for per_image in sets for counts in per_image.values()}
    if len(kinds) == 1:
        return measuring(next(iter(kinds.values())))
    found = ", ".join(sorted(kind.__name__ for kind in kinds)) or "no images"
    expected = " or all ".join(kind.counts.__name__ for kind in protocols().values())
    raise ArgumentError(f"found {found}; expected at least one image, all {expected}")


_LISTED = 5


def refuse_different(methods: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that all methods have the same images, counted against the same ground truth."""
    (first, reference), *others = methods.items()
    problems: list[str] = []
    remedies: dict[str, None] = {}
    for name, per_image in others:
        for present, absent, images in (
            (first, name, sorted(set(reference) - set(per_image))),
            (name, first, sorted(set(per_image) - set(reference))),
        ):
            if images:
                problems.append(f"{present} has {first_names(images, _LISTED)}, {absent} has not")
                on_common = setting("segbench compare --common", "common=True")
                remedies[f"predict the missing images, or compare on those that all methods have: {on_common}"] = None
        for image in sorted(set(reference) & set(per_image)):
            totals = [images[image].ground_truth for images in (reference, per_image)]
            if totals[0] != totals[1]:
                problems.append(f"{image} has {totals[0]} in {first}, {totals[1]} in {name}")
                remedies["count all methods against the same ground truth"] = None
                break
    if problems:
        what = f"methods are compared on the same images and ground truth, but {first_names(problems, _LISTED, '; ')}"
        raise DataError(first_names(list(methods), _LISTED), what, ", and ".join(remedies))
