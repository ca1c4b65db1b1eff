"""The loop over images: those known are looked up, the others counted, a few at a time, here or by workers.

A worker reads an image's files once, counts them, and answers with an `Outcome` of a few hundred bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from segbench.aggregator.codec import encode
from segbench.aggregator.executors import answers, workers_of
from segbench.aggregator.records import Outcome, joined
from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.load import decode_sample, keep_freed_memory, read
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import Repairs

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
    known: Mapping[str, Outcome],
    executor: Executor | None,
) -> Iterator[list[Outcome]]:
    """Give what comes of each image, in batches, in whatever order they are done."""
    larger = _FEWER if getattr(executor, "slow_to_hand_out", False) else 1
    workers = workers_of(executor) or _WORKERS_GUESSED
    rounds = max(_BATCHES_A_WORKER // larger, math.ceil(len(files) / (_IMAGES_A_BATCH * larger * workers)))
    size = math.ceil(len(files) / (rounds * workers))  # the same for all, so that workers finish together
    here = Path.cwd()  # which workers need not share
    tasks = ((one.within(here), known[one.name].digest if one.name in known else None) for one in files)
    names = {one.name: one.name for one in files}  # once in memory
    for batch in answers(executor, partial(count_images, protocol, repairs), _batched(tasks, size), lost=_worker_died):
        yield [
            replace(outcome, name=names[outcome.name]) if outcome.counts or outcome.failure else known[outcome.name]
            for outcome in batch
        ]


def _batched(tasks: Iterator[Task], size: int) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, size)):
        yield batch


def _worker_died(task: Task) -> Outcome:
    name = task[0].name
    what = "the worker process died twice while counting it; it may need more memory than is available"
    return Outcome(name, failure=f"{name}: {what}")


def count_images(protocol: Protocol, repairs: Repairs, tasks: Sequence[Task]) -> list[Outcome]:
    """Count a few images; what is wrong with one does not touch the others."""
    keep_freed_memory()
    with np.errstate(invalid="ignore"):  # a signalling NaN would warn wherever it is read, and is found like any other
        outcomes = [_count_image(protocol, repairs, files, known) for files, known in tasks]
    same: dict[tuple[float, ...], tuple[float, ...]] = {}  # once in the answer, and in the memory of the parent
    return [replace(one, facts=same.setdefault(one.facts, one.facts)) for one in outcomes]


def _count_image(protocol: Protocol, repairs: Repairs, files: SampleFiles, known: str | None) -> Outcome:
    started = time.perf_counter()
    name = files.name
    try:
        raw = read(files)
        ground_truth_digest, digest = raw.digests()
        digests = joined(digest, ground_truth_digest)
        if digest == known:
            return Outcome(name, digests)
        sample = decode_sample(raw, protocol.reads, repairs)
        image = protocol.count(sample)
        return Outcome(
            name,
            digests,
            encode(image.counts),
            image.facts,
            notes=(*sample.notes, *image.notes),
            seconds=time.perf_counter() - started,
        )
    except DataError as error:
        return Outcome(name, failure=str(error))
    except Exception as error:  # noqa: BLE001  one image's trouble, foreseen or not, must not lose the others
        return Outcome(name, failure=f"{name}: {type(error).__name__}: {error}")
