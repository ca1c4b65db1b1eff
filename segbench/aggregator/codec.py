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
from contextlib import contextmanager, suppress
from itertools import accumulate, groupby
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.records import ByName
from segbench.core.arrays import BoolArray, IntArray
from segbench.core.counts import Counts
from segbench.core.errors import DataError, UnknownMetricError
from segbench.core.joined import JoinedCounts, ranges
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
_JSON = json.JSONEncoder(separators=(",", ":"))
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
    header: dict[str, Any] = {"kind": counts.kind}
    arrays: dict[str, tuple[int, str, float, int]] = {}
    planes: list[bytes] = []
    for field in dataclasses.fields(counts):  # type: ignore[arg-type]  # counts are dataclasses
        value = getattr(counts, field.name)
        if isinstance(value, np.ndarray):
            if not value.size and field.default == ():
                continue
            scale, numbers = _whole_numbers(value)
            numbers = np.ascontiguousarray(numbers.astype("<i8", copy=False).reshape(-1))
            bits = int(np.bitwise_or.reduce(numbers))  # of all numbers; the first says whether some are negative
            width = 8 if bits < 0 else max(1, (bits.bit_length() + 7) // 8)
            arrays[field.name] = width, value.dtype.str, scale, value.size
            planes.append(numbers.view(np.uint8).reshape(-1, 8).T[:width].tobytes())
        elif value != field.default:
            header[field.name] = value
    block = b"".join([_line(header | {"arrays": arrays}), *planes])
    compressed: bytes = _zstandard().compress(block)
    return compressed


def _line(header: Mapping[str, Any]) -> bytes:
    return _JSON.encode(header).encode() + b"\n"


def _whole_numbers(array: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """Return the scale of levels (0 for other numbers) and the numbers to write."""
    if array.dtype.kind != "f":
        return 0, array
    if array.size and np.isfinite(array).all() and np.abs(array).max() <= 2**31:
        scales = np.array([[1], [255], [65535], [array.size + 1]], array.dtype)
        for scale in scales[_are_levels(array[:_TRIED], scales), 0]:
            if array.size <= _TRIED or _are_levels(array[np.newaxis], scale)[0]:
                return float(scale), np.rint(array * scale)
    bits = array.view(f"u{array.itemsize}")
    steps = -bits
    steps[1:] += bits[:-1]
    return 0, steps


def _are_levels(array: NDArray[Any], scales: Any) -> BoolArray:  # noqa: ANN401  one, or a column of several
    """Return for each scale whether it gives back all numbers."""
    levels: BoolArray = (np.rint(array * scales) / scales == array).all(axis=-1)
    return levels


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
    for name, packing, size in arrays:
        planes: NDArray[np.uint8] = np.frombuffer(block, np.uint8, size * packing.width, offset)
        offset += planes.size
        values[name] = packing.unpacked(planes)
    return kind(**values)


class _Packing(NamedTuple):
    """How the numbers of an array are packed: in how many bytes each, as which type, and as levels of which scale."""

    width: int
    dtype: np.dtype[Any]
    scale: float

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def of(cls, width: int, dtype: str, scale: float) -> _Packing:
        """Read how numbers are packed."""
        if not _NUMBERS.fullmatch(dtype):
            raise ValueError("numbers of another type")
        return cls(width, np.dtype(dtype), scale)

    def unpacked(self, planes: NDArray[np.uint8], sizes: IntArray | None = None) -> NDArray[Any]:
        """Return numbers, of several images if there are `sizes`, from their lowest bytes, the next, and so on."""
        type_bytes = 1 << (self.width - 1).bit_length()
        numbers = planes
        if type_bytes > 1:
            by_number = np.zeros((planes.size // self.width, type_bytes), np.uint8)
            for byte, plane in enumerate(planes.reshape(self.width, -1)):
                by_number[:, byte] = plane
            numbers = by_number.reshape(-1).view("<i8" if type_bytes == 8 else f"<u{type_bytes}")
        if self.scale:
            with np.errstate(all="raise", under="ignore"):
                return (numbers / self.scale).astype(self.dtype)
        if self.dtype.kind == "f":
            bits = -np.cumsum(numbers, dtype=np.int64)
            if sizes is not None:  # those of each image fall from 0
                bits -= np.repeat(np.append(np.int64(0), bits)[np.cumsum(sizes) - sizes], sizes)
            return bits.astype(f"u{self.dtype.itemsize}").view(self.dtype)
        return numbers.astype(self.dtype, copy=False)


def _joined(unpacked: Sequence[bytes], kind: type[Counts]) -> JoinedCounts:
    """Read the counts of images at once, those whose numbers are packed alike together; a `ValueError` if some differ.

    What is damaged is not always noticed.
    """
    blocks: list[bytes] = []
    scalars: list[dict[str, Any]] = []
    sizes: list[list[int]] = []
    alike: dict[tuple[tuple[str, _Packing], ...], list[int]] = {}
    for image, data in enumerate(unpacked):
        header, _, block = data.partition(b"\n")
        kind_of_image, of_image, arrays = _header(header, kind)
        if kind_of_image is not kind:
            raise ValueError("counts of several types")
        blocks.append(block)
        scalars.append(of_image)
        sizes.append([size for _, _, size in arrays])
        alike.setdefault(tuple((name, packing) for name, packing, _ in arrays), []).append(image)
    types = {tuple((name, packing.dtype) for name, packing in packings) for packings in alike}
    if len(types) != 1:
        raise ValueError("counts with several fields")
    (types_of_arrays,) = types
    names = [name for name, _ in types_of_arrays]
    columns = np.array(sizes, np.int64)
    first = np.cumsum(columns, axis=0) - columns
    values = {name: np.empty(columns[:, k].sum(), dtype) for k, (name, dtype) in enumerate(types_of_arrays)}
    for packings, images in alike.items():
        whole = np.frombuffer(b"".join([blocks[image] for image in images]), np.uint8)
        lengths = np.array([len(blocks[image]) for image in images], np.int64)
        widths = np.array([packing.width for _, packing in packings])
        if (columns[images] < 0).any() or not np.array_equal(columns[images] @ widths, lengths):
            raise ValueError("numbers that are not whole")
        starts = np.cumsum(lengths) - lengths
        for k, (name, packing) in enumerate(packings):
            of_images = columns[images, k]
            first_bytes, steps = ranges(starts, of_images), np.repeat(of_images, of_images)
            planes = np.concatenate([whole[first_bytes + byte * steps] for byte in range(packing.width)])
            values[name][ranges(first[images, k], of_images)] = packing.unpacked(planes, of_images)
            starts += of_images * packing.width
    defaults = {field.name: field.default for field in dataclasses.fields(kind) if field.name not in names}  # type: ignore[arg-type]
    others = {name: [of_image.get(name, default) for of_image in scalars] for name, default in defaults.items()}
    return JoinedCounts(values, dict(zip(names, columns.T, strict=True)), others)


class _Zstandard(threading.local):
    """What packs and unpacks: it takes longer to make than to use, and serves one thread."""

    def __init__(self) -> None:
        import zstandard

        self.compress = zstandard.ZstdCompressor(level=1, write_checksum=True).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


_zstandard = functools.cache(_Zstandard)


def _unpacked(data: bytes) -> bytes:
    import zstandard

    if zstandard.get_frame_parameters(data).content_size > max(_LITTLE, _MOST_SHRUNK * len(data)):
        raise ValueError("unpacks to more than counts do")
    unpacked: bytes = _zstandard().decompress(data, allow_extra_data=False)
    return unpacked


@functools.lru_cache(maxsize=1024)  # that of most images and ranges of a run is the same
def _header(
    header: bytes, expected: type[Counts]
) -> tuple[type[Counts], dict[str, Any], list[tuple[str, _Packing, int]]]:
    """Read the type of counts, their scalars, and name, packing and size of each array; check them."""
    values: dict[str, Any] = json.loads(header)
    kind = _type_of(values.pop("kind"), expected)
    arrays: dict[str, tuple[int, str, float, int]] = values.pop("arrays")
    types = _types_of_fields(kind)
    for key, value in values.items():
        if type(value) not in _SCALARS[types[key]] or (isinstance(value, int) and value.bit_length() > 63):
            raise ValueError(f"{key} of another type")
    return kind, values, [(name, _Packing.of(*array[:3]), *array[3:]) for name, array in arrays.items()]


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
def _layout(header: bytes) -> tuple[Layout, Mapping[str, Any]] | None:
    """Return layout and scalars of valid counts whose scores are levels, many of which are unpacked at a time."""
    try:
        kind, scalars, arrays = _header(header, ScoreCounts)
        empty: NDArray[Any] = np.empty(0, np.int64)
        ScoreCounts(empty, empty, empty, **scalars)  # refuses scalars that do not fit
        names, packings, (size, *sizes) = zip(*arrays, strict=True)
        widths, types, scales = zip(*packings, strict=True)
    except Exception:  # noqa: BLE001  unpacked alone, they are refused with what they hold
        return None
    plain = kind is ScoreCounts and names == ("scores", "positives", "negatives") and {size} == {*sizes} and size >= 0
    levels = [dtype.kind for dtype in types] == ["f", "i", "i"] and scales[0] and not any(scales[1:])
    if not (plain and levels and {*widths} <= {*range(1, 9)}):
        return None
    return Layout._make((size, *widths, scales[0], types[0].itemsize == 4)), scalars


class _UnpackedImage(NamedTuple):
    """An image in its turn: `unpacked` if it has no parts and is whole, with its layout if its scores are levels."""

    name: str
    packed: bytes
    unpacked: bytes = b""
    layout: Layout | None = None
    scalars: Mapping[str, Any] = MappingProxyType({})

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
        layout, scalars = _layout(header) or (None, {})
        if layout is None or len(unpacked) != len(header) + 1 + layout.bytes:
            return cls(name, packed, unpacked)
        return cls(name, packed, unpacked, layout, scalars)


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

    def __contains__(self, name: object) -> bool:
        """Return whether an image was counted, without unpacking it."""
        return name in self._packed

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

    def joined(self) -> JoinedCounts:
        """Unpack all images in sorted order of names at once, if their type knows whether joined ones fit."""
        with suppress(Exception):  # unpacked alone, those that are wrong say what is
            joined = _joined([_unpacked(self._packed[name]) for name in self._names], self._kind)
            if self._kind.fit(joined):
                return joined
        return JoinedCounts.of_each([self[name] for name in self._names], self._kind)

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
        return ScoreBatch(
            scores,
            counts[0],
            counts[1],
            ends,
            ignored=sum(image.scalars.get("ignored", 0) for image in images),
            sources=[image.scalars.get("threshold_source", "") for image in images],
            of_predictions=all(image.scalars.get("of_predictions", False) for image in images),
            single=all(image.layout.single for image in images if image.layout and image.layout.scores),
        )

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
