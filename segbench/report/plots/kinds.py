"""The kinds of plots: the module of each, where its `Kind` has its name in capitals, and what it draws."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from segbench.core.messages import Setting
from segbench.core.settings import check_choice

if TYPE_CHECKING:
    from segbench.report.plots.methods import Kind

KINDS: Mapping[str, tuple[str, str]] = {
    "pr": ("curves", "precision-recall curve"),
    "roc": ("curves", "ROC curve"),
    "f": ("curves", "F against the threshold"),
    "e": ("curves", "E of saliency maps against the threshold"),
    "images": ("images", "F of each image"),
    "box": ("images", "quartiles of the images of each method, and the images"),
    "scatter": ("scatter", "two methods image by image"),
    "intervals": ("intervals", "a metric of each method with its interval"),
    "checkpoints": ("checkpoints", "a metric over checkpoints in the order of their names"),
    "comparison": ("comparison", "paired differences of methods"),
    "critical_difference": ("ranks", "mean ranks of methods, and which cannot be told apart"),
    "confusion": ("classes", "confusion matrix of one method"),
    "classes": ("classes", "main metric per class, the best of the first method first"),
    "nsd": ("own_charts", "NSD of contours against the tolerance"),
    "distances": ("own_charts", "distribution of the distances of contours"),
    "object_f1": ("own_charts", "F1 of objects against the threshold of IoU"),
    "object_ts": ("own_charts", "threat score of objects against the threshold of IoU"),
    "froc": ("own_charts", "objects found against false detections per image"),
    "reliability": ("curves", "share of positives against the score"),
    "pro": ("own_charts", "per-region overlap of anomaly maps"),
    "pimo": ("own_charts", "mean per-image overlap of anomaly maps"),
}


def kind_of(name: str) -> Kind:
    """Return the kind of plot of a name."""
    check_choice(name, Setting("kind", None), KINDS)
    kind: Kind = getattr(import_module(f"segbench.report.plots.{KINDS[name][0]}"), name.upper())
    return kind
