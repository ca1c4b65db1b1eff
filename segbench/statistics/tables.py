"""Counts laid out as a table, by the protocol that measures counts of their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segbench.core.errors import ArgumentError
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
    images = counts if isinstance(counts, Mapping) else {}
    return protocol_measuring(images).table(images)


def protocol_measuring(*sets: Mapping[str, Any]) -> Protocol:
    """Give the protocol that measures counts of this type, which all images must have."""
    kinds = {type(counts): counts for per_image in sets for counts in per_image.values()}
    if len(kinds) == 1:
        return measuring(next(iter(kinds.values())))
    found = ", ".join(sorted(kind.__name__ for kind in kinds)) or "no images"
    expected = " or all ".join(kind.counts.__name__ for kind in protocols().values())
    raise ArgumentError(f"found {found}; expected at least one image, all {expected}")
