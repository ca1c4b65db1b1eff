"""The metrics of a benchmark, with what is known of their certainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from segbench.core.errors import UnknownMetricError
from segbench.core.html import table_html
from segbench.core.numbers import number
from segbench.core.text_table import TextTable, aligned


def finite(value: float) -> float | None:
    """Give None for what JSON has no number for."""
    return value if math.isfinite(value) else None


def finite_values(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """Give metrics as JSON holds them: None where undefined."""
    return {key: finite(value) for key, value in metrics.items()}


@dataclass(frozen=True, eq=False)
class Summary(Mapping[str, float | int]):
    """Metrics by key, in the order in which they are reported.

    Parameters
    ----------
    metrics : mapping of str to float or int
        nan where a metric is undefined.
    bounds : mapping of str to (low, high)
        Certain bounds of the metrics that are not exact; each pair holds the exact value and the one given.
    undefined : mapping of str to str
        Why a metric is nan.
    optimistic : tuple of str
        Metrics with thresholds that were chosen on the images they describe.
    threshold_source : str
        Where thresholds come from when they are not the scores themselves, for instance a tuning set.
    notes : tuple of str
        What has to be said beside the metrics.

    Examples
    --------
    >>> summary = Summary({"ods_f": float("nan")}, undefined={"ods_f": "no positive pixels"})
    >>> summary["ods_f"], summary.undefined["ods_f"]
    (nan, 'no positive pixels')
    >>> print(summary)
    ods_f  -  no positive pixels
    """

    metrics: Mapping[str, float | int]
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    optimistic: tuple[str, ...] = ()
    threshold_source: str = ""
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> float | int:
        try:
            return self.metrics[key]
        except KeyError:
            raise UnknownMetricError(f"no metric {key!r} here; expected one of {', '.join(self.metrics)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __str__(self) -> str:
        """Print a metric per line, with the reason where it is undefined, and the notes."""
        rows = [[key, number(value, self.bounds.get(key)), self.undefined.get(key, "")] for key, value in self.items()]
        return "\n".join([aligned(rows, "<><"), *self.notes])

    def _repr_html_(self) -> str:
        rows = [[key, number(value, self.bounds.get(key)), self.undefined.get(key, "")] for key, value in self.items()]
        header = ["metric", "value", "undefined"]
        if not self.undefined:
            rows, header = [row[:2] for row in rows], header[:2]
        return table_html(TextTable(header, rows))

    @property
    def empty(self) -> bool:
        """Whether no metric is defined and there are only totals."""
        return all(isinstance(value, int) or math.isnan(value) for value in self.metrics.values())
