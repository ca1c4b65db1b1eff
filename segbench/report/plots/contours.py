"""Contours: NSD against the tolerance, and the distribution of distances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.drawing.charts import Axis, Chart, Guide, Path
from segbench.protocols.contours.metrics import ContourTable
from segbench.report.plots.methods import Kind, Method, draw_methods, methods_of, of_one_protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _draw(drawn: Literal["nsd", "share"], results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw what is within each distance; of shares both directions of all images count together."""
    methods = methods_of(of_one_protocol(results), title="HD95")
    charts = _charts(drawn, methods)
    if not charts:
        instead = setting("--kind images", "plot_images")
        raise ArgumentError(f"{methods[0].result.protocol} has no distances of contours; draw each image: {instead}")
    return draw_methods(ax, charts[0], methods)


def _charts(drawn: Literal["nsd", "share"], methods: Sequence[Method]) -> list[Chart]:
    """Describe what is within each tolerance, up to where all methods have 99.5 % of it; nothing of sequences."""
    tables = [table for method in methods if isinstance(table := method.result.table, ContourTable)]
    lines = np.array([getattr(table.tolerances, drawn) for table in tables])
    if len(tables) < len(methods) or np.isnan(lines).all():
        return []
    at = tables[0].tolerances.at
    end = max(at[np.argmax(values >= 0.995)] if (values >= 0.995).any() else at[-1] for values in lines) or 1.0
    steps = np.repeat(at, 2)[1:]  # up to the next tolerance
    layers = []
    for values in lines:
        up = np.repeat(values, 2)[:-1]
        kept = (steps <= end) & np.isfinite(up)
        layers.append([Path(steps[kept], up[kept])])
    x = Axis(f"Tolerance ({'pixels' if tables[0].conventions.spacing == 1 else 'mm'})", "", (0.0, float(end)))
    corners = "lower right", "upper left"
    if drawn == "nsd":
        return [Chart("nsd", "NSD at each tolerance", x, Axis("NSD"), layers, corners=corners)]
    guide = Guide(np.array(x.ends), np.full(2, 0.95))
    y = Axis("Share of the contours")
    return [Chart("distances", "Contours within each distance", x, y, layers, levels=[guide], corners=corners)]


NSD = Kind(partial(_draw, "nsd"), partial(_charts, "nsd"))
DISTANCES = Kind(partial(_draw, "share"), partial(_charts, "share"))
