"""Named small drawings with counts worked by hand, and folders made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import segbench

DEMO = Path(segbench.__file__).parents[1] / "datasets" / "demo" / "objects"

# R&P tables 6 and 7 (8 and 9): two images, pooled P = 9, N = 23. At .5: TP 2 + 2, FP 1 + 2.
FIRST_TRUTH = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]], np.uint8)
FIRST_SCORES = np.array([[0.5, 0, 0, 0], [0, 1, 0, 0], [0, 0.25, 0.75, 0], [0, 0, 0, 0.25]])
SECOND_TRUTH = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], np.uint8)
SECOND_SCORES = np.array([[0.6, 0, 0, 0], [0.8, 0.4, 0, 0], [0, 0.7, 0.8, 0], [0, 0, 0, 0]])


def write_folder(folder: Path, arrays: Mapping[str, NDArray]) -> Path:
    """Write arrays as files, the extension of each name saying how."""
    for name, array in arrays.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".npy":
            np.save(path, array, allow_pickle=array.dtype == object)
        elif path.suffix == ".png":
            Image.fromarray(array).save(path)
        else:
            iio.imwrite(path, array)
    return folder


def write_texts(folder: Path, **texts: str) -> Path:
    """Write texts as files, named without their extension, .txt."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def write_papers(root: Path) -> tuple[Path, Path]:
    """Write the papers' two images: masks as PNG, scores as NPY."""
    truth = write_folder(root / "gt", {"first.png": FIRST_TRUTH * 255, "second.png": SECOND_TRUTH * 255})
    scores = write_folder(root / "pred", {"first.npy": FIRST_SCORES, "second.npy": SECOND_SCORES})
    return truth, scores


def drawn(*rows):
    """Return a mask, its pixels drawn as ``#``."""
    return np.array([[letter == "#" for letter in row] for row in rows])


def labels_and_scores(pixels):
    """Return arrays of the labels and of the scores of pixels that are given as pairs."""
    labels, scores = zip(*pixels, strict=True)
    return np.array(labels), np.array(scores)


def score_counts(pairs):
    """Return counts with these positives and negatives per level, the highest score first."""
    positives, negatives = zip(*pairs, strict=True)
    return segbench.ScoreCounts(np.arange(len(pairs))[::-1], positives, negatives)


def demo(name, method="soft_otsu"):
    """Read ground truth and scores of an image that ships."""
    return (np.asarray(Image.open(DEMO / kind / f"{name}.png")) for kind in ("ground_truth", f"predictions/{method}"))


def accumulated(names, **options):
    """Accumulate images that ship."""
    accumulator = segbench.Accumulator(**options)
    for name in names:
        accumulator.update(*demo(name), name=name)
    return accumulator


def save_cell(path: Path, boundaries: Sequence[NDArray]) -> Path:
    """Write a ground truth as BSDS500 does: a cell with a struct an annotator."""
    from scipy.io import savemat

    cell = np.empty((1, len(boundaries)), object)
    for place, drawn in enumerate(boundaries):
        cell[0, place] = {"Segmentation": 1 + drawn.astype(np.uint16), "Boundaries": drawn.astype(np.uint8)}
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"groundTruth": cell})
    return path
