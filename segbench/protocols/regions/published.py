"""Region metrics published without images: the official text files, without counts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from segbench.core.capabilities import Published
from segbench.core.errors import ArgumentError
from segbench.core.integers import FloatArray
from segbench.core.summary import Summary
from segbench.protocols.regions.curve import RegionCurve
from segbench.protocols.regions.metrics import METRICS
from segbench.protocols.regions.official import published_files

_ROWS = ("thresholds", "covering", "rand_index", "voi")
_NO_COUNTS = "the official files do not hold it, and there are no counts of images"


@dataclass(frozen=True, eq=False)
class PublishedRegions(Published):
    """A method's region metrics as printed, and its rows, nan where they were not printed; there may be no rows."""

    printed: Mapping[str, float]  # by key; those that are missing or nan are undefined
    thresholds: FloatArray
    covering: FloatArray
    rand_index: FloatArray
    voi: FloatArray

    def __post_init__(self) -> None:
        unknown = sorted(set(self.printed) - {metric.key for metric in METRICS})
        if unknown:
            raise ArgumentError(f"{', '.join(unknown)} is not a metric of the regions protocol")
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
        """The metrics, as far as they were printed."""
        metrics = {key: self.printed.get(key, math.nan) for key in (metric.key for metric in METRICS)}
        return Summary(metrics, undefined={key: _NO_COUNTS for key, value in metrics.items() if math.isnan(value)})

    def to_json(self) -> str:
        """Write it as JSON; nan becomes null."""
        rows = {
            name: [None if math.isnan(value) else value for value in getattr(self, name).tolist()] for name in _ROWS
        }
        return json.dumps({"regions": dict(self.printed), **rows})

    def official_files(self) -> dict[str, str]:
        """Write the text files of BSDS500."""
        return published_files(self.curve, self.summary)

    @classmethod
    def from_json(cls, text: str) -> PublishedRegions:
        """Read what `to_json` wrote."""
        fields: dict[str, Any] = json.loads(text)
        return cls(fields["regions"], *(np.array(fields[name], dtype=np.float64) for name in _ROWS))
