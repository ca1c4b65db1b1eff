"""Thresholds chosen on a tuning set, for the methods of ``segbench run``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from segbench.cli.workers import Workers
from segbench.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from segbench.aggregator.figures import Protocol
    from segbench.counts import Thresholds
    from segbench.loaders.repairs import Repairs


def thresholds_of(
    folders: tuple[str, str] | None,
    results: Path | None,
    methods: Sequence[str],
    protocol: Protocol,
    patterns: Mapping[str, str],
    *,
    workers: Workers,
    repairs: Repairs,
) -> dict[str, Thresholds]:
    """Find each method's thresholds on its tuning set; empty where none is given.

    Raises
    ------
    ArgumentError
        If both kinds are given, folders for several methods, a protocol other than pixels, or a results file without a
        run of each method under the same settings.
    DataError
        If the folders of the tuning set do not pair, or leave open which ground-truth values are positive.
    """
    if folders is None and results is None:
        return {}
    if protocol.name != "pixels":
        raise ArgumentError("a tuning set gives thresholds of scores, which only the pixels protocol takes")
    from segbench.aggregator.tuning import tuned_thresholds

    if folders is None and results is not None:
        from segbench.aggregator.benchmark import load_results

        settings = protocol.signature_fields() | repairs.signature_fields()
        runs = {run.method: run for run in load_results(results) if dict(run.settings) == settings}
        missing = [method for method in methods if method not in runs]
        if missing:
            found = ", ".join(runs) or "none"
            raise ArgumentError(
                f"{results} holds no run of {', '.join(missing)} under the settings of this one (with them: {found}); "
                "name methods as there (name=FOLDER), and tune with the same options"
            )
        return {method: tuned_thresholds(runs[method]) for method in methods}
    if results is not None or len(methods) != 1 or folders is None:
        raise ArgumentError("--tuning-set is for one method; for several give --tuning-results, and not both")
    from segbench.cli.counting import count_methods

    try:
        (tuning,) = count_methods(
            folders[0], {methods[0]: folders[1]}, protocol, patterns=patterns, workers=workers, repairs=repairs
        )
    except DataError as error:
        raise DataError(f"tuning set, {error.path}", error.what, error.hint) from error
    return {methods[0]: tuned_thresholds(tuning)}
