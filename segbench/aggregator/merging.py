"""Several results files to one: the methods of all of them, and the images of a method counted in parts."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from shlex import quote

from segbench.aggregator.assembling import NOTHING_SAVED, assemble, load_results, stored_result
from segbench.aggregator.measuring import measured_apart, shared_settings
from segbench.aggregator.records import Run, version_of, with_version, without_selection
from segbench.aggregator.result import Result, names_of
from segbench.aggregator.saving import keep_pooled
from segbench.aggregator.store import Begun, ResultsFile, require_results_place
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import NOTHING, Either, Message, Note, NoteWarning, Setting, option_of
from segbench.core.numbers import of_all
from segbench.core.temporary import remove_left_behind, temporary_file
from segbench.loaders.belonging import together
from segbench.loaders.pairing import Inputs
from segbench.loaders.source import shown
from segbench.protocols.registry import StoredProtocol

_HINT = "check the disk and permissions, or name another file"


@dataclass(eq=False)
class _Merged:
    """One run put together of its parts."""

    first: Run
    begun: Begun
    sources: list[str] = field(default_factory=list)  # files that it was put together from
    notes: dict[Note, None] = field(default_factory=dict)
    inputs: dict[Inputs, None] = field(default_factory=dict)
    missing: int = 0
    parts: list[Run] = field(default_factory=list)  # which may be measured by different settings

    def run(self) -> Run:
        """Return the run of all parts, with their inputs and the numbers of chosen and missing images."""
        chosen = self.begun.file.images_of(self.begun) + self.missing
        total = int(_set_size(self.first) or chosen)
        if chosen > total:
            problem = Message(
                "too-many-images",
                "the parts of {method!r} have {images:many image}, more than their set of {total}",
                method=self.first.label,
                images=chosen,
                total=total,
            )
            raise DataError(self.sources[0], problem, "merge parts of one set only")
        subset = {"subset": f"{chosen} of {total}"} if chosen < total else {}
        missing = {"missing": f"{self.missing} of {chosen}"} if self.missing else {}
        settings = without_selection(self.first.settings) | subset | missing
        first, *others = self.inputs or (None,)
        inputs = None if first is None else replace(first, merged=tuple(others))
        stored = self.first.stored
        shared = shared_settings([part.rules for part in self.parts])
        if shared:
            stored = stored._replace(measuring=StoredProtocol.of(self.first.rules.with_settings(**shared)).measuring)
        assigned, notes = together([part.assigned for part in self.parts]), tuple(self.notes)
        return replace(self.first, stored=stored, settings=settings, notes=notes, inputs=inputs, assigned=assigned)

    def note_on_settings(self, merged: Path) -> Message:
        """Say which settings of measuring are those of the first part alone, and how to show others; empty if none."""
        apart = measured_apart(self.parts)
        if not apart:
            return NOTHING
        taken = ", ".join(f"{name}:{values[0]}" for name, values in apart.items())
        others = {name: next(value for value in values if value != values[0]) for name, values in apart.items()}
        if others.pop("thresholds_source", None):  # which names a tuning set
            typed, called = [f"{option_of('tuning_results')} FILE"], "result.with_thresholds(...)"
        else:
            typed, called = [], f"result.with_settings({', '.join(f'{name}=...' for name in others)})"
        typed += [f"{option_of(name)} {quote(value)}" for name, value in others.items()]
        return Message(
            "measured-apart",
            "parts of {method!r} were measured with different settings, and their run takes {taken}, as in {first}; "
            "to show it with others: {other}",
            method=self.first.method,
            taken=taken,
            first=shown(self.sources[0]),
            other=Either(called, f"segbench show {quote(shown(merged))} {' '.join(typed)}"),
            differing=list(apart),
        )


def lacking(result: Result) -> Message:
    """Say how many images of a set none of the merged parts holds; empty if they hold all, or nothing was merged."""
    return in_no_part(result) if result.inputs is not None and result.inputs.merged else NOTHING


def in_no_part(result: Result) -> Message:
    """Say the same of a run that may be the only part."""
    if "subset" not in result.settings:
        return NOTHING
    chosen, total = map(int, result.settings["subset"].split(" of "))
    return Message(
        "in-no-part",
        "{number} in no part; count the missing parts, and merge all again",
        number=of_all(total - chosen, total, "image", "are"),
        images=total - chosen,
        total=total,
    )


def merge_results(
    files: Sequence[str | PathLike[str]],
    output: str | PathLike[str],
    *,
    leave_out: Collection[str] = (),
    join: Collection[str] = (),
) -> list[Result]:
    """Write the runs of several results files into one.

    Runs of one method, protocol and settings become one run of all their images, as if these had been counted together:
    so the images of a large set can be counted in parts, on machines that share no disk. An image that failed in one
    part and was counted in another is taken from the other. Parts chosen with `images` of one set become the run of
    them all. If parts were measured with different settings that a run has one of, such as `background`, it takes those
    of the first file, and a `UserWarning` says so; `Result.with_settings` takes others.

    Parameters
    ----------
    files : sequence of path
        Results files, which stay as they are.
    output : path
        Results file to write; there must be none.
    leave_out : collection of str
        Runs to leave out, by their names in the tables of their file: ``["net (invert:no)"]``; those that were cut
        short by their method.
    join : collection of str
        Methods whose parts are put together although their predictions lie in different folders, as on machines that
        share no disk: ``["net"]``. Others are refused then, because two methods may have been given one name.

    Returns
    -------
    list of Result
        What was written.

    Raises
    ------
    DataError
        If a file is none, holds no run or one that is not complete, or was counted by another version of segbench, if
        the same image was counted with different files, if the predictions of a method lie in different folders and
        `join` does not name it.
    ArgumentError
        If `output` exists; if no run has a name of `leave_out`, or all have; if no run has the method of `join`.

    Examples
    --------
    >>> import tempfile
    >>> from segbench import Accumulator
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in "ab":
    ...         accumulator = Accumulator(method="net", results=f"{folder}/{name}")
    ...         accumulator.update([0, 1, 1], [0.2, 0.9, 0.5], name=name)
    ...         _ = accumulator.compute()
    ...     merge_results([f"{folder}/a", f"{folder}/b"], f"{folder}/both")
    [Result('net', pixels, 2 images, ods_f 1.0000)]
    """
    target = Path(output)
    require_results_place(target)
    _refuse_existing(target)
    remove_left_behind(target.parent)
    merged: dict[tuple[str, ...], _Merged] = {}
    run_names: dict[str, None] = {}
    methods: dict[str, None] = {}
    try:
        with temporary_file(target.parent) as locked:
            locked.write(b"\0")  # a file that is empty may be one that is not locked yet
            locked.flush()
            temporary = Path(f"{locked.name}-db")
            with ResultsFile(target, create=True, written_as=temporary) as store:
                for path in map(Path, files):
                    with ResultsFile(path) as part:
                        for name, run in _named_runs(part, leave_out):
                            run_names[name] = None
                            methods[run.label] = None
                            if name not in leave_out:
                                _add(store, merged, part, run, join=run.label in join)
                _refuse_unknown("leave_out", leave_out, [*run_names], but_not_all=True)
                _refuse_unknown("join", join, [*methods])
                for whole in merged.values():
                    _finish(store, whole, temporary)
            _move(temporary, target)
    except OSError as error:
        problem = Message("unwritable", "cannot be written ({reason})", reason=str(error.strerror or error))
        raise DataError(shown(target), problem, _HINT) from error
    for note in filter(None, (whole.note_on_settings(target) for whole in merged.values())):
        warnings.warn(NoteWarning(note), stacklevel=2)
    return load_results(target)


def _refuse_existing(path: Path) -> None:
    """Refuse to write over anything: even an older merged file may hold the only copy of its runs."""
    if os.path.lexists(path):  # which a name that is too long does not make raise
        raise ArgumentError(
            Message("exists", "{path} exists already; delete it, or give the merged file another name", path=str(path))
        )


def _refuse_unknown(field: str, names: Collection[str], known: Sequence[str], *, but_not_all: bool = False) -> None:
    """Refuse names of runs that are not there, or perhaps all of them."""
    if not set(names) <= set(known) or (but_not_all and names and set(names) == set(known)):
        raise ArgumentError(
            Message(
                "unknown-runs",
                "{setting} {given}: expected some of {known}{not_all}",
                setting=Setting(field, None),
                given=list(map(repr, names)),
                known=list(map(repr, known)),
                not_all=", but not all" if but_not_all else "",
            )
        )


def _move(written: Path, target: Path) -> None:
    """Rename a complete file to its target; a merge that is killed before leaves no file of that name."""
    if written.with_name(f"{written.name}-wal").exists():
        raise DataError(str(target), Message("unwritable", "could not be written to the end"), _HINT)
    _refuse_existing(target)
    written.rename(target)


def _named_runs(part: ResultsFile, leave_out: Collection[str]) -> list[tuple[str, Run]]:
    """Check the runs of a file, and return each with its name in tables."""
    all_runs = part.runs()
    if not all_runs:
        raise DataError(str(part.path), NOTHING_SAVED, "repeat the run, or merge the others alone")
    unfinished = [(run.label, run) for run in all_runs if not run.complete]
    for method, _ in unfinished:
        if method not in leave_out:
            problem = Message("incomplete-run", "the run of {method!r} is not complete", method=method)
            leaving = Setting("leave_out", (method,))
            hint = Message("leave-out", "repeat the run to complete it, or leave it out: {setting}", setting=leaving)
            raise DataError(str(part.path), problem, hint)
    runs = [run for run in all_runs if run.complete]
    results = [stored_result(part, run) for run in runs]
    for result in results:
        for _ in result.counts.values():
            pass  # unpacks every image, so that what is damaged is refused by the name of its own file
    return [*zip(names_of(results), runs, strict=True), *unfinished]


def _add(
    store: ResultsFile, merged: dict[tuple[str, ...], _Merged], part: ResultsFile, run: Run, *, join: bool
) -> None:
    alike = without_selection(run.settings) | {"set": _set_size(run)}
    path, settings = str(part.path), json.dumps(alike, sort_keys=True)
    key = run.method, run.run, run.protocol, run.stored.counting, settings
    whole = merged[key] if key in merged else merged.setdefault(key, _Merged(run, store.begin(run)))
    known = " and ".join(whole.sources)
    if run.published != whole.first.published or version_of(run.signature) != version_of(whole.first.signature):
        problem = Message(
            "other-run",
            "the run of {method!r} does not fit that in {known}: {signature}",
            method=run.label,
            known=known,
            signature=run.signature,
        )
        raise DataError(path, problem, "count both with one version of segbench")
    whole.notes |= dict.fromkeys(run.notes)
    whole.parts.append(run)
    inputs = () if run.inputs is None else (replace(run.inputs, merged=()), *run.inputs.merged)
    folders, known_folders = _folders(inputs), _folders(whole.inputs)
    elsewhere = bool(known_folders) and folders.isdisjoint(known_folders)
    whole.inputs |= dict.fromkeys(inputs)
    whole.missing += int(run.settings.get("missing", "0").partition(" ")[0])
    shared = [*store.copy(whole.begun, part, run.key)]
    for image in shared:
        if whole.missing:
            problem = Message(
                "shared-images",
                "parts of {method!r} that leave out images without a prediction share images with {known}",
                method=run.label,
                known=known,
            )
            raise DataError(path, problem, "count parts that share no image, or all images in one run")
        if image.counted_here and image.counted_there and not image.same_files:
            problem = Message(
                "other-files",
                "{image!r} of {method!r} was counted with other files than in {known}",
                image=image.name,
                method=run.label,
                known=known,
            )
            raise DataError(path, problem, "give the methods different names, or count the image again in one of them")
    if elsewhere and inputs and not join and not any(image.same_files for image in shared):
        listed, known_listed = (" and ".join(map(shown, sorted(paths))) for paths in (folders, known_folders))
        problem = Message(
            "other-predictions",
            "the run of {method!r} has predictions in {here}, and that in {known} in {there}",
            method=run.label,
            here=listed,
            known=known,
            there=known_listed,
        )
        argument = f"run={run.run + '-2'!r}" if run.run else f"method={run.method + '-2'!r}"
        hint = Message(
            "join",
            "if these are parts of one method, put them together: {join}; if they are two methods, count one again "
            "under another name, {other}, into a new file",
            join=Setting("join", (run.label,)),
            other=Either(argument, quote(f"{run.label}-2={listed}")),
        )
        raise DataError(path, problem, hint)
    whole.sources.append(path)


def _folders(inputs: Iterable[Inputs]) -> set[str]:
    """Name where the predictions of runs lie, of all categories of a data set alike."""
    parts = (
        (Path(run_inputs.predictions).parts, run_inputs.category) for run_inputs in inputs if run_inputs.predictions
    )
    return {str(Path(*("*" if part == category else part for part in folders))) for folders, category in parts}


def _set_size(run: Run) -> str:
    """Return the number of images of the set that a run takes a part of, as text; empty if it takes all."""
    return run.settings.get("subset", "").partition(" of ")[2]


def _finish(store: ResultsFile, merged: _Merged, written: Path) -> None:
    run, begun = merged.run(), merged.begun
    result = assemble(run, store.outcomes([begun.key]), written)
    if not run.published:
        run = replace(run, signature=with_version(result.signature, version_of(run.signature)))
    key = store.finish(begun, run, result)
    if not run.published:
        keep_pooled(store, key, result)
