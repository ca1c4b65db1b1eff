"""Runs of which every image was counted."""

from __future__ import annotations

from pathlib import Path

from segbench.aggregator.benchmark import evaluate
from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.scores import ScoreCounts
from segbench.core.summary import Summary


def whole(result: Result) -> Result:
    """Give a result back if every image was counted."""
    if result.failed:
        listed = "".join(f"\n  {failure}" for failure in result.failed.values())
        raise DataError(result.method, f"{len(result.failed)} images could not be counted:{listed}\n")
    return result


def pixels_of(ground_truth: Path, prediction: Path) -> tuple[ScoreCounts, Summary]:
    """Count two folders pixel by pixel: the pooled counts, and the figures of the set."""
    result = whole(evaluate(ground_truth, prediction))
    pooled = ScoreCounts.sum(counts for counts in result.counts.values() if isinstance(counts, ScoreCounts))
    return pooled, result.summary
