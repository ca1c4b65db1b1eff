"""Run the tools that docs/coming_from/ names, and compare their numbers with those of the pages.

Each page has a table with what to type in the tool, what to type here, and both numbers. Both cells are evaluated with
the names that the examples of the page have made. Tests evaluate the cells of tools by plain definitions
(tests/coming_from/definitions.py), and this script by the tools themselves:

    pip install torch torchmetrics scikit-learn ...      # whichever tools are to be compared
    python scripts/checks/check_coming_from.py [PAGE ...]

Run it in the root of the checkout. It prints each number of a tool beside that of the page, and exits with 1 if they
differ.
"""
# ruff: noqa: ANN401  each tool has arguments and results of its own types

from __future__ import annotations

import doctest
import json
import math
import multiprocessing.dummy
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib import import_module
from importlib.metadata import distribution as files_of
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import imageio.v3 as iio
import numpy as np

PAGES = Path(__file__).resolve().parents[2] / "docs" / "coming_from"
TABLE = re.compile(r"^\|[^|\n]+\| segbench \| there \| here \|\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)


class Row(NamedTuple):
    """A row of a page: the code for the tool and for segbench, and the numbers that the page states."""

    tool: str
    segbench: str
    there: str
    here: str


def rows_of(page: str) -> list[Row]:
    """Return the rows of all tables with numbers of a page."""
    text = (PAGES / f"{page}.md").read_text("utf-8")
    lines = [line for table in TABLE.findall(text) for line in table.splitlines()]
    return [Row(*(cell.strip().strip("`") for cell in line.strip("|").split("|"))) for line in lines]


def names_of(page: str) -> dict[str, Any]:
    """Run the examples of a page, and return the names that they make."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples((PAGES / f"{page}.md").read_text("utf-8")):
        exec(example.source, names)  # noqa: S102  our own documentation
    return names


def evaluated(code: str, names: Mapping[str, Any]) -> float:
    """Evaluate the code of a cell."""
    return float(eval(code, dict(names)))  # noqa: S307  our own documentation


def is_printed(stated: str, number: float) -> bool:
    """Return whether a page states this number, rounded to the digits of the page."""
    if stated in ("undefined", "0"):
        return math.isnan(number) if stated == "undefined" else number == 0
    digits = len(stated.partition(".")[2])
    return stated == f"{number:.{digits}f}".removeprefix("0")


def torchmetrics(names: Mapping[str, Any]) -> dict[str, Any]:
    """Update a metric with the images one by one; those without ``ignore_index`` do not see void pixels."""
    from torch import from_numpy
    from torchmetrics import classification, segmentation

    def updated(constructor: Callable[..., Any], **always: Any) -> Callable[..., Any]:
        def compute(*arguments: Any, **options: Any) -> Any:
            metric = constructor(*arguments, **options, **always)
            for predicted, truth in zip(names["preds"], names["target"], strict=True):
                labeled = truth != 255 if always else np.s_[:]
                metric.update(*(from_numpy(side[labeled].astype(np.int64))[None] for side in (predicted, truth)))
            return metric.compute()

        return compute

    kinds = ("JaccardIndex", "Accuracy", "F1Score", "CohenKappa")
    maps = {name: updated(getattr(segmentation, name), input_format="index") for name in ("MeanIoU", "DiceScore")}
    by_name = {f"Multiclass{kind}": updated(getattr(classification, f"Multiclass{kind}")) for kind in kinds}
    return {**by_name, "segmentation": SimpleNamespace(**maps)}


def scikit_learn(_: Mapping[str, Any]) -> dict[str, Any]:
    """Return the functions of scikit-learn, which takes arrays of all pixels."""
    return vars(import_module("sklearn.metrics"))


def mmsegmentation(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metric with what else a config holds; of the package only this module is loaded."""
    from torch import from_numpy

    registry = SimpleNamespace(METRICS=SimpleNamespace(register_module=lambda: lambda kind: kind))
    unused = ("mmseg", "mmengine__dist", "mmengine__logging", "mmengine__utils", "prettytable")
    base = SimpleNamespace(BaseMetric=object)
    with stand_ins(**dict.fromkeys(unused, MagicMock()), mmseg__registry=registry, mmengine__evaluator=base):
        metric = module_of("mmsegmentation", "mmseg/evaluation/metrics/iou_metric.py").IoUMetric

    def reduced(image: Any) -> Any:
        image = image - np.uint8(1)
        return np.where(image == 254, np.uint8(255), image)

    def evaluate(*, num_classes: int = 6, reduce_zero_label: bool = False, **options: Any) -> dict[str, float]:
        sides = names["label"], names["pred_label"]
        if reduce_zero_label:
            sides, num_classes = ([reduced(image) for image in names["label"]], names["pred_from_1"]), num_classes - 1
        pairs = [[from_numpy(side.astype(np.int64)) for side in pair] for pair in zip(*sides, strict=True)]
        areas = [metric.intersect_and_union(predicted, truth, num_classes, 255) for truth, predicted in pairs]
        totals = (sum(area) for area in zip(*areas, strict=True))
        by_class = metric.total_area_to_metrics(*totals, options.pop("iou_metrics", ["mIoU"]), **options)
        means = {name: np.round(np.nanmean(values) * 100, 2) for name, values in by_class.items()}
        return {name if name == "aAcc" else f"m{name}": value for name, value in means.items()}

    return {"IoUMetric": evaluate}


def cityscapesscripts(names: Mapping[str, Any]) -> dict[str, Any]:
    """Write the label maps as files, and return the scores by their names."""
    module = import_module("cityscapesscripts.evaluation.evalPixelLevelSemanticLabeling")
    module.args.evalInstLevelScore, module.args.JSONOutput, module.args.quiet = False, False, True
    with TemporaryDirectory() as folder:
        files = []
        for side in ("predictions", "ground_truth"):
            files.append([f"{folder}/{side}{number}.png" for number in range(len(names[side]))])
            for file, image in zip(files[-1], names[side], strict=True):
                iio.imwrite(file, image)
        scores: dict[str, Any] = module.evaluateImgLists(*files, module.args)
    return scores


def monai_nnunet(names: Mapping[str, Any]) -> dict[str, Any]:
    """Call a metric with the classes of each image, without the background; nnU-Net reads the images from files."""
    from monai import metrics
    from torch import from_numpy

    def updated(constructor: Callable[..., Any]) -> Callable[..., Any]:
        def compute(*arguments: Any, **options: Any) -> Any:
            metric = constructor(*arguments, include_background=False, **options)
            for pair in zip(names["y_pred"], names["y"], strict=True):
                metric(*(from_numpy(np.eye(6)[image].transpose(2, 0, 1))[None] for image in pair))
            return metric.aggregate()

        return compute

    with stand_ins(blosc2=MagicMock(), nnunetv2__utilities__plans_handling__plans_handler=MagicMock()):
        nnunet = import_module("nnunetv2.evaluation.evaluate_predictions")
        reader = import_module("nnunetv2.imageio.natural_image_reader_writer").NaturalImage2DIO()
    nnunet.multiprocessing = SimpleNamespace(get_context=lambda _: multiprocessing.dummy)  # others lack the stand-ins
    with TemporaryDirectory() as folder:
        folders = [Path(folder, side) for side in ("y", "y_pred")]
        for side in folders:
            side.mkdir()
            for number, image in enumerate(names[side.name]):
                iio.imwrite(side / f"{number}.png", image)
        summary = nnunet.compute_metrics_on_folder(
            *map(str, folders), f"{folder}/summary.json", reader, ".png", [1, 2, 3, 4, 5], num_processes=1
        )
        summary = json.loads(Path(folder, "summary.json").read_text("utf-8"))
    kinds = ("DiceMetric", "HausdorffDistanceMetric", "SurfaceDistanceMetric", "SurfaceDiceMetric")
    return {**{kind: updated(getattr(metrics, kind)) for kind in kinds}, "summary": summary}


def surface_distance_medpy(names: Mapping[str, Any]) -> dict[str, Any]:
    """Average over images what functions of two masks return."""
    binary, surface = import_module("medpy.metric.binary"), import_module("surface_distance")

    def of_masks(measure: Callable[..., Any]) -> Callable[..., Any]:
        def mean(results: Any, references: Any, **options: Any) -> Any:
            return np.mean([measure(*pair, **options) for pair in zip(results, references, strict=True)])

        return mean

    def of_distances(measure: Callable[..., Any]) -> Callable[..., Any]:
        return lambda distances, *options: np.mean([measure(pair, *options) for pair in distances], axis=0)

    def distances(references: Any, results: Any, spacing: Sequence[float]) -> list[Any]:
        pairs = zip(references, results, strict=True)
        return [surface.compute_surface_distances(*pair, spacing) for pair in pairs]

    measures = ("robust_hausdorff", "average_surface_distance", "surface_dice_at_tolerance")
    return {
        **{name: of_masks(getattr(binary, name)) for name in ("hd", "hd95", "assd", "dc")},
        **{f"compute_{name}": of_distances(getattr(surface, f"compute_{name}")) for name in measures},
        "surface_distances": distances(names["reference"], names["result"], (1, 1)),
        "of_volumes": distances(names["volume"], names["predicted"], (2.5, 0.7, 0.7)),
    }


def pycocotools(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the 12 numbers of the files that the page writes."""
    from pycocotools import mask
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def packed(objects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        codes = [entry["segmentation"] for entry in objects]
        packs = [{"segmentation": mask.frPyObjects(code, *code["size"])} for code in codes]
        return [{**entry, **pack} for entry, pack in zip(objects, packs, strict=True)]

    with redirect_stdout(StringIO()):
        truth = COCO()
        truth.dataset = {**names["ground_truth"], "annotations": packed(names["annotations"])}
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(packed(names["detections"])), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return {"stats": evaluation.stats}


def panopticapi(names: Mapping[str, Any]) -> dict[str, Any]:
    """Write maps of ids and the lists of their segments; ids are one higher, for 0 is void there."""
    evaluation = import_module("panopticapi.evaluation")

    def written(folder: Path, image: str, segments: Any) -> dict[str, Any]:
        ids = np.where(segments == 255, 0, segments + 1)
        iio.imwrite(folder / f"{image}.png", np.stack([ids % 256, ids // 256, ids // 65536], axis=2).astype(np.uint8))
        infos = [
            {"id": int(number), "category_id": int((number - 1) // 1000 or number - 1), "area": int(area), "iscrowd": 0}
            for number, area in zip(*np.unique(ids[ids > 0], return_counts=True), strict=True)
        ]
        return {"image_id": image, "file_name": f"{image}.png", "segments_info": infos}

    categories = {k: {"id": k, "isthing": int(k in (1, 2, 3, 5))} for k in range(6)}
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        sides = [Path(folder, side) for side in ("truth", "predicted")]
        for side in sides:
            side.mkdir()
        pairs = [
            [written(side, image, segments) for side, segments in zip(sides, pair, strict=True)]
            for image, pair in names["pairs"].items()
        ]
        sums = evaluation.pq_compute_single_core(0, pairs, *map(str, sides), categories)
    kinds = {"All": None, "Things": True, "Stuff": False}
    results = {name: sums.pq_average(categories, isthing=kind) for name, kind in kinds.items()}
    return {"results": {**{name: means for name, (means, _) in results.items()}, "per_class": results["All"][1]}}


def stardist_cellpose(_: Mapping[str, Any]) -> dict[str, Any]:
    """Return the functions of both, which take lists of label maps."""
    matching = import_module("stardist.matching").matching_dataset
    return {
        "matching_dataset": partial(matching, show_progress=False),
        "average_precision": import_module("cellpose.metrics").average_precision,
    }


def bsds500(_: Mapping[str, Any]) -> dict[str, Any]:
    """Match the edge maps of the demo, in two minutes."""
    matching = import_module("pyEdgeEval.common.binary_label.evaluate_boundaries")
    pooling = import_module("pyEdgeEval.common.binary_label.calculate_metrics")
    demo = Path("datasets/demo/edges")
    names = sorted(path.stem for path in (demo / "predictions/half_discs").iterdir())

    def counted(sample: Mapping[str, str]) -> Any:
        drawn = sorted((demo / "ground_truth").glob(f"{sample['name']}.*"))
        return matching.evaluate_boundaries_threshold_multiple_gts(
            thresholds=np.linspace(0.1, 0.9, 9),
            pred=iio.imread(demo / "predictions/half_discs" / f"{sample['name']}.png") / 255,
            gts=[(iio.imread(path) > 0).astype(np.uint8) for path in drawn],
        )

    with redirect_stdout(StringIO()):
        *_, results = pooling.calculate_metrics(counted, 9, [{"name": name} for name in names], nproc=1)
    return {"results": results}


def pysodmetrics(names: Mapping[str, Any]) -> dict[str, Any]:
    """Step through the images."""
    module = import_module("py_sod_metrics")
    results: dict[str, Any] = {}
    for kind in ("Fmeasure", "Emeasure", "Smeasure", "WeightedFmeasure", "MAE"):
        measure = getattr(module, kind)()
        for pred, gt in zip(names["pred"], names["gt"], strict=True):
            measure.step(pred=pred, gt=gt)
        results |= measure.get_results()
    return results


def anomalib(names: Mapping[str, Any]) -> dict[str, Any]:
    """Update a metric with the batch; of the package these modules alone are loaded."""
    from torch import from_numpy

    folder = str(files_of("anomalib").locate_file("anomalib/metrics"))
    package = ModuleType("anomalib.metrics")
    package.__path__ = [folder]
    with stand_ins(kornia__contrib=MagicMock(), kornia=MagicMock()):
        parts = module_of("anomalib", "anomalib/utils/cv/connected_components.py")
    base = SimpleNamespace(AnomalibMetric=type("AnomalibMetric", (), {}))
    loaded = {"anomalib__metrics": package, "anomalib__metrics__pro": parts, "anomalib__metrics__base": base}
    with stand_ins(anomalib=MagicMock(), anomalib__metrics__utils=MagicMock(), **loaded):
        modules = [import_module(f"anomalib.metrics.{name}") for name in ("aupro", "auroc", "f1_score")]

    def updated(constructor: Callable[..., Any]) -> Callable[..., Any]:
        def compute(**options: Any) -> Any:
            metric = constructor(**options)
            metric.update(from_numpy(names["anomaly_map"]), from_numpy(names["gt_mask"].astype(np.int64)))
            return metric.compute()

        return compute

    kinds = ("_AUPRO", "_AUROC", "_F1Max")  # without what takes the fields of a batch
    return {kind[1:]: updated(getattr(module, kind)) for kind, module in zip(kinds, modules, strict=True)}


def module_of(distribution: str, path: str) -> Any:
    """Load one module of an installed package by itself."""
    spec = spec_from_file_location(Path(path).stem, str(files_of(distribution).locate_file(path)))
    if spec is None or spec.loader is None:
        raise SystemExit(f"{distribution} has no {path}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def stand_ins(**modules: Any) -> Iterator[None]:
    """Let modules that a tool imports and does not need for its numbers be anything; ``__`` is the dot of a name."""
    by_name = {name.replace("__", "."): module for name, module in modules.items()}
    sys.modules.update(by_name)
    try:
        yield
    finally:
        for name in by_name:
            del sys.modules[name]


TOOLS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "anomalib": anomalib,
    "bsds500": bsds500,
    "cityscapesscripts": cityscapesscripts,
    "mmsegmentation": mmsegmentation,
    "monai_nnunet": monai_nnunet,
    "panopticapi": panopticapi,
    "pycocotools": pycocotools,
    "pysodmetrics": pysodmetrics,
    "scikit_learn": scikit_learn,
    "stardist_cellpose": stardist_cellpose,
    "surface_distance_medpy": surface_distance_medpy,
    "torchmetrics": torchmetrics,
}


def compare(page: str) -> bool:
    """Print the numbers of a tool beside those of its page, and return whether they are the same."""
    names = names_of(page)
    names |= TOOLS[page](names)
    same = []
    for row in rows_of(page):
        number = evaluated(row.tool, names)
        same.append(is_printed(row.there, number))
        print(f"{page:22} {row.tool:70} {number:.6f} {row.there} {'' if same[-1] else 'DIFFERS'}")
    return all(same)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the tools
    same = [compare(page) for page in sys.argv[1:] or TOOLS]
    sys.exit(not all(same))
