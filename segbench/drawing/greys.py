"""A figure in greys, as it looks in print without colours. Import it where Matplotlib is in use."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, to_rgba_array
from matplotlib.figure import Figure

_LUMINANCE = (0.2126, 0.7152, 0.0722)
_COLOURS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def draw_in_greys(figure: Figure) -> None:
    """Replace each colour of a figure by the grey of the same luminance; what is transparent stays so."""
    for artist in figure.findobj():
        drawn: Any = artist
        if isinstance(drawn, ScalarMappable) and drawn.get_array() is not None:
            colours = drawn.get_cmap()(np.linspace(0, 1, 256))
            drawn.set_cmap(ListedColormap(_greys(colours)))
            continue
        for name in _COLOURS:
            getter, setter = (getattr(drawn, f"{verb}_{name}", None) for verb in ("get", "set"))
            if getter is None or setter is None:
                continue
            colours = _greys(to_rgba_array(getter()))
            if len(colours):
                setter(colours if len(colours) > 1 else tuple(colours[0]))


def _greys(colours: np.ndarray) -> np.ndarray:
    """Return the greys of some colours, shape (n, 4)."""
    linear = np.where(colours[:, :3] <= 0.04045, colours[:, :3] / 12.92, ((colours[:, :3] + 0.055) / 1.055) ** 2.4)
    luminance = linear @ _LUMINANCE
    grey = np.where(luminance <= 0.0031308, 12.92 * luminance, 1.055 * luminance ** (1 / 2.4) - 0.055)
    return np.column_stack([grey, grey, grey, colours[:, 3]]).clip(0, 1)
