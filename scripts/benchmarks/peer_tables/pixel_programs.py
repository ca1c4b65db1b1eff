"""Curves and areas of pixels by segbench, scikit-learn and torchmetrics: from NumPy arrays to what a user asks for.

Labels are bool; scores float32 or 8-bit levels. A curve is all its points with their thresholds, an area one number.
All work on one core: segbench and scikit-learn do so by themselves, PyTorch is told to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peer_tables.programs import SCIKIT_LEARN, SEGBENCH, TORCHMETRICS, Program

LEVELS = 256
WORKS = ("PR curve", "ROC curve", "AP", "AUC-ROC")
Answer = Callable[[NDArray[np.bool_], NDArray[Any]], Any]


@dataclass(frozen=True)
class Contestant:
    """A way to do each work with one program."""

    name: str
    program: Program
    answer: Callable[[str], Answer]


def by_segbench(work: str) -> Answer:
    """Count, then ask for the curve or area."""
    import segbench

    def answer(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - arrays or a number
        counts = segbench.count_pixels(labels, scores)
        if work == "AP":
            return segbench.average_precision(counts)
        if work == "AUC-ROC":
            return segbench.auc_roc(counts)
        if work == "PR curve":
            curve = segbench.pr_curve(counts)
            return curve.precision, curve.recall, curve.thresholds
        curve = segbench.roc_curve(counts)
        return curve.fpr, curve.tpr, curve.thresholds

    return answer


def by_scikit_learn(work: str) -> Answer:
    """Call the function of that name, with every point kept."""
    from sklearn import metrics

    return {
        "PR curve": metrics.precision_recall_curve,
        "ROC curve": partial(metrics.roc_curve, drop_intermediate=False),
        "AP": metrics.average_precision_score,
        "AUC-ROC": metrics.roc_auc_score,
    }[work]


def by_torchmetrics(work: str, *, thresholds: int | None) -> Answer:
    """Update a metric once and compute; 8-bit levels have to become float32 first."""
    import torch
    from torchmetrics import classification

    torch.set_num_threads(1)
    metric = {
        "PR curve": classification.BinaryPrecisionRecallCurve,
        "ROC curve": classification.BinaryROC,
        "AP": classification.BinaryAveragePrecision,
        "AUC-ROC": classification.BinaryAUROC,
    }[work]

    def answer(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - tensors
        soft = torch.from_numpy(scores)
        made = metric(thresholds=thresholds)
        made.update(soft if soft.is_floating_point() else soft.float() / 255, torch.from_numpy(labels))
        return made.compute()

    return answer


CONTESTANTS = (
    Contestant("segbench", SEGBENCH, by_segbench),
    Contestant("scikit-learn", SCIKIT_LEARN, by_scikit_learn),
    Contestant("torchmetrics", TORCHMETRICS, partial(by_torchmetrics, thresholds=None)),
    Contestant(f"torchmetrics, {LEVELS} thresholds", TORCHMETRICS, partial(by_torchmetrics, thresholds=LEVELS)),
)
OURS = CONTESTANTS[0].name


def at_levels(work: str, kind: str, answered: tuple[str, Any]) -> list[float]:
    """Reduce a program's answer to its area, or to both rates of the curve at the thresholds k / 255, k = 1, .. 255."""
    name, answer = answered
    if work in {"AP", "AUC-ROC"}:
        return [float(answer)]
    first, second, thresholds = (np.asarray(array) for array in answer)
    if thresholds[0] > thresholds[-1]:
        first, second, thresholds = first[::-1], second[::-1], thresholds[::-1]
    levels = np.arange(1, LEVELS)
    # A hair lower for floats, half a level lower for levels: how a program rounds k / 255 does not matter.
    asked = levels / 255 - 1e-7 if kind == "float32" else (levels - 0.5) / 255
    if kind == "8-bit" and name == SCIKIT_LEARN.name:
        asked *= 255
    places = np.searchsorted(thresholds, asked.astype(thresholds.dtype) if thresholds.dtype.kind == "f" else asked)
    return [*first[places].tolist(), *second[places].tolist()]
