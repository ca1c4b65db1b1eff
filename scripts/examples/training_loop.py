"""Validate in a training loop: count batch by batch, and compare the epochs.

    python training_loop.py

The "network" is one logistic regression on two features of each pixel, written in NumPy, so that the example runs
anywhere; put your network, loader and optimiser in the three places marked below. Scores may be PyTorch tensors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import segbench

EPOCHS, IMAGES, SIZE = 5, 12, 16
Batch = tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]


def loader(seed: int, batch: int = 4) -> Iterator[Batch]:
    """Yield features (B, H, W, 2), labels (B, H, W) and the names of the images."""  # your loader
    random = np.random.default_rng(seed)
    for start in range(0, IMAGES, batch):
        labels = random.random((batch, SIZE, SIZE)) < 0.2
        features = np.stack([labels + random.normal(size=labels.shape), random.normal(size=labels.shape)], axis=-1)
        yield features, labels, [f"image{number:02}" for number in range(start, start + batch)]


def predict(features: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities in [0, 1]: floats are scores as they are."""  # your network, after the sigmoid
    return np.asarray(1 / (1 + np.exp(-(features @ weights[:2] + weights[2]))))


def main() -> None:
    """Train, validate after each epoch, and say how certain the gain is."""
    weights = np.array([0.0, 1.0, 0.0])
    epochs: list[segbench.Result] = []
    for epoch in range(EPOCHS):
        accumulator = segbench.Accumulator(segbench.Pixels(), method=f"epoch {epoch}")
        for features, labels, names in loader(seed=1):
            accumulator.update(labels, predict(features, weights), names=names)
        epochs.append(accumulator.compute())
        print("epoch {}: ODS {ods_f:.3f}, AP {average_precision:.3f}".format(epoch, **epochs[-1].summary))
        for features, labels, _ in loader(seed=0):  # your optimiser
            error = labels - predict(features, weights)
            weights[:2] += (error[..., None] * features).mean(axis=(0, 1, 2))
            weights[2] += error.mean()
    # All epochs, so that p-values are corrected for choosing the best one of them.
    print(segbench.compare_results(epochs))


if __name__ == "__main__":
    main()
