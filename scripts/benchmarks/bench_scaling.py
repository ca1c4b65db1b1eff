"""One worker, two processes, two threads, Dask with two processes: times side by side, and what handing out costs.

The limit is two programs that each evaluate half of the images: what this machine's second core adds.

    python scripts/benchmarks/bench_scaling.py [--images 400] [--rounds 5] [--no-dask]

For pixels (8-bit PNGs of 481x321) and boundaries (the same, 99 thresholds): medians over rounds in which every way is
taken once, in turn, with workers already warm, and the ratio of the best times, which a busy machine disturbs less.
Then what the scheduler costs an image: a function that returns at once, spread over the same workers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
from image_pairs import write_curves
from measuring import seconds

import segbench
from segbench.aggregator.executors import answers
from segbench.aggregator.pools import cores, process_pool
from segbench.aggregator.records import Outcome
from segbench.core.protocol import Protocol
from segbench.loaders.listing import SampleFiles
from segbench.loaders.pairing import Inputs, pair
from segbench.protocols.boundaries.counting import compile_kernels

SHAPE = (321, 481)
ALONE, LIMIT = "one process", "two programs"
HALVES = ("first", "second")


def evaluate(folder: Path, protocol: Protocol, executor: Executor | None = None) -> None:
    """Evaluate the images of a folder, and give nothing back."""
    segbench.evaluate(folder / "gt", folder / "pred", protocol, executor=executor)


def compare(folder: Path, protocol: Protocol, ways: dict[str, Executor | None], *, rounds: int, images: int) -> None:
    """Take every way in turn, and print medians and ratios."""

    def programs(executor: Executor) -> None:
        for half in [executor.submit(evaluate, folder / name, protocol) for name in HALVES]:
            half.result()

    runs = {name: partial(evaluate, folder, protocol, executor) for name, executor in ways.items()}
    runs[LIMIT] = partial(programs, ways["two processes"])
    for run in runs.values():
        run()
    times = [{name: seconds(run) for name, run in runs.items()} for _ in range(rounds)]
    for name in runs:
        took = statistics.median(row[name] for row in times)
        ratio = statistics.median(row[ALONE] / row[name] for row in times)
        print(
            f"{protocol.name:<11} {name:<14} {1e3 * took / images:7.2f} ms per image   {ratio:5.2f} x one process",
            flush=True,
        )


def halve(folder: Path) -> None:
    """Link every other image into a folder of its own."""
    for start, name in enumerate(HALVES):
        for kind in ("gt", "pred"):
            (folder / name / kind).mkdir(parents=True)
            for file in sorted((folder / kind).iterdir())[start::2]:
                os.link(file, folder / name / kind / file.name)


def answer_at_once(tasks: list[SampleFiles]) -> list[Outcome]:
    """Stand in for counting: answer with as much as an image of 256 levels comes to."""
    return [Outcome(task.name, bytes(64), bytes(1500)) for task in tasks]


def overhead(folder: Path, ways: dict[str, Executor | None], images: int, rounds: int) -> None:
    """Print what handing out an image and taking its answer costs, alone and in batches as a run makes them."""
    files = pair(Inputs(ground_truth=str(folder / "gt"), prediction=str(folder / "pred"))).files
    tasks = list(files) * max(1, 4000 // images)
    for size in (1, 16):
        batches = [tasks[start : start + size] for start in range(0, len(tasks), size)]
        for name, executor in ways.items():

            def spread(way: Executor | None = executor, work: list[list[SampleFiles]] = batches) -> None:
                for _ in answers(way, answer_at_once, work, lost=lambda task: Outcome(task.name)):
                    pass

            took = statistics.median(seconds(spread) for _ in range(rounds))
            print(f"overhead    {name:<14} {1e3 * took / len(tasks):7.3f} ms per image   batches of {size}", flush=True)


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-dask", action="store_true")
    options = parser.parse_args()
    compile_kernels()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        write_curves(folder, options.images, SHAPE)
        halve(folder)
        ways: dict[str, Executor | None] = {
            ALONE: None,
            "two processes": stack.enter_context(process_pool(2)),
            "two threads": stack.enter_context(ThreadPoolExecutor(2)),
        }
        if not options.no_dask:
            from distributed import LocalCluster

            cluster = stack.enter_context(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
            ways["Dask, two"] = stack.enter_context(segbench.dask_pool(cluster.scheduler_address))
        compare(folder, segbench.Pixels(), ways, rounds=options.rounds, images=options.images)
        compare(folder, segbench.Boundaries(), ways, rounds=options.rounds, images=options.images)
        overhead(folder, ways, options.images, options.rounds)
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, {cores()} cores")


if __name__ == "__main__":
    main()
