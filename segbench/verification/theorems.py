"""Identities of pixel counts, each side derived in its own way: in whole numbers, by brute force, or by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr, auc_roc, average_precision
from segbench.curves.curve import Curve, pr_curve
from segbench.curves.dominance import dominates
from segbench.curves.hull import roc_hull
from segbench.loaders.presets import shipped
from segbench.protocols.pixels.metrics import PixelTable
from segbench.protocols.pixels.settings import count_pixels
from segbench.verification.checks import Check
from segbench.verification.expectations import ROUNDING
from segbench.verification.runs import pixels_of

_FACTOR = 1000
_SLICES = 1_000_000
_OF_SLICES = 1e-7


@dataclass(frozen=True)
class _Theorem:
    """Two ways to one number, from the pooled counts of a method."""

    name: str
    source: str
    one_way: Callable[[ScoreCounts], float]
    other_way: Callable[[ScoreCounts], float]
    allowed: float = ROUNDING


def theorem_groups(part: str) -> list[Callable[[], Iterator[Check]]]:
    """Give what derives the checks, group by group, of the part with this title."""
    return [
        *(partial(_on_the_demo, part, theorem) for theorem in _THEOREMS),
        partial(_crossing, part),
        partial(_pooled_by_hand, part),
    ]


def _on_the_demo(part: str, theorem: _Theorem) -> Iterator[Check]:
    objects = shipped("demo") / "objects"
    for folder in sorted(path for path in (objects / "predictions").iterdir() if path.is_dir()):
        counts, _ = pixels_of(objects / "ground_truth", folder)
        yield Check(
            part=part,
            group=theorem.name,
            what=folder.name,
            source=theorem.source,
            expected=theorem.one_way(counts),
            got=theorem.other_way(counts),
            allowed=theorem.allowed,
        )


def _mann_whitney(counts: ScoreCounts) -> float:
    """Share of pairs that a positive wins, ties being half a win; in whole numbers."""
    twice, below = 0, counts.total_negatives
    for positives, negatives in zip(counts.positives.tolist(), counts.negatives.tolist(), strict=True):
        below -= negatives
        twice += positives * (2 * below + negatives)
    return float(Fraction(twice, 2 * counts.total_positives * counts.total_negatives))


def _step_sum(counts: ScoreCounts) -> float:
    """Precision at the end of each step times the positives of the step; in whole numbers."""
    area, tp, fp = Fraction(0), 0, 0
    for positives, negatives in zip(counts.positives.tolist(), counts.negatives.tolist(), strict=True):
        tp, fp = tp + positives, fp + negatives
        area += positives * Fraction(tp, tp + fp)
    return float(area / counts.total_positives)


def _in_slices(counts: ScoreCounts) -> float:
    """Mean of precision over evenly spaced recalls, false positives straight between points."""
    curve = pr_curve(counts)
    tp = (np.arange(_SLICES) + 0.5) / _SLICES * curve.positives
    return float(np.mean(tp / (tp + np.interp(tp, curve.tp, curve.fp))))


def _best_f(curve: Curve) -> float:
    points = zip(curve.tp.tolist(), curve.fp.tolist(), strict=True)
    return float(max(Fraction(2 * tp, curve.positives + tp + fp) for tp, fp in points))


def _multiplied(counts: ScoreCounts) -> float:
    return auc_pr(ScoreCounts(counts.scores, counts.positives * _FACTOR, counts.negatives * _FACTOR))


_THEOREMS = (
    _Theorem("AUC-ROC is the Wilcoxon-Mann-Whitney statistic", "D&G, section 4", _mann_whitney, auc_roc),
    _Theorem("AP is the sum of its steps", "definition", _step_sum, average_precision),
    _Theorem("AUC-PR is an integral, here in a million slices", "D&G, section 4", _in_slices, auc_pr, _OF_SLICES),
    _Theorem(f"{_FACTOR} pixels for each leave AUC-PR as it is", "D&G, section 4", auc_pr, _multiplied),
    _Theorem(
        "the best F lies on the ROC hull",
        "half-plane",
        lambda counts: _best_f(pr_curve(counts)),
        lambda counts: _best_f(roc_hull(counts)),
        0,
    ),
)


def _crossing(part: str) -> Iterator[Check]:
    data = shipped("papers") / "section_6_3"
    one, other = (pixels_of(data / "ground_truth", data / f"predictions_{k}")[0] for k in (1, 2))
    crossings = dominates(one, other).crossings
    derived = {"crossings": (1, len(crossings)), "recall of the first": (0.45, next(iter(crossings), math.nan))}
    for what, (value, got) in derived.items():
        yield Check(
            part=part,
            group="the two curves of R&P, section 6.3, cross",
            what=what,
            source="by hand",
            expected=value,
            got=got,
            allowed=ROUNDING,
        )


def _pooled_by_hand(part: str) -> Iterator[Check]:
    images = {
        "a": count_pixels(labels=np.array([0, 1, 0]), scores=np.array([0, 0, 1])),
        "b": count_pixels(labels=np.array([0, 1, 1]), scores=np.array([0, 3, 3])),
    }
    summary = PixelTable([images]).summary()
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
