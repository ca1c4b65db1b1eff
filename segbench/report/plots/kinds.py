"""The kinds of plots: each is the module of that name, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "pr": "precision and recall",
    "roc": "ROC",
    "f": "F against threshold",
    "e": "of saliency maps E against threshold",
    "images": "each image's F",
    "achievable": "the achievable and the raw curve",
    "comparison": "paired differences",
    "ranks": "how often each method is first, second, ... in resamples",
    "significance": "p-values of all pairs as a matrix",
    "confusion": "of label maps the confusion matrix of one method",
    "classes": "IoU per class",
    "reliability": "the share of positives against the score",
}
"""What each kind draws, for help texts."""
