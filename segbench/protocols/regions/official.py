"""Counts and metrics in the text files of the official benchmark (``collect_eval_reg`` of BSDS500).

Rows, columns and digits are those of `segbench.protocols.boundaries.official`. Metrics are computed from each image's
areas and means in six digits, as the official code does, so that areas lose digits from a million on, and metrics can
differ from those of `segbench.protocols.regions.curve` by 1e-5.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import MEAN_UNITS
from segbench.loaders.bsds_text import rows_of, text_of
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts


def official_files(per_image: Mapping[str, RegionCounts]) -> dict[str, str]:
    """Write counts of images by a method."""
    images = [per_image[name] for name in sorted(per_image)]
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
        "eval_cover.txt": text_of([[thresholds[by_covering], *best_coverings]]),
        "eval_cover_img.txt": text_of([k, *row] for k, row in enumerate(rows_of(thresholds[own], *every), start=1)),
        "eval_cover_th.txt": text_of(rows_of(thresholds, pooled)),
        "eval_RI_VOI.txt": text_of([[*of_pri, *of_voi]]),
        "eval_RI_VOI_thr.txt": text_of(rows_of(thresholds, pri.mean(axis=0), voi.mean(axis=0))),
    }


def _rounded(values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Round as ``%10g`` does."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)
