"""Objects and centerlines: examples with known answers, and what other tools give for masks that ship."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np

from segbench.core.protocol import Protocol
from segbench.loaders.images import decode
from segbench.loaders.presets import shipped
from segbench.protocols.centerlines.settings import Centerlines
from segbench.protocols.objects.counting import components_of
from segbench.protocols.objects.settings import Objects, count_objects
from segbench.verification.checks import Check, Group, Part, Progress, compare, counted, expectations, expected

PLACES = "ground_truth", "predictions/random_walker"
Settings = Callable[..., Protocol]


def objects_part() -> Part:
    """Give the drawings, and another tool on the demo's masks."""
    return _part("Objects, examples and another tool on masks that ship", "objects", Objects, _components)


def centerlines_part() -> Part:
    """Give the drawings, and scikit-image on the demo's masks."""
    return _part("Centerlines, drawings and scikit-image on masks that ship", "centerlines", Centerlines, _skeletons)


def _part(title: str, table: str, settings: Settings, tool: Callable[..., Mapping[str, float]]) -> Part:
    known = expected(table)
    drawings = [Group(one["name"], partial(_check, one, partial(_drawing, settings))) for one in known["drawing"]]
    tools = [Group(f"the demo's masks, {one['name']}", partial(_check, one, tool)) for one in known["tool"]]
    return Part(title, [*drawings, *tools])


def _check(
    one: Mapping[str, Any],
    found: Callable[..., Mapping[str, float]],
    _executor: Executor | None,
    _progress: Progress,
) -> Iterator[Check]:
    yield from compare(*expectations(one["metrics"], found(one)), one["source"])


def _drawing(settings: Settings, drawing: Mapping[str, Any]) -> Mapping[str, float]:
    values = {".": 0, "#": 1, **{str(k): k for k in range(10)}, **drawing.get("values", {})}
    maps = (np.array([[values[letter] for letter in row] for row in drawing[name]]) for name in ("truth", "predicted"))
    return counted({"": tuple(maps)}, protocol=settings(**drawing.get("settings", {}))).summary


def _components(tool: Mapping[str, Any]) -> Mapping[str, float]:
    """Number the components of an image's masks, which are then instances."""
    files = (shipped("demo") / "objects" / place / f"{tool['image']}.png" for place in PLACES)
    masks = (decode(file.read_bytes(), file, role="ground truth").array >= 128 for file in files)
    return count_objects(*components_of(*masks, connectivity=8, min_true=0, min_predicted=0)).metrics()


def _skeletons(tool: Mapping[str, Any]) -> Mapping[str, float]:
    places = (shipped("demo") / "objects" / place for place in PLACES)
    return counted(*places, Centerlines(at=0.5, **tool["settings"])).summary
