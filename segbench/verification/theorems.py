"""Identities of pixel counts, each side derived in its own way: in whole numbers, by brute force, or by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from segbench.aggregator.benchmark import evaluate
from segbench.counts import ScoreCounts
from segbench.curves import Curve, auc_pr, auc_roc, pr_curve, roc_hull
from segbench.curves.summary import pixel_summary
from segbench.loaders.shipped import shipped
from segbench.protocols.pixels import count_pixels
from segbench.verification.checks import Check, whole
from segbench.verification.expectations import ROUNDING

_FACTOR = 1000


def theorem_groups(part: str) -> list[Callable[[], Iterator[Check]]]:
    """Give what derives the checks, group by group, of the part with this title."""
    return [partial(group, part) for group in (_wilcoxon, _hull, _multiplied, _pooled_by_hand)]


def _demo_counts() -> dict[str, ScoreCounts]:
    """Give the pooled counts of the demo's methods."""
    folder = shipped("demo") / "objects"
    methods = sorted(path.name for path in (folder / "predictions").iterdir() if path.is_dir())
    pooled = {name: whole(evaluate(folder / "ground_truth", folder / "predictions" / name)).pooled for name in methods}
    return {method: counts for method, counts in pooled.items() if isinstance(counts, ScoreCounts)}


def _wilcoxon(part: str) -> Iterator[Check]:
    for method, counts in _demo_counts().items():
        yield Check(
            part=part,
            group="AUC-ROC is the Wilcoxon-Mann-Whitney statistic",
            what=method,
            source="D&G, section 4",
            expected=_mann_whitney(counts),
            got=auc_roc(counts),
            allowed=ROUNDING,
        )


def _mann_whitney(counts: ScoreCounts) -> float:
    """Share of pairs that a positive wins, ties being half a win; in whole numbers."""
    twice, below = 0, counts.total_negatives
    for positives, negatives in zip(counts.positives.tolist(), counts.negatives.tolist(), strict=True):
        below -= negatives
        twice += positives * (2 * below + negatives)
    return float(Fraction(twice, 2 * counts.total_positives * counts.total_negatives))


def _hull(part: str) -> Iterator[Check]:
    for method, counts in _demo_counts().items():
        yield Check(
            part=part,
            group="the best F lies on the ROC hull",
            what=method,
            source="half-plane",
            expected=_best_f(pr_curve(counts)),
            got=_best_f(roc_hull(counts)),
            allowed=0,
        )


def _best_f(curve: Curve) -> float:
    points = zip(curve.tp.tolist(), curve.fp.tolist(), strict=True)
    return float(max(Fraction(2 * tp, curve.positives + tp + fp) for tp, fp in points))


def _multiplied(part: str) -> Iterator[Check]:
    for method, counts in _demo_counts().items():
        larger = ScoreCounts(counts.scores, counts.positives * _FACTOR, counts.negatives * _FACTOR)
        yield Check(
            part=part,
            group=f"{_FACTOR} pixels for each leave AUC-PR as it is",
            what=method,
            source="D&G, section 4",
            expected=auc_pr(counts),
            got=auc_pr(larger),
            allowed=ROUNDING,
        )


def _pooled_by_hand(part: str) -> Iterator[Check]:
    images = {
        "a": count_pixels(labels=np.array([0, 1, 0]), scores=np.array([0, 0, 1])),
        "b": count_pixels(labels=np.array([0, 1, 1]), scores=np.array([0, 3, 3])),
    }
    summary = pixel_summary(images)
    note = "each image at its own best threshold pools below one threshold for both: OIS >= ODS is no law"
    for key, name, value, remark in (("ods_f", "ODS F", 0.8, ""), ("ois_f", "OIS F", 0.75, note)):
        yield Check(
            part=part,
            group="two images of three pixels",
            what=name,
            source="by hand",
            expected=value,
            got=summary[key],
            allowed=ROUNDING,
            note=remark,
        )
