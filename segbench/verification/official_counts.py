"""Official counts of gPb-owt-ucm on single images of BSDS500, against those found here.

``test_fb_<threshold>.txt`` holds a row ``F P R matched_gt total_gt matched_pred total_pred`` per image. ``test.txt``
beside the files lists the images in the order of the rows; without it they are all images, sorted by name. The official
matching stays at or below the optimum, which is found here: totals must be equal, and matched ground truth is never
lower. Matched predicted pixels depend on which of several best matchings is found: they agree in total.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.numbers import many
from segbench.loaders.bsds_text import read_rows
from segbench.loaders.decoded import shown
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.verification.checks import Check

_PREFIX, _LIST = "test_fb_", "test.txt"
_NAMES = {
    "matched_gt": "matched ground truth",
    "total_gt": "all ground truth",
    "matched_pred": "matched predicted",
    "total_pred": "all predicted",
}
_WRONG = {
    "matched_gt": ("places lower", np.less),
    "total_gt": ("places that differ", np.not_equal),
    "total_pred": ("places that differ", np.not_equal),
}
_ALLOWED = 1e-3
"""How far matched predicted pixels may be off in total, as a share of them."""


def images_with_counts(folder: Path, available: Collection[str]) -> list[str]:
    """Name the images that a folder holds official counts of, in the order of rows; none where it has no such files."""
    if not any(folder.glob(f"{_PREFIX}*.txt")):
        return []
    listed = folder / _LIST
    if not listed.is_file():
        return sorted(available)
    names = [Path(line).stem for line in listed.read_text("utf-8").split()]
    if missing := [name for name in names if name not in available]:
        what = f"lists {many(len(missing), 'image')} without ground truth or prediction, the first {shown(missing[0])}"
        raise DataError(shown(listed), what, "add these images, or leave them out of the list and of all rows")
    return names


def compare_counts(folder: Path, names: Sequence[str], result: Result) -> Iterator[Check]:
    """Compare every count of these images at every threshold that has a file."""
    counts = [one for name in names if isinstance(one := result.counts[name], BoundaryCounts)]
    thresholds = {round(threshold, 9): place for place, threshold in enumerate(counts[0].thresholds.tolist())}
    read = {path: read_rows(path, (7,))[:, 3:] for path in sorted(folder.glob(f"{_PREFIX}*.txt"))}
    for path, rows in read.items():
        if len(rows) != len(names):
            hint = f"name the images in the order of rows in {_LIST} beside it, one per line"
            raise DataError(
                shown(path), f"has {many(len(rows), 'row')}, expected one for each of {many(len(names), 'image')}", hint
            )
        if _threshold(path) not in thresholds:
            what = f"its name has no threshold that is counted here, expected {_PREFIX}0.01.txt to {_PREFIX}0.99.txt"
            raise DataError(shown(path), what, "rename or remove it")
    official = np.moveaxis(np.array(list(read.values())), 0, 2)  # image, column, threshold
    source = f"{_PREFIX}*.txt"
    ours = np.array([one.rows for one in counts])[:, :, [thresholds[_threshold(path)] for path in read]]
    for key, found, theirs in zip(
        BoundaryCounts.per_threshold, np.moveaxis(ours, 1, 0), np.moveaxis(official, 1, 0), strict=True
    ):
        if key in _WRONG:
            what, wrong = _WRONG[key]
            got = float(wrong(found, theirs).sum())
            yield Check(what=f"{_NAMES[key]}: {what}", expected=0, got=got, allowed=0, source=source)
        if key.startswith("matched"):
            total, got = float(theirs.sum()), float(found.sum())
            yield Check(what=f"{_NAMES[key]}, total", expected=total, got=got, allowed=_ALLOWED * total, source=source)


def _threshold(path: Path) -> float:
    try:
        return float(path.stem.removeprefix(_PREFIX))
    except ValueError:
        return math.nan
