"""A process for each program under test, watched: how long a call took, how much memory, stopped past a limit."""

from __future__ import annotations

import gc
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

_PAGE = os.sysconf("SC_PAGE_SIZE")
_GIB = 2**30
_LOOK_EVERY = 0.02
_PATIENCE = 120.0


@dataclass(frozen=True)
class Limits:
    """Where a call is stopped: seconds of the call, bytes of the whole process."""

    seconds: float
    memory: int


@dataclass(frozen=True)
class Job:
    """What a worker does; all functions must be importable. Only `work` is timed.

    `load` reads the input from `arguments`, and `values` reduces what `work` answered to numbers.
    """

    load: Callable[..., tuple[Any, ...]]
    arguments: tuple[Any, ...]
    work: Callable[..., Any]
    values: Callable[[Any], list[float]]


@dataclass(frozen=True)
class Measured:
    """Seconds of the call, bytes that it took beyond its input and the libraries, and its answer."""

    seconds: float
    memory: int
    values: list[float]


@dataclass(frozen=True)
class Stopped:
    """Why there is no answer."""

    why: str


class Worker:
    """A process that keeps from one job to the next what it imported, and nothing else."""

    def __init__(self) -> None:
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, job: Job, limits: Limits) -> Measured | Stopped:
        """Have a job done; past a limit the process is killed, and a new one takes its place."""
        self._pipe.send(job)
        for allowed in (_PATIENCE, limits.seconds, _PATIENCE):  # loading, working, reading the answer
            answer = self._wait(allowed, limits.memory)
            if isinstance(answer, Measured | Stopped):
                return answer
        raise AssertionError

    def _wait(self, seconds: float, memory: int) -> object:
        started = time.monotonic()
        why = None
        while why is None and not self._pipe.poll(_LOOK_EVERY):
            if _resident(self._process.pid) > memory:
                why = f"> {memory / _GIB:.0f} GiB"
            elif time.monotonic() - started > seconds:
                why = f"> {seconds:.0f} s"
        if why is None:
            try:
                return self._pipe.recv()
            except EOFError:
                why = "died"
        self._end()
        self._start()
        return Stopped(why)

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, other = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection) -> None:
    """Do jobs until the other end closes."""
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            given = job.load(*job.arguments)
            pipe.send("loaded")
            gc.collect()
            before = _forget_peak()
            started = time.perf_counter()
            answer = job.work(*given)
            taken = time.perf_counter() - started
            memory = _status("VmHWM") - before
            pipe.send("worked")
            pipe.send(Measured(taken, memory, job.values(answer)))
        except MemoryError:
            pipe.send(Stopped("out of memory"))
        except Exception as error:  # noqa: BLE001 - another program's failure is a result
            pipe.send(Stopped(f"{type(error).__name__}: {error}"))
        job = given = answer = None


def _forget_peak() -> int:
    """Set the peak of this process's memory back to what it holds now, and give that, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024


def _resident(pid: int | None) -> int:
    """Give the memory that a process holds, in bytes; 0 once it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
