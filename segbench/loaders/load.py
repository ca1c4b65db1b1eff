"""The files of one image to a Sample: bytes read once, for digests and decoding alike.

`read` gives bytes and digests; a caller that knows the digests already need not go on. `decode_sample` makes arrays.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from segbench.loaders.decoded import shown
from segbench.loaders.images import decode, read_bytes
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.sizes import require_same_size
from segbench.sample import Sample

Reads = Literal["masks", "boundaries", "regions"]


@dataclass(frozen=True)
class Digests:
    """SHA-256 of every file's bytes, as hexadecimal digits.

    Parameters
    ----------
    ground_truths : tuple of str
        One a file, in the order of the annotators.
    prediction : str
        Of the prediction.
    field : str, optional
        Of the field mask, where there is one.
    """

    ground_truths: tuple[str, ...]
    prediction: str
    field: str | None = None


@dataclass(frozen=True, repr=False)
class RawFiles:
    """The files of one image, read but not decoded.

    Parameters
    ----------
    files : SampleFiles
        Where they lie.
    ground_truths : tuple of bytes
        One a file.
    prediction : bytes
        The prediction.
    field : bytes, optional
        The field mask.
    digests : Digests
        Of these bytes.
    """

    files: SampleFiles
    ground_truths: tuple[bytes, ...]
    prediction: bytes
    field: bytes | None
    digests: Digests


@dataclass(frozen=True, eq=False)
class Loaded:
    """A sample with the digests of its files."""

    sample: Sample
    digests: Digests


def read(files: SampleFiles) -> RawFiles:
    """Read every file of an image once.

    Raises
    ------
    DataError
        For a file that is missing, unreadable or empty.
    """
    ground_truths = tuple(read_bytes(path) for path in files.ground_truths)
    prediction = read_bytes(files.prediction)
    field = read_bytes(files.field) if files.field is not None else None
    digests = Digests(
        tuple(_digest(data) for data in ground_truths),
        _digest(prediction),
        _digest(field) if field is not None else None,
    )
    return RawFiles(files, ground_truths, prediction, field, digests)


def decode_sample(raw: RawFiles, reads: Reads) -> Sample:  # noqa: ARG001
    """Decode what `read` gave.

    Parameters
    ----------
    raw : RawFiles
        The bytes of one image's files.
    reads : {"masks", "boundaries", "regions"}
        What the files are read as.

    Returns
    -------
    Sample
        Arrays as stored, the field as bool (nonzero is inside), all of one size.

    Raises
    ------
    DataError
        For a file that cannot be read, and for sizes that differ.
    """
    files = raw.files
    notes: dict[str, None] = {}
    ground_truths = []
    for path, data in zip(files.ground_truths, raw.ground_truths, strict=True):
        decoded = decode(data, path, role="ground truth")
        ground_truths.append(decoded.array)
        notes |= dict.fromkeys(f"ground truth: {note}" for note in decoded.notes)
    decoded = decode(raw.prediction, files.prediction, role="prediction")
    notes |= dict.fromkeys(f"prediction: {note}" for note in decoded.notes)
    field = None
    if files.field is not None and raw.field is not None:
        mask = decode(raw.field, files.field, role="field")
        notes |= dict.fromkeys(f"field: {note}" for note in mask.notes)
        field = mask.array != 0
    named = [(shown(path), array.shape) for path, array in zip(files.ground_truths, ground_truths, strict=True)]
    named.append((shown(files.prediction), decoded.array.shape))
    if field is not None:
        named.append((shown(files.field), field.shape))
    require_same_size(named)
    return Sample(files.name, tuple(ground_truths), (decoded.array,), field, tuple(notes))


def load(files: SampleFiles, reads: Reads) -> Loaded:
    """Read and decode the files of one image: `read`, then `decode_sample`."""
    raw = read(files)
    return Loaded(decode_sample(raw, reads), raw.digests)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
