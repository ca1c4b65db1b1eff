"""Anomalies, contours, centerlines and objects: drawings with known answers, and other tools on masks that ship."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.one_image import count
from segbench.core.protocol import Protocol
from segbench.loaders.images import decode
from segbench.loaders.presets import shipped
from segbench.protocols.anomalies.curves import measured_pimo, measured_pro
from segbench.protocols.centerlines.settings import Centerlines
from segbench.protocols.contours.settings import Contours
from segbench.protocols.objects.counting import components_of
from segbench.protocols.objects.settings import Objects
from segbench.verification.checks import Check, Group, VerifiedPart, compare_texts, counted, expected, small_group

Known = Mapping[str, Any]
Metrics = Mapping[str, float]
_FOLDERS = "ground_truth", "predictions/random_walker"


def drawn_parts() -> list[VerifiedPart]:
    """Return one part for each of these protocols."""
    pimo = small_group("a million pixels", _aupimo)
    contours = _groups("contours", _contours, partial(_demo, Contours))
    centerlines = _groups("centerlines", partial(_summary, Centerlines), partial(_demo, Centerlines))
    objects = _groups("objects", partial(_summary, Objects), _components)
    return [
        VerifiedPart("AUPRO and AUPIMO of drawings", [*_groups("anomalies", _aupro), pimo]),
        VerifiedPart("Contours, examples and other tools on masks that ship", contours),
        VerifiedPart("Centerlines, drawings and scikit-image on masks that ship", centerlines),
        VerifiedPart("Objects, examples and another tool on masks that ship", objects),
    ]


def _groups(table: str, *measures: Callable[[Known], Metrics]) -> list[Group]:
    """Return the groups of a table: of its drawings and of its tools, each measured by a function."""
    return [
        small_group(case["name"], partial(_check, case, measure))
        for kind, measure in zip(("drawing", "tool"), measures, strict=False)
        for case in expected(table)[kind]
    ]


def _check(case: Known, measure: Callable[[Known], Metrics]) -> Iterator[Check]:
    yield from compare_texts(case["metrics"], measure(case), case["source"])


def _maps(drawing: Known) -> Iterator[NDArray[np.int64]]:
    values = {".": 0, "#": 1, **{str(k): k for k in range(10)}, **drawing.get("values", {})}
    for name in ("truth", "predicted"):
        yield np.array([[values[letter] for letter in row] for row in drawing.get(name, ())])


def _aupro(drawing: Known) -> Metrics:
    truth = next(_maps(drawing)).repeat(drawing.get("repeated", 1), axis=0)
    scores = drawing.get("scores", np.arange(truth.size).reshape(truth.shape) / truth.size)
    measured = measured_pro({"": count(truth, np.array(scores), "anomalies")}, limits=(drawing["limit"],))
    return dict(zip(drawing["metrics"], measured.areas, strict=True))


def _aupimo() -> Iterator[Check]:
    scores = np.ones(10**6, np.float32)
    for pixels in (10**5, 10**4, 10**3, 100, 10, 1):
        scores[:pixels] += 1
    masks = {"normal": scores < 0, "whole": scores > 0, "tenth": np.arange(scores.size) < 10**5}
    square = 1000, 1000
    counts = {name: count(mask.reshape(square), scores.reshape(square), "anomalies") for name, mask in masks.items()}
    pimo = measured_pimo(counts)
    areas = {f"aupimo, {name} image anomalous": pimo.area(counts[name]) for name in ("whole", "tenth")}
    yield from compare_texts(dict(zip(areas, ("11/200000", "11/20000"), strict=True)), areas, "anomalib's tests")


def _contours(drawing: Known) -> Metrics:
    truth, predicted = ((drawn != 0) ^ drawing.get("background", False) for drawn in _maps(drawing))
    protocol = Contours(nsd=[float(key[4:]) for key in drawing["metrics"]])
    metrics: Metrics = count(truth, predicted, protocol).metrics()
    return metrics


def _summary(settings: Callable[..., Protocol], drawing: Known) -> Metrics:
    truth, predicted = _maps(drawing)
    predicted = predicted != 0 if predicted.max() == 1 else predicted  # a mask, or numbers of objects
    return counted({"drawing": (truth, predicted)}, protocol=settings(**drawing.get("settings", {}))).summary


def _demo(settings: Callable[..., Protocol], tool: Known) -> Metrics:
    folders = (shipped("demo") / "objects" / folder for folder in _FOLDERS)
    return counted(*folders, settings(at=0.5, **tool["settings"])).summary


def _components(tool: Known) -> Metrics:
    """Number the components of an image's masks, which are then instances."""
    files = (shipped("demo") / "objects" / folder / f"{tool['image']}.png" for folder in _FOLDERS)
    masks = (decode(file.read_bytes(), file, role="ground truth").array >= 128 for file in files)
    metrics: Metrics = count(*components_of(*masks, connectivity=8, min_true=0, min_predicted=0), "objects").metrics()
    return metrics
