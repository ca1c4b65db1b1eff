"""Output files: complete or not written at all, and never in place of a file that segbench did not write.

A file is segbench's own if its content says so: PNG, PDF, SVG, HTML and scripts of shells have a place for that.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segbench.aggregator.store import is_results_file, writable
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message
from segbench.core.numbers import many
from segbench.core.temporary import remove_left_behind, temporary_file
from segbench.loaders.source import LocalFile, Source, shown

if TYPE_CHECKING:
    from PIL import Image

_WRITTEN_BY_SEGBENCH: Mapping[bytes, bytes] = {
    b"\x89PNG": b"tEXtSoftware\0segbench",
    b"%PDF-": b"/Creator (segbench)",
    b"<?xml": b"<dc:title>segbench</dc:title>",
    b"<!doctype html>": b'<meta name="generator" content="segbench ',
    b"<!-- Written by scripts/benchmarks/": b"",
    b"_segbench_completion() {": b"",
    b"#compdef segbench": b"",
    b"Facts for the caption, by segbench figure": b"",
    b"% Written by segbench figure": b"",
    b"function _segbench_completion;": b"",
}
"""How files begin that segbench writes, and what they hold further on."""

_NOT_REPLACEABLE = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY})
"""Errors of a folder, or a mounted file, that lets a file be written but not replaced."""


def write_file(path: Path, data: bytes, *, hint: str, make_folder: bool = False) -> None:
    """Write a file by way of a temporary one beside it, so that a failure leaves an existing file as it was.

    Links still point to the same file, which keeps its permissions. Pipes and devices are written directly, and so are
    files in folders that do not take a temporary one.
    """
    _refuse_foreign({path: data}, hint)
    try:
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, data)
    except UnicodeEncodeError as error:
        problem = Message(
            "unknown-letters", "the file system's encoding, {encoding}, has no such name", encoding=error.encoding
        )
        raise DataError(shown(path), problem, "set a UTF-8 locale: LC_ALL=C.UTF-8") from error
    except OSError as error:
        problem = Message("unwritable", "cannot be written ({reason})", reason=str(error.strerror or error))
        raise DataError(shown(path), problem, hint) from error


def signed_png(image: Image.Image, description: str = "", **options: Any) -> bytes:  # noqa: ANN401  as Pillow takes them
    """Encode a picture as a PNG that says that segbench wrote it."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Software", "segbench")
    if description:
        info.add_text("Description", description)
    file = io.BytesIO()
    image.save(file, "PNG", pnginfo=info, **options)
    return file.getvalue()


def refuse_foreign(files: Mapping[Path, bytes | None], hint: str) -> None:
    """Refuse, before any of the files is written, to write over one that segbench did not write.

    Files without a place for such a mark are given with their content: one that is the same already may be written.
    What killed processes left in the folders is removed.
    """
    for folder in {path.parent for path in files}:
        remove_left_behind(folder)
    _refuse_foreign(files, hint)


def _refuse_foreign(files: Mapping[Path, bytes | None], hint: str) -> None:
    for path in files:
        if is_results_file(path):
            raise ArgumentError(
                Message(
                    "results-file",
                    "{path} is a results file of segbench, which is not overwritten; {hint}",
                    path=shown(path),
                    hint=hint,
                )
            )
    foreign = [path for path, content in files.items() if not _is_replaceable(path, content)]
    if foreign:
        others = f" (as in {many(len(foreign) - 1, 'other file')})" if len(foreign) > 1 else ""
        raise ArgumentError(
            Message(
                "foreign",
                "{path} exists, and nothing in it says that segbench wrote it{others}, so nothing was written; {hint}",
                path=shown(foreign[0]),
                others=others,
                files=len(foreign),
                hint=hint,
            )
        )


def _is_replaceable(path: Path, content: bytes | None) -> bool:
    """Return whether nothing is lost if a path is written to: a new file, an empty one, a device, one of segbench."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return not stat.S_ISDIR(status.st_mode)
        written = path.read_bytes() if status.st_size else b""
    except FileNotFoundError:
        return True
    except (OSError, ValueError):  # writing will say why, or fails if it may be written but not read
        return not os.path.lexists(path)
    signed = any(written.startswith(head) and mark in written for head, mark in _WRITTEN_BY_SEGBENCH.items())
    return signed or written in (b"", content)


def refuse_place(path: Path) -> None:
    """Refuse, before the work is done, to write where no file can be made, or over one that others wrote."""
    refuse_foreign({path: None}, "name another file")
    if not path.parent.is_dir():
        problem = Message("no-folder", "its folder does not exist")
        raise DataError(shown(path), problem, "make the folder first, or give another file name")
    if not path.exists() and not writable(path.parent):
        problem = Message("unwritable", "may not be made in its folder")
        raise DataError(shown(path), problem, "check permissions, or give another file name")


def refuse_inputs(targets: Iterable[Path], sources: Iterable[Source]) -> None:
    """Refuse to write over files that are read, also by another path or where upper and lower case are one."""
    identities = {target: identity_of(target) for target in targets}
    existing = {target: identity for target, identity in identities.items() if identity}
    read = {identity_of(source) for source in sources if isinstance(source, LocalFile)} if existing else set()
    for target, identity in existing.items():
        if identity in read:
            raise ArgumentError(
                Message("input-file", "{path} is one of the files to read; write to another folder", path=shown(target))
            )


def identity_of(path: str | Path) -> tuple[int, int] | None:
    """Say which file a path leads to, however it is spelt; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  a str for each of many thousands
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    old_status = None
    with suppress(FileNotFoundError):
        old_status = path.stat()
    if old_status is None:
        _replace(target, data, None)
        return
    # A deleted file that is still open, as in /dev/fd, is not where its resolved path leads.
    replaceable = stat.S_ISREG(old_status.st_mode) and identity_of(target) == (old_status.st_dev, old_status.st_ino)
    if replaceable:
        target.open("r+b").close()  # a write-protected file is not replaced either
        try:
            _replace(target, data, old_status)
        except OSError as error:
            replaceable = error.errno not in _NOT_REPLACEABLE
            if replaceable:
                raise
    if not replaceable:
        path.write_bytes(data)


def _replace(target: Path, data: bytes, old_status: os.stat_result | None) -> None:
    with temporary_file(target.parent) as file:
        temporary = Path(file.name)
        file.write(data)
        file.flush()
        if old_status is not None:
            if hasattr(os, "chown"):
                with suppress(OSError):  # only root may give a file to others
                    os.chown(temporary, old_status.st_uid, old_status.st_gid)
            temporary.chmod(stat.S_IMODE(old_status.st_mode))
        if os.name == "nt":  # where open files cannot be moved
            file.close()
        temporary.replace(target)
