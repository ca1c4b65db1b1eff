"""Results in the text files of the official benchmark (``collect_eval_bdry`` and ``collect_eval_reg`` of BSDS500).

Conventions
-----------
1. Rows and columns as `segbench.loaders.bsds_text` lists them, recall before precision, every number as ``%10g``, six
   digits, and 0 where a denominator is 0. Images are in sorted order of names.
2. Metrics are computed from what is printed, as the official code does, which reads its own files again: thresholds of
   boundaries; and of regions each image's areas and means in six digits, so that areas lose digits from a million on,
   and metrics can differ from those of `segbench.protocols.regions.curve` by 1e-5. Files of boundaries that are read
   and written once more are the same, byte for byte.
3. A name becomes one part of a path whatever it holds: ``train/8049`` is written to ``train%2F8049_ev1.txt``.

Differences from the official code
----------------------------------
1. Counts from a million on keep all their digits, which ``%10g`` would cut to six.
2. Undefined metrics of annotators compared with each other are ``nan``: the best of an image of one annotator, the area
   of their one threshold, everything where no image has two annotators. Those of methods are 0, as the official code
   writes them.
3. A published curve has no counts: its rows and its row of best metrics are written, ``nan`` where one is not known,
   without the first column where thresholds are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result, as_results
from segbench.aggregator.writing import write_file
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.integers import MEAN_UNITS
from segbench.loaders.bsds_text import BEST_KEYS, COUNTS, REGION_KEYS, as_file_name
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import BoundaryCurve, boundary_curve, measured
from segbench.protocols.boundaries.published import PublishedCurve
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts

_OFFICIAL = (BoundaryCounts, RegionCounts)  # the official files hold these counts
_NO_BEST = (math.nan,) * 4


def export_bsds(results: Result | Sequence[Result], folder: str | PathLike[str]) -> list[Path]:
    """Write results of the boundary and region protocols as the official benchmark does.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the boundary or region protocol; others are passed over, and so are runs that counted no image.
    folder : path
        Made where there is none. A single method's files lie in it, those of several in a sub-folder each.

    Returns
    -------
    list of Path
        The folders, one per method.

    Raises
    ------
    ArgumentError
        If no result is of either protocol.
    DataError
        If no run counted an image; if a folder holds counts of images that the result has not, which would be read as
        part of it; if a file cannot be written; or if thresholds are the same in six digits.
    """
    results = as_results(results)
    chosen = [result for result in results if result.rules.counts in _OFFICIAL]
    if not chosen:
        raise ArgumentError(
            "no result of the boundaries or regions protocol, and there are official files of these only"
        )
    chosen = [result for result in chosen if result.counts or result.published]
    if not chosen:
        raise DataError(str(results[0].method), "has no image that was counted", "fix what failed and run again")
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
        for name, text in files.items():
            write_file(place / name, text.encode(), hint="give another folder", make_folder=True)
    return list(dict.fromkeys(folders))


def _folders(root: Path, results: Sequence[Result]) -> list[Path]:
    """Give each result the folder of its method; both protocols share it, since the names of their files differ."""
    if len({result.method for result in results}) == 1 and len({r.protocol for r in results}) == len(results):
        return [root] * len(results)
    folders: dict[int, Path] = {}
    for places in grouped((result.protocol, place) for place, result in enumerate(results)).values():
        names = file_names([results[place].method for place in places])
        folders |= {place: root / name for place, name in zip(places, names, strict=True)}
    return [folders[place] for place in range(len(results))]


def files_of(result: Result) -> dict[str, str]:
    """Give the content of each file of one result, by the file's name."""
    boundaries = result.rules.counts is BoundaryCounts
    if result.published:
        return _of_published(result) if boundaries else _of_published_regions(result)
    if not result.counts:
        raise DataError(result.method, "has no image that was counted", "repeat the run")
    return _of_boundaries(result) if boundaries else _of_regions(result)


def _of_boundaries(result: Result) -> dict[str, str]:
    counted = sorted(result.counts.items())
    images = {name: _printed(counts) for name, counts in counted if isinstance(counts, BoundaryCounts)}
    pool = BoundaryCounts.sum(images.values())
    rows = _curve_rows(boundary_curve(pool))
    best = [_best_row(place, counts) for place, counts in enumerate(images.values(), start=1)]
    summary: Mapping[str, float] = result.rules.table(images).summary()
    if not result.competes:
        known = zip(best, images.values(), strict=True)
        best = [row if counts.has_pixels else [row[0], *_NO_BEST] for row, counts in known]
        rows = rows if pool.has_pixels else [[row[0], *_NO_BEST[1:]] for row in rows]
    else:
        # The official code has zeros where nothing is defined, and an area also of a single threshold.
        zeros = {} if pool.has_pixels else dict.fromkeys(summary, 0.0)
        summary = {**summary, **zeros, **measured(boundary_curve(pool))}
    rows_of = {name: _rows(counts.thresholds, *counts.rows) for name, counts in images.items()}
    return {f"{as_file_name(name)}{COUNTS}": _text(of_image) for name, of_image in rows_of.items()} | {
        "eval_bdry_img.txt": _text(best),
        "eval_bdry_thr.txt": _text(rows),
        "eval_bdry.txt": _text([[summary["ods_threshold"], *_best(summary)]]),
    }


def file_names(names: Iterable[str]) -> list[str]:
    """Give each name a part of a path of its own, different also where upper and lower case are one."""
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


def _of_published(result: Result) -> dict[str, str]:
    published = result.published
    if not isinstance(published, PublishedCurve):
        return {}
    curve, summary = published.curve, result.summary
    first = [summary["ods_threshold"]] if published.thresholds_known else []
    files = {"eval_bdry.txt": _text([[*first, *_best(summary)]])}
    if not published.best_only:
        rows = _curve_rows(curve)
        files["eval_bdry_thr.txt"] = _text(rows if published.thresholds_known else [row[1:] for row in rows])
    return files


def _printed(counts: BoundaryCounts) -> BoundaryCounts:
    """Take the thresholds as they will be read."""
    thresholds = np.array([float(f"{value:g}") for value in counts.thresholds])
    if np.any(np.diff(thresholds) <= 0):
        raise DataError("thresholds", "some are the same in six digits, all that the official files hold")
    return BoundaryCounts(thresholds, *counts.rows)


def _best(summary: Mapping[str, float]) -> list[float]:
    return [float(summary[key]) for key in BEST_KEYS]


def _curve_rows(curve: BoundaryCurve) -> list[list[float]]:
    return _rows(curve.thresholds, curve.recall, curve.precision, curve.f)


def _rows(*columns: NDArray[np.float64] | NDArray[np.int64]) -> list[list[float]]:
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _best_row(place: int, counts: BoundaryCounts) -> list[float]:
    curve = boundary_curve(counts)
    return [place, *_curve_rows(curve)[int(np.argmax(curve.f))]]


def _of_regions(result: Result) -> dict[str, str]:
    images = [counts for _, counts in sorted(result.counts.items()) if isinstance(counts, RegionCounts)]
    thresholds = _rounded(images[0].thresholds)
    covered, covered_pred = (
        _rounded(np.array([getattr(image, name) for image in images]) / COVERED_UNITS)
        for name in ("covered", "covered_pred")
    )
    area, pixels = (_rounded(np.array([[getattr(image, name)] for image in images])) for name in ("area", "pixels"))
    best = _rounded(np.array([image.covered_best for image in images]) / COVERED_UNITS)
    pri = _rounded(np.array([image.rand_index for image in images]) / MEAN_UNITS)
    voi = _rounded(np.array([image.voi_split + image.voi_merge for image in images]) / MEAN_UNITS)

    own = np.argmax(covered / area, axis=1)
    rows = np.arange(len(images))
    pooled = covered.sum(axis=0) / area.sum()
    by_covering, by_pri, by_voi = int(pooled.argmax()), int(pri.mean(axis=0).argmax()), int(voi.mean(axis=0).argmin())
    best_coverings = [pooled[by_covering], covered[rows, own].sum() / area.sum(), best.sum() / area.sum()]
    of_pri = [thresholds[by_pri], pri.mean(axis=0)[by_pri], pri.max(axis=1).mean()]
    of_voi = [thresholds[by_voi], voi.mean(axis=0)[by_voi], voi.min(axis=1).mean()]
    every = [(covered / area)[rows, own], (covered_pred / pixels)[rows, own]]
    return {
        "eval_cover.txt": _text([[thresholds[by_covering], *best_coverings]]),
        "eval_cover_img.txt": _text([k, *row] for k, row in enumerate(_rows(thresholds[own], *every), start=1)),
        "eval_cover_th.txt": _text(_rows(thresholds, pooled)),
        "eval_RI_VOI.txt": _text([[*of_pri, *of_voi]]),
        "eval_RI_VOI_thr.txt": _text(_rows(thresholds, pri.mean(axis=0), voi.mean(axis=0))),
    }


def _of_published_regions(result: Result) -> dict[str, str]:
    summary, curve = result.summary, result.curve
    files = {name: _text([[summary[key] for key in keys]]) for name, keys in REGION_KEYS.items()}
    files["eval_cover_th.txt"] = _text(_rows(curve.thresholds, curve.covering))
    files["eval_RI_VOI_thr.txt"] = _text(_rows(curve.thresholds, curve.rand_index, curve.voi))
    return {name: text for name, text in files.items() if "nan" not in text}


def _rounded(values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Round as ``%10g`` does."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)


def _text(rows: Iterable[Iterable[float]]) -> str:
    r"""Write rows of numbers, each as ``%10g``; whole numbers keep all their digits."""
    return "".join(" ".join(_ten(value) for value in row) + "\n" for row in rows)


def _ten(value: float) -> str:
    return f"{value:10d}" if isinstance(value, int) else f"{value:10.6g}"
