"""The kinds of plots: each is the module of that name, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "pr": "precision-recall curve",
    "roc": "ROC curve",
    "f": "F against the threshold",
    "e": "E of saliency maps against the threshold",
    "images": "F of each image",
    "achievable": "achievable and raw curve",
    "comparison": "paired differences of methods",
    "ranks": "how often each method comes first, second, ...",
    "significance": "matrix of the p-values of all pairs",
    "confusion": "confusion matrix of one method",
    "classes": "IoU per class",
    "nsd": "NSD of contours against the tolerance",
    "distances": "distribution of the distances of contours",
    "reliability": "share of positives against the score",
}
"""What each kind draws, for help texts."""
