"""What all counts have in common: they are whole numbers, so they add exactly, in any order."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, Self, TypeVar

from segbench.core.errors import ArgumentError, UnknownArgumentError
from segbench.core.guesses import POSITIONS
from segbench.core.messages import Message, Setting
from segbench.core.numbers import Brief, written

if TYPE_CHECKING:
    from segbench.core.joined import JoinedCounts
    from segbench.core.metric import Summary

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Origin:
    """Where counts come from, as far as that is known; it is no part of their equality, and not in results files."""

    images: int = 1
    protocols: tuple[Any, ...] = ()
    """The protocols with which `segbench.count` counted, each once."""
    positives: tuple[float, ...] = ()
    """The value that was positive, where the image decided it: at most one, as others do not add up."""

    def __add__(self, other: Origin) -> Origin:
        """Return the origin of a sum."""
        if not (other.protocols or other.positives):
            return Origin(self.images + other.images, self.protocols, self.positives)
        positives = (*self.positives, *(value for value in other.positives if value not in self.positives))
        if len(positives) > 1:
            values = " and ".join(map(written, sorted(positives)))
            raise ArgumentError(
                Message(
                    "several-positives",
                    "counts add up if one value is positive, and here {listed} were; "
                    "count each image with its own, for instance {positive}",
                    listed=values,
                    values=positives,
                    positive=Setting("positive", positives[0]),
                )
            )
        protocols = (*self.protocols, *(protocol for protocol in other.protocols if protocol not in self.protocols))
        return Origin(self.images + other.images, protocols, positives)


def noting_origin(add_up: Callable[[Any, Iterable[Any]], Any]) -> Callable[[Any, Iterable[Any]], Any]:
    """Let a class method that adds up counts give the sum an origin: that of all its parts."""

    @wraps(add_up)
    def with_origin(cls: type[Counts], counts: Iterable[Any]) -> Any:  # noqa: ANN401  of the class
        origin = Origin(0)

        def noted() -> Iterator[Any]:
            nonlocal origin
            for part in counts:
                origin += part.origin
                yield part

        return add_up(cls, noted()).of_origin(origin)

    return with_origin


class Counts(Brief, ABC):
    """Counts of an image, or of many; a frozen dataclass of integer arrays, numbers and texts.

    A protocol's counts derive from this class. Results files store their fields as they are, without further code.
    """

    kind: ClassVar[str]
    """The name of the type in results files."""
    of_tiles: ClassVar[bool] = False
    """Whether the counts of the tiles of an image add up to those of the image, as no pixel depends on others."""
    origin: ClassVar[Origin] = Origin()
    """Where they come from; counts of `segbench.count`, and sums of such, have one of their own."""

    def of_origin(self, origin: Origin) -> Self:
        """Return the counts with a known origin."""
        if origin == self.origin:
            return self
        counts = object.__new__(type(self))  # as a sum of one may be this one
        vars(counts).update(vars(self), origin=origin)
        return counts

    @classmethod
    def unchecked(cls, **values: Any) -> Self:  # noqa: ANN401  of several types
        """Build counts from values that are valid by construction, without checking them: that reads long arrays."""
        from segbench.core.arrays import frozen

        counts = object.__new__(cls)
        stored = {name: frozen(value) if hasattr(value, "flags") else value for name, value in values.items()}
        vars(counts).update(stored)  # others have their defaults, as attributes of the class
        return counts

    @classmethod
    def fit(cls, joined: JoinedCounts) -> bool:  # noqa: ARG003  others look
        """Return whether joined counts of images are valid; False where only those of single images are checked."""
        return False

    @classmethod
    @abstractmethod
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Pool the counts of any number of images."""

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return type(self).sum((self, other)).of_origin(self.origin + other.origin)

    def __radd__(self, other: object) -> Self:
        """Add to 0, with which `sum` begins."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        import numpy as np

        kept: Any = self
        compared = (column.name for column in fields(kept) if column.compare)
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in compared)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    @property
    @abstractmethod
    def ground_truth(self) -> str:
        """What the counts say about the ground truth: methods are compared where this is equal."""

    @property
    def settings(self) -> tuple[Any, ...]:
        """What has to be equal for counts to add up, for instance thresholds; empty if any two add up."""
        return ()

    def metrics(self, protocol: Any = None) -> Summary:  # noqa: ANN401  a `segbench.Protocol`, or its name
        """Measure the counts as one image.

        Parameters
        ----------
        protocol : Protocol or str, optional
            With which settings to measure; by default those that `segbench.count` was given, and of counts from
            elsewhere the defaults.

        Returns
        -------
        Summary
            What ``result.per_image`` has of an image, by the same keys; ``.undefined`` says why a metric is nan. Counts
            that were added up are measured as one image. Means over images, such as distances, are undefined there.

        Raises
        ------
        ArgumentError
            If the protocol has other counts; if counts with different settings were added up, and none is given.

        Examples
        --------
        >>> from segbench import Pixels, count
        >>> counts = count([0, 1, 1], [0.2, 0.9, 0.5])
        >>> counts.metrics()["f"], counts.metrics(Pixels(at=0.7))["recall@0.7"]
        (1.0, 0.5)
        """
        # The only name of a protocol's package here: what measures counts that come from elsewhere, it alone knows.
        measuring = import_module("segbench.protocols.registry").measuring_with(self, protocol)
        images = max(self.origin.images, getattr(self, "images", 1))
        summary: Summary = measuring.table({"": self}).image_summary(images)
        return summary

    @property
    def parts(self) -> Mapping[str, Counts]:
        """Counts by name that results files hold instead of fields, so that one is read alone; empty for fields."""
        return {}

    @classmethod
    def of_parts(cls, parts: Mapping[str, Any]) -> Self:
        """Rebuild counts from their `parts`."""
        raise ValueError(f"counts of the kind {cls.kind} have no parts, found {', '.join(parts)}")


class _Later:
    """A type that is imported when it is first read."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, instance: object, owner: type) -> Any:  # noqa: ANN401  the type
        return getattr(import_module(self._module), self._name)


def counts_in(module: str, name: str) -> Any:  # noqa: ANN401  the type is not known here
    """Return a descriptor for `Protocol.counts` that imports the type once it is read: counts are heavy."""
    return _Later(module, name)


class Pooled(Protocol):
    """Anything with the pooled counts of many images, such as a `segbench.Result`."""

    @property
    def pooled(self) -> Any:  # noqa: ANN401  of the protocol's type
        """The counts of all images added up."""


_Type = TypeVar("_Type", bound=Counts)


def of_counts(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function of counts so that it says how to count arrays, which other packages take."""
    known = inspect.signature(function).parameters.keys()
    of_arrays = {word for words in POSITIONS for word in words.split()}

    @wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if len(args) > 1 or of_arrays & (kwargs.keys() - known):
            raise UnknownArgumentError(
                Message(
                    "takes-counts",
                    "{called} takes counts or a Result: write segbench.{called}(segbench.count(ground_truth, scores))",
                    called=function.__name__,
                )
            )
        return function(*args, **kwargs)

    return checked


def as_pooled(counts_or_result: object, kind: type[_Type], name: str = "counts") -> _Type:
    """Return counts as they are, and of a result its pooled counts."""
    counts = counts_or_result if isinstance(counts_or_result, kind) else getattr(counts_or_result, "pooled", None)
    if isinstance(counts, kind):
        return counts
    received = type(counts_or_result).__name__ + ("" if counts is None else f" of {type(counts).__name__}")
    hint = ""
    if "class" in getattr(counts_or_result, "axes", ()):
        hint = "; take that of one class, parts('class')[name], or of all added up, parts('class').pooled"
    if counts is None and kind.kind == "scores":
        hint = "; count arrays first: count(ground_truth, scores)"
    raise ArgumentError(
        Message(
            "no-counts",
            "{argument} is {found}, expected {expected} or a Result with such counts{hint}",
            argument=name,
            found=received,
            expected=kind.__name__,
            hint=hint,
        )
    )
