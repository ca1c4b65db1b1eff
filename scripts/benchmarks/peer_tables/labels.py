"""Confusion matrices of label maps: segbench beside a plain loop and the functions of five libraries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.ndimage import zoom

import segbench
from peer_tables.contests import Contest, Effort, Way
from peer_tables.programs import NUMBA, NUMPY, OPENCV, SCIKIT_LEARN, SEGBENCH, TORCH, TORCHMETRICS

SHAPE, CLASSES, VOID = (1024, 2048), 19, 255
Maps = NDArray[np.uint8]
Matrix = NDArray[np.int64]


def contests(effort: Effort) -> Iterator[Contest]:
    """Straight borders of large areas, and borders that are not straight."""
    shape = (128, 256) if effort.quick else SHAPE
    for borders, function in (("straight borders", scene), ("ragged borders", ragged)):
        yield Contest(
            f"{shape[0]}x{shape[1]}, {CLASSES} classes, {borders}",
            function,
            (0, shape),
            (
                Way(SEGBENCH, by_segbench),
                Way(NUMBA, by_plain_loop, "Numba, plain loop"),
                Way(OPENCV, by_opencv, "OpenCV, calcHist"),
                Way(NUMPY, by_small_cells, "NumPy, bincount of 16 bits"),
                Way(NUMPY, by_bincount, "NumPy, bincount"),
                Way(TORCH, by_torch, "PyTorch, bincount"),
                Way(SCIKIT_LEARN, by_sklearn),
                Way(TORCHMETRICS, partial(by_torchmetrics, checks=False), "torchmetrics, no checks"),
                Way(TORCHMETRICS, by_torchmetrics),
            ),
            cells_of,
        )


def cells_of(matrix: Any) -> list[float]:  # noqa: ANN401 - arrays and tensors
    """List the cells of a matrix."""
    cells: list[float] = np.asarray(matrix).ravel().tolist()
    return cells


def scene(seed: int, shape: tuple[int, int] = SHAPE, classes: int = CLASSES) -> tuple[Maps, Maps]:
    """Draw a label map in which few classes are frequent, and a prediction with shifted borders and wrong areas."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, classes + 1) ** 1.5
    coarse = rng.choice(classes, (shape[0] // 64, shape[1] // 64), p=frequency / frequency.sum()).astype(np.uint8)
    truth = zoom(coarse, 64, order=0)
    wrong = zoom(rng.random(coarse.shape) < 0.1, 64, order=0)
    other = zoom(rng.choice(classes, coarse.shape, p=frequency / frequency.sum()).astype(np.uint8), 64, order=0)
    predicted = np.where(wrong, other, np.roll(truth, rng.integers(-6, 7, 2), (0, 1)))
    truth[-shape[0] // 16 :] = VOID
    return truth, predicted


def ragged(seed: int, shape: tuple[int, int] = SHAPE) -> tuple[Maps, Maps]:
    """Shift each row of a scene by a random walk: borders of real label maps are not straight."""
    truth, predicted = scene(seed, shape)
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.integers(-1, 2, len(truth)))
    noise = rng.integers(-1, 2, len(truth))

    def shifted(labels: Maps, by: Matrix) -> Maps:
        return np.stack([np.roll(row, shift) for row, shift in zip(labels, by, strict=True)])

    return shifted(truth, walk), shifted(predicted, walk + noise)


def by_segbench(truth: Maps, predicted: Maps) -> Matrix:
    """Count with segbench, whose last column holds pixels predicted outside the classes."""
    return segbench.count(truth, predicted, segbench.Labels(classes=CLASSES)).matrix[:, :-1]


def by_bincount(truth: Maps, predicted: Maps) -> Matrix:
    """Count as most repositories do."""
    kept = truth != VOID
    index = truth[kept].astype(np.int64) * CLASSES + predicted[kept]
    return np.bincount(index, minlength=CLASSES**2).reshape(CLASSES, CLASSES)


def by_small_cells(truth: Maps, predicted: Maps) -> Matrix:
    """Count all cells of 8-bit labels, and take those of the classes."""
    cells = truth.astype(np.uint16).ravel() << 8
    cells |= predicted.ravel()
    return np.bincount(cells, minlength=1 << 16).reshape(256, 256)[:CLASSES, :CLASSES]


@njit
def _counted(truth: NDArray[np.uint8], predicted: NDArray[np.uint8]) -> NDArray[np.int64]:
    table = np.zeros((256, 256), np.int64)
    for i in range(truth.size):
        table[truth[i], predicted[i]] += 1
    return table


def by_plain_loop(truth: Maps, predicted: Maps) -> Matrix:
    """Count as most would write it with Numba, void in a row of its own."""
    matrix: Matrix = _counted(truth.ravel(), predicted.ravel())[:CLASSES, :CLASSES]
    return matrix


def by_opencv(truth: Maps, predicted: Maps) -> Matrix:
    """Count with OpenCV, in float32; what is outside the ranges is left out."""
    import cv2

    cv2.setNumThreads(1)
    matrix = cv2.calcHist([truth, predicted], [0, 1], None, [CLASSES, CLASSES], [0, CLASSES, 0, CLASSES])
    return matrix.astype(np.int64)


def by_torch(truth: Maps, predicted: Maps) -> Matrix:
    """Count all cells of 8-bit labels with PyTorch, and take those of the classes."""
    import torch

    torch.set_num_threads(1)
    cells = torch.from_numpy(truth).ravel().int() * 256 + torch.from_numpy(predicted).ravel()
    return torch.bincount(cells, minlength=1 << 16).numpy().reshape(256, 256)[:CLASSES, :CLASSES]


def by_sklearn(truth: Maps, predicted: Maps) -> Matrix:
    """Count with scikit-learn."""
    from sklearn.metrics import confusion_matrix

    kept = truth != VOID
    matrix: Matrix = confusion_matrix(truth[kept], predicted[kept], labels=range(CLASSES))
    return matrix


def by_torchmetrics(truth: Maps, predicted: Maps, *, checks: bool = True) -> Any:  # noqa: ANN401 - a tensor
    """Count with torchmetrics: with checks labels are int64, as its documentation has them, else a byte each."""
    import torch
    from torchmetrics.functional.classification import multiclass_confusion_matrix

    torch.set_num_threads(1)
    maps = torch.from_numpy(predicted), torch.from_numpy(truth)
    if checks:
        maps = maps[0].long(), maps[1].long()
    return multiclass_confusion_matrix(*maps, CLASSES, ignore_index=VOID, validate_args=checks)
