"""Centerlines: drawings worked by hand, and what scikit-image gives for masks that ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np

from segbench.loaders.presets import shipped
from segbench.protocols.centerlines.settings import Centerlines, count_centerlines
from segbench.verification.checks import Check, Group, Part, Progress, compare, counted

_ALLOWED = 1e-12
_DRAWINGS: Mapping[str, tuple[list[str], list[str], Mapping[str, float]]] = {
    "half of a line": (["........", "########"], ["........", "####...."], {"cldice": 2 / 3, "betti0": 0}),
    "a line in two parts": (["########"], ["###..###"], {"cldice": 6 / 7, "betti0": 1, "euler": 1}),
    "a ring, open in the prediction": (
        [".....", ".###.", ".#.#.", ".###.", "....."],
        [".....", ".##..", ".#...", ".###.", "....."],
        {"betti0": 0, "betti1": 1, "euler": 1},
    ),
}
_DEMO: Mapping[str, Mapping[str, float]] = {
    "zhang": {"cldice_images": 0.8272032801629696, "betti0_error": 4 / 3, "betti1_error": 8 / 3, "euler_error": 4},
    "lee": {"cldice_images": 0.8315748877095126},
    "thin": {"cldice_images": 0.833373117354434},
}
"""What a few lines of scikit-image 0.25 give for the masks of random_walker at .5: means over nine photographs."""


def centerlines_part() -> Part:
    """Give the drawings, and scikit-image on the demo's masks."""
    drawings = [Group(name, partial(_drawing, *drawing)) for name, drawing in _DRAWINGS.items()]
    skeletons = [Group(f"the demo's masks, skeleton {name}", partial(_demo, name)) for name in _DEMO]
    return Part("Centerlines, drawings and scikit-image on masks that ship", [*drawings, *skeletons])


def _drawing(
    truth: list[str], predicted: list[str], wanted: Mapping[str, float], _executor: Executor | None, _progress: Progress
) -> Iterator[Check]:
    masks = [np.array([[letter == "#" for letter in row] for row in rows]) for rows in (truth, predicted)]
    counts = count_centerlines(*masks)
    found = {name: float(getattr(counts, name)[0]) for name in wanted}
    yield from compare(wanted, found, _ALLOWED, "by hand")


def _demo(skeleton: Any, _executor: Executor | None, _progress: Progress) -> Iterator[Check]:  # noqa: ANN401  its name
    folder, wanted = shipped("demo") / "objects", _DEMO[skeleton]
    protocol = Centerlines(at=0.5, skeleton=skeleton)
    result = counted(folder / "ground_truth", folder / "predictions/random_walker", protocol)
    yield from compare(wanted, result.summary, _ALLOWED, "scikit-image")
