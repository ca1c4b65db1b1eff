"""A finished run takes the place of an earlier one of its method and settings; what that costs is said."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

from segbench.aggregator.codec import encode, encode_summary
from segbench.aggregator.records import StoredPool
from segbench.aggregator.result import Result
from segbench.aggregator.store import ResultsFile
from segbench.aggregator.tasks import Outcome


class ReplacedRun(UserWarning):
    """A run in a results file was replaced by one of other images, or kept because none of the new could be counted."""


def keep_pooled(store: ResultsFile, run: int, result: Result) -> None:
    """Keep the summary and a reduced curve of a complete run of very many scores, which take long to pool again."""
    if result.counts and result.table.worth_keeping:
        summary, counts = encode_summary(result.summary), encode(result.reduced)
        store.keep_pooled(run, StoredPool(result.digest_of(summary, counts), summary, counts))


def finish(
    store: ResultsFile,
    run: int,
    outcomes: Sequence[Outcome],
    result: Result,
    notes: Iterable[str],
    *,
    published: str = "",
) -> None:
    """Complete a run, unless it counted nothing and would replace one that did; warn where another set is replaced."""
    signature, truths = store.complete(run)
    whose = f"{store.path}: the run of {result.method!r}"
    if truths and not result.counts:
        warnings.warn(f"{whose} is kept as it was, for no image could be counted now", ReplacedRun, stacklevel=3)
        return
    keep_pooled(store, store.finish(run, outcomes, result.signature, notes, published=published), result)
    counted = {outcome.name: outcome.ground_truth_digest for outcome in outcomes if outcome.counts}
    other_part = "subset" in result.settings and not truths.keys() <= {outcome.name for outcome in outcomes}
    other_set = truths and (other_part or truths.items().isdisjoint(counted.items()))
    if other_set or (published and signature not in {"", result.signature}):
        what = f"{whose} with other images or another ground truth was replaced"
        warnings.warn(f"{what}; to keep both give one another name or file", ReplacedRun, stacklevel=3)
