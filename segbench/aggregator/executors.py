"""One door for parallelism: any `concurrent.futures.Executor`, a bounded number of tasks in flight."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

IN_FLIGHT = 64
_PAIRS_WORTH_A_PROCESS = 50


def answers(
    executor: Executor | None, function: Callable[[Item], Answer], items: Iterable[Item], *, in_flight: int = IN_FLIGHT
) -> Iterator[Answer]:
    """Give ``function(item)`` for each item, in whatever order answers come.

    Parameters
    ----------
    executor : Executor, optional
        Where to run; None runs here, one after another.
    function : callable
        Picklable when the executor crosses processes.
    items : iterable
        Taken only as fast as they are worked on.
    in_flight : int
        At most so many are handed out at a time.
    """
    if executor is None:
        yield from map(function, items)
        return
    waiting = iter(items)
    running: set[Future[Answer]] = {executor.submit(function, item) for item in islice(waiting, in_flight)}
    try:
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {executor.submit(function, item) for item in islice(waiting, len(done))}
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """Open worker processes that start clean and have the library loaded once."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["segbench.aggregator.tasks", "segbench.protocols.kernels", "PIL.Image"])
    return ProcessPoolExecutor(jobs, context)


def jobs_for(pairs: int, asked: int | None) -> int:
    """Choose a number of workers: what was asked for, else as many cores as the work fills."""
    return asked or max(1, min(os.cpu_count() or 1, pairs // _PAIRS_WORTH_A_PROCESS))
