"""How far metrics would move with another set of images: bootstrap intervals.

The unit that is drawn is the image, never the pixel: pixels of one image are alike, and an error computed over pixels
is tens of times too small. A replicate draws as many images as there are, with replacement, and adds their counts up.

Difference from ``scipy.stats.bootstrap``: replicates in which a metric is undefined (no positives left) are left out
and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric, refuse_outside
from segbench.core.protocol import Protocol
from segbench.core.table import Table, Tabled
from segbench.protocols.registry import measuring, protocols
from segbench.statistics.intervals import IntervalMethod, Intervals, interval, method_for
from segbench.statistics.replicates import as_draws, as_level, draw, leave_one_out

_ONE_IMAGE = "1 image: intervals need at least two images"

FEW_IMAGES = 10
"""Below this many images, intervals say that they are unreliable."""


def bootstrap(
    per_image: Mapping[str, Any] | Table | Tabled,
    *,
    method: IntervalMethod = "percentile",
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Intervals:
    """Bootstrap intervals over images of every metric of a benchmark.

    Parameters
    ----------
    per_image : mapping of str to counts, Result or Table
        Counts by the image's name.
    method : {"percentile", "bca"}
        Plain quantiles of the replicates; or bias-corrected and accelerated, which suits metrics that move smoothly
        (`segbench.statistics.intervals`); others keep plain quantiles.
    level : float
        Between 0 and 1.
    replicates : int
        From 1 to 10 million.
    seed : int
        0 or more. Same seed, same draws; two methods drawn with one seed over the same images have the same images in
        every draw.

    Returns
    -------
    Intervals
        Of all metrics of the summary but totals. With one image there are none; with fewer than 10, a note says so.

    Raises
    ------
    ArgumentError
        For another method, a level outside (0, 1), no replicates, a negative seed, or no images.

    Examples
    --------
    >>> from segbench.core.scores import ScoreCounts
    >>> images = {str(k): ScoreCounts([2, 1], [8, 2 + k % 3], [k % 4, 10]) for k in range(20)}
    >>> low, high = bootstrap(images, seed=1)["ods_f"]
    >>> 0.7 < low < high < 0.9
    True
    """
    if method not in get_args(IntervalMethod):
        raise ArgumentError(f"method is {method!r}; expected 'bca' or 'percentile'")
    level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
    table = table_of(per_image)
    estimates = table.estimates
    refuse_outside(table.metrics, estimates.tolist())
    # A table may resample at a choice of thresholds; what that takes from the estimate, it takes from each resample.
    total = np.asarray(table.rows.sum(axis=0)).reshape(1, -1)
    draws = draw(table, replicates=replicates, seed=seed) + np.nan_to_num(estimates - table.score(total)[0])
    left_out = leave_one_out(table) if method == "bca" and table.images > 1 else np.empty((0, len(table.metrics)))
    intervals: dict[str, tuple[float, float]] = {}
    undefined: dict[str, str] = {}
    resampled_at = [table.resampled_at] if table.resampled_at else []
    notes = [*notes_on(table.images), *resampled_at, *_method_notes(method, table.metrics)]
    for k, metric in enumerate(table.metrics):
        name = metric.key
        if not name:
            continue
        intervals[name] = math.nan, math.nan
        drawn = draws[:, k][~np.isnan(draws[:, k])]
        if math.isnan(estimates[k]):
            undefined[name] = table.why_undefined(metric)
        elif table.images == 1:
            undefined[name] = _ONE_IMAGE
        else:
            intervals[name] = interval(
                drawn, float(estimates[k]), left_out[:, k], method=method_for(metric, method), level=level
            )
            if drawn.size < replicates:
                notes.append(
                    f"{name}: undefined in {replicates - drawn.size} of {replicates} resamples, which are left out"
                )
    return Intervals(
        intervals,
        {metric.key: value for metric, value in zip(table.metrics, estimates.tolist(), strict=True) if metric.key},
        {metric.key: column for metric, column in zip(table.metrics, draws.T, strict=True) if metric.key},
        method,
        level,
        replicates,
        seed,
        table.images,
        tuple(notes),
        undefined,
    )


def table_of(counts: Mapping[str, Any] | Table | Tabled) -> Table:
    """Lay out counts of any protocol."""
    table = getattr(counts, "table", counts)
    if isinstance(table, Table):
        if not table.images:
            raise ArgumentError(f"found {type(counts).__name__} without images, expected at least one image")
        return table
    images = counts if isinstance(counts, Mapping) else {}
    return protocol_measuring(images).table(images)


def protocol_measuring(*sets: Mapping[str, Any]) -> Protocol:
    """Give the protocol that measures counts of this type, which all images must have."""
    kinds = {type(counts): counts for per_image in sets for counts in per_image.values()}
    if len(kinds) == 1:
        return measuring(next(iter(kinds.values())))
    found = ", ".join(sorted(kind.__name__ for kind in kinds)) or "no images"
    expected = " or all ".join(kind.counts.__name__ for kind in protocols().values())
    raise ArgumentError(f"found {found}; expected at least one image, all {expected}")


def notes_on(images: int) -> tuple[str, ...]:
    """Say what intervals over so few images are worth; nothing where there are enough."""
    if images == 1:
        return (_ONE_IMAGE,)
    if images < FEW_IMAGES:
        return (f"{images} images: intervals over fewer than {FEW_IMAGES} are unreliable",)
    return ()


def _method_notes(method: IntervalMethod, metrics: Sequence[Metric]) -> Iterator[str]:
    kept = [metric.key for metric in metrics if metric.key and method_for(metric, method) != method]
    if kept:
        yield f"quantile intervals instead of BCa for metrics that jump between thresholds: {', '.join(kept)}"
