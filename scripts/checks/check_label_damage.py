"""Check that label maps stored with loss, or interpolated, are noticed by their values, and that no others are.

    python scripts/checks/check_label_damage.py [--damaged 200] [--correct 150] [--seed 0]

Each damaged set has at least three classes of random numbers, drawn in regions, and predictions with shifted borders
and wrong regions. JPEG, lossy WebP, enlarging or halving by interpolation damages the predictions, the ground truth or
both, and the maps are saved as PNG, so that values alone can show it. Correct sets have what damage may be taken for:
rims, borders, poles, contours as classes, speckled predictions, superpixels and numbered objects. Prints how many sets
are noticed, and every set that is wrong; exits with 1 if a damaged set that costs more than .05 of the mean IoU is not
noticed, although its numbers can show it, or if a correct one is.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import binary_dilation, binary_erosion, gaussian_filter, label

import segbench

Map = NDArray[np.uint8]
Maps = list[Map]
IMAGES = 4
COSTS = 0.05
MOST_LABELS = (12, 20, 33, 59, 149)
SIDES = ("prediction", "ground truth", "both")
SHOWN_FROM = 3
"""Numbers between those of classes that must be free for damage to show."""


class LabelSet(NamedTuple):
    """Ground truth and predictions of a few images, and what they are."""

    kind: str
    truths: Maps
    predictions: Maps
    classes: list[int]


def main() -> int:
    """Check damaged and correct sets."""
    parser = argparse.ArgumentParser(description="Check how damaged label maps are noticed.")
    parser.add_argument("--damaged", type=int, default=200, metavar="SETS")
    parser.add_argument("--correct", type=int, default=150, metavar="SETS")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    unnoticed = damaged_unnoticed(options.damaged, options.seed)
    alarms = false_alarms(options.correct, options.seed)
    print(*(f"OFF: {problem}" for problem in [*unnoticed, *alarms]), sep="\n", end="\n" if unnoticed or alarms else "")
    return bool(unnoticed or alarms)


def damaged_unnoticed(number: int, seed: int = 0) -> list[str]:
    """Damage sets; print how many are noticed, and list those that are not although they cost much and show it."""
    costly, noticed, hidden, unnoticed = 0, 0, 0, list[str]()
    for index in range(number):
        rng = np.random.default_rng([seed, 1, index])
        intact = random_set(rng)
        how, side = [*DAMAGE][index % len(DAMAGE)], SIDES[index // len(DAMAGE) % 3]
        before, after = damaged(intact, DAMAGE[how], side)
        cost = mean_iou(before) - mean_iou(after)
        if abs(cost) <= COSTS:
            continue
        costly += 1
        is_noticed = "mixed-labels" in keys(after)
        noticed += is_noticed
        free = intact.classes[-1] - intact.classes[0] + 1 - len(intact.classes)
        hidden += not is_noticed and free < SHOWN_FROM
        if not is_noticed and free >= SHOWN_FROM:
            unnoticed.append(f"{how} of {side}, classes {intact.classes}, costs {cost:.3f}: not noticed")
    print(f"{costly} of {number} damaged sets cost more than {COSTS} of the mean IoU, {noticed} are noticed, ", end="")
    print(f"{hidden} have too few free numbers to show it")
    return unnoticed


def false_alarms(number: int, seed: int = 0) -> list[str]:
    """Draw correct sets; print how many give an alarm, and list these."""
    kinds, alarms = [*CORRECT], list[str]()
    for index in range(number):
        rng = np.random.default_rng([seed, 2, index])
        kind = kinds[index % len(kinds)]
        truths, predictions = zip(
            *(CORRECT[kind](np.random.default_rng([seed, 3, index]), rng) for _ in range(IMAGES)), strict=True
        )
        drawn = LabelSet(kind, list(truths), list(predictions), [])
        if "mixed-labels" in keys(drawn):
            alarms.append(f"{kind} ({index}): alarm without damage")
    print(f"{len(alarms)} of {number} correct sets give an alarm")
    return alarms


def keys(drawn: LabelSet) -> set[str]:
    """Check a set, saved as PNG, and return the keys of the findings."""
    labels = np.unique(np.concatenate([label_map.reshape(-1) for label_map in (*drawn.truths, *drawn.predictions)]))
    with TemporaryDirectory() as folder:
        for side, maps in (("gt", drawn.truths), ("pred", drawn.predictions)):
            (Path(folder) / side).mkdir()
            for index, label_map in enumerate(maps):
                Image.fromarray(label_map).save(Path(folder) / side / f"{index}.png")
        protocol = segbench.Labels(classes=labels.tolist(), void=())
        report = segbench.check(f"{folder}/gt", f"{folder}/pred", protocol)
    return {finding.kind for finding in report.findings}


def mean_iou(drawn: LabelSet) -> float:
    """Compute the mean IoU over the classes."""
    pairs = sum(
        np.bincount(truth.reshape(-1) * 256 + predicted.reshape(-1).astype(np.int64), minlength=1 << 16)
        for truth, predicted in zip((truth.astype(np.int64) for truth in drawn.truths), drawn.predictions, strict=True)
    )
    matrix = np.asarray(pairs).reshape(256, 256)
    both = np.diag(matrix)
    unions = matrix.sum(axis=0) + matrix.sum(axis=1) - both
    known = [label for label in drawn.classes if unions[label]]
    return float(np.mean(both[known] / unions[known]))


# Damage


def stored(form: str, quality: int) -> Callable[[Map], Map]:
    """Save a map with loss, and read it again."""

    def damage(labels: Map) -> Map:
        saved = io.BytesIO()
        Image.fromarray(labels).save(saved, form, quality=quality)
        return np.asarray(Image.open(saved).convert("L"))

    return damage


def enlarged(factor: float, how: Image.Resampling) -> Callable[[Map], Map]:
    """Enlarge a map of a smaller size by interpolation."""

    def damage(labels: Map) -> Map:
        height, width = labels.shape
        small = (max(1, int(width / factor)), max(1, int(height / factor)))
        return np.asarray(Image.fromarray(labels).resize(small, 0).resize((width, height), how))

    return damage


def halved(labels: Map) -> Map:
    """Take the mean of blocks of 2 x 2 pixels."""
    height, width = (size // 2 for size in labels.shape)
    blocks = labels[: 2 * height, : 2 * width].reshape(height, 2, width, 2)
    return np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)


def nearest(labels: Map) -> Map:
    """Halve a map without damage."""
    return labels[: labels.shape[0] // 2 * 2 : 2, : labels.shape[1] // 2 * 2 : 2]


_BILINEAR, _CUBIC, _LANCZOS = Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS
DAMAGE: dict[str, Callable[[Map], Map]] = {
    **{f"JPEG {quality}": stored("JPEG", quality) for quality in (95, 90, 75, 50, 30)},
    "WebP 80": stored("WEBP", 80),
    **{f"bilinear x {factor:g}": enlarged(factor, _BILINEAR) for factor in (1.5, 2, 4, 8)},
    "bicubic x 2": enlarged(2, _CUBIC),
    "bicubic x 4": enlarged(4, _CUBIC),
    "Lanczos x 3": enlarged(3, _LANCZOS),
    "halved": halved,
}


def damaged(intact: LabelSet, damage: Callable[[Map], Map], side: str) -> tuple[LabelSet, LabelSet]:
    """Return a set of the size that the damage leaves, and with one side damaged, or both."""
    keep = nearest if damage is halved else np.copy
    before = intact._replace(truths=list(map(keep, intact.truths)), predictions=list(map(keep, intact.predictions)))
    truths = list(map(damage, intact.truths)) if side != "prediction" else before.truths
    predictions = list(map(damage, intact.predictions)) if side != "ground truth" else before.predictions
    return before, before._replace(truths=truths, predictions=predictions)


# Sets


def random_set(rng: np.random.Generator) -> LabelSet:
    """Draw classes of random numbers in regions, and predict them."""
    most = int(rng.choice(MOST_LABELS))
    classes = np.sort(rng.choice(most + 1, rng.integers(3, min(most - 1, 15)), replace=False))
    draw = [voronoi, blobs, shapes][rng.integers(3)]
    height, width = rng.integers(64, 256, 2)
    truths = [draw(rng, classes, height, width) for _ in range(IMAGES)]
    return LabelSet(draw.__name__, truths, [predicted(rng, truth, classes) for truth in truths], classes.tolist())


def noise(rng: np.random.Generator, shape: tuple[int, int], sigma: float) -> NDArray[np.float64]:
    """Draw smooth noise with a standard deviation of 1."""
    field = gaussian_filter(rng.standard_normal(shape), sigma)
    smooth: NDArray[np.float64] = field / field.std()
    return smooth


def voronoi(rng: np.random.Generator, classes: NDArray[np.int64], height: int, width: int) -> Map:
    """Draw the cells of random points."""
    points = int(rng.integers(6, 40))
    rows, columns = rng.random(points) * height, rng.random(points) * width
    y, x = np.mgrid[:height, :width]
    nearest_point = ((y[..., None] - rows) ** 2 + (x[..., None] - columns) ** 2).argmin(axis=-1)
    return classes[rng.integers(0, classes.size, points)[nearest_point]].astype(np.uint8)


def blobs(rng: np.random.Generator, classes: NDArray[np.int64], height: int, width: int) -> Map:
    """Draw the highest of smooth maps."""
    maps = np.stack([noise(rng, (height, width), rng.uniform(4, 12)) for _ in classes])
    return classes[maps.argmax(axis=0)].astype(np.uint8)


def shapes(rng: np.random.Generator, classes: NDArray[np.int64], height: int, width: int) -> Map:
    """Draw ellipses and rectangles on each other."""
    drawn = np.full((height, width), rng.choice(classes), np.uint8)
    y, x = np.mgrid[:height, :width]
    for _ in range(int(rng.integers(5, 30))):
        dy, dx = abs(y - rng.integers(height)), abs(x - rng.integers(width))
        a, b = rng.integers(4, height // 3), rng.integers(4, width // 3)
        inside = (dy / a) ** 2 + (dx / b) ** 2 <= 1 if rng.random() < 0.5 else (dy <= a) & (dx <= b)
        drawn[inside] = rng.choice(classes)
    return drawn


def shifted(rng: np.random.Generator, truth: Map, pixels: float) -> Map:
    """Move the borders of regions."""
    height, width = truth.shape
    y, x = np.mgrid[:height, :width]
    y, x = (np.rint(at + pixels * noise(rng, truth.shape, 6)).astype(int) for at in (y, x))
    return truth[y.clip(0, height - 1), x.clip(0, width - 1)]


def predicted(rng: np.random.Generator, truth: Map, classes: NDArray[np.int64]) -> Map:
    """Predict a map: borders are shifted, and some regions have another class."""
    labels = shifted(rng, truth, rng.uniform(0.5, 4)).copy()
    wrong = noise(rng, truth.shape, 8)
    labels[wrong > np.quantile(wrong, 1 - rng.uniform(0.02, 0.25))] = rng.choice(classes)
    return labels


# Correct sets: each draws an image, given what decides about the whole set, and what about this image

Pair = tuple[Map, Map]


def plain(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw regions."""
    classes = np.sort(of_set.choice(60, of_set.integers(2, 14), replace=False))
    draw = [voronoi, blobs, shapes][of_set.integers(3)]
    truth = draw(rng, classes, 128, 160)
    return truth, predicted(rng, truth, classes)


def with_lines(objects: Map, width: int, inside: int, line: int) -> Map:
    """Draw objects of one number, with lines of another around them."""
    mask = objects > 0
    around = binary_dilation(mask, iterations=width) & ~mask
    return np.where(mask, inside, np.where(around, line, 0)).astype(np.uint8)


def rims(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw objects of 255 in rims of 128, which predictions have or lack."""
    width, has_rims = int(of_set.integers(1, 4)), of_set.random() < 0.5
    objects = shapes(rng, np.array([0, 0, 1]), 128, 160)
    moved = shifted(rng, objects, 2)
    return with_lines(objects, width, 255, 128), with_lines(moved, width if has_rims else 0, 255, 128)


def borders(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw objects and borders as classes 1 and 2, or 2 and 1."""
    width, (inside, line), has_borders = int(of_set.integers(1, 4)), of_set.permutation([1, 2]), of_set.random() < 0.7
    objects = blobs(rng, np.array([0, 1]), 128, 160)
    moved = shifted(rng, objects, 2)
    return with_lines(objects, width, inside, line), with_lines(moved, width if has_borders else 0, inside, line)


def poles(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw lines of one or two pixels of two classes before regions; half of the predictions lack them."""
    numbers, has_poles = of_set.choice(np.arange(3, 9), 2, replace=False), of_set.random() < 0.5
    regions = np.array([0, 1, 2, 8, 9, 10])
    truth = voronoi(rng, regions, 128, 160)
    prediction = predicted(rng, truth, regions)
    for number in numbers:
        for _ in range(6):
            column, width, top = rng.integers(4, 150), rng.integers(1, 4), rng.integers(0, 60)
            truth[top:, column : column + width] = number
            prediction[top + 3 :, column + 1 : column + 1 + width] = (
                number if has_poles else prediction[top + 3 :, [column - 1]]
            )
    return truth, prediction


def contours(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw one to four classes of objects, with classes of contours that are thick or lacking in some predictions."""
    number, width = int(of_set.integers(1, 5)), int(of_set.integers(1, 3))
    predicted_width = int(of_set.choice([width, width, 4, 0]))
    objects = shapes(rng, np.arange(number + 1), 128, 160)
    return contoured(objects, width), contoured(shifted(rng, objects, 2), predicted_width)


def contoured(objects: Map, width: int) -> Map:
    """Number objects 2, 4, ... and their contours 1, 3, ..."""
    drawn = np.zeros(objects.shape, np.uint8)
    for number in np.unique(objects[objects > 0]):
        mask = objects == number
        inner = binary_erosion(mask, iterations=width) if width else mask
        drawn[mask] = 2 * number - 1
        drawn[inner] = 2 * number
    return drawn


def speckled(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Predict single pixels of random classes."""
    classes = np.sort(of_set.choice(30, of_set.integers(3, 20), replace=False))
    share = of_set.uniform(0.05, 1)
    truth = voronoi(rng, classes, 128, 160)
    return truth, np.where(rng.random(truth.shape) < share, rng.choice(classes, truth.shape), truth).astype(np.uint8)


def superpixels(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw regions with numbers, of which predictions have others, and more."""
    most = int(of_set.integers(40, 250))
    truth = voronoi(rng, np.arange(40), 128, 160)
    finer = noise(rng, truth.shape, 2)
    parts, _ = label((finer > 0.5) | (truth % 2 == 0))
    return truth, (parts % most).astype(np.uint8)


def instances(of_set: np.random.Generator, rng: np.random.Generator) -> Pair:
    """Draw numbered objects that touch; predictions number them otherwise."""
    del of_set
    numbers = rng.permutation(np.arange(1, 60))
    truth = shapes(rng, numbers[:30], 128, 160)
    moved = shifted(rng, truth, 1)
    return truth, np.append(rng.permutation(np.arange(1, 61)), 0)[moved].astype(np.uint8)


CORRECT = {draw.__name__: draw for draw in (plain, rims, borders, poles, contours, speckled, superpixels, instances)}

if __name__ == "__main__":
    sys.exit(main())
