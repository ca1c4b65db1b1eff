"""Pixel curves and areas, from a million pixels to a hundred million: time, memory and numbers beside the peers'.

Labels are bool; scores float32 or 8-bit levels. A curve is all its points with their thresholds, an area one number.
scikit-learn and torchmetrics are called as usual, and at their best: without checks, and with labels of one byte. What
a few lines can do with NumPy, Numba, PyTorch and OpenCV takes part too. All work on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from peer_tables.contests import Contest, Effort, Way
from peer_tables.programs import NUMBA, NUMPY, OPENCV, SCIKIT_LEARN, SEGBENCH, TORCH, TORCHMETRICS, Program

LEVELS = 256
KINDS = ("float32", "8-bit")
WORKS = ("PR curve", "ROC curve", "AP", "AUC-ROC")
Answer = Callable[[NDArray[np.bool_], NDArray[Any]], Any]
_CHUNK = 10**7
_WARM = 1000
_SLOW = f"{LEVELS} thresholds"
_SLOW_UP_TO, _LARGEST = 10**6, 10**8


def contests(effort: Effort) -> Iterator[Contest]:
    """Two kinds of scores and two works at two sizes, and one row of a hundred million."""
    sizes = (10**4,) if effort.quick else (10**6, 10**7)
    rows = [(size, kind, work) for size in sizes for kind in ("float32", "8-bit") for work in ("PR curve", "AUC-ROC")]
    for size, kind, work in rows if effort.quick else [*rows, (_LARGEST, "float32", "PR curve")]:
        ways = [Way(c.program, partial(do, c.name, work), c.name) for c in CONTESTANTS if kind in c.kinds]
        yield Contest(
            f"{size:.0e} pixels, {kind}, {work}".replace("e+0", "e"),
            load,
            (str(effort.scratch), size, kind),
            # which takes a minute at this size
            tuple(way for way in ways if size <= _SLOW_UP_TO or _SLOW not in way.title),
            partial(at_levels, work, kind),
            warm=(str(effort.scratch), _WARM, kind),
            calls=3 if size < _LARGEST else 1,
        )


def load(scratch: str, size: int, kind: str) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Read the arrays, which are written once; those of other sizes go."""
    folder = Path(scratch) / str(size)
    if not folder.exists():
        for other in Path(scratch).iterdir():
            for path in other.iterdir():
                path.unlink()
            other.rmdir()
        write_arrays(folder, size)
    return np.load(folder / "labels.npy"), np.load(folder / f"{kind}.npy")


def do(name: str, work: str, labels: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[str, Any]:
    """Do the work with the contestant of that name, which comes with the answer."""
    return name, next(c for c in CONTESTANTS if c.name == name).answer(work)(labels, scores)


def write_arrays(folder: Path, size: int) -> Path:
    """Write labels, a tenth of them positive, and scores: two overlapping bells, cut at 0 and 1."""
    rng = np.random.default_rng(0)
    labels, soft = np.empty(size, np.bool_), np.empty(size, np.float32)
    for start in range(0, size, _CHUNK):
        part = slice(start, min(size, start + _CHUNK))
        labels[part] = rng.random(labels[part].size, np.float32) < 0.1
        bell = rng.standard_normal(labels[part].size, np.float32) * np.float32(0.2) + np.float32(0.3)
        soft[part] = np.clip(bell + np.float32(0.3) * labels[part], 0, 1)
    folder.mkdir(parents=True)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "float32.npy", soft)
    np.save(folder / "8-bit.npy", np.rint(soft * 255).astype(np.uint8))
    return folder


@dataclass(frozen=True)
class Contestant:
    """A way to do each work with one program."""

    name: str
    program: Program
    answer: Callable[[str], Answer]
    kinds: tuple[str, ...] = KINDS


def by_segbench(work: str) -> Answer:
    """Count, then ask for the curve or area."""
    import segbench

    def answer(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - arrays or a number
        counts = segbench.count(labels, scores)
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


def by_scikit_learn(work: str, *, finite: bool) -> Answer:
    """Call the function of that name, with every point kept; `finite` saves looking for NaN."""
    from sklearn import config_context, metrics

    function = {
        "PR curve": metrics.precision_recall_curve,
        "ROC curve": partial(metrics.roc_curve, drop_intermediate=False),
        "AP": metrics.average_precision_score,
        "AUC-ROC": metrics.roc_auc_score,
    }[work]

    def answer(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - arrays or a number
        with config_context(assume_finite=finite):
            return function(labels, scores)

    return answer


def by_torchmetrics(work: str, *, thresholds: int | None, checks: bool) -> Answer:
    """Update a metric once and compute; 8-bit levels have to become float32 first.

    With checks labels are int64, as its documentation has them, else a byte each.
    """
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
        truth = torch.from_numpy(labels).long() if checks else torch.from_numpy(labels.view(np.uint8))
        made = metric(thresholds=thresholds, validate_args=checks)
        made.update(soft if soft.is_floating_point() else soft.float() / 255, truth)
        return made.compute()

    return answer


def from_counts(work: str, scores: NDArray[Any], positives: NDArray[Any], negatives: NDArray[Any]) -> Any:  # noqa: ANN401
    """Return what is asked for from the counts of each distinct score, which fall."""
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    recall, fpr, precision = tp / tp[-1], fp / fp[-1], tp / (tp + fp)
    if work == "AP":
        return np.sum(np.diff(recall, prepend=0) * precision)
    if work == "AUC-ROC":
        return np.trapezoid(np.append(0, recall), np.append(0, fpr))
    return (precision, recall, scores) if work == "PR curve" else (fpr, recall, scores)


def by_sorted_keys(work: str) -> Answer:
    """Sort keys of a score and a label with NumPy: the bits of scores that are not negative are in their order."""

    def answer(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - arrays or a number
        keys = scores.view(np.uint32) * np.uint32(2)
        keys |= labels
        keys.sort()
        keys = keys[::-1]
        bits = keys >> 1
        starts = np.append(0, np.flatnonzero(bits[1:] != bits[:-1]) + 1)
        positives = np.add.reduceat(keys & 1, starts, dtype=np.int64)
        return from_counts(
            work, bits[starts].view(np.float32), positives, np.diff(starts, append=keys.size) - positives
        )

    return answer


def by_histogram(work: str, *, count: Callable[[NDArray[np.uint8], NDArray[np.uint8]], NDArray[Any]]) -> Answer:
    """Count levels by label, in a table of two rows."""

    def answer(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - arrays or a number
        negatives, positives = count(labels.view(np.uint8), scores)
        seen = np.flatnonzero(negatives + positives)[::-1]
        return from_counts(work, seen / (LEVELS - 1), positives[seen], negatives[seen])

    return answer


@njit
def plain_loop(labels: NDArray[np.uint8], scores: NDArray[np.uint8]) -> NDArray[Any]:
    """Count as most would write it with Numba."""
    table = np.zeros((2, LEVELS), np.int64)
    for i in range(labels.size):
        table[labels[i], scores[i]] += 1
    return table


def numpy_bincount(labels: NDArray[np.uint8], scores: NDArray[np.uint8]) -> NDArray[Any]:
    """Count cells with NumPy."""
    cells = labels.astype(np.uint16) << 8 | scores
    return np.bincount(cells, minlength=2 * LEVELS).reshape(2, LEVELS)


def torch_bincount(labels: NDArray[np.uint8], scores: NDArray[np.uint8]) -> NDArray[Any]:
    """Count cells with PyTorch."""
    import torch

    torch.set_num_threads(1)
    cells = torch.from_numpy(labels).short() * LEVELS + torch.from_numpy(scores)
    return torch.bincount(cells, minlength=2 * LEVELS).numpy().reshape(2, LEVELS)


def opencv_histogram(labels: NDArray[np.uint8], scores: NDArray[np.uint8]) -> NDArray[Any]:
    """Count all levels with OpenCV, and those of positives, whose mask the labels are."""
    import cv2

    cv2.setNumThreads(1)
    every, positives = (
        cv2.calcHist([scores], [0], mask, [LEVELS], [0, LEVELS]).ravel().astype(np.int64) for mask in (None, labels)
    )
    return np.stack([every - positives, positives])


CONTESTANTS = (
    Contestant("segbench", SEGBENCH, by_segbench),
    Contestant("NumPy, sorted keys", NUMPY, by_sorted_keys, ("float32",)),
    Contestant("Numba, plain loop", NUMBA, partial(by_histogram, count=plain_loop), ("8-bit",)),
    Contestant("OpenCV, calcHist", OPENCV, partial(by_histogram, count=opencv_histogram), ("8-bit",)),
    Contestant("NumPy, bincount", NUMPY, partial(by_histogram, count=numpy_bincount), ("8-bit",)),
    Contestant("PyTorch, bincount", TORCH, partial(by_histogram, count=torch_bincount), ("8-bit",)),
    Contestant("scikit-learn, no checks", SCIKIT_LEARN, partial(by_scikit_learn, finite=True)),
    Contestant("scikit-learn", SCIKIT_LEARN, partial(by_scikit_learn, finite=False)),
    Contestant("torchmetrics, no checks", TORCHMETRICS, partial(by_torchmetrics, thresholds=None, checks=False)),
    Contestant("torchmetrics", TORCHMETRICS, partial(by_torchmetrics, thresholds=None, checks=True)),
    Contestant(
        f"torchmetrics, {LEVELS} thresholds", TORCHMETRICS, partial(by_torchmetrics, thresholds=LEVELS, checks=False)
    ),
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
    if kind == "8-bit" and name.startswith(SCIKIT_LEARN.name):
        asked *= 255
    points = np.searchsorted(thresholds, asked.astype(thresholds.dtype) if thresholds.dtype.kind == "f" else asked)
    return [*first[points].tolist(), *second[points].tolist()]
