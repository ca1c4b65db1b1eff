"""Plots as files: PDF and SVG keep lines as lines and text as text, the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.aggregator.writing import refuse_results_file, write_file
from segbench.core.errors import ArgumentError
from segbench.drawing.axes import fit_height
from segbench.report.comparison_plots import plot_comparison
from segbench.report.given import named_by_class
from segbench.report.image_plots import plot_images
from segbench.report.label_plots import plot_classes, plot_confusion
from segbench.report.plots import plot_achievable, plot_pr, plot_roc
from segbench.report.threshold_plots import plot_f_threshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["pr", "roc", "f", "images", "achievable", "comparison", "confusion", "classes"]
FORMATS = (".pdf", ".svg", ".png")
_WITH_LEVEL = ("pr", "roc", "comparison", "classes")
_OF_ROWS = ("images", "comparison", "classes")
_DPI = 200
_FONTS: Mapping[str, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "segbench"}
_NARROW = 4.5
_COLUMN: Mapping[str, Any] = {"font.size": 8, "lines.linewidth": 1.2, "lines.markersize": 4.5}


def save_plot(
    results: Sequence[Result],
    path: Path,
    *,
    kind: Kind | None = None,
    level: float | None = None,
    replicates: int = 2000,
    seed: int = 0,
    size: tuple[float, float] | None = None,
) -> None:
    """Draw results into a file."""
    if path.suffix.lower() not in FORMATS:
        raise ArgumentError(f"{path}: plots are written as {', '.join(FORMATS)}; give a name that ends so")
    refuse_results_file(path)
    chosen = kind or _usual_kind(results)
    if chosen not in get_args(Kind):
        raise ArgumentError(f"kind is {chosen!r}; expected one of {', '.join(get_args(Kind))}")
    if level is not None and chosen not in _WITH_LEVEL:
        raise ArgumentError(f"a plot of kind {chosen} has no bands; leave out --intervals (level=None)")
    draw = _drawing(results, chosen, level, replicates, seed)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {**_FONTS, **(_column_settings() if size and size[0] < _NARROW else {})}
    with mpl.rc_context(settings):
        # Not pyplot: what is only written must neither stay in memory nor ask for a window.
        figure = Figure(figsize=size, layout="constrained")
        ax = draw(ax=figure.subplots())
        if size is None and chosen in _OF_ROWS:
            fit_height(ax)
        undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower())
        drawn = io.BytesIO()
        kind_of_file = path.suffix.lower().removeprefix(".")
        figure.savefig(drawn, format=kind_of_file, dpi=_DPI, bbox_inches=None if size else "tight", metadata=undated)
    write_file(path, drawn.getvalue(), hint="give another place")


def _usual_kind(results: Sequence[Result]) -> Kind:
    curves = [result.drawn for result in results]
    if all(curve is not None and "pr" in curve.spaces for curve in curves):
        return "pr"
    return "images" if None in curves else "f"


def _column_settings() -> dict[str, Any]:
    """Give smaller settings for a narrow picture, where nobody chose others."""
    import matplotlib as mpl

    chosen: dict[Any, Any] = dict(mpl.rcParams)
    defaults: dict[Any, Any] = dict(mpl.rcParamsDefault)
    return {key: value for key, value in _COLUMN.items() if chosen[key] == defaults[key]}


def _drawing(
    results: Sequence[Result], kind: Kind, level: float | None, replicates: int, seed: int
) -> Callable[..., Axes]:
    if kind == "comparison":
        comparison = compare_results(named_by_class(results), level=level or 0.95, replicates=replicates, seed=seed)
        return partial(plot_comparison, comparison)
    if kind == "classes":
        return partial(plot_classes, results, level=level, replicates=replicates, seed=seed)
    if kind == "confusion":
        if len(results) != 1:
            raise ArgumentError(f"a confusion matrix is of one method, found {len(results)}; choose one with --only")
        return partial(plot_confusion, results[0])
    if kind in ("pr", "roc"):
        return partial(plot_pr if kind == "pr" else plot_roc, results, band=level, replicates=replicates, seed=seed)
    others = {"f": plot_f_threshold, "images": plot_images, "achievable": plot_achievable}
    return partial(others[kind], results)
