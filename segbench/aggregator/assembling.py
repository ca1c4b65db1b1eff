"""Results from runs: outcomes of images are collected, settled over the set and signed.

A run that was just counted and one that a results file holds become a `Result` by the same function, `assemble`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from segbench.aggregator.codec import EncodedCounts, decode, decode_kept, encode
from segbench.aggregator.measuring import measured_with
from segbench.aggregator.records import (
    UNNAMED,
    ByName,
    DataDigest,
    Digests,
    Outcome,
    Run,
    notes_on_images,
    signature,
    with_version,
)
from segbench.aggregator.result import Result, note_on_stop, partial_text
from segbench.aggregator.store import ResultsFile
from segbench.core.errors import ArgumentError, DataError, Failure
from segbench.core.messages import Either, Message, Note
from segbench.core.protocol import Facts, Pooling, Protocol, read_published, settled
from segbench.core.sample import SIDES
from segbench.core.settings import as_path
from segbench.inputs.label_rules import leaving_out
from segbench.loaders.palettes import Palettes

NOTHING_SAVED = Message("nothing-saved", "no image was saved before the run stopped")
_DAMAGED = "the file was changed or damaged: run again into a new file"


class PackedCounts(ByName[bytes]):
    """Packed counts by the names of images: those that are held, and others that the results file keeps for a run.

    They are read when they are wanted, with those of the next images; a run that replaced them has other digests.
    """

    def __init__(self, digests: Digests, in_memory: dict[str, bytes], path: Path | None, run: Run) -> None:
        self._names = self.digests = digests
        self.in_memory = in_memory
        self._path, self._run = path, run
        self._page: dict[str, bytes] = {}

    def __contains__(self, name: object) -> bool:
        return name in self.in_memory or name in self.digests

    def __getitem__(self, name: str) -> bytes:
        counts = self.in_memory.get(name) or self._page.get(name)
        if counts:
            return counts
        if self._path is None or name not in self.digests:
            raise KeyError(name)
        with ResultsFile(self._path) as file:
            page = self._page = file.counts_from(self._run, name, self.digests)  # which other threads may replace
        return page[name]


def assemble(run: Run, outcomes: Iterable[Outcome], file: Path | None = None) -> Result:
    """Put together what came of each image, in order of names; errors name the results file, if any.

    Nothing but columns stays of the images, of which there may be millions.
    """
    protocol, settings = run.rules, run.fields
    digests, truths = Digests(), Digests()
    packed = PackedCounts(digests, {}, file, run)
    failed: dict[str, Failure] = {}
    shared: dict[Message, Message] = {}  # messages of many images are held once
    facts: dict[str, Facts] = {}
    image_notes: dict[str, tuple[Note, ...]] = {}
    palettes = Palettes.of(protocol, settings)
    for outcome in outcomes:
        if outcome.failure is not None:
            problem, hint = (
                shared.setdefault(message, message) for message in (outcome.failure.what, outcome.failure.hint)
            )
            failed[outcome.name] = Failure(outcome.failure.path, problem, hint)
            continue
        truths.add(outcome.name, outcome.ground_truth_digest)
        digests.add(outcome.name, outcome.digest)
        if outcome.counts:
            packed.in_memory[outcome.name] = outcome.counts
        if outcome.facts:
            facts[outcome.name] = outcome.facts
        if outcome.notes:
            image_notes[outcome.name] = palettes.add(
                outcome.notes, {side: f"the {side} of {outcome.name!r}" for side in SIDES}
            )
    unnamed = decode(packed[UNNAMED], protocol.counts) if UNNAMED in digests else None
    palettes.require_agreement()
    is_whole_set = not failed and {"subset", "partial"}.isdisjoint(settings)
    try:
        packed.in_memory |= _settled(facts, packed, protocol, run, part=not is_whole_set)
    except DataError as error:
        if not failed or len({value for image_facts in facts.values() for value in image_facts}) > 1:
            raise
        first_failure = next(iter(failed.values()))
        hint = Message(
            "failed-images",
            "{failed:many image} could not be counted, the first for this reason: {first}",
            failed=len(failed),
            first=first_failure.sentence,
        )
        raise DataError(error.path, error.what, hint) from None
    assigned = {kind: part.among([*filter(None, digests), *failed]) for kind, part in run.assigned.items()}
    counts = EncodedCounts(packed, protocol.counts, str(file or ""))
    notes = (*run.notes, *notes_on_images(image_notes, settings, len(digests)))
    images = len(digests) if unnamed is None else "unnamed"
    return Result(
        run.method,
        protocol,
        settings,
        signature(run.protocol, settings, DataDigest(truths.items()), images=images),
        counts,
        failed,
        notes,
        run.inputs,
        digests,
        truths,
        image_notes=image_notes,
        unnamed=unnamed,
        assigned=assigned,
        run=run.run,
    )


def _settled(
    facts: Mapping[str, Facts], packed: Mapping[str, bytes], protocol: Protocol, run: Run, *, part: bool
) -> dict[str, bytes]:
    """Return the new counts of the images that the whole set changes."""
    excluded_by = leaving_out(run.fields, run.inputs.field if run.inputs else None)
    decided = settled(protocol, facts, excluded_by=excluded_by, part=part)
    return {
        name: encode(decided[image_facts](decode(packed[name], protocol.counts)))
        for name, image_facts in facts.items()
        if image_facts in decided
    }


def load_results(
    path: str | PathLike[str],
    *,
    partial: bool = False,
    **settings: Any,  # noqa: ANN401  values of fields
) -> list[Result]:
    """Read the complete runs of a results file, in the order in which they were first made.

    Parameters
    ----------
    path : path
        The results file.
    partial : bool
        Also return the results of runs that stopped early, on the images counted so far: ``result.partial`` says how
        many of how many. A run that repeats a complete one is left out until it is complete itself; until then
        ``result.outdated`` of the latter says so.
    **settings
        Settings of measuring, such as ``at=0.5``, for the runs whose protocol measures with them, and ``group_by`` for
        all, see `Result.with_settings`; by default each run is measured as it was when it was last made.

    Returns
    -------
    list of Result
        At least one.

    Raises
    ------
    DataError
        If the file is not a results file, or holds no such run.
    ArgumentError
        If a setting is one of counting for every run of the file.

    Examples
    --------
    >>> import tempfile
    >>> from segbench import Accumulator
    >>> accumulator = Accumulator(method="net")
    >>> accumulator.update([0, 1, 1], [0.2, 0.9, 0.5], name="a")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = accumulator.compute(results=f"{folder}/net.segbench")
    ...     load_results(f"{folder}/net.segbench")
    [Result('net', pixels, 1 image, ods_f 1.0000)]
    """
    return measured_with(load_runs(path, partial=partial)[0], settings)


def load_runs(path: str | PathLike[str], *, partial: bool) -> tuple[list[Result], list[Run]]:
    """Read what `load_results` gives, and the runs that are left out because they are not complete."""
    with ResultsFile(Path(as_path(path, "path"))) as store:
        runs = store.runs()
        if not runs:
            raise DataError(str(path), NOTHING_SAVED, "repeat the run")
        wanted = [run.complete or partial for run in runs]
        results, stopped = [], []
        for run, number, is_wanted in zip(runs, _places(runs), wanted, strict=True):
            if not is_wanted:
                stopped.append(run)
                continue
            try:
                result = stored_result(store, run) if run.complete else _partial_result(store, run)
                results.append(replace(result, place=number, repeated=run.begun if run.complete else 0))
            except (ArgumentError, DataError):
                if run.complete or sum(wanted) == 1:
                    raise
                stopped.append(run)  # of images that contradict each other
    if not results:
        hint = Message("repeat-run", "repeat the run; it continues where it stopped")
        if not partial:
            show = Either("load_results(path, partial=True)", "segbench show")
            hint = hint + Message("so-far", "; {show} gives the images counted so far", show=show)
        problem = Message("no-run", "holds no {sought}", sought="run" if partial else "complete run")
        raise DataError(str(path), problem, hint)
    return results, stopped


def _places(runs: Sequence[Run]) -> list[int | None]:
    """Number the methods of a results file; one that was run with several protocols has one number, annotators none."""
    number_by_method: dict[tuple[str, int], int] = {}
    namesakes: Counter[tuple[str, str]] = Counter()
    numbers: list[int | None] = []
    for run in runs:
        key = run.method, namesakes[run.protocol, run.label]
        namesakes[run.protocol, run.label] += 1
        ranked = run.rules.competes
        numbers.append(number_by_method.setdefault(key, len(number_by_method)) if ranked else None)
    return numbers


def _partial_result(store: ResultsFile, run: Run) -> Result:
    """Put together what a run counted before it stopped."""
    partial = run.begun, run.images
    notes = (*run.notes, note_on_stop(partial))
    so_far = replace(run, settings={**run.settings, "partial": partial_text(partial)}, notes=notes)
    try:
        result = assemble(so_far, store.outcomes([run.key]), store.path)
    except DataError as error:
        again = Either("count again", "count again with the command of the run")
        raise DataError(
            error.path, error.what, Message("fix", "{again}: {hint}", again=again, hint=error.hint)
        ) from None
    return replace(result, signature=with_version(result.signature, run.version), partial=partial)


def stored_result(store: ResultsFile, run: Run) -> Result:
    """Put a complete run of a results file together."""
    path = str(store.path)
    protocol = run.rules
    if run.published:
        return Result(
            run.method,
            protocol,
            run.fields,
            run.signature,
            {},
            notes=run.notes,
            published=read_published(protocol, run.published),
        )
    try:
        result = assemble(run, store.outcomes([run.key]), store.path)
    except (ArgumentError, DataError) as error:
        # The hint is for a run.
        reason = Failure(error.path, error.what).sentence if isinstance(error, DataError) else error.message
        problem = Message(
            "damaged-run", "the run of {run!r} cannot be put together ({reason})", run=run.label, reason=reason
        )
        raise DataError(path, problem, _DAMAGED) from error
    signed = replace(result, signature=run.signature)  # which names the version that counted
    if signed.data != result.data:
        problem = Message(
            "damaged-run", "the images of {run!r} are not those that its signature was made of", run=run.label
        )
        raise DataError(path, problem, _DAMAGED)
    # What belongs to other images, or was changed, is passed over: it can be derived again.
    digest, numbers, packed = store.pooled(run.key) or ("", "", b"")
    pooling = protocol.capability(Pooling)
    if pooling is None or not isinstance(packed, bytes) or digest != result.digest_of(numbers, packed):
        return signed
    try:
        return replace(signed, kept=decode_kept(numbers, packed, pooling, protocol.counts))
    except DataError as error:
        problem = Message(
            "damaged-run", "what was kept of the run of {run!r} {reason}", run=run.label, reason=error.what
        )
        raise DataError(path, problem, _DAMAGED) from error
