"""The figures of several classes: their means (macro), and those of all classes added up (micro).

Conventions
-----------
1. ``macro_x`` is the mean over classes of the figure ``x`` that the pixel benchmark gives of that class alone, over the
   classes that have it; a note of the summary names those that have not, and why.
2. ``micro_x`` is the figure ``x`` of the sum of the classes' counts: every pixel is as many cases as there are classes,
   and one threshold holds for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from segbench.counts import ClassCounts, ScoreCounts
from segbench.curves.curve import Curve
from segbench.curves.masks import TWO_VALUED, pixel_curve
from segbench.curves.summary import Summary, pixel_image_figures, pixel_summary


@runtime_checkable
class ByClass(Protocol):
    """Counts by image that give those of one class by themselves."""

    def of_class(self, name: str) -> Mapping[str, Any]:
        """Give the counts of one class by image."""

    @property
    def micro(self) -> Mapping[str, Any]:
        """The counts of all classes added up, by image."""


MACRO_FIGURES = (
    "ods_f",
    "iou",
    "ois_f",
    "mean_image_f",
    "auc_pr",
    "auc_pr_achievable",
    "average_precision",
    "auc_roc",
    "fpr_at_95_tpr",
)
"""Figures of the pixel benchmark of which a mean over classes is given."""

_MACRO_IMAGE_FIGURES = ("f", "iou", "auc_pr", "average_precision", "auc_roc")


def class_summary(per_image: Mapping[str, ClassCounts]) -> Summary:
    """Every figure of a benchmark of several classes, from the counts of its images.

    Parameters
    ----------
    per_image : mapping of str to ClassCounts
        Counts of the same classes by the image's name.

    Returns
    -------
    Summary
        ``classes``, their number; ``classes_present``, those the ground truth holds; ``pixels ignored``, totals over
        images; ``macro_*`` of `MACRO_FIGURES`; ``micro_*`` of every key of `pixel_summary` but ``ignored``.

    Examples
    --------
    >>> one = ClassCounts(("cat", "dog"), (ScoreCounts([2, 1], [3, 1], [0, 2]), ScoreCounts([5], [2], [4])))
    >>> summary = class_summary({"a": one})
    >>> summary["macro_average_precision"], summary["micro_positives"]  # the mean of 11 / 12 and 1 / 3
    (0.625, 6)
    """
    classes = {name: pixel_summary(of_class(per_image, name)) for name in names_in(per_image)}
    first = next(iter(classes.values()), None)
    totals = (first["positives"] + first["negatives"], first["ignored"]) if first else (0, 0)
    return _joined(classes, pixel_summary(micro_of(per_image)), MACRO_FIGURES, (int(totals[0]), int(totals[1])))


def micro_of(per_image: Mapping[str, Any]) -> Mapping[str, ScoreCounts]:
    """Give the counts of all classes added up, by image."""
    return per_image.micro if isinstance(per_image, ByClass) else {k: counts.micro for k, counts in per_image.items()}


def names_in(per_image: Mapping[str, ClassCounts]) -> tuple[str, ...]:
    """Name the classes that images were counted by; none where there is no image."""
    return next(iter(per_image.values())).names if per_image else ()


def of_class(per_image: Mapping[str, Any], name: str) -> Mapping[str, ScoreCounts]:
    """Give the counts of one class, of packed counts without unpacking the others."""
    if isinstance(per_image, ByClass):
        return per_image.of_class(name)
    return {image: counts[name] for image, counts in per_image.items()}


def class_image_figures(counts: ClassCounts, of_set: ClassCounts | None = None) -> Summary:
    """Figures of one image: means over the classes it has, and those of all classes added up.

    Parameters
    ----------
    counts : ClassCounts
        Of the image.
    of_set : ClassCounts, optional
        Of the whole set, see `pixel_image_figures`.

    Returns
    -------
    Summary
        ``classes classes_present pixels ignored``; ``macro_f macro_iou macro_auc_pr macro_average_precision
        macro_auc_roc``; ``micro_*`` of every key of `pixel_image_figures` but ``ignored``.
    """
    whole = counts if of_set is None else of_set
    classes = {name: pixel_image_figures(counts[name], whole[name]) for name in counts.names}
    totals = counts.pixels, counts.ignored
    return _joined(classes, pixel_image_figures(counts.micro, whole.micro), _MACRO_IMAGE_FIGURES, totals)


def class_curve(counts: ClassCounts) -> Curve:
    """Give the precision-recall curve of all classes added up."""
    return pixel_curve(counts.micro)


def _joined(classes: Mapping[str, Summary], micro: Summary, macro: Sequence[str], totals: tuple[int, int]) -> Summary:
    present = [name for name, summary in classes.items() if summary["positives"]]
    figures: dict[str, float | int] = {
        "classes": len(classes),
        "classes_present": len(present),
        "pixels": totals[0],
        "ignored": totals[1],
    }
    bounds: dict[str, tuple[float, float]] = {}
    undefined: dict[str, str] = {}
    for key in macro:
        defined = [summary for summary in classes.values() if not math.isnan(summary[key])]
        figures[f"macro_{key}"] = float(np.mean([part[key] for part in defined])) if defined else math.nan
        if not defined:
            undefined[f"macro_{key}"] = _why_none(classes, key)
        elif any(key in summary.bounds for summary in defined):
            low, high = np.mean([summary.bounds.get(key, (summary[key],) * 2) for summary in defined], axis=0).tolist()
            bounds[f"macro_{key}"] = low, high
    figures |= {f"micro_{key}": figure for key, figure in micro.items() if key != "ignored"}
    bounds |= {f"micro_{key}": pair for key, pair in micro.bounds.items()}
    undefined |= {f"micro_{key}": reason for key, reason in micro.undefined.items()}
    optimistic = tuple(key for key in figures if key.endswith("auc_pr_achievable"))
    return Summary(figures, bounds, undefined, optimistic, notes=(*_notes(classes, macro), *_micro_notes(micro)))


def _why_none(classes: Mapping[str, Summary], key: str) -> str:
    reasons = list(dict.fromkeys(summary.undefined[key] for summary in classes.values()))
    if reasons == [TWO_VALUED]:
        return TWO_VALUED
    return " or ".join(reasons) + " of any class" if reasons else "no pixels"


def _notes(classes: Mapping[str, Summary], macro: Sequence[str]) -> tuple[str, ...]:
    """Say which classes are in no mean, or not in all, and why."""
    absent = [name for name, summary in classes.items() if not summary["positives"]]
    notes = []
    if absent:
        notes.append(
            f"macro figures are means over {len(classes) - len(absent)} of {len(classes)} classes; "
            f"absent from the ground truth: {', '.join(absent)}"
        )
    lacking: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for key in macro:
        by_reason: dict[str, list[str]] = {}
        for name, summary in classes.items():
            if name not in absent and key in summary.undefined:
                by_reason.setdefault(summary.undefined[key], []).append(name)
        for reason, names in by_reason.items():
            lacking.setdefault((reason, tuple(names)), []).append(f"macro_{key}")
    for (reason, without), keys in lacking.items():
        notes.append(f"{', '.join(keys)} without {', '.join(without)} ({reason})")
    remarks: dict[str, list[str]] = {}
    for name, summary in classes.items():
        for note in summary.notes:
            remarks.setdefault(note, []).append(name)
    notes += [f"{', '.join(names)}: {note}" for note, names in remarks.items()]
    return tuple(notes)


def _micro_notes(micro: Summary) -> list[str]:
    return [f"micro: {note}" for note in micro.notes]
