"""Counts and curves in the text files of the official benchmark (``collect_eval_bdry`` of BSDS500).

Conventions
-----------
1. Rows and columns as `segbench.loaders.bsds_text` lists them, recall before precision, every number as ``%10g``, six
   digits, and 0 where a denominator is 0. Images are in sorted order of names.
2. Metrics are computed from thresholds as printed, as the official code does, which reads its own files again. Files
   that are read and written once more are the same, byte for byte.
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
from collections.abc import Mapping

import numpy as np

from segbench.core.errors import DataError
from segbench.loaders.bsds_text import BEST_KEYS, COUNTS, as_file_name, rows_of, text_of
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import BoundaryCurve, boundary_curve, measured
from segbench.protocols.boundaries.metrics import BoundaryTable

_NO_BEST = (math.nan,) * 4


def official_files(per_image: Mapping[str, BoundaryCounts], *, competes: bool) -> dict[str, str]:
    """Write counts of images by a method, or by annotators, which do not compete."""
    images = {name: _printed(per_image[name]) for name in sorted(per_image)}
    pool = BoundaryCounts.sum(images.values())
    rows = _curve_rows(boundary_curve(pool))
    best = [_best_row(place, counts) for place, counts in enumerate(images.values(), start=1)]
    summary: Mapping[str, float] = BoundaryTable(images, with_pixels_only=not competes).summary()
    if not competes:
        known = zip(best, images.values(), strict=True)
        best = [row if counts.has_pixels else [row[0], *_NO_BEST] for row, counts in known]
        rows = rows if pool.has_pixels else [[row[0], *_NO_BEST[1:]] for row in rows]
    else:
        # The official code has zeros where nothing is defined, and an area also of a single threshold.
        zeros = {} if pool.has_pixels else dict.fromkeys(summary, 0.0)
        summary = {**summary, **zeros, **measured(boundary_curve(pool))}
    of_images = {name: rows_of(counts.thresholds, *counts.rows) for name, counts in images.items()}
    return {f"{as_file_name(name)}{COUNTS}": text_of(rows) for name, rows in of_images.items()} | {
        "eval_bdry_img.txt": text_of(best),
        "eval_bdry_thr.txt": text_of(rows),
        "eval_bdry.txt": text_of([[summary["ods_threshold"], *_best(summary)]]),
    }


def published_files(curve: BoundaryCurve, summary: Mapping[str, float], *, best_only: bool) -> dict[str, str]:
    """Write a curve published without images."""
    known = not np.isnan(curve.thresholds).all()
    first = [summary["ods_threshold"]] if known else []
    files = {"eval_bdry.txt": text_of([[*first, *_best(summary)]])}
    if not best_only:
        rows = _curve_rows(curve)
        files["eval_bdry_thr.txt"] = text_of(rows if known else [row[1:] for row in rows])
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
    return rows_of(curve.thresholds, curve.recall, curve.precision, curve.f)


def _best_row(place: int, counts: BoundaryCounts) -> list[float]:
    curve = boundary_curve(counts)
    return [place, *_curve_rows(curve)[int(np.argmax(curve.f))]]
