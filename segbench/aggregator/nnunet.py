"""Results that nnU-Net counted: its ``summary.json`` to a `Result` with counts of each case and class."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from segbench.aggregator.assembling import assemble
from segbench.aggregator.codec import encode
from segbench.aggregator.records import Outcome, Run
from segbench.aggregator.result import Result
from segbench.aggregator.saving import save_run
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.core.names import first_names
from segbench.core.settings import as_path
from segbench.inputs.class_names import written_classes
from segbench.inputs.class_regions import ClassLabel
from segbench.inputs.nnunet_summary import SUMMARY, Case, read_summary
from segbench.protocols.labels.counts import SummarizedCounts
from segbench.protocols.labels.settings import Labels, SummarizedLabels

_NAMED = 8
_BACKGROUND = 0


def import_nnunet(
    summary: str | PathLike[str],
    *,
    method: str | None = None,
    run: str = "",
    classes: int | Sequence[ClassLabel | Sequence[int]] | str | None = None,
    results: str | PathLike[str] | None = None,
) -> Result:
    """Read the ``summary.json`` of nnU-Net, which holds the counts of each case and class.

    Parameters
    ----------
    summary : path
        The file, or the folder that holds it.
    method : str, optional
        What to call the method; by default as the folder of ``summary.json``, or as a file of another name.
    run : str
        Which training or fold of the method it is; empty where there is one.
    classes : int, sequence or str, optional
        Names of the classes, as `segbench.Labels` takes them, for instance the ``dataset.json`` of the data set. By
        default classes are called by their labels.
    results : path, optional
        Results file to keep the result in, beside what is there.

    Returns
    -------
    Result
        With counts of each class, or region, against all other pixels. Metrics, intervals and comparisons are those of
        the label maps, except for metrics that need to know which class is predicted for which: pixel accuracy and
        kappa.

    Raises
    ------
    DataError
        If the file is damaged or not a summary of nnU-Net's version 2, or has other classes than `classes`.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> counts = {"TP": 6, "FP": 2, "FN": 1, "TN": 91}
    >>> case = {"metrics": {"1": counts}, "prediction_file": "case_1.nii.gz"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "summary.json")
    ...     _ = file.write_text(json.dumps({"metric_per_case": [case]}))
    ...     result = import_nnunet(file, method="net", classes="liver=1")
    >>> result.summary["mean_dice_cases"]
    0.8
    """
    path = Path(as_path(summary, "summary"))
    path = path / SUMMARY if path.is_dir() else path
    cases = read_summary(path)
    rules = _rules(str(path), list(cases[0].counts), classes)
    labels = rules.class_labels
    outcomes = [_outcome(case, labels, rules.classes_text) for case in cases]
    usual_name = path.resolve().parent.name if path.name == SUMMARY else path.stem
    counted = Run.of(rules, method=method or usual_name or "nnU-Net", run=run)
    result = assemble(counted, outcomes)
    if results is not None:
        place = Path(as_path(results, "results"))
        save_run(place, counted, outcomes, result, complete=True, fresh=False, stacklevel=3)
    return result


def is_summary(place: str) -> bool:
    """Return whether a place is a JSON file, or a folder with the summary of nnU-Net."""
    return place.lower().endswith(".json") or Path(place, SUMMARY).is_file()


def _rules(
    file: str, labels: Sequence[ClassLabel], classes: int | Sequence[ClassLabel | Sequence[int]] | str | None
) -> SummarizedLabels:
    """Return the protocol with the classes of a file, in the order and with the names of `classes`."""
    if classes is None:
        return SummarizedLabels(classes=labels, void=())
    named = Labels(classes=classes)
    names = dict(zip(named.class_labels, named.names or (), strict=True))
    lacking = [name for label, name in names.items() if label not in labels and label != _BACKGROUND]
    unnamed = [str(label) for label in labels if label not in names]
    if lacking or unnamed:
        problem = Message(
            "other-classes",
            "has the classes {held}, and {classes} names others: {differing}",
            held=written_classes(labels, [*map(str, labels)]),
            classes=Setting("classes"),
            differing=first_names([*lacking, *unnamed], _NAMED),
        )
        raise DataError(file, problem, Message("fix", "leave out {classes}, or correct it", classes=Setting("classes")))
    kept = {label: name for label, name in names.items() if label in labels}
    background = [label for label in named.background_labels if label in kept]
    return SummarizedLabels(classes=tuple(kept), names=tuple(kept.values()), void=(), background=background)


def _outcome(case: Case, labels: Sequence[ClassLabel], classes: str) -> Outcome:
    """Return the counts of a case as if it had just been counted; its digests are those of its numbers."""
    tp, fp, fn, tn = np.array([case.counts[label] for label in labels], np.int64).T
    counts = SummarizedCounts(classes, tp, fp, fn, pixels=int(tp[0] + fp[0] + fn[0] + tn[0]), volumes=int(case.volume))
    truth = _digest({"truth": (tp + fn).tolist(), "pixels": counts.pixels})
    return Outcome(case.name, _digest({"counts": [*map(list, case.counts.values())]}), truth, encode(counts))


def _digest(numbers: Mapping[str, object]) -> str:
    """Return the digest of numbers, in place of that of files."""
    return hashlib.sha256(repr(sorted(numbers.items())).encode()).hexdigest()
