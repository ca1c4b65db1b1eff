"""The loop over images: those known are looked up, the others counted, a few at a time, here or by workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import islice

from segbench.aggregator.executors import answers, workers_of
from segbench.aggregator.tasks import Outcome, Task, count_images
from segbench.core.protocol import Protocol
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import Repairs

_IMAGES_A_BATCH = 16
_BATCHES_A_WORKER = 16
_WORKERS_GUESSED = 4


def count_all(
    protocol: Protocol,
    repairs: Repairs,
    files: Sequence[SampleFiles],
    known: Mapping[str, Outcome],
    executor: Executor | None,
) -> Iterator[list[Outcome]]:
    """Give what comes of each image, in batches, in whatever order they are done."""
    batches_wanted = _BATCHES_A_WORKER * (workers_of(executor) or _WORKERS_GUESSED)
    size = max(1, min(_IMAGES_A_BATCH, len(files) // batches_wanted))
    tasks = (Task(one, known[one.name].digest if one.name in known else None) for one in files)
    for batch in answers(executor, partial(count_images, protocol, repairs), _batched(tasks, size), lost=_worker_died):
        yield [outcome if outcome.counts or outcome.failure else known[outcome.name] for outcome in batch]


def _batched(tasks: Iterator[Task], size: int) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, size)):
        yield batch


def _worker_died(task: Task) -> Outcome:
    what = "the worker died while counting it, twice; it may want more memory than there is"
    return Outcome(task.files.name, failure=f"{task.files.name}: {what}")
