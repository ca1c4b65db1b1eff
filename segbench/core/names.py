"""Names from files written as text that nothing reads as markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
}
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]|#~$!])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def latex_name(text: str) -> str:
    r"""Write a name so that LaTeX prints it as it is."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in one_line(text))
    # At the start of a row these two would be read as arguments of the row end before it.
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped.startswith(("[", "*")) else escaped


def markdown_name(text: str) -> str:
    r"""Write a name so that Markdown prints it as it is, in a cell of a table too."""
    escaped = _MARKDOWN_SPECIAL.sub(r"\\\1", one_line(text).replace("&", "&amp;"))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def first_names(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Write names one after another, of many the first and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"


def one_line(text: str) -> str:
    r"""Put a space for line ends and other control characters."""
    return _UNPRINTABLE.sub(" ", text)
