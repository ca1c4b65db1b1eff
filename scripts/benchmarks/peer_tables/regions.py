"""Variation of information and adapted Rand error: segbench beside scikit-image, on label maps of several thresholds.

scikit-image compares two label maps per call, and is asked for both metrics. segbench's one call takes all maps of an
image and all annotators, and counts covering and the Rand index as well. The label maps are made beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bsds500
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.io import loadmat
from skimage.metrics import adapted_rand_error, variation_of_information

import segbench
from peer_tables.contests import Contest, Effort, Way
from peer_tables.images import shipped_edges
from peer_tables.programs import SCIKIT_IMAGE, SEGBENCH
from segbench.inputs.region_maps import regions_of
from segbench.protocols.regions.counting import count_regions

_CONNECTED = np.ones((3, 3))


@dataclass(frozen=True, eq=False)
class LabelMaps:
    """Segmentations of an image, one a threshold, and its annotators' label maps."""

    segmentations: list[NDArray[Any]]
    ground_truths: list[NDArray[Any]]


def contests(effort: Effort) -> Iterator[Contest]:
    """All maps with all annotators, and one pair of maps per image."""
    ways = Way(SEGBENCH, by_segbench), Way(SCIKIT_IMAGE, by_scikit_image)
    few, many = (1, 9) if effort.quick else (9, 99)
    sets: dict[str, tuple[Any, tuple[Any, ...], int]] = {
        "images that ship, 5 maps": (shipped_label_maps, (few, 5), few)
    }
    folder = bsds500.folder()
    if folder is not None:
        number = 1 if effort.quick else 3
        sets[f"images of BSDS500, {many} maps"] = (bsds_label_maps, (str(folder), number, many), number)
    for name, (load, arguments, number) in sets.items():
        for alone in (False, True):
            title = f"{name.partition(',')[0]}, one map, one annotator" if alone else f"{name}, all annotators"
            yield Contest(f"{number} {title}", load, (*arguments, alone), ways, values, images=number, rounds=3)


def shipped_label_maps(most: int, thresholds: int, alone: bool) -> tuple[list[LabelMaps]]:  # noqa: FBT001
    """Label what lies between edges: of soft edge maps that ship where they are low, and of their ground truth."""
    cuts = np.arange(1, thresholds + 1) / (2 * thresholds)
    return _chosen(
        [
            LabelMaps(
                [ndimage.label(image.scores / 255 < cut)[0] for cut in cuts],
                [ndimage.label(~truth)[0] for truth in image.ground_truths],
            )
            for image in shipped_edges(most=most)
        ],
        alone=alone,
    )


def bsds_label_maps(folder: str, most: int, thresholds: int, alone: bool) -> tuple[list[LabelMaps]]:  # noqa: FBT001
    """Label the regions of ultrametric contour maps at ``k / (K + 1)``."""
    cuts = np.arange(1, thresholds + 1) / (thresholds + 1)
    return _chosen(
        [
            LabelMaps(
                [ndimage.label(ucm2 <= cut, _CONNECTED)[0][1::2, 1::2] for cut in cuts],
                bsds500.annotators(Path(folder), path.stem, "Segmentation"),
            )
            for path in sorted((Path(folder) / "ucm2").glob("*.mat"))[:most]
            for ucm2 in [loadmat(path)["ucm2"]]
        ],
        alone=alone,
    )


def _chosen(images: list[LabelMaps], *, alone: bool) -> tuple[list[LabelMaps]]:
    """Return all; or `alone` of each image one segmentation, the middle one, and one annotator."""
    middle = [LabelMaps([m.segmentations[len(m.segmentations) // 2]], m.ground_truths[:1]) for m in images]
    return (middle if alone else images,)


def by_segbench(images: Sequence[LabelMaps]) -> list[NDArray[np.float64]]:
    """Return VOI and adapted Rand error of each image at each threshold, means over annotators."""
    curves = [
        segbench.region_curve(count_regions(regions_of(maps.ground_truths, maps.segmentations))) for maps in images
    ]
    return [np.array([curve.voi, curve.adapted_rand_error]) for curve in curves]


def by_scikit_image(images: Sequence[LabelMaps]) -> list[NDArray[np.float64]]:
    """Return the same by scikit-image."""
    return [
        np.mean(
            [
                [
                    (sum(variation_of_information(truth, drawn)), adapted_rand_error(truth, drawn, ignore_labels=())[0])
                    for truth in maps.ground_truths
                ]
                for drawn in maps.segmentations
            ],
            axis=1,
        ).T
        for maps in images
    ]


def values(curves: Sequence[NDArray[np.float64]]) -> list[float]:
    """List all numbers."""
    numbers: list[float] = np.concatenate([curve.ravel() for curve in curves]).tolist()
    return numbers
