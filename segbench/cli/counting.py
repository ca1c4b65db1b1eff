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

from segbench.cli.workers import Workers
from segbench.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.figures import Protocol
    from segbench.aggregator.result import Result
    from segbench.cli.progress import Tally
    from segbench.counts import Thresholds

_HERE = Workers()
_WORTH_TELLING = 1.0  # seconds


class Stopped(Exception):  # noqa: N818  a wish of the user's, no error
    """Ctrl-C while images were counted; the text says how far it came."""


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
    fresh: bool = False,
    workers: Workers = _HERE,
    human: bool = False,
    tuning: Mapping[str, Thresholds] | None = None,
) -> list[Result]:
    """Evaluate methods one after another, the images of each spread over workers.

    Raises
    ------
    Stopped
        On Ctrl-C: says how far it came.
    ArgumentError
        If the human point is asked of a protocol that has none.
    DataError
        If a folder does not pair with the ground truth: found before the first image is read.
    """
    from segbench.aggregator.benchmark import FailedImages, evaluate
    from segbench.cli.progress import progress_bar
    from segbench.loaders.inputs import Inputs
    from segbench.loaders.pairing import pair

    where = Inputs(ground_truth=str(ground_truth), field=None if field is None else str(field), **patterns).absolute()
    files = [pair(replace(where, prediction=str(folder.absolute()))).files for folder in methods.values()]
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
    samples = [path for first, *_ in files for path in (*first.ground_truths, first.prediction)]
    results: list[Result] = []
    with (
        workers.open(samples, sum(map(len, files))) as executor,
        warnings.catch_warnings(action="ignore", category=FailedImages),
    ):
        started = time.perf_counter()
        for method, folder, settings in work:
            with progress_bar(method) as tally, _stoppable(method, tally):
                result = evaluate(
                    ground_truth,
                    folder,
                    settings,
                    field=field,
                    **patterns,
                    method=method,
                    results=output,
                    fresh=fresh,
                    executor=executor,
                    thresholds=(tuning or {}).get(method),
                    progress=tally,
                )
            results.append(result)
        _tell_time(time.perf_counter() - started, sum(len(result.counts) + len(result.failed) for result in results))
    return results


@contextmanager
def _stoppable(method: str, tally: Tally) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        done = f"{tally.done} of {tally.total} images" if tally.total else "no image"
        raise Stopped(f"stopped with {done} of {method!r} done") from None


def _tell_time(seconds: float, images: int) -> None:
    if seconds >= _WORTH_TELLING:
        typer.echo(f"{images} images in {seconds:.1f} s, {1000 * seconds / images:.1f} ms an image", err=True)
