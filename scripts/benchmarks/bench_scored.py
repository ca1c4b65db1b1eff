"""AP of instances against pycocotools, faster-coco-eval and hotcoco: JSON of COCO's format on both sides, one process.

Without files: all have read the JSON, and measure; from files: reading it belongs to it. Each is run three times, in
turn, and the median is taken. `--images 5000 --detections 7` are the numbers of the documentation.

    pip install pycocotools==2.0.11 faster-coco-eval hotcoco
    python scripts/benchmarks/bench_scored.py
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from segbench import Objects, evaluate
from segbench.core.instances import Instances, Runs
from segbench.loaders.mask_codes import runs_of_polygons, runs_of_texts
from segbench.protocols.objects.scored import ScoredObjects
from segbench.protocols.objects.scored_counting import count_scored

SIZE = (480, 640)
CLASSES = 80
_TOOLS = {
    "pycocotools": ("pycocotools.coco", "pycocotools.cocoeval", "COCOeval"),
    "faster-coco-eval": ("faster_coco_eval", "faster_coco_eval", "COCOeval_faster"),
    "hotcoco": ("hotcoco", "hotcoco", "COCOeval"),
}


def _polygon(random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Draw a polygon of 20 corners."""
    height, width = SIZE
    sides = random.random(2) * (width * 0.2, height * 0.2) + 4
    middle = random.random(2) * (width * 0.8, height * 0.8) + sides / 2
    angles = np.sort(random.random(20)) * 2 * np.pi
    corners = middle + sides / 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.round(corners, 2).ravel()


def draw(images: int, per_image: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Draw ground truth, and a detection near each object."""
    random = np.random.default_rng(0)
    truth: dict[str, Any] = {"info": {}, "images": [], "annotations": []}
    truth["categories"] = [{"id": label, "name": f"class {label}"} for label in range(1, CLASSES + 1)]
    results = []
    for image in range(1, images + 1):
        truth["images"].append({"id": image, "file_name": f"{image:06}.jpg", "height": SIZE[0], "width": SIZE[1]})
        for _ in range(per_image):
            polygon, label = _polygon(random), int(random.integers(1, CLASSES + 1))
            near = polygon + random.normal(size=polygon.size)
            x, y = polygon[::2], polygon[1::2]
            area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
            truth["annotations"].append({
                "id": len(results) + 1, "image_id": image, "category_id": label, "iscrowd": 0, "area": area / 2,
                "segmentation": [polygon.tolist()], "bbox": [0.0, 0.0, 1.0, 1.0],
            })  # fmt: skip
            results.append({
                "image_id": image, "category_id": label, "score": float(random.random()),
                "segmentation": {"size": list(SIZE), "counts": _text(near)},
            })  # fmt: skip
    return truth, results


def _text(polygon: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Return the RLE of a polygon as COCO compresses it."""
    from pycocotools import mask

    text: str = mask.frPyObjects([polygon.tolist()], *SIZE)[0]["counts"].decode()
    return text


def _quietly(work: Callable[[], Any]) -> Any:  # noqa: ANN401  what it returns
    with contextlib.redirect_stdout(io.StringIO()):
        return work()


def _of_tool(names: tuple[str, str, str], truth: Path, results: Path) -> tuple[Callable[[], float], Callable[[], Any]]:
    """Return what a tool does with data that it has read, and how it reads them."""
    data_module, evaluation_module, evaluation = names
    kind = getattr(import_module(evaluation_module), evaluation)

    def read() -> tuple[Any, Any]:
        data_set = import_module(data_module).COCO(str(truth))
        return data_set, data_set.loadRes(str(results))

    data = _quietly(read)

    def measure(*, read_first: bool = False) -> float:
        measured = kind(*(read() if read_first else data), "segm")
        measured.evaluate()
        measured.accumulate()
        measured.summarize()
        return float(measured.stats[0])

    return measure, partial(measure, read_first=True)


def _instances(truth: Mapping[str, Any], results: list[dict[str, Any]]) -> list[tuple[Instances, Instances]]:
    """Return both sides of each image as segbench has read them."""
    images: dict[int, tuple[list[Any], list[Any]]] = {image["id"]: ([], []) for image in truth["images"]}
    for annotation in truth["annotations"]:
        (polygon,) = annotation["segmentation"]
        ends = np.array([len(polygon)])
        runs = runs_of_polygons(np.array(polygon), ends, np.array([1]), *SIZE)[0]
        images[annotation["image_id"]][0].append((annotation, runs))
    for result in results:
        images[result["image_id"]][1].append((result, runs_of_texts([result["segmentation"]["counts"].encode()])[0]))
    return [(_side(true), _side(predicted)) for true, predicted in images.values()]


def _side(listed: list[Any]) -> Instances:
    """Return instances of annotations with their runs."""
    masks = Runs(
        np.concatenate([np.zeros(0, np.int64), *(runs for _, runs in listed)]),
        np.cumsum([runs.size for _, runs in listed], dtype=np.int64),
    )
    scores = [annotation["score"] for annotation, _ in listed if "score" in annotation]
    return Instances(
        size=SIZE, runs=masks.runs, ends=masks.ends, scores=np.array(scores) if scores else None,
        classes=np.array([annotation["category_id"] for annotation, _ in listed], np.int64),
        crowds=np.zeros(len(listed), np.bool_), boxes=np.full((len(listed), 4), np.nan),
        areas=np.array([annotation.get("area", np.nan) for annotation, _ in listed], np.float64),
    )  # fmt: skip


def main() -> None:
    """Print times, and how many times as long the others take."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--detections", type=int, default=7, help="in each image")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    truth, results = draw(arguments.images, arguments.detections)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "truth.json"), Path(folder, "results.json")
        for path, content in zip(paths, (truth, results), strict=True):
            path.write_text(json.dumps(content))
        pairs, protocol = _instances(truth, results), ScoredObjects()

        def ours() -> float:
            counts = {f"{k:06}": count_scored(*pair, protocol.rules) for k, pair in enumerate(pairs)}
            return protocol.table(counts).summary()["coco_ap"]

        def ours_from_files() -> float:
            return evaluate(*paths, Objects(kind="scored")).summary["coco_ap"]

        work = {"segbench": (ours, ours_from_files)}
        work |= {name: _of_tool(names, *paths) for name, names in _TOOLS.items() if find_spec(names[0].split(".")[0])}
        for which, title in enumerate(("without files", "from files")):
            values = {name: _quietly(both[which]) for name, both in work.items()}  # compiled before it is timed
            times: dict[str, list[float]] = {name: [] for name in work}
            for _ in range(arguments.repeats):
                for name, both in work.items():
                    began = process_time()
                    _quietly(both[which])
                    times[name].append(process_time() - began)
            base = median(times["segbench"])
            for name, of_tool in times.items():
                took = median(of_tool)
                print(f"{title}: {name} {took:.2f} s, {took / base:.1f} x, AP {values[name]:.6f}")


if __name__ == "__main__":
    main()
