"""Files that are the same to the last byte: one prediction for several images, or the ground truth itself."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from segbench.errors import DataError
from segbench.loaders.decoded import shown
from segbench.loaders.headers import Header
from segbench.loaders.images import decode, read_bytes
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.source import Source
from segbench.preflight.findings import Finding, Place, many

_PIECE = 4096
"""How much is read at the start, in the middle and at the end before whole files are compared."""
_MOST_OPENED = 64
"""How many groups are decoded to see whether they are one value only, which is a finding of its own."""


def duplicate_findings(samples: Sequence[SampleFiles], headers: Mapping[Source, Header]) -> list[Finding]:
    """Find predictions on disk that are copies of each other, or of the ground truth of their image."""
    sizes = {path: header.size for path, header in headers.items() if isinstance(path, Path)}
    copies = [files for files in samples if _is_its_truth(files, sizes)]
    found = []
    if copies:
        found.append(
            Finding(
                key="is-ground-truth",
                severity="look",
                about="prediction",
                message=f"{many(len(copies), 'prediction')} of {len(samples)} are the ground truth itself, "
                "byte for byte",
                mend="give the folder of predictions",
                places=tuple(Place(shown(files.prediction)) for files in copies),
            )
        )
    own = {files.prediction for files in copies}
    groups = [group for group in _identical(sizes) if not own.issuperset(group)]
    groups = [group for group in groups[:_MOST_OPENED] if not _one_value(group[0])] + groups[_MOST_OPENED:]
    if groups:
        found.append(
            Finding(
                key="duplicates",
                severity="look",
                about="prediction",
                message=f"{sum(map(len, groups))} predictions are copies of {many(len(groups), 'file')}, byte for byte",
                mend="check that each was written for its own image",
                places=tuple(Place(shown(path), f"as {group[0].name}") for group in groups for path in group[1:]),
            )
        )
    return found


def _is_its_truth(files: SampleFiles, sizes: Mapping[Path, int]) -> bool:
    prediction = files.prediction
    if not isinstance(prediction, Path) or prediction not in sizes:
        return False
    try:
        return any(
            truth.stat().st_size == sizes[prediction]
            and _pieces(truth) == _pieces(prediction)
            and _digest(truth) == _digest(prediction)
            and not _one_value(truth)
            for truth in files.ground_truths
            if isinstance(truth, Path)
        )
    except OSError:
        return False


def _identical(sizes: Mapping[Path, int]) -> list[list[Path]]:
    """Give groups of two or more files with the same bytes: of one length, then of like pieces, then read whole."""
    by_size = _groups(sizes, lambda path: sizes[path])
    like = [same for group in by_size for same in _groups(group, _pieces)]
    return [same for group in like for same in _groups(group, _digest)]


def _groups(paths: Iterable[Path], key: Callable[[Path], Hashable]) -> list[list[Path]]:
    found: dict[Hashable, list[Path]] = {}
    for path in paths:
        try:
            found.setdefault(key(path), []).append(path)
        except OSError:
            continue  # gone since its header was read; counting will say so
    return [group for group in found.values() if len(group) > 1]


def _pieces(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        pieces = []
        for start in (0, (size - _PIECE) // 2, size - _PIECE):
            file.seek(max(0, start))
            pieces.append(file.read(_PIECE))
    return hashlib.sha256(b"".join(pieces)).digest()


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _one_value(path: Path) -> bool:
    try:
        array = decode(read_bytes(path), path, role="ground truth").array
    except DataError:
        return False
    return bool((array == array.flat[0]).all())
