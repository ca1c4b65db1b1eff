"""The best F of each of many images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from segbench.core.integers import FloatArray
from segbench.core.operating_point import Confusion
from segbench.core.scores import ScoreCounts


@dataclass(frozen=True, eq=False)
class BestFs(Confusion):
    """The points with the best F of many images, one entry per image; see `BestF`."""

    thresholds: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[BestFs]) -> BestFs:
        """Put the images of several, at least one, one after another."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


def best_fs(images: Iterable[ScoreCounts]) -> BestFs:
    """Best F of each image (beta 1), at the same points as `best_f` chooses; without pixels threshold nan, counts 0."""
    from segbench.curves import kernels

    counts, thresholds = [], []
    for image in images:
        tp, fp = (np.cumsum(np.append(0, part), dtype=np.int64) for part in (image.positives, image.negatives))
        known = image.scores.size > 0
        at = kernels.best_point(tp, fp, tp[-1]) if known else 0
        counts.append((tp[at], fp[at], tp[-1], fp[-1]))
        thresholds.append(float(image.scores[at - 1]) if known else np.nan)
    tp, fp, positives, negatives = np.array(counts, np.int64).reshape(-1, 4).T
    return BestFs(tp, fp, positives, negatives, np.array(thresholds, np.float64))
