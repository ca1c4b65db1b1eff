"""A signature on every number, in sacrebleu's manner: what it takes to get the same number again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from segbench._version import __version__


def data_digest(ground_truth_digests: Mapping[str, str]) -> str:
    """Name a set of ground truths by eight hex digits of its content: names and bytes, in sorted order.

    Parameters
    ----------
    ground_truth_digests : mapping of image name to str
        Hex digest of each image's ground truth (and field of view).

    Examples
    --------
    >>> data_digest({"a": "00", "b": "ff"}) == data_digest({"b": "ff", "a": "00"})
    True
    """
    digest = hashlib.sha256()
    for name, content in sorted(ground_truth_digests.items()):
        digest.update(f"{name!r} {content}\n".encode())
    return digest.hexdigest()[:8]


def signature(
    protocol: str, fields: Mapping[str, str], ground_truth_digests: Mapping[str, str], *, images: str = ""
) -> str:
    """Write a signature; `images` says their number where there is not one digest for each.

    Examples
    --------
    >>> signature("pixels", {"positive": "255"}, {"a": "00"})
    'protocol:pixels|positive:255|images:1|data:3c092e1a|segbench:...'
    """
    parts = {
        "protocol": protocol,
        **fields,
        "images": images or str(len(ground_truth_digests)),
        "data": data_digest(ground_truth_digests),
        "segbench": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())
