"""Counting several methods against one ground truth, with workers and a progress bar."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from segbench.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.figures import Protocol
    from segbench.aggregator.result import Result
    from segbench.counts import Thresholds
    from segbench.loaders.repairs import Repairs


def methods_of(predictions: list[str]) -> dict[str, Path]:
    """Read ``FOLDER`` and ``name=FOLDER`` into methods by name.

    Raises
    ------
    ArgumentError
        If two methods have one name.
    """
    methods: dict[str, Path] = {}
    for text in predictions:
        name, equals, folder = text.partition("=")
        named = bool(equals) and not Path(text).exists()
        path = Path(folder if named else text)
        method = name if named else path.absolute().stem
        if not method or (named and not folder):
            raise ArgumentError(f"{text!r} gives no name; write name=FOLDER")
        if method in methods:
            raise ArgumentError(f"two methods are called {method!r}; give one another name: other={path}")
        methods[method] = path
    return methods


def count_methods(
    ground_truth: Path,
    methods: Mapping[str, Path],
    protocol: Protocol,
    *,
    field: Path | None = None,
    patterns: Mapping[str, str],
    output: Path | None = None,
    jobs: int | None = None,
    human: bool = False,
    repairs: Repairs | None = None,
    tuning: Mapping[str, Thresholds] | None = None,
) -> list[Result]:
    """Evaluate methods one after another, the images of each spread over workers.

    Raises
    ------
    ArgumentError
        If the human point is asked of a protocol that has none, or repairs have no meaning for the protocol.
    DataError
        If a folder does not pair with the ground truth: found before the first image is read.
    """
    from segbench.aggregator.benchmark import FailedImages, evaluate
    from segbench.aggregator.executors import jobs_for, process_pool
    from segbench.cli.progress import progress_bar
    from segbench.loaders.inputs import Inputs
    from segbench.loaders.pairing import pair
    from segbench.loaders.repairs import Repairs

    repairs = repairs or Repairs()
    repairs.check(protocol.reads)
    where = Inputs(ground_truth=str(ground_truth), field=None if field is None else str(field), **patterns)
    pairs = sum(len(pair(replace(where, prediction=str(folder))).files) for folder in methods.values())
    work: list[tuple[str, Path | None, Protocol]] = [(method, folder, protocol) for method, folder in methods.items()]
    if protocol.name == "boundaries":
        from segbench.protocols.boundaries import Annotators, Boundaries, compile_kernels, kernels_cached

        if human and isinstance(protocol, Boundaries):
            work.append(("human", None, Annotators(settings=protocol)))
        if not kernels_cached():
            typer.echo("compiling for this machine, once ...", err=True)
            compile_kernels()
    elif human:
        raise ArgumentError("--human takes annotators of boundaries; add -p boundaries")
    if protocol.name == "regions":
        from segbench.protocols.regions import compile_kernels as compile_region_kernels

        compile_region_kernels()  # before workers start, each of which would do it
    workers = jobs_for(pairs, jobs)
    with (
        process_pool(workers) if workers > 1 else nullcontext() as executor,
        warnings.catch_warnings(action="ignore", category=FailedImages),
    ):
        results = []
        for method, folder, settings in work:
            with progress_bar(method) as progress:
                results.append(
                    evaluate(
                        ground_truth,
                        folder,
                        settings,
                        field=field,
                        **patterns,
                        method=method,
                        repairs=Repairs() if folder is None else repairs,
                        results=output,
                        executor=executor,
                        thresholds=(tuning or {}).get(method),
                        progress=progress,
                    )
                )
    return results
