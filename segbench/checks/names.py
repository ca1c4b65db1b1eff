"""Names that do not pair, what was probably meant by them, and files that are the same to the last byte."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from segbench.checks.findings import Finding, Place, finding
from segbench.checks.seen import Seen, rule
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting, joined, together, write
from segbench.core.names import MethodRun
from segbench.core.numbers import many
from segbench.inputs.summaries import few_distinct
from segbench.loaders.decoded import Source, shown
from segbench.loaders.hints import nearest
from segbench.loaders.images import decode
from segbench.loaders.pairing import (
    Pairing,
    SampleFiles,
    condition_of_annotators,
    methods_in_sub_folders,
    pairing_hint,
    pattern_of_annotators,
    several_methods,
    unmatched,
)
from segbench.loaders.source import LocalFile, opened, read_bytes

_stopping = partial(finding, side="names", whole=True)


def problem_findings(pairing: Pairing) -> list[Finding]:
    """Give what makes all other findings void: a folder that cannot be used, or ground truth with the predictions."""
    error = pairing.problem
    if error is None:
        return _predictions_as_annotator(pairing)
    reason, lines = _reason(error)
    values = {"path": error.path, "reason": reason, "error": error.kind}
    if pairing.inputs.pairs:
        message = Message("list", "{path}: {reason}", **values)
    else:
        message = Message("folder", "{path}: {reason}", **values)
    return _stopping(message, error.hint, [Place(write(line)) for line in lines])


def _reason(error: DataError) -> tuple[Message, Sequence[Message | str]]:
    """Return what is wrong with a folder or a list, and apart from it the files or lines where it is."""
    counts, problems = dict(error.values), error.values.get("problems", ())
    counts.pop("problems", None)
    messages = (
        Message("wrong-lines", "holds faulty lines"),  # each method has its own: their number would make many findings
        Message("repeated-names", "{count} files share their name with another", **counts),
        Message("unusable-archives", "{count} of {total} archives cannot be used", **counts),
        Message("unusable-members", "{count} of its members cannot be read", **counts),
        Message("wrong-json", "is not as it should be", **counts),
        Message("wrong-jsons", "have {count} problems", **counts),
        Message("unknown-categories", "has categories that the ground truth does not list", **counts),
    )
    listed = next((message for message in messages if message.kind == error.kind), None)
    return (error.what, ()) if listed is None else (listed, problems)


def _predictions_as_annotator(pairing: Pairing) -> list[Finding]:
    inputs = pairing.inputs
    among = [
        files
        for files in (() if inputs.alone else pairing.files)
        if len(files.ground_truths) > 1 and any(is_same_file(files.prediction, one) for one in files.ground_truths)
    ]
    if not among:
        return []
    truth, predicted = (shown(str(place)) for place in (inputs.ground_truth, inputs.prediction))
    contains = Message("contains", "the ground truth {truth} contains {predicted}", truth=truth, predicted=predicted)
    message = Message(
        "is-ground-truth",
        "predictions are read as an annotator, too, in {count:many image}: {where}",
        count=len(among),
        where=str(inputs.pairs) if inputs.pairs else contains,
    )
    fix = Message(
        "fix",
        "give a ground truth without predictions, or a pattern that fits none: {pattern}",
        pattern=Setting("gt_pattern", "gt/#/*"),
    )
    return _stopping(message, fix, (Place(shown(files.prediction)) for files in among))


@rule("unknown-images", "several-methods", "annotator-names", "unpaired", "no-mask", of_all=True)
def names(seen: Seen) -> list[Finding]:
    """Find names without partner, and names of images that do not exist."""
    pairing = seen.pairing
    found, inputs = list[Finding](), pairing.inputs
    if pairing.unknown:
        message = Message("unknown-images", "{unmatched}", unmatched=unmatched(pairing.unknown))
        fix = pairing_hint(Pairing(inputs, unknown=pairing.unknown))
        found += _stopping(message, fix, map(Place, pairing.unknown))
    if methods := methods_in_sub_folders(pairing):
        error = several_methods(inputs, methods)
        message = Message("several-methods", "{methods}", methods=error.what)
        return [*found, *_stopping(message, error.hint, map(Place, methods))]
    if pattern := pattern_of_annotators(pairing):
        found += _annotators(seen, pattern)
    elif pairing.missing or pairing.extra:
        found += _unpaired(pairing)
    if pairing.without_field:
        masks = Pairing(inputs, without_field=pairing.without_field, other_fields=pairing.other_fields)
        message = Message(
            "no-mask",
            "{count:many image} without a mask in {folder}",
            count=len(pairing.without_field),
            folder=shown(str(inputs.field)),
        )
        found += _stopping(message, pairing_hint(masks), map(Place, pairing.without_field))
    return found


def _unpaired(pairing: Pairing) -> list[Finding]:
    total, lacking = len(pairing.files) + len(pairing.missing), len(pairing.missing)
    without = Message(
        "without-prediction",
        "{without_prediction} of {total} {without_prediction:verb have} no prediction",
        without_prediction=lacking,
        total=many(total, pairing.counted),
    )
    extra = Message(
        "without-ground-truth",
        "{without_ground_truth:many prediction} without a ground truth",
        without_ground_truth=len(pairing.extra),
    )
    counts = joined([part for part, names in ((without, pairing.missing), (extra, pairing.extra)) if names], ", ")
    close = nearest(pairing.missing, pairing.extra)
    places = [Place(name, _lacking(close.get(name))) for name in pairing.missing]
    places += [Place(name, Message("detail", "no ground truth", lacks="ground truth")) for name in pairing.extra]
    return _stopping(Message("unpaired", "{counts}", counts=counts), pairing_hint(pairing), places)


def _lacking(nearest_name: str | None) -> Message:
    """Say of an image that it has no prediction, and which name comes near."""
    if nearest_name is None:
        return Message("detail", "no prediction", lacks="prediction")
    return Message("detail", "no prediction; nearest: {nearest}", lacks="prediction", nearest=nearest_name)


def _annotators(seen: Seen, pattern: str) -> list[Finding]:
    pairing = seen.pairing
    message = Message(
        "annotator-names",
        "{count} ground truths look like several annotators of the predicted images",
        count=len(pairing.missing),
    )
    settings = [Setting("gt_pattern", pattern)]
    if seen.masks_drawn and seen.masks_drawn.several_annotators == "ruled":
        settings.append(Setting("annotators", "majority"))
    fix = joined((condition_of_annotators(pairing, pattern), together(*settings)), ": ")
    return _stopping(message, fix, map(Place, pairing.missing))


_PIECE = 4096
"""How much is read at the start, in the middle and at the end before whole files are compared."""
_MOST_OPENED = 64
"""How many groups are decoded to see whether they are one value only, which is a finding of its own."""


def duplicate_findings(samples: Sequence[SampleFiles], lengths: Mapping[Source, int]) -> list[Finding]:
    """Find predictions that are copies of each other, or of their image's ground truth."""
    copies = [files for files in samples if _is_its_truth(files, lengths)]
    are_truth = _are_no_accident(copies, len(samples))
    own = {files.prediction for files in copies}
    predictions = (path for files in samples for path in (files.prediction, *files.scales))
    known = {path: lengths[path] for path in predictions if lengths.get(path)}
    groups = [group for group in _identical(known) if not own.issuperset(group)]
    groups = [group for group in groups[:_MOST_OPENED] if not _one_value(group[0])] + groups[_MOST_OPENED:]
    message = Message(
        "duplicates",
        "{count} predictions are the same as another one, byte for byte",
        count=sum(map(len, groups)),
    )
    places = (_copy(path, group[0]) for group in groups for path in group[1:])
    found = _are_ground_truth(copies if are_truth else [], len(samples), "byte for byte")
    return [*found, *finding(message, "check that each belongs to its own image", places)]


def _copy(path: Source, first: Source) -> Place:
    """Name a file, and the one before that it is the same as."""
    return Place(shown(path), Message("detail", "as {other}", other=shown(first)))


def copy_findings(
    pairings: Mapping[MethodRun, Pairing], length: Callable[[Source], int]
) -> dict[MethodRun, list[Finding]]:
    """Find methods and runs with the predictions of one before, byte for byte; `length` is 0 of a file unread."""
    found: dict[MethodRun, list[Finding]] = {}
    before: dict[MethodRun, dict[str, Source]] = {}
    for method, pairing in pairings.items():
        own = {files.name: files.prediction for files in pairing.files}
        for other, files in before.items():
            pairs = [(path, files[name]) for name, path in own.items() if name in files]
            if _are_copies(pairs, length):
                message = Message(
                    "duplicates", "predictions are the same as those of {other}, byte for byte", other=str(other)
                )
                fix = f"give each {'run' if method.run else 'method'} once, and its own files"
                found[method] = finding(message, fix, (_copy(path, first) for path, first in pairs))
                break
        else:
            before[method] = own
    return found


def _are_copies(pairs: Sequence[tuple[Source, Source]], length: Callable[[Source], int]) -> bool:
    kinds: tuple[Callable[[Source], Hashable], ...] = (length, _pieces, _digest)
    try:
        known = bool(pairs) and all(length(path) for path, _ in pairs)
        same = known and all(first == path or kind(first) == kind(path) for kind in kinds for path, first in pairs)
        return same and not all(_one_value(path) for path, _ in pairs)
    except (OSError, DataError):
        return False


def same_file_findings(samples: Sequence[SampleFiles]) -> list[Finding]:
    """Find predictions that are the very file of their ground truth, reading none: one folder given twice."""
    same = [files for files in samples if any(is_same_file(files.prediction, truth) for truth in files.ground_truths)]
    return _are_ground_truth(same, len(samples), "the same files")


def _are_ground_truth(same: Sequence[SampleFiles], total: int, how: str) -> list[Finding]:
    message = Message(
        "is-ground-truth",
        "{count:many prediction} of {total} {count:verb are} the ground truth itself ({how})",
        count=len(same),
        total=total,
        how=how,
    )
    return finding(message, "give the folder of predictions", (Place(shown(files.prediction)) for files in same))


_FEWEST_COPIES = 3
"""Copies of the ground truth of several objects, from which they are no accident."""


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
        array = decode(read_bytes(path), path, role="ground truth").array
    except DataError:
        return False
    lowest, *others = few_distinct(array.reshape(-1)) or (0.0,)
    if len(others) != 1:
        return len(others) > 1
    return bool(label(array != lowest, np.ones((3,) * array.ndim))[1] > 1)


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
    pairs = ([(files.prediction, truth)] for truth in files.ground_truths)
    return any(_are_copies(pair, lambda path: lengths.get(path, 0)) for pair in pairs)


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
