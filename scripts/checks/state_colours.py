"""Measure how well colours of true, false and missed pixels can be told apart, by the colour-blind too.

    python scripts/checks/state_colours.py
    python scripts/checks/state_colours.py "#0072b2" "#d55e00" "#e69f00"

Prints the luminance contrast of each pair and of each colour with white and with the page's dark ground (WCAG: 1 is no
contrast), and the CIEDE2000 difference of each pair, and of each colour from the nearest grey of a photograph, as seen
with each kind of colour vision (Machado, Oliveira, Fernandes, IEEE TVCG 2009, complete dichromacy).
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
from numpy.typing import NDArray
from skimage.color import deltaE_ciede2000, rgb2lab

from segbench.drawing.palette import FALSE_POSITIVE, MATCHED, MISS

WHITE, DARK = "#ffffff", "#1b1f24"
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def contrast(first: str, second: str) -> float:
    """Return the ratio of relative luminances, from 1 to 21."""
    low, high = sorted(float(_linear(colour) @ [0.2126, 0.7152, 0.0722]) + 0.05 for colour in (first, second))
    return high / low


def difference(first: str, second: str, vision: str) -> float:
    """Return the CIEDE2000 difference of two colours as seen with a kind of colour vision."""
    return float(deltaE_ciede2000(*(_seen(_linear(colour), vision) for colour in (first, second))))


def from_grey(colour: str, vision: str) -> float:
    """Return the CIEDE2000 difference from the nearest grey."""
    greys = np.repeat(np.linspace(0, 1, 256)[:, np.newaxis], 3, axis=1)
    return float(deltaE_ciede2000(_seen(_linear(colour), vision), rgb2lab(greys)).min())


def _linear(colour: str) -> NDArray[np.float64]:
    parts = np.frombuffer(bytes.fromhex(colour.removeprefix("#")), np.uint8) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _seen(linear: NDArray[np.float64], vision: str) -> NDArray[np.float64]:
    """Return the Lab coordinates of a colour as seen with a kind of colour vision."""
    seen = np.clip(np.asarray(VISION[vision]) @ linear, 0, 1)
    return rgb2lab(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055))


def main() -> None:
    """Print the table."""
    states = dict(zip(("true", "false", "missed"), sys.argv[1:] or (MATCHED, FALSE_POSITIVE, MISS), strict=True))
    print("contrast         " + "  ".join(f"{vision:>12}" for vision in VISION))
    for (state, colour), (other, other_colour) in itertools.combinations(states.items(), 2):
        differences = "  ".join(f"{difference(colour, other_colour, vision):12.1f}" for vision in VISION)
        print(f"{contrast(colour, other_colour):5.2f}  {state}-{other:<{10 - len(state) - 1}}{differences}")
    for name, colour in states.items():
        differences = "  ".join(f"{from_grey(colour, vision):12.1f}" for vision in VISION)
        print(f"       {name}-grey".ljust(17) + differences)
        print(f"       {name}: {contrast(colour, WHITE):.2f} with white, {contrast(colour, DARK):.2f} with dark")


if __name__ == "__main__":
    main()
