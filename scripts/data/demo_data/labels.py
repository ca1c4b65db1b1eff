"""Label maps of the demo pictures: a few classes from the outlines, and two methods that get one stroke per region."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.filters import sobel
from skimage.morphology import skeletonize
from skimage.segmentation import random_walker, watershed

from demo_data.pictures import lab

Labels = NDArray[np.uint8]

CLASSES = ("background", "person", "animal", "vehicle", "building", "object")
VOID = 255
BACKGROUND, PERSON, ANIMAL, VEHICLE, BUILDING, OBJECT = range(6)

# Of each picture, the classes of its regions by the beginnings of their names; "" is the class of all other objects.
CLASSES_OF = {
    "astronaut": {"shuttle": VEHICLE, "helmet": OBJECT, "visor": OBJECT, "": PERSON},
    "camera": {"buildings": BUILDING, "tripod": OBJECT, "camera": OBJECT, "rod": OBJECT, "": PERSON},
    "cell": {"": OBJECT},
    "chelsea": {"": ANIMAL},
    "coffee": {"": OBJECT},
    "coins": {"": OBJECT},
    "hopper": {"flag": OBJECT, "": PERSON},
    "horse": {"": ANIMAL},
    "rocket": {"big tower": BUILDING, "small tower": BUILDING, "launch pad": BUILDING, "": VEHICLE},
}

INNER = 0.5
LEAST_DEPTH = 2.0


def class_of(picture: str, region: str, *, is_object: bool) -> int:
    """Class of an outlined region."""
    classes = CLASSES_OF[picture]
    named = next((label for start, label in classes.items() if start and region.startswith(start)), None)
    return named if named is not None else classes[""] if is_object else BACKGROUND


def with_void(labels: Labels) -> Labels:
    """Labels with void pixels on both sides of every border between classes, as in PASCAL VOC."""
    lowest, highest = ndimage.minimum_filter(labels, 3), ndimage.maximum_filter(labels, 3)
    return np.where(lowest != highest, VOID, labels).astype(np.uint8)


def strokes(labels: Labels) -> NDArray[np.int64]:
    """A stroke along the middle of each connected part of each class, numbered by class from 1; 0 elsewhere."""
    seeds = np.zeros(labels.shape, np.int64)
    for label in np.unique(labels[labels != VOID]):
        depth = ndimage.distance_transform_edt(np.pad(labels == label, 1))[1:-1, 1:-1]
        parts, count = ndimage.label(depth > 0)
        deepest = np.append(np.inf, ndimage.maximum(depth, parts, range(1, count + 1)))
        seeds[skeletonize(depth > np.maximum(INNER * deepest[parts], LEAST_DEPTH))] = label + 1
    return seeds


def walker(picture: NDArray[np.uint8], seeds: NDArray[np.int64]) -> Labels:
    """Labels by the random walker (Grady, 2006), of the class with the most probable stroke."""
    stroke_labels, numbered = np.unique(seeds[seeds > 0], return_inverse=True)
    if stroke_labels.size == 1:
        return np.full(seeds.shape, stroke_labels[0] - 1, np.uint8)
    consecutive = np.zeros_like(seeds)
    consecutive[seeds > 0] = numbered + 1
    most_probable = random_walker(lab(picture) / 100.0, consecutive, beta=600, mode="bf", channel_axis=-1)
    return np.asarray(stroke_labels[most_probable - 1] - 1, np.uint8)


def flooding(picture: NDArray[np.uint8], seeds: NDArray[np.int64]) -> Labels:
    """Labels by flooding the gradient of the lightness from the strokes."""
    lightness = ndimage.gaussian_filter(lab(picture)[..., 0], 1.0)
    return np.asarray(watershed(sobel(lightness), seeds) - 1, np.uint8)


METHODS = {"random_walker": walker, "watershed": flooding}
