"""A boundary curve published without images: rows of recall and precision, without counts.

ODS, both areas and R50 follow from the rows by the rules of `segbench.protocols.boundaries.curve`, to the six digits
that the files hold. OIS does not, for it takes counts image by image: it is what was printed, or undefined.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from segbench.core.capabilities import Published
from segbench.core.errors import ArgumentError
from segbench.core.summary import Summary
from segbench.protocols.boundaries.curve import BoundaryCurve, measured
from segbench.protocols.boundaries.metrics import METRICS
from segbench.protocols.boundaries.official import published_files

PRINTABLE = ("ois_f", "ois_precision", "ois_recall", "mean_image_f", "area_pr")
"""Metrics that may be printed beside the rows."""

_NO_COUNTS = "a published curve holds no counts of images, and this was not printed"
_NO_ROWS = "only the best point was printed, no rows of thresholds"
_ONE_ROW = "one threshold makes no curve"
_NO_THRESHOLDS = "its rows name no thresholds"


@dataclass(frozen=True, eq=False)
class PublishedCurve(Published):
    """A method's curve as printed.

    Parameters
    ----------
    curve : BoundaryCurve
        The rows; thresholds are all nan where the rows name none. Where only the best point was printed, that point.
    printed : mapping of str to float
        Metrics taken as printed, by the names in `PRINTABLE`; those that are missing or nan are undefined. `area_pr` is
        taken only where there is a single point.
    best_only : bool
        Whether `curve` is the best point alone.

    Raises
    ------
    ArgumentError
        For a metric that the official files do not print.

    Examples
    --------
    >>> rows = BoundaryCurve([0.25, 0.75], [1.0, 0.4], [0.4, 1.0])
    >>> summary = PublishedCurve(rows, {"ois_f": 0.71}).summary
    >>> round(summary["ods_f"], 2), summary["ois_f"], summary["mean_image_f"]
    (0.7, 0.71, nan)
    """

    curve: BoundaryCurve
    printed: Mapping[str, float] = field(default_factory=dict)
    best_only: bool = False

    def __post_init__(self) -> None:
        unknown = sorted(set(self.printed) - set(PRINTABLE))
        if unknown:
            raise ArgumentError(
                f"{', '.join(unknown)} is not a published metric; expected some of {', '.join(PRINTABLE)}"
            )

    @property
    def thresholds_known(self) -> bool:
        """Whether the rows name their thresholds."""
        return not np.isnan(self.curve.thresholds).any()

    @property
    def summary(self) -> Summary:
        """The metrics of the boundary benchmark, as far as they are known."""
        found = measured(self.curve)
        point = self.curve.thresholds.size == 1
        if point:
            found |= {"area_pr": self.printed.get("area_pr", math.nan), "area_pr_extended": math.nan, "r50": math.nan}
        printed = {key: self.printed.get(key, math.nan) for key in PRINTABLE[:-1]}
        metrics = {metric.key: (printed | found)[metric.key] for metric in METRICS if metric.key}
        no_curve = _NO_ROWS if self.best_only else _ONE_ROW
        reasons = {
            "ods_threshold": _NO_THRESHOLDS,
            "area_pr": no_curve,
            "area_pr_extended": no_curve,
            "r50": no_curve if point else "no threshold has precision .5",
        }
        undefined = {key: reasons.get(key, _NO_COUNTS) for key, value in metrics.items() if math.isnan(value)}
        return Summary(metrics, undefined=undefined)

    def to_json(self) -> str:
        """Write it as JSON; nan becomes null."""
        fields = {
            "thresholds": self.curve.thresholds.tolist() if self.thresholds_known else None,
            "recall": self.curve.recall.tolist(),
            "precision": self.curve.precision.tolist(),
            "printed": dict(self.printed),
            "best_only": self.best_only,
        }
        return json.dumps(fields)

    def official_files(self) -> dict[str, str]:
        """Write the text files of BSDS500."""
        return published_files(self.curve, self.summary, best_only=self.best_only)

    @classmethod
    def from_json(cls, text: str) -> PublishedCurve:
        """Read what `to_json` wrote."""
        fields: dict[str, Any] = json.loads(text)
        recall = np.array(fields["recall"], dtype=np.float64)
        thresholds = fields["thresholds"] or np.full(recall.size, np.nan)
        curve = BoundaryCurve(np.asarray(thresholds), recall, np.array(fields["precision"]))
        return cls(curve, fields["printed"], fields["best_only"])
