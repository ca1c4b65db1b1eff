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
from segbench.core.interface import setting
from segbench.core.levels import are_wide
from segbench.core.numbers import many, verb
from segbench.core.sample import Reading
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

    def __str__(self) -> str:
        """Give both sizes."""
        return f"{size(self.shape)}, expected {size(self.expected)}"


@dataclass
class Surveyed:
    """What the headers of all files show."""

    misfits: list[Misfit] = field(default_factory=list)
    broken: dict[str, DataError] = field(default_factory=dict)  # images with a file that cannot be opened
    odd: dict[str, None] = field(default_factory=dict)  # images with a file that looks damaged
    turned: list[Place] = field(default_factory=list)  # files with another orientation than the first
    predictions: dict[Source, Header] = field(default_factory=dict)
    lengths: dict[Source, int] = field(default_factory=dict)  # in bytes, where known


def survey_headers(samples: Iterable[SampleFiles], read: Read, reads: Reading, repairs: Repairs) -> Surveyed:
    """Read the headers of all files of all images."""
    found = Surveyed()
    for files in samples:
        roles: list[tuple[Source, Role]] = [(path, "ground truth") for path in files.ground_truths]
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
            if header.size:
                found.lengths[path] = header.size
            if header.odd:
                found.odd[files.name] = None
            if role == "prediction" and header.dtype:
                found.predictions[path] = header
        found.misfits += _misfits(files.name, headers, reads, repairs)
        found.turned += _turned(headers)
    return found


def _turned(headers: Sequence[tuple[Source, Role, Header]]) -> Iterable[Place]:
    for path, _, header in headers[1:]:
        first, _, other = headers[0]
        if header.orientation != other.orientation:
            yield Place(shown(path), f"EXIF orientation {header.orientation}, {other.orientation} in {shown(first)}")


def _misfits(
    image: str, headers: Sequence[tuple[Source, Role, Header]], reads: Reading, repairs: Repairs
) -> Iterable[Misfit]:
    known = [(path, role, header, header.shape) for path, role, header in headers if header.shape and not header.odd]
    if not known or known[0][1] != "ground truth":
        return
    for path, role, header, shape in known[1:]:
        wanted = reads.shape_of(header, known[0][3])
        if shape != wanted and not (role == "prediction" and _repaired(shape, wanted, repairs)):
            yield Misfit(image, shown(path), role, shape, wanted)


def _repaired(shape: tuple[int, ...], expected: tuple[int, ...], repairs: Repairs) -> bool:
    """Return whether a repair brings a prediction to its size."""
    if not fixable(shape, expected):
        return False
    return repairs.resize is not None or (repairs.crop and nearly(shape, expected))


_SIZES = {
    "size-transposed": ("have", "rows and columns swapped"),
    "size-near": ("are", "a little larger or smaller"),
    "size-factor": ("are", "larger or smaller by a whole factor"),
    "size-ucm2": ("have", "the size of a ucm2, 2 h + 1 and 2 w + 1"),
    "size-differs": ("have", "a different size"),
}


def size_findings(misfits: Sequence[Misfit], total: int, *, soft: bool) -> list[Finding]:
    """Group files of another size than the ground truth by what it looks like; `soft` says whether maps are soft."""
    groups = grouped((_kind(misfit.shape, misfit.expected), misfit) for misfit in misfits)
    return [found for kind, group in groups.items() for found in _size_finding(kind, group, total, soft=soft)]


def _kind(shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    looks = relation(shape, expected)
    if "transposed" in looks:
        return "size-transposed"
    if "ucm2" in looks:
        return "size-ucm2"
    if nearly(shape, expected):
        return "size-near"
    return "size-factor" if "factor" in looks else "size-differs"


def _size_finding(kind: str, group: Sequence[Misfit], total: int, *, soft: bool) -> list[Finding]:
    roles = Counter(misfit.role for misfit in group)
    files = " and ".join(many(count, {"field": "mask"}.get(role, role)) for role, count in roles.items())
    first = next((misfit for misfit in group if misfit.role == "prediction"), None)
    fix = how_to_fix(first.shape, first.expected, soft=soft) if first else HINT
    if kind == "size-differs" and {misfit.shape for misfit in group} == {misfit.expected for misfit in group}:
        fix = "both sides have these sizes, so names seem to pair different images: see how they are numbered"
    images = dict.fromkeys(misfit.image for misfit in group)
    plural, looks = _SIZES[kind]
    what = f"{files} {verb(len(group), plural)} {looks} ({len(images)} of {many(total, 'image')})"
    about: About = "prediction" if first else "ground truth"
    return found_in(group, kind, what, fix, Misfit.__str__, about=about, stops=True)


def orientation_findings(turned: Sequence[Place]) -> list[Finding]:
    """Find files that viewers turn another way than the ground truth, while pixels are counted as stored."""
    what = f"EXIF orientation differs within an image ({many(len(turned), 'file')}); it is not applied"
    fix = "where stored pixels do not match, apply it: PIL.ImageOps.exif_transpose, mogrify -auto-orient"
    return finding("orientation", what, fix, turned)


def type_findings(predictions: Mapping[Source, Header]) -> list[Finding]:
    """Find predictions with types that imply different scales."""
    known = {path: header.dtype for path, header in predictions.items() if header.dtype and not header.odd}
    by_type = grouped((dtype, path) for path, dtype in known.items())
    wide = {name: paths for name, paths in by_type.items() if are_wide(np.dtype(name))}
    paths = [path for group in wide.values() for path in group]
    scales = ", ".join(f"{name}: value / {np.iinfo(name).max}" for name in wide)
    what = f"{many(len(paths), 'prediction')} of a wide integer type {verb(len(paths), 'are')} read as levels "
    what += f"({scales})"
    fix = f"{setting('--scale N', 'repairs=Repairs(scale=N)')} if N is the largest score, or save scores as floats"
    found = finding("wide-integers", what, fix, (Place(shown(path)) for path in paths))
    if len({name.startswith("float") for name in by_type}) > 1:
        counts = ", ".join(f"{len(paths)} {name}" for name, paths in sorted(by_type.items()))
        what = f"some predictions are floats, and others levels, which are divided ({counts})"
        places = (Place(shown(path)) for path in min(by_type.values(), key=len))
        found += finding("mixed-types", what, "save all predictions in one type", places)
    return found
