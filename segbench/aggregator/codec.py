"""Counts as bytes: how they are sent between processes, held in memory and stored in the results file.

A line of JSON describes the arrays, whose numbers follow byte by byte, the low bytes first, and Zstandard packs the
whole. Floats that are levels (k, k / 255, k / 65535, k / (thresholds + 1)) are written as the whole numbers k if that
gives back every bit; others as the steps by which their bit patterns fall. Counts with parts
(`segbench.core.counts.Counts.parts`) are packed part by part behind a line of JSON, so that one is unpacked alone.
Reading never unpickles and checks everything: a results file may come from anywhere.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.records import ByName
from segbench.core.counts import Counts
from segbench.core.errors import DataError, UnknownMetricError
from segbench.core.messages import Either, Message, Setting
from segbench.core.numbers import many
from segbench.core.pooling import batched, number_of_scores
from segbench.core.protocol import Pooling
from segbench.core.scores import ScoreBatch, ScoreCounts
from segbench.core.table import CachedPool
from segbench.loaders.hints import nearest
from segbench.loaders.source import shown
from segbench.protocols.registry import counts_types

_PARTS = b"{"  # which no frame of Zstandard begins with
_DEEPEST = 2  # ranges of scores within classes
_TRIED = 16
_LOCAL = threading.local()
_LITTLE, _MOST_SHRUNK = 2**24, 64
"""What any counts may unpack to, and how many times their packed size where that is more."""
_COUNT_AFRESH = Message(
    "count-again",
    "the results file was changed or damaged: count again with {command}{fresh}",
    command=Either("", "the command of the run and "),
    fresh=Setting("fresh", True),
)
"""The remedy where packed counts are not what was packed."""
_NUMBERS = re.compile(r"[<>|=]?[biuf][1248]")
_SCALARS: dict[str, tuple[type, ...]] = {"int": (int,), "bool": (bool,), "str": (str,), "float": (int, float)}


def encode(counts: Counts) -> bytes:
    """Pack counts into bytes; the same counts always give the same bytes."""
    parts = counts.parts
    if parts:
        packed = [encode(part) for part in parts.values()]
        sizes = dict(zip(parts, map(len, packed), strict=True))
        return b"".join([_line({"kind": counts.kind, "parts": sizes}), *packed])
    import zstandard

    header: dict[str, Any] = {"kind": counts.kind}
    arrays: dict[str, tuple[int, str, float, int]] = {}
    planes: list[bytes] = []
    for field in dataclasses.fields(counts):  # type: ignore[arg-type]  # counts are dataclasses
        value = getattr(counts, field.name)
        if isinstance(value, np.ndarray):
            if not value.size and field.default == ():
                continue
            scale, numbers = _whole_numbers(value)
            numbers = numbers.astype("<i8", copy=False).reshape(-1, 1)
            low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
            width = 8 if low < 0 else max(1, (high.bit_length() + 7) // 8)
            arrays[field.name] = width, value.dtype.str, scale, value.size
            planes += (plane.tobytes() for plane in np.ascontiguousarray(numbers).view(np.uint8).T[:width])
        elif value != field.default:
            header[field.name] = value
    block = b"".join([_line(header | {"arrays": arrays}), *planes])
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(block)


def _line(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header, separators=(",", ":")).encode() + b"\n"


def _whole_numbers(array: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """Return the scale of levels (0 for other numbers) and the numbers to write."""
    if array.dtype.kind != "f":
        return 0, array
    if array.size and np.isfinite(array).all() and np.abs(array).max() <= 2**31:
        for scale in (1.0, 255.0, 65535.0, array.size + 1.0):
            if all(_are_levels(numbers, scale) for numbers in (array[:_TRIED], array)):
                return scale, np.rint(array * scale)
    bits = array.view(f"u{array.itemsize}")
    return 0, -np.diff(bits, prepend=bits.dtype.type(0))


def _are_levels(array: NDArray[Any], scale: float) -> bool:
    return np.array_equal((np.rint(array * scale) / scale).astype(array.dtype), array)


def decode(data: bytes, kind: type[Any] = Counts, unpacked: bytes = b"") -> Any:  # noqa: ANN401  counts of that type
    """Unpack what `encode` packed, unless `unpacked` holds it: counts of a type, maybe of no registered protocol."""
    with _refusing_damage():
        counts = _of_fields(unpacked, kind) if unpacked else _decode(data, kind, 0)
    if not isinstance(counts, kind):
        raise DataError("packed counts", Message("other-protocol", "holds counts of another protocol"), _COUNT_AFRESH)
    return counts


def _decode(data: bytes, expected: type[Counts], depth: int) -> Counts:
    if data.startswith(_PARTS):
        if depth == _DEEPEST:
            raise ValueError("parts within parts")
        name, parts = _parts(data)
        return _type_of(name, expected).of_parts(
            {key: _decode(part, expected, depth + 1) for key, part in parts.items()}
        )
    return _of_fields(_unpacked(data), expected)


def _of_fields(unpacked: bytes, expected: type[Counts]) -> Counts:
    header, _, block = unpacked.partition(b"\n")
    kind, scalars, arrays = _header(header, expected)
    values, offset = dict(scalars), 0
    for name, width, dtype, scale, size in arrays:
        planes: NDArray[np.uint8] = np.frombuffer(block, np.uint8, size * width, offset)
        offset += planes.size
        type_bytes = 1 << (width - 1).bit_length()
        numbers = planes
        if type_bytes > 1:
            by_number = np.zeros((planes.size // width, type_bytes), np.uint8)
            for byte, plane in enumerate(planes.reshape(width, -1)):
                by_number[:, byte] = plane
            numbers = by_number.reshape(-1).view("<i8" if type_bytes == 8 else f"<u{type_bytes}")
        if scale:
            with np.errstate(all="raise", under="ignore"):
                values[name] = (numbers / scale).astype(dtype)
        elif dtype.kind == "f":
            values[name] = (-np.cumsum(numbers, dtype=np.int64)).astype(f"u{dtype.itemsize}").view(dtype)
        else:
            values[name] = numbers.astype(dtype, copy=False)
    return kind(**values)


def _unpacked(data: bytes) -> bytes:
    import zstandard

    if zstandard.get_frame_parameters(data).content_size > max(_LITTLE, _MOST_SHRUNK * len(data)):
        raise ValueError("unpacks to more than counts do")
    if not hasattr(_LOCAL, "decompressor"):  # which takes longer to make than to use, and serves one thread
        _LOCAL.decompressor = zstandard.ZstdDecompressor()
    unpacked: bytes = _LOCAL.decompressor.decompress(data, allow_extra_data=False)
    return unpacked


@functools.lru_cache(maxsize=1024)  # that of most images and ranges of a run is the same
def _header(
    header: bytes, expected: type[Counts]
) -> tuple[type[Counts], dict[str, Any], list[tuple[str, int, np.dtype[Any], float, int]]]:
    """Read the type of counts, their scalars, and name, bytes, type, scale and size of each array; check them."""
    values: dict[str, Any] = json.loads(header)
    kind = _type_of(values.pop("kind"), expected)
    arrays: dict[str, tuple[int, str, float, int]] = values.pop("arrays")
    types = _types_of_fields(kind)
    for key, value in values.items():
        if type(value) not in _SCALARS[types[key]] or (isinstance(value, int) and value.bit_length() > 63):
            raise ValueError(f"{key} of another type")
    for name, (_, dtype, *_) in arrays.items():
        if not _NUMBERS.fullmatch(dtype):
            raise ValueError(f"{name} of another type")
    return kind, values, [(name, array[0], np.dtype(array[1]), *array[2:]) for name, array in arrays.items()]


@functools.cache
def _types_of_fields(kind: type[Counts]) -> dict[str, str]:
    """Return the types of the fields of counts, as annotations have them."""
    return {
        field.name: field.type if isinstance(field.type, str) else field.type.__name__
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]  # counts are dataclasses
    }


class Layout(NamedTuple):
    """How the numbers of score counts are packed whose scores are levels; a row for `segbench.aggregator.unpacking`."""

    scores: int
    score_bytes: int
    positive_bytes: int
    negative_bytes: int
    scale: float  # what the scores were times
    single: bool  # whether they are float32

    @property
    def bytes(self) -> int:
        """How many there are of all numbers."""
        return self.scores * (self.score_bytes + self.positive_bytes + self.negative_bytes)


@functools.lru_cache(maxsize=1024)
def _layout(header: bytes) -> Layout | None:
    """Return the layout of valid counts whose scores are levels, which are unpacked many at a time; None for others."""
    try:
        kind, scalars, arrays = _header(header, ScoreCounts)
        empty: NDArray[Any] = np.empty(0, np.int64)
        ScoreCounts(empty, empty, empty, **scalars)  # refuses scalars that do not fit
        names, widths, types, scales, (size, *sizes) = zip(*arrays, strict=True)
    except Exception:  # noqa: BLE001  unpacked alone, they are refused with what they hold
        return None
    plain = kind is ScoreCounts and names == ("scores", "positives", "negatives") and {size} == {*sizes} and size >= 0
    levels = [dtype.kind for dtype in types] == ["f", "i", "i"] and scales[0] and not any(scales[1:])
    if not (plain and levels and {*widths} <= {*range(1, 9)}):
        return None
    return Layout._make((size, *widths, scales[0], types[0].itemsize == 4))


class _UnpackedImage(NamedTuple):
    """An image in its turn: `unpacked` if it has no parts and is whole, and the layout if its scores are levels."""

    name: str
    packed: bytes
    unpacked: bytes = b""
    layout: Layout | None = None

    @classmethod
    def of(cls, name: str, packed: bytes) -> _UnpackedImage:
        """Unpack an image."""
        if packed.startswith(_PARTS):
            return cls(name, packed)
        try:
            unpacked = _unpacked(packed)
        except Exception:  # noqa: BLE001  as above
            return cls(name, packed)
        header = unpacked.partition(b"\n")[0]
        layout = _layout(header)
        is_whole = layout is not None and len(unpacked) == len(header) + 1 + layout.bytes
        return cls(name, packed, unpacked, layout if is_whole else None)


def _type_of(name: str, expected: type[Counts]) -> type[Counts]:
    return expected if getattr(expected, "kind", None) == name else counts_types()[name]


def _parts(data: bytes) -> tuple[str, dict[str, bytes]]:
    """Return the kind of counts, and their parts, still packed."""
    header, _, block = data.partition(b"\n")
    description = json.loads(header)
    sizes: dict[str, int] = description["parts"]
    ends = accumulate(sizes.values())
    return description["kind"], {name: block[end - sizes[name] : end] for name, end in zip(sizes, ends, strict=True)}


@contextmanager
def _refusing_damage() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        reason = shown(" ".join(str(error).split()) or type(error).__name__)[:200]
        problem = Message("damaged-counts", "cannot be unpacked ({reason})", reason=reason)
        raise DataError("packed counts", problem, _COUNT_AFRESH) from error


def encode_kept(kept: CachedPool) -> tuple[str, bytes]:
    """Write numbers as JSON, with the NaN of JavaScript, and pack counts."""
    return json.dumps({name: part.tolist() for name, part in kept.numbers.items()}), encode(kept.counts)


def decode_kept(numbers: str, counts: bytes, pooling: Pooling, kind: type[Counts]) -> CachedPool | None:
    """Read what `encode_kept` wrote; None where it is not what a protocol keeps today."""
    with _refusing_damage():
        lists: dict[str, list[float]] = json.loads(numbers)
        expected = pooling.kept_numbers
        if lists.keys() != expected.keys():
            return None
        arrays = {name: np.array(lists[name], part.dtype) for name, part in expected.items()}
        for name, part in expected.items():
            if arrays[name].shape != part.shape:
                raise ValueError(f"{name} of another shape")
        reduced = _decode(counts, kind, 0)
    return CachedPool(reduced, arrays) if isinstance(reduced, kind) else None


class EncodedCounts(ByName[Counts]):
    """Counts of a type by image name, sorted, kept packed and unpacked on access; errors name their results file."""

    def __init__(self, packed: Mapping[str, bytes], kind: type[Counts], file: str = "") -> None:
        self._packed = packed
        self._names = sorted(filter(None, packed))  # without pixels that have no image
        self._kind = kind
        self.file = file
        self._first: tuple[str, tuple[Any, ...]] | None = None

    def of_class(self, name: str) -> EncodedCounts:
        """Return the counts of one of several classes."""
        packed = {}
        for image, data in self._packed.items():
            with self._naming(image):
                with _refusing_damage():
                    parts = _parts(data)[1]
                if name not in parts:
                    problem = Message("damaged-counts", "holds no counts of the class {name}", name=name)
                    raise DataError(image, problem, _COUNT_AFRESH)
                packed[image] = parts[name]
        return EncodedCounts(packed, ScoreCounts, self.file)

    def of_images(self, names: Iterable[str]) -> EncodedCounts:
        """Return the counts of some images, still packed."""
        return EncodedCounts({name: self._packed[name] for name in names}, self._kind, self.file)

    def __getitem__(self, name: str) -> Counts:
        """Unpack the counts of one image; a `DataError` where they are none of the protocol."""
        if name not in self._packed:
            near = tuple(nearest([str(name)], [*self._packed]).values())
            perhaps = "".join(f", perhaps {nearest_name!r}" for nearest_name in near)
            raise UnknownMetricError(
                Message(
                    "no-such-image",
                    "no image is called {image!r}{perhaps}",
                    image=name,
                    perhaps=perhaps,
                    nearest=near,
                )
            )
        counts: Counts = self._decoded(_UnpackedImage(name, self._packed[name]))
        return counts

    def _decoded(self, image: _UnpackedImage) -> Any:  # noqa: ANN401  counts of its type
        with self._naming(image.name):
            counts: Counts = decode(image.packed, self._kind, image.unpacked)
            self._require_alike(image.name, counts)
        return counts

    @property
    def packed_size(self) -> int:
        """Number of bytes of all counts, packed."""
        return sum(map(len, self._packed.values()))

    def packed(self, name: str) -> bytes:
        """Return the counts of one image, still packed."""
        return self._packed[name]

    def in_batches(self) -> Iterator[ScoreBatch]:
        """Unpack all images in sorted order of names, those whose scores are levels many at a time."""
        images = (_UnpackedImage.of(name, self._packed[name]) for name in self._names)
        for as_levels, consecutive in groupby(images, key=lambda image: image.layout is not None):
            if as_levels:
                yield from map(
                    self._several, batched(consecutive, lambda image: image.layout.scores if image.layout else 0)
                )
            else:
                yield from map(ScoreBatch.of, batched(map(self._decoded, consecutive), number_of_scores))
        if not self._names:
            yield ScoreBatch.of(())

    def _several(self, images: Sequence[_UnpackedImage]) -> ScoreBatch:
        """Unpack images by their layouts."""
        from segbench.aggregator.unpacking import unpack

        layouts = np.array([image.layout for image in images], np.float64).reshape(-1, len(Layout._fields))
        sizes = [image.layout.bytes if image.layout else 0 for image in images]
        starts = np.cumsum([len(image.unpacked) for image in images], dtype=np.int64) - np.array(sizes, np.int64)
        ends = np.cumsum(layouts[:, 0], dtype=np.int64)
        scores = np.empty(ends[-1] if ends.size else 0)
        counts = np.empty((2, scores.size), np.int64)
        block = np.frombuffer(b"".join(image.unpacked for image in images), np.uint8)
        if not unpack(block, starts, layouts, scores, counts):
            return ScoreBatch.of([*map(self._decoded, images)])  # which says what is wrong
        return ScoreBatch(scores, counts[0], counts[1], ends)

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Unpack the counts of an image from one score up to, not including, another, without ignored pixels."""
        data = self._packed[name]
        with self._naming(name):
            if not data.startswith(_PARTS):
                return decode(data, ScoreCounts).between(lowest, below)
            with _refusing_damage():
                parts = _parts(data)[1]
                # A range reaches down to where the next begins.
                ends = zip(parts, [*parts, "-inf"][1:], strict=True)
                wanted = [top for top, following in ends if float(top) >= lowest and float(following) < below]
                counts = ScoreCounts.of_parts({top: decode(parts[top], ScoreCounts) for top in wanted})
                return counts.between(lowest, below)

    @property
    def micro(self) -> EncodedCounts:
        """The counts of all classes of each image added up."""
        by_image: Mapping[str, Any] = self
        return EncodedCounts({name: encode(counts.micro) for name, counts in by_image.items()}, ScoreCounts, self.file)

    def _require_alike(self, name: str, counts: Counts) -> None:
        """Refuse counts of a file that do not add to those of its other images."""
        if not self.file or not counts.settings:
            return
        first, expected = self._first = self._first or (name, counts.settings)
        if counts.settings != expected:
            problem = Message("not-alike", "has other thresholds or classes than {first!r}", first=first)
            raise DataError(name, problem, "count all images of a run with the same settings, into a new file")

    @contextmanager
    def _naming(self, image: str) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            if self.file:
                problem = (f"image {image!r} " + error.what).extended("", image=image)
                raise DataError(self.file, problem, error.hint) from error
            raise DataError(image, error.what, error.hint) from error

    def __repr__(self) -> str:
        return f"<counts of {many(len(self), 'image')} by name>"
