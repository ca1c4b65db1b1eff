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
2. Undefined metrics are 0, as the official code writes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.metric import Summary
from segbench.core.protocol import Published
from segbench.loaders.bsds_text import BEST_KEYS, COUNTS, as_file_name, rows_of, text_of
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import BoundaryCurve, boundary_curve, measured
from segbench.protocols.boundaries.metrics import METRICS, BoundaryTable


def official_files(per_image: Mapping[str, BoundaryCounts]) -> dict[str, str]:
    """Return the files of a method by name: counts and best threshold of each image, the curve, and its metrics."""
    images = {name: _printed(per_image[name]) for name in sorted(per_image)}
    curve = boundary_curve(BoundaryCounts.sum(images.values()))
    best = []
    for k, curve_of_image in enumerate(map(boundary_curve, images.values()), start=1):
        best.append([k, *_curve_rows(curve_of_image)[int(np.argmax(curve_of_image.f))]])
    # The official code has zeros where nothing is defined, and an area also of a single threshold.
    metrics = {key: np.nan_to_num(value) for key, value in BoundaryTable(images).summary().items()}
    metrics |= measured(curve)
    files = {
        f"{as_file_name(name)}{COUNTS}": text_of(rows_of(counts.thresholds, *counts.rows))
        for name, counts in images.items()
    }
    return files | {
        "eval_bdry_img.txt": text_of(best),
        "eval_bdry_thr.txt": text_of(_curve_rows(curve)),
        "eval_bdry.txt": text_of([[float(metrics[key]) for key in ("ods_threshold", *BEST_KEYS)]]),
    }


def _printed(counts: BoundaryCounts) -> BoundaryCounts:
    """Round the thresholds to six digits, as the files hold them."""
    thresholds = np.array([float(f"{value:g}") for value in counts.thresholds])
    if np.any(np.diff(thresholds) <= 0):
        raise DataError(
            "thresholds",
            Message("equal-thresholds", "some are the same in six digits, all that the official files hold"),
        )
    return replace(counts, thresholds=thresholds)


def _curve_rows(curve: BoundaryCurve) -> list[list[float]]:
    return rows_of(curve.thresholds, curve.recall, curve.precision, curve.f)


_NO_COUNTS = Message("not-printed", "a published curve holds no counts of images, and this was not printed")
_ONE_ROW = Message("one-threshold", "one threshold makes no curve")
_NO_THRESHOLDS = Message("no-thresholds", "its rows name no thresholds")


@dataclass(frozen=True, eq=False)
class PublishedCurve(Published):
    """A method's curve as printed: rows of recall and precision, without counts.

    ODS, both areas and R50 follow from the rows, to the six digits that the files hold. OIS does not, for it takes
    counts image by image: it is what was printed, or undefined.
    """

    curve: BoundaryCurve  # thresholds are all nan where the rows name none
    printed: Mapping[str, float] = field(default_factory=dict)  # OIS by key, and the area of a single point

    @property
    def summary(self) -> Summary:
        """The metrics of the boundary benchmark, as far as they are known."""
        known = {**self.printed, **measured(self.curve)}
        single_point = self.curve.thresholds.size == 1
        if single_point:
            known |= {"area_pr": self.printed.get("area_pr", math.nan), "area_pr_extended": math.nan, "r50": math.nan}
        metrics = {metric.key: known.get(metric.key, math.nan) for metric in METRICS if metric.key}
        reasons = {
            "ods_threshold": _NO_THRESHOLDS,
            "area_pr": _ONE_ROW,
            "area_pr_extended": _ONE_ROW,
            "r50": _ONE_ROW if single_point else Message("never-half", "no threshold has precision .5"),
        }
        undefined = {key: reasons.get(key, _NO_COUNTS) for key, value in metrics.items() if math.isnan(value)}
        thresholds = tuple(metric.key for metric in METRICS if metric.key and metric.kind == "threshold")
        return Summary(metrics, undefined=undefined, thresholds=thresholds)

    def to_json(self) -> str:
        rows = {name: getattr(self.curve, name).tolist() for name in ("thresholds", "recall", "precision")}
        return json.dumps({"rows": rows, "printed": dict(self.printed)})

    @classmethod
    def from_json(cls, text: str) -> PublishedCurve:
        """Read what `to_json` wrote."""
        fields: dict[str, Any] = json.loads(text)
        return cls(BoundaryCurve(**fields["rows"]), fields["printed"])
