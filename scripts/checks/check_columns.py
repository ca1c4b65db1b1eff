"""Whether metrics that papers add to stored counts are those of independent code, on random sets.

    python scripts/checks/check_columns.py [--sets 200]

Draws sets of expressions with and without targets (metrics of referring segmentation, in fractions), and of roads that
are shifted, lost or added (correctness, completeness and quality, by distance transforms), and soft maps of polyps
(means and maxima over thresholds, in fractions), small targets (centroids in fractions), detections of instances and
components with scores (FROC in fractions, and as the script of LUNA16 interpolates), and label maps with bands along
borders (a distance transform for each class). Tests check some of them.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

from segbench import Contours, Labels, Objects, ScoredObjects, count

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / "tests" / name)
    for name in (".", "protocols/labels", "protocols/contours", "protocols/saliency", "protocols/objects")
)
import test_bands
import test_buffer
import test_froc
import test_polyps
import test_referring
import test_targets

LARGEST = 1e-12
Pair = tuple[float, float]
"""A metric as segbench has it, and as independent code."""


def _pairs(tests: ModuleType, images: object) -> Iterator[Pair]:
    """Compare the metrics of images with those of the independent code of a module of tests."""
    summary = tests.summary(images)
    for key, expected in tests.peer(images).items():
        yield summary[key], expected


def of_expressions(rng: np.random.Generator) -> Iterator[Pair]:
    """Compare the metrics of referring segmentation of a random set."""
    return _pairs(test_referring, test_referring.drawn_samples(rng))


def of_roads(rng: np.random.Generator) -> Iterator[Pair]:
    """Compare correctness, completeness and quality of a random set."""
    pairs = [test_buffer.drawn_pair(rng) for _ in range(rng.integers(1, 6))]
    tolerance = float(rng.choice([0, 1, 1.5, 2, 3]))
    protocol = Contours(nsd=tolerance)
    counts = {str(number): count(truth, predicted, protocol) for number, (truth, predicted) in enumerate(pairs)}
    summary = protocol.table(counts).summary()
    values = np.array([test_buffer.peer(*pair, tolerance) for pair in pairs])
    for key, of_images in zip(test_buffer.KEYS, values.T, strict=True):
        defined = of_images[~np.isnan(of_images)]
        expected = float(defined.mean()) if defined.size else math.nan
        yield summary[key.replace("@2", f"@{tolerance:g}")], expected


def of_polyps(rng: np.random.Generator) -> Iterator[Pair]:
    """Compare means and maxima over thresholds of a random set."""
    return _pairs(test_polyps, test_polyps.drawn_images(rng))


def of_targets(rng: np.random.Generator) -> Iterator[Pair]:
    """Compare Pd and Fa of a random set."""
    return _pairs(test_targets, test_targets.drawn_pairs(rng))


def of_detections(rng: np.random.Generator) -> Iterator[Pair]:
    """Compare FROC of a random set of instances, and of components; that of LUNA16's script, too."""
    hit_iou = rng.choice([None, 0.25])
    instances, maps = test_froc.drawn_instances(rng), test_froc.drawn_maps(rng)
    of_instances, of_maps = test_froc.of_classes(instances, hit_iou), test_froc.of_components(maps, hit_iou)
    for interpolate in (False, True):
        settings = {"hit_iou": hit_iou, "interpolate": interpolate}
        components = Objects(kind="components", at=0.5, **settings)
        for images, protocol, classes in (
            (instances, ScoredObjects(**settings), of_instances),
            (maps, components, of_maps),
        ):
            measured, expected = test_froc.summary(images, protocol), test_froc.peer(classes, interpolate=interpolate)
            yield from ((measured[key], float(value)) for key, value in expected.items())
    if sum(objects for objects, _ in of_maps[0]):
        yield test_froc.summary(maps, components)["froc"], test_froc.as_luna16(of_maps[0])


def of_bands(rng: np.random.Generator) -> Iterator[Pair]:
    """Compare mIoU and every count of a random label map without a band along borders, and of the band alone."""
    truth, predicted, classes, field, radius = test_bands.drawn_maps(rng)
    for setting in ("void_band", "only_band"):
        counts = count(truth, predicted, Labels(classes=classes, **{setting: radius}), field)
        expected = test_bands.peer(truth, predicted, classes, field=field, **{setting: radius})
        yield counts.metrics()["miou"], test_bands.miou(expected)
        yield from zip(counts.matrix[:, :classes].ravel().tolist(), expected.ravel().tolist(), strict=True)


CHECKS: dict[str, Callable[[np.random.Generator], Iterator[Pair]]] = {
    "referring segmentation": of_expressions,
    "roads": of_roads,
    "polyps": of_polyps,
    "small targets": of_targets,
    "FROC": of_detections,
    "bands": of_bands,
}


def difference(pair: Pair) -> float:
    """Return how far both values are apart: 0 where both are undefined, infinite where one is."""
    if any(map(math.isnan, pair)):
        return 0.0 if all(map(math.isnan, pair)) else math.inf
    return abs(pair[0] - pair[1])


def main() -> None:
    """Print the largest difference of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    sets = parser.parse_args().sets
    failed = False
    for name, compare in CHECKS.items():
        differences = [difference(pair) for seed in range(sets) for pair in compare(np.random.default_rng(seed))]
        print(f"{name}: {len(differences)} values of {sets} sets, largest difference {max(differences):.3g}")
        failed |= max(differences) > LARGEST
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
