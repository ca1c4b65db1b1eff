"""Ground truth: grey levels, labels, undeclared void, masks that do not agree, thick lines, exchanged folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

import numpy as np

from segbench.checks.findings import Finding, Place, finding, found_in, holding
from segbench.checks.probes import MOST_VALUES, Probe, TruthProbe, UncountedError
from segbench.core.errors import DataError
from segbench.core.expected import Expected, ExpectedLines
from segbench.core.grouping import grouped
from segbench.core.messages import NOTHING, Message, Setting, as_message
from segbench.core.numbers import written
from segbench.inputs.annotators import take_one
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
)

MANY_PIXELS = 0.5
"""Where more than this is positive, the background of lines is."""
THICK = 0.5
"""Share of pixels in blocks of 2 x 2: about 0.1 in thin lines, 1 in those of two pixels."""
_NOT_THIN = 0.1
"""Thick places per pixel: below 0.02 in BSDS500, above 0.2 in borders drawn on both sides."""
ONE_SIDED = "no-positives"
"""The finding that no image shows anything positive, or anything negative."""
_MOST_OF_MASKS = 4
"""Masks hold two values, for instance 0 and 1 in some files and 0 and 255 in others, and perhaps one for the unsure."""

_found = partial(found_in, side="ground truth")


def truth_findings(
    probes: Sequence[Probe], expected: Expected, total: int, *, left_out_by: Message = NOTHING
) -> list[Finding]:
    """Judge the ground truth of the images inspected; `total` is the number of all images.

    `left_out_by` are the options that leave pixels out, as they were given.
    """
    lines = expected.lines
    values = [*_photographs(probes, expected), *_values(probes, expected)]
    by_set = expected.rule is None and not lines and not expected.nonzero
    of_set = [] if values else _one_set(probes, total, by_set=by_set, left_out_by=left_out_by)
    drawn = _lines(probes, expected, thinned=lines.thinned) if lines else []
    return [*values, *_annotators(probes, expected, total), *of_set, *_nan(probes, expected), *drawn]


def _kind(truth: TruthProbe, expected: Expected) -> str:
    """Say what more than two values look like; empty where they are as expected."""
    values = truth.values
    if len(values) < 3:
        return ""
    named = () if expected.rule is None else expected.rule.values
    if expected.void is not None and not set(truth.nodata).issubset(named):
        return "nodata"
    return _kind_of_values(values, expected)


def _kind_of_values(values: Sequence[float], expected: Expected) -> str:
    """Say what values look like of which none is declared as no data."""
    rule = None if expected.implied else expected.rule
    excludes = expected.void is not None or expected.lines
    may_be_void = values[-1] in VOIDS and excludes
    if ends_in_void(values) and not (rule and _names_highest(rule, values)):
        if rule and expected.void is None:
            return ""  # where nothing is void, 255 is negative as all values are that a rule does not name
        if excludes:
            return "void"
    if rule and rule.comparison != "=":
        return ""
    if are_grey_levels(values):
        return "grey-ground-truth"
    if may_be_void and has_third_value(values) and not rule:
        return "void"
    return "" if rule or expected.implied else "labels"


def _names_highest(rule: LabelRule, values: Sequence[float]) -> bool:
    """Return whether a rule names the highest of some values, or bounds it off from the next one."""
    below, highest = rule.positive(np.array(values[-2:])).tolist()
    return values[-1] in rule.values or (highest and not below)


def _values(probes: Sequence[Probe], expected: Expected) -> list[Finding]:
    plain = [probe for probe in probes if not any(truth.file in probe.coloured for truth in probe.truths)]
    truths = [truth for probe in plain for truth in probe.truths]
    kinds = grouped((_kind(truth, expected), truth) for truth in truths)
    found: list[Finding] = []
    for kind, group in kinds.items():
        if kind:
            message, fix = _meaning(kind, group, expected, truths, len(probes))
            found += _found(group, message, fix, _held, stops=expected.rule is None or expected.implied)
    return found


def _photographs(probes: Sequence[Probe], expected: Expected) -> list[Finding]:
    """Find ground truth of many colours; of masks in colour there are few."""
    pictures = [
        truth
        for probe in probes
        for truth in probe.truths
        if truth.file in probe.coloured and len(truth.values) >= MOST_VALUES and not expected.rule
    ]
    message = Message(
        "photographs",
        "{count:many ground truth} of {total} inspected {count:verb have} many colours, as photographs have",
        count=len(pictures),
        total=len(probes),
    )
    fix = Message(
        "fix",
        "give the masks: their folder, or a pattern that fits these alone, such as {pattern}",
        pattern=Setting("gt_pattern", "*_mask"),
    )
    return _found(pictures, message, fix, stops=True)


def _held(truth: TruthProbe) -> Message:
    return holding(truth.values)


def _meaning(
    kind: str,
    group: Sequence[TruthProbe],
    expected: Expected,
    truths: Sequence[TruthProbe],
    total: int,
) -> tuple[Message, Message | Setting]:
    """Say what the values of some ground truths are, and which settings say how they count, given all."""
    if kind == "grey-ground-truth":
        lossy = all(truth.lossy for truth in group)
        message = Message(
            "grey-ground-truth",
            "{count:many ground truth} of {total} inspected {count:verb contain} more than two grey levels{leaving}",
            count=len(group),
            total=total,
            leaving=f", as {group[0].lossy} leaves them" if lossy else "",
        )
        return message, grey_levels_positive(group[0].values, lossy=lossy)
    if kind == "nodata":
        return _nodata(group, expected, total)
    if kind == "labels":
        message = Message(
            "labels",
            "{count:many ground truth} of {total} inspected {count:verb contain} several labels",
            count=len(group),
            total=total,
        )
        if group[0].values[0] == UNLABELLED and expected.void is not None:
            return message, suggested_positive(group[0].values, void=expected.void)
        return message, _positive_of_labels(group[0].values, expected.lines)
    return _void(group, expected, truths, total)


def _nodata(group: Sequence[TruthProbe], expected: Expected, total: int) -> tuple[Message, Message]:
    """Say that ground truths hold a value that they declare as no data."""
    nodata, others = group[0].nodata, [value for value in group[0].values if value not in group[0].nodata]
    message = Message(
        "nodata",
        "{count:many ground truth} of {total} inspected {count:verb contain} labels and the value {written}, which the "
        "files declare as no data (GDAL_NODATA)",
        count=len(group),
        total=total,
        written=written(nodata),
        nodata=nodata,
    )
    fix = Message("fix", "{void}", void=Setting("void", tuple(sorted({*nodata, *(expected.void or ())}))))
    if not expected.rule and len(others) > 2:
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


def _positive_of_labels(values: Sequence[float], lines: ExpectedLines | None) -> Message:
    """Say which of several labels may be positive."""
    lowest = min(value for value in values if value != UNLABELLED)
    settings = {"positive": Setting("positive", values[-1]), "all_but": all_but(lowest)}
    if not lines:
        return Message("alternatives", "{positive}, or {all_but}, or whichever labels are positive", **settings)
    return Message(
        "alternatives",
        "{label_maps} for their borders, or {positive}, or {all_but}, or whichever labels are positive",
        label_maps=Setting("label_maps", True),
        **settings,
    )


def _void(
    group: Sequence[TruthProbe],
    expected: Expected,
    truths: Sequence[TruthProbe],
    total: int,
) -> tuple[Message, Message | Setting]:
    """Say that ground truths hold a value that may be void, and how it counts."""
    examples = group[0].values
    void = examples[-1] if examples[-2] < LABELS_BELOW else examples[1]
    rest = [value for value in examples if value != void]
    out = Setting("void", sorted({*(expected.void or ()), void}))
    masks = [truth for truth in truths if set(truth.values).difference((0,)) == {void}]
    if len(masks) > len(group):
        message = Message(
            "void",
            "{count:many ground truth} of {total} inspected {count:verb contain} labels and the value {value:g}, which "
            "is all that {others:many other} {others:verb have} beside 0",
            count=len(group),
            total=total,
            value=void,
            others=len(masks),
        )
        return message, _void_of_masks(void, [value for value in rest if value], expected.lines, out)
    message = Message(
        "void",
        "{count:many ground truth} of {total} inspected {count:verb contain} labels and the value {value:g}, which is "
        "not declared void",
        count=len(group),
        total=total,
        value=void,
    )
    if expected.lines:
        return message, Setting("positive", rest[-1])
    if not expected.rule and len(rest) > 2:
        return message, _and_positive(out, rest[-1])
    if examples[-1] == void:
        return message, out
    fix = Message(
        "alternatives",
        "{void} if {value:g} is void, or {positive} if it is positive",
        void=out,
        value=void,
        positive=Setting("positive", written(examples[1:])),
    )
    return message, fix


def _void_of_masks(void: float, others: Sequence[float], lines: ExpectedLines | None, out: Setting) -> Message:
    """Say how a value counts that is positive in most masks, and beside other values in some."""
    positive = Message(
        "fix",
        "{positive} if {others} {count:verb are} negative here",
        positive=Setting("positive", void),
        others=listed(others),
        count=len(others),
    )
    if lines:
        return Message("fix", "save these as the other masks are, or {positive}", positive=positive)
    return Message(
        "alternatives",
        "save these as the other masks are, or {positive}, or {void} if {value:g} is void in all masks",
        positive=positive,
        void=out,
        value=void,
    )


def _annotators(probes: Sequence[Probe], expected: Expected, total: int) -> list[Finding]:
    several = [probe for probe in probes if len(probe.truths) > 1 and expected.one_annotator]
    message = Message(
        "annotators",
        "{count:many image} of {total} inspected {count:verb have} several annotators",
        count=len(several),
        total=len(probes),
    )
    one = take_one()
    rule = Message("fix", "{annotators}, any, all or each", annotators=Setting("annotators", "majority"))
    fix = Message("alternatives", "{rule}; or {one}", rule=rule, one=one) if expected.several_ruled else one
    places = [
        Place(probe.image, Message("detail", "{annotators:many annotator}", annotators=len(probe.truths)))
        for probe in several
    ]
    images = [probe.image for probe in several]
    whole = bool(several) and len(several) == total
    return finding(message, fix, places, side="ground truth", images=images, whole=whole)


def _one_set(probes: Sequence[Probe], total: int, *, by_set: bool, left_out_by: Message) -> list[Finding]:
    """Judge the set as a whole: one pair of values in all images, and something positive and negative in some."""
    truths = [truth for probe in probes for truth in probe.truths if truth.values]
    pairs = grouped((truth.values, truth) for truth in truths)
    together = sorted({value for values in pairs for value in values})
    if by_set and len(together) > 2:
        message = Message(
            "mixed-ground-truth",
            "masks do not agree on their two values: {listed} across the set",
            listed=listed(together),
            values=together,
        )
        rarest = min(pairs.values(), key=len)
        return _found(rarest, message, Setting("positive", f">={together[1]:g}"), _held, whole=True)
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
        count=len(probes),
        left=f": nothing but {together[0]:g} is left" if left else "",
        values=together,
    )
    fix = Message(
        "fix",
        "{positive} with {which}: {listed}",
        positive=Setting("positive"),
        which="a value that occurs" if lacking == "positive" else "some of the values that occur",
        listed=listed(together),
    )
    if alone:
        fix = as_message((left_out(left_out_by) if left else "") or BOTH_SIDES)
    return _found(truths, message, fix, _held, whole=unsettled and len(probes) == total)


def _nan(probes: Sequence[Probe], expected: Expected) -> list[Finding]:
    bad = [truth for probe in probes for truth in probe.truths if truth.nan]
    message = Message("nan-ground-truth", "{count:many ground truth} {count:verb contain} NaN", count=len(bad))
    fix = Message("fix", "give these pixels a value")
    if expected.void is not None:
        fix = Message(
            "fix",
            "give these pixels a value; if they do not count, one that is void: {void}",
            void=Setting("void"),
        )
    return _found(bad, message, fix, lambda truth: Message("detail", "{pixels} NaN", pixels=truth.nan), stops=True)


def _lines(probes: Sequence[Probe], expected: Expected, *, thinned: bool) -> list[Finding]:
    truths = [truth for probe in probes for truth in probe.truths if 0 < truth.positive_share < 1]
    white = [truth for truth in truths if truth.positive_share > MANY_PIXELS and truth.blocks_outside < THICK]
    thick = [truth for truth in truths if truth.thick > _NOT_THIN and truth not in white]
    if 2 * len(white) > len(truths):
        share = sorted(truth.positive_share for truth in white)[len(white) // 2]
        message = Message(
            "inverted-ground-truth",
            "{percent:.0f} % of the ground truth is boundary, as in black lines on white",
            percent=100 * share,
        )
        return _found(white, message, Setting("positive", 0), _share_of_lines)
    if thinned and 2 * len(thick) > len(truths):
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
            alone=without if expected.rule else "",
        )
        return _found(thick, message, fix, _thick_places)
    return []


def _share_of_lines(truth: TruthProbe) -> Message:
    return Message("detail", "{percent:.0f} %", percent=100 * truth.positive_share)


def _thick_places(truth: TruthProbe) -> Message:
    return Message("detail", "{thick:.0f} thick places per 100 pixels", thick=100 * truth.thick)


def rule_for_other_side(probes: Sequence[Probe], expected: Expected) -> Setting | None:
    """Return the setting under which the other side of the ground truth is positive; None unless these are masks."""
    values = sorted({value for probe in probes for truth in probe.truths for value in truth.values})
    if not 2 <= len(values) <= _MOST_OF_MASKS and (expected.rule is None or expected.rule.comparison == "="):
        return None
    rule = expected.rule or LabelRule("=", tuple(values[1:]))
    return Setting("positive", rule.other_side(values))


_EXCHANGED = Message(
    "exchanged", "the folders look swapped: the first contains soft maps, the second two-valued images"
)


def refused_exchange_findings(failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """Find that the folders look exchanged by most of the `total` images inspected, which cannot be counted so."""
    refused = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    exchanged = {image: error for image, error in refused.items() if error.exchanged}
    if 2 * len(exchanged) <= total or any(error.exchanged is False for error in refused.values()):
        return []
    hint = next(iter(exchanged.values())).hint
    fix = Message("fix", "{order}; or, if they are in order, {hint}", order=ORDER, hint=hint.values.get("behind", hint))
    places = [Place(error.path, error.what) for error in exchanged.values()]
    return finding(_EXCHANGED, fix, places, side="names", images=refused)


def exchange_findings(probes: Sequence[Probe], found: Sequence[Finding], expected: Expected) -> list[Finding]:
    """Find that the folders look exchanged: scores of two values or blank, and soft maps that no named rule cuts.

    Grey levels that are a finding are enough; where a protocol cuts them by its own rule, they are not near the ends.
    """
    scores = [probe.scores for probe in probes if probe.scores and len(probe.scores.values) <= 2]
    masks = [score for score in scores if not score.constant]
    levels = [len(one.values) >= MOST_VALUES for probe in probes for one in probe.truths]
    soft = expected.unnamed_rule and any(one.between > SOFT for probe in probes for one in probe.truths)
    between = fmean(one.between for probe in probes for one in probe.truths) if levels else 0.0
    grey = [one for one in found if one.kind == "grey-ground-truth"] if between > HALOS and all(levels) else []
    if not (masks and (grey or (soft and 2 * sum(levels) > len(levels)))) or len(scores) < len(probes):
        return []
    places = [Place(score.file, holding(score.values)) for score in masks]
    fix = as_message(ORDER)
    if grey and between <= SOFT:
        fix = Message(
            "fix",
            "{order}; or, if the first are masks with blurred edges, {positive}",
            order=ORDER,
            positive=grey[0].fix,
        )
    elif grey:
        fix = Message(
            "alternatives", "{order}; or, if the first number objects, {positive}", order=ORDER, positive=all_but(0)
        )
    return finding(_EXCHANGED, fix, places, side="names", images=[probe.image for probe in probes])
