"""Contours: NSD against the tolerance, and the distribution of distances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from segbench.drawing.charts import Axis, Chart, Guide, Path
from segbench.protocols.contours.metrics import ContourTable
from segbench.report.plots.methods import Method, kind_of_curves

_MOST = 0.995
"""The axis ends where so much of every contour is within the tolerance."""


def _charts(drawn: Literal["nsd", "share"], methods: Sequence[Method]) -> list[Chart]:
    """Describe what is within each tolerance; of shares both directions of all images count together."""
    every = [method.result.table for method in methods]
    tables = [table for table in every if isinstance(table, ContourTable)]
    lines = np.array([getattr(table.tolerances, drawn) for table in tables])
    if len(tables) < len(every) or np.isnan(lines).all():
        return []  # of sequences
    at = tables[0].tolerances.at
    reached = [np.flatnonzero(values >= _MOST) for values in lines]
    end = float(max(at[some[0] if some.size else -1] for some in reached)) or 1.0
    steps = np.repeat(at, 2)[1:]  # up to the next tolerance
    layers = []
    for values in lines:
        up = np.repeat(values, 2)[:-1]
        kept = (steps <= end) & np.isfinite(up)
        layers.append([Path(steps[kept], up[kept])])
    unit = "pixels" if tables[0].conventions.spacing == 1 else "mm"
    x = Axis(f"Tolerance ({unit})", "", (0.0, end))
    corners = "lower right", "upper left"
    if drawn == "nsd":
        return [Chart("nsd", "NSD at each tolerance", x, Axis("NSD"), layers, corners=corners)]
    guide = Guide(np.array(x.ends), np.full(2, 0.95))
    y = Axis("Share of the contours")
    caption = "Contours within each distance"
    return [Chart("distances", caption, x, y, layers, levels=[guide], corners=corners)]


NSD, DISTANCES = (
    kind_of_curves(partial(_charts, drawn), "distances of contours", title="HD95") for drawn in ("nsd", "share")
)
