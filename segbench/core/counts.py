"""What all counts have in common: they are whole numbers, so they add exactly, in any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self


class Counts(ABC):
    """Counts of an image, or of many; a frozen dataclass of integer arrays, numbers and texts.

    A protocol's counts derive from this class. Results files store their fields as they are, without further code.
    """

    kind: ClassVar[str]
    """The name of the type in results files."""

    @classmethod
    @abstractmethod
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Pool the counts of any number of images."""

    def __add__(self, other: Self) -> Self:
        """Pool two images or sets of images."""
        return type(self).sum((self, other))

    @property
    @abstractmethod
    def ground_truth(self) -> str:
        """What the counts tell of the ground truth, in words: methods are compared where this is equal."""

    @property
    def settings(self) -> tuple[Any, ...]:
        """What has to be equal for counts to add up, for instance thresholds; empty if any two add up."""
        return ()
