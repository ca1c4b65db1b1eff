"""Which images a figure shows, by a rule that can be written into its caption."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric, image_columns, image_headline
from segbench.core.names import first_names
from segbench.core.numbers import many

_LISTED = 20
_RULE = re.compile(r"(worst|best|disagree):(\d+)")


@dataclass(frozen=True)
class ChosenImages:
    """The images of a figure in their order, the rule in words, and the values of all methods on each image."""

    names: tuple[str, ...]
    sentence: str
    metric: Metric


def image_metric(results: Sequence[Result], key: str | None) -> Metric:
    """Return the metric of single images that was asked for, or the one that ranks images."""
    metrics = results[0].metrics
    if key is None:
        return image_headline(metrics)
    known = image_columns(metrics)
    for metric in known:
        if key in (metric.image_key, metric.key, metric.image_title):
            return metric
    raise ArgumentError(
        Message(
            "unknown-metric",
            "images have no metric {metric!r}; expected one of {known}",
            metric=key,
            known=[metric.image_key for metric in known],
        )
    )


def chosen_images(results: Sequence[Result], rows: str | Sequence[str], metric: Metric) -> ChosenImages:
    """Choose images by rules such as ``worst:3``, and by their names; none is chosen twice."""
    items = rows.split(",") if isinstance(rows, str) else list(rows)
    ranking = [result for result in results if result.rules.competes] or list(results)
    values = _values(ranking, metric)
    every = set().union(*(result.counts for result in results))
    defined = sorted(name for name, column in values.items() if not np.isnan(column).any())
    orders = _orders({name: values[name] for name in defined}, metric.direction)
    names: dict[str, None] = {}
    parts = []
    for choice in map(str.strip, items):
        rule = _RULE.fullmatch(choice)
        if choice in every or rule is None:
            if choice not in every:
                raise _unknown(choice, every)
            names[choice] = None
            parts.append(choice)
            continue
        kind, count = rule[1], int(rule[2])
        taken = [name for name in orders[kind] if name not in names][:count]
        names |= dict.fromkeys(taken)
        parts.append(_worded(kind, len(taken), metric, len(ranking)))
    if not names:
        raise ArgumentError(
            Message(
                "no-such-image",
                "no image is chosen by {setting}: {metric} is defined for all methods on none",
                setting=Setting("rows", ",".join(items)),
                metric=metric.image_key,
            )
        )
    left_out = len(values) - len(defined)
    sentence = "; ".join(parts)
    if left_out and any(map(_RULE.fullmatch, map(str.strip, items))):
        sentence += f"; of {many(len(values), 'image')} {left_out} on which a method is undefined left out"
    return ChosenImages(tuple(names), f"Images: {sentence}.", metric)


def _values(results: Sequence[Result], metric: Metric) -> dict[str, FloatArray]:
    """Return the metric of all methods by image; nan where one lacks the image, or is undefined."""
    names = sorted(set().union(*(result.counts for result in results)))
    of_methods = []
    for result in results:
        column = result.per_image.column(metric.image_key).tolist()
        of_methods.append(dict(zip(result.counts, column, strict=True)))
    return {name: np.array([values.get(name, math.nan) for values in of_methods]) for name in names}


def _orders(values: dict[str, FloatArray], direction: int) -> dict[str, list[str]]:
    """Order images by the mean over methods, and by the standard deviation; of equals the first by name."""
    mean = {name: direction * math.fsum(column) / len(column) for name, column in values.items()}
    spread = {name: float(np.std(column)) for name, column in values.items()}
    by: Callable[[dict[str, float]], list[str]] = lambda key: sorted(key, key=lambda name: (key[name], name))  # noqa: E731
    differing = {name: -deviation for name, deviation in spread.items() if deviation}
    return {"worst": by(mean), "best": by({name: -value for name, value in mean.items()}), "disagree": by(differing)}


def _worded(kind: str, count: int, metric: Metric, methods: int) -> str:
    """Say which images a rule takes."""
    over = f" over {many(methods, 'method')}" if methods > 1 else ""
    name = metric.quantity_of_images
    if kind == "disagree":
        return f"the {count} with the largest standard deviation of {name}{over}"
    is_low = (kind == "worst") == (metric.direction > 0)
    of = f"mean {name}" if methods > 1 else name
    return f"the {count} {kind}, of {'lowest' if is_low else 'highest'} {of}{over}"


def _unknown(choice: str, every: set[str]) -> ArgumentError:
    return ArgumentError(
        Message(
            "no-such-image",
            "{setting}: neither a rule such as {rule} nor one of the images {images}",
            setting=Setting("rows", choice),
            rule="worst:3, best:1 or disagree:2",
            images=first_names(sorted(every), _LISTED),
        )
    )
