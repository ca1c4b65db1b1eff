"""The main metric of each class on the page: a table of methods by classes with their mean, and a chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from segbench.aggregator.result import Parts, parts_if_any
from segbench.core.metric import Metric, headline
from segbench.core.numbers import number
from segbench.core.text_table import Mark
from segbench.drawing.axes import fitted
from segbench.drawing.palette import OTHER
from segbench.inputs.class_names import in_no_mean
from segbench.report.page.charts import Figure
from segbench.report.page.lines import ChartLine, LineAxis
from segbench.report.plots.methods import Method
from segbench.report.ranking import competing_sets, ranked

MEAN = "mean"


@dataclass(frozen=True)
class MethodsByClass:
    """Values of one metric by method and class: a row per method, `MEAN` and then the classes as columns."""

    metric: Metric
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    marks: Mapping[tuple[int, int], Mark]


def class_table(methods: Sequence[Method]) -> MethodsByClass | None:
    """Return the main metric of each class of each method; None where methods have no classes."""
    classes = [parts_if_any(method.result, "class") for method in methods]
    in_means = {name: not in_no_mean(part.settings) for parts in classes for name, part in parts.items()}
    names = sorted(in_means, key=in_means.__getitem__, reverse=True)  # the background comes last
    first = next((part for parts in classes for part in parts.values()), None)
    if first is None:
        return None
    metric = headline(first.metrics)
    values = [_values(parts, names, metric) for parts in classes]
    marks: dict[tuple[int, int], Mark] = {}
    for members in competing_sets([method.result for method in methods]):
        competing = [k for k in members if methods[k].result.competes]
        for column in range(1 + len(names)):
            of_column = ranked([values[k][column] for k in competing], metric.better)
            marks |= {(k, column): mark for k, mark in zip(competing, of_column, strict=True)}
    return MethodsByClass(metric, (MEAN, *names), tuple(values), marks)


def _values(parts: Parts | Mapping[str, object], names: Sequence[str], metric: Metric) -> tuple[float, ...]:
    """Return the mean over the classes of a method, then the value of each."""
    if not isinstance(parts, Parts):
        return (math.nan,) * (1 + len(names))
    mean = math.nan if parts.mean is None else float(parts.mean.summary.get(metric.key, math.nan))
    of_classes = (float(parts[name].summary.get(metric.key, math.nan)) if name in parts else math.nan for name in names)
    return mean, *of_classes


def chart_of_classes(methods: Sequence[Method], table: MethodsByClass) -> Figure:
    """Draw a line for each class, with the interval of each method in colour and a point for the others."""
    names = table.columns[1:]
    ends = {
        (k, column): _interval(method, name, table.metric.key)
        for k, method in enumerate(methods)
        for column, name in enumerate(names, 1)
        if method.style.colour != OTHER
        and method.intervals is not None
        and name in parts_if_any(method.result, "class")
    }
    known = [value for row in table.values for value in row[1:]]
    axis = LineAxis(
        table.metric.quantity, *fitted([*known, *(end for pair in ends.values() for end in pair)], table.metric.range)
    )
    in_colour = [k for k, method in enumerate(methods) if method.style.colour != OTHER]
    offsets = {k: 18.0 * (number + 1) / (len(in_colour) + 1) - 9.0 for number, k in enumerate(in_colour)}
    lines = []
    for column, name in enumerate(names, 1):
        drawn = [
            axis.small(
                table.values[k][column],
                ends.get((k, column), (math.nan, math.nan)),
                offsets.get(k, 0.0),
                css=method.style.css,
                method=k,
            )
            for k, method in reversed([*enumerate(methods)])
        ]
        defined = [row[column] for row in table.values if not math.isnan(row[column])]
        best = max(defined, key=lambda value: table.metric.direction * value, default=math.nan)
        lines.append(ChartLine(name, axis.drawn([part for parts in drawn for part in parts]), number(best)))
    note = "The number is the best value"
    level = next((method.intervals.level for method in methods if method.intervals is not None), None)
    note += f"; lines are {100 * level:g} % intervals" if level and ends else ""
    note += ", of methods in colour" if level and ends and len(in_colour) < len(methods) else ""
    return Figure("classes", f"{table.metric.quantity} of each class", note=note, axis=axis, lines=tuple(lines))


def _interval(method: Method, name: str, key: str) -> tuple[float, float]:
    """Return the interval of a metric of a class, drawn as those of the whole are."""
    whole = method.intervals
    assert whole is not None  # noqa: S101  for types alone: methods without intervals are left out
    drawn = method.result.parts("class")[name].intervals(
        level=whole.level, replicates=whole.replicates, seed=whole.seed
    )
    return drawn.get(key, (math.nan, math.nan))
