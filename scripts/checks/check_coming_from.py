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
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import distribution as files_of
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

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
    with stand_ins("mmseg", "mmseg.registry", "mmengine.dist", "mmengine.logging", "mmengine.utils", "prettytable"):
        sys.modules["mmengine.evaluator"] = SimpleNamespace(BaseMetric=object)  # type: ignore[assignment]
        sys.modules["mmseg.registry"] = registry  # type: ignore[assignment]
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


def module_of(distribution: str, path: str) -> Any:
    """Load one module of an installed package by itself."""
    spec = spec_from_file_location(Path(path).stem, str(files_of(distribution).locate_file(path)))
    if spec is None or spec.loader is None:
        raise SystemExit(f"{distribution} has no {path}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def stand_ins(*names: str) -> Iterator[None]:
    """Let modules that a tool imports and does not need for its numbers be anything."""
    with mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in names}):
        yield


TOOLS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "cityscapesscripts": cityscapesscripts,
    "mmsegmentation": mmsegmentation,
    "scikit_learn": scikit_learn,
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
    same = [compare(page) for page in sys.argv[1:] or TOOLS]
    sys.exit(not all(same))
