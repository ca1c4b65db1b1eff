"""What must hold of any data, shown on the demo data: workers and order do not matter, and perfect is 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

from segbench.aggregator.benchmark import evaluate
from segbench.aggregator.pools import ThreadPool
from segbench.aggregator.result import Result
from segbench.core.protocol import Protocol
from segbench.loaders.presets import shipped
from segbench.protocols.boundaries.settings import Boundaries
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.regions.settings import Regions
from segbench.verification.checks import Check, Part, Progress, timed
from segbench.verification.figures import figure_name
from segbench.verification.runs import whole
from segbench.verification.theorems import theorem_groups

TITLE = "What must hold of any data, on the demo's"


@dataclass(frozen=True)
class _Job:
    """One run of the demo data under a protocol."""

    name: str
    task: str
    prediction: str
    protocol: Protocol
    gt_pattern: str = "*"
    pred_pattern: str = "*"

    def run(self, executor: Executor | None = None) -> Result:
        folder = shipped("demo") / self.task
        result = evaluate(
            folder / "ground_truth",
            folder / self.prediction,
            self.protocol,
            gt_pattern=self.gt_pattern,
            pred_pattern=self.pred_pattern,
            executor=executor,
        )
        return whole(result)


RUNS = (
    _Job("pixels", "objects", "predictions/soft_otsu", Pixels()),
    _Job("boundaries", "edges", "predictions/gradient", Boundaries(), "*.#"),
    # Any image of whole numbers is a label map: here each grey level is a region.
    _Job("regions", "objects", "predictions/border_colours", Regions()),
)
"""The runs that other workers and orders must not change."""

_PERFECT: tuple[tuple[_Job, Mapping[str, float]], ...] = (
    (
        _Job("pixels", "objects", "ground_truth", Pixels()),
        {"ods_f": 1, "iou": 1, "mean_image_f": 1},
    ),
    (
        _Job("boundaries", "edges", "ground_truth", Boundaries(thresholds=1, thin=False), "*.1", "*.1"),
        {"ods_f": 1, "ois_f": 1},
    ),
    (_Job("regions", "objects", "ground_truth", Regions()), {"covering_ods": 1, "pri_ods": 1, "voi_ods": 0}),
)


def identities_part() -> Part:
    """Give the part."""
    return Part(TITLE, _derive)


def _derive(executor: Executor | None, progress: Progress) -> Sequence[Check]:
    groups: list[Callable[[], Iterator[Check]]] = [
        *(partial(_any_workers, job, executor) for job in RUNS),
        _perfect,
        *theorem_groups(TITLE),
    ]
    checks = []
    for done, group in enumerate(groups, start=1):
        checks += timed(group)
        progress(done, len(groups))
    return checks


def _any_workers(job: _Job, executor: Executor | None) -> Iterator[Check]:
    """Count here and by workers, and add up in several orders and groups: bit for bit the same."""
    with nullcontext(executor) if executor is not None else ThreadPool(2) as workers:
        alone, shared = job.run(), job.run(workers)
    every = list(alone.counts.values())
    halves = every[0::2], every[1::2]
    pool = alone.rules.counts.sum
    sums = [
        pool(every[::-1]),
        reduce(add, every),
        pool([pool(half) for half in halves]),
        pool(halves[1]) + pool(halves[0]),
    ]
    backwards = alone.rules.table(dict(reversed(list(alone.counts.items())))).summary()
    differing = {
        "images": sum(alone.counts[name] != shared.counts[name] for name in alone.counts),
        "figures": _differing(alone.summary, shared.summary),
        "sums in other orders": sum(one != pool(every) for one in sums),
        "figures in reverse order": _differing(alone.summary, backwards),
    }
    for what, number in differing.items():
        yield Check(
            part=TITLE,
            group=f"what differs with other workers and splits: {job.name}",
            what=what,
            expected=0,
            got=number,
            allowed=0,
            source="counts add",
        )


def _differing(one: Mapping[str, float], other: Mapping[str, float]) -> int:
    return sum(one[key] != other[key] and not (math.isnan(one[key]) and math.isnan(other[key])) for key in one)


def _perfect() -> Iterator[Check]:
    for job, figures in _PERFECT:
        summary = job.run().summary
        for key, value in figures.items():
            yield Check(
                part=TITLE,
                group="ground truth as its own prediction",
                what=f"{job.name}: {figure_name(key)}",
                expected=value,
                got=summary[key],
                allowed=0,
                source="definition",
            )
