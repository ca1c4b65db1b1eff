"""Predictions that run the other way than the ground truth: soft maps and masks, in all images or in some."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from statistics import median

from segbench.checks.findings import Finding, found_in
from segbench.checks.map_kinds import labels_as_scores
from segbench.checks.seen import Seen, rule
from segbench.core.messages import Message, Setting, alternatives, as_message, joined
from segbench.inputs.label_masks import LabelMasks
from segbench.inputs.label_rules import LabelRule
from segbench.inputs.summaries import MOST_VALUES, Ranking

INVERTED_BELOW = 0.4
"""A method that is merely poor comes near .5; turned around it would do better than .6."""
GROUP = 0.2
"""From two images and this share of all on, images of one kind are a group and no accident."""
_CLEARLY, _ALONE = 0.2, 0.1
"""A group is ranked this badly or this well by its median. Fewer images count only where each is ranked worse or better
still, as a hard image alone seldom is."""
_MOST_OF_MASKS = 4
"""Masks hold two values, for instance 0 and 1 in some files and 0 and 255 in others, and perhaps one for the unsure."""
_LOW_SCORES = "predictions are inverted (low scores mean positive)"


@rule("inverted", "partly-inverted", needs=["varied_scores"], unless=[labels_as_scores])
def inverted_scores(seen: Seen) -> list[Finding]:
    """Find soft maps that run the other way than the ground truth."""
    inverts = seen.soft_maps.invert
    when = "high scores mean positive" if inverts else _LOW_SCORES
    if inverts is None:
        turn = Message("fix", "save scores that are high where something is positive")
    elif inverts:
        turn = Message("fix", "leave out {given}", given=Setting("invert", True))
    else:
        turn = as_message(Setting("invert", True))
    if seen.lines is not None:
        return inverted_findings(seen.varied_scores, turn, when, on_bright=True)
    return inverted_findings(seen.varied_scores, turn, when, other_side=_rule_for_other_side(seen))


def _rule_for_other_side(seen: Seen) -> Setting | None:
    """Return the setting under which the other side of the ground truth is positive; None unless these are masks."""
    values = sorted({value for truth in seen.truths for value in truth.values})
    if not 2 <= len(values) <= _MOST_OF_MASKS and (seen.rule is None or seen.rule.comparison == "="):
        return None
    rule_of_truth = seen.rule or LabelRule("=", tuple(values[1:]))
    return Setting("positive", rule_of_truth.other_side(values))


@rule("inverted", "partly-inverted", needs=["masks"])
def inverted_masks(seen: Seen) -> list[Finding]:
    """Find predicted masks that run the other way than the ground truth."""
    turn, other_side = _settings_that_turn(seen)
    return inverted_findings(seen.masks, turn, other_side=other_side)


def _settings_that_turn(seen: Seen) -> tuple[Message | Setting, Message | Setting]:
    """Return what turns predicted masks, and what turns the ground truth and leaves predictions as they are."""
    true_values, predicted_values = _mask_values(seen)
    inputs = seen.inputs
    if not isinstance(inputs, LabelMasks):
        return Message("fix", "save masks of what is to be found"), _turned_rule("positive", seen.rule, true_values)
    positive = None if inputs.positive is None else LabelRule.parse(inputs.positive)
    other_side = _turned_rule("positive", positive, true_values)
    if inputs.predicted_positive is not None:
        predicted_positive = LabelRule.parse(inputs.predicted_positive)
        return _turned_rule("predicted_positive", predicted_positive, predicted_values), other_side
    if positive and positive.at_half:  # which cuts predictions, too
        turn = _turned_rule("predicted_positive", positive, predicted_values)
        return turn, joined((other_side, Setting("predicted_positive", str(positive))), " ")
    return Setting("predicted_positive", 0), other_side


def _turned_rule(name: str, rule: LabelRule | None, values: Sequence[float]) -> Message | Setting:
    """Return the setting for what is negative under a rule, given the values; of very many some."""
    if rule is None:
        return Setting(name, 0)
    if rule.comparison == "=" and len(values) >= MOST_VALUES:
        return Message("fix", "{setting} with all other values", setting=Setting(name))
    return Setting(name, rule.other_side(values if len(values) > 2 else [0]) or ">0")


def _mask_values(seen: Seen) -> tuple[list[float], list[float]]:
    """Return some values of ground truth and some of predictions that are masks, over all images inspected."""
    true_values = {value for truth in seen.truths for value in truth.values}
    predicted_values: set[float] = set()
    for summary in seen.counted:
        in_truth, in_prediction = summary.values
        true_values.update(in_truth)
        predicted_values.update(in_prediction)
    return sorted(true_values), sorted(predicted_values)


def inverted_findings(
    rankings: Sequence[Ranking],
    turn: Message | Setting | str,
    when: str = _LOW_SCORES,
    *,
    on_bright: bool = False,
    other_side: Message | Setting | None = None,
) -> list[Finding]:
    """Find predictions that run the other way than the ground truth; `turn` says how to turn them, and `when`.

    `other_side` is the setting that exchanges positive and negative in the ground truth; None if there is none.
    """
    ranked = [ranking for ranking in rankings if not isnan(ranking.auc)]
    median_auc = median([ranking.auc for ranking in ranked] or [1.0])
    partly = _partly_inverted(ranked, median_auc, on_bright=on_bright)
    if partly:
        return partly
    bright = on_bright and 2 * sum(ranking.bright for ranking in ranked) > len(ranked)
    if median_auc >= (0.5 if bright else INVERTED_BELOW):
        return []
    positives = sum(ranking.share * ranking.pixels for ranking in ranked)
    mostly_positive = bool(other_side) and 2 * positives > sum(ranking.pixels for ranking in ranked)
    message = Message(
        "inverted",
        "scores are higher on negatives than on positives (median AUC-ROC {auc:.2f}){ground}{most}",
        auc=median_auc,
        ground=", on a bright background" if bright else "",
        most=", and most pixels are positive" if mostly_positive else "",
    )
    fix = as_message(turn)
    if other_side:
        of_predictions = Message("fix", "{turn} if {when}", turn=turn, when=when)
        of_truth = Message(
            "fix",
            "{other_side} if the ground truth is inverted (its other value is what is to be found)",
            other_side=other_side,
        )
        fix = alternatives((of_truth, of_predictions) if mostly_positive else (of_predictions, of_truth))
    worse = (ranking for ranking in ranked if ranking.auc < 0.5)
    return found_in(worse, message, fix, _auc)


def _auc(ranking: Ranking) -> Message:
    return Message("detail", "AUC-ROC {auc:.2f}", auc=ranking.auc)


def _partly_inverted(ranked: Sequence[Ranking], median_auc: float, *, on_bright: bool) -> list[Finding]:
    """Find that scores run one way in some images, and the other way in others."""
    wrong_way: list[Ranking] = []
    right_way: list[Ranking] = []
    if on_bright:  # dark lines on a bright ground are inverted, others are not
        wrong_way = [ranking for ranking in ranked if ranking.bright and ranking.auc < 0.5]
        right_way = [ranking for ranking in ranked if not ranking.bright and ranking.auc > 0.5]
    if not wrong_way or not right_way:
        wrong_way, right_way = _by_auc(ranked, median_auc)
    message = Message(
        "partly-inverted",
        "{count} of {total:many image} {count:verb look} inverted: scores are higher on negatives there, and on "
        "positives elsewhere",
        count=len(wrong_way),
        total=len(ranked),
    )
    fix = "look at these images, and save the files that are inverted again, predictions or ground truth: no option "
    fix += "turns only some"
    return found_in(wrong_way if right_way else [], message, fix, _auc)


def _by_auc(ranked: Sequence[Ranking], median_auc: float) -> tuple[list[Ranking], list[Ranking]]:
    """Return the images clearly ranked the wrong way and the right way; none if this may be a weak method."""
    wrong_way = [ranking for ranking in ranked if ranking.auc < INVERTED_BELOW]
    right_way = [ranking for ranking in ranked if ranking.auc > 1 - INVERTED_BELOW]
    least = max(2, GROUP * len(ranked))
    if len(wrong_way) < least:
        wrong_way = [ranking for ranking in wrong_way if ranking.auc < _ALONE]
    if len(right_way) < least:
        right_way = [ranking for ranking in right_way if ranking.auc > 1 - _ALONE]
    if not wrong_way or not right_way:
        return [], []
    wrong_auc, right_auc = (median(ranking.auc for ranking in rankings) for rankings in (wrong_way, right_way))
    clear = wrong_auc < _CLEARLY and right_auc > 1 - _CLEARLY
    mostly_inverted = median_auc < INVERTED_BELOW and len(right_way) >= least
    return (wrong_way, right_way) if clear or mostly_inverted else ([], [])
