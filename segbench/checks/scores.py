"""Soft predictions: what range and scale scores have, and whether there are more than a few."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, nan
from statistics import median

import numpy as np

from segbench.checks.findings import Finding, Place, finding, found_in
from segbench.checks.inversion import GROUP, inverted_scores
from segbench.checks.map_kinds import labels_as_scores
from segbench.checks.seen import Seen, rule
from segbench.core.grouping import grouped
from segbench.core.levels import (
    LOGIT,
    RESIZED,
    ROUNDING,
    are_apart,
    are_beyond_shares,
    are_of_shares,
    are_signed,
    are_wide,
    how_to_scale,
)
from segbench.core.messages import Either, Message, Setting, joined, protocol_with
from segbench.core.protocol import SoftMaps
from segbench.inputs.cut_masks import above_scores
from segbench.inputs.label_rules import listed
from segbench.inputs.summaries import MOST_VALUES, ScoreSummary
from segbench.loaders.source import shown

LABELS = Either("Labels()", "segbench labels GT PRED")
"""Counts masks."""
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


@rule("wide-integers", "mixed-types", needs=["scaled_as_stored"], unless=[labels_as_scores], of_all=True)
def types(seen: Seen) -> list[Finding]:
    """Find predictions with types that imply different scales, which single bits do not."""
    headers = seen.scaled_as_stored
    sound = {path: header for path, header in headers.items() if header.dtype != "bool" and not header.odd}
    by_type = grouped((header.dtype, path) for path, header in sound.items())
    wide = {name: paths for name, paths in by_type.items() if are_wide(np.dtype(name))}
    paths = [path for group in wide.values() for path in group]
    message = Message(
        "wide-integers",
        "{count:many prediction} of a wide integer type {count:verb are} read as levels ({scales})",
        count=len(paths),
        scales=[f"{name}: value / {np.iinfo(name).max}" for name in wide],
    )
    fix = Message(
        "fix",
        "{scale} if N is the largest score, or save scores as floats",
        scale=Setting("scale", of="Repairs", metavar="N"),
    )
    findings = finding(message, fix, (Place(shown(path)) for path in paths))
    if len({name.startswith("float") for name in by_type}) > 1:
        message = Message(
            "mixed-types",
            "some predictions are floats, and others levels, which are divided ({counts})",
            counts=[f"{len(paths)} {name}" for name, paths in sorted(by_type.items())],
        )
        places = (Place(shown(path)) for path in min(by_type.values(), key=len))
        findings += finding(message, "save all predictions in one type", places)
    return findings


@rule("range", needs=["scores"], unless=[labels_as_scores])
def above_all_scores(seen: Seen) -> list[Finding]:
    """Find that thresholds are above all scores that there can be, as levels are."""
    settings = seen.soft_maps
    thresholds = settings.cuts or settings.listed
    name = _name_of_cuts(settings) if settings.cuts else "thresholds"
    above = above_scores(thresholds, name)
    if above is None or any(score.dtype.startswith("float") and score.highest > 1 for score in seen.scores):
        return []
    reason, fix = above
    if _are_masks(seen):
        fix = Message(
            "alternatives",
            "{thresholds}; masks need no threshold: leave out {given}",
            thresholds=fix,
            given=Setting(name),
        )
    return found_in(
        seen.scores, Message("range", "predictions {reason}", reason=reason), fix, stops=seen.speaks_for_set
    )


def _are_masks(seen: Seen) -> bool:
    """Return whether predictions hold two scores, where areas are predicted."""
    return seen.lines is None and len(_values(seen.varied_scores)) == 2


def _scales_matter(seen: Seen) -> bool:
    """Return whether a score means something beside others than its order in its own map."""
    settings = seen.soft_maps
    return not settings.stretch and (bool(settings.cuts) or not _are_masks(seen) or _truth_is_soft(seen))


def _truth_is_soft(seen: Seen) -> bool:
    """Return whether ground truth does not show what is positive, as alpha mattes do not: there is no curve."""
    return seen.masks_drawn is None


@rule("mixed-masks", needs=["varied_scores"], unless=[labels_as_scores, above_all_scores])
def mixed_masks(seen: Seen) -> list[Finding]:
    """Find masks of 0 and 1 beside masks of 0 and 255: 1 is nearly the lowest score there."""
    scores = seen.varied_scores if _scales_matter(seen) else ()
    highest = grouped((score.highest / score.full, score) for score in scores if not score.dtype.startswith("float"))
    if len(highest) < 2 or any(len(score.values) > 2 or score.lowest for score in scores):
        return []
    pairs = dict.fromkeys(
        f"0 and {score.highest:g} in {score.dtype}" for _, group in sorted(highest.items()) for score in group
    )
    message = Message("mixed-masks", "predicted masks do not agree on their two values: {held}", held=[*pairs])
    fix = Message(
        "fix",
        "save all in one type with the same two values; or evaluate them with {labels}, where all but 0 is positive",
        labels=LABELS,
    )
    rarest = min(highest.values(), key=len)
    return found_in(rarest, message, fix, lambda score: Message("detail", "0 and {highest:g}", highest=score.highest))


@rule("mixed-levels", needs=["varied_scores"], unless=[labels_as_scores, above_all_scores, mixed_masks])
def mixed_levels(seen: Seen) -> list[Finding]:
    """Find masks of 0 and 1, or 8 bits in 16, beside files that fill the same type.

    Nearly empty maps may end there by chance: several files must, each a mask or near the end of 8 bits, and rank well.
    """
    scores = seen.varied_scores if _scales_matter(seen) else ()
    for dtype, most, full in _SCALES:
        of_type = [score for score in scores if score.dtype == dtype]
        like_lower_scale = [
            score for score in of_type if score.values == (0.0, 1.0) or LIKE_LEVELS < score.highest <= most
        ]
        low = [score for score in like_lower_scale if score.auc > 0.5]
        if len(low) >= max(2, GROUP * len(of_type)) and max(score.highest for score in of_type) > full / 2:
            highest = max(score.highest for score in low)
            message = Message(
                "mixed-levels",
                "{count} of {total} {dtype} predictions end at {highest:g}, which is a score of {highest:g} / {full}, "
                "and others go far above it",
                count=len(low),
                total=len(of_type),
                dtype=dtype,
                highest=highest,
                full=full,
            )
            fix = Message("fix", "save all predictions on one scale, masks as 0 and {full}", full=full)
            return found_in(low, message, fix, _highest)
    return []


@rule(
    "levels-unscaled", needs=["varied_scores"], unless=[labels_as_scores, above_all_scores, mixed_masks, mixed_levels]
)
def unscaled_levels(seen: Seen) -> list[Finding]:
    """Find levels that fill but the bottom of their type: 0 and 1 in 8 bits, 8 bits in 16."""
    scores = seen.varied_scores if _scales_matter(seen) else ()
    for dtype, most, full in _SCALES:
        of_type = [score for score in scores if score.dtype == dtype]
        highest = max((score.highest for score in of_type), default=0)
        if of_type and highest <= most:
            message = Message(
                "levels-unscaled",
                "{dtype} predictions inspected end at {highest:g}, so no score of these is above {highest:g} / {full}",
                dtype=dtype,
                highest=highest,
                full=full,
            )
            return found_in(of_type, message, Setting("scale", most if highest > 1 else 1, of="Repairs"), _highest)
    return []


def _highest(score: ScoreSummary) -> Message:
    return Message("detail", "up to {highest:g}", highest=score.highest)


def _name_of_cuts(settings: SoftMaps) -> str:
    return "thresholds" if len(settings.cuts) > 1 else "at"


@rule("range", needs=["scores"], unless=[labels_as_scores])
def unusual_range(seen: Seen) -> list[Finding]:
    """Find floats that are no scores from 0 to 1, where that matters."""
    scores, settings = seen.scores, seen.soft_maps
    floats = [score for score in scores if score.dtype.startswith("float")]
    outside = [score for score in floats if score.lowest < -ROUNDING or score.highest > 1 + ROUNDING]
    if not outside:
        return []
    lowest, highest = min(score.lowest for score in outside), max(score.highest for score in outside)
    whole = all(score.whole for score in outside)
    on_their_scale = settings.cuts and min(settings.marks) > 1
    levels = not on_their_scale and lowest >= 0 and (LIKE_LEVELS if whole else NEARLY_ALL) < highest <= 255
    apart = are_apart([score.highest for score in floats])
    of_shares = are_of_shares(settings.marks)
    # Thresholds of 0 or less are on the scale of logits.
    logits = lowest < LOGIT - ROUNDING and not settings.in_any_range and (of_shares or not settings.marks)
    beyond = of_shares and are_beyond_shares(lowest, highest)
    # Cut at a threshold, a few maps on another scale are counted like all others.
    other_scale = of_shares and (logits or highest > OTHER_SCALE) and len(outside) == len(scores)
    cut_elsewhere = bool(settings.cuts) and other_scale
    stops = settings.in_unit_range or (cut_elsewhere and seen.speaks_for_set)
    if not (stops or cut_elsewhere or logits or beyond or ((levels or apart) and not settings.stretch)):
        return []  # the pixels protocol takes scores of any range
    if apart and not (stops or logits):
        message = Message(
            "range",
            "some predictions range from 0 to 1, and others up to {highest:g}",
            lowest=lowest,
            highest=highest,
        )
        fix = Message("fix", "save all predictions on one scale")
    else:
        message = Message(
            "range",
            "float scores range from {lowest:g} to {highest:g}, {why}",
            lowest=lowest,
            highest=highest,
            why=_why_range_matters(settings, logits=logits),
        )
        fix = _into_unit_range(lowest, highest, settings)
    return found_in(outside, message, fix, _ends, stops=stops)


def _ends(score: ScoreSummary) -> Message:
    return Message("detail", "{lowest:g} to {highest:g}", lowest=score.lowest, highest=score.highest)


def _into_unit_range(lowest: float, highest: float, settings: SoftMaps) -> Message:
    """Say how floats come into [0, 1], and which thresholds fit them as they are or change with them."""
    if are_signed(lowest, highest):
        if not settings.marks:
            return Message("fix", "if scores are from -1 to 1, as of tanh, save (s + 1) / 2 instead")
        return Message(
            "fix",
            "if scores are from -1 to 1, as of tanh, save (s + 1) / 2 instead, or give {cuts}",
            cuts=_setting_of_cuts([2 * at - 1 for at in settings.marks], settings),
        )
    if RESIZED <= lowest < 0 and highest <= 1 - RESIZED:
        return Message("fix", "save scores between 0 and 1: clip them, if resizing moved them beyond")
    fix = how_to_scale(lowest, highest)
    if lowest < 0 and settings.marks and not are_of_shares(settings.marks):
        return Message(
            "fix",
            "{scale}; after a sigmoid, {cuts}",
            scale=fix,
            cuts=_setting_of_cuts([1 / (1 + exp(-at)) for at in settings.marks], settings),
        )
    return fix


def _setting_of_cuts(cuts: Sequence[float], settings: SoftMaps) -> Setting:
    """Return other thresholds as the given ones are written."""
    rounded = [round(cut, 6) for cut in cuts]
    single = settings.cuts and len(cuts) == 1
    return Setting(_name_of_cuts(settings), rounded[0] if single else tuple(rounded))


def _why_range_matters(settings: SoftMaps, *, logits: bool) -> Message:
    if settings.in_unit_range:
        return Message("not-shares", "but they must lie between 0 and 1")
    if are_of_shares(settings.marks) and (settings.cuts or not logits):
        several = len(settings.marks) > 1
        return Message(
            "other-thresholds",
            "{like}but the {thresholds} {listed} {are} for scores from 0 to 1",
            like="like logits, " if logits else "",
            thresholds="thresholds" if several else "threshold",
            listed=listed(settings.marks),
            at=settings.marks,
            are="are" if several else "is",
        )
    if not logits:
        return Message("unusual", "but scores usually lie between 0 and 1")
    if settings.stretch:
        return Message("logits", "like logits; each map is stretched, which gives other metrics than a sigmoid")
    return Message("logits", "like logits; thresholds are on that scale, and other metrics stay the same")


@rule("not-finite", needs=["scores"], unless=[labels_as_scores])
def not_finite(seen: Seen) -> list[Finding]:
    """Find NaN and infinite scores."""
    bad = [score for score in seen.scores if score.not_finite]
    message = Message(
        "not-finite",
        "{count:many prediction} of {total} inspected {count:verb contain} NaN or infinite scores",
        count=len(bad),
        total=len(seen.scores),
    )
    fix = Message("fix", "write finite scores")
    if not seen.protocol.reads.without_field:
        fix = Message("fix", "write finite scores, or leave those pixels out with {field}", field=Setting("field"))
    return found_in(
        bad, message, fix, lambda score: Message("detail", "{pixels} of them", pixels=score.not_finite), stops=True
    )


@rule("constant", needs=["scores"], unless=[labels_as_scores])
def constant_scores(seen: Seen) -> list[Finding]:
    """Find maps of a single score."""
    flat = [score for score in seen.scores if score.constant and score.share]
    zero = sum(score.highest == 0 for score in flat)
    message = Message(
        "constant",
        "{count:many prediction} of {total} inspected {count:verb are} constant ({zero} all zero), although the ground "
        "truth has positives",
        count=len(flat),
        total=len(seen.scores),
        zero=zero,
    )
    fix = "check that these files are complete"
    return found_in(flat, message, fix, lambda score: Message("detail", "all {value:g}", value=score.highest))


def _values(scores: Sequence[ScoreSummary]) -> list[float]:
    """Return the values of all scores, rising; one where types store a score by several."""
    value_of = {value / score.full: value for score in scores for value in score.values}
    return [value_of[score] for score in sorted(value_of)]


_SCALE = (labels_as_scores, above_all_scores, mixed_masks, mixed_levels, unscaled_levels)
"""Rules about label maps and the scale of scores, beside which the number of scores says nothing."""


@rule("few-levels", needs=["varied_scores"], unless=_SCALE)
def few_levels(seen: Seen) -> list[Finding]:
    """Find that there are two or three scores in all."""
    scores, masks = seen.varied_scores, _are_masks(seen)
    if masks and seen.soft_maps.cuts:
        return []
    values = _values(scores)
    if len(values) > FEW_LEVELS or sum(score.pixels for score in scores) < SMALL:
        return []
    points = "one point" if len(values) == 2 else f"{len(values) - 1} points"
    as_masks = masks and seen.soft_maps.as_masks
    consequence = "they are evaluated as masks" if as_masks else f"the curve has {points}"
    if _truth_is_soft(seen):
        consequence = "they are hardly soft maps"
    message = Message(
        "few-levels",
        "predictions inspected contain only {held} ({listed}){therefore} {so}",
        count=len(values),
        held="two values" if masks else f"{len(values)} scores",
        listed=listed(values),
        values=values,
        therefore="; if all others do, too," if seen.not_looked_at else ", so",
        so=consequence,
    )
    save = Message("fix", "save soft maps, before they are cut at a threshold")
    labels = Message("fix", "for IoU, Dice and MCC of masks use {labels}", labels=LABELS)
    if as_masks:
        fix = Message("fix", "{labels}; for curves and areas {save}", labels=labels, save=save)
    else:
        fix = joined((save, labels) if masks and not _truth_is_soft(seen) else (save,))
    return found_in(scores, message, fix)


def _are_jpeg_masks(scores: Sequence[ScoreSummary]) -> bool:
    """Return whether maps look like masks that JPEG turned into levels near 0 and 255."""
    lossy = all(score.dtype == "uint8" and score.lossy for score in scores)
    return lossy and sum(score.middle for score in scores) < BETWEEN * sum(score.pixels for score in scores)


@rule("jpeg-masks", needs=["varied_scores"], unless=[*_SCALE, few_levels])
def jpeg_masks(seen: Seen) -> list[Finding]:
    """Find masks that JPEG turned into levels near 0 and 255, whose order is noise."""
    scores = seen.varied_scores
    if seen.cut_beforehand or not _are_jpeg_masks(scores):
        return []
    middle, pixels = sum(score.middle for score in scores), sum(score.pixels for score in scores)
    message = Message(
        "jpeg-masks",
        "predictions look like masks saved as {compression}: only {percent:.2g} % of the pixels are not near 0 or 255, "
        "and levels near these are noise of the compression, not scores",
        compression=scores[0].lossy,
        percent=100 * middle / pixels,
    )
    labels = protocol_with("Labels", "segbench labels GT PRED ", Setting("predicted_positive", ">=128"))
    fix = Message(
        "fix",
        "save masks as PNG, or evaluate them cut at half: {at_half}",
        at_half=Setting("thresholds", (0.5,)) if seen.lines else labels,
    )
    return found_in(scores, message, fix)


@rule("masks-among-maps", needs=["varied_scores"], unless=[*_SCALE, few_levels, jpeg_masks])
def masks_among_maps(seen: Seen) -> list[Finding]:
    """Find masks among soft maps, which outrank them; saturated networks leave levels in between at edges."""
    scores = seen.varied_scores
    if seen.cut_beforehand or not seen.soft_maps.pooled:
        return []
    large = [score for score in scores if score.pixels >= SMALL]
    masks = [score for score in large if score.is_mask]
    maps = [score for score in large if len(score.values) >= MOST_VALUES]
    if min(len(masks), len(maps)) < max(2, GROUP * len(scores)):
        return []
    message = Message(
        "masks-among-maps",
        "{count} of {total:many prediction} are masks and the others soft maps, whose scores are ranked together",
        count=len(masks),
        total=len(scores),
    )
    return found_in(masks, message, "save soft maps of all images, or masks of all")


@rule(
    "saturated",
    needs=["varied_scores"],
    unless=[*_SCALE, few_levels, jpeg_masks, masks_among_maps, inverted_scores],
)
def saturated(seen: Seen) -> list[Finding]:
    """Find maps that end at the top of their scale on negatives, too."""
    scores = seen.varied_scores if seen.soft_maps.pooled else ()
    pixels = sum(score.pixels for score in scores)
    top = sum(sum(score.top) for score in scores)
    false_positives = sum(negatives for _, negatives in (score.top for score in scores))
    if top < CLIPPED_SHARE * pixels or false_positives < CLIPPED_WRONG * top or pixels < SMALL:
        return []
    message = Message(
        "saturated",
        "{percent:.0f} % of the pixels have the highest possible score, and {negative:.0f} % of these are negative: no "
        "threshold separates them",
        percent=100 * top / pixels,
        negative=100 * false_positives / top,
    )
    fix = "if these predictions are of these images, and not mirrored or shifted, save scores before they are clipped, "
    fix += "as floats or divided by their maximum"
    return found_in((score for score in scores if sum(score.top)), message, fix)


@rule(
    "already-suppressed", "not-suppressed", needs=["varied_scores", "lines"], unless=[labels_as_scores, inverted_scores]
)
def ridges(seen: Seen) -> list[Finding]:
    """Find maps that should be suppressed, or that are suppressed again; masks have no ridges that could be kept."""
    scores, suppressed = seen.varied_scores, seen.lines is not None and seen.lines.nms is not None
    masks = len(_values(scores)) == 2 or _are_jpeg_masks(scores)
    share = median([score.blocks for score in scores] or [nan])
    if suppressed and share < THICK:
        message = Message(
            "already-suppressed",
            "maps are already thin: {percent:.0f} % of the pixels above the lowest score lie in blocks of 2 x 2 "
            "(median), so suppression only takes pixels of the lines away",
            percent=100 * share,
        )
        thin = (score for score in scores if score.blocks < THICK)
        return found_in(thin, message, Message("fix", "leave out {given}", given=Setting("nms")), _in_blocks)
    needs_thin_lines = seen.lines is not None and seen.lines.needs_thin_lines
    if not needs_thin_lines or masks or not share >= THICK:
        return []
    message = Message(
        "not-suppressed",
        "ridges are thick: {percent:.0f} % of the strong pixels lie in blocks of 2 x 2 (median)",
        percent=100 * share,
    )
    fix = Message(
        "fix",
        "{nms}, or {command}, as is usual for network outputs",
        nms=Setting("nms", (1, 5, 1.01)),
        command=Either("segbench.nms", "segbench nms IN_DIR OUT_DIR"),
    )
    thick = (score for score in scores if score.blocks >= THICK)
    return found_in(thick, message, fix, _in_blocks)


def _in_blocks(score: ScoreSummary) -> Message:
    return Message("detail", "{percent:.0f} %", percent=100 * score.blocks)


SCORE_RULES = (
    not_finite,
    inverted_scores,
    above_all_scores,
    mixed_masks,
    mixed_levels,
    unscaled_levels,
    unusual_range,
    constant_scores,
    few_levels,
    jpeg_masks,
    masks_among_maps,
    saturated,
    ridges,
)
"""Rules about scores, in the order in which findings are printed."""
