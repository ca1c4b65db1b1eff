"""Whether methods are worse than a baseline by more than a margin, for continuous integration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from segbench.core.messages import NOTHING, Message, as_message
from segbench.core.metric import Metric
from segbench.core.numbers import digits_within, point_first, signed
from segbench.statistics.answer import p_text
from segbench.statistics.comparison import Comparison, Difference

EXIT_CODES = {"worse": 3, "undecided": 4, "not worse": 0}
"""Exit codes of the command line, the worst first."""


Decision = Literal["worse", "undecided", "not worse"]


@dataclass(frozen=True)
class BaselineOutcome:
    """One method against the baseline by one metric; `reason` says why there is no interval."""

    part: str
    metric: str
    method: str
    outcome: Decision
    difference: float | None
    interval: tuple[float, float] | None
    reason: Message
    text: str


@dataclass(frozen=True)
class BaselineCheck:
    """Methods against the baseline: the worst outcome decides."""

    baseline: str
    margin: float
    outcomes: tuple[BaselineOutcome, ...]

    @property
    def worst(self) -> list[BaselineOutcome]:
        """The outcomes that decide."""
        decisions = [outcome.outcome for outcome in self.outcomes]
        worst = min(decisions, key=list(EXIT_CODES).index)
        return [outcome for outcome in self.outcomes if outcome.outcome == worst]

    @property
    def exit_code(self) -> int:
        """What the command line exits with."""
        return EXIT_CODES[self.worst[0].outcome]

    def __str__(self) -> str:
        """Say what was found, in one line."""
        first, *others = self.worst
        more = f"; and {len(others)} more" if others else ""
        return f"{first.outcome}: {first.text}{more}"


def check_not_worse(
    comparisons: Mapping[str, Comparison],
    keys: Sequence[str],
    *,
    baseline: str,
    margin: float,
    unfinished: Mapping[str, str],
) -> BaselineCheck:
    """Find out of every other method whether its interval lies wholly beyond the margin, before it, or holds it."""
    # Of methods that are `unfinished`, which gives the reason, that is undecided; they need not be compared.
    outcomes: list[BaselineOutcome] = []
    for (name, comparison), key in itertools.product(comparisons.items(), keys):
        metric, others = comparison.metric(key), unfinished.keys() - {*comparison.methods, baseline}
        decided = [
            _outcome(name, comparison, metric, row.by(comparison.test), margin)
            for row in comparison.rows(key, against=baseline, tallied=False)
        ]
        decided += [
            BaselineOutcome(name, key, method, "undecided", None, None, NOTHING, "") for method in sorted(others)
        ]
        of_all = f"{baseline}: {unfinished[baseline]}" if baseline in unfinished else ""
        for outcome in decided:
            reason = as_message(unfinished.get(outcome.method, of_all))
            text = f"whether {outcome.method} is {_worse(baseline, metric, margin)} is open: {reason}"
            undecided = replace(outcome, outcome="undecided", reason=reason, text=f"{_of_part(name)}{text}")
            outcomes.append(undecided if reason else outcome)
    return BaselineCheck(baseline, margin, tuple(outcomes))


def _of_part(name: str) -> str:
    return f"{name}: " if name else ""


def _worse(baseline: str, metric: Metric, margin: float) -> str:
    by = f"by more than {metric.with_unit(point_first(f'{margin:g}'))} {metric.name}" if margin else f"by {metric.name}"
    return f"worse than {baseline} {by}"


def _decided(comparison: Comparison, metric: Metric, row: Difference, margin: float) -> Decision:
    """Decide by the interval of a difference; of the signed-rank test by p, where ties make the two disagree."""
    least, greatest = sorted(metric.direction * end for end in (row.low, row.high))
    outcome: Decision = "worse" if greatest < -margin else "not worse" if least >= -margin else "undecided"
    if comparison.test == "t-test":
        return outcome
    significant = row.p_value <= 1 - comparison.level
    if outcome == "worse" and not significant:
        return "undecided"
    if outcome == "undecided" and significant and not margin and row.difference:
        return "worse" if metric.direction * row.difference < 0 else "not worse"
    return outcome


def _outcome(part: str, comparison: Comparison, metric: Metric, row: Difference, margin: float) -> BaselineOutcome:
    worse = _worse(row.b, metric, margin)
    outcome: Decision = "undecided"
    interval, reason = None, NOTHING
    if math.isnan(row.low):
        reason = comparison.why_none(metric.key, row.a, row.b)["interval"]
        text = f"whether {row.a} is {worse} is undefined: {reason}"
    else:
        interval = row.low, row.high
        outcome = _decided(comparison, metric, row, margin)
        decided = {
            "worse": f"{row.a} is {worse}",
            "not worse": f"{row.a} is not {worse}",
            "undecided": f"it is open whether {row.a} is {worse}",
        }[outcome]
        pairs, digits = comparison.pairs(metric.key), digits_within(row.low, row.high)
        value, low, high = (signed(number, digits=digits) for number in (row.difference, *interval))
        difference = f"{pairs.differs_by or 'difference'} {metric.with_unit(value)}"
        tested = f"; {pairs.test}, {p_text(row.p_value)}" if comparison.test == "signed-rank" else ""
        text = f"{decided} ({difference}, {100 * comparison.level:g} % interval [{low}, {high}]{tested})"
    difference_if_any = None if math.isnan(row.difference) else row.difference
    return BaselineOutcome(
        part, metric.key, row.a, outcome, difference_if_any, interval, reason, f"{_of_part(part)}{text}"
    )
