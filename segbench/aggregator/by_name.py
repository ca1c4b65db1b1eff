"""Mappings whose names are known, and whose values are read or made when they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class ByName(Mapping[str, Value]):
    """A mapping of names, in their order; values are given by ``__getitem__``."""

    _names: Collection[str]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Count the names."""
        return len(self._names)
