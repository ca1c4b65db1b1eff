"""Files that are the same to the last byte: one prediction for several images, or the ground truth itself."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from segbench.checks.findings import Finding, Place, finding
from segbench.core.errors import DataError
from segbench.core.numbers import many, verb
from segbench.loaders.decoded import Source, shown
from segbench.loaders.images import decode
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.source import LocalFile, opened, read_bytes

_PIECE = 4096
"""How much is read at the start, in the middle and at the end before whole files are compared."""
_MOST_OPENED = 64
"""How many groups are decoded to see whether they are one value only, which is a finding of its own."""


def duplicate_findings(samples: Sequence[SampleFiles], lengths: Mapping[Source, int]) -> list[Finding]:
    """Find predictions that are copies of each other, or of their image's ground truth."""
    copies = [files for files in samples if _is_its_truth(files, lengths)]
    own = {files.prediction for files in copies}
    predictions = (path for files in samples for path in (files.prediction, *files.scales))
    known = {path: lengths[path] for path in predictions if lengths.get(path)}
    groups = [group for group in _identical(known) if not own.issuperset(group)]
    groups = [group for group in groups[:_MOST_OPENED] if not _one_value(group[0])] + groups[_MOST_OPENED:]
    what = f"{sum(map(len, groups))} predictions are the same as another one, byte for byte"
    places = (Place(shown(path), f"as {group[0].name}") for group in groups for path in group[1:])
    fix = "check that each belongs to its own image"
    found = _are_ground_truth(copies, len(samples), "byte for byte")
    return [*found, *finding("duplicates", what, fix, places)]


def same_file_findings(samples: Sequence[SampleFiles]) -> list[Finding]:
    """Find predictions that are the very file of their ground truth, reading none: one folder given twice."""
    same = [files for files in samples if any(is_same_file(files.prediction, truth) for truth in files.ground_truths)]
    return _are_ground_truth(same, len(samples), "the same files")


def _are_ground_truth(same: Sequence[SampleFiles], total: int, how: str) -> list[Finding]:
    what = f"{many(len(same), 'prediction')} of {total} {verb(len(same), 'are')} the ground truth itself ({how})"
    places = (Place(shown(files.prediction)) for files in same)
    return finding("is-ground-truth", what, "give the folder of predictions", places)


def is_same_file(prediction: Source, truth: Source) -> bool:
    """Return whether two names lead to one file."""
    if prediction == truth or prediction.name != truth.name:
        return prediction == truth
    if not (isinstance(prediction, LocalFile) and isinstance(truth, LocalFile)):
        return False
    try:
        return os.path.samefile(prediction, truth)  # noqa: PTH121  of many thousands
    except OSError:
        return False


def _is_its_truth(files: SampleFiles, lengths: Mapping[Source, int]) -> bool:
    length = lengths.get(files.prediction)
    try:
        return any(
            bool(length)
            and lengths.get(truth) == length
            and _pieces(truth) == _pieces(files.prediction)
            and _digest(truth) == _digest(files.prediction)
            and not _one_value(truth)
            for truth in files.ground_truths
        )
    except (OSError, DataError):
        return False


def _identical(lengths: Mapping[Source, int]) -> list[list[Source]]:
    """Give groups of two or more files with the same bytes: of one length, then of like pieces, then read whole."""
    by_size = _groups(lengths, lambda path: lengths[path])
    like = [same for group in by_size for same in _groups(group, _pieces)]
    return [same for group in like for same in _groups(group, _digest)]


def _groups(paths: Iterable[Source], key: Callable[[Source], Hashable]) -> list[list[Source]]:
    found: dict[Hashable, list[Source]] = {}
    for path in paths:
        try:
            found.setdefault(key(path), []).append(path)
        except (OSError, DataError):
            continue  # gone since its header was read; counting will say so
    return [group for group in found.values() if len(group) > 1]


def _pieces(path: Source) -> bytes:
    with opened(path) as file:
        size = file.seek(0, io.SEEK_END)
        pieces = []
        for start in (0, (size - _PIECE) // 2, size - _PIECE):
            file.seek(max(0, start))
            pieces.append(file.read(_PIECE))
    return hashlib.sha256(b"".join(pieces)).digest()


def _digest(path: Source) -> bytes:
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").digest()


def _one_value(path: Source) -> bool:
    try:
        array = decode(read_bytes(path), path, role="ground truth").array
    except DataError:
        return False
    return bool((array == array.flat[0]).all())
