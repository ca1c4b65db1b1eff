"""Thresholds chosen on a tuning set, for the methods of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segbench.cli.progress import Progress
from segbench.cli.workers import Workers
from segbench.core.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol
    from segbench.core.thresholds import Thresholds
    from segbench.loaders.pairing import Pairing
    from segbench.loaders.repairs import Repairs


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The tuning set, as given on the command line."""

    tuning_set: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="GT PRED",
            help="Take the thresholds from the hull of this set instead of every score; for one method.",
        ),
    ] = None
    tuning_field: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Leave out pixels of the tuning set where these masks are 0."),
    ] = None
    tuning_results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take the thresholds of several methods from a results file with a run of each on the tuning set.",
        ),
    ] = None

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Name the options."""
        return tuple(each.name for each in fields(cls))


def thresholds_of(
    given: Tuning,
    pairings: Mapping[str, Pairing],
    protocol: Protocol,
    *,
    workers: Workers,
    progress: Progress,
    repairs: Repairs,
) -> dict[str, Thresholds]:
    """Find each method's thresholds on its tuning set; empty where none is given.

    `pairings` are those of each method's test set.
    """
    folders, results, field = given.tuning_set, given.tuning_results, given.tuning_field
    if folders is None and field is not None:
        raise ArgumentError("--tuning-field is only used with --tuning-set; add it")
    if folders is None and results is None:
        return {}
    from segbench.core.capabilities import Pooling

    methods = list(pairings)
    masked = any(pairing.inputs.has_fields() for pairing in pairings.values())
    if protocol.capability(Pooling) is None:
        raise ArgumentError("a tuning set gives thresholds of scores, which only the pixels protocol takes")
    if folders is None and results is not None:
        return _of_results(results, methods, protocol.signature_fields() | repairs.signature_fields(), masked=masked)
    if results is not None or len(methods) != 1 or folders is None:
        raise ArgumentError("--tuning-set is for one method; for several give --tuning-results, and not both")
    if masked != (field is not None):
        hint = "give the folder of its masks: --tuning-field" if masked else "leave out --tuning-field, or add --field"
        raise ArgumentError(
            f"the test set is {_in_words(masked=masked)}, the tuning set {_in_words(masked=not masked)}; {hint}"
        )
    from segbench.aggregator.tuning import tuned_thresholds
    from segbench.cli.counting import count_methods
    from segbench.loaders.inputs import Inputs
    from segbench.protocols.files import find_files

    test = pairings[methods[0]].inputs
    patterns = {name: getattr(test, name) for name in ("gt_pattern", "pred_pattern", "field_pattern", "negatives")}
    where = Inputs(ground_truth=folders[0], prediction=folders[1], field=field, **patterns)
    try:
        pairing = find_files(where, protocol)
        (tuning,) = count_methods({methods[0]: pairing}, protocol, workers=workers, progress=progress, repairs=repairs)
    except DataError as error:
        raise DataError(f"tuning set, {error.path}", error.what, error.hint) from error
    return {methods[0]: tuned_thresholds(tuning)}


def _of_results(
    results: Path, methods: list[str], settings: Mapping[str, str], *, masked: bool
) -> dict[str, Thresholds]:
    from segbench.aggregator.assembling import load_results
    from segbench.aggregator.tuning import tuned_thresholds

    runs = {run.method: run for run in load_results(results) if dict(run.settings) == settings}
    missing = [method for method in methods if method not in runs]
    if missing:
        found = ", ".join(runs) or "none"
        raise ArgumentError(
            f"{results} holds no run of {', '.join(missing)} under the settings of this one (with them: {found}); "
            "name methods as there, as in NAME=FOLDER, and tune with the same options"
        )
    for method in methods:
        if _has_fields(runs[method]) not in (masked, None):
            there, here = _in_words(masked=not masked), _in_words(masked=masked)
            raise ArgumentError(
                f"{results}: {method} was tuned {there}, and this run is {here}; tune with the same --field"
            )
    return {method: tuned_thresholds(runs[method]) for method in methods}


def _has_fields(run: Result) -> bool | None:
    """Return whether the images of a run had a field of view; None where that is not known any more."""
    from segbench.loaders.file_list import is_stream

    try:
        known = run.inputs is not None and not (run.inputs.pairs and is_stream(run.inputs.pairs))
        return run.inputs.has_fields() if run.inputs is not None and known else None
    except DataError:
        return None


def _in_words(*, masked: bool) -> str:
    return "with a field of view" if masked else "without a field of view"
