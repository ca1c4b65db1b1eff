"""What the benchmarks share: times taken in turn, medians, ratios, and what they were taken on."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

GIB = 2**30
MIB = 2**20


class Paired(NamedTuple):
    """Medians of our seconds, the other's, and of their ratio pair by pair."""

    ours: float
    other: float
    ratio: float


def seconds(function: Callable[[], object]) -> float:
    """Time one call."""
    gc.collect()
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def paired(ours: Callable[[], object], other: Callable[[], object], rounds: int) -> Paired:
    """Time two calls in turn, so that a busy machine disturbs both alike; the ratio is ours over the other's."""
    pairs = [(seconds(ours), seconds(other)) for _ in range(rounds)]
    return Paired(
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def median_seconds(function: Callable[[], object], rounds: int) -> float:
    """Time a call several times."""
    return statistics.median(seconds(function) for _ in range(rounds))


def processor_seconds(function: Callable[[], object]) -> float:
    """Take the processor time of one call in this process, which others on the machine lengthen little."""
    gc.collect()
    started = time.process_time()
    function()
    return time.process_time() - started


def in_turn(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Take the processor time of several calls round by round, each once a round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, function in ways.items():
            taken[name].append(processor_seconds(function))
    return taken


def times_as_long(other: Sequence[float], ours: Sequence[float]) -> float:
    """Return the median over the rounds that both took part in of how many times as long the other took."""
    return statistics.median(b / a for a, b in zip(ours, other, strict=False))


def hardware() -> str:
    """Describe the machine: processor, cores, memory."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return f"{os.cpu_count()} cores ({models[0] if models else platform.machine()}), {memory:.0f} GiB"


def machine() -> str:
    """Describe the machine and how busy it is."""
    return f"{hardware()}, load average {os.getloadavg()[0]:.1f}"


def versions(packages: Iterable[str]) -> str:
    """List Python's version, and those of the packages that are installed."""
    texts = [f"Python {sys.version.split()[0]}"]
    for package in packages:
        try:
            texts.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(texts)


def today() -> str:
    """Return the day and the minute, UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay a table out as Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def duration(taken: float) -> str:
    """Write seconds with two or three digits: ``12 s``, ``1.2 s``, ``120 ms``, ``1.2 ms``."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        value = taken * scale
        if value >= 1 or unit == "ms":
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.2g} {unit}"
    raise AssertionError


def factor(ratio: float) -> str:
    """Write a ratio with two or three digits."""
    return f"{ratio:.0f} x" if ratio >= 10 else f"{ratio:.1f} x" if ratio >= 1 else f"{ratio:.2f} x"
