"""What ``segbench run`` looks at before it counts: refusals all at once, warnings, and never another number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from segbench.core.errors import DataError

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol
    from segbench.loaders.inputs import Inputs
    from segbench.loaders.repairs import Repairs


def inputs_of(
    ground_truth: str | None,
    methods: Mapping[str, str],
    *,
    field: str | None,
    patterns: Mapping[str, Any],
    pairs: str | None = None,
) -> dict[str, Inputs]:
    """Say where the images of each method lie."""
    from segbench.loaders.inputs import Inputs

    where = Inputs(ground_truth=ground_truth or "", field=field, **patterns, pairs=pairs)
    key = "prediction" if pairs is None else "column"
    at: dict[str, dict[str, Any]] = {method: {key: place} for method, place in methods.items()}
    return {method: replace(where, **place) for method, place in at.items()}


def look_first(methods: dict[str, Inputs], protocol: Protocol, repairs: Repairs) -> None:
    """Refuse what cannot be counted at all, and warn of the rest on standard error.

    Raises
    ------
    ArgumentError
        If repairs have no meaning for the protocol.
    DataError
        With everything that was found, if there is a method of which no image could be counted.
    """
    from segbench.checks.checking import quick_check
    from segbench.report.findings import refusal, warnings_of

    reports = quick_check(methods, protocol, repairs)
    if any(report.refused for report in reports):
        where = ", ".join(dict.fromkeys(_where(methods[report.method]) for report in reports if report.refused))
        raise DataError(where, refusal(reports))
    for line in warnings_of(reports):
        typer.secho(line, fg="yellow", err=True)


def _where(inputs: Inputs) -> str:
    from segbench.loaders.urls import masked

    return masked(str(inputs.prediction or inputs.pairs))
