"""Results in the text files of the official benchmark (``collect_eval_bdry`` of BSDS500; regions: `bsds_regions`).

Conventions
-----------
1. Rows and columns as `segbench.loaders.bsds_text` lists them, recall before precision, every number as ``%10g``, six
   digits, and 0 where a denominator is 0. Images are in sorted order of names.
2. Figures are computed from thresholds as printed, as the official code does, which reads its own ``*_ev1.txt`` again.
   Files read back and written once more are the same, byte for byte.
3. A name becomes one part of a path whatever it holds: ``train/8049`` is written to ``train%2F8049_ev1.txt``.

Differences from the official code
----------------------------------
1. Counts from a million on keep all their digits, which ``%10g`` would cut to six.
2. Undefined figures of annotators compared with each other are ``nan``: the best of an image of one annotator, the area
   of their one threshold, everything where no image has two annotators. Those of methods are 0, as the official code
   writes them.
3. A published curve has no counts: its rows and its row of best figures are written, ``nan`` where one is not known,
   without the first column where thresholds are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from segbench.aggregator.result import Result
from segbench.aggregator.writing import write_file
from segbench.core.errors import ArgumentError, DataError
from segbench.loaders.bsds_text import COUNTS, as_file_name
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import BoundaryCurve, boundary_curve, measured
from segbench.protocols.boundaries.published import PublishedCurve
from segbench.protocols.regions.counts import RegionCounts
from segbench.report.bsds_regions import region_files
from segbench.report.bsds_rows import rows_text

_OFFICIAL = (BoundaryCounts, RegionCounts)  # the official files hold these counts
_NO_BEST = (math.nan,) * 4
_FIGURES = ("ods_recall", "ods_precision", "ods_f", "ois_recall", "ois_precision", "ois_f", "area_pr")


def export_bsds(results: Sequence[Result], folder: str | PathLike[str]) -> list[Path]:
    """Write results of the boundary and region protocols as the official benchmark does.

    Parameters
    ----------
    results : sequence of Result
        Of the boundary or region protocol; others are passed over, and so are runs that counted no image.
    folder : path
        Made where there is none. A single method's files lie in it, those of several in a sub-folder each.

    Returns
    -------
    list of Path
        The folders, one a method.

    Raises
    ------
    ArgumentError
        If no result is of either protocol.
    DataError
        If no run counted an image; if a folder holds counts of images that the result has not, which would be read as
        part of it; if a file cannot be written; or if thresholds are the same in six digits.
    """
    chosen = [result for result in results if result.rules.counts in _OFFICIAL]
    if not chosen:
        raise ArgumentError(
            "no result of the boundary protocol or the region protocol, and the official files hold no other"
        )
    chosen = [result for result in chosen if result.counts or result.published]
    if not chosen:
        raise DataError(str(results[0].method), "has no image that was counted", "mend what failed and run again")
    root = Path(folder)
    folders = _folders(root, chosen)
    contents = [files_of(result) for result in chosen]
    for place, files in zip(folders, contents, strict=True):
        strays = sorted({path.name for path in place.glob(f"*{COUNTS}")} - files.keys())
        if strays:
            raise DataError(
                str(place), f"holds counts of other images ({', '.join(strays[:3])}, ...)", "give an empty folder"
            )
    for place, files in zip(folders, contents, strict=True):
        write_files(place, files)
    return list(dict.fromkeys(folders))


def _folders(root: Path, results: Sequence[Result]) -> list[Path]:
    """Give each result its folder: that of its method, where both protocols' files lie, whose names differ."""
    if len({result.method for result in results}) == 1 and len({r.protocol for r in results}) == len(results):
        return [root] * len(results)
    folders: dict[int, Path] = {}
    for kind in _OFFICIAL:
        of_one = [k for k, result in enumerate(results) if result.rules.counts is kind]
        names = file_names([results[k].method for k in of_one])
        folders |= {k: root / name for k, name in zip(of_one, names, strict=True)}
    return [folders[k] for k in range(len(results))]


def files_of(result: Result) -> dict[str, str]:
    """Give the content of each file of one result, by the file's name."""
    if result.rules.counts is RegionCounts:
        return region_files(result)
    if result.published:
        return _of_published(result)
    counted = sorted(result.counts.items())
    images = {name: _printed(counts) for name, counts in counted if isinstance(counts, BoundaryCounts)}
    if not images:
        raise DataError(result.method, "has no image that was counted", "repeat the run")
    pool = BoundaryCounts.sum(images.values())
    curve = boundary_curve(pool)
    summary: Mapping[str, float] = result.rules.table(images).summary()
    if result.competes and not pool.has_pixels:  # the official code has zeros where nothing is defined
        summary = dict.fromkeys(summary, 0.0) | measured(curve)
    files = {f"{as_file_name(name)}{COUNTS}": rows_text(_count_rows(counts)) for name, counts in images.items()}
    best = [_best_row(place, counts) for place, counts in enumerate(images.values(), start=1)]
    rows = _curve_rows(curve)
    area = measured(curve)["area_pr"]
    if not result.competes:
        best = [
            row if counts.has_pixels else [row[0], *_NO_BEST] for row, counts in zip(best, images.values(), strict=True)
        ]
        rows = rows if pool.has_pixels else [[row[0], *_NO_BEST[1:]] for row in rows]
        area = summary["area_pr"]
    return files | {
        "eval_bdry_img.txt": rows_text(best),
        "eval_bdry_thr.txt": rows_text(rows),
        "eval_bdry.txt": rows_text([[summary["ods_threshold"], *_best(summary)[:-1], area]]),
    }


def file_names(names: Iterable[str]) -> list[str]:
    """Give each name a part of a path of its own, told apart also where upper and lower case are one."""
    taken: set[str] = set()
    given = []
    for name in names:
        plain = chosen = as_file_name(name)
        number = 2
        while chosen.casefold() in taken:
            chosen = f"{plain}-{number}"
            number += 1
        taken.add(chosen.casefold())
        given.append(chosen)
    return given


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files into a folder, which is made where there is none."""
    for name, text in files.items():
        write_file(folder / name, text.encode(), hint="give another folder", make_folder=True)


def _of_published(result: Result) -> dict[str, str]:
    published = result.published
    if not isinstance(published, PublishedCurve):
        return {}
    curve, summary = published.curve, result.summary
    first = [summary["ods_threshold"]] if published.thresholds_known else []
    files = {"eval_bdry.txt": rows_text([[*first, *_best(summary)]])}
    if not published.best_only:
        rows = _curve_rows(curve)
        files["eval_bdry_thr.txt"] = rows_text(rows if published.thresholds_known else [row[1:] for row in rows])
    return files


def _printed(counts: BoundaryCounts) -> BoundaryCounts:
    """Take the thresholds as they will be read."""
    thresholds = np.array([float(f"{value:g}") for value in counts.thresholds])
    if np.any(np.diff(thresholds) <= 0):
        raise DataError("thresholds", "some are the same in six digits, all that the official files hold")
    return BoundaryCounts(thresholds, counts.matched_gt, counts.total_gt, counts.matched_pred, counts.total_pred)


def _best(summary: Mapping[str, float]) -> list[float]:
    return [float(summary[key]) for key in _FIGURES]


def _count_rows(counts: BoundaryCounts) -> Iterable[list[float]]:
    columns = (counts.thresholds, counts.matched_gt, counts.total_gt, counts.matched_pred, counts.total_pred)
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _curve_rows(curve: BoundaryCurve) -> list[list[float]]:
    columns = (curve.thresholds, curve.recall, curve.precision, curve.f)
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _best_row(place: int, counts: BoundaryCounts) -> list[float]:
    return [place, *_curve_rows(boundary_curve(counts))[int(np.argmax(boundary_curve(counts).f))]]
