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
        """Check a pattern and make it ready.

        Parameters
        ----------
        text : str
            ``*`` stands for the image's name, sub-folders included, and must appear once. ``#`` stands for the tag of
            an annotator or a scale, which holds no slash, and may appear once where `tagged`. A known extension at the
            end takes files of that extension only. All else stands for itself.
        option : str
            The flag, for errors, which name the argument in Python, too.
        tagged : bool
            Whether ``#`` is allowed.

        Returns
        -------
        Pattern
            Ready to match.

        Raises
        ------
        ArgumentError
            For a pattern that breaks these rules.

        Examples
        --------
        >>> Pattern.parse("*_manual1", "--gt-pattern", tagged=True).match("test/01_manual1", ".gif")
        ('test/01', '')
        >>> Pattern.parse("*.#", "--gt-pattern", tagged=True).match("4680_left_0170.6", ".png")
        ('4680_left_0170', '6')
        >>> Pattern.parse("#/*.png", "--gt-pattern", tagged=True).match("first/street/7", ".png")
        ('street/7', 'first')
        """
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
        """Give an image's name and tag, or None where the file does not fit.

        Parameters
        ----------
        stem : str
            The path within the folder, posix, without extension.
        extension : str
            In lower case.
        """
        if self.extension and extension != self.extension:
            return None
        found = self.regex.fullmatch(stem)
        if found is None:
            return None
        return found["name"], found["tag"] if self.tagged else ""


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Give a sort key under which numbers count as numbers.

    Examples
    --------
    >>> sorted(["a10", "a9", "b1"], key=natural)
    ['a9', 'a10', 'b1']
    """
    return tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in DIGITS.split(text) if part)
