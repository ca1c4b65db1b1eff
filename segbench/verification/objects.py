"""Objects: examples with known answers, and what another tool gives for the components of masks that ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.loaders.images import decode
from segbench.loaders.presets import shipped
from segbench.protocols.objects.counting import components_of
from segbench.protocols.objects.settings import count_objects
from segbench.verification.checks import Check, Group, Part, Progress, compare, expectations, expected


def objects_part() -> Part:
    """Give the drawings, and the other tool on the demo's masks."""
    known = expected("objects")
    drawings = [Group(one["name"], partial(_drawing, one)) for one in known["drawing"]]
    tools = [
        Group(f"components of the demo's {one['image']} by {one['name']}", partial(_tool, one)) for one in known["tool"]
    ]
    return Part("Objects, examples and another tool on masks that ship", [*drawings, *tools])


def _drawing(drawing: Mapping[str, Any], _executor: Executor | None, _progress: Progress) -> Iterator[Check]:
    values = {".": 0, **{str(k): k for k in range(10)}, **drawing.get("values", {})}
    maps = [np.array([[values[letter] for letter in row] for row in drawing[name]]) for name in ("truth", "predicted")]
    found = count_objects(*maps, **drawing.get("settings", {})).metrics()
    yield from compare(*expectations(drawing["metrics"], found), drawing["source"])


def _tool(tool: Mapping[str, Any], _executor: Executor | None, _progress: Progress) -> Iterator[Check]:
    folder = shipped("demo") / "objects"
    masks = (_mask(folder / place / f"{tool['image']}.png") for place in ("ground_truth", "predictions/random_walker"))
    found = count_objects(*components_of(*masks, connectivity=8, min_true=0, min_predicted=0)).metrics()
    yield from compare(*expectations(tool["metrics"], found), tool["name"])


def _mask(path: Path) -> NDArray[np.bool_]:
    above_half: NDArray[np.bool_] = decode(path.read_bytes(), path, role="ground truth").array >= 128
    return above_half
