"""Variation of information and adapted Rand error: segbench beside scikit-image, on label maps of several thresholds.

scikit-image compares two label maps a call, and is asked for both figures. segbench's one call takes all maps of an
image and all annotators, and counts covering and the Rand index as well. The label maps are made beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bsds500 import annotators
from measuring import duration, factor, in_turn, markdown, times_as_long
from numpy.typing import NDArray
from scipy import ndimage
from scipy.io import loadmat
from skimage.metrics import adapted_rand_error, variation_of_information

import segbench
from peer_tables.images import shipped_edges
from segbench.protocols.regions.settings import compile_kernels

_ROUNDS = 3
_CONNECTED = np.ones((3, 3))
OURS, PEER = "segbench", "scikit-image"


@dataclass(frozen=True, eq=False)
class LabelMaps:
    """Segmentations of an image, one a threshold, and its annotators' label maps."""

    segmentations: list[NDArray[Any]]
    ground_truths: list[NDArray[Any]]


def shipped_label_maps(thresholds: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5)) -> list[LabelMaps]:
    """Label what lies between edges: of soft edge maps that ship where they are low, and of their ground truth."""
    return [
        LabelMaps(
            [ndimage.label(image.scores / 255 < threshold)[0] for threshold in thresholds],
            [ndimage.label(~truth)[0] for truth in image.ground_truths],
        )
        for image in shipped_edges()
    ]


def bsds_label_maps(folder: Path, most: int, thresholds: int = 99) -> list[LabelMaps]:
    """Label the regions of ultrametric contour maps at ``k / (K + 1)``."""
    cuts = np.arange(1, thresholds + 1) / (thresholds + 1)
    return [
        LabelMaps(
            [ndimage.label(ucm2 <= cut, _CONNECTED)[0][1::2, 1::2] for cut in cuts],
            annotators(folder, path.stem, "Segmentation"),
        )
        for path in sorted((folder / "ucm2").glob("*.mat"))[:most]
        for ucm2 in [loadmat(path)["ucm2"]]
    ]


def by_segbench(maps: LabelMaps) -> NDArray[np.float64]:
    """Give VOI and adapted Rand error at each threshold, means over annotators."""
    curve = segbench.region_curve(segbench.count_regions(maps.segmentations, maps.ground_truths))
    return np.array([curve.voi, curve.adapted_rand_error])


def by_scikit_image(maps: LabelMaps) -> NDArray[np.float64]:
    """Give the same."""
    answers = [
        [
            (sum(variation_of_information(truth, labels)), adapted_rand_error(truth, labels, ignore_labels=())[0])
            for truth in maps.ground_truths
        ]
        for labels in maps.segmentations
    ]
    return np.mean(answers, axis=1).T


def rows_of(what: str, images: Sequence[LabelMaps], rounds: int = _ROUNDS) -> list[list[str]]:
    """Give a row a program: label maps and annotators an image, time an image, times ours, largest differences."""
    compile_kernels()
    answers = {name: [by(maps) for maps in images] for name, by in ((OURS, by_segbench), (PEER, by_scikit_image))}
    voi, error = np.max([np.abs(a - b).max(axis=1) for a, b in zip(answers[OURS], answers[PEER], strict=True)], axis=0)
    ways: dict[str, Callable[[], object]] = {
        OURS: lambda: [by_segbench(maps) for maps in images],
        PEER: lambda: [by_scikit_image(maps) for maps in images],
    }
    seconds = in_turn(ways, rounds)
    return [
        [what, OURS, duration(float(np.median(seconds[OURS])) / len(images)), "", "", ""],
        [
            what,
            PEER,
            duration(float(np.median(seconds[PEER])) / len(images)),
            factor(times_as_long(seconds[PEER], seconds[OURS])),
            f"{voi:.0e}",
            f"{error:.0e}",
        ],
    ]


def one_to_one(images: Sequence[LabelMaps]) -> list[LabelMaps]:
    """Keep one segmentation, the middle one, and one annotator of each image."""
    return [LabelMaps([m.segmentations[len(m.segmentations) // 2]], m.ground_truths[:1]) for m in images]


def report(sets: dict[str, list[LabelMaps]], rounds: int = _ROUNDS) -> str:
    """Write the table."""
    rows = []
    for name, images in sets.items():
        several = f"{name}, {len(images[0].segmentations)} maps, all annotators"
        rows += rows_of(several, images, rounds) + rows_of(
            f"{name}, one map, one annotator", one_to_one(images), rounds
        )
    return markdown(["images", "program", "an image", "times ours", "VOI off by", "ARE off by"], rows)
