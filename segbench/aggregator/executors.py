"""The one entry point for parallelism: any `concurrent.futures.Executor`, few tasks in flight, lost workers replaced.

A worker that dies takes every task in flight with it, and which image killed it is not known. So what was lost is tried
again batch by batch, each alone, and a batch that kills its worker alone image by image: an image is blamed only when
nothing else was running.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from itertools import islice
from typing import Generic, TypeVar

from segbench.core.errors import WorkerError
from segbench.core.interface import carried, setting

Item = TypeVar("Item")
Answer = TypeVar("Answer")

IN_FLIGHT = 64
_IN_FLIGHT_A_WORKER = 4
_LOST_IN_A_ROW = 16


def answers(
    executor: Executor | None,
    function: Callable[[Sequence[Item]], list[Answer]],
    batches: Iterable[Sequence[Item]],
    *,
    lost: Callable[[Item], Answer],
    in_flight: int | None = None,
) -> Iterator[list[Answer]]:
    """Give ``function(batch)`` for each batch, in whatever order answers come."""
    if executor is None:
        yield from map(function, batches)
        return
    bound = in_flight or workers_of(executor) * _IN_FLIGHT_A_WORKER or IN_FLIGHT
    try:
        yield from _Spread(executor, carried(function), lost).answers(iter(batches), bound)
    except CancelledError as error:
        raise WorkerError("the executor was closed, or its cluster is gone; what was counted is kept") from error


def workers_of(executor: Executor | None) -> int:
    """Give the number of workers; 0 where the executor does not say it (mpi4py calls it ``num_workers``)."""
    return int(getattr(executor, "workers", 0) or getattr(executor, "num_workers", 0))


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
                "a worker died, and this executor accepts no more work; what was counted is kept; "
                "segbench.process_pool() gives an executor that replaces its workers"
            ) from error
        answer = _answer_of(future)
        if answer is not None:
            self._lost_in_a_row = 0
            yield answer
        elif len(batch) > 1:
            for item in batch:
                yield from self._alone([item])
        else:
            self._lost_in_a_row += 1
            if self._lost_in_a_row == _LOST_IN_A_ROW:
                raise WorkerError(
                    f"{_LOST_IN_A_ROW} images in a row killed their worker, so the images are probably not the cause; "
                    f"check memory limits, or count {setting('with -j 1', 'without an executor')} to see the error"
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
