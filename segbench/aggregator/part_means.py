"""The protocol of a mean over the parts of a result, such as groups of images or classes, or over runs.

Its tables are `segbench.core.part_means.PartMeans` and those of `segbench.statistics.means`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from segbench.core.metric import Metric
from segbench.core.part_means import PartMeans, singular
from segbench.core.protocol import Capability, Counted, Protocol
from segbench.core.sample import Sample
from segbench.core.table import Table
from segbench.inputs.class_names import in_no_mean
from segbench.statistics.means import GroupMeans, RunMeans


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOverParts(Protocol):
    """A protocol whose scores are means over the `parts` of a whole: results by name, called `plural`.

    The protocol of the whole, `inner`, counts.

    Where parts are groups, each image `is_in_one` of them, and measured in its own; otherwise it is in every part.
    """

    inner: Protocol
    parts: Mapping[str, Any] = field(repr=False)
    plural: str
    is_in_one: bool

    def __post_init__(self) -> None:
        for name in ("name", "title", "reads", "counts"):
            object.__setattr__(self, name, getattr(self._first.rules, name))

    @property
    def _first(self) -> Any:  # noqa: ANN401  a result
        """The first part."""
        return next(iter(self.parts.values()))

    @property
    def meant(self) -> dict[str, Any]:
        """The parts that the mean is over: with images, and no background."""
        return {name: part for name, part in self.parts.items() if part.counts and not in_no_mean(part.settings)}

    def signature_fields(self) -> dict[str, str]:
        """Return the settings of the protocol, and over how many parts the mean is."""
        number = len(self.meant)
        noun = singular(self.plural) if number == 1 else self.plural
        return self.inner.settings_as_text | {"mean": f"{number} {noun}"}

    def measuring_settings(self) -> frozenset[str]:
        """Return the settings of measuring of the protocol."""
        return self.inner.measuring_settings()

    def with_settings(self, **settings: Any) -> Self:  # noqa: ANN401  values of fields
        """Return the mean over the same parts measured with other settings."""
        parts = {name: part.with_settings(**settings) for name, part in self.parts.items()}
        return replace(self, inner=self.inner.with_settings(**settings), parts=parts)

    def metrics(self) -> tuple[Metric, ...]:
        """Return the scores; thresholds and totals have no mean."""
        scores = (metric for metric in self._first.metrics if metric.kind == "score" and metric.key)
        return tuple(replace(metric, mean_over_images=False) for metric in scores)

    def count(self, sample: Sample) -> Counted:
        """Count an image as the protocol does."""
        return self.inner.count(sample)

    def table(self, per_image: Mapping[str, Any]) -> Table:
        """Return the means, or of a single image of groups the table that its group measures it by."""
        meant = self.meant
        images = [len(part.counts) for part in meant.values()]
        if len(per_image) == (sum(images) if self.is_in_one else max(images)):
            tables = {name: part.measured for name, part in meant.items()}
        elif self.is_in_one:
            group = next(part for part in meant.values() if not part.counts.keys().isdisjoint(per_image))
            of_group: Table = group.table_of(per_image)
            return of_group
        else:
            of_images = {name: {image: part.counts[image] for image in per_image} for name, part in meant.items()}
            tables = {name: part.table_of(of_images[name]) for name, part in meant.items()}
        keys = [metric.key for metric in next(iter(tables.values())).metrics]
        metrics = [metric for metric in self.metrics() if metric.key in keys]  # single images have none of units
        kind = GroupMeans if self.is_in_one else PartMeans
        return kind(tables, metrics, [keys.index(metric.key) for metric in metrics], parts=self.plural)

    def measured_with(self, image: str) -> str:
        """Name what an image is measured with by the protocol."""
        return self.inner.measured_with(image)

    def capability(self, kind: type[Capability]) -> Capability | None:
        """Return None: a mean has nothing but its parts."""
        del kind
        return None

    @property
    def competes(self) -> bool:
        """Whether methods are ranked."""
        return self.inner.competes

    @property
    def distance_unit(self) -> str:
        """What distances are in."""
        return self.inner.distance_unit


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOverRuns(MeanOverParts):
    """A protocol whose scores are means over the runs of a method: trainings on the same images, or folds."""

    plural: str = "runs"
    is_in_one: bool = False

    @property
    def meant(self) -> dict[str, Any]:
        """All runs."""
        return dict(self.parts)

    def signature_fields(self) -> dict[str, str]:
        """Return the settings of the protocol, and over how many runs the mean is."""
        return self.inner.settings_as_text | {self.plural: str(len(self.parts))}

    def metrics(self) -> tuple[Metric, ...]:
        """Return all metrics of trainings, and the scores of folds."""
        return super().metrics() if self.is_in_one else self._first.metrics

    def table(self, per_image: Mapping[str, Any]) -> Table:
        """Return the means over trainings of all images or some, or those over folds."""
        if self.is_in_one:
            return super().table(per_image)
        is_whole = len(per_image) == len(next(iter(self.parts.values())).counts)
        tables = {}
        for name, run in self.parts.items():
            tables[name] = run.measured if is_whole else run.table_of({image: run.counts[image] for image in per_image})
        return RunMeans(tables)

    @property
    def deviations(self) -> dict[str, float]:
        """The standard deviation of each metric over the runs; nan where a training, or all folds but one, lack it."""
        summaries = [run.summary for run in self.parts.values()]
        deviations = {}
        for metric in self.metrics():
            values = np.array([summary.get(metric.key, np.nan) for summary in summaries], np.float64)
            known = values[~np.isnan(values)] if self.is_in_one else values
            if metric.key and metric.kind != "total":
                deviations[metric.key] = float(np.std(known, ddof=1)) if known.size > 1 else np.nan
        return deviations


def innermost(rules: Protocol) -> Protocol:
    """Return the protocol that counts: of a mean over parts that of their whole."""
    while isinstance(rules, MeanOverParts):
        rules = rules.inner
    return rules
