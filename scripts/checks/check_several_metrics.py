"""How often some of several metrics differs with p < .05 between methods that do not differ: ``docs/comparing.md``.

Differences of each image in 5, 10 and 18 metrics are normal, with correlation .5 between any two metrics; each metric
has the paired t-test, as a mean over images has it in `segbench.compare`.

    python scripts/checks/check_several_metrics.py [--repeats 20000]
"""

import argparse

import numpy as np
from scipy import stats

CORRELATION = 0.5
LEVEL = 0.05
AT_ONCE = 500


def share_with_some_difference(metrics: int, images: int, repeats: int) -> float:
    """Return in which share of the sets at least one metric has a p-value below the level."""
    random = np.random.default_rng(metrics * 1000 + images)
    significant = 0
    for _ in range(repeats // AT_ONCE):
        shared = random.standard_normal((AT_ONCE, images, 1))
        own = random.standard_normal((AT_ONCE, images, metrics))
        differences = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own
        p_values = stats.ttest_1samp(differences, 0, axis=1).pvalue
        significant += np.count_nonzero(p_values.min(axis=1) < LEVEL)
    return significant / (repeats // AT_ONCE * AT_ONCE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20_000)
    options = parser.parse_args()
    for images in (10, 30, 100):
        shares = [f"{share_with_some_difference(metrics, images, options.repeats):.3f}" for metrics in (5, 10, 18)]
        print(f"{images:4} images, 5, 10, 18 metrics: {' '.join(shares)}")
