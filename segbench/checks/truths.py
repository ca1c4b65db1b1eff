"""Ground truth: grey levels, labels, undeclared void, masks that do not agree, thick lines, exchanged folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

import numpy as np

from segbench.checks.findings import Finding, Place, finding, found_in, inspected
from segbench.checks.probes import MOST_VALUES, Probe, TruthProbe, UncountedError
from segbench.core.errors import DataError
from segbench.core.expected import Expected, ExpectedLines
from segbench.core.grouping import grouped
from segbench.core.interface import format_setting
from segbench.core.messages import NOTHING, Message
from segbench.core.numbers import many, verb, written
from segbench.protocols.annotators import take_one
from segbench.protocols.label_rules import (
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

_found = partial(found_in, about="ground truth")


def truth_findings(
    probes: Sequence[Probe], expected: Expected, total: int, *, left_out_by: Message = NOTHING
) -> list[Finding]:
    """Judge the ground truth of the images inspected; `total` is the number of all images.

    `left_out_by` are the options that leave pixels out, as they were given.
    """
    lines = expected.lines
    values = [*_photographs(probes, expected), *_values(probes, expected, lines)]
    by_set = expected.rule is None and not lines and not expected.nonzero
    of_set = [] if values else _one_set(probes, total, by_set=by_set, left_out_by=left_out_by)
    drawn = _lines(probes, thinned=lines.thinned) if lines else []
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
    if excludes and ends_in_void(values) and not (rule and _names_highest(rule, values)):
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


def _values(probes: Sequence[Probe], expected: Expected, lines: ExpectedLines | None) -> list[Finding]:
    plain = [probe for probe in probes if not any(truth.file in probe.coloured for truth in probe.truths)]
    truths = [truth for probe in plain for truth in probe.truths]
    kinds = grouped((_kind(truth, expected), truth) for truth in truths)
    found: list[Finding] = []
    for kind, group in kinds.items():
        if kind:
            meaning, fix = _meaning(kind, group, expected, lines, truths)
            what = f"{inspected(group, len(probes), 'contain', 'ground truth')} {meaning}"
            found += _found(group, kind, what, fix, _held, stops=expected.rule is None or expected.implied)
    return found


def _photographs(probes: Sequence[Probe], expected: Expected) -> list[Finding]:
    """Find ground truth of many colours; of masks in colour there are few."""
    pictures = [
        truth
        for probe in probes
        for truth in probe.truths
        if truth.file in probe.coloured and len(truth.values) >= MOST_VALUES and not expected.rule
    ]
    what = f"{inspected(pictures, len(probes), 'have', 'ground truth')} many colours, as photographs have"
    fix = "give the masks: their folder, or a pattern that fits these alone, such as "
    fix += format_setting("gt_pattern", "*_mask")
    return _found(pictures, "photographs", what, fix, stops=True)


def _held(truth: TruthProbe) -> str:
    return listed(truth.values)


def _meaning(
    kind: str,
    group: Sequence[TruthProbe],
    expected: Expected,
    lines: ExpectedLines | None,
    truths: Sequence[TruthProbe],
) -> tuple[str, Message | str]:
    """Say what the values of some ground truths are, and which settings say how they count, given all."""
    examples = group[0].values
    if kind == "grey-ground-truth":
        lossy = all(truth.lossy for truth in group)
        what = "more than two grey levels" + f", as {group[0].lossy} leaves them" * lossy
        return what, grey_levels_positive(examples, lossy=lossy)
    if kind == "nodata":
        nodata, others = group[0].nodata, [value for value in examples if value not in group[0].nodata]
        fix = format_setting("void", sorted({*nodata, *(expected.void or ())}))
        if not expected.rule and len(others) > 2:
            fix += f" and {format_setting('positive', others[-1])}, or whichever labels are positive"
        return f"labels and the value {written(nodata)}, which the files declare as no data (GDAL_NODATA)", fix
    if kind == "labels":
        lowest = min(value for value in examples if value != UNLABELLED)
        fix = f"{format_setting('positive', examples[-1])}, or {all_but(lowest)}, or whichever labels are positive"
        return "several labels", f"{format_setting('label_maps', True)} for their borders, or {fix}" if lines else fix
    void = examples[-1] if examples[-2] < LABELS_BELOW else examples[1]
    rest = [value for value in examples if value != void]
    masks = [truth for truth in truths if set(truth.values).difference((0,)) == {void}]
    if len(masks) > len(group):
        what = (
            f"labels and the value {void:g}, which is all that {many(len(masks), 'other')} {verb(len(masks), 'have')}"
        )
        others = [value for value in rest if value]
        positive = f"{format_setting('positive', void)} if {listed(others)} {verb(len(others), 'are')} negative here"
        fix = f"save these as the other masks are, or {positive}"
        fix += "" if lines else f", or {format_setting('void', (void,))} if {void:g} is void in all masks"
        return f"{what} beside 0", fix
    fix = format_setting("positive", rest[-1]) if lines else format_setting("void", (void,))
    if not lines and not expected.rule and len(rest) > 2:
        fix += f" and {format_setting('positive', rest[-1])}, or whichever labels are positive"
    elif not lines and examples[-1] != void:
        fix += f" if {void:g} is void, or {format_setting('positive', written(examples[1:]))} if it is positive"
    return f"labels and the value {void:g}, which is not declared void", fix


def _annotators(probes: Sequence[Probe], expected: Expected, total: int) -> list[Finding]:
    several = [probe for probe in probes if len(probe.truths) > 1 and expected.one_annotator]
    what = f"{inspected(several, len(probes), 'have', 'image')} several annotators"
    fix = f"{format_setting('annotators', 'majority')}, any, all or each; or " * expected.several_ruled + take_one()
    places = [Place(probe.image, many(len(probe.truths), "annotator")) for probe in several]
    images = [probe.image for probe in several]
    whole = bool(several) and len(several) == total
    return finding("annotators", what, fix, places, about="ground truth", images=images, whole=whole)


def _one_set(probes: Sequence[Probe], total: int, *, by_set: bool, left_out_by: Message) -> list[Finding]:
    """Judge the set as a whole: one pair of values in all images, and something positive and negative in some."""
    truths = [truth for probe in probes for truth in probe.truths if truth.values]
    pairs = grouped((truth.values, truth) for truth in truths)
    together = sorted({value for values in pairs for value in values})
    if by_set and len(together) > 2:
        what = f"masks do not agree on their two values: {listed(together)} across the set"
        half, rarest = format_setting("positive", f">={together[1]:g}"), min(pairs.values(), key=len)
        return _found(rarest, "mixed-ground-truth", what, half, _held, whole=True)
    unsettled = by_set and len(together) == 1
    sides = {"positive": 0, "negative": 1}
    one_sided = [side for side, share in sides.items() if all(truth.positive_share == share for truth in truths)]
    if not unsettled and not one_sided:
        return []
    lacking = "positive" if unsettled else one_sided[0]
    which = "a value that occurs" if lacking == "positive" else "some of the values that occur"
    fix: Message | str = f"{format_setting('positive')} with {which}: {listed(together)}"
    message = f"no pixel is {lacking} in the {many(len(probes), 'image')} inspected"
    if len(together) == 1:
        fix = BOTH_SIDES
        if any(truth.ignored for truth in truths):
            fix = left_out(left_out_by) or BOTH_SIDES
            message += f": nothing but {together[0]:g} is left"
    whole = unsettled and len(probes) == total
    return _found(truths, ONE_SIDED, message, fix, _held, whole=whole)


def _nan(probes: Sequence[Probe], expected: Expected) -> list[Finding]:
    bad = [truth for probe in probes for truth in probe.truths if truth.nan]
    what = f"{many(len(bad), 'ground truth')} {verb(len(bad), 'contain')} NaN"
    fix = "give these pixels a value"
    if expected.void is not None:
        fix += f"; if they do not count, one that is void: {format_setting('void')}"
    return _found(bad, "nan-ground-truth", what, fix, lambda truth: f"{truth.nan} NaN", stops=True)


def _lines(probes: Sequence[Probe], *, thinned: bool) -> list[Finding]:
    truths = [truth for probe in probes for truth in probe.truths if 0 < truth.positive_share < 1]
    white = [truth for truth in truths if truth.positive_share > MANY_PIXELS and truth.blocks_outside < THICK]
    thick = [truth for truth in truths if truth.thick > _NOT_THIN and truth not in white]
    if 2 * len(white) > len(truths):
        share = sorted(truth.positive_share for truth in white)[len(white) // 2]
        what = f"{100 * share:.0f} % of the ground truth is boundary, as in black lines on white"
        fix = format_setting("positive", 0)
        return _found(white, "inverted-ground-truth", what, fix, lambda truth: f"{100 * truth.positive_share:.0f} %")
    if thinned and 2 * len(thick) > len(truths):
        what = "ground-truth lines are wider than a pixel, or filled, but predictions are thinned: even a perfect one "
        what += "has a low recall"
        filled = f"{format_setting('label_maps', True)} for the borders of filled areas"
        fix = f"{format_setting('thin_ground_truth', True)} for lines; {filled}"
        detail = "{:.0f} thick places per 100 pixels".format
        return _found(thick, "thick-ground-truth", what, fix, lambda truth: detail(100 * truth.thick))
    return []


def rule_for_other_side(probes: Sequence[Probe], expected: Expected) -> str:
    """Give the setting under which the other side of the ground truth is positive; empty unless these are masks."""
    values = sorted({value for probe in probes for truth in probe.truths for value in truth.values})
    if not 2 <= len(values) <= _MOST_OF_MASKS and (expected.rule is None or expected.rule.comparison == "="):
        return ""
    rule = expected.rule or LabelRule("=", tuple(values[1:]))
    return format_setting("positive", rule.other_side(values))


_EXCHANGED = "the folders look swapped: the first contains soft maps, the second two-valued images"


def refused_exchange_findings(failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """Find that the folders look exchanged by most of the `total` images inspected, which cannot be counted so."""
    refused = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    exchanged = {image: error for image, error in refused.items() if error.exchanged}
    if 2 * len(exchanged) <= total or any(error.exchanged is False for error in refused.values()):
        return []
    hint = next(iter(exchanged.values())).hint
    hint = hint.values["behind"] if hint.kind == "perhaps-swapped" else hint
    fix = f"{ORDER}; or, if they are in order, {hint}"
    places = [Place(error.path, str(error.what)) for error in exchanged.values()]
    return finding("exchanged", _EXCHANGED, fix, places, about="names", images=refused)


def exchange_findings(probes: Sequence[Probe], found: Sequence[Finding], expected: Expected) -> list[Finding]:
    """Find that the folders look exchanged: scores of two values or blank, and soft maps that no named rule cuts.

    Grey levels that are a finding are enough; where a protocol cuts them by its own rule, they are not near the ends.
    """
    scores = [probe.scores for probe in probes if probe.scores and len(probe.scores.values) <= 2]
    masks = [score for score in scores if not score.constant]
    levels = [len(one.values) >= MOST_VALUES for probe in probes for one in probe.truths]
    soft = expected.unnamed_rule and any(one.between > SOFT for probe in probes for one in probe.truths)
    between = fmean(one.between for probe in probes for one in probe.truths) if levels else 0.0
    grey = [one for one in found if one.key == "grey-ground-truth"] if between > HALOS and all(levels) else []
    if not (masks and (grey or (soft and 2 * sum(levels) > len(levels)))) or len(scores) < len(probes):
        return []
    places = [Place(score.file, listed(score.values)) for score in masks]
    fix = ORDER
    if grey:
        blurred = f"are masks with blurred edges, {grey[0].fix}"
        fix += f"; or, if the first {blurred if between <= SOFT else f'number objects, {all_but(0)}'}"
    return finding("exchanged", _EXCHANGED, fix, places, about="names", images=[probe.image for probe in probes])
