"""Files at URLs, through fsspec: ``s3://``, ``gs://``, ``https://`` where the server lists its folders, and others.

fsspec keeps its file systems apart by process, and repeats failed requests as each protocol's package does (s3fs and
gcsfs do, HTTP does not); nothing is repeated here. Users, passwords and queries of URLs are shown to nobody.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from typing import Any
from urllib.parse import unquote

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import format_setting
from segbench.loaders.decoded import shown
from segbench.loaders.source import (
    Entries,
    Listing,
    inner_name,
    listing_of,
    masked,
    split_extension,
    split_suffix,
    url_path,
)


@dataclass(frozen=True)
class Remote:
    """A file at a URL, or with its path `inside` the folder at a URL, which the file system calls `path`."""

    url: str = field(repr=False)
    inside: str = ""
    path: str = field(default="", repr=False)

    def __str__(self) -> str:
        return masked(self.url).rstrip("/") + (f"/{self.inside}" if self.inside else "")

    @property
    def name(self) -> str:
        """The last part of its path."""
        return (self.inside or url_path(self.url)).rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """Its extension, in lower case."""
        return split_extension(self.name)[1]

    def read_bytes(self) -> bytes:
        """Give its content, in one request."""
        files, path = _file_system(self.url, os.getpid())
        try:
            data: bytes = files.cat_file(self.path or path)
        except FileNotFoundError:
            raise DataError(shown(self), "there is no such file", "check the URL") from None
        except Exception as error:  # noqa: BLE001  each protocol has errors of its own
            raise DataError(
                shown(self), f"cannot be read ({_reason(error)})", "check the network and permissions"
            ) from None
        return data


def list_url(url: str) -> Listing:
    """List all that lies under a URL, sub-folders included."""
    name = shown(masked(url))
    files, root = _file_system(url, os.getpid())
    try:
        found = list(_walk(files, root))
    except FileNotFoundError:
        raise DataError(name, "there is no such folder", "check the URL") from None
    except Exception as error:  # noqa: BLE001  each protocol has errors of its own
        raise DataError(name, f"cannot be listed ({_reason(error)})", "check the network and permissions") from None
    if not found:
        hint = (
            f"check the URL; a web server must show its folders, or give a list of the files: {format_setting('pairs')}"
        )
        raise DataError(name, "lists no file", hint)
    entries = Entries(lambda inside, k: Remote(url, inside, found[k][1]), 1)
    for k, (inside, _) in enumerate(found):
        entries.add(*split_suffix(inside), k)
    return listing_of(name, entries, Counter())


def _walk(files: Any, root: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401  fsspec is untyped
    """Give every file's path in the folder and on the server, and let no sub-folder that fails go missing."""
    web = root.startswith(("http://", "https://"))
    start = root.rstrip("/")
    for _, _, infos in files.walk(root, on_error="raise", detail=True):
        for info in infos.values():
            path: str = info["name"]
            inside = path.removeprefix(start)
            if web and "?" in inside:
                continue  # the links by which a server sorts its listing
            named = inner_name(unquote(inside) if web else inside)
            if named is not None:
                yield named, path


@lru_cache(maxsize=64)
def _file_system(url: str, process: int) -> tuple[Any, str]:  # noqa: ARG001  a fork must not share its parent's
    """Give fsspec's file system of a URL, and the path there."""
    name = shown(masked(url))
    try:
        from fsspec.core import get_filesystem_class, url_to_fs
    except ImportError:
        raise ArgumentError(f"{name} is a URL, which needs fsspec: pip install 'segbench[remote]'") from None
    try:
        for link in url.split("::"):
            _require_host(get_filesystem_class(link.partition("://")[0]), link)
    except ImportError as error:
        raise ArgumentError(f"{name} needs another package: {error}") from None
    except ValueError as error:
        raise ArgumentError(f"{name} cannot be used: {_reason(error)}") from None
    try:
        files, path = url_to_fs(url)
    except Exception as error:  # noqa: BLE001  a chain opens its archive here
        raise DataError(
            name, f"cannot be opened ({_reason(error)})", "check the URL, network and permissions"
        ) from None
    return files, path


def _require_host(system: Any, link: str) -> None:  # noqa: ANN401  as above
    """Refuse a URL without the host that its file system needs, for which fsspec would print a traceback."""
    host = signature(system.__init__).parameters.get("host")
    if host and host.default is host.empty and not system._get_kwargs_from_urls(link).get("host"):  # noqa: SLF001
        raise ValueError("it names no host, expected as in ftp://host/folder")


def _reason(error: Exception) -> str:
    return shown(masked(" ".join(str(error).split()))) or type(error).__name__
