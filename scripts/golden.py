"""Record what segbench computes, and compare a later version with the record.

    python scripts/golden.py write [SET ...]
    python scripts/golden.py compare [SET ...] [--tolerance 1e-12]

The sets are demo, papers, synthetic, contours, centerlines, objects, bsds500 and bsds500_long.

Each set of data has a file in ``tests/golden/``: every protocol under many settings, with its counts (digests),
summary, values of each image, intervals, comparisons and signatures. Without names, all sets are meant; ``bsds500``
and ``bsds500_long`` need ``SEGBENCH_BSDS500`` and are left out without it.

Both print every difference from the record, `write` before it replaces the record: one group for each metric (or
signatures, counts, texts), the group with the largest difference first. Read them all before you commit a new record:
each difference must be one that the change was made for. `compare` exits with 1 if a rule is broken:

- Counts, signatures (without the version), and which entries exist are the same.
- Estimates (summary, values of images, differences) are the same to the last bit. On another processor, the
  C library may round the last bit differently: ``--tolerance 1e-12`` allows that.
- Intervals, p-values, wins and rank shares agree to 1e-12: summing in another order is fine.
- Texts (notes, reasons) may be reworded: a difference is printed and breaks no rule.

A new metric is an entry that the record lacks; record it with `write`. Other changes made on purpose are recorded, too,
or, while the record must stay as it is, listed with their reason in ``tests/golden/exceptions.toml``::

    [[exception]]
    entries = "demo / pixels * / * / sampled / *ois_f*"
    reason = "images left out now break ties as the estimate does"
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.io import savemat

import segbench
from segbench import (
    Annotators,
    Anomalies,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    Regions,
    Repairs,
    Result,
    Saliency,
    evaluate,
)
from segbench.core.numbers import many

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
DATASETS = ROOT / "datasets"
RESAMPLING = {"replicates": 50, "seed": 0}  # what breaks a formula shows in few as well as in many
SAMPLED = 1e-12

Cases = Iterator[tuple[str, Sequence[Result]]]
Entry = tuple[str, ...]


class Difference(NamedTuple):
    """An entry that is not as recorded."""

    entry: Entry
    recorded: object
    computed: object
    allowed: float
    reason: str = ""

    @property
    def size(self) -> float:
        """How far two numbers are apart; infinite for anything else."""
        both = self.recorded, self.computed
        numbers = all(isinstance(value, int | float) and math.isfinite(value) for value in both)
        return abs(both[0] - both[1]) if numbers else math.inf  # type: ignore[operator]  # numbers, as just checked

    @property
    def subject(self) -> Entry:
        """What has changed, in any case of any method: ``("summary", "ods_f")``, ``("counts",)``."""
        kind, *below = self.entry[3:]
        depth = {"counts": 0, "images": 2}.get(kind, 1)
        return (kind, *below[max(depth - 1, 0) : depth])

    @property
    def broken(self) -> bool:
        """Whether a rule is broken, and no exception covers it."""
        return not (self.reason or self.size <= self.allowed or self.allowed == math.inf)

    def __str__(self) -> str:
        """Describe the difference in one line."""
        verdict = "BROKEN" if self.broken else self.reason or "allowed"
        size = f" ({self.size:.3g})" if self.size < math.inf else ""
        return f"{verdict}: {' / '.join(self.entry)}: {self.recorded} -> {self.computed}{size}"


# The data and the settings


def demo(_folder: Path) -> Cases:
    """Yield the photographs that ship: masks of objects, and boundaries of one or two annotators."""
    objects, edges = (DATASETS / "demo" / part for part in ("objects", "edges"))
    truths = {"objects": objects / "ground_truth", "edges": edges / "ground_truth"}
    soft = [
        objects / "predictions" / name for name in ("border_colours", "local_entropy", "random_walker", "soft_otsu")
    ]
    thin = [edges / "predictions" / name for name in ("canny_votes", "entropy_gradient", "gradient", "half_discs")]
    count = partial(evaluate, truths["objects"])
    match = partial(evaluate, truths["edges"], gt_pattern="*.#")
    yield "pixels", [count(path) for path in soft]
    yield "pixels, inverted", [count(soft[0], Pixels(invert=True))]
    yield "pixels, black is positive", [count(soft[1], Pixels(positive="0"))]
    yield "pixels at tuned thresholds", [count(soft[2], thresholds=segbench.tuned_thresholds(count(soft[3])))]
    for rule in ("any", "all", "majority", "each"):
        yield f"pixels, annotators {rule}", [match(path, Pixels(annotators=rule)) for path in thin[:2]]
    yield "boundaries", [match(path, Boundaries(thresholds=9)) for path in thin]
    yield "boundaries, 99 thresholds", [match(thin[2], Boundaries())]
    for setting, protocol in {
        "not thinned": Boundaries(thresholds=4, thin=False),
        "wide tolerance": Boundaries(thresholds=4, max_dist=0.02),
        "suppressed": Boundaries(thresholds=4, nms=(1, 5, 1.01)),
        "listed thresholds": Boundaries(thresholds=(0.1, 0.35, 0.8)),
    }.items():
        yield f"boundaries, {setting}", [match(path, protocol) for path in thin[2:]]
    yield "human", [match(None, Annotators(settings=Boundaries()), method="human")]
    yield "saliency", [count(path, Saliency()) for path in soft]
    labels = DATASETS / "demo" / "labels"
    maps = sorted((labels / "predictions").iterdir())
    yield "labels", [evaluate(labels / "ground_truth", path, Labels(classes=6)) for path in maps]


def papers(folder: Path) -> Cases:
    """Yield the examples of the papers; those of two images can be compared."""
    for example in sorted((DATASETS / "papers").iterdir()):
        predictions = sorted(example.glob("predictions*"))
        yield example.name, [evaluate(example / "ground_truth", path) for path in predictions]
    truth = np.zeros((2, 4, 4), np.uint8)
    truth[0, [1, 1, 2, 2, 3], [1, 2, 1, 2, 3]] = truth[1, :2, :2] = 1
    scores = np.zeros((2, 4, 4))
    scores[0, [0, 1, 2, 2, 3], [0, 1, 1, 2, 3]] = 0.5, 1, 0.25, 0.75, 0.25
    scores[1, [0, 1, 1, 2, 2], [0, 0, 1, 1, 2]] = 0.6, 0.8, 0.4, 0.7, 0.8
    names = ["first", "second"]
    predictions = {"scores": scores, "squared": scores**2}
    gt, *paths = _written(
        folder,
        {"gt": dict(zip(names, truth, strict=True))}
        | {method: dict(zip(names, maps, strict=True)) for method, maps in predictions.items()},
    )
    yield "tables_6_to_9 as arrays", [evaluate(gt, path) for path in paths]


def synthetic(folder: Path) -> Cases:
    """Yield drawings by a seeded generator: floats, masks, label maps, maps of classes and of contours."""
    yield from _synthetic_pixels(folder / "pixels")
    yield from _synthetic_classes(folder / "classes")
    yield from _synthetic_boundaries(folder / "boundaries")
    yield from _synthetic_regions(folder / "regions")
    yield from _synthetic_labels(folder / "labels")
    yield from _synthetic_saliency(folder / "saliency")
    yield from _synthetic_anomalies(folder / "anomalies")


def _synthetic_pixels(folder: Path) -> Cases:
    random = np.random.default_rng(1)
    truth = {f"im{k}": (random.random((30, 40)) < 0.1 + 0.05 * k).astype(np.uint8) * 255 for k in range(6)}
    soft = {
        method: {name: (random.random(mask.shape) + skill * (mask > 0)) / (1 + skill) for name, mask in truth.items()}
        for method, skill in {"weak": 0.2, "strong": 0.5}.items()
    }
    levels = {
        f"{method} 16 bits": _each(maps, lambda soft: (soft * 65535).astype(np.uint16)) for method, maps in soft.items()
    }
    single = {f"{method} float32": _each(maps, np.float32) for method, maps in soft.items()}
    ties = {
        f"{method} two digits": _each(maps, lambda soft: np.rint(soft * 100) / 100) for method, maps in soft.items()
    }
    masks = {f"{method} masks": _each(maps, lambda soft: soft > 0.6) for method, maps in soft.items()}
    halved = {"weak halved": _each(single["weak float32"], lambda soft: soft[::2, ::2])}
    void = {name: np.where(random.random(mask.shape) < 0.1, 128, mask).astype(np.uint8) for name, mask in truth.items()}
    field = _each(truth, lambda mask: (random.random(mask.shape) < 0.8).astype(np.uint8))
    everything = {"gt": truth, "void": void, "field": field, **levels, **single, **ties, **masks, **halved}
    at = dict(zip(everything, _written(folder, everything), strict=True))
    floats = [at[method] for method in single]
    for kind, methods in {"16 bits": levels, "float32": single, "two digits": ties, "masks": masks}.items():
        yield f"pixels, {kind}", [evaluate(at["gt"], at[method]) for method in methods]
    for setting, protocol in {
        "inverted": Pixels(invert=True),
        "8 bits": Pixels(quantize=8),
        "inverted, 16 bits": Pixels(invert=True, quantize=16),
    }.items():
        yield f"pixels, float32, {setting}", [evaluate(at["gt"], path, protocol) for path in floats]
    protocols = [Pixels(quantize=8), *[Pixels()] * (len(floats) - 1)]
    yield "pixels, some of 8 bits", [evaluate(at["gt"], *run) for run in zip(floats, protocols, strict=True)]
    yield "pixels, field", [evaluate(at["gt"], path, field=at["field"]) for path in floats]
    calibrated = Pixels(at=(0.3, 0.5), calibration=True)
    yield "pixels, at thresholds and calibration", [evaluate(at["gt"], path, calibrated) for path in floats]
    for setting, protocol in {"void": Pixels(void=(128,)), "two positive values": Pixels(positive=">=128")}.items():
        yield f"pixels, {setting}", [evaluate(at["void"], path, protocol) for path in floats]
    for setting, repairs in {"minmax": Repairs(scale="minmax"), "divided": Repairs(scale=2.0)}.items():
        yield f"pixels, scaled: {setting}", [evaluate(at["gt"], path, repairs=repairs) for path in floats]
    for how in ("nearest", "bilinear"):
        yield f"pixels, resized: {how}", [evaluate(at["gt"], at["weak halved"], repairs=Repairs(resize=how))]
    accumulator = segbench.Accumulator(method="unnamed")
    for name, mask in truth.items():
        accumulator.update(mask, single["strong float32"][name])
    yield "pixels without names", [accumulator.compute()]


def _synthetic_classes(folder: Path) -> Cases:
    random = np.random.default_rng(2)
    truth = {f"im{k}": random.integers(0, 4, (20, 30)).astype(np.uint8) for k in range(5)}
    truth = _each(truth, lambda labels: np.where(labels == 3, 255, labels).astype(np.uint8))
    soft = {
        method: _each(truth, lambda labels, skill=skill: _stack(random, labels, skill))
        for method, skill in {"weak": 0.2, "strong": 0.6}.items()
    }
    gt, *paths = _written(folder, {"gt": truth, **soft})
    for setting, protocol in {
        "three": Classes(labels=range(3), names=["road", "person", "car"]),
        "8 bits": Classes(labels=range(3), quantize=8),
        "inverted": Classes(labels=range(3), invert=True),
        "void": Classes(labels=range(3), void=(7, 255)),
    }.items():
        results = [evaluate(gt, path, protocol) for path in paths]
        yield f"classes, {setting}", results
        if setting == "three":
            yield "classes, one of three", [result.parts("class")["person"] for result in results]
            yield "classes, micro", [result.parts("class").pooled for result in results]


def _synthetic_boundaries(folder: Path) -> Cases:
    random = np.random.default_rng(3)
    labels = {f"im{k}.{who}": _plots(random, (40, 50), 4) for k in range(5) for who in (1, 2)}
    lines = _each(labels, lambda plots: segbench.label_boundaries(plots).astype(np.uint8))
    soft = {
        method: {
            f"im{k}": np.rint((0.7 * lines[f"im{k}.1"] + noise * random.random((40, 50))) * 100) / 200 for k in range(5)
        }
        for method, noise in {"quiet": 0.7, "noisy": 1.0}.items()
    }
    gt, plots, *paths = _written(folder, {"lines": lines, "plots": labels, **soft})
    for setting, truth, protocol in (
        ("lines", gt, Boundaries(thresholds=9)),
        ("label maps", plots, Boundaries(thresholds=5, label_maps=True)),
        ("inverted", gt, Boundaries(thresholds=5, invert=True)),
        ("suppressed and smoothed", gt, Boundaries(thresholds=5, nms=(2, 3, 1.1), smoothing=2)),
        ("equal pixels", gt, Boundaries(thresholds=5, max_dist=0)),
    ):
        yield f"boundaries, {setting}", [evaluate(truth, path, protocol, gt_pattern="*.#") for path in paths]
    human = evaluate(gt, None, Annotators(settings=Boundaries(max_dist=0.03)), gt_pattern="*.#", method="human")
    yield "human", [human]


def _synthetic_regions(folder: Path) -> Cases:
    random = np.random.default_rng(4)
    truth = {f"im{k}.{who}": _plots(random, (30, 40), 4) for k in range(5) for who in (1, 2)}
    plots = {
        method: {f"im{k}": _plots(random, (30, 40), side) for k in range(5)}
        for method, side in (("few", 3), ("many", 6))
    }
    contours = {
        method: {f"im{k}": _contours(random, (30, 40), share) for k in range(5)}
        for method, share in (("sparse", 0.1), ("dense", 0.3))
    }
    field = {f"im{k}": (random.random((30, 40)) < 0.8).astype(np.uint8) for k in range(5)}
    everything = {"gt": truth, "field": field, **plots, **contours}
    at = dict(zip(everything, _written(folder, everything), strict=True))
    for method, maps in contours.items():
        for image, ucm2 in maps.items():
            savemat(at[method] / f"{image}.mat", {"ucm2": ucm2})
            (at[method] / f"{image}.npy").unlink()
    count = partial(evaluate, at["gt"], gt_pattern="*.#")
    for kind, methods in {"label maps": plots, "contours": contours}.items():
        yield f"regions, {kind}", [count(at[method], Regions(thresholds=9)) for method in methods]
    yield "regions, void", [count(at[method], Regions(void=(1,), thresholds=(0.2, 0.5))) for method in contours]
    yield "regions, field", [count(at[method], Regions(), field=at["field"]) for method in plots]


def _synthetic_labels(folder: Path) -> Cases:
    random = np.random.default_rng(5)
    truth = {f"im{k}": random.integers(0, 4 - k % 2, (20, 30)).astype(np.uint8) for k in range(7)}
    truth["im0"][:2] = 255
    maps = {
        method: _each(truth, lambda labels, right=right: _confused(random, labels, right))
        for method, right in {"weak": 0.5, "strong": 0.8}.items()
    }
    masks = {
        f"mask {name}": _each(labels, lambda labels: labels == 1) for name, labels in {"gt": truth, **maps}.items()
    }
    everything = {"gt": truth, **maps, **masks}
    at = dict(zip(everything, _written(folder, everything), strict=True))
    for setting, protocol in {
        "four": Labels(classes=4, void=(255,)),
        "three of four": Labels(classes=3, void=(3, 255)),
        "remapped": Labels(classes="a=0,b=1,c=2,d=3", void=(255,), pred_map="0=1,1=0"),
    }.items():
        yield f"labels, {setting}", [evaluate(at["gt"], at[method], protocol) for method in maps]
    yield "labels, masks", [evaluate(at["mask gt"], at[f"mask {method}"], Labels()) for method in maps]


def _synthetic_saliency(folder: Path) -> Cases:
    random = np.random.default_rng(6)
    truth = {f"im{k}": _plots(random, (24, 32), 3) == 5 for k in range(7)}
    truth["im0"] = np.zeros((24, 32), np.bool_)
    soft = {
        method: _each(truth, lambda mask, skill=skill: (random.random(mask.shape) + skill * mask) / (1 + skill))
        for method, skill in {"weak": 0.3, "strong": 1.0}.items()
    }
    gt, *paths = _written(folder, {"gt": truth, **soft})
    yield "saliency, all measures", [evaluate(gt, path, Saliency()) for path in paths]


def _synthetic_anomalies(folder: Path) -> Cases:
    random = np.random.default_rng(7)
    truth = {f"im{k}": (_plots(random, (200, 200), 8) == 5) * (k > 2) for k in range(9)}  # with 1.2e5 normal pixels
    soft = {
        method: _each(truth, lambda mask, skill=skill: np.float32(random.normal(size=mask.shape) + skill * mask))
        for method, skill in {"weak": 2, "strong": 4}.items()
    }
    ties = {f"{method} two digits": _each(maps, lambda scores: np.rint(scores * 100)) for method, maps in soft.items()}
    void = _each(truth, lambda mask: np.where(random.random(mask.shape) < 0.1, 255, mask).astype(np.uint8))
    gt, left_out, *paths = _written(folder, {"gt": truth, "void": void, **soft, **ties})
    yield "anomalies, float32", [evaluate(gt, path, Anomalies()) for path in paths[:2]]
    yield "anomalies, two digits", [evaluate(gt, path, Anomalies()) for path in paths[2:]]
    yield "anomalies, void", [evaluate(left_out, path, Anomalies(void=(255,))) for path in paths[:2]]
    yield "anomalies, highest percent", [evaluate(gt, path, Anomalies(image_score="top1")) for path in paths[:2]]


def contours(folder: Path) -> Cases:
    """Yield contours of the demo's masks and label maps by every convention, and of drawn sequences."""
    objects, labels = DATASETS / "demo" / "objects", DATASETS / "demo" / "labels"
    paths = [objects / "predictions" / name for name in ("random_walker", "soft_otsu")]
    for setting, protocol in {
        "default": Contours(at=0.5, nsd=(0, 1, 2.5)),
        "medpy": Contours(at=0.5, convention="medpy"),
        "deepmind": Contours(at=0.5, convention="deepmind"),
        "spacing and diagonals": Contours(at=0.9, spacing=0.7, empty="diagonal", surface="lengths", hd95="union"),
    }.items():
        yield f"contours, {setting}", [evaluate(objects / "ground_truth", path, protocol) for path in paths]
    maps = sorted((labels / "predictions").iterdir())
    yield "contours, classes", [evaluate(labels / "ground_truth", path, Contours(classes=6)) for path in maps]
    random = np.random.default_rng(7)
    frames = {f"{name}/{k:02}": _plots(random, (24, 32), 3) % 4 for name in ("bear", "cat") for k in range(7)}
    moved = {f"by {far}": _each(frames, partial(np.roll, shift=far, axis=1)) for far in (1, 3)}
    gt, *paths = _written(folder, {"gt": frames, **moved})
    yield "contours, sequences", [evaluate(gt, path, Contours(convention="davis")) for path in paths]


def centerlines(_folder: Path) -> Cases:
    """Yield centerlines of the demo's masks by every skeleton, and of its soft maps over thresholds."""
    objects = DATASETS / "demo" / "objects"
    paths = [objects / "predictions" / name for name in ("random_walker", "soft_otsu")]
    for setting, protocol in {
        "default": Centerlines(at=0.5),
        "lee, edges": Centerlines(at=0.5, skeleton="lee", connectivity=4),
        "thin": Centerlines(at=0.5, skeleton="thin"),
        "medial axis": Centerlines(at=0.9, skeleton="medial-axis"),
        "thresholds": Centerlines(thresholds=5),
    }.items():
        yield f"centerlines, {setting}", [evaluate(objects / "ground_truth", path, protocol) for path in paths]


def objects(folder: Path) -> Cases:
    """Yield instances and panoptic maps drawn by a seeded generator, and components of the demo's masks."""
    random = np.random.default_rng(11)
    cells = {f"im{k}": _plots(random, (48, 64), 12 + k) for k in range(6)}
    moved = {f"by {far}": _each(cells, partial(np.roll, shift=far, axis=1)) for far in (1, 4)}
    merged = {"merged": _each(cells, lambda numbers: np.where(numbers % 3 == 1, numbers + 1, numbers))}
    gt, *paths = _written(folder / "instances", {"gt": cells, **moved, **merged})
    yield "objects, instances", [evaluate(gt, path, Objects(iou=(0.5, 0.65, 0.9))) for path in paths]
    yield "objects, void", [evaluate(gt, path, Objects(void=(1, 3))) for path in paths[:2]]
    ids = np.array([0, 7, 11, 26, 26000, 26001, 24000, 24001])
    panoptic = {"gt": cells} | moved | merged
    coded = {name: _each(maps, lambda numbers: ids[numbers % 8].astype(np.uint16)) for name, maps in panoptic.items()}
    gt, *paths = _written(folder / "panoptic", coded)
    classes = Objects(divisor=1000, classes="road=7,building=11,person=24,car=26", things="person,car")
    results = [evaluate(gt, path, classes) for path in paths]
    yield "objects, panoptic", results
    for name in ("road", "car"):
        yield f"objects, {name}", [result.parts("class")[name] for result in results]
    demo = DATASETS / "demo" / "objects"
    paths = [demo / "predictions" / name for name in ("random_walker", "soft_otsu")]
    for setting, protocol in {
        "components": Objects(kind="components", at=0.5),
        "components as SMIYC": Objects(kind="components", at="best", min_true=10, min_predicted=50),
        "components of 4": Objects(kind="components", at=0.5, connectivity=4),
    }.items():
        yield f"objects, {setting}", [evaluate(demo / "ground_truth", path, protocol) for path in paths]


def bsds500(_folder: Path) -> Cases:
    """Yield images of BSDS500: contour maps of gPb-owt-ucm, edges of HED, segmentations, and their annotators."""
    data = Path(os.environ["SEGBENCH_BSDS500"])
    count = partial(evaluate, data / "groundTruth")
    yield "boundaries, 9 thresholds", [count(data / name, Boundaries(thresholds=9)) for name in ("ucm2", "hed")]
    yield "regions, 9 thresholds", [count(data / "ucm2", Regions(thresholds=9))]
    yield "boundaries, suppressed", [count(data / "hed", Boundaries(thresholds=9, nms=(1, 5, 1.01)))]
    yield "boundaries, not thinned", [count(data / "hed", Boundaries(thresholds=5, thin=False))]
    yield "human", [count(None, Annotators(settings=Boundaries()), method="human")]
    for rule in ("any", "each"):
        yield f"pixels, annotators {rule}", [count(data / "hed", Pixels(annotators=rule))]


def bsds500_long(_folder: Path) -> Cases:
    """Yield of the same images what takes longest; the tests leave it out, since the demo has the same settings."""
    data = Path(os.environ["SEGBENCH_BSDS500"])
    count = partial(evaluate, data / "groundTruth")
    yield "boundaries, 99 thresholds", [count(data / name, Boundaries()) for name in ("ucm2", "hed")]
    yield "regions, 99 thresholds", [count(data / "ucm2", Regions())]
    yield "boundaries, wide tolerance", [count(data / "hed", Boundaries(thresholds=5, max_dist=0.02))]


def _each(arrays: Mapping[str, NDArray[Any]], change: Callable[..., NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: change(array) for name, array in arrays.items()}


def _written(folder: Path, folders: Mapping[str, Mapping[str, NDArray[Any]]]) -> list[Path]:
    """Write folders of NPY files, whose bytes depend on no version of an image library."""
    for name, arrays in folders.items():
        for image, array in arrays.items():
            path = folder / name / f"{image}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, array)
    return [folder / name for name in folders]


def _stack(random: np.random.Generator, labels: NDArray[Any], skill: float) -> NDArray[np.float32]:
    """Draw one soft map per class."""
    maps = [(random.random(labels.shape) + skill * (labels == k)) / (1 + skill) for k in range(3)]
    return np.stack(maps).astype(np.float32)


def _confused(random: np.random.Generator, labels: NDArray[np.uint8], right: float) -> NDArray[np.uint8]:
    """Draw a prediction that has the label of the ground truth at a share of the pixels."""
    guessed = random.integers(0, 4, labels.shape)
    return np.where((random.random(labels.shape) < right) & (labels < 4), labels, guessed).astype(np.uint8)


def _plots(random: np.random.Generator, shape: tuple[int, int], side: int) -> NDArray[np.uint8]:
    """Draw a label map of `side` rows by `side` columns of rectangles."""
    row, column = (
        np.searchsorted(np.sort(random.choice(size, side - 1, replace=False)), np.arange(size)) for size in shape
    )
    return np.asarray(1 + side * row[:, None] + column[None, :], np.uint8)


def _contours(random: np.random.Generator, shape: tuple[int, int], share: float) -> NDArray[np.float64]:
    """Draw an ultrametric contour map of double size: lines from side to side, each of one strength."""
    ucm2 = np.zeros([2 * size + 1 for size in shape])
    for lines in (ucm2[2:-1:2], ucm2.T[2:-1:2]):
        strengths = np.where(random.random(len(lines)) < share, random.integers(1, 20, len(lines)) / 20, 0)
        np.maximum(lines, strengths[:, None], out=lines)
    return ucm2


SETS: dict[str, Callable[[Path], Cases]] = {
    "demo": demo,
    "papers": papers,
    "synthetic": synthetic,
    "contours": contours,
    "centerlines": centerlines,
    "objects": objects,
    "bsds500": bsds500,
    "bsds500_long": bsds500_long,
}

# What is recorded


def record(name: str) -> dict[str, Any]:
    """Compute everything of a set of data: by case, by method (or pair of methods), by kind of entry."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # Label maps are also counted with a class declared void that predictions hold, and with a map they don't need.
        warnings.filterwarnings("ignore", "prediction: labels outside the classes|predictions seem to have the numbers")
        return {
            case: {result.method: _of_method(result) for result in results} | _of_pairs(results)
            for case, results in SETS[name](Path(folder))
        }


def _of_method(result: Result) -> dict[str, Any]:
    if result.failed:
        raise SystemExit(f"{result.method}: {next(iter(result.failed.values()))}")
    summary = result.summary
    images = dict(result.per_image)
    return {
        "signature": result.signature.rpartition("|segbench:")[0],
        "counts": {name: digest(counts) for name, counts in result.counts.items()},
        "summary": dict(summary),
        "images": {name: dict(values) for name, values in images.items()},
        "sampled": {key: list(ends) for key, ends in result.intervals(**RESAMPLING).items() if not math.isnan(ends[0])},
        "text": {"notes": [*map(str, (*result.notes, *summary.notes))], "undefined": _reasons(summary.undefined)},
    }


def _of_pairs(results: Sequence[Result]) -> dict[str, Any]:
    if len(results) == 1:
        return {}
    compared = segbench.compare_results(results, **RESAMPLING)
    pairs: dict[str, Any] = {}
    for row in compared.differences:
        pair = pairs.setdefault(f"{row.a} - {row.b}", {"difference": {}, "sampled": {}})
        pair["difference"][row.metric] = [row.difference]
        pair["sampled"][row.metric] = [
            *(row.low, row.high, row.p_value, row.p_holm, row.freedom),
            *(row.wins, row.ties, row.losses),
        ]
    ranks = {key: {name: list(shares) for name, shares in by.items()} for key, by in compared.rank_shares.items()}
    text = {"notes": [*map(str, compared.notes)], "undefined": _reasons(compared.undefined)}
    return pairs | {"all methods": {"sampled": ranks, "text": text}}


def _reasons(reasons: Mapping[str, Any]) -> dict[str, str]:
    """Write why metrics are undefined."""
    return {key: str(reason) for key, reason in reasons.items()}


def digest(counts: object) -> str:
    """Return eight hex digits for the numbers in counts, whatever types hold them."""
    parts: list[bytes] = []
    if isinstance(counts, segbench.ClassCounts):
        parts += [
            f"{name} {digest(class_counts)}".encode()
            for name, class_counts in zip(counts.names, counts.counts, strict=True)
        ]
    else:
        arrays = [np.asarray(getattr(counts, name)) for name in NUMBERS[type(counts)]]
        parts += [array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes() for array in arrays]
    return hashlib.sha256(b"|".join(parts)).hexdigest()[:8]


NUMBERS: dict[type, tuple[str, ...]] = {
    segbench.ScoreCounts: ("scores", "positives", "negatives", "ignored"),
    segbench.BoundaryCounts: ("thresholds", "matched_gt", "total_gt", "matched_pred", "total_pred"),
    segbench.LabelCounts: ("matrix", "ignored"),
    segbench.SaliencyCounts: ("pixels", "positives", "row"),
    segbench.ContourCounts: ("areas", "bands", "davis", "sizes", "squared", "units", "halves"),
    segbench.CenterlineCounts: (
        "thresholds",
        "images",
        "patches",
        "true_area",
        "true_skeleton",
        *(name for name in segbench.CenterlineCounts.arrays if name != "betti2"),  # which is 0 of images
    ),
    segbench.ObjectCounts: ("things", "objects", "sizes", "shared", "whole", "aji"),
    segbench.AnomalyCounts: (
        *("scores", "normal", "image_sizes", "found_scores", "anomalous", "component_sizes"),
        *("normal_images", "anomalous_images", "ignored"),
    ),
    segbench.RegionCounts: (
        *("thresholds", "images", "area", "pixels", "covered_best", "covered", "covered_pred", "rand_index"),
        *("voi_split", "voi_merge", "adapted_rand", "rand_precision", "rand_recall"),
    ),
}

# Files and their comparison


def differences(name: str, computed: Mapping[str, Any], *, tolerance: float = 0) -> list[Difference]:
    """Compare what was computed of a set of data with its record."""
    file, listed = GOLDEN / f"{name}.json", GOLDEN / "exceptions.toml"
    recorded = json.loads(file.read_text("utf-8")) if file.exists() else {}
    old, new = dict(_entries(recorded, (name,))), dict(_entries(computed, (name,)))
    exceptions = tomllib.loads(listed.read_text("utf-8"))["exception"] if listed.exists() else []
    differing: list[Difference] = []
    for entry in dict.fromkeys([*old, *new]):
        before, here = old.get(entry, "nothing"), new.get(entry, "nothing")
        if before == here:
            continue
        reasons = [
            exception["reason"] for exception in exceptions if fnmatchcase(" / ".join(entry), exception["entries"])
        ]
        differing.append(Difference(entry, before, here, _allowed(entry, tolerance), "; ".join(reasons)))
    return differing


def report(differing: Sequence[Difference]) -> Iterator[str]:
    """Describe differences, one group for each subject, the largest group and difference first."""
    groups: dict[Entry, list[Difference]] = {}
    for difference in sorted(differing, key=lambda difference: (difference.broken, difference.size), reverse=True):
        groups.setdefault(difference.subject, []).append(difference)
    for subject, of_subject in groups.items():
        largest = f", largest {of_subject[0].size:.3g}" if of_subject[0].size < math.inf else ""
        yield f"{' / '.join(subject)}: {many(len(of_subject), 'difference')}{largest}"
        yield from (f"  {difference}" for difference in of_subject)


def _allowed(entry: Entry, tolerance: float) -> float:
    _set, _case, _method, kind, *_ = (*entry, "", "", "")
    fixed = {"text": math.inf, "sampled": max(SAMPLED, tolerance), "counts": 0, "signature": 0}
    return fixed.get(kind, tolerance)


def _entries(value: object, entry: Entry) -> Iterator[tuple[Entry, object]]:
    """Go through the single numbers and texts of nested mappings and lists."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _entries(part, (*entry, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _entries(part, (*entry, str(index)))
    else:
        yield entry, "undefined" if value != value else value  # noqa: PLR0124  true of NaN alone


def as_json(value: object, depth: int = 0) -> str:
    """Write mappings of mappings a line each, and the innermost ones in one line."""
    if not isinstance(value, Mapping) or (depth > 1 and not any(isinstance(part, Mapping) for part in value.values())):
        return json.dumps(value, ensure_ascii=False)
    inner = ",\n".join(f"{' ' * depth}{json.dumps(key)}: {as_json(part, depth + 1)}" for key, part in value.items())
    return f"{{\n{inner}\n{' ' * max(depth - 1, 0)}}}"


def main() -> None:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; all by default")
    parser.add_argument("--tolerance", type=float, default=0.0, help="how far estimates may differ (0)")
    options = parser.parse_args()
    strange = set(options.sets) - set(SETS)
    if strange:
        parser.error(f"no set is called {', '.join(sorted(strange))}; expected {', '.join(SETS)}")
    broken = 0
    for name in options.sets or SETS:
        if name.startswith("bsds500") and "SEGBENCH_BSDS500" not in os.environ:
            print(f"{name}: skipped, since SEGBENCH_BSDS500 does not name its folder")
            continue
        computed = record(name)
        differing = differences(name, computed, tolerance=options.tolerance)
        print(*report(differing), f"{name}: {many(len(differing), 'difference')}", sep="\n")
        if options.action == "write":
            GOLDEN.mkdir(exist_ok=True)
            (GOLDEN / f"{name}.json").write_text(as_json(computed) + "\n", "utf-8")
        else:
            broken += sum(difference.broken for difference in differing)
    sys.exit(f"{broken} differences break the rules" if broken else 0)


if __name__ == "__main__":
    main()
