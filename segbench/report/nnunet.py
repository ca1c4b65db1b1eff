"""Results of label maps as the ``summary.json`` of nnU-Net's version 2 (``evaluation/evaluate_predictions.py``).

Means are those of nnU-Net: over the cases where a metric is defined, nan where it is nowhere; `foreground_mean` over
all classes but label 0, nan if one of them is. JSON has ``NaN`` for nan, as nnU-Net writes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from segbench.aggregator.result import Result
from segbench.aggregator.writing import write_file
from segbench.core.errors import ArgumentError, SegbenchError
from segbench.core.messages import Message, Setting
from segbench.core.operating_point import f_of, iou_of
from segbench.core.settings import as_path
from segbench.inputs.class_regions import ClassLabel, labels_of
from segbench.protocols.labels.settings import Labels

_HINT = "give another path"


def export_nnunet(result: Result, path: str | PathLike[str]) -> None:
    """Write a result of label maps as the ``summary.json`` of nnU-Net.

    Parameters
    ----------
    result : Result
        Of `segbench.Labels`: one method, whose cases were counted.
    path : path
        The file; replaced if it exists.

    Raises
    ------
    ArgumentError
        If the result is of another protocol, or a mean over runs, or has no counts.
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from segbench import Labels, evaluate
    >>> result = evaluate({"a": (np.array([[0, 1, 1, 2]]), np.array([[1, 1, 1, 2]]))}, protocol=Labels(classes=3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_nnunet(result, f"{folder}/summary.json")
    ...     summary = json.loads(Path(folder, "summary.json").read_text())
    >>> summary["mean"]["1"]["Dice"], summary["metric_per_case"][0]["metrics"]["1"]["FP"]
    (0.8, 1)
    """
    write_file(Path(as_path(path, "path")), nnunet_document([result]).encode(), hint=_HINT, make_folder=True)


def nnunet_document(results: Sequence[Result]) -> str:
    """Write the one result as the text of a ``summary.json``."""
    if len(results) != 1:
        raise ArgumentError(
            Message(
                "several-methods",
                "a summary of nnU-Net is of one method, found {methods}; choose one with {only}",
                methods=len(results),
                only=Setting("only", "METHOD"),
            )
        )
    return json.dumps(nnunet_summary(results[0]), indent=4, sort_keys=True)


def nnunet_summary(result: Result) -> dict[str, Any]:
    """Return the content of a ``summary.json``."""
    rules = result.rules
    if not isinstance(rules, Labels) or "class" in result.settings or not result.counts:
        raise ArgumentError(
            Message(
                "no-summary",
                "{method} is a result of {protocol} without counts of cases and classes, of which nnU-Net has its "
                "summary; give one of labels",
                method=result.label,
                protocol=result.protocol,
            )
        )
    chosen = [(row, label) for row, label in enumerate(rules.class_labels) if label not in rules.background_labels]
    files = _files(result)
    cases: list[dict[str, Any]] = []
    for name, counts in result.counts.items():
        reference, prediction = files.get(name, (name, name))
        metrics = {_key(label): _metrics(counts, row) for row, label in chosen}
        cases.append({"metrics": metrics, "prediction_file": prediction, "reference_file": reference})
    means = {
        key: {metric: _nan_mean([case["metrics"][key][metric] for case in cases]) for metric in of_class}
        for key, of_class in cases[0]["metrics"].items()
    }
    foreground = [of_class for key, of_class in means.items() if key != "0"]
    foreground_mean = {
        metric: _mean([of_class[metric] for of_class in foreground]) for metric in next(iter(means.values()))
    }
    return {"foreground_mean": foreground_mean, "mean": means, "metric_per_case": cases}


def _key(label: ClassLabel) -> str:
    """Write a label or a region as nnU-Net does."""
    return str(label) if isinstance(label, int) else str(labels_of(label))


def _metrics(counts: Any, row: int) -> dict[str, float]:  # noqa: ANN401  `LabelCounts` or `SummarizedCounts`
    """Return the metrics of a class in a case."""
    tp, truth, predicted = (int(pixels[row]) for pixels in counts.by_class)
    fp, fn = predicted - tp, truth - tp
    return {
        "Dice": f_of(tp, fp, truth),
        "FN": fn,
        "FP": fp,
        "IoU": iou_of(tp, fp, truth),
        "TN": counts.pixels - (tp + fp + fn),
        "TP": tp,
        "n_pred": predicted,
        "n_ref": truth,
    }


def _nan_mean(values: Sequence[float]) -> float:
    """Return the mean of what is defined, as NumPy computes it."""
    return _mean([value for value in values if not math.isnan(value)])


def _mean(values: Sequence[float]) -> float:
    """Return the mean, nan of nothing."""
    import numpy as np

    return float(np.mean(values)) if values else math.nan


def _files(result: Result) -> Mapping[str, tuple[str, str]]:
    """Return the files of ground truth and prediction by case, as far as they are still there."""
    from segbench.aggregator.rereading import files_of
    from segbench.loaders.source import shown

    if not result.inputs:
        return {}
    try:
        files = files_of(result)
        pairs = {name: files.get(name) for name in result.counts}
    except SegbenchError:
        return {}
    return {
        name: (shown(pair.ground_truths[0]), shown(pair.prediction))
        for name, pair in pairs.items()
        if pair is not None and pair.ground_truths
    }
