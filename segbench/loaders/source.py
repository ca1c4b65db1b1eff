"""Where the bytes of one file are; nothing else knows folders from archives.

No file beside images, such as a list, a preset or a palette, is read without a bound.
"""

from __future__ import annotations

import io
import os
import stat
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, Setting
from segbench.loaders.decoded import WRITE_AGAIN, Header, Role, Source, refuse_pointer, shown
from segbench.loaders.detached import may_be_detached, with_data_file
from segbench.loaders.endings import extension_of, split_extension, split_suffix
from segbench.loaders.images import BY_EXTENSION, EXTENSIONS, quiet
from segbench.loaders.other_formats import ending_of, other_format


def is_stream(path: str) -> bool:
    """Return whether a list comes from a pipe that the shell opened, as ``/dev/stdin`` and ``<(...)`` do."""
    return os.path.abspath(path).startswith(("/dev/", "/proc/"))  # noqa: PTH100  a str is enough


class LocalFile(str):
    """The path of a file on disk; a `Path` takes a third of a kilobyte more, and a million of them are slow to make."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The last part of its path."""
        return os.path.basename(self)  # noqa: PTH119  see above

    @property
    def suffix(self) -> str:
        """The extension, with its dot."""
        return split_suffix(self.name)[1]

    def read_bytes(self) -> bytes:
        """Read the whole content."""
        refuse_endless(self)
        return Path(self).read_bytes()

    def within(self, folder: Path) -> LocalFile:
        """Return the same file with an absolute path; a relative one starts in the folder."""
        return LocalFile(os.path.join(folder, self))  # noqa: PTH118  as said


def refuse_endless(path: str) -> None:
    """Refuse a pipe or a device in place of an image or a folder: it may have no end, and is read only once."""
    with suppress(OSError, ValueError):  # of a file that cannot be opened either
        mode = os.stat(path).st_mode  # noqa: PTH116  a Path takes longer, and this is done for every image
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "pipe" if stat.S_ISFIFO(mode) else "device"
            problem = Message("endless", "is a {found}, expected a file or a folder", found=kind)
            raise DataError(shown(path), problem, "save its content as a file")


def read_bytes(path: Source) -> bytes:
    """Read a whole file."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise not_readable(path, error) from None
    if not data:
        raise empty(path)
    return with_data_file(path, data)


def not_readable(path: object, error: OSError | ValueError, kind: str = "file") -> DataError:
    """Say why a file or a folder cannot be opened or read."""
    name = shown(path)
    if isinstance(error, FileNotFoundError):
        return DataError(name, Message("missing", "there is no such {expected}", expected=kind), "check the path")
    if isinstance(error, NotADirectoryError) and kind == "folder":
        problem = Message("not-a-folder", "is a file, expected a folder or {extensions: }", extensions=ARCHIVES)
        return DataError(name, problem, other_format([name]) or "give two files or two folders")
    # Windows answers the reading of a folder with a lack of permission.
    if kind == "file" and isinstance(error, (IsADirectoryError, PermissionError)) and os.path.isdir(name):  # noqa: PTH112
        problem = Message("not-a-file", "is a folder, expected a file")
        return DataError(name, problem, "give the file, or folders on both sides")
    if isinstance(error, OSError):
        problem = Message("unreadable", "cannot be read ({reason})", reason=str(error.strerror))
        return DataError(name, problem, "check the path, its permissions and the disk")
    return DataError(name, Message("invalid-name", "is not a valid {expected} name", expected=kind), "check the path")


def empty(path: Source) -> DataError:
    """Say that a file has no content."""
    return DataError(shown(path), Message("empty", "is empty (0 bytes)"), WRITE_AGAIN)


ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


def is_archive(name: str) -> bool:
    """Whether a file name is that of an archive."""
    return name.lower().endswith(ARCHIVES)


CLUTTER = frozenset({"thumbs.db", "desktop.ini", "__macosx", "ehthumbs.db", "$recycle.bin"})
KNOWN = frozenset(EXTENSIONS)
"""The extensions of files that are listed."""


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

    def add(self, stem: str, suffix: str, *location: int) -> None:
        """Add a file: `source_at` makes it of its path within the folder and the numbers of its location."""
        self.stems.append(stem)
        self.suffixes.append(suffix)
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


def listing_of(folder: str, entries: Entries, others: Counter[str]) -> Listing:
    """Keep the files with a known extension, in order, and say what the others are."""
    counts = Counter(entries.suffixes)
    known = {suffix for suffix in counts if suffix.lower() in KNOWN}
    names: list[str] = []
    if counts.keys() - known:
        files = zip(entries.stems, entries.suffixes, strict=True)
        names = [f"{stem}{suffix}" for stem, suffix in files if suffix not in known]
    others.update(shown(ending_of(name)) or "no extension" for name in names)
    entries.keep(k for k, suffix in enumerate(entries.suffixes) if suffix in known)
    left_out = [f"{kind} ({count})" for kind, count in sorted(others.items())]
    if not entries:
        problem = Message("no-images", "is an empty folder")
        if others:
            problem = Message("no-images", "contains no image or array, only {listed}", listed=left_out)
        format_of_others = other_format(f"{folder}/{name}" for name in names)
        ending = Message("fix", "files may end in {extensions: }", extensions=EXTENSIONS)
        raise DataError(folder, problem, format_of_others or ending)
    if not others:
        return Listing(entries, ())
    message = Message(
        "other-files",
        "{place}: {files:many other file} left out: {endings}",
        place=folder,
        files=others.total(),
        endings=left_out,
    )
    return Listing(entries, (Note(message),))


def is_clutter(name: str) -> bool:
    """Whether a file or folder is one that people do not see."""
    return name.startswith(".") or name.lower() in CLUTTER


def files_below(folder: str, others: Counter[str]) -> Entries:
    """List all files in a folder and its sub-folders, and count what is neither."""
    entries = Entries(lambda inside: LocalFile(os.path.join(folder, inside.replace("/", os.sep))))  # noqa: PTH118  a str is enough
    for inside in _walk(folder, others):
        entries.add(*split_suffix(inside))
    return entries


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
            raise not_readable(folder, error, "folder") from None
        for file in files:
            if is_clutter(file.name):
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


def inner_name(name: str) -> str | None:
    r"""Return a name found in an archive as a path that stays inside; None for clutter.

    Leading slashes and ``..`` go, as archivers drop them: nothing may be written outside by such a name.
    """
    parts = [part for part in name.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]
    return None if not parts or any(map(is_clutter, parts)) else "/".join(parts)


def read_bounded(
    file_path: str | PathLike[str], most: int, expected: Message | str, hint: Message | Setting | str
) -> bytes:
    """Read at most so many bytes of a file, or of a pipe that the shell opened; `OSError` where it cannot be read."""
    path = os.fspath(file_path)
    if not is_stream(path):
        refuse_endless(path)
    with open(file_path, "rb", opener=_open_at_once) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            os.set_blocking(file.fileno(), True)
        data = file.read(most + 1)
    if len(data) > most:
        problem = Message("too-large", "has more than {most} bytes, expected {expected}", most=most, expected=expected)
        raise DataError(shown(file_path), problem, hint)
    refuse_pointer(data, shown(file_path))
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe without waiting for its writer."""
    is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116  as it is opened
    return os.open(path, flags | os.O_NONBLOCK if is_pipe else flags)


def method_name(path: str) -> str:
    """Return the name of the method with predictions in a folder, an archive or a file."""
    name = Path(path).absolute().name
    ending = next((ending for ending in ARCHIVES if name.lower().endswith(ending)), split_extension(name)[1])
    is_folder = os.path.isdir(path)  # noqa: PTH112  a str, which may hold a null
    return shown(name if is_folder else name[: len(name) - len(ending)])


def read_header(path: Source, role: Role) -> Header:
    """Read the header of an image or array file."""
    try:
        with opened(path) as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            if not size:
                raise empty(path)
            try:
                with quiet():
                    header = BY_EXTENSION[extension_of(path.name)].header(file, role)
            except Exception:  # noqa: BLE001  whatever a library makes of damaged bytes
                header = Header(odd=True)
            return replace(header, size=0 if may_be_detached(path) else size)
    except (OSError, ValueError) as error:
        raise not_readable(path, error) from None


def opened(source: Source) -> io.BufferedReader | io.BytesIO:
    """Open a local file, or the bytes of a member of an archive."""
    if not isinstance(source, LocalFile):
        return io.BytesIO(source.read_bytes())
    refuse_endless(source)
    return Path(source).open("rb")
