"""Confusion matrices of label maps: segbench beside NumPy's bincount, scikit-learn and torchmetrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import zoom

import segbench
from peer_tables.contests import Contest, Effort, Way
from peer_tables.programs import NUMPY, SCIKIT_LEARN, SEGBENCH, TORCHMETRICS

SHAPE, CLASSES, VOID = (1024, 2048), 19, 255
Maps = NDArray[np.uint8]
Matrix = NDArray[np.int64]


def contests(effort: Effort) -> Iterator[Contest]:
    """Straight borders of large areas, and borders that are not straight."""
    shape = (128, 256) if effort.quick else SHAPE
    for what, function in (("straight borders", scene), ("ragged borders", ragged)):
        yield Contest(
            f"{shape[0]}x{shape[1]}, {CLASSES} classes, {what}",
            function,
            (0, shape),
            (
                Way(SEGBENCH, by_segbench),
                Way(NUMPY, by_bincount, "NumPy, bincount"),
                Way(SCIKIT_LEARN, by_sklearn),
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
    return segbench.count_labels(truth, predicted, classes=CLASSES).matrix[:, :-1]


def by_bincount(truth: Maps, predicted: Maps) -> Matrix:
    """Count as most repositories do."""
    kept = truth != VOID
    index = truth[kept].astype(np.int64) * CLASSES + predicted[kept]
    return np.bincount(index, minlength=CLASSES**2).reshape(CLASSES, CLASSES)


def by_sklearn(truth: Maps, predicted: Maps) -> Matrix:
    """Count with scikit-learn."""
    from sklearn.metrics import confusion_matrix

    kept = truth != VOID
    matrix: Matrix = confusion_matrix(truth[kept], predicted[kept], labels=range(CLASSES))
    return matrix


def by_torchmetrics(truth: Maps, predicted: Maps) -> Any:  # noqa: ANN401 - a tensor
    """Count with torchmetrics."""
    import torch
    from torchmetrics.functional.classification import multiclass_confusion_matrix

    torch.set_num_threads(1)
    given = torch.from_numpy(predicted).long(), torch.from_numpy(truth).long()
    return multiclass_confusion_matrix(*given, CLASSES, ignore_index=VOID)
