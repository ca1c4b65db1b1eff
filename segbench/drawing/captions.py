"""What a plot leaves to its caption: what was drawn and tested, and names for which there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_captions: WeakKeyDictionary[Axes, list[str]] = WeakKeyDictionary()


def add_to_caption(ax: Axes, *sentences: str) -> None:
    """Keep sentences for the caption of a plot, each once; empty ones are left out."""
    known = _captions.setdefault(ax, [])
    written = [sentence.replace(r"\$", "$") for sentence in sentences]  # as names are written into plots
    known += [sentence for sentence in dict.fromkeys(written) if sentence and sentence not in known]


def caption_of(ax: Axes) -> list[str]:
    """Return what the caption of a plot should say, as ``segbench plot`` prints it.

    Parameters
    ----------
    ax : matplotlib Axes
        As a plot of segbench returns them.

    Returns
    -------
    list of str
        Sentences without a period, empty where the plot says all by itself: of what intervals and p-values are, which
        methods are drawn, and the names that the legend leaves out.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from segbench import evaluate, plot
    >>> result = evaluate([([0, 1, 1], [0.1, 0.9, 0.8]), ([0, 1, 1], [0.1, 0.9, 0.0])], method="net")
    >>> caption_of(plot(result, "box", ax=Figure().subplots()))[0]
    'Boxes: median and quartiles over 2 images; whiskers: the farthest image within 1.5 times their distance'
    """
    return list(_captions.get(ax, ()))
