"""Results compared: only what was measured the same way on the same images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from segbench.aggregator.result import Result
from segbench.aggregator.signature import SELECTION, without_selection
from segbench.core.errors import ArgumentError
from segbench.protocols.pixels.metrics import WITHOUT_NAMES
from segbench.statistics.comparison import Comparison, compare
from segbench.statistics.intervals import IntervalMethod
from segbench.statistics.same_images import refuse_different


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
        At least two, of one protocol, the same settings and the same ground truth. Of imported counts the ground truth
        is not known; images and their totals must be the same. Runs counted exactly and runs counted in bins can be
        compared: values of the latter carry bounds.
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
        arrays = all(result.settings.get("source") == "arrays" for result in results if result.method in doubled)
        apart = "give each a name of its own (Accumulator(method=...))"
        chosen = "choose those of one setting (segbench compare --only)"
        raise ArgumentError(f"{', '.join(doubled)}: several runs of one name; {apart if arrays else chosen}")
    published = [result.method for result in results if result.published]
    if published:
        raise ArgumentError(f"{', '.join(published)}: known from print, so there are no images to compare")
    unnamed = [result.method for result in results if result.unnamed]
    if unnamed:
        raise ArgumentError(f"{', '.join(unnamed)}: {WITHOUT_NAMES}; give names to Accumulator.update")
    _refuse_different_settings(results)
    counts = {result.method: result.counts for result in results}
    if len(counts) > 1:
        refuse_different(counts)
        _refuse_different_data(results)
    comparison = compare(
        counts,
        protocol=results[0].rules,
        method=method,
        level=level,
        replicates=replicates,
        permutations=permutations,
        seed=seed,
    )
    return replace(comparison, undefined={figure: _why(figure, results) for figure in comparison.undefined})


def _why(figure: str, results: Sequence[Result]) -> str:
    reasons: dict[str, list[str]] = {}
    for result in results:
        if figure in result.summary.undefined:
            reasons.setdefault(result.summary.undefined[figure], []).append(result.method)
    return "; ".join(f"{reason} for {', '.join(names)}" for reason, names in reasons.items())


def _refuse_different_settings(results: Sequence[Result]) -> None:
    settings = [
        {
            "protocol": result.protocol,
            **without_selection(result.settings, *SELECTION, *result.rules.may_differ),
        }
        for result in results
    ]
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
    # The digest of imported counts is that of the files that held them.
    digests = {result.method: result.data for result in results if result.settings.get("source") != "imported"}
    if len(set(digests.values())) > 1:
        listed = ", ".join(f"{digest} for {method}" for method, digest in digests.items())
        raise ArgumentError(
            f"methods are compared on the same ground truth, but its content differs ({listed}); count all on one set"
        )
