"""Outlines drawn by hand, and the masks and boundary maps that they stand for.

A file `outlines/<picture>.toml` holds one annotator's regions in the order in which they are painted, far things first:
a later region covers an earlier one. Points are `x,y` in pixels, whole numbers at pixel centres; a region may run off
the picture. `shape` is `polygon` (the default), `curve` (a closed cubic spline through the points) or `ellipse`
(`x,y radii degrees`). Regions marked `object` are the foreground.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from skimage.draw import polygon2mask
from skimage.morphology import thin

FOLDER = Path(__file__).parent / "outlines"


@dataclass(frozen=True)
class Annotation:
    """One annotator's view of one picture.

    Attributes
    ----------
    regions
        Region number of every pixel, 0 where nothing was drawn.
    objects
        Pixels that belong to a foreground object.
    names
        Name of each region, from number 1.
    """

    regions: NDArray[np.int64]
    objects: NDArray[np.bool_]
    names: tuple[str, ...]


def annotation(stem: str, size: tuple[int, int]) -> Annotation:
    """Paint the outlines of `outlines/<stem>.toml` on a picture of `size` (width, height)."""
    shape = size[1], size[0]
    regions = np.zeros(shape, dtype=np.int64)
    objects = np.zeros(shape, dtype=bool)
    drawn = tomllib.loads((FOLDER / f"{stem}.toml").read_text())["region"]
    for number, region in enumerate(drawn, start=1):
        path = closed_path(region.get("shape", "polygon"), region["points"])
        inside = polygon2mask(shape, path[:, ::-1])
        regions[inside] = number
        objects[inside] = region.get("object", False)
    return Annotation(regions, objects, tuple(region["name"] for region in drawn))


def closed_path(shape: str, points: str) -> NDArray[np.float64]:
    """Corners (x, y) of a closed outline, with curves cut into short straight pieces."""
    if shape == "ellipse":
        return _ellipse(points)
    corners = np.array([point.split(",") for point in points.split()], dtype=float)
    return corners if shape == "polygon" else _curve(corners)


def boundaries(regions: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Boundaries between regions, one pixel wide.

    A pixel is marked where its right, lower or lower right neighbour is of another region, as in BSDS's `seg2bmap`.
    """
    padded = np.pad(regions, ((0, 1), (0, 1)), mode="edge")
    here = padded[:-1, :-1]
    marked = (here != padded[:-1, 1:]) | (here != padded[1:, :-1]) | (here != padded[1:, 1:])
    return np.asarray(thin(marked))


def _ellipse(points: str) -> NDArray[np.float64]:
    x, y, radius_x, radius_y, degrees = (float(number) for number in points.replace(",", " ").split())
    around = np.linspace(0.0, 2 * np.pi, 120, endpoint=False)
    spoke = radius_x * np.cos(around) + 1j * radius_y * np.sin(around)
    turned = complex(x, y) + spoke * np.exp(1j * np.radians(degrees))
    return np.column_stack([turned.real, turned.imag])


def _curve(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    closed = np.vstack([corners, corners[:1]])
    # The root of the chord lengths (centripetal) keeps the spline from looping between unevenly spaced points.
    knots = np.concatenate([[0.0], np.cumsum(np.sqrt(np.hypot(*np.diff(closed, axis=0).T)))])
    spline = CubicSpline(knots, closed, bc_type="periodic")
    return np.asarray(spline(np.linspace(0.0, knots[-1], 12 * len(corners), endpoint=False)))
