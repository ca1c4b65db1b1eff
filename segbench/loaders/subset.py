"""Which images of a set a run takes: names and shell patterns, given in a sequence or in a text file.

What begins with ``!`` leaves images out: of those that the others choose, or of all if there are no others.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from os import PathLike, fspath

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import named, setting
from segbench.loaders.decoded import shown
from segbench.loaders.listing import read_text
from segbench.loaders.urls import masked

Images = Iterable[str] | str | PathLike[str] | None


def as_images(given: Images) -> tuple[str, ...]:
    """Read names and patterns from a sequence, or from the lines of a text file without those that begin with ``#``."""
    if given is None:
        return ()
    if isinstance(given, (str, PathLike)):
        return _read(fspath(given))
    names = tuple(given)
    wrong = next((name for name in names if not (name and isinstance(name, str))), None)
    if not names or wrong is not None:
        found = "is empty" if not names else f"holds {wrong!r}"
        example = setting("coins,c*", "['coins', 'c*'], or None")
        raise ArgumentError(f"{named('images')} {found}, expected names or patterns of images, as in {example}")
    return names


def _read(place: str) -> tuple[str, ...]:
    try:
        text = read_text(place, "a text file of image names")
    except DataError as error:
        example = setting("--images 'coins,c*'", "images=['coins', 'c*']")
        hint = f"{named('images')} is a text file of names, or several names: {example}"
        raise DataError(error.path, error.what, hint) from None
    lines = [line.strip() for line in text.splitlines()]
    names = tuple(line for line in lines if line and not line.startswith("#"))
    if not names:
        raise DataError(
            shown(masked(place)), "names no image", "write one name or pattern per line; lines with # are comments"
        )
    return names


def select(patterns: Iterable[str], names: Collection[str]) -> tuple[set[str], tuple[str, ...]]:
    """Give the names that are chosen, and the patterns that fit none."""
    given = [shown(unicodedata.normalize("NFC", pattern)) for pattern in dict.fromkeys(patterns)]
    excluding = {pattern for pattern in given if pattern.startswith("!") and pattern not in names}
    fit = {pattern: _fitting(pattern[pattern in excluding :], names) for pattern in given}
    unknown = tuple(pattern for pattern in given if not fit[pattern])
    including = [fit[pattern] for pattern in given if pattern not in excluding] or [set(names)]
    chosen = set[str]().union(*including).difference(*(fit[pattern] for pattern in excluding))
    if not chosen and not unknown:
        chosen_by = setting(f"--images {','.join(given)}", f"images={given}")
        raise ArgumentError(f"{chosen_by} leaves out every image that it chooses")
    return chosen, unknown


def _fitting(pattern: str, names: Collection[str]) -> set[str]:
    """Give the name itself, or all names that fit a pattern."""
    if pattern in names:
        return {pattern}
    return {name for name in names if fnmatchcase(name, pattern)} if any(c in pattern for c in "*?[") else set()
