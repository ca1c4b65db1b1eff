"""What pictures say of themselves as files, and in which fonts: text stays text, and names may be of any script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.names import one_line
from segbench.drawing.letters import fallback_families, letters_without_font, needing_shaping

WRITTEN: Mapping[str, Mapping[str, str | None]] = {
    ".pdf": {"Creator": "segbench", "CreationDate": None},
    ".svg": {"Creator": "segbench", "Date": None},
    ".png": {"Software": "segbench"},
}
"""What files say of themselves, without a date."""
FONTS: Mapping[str, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "segbench"}
_MOST_LETTERS = 8


def families_for(names: Sequence[str], suffix: str, say: Callable[[str], None] | None) -> list[str]:
    """Return the font families chosen, and behind them those that have the other letters of names."""
    import matplotlib as mpl

    families = list(mpl.rcParams["font.family"])
    if mpl.rcParams["text.usetex"]:
        return families
    as_file = "write an .svg, whose texts the viewer draws"
    shaped = needing_shaping(names) if suffix != ".svg" else []
    if shaped:
        raise ArgumentError(
            Message(
                "unknown-letters",
                "{name}: Matplotlib {version} cannot join or turn the letters of this script, as 3.11 can; install a "
                "newer one, or {as_file}",
                name=one_line(shaped[0]),
                version=mpl.__version__,
                as_file=as_file,
            )
        )
    missing = letters_without_font(names, families)
    families += fallback_families(missing)
    unknown = sorted(letters_without_font(names, families))
    if unknown and suffix != ".svg" and say:
        letters = " ".join(unknown[:_MOST_LETTERS])
        say(f"no installed font has the letters {letters}: boxes stand for them; install one that has, or {as_file}")
    return families
