"""Names that do not pair, what was probably meant by them, and files that are the same to the last byte."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from segbench.checks.findings import Finding, Place, finding
from segbench.checks.probes import few_distinct
from segbench.core.errors import DataError
from segbench.core.expected import Expected
from segbench.core.interface import format_setting, setting
from segbench.core.names import MethodRun
from segbench.core.numbers import many, of_all, verb
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

_stopping = partial(finding, about="names", whole=True)


def problem_findings(pairing: Pairing) -> list[Finding]:
    """Give what makes all other findings void: a folder that cannot be used, or ground truth with the predictions."""
    error = pairing.problem
    if error is None:
        return _predictions_as_annotator(pairing)
    what, *listed = str(error.what).split("\n")
    places = tuple(Place(line.strip()) for line in listed if line)
    # Each method has faults of its own in a list, and their number would keep these from being one finding.
    what = "holds faulty lines" if pairing.inputs.pairs and places else what.rstrip(":")
    return _stopping("list" if pairing.inputs.pairs else "folder", f"{error.path}: {what}", error.hint, places)


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
    where = inputs.pairs or f"the ground truth {truth} contains {predicted}"
    what = f"predictions are read as an annotator, too, in {many(len(among), 'image')}: {where}"
    fix = "give a ground truth without predictions, or a pattern that fits none: "
    fix += format_setting("gt_pattern", "gt/#/*")
    return _stopping("is-ground-truth", what, fix, (Place(shown(files.prediction)) for files in among))


def name_findings(pairing: Pairing, expected: Expected) -> list[Finding]:
    """Find names without partner, and names of images that do not exist."""
    found, inputs = list[Finding](), pairing.inputs
    if pairing.unknown:
        what, fix = str(unmatched(pairing.unknown)), pairing_hint(Pairing(inputs, unknown=pairing.unknown))
        found += _stopping("unknown-images", what, fix, map(Place, pairing.unknown))
    if methods := methods_in_sub_folders(pairing):
        error = several_methods(inputs, methods)
        return [*found, *_stopping("several-methods", error.what, error.hint, map(Place, methods))]
    if pattern := pattern_of_annotators(pairing):
        found += _annotators(pairing, pattern, expected)
    elif pairing.missing or pairing.extra:
        found += _unpaired(pairing)
    if pairing.without_field:
        masks = Pairing(inputs, without_field=pairing.without_field, other_fields=pairing.other_fields)
        folder = shown(str(inputs.field))
        what = f"{many(len(pairing.without_field), 'image')} without a mask in {folder}"
        found += _stopping("no-mask", what, pairing_hint(masks), map(Place, pairing.without_field))
    return found


def _unpaired(pairing: Pairing) -> list[Finding]:
    total, lacking = len(pairing.files) + len(pairing.missing), len(pairing.missing)
    parts = [of_all(lacking, total, pairing.counted, "have") + " no prediction"] if lacking else []
    parts += [f"{many(len(pairing.extra), 'prediction')} without a ground truth"] if pairing.extra else []
    close = {name: f"; nearest: {other}" for name, other in nearest(pairing.missing, pairing.extra).items()}
    places = [Place(name, f"no prediction{close.get(name, '')}") for name in pairing.missing]
    places += [Place(name, "no ground truth") for name in pairing.extra]
    return _stopping("unpaired", ", ".join(parts), pairing_hint(pairing), places)


def _annotators(pairing: Pairing, pattern: str, expected: Expected) -> list[Finding]:
    what = f"{len(pairing.missing)} ground truths look like several annotators of the predicted images"
    fixes = [format_setting("gt_pattern", pattern), format_setting("annotators", "majority")]
    fix = setting(" ", ", ").join(fixes[: 1 + (expected.one_annotator and expected.several_ruled)])
    if condition := condition_of_annotators(pairing, pattern):
        fix = f"{condition}: {fix}"
    return _stopping("annotator-names", what, fix, map(Place, pairing.missing))


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
    what = f"{sum(map(len, groups))} predictions are the same as another one, byte for byte"
    places = (Place(shown(path), f"as {shown(group[0])}") for group in groups for path in group[1:])
    fix = "check that each belongs to its own image"
    found = _are_ground_truth(copies if are_truth else [], len(samples), "byte for byte")
    return [*found, *finding("duplicates", what, fix, places)]


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
                kind = "run" if method.run else "method"
                fix = f"give each {kind} once, and its own files"
                what = f"predictions are the same as those of {other}, byte for byte"
                places = (Place(shown(path), f"as {shown(first)}") for path, first in pairs)
                found[method] = finding("duplicates", what, fix, places)
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
    what = f"{many(len(same), 'prediction')} of {total} {verb(len(same), 'are')} the ground truth itself ({how})"
    places = (Place(shown(files.prediction)) for files in same)
    return finding("is-ground-truth", what, "give the folder of predictions", places)


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
    return bool(label(array != lowest, np.ones((3, 3)))[1] > 1)


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
