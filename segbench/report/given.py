"""What plots are given: one result or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from segbench.aggregator.result import Result
from segbench.errors import ArgumentError


def as_results(given: object) -> list[Result]:
    """Give a result, or several, as a list.

    Raises
    ------
    ArgumentError
        If something in it is no result.
    """
    if isinstance(given, Result):
        return [given]
    if isinstance(given, Mapping):
        raise ArgumentError("results is a mapping, expected a list: give list(results.values())")
    results = []
    for each in given if isinstance(given, Iterable) else [given]:
        if not isinstance(each, Result):
            raise ArgumentError(f"expected results, as segbench.evaluate gives them, got {type(each).__name__}")
        results.append(each)
    return results
