"""What files may hold under the settings of a protocol, for `segbench.check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from segbench.core.messages import Message


@dataclass(frozen=True, kw_only=True)
class ExpectedScores:
    """What soft maps may hold."""

    invert: bool | None = None  # whether low scores mean positive; None where no option says so
    unit_range: bool = False  # whether scores outside [0, 1] are refused
    any_range: bool = False  # whether scores far below 0 are as good as any, and not logits that were forgotten
    stretched: bool = False  # whether each map is stretched to its own range, so that its range does not matter
    at: tuple[float, ...] = ()  # thresholds chosen beforehand
    cut: bool = False  # whether maps become masks at these, so that nothing else of a score matters
    listed: tuple[float, ...] = ()  # thresholds of a curve, where not spread evenly from 0 to 1
    as_masks: bool = False  # whether predictions of two values alone are evaluated as masks
    pooled: bool = True  # whether scores of different images are ranked together, so that lost ones matter


@dataclass(frozen=True, kw_only=True)
class ExpectedLines:
    """How lines are drawn and predicted."""

    label_maps: bool = False  # whether the borders of label maps are the ground truth
    category: int | None = None  # which category counts, from 1, where ground truth is drawn category by category
    thinned: bool = False  # whether predictions are thinned, so that thick lines of the ground truth are missed
    suppressed: bool = True  # whether maps are suppressed before they are counted, or need not be
    suppression: bool = False  # whether suppression is a setting that may be left out


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the files of a run may hold."""

    rule: Any = None  # the `segbench.inputs.label_rules.LabelRule` that says which ground-truth values are positive
    implied: bool = False  # whether nobody named that rule, so that grey levels and void leave open what is positive
    unnamed_rule: bool = False  # whether the protocol has that rule by default
    nonzero: bool = False  # whether all values but 0 are positive without a rule
    void: tuple[float, ...] | None = None  # ground-truth values left out; None where no option says so
    one_annotator: bool = False  # whether several annotators of an image are refused
    several_ruled: bool = False  # whether a setting says how several count together
    scores: ExpectedScores | None = None  # None where predictions are label maps
    lines: ExpectedLines | None = None  # None where areas are drawn and predicted
    of_soft_maps: Message | str = ""  # how to count soft maps that are no numbers of objects; empty if they are regions
