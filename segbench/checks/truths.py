"""Ground truth: grey levels, labels, undeclared void, masks that do not agree, thick lines, exchanged folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from segbench.checks.findings import Finding, Place, as_error, as_warning
from segbench.checks.probes import MOST_VALUES, Probe, TruthProbe
from segbench.core.expected import Expected, ExpectedLines
from segbench.core.grouping import grouped
from segbench.core.interface import format_setting
from segbench.core.numbers import many, verb
from segbench.protocols.annotators import take_one
from segbench.protocols.label_rules import BOTH_SIDES, LABELS_BELOW, ORDER, VOIDS, are_grey_levels, half_of

MANY_PIXELS = 0.5
"""Lines cover a small share of a picture: where more than this is positive, the background is."""
THICK = 0.5
"""Share of pixels in blocks of 2 x 2: about 0.1 in lines drawn thin, 1 where they are two pixels wide."""
_NOT_THIN = 0.1
"""Thick places per pixel: below 0.02 in the boundaries of BSDS500, above 0.2 where borders are drawn on both sides."""


def truth_findings(probes: Sequence[Probe], expected: Expected, total: int) -> list[Finding]:
    """Judge the ground truth of the images inspected; `total` is the number of all images."""
    lines = expected.lines
    by_set = expected.rule is None and not lines
    values = _values(probes, expected, lines)
    found = [
        *values,
        *_annotators(probes, expected, total),
        *([] if values else _one_set(probes, total, by_set=by_set)),
    ]
    return [*found, *_nan(probes), *(_lines(probes, thinned=lines.thinned) if lines else [])]


def _kind(truth: TruthProbe, expected: Expected) -> str:
    """Say what more than two values look like; empty where they are as expected."""
    values = truth.values
    if len(values) < 3:
        return ""
    *rest, highest = values
    named = expected.rule.values if expected.rule else ()
    compared = expected.rule is not None and expected.rule.comparison != "="
    if highest in VOIDS and rest[-1] < LABELS_BELOW and highest not in named:
        return "void"
    if compared:
        return ""
    if are_grey_levels(values):
        return "grey-ground-truth"
    if len(values) == 3 and not expected.rule:
        return "void" if values[0] == 0 and highest in VOIDS else "labels"
    return "" if expected.rule else "labels"


def _values(probes: Sequence[Probe], expected: Expected, lines: ExpectedLines | None) -> list[Finding]:
    plain = [probe for probe in probes if not any(truth.file in probe.coloured for truth in probe.truths)]
    kinds = grouped((_kind(truth, expected), (probe, truth)) for probe in plain for truth in probe.truths)
    return [_values_finding(kind, group, expected, lines) for kind, group in kinds.items() if kind]


def _values_finding(
    kind: str, group: Sequence[tuple[Probe, TruthProbe]], expected: Expected, lines: ExpectedLines | None
) -> Finding:
    examples = group[0][1].values
    if kind == "grey-ground-truth":
        jpeg = all(truth.file.lower().endswith((".jpg", ".jpeg")) for _, truth in group)
        what = "more than two grey levels" + ", as JPEG leaves them" * jpeg
        fix = format_setting("positive", f">={half_of(examples[-1])}")
    elif kind == "void":
        void = examples[-1] if examples[-2] < LABELS_BELOW else examples[1]
        what = f"labels and the value {void:g}, which is not declared void"
        rest = [value for value in examples if value != void]
        fix = format_setting("positive", rest[-1]) if lines else format_setting("void", (void,))
        if not lines and not expected.rule and len(rest) > 2:
            fix += f" and {format_setting('positive', rest[-1])}, or whichever labels are positive"
        elif not lines and examples[-1] != void:
            fix += f", or {format_setting('positive', '>=128')}"
    else:
        what = "several labels"
        fix = f"{format_setting('positive', examples[-1])}, or whichever labels are positive"
        fix = f"{format_setting('label_maps', True)} for their borders, or {fix}" if lines else fix
    message = f"{many(len(group), 'ground truth')} of those inspected {verb(len(group), 'contain')} {what}"
    places = [Place(truth.file, listed(truth.values)) for _, truth in group]
    if expected.rule:
        return as_warning(kind, "ground truth", message, fix, places)
    return as_error(kind, "ground truth", message, fix, places, images=[probe.image for probe, _ in group])


def _annotators(probes: Sequence[Probe], expected: Expected, total: int) -> list[Finding]:
    several = [probe for probe in probes if len(probe.truths) > 1]
    if not several or not expected.one_annotator:
        return []
    return [
        as_error(
            "annotators",
            "ground truth",
            f"{many(len(several), 'image')} of {len(probes)} inspected {verb(len(several), 'have')} several annotators",
            f"{format_setting('annotators', 'majority')}, any, all or each; or {take_one()}",
            (Place(probe.image, many(len(probe.truths), "annotator")) for probe in several),
            images=[probe.image for probe in several],
            whole=len(several) == total,
        )
    ]


def _one_set(probes: Sequence[Probe], total: int, *, by_set: bool) -> list[Finding]:
    """Judge the set as a whole: one pair of values in all images, and something positive in some."""
    truths = [truth for probe in probes for truth in probe.truths if truth.values]
    if not truths:
        return []
    pairs = grouped((truth.values, truth) for truth in truths)
    together = sorted({value for values in pairs for value in values})
    if by_set and len(together) > 2:
        rarest = min(pairs.values(), key=len)
        what = f"masks do not agree on their two values: {listed(together)} across the set"
        places = [Place(truth.file, listed(truth.values)) for truth in rarest]
        fix = format_setting("positive", f">={together[1]:g}")
        return [as_error("mixed-ground-truth", "ground truth", what, fix, places, whole=True)]
    unsettled = by_set and len(together) == 1
    if not unsettled and any(truth.positive_share for truth in truths):
        return []
    whole = unsettled and len(probes) == total
    fix = f"{format_setting('positive')} with a value that occurs: {listed(together)}"
    if len(together) == 1:
        fix = BOTH_SIDES
        if any(truth.ignored for truth in truths):
            fix = (
                "another "
                f"{format_setting('void')} or {format_setting('field')}, or none: nothing but {together[0]:g} is left"
            )
    what = f"no pixel is positive in the {many(len(probes), 'image')} inspected"
    places = [Place(truth.file, listed(truth.values)) for truth in truths]
    if whole:
        return [as_error("no-positives", "ground truth", what, fix, places, whole=True)]
    return [as_warning("no-positives", "ground truth", what, fix, places)]


def _nan(probes: Sequence[Probe]) -> list[Finding]:
    bad = [(probe.image, truth) for probe in probes for truth in probe.truths if truth.nan]
    if not bad:
        return []
    what = f"{many(len(bad), 'ground truth')} {verb(len(bad), 'contain')} NaN"
    fix = f"give these pixels a value; if they do not count, one that is void: {format_setting('void')}"
    places = [Place(truth.file, f"{truth.nan} NaN") for _, truth in bad]
    return [as_error("nan-ground-truth", "ground truth", what, fix, places, images=[image for image, _ in bad])]


def _lines(probes: Sequence[Probe], *, thinned: bool) -> list[Finding]:
    truths = [truth for probe in probes for truth in probe.truths if 0 < truth.positive_share < 1]
    white = [truth for truth in truths if truth.positive_share > MANY_PIXELS and truth.blocks_outside < THICK]
    thick = [truth for truth in truths if truth.thick > _NOT_THIN and truth not in white]
    if 2 * len(white) > len(truths):
        share = sorted(truth.positive_share for truth in white)[len(white) // 2]
        what = f"{100 * share:.0f} % of the ground truth is boundary, as in black lines on white"
        places = [Place(truth.file, f"{100 * truth.positive_share:.0f} %") for truth in white]
        return [as_warning("inverted-ground-truth", "ground truth", what, format_setting("positive", 0), places)]
    if thinned and 2 * len(thick) > len(truths):
        what = (
            "ground-truth lines are wider than a pixel, or filled; all their pixels need a match, but predictions are "
            "thinned, so even a perfect one has a low recall"
        )
        filled = f"{format_setting('label_maps', True)} for the borders of filled areas"
        fix = f"{format_setting('thin_ground_truth', True)} for lines; {filled}"
        places = [Place(truth.file, f"{100 * truth.thick:.0f} thick places per 100 pixels") for truth in thick]
        return [as_warning("thick-ground-truth", "ground truth", what, fix, places)]
    return []


def exchange_findings(probes: Sequence[Probe], found: Sequence[Finding]) -> list[Finding]:
    """Find that the folders look exchanged, where grey levels were found in all ground truths: scores of two values."""
    grey = next((finding for finding in found if finding.key == "grey-ground-truth"), None)
    if grey is None or not all(_is_exchanged(probe) for probe in probes):
        return []
    what = "the folders look swapped: the first contains soft maps, the second two-valued images"
    places = [Place(probe.scores.file, listed(probe.scores.values)) for probe in probes if probe.scores]
    return [replace(grey, key="exchanged", about="names", message=what, fix=ORDER, places=tuple(places))]


def _is_exchanged(probe: Probe) -> bool:
    scores = probe.scores
    grey = all(len(truth.values) >= MOST_VALUES for truth in probe.truths)
    return scores is not None and bool(probe.truths) and grey and len(scores.values) == 2


def listed(values: Sequence[float]) -> str:
    """Write values one after another, the first eight of many."""
    text = ", ".join(f"{value:g}" for value in values[:8])
    return f"{text}, ... ({len(values)} or more)" if len(values) > 8 else text
