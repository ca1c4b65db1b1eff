"""The extension of a file by its name: the last one, or both of names such as ``case.nii.gz``."""

from __future__ import annotations

import sys

DOUBLE = {".gz": (".nii.gz",), ".nrrd": (".seg.nrrd",)}
"""Extensions of two parts, by their last one; other files that end in these have one extension."""


def split_suffix(name: str) -> tuple[str, str]:
    """Part a path from its extension; a name that is only dot and letters has none."""
    stem, dot, extension = name.rpartition(".")
    if not stem or stem.endswith("/") or "/" in extension:
        return name, ""
    last = dot + extension
    for double in DOUBLE.get(last.lower(), ()):
        inner = stem[: len(name) - len(double)]
        if name.lower().endswith(double) and inner and not inner.endswith("/"):
            return inner, sys.intern(name[len(inner) :])
    return stem, sys.intern(last)  # one text for all files


def split_extension(name: str) -> tuple[str, str]:
    """Part a path from its extension, which is given in lower case."""
    stem, suffix = split_suffix(name)
    return stem, suffix.lower()


def extension_of(name: str) -> str:
    """Return the extension of a file name, in lower case."""
    return split_extension(name)[1]
