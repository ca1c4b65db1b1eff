"""What all counts have in common: they are whole numbers, so they add exactly, in any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self, TypeVar

from segbench.core.errors import ArgumentError
from segbench.core.numbers import Brief


class Counts(Brief, ABC):
    """Counts of an image, or of many; a frozen dataclass of integer arrays, numbers and texts.

    A protocol's counts derive from this class. Results files store their fields as they are, without further code.
    """

    kind: ClassVar[str]
    """The name of the type in results files."""
    of_tiles: ClassVar[bool] = False
    """Whether the counts of the tiles of an image add up to those of the image, as no pixel depends on others."""

    @classmethod
    def unchecked(cls, **values: Any) -> Self:  # noqa: ANN401  of several types
        """Build counts from values that are valid by construction, without checking them: that reads long arrays."""
        import numpy as np

        from segbench.core.arrays import frozen

        kept: Any = cls
        counts = object.__new__(cls)
        for field in fields(kept):
            value = values.get(field.name, field.default)
            object.__setattr__(counts, field.name, frozen(value) if isinstance(value, np.ndarray) else value)
        return counts

    @classmethod
    @abstractmethod
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Pool the counts of any number of images."""

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return type(self).sum((self, other))

    def __radd__(self, other: object) -> Self:
        """Add to 0, with which `sum` begins."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        import numpy as np

        kept: Any = self
        return all(np.array_equal(getattr(self, each.name), getattr(other, each.name)) for each in fields(kept))

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    @property
    @abstractmethod
    def ground_truth(self) -> str:
        """What the counts say about the ground truth: methods are compared where this is equal."""

    @property
    def settings(self) -> tuple[Any, ...]:
        """What has to be equal for counts to add up, for instance thresholds; empty if any two add up."""
        return ()

    @property
    def parts(self) -> Mapping[str, Counts]:
        """Counts by name that results files hold instead of fields, so that one is read alone; empty for fields."""
        return {}

    @classmethod
    def of_parts(cls, parts: Mapping[str, Any]) -> Self:
        """Put together what `parts` gave."""
        raise ValueError(f"counts of the kind {cls.kind} have no parts, found {', '.join(parts)}")


class _Later:
    """A type that is imported when it is first read."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, instance: object, owner: type) -> Any:  # noqa: ANN401  the type
        return getattr(import_module(self._module), self._name)


def counts_in(module: str, name: str) -> Any:  # noqa: ANN401  the type is not known here
    """Give the value of `Protocol.counts` without importing it: settings are light, counts are not."""
    return _Later(module, name)


class Pooled(Protocol):
    """Anything with the pooled counts of many images, such as a `segbench.Result`."""

    @property
    def pooled(self) -> Any:  # noqa: ANN401  of the protocol's type
        """The counts of all images added up."""


_Type = TypeVar("_Type", bound=Counts)


def as_pooled(given: object, kind: type[_Type], name: str = "counts") -> _Type:
    """Give counts as they are, and of a result its pooled counts."""
    counts = given if isinstance(given, kind) else getattr(given, "pooled", None)
    if isinstance(counts, kind):
        return counts
    found = type(given).__name__ + ("" if counts is None else f" of {type(counts).__name__}")
    hint = ""
    if "class" in getattr(given, "axes", ()):
        hint = "; take that of one class, parts('class')[name], or of all added up, parts('class').pooled"
    if counts is None and kind.kind == "scores":
        hint = "; count arrays first: count_pixels(labels, scores)"
    raise ArgumentError(f"{name} is {found}, expected {kind.__name__} or a Result with such counts{hint}")
