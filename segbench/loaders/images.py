"""One file to one map, or its header: which format reads it, and one kind of error whatever is wrong with it.

Nothing is rescaled, clipped or resized here, and NaN is let through: the protocols check values. A name's extension
says how a file is read, upper or lower case. Any damage ends in a `DataError` that names the file.
"""

from __future__ import annotations

import io
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders import arrays, matlab, metaimage, nifti, nrrd, raster, tiff
from segbench.loaders.decoded import Decoded, Format, Header, Role
from segbench.loaders.detached import may_be_detached, with_data_file
from segbench.loaders.endings import extension_of
from segbench.loaders.other_formats import ending_of, other_format
from segbench.loaders.source import (
    CUT,
    WRITE_AGAIN,
    LocalFile,
    Source,
    empty,
    not_readable,
    read_bytes,
    refuse_endless,
    refuse_pointer,
    shown,
)
from segbench.loaders.volumes import MAX_BYTES_OF_VOLUMES, decode_array

_lock = threading.Lock()
_stack = ExitStack()
_inside = 0


def _drop(_record: logging.LogRecord) -> bool:
    return False


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings, and what tifffile logs, for the block; the first thread in sets filters, the last resets them.

    ``warnings.catch_warnings`` alone leaves its filters behind where threads leave it in another order.
    """
    global _inside  # noqa: PLW0603  the filters are the process's, so the count of their users is too
    with _lock:
        if not _inside:
            _stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            logger = logging.getLogger("tifffile")
            logger.addFilter(_drop)
            _stack.callback(logger.removeFilter, _drop)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _stack.close()


FORMATS: tuple[Format, ...] = (
    *raster.FORMATS,
    tiff.FORMAT,
    matlab.FORMAT,
    replace(arrays.NPY, decode_volume=decode_array),
    replace(arrays.NPZ, decode_volume=decode_array),
    nifti.FORMAT,
    metaimage.FORMAT,
    nrrd.FORMAT,
)
"""Every format that is read; a new one is a module that defines a `Format`, and its line here."""

BY_EXTENSION = {extension: form for form in FORMATS for extension in form.extensions}
EXTENSIONS = tuple(BY_EXTENSION)
"""Every extension that `decode` reads, in lower case."""

STACKS = (*arrays.NPY.extensions, *arrays.NPZ.extensions)
"""Extensions of files that can hold the maps of several classes in one array."""

OF_VOLUMES = frozenset(chain(nifti.FORMAT.extensions, metaimage.FORMAT.extensions, nrrd.FORMAT.extensions))
"""Extensions of files of which a header says that they are volumes."""

_OF_THE_WEB = b"<"
"""What HTML and XML begin with."""


def decode(data: bytes, path: Source, *, role: Role, as_volume: bool = False) -> Decoded:
    """Decode the bytes of one image or array file; what may be a stack is a volume if asked for."""
    extension = extension_of(path.name)
    form = BY_EXTENSION.get(extension)
    if form is None:
        problem = Message(
            "unknown-extension",
            "extension {extension!r}, expected one of {expected: }",
            extension=shown(ending_of(path.name)),
            expected=EXTENSIONS,
        )
        raise DataError(shown(path), problem, other_format([path.name]) or "convert the file")
    name = shown(path)
    refuse_pointer(data, name)
    with _refusing_damage(data, name, extension):
        return (form.decode_volume if as_volume and form.decode_volume else form.decode)(data, name, role)


def decode_stack(data: bytes, path: Source, *, role: Role = "prediction", as_volume: bool = False) -> NDArray[Any]:
    """Decode an NPY or NPZ file that may hold several soft maps in one array."""
    name = shown(path)
    refuse_pointer(data, name)
    with _refusing_damage(data, name, path.suffix.lower()):
        return arrays.decode_stack(data, name, role, as_volume=as_volume)


@contextmanager
def _refusing_damage(data: bytes, name: str, extension: str) -> Iterator[None]:
    """Convert decoder errors to `DataError`."""
    try:
        with quiet():
            yield
    except DataError:
        raise
    except MemoryError:
        raise DataError(name, Message("no-memory", "does not fit into memory"), CUT) from None
    except Exception as error:
        raise _damaged(data, name, extension, error) from error


def _damaged(data: bytes, name: str, extension: str, error: Exception) -> DataError:
    """Say in one sentence why a decoder gave up."""
    expected, own = extension.removeprefix(".").upper(), BY_EXTENSION[extension]
    form = next((form for form in FORMATS if data.startswith(form.magic)), None)
    if form and form is not own:
        problem = Message(
            "other-format", "looks like {found} although its name says {expected}", found=form.name, expected=expected
        )
        return DataError(name, problem, "rename or convert it")
    if not form and data.startswith(_OF_THE_WEB):
        problem = Message(
            "other-format",
            "looks like {found} although its name says {expected}",
            found="HTML or XML",
            expected=expected,
        )
        return DataError(name, problem, "download it again if a server sent a page instead of it, or convert it")
    if own.magic and not form:
        problem = Message(
            "other-format",
            "is not a {expected} file (starts with {start})",
            expected=expected,
            start=repr(data[:8]),
        )
        return DataError(name, problem, WRITE_AGAIN)
    unidentified = type(error).__name__ == "UnidentifiedImageError"  # its text names an address in memory
    reason = "header" if unidentified else shown(" ".join(str(error).split()) or type(error).__name__)
    problem = Message("damaged", "damaged or truncated {expected} file ({reason})", expected=expected, reason=reason)
    return DataError(name, problem, WRITE_AGAIN)


def read_content(path: Source) -> bytes:
    """Read a whole file, with its data where these lie in another one."""
    if isinstance(path, LocalFile) and extension_of(path.name) in OF_VOLUMES:
        _refuse_larger(path, MAX_BYTES_OF_VOLUMES)
    return with_data_file(path, read_bytes(path))


def _refuse_larger(path: LocalFile, most: int) -> None:
    """Refuse a file that is larger than any that is decoded, before it is read."""
    with suppress(OSError, ValueError):  # which reading it says
        found = os.stat(path).st_size  # noqa: PTH116  a str is enough
        if found > most:
            problem = Message("too-large", "has {found} bytes, more than {most}", found=found, most=most)
            raise DataError(shown(path), problem, CUT)


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
