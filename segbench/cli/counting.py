"""Counting several methods against one ground truth: by which workers, and at thresholds of which tuning set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from segbench.cli.command import Stopped
from segbench.cli.progress import ProgressForm, progress_of
from segbench.cli.selection import tell
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.core.names import MethodRun
from segbench.core.numbers import many, of_all
from segbench.core.settings import option

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol
    from segbench.core.scores import Thresholds
    from segbench.loaders.pairing import Pairing
    from segbench.loaders.reading import Repairs
    from segbench.loaders.source import Source

_WORTH_TELLING = 1.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """How many processes work."""

    jobs: int | None = option(
        "Set the number of worker processes.",
        flag="-j --jobs",
        least=1,
        panel="Workers",
        shown="as many as are useful",
    )


@dataclass(frozen=True, kw_only=True)
class Workers(Jobs):
    """Where images are counted, as given on the command line."""

    dask: str | None = option(
        "Count on a Dask cluster: tcp://HOST:PORT.", metavar="ADDRESS", panel="Workers", rare=True
    )

    def __post_init__(self) -> None:
        if self.dask is not None and self.jobs is not None:
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "-j is for workers on this machine; those of a Dask cluster are started with it",
                )
            )

    @contextmanager
    def open(self, samples: Sequence[Source], images: int) -> Iterator[Executor | None]:
        """Open the workers for this many images, which must read the first; None where they would save no time."""
        from segbench.aggregator.pools import jobs_for, process_pool

        with ExitStack() as stack:
            if self.dask is not None:
                from segbench.aggregator.clusters import dask_pool, first_out_of_sight

                cluster = stack.enter_context(dask_pool(self.dask))
                # What cannot be read here either fails as an image, not as a worker.
                cluster.require_sight(source for source in samples if not first_out_of_sight([source]))
                yield cluster
                return
            jobs = jobs_for(images, self.jobs)
            yield stack.enter_context(process_pool(jobs)) if jobs > 1 else None


def _crisp_pair(protocol: Protocol) -> dict[str, Protocol]:
    """Return the settings with and without suppression and thinning, by the suffix of the method's name."""
    from segbench.core.protocol import Companions

    evaluated: Any = protocol.capability(Companions)  # the option is shown for these protocols alone
    standard, as_predicted = evaluated.crisp_pair()
    if standard == as_predicted:
        raise ArgumentError(
            Message(
                "nothing-to-compare",
                "--crisp compares with suppression or thinning: give {nms}, or leave out {given}",
                nms=Setting("nms", (1, 5, 1.01)),
                given=Setting("thin", False),
            )
        )
    return {"": standard, ", as predicted": as_predicted}


def count_methods(
    pairings: Mapping[MethodRun, Pairing],
    protocol: Protocol,
    *,
    output: Path | None = None,
    fresh: bool = False,
    workers: Workers = Workers(),
    progress: ProgressForm = "auto",
    human: bool = False,
    crisp: bool = False,
    repairs: Repairs | None = None,
    belonging: Mapping[str, str] = MappingProxyType({}),
    tuning: Mapping[MethodRun, Thresholds] | None = None,
) -> list[Result]:
    """Evaluate methods one after another, the images of each spread over workers."""
    from segbench.aggregator.benchmark import FailedImages, evaluate_pairing
    from segbench.aggregator.saving import ReplacedRun
    from segbench.core.protocol import Companions
    from segbench.inputs.files import find_files, for_instances
    from segbench.loaders.listing import forget_listings
    from segbench.loaders.reading import Repairs

    repairs = repairs or Repairs()
    protocol = for_instances(protocol, pairings.values())
    protocol.reads.check_repairs(repairs)
    kinds = _crisp_pair(protocol) if crisp else {"": protocol}
    work = [
        (MethodRun(f"{name.method}{kind}", name.run), pairing.require_complete(), settings, repairs)
        for name, pairing in pairings.items()
        for kind, settings in kinds.items()
    ]
    first = [source for _, pairing, *_ in work for source in pairing.files[0].within(Path.cwd()).sources]
    images = sum(len(pairing.files) for _, pairing, *_ in work)
    if human:
        companions: Any = protocol.capability(Companions)  # as above
        annotators = companions.annotators_alone()
        alone = replace(next(iter(pairings.values())).inputs, prediction=None, column=None)
        work.append((MethodRun("human"), find_files(alone, annotators), annotators, Repairs()))
    forget_listings()  # of very many files they take as much memory as the counts
    protocol.prepare(lambda message: click.echo(message, err=True))  # before workers start, each of which would do it
    with (
        workers.open(first, images) as executor,
        warnings.catch_warnings(action="ignore", category=FailedImages),
    ):
        warnings.simplefilter("always", ReplacedRun)
        warnings.showwarning = lambda warning, *_, **__: tell(*warning.args)
        results: list[Result] = []
        started = time.perf_counter()
        for name, pairing, settings, allowed in work:
            with progress_of(str(name), progress) as tally:
                try:
                    result = evaluate_pairing(
                        pairing,
                        settings,
                        method=name.method,
                        run=name.run,
                        repairs=allowed,
                        results=output,
                        fresh=fresh,
                        executor=executor,
                        belonging=belonging,
                        thresholds=(tuning or {}).get(name),
                        progress=tally,
                    )
                except KeyboardInterrupt:
                    done = of_all(tally.done, tally.total, "image") if tally.total else "no image"
                    raise Stopped(f"stopped with {done} of {str(name)!r} done") from None
            results.append(result)
        total = sum(len(result.counts) + len(result.failed) for result in results)
        _tell_time(time.perf_counter() - started, total, sum(result.reused for result in results))
    return results


def _tell_time(seconds: float, images: int, reused: int) -> None:
    counted = images - reused
    if reused and counted:
        click.echo(f"{many(images, 'image')}: {reused} already counted, {counted} counted in {seconds:.1f} s", err=True)
    elif reused:
        click.echo(f"{many(images, 'image')}: all already counted with the same settings", err=True)
    elif seconds >= _WORTH_TELLING:
        click.echo(f"{many(images, 'image')} in {seconds:.1f} s, {1000 * seconds / images:.1f} ms per image", err=True)


def thresholds_of(
    results: Path, pairings: Mapping[MethodRun, Pairing], protocol: Protocol, repairs: Repairs
) -> dict[MethodRun, Thresholds]:
    """Read each method's thresholds from a run of it on the tuning set, under the settings of this run."""
    from segbench.aggregator.assembling import load_results
    from segbench.aggregator.records import without_selection
    from segbench.aggregator.tuning import tuned_thresholds
    from segbench.core.protocol import Pooling

    if protocol.capability(Pooling) is None:
        raise ArgumentError(
            Message(
                "not-of-protocol",
                "a tuning set gives thresholds of scores, which only the pixels protocol takes",
                protocol=protocol.name,
            )
        )
    settings = protocol.settings_as_text | repairs.signature_fields()
    of_set = {"field", "subset", "missing", *protocol.measuring_settings()}  # a tuning set may be any images
    settings = without_selection(settings, *of_set)
    masked = any("field" in pairing.signature_fields() for pairing in pairings.values())
    runs = {
        MethodRun(run.method, run.run): run
        for run in load_results(results)
        if without_selection(run.settings, *of_set) == settings and ("field" in run.settings) == masked
    }
    missing = [method for method in pairings if method not in runs]
    if missing:
        raise ArgumentError(
            Message(
                "no-tuning-run",
                "{path} holds no run of {missing} under the settings of this one (with them: {found}); "
                "name methods as there, as in NAME=FOLDER, and tune with the same options, --field among them",
                path=str(results),
                missing=list(map(str, missing)),
                found=list(map(str, runs)) or ["none"],
            )
        )
    return {method: tuned_thresholds(runs[method]) for method in pairings}
