"""Places named by a string: which are URLs, what they are called, and what of them may be shown."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:::[A-Za-z][A-Za-z0-9+.-]+)*://")
_USER = re.compile(r"(?<=://)[^/?#\s'\"]*@")
_QUERY = re.compile(r"(://[^\s?#'\"]*)[?#][^\s'\")]*")


def is_url(place: str) -> bool:
    """Whether a place is a URL (``s3://bucket/gt``, or ``zip://::https://host/gt.zip``), not a path."""
    return bool(_SCHEME.match(place))


def masked(text: str) -> str:
    """Hide user, password, query and fragment of every URL in a text: they may be keys to it."""
    return _QUERY.sub(r"\1?***", _USER.sub("***@", text))


def url_path(url: str) -> str:
    """Give the path of a URL, of a chain that of its last part, without query."""
    return unquote(re.split(r"[?#]", url.rpartition("://")[2], maxsplit=1)[0])


def last_name(place: str) -> str:
    """Give the last part of a path or URL."""
    return url_path(place).rstrip("/").rpartition("/")[2] if is_url(place) else Path(place).absolute().name
