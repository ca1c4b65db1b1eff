"""What a results file holds: runs and images, each one type from the worker to the row of the file and back.

Every number has a signature, in sacrebleu's manner: what it takes to get the same number again.

Rows are checked as they are read, since a file may come from anywhere and SQLite lets any type in. Texts that are shown
to people lose what a terminal would obey, as file names do.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from segbench._version import __version__
from segbench.core.errors import ArgumentError, DataError, Failure
from segbench.core.messages import Message, Note, part_of_json, part_to_json
from segbench.core.names import MethodRun
from segbench.core.protocol import Protocol, read_published
from segbench.core.sample import SIDES
from segbench.loaders.belonging import KINDS, UNIT, Assignment
from segbench.loaders.pairing import Inputs
from segbench.loaders.reading import KINDS_OF_CHANGES, idle
from segbench.loaders.source import shown
from segbench.protocols.registry import StoredProtocol, protocols

SELECTION = ("subset", "missing", "partial", "runs", "folds")
"""Fields that say which part of a set was counted, and in how many runs; images and their digest say which images
these are."""

UNNAMED = ""
"""What stands for the name of an image where pixels have none, in results files and in the digest of the data."""
_VERSION = "|segbench:"


def without_selection(fields: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return fields without those that say which part of a set was counted; by default all of `SELECTION`."""
    return {key: value for key, value in fields.items() if key not in (names or SELECTION)}


class DataDigest:
    """Names a set of ground truths by eight hex digits of its content: names and bytes, in sorted order."""

    def __init__(self, truths: Iterable[tuple[str, object]] = ()) -> None:
        self._digest = hashlib.sha256()
        for name, truth in truths:
            self.add(name, truth)

    def add(self, name: str, truth: object) -> None:
        """Add the digest of a ground truth."""
        self._digest.update(f"{name!r} {truth}\n".encode())

    def __str__(self) -> str:
        return self._digest.hexdigest()[:8]


def signature(protocol: str, fields: Mapping[str, str], data: DataDigest, *, images: object) -> str:
    """Write a signature."""
    parts = {"protocol": protocol, **fields, "images": images, "data": data, "segbench": __version__}
    return _written({name: str(value) for name, value in parts.items()})


def resigned(
    signed: str, protocol: str, fields: Mapping[str, str], images: int | None = None, data: DataDigest | None = None
) -> str:
    """Write the signature of what was drawn from the same counts by another protocol's rules, or from some images."""
    parts = parts_of(signed)
    if images is not None:
        parts["images"] = str(images)
    if data is not None:
        parts["data"] = str(data)
    kept: dict[str, str] = {key: parts[key] for key in ("images", "data", "segbench") if key in parts}
    return _written({"protocol": protocol, **fields, **kept})


def parts_of(signed: str) -> dict[str, str]:
    """Return the parts of a signature by name."""
    return dict(part.split(":", 1) for part in signed.split("|"))


def version_of(signed: str) -> str:
    """Return the version of segbench that counted, which is at the end of a signature."""
    return signed.rpartition(_VERSION)[2]


def with_version(signed: str, version: str) -> str:
    """Return a signature with its version of segbench replaced."""
    return signed.rpartition(_VERSION)[0] + _VERSION + version


def _written(parts: Mapping[str, str]) -> str:
    """Write a signature; names of groups and classes may hold anything."""
    return shown("|".join(f"{name}:{value.replace('|', '%7C')}" for name, value in parts.items()))


Value = TypeVar("Value")
Record = TypeVar("Record")
Arguments = ParamSpec("Arguments")
Statement = TypeVar("Statement", Message, Note, Failure)
_DIGEST = 32  # bytes
_DIGITS = 16  # of the digest of a note
_HEX = re.compile(r"(?:[0-9a-f]{2})+")


class Outcome(NamedTuple):
    """What came of one image: a worker returns it, and the results file holds it as a row."""

    name: str
    digest: str = ""  # of the content of all files; empty if they could not be read
    ground_truth_digest: str = ""  # of the ground truth and the field of view
    counts: bytes | None = None  # packed; None where the image failed or is unchanged, empty if they stay in the file
    facts: tuple[float, ...] = ()  # what the whole set needs to know of it, see `segbench.core.protocol.Counted`
    failure: Failure | None = None  # why there are no counts
    notes: tuple[Note, ...] = ()  # what was done to the data while reading and counting
    seconds: float = 0.0

    @property
    def unchanged(self) -> bool:
        """Whether it was not counted, since its files are what they were."""
        return self.counts is None and not self.failure

    def row(self) -> tuple[Any, ...]:
        """Return the columns of the image, without its run."""
        columns = {"facts": json.dumps(self.facts), "failure": _stored(self.failure), "notes": references(self.notes)}
        return tuple(self._replace(**columns))  # type: ignore[arg-type]


class ByName(Mapping[str, Value]):
    """A mapping of names, in their order; values are read or computed when they are asked for."""

    _names: Collection[str]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Count the names."""
        return len(self._names)


class Digests(ByName[str]):
    """Digests of images by name, in order; of a million images as texts they would take a tenth of a gigabyte.

    All have the length of the first; those of arrays are shorter than those of files. Others are kept as texts.
    """

    def __init__(self, digests: Iterable[tuple[str, str]] = ()) -> None:
        self._names: list[str] = []
        self._bytes = bytearray()
        self._size = 0
        self._texts: dict[str, str] = {}
        for name, digest in digests:
            self.add(name, digest)

    def add(self, name: str, digest: str) -> None:
        """Add that of the next image."""
        packed = bytes.fromhex(digest) if _HEX.fullmatch(digest) else b""
        if packed and not self._size:
            self._size = len(packed)
            self._bytes = bytearray(self._size * len(self._names))
        if not packed or len(packed) != self._size:
            self._texts[name] = digest
            packed = bytes(self._size)
        self._names.append(name)
        self._bytes += packed

    def are_those_of(self, other: Digests) -> bool:
        """Return whether images and contents are the same."""
        return (self._bytes, self._names, self._texts) == (other._bytes, other._names, other._texts)

    def __getitem__(self, name: str) -> str:
        index = bisect_left(self._names, name)
        if self._names[index : index + 1] != [name]:
            raise KeyError(name)
        packed = self._bytes[self._size * index : self._size * (index + 1)]
        return self._texts[name] if name in self._texts else packed.hex()


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run of one method: all that a results file says of it beside its images."""

    method: str
    run: str = ""  # which of several trainings or folds of the method; empty where it has none
    protocol: str
    stored: StoredProtocol  # the protocol with all its settings
    settings: Mapping[str, str] = field(default_factory=dict)  # further fields of the signature: repairs, which images
    notes: tuple[Note, ...] = ()  # on the whole set
    inputs: Inputs | None = None  # None for results that others counted
    assigned: Mapping[str, Assignment] = field(default_factory=dict)  # what images belong to, such as their groups
    published: str = ""  # JSON of a curve published without images
    signature: str = ""
    images: int | None = None  # how many an incomplete run is to count, if that is known
    begun: int = 0  # how many images the file holds of an incomplete run: of this, or of one that repeats it
    complete: bool = False
    version: str = ""  # of the segbench that counted
    key: int = 0  # of the row
    # In the process that counts, which may define its own:
    protocol_object: Protocol | None = field(default=None, compare=False)

    @classmethod
    def of(cls, protocol: Protocol, **columns: Any) -> Run:  # noqa: ANN401  of several types
        """Describe a run of a protocol that counts now."""
        return cls(protocol=protocol.name, stored=StoredProtocol.of(protocol), protocol_object=protocol, **columns)

    @property
    def label(self) -> str:
        """The method, with its run if it has any: ours@1."""
        return str(MethodRun(self.method, self.run))

    @cached_property
    def inputs_json(self) -> str:
        """The inputs as they are stored, which may name very many images; empty for none."""
        return self.inputs.to_json() if self.inputs else ""

    @cached_property
    def assigned_json(self) -> str:
        """What images belong to as it is stored, which may name very many images."""
        return json.dumps({kind: part.stored() for kind, part in self.assigned.items()})

    @cached_property
    def rules(self) -> Protocol:
        """The protocol that counts, or that of the stored settings."""
        return self.protocol_object or self.stored.restored(self.protocol)

    @property
    def identity(self) -> tuple[str, str, str, str, str]:
        """The columns that identify a run: none of them holds a setting of measuring."""
        settings = json.dumps(without_selection(self.settings, "partial"), sort_keys=True)
        return self.method, self.run, self.protocol, self.stored.counting, settings

    @cached_property
    def fields(self) -> dict[str, str]:
        """All settings as text, and who counted if that is not installed; of imported results none are known."""
        fields: dict[str, str] = {}
        if self.settings.get("source") != "imported":
            fields |= self.rules.settings_as_text
        lacking = self.stored.lacking(self.protocol)
        if lacking:
            fields["counted_by"] = lacking
        fields |= self.settings
        if UNIT in self.assigned:
            fields |= {UNIT: self.assigned[UNIT].label}
        return fields

    @property
    def signed(self) -> str:
        """The protocol and its settings, as a signature has them."""
        return _written({"protocol": self.protocol, **self.fields})


def notes_on_images(image_notes: Mapping[str, Sequence[Note]], settings: Mapping[str, str], total: int) -> list[Note]:
    """Say of each note on single images how many have it, and what its numbers add up to; then which repairs idled."""
    images, added_up = Counter[Note](), Counter[Note]()
    for notes in image_notes.values():
        amounts = {note.of_set: note.amount for note in notes}
        images.update(amounts.keys())
        added_up.update(amounts)
    on_images = [replace(note, amount=added_up[note], images=images[note], total=total) for note in images]
    may_idle = total and not KINDS_OF_CHANGES.keys().isdisjoint(settings)
    return [*on_images, *(idle(settings, images) if may_idle else ())]


def reference(note: Note) -> tuple[str, str, str]:
    """Return the row of the table of notes that holds a note as on a set: its digest, JSON, and text."""
    return _reference(note.of_set)


@functools.lru_cache(maxsize=4096)  # the same few notes belong to every image
def _reference(note: Note) -> tuple[str, str, str]:
    stored = json.dumps(note.to_json())
    return _digest_of(stored), stored, note.written("python")


def _digest_of(note: str) -> str:
    return hashlib.sha256(note.encode()).hexdigest()[:_DIGITS]


def references(notes: Iterable[Note]) -> str:
    """Return what rows hold of notes: the digest of each, and with it what it says of one image alone."""
    digests = [(reference(note)[0], note.amount or part_to_json(note.detail)) for note in notes]
    return json.dumps([[digest, detail] if detail else digest for digest, detail in digests])


class StoredNotes:
    """The notes of a results file, each of which is held once, however many rows refer to it.

    `find` gives the JSON of a note by its digest; None where there is no such note.
    """

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find
        self._notes: dict[str, Note] = {}
        self._lists: dict[str, tuple[Note, ...]] = {}

    def of_row(self, text: str) -> tuple[Note, ...]:
        """Return the notes that a row refers to."""
        if text in self._lists:
            return self._lists[text]
        listed = json.loads(text)
        _require(isinstance(listed, list), "notes that are no list")
        notes = tuple(map(self._noted, listed))
        if _are(listed, str):
            self._lists[text] = notes
        return notes

    def _noted(self, stored: Any) -> Note:  # noqa: ANN401  a digest, or a digest and a detail
        digest, detail = (stored, "") if isinstance(stored, str) else stored
        note = self._note(digest)
        if not detail:
            return note
        if isinstance(detail, int) and not isinstance(detail, bool):
            return replace(note, amount=detail)
        _require(part_to_json(part_of_json(detail)) == detail, "a detail of another form")
        part = part_of_json(_with_printable(detail))
        return replace(note, detail=part if isinstance(part, str) else _writable(part))

    def _note(self, digest: str) -> Note:
        if digest not in self._notes:
            text = self._find(digest)
            _require(isinstance(text, str) and _digest_of(text) == digest, "a note that is not what it was")
            note = Note.of_json(json.loads(text))
            _require(
                json.dumps(note.to_json()) == text and note.side in ("", "field", *SIDES), "a note of another form"
            )
            self._notes[digest] = _writable(Note.of_json(_with_printable(note.to_json())))
        return self._notes[digest]


def _writable(statement: Statement) -> Statement:
    """Return what was read, which writing refuses if templates do not fit their values, and hashing if it is no value.

    Any reader may ask for it later, where nothing would say that the file is damaged.
    """
    _ = statement.written("python"), statement.written("options"), hash(statement)
    return statement


def _with_printable(stored: Any) -> Any:  # noqa: ANN401  JSON
    """Return JSON with texts that a terminal does not obey."""
    if isinstance(stored, dict):
        return {_printable(name): _with_printable(value) for name, value in stored.items()}
    if isinstance(stored, list):
        return [_with_printable(value) for value in stored]
    return _printable(stored) if isinstance(stored, str) else stored


def as_run(name: object) -> str:
    """Read the name of a run, a text or a number; nothing for a method without runs."""
    if name is None or isinstance(name, bool) or not isinstance(name, (str, int)):
        raise ArgumentError(
            Message(
                "not-a-name",
                "run is {given}, expected the name of a training or fold, such as '1'",
                given=f"{name!r:.60}",
            )
        )
    return shown(str(name))


def _checked(
    read: Callable[Concatenate[Sequence[Any], Arguments], Record],
) -> Callable[Concatenate[Sequence[Any], str, Arguments], Record]:
    """Let what a function makes of a row be an error that names the results file."""

    def read_row(row: Sequence[Any], path: str, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Record:
        try:
            return read(row, *args, **kwargs)
        except Exception as error:
            reason = shown(" ".join(str(error).split()) or type(error).__name__)[:200]
            problem = Message("damaged-row", "holds a row that segbench did not write ({reason})", reason=reason)
            raise DataError(path, problem, "run again into a new file") from error

    return read_row


def read_run(row: Sequence[Any], path: str, stored_notes: StoredNotes) -> Run:
    """Read a row of runs, in the order of `segbench.aggregator.store`."""
    protocol = row[3]
    if isinstance(protocol, str) and protocol.isidentifier() and protocol not in protocols():
        problem = Message(
            "unknown-protocol",
            "holds a run of the protocol {protocol!r}, which is not installed; installed are {known}",
            protocol=protocol,
            known=list(protocols()),
        )
        raise DataError(path, problem, "install the package that adds it, or run again into a new file")
    return _run(row, path, stored_notes)


@_checked
def _run(row: Sequence[Any], stored_notes: StoredNotes) -> Run:
    key, method, name, protocol, counting, settings, measuring, assigned, complete, signature, *others = row
    notes, inputs, version, published = others
    _require_texts(method, name, protocol, counting, measuring, assigned, signature, inputs, published, version)
    settings_by_name = json.loads(settings)
    _require(isinstance(settings_by_name, dict) and _are(settings_by_name.values(), str), "settings that are not texts")
    signed = parts_of(signature) if signature else {}
    _require(not complete or "data" in signed, "a signature without data")
    for part in ("subset", "missing"):
        in_numbers = part not in settings_by_name or re.fullmatch(r"\d{1,9} of \d{1,9}", settings_by_name[part])
        _require(in_numbers, "a part of a set that is not in numbers")
    run = Run(
        key=int(key),
        method=_printable(method),
        run=_printable(name),
        protocol=protocol,
        settings=settings_by_name,
        complete=bool(complete),
        signature=signature,
        stored=StoredProtocol(counting, measuring),
        notes=stored_notes.of_row(notes),
        inputs=_inputs(inputs),
        assigned=_assigned(assigned),
        version=_printable(version),
        published=published,
        images=None if complete or not signed else int(signed["images"]),
    )
    rules = run.rules  # which refuses settings that do not fit
    if published:
        _ = read_published(rules, published).summary
    return run


@_checked
def read_outcome(row: Sequence[Any], stored_notes: StoredNotes) -> Outcome:
    """Read what `Outcome.row` gave; counts stay packed, and are checked when they are unpacked."""
    name, digest, truth, counts, facts, failure, notes, seconds = row
    _require_texts(name, digest, truth, failure)
    _require((counts is None) == bool(failure), "an image with both counts and a failure, or neither")
    _require(isinstance(seconds, (int, float)) and math.isfinite(seconds), "seconds that are not a number")
    _require(counts is None or isinstance(counts, bytes), "counts of another type")
    _require(counts is None or len(bytes.fromhex(digest)) == _DIGEST, "a digest of another length")
    noted = stored_notes.of_row(notes)
    return Outcome(_printable(name), digest, truth, counts, _numbers(facts), _failure(failure), noted, float(seconds))


def _stored(failure: Failure | None) -> str:
    """Return what a row has of a failure, with its text beside it for readers that do not make messages."""
    return json.dumps(failure.to_json() | {"text": failure.written("python")}) if failure else ""


def _failure(text: str) -> Failure | None:
    if not text:
        return None
    return _writable(Failure.of_json(_with_printable(json.loads(text))))


@_checked
def read_inputs(row: Sequence[Any]) -> Inputs | None:
    """Read where the images of a run are, which is nowhere for results that others counted."""
    return _inputs(row[0])


@functools.lru_cache(maxsize=8)  # asked for with every batch that is saved
def _inputs(text: str) -> Inputs | None:
    if not text:
        return None
    inputs = Inputs.from_json(text)
    for part in (inputs, *inputs.merged):
        texts = {**vars(part), **dict.fromkeys(("merged", "images", "allow_missing"), "")}
        _require(_are(texts.values(), (str, type(None))), "places that are not texts")
        _require(_are(part.images, str) and _are([part.allow_missing], bool), "images that are not names")
    return inputs


@functools.lru_cache(maxsize=8)  # methods of one data set share it
def _assigned(text: str) -> Mapping[str, Assignment]:
    assigned = {}
    for kind, part in json.loads(text).items():
        by, of_images = part["by"], part["of_images"]
        _require(kind in KINDS.values() and _are([by, *of_images.values()], str), "groups that are not texts")
        printable = {_printable(name): _printable(group) for name, group in of_images.items()}
        assigned[kind] = Assignment(kind, _printable(by), printable)
    return assigned


@functools.lru_cache(maxsize=256)  # the same few lists belong to every image
def _numbers(text: str) -> tuple[float, ...]:
    numbers = json.loads(text)
    _require(isinstance(numbers, list) and _are(numbers, (int, float)), "values that are not numbers")
    return tuple(numbers)


def _are(values: Any, kind: type | tuple[type, ...]) -> bool:  # noqa: ANN401  any iterable
    return all(isinstance(value, kind) for value in values)


def _require_texts(*values: object) -> None:
    _require(_are(values, str), "a text of another type")


def _require(holds: object, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _printable(text: str) -> str:
    return "\n".join(map(shown, text.split("\n")))
