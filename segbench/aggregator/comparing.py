"""Results compared: only what was measured the same way on the same images."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.aggregator.result import Result
from segbench.curves import Comparison, compare
from segbench.curves.intervals import IntervalMethod
from segbench.errors import ArgumentError


def compare_results(
    results: Sequence[Result],
    *,
    method: IntervalMethod = "percentile",
    level: float = 0.95,
    replicates: int = 2000,
    permutations: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare methods pair by pair on the same images.

    Parameters
    ----------
    results : sequence of Result
        At least two, of one protocol, the same settings and the same ground truth.
    method, level, replicates, permutations, seed
        As in `segbench.compare`.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError
        If methods were measured differently or on different images: it says what differs.
    """
    names = [result.method for result in results]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ArgumentError(f"{', '.join(doubled)} stands there with several settings; choose runs of one setting")
    _refuse_different_settings(results)
    counts = {result.method: result.counts for result in results}
    comparison = compare(
        counts, method=method, level=level, replicates=replicates, permutations=permutations, seed=seed
    )
    _refuse_different_data(results)
    return comparison


def _refuse_different_settings(results: Sequence[Result]) -> None:
    settings = [{"protocol": result.protocol, **result.settings} for result in results]
    differing = {
        key: {result.method: fields.get(key, "none") for result, fields in zip(results, settings, strict=True)}
        for key in dict.fromkeys(key for fields in settings for key in fields)
        if len({fields.get(key) for fields in settings}) > 1
    }
    if differing:
        listed = "; ".join(
            f"{key} is {', '.join(f'{value} in {method}' for method, value in by_method.items())}"
            for key, by_method in differing.items()
        )
        raise ArgumentError(f"methods are compared under the same settings, but {listed}")


def _refuse_different_data(results: Sequence[Result]) -> None:
    digests = {result.method: result.data for result in results}
    if len(set(digests.values())) > 1:
        listed = ", ".join(f"{digest} for {method}" for method, digest in digests.items())
        raise ArgumentError(
            f"methods are compared on the same ground truth, but its content differs ({listed}); count all on one set"
        )
