"""Counts of several classes, each against all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts


@dataclass(frozen=True, eq=False, repr=False)
class ClassCounts(Counts):
    """The pixel counts of each class of an image, or of many; counts of the same classes add with ``+``.

    Parameters
    ----------
    names : tuple of str, length K
        The classes, each once.
    counts : tuple of ScoreCounts, length K
        Of each class: its own pixels are positives, those of all others negatives, scores those of its own map.

    Raises
    ------
    ArgumentError
        If there is no class, a name comes twice, or classes do not count the same pixels.

    Examples
    --------
    >>> counts = ClassCounts(("cat", "dog"), (ScoreCounts([2, 1], [3, 1], [0, 2]), ScoreCounts([5], [2], [4])))
    >>> counts["dog"].total_positives, counts.pixels, counts.micro.total_positives
    (2, 6, 6)
    >>> (counts + counts)["cat"].positives
    array([6, 2])
    """

    kind: ClassVar[str] = "classes"
    of_tiles: ClassVar[bool] = True

    names: tuple[str, ...]
    counts: tuple[ScoreCounts, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "counts", tuple(self.counts))
        if not self.names or len(self.names) != len(self.counts):
            raise ArgumentError(f"{len(self.names)} names for the counts of {len(self.counts)} classes")
        doubled = sorted({name for name in self.names if self.names.count(name) > 1})
        if doubled:
            raise ArgumentError(f"several classes are called {', '.join(doubled)}")
        covered = {(part.total_positives + part.total_negatives, part.ignored) for part in self.counts}
        if len(covered) > 1:
            raise ArgumentError(f"classes count different pixels: (counted, ignored) are {sorted(covered)}")

    def __getitem__(self, name: str) -> ScoreCounts:
        """Give the counts of one class."""
        if name not in self.names:
            raise ArgumentError(f"no class {name!r}; the classes are {', '.join(self.names)}")
        return self.counts[self.names.index(name)]

    @property
    def pixels(self) -> int:
        """Pixels that count, in all; each is a case of every class."""
        return self.counts[0].total_positives + self.counts[0].total_negatives

    @property
    def ignored(self) -> int:
        """Pixels left out (void, outside the field of view)."""
        return self.counts[0].ignored

    @property
    def micro(self) -> ScoreCounts:
        """The sum over classes: every pixel is K cases, one per class."""
        return ScoreCounts.sum(self.counts)

    @property
    def ground_truth(self) -> str:
        parts = zip(self.names, self.counts, strict=True)
        held = ", ".join(f"{part.total_positives} of {name}" for name, part in parts)
        return f"{held} among {self.pixels} pixels"

    @property
    def settings(self) -> tuple[object, ...]:
        return self.names

    @property
    def parts(self) -> Mapping[str, ScoreCounts]:
        """The counts of each class by its name."""
        return dict(zip(self.names, self.counts, strict=True))

    @classmethod
    def of_parts(cls, parts: Mapping[str, ScoreCounts]) -> ClassCounts:
        """Put the classes together."""
        return cls(tuple(parts), tuple(parts.values()))

    @classmethod
    def sum(cls, counts: Iterable[ClassCounts]) -> ClassCounts:
        parts = list(counts)
        names = list(dict.fromkeys(part.names for part in parts))
        if len(names) != 1:
            found = "; ".join(", ".join(each) for each in names) or "no counts"
            raise ArgumentError(f"counts of the same classes add up, but found {found}")
        columns = zip(*(part.counts for part in parts), strict=True)
        return cls(names[0], tuple(ScoreCounts.sum(column) for column in columns))
