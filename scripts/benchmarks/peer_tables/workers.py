"""A process for each program under test, on one core, watched: time and memory of a call, stopped past a limit.

Processor time is that of all threads together: others on the machine lengthen it little.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from measuring import GIB

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_EVERY = 0.02
_PATIENCE = 900
_REPEATED_FOR = 0.3
_MOST_REPEATS = 50


@dataclass(frozen=True)
class Limits:
    """Where a call is stopped: processor seconds of the call, bytes of the whole process."""

    seconds: float
    memory: int


@dataclass(frozen=True)
class Job:
    """What a worker does; all functions must be importable. Only `work` is timed.

    `load` reads the input from `arguments`, and `values` reduces what `work` answered to numbers. The call is made at
    least `calls` times, and again for a third of a second; only once with 0.
    """

    load: Callable[..., tuple[Any, ...]]
    arguments: tuple[Any, ...]
    work: Callable[..., Any]
    values: Callable[[Any], list[float]]
    calls: int = 0


@dataclass(frozen=True)
class Measured:
    """Seconds of the fastest call, bytes that the first took beyond its input and the libraries, and its answer.

    `first` are the processor seconds of the first call.
    """

    processor: float
    wall: float
    first: float
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
        while not isinstance(answer := self._wait(limits), Measured | Stopped):
            pass  # loaded, or worked: the limit is of each step
        return answer

    def _wait(self, limits: Limits) -> object:
        """Wait for the next that the worker says."""
        started, why, end = _processor_seconds(self._process.pid), None, time.monotonic() + _PATIENCE
        while why is None and not self._pipe.poll(_LOOK_EVERY):
            if _resident(self._process.pid) > limits.memory:
                why = f"> {limits.memory / GIB:.0f} GiB"
            elif _processor_seconds(self._process.pid) - started > limits.seconds:
                why = f"> {limits.seconds:.0f} s"
            elif time.monotonic() > end:
                why = f"> {_PATIENCE} s of waiting"
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
    """Do jobs until the other end closes, on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            inputs = job.load(*job.arguments)
            pipe.send("loaded")
            before = _forget_peak()
            answer, *first = _timed(job.work, inputs)
            memory = _status("VmHWM") - before
            taken = [first]
            pipe.send("worked")
            values = job.values(answer)
            answer = None  # so that its memory is there for the next call
            while len(taken) < job.calls or (
                job.calls and len(taken) < _MOST_REPEATS and sum(wall for _, wall in taken) < _REPEATED_FOR
            ):
                taken.append(_timed(job.work, inputs)[1:])
                pipe.send("worked")
            least = (min(times) for times in zip(*taken, strict=True))
            pipe.send(Measured(*least, first[0], memory, values))
        except MemoryError:
            pipe.send(Stopped("out of memory"))
        except Exception as error:  # noqa: BLE001 - another program's failure is a result
            pipe.send(Stopped(f"{type(error).__name__}: {error}"))
        job = inputs = answer = None


def _timed(work: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Any, float, float]:
    """Call once; return the answer, the processor's seconds and those of the clock."""
    started, clock = time.process_time(), time.perf_counter()
    answer = work(*inputs)
    return answer, time.process_time() - started, time.perf_counter() - clock


def _forget_peak() -> int:
    """Free unused memory, set the peak to what this process holds now, and return that, in bytes."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024


def _processor_seconds(pid: int | None) -> float:
    """Return the processor time that a process has taken; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _resident(pid: int | None) -> int:
    """Return the memory that a process holds, in bytes; 0 once it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
