"""Where the bytes of one file are, and what to say where they cannot be read; nothing else knows folders from archives.

No file beside images, such as a list, a preset or a palette, is read without a bound.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import stat
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.loaders.other_formats import other_format

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")

CLUTTER = re.compile(r"\..*|thumbs\.db|desktop\.ini|__macosx|ehthumbs\.db|\$recycle\.bin", re.IGNORECASE | re.DOTALL)
"""Names of files and folders that people do not see."""


NIFTI, METAIMAGE, NRRD = (".nii", ".nii.gz"), (".mha", ".mhd"), (".nrrd", ".seg.nrrd", ".nhdr")
OF_VOLUMES = frozenset((*NIFTI, *METAIMAGE, *NRRD))
"""Extensions of files of which a header says that they are volumes."""
ANNOTATIONS = ".json"
"""The extension of files that list the objects of images."""
_DOUBLE = {".gz": ".nii.gz", ".nrrd": ".seg.nrrd"}
"""Extensions of two parts, by their last one; other files that end in these have one extension."""

CUT, WRITE_AGAIN = "cut it into parts", "write the file again"
"""What to do with files that are too large, or damaged."""

_POINTERS = {
    b"version https://git-lfs.github.com/": ("a Git LFS pointer", "git lfs pull"),
    b"/annex/objects/": ("a git-annex pointer", "git annex get ."),
}
"""What stands in a repository in place of a large file: how it begins, what it is, and what fetches the file."""


class Source(Protocol):
    """Where the bytes of one file are, fit to be sent to a worker; its text is what people are shown.

    `LocalFile` and `Member` are the ones that are listed; `pathlib.Path` is one, too.
    """

    def __hash__(self) -> int:
        """Identify files, as keys."""

    @property
    def name(self) -> str:
        """The last part of its path."""

    @property
    def suffix(self) -> str:
        """The extension, with its dot."""

    def read_bytes(self) -> bytes:
        """Read the whole content; an `OSError` or a `DataError` says why not."""


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
        return split_suffix(self)[1]

    def read_bytes(self) -> bytes:
        """Read the whole content."""
        refuse_endless(self)
        return Path(self).read_bytes()

    def within(self, folder: Path) -> LocalFile:
        """Return the same file with an absolute path; a relative one starts in the folder."""
        return LocalFile(os.path.join(folder, self))  # noqa: PTH118  as said


def shown(name: object) -> str:
    r"""Return a file's name fit for one line of a terminal, whatever it holds."""
    text = str(name)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def split_suffix(path: str) -> tuple[str, str]:
    """Part a path from its extension; a name that is only dot and letters has none."""
    stem, suffix = posixpath.splitext(path)
    double = _DOUBLE.get(suffix.lower())
    if double:
        inner, first = posixpath.splitext(stem)
        if (first + suffix).lower() == double:
            return inner, first + suffix
    return stem, suffix


def extension_of(path: str) -> str:
    """Return the extension of a path, in lower case."""
    return split_suffix(path)[1].lower()


def is_archive(name: str) -> bool:
    """Whether a file name is that of an archive."""
    return name.lower().endswith(ARCHIVES)


def is_stream(path: str) -> bool:
    """Return whether a list comes from a pipe that the shell opened, as ``/dev/stdin`` and ``<(...)`` do."""
    return os.path.abspath(path).startswith(("/dev/", "/proc/"))  # noqa: PTH100  a str is enough


def method_name(path: str) -> str:
    """Return the name of the method with predictions in a folder, an archive or a file."""
    name = Path(path).absolute().name
    ending = next((ending for ending in ARCHIVES if name.lower().endswith(ending)), split_suffix(name)[1])
    is_folder = os.path.isdir(path)  # noqa: PTH112  a str, which may hold a null
    return shown(name if is_folder else name[: len(name) - len(ending)])


def read_bytes(path: Source) -> bytes:
    """Read a whole file."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise not_readable(path, error) from None
    if not data:
        raise empty(path)
    return data


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


def read_json(file_path: str | PathLike[str], most: int, expected: str, *, hint: str, otherwise: str) -> Any:  # noqa: ANN401  what JSON holds
    """Read the JSON in a file of at most so many bytes; `hint` is for larger ones, `otherwise` for what is no JSON."""
    try:
        return json.loads(read_bounded(file_path, most, expected, hint))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = Message("not-json", "is not JSON ({why})", why=reason)
        raise DataError(shown(file_path), problem, otherwise) from None


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe without waiting for its writer."""
    is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116  as it is opened
    return os.open(path, flags | os.O_NONBLOCK if is_pipe else flags)


def refuse_endless(path: str) -> None:
    """Refuse a pipe or a device in place of an image or a folder: it may have no end, and is read only once."""
    with suppress(OSError, ValueError):  # of a file that cannot be opened either
        mode = os.stat(path).st_mode  # noqa: PTH116  a Path takes longer, and this is done for every image
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "pipe" if stat.S_ISFIFO(mode) else "device"
            problem = Message("endless", "is a {found}, expected a file or a folder", found=kind)
            raise DataError(shown(path), problem, "save its content as a file")


def refuse_pointer(data: bytes, name: str) -> None:
    """Refuse a text that stands in place of a file, whatever its name promises."""
    for start, (pointer, command) in _POINTERS.items():
        if data.startswith(start):
            problem = Message("pointer", "is {pointer}, not the file itself", pointer=pointer)
            hint = Message("fix", "fetch the files: {command} in its repository", command=command)
            raise DataError(name, problem, hint)


def not_readable(path: object, error: OSError | ValueError, kind: str = "file") -> DataError:
    """Say why a file or a folder cannot be opened or read."""
    name = shown(path)
    if isinstance(error, FileNotFoundError):
        return DataError(name, Message("missing", "there is no such {expected}", expected=kind), "check the path")
    if isinstance(error, NotADirectoryError) and kind == "folder":
        refuse_endless(name)
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
