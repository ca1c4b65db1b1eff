"""Runs saved in results files: completed, with what takes long to derive from all their counts.

The file itself is `segbench.aggregator.store`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from segbench.aggregator.codec import encode_kept
from segbench.aggregator.measuring import Measurable
from segbench.aggregator.records import Outcome, Run
from segbench.aggregator.store import Begun, Finished, ResultsFile
from segbench.core.counts import Counts
from segbench.core.messages import Either, Message
from segbench.core.numbers import of_all
from segbench.core.protocol import Pooling
from segbench.core.table import Keeping, Table

_AT_ONCE = 100


class ReplacedRun(UserWarning):
    """A run in a results file was replaced by one that may be another, or kept as none of the new could be counted.

    It is another for its images, or if two accumulators have no name of their own; the first of its `args` is the
    message.
    """


class Saved(Measurable, Finished, Protocol):
    """What a `segbench.Result` is here."""

    @property
    def counts(self) -> Mapping[str, Counts]:
        """The counts of each image."""

    @property
    def table(self) -> Table:
        """The counts of all images laid out."""

    def digest_of(self, numbers: str, counts: bytes) -> str:
        """Return a digest of the images and of what was derived from them."""


def save_run(
    path: Path, run: Run, outcomes: Iterable[Outcome], result: Saved, *, complete: bool, fresh: bool, stacklevel: int
) -> None:
    """Write a run that was counted before into a results file; one that stopped early stays incomplete there."""
    remaining = iter(outcomes)
    with ResultsFile(path, create=True) as store:
        begun = store.begin(run, fresh=fresh)
        while batch := list(islice(remaining, _AT_ONCE)):
            store.save(begun, run, batch)
        if complete:
            finish(begun, run, result, stacklevel=stacklevel + 1)


def finish(begun: Begun, run: Run, result: Saved, *, of_another: str = "", stacklevel: int = 4) -> None:
    """Complete a run, unless it counted nothing and would replace one that did; warn where another set is replaced.

    `of_another` says of what a run is that is stored under the same name, where that is known.
    """
    store = begun.file
    replaced = store.replaced(begun, run, result)
    run_of = {"path": str(store.path), "run": run.label}
    if replaced.images and not result.counts:
        message = Message(
            "kept-run", "{path}: the run of {run!r} is unchanged because no image could be counted now", **run_of
        )
        warnings.warn(ReplacedRun(message), stacklevel=stacklevel)
        return
    keep_pooled(store, store.finish(begun, replace(run, signature=result.signature), result), result)
    without = f"by one without {of_all(replaced.lacking, replaced.images, 'image')}"
    if replaced.lacking and "missing" in run.settings:
        how = f"was replaced {without}, which have no prediction now"
    elif (
        (replaced.images and not replaced.shares_images)
        or ("subset" in run.settings and replaced.lacking)
        or (run.published and replaced.signature not in {"", result.signature})
    ):
        how = "with other images or another ground truth was replaced"
    elif replaced.lacking and run.settings.get("source") == "arrays":
        how = f"was replaced {without}"
    elif replaced.images and of_another:
        how = f"of {of_another} was replaced"
    else:
        return
    message = Message(
        "replaced-run",
        "{path}: the run of {run!r} {how}; to keep both, give one of them another name{argument} or file",
        **run_of,
        how=how,
        lacking=replaced.lacking,
        images=replaced.images,
        argument=Either(" (method=...)", ""),
    )
    warnings.warn(ReplacedRun(message), stacklevel=stacklevel)


def keep_pooled(store: ResultsFile, key: int, result: Saved) -> None:
    """Keep what follows from all counts of a complete run of very many scores or images, which take long to read."""
    if result.rules.capability(Pooling) and "thresholds" in result.settings:
        result = result.with_settings(thresholds=())  # what is kept does not depend on how the run is measured
    if result.counts and isinstance(result.table, Keeping) and result.table.worth_keeping:
        numbers, counts = encode_kept(result.table.keepable())
        store.keep_pooled(key, result.digest_of(numbers, counts), numbers, counts)
