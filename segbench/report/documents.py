"""Results as JSON, in the form that scripts rely on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from segbench.aggregator.result import Result
from segbench.core.summary import Summary, finite, finite_values
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
    ``image_notes`` what was done to the image; ``per_threshold`` has one list per column of the curve
    (`segbench.core.series.Series.columns`), where an infinite threshold is null, and none without a curve; and
    ``per_class`` holds the metrics of each of `classes`.
    """
    drawn: list[Intervals | None] = [*intervals] or [None] * len(results)
    runs = [result.to_dict(intervals=one) for result, one in zip(results, drawn, strict=True)]
    tables = threshold_columns(results) if per_threshold else []
    for place, (run, result) in enumerate(zip(runs, results, strict=True)):
        if per_image:
            run["image_notes"] = {name: list(notes) for name, notes in result.image_notes.items()}
            summaries = dict(result.per_image)
            run["per_image"] = {name: finite_values(summary) for name, summary in summaries.items()}
            run["image_undefined"] = {name: dict(one.undefined) for name, one in summaries.items() if one.undefined}
            run["image_bounds"] = {name: _bounds(summary) for name, summary in summaries.items() if summary.bounds}
        if per_threshold:
            columns = tables[place]
            if result.chosen_points:
                run["notes"].append(f"per_threshold: {result.chosen_points}")
            run["per_threshold"] = {
                key: [finite(value) for value in values.tolist()] for key, values in columns.items()
            }
    for one in classes:
        runs[one.run].setdefault("per_class", {})[one.name] = _class(one)
    return json.dumps({"schema": SCHEMA, "runs": runs}, indent=2) + "\n"


def _class(one: ClassResult) -> dict[str, Any]:
    summary = one.result.summary
    drawn: Mapping[str, tuple[float, float]] = one.intervals or {}
    return {
        "signature": one.result.signature,
        "summary": finite_values(summary),
        "intervals": {key: [finite(end) for end in ends] for key, ends in drawn.items()},
        "bounds": _bounds(summary),
        "undefined": dict(summary.undefined),
    }


def _bounds(summary: Summary) -> dict[str, list[float]]:
    return {key: list(pair) for key, pair in summary.bounds.items()}
