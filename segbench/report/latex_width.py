r"""Widths of LaTeX text at ``\footnotesize`` of a document of 10 points, as measured with pdfTeX.

Letters are as wide as in the wider of Computer Modern and of Latin Modern in the T1 encoding; Times is narrower.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

EM = 8.5
"""The unit em there, in points."""
_SIZE = 8.0
_BOLD = 1.16
_SCRIPT = 0.9
"""Of letters of subscripts and superscripts, which are wider for their size."""
_AROUND_ARROW = 2.4
_TURNED = 8.5
_OTHER = 1.0
"""Of letters that are not listed, such as Chinese ones."""
_OF_LETTERS: Mapping[int, str] = {
    295: "il!',.:;[]`|",
    325: "fj",
    354: " -",
    383: "I",
    413: "t()r",
    419: "s",
    472: "cez",
    502: "?",
    531: '0123456789ago"$*/\\{}†',
    556: "^~",
    561: "kqvxy",
    590: "bdhnpuSJ",
    649: "ZL",
    693: "F",
    723: "EP",
    752: "B",
    767: "wCT",
    782: "R",
    796: "AHNUVXY_",
    826: "DK&+<=>@OQ±\u2212",
    834: "G",
    885: "m#%",
    973: "M",
    1091: "W",
}
_WIDTHS = {letter: width / 1000 for width, letters in _OF_LETTERS.items() for letter in letters}
_NO_WIDTH = re.compile(r"\\rlap\{\\textsuperscript\{[^{}]*\}\}")
_STACK = re.compile(r"\\shortstack(?:\[l\])?\{(.*)\}")
_STYLED = re.compile(r"\\(textbf|underline)\{(.*)\}")
_TOKEN = re.compile(r"\$(.*?)\$|\\([A-Za-z]+)(?:\{\})?|\\(.)|([{}])|(.)")
_COMMANDS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
}
_SYMBOLS: Mapping[str, float] = {"uparrow": EM / 2, "downarrow": EM / 2, "pm": 0.826 * _SIZE}
_SYMBOL = re.compile(r"\\([A-Za-z]+)|([^\\{}\s])")
_SCRIPTS = re.compile(r"[_^](?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\[A-Za-z]+|.))")


def latex_width(text: str) -> float:
    """Return the width of a cell in points; of several lines that of the widest."""
    text = _NO_WIDTH.sub("", text)
    if text.startswith(r"\rotatebox"):
        return _TURNED
    stack = _STACK.fullmatch(text)
    if stack:
        return max(map(latex_width, stack[1].split(r"\\")))
    styled = _STYLED.fullmatch(text)
    if styled:
        return latex_width(styled[2]) * (_BOLD if styled[1] == "textbf" else 1.0)
    total = 0.0
    for formula, command, escaped, brace, letter in _TOKEN.findall(text):
        if formula:
            total += _width_of_formula(formula)
        elif not brace:
            total += _width_of_letters(_COMMANDS.get(command, command) or escaped or letter)
    return total


def _width_of_letters(letters: str) -> float:
    return _SIZE * sum(_WIDTHS.get(letter, _OTHER) for letter in letters)


def _width_of_formula(formula: str) -> float:
    """Return the width of symbols with scripts, of which those below and above others lie at the same place."""
    scripts = [_SCRIPT * _width_of_symbols(group or single) for group, single in _SCRIPTS.findall(formula)]
    base = _SCRIPTS.sub("", formula)
    has_relation = "arrow" in base and len(_SYMBOL.findall(base)) > 1
    return (
        _width_of_symbols(base)
        + max(scripts, default=0.0)
        + (1.2 if scripts else 0.0)
        + (_AROUND_ARROW if has_relation else 0.0)
    )


def _width_of_symbols(formula: str) -> float:
    """Return the width of symbols beside each other, Greek letters as wide as an x."""
    names = {"max": "max", "mathrm": "", "mathcal": ""}
    return sum(
        _SYMBOLS.get(name) or _width_of_letters(names.get(name, "x") if name else letter.replace("-", "\u2212"))
        for name, letter in _SYMBOL.findall(formula)
    )
