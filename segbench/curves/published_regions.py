"""Region figures known from print: the official text files, no counts behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.curves.region_table import REGION_FIGURES
from segbench.curves.regions import RegionCurve
from segbench.curves.summary import Summary
from segbench.errors import ArgumentError

FloatArray = NDArray[np.float64]

_NO_COUNTS = "the official files do not hold it, and there are no counts of images"


@dataclass(frozen=True, eq=False)
class PublishedRegions:
    """A method's region figures as printed.

    Parameters
    ----------
    printed : mapping of str to float
        Figures by the names of `segbench.curves.regions.region_summary`; those that are missing or nan are undefined.
    thresholds, covering, rand_index, voi : array of float64, shape (K,)
        The rows, nan where they were not printed; K is 0 where there are none.

    Raises
    ------
    ArgumentError
        For an unknown figure, or rows of different lengths.

    Examples
    --------
    >>> empty = np.empty(0)
    >>> PublishedRegions({"covering_ods": 0.59}, empty, empty, empty, empty).summary["covering_ods"]
    0.59
    """

    printed: Mapping[str, float]
    thresholds: FloatArray
    covering: FloatArray
    rand_index: FloatArray
    voi: FloatArray

    def __post_init__(self) -> None:
        unknown = sorted(set(self.printed) - set(REGION_FIGURES))
        if unknown:
            raise ArgumentError(f"{', '.join(unknown)} is no figure of the regions protocol")
        sizes = {values.size for values in (self.thresholds, self.covering, self.rand_index, self.voi)}
        if len(sizes) > 1:
            raise ArgumentError(f"rows of {' and '.join(map(str, sorted(sizes)))} entries, expected one length")

    @property
    def curve(self) -> RegionCurve:
        """The rows; nan where they were not printed."""
        nothing = np.full(self.thresholds.shape, math.nan)
        return RegionCurve(
            self.thresholds, self.covering, nothing, self.rand_index, self.voi, *(nothing for _ in range(5))
        )

    @property
    def summary(self) -> Summary:
        """The figures, as far as they were printed."""
        figures = {key: self.printed.get(key, math.nan) for key in REGION_FIGURES}
        return Summary(figures, undefined={key: _NO_COUNTS for key, value in figures.items() if math.isnan(value)})
