"""The metrics of a benchmark, with the reasons why some are undefined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segbench.core.errors import UnknownMetricError
from segbench.core.messages import Message
from segbench.core.notes import Note
from segbench.core.numbers import by_key
from segbench.core.text_table import TextTable, aligned, data_frame, table_html

if TYPE_CHECKING:
    import pandas as pd


def finite(value: float) -> float | None:
    """Replace NaN and infinity by None."""
    return value if math.isfinite(value) else None


def finite_values(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """Return metrics as JSON holds them: None where undefined."""
    return {key: finite(value) for key, value in metrics.items()}


@dataclass(frozen=True, eq=False)
class Summary(Mapping[str, float | int]):
    """Metrics by key, in the order in which they are reported.

    Parameters
    ----------
    metrics : mapping of str to float or int
        nan where a metric is undefined.
    undefined : mapping of str to Message
        Why a metric is nan; `str` writes it.
    optimistic : tuple of str
        Metrics with thresholds that were chosen on the images they describe.
    threshold_source : str
        Where thresholds come from when they are not the scores themselves, for instance a tuning set.
    notes : tuple of Note
        What has to be said beside the metrics.
    thresholds : tuple of str
        Metrics that are thresholds, which are printed rounded down.

    Examples
    --------
    >>> why = Message("no-positives", "no positive pixels")
    >>> summary = Summary({"ods_f": float("nan")}, undefined={"ods_f": why})
    >>> summary["ods_f"], summary.undefined["ods_f"].kind
    (nan, 'no-positives')
    >>> print(summary)
    ods_f  -  no positive pixels
    """

    metrics: Mapping[str, float | int]
    undefined: Mapping[str, Message] = field(default_factory=dict)
    optimistic: tuple[str, ...] = ()
    threshold_source: str = ""
    notes: tuple[Note, ...] = ()
    thresholds: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> float | int:
        try:
            return self.metrics[key]
        except KeyError:
            raise UnknownMetricError(
                Message(
                    "unknown-metric",
                    "no metric {metric!r} here; expected one of {known}",
                    metric=key,
                    known=tuple(self.metrics),
                )
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __str__(self) -> str:
        """Print a metric per line, with the reason where it is undefined, and the notes."""
        return "\n".join([aligned(self._rows(), "<><"), *map(str, self.notes)])

    def _repr_html_(self) -> str:
        columns = 3 if self.undefined else 2
        rows = [row[:columns] for row in self._rows()]
        return table_html(TextTable(["metric", "value", "undefined"][:columns], rows))

    def _rows(self) -> list[list[str]]:
        return [
            [key, by_key(key, value, self.thresholds), str(self.undefined.get(key, ""))] for key, value in self.items()
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return a data frame with a row per metric: value, and the reason where it is undefined.

        Takes pandas, which segbench does not install by itself.
        """
        rows = [{"value": value, "undefined": str(self.undefined.get(key, ""))} for key, value in self.items()]
        return data_frame(rows, "metric", list(self))

    @property
    def empty(self) -> bool:
        """Whether no metric is defined and there are only totals."""
        return all(isinstance(value, int) or math.isnan(value) for value in self.metrics.values())
