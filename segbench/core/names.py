"""Names from files written as text that nothing reads as markup."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

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
}
_SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
_COMMANDS = {
    **dict(zip("αβγδεζηθικλμνξπρστυφχψω", [*_SMALL.split(), "omega"], strict=True)),
    **dict(zip("ΓΔΘΛΞΠΣΦΨΩ", _CAPITAL.split(), strict=True)),
    **dict(zip("≤≥≠∞", ("leq", "geq", "neq", "infty"), strict=True)),
}
_LATEX |= {letter: rf"$\{command}$" for letter, command in _COMMANDS.items()}
_LATEX |= {letter: f"$^{digit}$" for digit, letter in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_LATEX |= {letter: f"$_{digit}$" for digit, letter in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_LATEX |= {"\u2212": "$-$", "±": r"$\pm$"}
_PDFLATEX = re.compile(r"(?![«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ])[\x00-\u017e\u2010-\u2015\u2018\u2019\u201c\u201d†‡•…‰€™←-↓]")
"""Letters that pdfLaTeX prints in the fonts that it has by itself."""
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]|#~$!])")
PART = re.compile(r"[^_/\-\s]+[_/\-\s]*|[_/\-\s]+")
"""A part of a name, with the separators behind it."""
_FEW = 4
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class MethodRun(NamedTuple):
    """The name of a method, and that of one of its runs (trainings or folds); empty where it has none."""

    method: str
    run: str = ""

    def __str__(self) -> str:
        return f"{self.method}@{self.run}" if self.run else self.method


def latex_name(text: str) -> str:
    r"""Write a name so that LaTeX prints it as it is."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in one_line(unicodedata.normalize("NFC", text)))
    # At the start of a row these two would be read as arguments of the row end before it.
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped.startswith(("[", "*")) else escaped


def unknown_to_pdflatex(text: str) -> str:
    r"""Return the letters of LaTeX text that only LuaLaTeX and XeLaTeX print, each once."""
    return "".join(sorted(letter for letter in set(text) if not _PDFLATEX.match(letter)))


def markdown_name(text: str) -> str:
    r"""Write a name so that Markdown prints it as it is, in a cell of a table too."""
    escaped = _MARKDOWN_SPECIAL.sub(r"\\\1", one_line(text).replace("&", "&amp;"))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def first_names(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Write names one after another, of many the first and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"


def few_names(methods: Sequence[str], total: int) -> str:
    """Name methods; of many the first few, or that they are all."""
    return f"all {total} methods" if _FEW < len(methods) == total else first_names(methods, _FEW)


def shortened(names: Sequence[str], longest: int) -> list[str]:
    """Write names without control characters, long ones without a stretch that others share; they stay different."""
    clean = [one_line(name) for name in names]
    shared = Counter(part for name in set(clean) for part in set(PART.findall(name)))
    while True:
        short = [_without_a_stretch(name, longest, shared) for name in clean]
        if len(set(short)) == len(set(clean)) or longest > max(map(len, clean)):
            return short
        longest += 8


def _without_a_stretch(name: str, longest: int, shared: Counter[str]) -> str:
    """Leave out the parts that most other names have, between the first and the last; else letters of the middle."""
    if len(name) <= longest:
        return name
    parts = PART.findall(name)
    choices = [
        (sum(len(part) / shared[part] for part in parts[start:end]), abs(start + end - len(parts)), start, end)
        for start in range(1, len(parts))
        for end in range(start + 1, len(parts))
        if len(name) - sum(map(len, parts[start:end])) < longest
    ]
    if choices:
        *_, start, end = min(choices)
        return f"{''.join(parts[:start])}…{''.join(parts[end:])}"
    half = longest // 2
    return f"{name[:half].rstrip()}…{name[-half:].lstrip()}"


def one_line(text: str) -> str:
    r"""Replace line ends and other control characters by spaces."""
    return _UNPRINTABLE.sub(" ", text)
