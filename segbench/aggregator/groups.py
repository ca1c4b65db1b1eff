"""Images in groups, such as the categories of a data set, and what a mean over groups is measured by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from segbench.core.capabilities import Reference
from segbench.core.errors import ArgumentError
from segbench.core.interface import format_setting
from segbench.core.metric import Metric
from segbench.core.names import first_names
from segbench.core.numbers import many, of_all
from segbench.core.protocol import Capability, Counted, Protocol
from segbench.core.sample import Sample
from segbench.core.table import Table
from segbench.loaders.file_list import read_column
from segbench.loaders.pairing import natural
from segbench.statistics.group_means import GroupMeans

FOLDER = "folder"
ALL_IMAGES = "all images"
_RESERVED = re.compile(rf"{ALL_IMAGES}|mean of \d+ groups?")  # names of the rows beside the groups
_LISTED = 5
_COLUMN = "a column of a CSV file, 'meta.csv:weather'"
_EXPECTED = f"expected 'folder', or {_COLUMN}"


@dataclass(frozen=True)
class Grouping:
    """The group of each image by its name; others are in none."""

    of_images: Mapping[str, str]
    notes: tuple[str, ...] = ()  # on what does not fit
    by_folder: bool = False  # whether groups are the first folders in the names of images

    @property
    def names(self) -> list[str]:
        """The groups, numbers in their names in order."""
        return sorted(set(self.of_images.values()), key=natural)

    def require(self, group: str) -> str:
        """Insist that there is such a group."""
        if group not in self.names:
            known = first_names(self.names, 20)
            raise ArgumentError(f"{format_setting('group', group)}: there is no such group; the groups are {known}")
        return group


def grouping(by: str | Mapping[str, str], names: Iterable[str]) -> Grouping:
    """Put images into groups, by their first folder, a column of a CSV file, or a mapping."""
    images = sorted(names)
    if isinstance(by, Mapping):
        found, strange = _fitted({str(name): str(group) for name, group in by.items()}, images)
    elif by == FOLDER:
        found, strange = {name: name.partition("/")[0] for name in images if "/" in name}, []
    else:
        found, strange = _fitted(_column(by), images)
    what = by if isinstance(by, str) else "the groups given"
    if not found:
        by_folder = f"no image lies in a sub-folder; give {_COLUMN}"
        hint = by_folder if by == FOLDER else f"it names none of the images, which are called {first_names(images, 3)}"
        raise ArgumentError(f"{format_setting('group_by', what)} gives no group: {hint}")
    for name, group in found.items():
        if _RESERVED.fullmatch(group):
            raise ArgumentError(f"{name} is in a group called {group!r}, which names another row; rename this group")
    without = [name for name in images if name not in found]
    notes = []
    if without:
        notes.append(f"{of_all(len(without), len(images), 'image')} in no group: {first_names(without, _LISTED)}")
    if strange:
        notes.append(f"{many(len(strange), 'row')} of {what} without an image: {first_names(strange, _LISTED)}")
    return Grouping(found, tuple(notes), by == FOLDER)


def _fitted(groups: Mapping[str, str], images: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Give the groups by image, whose name may be written with the suffix of a file; and names without an image."""
    known = set(images)
    found: dict[str, str] = {}
    strange = []
    for name, group in groups.items():
        image = next((each for each in (name, name.rpartition(".")[0]) if each in known), None)
        if image is None:
            strange.append(name)
        elif group and found.setdefault(image, group) != group:
            raise ArgumentError(f"{image!r} is in {found[image]!r} and, as {name!r}, in {group!r}; give it one group")
    return found, strange


def _column(by: str) -> dict[str, str]:
    """Read the group of each image from a column of a CSV file."""
    place, colon, column = by.rpartition(":")
    if not colon or not place:
        raise ArgumentError(f"{format_setting('group_by', by)} is not understood, {_EXPECTED}")
    return read_column(place, column)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOverGroups(Protocol):
    """A protocol of which every score is the mean over groups, and each image is measured in its own."""

    of: Protocol
    groups: Mapping[str, Any] = field(repr=False)  # results

    def __post_init__(self) -> None:
        for name in ("name", "title", "reads", "counts"):
            object.__setattr__(self, name, getattr(self.of, name))

    def signature_fields(self) -> dict[str, str]:
        """Name the settings of the protocol."""
        return self.of.settings_as_text

    def metrics(self) -> tuple[Metric, ...]:
        """Give the scores; thresholds and totals have no mean."""
        return tuple(metric for metric in self.of.metrics() if metric.kind == "score" and metric.key)

    def count(self, sample: Sample) -> Counted:
        """Count an image as the protocol does."""
        return self.of.count(sample)

    def table(self, per_image: Mapping[str, Any]) -> Table:
        """Give the means, or of a single image the table that its group measures it by."""
        if len(per_image) == 1 < sum(len(each.counts) for each in self.groups.values()):
            group = next(each for each in self.groups.values() if not each.counts.keys().isdisjoint(per_image))
            of_one: Table = group.table_of(per_image)
            return of_one
        return GroupMeans({group: each.measured for group, each in self.groups.items()}, self.metrics())

    def capability(self, kind: type[Capability]) -> Capability | None:
        """Say whether methods are ranked; nothing else is known of a mean."""
        return self.of.capability(kind) if kind is Reference else None
