"""Headers whose data lie in a second file, as those of ``.mhd`` and ``.nhdr``: both are read as one.

The file has to lie in the folder of its header, or below it, where a link does not lead out of it either.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders import metaimage, nrrd
from segbench.loaders.source import (
    CUT,
    METAIMAGE,
    NRRD,
    WRITE_AGAIN,
    LocalFile,
    Source,
    extension_of,
    read_bytes,
    shown,
)
from segbench.loaders.volumes import MAX_BYTES_OF_VOLUMES

_BEYOND = 2**16
"""Bytes by which a data file may be larger than what its header announces: data that cannot be packed grow a little."""
_AS_ONE = "save header and data as one file (.mha, .nrrd or .nii.gz)"


_HEADERS = dict.fromkeys(METAIMAGE, metaimage.HEADER) | dict.fromkeys(NRRD, nrrd.HEADER)


def may_be_detached(source: Source) -> bool:
    """Return whether the data of a file may lie in another one."""
    return extension_of(source.name) in _HEADERS


def read_volume(path: Source) -> bytes:
    """Read a file of a volume, with its data where these lie in another one."""
    if isinstance(path, LocalFile):
        _refuse_larger(path)
    return _with_data_file(path, read_bytes(path))


def _refuse_larger(path: LocalFile) -> None:
    """Refuse a file that is larger than any volume that is decoded, before it is read."""
    with suppress(OSError, ValueError):  # which reading it says
        size = os.stat(path).st_size  # noqa: PTH116  a str is enough
        if size > MAX_BYTES_OF_VOLUMES:
            problem = Message("too-large", "has {found} bytes, more than {most}", found=size, most=MAX_BYTES_OF_VOLUMES)
            raise DataError(shown(path), problem, CUT)


def _with_data_file(source: Source, content: bytes) -> bytes:
    """Return the content of a file with its data behind it, where they lie in another one."""
    headers = _HEADERS.get(extension_of(source.name))
    if headers is None:
        return content
    try:
        fields = headers.fields_alone(content[: headers.longest])
        name = headers.data_file(fields)
        most = headers.stored(fields, shown(source)).size * 65 // 64 + _BEYOND if name else 0
    except ValueError:  # which decoding says
        return content
    return headers.with_data(content, _read(source, name, most)) if name else content


def _read(source: Source, name: str, most: int) -> bytes:
    """Read a data file of at most so many bytes beside its header."""
    header = shown(source)
    if not isinstance(source, (str, os.PathLike)):
        problem = Message("detached", "names {file} as its data, which is not read from archives", file=shown(name))
        raise DataError(header, problem, _AS_ONE)
    folder = os.path.realpath(os.path.dirname(os.path.abspath(source)))  # noqa: PTH100, PTH120  a str is enough
    try:
        path = os.path.realpath(os.path.join(folder, name.replace("\\", os.sep)))  # noqa: PTH118  as above
        inside = os.path.commonpath([folder, path]) == folder and path != folder
    except ValueError:  # another drive, or a name with a null
        inside = False
    if not inside:
        problem = Message(
            "detached", "names {file} as its data, which lies outside the folder of the header", file=shown(name)
        )
        raise DataError(header, problem, "put the data beside the header, and correct the name in it")
    try:
        status = os.stat(path)  # noqa: PTH116  as above
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError
        if status.st_size > most:
            problem = Message(
                "other-length",
                "header and data disagree: the header announces at most {most} bytes, and {file} has {found}",
                most=most,
                file=shown(name),
                found=status.st_size,
            )
            raise DataError(header, problem, WRITE_AGAIN)
        with open(path, "rb") as file:  # noqa: PTH123  as above
            return file.read(most)
    except OSError:
        problem = Message("detached", "names {file} as its data, and there is no such file", file=shown(name))
        raise DataError(header, problem, _AS_ONE) from None
