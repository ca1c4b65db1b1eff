"""The kinds of plots: the module of each, where its `Kind` has its name in capitals, and what it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from segbench.aggregator.result import Result, as_results
from segbench.core.errors import ArgumentError
from segbench.core.interface import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from segbench.report.plots.methods import Kind

KINDS: Mapping[str, tuple[str, str]] = {
    "pr": ("curves", "precision-recall curve"),
    "roc": ("curves", "ROC curve"),
    "f": ("curves", "F against the threshold"),
    "e": ("curves", "E of saliency maps against the threshold"),
    "images": ("images", "F of each image"),
    "achievable": ("curves", "achievable and raw curve"),
    "comparison": ("comparison", "paired differences of methods"),
    "ranks": ("comparison", "how often each method comes first, second, ..."),
    "significance": ("comparison", "matrix of the p-values of all pairs"),
    "confusion": ("classes", "confusion matrix of one method"),
    "classes": ("classes", "IoU per class"),
    "nsd": ("contours", "NSD of contours against the tolerance"),
    "distances": ("contours", "distribution of the distances of contours"),
    "object_f1": ("objects", "F1 of objects against the threshold of IoU"),
    "object_ap": ("objects", "AP of objects against the threshold of IoU"),
    "reliability": ("curves", "share of positives against the score"),
    "pro": ("anomalies", "per-region overlap of anomaly maps"),
    "pimo": ("anomalies", "mean per-image overlap of anomaly maps"),
}


def kind_of(name: str) -> Kind:
    """Give the kind of plot of a name."""
    if name not in KINDS:
        raise ArgumentError(f"{named('kind')} is {name!r}; expected one of {', '.join(KINDS)}")
    kind: Kind = getattr(import_module(f"segbench.report.plots.{KINDS[name][0]}"), name.upper())
    return kind


def plot(results: Result | Sequence[Result], kind: str, *, ax: Axes | None = None) -> Axes:
    """Draw results as ``segbench plot --kind`` does; kinds with options have functions of their own, as `plot_pr`.

    Parameters
    ----------
    results : Result or sequence of Result
        Of one protocol, which has this kind; the best method comes first in the legend.
    kind : str
        Such as ``"f"``, ``"achievable"`` or ``"nsd"``; ``docs/plots.md`` shows all.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For an unknown kind, no results, or results that have no such plot.
    """
    return kind_of(kind).draw(as_results(results), ax=ax)
