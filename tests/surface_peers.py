"""Straightforward code for the distances between surfaces, and random pairs of masks to try it on."""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.ndimage import binary_erosion, distance_transform_edt, gaussian_filter, generate_binary_structure

from segbench.core.metric import key_at
from segbench.imaging.neighbour_normals import NEIGHBOUR_CODE_TO_NORMALS

KINDS = ("full", "one voxel", "noise", "border", "hollow", "smooth", "components")


def random_mask(rng, shape, kind):
    """Draw a mask that is not empty."""
    mask = np.zeros(shape, bool)
    if kind == "full":
        mask[:] = True
    elif kind == "noise":
        mask[:] = rng.random(shape) < rng.random()
    elif kind == "border":
        mask[tuple(slice(rng.integers(size), None) for size in shape)] = True
    elif kind == "hollow":
        mask[:] = True
        mask[tuple(slice(1, -1) for _ in shape)] = rng.random() < 0.3
    elif kind != "one voxel":
        smooth = gaussian_filter(rng.standard_normal(shape), rng.uniform(0.5, 3 if kind == "smooth" else 1))
        mask[:] = smooth > rng.uniform(0, 1) * smooth.std()
    mask[tuple(rng.integers(size) for size in shape)] |= not mask.any()
    return mask


def random_spacing(rng, dimensions):
    """Draw sizes along the axes: all alike, all different with a few decimals, or 1 to 10."""
    digits = int(rng.integers(0, 8))
    kind = rng.integers(3)
    if kind == 0:
        return (round(rng.uniform(0.3, 3), digits) or 1.0,) * dimensions
    if kind == 1:
        return tuple(round(rng.uniform(0.3, 5), digits) or 1.0 for _ in range(dimensions))
    return tuple(rng.permutation([0.5, 5.0, 0.5])[:dimensions].tolist())


def random_pair(seed, dimensions=3, largest=14):
    """Draw two masks, and how far voxels are apart."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, largest, dimensions)
    truth, predicted = (random_mask(rng, shape, KINDS[rng.integers(len(KINDS))]) for _ in range(2))
    return truth, predicted, random_spacing(rng, dimensions)


def inner_surface(mask):
    """Return the voxels of a mask with a neighbour along an axis outside it, and that these count alike."""
    surface = mask ^ binary_erosion(mask, generate_binary_structure(mask.ndim, 1))
    return surface, np.ones(mask.shape)


def _length_of_contour(corners, spacing):
    """Return the length of the contour through four pixels, as surface-distance does."""
    vertical, horizontal = spacing
    upper_left, upper_right, _, lower_right = corners
    if sum(corners) in (0, 4):
        return 0.0
    if sum(corners) != 2:
        return 0.5 * math.hypot(vertical, horizontal)
    if upper_left == lower_right:
        return math.hypot(vertical, horizontal)
    return horizontal if upper_left == upper_right else vertical


def _area_of_surface(corners, spacing):
    """Return the area of the surface through eight voxels, as surface-distance does."""
    code = int("".join(map(str, corners)), 2)
    depth, height, width = spacing
    faces = np.array([height * width, depth * width, depth * height])
    return sum(np.linalg.norm(np.array(normal) * faces) for normal in NEIGHBOUR_CODE_TO_NORMALS[code])


def corner_surface(mask, spacing):
    """Return the corners of pixels or voxels on the surface, and the length or area of the element at each."""
    padded = np.pad(mask, 1).astype(int)
    size_of = _length_of_contour if mask.ndim == 2 else _area_of_surface
    sizes = np.zeros(np.array(mask.shape) + 1)
    surface = np.zeros(sizes.shape, bool)
    for corner in np.ndindex(*sizes.shape):
        around = [padded[tuple(np.add(corner, step))] for step in itertools.product((0, 1), repeat=mask.ndim)]
        surface[corner] = 0 < sum(around) < len(around)
        sizes[corner] = size_of(around, spacing) if surface[corner] else 0
    return surface, sizes


def directed(truth, predicted, spacing, surface):
    """Return distances and weights from ground truth to prediction and back, and the squares as fractions."""
    find = inner_surface if surface in ("voxels", "pixels") else lambda mask: corner_surface(mask, spacing)
    sides = [find(truth), find(predicted)]
    found = []
    for (own, sizes), (other, _) in (sides, sides[::-1]):
        nearest = distance_transform_edt(~other, sampling=spacing, return_distances=False, return_indices=True)
        steps = np.abs(np.indices(own.shape) - nearest)[:, own]
        exact = [Fraction(repr(float(size))) for size in spacing]
        squared = [
            sum((int(step) * size) ** 2 for step, size in zip(of_voxel, exact, strict=True)) for of_voxel in steps.T
        ]
        found.append((np.sqrt(np.array(squared, float)), sizes[own], squared))
    return found


def metrics(truth, predicted, spacing, surface, tolerances=(2.0,)):
    """Compute metrics as they are defined, voxel by voxel."""
    (there, there_sizes, there_squared), (back, back_sizes, back_squared) = directed(truth, predicted, spacing, surface)
    both, sizes = np.concatenate([there, back]), np.concatenate([there_sizes, back_sizes])
    values = {
        "dice": 2 * (truth & predicted).sum() / (truth.sum() + predicted.sum()),
        "hd": both.max(),
        "assd": (both @ sizes) / sizes.sum(),
        "masd": ((there @ there_sizes) / there_sizes.sum() + (back @ back_sizes) / back_sizes.sum()) / 2,
    }
    if surface in ("voxels", "pixels"):
        values["hd95"] = max(np.percentile(there, 95), np.percentile(back, 95))
        values["hd95 union"] = np.percentile(both, 95)
    else:
        values["hd95"] = max(_reached(there, there_sizes), _reached(back, back_sizes))
        values["hd95 union"] = _reached(both, sizes)
    for tolerance in tolerances:
        square = Fraction(repr(float(tolerance))) ** 2
        within = np.array([squared <= square for squared in (*there_squared, *back_squared)])
        values[key_at("nsd", tolerance)] = sizes[within].sum() / sizes.sum()
    return values


def _reached(distances, sizes):
    """Return the smallest distance whose cumulated size reaches 95 %."""
    order = np.argsort(distances, kind="stable")
    rising, cumulated = distances[order], np.cumsum(sizes[order])
    place = np.argmax(cumulated >= (0.95 - 1e-12) * cumulated[-1])
    return rising[place]
