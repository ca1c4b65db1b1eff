"""Counting several methods against one ground truth, with workers and a progress bar."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from segbench.cli.command import Stopped
from segbench.cli.data import inputs_of
from segbench.cli.workers import Workers
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.cli.progress import Tally
    from segbench.core.protocol import Protocol
    from segbench.core.thresholds import Thresholds
    from segbench.loaders.pairing import SampleFiles
    from segbench.loaders.repairs import Repairs
    from segbench.loaders.source import Source

_ALL: Mapping[str, Any] = {}
_HERE = Workers()
_WORTH_TELLING = 1.0  # seconds


def count_methods(
    ground_truth: str | None,
    methods: Mapping[str, str],
    protocol: Protocol,
    *,
    pairs: str | None = None,
    field: str | None = None,
    patterns: Mapping[str, str],
    part: Mapping[str, Any] = _ALL,
    output: Path | None = None,
    fresh: bool = False,
    workers: Workers = _HERE,
    human: bool = False,
    repairs: Repairs | None = None,
    tuning: Mapping[str, Thresholds] | None = None,
) -> list[Result]:
    """Evaluate methods one after another, the images of each spread over workers.

    `methods` maps names to places of predictions, or with the file list `pairs` to its columns; `part` says which part
    of the images is counted, as keywords of `Inputs`.
    """
    from segbench.aggregator.benchmark import FailedImages, evaluate
    from segbench.aggregator.inputs import find_files
    from segbench.aggregator.replacing import ReplacedRun
    from segbench.cli.progress import progress_bar
    from segbench.loaders.repairs import Repairs

    repairs = repairs or Repairs()
    where: dict[str, Any] = {**patterns, **part, "images": part.get("images") or None}
    repairs.check(protocol.reads)
    inputs = inputs_of(ground_truth, methods, field=field, patterns={**patterns, **part}, pairs=pairs)
    files = [find_files(each.absolute(), protocol).files for each in inputs.values()]
    work: list[tuple[str, str | None, Protocol]] = [(method, place, protocol) for method, place in methods.items()]
    annotators = protocol.annotators_alone()
    if human and annotators is None:
        raise ArgumentError(f"--human compares annotators, which the {protocol.name} protocol cannot do")
    if human and annotators is not None:
        work.append(("human", None, annotators))
    protocol.prepare(lambda message: typer.echo(message, err=True))  # before workers start, each of which would do it
    with (
        workers.open(_first_images(files), sum(map(len, files))) as executor,
        warnings.catch_warnings(action="ignore", category=FailedImages),
        _told_plainly(ReplacedRun),
    ):
        results: list[Result] = []
        started = time.perf_counter()
        for method, place, settings in work:
            with progress_bar(method) as tally, _stoppable(method, tally):
                result = evaluate(
                    ground_truth,
                    None if pairs else place,
                    settings,
                    pairs=pairs,
                    field=field,
                    **where,
                    method=method,
                    repairs=Repairs() if place is None else repairs,
                    results=output,
                    fresh=fresh,
                    executor=executor,
                    thresholds=(tuning or {}).get(method),
                    progress=tally,
                )
            results.append(result)
        images = sum(len(result.counts) + len(result.failed) for result in results)
        _tell_time(time.perf_counter() - started, images, sum(result.reused for result in results))
    return results


def _first_images(files: Sequence[Sequence[SampleFiles]]) -> list[Source]:
    """Name all files of the first image of each method."""
    return [source for first, *_ in files for source in first.sources]


@contextmanager
def _told_plainly(kind: type[Warning]) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("always", kind)
        warnings.showwarning = lambda message, *_, **__: typer.secho(str(message), fg="yellow", err=True)
        yield


@contextmanager
def _stoppable(method: str, tally: Tally) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        done = f"{tally.done} of {tally.total} images" if tally.total else "no image"
        raise Stopped(f"stopped with {done} of {method!r} done") from None


def _tell_time(seconds: float, images: int, reused: int) -> None:
    counted = images - reused
    if reused and counted:
        typer.echo(f"{images} images: {reused} already counted, {counted} counted in {seconds:.1f} s", err=True)
    elif reused:
        typer.echo(f"{images} images: all already counted with the same settings", err=True)
    elif seconds >= _WORTH_TELLING:
        typer.echo(f"{images} images in {seconds:.1f} s, {1000 * seconds / images:.1f} ms per image", err=True)
