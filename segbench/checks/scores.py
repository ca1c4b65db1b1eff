"""Predictions: which way scores run, what range they have, whether there is more than one."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isnan, nan
from statistics import median

from segbench.checks.findings import Finding, found_in, inspected
from segbench.checks.probes import MOST_VALUES, Ranking, ScoreProbe
from segbench.core.expected import ExpectedLines, ExpectedScores
from segbench.core.grouping import grouped
from segbench.core.interface import format_setting, setting
from segbench.core.levels import (
    LOGIT,
    RESIZED,
    ROUNDING,
    are_apart,
    are_beyond_shares,
    are_of_shares,
    are_signed,
    how_to_scale,
)
from segbench.core.numbers import many, verb
from segbench.protocols.label_rules import listed
from segbench.protocols.mask_settings import above_scores

INVERTED = "predictions are inverted (low scores mean positive)"
INVERTED_BELOW = 0.4
"""A method that is merely poor comes near .5; turned around it would do better than .6."""
GROUP, CLEARLY, ALONE = 0.2, 0.2, 0.1
"""From two images and this share of all on, images of one direction are a group, ranked this badly or this well by
their median. Fewer count only where each is ranked worse or better still, as a hard image alone seldom is."""
FEW_LEVELS = 3
"""So many scores make a curve of so few points that its area is mostly interpolation."""
SMALL = 1024
"""Drawings of fewer pixels have few scores by nature."""
CLIPPED_SHARE, CLIPPED_WRONG = 0.05, 0.25
"""Share of all pixels at the top of the scale, and of negatives among them, that matters."""
THICK = 0.6
"""Share of strong pixels in blocks of 2 x 2: below 0.3 if suppressed, above 0.9 from networks. Of all pixels above the
lowest score: below 0.3 if suppressed, above 0.9 otherwise (medians of BSDS500 and of the maps that ship)."""
LIKE_LEVELS = 128
"""Whole numbers above this, up to 255, are 8-bit levels as floats, and not ranks or counts."""
NEARLY_ALL = 250
"""Other floats that end between this and 255 are such levels, resized or averaged."""
OTHER_SCALE = 10
"""Floats above this, beside thresholds from 0 to 1, are percentages or levels; others may be scores without a bound."""

BETWEEN = 1e-3
"""Share of pixels away from 0 and 255: up to .0007 in JPEG masks of quality 75 or more, above .01 in soft maps."""

_SCALES = (("uint8", 1, 255), ("uint16", 255, 65535))
"""Types of levels, the end of a lower scale that is saved in them by mistake, and their own."""


def score_findings(
    scores: Sequence[ScoreProbe],
    expected: ExpectedScores,
    lines: ExpectedLines | None = None,
    *,
    field: bool = True,
    other_side: str = "",
) -> list[Finding]:
    """Judge the predictions of the images inspected.

    `field` says whether pixels can be left out, and `other_side` is the setting that exchanges positive and negative
    in the ground truth; empty if there is none.
    """
    varied = [score for score in scores if not score.constant]
    turn = "save scores that are high where something is positive"
    if expected.invert is not None:
        turn = f"{'leave out ' * expected.invert}{format_setting('invert', True)}"
    when = "high scores mean positive" if expected.invert else INVERTED
    inverted = inverted_findings(varied, turn, when, on_bright=lines is not None, other_side=other_side)
    two_valued = len(_values(varied)) == 2
    masks = lines is None and two_valued
    scales = _mixed_masks(varied) or _mixed_levels(varied) or _unscaled(varied)
    unscaled = [] if (masks and not expected.cut) or expected.stretched else scales
    unscaled = _above_scores(scores, expected, masks=masks) or unscaled
    found = [*_not_finite(scores, field=field), *inverted, *unscaled, *_range(scores, expected), *_constant(scores)]
    jpeg = _jpeg_masks(varied, lines)
    if varied and not unscaled:
        few = [] if masks and expected.cut else _few_levels(varied, masks=masks, as_masks=expected.as_masks)
        few = few or ([] if expected.cut or len(expected.listed) == 1 else jpeg or _masks_among_maps(varied, expected))
        found += few or ([] if inverted or not expected.pooled else _saturated(varied))
    ridges = _ridges(varied, lines, masks=two_valued or bool(jpeg)) if lines and not inverted else []
    return [*found, *ridges]


def inverted_findings(
    scores: Sequence[Ranking], turn: str, when: str = INVERTED, *, on_bright: bool = False, other_side: str = ""
) -> list[Finding]:
    """Find predictions that run the other way than the ground truth; `turn` says how to turn them, and `when`."""
    ranked = [score for score in scores if not isnan(score.auc)]
    middle = median([score.auc for score in ranked] or [1.0])
    if partly := _partly_inverted(ranked, middle, on_bright=on_bright):
        return partly
    bright = on_bright and 2 * sum(score.bright for score in ranked) > len(ranked)
    if middle >= (0.5 if bright else INVERTED_BELOW):
        return []
    ground = ", on a bright background" * bright
    what = f"scores are higher on negatives than on positives (median AUC-ROC {middle:.2f}){ground}"
    fix = turn
    if other_side:
        fixes = [f"{turn} if {when}"]
        fixes += [f"{other_side} if the ground truth is inverted (its other value is what is to be found)"]
        mostly = 2 * sum(score.share * score.pixels for score in ranked) > sum(score.pixels for score in ranked)
        fix = "; or ".join(reversed(fixes) if mostly else fixes)
        what += ", and most pixels are positive" * mostly
    worse = (score for score in ranked if score.auc < 0.5)
    return found_in(worse, "inverted", what, fix, _ranking)


def _ranking(score: Ranking) -> str:
    return f"AUC-ROC {score.auc:.2f}"


def _partly_inverted(ranked: Sequence[Ranking], middle: float, *, on_bright: bool) -> list[Finding]:
    """Find that scores run one way in some images, and the other way in others."""
    low, high = _lines_by_ground(ranked) if on_bright else ([], [])
    if not low or not high:
        low, high = _by_ranking(ranked, middle)
    what = f"{len(low)} of {many(len(ranked), 'image')} {verb(len(low), 'look')} inverted: scores are higher on "
    what += "negatives there, and on positives elsewhere"
    fix = "look at these images, and save the files that are inverted again, predictions or ground truth: no option "
    fix += "turns only some"
    return found_in(low if high else [], "partly-inverted", what, fix, _ranking)


def _lines_by_ground(ranked: Sequence[Ranking]) -> tuple[list[Ranking], list[Ranking]]:
    """Give maps of dark lines on a bright ground that rank worse than chance, and maps that are neither."""
    low = [score for score in ranked if score.bright and score.auc < 0.5]
    return low, [score for score in ranked if not score.bright and score.auc > 0.5]


def _by_ranking(ranked: Sequence[Ranking], middle: float) -> tuple[list[Ranking], list[Ranking]]:
    """Give the images that are clearly ranked the wrong way and the right way; none if this may be a weak method."""
    low = [score for score in ranked if score.auc < INVERTED_BELOW]
    high = [score for score in ranked if score.auc > 1 - INVERTED_BELOW]
    least = max(2, GROUP * len(ranked))
    low = low if len(low) >= least else [score for score in low if score.auc < ALONE]
    high = high if len(high) >= least else [score for score in high if score.auc > 1 - ALONE]
    if not low or not high:
        return [], []
    clear = median(score.auc for score in low) < CLEARLY and median(score.auc for score in high) > 1 - CLEARLY
    mostly = middle < INVERTED_BELOW and len(high) >= least
    return (low, high) if clear or mostly else ([], [])


def _mixed_masks(scores: Sequence[ScoreProbe]) -> list[Finding]:
    """Find masks of 0 and 1 beside masks of 0 and 255: 1 is nearly the lowest score there."""
    highest = grouped((score.highest / score.full, score) for score in scores if not score.dtype.startswith("float"))
    if len(highest) < 2 or any(len(score.values) > 2 or score.lowest for score in scores):
        return []
    held = dict.fromkeys(
        f"0 and {score.highest:g} in {score.dtype}" for _, group in sorted(highest.items()) for score in group
    )
    what = f"predicted masks do not agree on their two values: {', '.join(held)}"
    labels = setting("segbench labels GT PRED", "Labels()")
    fix = f"save all in one type with the same two values; or evaluate them with {labels}, where all but 0 is positive"
    rarest = min(highest.values(), key=len)
    return found_in(rarest, "mixed-masks", what, fix, lambda score: f"0 and {score.highest:g}")


def _mixed_levels(scores: Sequence[ScoreProbe]) -> list[Finding]:
    """Find masks of 0 and 1, or 8 bits in 16, beside files that fill the same type.

    Nearly empty maps may end there by chance: several files must, each a mask or near the end of 8 bits, and rank well.
    """
    for dtype, most, full in _SCALES:
        group = [score for score in scores if score.dtype == dtype]
        alike = [one for one in group if one.values == (0.0, 1.0) or LIKE_LEVELS < one.highest <= most]
        low = [one for one in alike if one.auc > 0.5]
        if len(low) >= max(2, GROUP * len(group)) and max(score.highest for score in group) > full / 2:
            highest = max(score.highest for score in low)
            what = (
                f"{len(low)} of {len(group)} {dtype} predictions end at {highest:g}, which is a score of {highest:g} / "
            )
            what += f"{full}, and others go far above it"
            fix = f"save all predictions on one scale, masks as 0 and {full}"
            return found_in(low, "mixed-levels", what, fix, lambda score: f"up to {score.highest:g}")
    return []


def _unscaled(scores: Sequence[ScoreProbe]) -> list[Finding]:
    """Find levels that fill but the bottom of their type: 0 and 1 in 8 bits, 8 bits in 16."""
    for dtype, most, full in _SCALES:
        group = [score for score in scores if score.dtype == dtype]
        highest = max((score.highest for score in group), default=0)
        if group and highest <= most:
            what = (
                f"{dtype} predictions inspected end at {highest:g}, so no score of these is above {highest:g} / {full}"
            )
            fix = format_setting("scale", most if highest > 1 else 1, of="Repairs")
            return found_in(group, "levels-unscaled", what, fix, lambda score: f"up to {score.highest:g}")
    return []


def _above_scores(scores: Sequence[ScoreProbe], expected: ExpectedScores, *, masks: bool) -> list[Finding]:
    """Find that thresholds are above all scores that there can be, as levels are."""
    thresholds = expected.at if expected.cut else expected.listed
    name = _name_of_cuts(expected) if expected.cut else "thresholds"
    above = above_scores(thresholds, name)
    if above is None or any(score.dtype.startswith("float") and score.highest > 1 for score in scores):
        return []
    what, fix = above
    fix += f"; masks need no threshold: leave out {format_setting(name)}" * masks
    return found_in(scores, "range", f"predictions {what}", fix, stops=True)


def _name_of_cuts(expected: ExpectedScores) -> str:
    return "thresholds" if expected.cut and len(expected.at) > 1 else "at"


def _range(scores: Sequence[ScoreProbe], expected: ExpectedScores) -> list[Finding]:
    floats = [score for score in scores if score.dtype.startswith("float")]
    outside = [score for score in floats if score.lowest < -ROUNDING or score.highest > 1 + ROUNDING]
    if not outside:
        return []
    lowest, highest = min(score.lowest for score in outside), max(score.highest for score in outside)
    whole = all(score.whole for score in outside)
    on_their_scale = expected.cut and min(expected.at) > 1
    levels = not on_their_scale and lowest >= 0 and (LIKE_LEVELS if whole else NEARLY_ALL) < highest <= 255
    apart = are_apart([score.highest for score in floats])
    of_shares = are_of_shares(expected.at)
    # Thresholds of 0 or less are on the scale of logits.
    logits = lowest < LOGIT - ROUNDING and not expected.any_range and (of_shares or not expected.at)
    beyond = of_shares and are_beyond_shares(lowest, highest)
    stops = expected.unit_range or (expected.cut and of_shares and (logits or highest > OTHER_SCALE))
    if not (stops or logits or beyond or ((levels or apart) and not expected.stretched)):
        return []  # the pixels protocol takes scores of any range
    if apart and not (stops or logits):
        what = f"some predictions range from 0 to 1, and others up to {highest:g}"
        fix = "save all predictions on one scale"
    else:
        what = f"float scores range from {lowest:g} to {highest:g}, {_why_range_matters(expected, logits=logits)}"
        fix = _into_unit_range(lowest, highest, expected)
    return found_in(outside, "range", what, fix, lambda score: f"{score.lowest:g} to {score.highest:g}", stops=stops)


def _into_unit_range(lowest: float, highest: float, expected: ExpectedScores) -> str:
    """Say how floats come into [0, 1], and which thresholds fit them as they are or change with them."""
    if are_signed(lowest, highest):
        fix = "if scores are from -1 to 1, as of tanh, save (s + 1) / 2 instead"
        return fix + f", or give {_format_cuts([2 * at - 1 for at in expected.at], expected)}" * bool(expected.at)
    if RESIZED <= lowest < 0 and highest <= 1 - RESIZED:
        return "save scores between 0 and 1: clip them, if resizing moved them beyond"
    fix = str(how_to_scale(lowest, highest))
    if lowest < 0 and expected.at and not are_of_shares(expected.at):
        fix += f"; after a sigmoid, {_format_cuts([1 / (1 + exp(-at)) for at in expected.at], expected)}"
    return fix


def _format_cuts(cuts: Sequence[float], expected: ExpectedScores) -> str:
    """Write other thresholds as the given ones are written."""
    rounded = [round(cut, 6) for cut in cuts]
    one = expected.cut and len(cuts) == 1
    return format_setting(_name_of_cuts(expected), rounded[0] if one else rounded)


def _why_range_matters(expected: ExpectedScores, *, logits: bool) -> str:
    if expected.unit_range:
        return "but they must lie between 0 and 1"
    if are_of_shares(expected.at) and (expected.cut or not logits):
        several = len(expected.at) > 1
        are_for = f"the thresholds {listed(expected.at)} are" if several else f"the threshold {expected.at[0]:g} is"
        return f"{'like logits, ' * logits}but {are_for} for scores from 0 to 1"
    if not logits:
        return "but scores usually lie between 0 and 1"
    if expected.stretched:
        return "like logits; each map is stretched, which gives other metrics than a sigmoid"
    return "like logits; thresholds are on that scale, and other metrics stay the same"


def _not_finite(scores: Sequence[ScoreProbe], *, field: bool) -> list[Finding]:
    bad = [score for score in scores if score.not_finite]
    what = f"{inspected(bad, len(scores), 'contain')} NaN or infinite scores"
    fix = "write finite scores" + f", or leave those pixels out with {format_setting('field')}" * field
    return found_in(bad, "not-finite", what, fix, lambda score: f"{score.not_finite} of them", stops=True)


def _constant(scores: Sequence[ScoreProbe]) -> list[Finding]:
    flat = [score for score in scores if score.constant and score.share]
    zero = sum(score.highest == 0 for score in flat)
    what = f"{inspected(flat, len(scores), 'are')} constant ({zero} all zero)"
    what += ", although the ground truth has positives"
    fix = "check that these files are complete"
    return found_in(flat, "constant", what, fix, lambda score: f"all {score.highest:g}")


def _values(scores: Sequence[ScoreProbe]) -> list[float]:
    """Give the values of all scores, rising; one where types store a score by several."""
    stored = {value / score.full: value for score in scores for value in score.values}
    return [stored[score] for score in sorted(stored)]


def _few_levels(scores: Sequence[ScoreProbe], *, masks: bool, as_masks: bool) -> list[Finding]:
    values = _values(scores)
    if len(values) > FEW_LEVELS or sum(score.pixels for score in scores) < SMALL:
        return []
    points = "one point" if len(values) == 2 else f"{len(values) - 1} points"
    of_masks = masks and as_masks
    scored = f"{'two' if masks else len(values)} {'values' if masks else 'scores'}"
    what = f"predictions inspected contain only {scored} ({', '.join(f'{value:g}' for value in values)}), so "
    what += "they are evaluated as masks" if of_masks else f"the curve has {points}"
    fix = "save soft maps, before they are cut at a threshold"
    if masks:
        labels = f"for IoU, Dice and MCC of masks use {setting('segbench labels GT PRED', 'Labels()')}"
        fix = f"{labels}; for curves and areas {fix}" if of_masks else f"{fix}; {labels}"
    return found_in(scores, "few-levels", what, fix)


def _jpeg_masks(scores: Sequence[ScoreProbe], lines: ExpectedLines | None) -> list[Finding]:
    """Find masks that JPEG turned into levels near 0 and 255, whose order is noise."""
    seen = [score for score in scores if score.dtype == "uint8" and score.lossy]
    middle, pixels = sum(score.middle for score in seen), sum(score.pixels for score in seen)
    if len(seen) < len(scores) or middle >= BETWEEN * pixels:
        return []
    what = (
        f"predictions look like masks saved as {seen[0].lossy}: only {100 * middle / pixels:.2g} % of the pixels are "
    )
    what += "not near 0 or 255, and levels near these are noise of the compression, not scores"
    at_half = setting("segbench labels GT PRED --predicted-positive '>=128'", "Labels(predicted_positive='>=128')")
    at_half = format_setting("thresholds", (0.5,)) if lines else at_half
    return found_in(seen, "jpeg-masks", what, f"save masks as PNG, or evaluate them cut at half: {at_half}")


def _masks_among_maps(scores: Sequence[ScoreProbe], expected: ExpectedScores) -> list[Finding]:
    """Find masks among soft maps, which outrank them; saturated networks leave levels in between at edges."""
    large = [score for score in scores if score.pixels >= SMALL and expected.pooled]
    masks = [score for score in large if score.is_mask]
    maps = [score for score in large if len(score.values) >= MOST_VALUES]
    if min(len(masks), len(maps)) < max(2, GROUP * len(scores)):
        return []
    what = f"{len(masks)} of {many(len(scores), 'prediction')} are masks and the others soft maps, whose scores are "
    what += "ranked together"
    return found_in(masks, "masks-among-maps", what, "save soft maps of all images, or masks of all")


def _saturated(scores: Sequence[ScoreProbe]) -> list[Finding]:
    right, wrong = (sum(score.top[side] for score in scores) for side in (0, 1))
    pixels, top = sum(score.pixels for score in scores), right + wrong
    if top < CLIPPED_SHARE * pixels or wrong < CLIPPED_WRONG * top or pixels < SMALL:
        return []
    what = f"{100 * top / pixels:.0f} % of the pixels have the highest possible score, and "
    what += f"{100 * wrong / top:.0f} % of these are negative: no threshold separates them"
    fix = "if these predictions are of these images, and not mirrored or shifted, save scores before they are clipped, "
    fix += "as floats or divided by their maximum"
    return found_in((score for score in scores if sum(score.top)), "saturated", what, fix)


def _ridges(scores: Sequence[ScoreProbe], lines: ExpectedLines, *, masks: bool) -> list[Finding]:
    """Find maps that should be suppressed, or that are suppressed again; masks have no ridges that could be kept."""
    share = median([score.blocks for score in scores] or [nan])
    if lines.suppression and share < THICK:
        pixels = f"{100 * share:.0f} % of the pixels above the lowest score lie in blocks of 2 x 2 (median)"
        what = f"maps are already thin: {pixels}, so suppression only takes pixels of the lines away"
        fix = f"leave out {format_setting('nms')}"
        thin = (score for score in scores if score.blocks < THICK)
        return found_in(thin, "already-suppressed", what, fix, _in_blocks)
    if lines.suppressed or masks or not share >= THICK:
        return []
    what = f"ridges are thick: {100 * share:.0f} % of the strong pixels lie in blocks of 2 x 2 (median)"
    nms = setting("segbench nms IN_DIR OUT_DIR", "segbench.nms")
    fix = f"{format_setting('nms', (1, 5, 1.01))}, or {nms}, as is usual for network outputs"
    thick = (score for score in scores if score.blocks >= THICK)
    return found_in(thick, "not-suppressed", what, fix, _in_blocks)


def _in_blocks(score: ScoreProbe) -> str:
    return f"{100 * score.blocks:.0f} %"
