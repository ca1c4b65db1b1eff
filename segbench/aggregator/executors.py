"""Images are counted a few at a time, here or by the workers of any `concurrent.futures.Executor`.

A worker reads an image's files once, counts them, and answers with an `Outcome` of a few hundred bytes.

A worker that dies takes every task in flight with it, and which image killed it is not known. So what was lost is tried
again batch by batch, each alone, and a batch that kills its worker alone image by image: an image is blamed only when
nothing else was running.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from segbench.aggregator.codec import encode
from segbench.aggregator.records import Outcome
from segbench.core.arrays import keep_freed_memory
from segbench.core.errors import DataError, Failure, WorkerError
from segbench.core.messages import Either, Message
from segbench.core.protocol import Protocol
from segbench.inputs.nodata import count_decoded, decode_for
from segbench.loaders.listing import SampleFiles
from segbench.loaders.reading import Repairs, read

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_IN_FLIGHT = 64
_IN_FLIGHT_A_WORKER = 4
_LOST_IN_A_ROW = 16


def answers(
    executor: Executor | None,
    function: Callable[[Sequence[Item]], list[Answer]],
    batches: Iterable[Sequence[Item]],
    *,
    lost: Callable[[Item], Answer],
) -> Iterator[list[Answer]]:
    """Yield ``function(batch)`` for each batch, as soon as it is computed, in any order."""
    if executor is None:
        yield from map(function, batches)
        return
    bound = workers_of(executor) * _IN_FLIGHT_A_WORKER or _IN_FLIGHT
    try:
        yield from _Spread(executor, function, lost).answers(iter(batches), bound)
    except CancelledError as error:
        raise WorkerError(
            Message("executor-closed", "the executor was closed, or its cluster is gone; what was counted is kept")
        ) from error


def workers_of(executor: Executor | None) -> int:
    """Return the number of workers; 0 if the executor does not tell (mpi4py calls it ``num_workers``)."""
    return int(getattr(executor, "workers", 0) or getattr(executor, "num_workers", 0))


IN_A_SCRIPT = (
    "in a script, the lines that start workers must be under if __name__ == '__main__':, because each worker runs the "
    "script first"
)


class _Spread(Generic[Item, Answer]):
    """Batches spread over workers, with those that were in flight when a worker died."""

    def __init__(
        self,
        executor: Executor,
        function: Callable[[Sequence[Item]], list[Answer]],
        lost: Callable[[Item], Answer],
    ) -> None:
        self._executor, self._function, self._lost = executor, function, lost
        self._running: dict[Future[list[Answer]], Sequence[Item]] = {}
        self._suspects: list[Sequence[Item]] = []
        self._lost_in_a_row = 0

    def answers(self, waiting: Iterator[Sequence[Item]], bound: int) -> Iterator[list[Answer]]:
        try:
            while True:
                for batch in islice(waiting, bound - len(self._running)):
                    self._hand_out(batch)
                if not self._running and not self._suspects:
                    return
                yield from self._done()
                if self._suspects:
                    while self._running:
                        yield from self._done()
                    while self._suspects:
                        yield from self._alone(self._suspects.pop())
        finally:
            for future in self._running:
                future.cancel()

    def _hand_out(self, batch: Sequence[Item]) -> None:
        try:
            self._running[self._executor.submit(self._function, batch)] = batch
        except BrokenExecutor:
            self._suspects.append(batch)  # it broke since the last answer

    def _done(self) -> Iterator[list[Answer]]:
        for future in wait(self._running, return_when=FIRST_COMPLETED).done:
            batch = self._running.pop(future)
            answer = _answer_of(future)
            if answer is None:
                self._suspects.append(batch)
            else:
                yield answer

    def _alone(self, batch: Sequence[Item]) -> Iterator[list[Answer]]:
        """Try a batch while nothing else is running, then its images one by one."""
        try:
            future = self._executor.submit(self._function, batch)
        except BrokenExecutor as error:
            raise WorkerError(
                Message(
                    "executor-broken",
                    "a worker died, and this executor accepts no more work; what was counted is kept; "
                    "segbench.process_pool() gives an executor that replaces its workers; {in_a_script}",
                    in_a_script=IN_A_SCRIPT,
                )
            ) from error
        answer = _answer_of(future)
        if answer is not None:
            self._lost_in_a_row = 0
            yield answer
        elif len(batch) > 1:
            for image in batch:
                yield from self._alone([image])
        else:
            self._lost_in_a_row += 1
            if self._lost_in_a_row == _LOST_IN_A_ROW:
                raise WorkerError(
                    Message(
                        "workers-died",
                        "{images} images in a row killed their worker, so the images are probably not the cause; "
                        "check memory limits, or count {alone} to see the error",
                        images=_LOST_IN_A_ROW,
                        alone=Either("without an executor", "with -j 1"),
                    )
                )
            yield [self._lost(batch[0])]


def _answer_of(future: Future[list[Answer]]) -> list[Answer] | None:
    """Wait for an answer; None where the worker died."""
    try:
        return future.result()
    except Exception as error:
        distributed = sys.modules.get("distributed")
        if isinstance(error, BrokenExecutor) or (distributed and isinstance(error, distributed.KilledWorker)):
            return None
        raise


_IMAGES_A_BATCH = 16
_BATCHES_A_WORKER = 16
_FEWER = 4  # times fewer batches, and as much larger, where handing one out takes milliseconds
_WORKERS_GUESSED = 4

Task = tuple[SampleFiles, str | None]
"""One image to count, and the digest of its files when they were counted before."""


def count_all(
    protocol: Protocol,
    repairs: Repairs,
    files: Sequence[SampleFiles],
    known: Callable[[str], str | None],
    executor: Executor | None,
) -> Iterator[list[Outcome]]:
    """Count images and yield their outcomes in batches, in any order; `known` returns the stored digest of a name."""
    larger = _FEWER if getattr(executor, "slow_to_hand_out", False) else 1
    workers = workers_of(executor) or _WORKERS_GUESSED
    rounds = max(_BATCHES_A_WORKER // larger, math.ceil(len(files) / (_IMAGES_A_BATCH * larger * workers)))
    size = math.ceil(len(files) / (rounds * workers))  # the same for all, so that workers finish together
    here = Path.cwd()  # which workers need not share
    tasks = ((image.within(here), known(image.name)) for image in files)
    batches = iter(lambda: list(islice(tasks, size)), [])
    yield from answers(executor, partial(count_images, protocol, repairs), batches, lost=_worker_died)


def _worker_died(task: Task) -> Outcome:
    name = task[0].name
    problem = Message("worker-died", "the worker process died twice while counting it")
    hint = Message("more-memory", "it may need more memory than is available")
    return Outcome(name, failure=Failure(name, problem, hint))


def count_images(protocol: Protocol, repairs: Repairs, tasks: Sequence[Task]) -> list[Outcome]:
    """Count a few images; what is wrong with one does not touch the others."""
    keep_freed_memory()
    with np.errstate(invalid="ignore"):  # a signalling NaN would warn wherever it is read, and is found like any other
        outcomes = [_count_image(protocol, repairs, files, known) for files, known in tasks]
    shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}  # once in the answer, and in the memory of the parent
    return [
        outcome._replace(
            facts=shared.setdefault(outcome.facts, outcome.facts), notes=shared.setdefault(outcome.notes, outcome.notes)
        )
        for outcome in outcomes
    ]


def _count_image(protocol: Protocol, repairs: Repairs, files: SampleFiles, known: str | None) -> Outcome:
    started = time.perf_counter()
    name = files.name
    try:
        raw = read(files)
        truth_digest, digest = raw.digests()
        if digest == known:
            return Outcome(name, digest, truth_digest)
        sample = decode_for(protocol, raw, repairs)
        image = count_decoded(protocol, sample)
        return Outcome(
            name,
            digest,
            truth_digest,
            encode(image.counts),
            image.facts,
            notes=(*sample.notes, *image.notes),
            seconds=time.perf_counter() - started,
        )
    except DataError as error:
        return Outcome(name, failure=error.failure)
    except Exception as error:  # noqa: BLE001  one image's trouble, foreseen or not, must not lose the others
        problem = Message("unexpected", "{error}: {reason}", error=type(error).__name__, reason=str(error))
        return Outcome(name, failure=Failure(name, problem))
