"""A boundary curve known from print: rows of recall and precision, no counts behind them.

ODS, both areas and R50 follow from the rows by the rules of `segbench.curves.boundary`, to the six digits that the
files hold. OIS does not, for it takes counts image by image: it is what was printed, or undefined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from segbench.curves.boundary import BoundaryCurve, area_pr, area_pr_extended, boundary_ods, r50
from segbench.curves.summary import Summary
from segbench.errors import ArgumentError

PRINTABLE = ("ois_f", "ois_precision", "ois_recall", "mean_image_f", "area_pr")
"""Figures that print may give beside the rows."""

_NO_COUNTS = "a published curve holds no counts of images, and this was not printed"
_NO_ROWS = "only the best point was printed, no rows of thresholds"
_ONE_ROW = "one threshold makes no curve"
_NO_THRESHOLDS = "its rows name no thresholds"


@dataclass(frozen=True, eq=False)
class PublishedCurve:
    """A method's curve as printed.

    Parameters
    ----------
    curve : BoundaryCurve
        The rows; thresholds are all nan where the rows name none. Where only the best point was printed, that point.
    printed : mapping of str to float
        Figures taken as printed, by the names in `PRINTABLE`; those that are missing or nan are undefined. `area_pr` is
        taken only where there is a single point.
    best_only : bool
        Whether `curve` is the best point alone.

    Raises
    ------
    ArgumentError
        For a figure that cannot be taken from print.

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
            raise ArgumentError(f"{', '.join(unknown)} is not taken from print; only {', '.join(PRINTABLE)} are")

    @property
    def thresholds_known(self) -> bool:
        """Whether the rows name their thresholds."""
        return not np.isnan(self.curve.thresholds).any()

    @property
    def summary(self) -> Summary:
        """The figures of `segbench.curves.boundary.boundary_summary`, as far as they are known."""
        ods = boundary_ods(self.curve)
        point = self.curve.thresholds.size == 1
        figures = {
            "ods_f": ods.f,
            "ods_precision": ods.precision,
            "ods_recall": ods.recall,
            "ods_threshold": ods.threshold,
            **{key: self.printed.get(key, math.nan) for key in PRINTABLE[:-1]},
            "area_pr": self.printed.get("area_pr", math.nan) if point else area_pr(self.curve),
            "area_pr_extended": math.nan if point else area_pr_extended(self.curve),
            "r50": math.nan if point else r50(self.curve),
        }
        no_curve = _NO_ROWS if self.best_only else _ONE_ROW
        reasons = {
            "ods_threshold": _NO_THRESHOLDS,
            "area_pr": no_curve,
            "area_pr_extended": no_curve,
            "r50": no_curve if point else "no threshold has precision .5",
        }
        undefined = {key: reasons.get(key, _NO_COUNTS) for key, value in figures.items() if math.isnan(value)}
        return Summary(figures, undefined=undefined)
