"""What ``segbench run`` looks at before it counts: refusals all at once, warnings, and never another number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from segbench.errors import DataError

if TYPE_CHECKING:
    from segbench.aggregator.figures import Protocol
    from segbench.loaders.inputs import Inputs
    from segbench.loaders.repairs import Repairs


def inputs_of(
    ground_truth: Path, methods: Mapping[str, Path], *, field: Path | None, patterns: Mapping[str, str]
) -> dict[str, Inputs]:
    """Say where the images of each method lie."""
    from segbench.loaders.inputs import Inputs

    mask = None if field is None else str(field)
    return {
        method: Inputs(ground_truth=str(ground_truth), prediction=str(folder), field=mask, **patterns)
        for method, folder in methods.items()
    }


def look_first(methods: dict[str, Inputs], protocol: Protocol, repairs: Repairs) -> None:
    """Refuse what cannot be counted at all, and warn of the rest on standard error.

    Raises
    ------
    ArgumentError
        If repairs have no meaning for the protocol.
    DataError
        With everything that was found, if there is a method of which no image could be counted.
    """
    from segbench.preflight.checking import quick_check
    from segbench.report.findings import refusal, warnings_of

    reports = quick_check(methods, protocol, repairs)
    if any(report.refused for report in reports):
        where = ", ".join(str(methods[report.method].prediction) for report in reports if report.refused)
        raise DataError(where, refusal(reports))
    for line in warnings_of(reports):
        typer.secho(line, fg="yellow", err=True)
