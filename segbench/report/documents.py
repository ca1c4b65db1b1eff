"""Results as JSON, in the form that scripts rely on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from segbench.aggregator.result import Result
from segbench.core.summary import Summary
from segbench.report.classes import ClassResult
from segbench.report.threshold_tables import threshold_columns
from segbench.statistics.intervals import Intervals

SCHEMA = 1


def json_document(
    results: Sequence[Result],
    *,
    intervals: Sequence[Intervals] = (),
    per_image: bool = False,
    per_threshold: bool = False,
    classes: Sequence[ClassResult] = (),
) -> str:
    """Write results as JSON: ``{"schema": 1, "runs": [...]}``.

    Undefined metrics are null, with the reason under ``undefined``. ``bounds`` maps metrics that are not exact, because
    scores were counted in bins, to [low, high]. ``images`` and ``failed`` are numbers, ``failures`` says why;
    ``partial`` is null, or for a run that stopped half-way [images done, all images or null];
    ``optimistic`` names metrics with thresholds chosen on the images they describe. ``intervals`` maps metrics to
    [low, high], ``resampling`` says how they were drawn. On request, ``per_image`` holds the metrics of each image,
    ``image_undefined`` why some are undefined, ``image_bounds`` their bounds (only of images that have any) and
    ``image_notes`` what was done to the image; ``per_threshold`` has one list per column of
    `segbench.report.threshold_tables.threshold_columns`, where an infinite threshold is null; and ``per_class`` holds
    the metrics of each of `classes`.
    """
    runs = [_run(result) for result in results]
    for run, result in zip(runs, results, strict=True):
        if per_image:
            run["image_notes"] = {name: list(notes) for name, notes in result.image_notes.items()}
            summaries = dict(result.per_image)
            run["per_image"] = {name: _finite(summary) for name, summary in summaries.items()}
            run["image_undefined"] = {name: dict(one.undefined) for name, one in summaries.items() if one.undefined}
            run["image_bounds"] = {name: _bounds(summary) for name, summary in summaries.items() if summary.bounds}
        if per_threshold:
            columns = threshold_columns(result)
            if result.chosen_points:
                run["notes"].append(f"per_threshold: {result.chosen_points}")
            run["per_threshold"] = {
                key: [finite(value) for value in values.tolist()] for key, values in columns.items()
            }
    for one in classes:
        runs[one.run].setdefault("per_class", {})[one.name] = _class(one)
    for run, drawn in zip(runs, intervals, strict=False):
        run["intervals"] = {key: [finite(end) for end in ends] for key, ends in drawn.items()}
        run["signature"] += f"|{drawn.signature}"
        run["resampling"] = {
            "method": drawn.method,
            "level": drawn.level,
            "replicates": drawn.replicates,
            "seed": drawn.seed,
            "undefined": dict(drawn.undefined),
            "notes": list(drawn.notes),
        }
    return json.dumps({"schema": SCHEMA, "runs": runs}, indent=2) + "\n"


def _run(result: Result) -> dict[str, Any]:
    summary = result.summary
    return {
        "method": result.method,
        "protocol": result.protocol,
        "signature": result.signature,
        "images": len(result.counts),
        "failed": len(result.failed),
        "partial": None if result.partial is None else list(result.partial),
        "summary": _finite(summary),
        "intervals": {},
        "bounds": _bounds(summary),
        "undefined": dict(summary.undefined),
        "optimistic": list(summary.optimistic),
        "settings": dict(result.settings),
        "notes": [*result.notes, *summary.notes],
        "failures": dict(result.failed),
    }


def _class(one: ClassResult) -> dict[str, Any]:
    summary = one.result.summary
    drawn: Mapping[str, tuple[float, float]] = one.intervals or {}
    return {
        "signature": one.result.signature,
        "summary": _finite(summary),
        "intervals": {key: [finite(end) for end in ends] for key, ends in drawn.items()},
        "bounds": _bounds(summary),
        "undefined": dict(summary.undefined),
    }


def _bounds(summary: Summary) -> dict[str, list[float]]:
    return {key: list(pair) for key, pair in summary.bounds.items()}


def _finite(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {key: finite(value) for key, value in figures.items()}


def finite(value: float) -> float | None:
    """Give None for what JSON has no number for."""
    return value if math.isfinite(value) else None
