"""Which figure of a column is best, and which second best.

Conventions
-----------
1. What is printed equal is equal: at three digits .7971 and .7968 share the first place. Two that share it leave no
   second place.
2. Best takes at least two methods whose figure is defined, second best at least three. An undefined figure is neither.
3. Human annotators are no competitors: their row is never marked and does not keep another from being best. A curve
   known from print competes like any other.
4. Methods compete with those counted on the same images, see `segbench.report.image_sets`.
5. Counts, thresholds, and precision and recall at a chosen threshold have no best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from segbench.aggregator.result import Result
from segbench.report.columns import Column, Direction
from segbench.report.image_sets import image_sets
from segbench.report.numbers import DIGITS

Mark = Literal["best", "second", ""]


def ranked(values: Sequence[float], best: Direction, *, digits: int = DIGITS) -> list[Mark]:
    """Mark the best and the second best of figures.

    Examples
    --------
    >>> ranked([0.7, 0.9, 0.8, 0.90001, math.nan], "highest")
    ['', 'best', '', 'best', '']
    >>> ranked([0.7, 0.9, 0.8], "lowest")
    ['best', '', 'second']
    """
    if best == "none":
        return [""] * len(values)
    signed = [round(value if best == "lowest" else -value, digits) for value in values]
    defined = sorted(value for value in signed if not math.isnan(value))
    if len(defined) < 2:
        return [""] * len(values)
    # Of equals for the first place the next one is third.
    second = defined[1] if len(defined) > 2 and defined[1] != defined[0] else None
    return ["best" if value == defined[0] else "second" if value == second else "" for value in signed]


def column_marks(results: Sequence[Result], column: Column, *, digits: int = DIGITS) -> list[Mark]:
    """Mark the best and the second best method of a column among those on the same images, one mark a result."""
    values = [math.nan if result.human else float(result.summary[column.key]) for result in results]
    marks: dict[int, Mark] = {}
    for places in image_sets(results):
        marks |= zip(places, ranked([values[place] for place in places], column.best, digits=digits), strict=True)
    return [marks[place] for place in range(len(results))]
