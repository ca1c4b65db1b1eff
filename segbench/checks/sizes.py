"""What headers show: sizes that differ, files that cannot be read, types that surprise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from segbench.checks.findings import About, Finding, Place, finding, found_in
from segbench.core.errors import DataError
from segbench.core.grouping import grouped
from segbench.core.levels import are_wide
from segbench.core.messages import Message, Setting, joined
from segbench.core.sample import Reading, Side
from segbench.loaders.decoded import Header, Role, Source, shown, size
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import HINT, Repairs, fixable, how_to_fix, nearly, relation

Read: TypeAlias = Callable[[Source, Role], Header]


class Misfit(NamedTuple):
    """A file of another size than the ground truth."""

    image: str
    file: str
    role: Role
    shape: tuple[int, ...]
    expected: tuple[int, ...]

    @property
    def sizes(self) -> Message:
        """Both sizes."""
        return Message(
            "detail",
            "{size}, expected {expected_size}",
            size=size(self.shape),
            expected_size=size(self.expected),
            shape=self.shape,
            expected=self.expected,
        )


RENAME = Message(
    "fix",
    "compare images with their predictions, then rename the files, or list which belong together: {pairs}",
    pairs=Setting("pairs"),
)
"""What to do where predictions seem to be of other images."""
_EXCHANGED = 0.9
"""Share of the images whose size one side has as often as the other, from which images seem to be exchanged."""
_FEW = 0.2
"""Share of the images up to which a few seem to be transposed, if both sides have sizes of either orientation."""


@dataclass
class Sizes:
    """How often the predictions of a set have each size, and are to have it, also where they are repaired."""

    had: Counter[tuple[int, ...]] = field(default_factory=Counter)
    wanted: Counter[tuple[int, ...]] = field(default_factory=Counter)
    unlike: list[Misfit] = field(default_factory=list)

    def add(self, one: Misfit) -> None:
        """Count the size of a prediction."""
        self.had[one.shape] += 1
        self.wanted[one.expected] += 1
        if one.shape != one.expected:
            self.unlike.append(one)

    def exchanged(self) -> list[Misfit]:
        """Give the predictions of another size where both sides have the same sizes, each about as often."""
        total = self.had.total()
        if len(self.unlike) < 2 or (self.had & self.wanted).total() < _EXCHANGED * total:
            return []
        transposed = all(_kind(one.shape, one.expected) == "size-transposed" for one in self.unlike)
        chance = transposed and not _FEW * total < len(self.unlike) < total
        return [] if chance or any(one.shape not in self.wanted for one in self.unlike) else self.unlike


class LossyFile(NamedTuple):
    """A file that was stored with loss, of an image."""

    image: str
    compression: str


@dataclass
class Surveyed:
    """What the headers of all files show."""

    misfits: list[Misfit] = field(default_factory=list)
    sizes: Sizes = field(default_factory=Sizes)
    broken: dict[str, DataError] = field(default_factory=dict)  # images with a file that cannot be opened
    odd: dict[str, None] = field(default_factory=dict)  # images with a file that looks damaged
    turned: list[Place] = field(default_factory=list)  # files with another orientation than the first
    predictions: dict[Source, Header] = field(default_factory=dict)
    lengths: dict[Source, int] = field(default_factory=dict)  # in bytes, where known
    lossy: dict[Side, dict[str, LossyFile]] = field(default_factory=dict)  # files of labels with loss, by side

    def add(self, image: str, path: Source, role: Role, header: Header, reads: Reading) -> None:
        """Add what the header of a file shows by itself."""
        if header.size:
            self.lengths[path] = header.size
        if header.odd:
            self.odd[image] = None
        if role == "prediction" and header.dtype:
            self.predictions[path] = header
        for side in reads.numbered:
            if header.lossy and role == side:
                self.lossy.setdefault(side, {})[shown(path)] = LossyFile(image, header.lossy)


def survey_headers(samples: Iterable[SampleFiles], read: Read, reads: Reading, repairs: Repairs) -> Surveyed:
    """Read the headers of all files of all images."""
    found = Surveyed()
    for files in samples:
        drawn = files.ground_truths or filter(None, [files.sized_as])
        roles: list[tuple[Source, Role]] = [(path, "ground truth") for path in drawn]
        # One map for all images lies in memory once it is read, so the headers of fields cost nothing.
        roles += [(files.field, "field")] if files.field is not None else []
        roles += [(path, "prediction") for path in (files.prediction, *files.scales)]
        headers = []
        for path, role in roles:
            try:
                left_open = role == "prediction" and reads.leaves_axes_open(path)
                header = Header() if left_open else read(path, role)
            except DataError as error:
                found.broken.setdefault(files.name, error)
                continue
            headers.append((path, role, header))
            found.add(files.name, path, role, header, reads)
        for one in _sizes(files.name, headers, reads):
            if predicted := one.role == "prediction":
                found.sizes.add(one)
            if one.shape != one.expected and not (predicted and _repaired(one, repairs)):
                found.misfits.append(one)
        found.turned += _turned(headers)
    return found


def _turned(headers: Sequence[tuple[Source, Role, Header]]) -> Iterable[Place]:
    for path, _, header in headers[1:]:
        first, _, other = headers[0]
        if header.orientation != other.orientation:
            detail = Message(
                "detail",
                "EXIF orientation {orientation}, {expected} in {other}",
                orientation=header.orientation,
                expected=other.orientation,
                other=shown(first),
            )
            yield Place(shown(path), detail)


def _sizes(image: str, headers: Sequence[tuple[Source, Role, Header]], reads: Reading) -> Iterable[Misfit]:
    """Give the size of each file, as far as headers show it, beside the one that the first ground truth asks for."""
    known = [(path, role, header, header.shape) for path, role, header in headers if header.shape and not header.odd]
    if known and known[0][1] == "ground truth":
        for path, role, header, shape in known[1:]:
            yield Misfit(image, shown(path), role, shape, reads.shape_of(header, known[0][3]))


def _repaired(misfit: Misfit, repairs: Repairs) -> bool:
    """Return whether a repair brings a prediction to its size."""
    if not fixable(misfit.shape, misfit.expected):
        return False
    return repairs.resize is not None or (repairs.crop and nearly(misfit.shape, misfit.expected))


def size_findings(misfits: Sequence[Misfit], sizes: Sizes, total: int, *, soft: bool, cropped: bool) -> list[Finding]:
    """Group files of another size than the ground truth by what it looks like.

    `soft` says whether maps are soft, `cropped` whether they are to be cropped, which changed none of these.

    Predictions that seem to be of other images are one group, even if a repair makes them fit.
    """
    exchanged = {one.file: one for one in sizes.exchanged()}
    left = [misfit for misfit in misfits if misfit.file not in exchanged]
    groups = grouped((_kind(misfit.shape, misfit.expected), misfit) for misfit in left)
    found = [
        found
        for kind, group in groups.items()
        for found in _size_finding(kind, group, total, soft=soft, cropped=cropped)
    ]
    message = Message(
        "exchanged-images",
        "{count} predictions of {total} do not have the size of their ground truth but that of another one: names seem "
        "to pair different images",
        count=len(exchanged),
        total=total,
    )
    lost = [misfit.image for misfit in misfits if misfit.file in exchanged]
    places = [Place(file, one.sizes) for file, one in exchanged.items()]
    return [*finding(message, RENAME, places, side="names", images=lost), *found]


def _kind(shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    looks = relation(shape, expected).kind
    if looks == "transposed":
        return "size-transposed"
    if looks == "doubled":
        return "size-ucm2"
    if nearly(shape, expected):
        return "size-near"
    return "size-factor" if looks == "off-by-factor" else "size-differs"


def _size_finding(kind: str, group: Sequence[Misfit], total: int, *, soft: bool, cropped: bool) -> list[Finding]:
    first = next((misfit for misfit in group if misfit.role == "prediction"), None)
    fix = how_to_fix(first.shape, first.expected, soft=soft, cropped=cropped) if first else HINT
    side: About = "prediction" if first else "ground truth"
    message = _size_message(kind, group)
    message += Message(
        "images",
        " ({images} of {total:many image})",
        images=len({misfit.image for misfit in group}),
        total=total,
    )
    return found_in(group, message, fix, lambda misfit: misfit.sizes, side=side, stops=True)


def _size_message(kind: str, group: Sequence[Misfit]) -> Message:
    """Say of files what their sizes look like."""
    roles = Counter(misfit.role for misfit in group)
    nouns = {
        "ground truth": Message("files", "{count:many ground truth}", count=roles["ground truth"]),
        "field": Message("files", "{count:many mask}", count=roles["field"]),
        "prediction": Message("files", "{count:many prediction}", count=roles["prediction"]),
    }
    values = {"files": joined([nouns[role] for role in roles], " and "), "count": len(group)}
    if kind == "size-transposed":
        return Message("size-transposed", "{files} {count:verb have} rows and columns swapped", **values)
    if kind == "size-near":
        return Message("size-near", "{files} {count:verb are} a little larger or smaller", **values)
    if kind == "size-factor":
        return Message("size-factor", "{files} {count:verb are} larger or smaller by a whole factor", **values)
    if kind == "size-ucm2":
        return Message("size-ucm2", "{files} {count:verb have} the size of a ucm2, 2 h + 1 and 2 w + 1", **values)
    return Message("size-differs", "{files} {count:verb have} a different size", **values)


def orientation_findings(turned: Sequence[Place]) -> list[Finding]:
    """Find files that viewers turn another way than the ground truth, while pixels are counted as stored."""
    message = Message(
        "orientation",
        "EXIF orientation differs within an image ({count:many file}); it is not applied",
        count=len(turned),
    )
    fix = "where stored pixels do not match, apply it: PIL.ImageOps.exif_transpose, mogrify -auto-orient"
    return finding(message, fix, turned)


def type_findings(predictions: Mapping[Source, Header]) -> list[Finding]:
    """Find predictions with types that imply different scales, which single bits do not."""
    known = {path: header.dtype for path, header in predictions.items() if header.dtype != "bool" and not header.odd}
    by_type = grouped((dtype, path) for path, dtype in known.items())
    wide = {name: paths for name, paths in by_type.items() if are_wide(np.dtype(name))}
    paths = [path for group in wide.values() for path in group]
    message = Message(
        "wide-integers",
        "{count:many prediction} of a wide integer type {count:verb are} read as levels ({scales})",
        count=len(paths),
        scales=[f"{name}: value / {np.iinfo(name).max}" for name in wide],
    )
    fix = Message(
        "fix",
        "{scale} if N is the largest score, or save scores as floats",
        scale=Setting("scale", of="Repairs", metavar="N"),
    )
    found = finding(message, fix, (Place(shown(path)) for path in paths))
    if len({name.startswith("float") for name in by_type}) > 1:
        message = Message(
            "mixed-types",
            "some predictions are floats, and others levels, which are divided ({counts})",
            counts=[f"{len(paths)} {name}" for name, paths in sorted(by_type.items())],
        )
        places = (Place(shown(path)) for path in min(by_type.values(), key=len))
        found += finding(message, "save all predictions in one type", places)
    return found
