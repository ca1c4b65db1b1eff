"""The four numbers that go by the name of area under the PR curve, side by side, and why they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from segbench.core.counts import Pooled, as_pooled
from segbench.core.html import table_html
from segbench.core.numbers import number
from segbench.core.scores import ScoreCounts
from segbench.core.text_table import TextTable
from segbench.curves.areas import auc_pr, average_precision
from segbench.curves.hull import achievable_pr_curve
from segbench.curves.points import cumulate

_SAME = 5e-5  # printed with four digits


@dataclass(frozen=True)
class AreaExplanation:
    """Average precision and the PR areas of the same counts; prints as a table with reasons.

    Parameters
    ----------
    average_precision, exact, trapezoid, linear, achievable : float
        The figures; nan without positives.
    levels, positives, negatives : int
        Distinct scores, and totals of the ground truth.
    widest_step : float
        The largest share of the positives that has one score: between the ends of such a step, curves are interpolated.
    """

    average_precision: float
    exact: float
    trapezoid: float
    linear: float
    achievable: float
    levels: int
    positives: int
    negatives: int
    widest_step: float

    def _repr_html_(self) -> str:
        """Give the table that notebooks show."""
        rows = [[name, number(value), why] for name, value, why in self.rows()]
        return table_html(TextTable(["metric", "value", "why"], rows))

    def rows(self) -> list[tuple[str, float, str]]:
        """Give each figure with its name and the reason why it is what it is."""
        return [
            ("AUC-PR, exact", self.exact, "the curve of Davis and Goadrich (false positives linear), integrated"),
            (
                "AUC-PR, trapezoid",
                self.trapezoid,
                self._than_exact(self.trapezoid, "trapezoids over whole true positives approximate the same curve"),
            ),
            (
                "average precision",
                self.average_precision,
                self._than_exact(
                    self.average_precision, "precision at the end of each step of equal scores, not along it"
                ),
            ),
            (
                "AUC-PR, linear",
                self.linear,
                self._than_exact(self.linear, "straight lines in PR space, which no classifier attains"),
            ),
            (
                "AUC-PR, achievable",
                self.achievable,
                self._than_exact(
                    self.achievable, "the convex hull, its thresholds chosen on this very data: optimistic"
                ),
            ),
        ]

    def __str__(self) -> str:
        """Print the figures with four digits, one a line, and what the differences come from."""
        lines = [f"{name:<18} {figure:.4f}  {reason}" for name, figure, reason in self.rows()]
        lines.append(
            f"{self.levels} distinct scores for {self.positives} positives and {self.negatives} negatives; the widest "
            f"step takes {self.widest_step:.1%} of the positives at once. Differences grow with the steps and the skew."
        )
        return "\n".join(lines)

    def _than_exact(self, figure: float, reason: str) -> str:
        off = figure - self.exact
        return f"{off:+.4f}: {reason}" if abs(off) >= _SAME else f"the same to four digits: {reason}"


def explain_areas(counts: ScoreCounts | Pooled) -> AreaExplanation:
    """Every figure that is called area under the PR curve, and why they differ.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.

    Returns
    -------
    AreaExplanation
        Print it.

    Examples
    --------
    >>> print(explain_areas(ScoreCounts.from_points([9], [0], 433, 56164)))
    AUC-PR, exact      0.0295  the curve of Davis and Goadrich (false positives linear), integrated
    AUC-PR, trapezoid  0.0303  +0.0008: trapezoids over whole true positives approximate the same curve
    average precision  0.0283  -0.0012: precision at the end of each step of equal scores, not along it
    AUC-PR, linear     0.5141  +0.4847: straight lines in PR space, which no classifier attains
    AUC-PR, achievable 0.0295  the same to four digits: the convex hull, ...
    2 distinct scores for 433 positives and 56164 negatives; the widest step takes 97.9% of the positives at once...
    """
    counts = as_pooled(counts, ScoreCounts)
    tp, _ = cumulate(counts)
    positives = int(tp[-1])
    return AreaExplanation(
        average_precision=average_precision(counts),
        exact=auc_pr(counts),
        trapezoid=auc_pr(counts, method="trapezoid"),
        linear=auc_pr(counts, method="linear"),
        achievable=achievable_pr_curve(counts).area,
        levels=int(counts.scores.size),
        positives=positives,
        negatives=counts.total_negatives,
        widest_step=int(np.max(counts.positives)) / positives if positives else float("nan"),
    )
