"""A page of every kind: of each protocol, of few and many methods, of two images, of groups, units and runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from cases import write_folder
from methods import write_methods
from pages import write_page
from volumes_written import write_nifti

import segbench

DEMO = Path(segbench.__file__).parents[1] / "datasets/demo"
IMAGES = ["camera", "chelsea", "coins"]
DRAWS = 50


def page_of(kind: str, folder: Path) -> Path:
    """Write the page of a kind."""
    results = MAKERS[kind](folder)
    return write_page(folder, results, images=DEMO / "images", replicates=DRAWS)


def of_demo(
    _folder: Path, *, data: str, methods: Sequence[str], protocol: segbench.Protocol, gt_pattern: str = ""
) -> list[segbench.Result]:
    """Evaluate methods on photographs that ship."""
    folders = (DEMO / data / "predictions" / method for method in methods)
    pattern = {"gt_pattern": gt_pattern} if gt_pattern else {}
    return [
        segbench.evaluate(DEMO / data / "ground_truth", pred, protocol, images=IMAGES, **pattern) for pred in folders
    ]


def of_methods(folder: Path, *, methods: int, images: int = 3) -> list[segbench.Result]:
    """Evaluate soft maps of methods that differ in skill, with long names."""
    skills = {f"a_method_with_a_long_name_{k:02}": 2.5 - 0.03 * k for k in range(methods)}
    gt, *predicted = write_methods(folder, skills, images=images, shape=(20, 31))
    return [segbench.evaluate(gt, pred) for pred in predicted]


def in_folders(folder: Path, **settings: str) -> list[segbench.Result]:
    """Evaluate images in folders, which are groups or units."""
    random = np.random.default_rng(0)
    names = [f"{group}/im{k}.png" for group in ("bottle", "cable", "screw", "tile") for k in range(4)]
    truths = {name: (random.random((20, 31)) < 0.3).astype(np.uint8) * 255 for name in names}
    gt = write_folder(folder / "gt", truths)
    results = []
    for method, skill in {"ours": 80, "theirs": 60}.items():
        maps = {
            name: np.uint8(random.integers(0, 150, (20, 31)) + skill * (truth > 0)) for name, truth in truths.items()
        }
        results.append(segbench.evaluate(gt, write_folder(folder / method, maps)).with_settings(**settings))
    return results


def of_runs(folder: Path) -> list[segbench.Result]:
    """Evaluate three trainings of each of two methods."""
    skills = {
        f"{method}-{run}": 1.5 - k / 2 + run / 9 for k, method in enumerate(("ours", "theirs")) for run in range(3)
    }
    gt, *predicted = write_methods(folder, skills, images=8, shape=(20, 31))
    return [
        segbench.evaluate(gt, pred, method=pred.name.split("-")[0], run=pred.name.split("-")[1]) for pred in predicted
    ]


def of_anomalies(folder: Path) -> list[segbench.Result]:
    """Evaluate anomaly maps of normal and anomalous images."""
    random = np.random.default_rng(0)
    truths = {f"im{k}.png": np.zeros((40, 40), np.uint8) for k in range(8)}
    for name in list(truths)[4:]:
        truths[name][10:20, 10:20] = 255
    gt = write_folder(folder / "gt", truths)
    results = []
    for method, high in {"ours": 60, "theirs": 30}.items():
        maps = {
            name: np.uint8(random.integers(0, 90, truth.shape) + high * (truth > 0)) for name, truth in truths.items()
        }
        results.append(segbench.evaluate(gt, write_folder(folder / method, maps), "anomalies"))
    return results


def of_classes(folder: Path) -> list[segbench.Result]:
    """Evaluate label maps of six classes with void."""
    random = np.random.default_rng(0)
    labels = {f"im{k}.png": random.integers(0, 6, (8, 10)).astype(np.uint8).repeat(5, 0).repeat(6, 1) for k in range(8)}
    gt = write_folder(folder / "gt", {name: np.where(label == 5, 255, label) for name, label in labels.items()})
    names = ["road", "sidewalk", "a_class_with_a_long_name", "vegetation", "traffic sign"]
    results = []
    for method, wrong in {"ours": 0.2, "theirs": 0.3}.items():
        maps = {
            name: np.where(random.random(label.shape) < wrong, 4 - label.clip(0, 4), label.clip(0, 4)).astype(np.uint8)
            for name, label in labels.items()
        }
        protocol = segbench.Labels(classes=range(5), names=names)
        results.append(segbench.evaluate(gt, write_folder(folder / method, maps), protocol))
    return results


def of_scored_objects(folder: Path) -> list[segbench.Result]:
    """Evaluate detections in the files of COCO."""
    random = np.random.default_rng(0)

    def box(x: float, y: float) -> list[list[float]]:
        return [[x, y, x + 10, y, x + 10, y + 10, x, y + 10]]

    places = [(image, x, y) for image in range(8) for x in (4, 24, 44) for y in (4, 22)]
    common = {"category_id": 1}
    annotations = [
        {"id": k + 1, "image_id": image, "segmentation": box(x, y), "area": 100, "iscrowd": 0} | common
        for k, (image, x, y) in enumerate(places)
    ]
    truth = {
        "images": [{"id": k, "file_name": f"im{k}.png", "height": 40, "width": 60} for k in range(8)],
        "categories": [{"id": 1, "name": "cell"}],
        "annotations": annotations,
    }
    (folder / "gt.json").write_text(json.dumps(truth))
    results = []
    for method, off in {"ours": 1.5, "theirs": 3}.items():
        detections = [
            {"image_id": image, "segmentation": box(x + random.uniform(0, off), y), "score": random.random()} | common
            for image, x, y in places
        ]
        (folder / f"{method}.json").write_text(json.dumps(detections))
        results.append(segbench.evaluate(folder / "gt.json", folder / f"{method}.json", "objects"))
    return results


def of_volumes(folder: Path) -> list[segbench.Result]:
    """Evaluate masks of volumes."""
    for k in range(3):
        truth = np.zeros((5, 12, 16), np.uint8)
        truth[1:4, 4:8, 4:12] = 1
        write_nifti(folder / f"gt/case{k}.nii.gz", truth)
        for method, row in {"ours": 4, "theirs": 5 + k}.items():
            predicted = truth.copy()
            predicted[1:4, row] = 0
            write_nifti(folder / f"{method}/case{k}.nii.gz", predicted)
    protocol = segbench.Labels(positive=">0")
    return [segbench.evaluate(folder / "gt", folder / method, protocol) for method in ("ours", "theirs")]


_SOFT, _EDGES = ("random_walker", "soft_otsu"), ("half_discs", "canny_votes")
of_objects = partial(of_demo, data="objects", methods=_SOFT)
of_edges = partial(of_demo, data="edges", methods=_EDGES)
MAKERS: dict[str, Callable[[Path], list[segbench.Result]]] = {
    "pixels": partial(of_objects, protocol=segbench.Pixels()),
    "saliency": partial(of_objects, protocol=segbench.Saliency()),
    "contours": partial(of_objects, protocol=segbench.Contours(at=0.5)),
    "components": partial(of_objects, protocol=segbench.Objects(kind="components", at=0.5)),
    "centerlines": partial(of_objects, protocol=segbench.Centerlines(at=0.5)),
    "labels": of_classes,
    "boundaries": partial(of_edges, protocol=segbench.Boundaries(thresholds=9), gt_pattern="*.#"),
    "regions": partial(of_demo, data="labels", methods=("random_walker", "watershed"), protocol=segbench.Regions()),
    "scored": of_scored_objects,
    "anomalies": of_anomalies,
    "volumes": of_volumes,
    **{f"{number} methods": partial(of_methods, methods=number) for number in (1, 2, 3, 12, 60)},
    "2 images": partial(of_methods, methods=2, images=2),
    "groups": partial(in_folders, group_by="folder"),
    "units": partial(in_folders, unit="folder"),
    "runs": of_runs,
}
