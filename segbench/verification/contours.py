"""Contours: examples with known answers, and what other tools give for masks that ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np

from segbench.loaders.presets import shipped
from segbench.protocols.contours.settings import Contours, count_contours
from segbench.verification.checks import Check, Group, Part, Progress, compare, counted, expectations, expected


def contours_part() -> Part:
    """Give the drawings, and other tools on the demo's masks."""
    known = expected("contours")
    drawings = [
        Group(f"{one['name']}{', of the background' * (which == 'background')}", partial(_drawing, one, which))
        for one in known["drawing"]
        for which in ("metrics", "background")
    ]
    tools = [Group(f"the demo's masks by {one['name']}", partial(_tool, one)) for one in known["tool"]]
    return Part("Contours, examples and other tools on masks that ship", [*drawings, *tools])


def _drawing(
    drawing: Mapping[str, Any], which: str, _executor: Executor | None, _progress: Progress
) -> Iterator[Check]:
    masks = [np.array([[letter == "#" for letter in row] for row in drawing[name]]) for name in ("truth", "predicted")]
    found = count_contours(*(mask ^ (which == "background") for mask in masks)).metrics(
        nsd=[float(key[4:]) for key in drawing[which]]
    )
    yield from compare(*expectations(drawing[which], found), drawing["source"])


def _tool(tool: Mapping[str, Any], _executor: Executor | None, _progress: Progress) -> Iterator[Check]:
    folder = shipped("demo") / "objects"
    protocol = Contours(at=0.5, **tool["settings"])
    result = counted(folder / "ground_truth", folder / "predictions/random_walker", protocol)
    yield from compare(*expectations(tool["metrics"], result.summary), tool["name"])
