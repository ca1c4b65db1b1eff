"""``summary.json`` of nnU-Net: TP, FP, FN and TN of each case and class, or region.

nnU-Net's version 2 writes one beside the predictions that it evaluates. Classes are labels, ``"1"``, or regions,
``"(1, 2, 3)"``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message
from segbench.core.settings import as_whole
from segbench.inputs.class_regions import ClassLabel, region_of
from segbench.loaders.source import read_json, shown, split_suffix

SUMMARY = "summary.json"
"""What nnU-Net calls the file."""
COUNTS = ("TP", "FP", "FN", "TN")
_LARGEST_BYTES = 2**27
_MOST_PIXELS = 2**53
_REGION = re.compile(r"\(\s*\d{1,9}\s*(?:,\s*\d{1,9}\s*)*,?\s*\)|\d{1,9}")
_HINT = "expected the summary.json of nnU-Net's version 2; evaluate the predictions again to get one"
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp")


class Case(NamedTuple):
    """The pixels of one case."""

    name: str
    counts: Mapping[ClassLabel, tuple[int, int, int, int]]  # TP, FP, FN and TN by class
    volume: bool  # by the ending of its file


def read_summary(path: Path) -> list[Case]:
    """Read the cases of a summary, in the order of their names."""
    file = shown(str(path))
    content = read_json(path, _LARGEST_BYTES, "a summary of nnU-Net", hint=_HINT, otherwise=_HINT)
    listed = content.get("metric_per_case") if isinstance(content, dict) else None
    if not isinstance(listed, list) or not listed:
        raise DataError(file, Message("no-cases", "has no metrics of cases"), _HINT)
    cases = [_case(file, number, case) for number, case in enumerate(listed, start=1)]
    by_name = {case.name: case for case in cases}
    if len(by_name) < len(cases):
        doubled = next(case.name for case in cases if by_name[case.name] is not case)
        raise DataError(file, Message("doubled-case", "has several cases called {name}", name=doubled), _HINT)
    first = cases[0]
    for case in cases:
        if case.counts.keys() != first.counts.keys():
            problem = Message(
                "other-classes", "has other classes in {case} than in {first}", case=case.name, first=first.name
            )
            raise DataError(file, problem, _HINT)
    return [by_name[name] for name in sorted(by_name)]


def _case(file: str, number: int, case: Any) -> Case:
    """Read an entry."""
    metrics = case.get("metrics") if isinstance(case, dict) else None
    if not isinstance(metrics, dict) or not metrics:
        raise DataError(file, Message("no-metrics", "has no metrics in case {number}", number=number), _HINT)
    paths = [case.get(key) for key in ("prediction_file", "reference_file")]
    files = [PureWindowsPath(PurePosixPath(path).name).name for path in paths if isinstance(path, str)]
    name, ending = split_suffix(next(filter(None, files), f"case_{number}"))
    counts: dict[ClassLabel, tuple[int, int, int, int]] = {}
    for key, of_class in metrics.items():
        label = _label(file, key)
        if label in counts:
            raise DataError(file, Message("doubled-class", "has the class {key} twice", key=str(key)), _HINT)
        counts[label] = _counts(file, name, key, of_class)
    if len({sum(of_class) for of_class in counts.values()}) > 1:
        problem = Message("contradiction", "has other numbers of pixels by class in {case}", case=name)
        raise DataError(file, problem, _HINT)
    return Case(shown(name), counts, bool(ending) and ending.lower() not in _IMAGES)


def _label(file: str, key: str) -> ClassLabel:
    """Read a label, or the labels of a region."""
    if not _REGION.fullmatch(key):
        raise DataError(file, Message("wrong-class", "has the class {key!r}", key=f"{key:.60}"), _HINT)
    return region_of(map(int, re.findall(r"\d+", key)))


def _counts(file: str, case: str, key: str, of_class: Any) -> tuple[int, int, int, int]:
    """Read the pixels of a class, which have to be whole numbers."""
    try:
        tp, fp, fn, tn = (as_whole(of_class[name], name, most=_MOST_PIXELS) for name in COUNTS)
    except (ArgumentError, KeyError, TypeError):
        problem = Message(
            "wrong-counts", "has no whole numbers of pixels as TP, FP, FN and TN of {key} in {case}", key=key, case=case
        )
        raise DataError(file, problem, _HINT) from None
    return tp, fp, fn, tn
