"""Ground truth: grey levels, labels, undeclared void, masks that do not agree, thick lines, exchanged folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean, median_high

import numpy as np

from segbench.checks.findings import Finding, Place, finding, found_in, holding
from segbench.checks.map_kinds import labels_as_scores
from segbench.checks.seen import Seen, rule
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting, as_message
from segbench.core.numbers import written
from segbench.inputs.label_rules import (
    BOTH_SIDES,
    HALOS,
    LABELS_BELOW,
    ORDER,
    SOFT,
    UNLABELLED,
    VOIDS,
    LabelRule,
    all_but,
    are_grey_levels,
    ends_in_void,
    grey_levels_positive,
    has_third_value,
    left_out,
    listed,
    suggested_positive,
    take_one,
)
from segbench.inputs.summaries import MOST_VALUES, TruthSummary, UncountedError

MANY_PIXELS = 0.5
"""Where more than this is positive, the background of lines is."""
THICK = 0.5
"""Share of pixels in blocks of 2 x 2: about 0.1 in thin lines, 1 in those of two pixels."""
_NOT_THIN = 0.1
"""Thick places per pixel: below 0.02 in BSDS500, above 0.2 in borders drawn on both sides."""
ONE_SIDED = "no-positives"
"""The finding that no image shows anything positive, or anything negative."""

_found = partial(found_in, side="ground truth")


def _kind(truth: TruthSummary, seen: Seen) -> str:
    """Say what more than two values look like; empty where they are as expected."""
    values = truth.values
    if len(values) < 3:
        return ""
    positive_values = () if seen.rule is None else seen.rule.values
    if seen.void_values is not None and not set(truth.nodata).issubset(positive_values):
        return "nodata"
    return _kind_of_values(values, seen)


def _kind_of_values(values: Sequence[float], seen: Seen) -> str:
    """Say what values look like of which none is declared as no data."""
    rule = None if seen.rule_is_guarded else seen.rule
    can_exclude = seen.void_values is not None or seen.lines
    may_be_void = values[-1] in VOIDS and can_exclude
    if ends_in_void(values) and not (rule and _names_highest(rule, values)):
        if rule and seen.void_values is None and not rule.chosen(values[-1:]):
            return ""  # where nothing is void, 255 is negative as all values are that a rule does not name
        if can_exclude:
            return "void"
    if rule and rule.comparison != "=":
        return ""
    if are_grey_levels(values):
        return "grey-ground-truth"
    if may_be_void and has_third_value(values) and not rule:
        return "void"
    return "" if rule or seen.rule_is_guarded else "labels"


def _names_highest(rule: LabelRule, values: Sequence[float]) -> bool:
    """Return whether a rule names the highest of some values, or bounds it off from the next one."""
    below, highest = rule.positive(np.array(values[-2:])).tolist()
    return values[-1] in rule.values or (highest and not below)


def _by_kind(seen: Seen) -> Mapping[str, list[TruthSummary]]:
    """Group ground truths, without those in colour, by what more than two values look like."""
    kinds = grouped((_kind(truth, seen), truth) for truth in _uncoloured(seen))
    return {kind: group for kind, group in kinds.items() if kind}


def _uncoloured(seen: Seen) -> list[TruthSummary]:
    """Return ground truths of images of which none was turned from colour to grey."""
    plain = [
        summary for summary in seen.readable if not any(truth.file in summary.coloured for truth in summary.truths)
    ]
    return [truth for summary in plain for truth in summary.truths]


@rule("photographs", needs=["truths"])
def photographs(seen: Seen) -> list[Finding]:
    """Find ground truth of many colours; of masks in colour there are few."""
    pictures = [
        truth
        for summary in seen.readable
        for truth in summary.truths
        if truth.file in summary.coloured and len(truth.values) >= MOST_VALUES and not seen.rule
    ]
    message = Message(
        "photographs",
        "{count:many ground truth} of {total} inspected {count:verb have} many colours, as photographs have",
        count=len(pictures),
        total=len(seen.readable),
    )
    fix = Message(
        "fix",
        "give the masks: their folder, or a pattern that fits these alone, such as {pattern}",
        pattern=Setting("gt_pattern", "*_mask"),
    )
    return _found(pictures, message, fix, stops=True)


@rule("grey-ground-truth", "labels", "void", "nodata", needs=["truths"])
def several_values(seen: Seen) -> list[Finding]:
    """Find ground truth of more than two values; with label maps predicted, advice on which count is of no help."""
    stops = seen.rule is None or seen.rule_is_guarded
    truths = _uncoloured(seen)
    findings: list[Finding] = []
    for kind, group in _by_kind(seen).items():
        if kind == "nodata" or not labels_as_scores(seen):
            message, fix = _meaning(kind, group, truths, seen)
            findings += _found(group, message, fix, _held, stops=stops)
    return findings


def _held(truth: TruthSummary) -> Message:
    return holding(truth.values)


def _meaning(
    kind: str, group: Sequence[TruthSummary], truths: Sequence[TruthSummary], seen: Seen
) -> tuple[Message, Message | Setting]:
    """Say what the values of some ground truths are, and which settings say how they count, given all."""
    if kind == "grey-ground-truth":
        lossy = all(truth.lossy for truth in group)
        message = Message(
            "grey-ground-truth",
            "{count:many ground truth} of {total} inspected {count:verb contain} more than two grey levels{leaving}",
            count=len(group),
            total=len(seen.readable),
            leaving=f", as {group[0].lossy} leaves them" if lossy else "",
        )
        return message, grey_levels_positive(group[0].values, lossy=lossy)
    if kind == "nodata":
        return _nodata(group, seen)
    if kind == "labels":
        message = Message(
            "labels",
            "{count:many ground truth} of {total} inspected {count:verb contain} several labels",
            count=len(group),
            total=len(seen.readable),
        )
        void = seen.void_values
        if group[0].values[0] == UNLABELLED and void is not None:
            return message, suggested_positive(group[0].values, void=void)
        return message, _positive_of_labels(group[0].values, of_lines=seen.lines is not None)
    return _void(group, truths, seen)


def _nodata(group: Sequence[TruthSummary], seen: Seen) -> tuple[Message, Message]:
    """Say that ground truths hold a value that they declare as no data."""
    nodata = group[0].nodata
    others = [value for value in group[0].values if value not in nodata]
    message = Message(
        "nodata",
        "{count:many ground truth} of {total} inspected {count:verb contain} labels and the value {written}, which the "
        "files declare as no data (GDAL_NODATA)",
        count=len(group),
        total=len(seen.readable),
        written=written(nodata),
        nodata=nodata,
    )
    fix = Message("fix", "{void}", void=Setting("void", tuple(sorted({*nodata, *(seen.void_values or ())}))))
    if not seen.rule and len(others) > 2:
        fix = _and_positive(fix, others[-1])
    return message, fix


def _and_positive(fix: Message | Setting, label: float) -> Message:
    """Add to advice that several labels remain."""
    return Message(
        "fix",
        "{fix} and {positive}, or whichever labels are positive",
        fix=fix,
        positive=Setting("positive", label),
    )


def _positive_of_labels(values: Sequence[float], *, of_lines: bool) -> Message:
    """Say which of several labels may be positive."""
    lowest = min(value for value in values if value != UNLABELLED)
    settings = {"positive": Setting("positive", values[-1]), "all_but": all_but(lowest)}
    if not of_lines:
        return Message("alternatives", "{positive}, or {all_but}, or whichever labels are positive", **settings)
    return Message(
        "alternatives",
        "{label_maps} for their borders, or {positive}, or {all_but}, or whichever labels are positive",
        label_maps=Setting("label_maps", True),
        **settings,
    )


def _void(
    group: Sequence[TruthSummary], truths: Sequence[TruthSummary], seen: Seen
) -> tuple[Message, Message | Setting]:
    """Say that ground truths hold a value that may be void, and how it counts."""
    examples = group[0].values
    void = examples[-1] if examples[-2] < LABELS_BELOW else examples[1]
    others = [value for value in examples if value != void]
    leave_out = Setting("void", sorted({*(seen.void_values or ()), void}))
    masks = [truth for truth in truths if set(truth.values).difference((0,)) == {void}]
    if len(masks) > len(group):
        message = Message(
            "void",
            "{count:many ground truth} of {total} inspected {count:verb contain} labels and the value {value:g}, which "
            "is all that {others:many other} {others:verb have} beside 0",
            count=len(group),
            total=len(seen.readable),
            value=void,
            others=len(masks),
        )
        return message, _void_of_masks(
            void, [value for value in others if value], leave_out, of_lines=seen.lines is not None
        )
    message = Message(
        "void",
        "{count:many ground truth} of {total} inspected {count:verb contain} labels and the value {value:g}, which is "
        "not declared void",
        count=len(group),
        total=len(seen.readable),
        value=void,
    )
    if seen.lines:
        if seen.rule:
            return message, Setting("positive", written(seen.rule.chosen(others)))
        return message, suggested_positive(examples, void=None)
    if not seen.rule and len(others) > 2:
        return message, _and_positive(leave_out, others[-1])
    if examples[-1] == void:
        return message, leave_out
    fix = Message(
        "alternatives",
        "{void} if {value:g} is void, or {positive} if it is positive",
        void=leave_out,
        value=void,
        positive=Setting("positive", written(examples[1:])),
    )
    return message, fix


def _void_of_masks(void: float, others: Sequence[float], leave_out: Setting, *, of_lines: bool) -> Message:
    """Say how a value counts that is positive in most masks, and beside other values in some."""
    positive = Message(
        "fix",
        "{positive} if {others} {count:verb are} negative here",
        positive=Setting("positive", void),
        others=listed(others),
        count=len(others),
    )
    if of_lines:
        return Message("fix", "save these as the other masks are, or {positive}", positive=positive)
    return Message(
        "alternatives",
        "save these as the other masks are, or {positive}, or {void} if {value:g} is void in all masks",
        positive=positive,
        void=leave_out,
        value=void,
    )


@rule("annotators", needs=["truths"])
def several_annotators(seen: Seen) -> list[Finding]:
    """Find images with several annotators where one is expected."""
    settled = seen.masks_drawn.several_annotators if seen.masks_drawn else "counted"
    several = [summary for summary in seen.readable if len(summary.truths) > 1 and settled != "counted"]
    message = Message(
        "annotators",
        "{count:many image} of {total} inspected {count:verb have} several annotators",
        count=len(several),
        total=len(seen.readable),
    )
    fix = take_one()
    if settled == "ruled":
        rule = Message("fix", "{annotators}, any, all or each", annotators=Setting("annotators", "majority"))
        fix = Message("alternatives", "{rule}; or {one}", rule=rule, one=fix)
    if several and all(truth.suffix == ".mat" for files in seen.pairing.files for truth in files.ground_truths):
        boundaries = Either("Boundaries()", "segbench check boundaries GT PRED")
        fix = Message("fix", "ground truth of BSDS500: {boundaries}; else {others}", boundaries=boundaries, others=fix)
    places = [
        Place(summary.image, Message("detail", "{annotators:many annotator}", annotators=len(summary.truths)))
        for summary in several
    ]
    images = [summary.image for summary in several]
    whole = bool(several) and len(several) == seen.total
    return finding(message, fix, places, side="ground truth", images=images, whole=whole)


def _settled_by_set(seen: Seen) -> bool:
    """Return whether the values of the set decide which is positive."""
    masks = seen.masks_drawn
    return masks is not None and masks.rule is None and not masks.by_image and not seen.lines


@rule("mixed-ground-truth", needs=["truths"], unless=[photographs, several_values, labels_as_scores])
def mixed_values(seen: Seen) -> list[Finding]:
    """Find masks that hold other pairs of values than others, in the words of the run that refuses the set."""
    by_values = grouped((truth.values, truth) for truth in seen.truths if truth.values)
    together = sorted({value for values in by_values for value in values})
    if not _settled_by_set(seen) or len(together) <= 2 or _by_kind(seen):
        return []
    rarest = min(by_values.values(), key=len)
    if seen.refusal is not None:
        message = Message("mixed-ground-truth", "{reason}", reason=seen.refusal.what, values=together)
        return _found(rarest, message, seen.refusal.hint, _held, whole=True)
    message = Message(
        "mixed-ground-truth",
        "masks do not agree on their two values: {listed} across the set",
        listed=listed(together),
        values=together,
    )
    return _found(rarest, message, Setting("positive", f">={together[1]:g}"), _held, whole=True)


@rule(ONE_SIDED, needs=["readable"], unless=[photographs, several_values, mixed_values])
def one_sided_truths(seen: Seen) -> list[Finding]:
    """Find that nothing is positive, or nothing negative, in all that was looked at."""
    truths = [truth for truth in seen.truths if truth.values]
    together = sorted({value for truth in truths for value in truth.values})
    by_set = _settled_by_set(seen)
    if _by_kind(seen) or (by_set and len(together) > 2):
        return []
    unsettled = by_set and len(together) == 1
    sides = {"positive": 0, "negative": 1}
    one_sided = [side for side, share in sides.items() if all(truth.positive_share == share for truth in truths)]
    if not unsettled and not one_sided:
        return []
    lacking = "positive" if unsettled else one_sided[0]
    alone = len(together) == 1
    left = alone and any(truth.ignored for truth in truths)
    message = Message(
        "no-positives",
        "no pixel is {lacking} in the {count:many image} inspected{left}",
        lacking=lacking,
        count=len(seen.readable),
        left=f": nothing but {together[0]:g} is left" if left else "",
        values=together,
    )
    if unsettled and seen.refusal is not None:
        message = Message(
            "no-positives",
            "{reason}",
            reason=seen.refusal.what,
            values=together,
            lacking=lacking,
            count=len(seen.readable),
        )
        return _found(truths, message, seen.refusal.hint, _held, whole=True)
    fix = Message(
        "fix",
        "{positive} with {which}: {listed}",
        positive=Setting("positive"),
        which="a value that occurs" if lacking == "positive" else "some of the values that occur",
        listed=listed(together),
    )
    if alone:
        fix = as_message((left_out(seen.left_out_by) if left else "") or BOTH_SIDES)
    return _found(truths, message, fix, _held)


@rule("nan-ground-truth", needs=["truths"])
def not_a_number(seen: Seen) -> list[Finding]:
    """Find NaN in ground truth."""
    bad = [truth for truth in seen.truths if truth.nan]
    message = Message("nan-ground-truth", "{count:many ground truth} {count:verb contain} NaN", count=len(bad))
    fix = Message("fix", "give these pixels a value")
    if seen.void_values is not None:
        fix = Message(
            "fix",
            "give these pixels a value; if they do not count, one that is void: {void}",
            void=Setting("void"),
        )
    return _found(bad, message, fix, lambda truth: Message("detail", "{pixels} NaN", pixels=truth.nan), stops=True)


def _drawn_lines(seen: Seen) -> tuple[list[TruthSummary], list[TruthSummary]]:
    """Return ground truths with something drawn, and those of them where most is positive: black lines on white."""
    drawn = [truth for truth in seen.truths if 0 < truth.positive_share < 1]
    on_white = [truth for truth in drawn if truth.positive_share > MANY_PIXELS and truth.blocks_outside < THICK]
    return drawn, on_white


@rule("inverted-ground-truth", needs=["truths", "lines"])
def lines_on_white(seen: Seen) -> list[Finding]:
    """Find ground truth that is drawn as black lines on white."""
    drawn, on_white = _drawn_lines(seen)
    if 2 * len(on_white) <= len(drawn):
        return []
    share = median_high(truth.positive_share for truth in on_white)
    message = Message(
        "inverted-ground-truth",
        "{percent:.0f} % of the ground truth is boundary, as in black lines on white",
        percent=100 * share,
    )
    return _found(
        on_white,
        message,
        Setting("positive", 0),
        lambda truth: Message("detail", "{percent:.0f} %", percent=100 * truth.positive_share),
    )


@rule("thick-ground-truth", needs=["truths", "lines"], unless=[lines_on_white])
def thick_lines(seen: Seen) -> list[Finding]:
    """Find lines wider than a pixel, or filled areas, where predictions are thinned."""
    drawn, on_white = _drawn_lines(seen)
    thick = [truth for truth in drawn if truth.thick > _NOT_THIN and truth not in on_white]
    misses_them = seen.lines is not None and seen.lines.misses_thick_lines
    if not misses_them or 2 * len(thick) <= len(drawn):
        return []
    message = Message(
        "thick-ground-truth",
        "ground-truth lines are wider than a pixel, or filled, but predictions are thinned: even a perfect one has "
        "a low recall",
    )
    without = Message("fix", ", without {given},", given=Setting("positive", None))
    fix = Message(
        "alternatives",
        "{thin} for lines; {label_maps}{alone} for the borders of filled areas",
        thin=Setting("thin_ground_truth", True),
        label_maps=Setting("label_maps", True),
        alone=without if seen.rule else "",
    )
    return _found(
        thick,
        message,
        fix,
        lambda truth: Message("detail", "{thick:.0f} thick places per 100 pixels", thick=100 * truth.thick),
    )


_EXCHANGED = Message(
    "exchanged", "the folders look swapped: the first contains soft maps, the second two-valued images"
)


@rule("exchanged")
def exchanged(seen: Seen) -> list[Finding]:
    """Find folders that look exchanged: advice on what the files hold is of no use then."""
    return _refused_as_exchanged(seen) or _scores_and_masks(seen)


def _refused_as_exchanged(seen: Seen) -> list[Finding]:
    """Find that the folders look exchanged by most of the images looked at, which cannot be counted so."""
    refused = {image: error for image, error in seen.failures.items() if isinstance(error, UncountedError)}
    of_masks = {image: error for image, error in refused.items() if error.exchanged}
    if 2 * len(of_masks) <= seen.looked_at or any(error.exchanged is False for error in refused.values()):
        return []
    hint = next(iter(of_masks.values())).hint
    fix = Message("fix", "{order}; or, if they are in order, {hint}", order=ORDER, hint=hint.values.get("behind", hint))
    places = [Place(error.path, error.what) for error in of_masks.values()]
    return finding(_EXCHANGED, fix, places, side="names", images=refused)


def _scores_and_masks(seen: Seen) -> list[Finding]:
    """Find that the folders look exchanged: scores of two values or blank, and soft maps that no named rule cuts.

    Grey levels that are a finding are enough; where a protocol cuts them by its own rule, they are not near the ends.
    """
    scores = [score for score in seen.scores if len(score.values) <= 2]
    masks = [score for score in scores if not score.constant]
    levels = [len(truth.values) >= MOST_VALUES for truth in seen.truths]
    unnamed = seen.rule is not None and seen.masks_drawn is not None and not seen.masks_drawn.rule_is_named
    soft = unnamed and any(truth.between > SOFT for truth in seen.truths)
    between = fmean(truth.between for truth in seen.truths) if levels else 0.0
    grey = _by_kind(seen).get("grey-ground-truth", []) if between > HALOS and all(levels) else []
    if not (masks and (grey or (soft and 2 * sum(levels) > len(levels)))) or len(scores) < len(seen.readable):
        return []
    places = [Place(score.file, holding(score.values)) for score in masks]
    fix = as_message(ORDER)
    if grey and between <= SOFT:
        fix = Message(
            "fix",
            "{order}; or, if the first are masks with blurred edges, {positive}",
            order=ORDER,
            positive=grey_levels_positive(grey[0].values, lossy=all(truth.lossy for truth in grey)),
        )
    elif grey:
        fix = Message(
            "alternatives", "{order}; or, if the first number objects, {positive}", order=ORDER, positive=all_but(0)
        )
    images = [summary.image for summary in seen.readable if seen.speaks_for_set]  # others may be the other way round
    return finding(_EXCHANGED, fix, places, side="names", images=images)
