"""Headers whose data lie in a second file, as those of ``.mhd`` and ``.nhdr``: both are read as one.

The file has to lie in the folder of its header, or below it, where a link does not lead out of it either.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders import metaimage, nrrd
from segbench.loaders.endings import extension_of
from segbench.loaders.source import WRITE_AGAIN, Source, shown
from segbench.loaders.volumes import Stored

_BEYOND = 2**16
"""Bytes by which a data file may be larger than what its header announces: data that cannot be packed grow a little."""
_AS_ONE = "save header and data as one file (.mha, .nrrd or .nii.gz)"


class _HeaderFormat(NamedTuple):
    """How headers of a format name a data file."""

    data_file: Callable[[bytes], str]
    with_data: Callable[[bytes, bytes], bytes]
    stored: Callable[[bytes, str], Stored]
    longest: int


_OF_METAIMAGE = _HeaderFormat(metaimage.data_file, metaimage.with_data, metaimage.stored_behind, metaimage.LONGEST)
_OF_NRRD = _HeaderFormat(nrrd.data_file, nrrd.with_data, nrrd.stored_behind, nrrd.LONGEST)
_HEADERS = {".mha": _OF_METAIMAGE, ".mhd": _OF_METAIMAGE, ".nrrd": _OF_NRRD, ".seg.nrrd": _OF_NRRD, ".nhdr": _OF_NRRD}


def may_be_detached(source: Source) -> bool:
    """Return whether the data of a file may lie in another one."""
    return extension_of(source.name) in _HEADERS


def with_data_file(source: Source, content: bytes) -> bytes:
    """Return the content of a file with its data behind it, where they lie in another one."""
    headers = _HEADERS.get(extension_of(source.name))
    if headers is None:
        return content
    try:
        name = headers.data_file(content[: headers.longest])
        most = headers.stored(content, shown(source)).size * 65 // 64 + _BEYOND if name else 0
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
