"""Region results in the text files of the official benchmark (``collect_eval_reg`` of BSDS500).

Files
-----
``eval_cover.txt``
    One row ``threshold covering_ods covering_ois covering_best``.
``eval_cover_img.txt``
    Rows ``number threshold covering covering_of_prediction``: each image at its own best threshold, the first.
``eval_cover_th.txt``
    Rows ``threshold covering`` of the pool.
``eval_RI_VOI.txt``
    One row ``threshold pri_ods pri_ois threshold voi_ods voi_ois``.
``eval_RI_VOI_thr.txt``
    Rows ``threshold pri voi``.

Figures are computed from each image's areas and means rounded to six digits, as the official code does, which writes
them into files between its two steps: areas from a million on lose digits, and printed figures can differ from those of
`segbench.protocols.regions.curve` by 1e-5. Images are in sorted order of names.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.integers import MEAN_UNITS
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts
from segbench.report.bsds_rows import rows_text

FloatArray = NDArray[np.float64]


def region_files(result: Result) -> dict[str, str]:
    """Give the content of each file of a result of the region protocol, by the file's name."""
    if result.published:
        return _of_published(result)
    images = [counts for _, counts in sorted(result.counts.items()) if isinstance(counts, RegionCounts)]
    if not images:
        raise DataError(result.method, "has no image that was counted", "repeat the run")
    thresholds = _printed(images[0].thresholds)
    covered, covered_pred = (
        _printed(np.array([getattr(image, name) for image in images]) / COVERED_UNITS)
        for name in ("covered", "covered_pred")
    )
    area, pixels = (_printed(np.array([[getattr(image, name)] for image in images])) for name in ("area", "pixels"))
    best = _printed(np.array([image.covered_best for image in images]) / COVERED_UNITS)
    pri = _printed(np.array([image.rand_index for image in images]) / MEAN_UNITS)
    voi = _printed(np.array([image.voi_split + image.voi_merge for image in images]) / MEAN_UNITS)

    own = np.argmax(covered / area, axis=1)
    rows = np.arange(len(images))
    pooled = covered.sum(axis=0) / area.sum()
    by_covering, by_pri, by_voi = int(pooled.argmax()), int(pri.mean(axis=0).argmax()), int(voi.mean(axis=0).argmin())
    figures = [pooled[by_covering], covered[rows, own].sum() / area.sum(), best.sum() / area.sum()]
    of_pri = [thresholds[by_pri], pri.mean(axis=0)[by_pri], pri.max(axis=1).mean()]
    of_voi = [thresholds[by_voi], voi.mean(axis=0)[by_voi], voi.min(axis=1).mean()]
    every = zip(
        range(1, len(images) + 1),
        thresholds[own].tolist(),
        (covered / area)[rows, own].tolist(),
        (covered_pred / pixels)[rows, own].tolist(),
        strict=True,
    )
    return {
        "eval_cover.txt": rows_text([[thresholds[by_covering], *figures]]),
        "eval_cover_img.txt": rows_text(every),
        "eval_cover_th.txt": _columns([thresholds, pooled]),
        "eval_RI_VOI.txt": rows_text([[*of_pri, *of_voi]]),
        "eval_RI_VOI_thr.txt": _columns([thresholds, pri.mean(axis=0), voi.mean(axis=0)]),
    }


def _of_published(result: Result) -> dict[str, str]:
    summary, curve = result.summary, result.curve
    cover = [summary[key] for key in ("covering_ods_threshold", "covering_ods", "covering_ois", "covering_best")]
    keys = ("pri_ods_threshold", "pri_ods", "pri_ois", "voi_ods_threshold", "voi_ods", "voi_ois")
    means = [summary[key] for key in keys]
    files = {"eval_cover.txt": rows_text([cover]), "eval_RI_VOI.txt": rows_text([means])}
    files["eval_cover_th.txt"] = _columns([curve.thresholds, curve.covering])
    files["eval_RI_VOI_thr.txt"] = _columns([curve.thresholds, curve.rand_index, curve.voi])
    return {name: text for name, text in files.items() if "nan" not in text}


def _columns(columns: Sequence[FloatArray]) -> str:
    return rows_text(zip(*(column.tolist() for column in columns), strict=True))


def _printed(values: NDArray[np.float64] | NDArray[np.int64]) -> FloatArray:
    """Round as ``%10g`` does."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)
