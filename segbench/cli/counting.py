"""Counting several methods against one ground truth, with workers and a progress bar."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from segbench.cli.command import Stopped
from segbench.cli.progress import Progress, Tally, progress_of
from segbench.cli.workers import Workers
from segbench.core.errors import ArgumentError
from segbench.core.numbers import many, of_all

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol
    from segbench.core.thresholds import Thresholds
    from segbench.loaders.pairing import Pairing
    from segbench.loaders.repairs import Repairs

_WORTH_TELLING = 1.0  # seconds


def count_methods(
    pairings: Mapping[str, Pairing],
    protocol: Protocol,
    *,
    output: Path | None = None,
    fresh: bool = False,
    workers: Workers = Workers(),
    progress: Progress = Progress.AUTO,
    human: bool = False,
    repairs: Repairs | None = None,
    tuning: Mapping[str, Thresholds] | None = None,
) -> list[Result]:
    """Evaluate methods one after another, the images of each spread over workers."""
    from segbench.aggregator.assembling import ReplacedRun
    from segbench.aggregator.benchmark import FailedImages, evaluate_pairing
    from segbench.core.capabilities import Annotated, Prepared
    from segbench.loaders.listing import forget_listings
    from segbench.loaders.repairs import Repairs
    from segbench.protocols.files import find_files

    repairs = repairs or Repairs()
    protocol.reads.check_repairs(repairs)
    work = [(method, pairing.require_complete(), protocol, repairs) for method, pairing in pairings.items()]
    first = [source for _, pairing, *_ in work for source in pairing.files[0].within(Path.cwd()).sources]
    images = sum(len(pairing.files) for _, pairing, *_ in work)
    if human:
        annotated = protocol.capability(Annotated)
        if annotated is None:
            raise ArgumentError(f"--human compares annotators, which the {protocol.name} protocol cannot do")
        annotators = annotated.annotators_alone()
        alone = replace(next(iter(pairings.values())).inputs, prediction=None, column=None)
        work.append(("human", find_files(alone, annotators), annotators, Repairs()))
    forget_listings()  # of very many files they take as much memory as the counts
    if prepared := protocol.capability(Prepared):  # before workers start, each of which would do it
        prepared.prepare(lambda message: typer.echo(message, err=True))
    with (
        workers.open(first, images) as executor,
        warnings.catch_warnings(action="ignore", category=FailedImages),
        _told_plainly(ReplacedRun),
    ):
        results: list[Result] = []
        started = time.perf_counter()
        for method, pairing, settings, allowed in work:
            with progress_of(method, progress) as tally, _stoppable(method, tally):
                result = evaluate_pairing(
                    pairing,
                    settings,
                    method=method,
                    repairs=allowed,
                    results=output,
                    fresh=fresh,
                    executor=executor,
                    thresholds=(tuning or {}).get(method),
                    progress=tally,
                )
            results.append(result)
        total = sum(len(result.counts) + len(result.failed) for result in results)
        _tell_time(time.perf_counter() - started, total, sum(result.reused for result in results))
    return results


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
        done = of_all(tally.done, tally.total, "image") if tally.total else "no image"
        raise Stopped(f"stopped with {done} of {method!r} done") from None


def _tell_time(seconds: float, images: int, reused: int) -> None:
    counted = images - reused
    if reused and counted:
        typer.echo(f"{many(images, 'image')}: {reused} already counted, {counted} counted in {seconds:.1f} s", err=True)
    elif reused:
        typer.echo(f"{many(images, 'image')}: all already counted with the same settings", err=True)
    elif seconds >= _WORTH_TELLING:
        typer.echo(f"{many(images, 'image')} in {seconds:.1f} s, {1000 * seconds / images:.1f} ms per image", err=True)
