"""Sets of images drawn from populations that are known, for `check_statistics.py`.

A population draws the counts of two equally good methods for images that belong to units (patients, videos): `unit`
holds the number of the unit of each image, and rho is the share of the variance that lies between units. Images that
are independent have a unit each. With a gap the second method is better by that many log odds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

import segbench

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Random = np.random.Generator
Pair = tuple[list[Any], list[Any]]
"""The counts of the images, of the first method and of the second."""

BANK = 4000
"""Images of protocols that are counted from drawings: counted once, then drawn with replacement."""


def effects(random: Random, unit: Integers, rho: float) -> Floats:
    """Draw a standard normal number for each image, of which units share a part of the variance."""
    of_units: Floats = random.normal(size=unit.max() + 1)[unit]
    return np.sqrt(rho) * of_units + np.sqrt(1 - rho) * random.normal(size=unit.size)


def skills(
    random: Random,
    unit: Integers,
    rho: float,
    *,
    mean: float = 1.5,
    hard: float = 0.5,
    own: float = 0.35,
    gap: float = 0.0,
) -> list[Floats]:
    """Draw log odds for each image and method: images are hard for both methods, and for each by itself."""
    shared = mean + hard * effects(random, unit, rho)
    return [shared + own * effects(random, unit, rho) + better for better in (0, gap)]


def confusion(tp: Integers, fp: Integers, size: Integers) -> list[Any]:
    """Return counts of masks of these sizes, in images that are 20 times as large."""
    tn = 19 * size - np.minimum(fp, 19 * size)
    matrices = np.stack([tn, 19 * size - tn, 0 * tn, size - tp, tp, 0 * tn], axis=-1).reshape(-1, 2, 3)
    return [segbench.LabelCounts("0-1", matrix) for matrix in matrices]


def masks(random: Random, unit: Integers, rho: float = 0.0, *, failing: float = 0.0) -> Pair:
    """Draw masks of log-normal areas, as in slices; each method fails entirely in a share of the units."""
    size = (800 * np.exp(0.4 * effects(random, unit, 1) + 0.6 * random.normal(size=unit.size))).astype(np.int64) + 5
    methods = []
    for skill in skills(random, unit, rho, mean=1.6):
        failed = (random.random(unit.max() + 1) < failing)[unit]
        recall = expit(np.where(failed, -4.0, skill))
        tp = random.binomial(size, recall)
        fp = random.poisson(size * (1 - recall) * np.exp(random.normal(0, 0.3, unit.size)))
        methods.append(confusion(tp, fp, size))
    return methods[0], methods[1]


def classes(
    random: Random, unit: Integers, rho: float = 0.0, *, present: Sequence[float], in_images: float = 1.0
) -> Pair:
    """Draw matrices of 225 pixels; class k lies in a share of the units, and there in a share of the images."""
    share, number = np.array(present), len(present)
    present = (random.random((unit.max() + 1, number)) < share)[unit]
    present &= random.random(present.shape) < np.where(share == 1, 1, in_images)
    present[~present.any(axis=1), 0] = True
    parts = random.gamma(1, size=present.shape) * present
    truth = random.multinomial(225, parts / parts.sum(axis=1, keepdims=True))
    ease = logit(np.linspace(0.9, 0.4, number))
    methods = []
    for skill in skills(random, unit, rho, mean=0, hard=0.4, own=0.3):
        right = random.binomial(truth, expit(skill[:, np.newaxis] + ease))
        matrices = np.zeros((unit.size, number, number + 1), np.int64)
        matrices[..., :-1] = random.multinomial(truth - right, np.full(number, 1 / number))
        matrices[:, np.arange(number), np.arange(number)] += right
        methods.append([segbench.LabelCounts(f"0-{number - 1}", matrix) for matrix in matrices])
    return methods[0], methods[1]


def by_level(random: Random, centres: Floats, pixels: Integers, levels: int) -> Integers:
    """Draw pixels with normal scores around a centre, and count those of each level, the highest first."""
    cuts = np.linspace(-4, 5, levels - 1)
    shares = np.diff(ndtr(cuts - centres[:, np.newaxis]), prepend=0, append=1, axis=1)[:, ::-1]
    return random.multinomial(pixels, shares)


def soft_maps(
    random: Random, unit: Integers, rho: float = 0.0, *, large: bool = False, levels: int = 32, gap: float = 0.0
) -> list[tuple[Integers, Integers]]:
    """Draw positives and negatives by level for each method: log-normal numbers, or one image in ten that is large."""
    if large:
        tenth = random.random(unit.size) < 0.1
        positives = np.where(tenth, random.integers(1000, 3000, unit.size), random.integers(20, 400, unit.size))
        negatives = random.integers(400, 4000, unit.size)
        shared = random.gamma(6, 0.2, unit.size)
        centres = [shared + random.gamma(2, 0.2, unit.size) for _ in range(2)]
        offsets = random.normal(0, 0.3, (2, unit.size))
    else:
        positives = np.exp(random.normal(5, 1, unit.size)).astype(np.int64) + 1
        negatives = 4 * positives
        centres = skills(random, unit, rho, mean=1.2, hard=0.4, own=0.3, gap=gap)
        offsets = np.zeros((2, unit.size))
    return [
        (by_level(random, centre + offset, positives, levels), by_level(random, offset, negatives, levels))
        for centre, offset in zip(centres, offsets, strict=True)
    ]


def pixels(random: Random, unit: Integers, rho: float = 0.0, **options: Any) -> Pair:  # noqa: ANN401  of soft_maps
    """Draw score maps."""
    first, second = (
        [segbench.ScoreCounts(np.arange(len(hits))[::-1], hits, false) for hits, false in zip(*method, strict=True)]
        for method in soft_maps(random, unit, rho, **options)
    )
    return first, second


def boundaries(random: Random, unit: Integers, rho: float = 0.0) -> Pair:
    """Draw boundary pixels, each true one matched by one predicted pixel, at 24 thresholds."""
    thresholds = np.arange(1, 25) / 25
    methods = []
    for positives, negatives in soft_maps(random, unit, rho, levels=25):
        # Without the lowest level, which predicts every pixel: no detector of thin lines does.
        matched, predicted = (np.cumsum(part, axis=1)[:, -2::-1] for part in (positives, positives + negatives))
        total = np.repeat(positives.sum(axis=1)[:, np.newaxis], 24, axis=1)
        columns = zip(matched, total, matched, predicted, strict=True)
        methods.append([segbench.BoundaryCounts(thresholds, *column) for column in columns])
    return methods[0], methods[1]


def contours(
    random: Random, unit: Integers, rho: float = 0.0, *, failing: float = 0.0, only_second: bool = False
) -> Pair:
    """Draw log-normal distances (sigma .6), a share of which is ten times as large: failures, with equal means."""
    methods = []
    shared = np.sqrt(0.5) * effects(random, unit, rho)
    for method in range(2):
        failed = random.random(unit.size) < (0 if only_second and method == 0 else failing)
        distance = 5 * np.exp(0.6 * (shared + np.sqrt(0.5) * effects(random, unit, rho))) * np.where(failed, 10, 1)
        if only_second and method == 0:
            distance *= 1 + 9 * failing
        methods.append(at_distances(distance))
    return methods[0], methods[1]


def at_distances(hd95: Floats) -> list[Any]:
    """Return counts of contours at these distances: a tenth, 30 % and 60 % of them for 120, 50 and 18 of 200 pixels."""
    squared = np.rint((hd95[:, np.newaxis] * [0.1, 0.3, 0.6, 1]) ** 2).astype(np.int64)
    overlaps = np.rint(3000 * np.exp(-hd95 / 60)).astype(np.int64)
    # Distances rise.
    return [_contour(*image) for image in zip(overlaps, squared + np.arange(4), strict=True)]


def _contour(overlap: int, squared: Integers) -> segbench.ContourCounts:
    """Return the counts of an image whose distances are the same in both directions."""
    areas, pixels_at = [[3000, 3000, overlap]], np.tile([120, 50, 18, 12], 2)
    return segbench.ContourCounts(
        "masks", "pixels", 1, 500_000, areas, areas, [[200, 200, 120, 120]], [[4, 4]],
        np.tile(squared, 2), pixels_at, np.zeros(8, np.int64), np.zeros((0, 1), np.int64),
    )  # fmt: skip


def failed(random: Random, images: int) -> Floats:
    """Draw distances of which 5 % are ten times as far, at least one."""
    distances = 5 * np.exp(0.6 * random.normal(size=images))
    failing = random.random(images) < 0.05
    while not failing.any():
        failing = random.random(images) < 0.05
    return distances * np.where(failing, 10, 1)


def objects(random: Random, unit: Integers, rho: float = 0.0) -> Pair:
    """Draw numbers of objects, of which some are found, with overlaps between a half and 1."""
    number = random.poisson(8 * np.exp(0.5 * effects(random, unit, rho))) + 1
    methods = []
    for skill in skills(random, unit, rho):
        matched = random.binomial(number, expit(skill))
        false = random.poisson(0.8 * number * (1 - expit(skill)))
        heights = np.repeat(skill, matched) - 0.5 + random.normal(0, 0.6, matched.sum())
        whole = random.integers(100, 400, matched.sum())
        shared = np.rint(whole * (0.51 + 0.49 * expit(heights))).astype(np.int64)
        ends = np.cumsum(matched)[:-1]
        images = zip(number, matched, false, np.split(shared, ends), np.split(whole, ends), strict=True)
        methods.append([_objects(*image) for image in images])
    return methods[0], methods[1]


def _objects(number: int, matched: int, false: int, shared: Integers, whole: Integers) -> segbench.ObjectCounts:
    """Return the counts of an image; objects without a partner have 200 pixels."""
    aji = [shared.sum(), whole.sum() + 200 * (number - matched + false)]
    return segbench.ObjectCounts(
        "instances", [1], [[number, matched + false, 0]], [[matched, 0]], shared, whole, [*aji, *aji]
    )


def detections(random: Random, unit: Integers, rho: float = 0.0, *, rare: float = 0.15) -> Pair:
    """Draw detections of five classes, the last in the share `rare` of the images; methods meet the same objects.

    How well an object is found depends on its image, on itself, and on the method: this gives the highest IoU at which
    it is matched, and with more chance its score. False detections have lower scores.
    """
    present = random.random((unit.size, 5)) < np.array([0.7, 0.6, 0.5, 0.4, rare])
    number = present * (1 + random.poisson(1, present.shape))
    cell = np.repeat(np.arange(number.size), number.ravel())
    shared = effects(random, unit, rho)[cell // 5] * 0.5 + random.normal(0, 0.7, cell.size)
    return tuple(_detected(random, number, cell, shared) for _ in range(2))


def _detected(random: Random, number: Integers, cell: Integers, shared: Floats) -> list[segbench.ScoredObjectCounts]:
    """Draw what one method detects of objects, each in a cell: an image and one of five classes."""
    quality = shared + random.normal(0, 0.7, cell.size)
    levels = np.clip(np.floor(5 + 3 * quality), 0, 10).astype(np.int64)  # how many thresholds its IoU reaches
    is_detected = quality > -1.5
    false = np.repeat(np.arange(number.size), random.poisson(0.7, number.size))
    scores = np.concatenate([quality[is_detected], random.normal(-1.2, 0.8, false.size)])
    scores = scores + random.normal(0, 0.5, scores.size)
    cells = np.concatenate([cell[is_detected], false])
    matched = np.concatenate([(1 << levels[is_detected]) - 1, np.zeros_like(false)])
    order = np.lexsort((-scores, cells))
    cells, scores, matched = cells[order], scores[order], matched[order]
    ranks = np.arange(cells.size) - np.searchsorted(cells, cells)
    ends = np.searchsorted(cells, 5 * np.arange(len(number) + 1))
    of_cells = np.bincount(cells, minlength=number.size).reshape(number.shape)
    counts = []
    for image, (begin, end) in enumerate(itertools.pairwise(ends.tolist())):
        objects = np.zeros((5, 4), np.int64)
        objects[:, 0] = number[image]
        counts.append(
            segbench.ScoredObjectCounts(
                labels=np.arange(5), called="", objects=objects, detections=of_cells[image],
                scores=scores[begin:end], ranks=ranks[begin:end], matched=matched[begin:end],
                ignored=np.full(end - begin, 2**40 - 2**10), hits=2 * (matched[begin:end] & 1),
            )
        )  # fmt: skip
    return counts


def centerlines(random: Random, unit: Integers, rho: float = 0.0) -> Pair:
    """Draw skeletons of log-normal lengths, parts of which lie in the other mask."""
    length = np.exp(random.normal(5.5, 0.6, unit.size)).astype(np.int64) + 5
    methods = []
    for skill in skills(random, unit, rho):
        predicted = random.poisson(length) + 1
        inside = random.binomial(predicted, expit(skill + random.normal(0, 0.3, unit.size)))
        true_inside = random.binomial(length, expit(skill))
        errors = random.poisson(6 * (1 - expit(skill)), (2, unit.size))
        columns = zip(length, predicted, inside, true_inside, errors.T, strict=True)
        methods.append([_centerlines(*column) for column in columns])
    return methods[0], methods[1]


def _centerlines(
    length: int, predicted: int, inside: int, true_inside: int, errors: Integers
) -> segbench.CenterlineCounts:
    """Return the counts of lines five pixels wide."""
    components, holes = errors.tolist()
    topology = ([components], [holes], [abs(components - holes)])
    return segbench.CenterlineCounts(
        [1.0], "skimage", 8, 1, 1, 5 * length, length, [5 * predicted], [predicted], [inside], [true_inside],
        *topology, *topology,
    )  # fmt: skip


def anomalies(random: Random, unit: Integers, rho: float = 0.0) -> Pair:
    """Draw images of 2000 pixels, 60 % of which have one to three defects of log-normal sizes."""
    number = np.where(random.random(unit.size) < 0.6, random.integers(1, 4, unit.size), 0)
    sizes = np.exp(random.normal(3.5, 0.8, number.sum())).astype(np.int64).clip(3, 400)
    normal = 2000 - np.bincount(np.repeat(np.arange(unit.size), number), sizes, unit.size).astype(np.int64)
    ends = np.cumsum(number)[:-1]
    methods = []
    for skill in skills(random, unit, rho, mean=1.6):
        offset = random.normal(-1.5, 0.3, unit.size)
        of_defects = np.repeat(skill + offset, number) + random.normal(0, 0.5, number.sum())
        defects = np.split(by_level(random, of_defects, sizes, 32), ends)
        images = zip(by_level(random, offset, normal, 32), defects, np.split(sizes, ends), strict=True)
        methods.append([_anomalies(*image) for image in images])
    return methods[0], methods[1]


def _anomalies(normal: Integers, defects: Integers, sizes: Integers) -> segbench.AnomalyCounts:
    """Return the counts of an image whose score is its highest."""
    scores = np.arange(normal.size)[::-1].astype(np.float64)
    found_scores, component_sizes = np.repeat(scores, sizes.size), np.tile(sizes, scores.size)
    anomalous, image_size = defects.T.reshape(-1), 0 if sizes.size else int(normal.sum())
    with_normal, with_anomalous = normal > 0, anomalous > 0
    top = scores[(normal + defects.sum(axis=0)) > 0][:1]
    return segbench.AnomalyCounts(
        scores[with_normal], normal[with_normal], np.full(int(with_normal.sum()), image_size),
        found_scores[with_anomalous], anomalous[with_anomalous], component_sizes[with_anomalous],
        *((np.empty(0), top) if sizes.size else (top, np.empty(0))),
    )  # fmt: skip


def saliency_map(random: Random) -> tuple[Any, ...]:
    """Count a disc in an image of 24 x 24 pixels, and maps that are noisy in every pixel and off in some part."""
    y, x = np.mgrid[:24, :24]
    disc = np.hypot(y - random.uniform(7, 17), x - random.uniform(7, 17)) < random.uniform(2.5, 8)
    shared = random.normal(1.0, 0.5)
    methods = []
    for _ in range(2):
        false = np.hypot(y - random.uniform(0, 24), x - random.uniform(0, 24)) < random.uniform(0, 6)
        heights = (shared + random.normal(0, 0.3)) * (2 * (disc ^ (false & (random.random() < 0.5))) - 1)
        scores = expit(1.5 * heights + random.normal(0, 1, disc.shape))
        methods.append(segbench.count(disc, np.rint(scores * 255) / 255, "saliency"))
    return tuple(methods)


def segmentation(random: Random) -> tuple[Any, ...]:
    """Count regions of blocks of 2 x 2 pixels, 4 to 8 blocks a side, by the strengths of the edges between blocks."""
    side = int(random.integers(4, 9))
    centres = random.uniform(0, side, (2, int(random.integers(2, 7))))
    distances = np.mgrid[:side, :side][..., np.newaxis] + 0.5 - centres[:, np.newaxis, np.newaxis]
    truth = (distances**2).sum(axis=0).argmin(axis=-1)
    shared = random.normal(2.0, 0.5)
    methods = []
    for _ in range(2):
        skill = shared + random.normal(0, 0.3)
        edges = np.zeros((4 * side + 1, 4 * side + 1))
        edges[::4], edges[:, ::4] = 1, 1  # the frame, and corners of blocks
        down, right = (
            expit(skill * (2.0 * differs - 1) + random.normal(0, 1.2, differs.shape))
            for differs in (truth[1:] != truth[:-1], truth[:, 1:] != truth[:, :-1])
        )
        for point in range(1, 4):  # an edge is three points long, between two corners
            edges[4:-1:4, point::4] = down
            edges[point::4, 4:-1:4] = right
        methods.append(
            segbench.count(np.kron(truth, np.ones((2, 2), np.int64)), edges, segbench.Regions(thresholds=24))
        )
    return tuple(methods)


@cache
def _bank(draw: Callable[[Random], tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Count many images."""
    random = np.random.default_rng(0)
    return [draw(random) for _ in range(BANK)]


def banked(draw: Callable[[Random], tuple[Any, ...]]) -> Callable[[Random, Integers], Pair]:
    """Return the population of the images of a bank, where each method is either of the two, which are alike."""

    def population(random: Random, unit: Integers) -> Pair:
        images = [_bank(draw)[image] for image in random.integers(0, BANK, unit.size)]
        swapped = random.integers(0, 2, unit.size)
        first, second = ([image[which ^ k] for image, which in zip(images, swapped, strict=True)] for k in (0, 1))
        return first, second

    return population


saliency, regions = banked(saliency_map), banked(segmentation)


def trained(random: Random, images: int, runs: int, deviation: float) -> tuple[Integers, Integers, Integers]:
    """Draw TP, FP, shape (2, runs, images), and areas of two methods trained several times on images of one mask.

    Skill varies by image, by method and image, by training and image, and by training: that by so much in log odds.
    """
    size = (800 * np.exp(random.normal(0, 0.7, images))).astype(np.int64) + 5
    skill = 1.6 + random.normal(0, 0.5, images) + random.normal(0, 0.2, (2, 1, images))
    skill = skill + random.normal(0, 0.15, (2, runs, images)) + random.normal(0, deviation, (2, runs, 1))
    tp = random.binomial(size, expit(skill))
    return tp, random.poisson(size * (1 - expit(skill))), size
