"""Methods on the same simulated images, as counts, and the rows of their comparison."""

import numpy as np

from segbench import ScoreCounts

LEVELS = 16


def pixel_methods(images, *, seed=0, gaps=(0.0, 0.1), small=False):
    """Counts by method (a, b, ..) and image; images are hard or easy for all methods, and differ in size."""
    rng = np.random.default_rng(seed)
    names = "abcdefghijklmnopqrstuvwxyz"
    methods = {names[k]: {} for k in range(len(gaps))}
    for image in range(images):
        positives = int(np.exp(rng.normal(3 if small else 5, 0.7))) + 1
        negatives, ease = 4 * positives, rng.normal(1.2, 0.4)
        for name, gap in zip(methods, gaps, strict=True):
            shift = ease + gap + rng.normal(0, 0.2)
            found = [
                np.histogram(rng.normal(mean, 1, pixels), np.r_[-np.inf, np.linspace(-2, 4, LEVELS - 1), np.inf])[0][
                    ::-1
                ]
                for mean, pixels in ((shift, positives), (0, negatives))
            ]
            methods[name][f"{image:03}"] = ScoreCounts(np.arange(LEVELS)[::-1] / 255, *found)
    return methods


def row_of(comparison, key):
    """Return the only row of a comparison with a metric."""
    (row,) = comparison.rows(key)
    return row
