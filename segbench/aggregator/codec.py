"""Counts as bytes: how they are sent between processes, held in memory and stored in the results file.

A JSON header describes the arrays, their values follow in one block, and zlib packs the whole, with a dictionary of
usual headers. Scores that are levels (k, k / 255, k / 65535, k / (thresholds + 1)) are written as the whole numbers k
when that gives back every bit; other falling scores as the steps between their bit patterns, byte by byte. Where most
scores are those of a single pixel, steps and counts are packed in bits instead (`segbench.aggregator.bit_packing`),
less than half the size of the prediction. Counts of many scores are packed range by range, and those of several classes
class by class, behind a line of JSON, so that one range or class is unpacked alone. Reading never unpickles and checks
everything: a results file may come from anywhere.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.counts import Counts
from segbench.core.errors import DataError
from segbench.core.interface import given
from segbench.core.numbers import many
from segbench.core.scores import ScoreCounts
from segbench.core.summary import Summary
from segbench.loaders.decoded import shown
from segbench.protocols.pixels.class_counts import ClassCounts
from segbench.protocols.registry import counts_types

_LEVEL, _LEVEL_OF_STEPS = 3, 1
_SCORES_PER_RANGE = 2**16
_FEW_SCORES, _PIXELS_PER_SCORE = 2**10, 2
_TRIED, _AT_MOST = 2**9, 1.35
"""Scores on which it is tried whether bits take at most this many times the space of zlib, which is five times as slow.
On so few scores headers count: bits seem a tenth to a quarter longer than they are."""
_LITTLE, _MOST_SHRUNK = 2**24, 64
"""What any counts may unpack to, and how many times their packed size where that is more."""
_NUMBERS = re.compile(r"[<>|=]?[biuf][1248]")
_SCALARS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "float": (int, float),
}
_CLASSES, _RANGES, _BITS = b"{", b"[", b"%"  # no zlib stream begins with one of these
HEADERS = (
    b'{"kind":"boundaries","arrays":{"thresholds":["|u1","<f8",100.0,99],"matched_gt":["<u2","<i8",0.0,99],'
    b'"total_gt":["<u2","<i8",0.0,99],"matched_pred":["<u2","<i8",0.0,99],"total_pred":["<u2","<i8",0.0,99]}}\n'
    b'{"kind":"scores","ignored":0,"threshold_source":"","of_predictions":true,"arrays":{"scores":'
    b'["|u1","<f8",255.0,256],"positives":["|u1","<i8",0.0,256],"negatives":["<u2","<i8",0.0,256]}}\n'
)
"""What zlib knows beforehand; results files cannot be read with another."""
_STEPS = re.compile(r"steps[48]|bits[48]?")


def encode(counts: Counts) -> bytes:
    """Pack counts into bytes; the same counts always give the same bytes."""
    if isinstance(counts, ClassCounts):
        parts = [encode(part) for part in counts.counts]
        sizes = dict(zip(counts.names, map(len, parts), strict=True))
        return _headed(sizes, parts)
    if isinstance(counts, ScoreCounts) and counts.scores_known:
        if counts.scores.size > _SCORES_PER_RANGE:
            return _encode_ranges(counts)
        if _shorter_in_bits(counts):
            return _encode_bits(counts)
    return _encode_one(counts)


def _encode_ranges(counts: ScoreCounts) -> bytes:
    """Pack counts of many scores as consecutive ranges; the header holds the highest score and size of each."""
    starts = range(0, counts.scores.size, _SCORES_PER_RANGE)
    parts = [encode(counts.part(start, start + _SCORES_PER_RANGE)) for start in starts]
    header = [[float(counts.scores[start]), len(part)] for start, part in zip(starts, parts, strict=True)]
    return _headed(header, parts)


def _headed(header: object, parts: Sequence[bytes]) -> bytes:
    """Write parts behind a line of JSON."""
    return b"".join([json.dumps(header, separators=(",", ":")).encode(), b"\n", *parts])


def _encode_one(counts: Counts) -> bytes:
    """Pack the fields of a dataclass of counts."""
    header: dict[str, Any] = {"kind": counts.kind}
    arrays: dict[str, list[Any]] = {}
    blocks, level = [], _LEVEL
    for field in dataclasses.fields(counts):  # type: ignore[arg-type]  # counts are dataclasses
        value = getattr(counts, field.name)
        if isinstance(value, np.ndarray):
            packed, scale = _whole_levels(value)
            steps = None if scale else _steps(packed)
            if steps is None:
                packed = _smallest(packed)
                arrays[field.name] = [packed.dtype.str, value.dtype.str, scale, value.size]
            else:
                packed, level = steps, _LEVEL_OF_STEPS  # more effort would shrink the low bytes no further
                arrays[field.name] = [f"steps{value.itemsize}", value.dtype.str, scale, value.size]
            blocks.append(packed.tobytes())
        else:
            header[field.name] = value
    header["arrays"] = arrays
    packer = zlib.compressobj(level, zdict=HEADERS)
    return packer.compress(_headed(header, blocks)) + packer.flush()


def _shorter_in_bits(counts: ScoreCounts) -> bool:
    """Whether most of many scores are those of a single pixel, and bits take little more space than bytes, by trial."""
    size = counts.scores.size
    if size < _FEW_SCORES or counts.total_positives + counts.total_negatives >= _PIXELS_PER_SCORE * size:
        return False
    some = counts.part((size - _TRIED) // 2, (size + _TRIED) // 2) if size > _TRIED else counts
    without_pixels = bool((counts.positives + counts.negatives < 1).any())
    return not without_pixels and len(_encode_bits(some)) <= _AT_MOST * len(_encode_one(some))


def _encode_bits(counts: ScoreCounts) -> bytes:
    """Pack counts in bits: steps between scores, positives, and pixels beyond the first of each score."""
    from segbench.aggregator.bit_packing import pack

    steps, scores = _steps_between(counts.scores), counts.scores
    arrays = {"scores": [f"bits{steps.itemsize}", scores.dtype.str, 0.0, scores.size]}
    blocks = [pack(steps), pack(counts.positives), pack(counts.positives + counts.negatives - 1)]
    arrays |= {name: ["bits", getattr(counts, name).dtype.str, 0.0, scores.size] for name in ("positives", "negatives")}
    scalars = {name: value for name, value in vars(counts).items() if not isinstance(value, np.ndarray)}
    header = {"kind": counts.kind, **scalars, "arrays": arrays}
    block = _headed(header, blocks)
    return _BITS + _checksum(block) + block


def decode(data: bytes, kind: type[Counts] | None = None) -> Counts:
    """Unpack what `encode` packed; `kind` is a type of counts that no registered protocol has."""
    if data.startswith(_CLASSES):
        packed = packed_classes(data)
        return ClassCounts(tuple(packed), tuple(map(_decode_scores, packed.values())))
    if data.startswith(_RANGES):
        return decode_between(data, -math.inf, math.inf)
    try:
        found, values = _fields(data, kind)
        return found(**values)
    except Exception as error:
        raise _damaged(error) from error


def _fields(data: bytes, own: type[Counts] | None = None) -> tuple[type[Counts], dict[str, Any]]:
    """Unpack the type of counts and the values of their fields."""
    header, _, block = _unpacked(data).partition(b"\n")
    kind, scalars, arrays = _header(header, own)
    if data.startswith(_BITS):
        return kind, {**scalars, **_from_bits(block, arrays)}
    values, offset = dict(scalars), 0
    for name, stored, dtype, scale, size in arrays:
        if stored.startswith("steps"):
            planes: NDArray[np.uint8] = np.frombuffer(block, np.uint8, size * int(stored[-1]), offset)
            values[name] = _falling(np.cumsum(_joined(planes, int(stored[-1])), dtype=f"u{stored[-1]}")).astype(
                dtype, copy=False
            )
            offset += planes.size
            continue
        array: NDArray[Any] = np.frombuffer(block, np.dtype(stored), size, offset)
        offset += array.nbytes
        with np.errstate(all="raise", under="ignore"):
            values[name] = (array / scale if scale else array).astype(dtype)
    return kind, values


def _from_bits(block: bytes, arrays: Sequence[tuple[str, str, str, float, int]]) -> dict[str, NDArray[Any]]:
    """Give the arrays back that `_encode_bits` packed."""
    from segbench.aggregator.bit_packing import unpack

    values, offset = {}, 0
    for name, stored, dtype, _, size in arrays:
        values[name] = np.empty(size, f"u{stored[-1]}" if name == "scores" else dtype)
        offset = unpack(block, offset, values[name], running=name == "scores")
    values["negatives"] -= values["positives"] - 1
    return values | {"scores": _falling(values["scores"])}


@functools.lru_cache(maxsize=1024)  # that of most images and ranges of a run is the same
def _header(
    header: bytes, own: type[Counts] | None
) -> tuple[type[Counts], dict[str, Any], tuple[tuple[str, str, str, float, int], ...]]:
    """Read the type of counts, their scalars, and name, types, scale and size of each array; check them."""
    values: dict[str, Any] = json.loads(header)
    name = values.pop("kind")
    kind = own if own is not None and own.kind == name else counts_types()[name]
    arrays: dict[str, list[Any]] = values.pop("arrays")
    types = {
        field.name: field.type if isinstance(field.type, str) else field.type.__name__
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]  # counts are dataclasses
    }
    for key, value in values.items():
        if type(value) not in _SCALARS[types[key]] or (isinstance(value, int) and value.bit_length() > 63):
            raise ValueError(f"{key} of another type")
    for name, (stored, dtype, _, _) in arrays.items():
        if not ((_NUMBERS.fullmatch(stored) or _STEPS.fullmatch(stored)) and _NUMBERS.fullmatch(dtype)):
            raise ValueError(f"{name} of another type")
    return kind, values, tuple((name, *array) for name, array in arrays.items())


def decode_between(data: bytes, lowest: float, below: float) -> ScoreCounts:
    """Unpack the counts of the scores in [`lowest`, `below`); ignored pixels go with the highest."""
    if not data.startswith(_RANGES):
        counts = _decode_scores(data)
    else:
        header, _, block = data.partition(b"\n")
        try:
            highest, sizes = zip(*json.loads(header), strict=True)
            ends = [0, *accumulate(sizes)]
            # A range reaches down to where the next begins.
            wanted = [
                k
                for k, top in enumerate(highest)
                if top >= lowest and (k + 1 == len(highest) or highest[k + 1] < below)
            ]
            counts = _end_to_end([_fields(block[ends[k] : ends[k + 1]]) for k in wanted])
        except Exception as error:
            raise _damaged(error) from error
    return counts if (lowest, below) == (-math.inf, math.inf) else counts.between(lowest, below)


def _end_to_end(parts: Sequence[tuple[type[Counts], dict[str, Any]]]) -> ScoreCounts:
    """Put the fields of consecutive ranges together, the highest scores first."""
    if any(kind is not ScoreCounts for kind, _ in parts):
        raise ValueError("ranges of counts that are not of scores")
    if not parts:
        return ScoreCounts.sum(())
    fields = [values for _, values in parts]
    arrays = [name for name, value in fields[0].items() if isinstance(value, np.ndarray)]
    joined = {name: np.concatenate([values[name] for values in fields]) for name in arrays}
    return ScoreCounts(**{**fields[0], **joined, "ignored": sum(values.get("ignored", 0) for values in fields)})


def _unpacked(data: bytes) -> bytes:
    if data.startswith(_BITS):
        if data[1:5] != _checksum(data[5:]):
            raise ValueError("its checksum is another")
        return data[5:]
    inflater = zlib.decompressobj(zdict=HEADERS)
    block = inflater.decompress(data, max(_LITTLE, _MOST_SHRUNK * len(data)))
    if not inflater.eof:
        raise ValueError("cut short, or unpacks to more than counts do")
    return block


def _checksum(block: bytes) -> bytes:
    """Give four bytes that damage changes, as zlib has them."""
    return zlib.crc32(block).to_bytes(4, "little")


def count_afresh() -> str:
    """Give the remedy where packed counts are not what was packed."""
    return f"the results file was changed or damaged: count again with {given('fresh', True)}"


def _damaged(error: Exception) -> DataError:
    reason = shown(" ".join(str(error).split()) or type(error).__name__)[:200]
    return DataError("packed counts", f"cannot be unpacked ({reason})", count_afresh())


def packed_classes(data: bytes) -> dict[str, bytes]:
    """Take packed counts of several classes apart, each still packed."""
    try:
        header, _, block = data.partition(b"\n")
        sizes: dict[str, int] = json.loads(header)
        ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
        return {name: block[end - sizes[name] : end] for name, end in ends.items()}
    except Exception as error:
        raise _damaged(error) from error


def _decode_scores(data: bytes) -> ScoreCounts:
    counts = decode(data)
    if not isinstance(counts, ScoreCounts):
        raise DataError("packed counts", "are not counts of scores, as those of a class are", count_afresh())
    return counts


def encode_summary(summary: Summary) -> str:
    """Write a summary as JSON; nan becomes null."""
    fields = {field.name: getattr(summary, field.name) for field in dataclasses.fields(summary)}
    written = {name: dict(value) if isinstance(value, Mapping) else value for name, value in fields.items()}
    metrics = {key: None if math.isnan(value) else value for key, value in written["metrics"].items()}
    return json.dumps(written | {"metrics": metrics})


def decode_summary(text: str) -> Summary:
    """Read what `encode_summary` wrote."""
    fields: dict[str, Any] = json.loads(text)
    return Summary(
        {str(key): math.nan if value is None else value + 0 for key, value in fields["metrics"].items()},
        {str(key): shown(reason) for key, reason in fields["undefined"].items()},
        tuple(map(str, fields["optimistic"])),
        shown(fields["threshold_source"]),
        tuple(map(shown, fields["notes"])),
    )


class EncodedCounts(Mapping[str, Counts]):
    """Counts of a type by image name, sorted, kept packed and unpacked on access; errors name their results file."""

    def __init__(self, packed: Mapping[str, bytes], kind: type[Counts], file: str = "") -> None:
        self._packed = packed
        self._kind = kind
        self.file = file
        self._first: tuple[str, tuple[Any, ...]] | None = None

    def of_class(self, name: str) -> EncodedCounts:
        """Give the counts of one of several classes."""
        parts = {}
        for image, data in self._packed.items():
            with self._naming(image):
                parts[image] = packed_classes(data)
                if name not in parts[image]:
                    raise DataError(image, f"holds no counts of the class {name}", count_afresh())
        return EncodedCounts({image: each[name] for image, each in parts.items()}, ScoreCounts, self.file)

    def __getitem__(self, name: str) -> Counts:
        """Unpack the counts of one image; a `DataError` where they are none of the protocol."""
        packed = self._packed[name]
        with self._naming(name):
            counts = decode(packed, self._kind)
            if not isinstance(counts, self._kind):
                raise DataError(name, "holds counts of another protocol", count_afresh())
            self._require_alike(name, counts)
        return counts

    def packed(self, name: str) -> bytes:
        """Give the counts of an image as they are stored."""
        return self._packed[name]

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Unpack the counts of an image from one score up to, not including, another."""
        with self._naming(name):
            return decode_between(self._packed[name], lowest, below)

    @property
    def micro(self) -> EncodedCounts:
        """The counts of all classes of each image added up."""
        summed = {name: encode(counts.micro) for name, counts in self.items() if isinstance(counts, ClassCounts)}
        return EncodedCounts(summed, ScoreCounts, self.file)

    def _require_alike(self, name: str, counts: Counts) -> None:
        """Refuse counts of a file that do not add to those of its other images."""
        if not self.file or not counts.settings:
            return
        first, expected = self._first = self._first or (name, counts.settings)
        if counts.settings != expected:
            what = f"has other {'classes' if isinstance(counts, ClassCounts) else 'thresholds'} than {first!r}"
            raise DataError(name, what, "count all images of a run with the same settings, into a new file")

    @contextmanager
    def _naming(self, image: str) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            if self.file:
                raise DataError(self.file, f"image {image!r} {error.what}", error.hint) from error
            raise DataError(image, error.what, error.hint) from error

    def __repr__(self) -> str:
        return f"<counts of {many(len(self), 'image')} by name>"

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._packed))

    def __len__(self) -> int:
        return len(self._packed)


def _whole_levels(array: NDArray[Any]) -> tuple[NDArray[Any], float]:
    if array.dtype.kind != "f" or not array.size or not np.isfinite(array).all() or np.abs(array).max() > 2**31:
        return array, 0.0
    for scale in (1.0, 255.0, 65535.0, array.size + 1.0):
        levels = np.rint(array * scale)
        if np.array_equal((levels / scale).astype(array.dtype), array):
            return levels.astype(np.int64), scale
    return array, 0.0


def _steps(array: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Give the bytes of `_steps_between` falling floats, their low bytes first; None for anything else."""
    if array.dtype.kind != "f" or not array.size or not np.all(array[1:] < array[:-1]):
        return None
    steps = _steps_between(array).astype(f"<u{array.itemsize}")
    return np.ascontiguousarray(steps.view(np.uint8).reshape(array.size, -1).T)


def _steps_between(array: NDArray[Any]) -> NDArray[Any]:
    """Give the steps between the bit patterns of falling floats, the first from 0."""
    keys = ~_rising_keys(array.view(f"u{array.itemsize}"))
    return np.diff(keys, prepend=keys.dtype.type(0))


def _joined(planes: NDArray[np.uint8], itemsize: int) -> NDArray[Any]:
    """Put bytes that are stored apart, the low ones first, together."""
    low, *others = planes.reshape(itemsize, -1)
    numbers = low.astype(f"u{itemsize}")
    for byte, plane in enumerate(others, 1):
        if plane.any():  # that of few scores is anything but 0 in the high bytes
            numbers |= plane.astype(numbers.dtype) << numbers.dtype.type(8 * byte)
    return numbers


def _falling(keys: NDArray[Any]) -> NDArray[Any]:
    """Give the floats back from running sums of `_steps_between`; the keys are overwritten."""
    sign = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    # Inverted they are the bits of negative floats, and of positive ones but for the sign; positive ones come first.
    first_negative = int(np.searchsorted(keys, sign))
    np.invert(keys[:first_negative], out=keys[:first_negative])
    keys[:first_negative] ^= sign
    floats: NDArray[Any] = keys.view(f"f{keys.itemsize}")
    return floats


def _rising_keys(bits: NDArray[Any]) -> NDArray[Any]:
    """Turn the bits of floats into unsigned numbers that rise with the float."""
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    return np.where(bits & sign, ~bits, bits | sign)


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "i":
        return array
    lowest, highest = (int(array.min()), int(array.max())) if array.size else (0, 0)
    return array.astype(np.result_type(np.min_scalar_type(lowest), np.min_scalar_type(highest)))
