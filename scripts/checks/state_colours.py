"""Measure how well states of pixels can be told apart over photographs, by the colour-blind too.

    python scripts/checks/state_colours.py
    python scripts/checks/state_colours.py --opacity 1

Blends the colour of every state with every grey that a washed photograph can have (`segbench.report.grounds`), and
prints, over any two of these grounds, the least contrast in luminance (WCAG: 1 is no contrast) and the least CIEDE2000
difference of each pair of states that one protocol's pictures use, with each kind of colour vision (Machado, Oliveira,
Fernandes, IEEE TVCG 2009, complete dichromacy). What is left out is hatched, and so not measured. The contours of
ground truth and prediction are opaque and cased on any photograph: each is measured against the other and the case.
Exits with 1 if

- missed and false differ in luminance by less than 2.5,
- two states of one picture differ by less than 10 in CIEDE2000,
- true, false or missed differ from the ground by less than 1.5 in luminance, or
- two of the contours and their case differ by less than 3 in luminance, or by less than 10 in CIEDE2000.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys

import numpy as np
from numpy.typing import NDArray
from skimage.color import deltaE_ciede2000, rgb2lab

from segbench.protocols.states import State
from segbench.report.figure.cells import CASE, PREDICTED_LINE, TRUTH_LINE
from segbench.report.grounds import DARKEST, NAMED, OPACITY, PALETTE, as_bytes

VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
LEAST_OF_ERRORS, LEAST_DIFFERENCE, LEAST_OF_GROUNDS, LEAST_OF_CONTOURS = 2.5, 10.0, 1.5, 3.0
CONTOURS = {"ground truth": TRUTH_LINE, "prediction": PREDICTED_LINE, "case": CASE}
# Of masks and regions; of boundaries, centerlines, anomalies and objects; of contours.
_FOUR = (State.TRUE, State.FALSE, State.MISSED, State.PARTNER)
PICTURES = (_FOUR, (*_FOUR, State.NEAR, State.FAR))


def grounds() -> NDArray[np.float64]:
    """Return every grey of 8 bits that a washed photograph can have, shape (greys, 3)."""
    greys = np.arange(round(255 * DARKEST), 256, dtype=np.float64)
    return np.repeat(greys[:, np.newaxis], 3, axis=1)


def over_grounds(state: State, opacity: float) -> NDArray[np.float64]:
    """Blend the colour of a state with every ground."""
    return np.rint(opacity * PALETTE[state] + (1 - opacity) * grounds())


def contrasts(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratios of relative luminances of each colour of one kind and each of another, from 1 to 21."""
    luminances = [_linear(colours) @ [0.2126, 0.7152, 0.0722] + 0.05 for colours in (first, second)]
    ratios = luminances[0][:, np.newaxis] / luminances[1]
    return np.maximum(ratios, 1 / ratios)


def difference(first: NDArray[np.float64], second: NDArray[np.float64], vision: str) -> float:
    """Return the least CIEDE2000 difference of any two colours as seen with a kind of colour vision."""
    labs = [_seen(_linear(colours), vision) for colours in (first, second)]
    return float(deltaE_ciede2000(labs[0][:, np.newaxis], labs[1][np.newaxis]).min())


def _linear(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    parts = colours / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _seen(linear: NDArray[np.float64], vision: str) -> NDArray[np.float64]:
    """Return the Lab coordinates of colours as seen with a kind of colour vision."""
    seen = np.clip(linear @ np.asarray(VISION[vision]).T, 0, 1)
    return rgb2lab(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055))


def main(opacity: float = OPACITY) -> int:
    """Print the tables; return 1 if a colour does not hold."""
    colours = {state: over_grounds(state, opacity) for state in PICTURES[-1]}
    pairs = dict.fromkeys(pair for states in PICTURES for pair in itertools.combinations(states, 2))
    print(f"{'least over any two grounds':<28}{'luminance':>10}" + "".join(f"{vision:>14}" for vision in VISION))
    holds = True
    for first, second in pairs:
        ratio = float(contrasts(colours[first], colours[second]).min())
        differences = [difference(colours[first], colours[second], vision) for vision in VISION]
        least = LEAST_OF_ERRORS if {first, second} == {State.FALSE, State.MISSED} else 1.0
        holds = holds and ratio >= least and min(differences) >= LEAST_DIFFERENCE
        names = f"{first.name.lower()} - {second.name.lower()}"
        print(f"{names:<28}{_floored(ratio, 2):>10}" + "".join(f"{_floored(least, 1):>14}" for least in differences))
    for state in PICTURES[0][:3]:
        ratio = float(contrasts(colours[state], grounds()).min())
        holds = holds and ratio >= LEAST_OF_GROUNDS
        print(f"{state.name.lower() + ' - ground':<28}{_floored(ratio, 2):>10}  {NAMED[state][0]}")
    for (first, one_colour), (second, other) in itertools.combinations(CONTOURS.items(), 2):
        both = as_bytes([one_colour]).astype(np.float64), as_bytes([other]).astype(np.float64)
        ratio, differences = float(contrasts(*both).min()), [difference(*both, vision) for vision in VISION]
        holds = holds and ratio >= LEAST_OF_CONTOURS and min(differences) >= LEAST_DIFFERENCE
        row = f"{first + ' - ' + second:<28}{_floored(ratio, 2):>10}"
        print(row + "".join(f"{_floored(least, 1):>14}" for least in differences))
    print("all colours hold" if holds else "some colours do not hold")
    return 0 if holds else 1


def _floored(value: float, digits: int) -> str:
    """Write a number that has to reach a limit, rounded down."""
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the colours of states over photographs.")
    parser.add_argument("--opacity", type=float, default=OPACITY)
    sys.exit(main(parser.parse_args().opacity))
