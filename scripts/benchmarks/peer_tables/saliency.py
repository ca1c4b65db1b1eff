"""F at 256 levels: segbench beside PySODMetrics, whose F is the mean over images (beta^2 = .3).

PySODMetrics' "max F" is the highest mean over images of F at one level, its "mean F" the mean over levels, its adaptive
F is at twice an image's mean score. All three follow from segbench's counts of each image, as does what it does not
have: F of the pooled counts (segbench's ODS).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from measuring import duration, factor, in_turn, markdown, times_as_long
from numpy.typing import NDArray

import segbench
from peer_tables.images import MaskImage
from peer_tables.programs import PYSODMETRICS

BETA2 = 0.3
LEVELS = 256
OURS = "segbench"
_ROUNDS = 9
Figures = dict[str, float]


def by_segbench(images: Sequence[MaskImage]) -> Figures:
    """Count each image, then read everything from the counts."""
    counts = [segbench.count_pixels(image.ground_truth > 128, image.scores) for image in images]
    curves = np.mean([f_at_levels(one) for one in counts], axis=0)
    return {
        "max F": float(curves.max()),
        "mean F": float(curves.mean()),
        "adaptive F": float(np.mean([adaptive_f(one) for one in counts])),
        "pooled max F": segbench.best_f(segbench.ScoreCounts.sum(counts), beta=math.sqrt(BETA2)).f,
    }


def by_pysodmetrics(images: Sequence[MaskImage], *, stretch: bool) -> Figures:
    """Step through the images; `stretch` is its default, which stretches each map to [0, 1]."""
    import py_sod_metrics as peer

    metric = peer.FmeasureV2({"f": peer.FmeasureHandler(with_dynamic=True, with_adaptive=True, beta=BETA2)})
    for image in images:
        if stretch:
            metric.step(image.scores, image.ground_truth)
        else:
            metric.step(image.scores / 255, image.ground_truth > 128, normalize=False)
    found = metric.get_results()["f"]
    return {
        "max F": float(found["dynamic"].max()),
        "mean F": float(found["dynamic"].mean()),
        "adaptive F": float(found["adaptive"]),
    }


def f_at_levels(counts: segbench.ScoreCounts) -> NDArray[np.float64]:
    """F of an image at ``score >= k / 255`` for k = 255, 254, .. 0, from its counts; 0 where nothing is found."""
    levels = np.rint(counts.scores * (LEVELS - 1)).astype(int)
    tp, predicted = np.zeros(LEVELS), np.zeros(LEVELS)
    tp[LEVELS - 1 - levels], predicted[LEVELS - 1 - levels] = counts.positives, counts.positives + counts.negatives
    tp, predicted = np.cumsum(tp), np.cumsum(predicted)
    return (1 + BETA2) * tp / (BETA2 * tp[-1] + predicted)


def adaptive_f(counts: segbench.ScoreCounts) -> float:
    """F of an image at twice its mean score, at most 1, from its counts."""
    both = counts.positives + counts.negatives
    threshold = min(2 * float(counts.scores @ both) / float(both.sum()), 1)
    on = counts.scores >= threshold
    tp = int(counts.positives[on].sum())
    return (1 + BETA2) * tp / (BETA2 * counts.total_positives + int(both[on].sum()))


def ways(images: Sequence[MaskImage]) -> dict[str, Callable[[], Figures]]:
    """Name the programs that are here."""
    ours = {OURS: lambda: by_segbench(images)}
    if PYSODMETRICS.missing:
        return ours
    return ours | {
        "PySODMetrics, normalize=False": lambda: by_pysodmetrics(images, stretch=False),
        "PySODMetrics": lambda: by_pysodmetrics(images, stretch=True),
    }


def report(images: Sequence[MaskImage], rounds: int = _ROUNDS) -> str:
    """Write the table."""
    figures = {name: way() for name, way in ways(images).items()}
    seconds = in_turn(ways(images), rounds)
    rows = [
        [
            name,
            duration(float(np.median(taken)) / len(images)),
            "" if name == OURS else factor(times_as_long(taken, seconds[OURS])),
            *(f"{figures[name][key]:.6f}" if key in figures[name] else "" for key in figures[OURS]),
        ]
        for name, taken in seconds.items()
    ]
    return markdown(["program", "an image", "times ours", *figures[OURS]], rows)
