"""The saliency protocol beside PySODMetrics: S, E, F, weighted F and MAE."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import imageio.v3 as iio
import numpy as np

import segbench
from peer_tables.contests import Contest, Effort, Way
from peer_tables.images import SHIPPED, MaskImage
from peer_tables.programs import PYSODMETRICS, SEGBENCH

KEYS = ("mae", "s_measure", "e_adaptive", "e_mean", "e_max", "f_adaptive", "f_mean", "f_max", "weighted_f")


def contests(effort: Effort) -> Iterator[Contest]:
    """Cover the objects that ship, and SOD where the environment names it."""
    root = os.environ.get("SEGBENCH_SOD")
    sets = {"objects that ship": (str(SHIPPED / "objects"), "soft_otsu")}
    if root:
        sets["images of SOD"] = (root, min(path.name for path in (Path(root) / "predictions").iterdir()))
    for name, source in sets.items():
        most = 2 if effort.quick else 9
        yield Contest(
            f"{most} {name}",
            images,
            (*source, most),
            (Way(SEGBENCH, by_segbench), Way(PYSODMETRICS, by_pysodmetrics)),
            list,
            images=most,
        )


def images(root: str, method: str, most: int) -> tuple[list[MaskImage]]:
    """Read the first maps of a method, and their masks."""
    folder = Path(root)
    return (
        [
            MaskImage(path.stem, iio.imread(path), np.where(drawn > drawn.max() / 2, 255, 0).astype(np.uint8))
            for path in sorted((folder / "predictions" / method).glob("*.png"))[:most]
            for drawn in [iio.imread(folder / "ground_truth" / path.name)]
        ],
    )


def by_segbench(masks: Sequence[MaskImage]) -> list[float]:
    """Measure each image, then the set."""
    counts = {
        image.name: segbench.count(image.ground_truth, image.scores, segbench.Saliency(positive=">128"))
        for image in masks
    }
    summary = segbench.Saliency().table(counts).summary()
    return [summary[key] for key in KEYS]


def by_pysodmetrics(masks: Sequence[MaskImage]) -> list[float]:
    """Step through the images with the class of each metric."""
    import py_sod_metrics as peer

    mae, structure, alignment, f = peer.MAE(), peer.Smeasure(), peer.Emeasure(), peer.Fmeasure()
    weighted_f = peer.WeightedFmeasure()
    for image in masks:
        for metric in (mae, structure, alignment, f, weighted_f):
            metric.step(image.scores, image.ground_truth)
    numbers = [mae.get_results()["mae"], structure.get_results()["sm"]]
    for results in (alignment.get_results()["em"], f.get_results()["fm"]):
        numbers += [results["adp"], np.mean(results["curve"]), np.max(results["curve"])]
    return [*map(float, numbers), float(weighted_f.get_results()["wfm"])]
