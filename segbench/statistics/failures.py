"""Few images that decide a mean: failures that lie far from all others carry most of what an interval is made of.

Means of distances have heavy tails. Where a twentieth of the images has more than half of the sum of the squared
deviations of the pseudo-values, and some of them lie more than five interquartile ranges outside the quartiles, a note
names these and gives the metric of the benchmark without them. A large image has a large share of a pooled metric, but
need not be far from the others: quartiles are those of what images have by their weight. With weights w that sum to W,
the pseudo-value of a weighted mean m of the values v is m + (n - 1) (v - m) w / (W - w).

What the images do not hold no rule can see: a mean of a distance that has no upper end is tested with a caution where
images are few.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note
from segbench.core.metric import finite
from segbench.core.names import first_names
from segbench.core.numbers import many, number
from segbench.core.table import CELLS_AT_ONCE
from segbench.statistics.measured import Measured
from segbench.statistics.pairs import TTests
from segbench.statistics.signed_rank import TIED

ENOUGH_FOR_DISTANCES = 100
"""From this many images on, intervals of mean distances with 5 % failures hold them in more than 90 % of repeats."""
_OF_IMAGES = 20
_RANGES = 5.0
_NAMED_IMAGES, _NAMED_METRICS, _NAMED_PAIRS, _NOTES = 5, 3, 2, 3


def deciding(pseudo: FloatArray, weights: FloatArray, estimates: FloatArray) -> BoolArray:
    """Mark the images that decide each estimate, shape (rows, images); those without weight do not count."""
    counts = weights > 0
    counted = np.count_nonzero(counts, axis=1)
    few = np.maximum(-(-counted // _OF_IMAGES), 1)  # a twentieth, rounded up
    row = np.arange(len(pseudo))
    mean = np.where(counts, pseudo, 0).sum(axis=1) / np.maximum(counted, 1)
    squares = np.where(counts, pseudo - mean[:, np.newaxis], 0.0) ** 2
    largest = -np.sort(-squares, axis=1)
    carried = np.cumsum(largest, axis=1)
    few_carry_most = carried[row, few - 1] > carried[:, -1] / 2
    is_among_few = squares >= largest[row, few - 1, np.newaxis]
    by_weight = (weights.sum(axis=1, keepdims=True) - weights) / np.where(counts, weights, np.nan)
    values = (pseudo - estimates[:, np.newaxis]) * by_weight
    ordered = np.sort(values, axis=1)  # nan last
    low, high = (_quantile(ordered, counted, share)[:, np.newaxis] for share in (0.25, 0.75))
    reach = _RANGES * (high - low)
    is_far = (values < low - reach) | (values > high + reach)
    return few_carry_most[:, np.newaxis] & is_among_few & is_far


def _quantile(ordered: FloatArray, counted: IntArray, share: float) -> FloatArray:
    """Return a quantile of the first values of each rising row, as many as are counted."""
    position = share * np.maximum(counted - 1, 0)
    below, row = position.astype(np.intp), np.arange(len(ordered))
    above = np.minimum(below + 1, np.maximum(counted - 1, 0))
    lower: FloatArray = ordered[row, below]
    return lower + (position - below) * (ordered[row, above] - lower)


def _metrics_without(measured: Measured, images: tuple[int, ...]) -> FloatArray:
    """Return every metric of the benchmark without some images."""
    weights = np.ones((2, measured.images))
    weights[0, list(images)] = 0
    fewer, whole = measured.table.measure(weights)
    # A table may add up images at a choice of its thresholds: the estimate takes the place of what these give.
    with np.errstate(invalid="ignore"):  # infinite where a threshold is
        estimates: FloatArray = measured.table.estimates + (fewer - whole)
    return estimates


def on_intervals(measured: Measured, column_of: Mapping[str, int]) -> Iterator[Note]:
    """Name the images that decide metrics, with the metrics without them; `column_of` has their columns by key."""
    if not column_of:
        return
    columns = list(column_of.values())
    jackknife, metrics = measured.jackknife, measured.table.metrics
    pseudo, weights = jackknife.pseudo[:, columns].T, jackknife.known_weights[:, columns].T
    marked = deciding(pseudo, weights, jackknife.estimates[columns])
    by_metric = zip(column_of, marked, strict=True)
    for images, keys in grouped((tuple(np.flatnonzero(row).tolist()), key) for key, row in by_metric).items():
        if images:
            values = _metrics_without(measured, images)
            descriptions, instead = {}, []
            for key in keys:
                column = column_of[key]
                fewer, whole = float(values[column]), float(measured.table.estimates[column])
                written = metrics[column].written
                descriptions[key] = f"{key} is {written(fewer)} instead of {written(whole)}"
                instead.append((key, finite(fewer), finite(whole)))
            yield _note_on_deciding(measured, images, descriptions, instead)


def _note_on_deciding(
    measured: Measured,
    images: Sequence[int],
    descriptions: Mapping[str, str],
    instead: Sequence[tuple[str | float | None, ...]],
) -> Note:
    """Name the images that decide, and the `descriptions` of metrics without them: `instead` has the numbers."""
    noun, decide = measured.table.noun, [measured.table.names[image] for image in images]
    values = {"noun": noun, "names": first_names(decide, _NAMED_IMAGES), "images": decide, "instead": instead}
    message = Message(
        "deciding-images", "few {noun}s decide: without {names}, which lie far from the others, {metrics}", **values
    )
    if len(images) == 1:
        message = Message(
            "deciding-image", "one {noun} decides: without {names}, which lies far from the others, {metrics}", **values
        )
    return Note(message, metrics=tuple(descriptions.items()), most=_NAMED_METRICS)


def on_differences(pairs: Mapping[str, TTests], methods: Sequence[str]) -> Iterator[Note]:
    """Name the images that decide differences, with the differences without them; `pairs` of methods by metric."""
    by_images = grouped(
        (images, (key, pair)) for key, tests in pairs.items() for pair, images in _deciding_pairs(tests).items()
    )
    notes = list(by_images.items())
    for images, decided in notes[:_NOTES]:
        descriptions, instead = {}, list[tuple[str | float | None, ...]]()
        for key, numbers in grouped(decided).items():
            differences = [_difference_without(pairs[key], methods, pair, images) for pair in numbers[:_NAMED_PAIRS]]
            named = [f"{a} - {b} is {number(fewer)} instead of {number(whole)}" for a, b, fewer, whole in differences]
            more = [many(len(numbers) - _NAMED_PAIRS, "more pair")] if len(numbers) > _NAMED_PAIRS else []
            descriptions[key] = f"{key} of {' and of '.join([*named, *more])}"
            instead += [(key, *difference) for difference in differences]
        (first_key, _), *_ = decided
        yield _note_on_deciding(pairs[first_key].measured[0], images, descriptions, instead)
    keys = {key: key for _, decided in notes[_NOTES:] for key, _ in decided}
    if keys:
        noun = pairs[next(iter(keys))].measured[0].table.noun
        others = Message(
            "other-pairs-decided", "few {noun}s decide differences of other pairs, too: {metrics}", noun=noun
        )
        yield Note(others, metrics=tuple(keys.items()))


def _deciding_pairs(pairs: TTests) -> dict[int, tuple[int, ...]]:
    """Return the images that decide tested differences, by the number of the pair."""
    images_of: dict[int, tuple[int, ...]] = {}
    if pairs.reason:
        return images_of
    for pair, restricted in pairs.common.items():
        for images in _deciding_pairs(restricted).values():
            images_of[pair] = images
    tested = ~np.isnan(pairs.standard_errors) & (pairs.standard_errors > TIED)
    tested[list(pairs.common)] = False
    tested_pairs = np.flatnonzero(tested)
    jackknives = [measured.jackknife for measured in pairs.measured]
    pseudo = np.array([jackknife.pseudo[:, pairs.column] for jackknife in jackknives])
    weights = np.array([jackknife.known_weights[:, pairs.column] for jackknife in jackknives])
    step = max(CELLS_AT_ONCE // pseudo.shape[1], 1)
    for start in range(0, tested_pairs.size, step):
        block = tested_pairs[start : start + step]
        first, second = (methods[block] for methods in pairs.pairs)
        differences = pseudo[first] - pseudo[second]
        marked = deciding(differences, weights[first] + weights[second], pairs.differences[block])
        for row in np.flatnonzero(marked.any(axis=1)):
            images_of[int(block[row])] = tuple(np.flatnonzero(marked[row]).tolist())
    return dict(sorted(images_of.items()))


def _difference_without(
    pairs: TTests, methods: Sequence[str], pair: int, images: tuple[int, ...]
) -> tuple[str, str, float, float]:
    """Return the methods of a pair, their difference without some images, and that of all images."""
    a, b = (methods[numbers[pair]] for numbers in pairs.pairs)
    first, second = (_metrics_without(measured, images)[pairs.column] for measured in pairs.measured_of(pair))
    fewer = 0.0 if abs(first - second) <= TIED else float(first - second)
    return a, b, fewer, float(pairs.differences[pair])


def on_distances(pairs: Mapping[str, TTests]) -> Iterator[Note]:
    """Caution against tests of means without an upper end over few images."""
    names = {}
    for key, tests in pairs.items():
        endless = tests.metric.range is not None and tests.metric.range[1] == math.inf
        counted = max(int(measured.jackknife.counted[tests.column]) for measured in tests.measured)
        if endless and not tests.reason and counted < ENOUGH_FOR_DISTANCES:
            names[key] = key
            noun = tests.measured[0].table.noun
    if names:
        message = Message(
            "no-upper-limit",
            "means without an upper limit ({metrics}): where a few {noun}s in a hundred fail, p-values and intervals "
            "over fewer than {enough} {noun}s are not reliable",
            noun=noun,
            enough=ENOUGH_FOR_DISTANCES,
        )
        yield Note(message, metrics=tuple(names.items()))
