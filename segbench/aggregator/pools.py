"""Worker processes that segbench starts itself; `segbench.aggregator.executors` hands images out to them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import Any

from segbench.aggregator.executors import IN_A_SCRIPT
from segbench.core.errors import WorkerError
from segbench.core.messages import Message
from segbench.core.settings import as_whole

_PAIRS_WORTH_A_PROCESS = 50


class ProcessPool(Executor):
    """Worker processes that start clean, are replaced when one dies, and end when their parent does."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._context = _context()
        self._watched_end, self._held_end = self._context.Pipe(duplex=False)
        self._pool = self._open()
        self._started = False

    def _open(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, self._context, initializer=_live_as_long_as, initargs=(self._watched_end,)
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401  as Executor
        """Hand out a call; where the pool lost a worker, to a new one."""
        if not self._started:
            self._require_start()
        try:
            return self._hand_out(fn, *args, **kwargs)
        except BrokenExecutor:
            self._pool.shutdown()
            self._pool = self._open()
            return self._hand_out(fn, *args, **kwargs)

    def _hand_out(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401  as Executor
        with ctrl_c_deferred():  # a call may start a worker, which fails if it gets only half of what it needs
            return self._pool.submit(fn, *args, **kwargs)

    def _require_start(self) -> None:
        """See that a worker lives: one that cannot start would be taken for one that an image killed."""
        try:
            self._hand_out(os.getpid).result()
        except BrokenExecutor as error:
            raise WorkerError(
                Message(
                    "workers-died",
                    "worker processes ended before they began; {in_a_script}",
                    in_a_script=IN_A_SCRIPT,
                )
            ) from error
        self._started = True

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  as Executor
        """End the workers once they are done."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Shut the workers down; at once where something went wrong or was interrupted."""
        if error_type is not None:
            self._held_end.close()  # which stops workers in the middle of an image; closing it again does nothing
        self._pool.shutdown(cancel_futures=error_type is not None)
        self._held_end.close()
        self._watched_end.close()


def process_pool(workers: int | None = None) -> ProcessPool:
    """Open worker processes to count with; use it in a ``with`` statement.

    Parameters
    ----------
    workers : int, optional
        How many; by default as many as there are cores.

    Returns
    -------
    ProcessPool
        A `concurrent.futures.Executor`. Where a worker dies, for instance for lack of memory, others take its place.

    Raises
    ------
    ArgumentError
        If `workers` is not a whole number of at least 1.

    Examples
    --------
    >>> import segbench
    >>> with segbench.process_pool(2) as pool:
    ...     pool.submit(abs, -1).result()
    1
    """
    return ProcessPool(cores() if workers is None else as_whole(workers, "workers", least=1))


def _context() -> BaseContext:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["segbench.aggregator.preloaded"])
    with ctrl_c_left_to_parent():
        forkserver.ensure_running()
    return context


@contextmanager
def ctrl_c_left_to_parent() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, from their first line on; here it waits for the end of the block."""
    with ctrl_c_deferred():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        signal_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})  # which processes and threads inherit
        resource_tracker.ensure_running()  # whatever starts it unblocks SIGINT
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, signal_mask)


@contextmanager
def ctrl_c_deferred() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait for the end of the block; do nothing in other threads, which they never interrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [
        signal.signal(signal_number, lambda number, _frame: received.append(number)) for signal_number in numbers
    ]
    try:
        yield
    finally:
        for signal_number, handler in zip(numbers, handlers, strict=True):
            signal.signal(signal_number, handler)
        for number in received:
            signal.raise_signal(number)


def _live_as_long_as(lifeline: Connection) -> None:
    """Leave Ctrl-C to the parent, and end when it closes its end of the line, or is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def jobs_for(pairs: int, jobs: int | None) -> int:
    """Choose a number of workers: `jobs`, else as many cores as the work fills."""
    return jobs or max(1, min(cores(), pairs // _PAIRS_WORTH_A_PROCESS))


def cores() -> int:
    """Count the cores this process may use, which a batch system may have narrowed."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
