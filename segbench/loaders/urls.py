"""Places named by a string: which are URLs, what they are called, and what of them may be shown."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:::[A-Za-z][A-Za-z0-9+.-]+)*://")
_USER = re.compile(r"(?<=://)[^/?#\s'\"]*@")
_QUERY = re.compile(r"(://[^\s?#'\"]*)[?#][^\s'\")]*")


def is_url(place: str) -> bool:
    """Whether a place is a URL (``s3://bucket/gt``, or ``zip://::https://host/gt.zip``), not a path.

    Examples
    --------
    >>> is_url("s3://bucket/gt"), is_url("C:/gt"), is_url("name=https://host/gt")
    (True, False, False)
    """
    return bool(_SCHEME.match(place))


def masked(text: str) -> str:
    """Hide user, password, query and fragment of every URL in a text: they may be keys to it.

    Examples
    --------
    >>> masked("https://me:secret@host/gt?sig=123 is not there")
    'https://***@host/gt?*** is not there'
    """
    return _QUERY.sub(r"\1?***", _USER.sub("***@", text))


def url_path(url: str) -> str:
    """Give the path of a URL, of a chain that of its last part, without query.

    Examples
    --------
    >>> url_path("zip://::https://host/a/pred%201.zip?sig=123")
    'host/a/pred 1.zip'
    """
    return unquote(re.split(r"[?#]", url.rpartition("://")[2], maxsplit=1)[0])


def last_name(place: str) -> str:
    """Give the last part of a path or URL.

    Examples
    --------
    >>> last_name("s3://bucket/models/hed/"), last_name("/data/hed.tar.gz")
    ('hed', 'hed.tar.gz')
    """
    return url_path(place).rstrip("/").rpartition("/")[2] if is_url(place) else Path(place).absolute().name
