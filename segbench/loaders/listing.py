"""What a folder holds, wherever it is: on disk, in an archive, or in a folder of archives; and the files of images.

Files are held in columns, since there may be millions. Begin with `list_place`; `archives` reads members.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, joined
from segbench.core.numbers import many
from segbench.loaders.archives import Archive, Member, members_of
from segbench.loaders.images import EXTENSIONS
from segbench.loaders.other_formats import ending_of, other_format
from segbench.loaders.source import (
    CLUTTER,
    LocalFile,
    Source,
    empty,
    is_archive,
    method_name,
    not_readable,
    read_bounded,
    refuse_endless,
    shown,
    split_suffix,
)

_MOST_KINDS = 8  # of files that are no images, which are written one by one
_TEXTS = (".json", ".txt")
"""Extensions of files that are read as folders are."""
LARGEST_LIST = 2**28
"""Bytes of a file list, or of a list of names: enough for a million images."""


class SampleFiles(NamedTuple):
    """The files of one image."""

    name: str  # which they share, in Unicode's composed form; characters that cannot be printed are escaped
    ground_truths: tuple[Source, ...]  # one per annotator, in natural order of their tags; none if all is negative
    prediction: Source
    field: Source | None = None  # the mask of the pixels that count
    scales: tuple[Source, ...] = ()  # after `prediction`: label maps of further scales, or maps of further classes
    tags: tuple[str, ...] = ()  # of `prediction` and `scales`, where the pattern has any
    sized_as: Source | None = None  # without ground truth: a file of the image's size, as far as one is known

    @property
    def sources(self) -> tuple[Source, ...]:
        """All of them."""
        field = () if self.field is None else (self.field,)
        return (*self.ground_truths, self.prediction, *self.scales, *field)

    def within(self, folder: Path) -> SampleFiles:
        """Return the same files with absolute paths; relative ones start in the folder."""

        def whole(source: Source) -> Source:
            return source.within(folder) if isinstance(source, LocalFile) else source

        if not any(isinstance(source, LocalFile) and not os.path.isabs(source) for source in self.sources):  # noqa: PTH117
            return self
        field, sized_as = (None if source is None else whole(source) for source in (self.field, self.sized_as))
        truths, scales = tuple(map(whole, self.ground_truths)), tuple(map(whole, self.scales))
        return self._replace(
            ground_truths=truths, prediction=whole(self.prediction), field=field, scales=scales, sized_as=sized_as
        )


class Entry(NamedTuple):
    """One file of a folder or an archive."""

    stem: str  # its path within the folder, posix, without extension
    extension: str  # in lower case
    source: Source


class Entries(Sequence[Entry]):
    """Files in order of their stems, in columns, since there may be millions; each `Entry` is made when asked for."""

    def __init__(self, source_at: Callable[..., Source], width: int = 0) -> None:
        self.stems: list[str] = []
        self.suffixes: list[str] = []  # as they are written
        self._source_at, self._width = source_at, width
        self._places = array("q")

    def add(self, path: str, *location: int) -> None:
        """Add a file by its path within the folder; `source_at` takes this and the numbers of its location."""
        stem, suffix = split_suffix(path)
        self.stems.append(stem)
        self.suffixes.append(sys.intern(suffix))  # one text for all files
        self._places.extend(location)

    def keep(self, chosen: Iterable[int]) -> None:
        """Keep some of the files, in order of their stems."""
        order = sorted(chosen, key=self.stems.__getitem__)
        self.stems = [self.stems[k] for k in order]
        self.suffixes = [self.suffixes[k] for k in order]
        self._places = array("q", chain.from_iterable(map(self._place, order)))

    def _place(self, k: int) -> array[int]:
        return self._places[k * self._width : (k + 1) * self._width]

    def source(self, k: int) -> Source:
        """Return the source of file `k`."""
        return self._source_at(self.stems[k] + self.suffixes[k], *self._place(k))

    def __getitem__(self, k: Any) -> Any:  # noqa: ANN401  a number, or a slice
        if isinstance(k, slice):
            return [self[index] for index in range(*k.indices(len(self)))]
        return Entry(self.stems[k], self.suffixes[k].lower(), self.source(k % len(self)))

    def __len__(self) -> int:
        return len(self.stems)


class Listing(NamedTuple):
    """The files of a folder and its sub-folders with a known extension, by stem; notes say what else was left out."""

    entries: Entries
    notes: tuple[Note, ...]
    left_out: frozenset[str] = frozenset()  # the extensions of other files


class NamedFiles(NamedTuple):
    """The files at a place by the names of images."""

    entries: Entries
    numbers: Mapping[str, tuple[int, ...]]  # in `entries`, in natural order of their tags
    tags: Mapping[int, str]  # of files, if the pattern has any
    notes: tuple[Note, ...] = ()


class FileColumn:
    """The files of each of some images at a place."""

    def __init__(self, named: NamedFiles, images: Sequence[str]) -> None:
        self._entries, self._tags = named.entries, named.tags
        self._numbers, self._ends = array("I"), array("I", [0])
        for name in images:
            self._numbers.extend(named.numbers.get(name, ()))
            self._ends.append(len(self._numbers))

    def _of(self, image: int) -> Sequence[int]:
        return self._numbers[self._ends[image] : self._ends[image + 1]]

    def sources(self, image: int) -> list[Source]:
        """Return the files of an image."""
        return [self._entries.source(k) for k in self._of(image)]

    def tags(self, image: int) -> tuple[str, ...]:
        """Return the tags of the files of an image; empty where the pattern has none."""
        return tuple(self._tags[k] for k in self._of(image)) if self._tags else ()


def _one_of(files: FileColumn | Source | None, image: int) -> Source | None:
    """Return the file of an image, or the one for all."""
    return next(iter(files.sources(image)), None) if isinstance(files, FileColumn) else files


class PairedFiles(Sequence[SampleFiles]):
    """The files of images in columns, since there may be millions; each `SampleFiles` is made when asked for."""

    def __init__(
        self,
        names: Sequence[str],
        truths: FileColumn,
        predictions: FileColumn | None,
        field: FileColumn | Source | None,
        sized_as: FileColumn | Source | None,
    ) -> None:
        self.names, self._truths, self._predictions = names, truths, predictions
        self._field, self._sized_as = field, sized_as

    def __getitem__(self, k: Any) -> Any:  # noqa: ANN401  a number, or a slice
        if isinstance(k, slice):
            return [self[index] for index in range(*k.indices(len(self)))]
        name, k = self.names[k], k if k >= 0 else k + len(self)
        truths, of_predictions = tuple(self._truths.sources(k)), self._predictions
        prediction, *scales = of_predictions.sources(k) if of_predictions else truths[:1]
        tags = of_predictions.tags(k) if of_predictions else ()
        field, sized_as = _one_of(self._field, k), None if truths else _one_of(self._sized_as, k)
        return SampleFiles(name, truths, prediction, field, tuple(scales), tags, sized_as)

    def __len__(self) -> int:
        return len(self.names)


def list_place(path: str) -> Listing:
    """List a folder with its sub-folders, an archive, or a folder of archives."""
    return once("place", path, _list)


def _list(path: str) -> Listing:
    if "://" in path and not os.path.lexists(path):
        problem = Message("url", "is a URL, expected a folder on disk")
        raise DataError(shown(path), problem, "download it or mount it first")
    if os.path.isdir(path) or not is_archive(path):  # noqa: PTH112  a str is enough
        return list_folder(Path(path))
    refuse_endless(path)
    return list_archive(os.path.abspath(path))  # noqa: PTH100  as above; workers may be in another folder


def list_folder(folder: Path) -> Listing:
    """List a folder and its sub-folders; where these hold archives but no image, what the archives hold."""
    others: Counter[str] = Counter()
    entries = files_below(str(folder), others)
    if any(suffix.lower() in EXTENSIONS for suffix in set(entries.suffixes)):
        return listing_of(str(folder), entries, others)
    archives = [os.path.abspath(str(file.source)) for file in entries if is_archive(str(file.source))]  # noqa: PTH100  as above
    if not archives:
        return listing_of(str(folder), entries, others)
    listing = list_shards(shown(folder), sorted(archives))
    files_beside = others.total() + len(entries) - len(archives)
    if not files_beside:
        return listing
    message = Message(
        "files-beside-archives",
        "{place}: left out {files:many file} beside archives",
        place=shown(folder),
        files=files_beside,
    )
    return listing._replace(notes=(Note(message), *listing.notes))


def files_below(folder: str, others: Counter[str]) -> Entries:
    """List all files in a folder and its sub-folders, and count what is neither."""
    entries = Entries(lambda inside: LocalFile(os.path.join(folder, inside.replace("/", os.sep))))  # noqa: PTH118  a str is enough
    for inside in _walk(folder, others):
        entries.add(inside)
    return entries


def all_files(path: str) -> Entries:
    """List the files of a folder or an archive whatever they are, by absolute paths: workers may be elsewhere."""
    refuse_endless(path)
    whole_path, others = os.path.abspath(path), Counter[str]()  # noqa: PTH100  a str is enough
    if os.path.isdir(path):  # noqa: PTH112  as above
        return files_below(whole_path, others)
    try:
        return _members(Archive.at(whole_path), others)
    except (OSError, ValueError) as error:
        raise not_readable(Path(path), error) from None


def _walk(root: str, others: Counter[str]) -> Iterator[str]:
    """Yield every file's path in the folder; a list of folders, not recursion, so depth has no limit."""
    seen: set[tuple[int, int]] = set()
    waiting = [("", root)]
    while waiting:
        prefix, folder = waiting.pop()
        try:
            status = os.stat(folder)  # noqa: PTH116  a Path for each of 100 000 names takes longer than the listing
            if (status.st_dev, status.st_ino) in seen:
                others["links to folders already listed"] += 1
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as children:
                files = sorted(children, key=attrgetter("name"))
        except (OSError, ValueError) as error:
            kind = "file" if not os.path.lexists(folder) and split_suffix(folder)[1] in _TEXTS else "folder"
            raise not_readable(folder, error, kind) from None
        for file in files:
            if CLUTTER.fullmatch(file.name):
                continue
            kind = _kind(file)
            if kind == "folder":
                waiting.append((f"{prefix}{file.name}/", file.path))
            elif kind == "file":
                yield prefix + file.name
            else:
                others[kind] += 1


def _kind(child: os.DirEntry[str]) -> str:
    with suppress(OSError):  # neither folder nor file where its status cannot be read
        if child.is_dir():
            return "folder"
        if child.is_file():
            return "file"
    # A dead link to an image is listed, so that reading it says what is wrong instead of the image going missing.
    return "file" if child.is_symlink() and not os.path.exists(child.path) else "pipes and devices"  # noqa: PTH110


def list_archive(path: str) -> Listing:
    """List an archive."""
    try:
        return listed_members(Archive.at(path))
    except (OSError, ValueError) as error:
        raise not_readable(Path(path), error) from None


def list_shards(folder: str, paths: Sequence[str]) -> Listing:
    """List several archives as one folder; what is wrong with any of them is said at once."""
    entries_by_shard: list[Entries] = []
    notes: list[Note] = []
    wrong: list[Message] = []
    for path in paths:
        try:
            listing = list_archive(path)
        except DataError as error:
            between = "\n-> " if error.kind == "unusable-members" else "; "
            wrong.append(f"{error.path}: " + joined([error.what, error.hint], between))
        else:
            entries_by_shard.append(listing.entries)
            notes += listing.notes
    if wrong:
        problem = Message(
            "unusable-archives",
            "{count} of {total} archives cannot be used:\n  {problems:\n  }\n",
            count=len(wrong),
            total=len(paths),
            problems=wrong,
        )
        raise DataError(folder, problem, "replace or remove these archives")
    entries = Entries(lambda _, shard, k: entries_by_shard[shard].source(k), 2)
    for shard, shard_entries in enumerate(entries_by_shard):
        for k, (stem, suffix) in enumerate(zip(shard_entries.stems, shard_entries.suffixes, strict=True)):
            entries.add(stem + suffix, shard, k)
    entries.keep(range(len(entries)))
    return Listing(entries, tuple(notes))


@lru_cache(maxsize=256)
def listed_members(archive: Archive) -> Listing:
    """List an archive; kept, since each method of a run needs the ground truth again."""
    others: Counter[str] = Counter()
    return listing_of(archive.path, _members(archive, others), others)


def _members(archive: Archive, others: Counter[str]) -> Entries:
    """List all files in an archive, and count what is neither."""
    archive = archive.unpacked_here()
    faults: list[Message] = []
    top = f"{method_name(archive.path)}/"
    entries = Entries(lambda inside, *location: Member(archive, top + inside, *location), 5 if archive.is_zip else 2)
    for inside, location in members_of(archive, others, faults):
        entries.add(inside, *location)
    if faults:
        problem = Message(
            "unusable-members",
            "{count} of its members cannot be read:\n  {problems:\n  }\n",
            count=len(faults),
            problems=faults,
        )
        hint = (
            "pack the files themselves (tar --dereference --hard-dereference), stored or deflated, without a password"
        )
        raise DataError(shown(archive.path), problem, hint)
    if all(stem.startswith(top) for stem in entries.stems):
        entries.stems = [stem[len(top) :] for stem in entries.stems]
    else:
        top = ""
    return entries


def _kinds(others: Counter[str]) -> list[str]:
    """Write the kinds of files with their numbers, the most frequent first; of many, the rarer ones together."""
    ordered = sorted(others.items(), key=lambda kind: (-kind[1], kind[0]))
    most, rarer = ordered[:_MOST_KINDS], Counter(dict(ordered[_MOST_KINDS:]))
    listed = [f"{kind} ({count})" for kind, count in most]
    return [*listed, f"{many(len(rarer), 'other kind')} ({rarer.total()})"] if rarer else listed


def listing_of(folder: str, entries: Entries, others: Counter[str]) -> Listing:
    """Keep the files with a known extension, in order, and say what the others are."""
    counts = Counter(entries.suffixes)
    known = {suffix for suffix in counts if suffix.lower() in EXTENSIONS}
    names: list[str] = []
    if counts.keys() - known:
        files = zip(entries.stems, entries.suffixes, strict=True)
        names = [f"{stem}{suffix}" for stem, suffix in files if suffix not in known]
    others.update(shown(ending_of(name)) or "no extension" for name in names)
    entries.keep(k for k, suffix in enumerate(entries.suffixes) if suffix in known)
    left_out = _kinds(others)
    if not entries:
        problem = Message("no-images", "is an empty folder")
        if others:
            problem = Message("no-images", "contains no image or array, only {listed}", listed=left_out)
        format_of_others = other_format(f"{shown(folder)}/{name}" for name in names)
        ending = Message("fix", "files may end in {extensions: }", extensions=EXTENSIONS)
        raise DataError(shown(folder), problem, format_of_others or ending)
    if not others:
        return Listing(entries, ())
    message = Message(
        "other-files",
        "{place}: {files:many other file} left out: {endings}",
        place=shown(folder),
        files=others.total(),
        endings=left_out,
    )
    return Listing(entries, (Note(message),), frozenset(suffix.lower() for suffix in counts.keys() - known))


Answer = TypeVar("Answer")
_LISTED: ContextVar[dict[tuple[str, str], Any] | None] = ContextVar("_LISTED", default=None)


@contextmanager
def listed_once() -> Iterator[None]:
    """List each place, and read each file list, once while open: what is checked is counted, and lists may be pipes."""
    known = _LISTED.get()
    token = _LISTED.set({} if known is None else known)
    try:
        yield
    finally:
        _LISTED.reset(token)


def forget_listings() -> None:
    """Forget what was listed, which can be listed again; texts stay, which may have come from a pipe."""
    known = _LISTED.get() or {}
    for key in [key for key in known if key[0] == "place"]:
        del known[key]
    listed_members.cache_clear()


def once(kind: str, path: str, read: Callable[[str], Answer]) -> Answer:
    """Return what a function reads at a path; while `listed_once` is open, read it a single time."""
    known = _LISTED.get()
    if known is None:
        return read(path)
    key = (kind, os.path.abspath(path))  # noqa: PTH100  a str is enough
    if key not in known:
        known[key] = read(path)
    answer: Answer = known[key]
    return answer


def read_text(file: str, expected: str) -> str:
    """Read a text file in UTF-8, a single time while `listed_once` is open."""

    def read(path: str) -> bytes:
        try:
            most = Message(
                "expected", "{expected} of at most {megabytes} MB", expected=expected, megabytes=LARGEST_LIST >> 20
            )
            data = read_bounded(path, LARGEST_LIST, most, "correct its path, or split the list")
        except (OSError, ValueError) as error:
            raise not_readable(LocalFile(path), error) from None
        if not data:
            raise empty(LocalFile(path))
        return data

    try:
        return once("text", file, read).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Message(
            "not-utf-8", "is not in UTF-8 (at byte {byte}), expected {expected}", byte=error.start, expected=expected
        )
        raise DataError(shown(file), problem, "save it as UTF-8") from None
