"""Compare scored objects with pycocotools and faster-coco-eval on random sets of instances.

The sets have crowds, areas at the bounds of ranges, annotated areas that differ from those of masks, classes without
objects or detections, images without either, and more than 100 detections of a class in an image. Scores are all
different, so that all 12 numbers must be equal to 1e-12. With ``--ties`` they have few levels: those tools rank
detections of equal score by image id and place in the file, and segbench has the lowest AP of all orders, so that it is
never above.

    pip install pycocotools==2.0.11 faster-coco-eval
    python scripts/checks/check_coco.py --sets 500
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench import ScoredObjectCounts
from segbench.core.instances import Instances, encode_masks
from segbench.protocols.objects.scored import ScoredObjects
from segbench.protocols.objects.scored_counting import count_scored

KEYS = (
    "coco_ap", "coco_ap_50", "coco_ap_75", "coco_ap_small", "coco_ap_medium", "coco_ap_large",
    "coco_ar_1", "coco_ar_10", "coco_ar_100", "coco_ar_small", "coco_ar_medium", "coco_ar_large",
)  # fmt: skip
"""The 12 numbers, in the order of pycocotools."""
CLASSES = 4


class DrawnImage(NamedTuple):
    """The instances of an image as arrays."""

    size: tuple[int, int]
    true_masks: NDArray[np.bool_]
    true_classes: NDArray[np.int64]
    crowds: NDArray[np.bool_]
    areas: NDArray[np.float64]
    masks: NDArray[np.bool_]
    classes: NDArray[np.int64]
    scores: NDArray[np.float64]


def draw_set(random: np.random.Generator, *, ties: bool = False) -> list[DrawnImage]:
    """Draw the images of a set."""
    many = random.random() < 0.2  # more detections than count
    return [_draw_image(random, ties=ties, many=many and random.random() < 0.4) for _ in range(random.integers(1, 7))]


def _draw_image(random: np.random.Generator, *, ties: bool, many: bool) -> DrawnImage:
    """Draw ellipses, and detections near them and elsewhere."""
    size = (int(random.integers(20, 140)), int(random.integers(20, 140)))
    number = int(random.integers(0, 9))
    shapes = [_draw_shape(random, size) for _ in range(number)]
    classes = random.integers(1, CLASSES + 1, number)
    crowds = random.random(number) < 0.15
    masks = [_ellipse(size, shape) for shape in shapes]
    areas = np.array([mask.sum() for mask in masks], np.float64)
    areas = np.where(random.random(number) < 0.3, random.choice([0, 1024, 1023.5, 9216, 9216.5, 1e10], number), areas)
    detections, detected = [], []
    for shape, label in zip(shapes, classes.tolist(), strict=True):
        for _ in range(random.integers(0, 4)):
            detections.append(_ellipse(size, shape + random.normal(0, random.choice([0, 0.5, 2, 6]), 4)))
            detected.append(label if random.random() < 0.8 else random.integers(1, CLASSES + 2))
    for _ in range(120 if many else random.integers(0, 6)):
        detections.append(_ellipse(size, _draw_shape(random, size)))
        detected.append(1 if many else random.integers(1, CLASSES + 2))
    scores = random.random(len(detections))
    scores = np.round(scores * 4) / 4 if ties else scores
    stacks = [np.array(side, np.bool_).reshape(-1, *size) for side in (masks, detections)]
    return DrawnImage(
        size, stacks[0], classes, crowds, areas, stacks[1], np.array(detected, np.int64), scores.astype(np.float64)
    )


def _draw_shape(random: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Draw the middle and the half axes of an ellipse."""
    height, width = size
    largest = random.choice([4.0, 17.0, 60.0])
    return np.array([random.uniform(0, height), random.uniform(0, width), *random.uniform(0.5, largest, 2)])


def _ellipse(size: tuple[int, int], shape: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the mask of an ellipse, which may leave the image, or be empty."""
    y, x, height, width = shape
    rows, columns = np.ogrid[: size[0], : size[1]]
    mask: NDArray[np.bool_] = ((rows - y) / max(height, 0.1)) ** 2 + ((columns - x) / max(width, 0.1)) ** 2 <= 1
    return mask


def as_instances(image: DrawnImage) -> tuple[Instances, Instances]:
    """Return both sides as segbench has them."""
    sides = (
        (image.true_masks, image.true_classes, None, image.crowds, image.areas),
        (image.masks, image.classes, image.scores, np.zeros(len(image.masks), np.bool_), None),
    )
    made = []
    for masks, classes, scores, crowds, areas in sides:
        runs = encode_masks(list(masks))
        unknown = np.full(len(masks), np.nan)
        made.append(
            Instances(
                size=image.size, runs=runs.runs, ends=runs.ends, classes=classes, scores=scores, crowds=crowds,
                areas=unknown if areas is None else areas, boxes=np.full((len(masks), 4), np.nan),
            )
        )  # fmt: skip
    return made[0], made[1]


def count_set(images: Sequence[DrawnImage], protocol: ScoredObjects) -> dict[str, ScoredObjectCounts]:
    """Count the images of a set."""
    return {
        f"{number:03}": count_scored(*as_instances(image), protocol.rules) for number, image in enumerate(images, 1)
    }


def as_coco(images: Sequence[DrawnImage]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a set as ground truth and results in COCO's format."""
    from pycocotools import mask as masks_of_coco

    def encoded(mask: NDArray[np.bool_]) -> dict[str, Any]:
        runs: dict[str, Any] = masks_of_coco.encode(np.asfortranarray(mask.astype(np.uint8)))
        return runs

    truth: dict[str, Any] = {"images": [], "annotations": [], "info": {}}
    truth["categories"] = [{"id": label, "name": str(label)} for label in range(1, CLASSES + 2)]
    results: list[dict[str, Any]] = []
    for number, image in enumerate(images, 1):
        truth["images"].append({"id": number, "height": image.size[0], "width": image.size[1]})
        for mask, label, crowd, area in zip(
            image.true_masks, image.true_classes.tolist(), image.crowds.tolist(), image.areas.tolist(), strict=True
        ):
            segmentation = encoded(mask)
            truth["annotations"].append({
                "id": len(truth["annotations"]) + 1, "image_id": number, "category_id": label, "iscrowd": int(crowd),
                "area": area, "segmentation": segmentation, "bbox": masks_of_coco.toBbox(segmentation).tolist(),
            })  # fmt: skip
        for mask, label, score in zip(image.masks, image.classes.tolist(), image.scores.tolist(), strict=True):
            results.append({"image_id": number, "category_id": label, "segmentation": encoded(mask), "score": score})
    return truth, results


Evaluate = Callable[[dict[str, Any], list[dict[str, Any]], str], list[float]]
_TOOLS = {
    "pycocotools": ("pycocotools.coco", "pycocotools.cocoeval", "COCOeval"),
    "faster-coco-eval": ("faster_coco_eval", "faster_coco_eval", "COCOeval_faster"),
}
"""Of each tool the modules of data sets and of the evaluation, and the class of that."""


def peers() -> Mapping[str, Evaluate]:
    """Return the tools that are installed: what each makes of a set, for ``segm`` or ``bbox``."""
    installed = {name: modules for name, modules in _TOOLS.items() if find_spec(modules[0].partition(".")[0])}
    return {name: partial(_evaluated, modules) for name, modules in installed.items()}


def _evaluated(
    modules: tuple[str, str, str], truth: dict[str, Any], results: list[dict[str, Any]], kind: str
) -> list[float]:
    """Return the 12 numbers of a tool."""
    data_module, evaluation_module, evaluation = modules
    with contextlib.redirect_stdout(io.StringIO()):
        data_set = import_module(data_module).COCO()
        data_set.dataset = truth
        data_set.createIndex()
        of_results = data_set.loadRes([dict(result) for result in results])
        evaluated = getattr(import_module(evaluation_module), evaluation)(data_set, of_results, kind)
        evaluated.evaluate()
        evaluated.accumulate()
        evaluated.summarize()
    return [float(value) for value in evaluated.stats[: len(KEYS)]]


def differences(images: Sequence[DrawnImage], evaluate: Evaluate, kind: str) -> NDArray[np.float64]:
    """Return what segbench has more than a tool on a set, of each number; -1 is undefined."""
    truth, results = as_coco(images)
    if not results or not truth["annotations"]:  # which these tools refuse
        return np.zeros(len(KEYS))
    protocol = ScoredObjects(overlap="mask" if kind == "segm" else "box")
    summary = protocol.table(count_set(images, protocol)).summary()
    ours = np.nan_to_num([summary[key] for key in KEYS], nan=-1.0)
    return ours - np.array(evaluate(truth, results, kind))


def main() -> None:
    """Print the largest difference for each tool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--ties", action="store_true")
    arguments = parser.parse_args()
    for name, evaluate in peers().items():
        for kind in ("segm", "bbox"):
            sets = [draw_set(np.random.default_rng(seed), ties=arguments.ties) for seed in range(arguments.sets)]
            found = np.array([differences(drawn, evaluate, kind) for drawn in sets])
            print(f"{name} {kind}: {len(sets)} sets, segbench {-found.min():.2g} below to {found.max():.2g} above")


if __name__ == "__main__":
    main()
