"""Patterns that say which part of a file's name is the image's name and which the annotator's tag."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from segbench.core.errors import ArgumentError
from segbench.loaders.images import EXTENSIONS

DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Pattern:
    """A pattern made ready for matching; make it with `Pattern.parse`.

    Parameters
    ----------
    text : str
        As the user wrote it.
    regex : re.Pattern
        Matches a path within the folder, posix, without extension; its groups are ``name`` and perhaps ``tag``.
    extension : str
        The one extension to take, in lower case; empty for every known one.
    """

    text: str
    regex: re.Pattern[str]
    extension: str = ""

    @classmethod
    def parse(cls, text: str, option: str, *, tagged: bool) -> Pattern:
        """Check a pattern and make it ready."""
        given = f"{option} {text!r} ({option.removeprefix('--').replace('-', '_')}={text!r})"
        if text.count("*") != 1:
            raise ArgumentError(f"{given} has {text.count('*')} *, expected one, in place of the image's name")
        if text.count("#") > (1 if tagged else 0):
            expected = (
                "at most one, in place of an annotator's or a scale's tag"
                if tagged
                else "none: there is one mask an image"
            )
            raise ArgumentError(f"{given} has {text.count('#')} #, expected {expected}")
        extension = next((e for e in EXTENSIONS if text.lower().endswith(e)), "")
        body = text[: len(text) - len(extension)].replace(os.sep, "/").removeprefix("./")
        if "*" not in body:
            raise ArgumentError(f"{given} has no * before its extension, expected one")
        groups = {"*": "(?P<name>.+)", "#": "(?P<tag>[^/]+?)"}
        regex = "".join(groups.get(c) or re.escape(c) for c in body)
        return cls(text, re.compile(regex, re.DOTALL), extension)

    @property
    def tagged(self) -> bool:
        """Whether files bear an annotator's tag."""
        return "tag" in self.regex.groupindex

    def match(self, stem: str, extension: str) -> tuple[str, str] | None:
        """Give an image's name and tag, or None where the file does not fit."""
        if self.extension and extension != self.extension:
            return None
        found = self.regex.fullmatch(stem)
        if found is None:
            return None
        return found["name"], found["tag"] if self.tagged else ""


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Give a sort key under which numbers count as numbers."""
    return tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in DIGITS.split(text) if part)
