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
from segbench.core.metric import Metric, image_columns, image_headline, images_at_their_best
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
    parts: dict[str, None] = {}
    for choice in map(str.strip, items):
        rule = _RULE.fullmatch(choice)
        if choice in every:
            names[choice] = parts[choice] = None
        elif rule is None:
            raise _unknown(choice, every)
        else:
            taken = [name for name in orders[rule[1]] if name not in names][: int(rule[2])]
            names |= dict.fromkeys(taken)
            if taken:
                is_low = (rule[1] == "worst") == (metric.direction > 0)
                parts[_worded(rule[1], len(taken), metric.quantity_of_images, len(ranking), is_low=is_low)] = None
    if not names:
        raise ArgumentError(
            Message(
                "no-such-image",
                "no image is chosen by {setting}: {why}",
                setting=Setting("rows", ",".join(items)),
                why=_why_none(len(ranking), len(defined), metric),
            )
        )
    left_out = len(values) - len(defined)
    sentence = "; ".join(parts)
    has_rules = any(part not in every for part in parts)
    if has_rules and metric == image_headline(ranking[0].metrics) and images_at_their_best(ranking[0].metrics):
        sentence += f"; {metric.quantity_of_images} of each image at its own best threshold"
    if left_out and has_rules:
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


def _worded(kind: str, count: int, quantity: str, methods: int, *, is_low: bool) -> str:
    """Say which images a rule takes."""
    images = "the image" if count == 1 else f"the {count} images"
    over = f" over {many(methods, 'method')}" if methods > 1 else ""
    if kind == "disagree":
        return f"{images} with the largest standard deviation of {quantity}{over}"
    of_methods = f"mean {quantity}" if methods > 1 else quantity
    return f"{images} with the {'lowest' if is_low else 'highest'} {of_methods}{over}"


def _why_none(methods: int, defined: int, metric: Metric) -> str:
    """Say why rules take no image."""
    if not defined:
        return f"{metric.image_key} is defined for all methods on none"
    if methods == 1:
        return "count images from 1, as in worst:2; a single method does not disagree"
    return "count images from 1, as in worst:2; methods disagree only where their values differ"


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
