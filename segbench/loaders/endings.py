"""The extension of a file by its name: the last one, or both of names such as ``case.nii.gz``."""

from __future__ import annotations

import posixpath

DOUBLE = {".gz": ".nii.gz", ".nrrd": ".seg.nrrd"}
"""Extensions of two parts, by their last one; other files that end in these have one extension."""


def split_suffix(path: str) -> tuple[str, str]:
    """Part a path from its extension; a name that is only dot and letters has none."""
    stem, suffix = posixpath.splitext(path)
    double = DOUBLE.get(suffix.lower())
    if double:
        inner, first = posixpath.splitext(stem)
        if (first + suffix).lower() == double:
            return inner, first + suffix
    return stem, suffix


def extension_of(path: str) -> str:
    """Return the extension of a path, in lower case."""
    return split_suffix(path)[1].lower()
