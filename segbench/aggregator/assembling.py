"""Results from runs: outcomes of images are collected, settled over the set, cut at thresholds and signed.

A run that was just counted and one that a results file holds become a `Result` by the same function.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any

from segbench.aggregator.codec import EncodedCounts, decode, decode_summary, encode, encode_summary
from segbench.aggregator.records import Column, Outcome, Run, StoredPool, data_digest, signature, with_version
from segbench.aggregator.result import Result, partial_images, partial_text
from segbench.aggregator.store import ResultsFile
from segbench.core.arguments import as_path
from segbench.core.arrays import as_floats
from segbench.core.capabilities import Pooling, competes, read_published, settled
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import format_setting, setting
from segbench.core.numbers import of_all
from segbench.core.protocol import Protocol
from segbench.core.sample import without_detail
from segbench.core.table import Reducing
from segbench.core.thresholds import Thresholds
from segbench.loaders.repairs import idle
from segbench.protocols.registry import protocol_of

NOTHING_SAVED = "no image was saved before the run stopped"
_ON_THE_TUNING_SET = "the tuning set is the test set: metrics at its thresholds are optimistic"
_BEST_OF_TUNED = (
    "ODS, OIS and mean F still take the best of the tuned thresholds on these images; "
    "F at the ODS threshold of the tuning set is unbiased"
)
_DAMAGED = "the file was changed or damaged: run again into a new file"


class ReplacedRun(UserWarning):
    """A run in a results file was replaced by one of other images, or kept because none of the new could be counted."""


def assemble(run: Run, protocol: Protocol, outcomes: Sequence[Outcome], *, file: str = "") -> Result:
    """Put together what came of each image, in sorted order of names; errors name the results file, if any."""
    by_name = sorted(outcomes, key=attrgetter("name"))
    counted = {outcome.name: outcome for outcome in by_name if outcome.counts}
    truths = Column[str](counted, "ground_truth_digest")
    notes, settings = run.notes, run.settings
    if run.thresholds:
        same = f", data {data_digest(truths)}," in settings["thresholds"]
        notes = (*notes, _ON_THE_TUNING_SET if same else _BEST_OF_TUNED)
    whole = len(counted) == len(by_name) and {"subset", "partial"}.isdisjoint(settings)
    counted |= _settled(counted, protocol, run, part=not whole)
    if run.thresholds and (pooling := protocol.capability(Pooling)):
        cuts = Thresholds(as_floats(run.thresholds, "thresholds"), settings["thresholds"])
        counted |= _cut(counted, protocol.counts, pooling, cuts)
    repeated = Counter(note for outcome in counted.values() for note in {without_detail(n): 0 for n in outcome.notes})
    unneeded = idle(settings, tuple(repeated)) if counted else ()
    return Result(
        run.method,
        run.protocol,
        settings,
        signature(run.protocol, settings, truths),
        EncodedCounts(Column(counted, "counts"), protocol.counts, file),
        {outcome.name: outcome.failure for outcome in by_name if outcome.failure},
        (*notes, *(f"{note} ({of_all(count, len(counted), 'image')})" for note, count in repeated.items()), *unneeded),
        run.inputs,
        run.protocol_json,
        Column(counted, "digest"),
        image_notes={name: outcome.notes for name, outcome in counted.items() if outcome.notes},
        measured_by=protocol,
    )


def _settled(counted: Mapping[str, Outcome], protocol: Protocol, run: Run, *, part: bool) -> dict[str, Outcome]:
    """Give those images that the whole set changes, with their new counts."""
    void, field = run.settings.get("void", "none"), run.inputs.field if run.inputs else None
    left_out_by = [] if void == "none" else [setting(f"--void {void}", f"void={void}")]
    left_out_by += [] if field is None else [format_setting("field", field)]
    facts = {name: outcome.facts for name, outcome in counted.items() if outcome.facts}
    decided = settled(protocol, facts, excluded_by=" and ".join(left_out_by), part=part)
    packed = Column[bytes](counted, "counts")
    return {
        name: counted[name]._replace(counts=encode(decided[known](decode(packed[name], protocol.counts))))
        for name, known in facts.items()
        if known in decided
    }


def _cut(
    counted: Mapping[str, Outcome], kind: type[Counts], pooling: Pooling, thresholds: Thresholds
) -> dict[str, Outcome]:
    """Count at thresholds."""
    packed = Column[bytes](counted, "counts")
    at = {name: pooling.counts_at(decode(packed[name], kind), thresholds) for name in counted}
    return {name: counted[name]._replace(counts=encode(counts)) for name, counts in at.items()}


def load_results(path: str | PathLike[str], *, partial: bool = False) -> list[Result]:
    """Read the complete runs of a results file, in the order in which they were first made.

    Parameters
    ----------
    path : path
        The results file.
    partial : bool
        Give also the results of runs that stopped early, on the images counted so far: ``result.partial`` says how
        many of how many. A run that repeats a complete one is left out until it is complete itself; until then
        ``result.outdated`` of the latter says so.

    Returns
    -------
    list of Result
        At least one.

    Raises
    ------
    DataError
        If the file is not a results file, or holds no such run.
    """
    return load_runs(path, partial=partial)[0]


def load_runs(path: str | PathLike[str], *, partial: bool) -> tuple[list[Result], list[Run]]:
    """Read what `load_results` gives, and the runs that are left out because they are not complete."""
    with ResultsFile(Path(as_path(path, "path"))) as store:
        runs = store.runs(partial=True)
        if not runs:
            raise DataError(str(path), NOTHING_SAVED, "repeat the run")
        wanted = [run.complete or partial for run in runs]
        results, stopped = [], []
        for run, place, is_wanted in zip(runs, _places(runs), wanted, strict=True):
            result = _stored_result(store, run, alone=sum(wanted) == 1) if is_wanted else None
            if result is None:
                stopped.append(run)
            else:
                results.append(replace(result, place=place, repeated=run.begun if run.complete else 0))
    if not results:
        hint = "repeat the run; it continues where it stopped"
        if not partial:
            show = setting("segbench show", "load_results(path, partial=True)")
            hint += f"; {show} gives the images counted so far"
        raise DataError(str(path), f"holds no {'run' if partial else 'complete run'}", hint)
    return results, stopped


def _places(runs: Sequence[Run]) -> list[int | None]:
    """Number the methods of a results file; one that was run with several protocols has one number, annotators none."""
    places: dict[tuple[str, int], int] = {}
    namesakes: Counter[tuple[str, str]] = Counter()
    numbers: list[int | None] = []
    for run in runs:
        key = run.method, namesakes[run.protocol, run.method]
        namesakes[run.protocol, run.method] += 1
        ranked = competes(protocol_of(run.protocol, run.settings))
        numbers.append(places.setdefault(key, len(places)) if ranked else None)
    return numbers


def _stored_result(store: ResultsFile, run: Run, *, alone: bool) -> Result | None:
    """Put a stored run together; None for a partial one of images that contradict each other, unless it is alone."""
    outcomes, path = store.outcomes(run.key, leave=run), str(store.path)
    if run.complete:
        return stored_result(run, outcomes, path, store.pooled(run.key))
    try:
        return _partial_result(run, outcomes, path)
    except (ArgumentError, DataError):
        if alone:
            raise
        return None


def _partial_result(run: Run, outcomes: Sequence[Outcome], path: str) -> Result:
    """Put together what a run counted before it stopped."""
    partial = len(outcomes), run.images
    said = partial_text(partial)
    notes = (*run.notes, f"the run stopped after {partial_images(partial)}; repeat it to count the rest")
    so_far = replace(run, settings={**run.settings, "partial": said}, notes=notes)
    result = assemble(so_far, protocol_of(run.protocol, run.settings), outcomes, file=path)
    return replace(result, signature=with_version(result.signature, run.version), partial=partial)


def stored_result(run: Run, outcomes: Sequence[Outcome], path: str, pool: StoredPool | None = None) -> Result:
    """Put a complete run of a results file together."""
    protocol = protocol_of(run.protocol, run.settings)
    if run.published:
        return Result(
            run.method,
            run.protocol,
            run.settings,
            run.signature,
            {},
            notes=run.notes,
            published=read_published(protocol, run.published),
            measured_by=protocol,
        )
    try:
        result = assemble(run, protocol, outcomes, file=path)
    except (ArgumentError, DataError) as error:
        raise DataError(path, f"the run of {run.method!r} cannot be put together ({error})", _DAMAGED) from error
    signed = replace(result, signature=run.signature)  # which names the version that counted
    if signed.data != result.data:
        what = f"the images of {run.method!r} are not those that its signature was made of"
        raise DataError(path, what, _DAMAGED)
    # What belongs to other images, or was changed, is passed over: it can be derived again.
    if pool is None or pool.digest != result.digest_of(pool.summary, pool.counts):
        return signed
    counts: Any = decode(pool.counts)
    same = type(counts) is protocol.counts
    return replace(signed, kept=(decode_summary(pool.summary), counts)) if same else signed


def finish(store: ResultsFile, key: int, run: Run, outcomes: Sequence[Outcome], result: Result) -> None:
    """Complete a run, unless it counted nothing and would replace one that did; warn where another set is replaced."""
    signature, truths = store.complete(run)
    what = f"{store.path}: the run of {run.method!r}"
    if truths and not result.counts:
        warnings.warn(f"{what} is unchanged because no image could be counted now", ReplacedRun, stacklevel=4)
        return
    keep_pooled(store, store.finish(key, replace(run, signature=result.signature), outcomes), result)
    fewer = len(truths.keys() - {outcome.name for outcome in outcomes})
    if fewer and "missing" in run.settings:
        what = f"{what} was replaced by one without {of_all(fewer, len(truths), 'image')}, which have no prediction now"
        warnings.warn(f"{what}; to keep both, give one of them another name or file", ReplacedRun, stacklevel=4)
        return
    same = any(truths.get(outcome.name) == outcome.ground_truth_digest for outcome in outcomes if outcome.counts)
    other_part = "subset" in run.settings and not truths.keys() <= {outcome.name for outcome in outcomes}
    other_set = truths and (other_part or not same)
    if other_set or (run.published and signature not in {"", result.signature}):
        what = f"{what} with other images or another ground truth was replaced"
        warnings.warn(f"{what}; to keep both, give one of them another name or file", ReplacedRun, stacklevel=4)


def keep_pooled(store: ResultsFile, key: int, result: Result) -> None:
    """Keep the summary and a reduced curve of a complete run of very many scores, which take long to pool again."""
    if result.counts and isinstance(result.table, Reducing) and result.table.worth_keeping:
        summary, counts = encode_summary(result.summary), encode(result.reduced)
        store.keep_pooled(key, StoredPool(result.digest_of(summary, counts), summary, counts))
