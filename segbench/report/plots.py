"""Plots fit for a paper: precision-recall with lines of equal F as the field draws it, and ROC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from segbench.aggregator.result import Result
from segbench.counts import ScoreCounts
from segbench.curves import Curve, curve_band, roc_curve
from segbench.curves.boundary import BoundaryCurve, boundary_ods
from segbench.curves.regions import RegionCurve
from segbench.errors import ArgumentError, DataError
from segbench.report.palette import GUIDE, ISO_F, ISO_F_TEXT, LineStyle, line_style
from segbench.report.points import FloatArray, area_bounds, boundary_points, envelope, pr_points, roc_points
from segbench.report.region_plots import plot_region_results
from segbench.report.tables import names_of, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["pr", "roc"]
FORMATS = (".pdf", ".svg", ".png")
_SIZE_INCHES = (5, 5)
_CURVE_LAYER = 3


def plot_results(
    results: Sequence[Result],
    *,
    kind: Kind = "pr",
    band: float | None = None,
    replicates: int = 2000,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the pooled curves of several methods, the best first in the legend.

    Where scores were kept in bins, what that leaves open is a light area around the curve, and the legend's figure has
    its bound: the exact one lies within.

    Parameters
    ----------
    results : sequence of Result
        Of one protocol; methods without a defined curve are named in the legend and not drawn. A method measured at one
        threshold only, such as human annotators, is a point. Of the regions protocol covering is drawn against
        threshold.
    kind : {"pr", "roc"}
        Precision-recall (with lines of equal F, the point of best F, and the prevalence a random score would reach),
        or ROC (with the diagonal).
    band : float, optional
        Level of a bootstrap band over images around each curve, for instance 0.95; it holds at each point by itself,
        not for the whole curve. A curve known from print has none.
    replicates, seed : int
        Of the band.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For results of several protocols, and for ROC curves or bands of a protocol that has none.
    """
    protocols = sorted({result.protocol for result in results})
    if len(protocols) > 1:
        raise ArgumentError(
            f"curves of {' and '.join(protocols)} are not comparable; draw those of one protocol (--only)"
        )
    if protocols == ["regions"]:
        if kind == "roc" or band is not None:
            raise ArgumentError(
                "the regions protocol has neither ROC curves nor bands; leave out --kind and --intervals"
            )
        return plot_region_results(results, ax=ax or _new_axes())
    curves = {id(result): _curve_of(result, kind) for result in results}
    ax = ax or _new_axes()
    _frame_pr(ax) if kind == "pr" else _frame_roc(ax)
    rank = "ods_f" if kind == "pr" else "auc_roc"
    ordered = sorted(results, key=lambda result: (-np.nan_to_num(result.summary[rank], nan=-1), result.method))
    for position, (name, result) in enumerate(zip(names_of(ordered), ordered, strict=True)):
        style = line_style(position)
        figure = "F" if kind == "pr" else "AUC"
        shown = _three_digits(result.summary[rank], result.summary.bounds.get(rank))
        label = f"[{figure}={shown}] {name}"
        curve = curves[id(result)]
        _shade(ax, curve, style)
        if band is not None and result.counts and not result.unnamed:
            ends = curve_band(result.counts, space=kind, level=band, replicates=replicates, seed=seed)
            ax.fill_between(ends.at, ends.low, ends.high, color=style.colour, alpha=0.15, linewidth=0, zorder=2)
        ax.plot(*_points(curve), color=style.colour, linestyle=style.dashes, label=label, zorder=_CURVE_LAYER)
        if kind == "pr":
            best = (result.summary["ods_recall"], result.summary["ods_precision"])
            ax.plot(*best, "o", color=style.colour, markersize=5, zorder=_CURVE_LAYER + 1)
    if kind == "pr":
        _draw_prevalences(ax, results)
    ax.legend(loc="lower left" if kind == "pr" else "lower right", fontsize="small", framealpha=0.9)
    return ax


def plot_curve(curve: Curve | BoundaryCurve, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw one curve in its space; see `Curve.plot`."""
    ax = ax or _new_axes()
    if isinstance(curve, BoundaryCurve):
        figure = f"ODS F {number(boundary_ods(curve).f)}"
    else:
        name = "achievable, optimistic" if curve.optimistic else "AUC-PR" if curve.space == "pr" else "AUC-ROC"
        figure = f"{name} {number(curve.area, area_bounds(curve))}"
    in_pr = isinstance(curve, BoundaryCurve) or curve.space == "pr"
    _frame_pr(ax) if in_pr else _frame_roc(ax)
    style = line_style(sum(line.get_zorder() == _CURVE_LAYER for line in ax.lines))
    _shade(ax, curve, style)
    ax.plot(*_points(curve), color=style.colour, linestyle=style.dashes, label=label or figure, zorder=_CURVE_LAYER)
    ax.legend(loc="lower left" if in_pr else "lower right", fontsize="small")
    return ax


def save_plot(
    results: Sequence[Result],
    path: Path,
    *,
    kind: Kind = "pr",
    band: float | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> None:
    """Draw results into a file; PDF and SVG keep lines as lines and text as text.

    Raises
    ------
    ArgumentError
        If the name does not end in .pdf, .svg or .png.
    DataError
        If the file cannot be written.
    """
    if path.suffix.lower() not in FORMATS:
        raise ArgumentError(f"{path}: plots are written as {', '.join(FORMATS)}; give a name that ends so")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "segbench"}):
        # Not pyplot: what is only written must neither stay in memory nor ask for a window.
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        plot_results(results, kind=kind, band=band, replicates=replicates, seed=seed, ax=figure.subplots())
        undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower())
        try:
            figure.savefig(path, dpi=200, bbox_inches="tight", metadata=undated)
        except OSError as error:
            raise DataError(str(path), f"cannot be written ({error.strerror})", "give another place") from error


def _new_axes() -> Axes:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=_SIZE_INCHES, layout="constrained")[1]


def _frame(ax: Axes, x: str, y: str) -> None:
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=x, ylabel=y, aspect="equal")
    ticks = np.linspace(0, 1, 6)
    ax.set_xticks(ticks)
    ax.set_yticks(ticks)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _frame_pr(ax: Axes) -> None:
    if ax.get_xlabel() == "Recall":
        return
    _frame(ax, "Recall", "Precision")
    for f in np.arange(1, 10) / 10:
        recall = np.linspace(f / (2 - f), 1, 200)
        ax.plot(recall, f * recall / (2 * recall - f), color=ISO_F, linewidth=0.8, zorder=1)
        ax.annotate(
            f"F={f:.1f}",
            (1, f / (2 - f)),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize="x-small",
            color=ISO_F_TEXT,
            annotation_clip=False,
        )


def _frame_roc(ax: Axes) -> None:
    if ax.get_xlabel() == "False positive rate":
        return
    _frame(ax, "False positive rate", "True positive rate")
    ax.plot([0, 1], [0, 1], color=GUIDE, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def _draw_prevalences(ax: Axes, results: Sequence[Result]) -> None:
    prevalences = {
        round(curve.positives / (curve.positives + curve.negatives), 4)
        for curve in (result.curve for result in results)
        if isinstance(curve, Curve) and curve.positives
    }
    for rank, prevalence in enumerate(sorted(prevalences)):
        label = None if rank else f"prevalence {_three_digits(prevalence)}" if len(prevalences) == 1 else "prevalences"
        ax.axhline(prevalence, color=GUIDE, linewidth=0.8, linestyle=(0, (1, 2)), zorder=2, label=label)


def _curve_of(result: Result, kind: Kind) -> Curve | BoundaryCurve:
    if kind == "pr" and not isinstance(result.curve, RegionCurve):
        return result.curve
    if result.protocol != "pixels" or not isinstance(result.pooled, ScoreCounts):
        raise ArgumentError(f"the {result.protocol} protocol has no ROC curve, for it knows no true negatives")
    return roc_curve(result.pooled)


def _points(curve: Curve | BoundaryCurve) -> tuple[FloatArray, FloatArray]:
    if isinstance(curve, BoundaryCurve):
        return boundary_points(curve)
    return pr_points(curve) if curve.space == "pr" else roc_points(curve)


def _shade(ax: Axes, curve: Curve | BoundaryCurve, style: LineStyle) -> None:
    bounds = envelope(curve) if isinstance(curve, Curve) else None
    if bounds and bounds.at.size:
        ax.fill_between(bounds.at, bounds.low, bounds.high, color=style.colour, alpha=0.3, linewidth=0, zorder=2)


def _three_digits(value: float, bounds: tuple[float, float] | None = None) -> str:
    if math.isnan(value):
        return "-"
    text = f"{value:.3f}"
    if bounds:
        # Of what is shown, not of the value behind it, so that the exact figure lies within what is printed.
        spread = max(bounds[1] - float(text), float(text) - bounds[0])
        text += f" ±{math.ceil(round(spread * 1000, 6)) / 1000:.3f}"
    return text.replace("0.", ".")
