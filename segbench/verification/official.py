"""Results compared with the files that the official code left behind, number by number and line by line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from segbench.aggregator.result import Result
from segbench.loaders.bsds_text import read_rows
from segbench.report.bsds import files_of
from segbench.verification.checks import Check, not_checked
from segbench.verification.figures import figure_name
from segbench.verification.tables import expected

BOUNDARIES = (
    "ods_threshold",
    "ods_recall",
    "ods_precision",
    "ods_f",
    "ois_recall",
    "ois_precision",
    "ois_f",
    "area_pr",
)
"""The columns of ``eval_bdry.txt``."""
BOUNDARY_BEST = "eval_bdry.txt"

_COVER = ("covering_ods_threshold", "covering_ods", "covering_ois", "covering_best")
_MEANS = ("pri_ods_threshold", "pri_ods", "pri_ois", "voi_ods_threshold", "voi_ods", "voi_ois")
_REGIONS = {"eval_cover.txt": _COVER, "eval_RI_VOI.txt": _MEANS}
_REGION_FILES = (*_REGIONS, "eval_cover_img.txt", "eval_cover_th.txt", "eval_RI_VOI_thr.txt")


def compare_boundaries(part: str, group: str, folder: Path, result: Result | None, missing: str) -> Iterator[Check]:
    """Compare the figures with ``eval_bdry.txt``, and every row with the other two files."""
    table = expected("bsds500")["examples"]
    allowed = table["allowed"]
    rows = [name for name in allowed if name.endswith(".txt")]
    yield from _not_checked(part, group, folder, [BOUNDARY_BEST, *rows], missing)
    if result is None:
        return
    for check in boundary_figures(part, group, folder, result, allowed):
        yield replace(check, note=table["note"]) if check.what == figure_name("ods_f") else check
    ours = files_of(result)
    for name in rows:
        if (folder / name).is_file():
            yield Check(
                part=part,
                group=group,
                what="its worst row",
                expected=0,
                got=_largest_difference(ours[name], folder / name),
                allowed=allowed[name],
                source=name,
            )


def compare_regions(part: str, group: str, folder: Path, result: Result | None, missing: str) -> Iterator[Check]:
    """Compare the figures, as written with six digits, and the lines of all five files; see `compare_boundaries`."""
    yield from _not_checked(part, group, folder, _REGION_FILES, missing)
    if result is None:
        return
    yield from region_figures(part, group, folder, result, 0)
    ours = files_of(result)
    for name in _REGION_FILES:
        if (folder / name).is_file():
            yield Check(
                part=part,
                group=group,
                what="lines that differ",
                expected=0,
                got=_lines_that_differ(ours[name], folder / name),
                allowed=0,
                source=name,
            )


def boundary_figures(
    part: str, group: str, folder: Path, result: Result, allowed: Mapping[str, float]
) -> Iterator[Check]:
    """Compare the figures with ``eval_bdry.txt``, where it is there."""
    if (folder / BOUNDARY_BEST).is_file():
        row = read_rows(folder / BOUNDARY_BEST, (len(BOUNDARIES),))[0].tolist()
        for key, value in zip(BOUNDARIES[1:], row[1:], strict=True):
            yield Check(
                part=part,
                group=group,
                what=figure_name(key),
                expected=value,
                got=result.summary[key],
                allowed=allowed[key],
                source=BOUNDARY_BEST,
            )


def region_figures(part: str, group: str, folder: Path, result: Result, allowed: float) -> Iterator[Check]:
    """Compare the figures, as written with six digits, with ``eval_cover.txt`` and ``eval_RI_VOI.txt``."""
    ours = files_of(result)
    for name, keys in _REGIONS.items():
        if (folder / name).is_file():
            theirs = read_rows(folder / name, (len(keys),))[0].tolist()
            for key, value, got in zip(keys, theirs, map(float, ours[name].split()), strict=True):
                if "threshold" not in key:
                    yield Check(
                        part=part,
                        group=group,
                        what=figure_name(key),
                        expected=value,
                        got=got,
                        allowed=allowed,
                        source=name,
                    )


def _not_checked(part: str, group: str, folder: Path, files: Sequence[str], missing: str) -> Iterator[Check]:
    for name in files:
        reason = missing or ("" if (folder / name).is_file() else f"there is no {name} in {folder.name}")
        if reason:
            yield not_checked(part=part, group=group, what="its figures", source=name, missing=reason)


def _largest_difference(ours: str, path: Path) -> float:
    mine = np.array([[float(text) for text in line.split()] for line in ours.splitlines()])
    theirs = read_rows(path, (mine.shape[1],))
    return float(np.abs(mine - theirs).max()) if mine.shape == theirs.shape else math.inf


def _lines_that_differ(ours: str, path: Path) -> int:
    read_rows(path, (2, 3, 4, 6))
    mine, theirs = ours.splitlines(), path.read_text("ascii").splitlines()
    return sum(a != b for a, b in zip(mine, theirs, strict=False)) + abs(len(mine) - len(theirs))
