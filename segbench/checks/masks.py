"""Predicted masks: whether they run the other way than the ground truth."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.checks.findings import Finding
from segbench.checks.scores import inverted_findings
from segbench.checks.seen import Seen, rule
from segbench.core.messages import Message, Setting, joined
from segbench.inputs.label_masks import LabelMasks
from segbench.inputs.label_rules import LabelRule
from segbench.inputs.summaries import MOST_VALUES


@rule("inverted", "partly-inverted", needs=["masks"])
def inverted_masks(seen: Seen) -> list[Finding]:
    """Find predicted masks that run the other way than the ground truth."""
    turn, turn_truth = _turned(seen)
    return inverted_findings(seen.masks, turn, other_side=turn_truth)


def _turned(seen: Seen) -> tuple[Message | Setting, Message | Setting]:
    """Say how to turn predicted masks, and how to turn the ground truth and leave predictions as they are."""
    inputs = seen.inputs
    drawn, predicted = _values(seen)
    if not isinstance(inputs, LabelMasks):
        return Message("fix", "save masks of what is to be found"), _turned_rule("positive", seen.rule, drawn)
    rule = None if inputs.positive is None else LabelRule.parse(inputs.positive)
    other_side = _turned_rule("positive", rule, drawn)
    if inputs.predicted_positive is not None:
        predicted_rule = LabelRule.parse(inputs.predicted_positive)
        return _turned_rule("predicted_positive", predicted_rule, predicted), other_side
    if rule and rule.at_half:  # which cuts predictions, too
        turn = _turned_rule("predicted_positive", rule, predicted)
        return turn, joined((other_side, Setting("predicted_positive", str(rule))), " ")
    return Setting("predicted_positive", 0), other_side


def _turned_rule(name: str, rule: LabelRule | None, values: Sequence[float]) -> Message | Setting:
    """Return the setting for what is negative under a rule, given the values; of very many some."""
    if rule is None:
        return Setting(name, 0)
    if rule.comparison == "=" and len(values) >= MOST_VALUES:
        return Message("fix", "{setting} with all other values", setting=Setting(name))
    return Setting(name, rule.other_side(values if len(values) > 2 else [0]) or ">0")


def _values(seen: Seen) -> tuple[list[float], list[float]]:
    """Return some values of ground truth and predictions that are masks, over all images inspected."""
    sides = [summary.values for summary in seen.counted]
    sides += [(truth.values, ()) for truth in seen.truths]
    drawn, predicted = (sorted({value for side in sides for value in side[k]}) for k in (0, 1))
    return drawn, predicted
