"""Predictions: which way scores run, what range they have, whether there is more than one."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from statistics import median

from segbench.checks.findings import Finding, Place, as_error, as_warning
from segbench.checks.probes import Probe, ScoreProbe
from segbench.core.expected import ExpectedLines, ExpectedScores
from segbench.core.interface import format_setting, setting
from segbench.core.levels import LOGIT, ROUNDING, are_of_shares, how_to_scale
from segbench.core.numbers import many, verb

INVERTED_BELOW = 0.4
"""A method that is merely poor comes near .5; turned around it would do better than .6."""
FEW_LEVELS = 3
"""So many scores make a curve of so few points that its area is mostly interpolation."""
SMALL = 1024
"""Drawings of fewer pixels have few scores by nature."""
CLIPPED_SHARE, CLIPPED_WRONG = 0.05, 0.25
"""Share of all pixels at the top of the scale, and of negatives among them, from which lost ranking matters."""
THICK = 0.6
"""Share of strong pixels in blocks of 2 x 2: below 0.3 in suppressed maps, above 0.9 in what networks put out."""
LIKE_LEVELS = 128
"""Whole numbers above this and up to 255 are taken for 8-bit levels kept as floats, and not for ranks or counts."""
NEARLY_ALL = 250
"""Floats that end between this and 255 are taken for such levels, too, whole or not: resized or averaged, say."""
WRITTEN_WHOLE = "check that these files are complete"


def score_findings(
    probes: Sequence[Probe], expected: ExpectedScores, lines: ExpectedLines | None = None, *, field: bool = True
) -> list[Finding]:
    """Judge the predictions of the images inspected; `field` says whether pixels can be left out."""
    scored = [(probe, probe.scores) for probe in probes if probe.scores]
    scores = [score for _, score in scored]
    varied = [score for score in scores if not score.constant]
    inverted = _inverted(varied, expected, on_bright=lines is not None)
    masks = lines is None and len(_values(varied)) == 2
    unscaled = [] if (masks and not expected.cut) or expected.stretched else _unscaled(varied)
    found = [*_not_finite(scored, field=field), *inverted, *unscaled, *_range(scored, expected), *_constant(scored)]
    if varied and not unscaled:
        few = [] if masks and expected.cut else _few_levels(varied, masks=masks)
        found += few or ([] if inverted or not expected.pooled else _saturated(varied))
    return [*found, *(_thick(varied) if lines and not lines.suppressed and not inverted else [])]


def _inverted(scores: Sequence[ScoreProbe], expected: ExpectedScores, *, on_bright: bool) -> list[Finding]:
    ranked = [score for score in scores if not isnan(score.auc)]
    if not ranked:
        return []
    middle = median(score.auc for score in ranked)
    bright = on_bright and 2 * sum(score.bright for score in ranked) > len(ranked)
    if not (middle < INVERTED_BELOW or (bright and middle < 0.5)):
        return []
    ground = ", on a bright background" if bright else ""
    what = f"scores are higher on negatives than on positives (AUC-ROC {middle:.2f}, median of "
    message = f"{what}{many(len(ranked), 'image')}){ground}"
    places = (Place(score.file, f"AUC-ROC {score.auc:.2f}") for score in ranked if score.auc < 0.5)
    fix = f"{'leave out ' * expected.invert}{format_setting('invert', True)}"
    return [as_warning("inverted", "prediction", message, fix, places)]


def _unscaled(scores: Sequence[ScoreProbe]) -> list[Finding]:
    """Find levels that fill but the bottom of their type: 0 and 1 in 8 bits, 8 bits in 16."""
    for dtype, most in (("uint8", 1), ("uint16", 255)):
        group = [score for score in scores if score.dtype == dtype]
        highest = max((score.highest for score in group), default=0)
        if group and highest <= most:
            full = 255 if dtype == "uint8" else 65535
            what = f"{dtype} predictions contain nothing above {highest:g}, so no score is above {highest:g} / {full}"
            places = (Place(score.file, f"up to {score.highest:g}") for score in group)
            return [
                as_warning("levels-unscaled", "prediction", what, format_setting("scale", most, of="Repairs"), places)
            ]
    return []


def _range(scored: Sequence[tuple[Probe, ScoreProbe]], expected: ExpectedScores) -> list[Finding]:
    floats = [(probe, score) for probe, score in scored if score.dtype.startswith("float")]
    outside = [(p, s) for p, s in floats if s.lowest < -ROUNDING or s.highest > 1 + ROUNDING]
    if not outside:
        return []
    lowest, highest = min(s.lowest for _, s in outside), max(s.highest for _, s in outside)
    whole = all(score.whole for _, score in outside)
    levels = lowest >= 0 and (LIKE_LEVELS if whole else NEARLY_ALL) < highest <= 255
    apart = any(0 < s.highest <= 1 for _, s in floats) and highest > 100
    logits = lowest < LOGIT - ROUNDING and not expected.any_range
    above = are_of_shares(expected.at) and highest > 1 + ROUNDING
    stops = expected.unit_range or (logits and expected.cut and are_of_shares(expected.at))
    if not (stops or logits or above or ((levels or apart) and not expected.stretched)):
        return []  # the pixels protocol takes scores of any range
    if apart and not (stops or logits):
        what = f"some predictions range from 0 to 1, and others up to {highest:g}"
        fix = "save all predictions on one scale"
    else:
        what = f"float scores range from {lowest:g} to {highest:g}, {_why_range_matters(expected, logits=logits)}"
        fix = how_to_scale(lowest, highest)
        if lowest < 0 and not logits:
            fix = "save scores between 0 and 1: clip them, or map scores between -1 and 1 with (s + 1) / 2"
    places = [Place(s.file, f"{s.lowest:g} to {s.highest:g}") for _, s in outside]
    if stops:
        return [as_error("range", "prediction", what, fix, places, images=[probe.image for probe, _ in outside])]
    return [as_warning("range", "prediction", what, fix, places)]


def _why_range_matters(expected: ExpectedScores, *, logits: bool) -> str:
    if expected.unit_range:
        return "but they must lie between 0 and 1"
    if are_of_shares(expected.at) and (expected.cut or not logits):
        return f"{'like logits, ' * logits}but {format_setting('at', expected.at)} is for scores from 0 to 1"
    if not logits:
        return "but scores usually lie between 0 and 1"
    if expected.stretched:
        return "like logits; each map is stretched, which gives other metrics than a sigmoid"
    return "like logits; thresholds are on that scale, and other metrics stay the same"


def _not_finite(scored: Sequence[tuple[Probe, ScoreProbe]], *, field: bool) -> list[Finding]:
    bad = [(probe, score) for probe, score in scored if score.not_finite]
    if not bad:
        return []
    fix = "write finite scores"
    if field:
        fix += f", or leave those pixels out with {format_setting('field')}"
    return [
        as_error(
            "not-finite",
            "prediction",
            f"{many(len(bad), 'prediction')} of those inspected {verb(len(bad), 'contain')} NaN or infinite scores",
            fix,
            (Place(score.file, f"{score.not_finite} of them") for _, score in bad),
            images=[probe.image for probe, _ in bad],
        )
    ]


def _constant(scored: Sequence[tuple[Probe, ScoreProbe]]) -> list[Finding]:
    flat = [
        score
        for probe, score in scored
        if score.constant and (not probe.truths or any(truth.positive_share for truth in probe.truths))
    ]
    if not flat:
        return []
    zero = sum(score.highest == 0 for score in flat)
    what = f"{many(len(flat), 'prediction')} of {len(scored)} inspected {verb(len(flat), 'are')} constant ({zero} all "
    what += "zero), although the "
    places = (Place(score.file, f"all {score.highest:g}") for score in flat)
    return [as_warning("constant", "prediction", f"{what}ground truth has positives", WRITTEN_WHOLE, places)]


def _values(scores: Sequence[ScoreProbe]) -> list[float]:
    return sorted({value for score in scores for value in score.values})


def _few_levels(scores: Sequence[ScoreProbe], *, masks: bool) -> list[Finding]:
    values = _values(scores)
    if len(values) > FEW_LEVELS or sum(score.pixels for score in scores) < SMALL:
        return []
    points = "one point" if len(values) == 2 else f"{len(values) - 1} points"
    written = ", ".join(f"{value:g}" for value in values)
    message = f"predictions contain only {len(values)} scores ({written}), so the curve has {points}"
    fix = "save soft maps, before they are cut at a threshold"
    if masks:
        message = f"predictions contain only two values ({written}), so they are evaluated as masks"
        labels = setting("segbench labels GT PRED", "Labels()")
        fix = f"for IoU, Dice and MCC of masks use {labels}; for curves and areas {fix}"
    return [as_warning("few-levels", "prediction", message, fix, (Place(score.file) for score in scores))]


def _saturated(scores: Sequence[ScoreProbe]) -> list[Finding]:
    right, wrong = (sum(score.top[side] for score in scores) for side in (0, 1))
    pixels = sum(score.pixels for score in scores)
    if right + wrong < CLIPPED_SHARE * pixels or wrong < CLIPPED_WRONG * (right + wrong) or pixels < SMALL:
        return []
    what = f"{100 * (right + wrong) / pixels:.0f} % of the pixels have the highest possible score, and "
    what += f"{100 * wrong / (right + wrong):.0f} % of these are negative: no threshold separates them"
    fix = "save scores before they are clipped, as floats or divided by their maximum"
    return [as_warning("saturated", "prediction", what, fix, (Place(score.file) for score in scores if sum(score.top)))]


def _thick(scores: Sequence[ScoreProbe]) -> list[Finding]:
    share = median(score.blocks for score in scores) if scores else 0.0
    if share < THICK:
        return []
    what = f"ridges are thick: {100 * share:.0f} % of the strong pixels lie in blocks of 2 x 2 (median)"
    nms = setting("segbench nms IN_DIR OUT_DIR", "segbench.nms")
    fix = f"{format_setting('nms', (1, 5, 1.01))}, or {nms}, as is usual for network outputs"
    thick = (Place(score.file, f"{100 * score.blocks:.0f} %") for score in scores if score.blocks >= THICK)
    return [as_warning("not-suppressed", "prediction", what, fix, thick)]
