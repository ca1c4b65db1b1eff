"""Train two small classifiers of pixels three times each, and write what each training predicts to a folder.

    python scripts/examples/train_seeds.py seeds
    segbench pixels datasets/demo/objects/ground_truth 'colour@=seeds/colour/seed*' 'texture@=seeds/texture/seed*'

Each training draws other pixels and other random features, as trainings of networks draw other weights and batches.
Every photograph is predicted by a classifier that has not seen it. Put your networks in the place of `fit`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

DEMO = Path("datasets/demo")
SEEDS, PIXELS, HIDDEN, RIDGE = (1, 2, 3), 60, 40, 0.1
Array = NDArray[np.float64]


def colour(photograph: Array) -> Array:
    """Describe each pixel by its colour, shape (H, W, 3)."""
    return photograph


def texture(photograph: Array) -> Array:
    """Describe each pixel by its colour on three scales and by where it lies, shape (H, W, 14)."""
    blurred = [gaussian_filter(photograph, (sigma, sigma, 0)) for sigma in (2, 6, 18)]
    down, across = np.meshgrid(*(np.linspace(-1, 1, size) ** 2 for size in photograph.shape[:2]), indexing="ij")
    return np.dstack([photograph, *blurred, down, across])


def hidden(features: Array, weights: Array) -> Array:
    """Pass features through one layer of random weights."""
    return np.cos(features @ weights[:-1] + weights[-1])


def fit(features: list[Array], masks: list[NDArray[np.bool_]], seed: int) -> tuple[Array, Array]:
    """Train on some pixels of each photograph: random weights of one layer, and those of the next by least squares."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(features[0].shape[-1] + 1, HIDDEN)) * 2
    drawn = [random.integers(0, mask.size, PIXELS) for mask in masks]
    pairs = zip(features, drawn, strict=True)
    inputs = hidden(np.concatenate([image.reshape(-1, image.shape[-1])[chosen] for image, chosen in pairs]), weights)
    labels = np.concatenate([mask.ravel()[chosen] for mask, chosen in zip(masks, drawn, strict=True)])
    solved = np.linalg.solve(inputs.T @ inputs + RIDGE * np.eye(HIDDEN), inputs.T @ (2.0 * labels - 1))
    return weights, solved


def main() -> None:
    """Train, and write one folder of soft maps for each training."""
    target = Path(sys.argv[1])
    files = sorted((DEMO / "images").iterdir())
    photographs = [np.asarray(Image.open(file).convert("RGB")) / 255 for file in files]
    masks = [np.asarray(Image.open(DEMO / "objects/ground_truth" / f"{file.stem}.png")) > 0 for file in files]
    for describe in (colour, texture):
        features = [describe(photograph) for photograph in photographs]
        for seed in SEEDS:
            folder = target / describe.__name__ / f"seed{seed}"
            folder.mkdir(parents=True)
            for k, file in enumerate(files):
                others = [number for number in range(len(files)) if number != k]
                weights, solved = fit(
                    [features[number] for number in others], [masks[number] for number in others], seed
                )
                scores = 1 / (1 + np.exp(-2 * hidden(features[k], weights) @ solved))
                Image.fromarray(np.rint(255 * scores).astype(np.uint8)).save(folder / f"{file.stem}.png")


if __name__ == "__main__":
    main()
