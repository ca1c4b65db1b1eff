"""Headers of all files: sizes, types, orientations, compression, and files that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from segbench.checks.findings import Place
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.sample import Reading, Side
from segbench.loaders.decoded import Header, Role, size
from segbench.loaders.listing import SampleFiles
from segbench.loaders.reading import Repairs
from segbench.loaders.sizes import fixable, nearly, relation
from segbench.loaders.source import Source, shown
from segbench.loaders.volume_pairs import GridError, grid_error_of

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


_EXCHANGED = 0.9
"""Share of the images whose size one side has as often as the other, from which images seem to be exchanged."""
_FEW = 0.2
"""Share of the images up to which a few seem to be transposed, if both sides have sizes of either orientation."""


@dataclass
class Sizes:
    """How often the predictions of a set have each size, and are expected to, also where they are repaired."""

    had: Counter[tuple[int, ...]] = field(default_factory=Counter)
    wanted: Counter[tuple[int, ...]] = field(default_factory=Counter)
    unlike: list[Misfit] = field(default_factory=list)

    def add(self, prediction: Misfit) -> None:
        """Count the size of a prediction."""
        self.had[prediction.shape] += 1
        self.wanted[prediction.expected] += 1
        if prediction.shape != prediction.expected:
            self.unlike.append(prediction)

    def exchanged(self) -> list[Misfit]:
        """Return the predictions of another size where both sides have the same sizes, each about as often."""
        total = self.had.total()
        if len(self.unlike) < 2 or (self.had & self.wanted).total() < _EXCHANGED * total:
            return []
        if any(misfit.shape not in self.wanted for misfit in self.unlike):
            return []
        transposed = all(kind_of(misfit.shape, misfit.expected) == "size-transposed" for misfit in self.unlike)
        all_or_few = not _FEW * total < len(self.unlike) < total
        return [] if transposed and all_or_few else self.unlike


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
    off_grid: dict[str, GridError] = field(default_factory=dict)  # images whose volumes are not on one grid

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
    surveyed = Surveyed()
    for files in samples:
        truths = files.ground_truths or filter(None, [files.sized_as])
        roles: list[tuple[Source, Role]] = [(path, "ground truth") for path in truths]
        # One map for all images lies in memory once it is read, so the headers of fields cost nothing.
        roles += [(files.field, "field")] if files.field is not None else []
        roles += [(path, "prediction") for path in (files.prediction, *files.scales)]
        headers = []
        for path, role in roles:
            try:
                left_open = role == "prediction" and reads.leaves_axes_open(path)
                header = Header() if left_open else read(path, role)
            except DataError as error:
                surveyed.broken.setdefault(files.name, error)
                continue
            headers.append((path, role, header))
            surveyed.add(files.name, path, role, header, reads)
        for sized in _compared_sizes(files.name, headers, reads):
            if sized.role == "prediction":
                surveyed.sizes.add(sized)
            if sized.shape != sized.expected and not (sized.role == "prediction" and _repaired(sized, repairs)):
                surveyed.misfits.append(sized)
        surveyed.turned += _turned(headers)
        off_grid = grid_error_of(headers, reads, repairs)
        if off_grid:
            surveyed.off_grid[files.name] = off_grid
    return surveyed


def kind_of(shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Return the kind of the finding that a file has another size than expected."""
    related_by = relation(shape, expected).kind
    if related_by == "transposed":
        return "size-transposed"
    if related_by == "doubled":
        return "size-ucm2"
    if nearly(shape, expected):
        return "size-near"
    return "size-factor" if related_by == "off-by-factor" else "size-differs"


def _turned(headers: Sequence[tuple[Source, Role, Header]]) -> Iterable[Place]:
    """Yield the files of an image with another orientation than its first."""
    for path, _, header in headers[1:]:
        first_path, _, first = headers[0]
        if header.orientation != first.orientation:
            detail = Message(
                "detail",
                "EXIF orientation {orientation}, {expected} in {other}",
                orientation=header.orientation,
                expected=first.orientation,
                other=shown(first_path),
            )
            yield Place(shown(path), detail)


def _compared_sizes(image: str, headers: Sequence[tuple[Source, Role, Header]], reads: Reading) -> Iterable[Misfit]:
    """Yield the size of each file beside the one that the first ground truth asks for, also where both are equal.

    Without the size of a ground truth there is nothing to compare with.
    """
    known = [(path, role, header, header.shape) for path, role, header in headers if header.shape and not header.odd]
    if not known:
        return
    _, first_role, _, ground_truth_shape = known[0]
    if first_role == "ground truth":
        for path, role, header, shape in known[1:]:
            yield Misfit(image, shown(path), role, shape, reads.shape_of(header, ground_truth_shape))


def _repaired(misfit: Misfit, repairs: Repairs) -> bool:
    """Return whether a repair brings a prediction to its size."""
    if not fixable(misfit.shape, misfit.expected):
        return False
    return repairs.resize is not None or (repairs.crop and nearly(misfit.shape, misfit.expected))
