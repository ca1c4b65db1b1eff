"""A signature on every number, in sacrebleu's manner: what it takes to get the same number again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from segbench._version import __version__

SELECTION = ("subset", "missing", "partial")
"""Fields that say which part of a set was counted; images and their digest say which images these are."""

_VERSION = "|segbench:"


def without_selection(fields: Mapping[str, str], *names: str) -> dict[str, str]:
    """Give fields without those that say which part of a set was counted; by default all of `SELECTION`."""
    return {key: value for key, value in fields.items() if key not in (names or SELECTION)}


def data_digest(ground_truth_digests: Mapping[str, str]) -> str:
    """Name a set of ground truths by eight hex digits of its content: names and bytes, in sorted order."""
    digest = hashlib.sha256()
    for name in sorted(ground_truth_digests):
        digest.update(f"{name!r} {ground_truth_digests[name]}\n".encode())
    return digest.hexdigest()[:8]


def signature(
    protocol: str, fields: Mapping[str, str], ground_truth_digests: Mapping[str, str], *, images: str = ""
) -> str:
    """Write a signature; `images` says their number where there is not one digest for each."""
    parts = {
        "protocol": protocol,
        **fields,
        "images": images or str(len(ground_truth_digests)),
        "data": data_digest(ground_truth_digests),
        "segbench": __version__,
    }
    return _written(parts)


def resigned(whole: str, protocol: str, fields: Mapping[str, str]) -> str:
    """Write the signature of what was drawn from the same counts by another protocol's rules."""
    known = parts_of(whole)
    kept: dict[str, str] = {key: known[key] for key in ("images", "data", "segbench") if key in known}
    return _written({"protocol": protocol, **fields, **kept})


def parts_of(whole: str) -> dict[str, str]:
    """Take a signature apart."""
    return dict(part.split(":", 1) for part in whole.split("|"))


def version_of(whole: str) -> str:
    """Give the version of segbench that counted, which a signature ends with."""
    return whole.rpartition(_VERSION)[2]


def with_version(whole: str, version: str) -> str:
    """Give a signature with another version of segbench."""
    return whole.rpartition(_VERSION)[0] + _VERSION + version


def _written(parts: Mapping[str, str]) -> str:
    return "|".join(f"{name}:{value}" for name, value in parts.items())
