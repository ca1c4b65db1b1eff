"""Compare masks of random polygons with those of pycocotools, run by run; exits with 1 where one differs.

Polygons have 3 to 40 corners, with and without decimals, leave the image, cross themselves and repeat corners.

    python scripts/checks/check_polygons.py --polygons 10000
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from pycocotools import mask as peer

from segbench.loaders.mask_codes import runs_of_polygons, runs_of_texts


def random_polygons(random: np.random.Generator, size: tuple[int, int]) -> list[list[float]]:
    """Return one to three polygons around an image of a height and width."""
    polygons = []
    for _ in range(int(random.integers(1, 4))):
        corners = int(random.integers(3, 41))
        margin = random.choice([0.0, 0.3, 2.0])
        spread = np.array([size[1], size[0]]) * (1 + 2 * margin)
        points = random.random((corners, 2)) * spread - margin * np.array([size[1], size[0]])
        digits = random.choice([0, 1, 2, 12])
        points = np.round(points, int(digits))
        if random.random() < 0.2:  # corners twice
            points = np.repeat(points, random.integers(1, 3, corners), axis=0)
        polygons.append(points.reshape(-1).tolist())
    return polygons


def differs(polygons: list[list[float]], size: tuple[int, int]) -> bool:
    """Return whether the masks of both differ in a pixel, or the text of the peer in a run."""
    height, width = size
    expected = peer.merge(peer.frPyObjects(polygons, height, width))
    of_text, _ = runs_of_texts([expected["counts"]])
    ends = np.cumsum([len(polygon) for polygon in polygons])
    runs, _ = runs_of_polygons(np.concatenate(polygons), ends, np.array([len(polygons)]), height, width)
    if runs.sum() != height * width or of_text.sum() != height * width:
        return True
    mask = np.repeat(np.arange(runs.size) % 2, runs).reshape(width, height).T
    from_text = np.repeat(np.arange(of_text.size) % 2, of_text).reshape(width, height).T
    return not (np.array_equal(mask, peer.decode(expected)) and np.array_equal(from_text, mask))


def main() -> int:
    """Compare as many as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--polygons", type=int, default=10_000)
    random = np.random.default_rng(63)
    wrong = compared = 0
    while compared < parser.parse_args().polygons:
        size = (int(random.integers(1, 120)), int(random.integers(1, 120)))
        polygons = random_polygons(random, size)
        compared += len(polygons)
        wrong += differs(polygons, size)
    print(f"{compared} polygons, images that differ: {wrong}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
