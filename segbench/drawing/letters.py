"""Fonts for letters that the usual fonts lack, as in Chinese names, and outlines where a font cannot be embedded."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRUETYPE = (b"\x00\x01\x00\x00", b"true")
_USUAL_WEIGHTS = (400, "normal", "regular")
_BOXES = "Last Resort"  # Matplotlib's own font, which has a box for every letter
_RIGHT_TO_LEFT = {"R", "AL"}
_SHAPED = (range(0x0900, 0x10A0), range(0x1780, 0x1800))  # Devanagari to Burmese, and Khmer


def letters_without_font(texts: Iterable[str], families: Sequence[str]) -> set[str]:
    """Return the letters that none of the font families has."""
    letters = {letter for text in texts for letter in text if letter.isprintable() and not letter.isspace()}
    for font in map(_font, families):
        letters = {letter for letter in letters if not _has(font, letter)}
    return letters


def fallback_families(letters: set[str]) -> list[str]:
    """Return few installed font families that together have as many of the letters as possible."""
    chosen: list[str] = []
    if not letters:
        return chosen
    fonts = {family: _font(family) for family in sorted(_installed_families(), key=_preference)}
    fonts = {family: font for family, font in fonts.items() if font is not None}
    while letters:
        covered = {family: {letter for letter in letters if _has(font, letter)} for family, font in fonts.items()}
        # Of equals one that can be embedded, then the first.
        best = max(covered, key=lambda family: (len(covered[family]), _can_be_embedded(fonts[family])), default=None)
        if best is None or not covered[best]:
            break
        chosen.append(best)
        letters = letters - covered[best]
    return chosen


def needing_shaping(texts: Iterable[str]) -> list[str]:
    """Return the texts whose letters must be joined or turned, such as Arabic, where Matplotlib cannot do that."""
    from matplotlib import ft2font

    if hasattr(ft2font, "__libraqm_version__"):  # since Matplotlib 3.11
        return []
    return [text for text in texts if any(map(_is_shaped, text))]


def draw_as_outlines(figure: Figure, families: Sequence[str]) -> None:
    """Let texts be drawn as outlines where the font of a letter cannot be embedded in a PDF, as those of OpenType."""
    from matplotlib.patheffects import Normal
    from matplotlib.text import Text

    fonts = [font for font in map(_font, families) if font is not None]
    embedded = {id(font): _can_be_embedded(font) for font in fonts}
    if all(embedded.values()):
        return
    for text in figure.findobj(Text):
        used = (next((font for font in fonts if _has(font, letter)), None) for letter in text.get_text())
        if any(font is not None and not embedded[id(font)] for font in used):
            text.set_path_effects([Normal()])  # which draw a text by its path


def _installed_families() -> set[str]:
    """List upright families of usual weight, also those installed since Matplotlib last looked."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    listed = {font.fname for font in manager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - listed):
        try:
            manager.addfont(path)
        except (OSError, RuntimeError, ValueError, UnicodeError):  # damaged, or of bitmaps alone
            continue
    usual = (font for font in manager.ttflist if font.style == "normal" and font.weight in _USUAL_WEIGHTS)
    return {font.name for font in usual if not font.name.startswith(_BOXES)}


def _preference(family: str) -> tuple[bool, bool, bool, str]:
    """Sort fonts without serifs first, of the regional variants of Chinese letters the simplified ones."""
    return ("Sans" not in family, "Mono" in family, not family.endswith(" SC"), family)


def _font(family: str) -> Any:  # noqa: ANN401  Matplotlib's FT2Font
    """Return the regular font of a family; None if it is not installed, or cannot be read."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        return get_font(findfont(FontProperties(family=[family]), fallback_to_default=False))
    except (OSError, RuntimeError, ValueError):
        return None


def _has(font: Any, letter: str) -> bool:  # noqa: ANN401  as above
    """Return whether a font has a letter."""
    return font is not None and font.get_char_index(ord(letter)) != 0


def _can_be_embedded(font: Any) -> bool:  # noqa: ANN401  as above
    """Return whether a font has the outlines of TrueType, the only ones that Matplotlib embeds as what they are."""
    with Path(font.fname).open("rb") as file:
        kind = file.read(16)
        if kind[:4] == b"ttcf":  # a collection: the offset of its first font
            file.seek(int.from_bytes(kind[12:16]))
            kind = file.read(4)
    return kind[:4] in _TRUETYPE


def _is_shaped(letter: str) -> bool:
    """Return whether a letter looks different beside others, or is written from the right."""
    return unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT or any(ord(letter) in script for script in _SHAPED)
