"""Predictions that are copies, byte for byte: of each other, of another method, or of their ground truth."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import numpy as np

from segbench.checks.findings import Finding, Place, finding
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.names import MethodRun
from segbench.inputs.summaries import few_distinct
from segbench.loaders.images import decode, opened
from segbench.loaders.listing import SampleFiles
from segbench.loaders.pairing import Pairing
from segbench.loaders.reading import contents_of
from segbench.loaders.source import LocalFile, Source, shown

_PIECE = 4096
"""How much is read at the start, in the middle and at the end before whole files are compared."""
_MOST_OPENED = 64
"""How many groups are decoded to see whether they are one value only, which is a finding of its own."""
_FEWEST_COPIES = 3
"""Copies of the ground truth of several objects, from which they are no accident."""


def duplicate_findings(samples: Sequence[SampleFiles], lengths: Mapping[Source, int]) -> list[Finding]:
    """Find predictions that are copies of each other, or of their image's ground truth."""
    copies = [files for files in samples if _is_its_truth(files, lengths)]
    are_truth = _are_no_accident(copies, len(samples))
    copies_of_truth = {files.prediction for files in copies}
    predictions = (path for files in samples for path in (files.prediction, *files.scales))
    known_lengths = {path: lengths[path] for path in predictions if lengths.get(path)}
    groups = [group for group in _identical(known_lengths) if not copies_of_truth.issuperset(group)]
    groups = [group for group in groups[:_MOST_OPENED] if not _one_value(group[0])] + groups[_MOST_OPENED:]
    message = Message(
        "duplicates",
        "{count} predictions are the same as another one, byte for byte",
        count=sum(map(len, groups)),
    )
    places = (_copy(path, group[0]) for group in groups for path in group[1:])
    findings = _are_ground_truth(copies if are_truth else [], len(samples), "byte for byte")
    return [*findings, *finding(message, "check that each belongs to its own image", places)]


def copy_findings(
    pairings: Mapping[MethodRun, Pairing], length: Callable[[Source], int]
) -> dict[MethodRun, list[Finding]]:
    """Find methods and runs with the predictions of one before, byte for byte; `length` is 0 of a file unread."""
    findings: dict[MethodRun, list[Finding]] = {}
    originals: dict[MethodRun, dict[str, Source]] = {}
    for method, pairing in pairings.items():
        predictions = {files.name: files.prediction for files in pairing.files}
        for other, other_predictions in originals.items():
            pairs = [(path, other_predictions[name]) for name, path in predictions.items() if name in other_predictions]
            if _are_copies(pairs, length):
                message = Message(
                    "duplicates", "predictions are the same as those of {other}, byte for byte", other=str(other)
                )
                fix = f"give each {'run' if method.run else 'method'} once, and its own files"
                findings[method] = finding(message, fix, (_copy(path, original) for path, original in pairs))
                break
        else:
            originals[method] = predictions
    return findings


def _copy(path: Source, original: Source) -> Place:
    return Place(shown(path), Message("detail", "as {other}", other=shown(original)))


def same_file_findings(samples: Sequence[SampleFiles]) -> list[Finding]:
    """Find predictions that are the very file of their ground truth, reading none: one folder given twice."""
    same = [files for files in samples if any(is_same_file(files.prediction, truth) for truth in files.ground_truths)]
    return _are_ground_truth(same, len(samples), "the same files")


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


def _are_ground_truth(same: Sequence[SampleFiles], total: int, how: str) -> list[Finding]:
    message = Message(
        "is-ground-truth",
        "{count:many prediction} of {total} {count:verb are} the ground truth itself ({how})",
        count=len(same),
        total=total,
        how=how,
    )
    return finding(message, "give the folder of predictions", (Place(shown(files.prediction)) for files in same))


def _is_its_truth(files: SampleFiles, lengths: Mapping[Source, int]) -> bool:
    """Return whether a prediction is a copy of a ground truth of its image."""
    pairs = ([(files.prediction, truth)] for truth in files.ground_truths)
    return any(_are_copies(pair, lambda path: lengths.get(path, 0)) for pair in pairs)


def _are_no_accident(copies: Sequence[SampleFiles], total: int) -> bool:
    """Return whether copies of the ground truth show that the wrong folder was given.

    Maps of one object or none may be predicted exactly. Of all other images at least half have to be copies, and at
    least three; of very many copies, the share that holds several objects is estimated from some.
    """
    if not copies:
        return False
    opened_copies = copies[:: len(copies) // _MOST_OPENED + 1]
    several = len(copies) * sum(_holds_objects(files.prediction) for files in opened_copies) / len(opened_copies)
    return several >= max(_FEWEST_COPIES, total - len(copies))


def _holds_objects(path: Source) -> bool:
    """Return whether a map holds more than one object: connected pixels of one value that is not the lowest."""
    from scipy.ndimage import label

    try:
        array = decode(contents_of([path])[path], path, role="ground truth").array
    except DataError:
        return False
    lowest, *others = few_distinct(array.reshape(-1)) or (0.0,)
    if len(others) != 1:
        return len(others) > 1
    _, objects = label(array != lowest, np.ones((3,) * array.ndim))
    return bool(objects > 1)


def _one_value(path: Source) -> bool:
    """Return whether a map holds a single value."""
    try:
        array = decode(contents_of([path])[path], path, role="ground truth").array
    except DataError:
        return False
    return bool((array == array.flat[0]).all())


def _are_copies(pairs: Sequence[tuple[Source, Source]], length: Callable[[Source], int]) -> bool:
    """Return whether the two files of every pair have the same bytes, and not all hold a single value."""
    tests: tuple[Callable[[Source], Hashable], ...] = (length, _pieces, _digest)
    try:
        known = bool(pairs) and all(length(path) for path, _ in pairs)
        same = known and all(path == other or test(path) == test(other) for test in tests for path, other in pairs)
        return same and not all(_one_value(path) for path, _ in pairs)
    except (OSError, DataError):
        return False


def _identical(lengths: Mapping[Source, int]) -> list[list[Source]]:
    """Return groups of two or more files with the same bytes: of one length, then of like pieces, then read whole."""
    groups = _groups(lengths, lambda path: lengths[path])
    groups = [same for group in groups for same in _groups(group, _pieces)]
    return [same for group in groups for same in _groups(group, _digest)]


def _groups(paths: Iterable[Source], key: Callable[[Source], Hashable]) -> list[list[Source]]:
    """Return the files that share a key, without those that nothing shares."""
    by_key: dict[Hashable, list[Source]] = {}
    for path in paths:
        try:
            by_key.setdefault(key(path), []).append(path)
        except (OSError, DataError):
            continue  # gone since its header was read; counting will say so
    return [group for group in by_key.values() if len(group) > 1]


def _pieces(path: Source) -> bytes:
    """Return a digest of three pieces of a file."""
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
