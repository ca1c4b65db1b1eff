"""Ground truth: grey levels, labels, undeclared void, masks that do not agree, lines that are none."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.checks.asked import Asked
from segbench.checks.findings import Finding, Place, Severity, many
from segbench.checks.seen import Probe, TruthProbe
from segbench.protocols.predicted_labels import VOIDS, are_grey_levels

LABELS_BELOW = 64.0
"""Labels are small numbers, of few dozens of classes; beside them 255 is no class of its own."""
MANY_PIXELS = 0.5
"""Lines cover a small share of a picture: where more than this is positive, the background is."""
THICK = 0.5
"""Share of pixels in blocks of 2 x 2: about 0.1 in lines drawn thin, 1 where they are two pixels wide."""


def truth_findings(probes: Sequence[Probe], asked: Asked, total: int) -> list[Finding]:
    """Judge the ground truth of the images looked into; `total` is the number of all images."""
    found = [*_values(probes, asked), *_annotators(probes, asked, total)]
    if not any(finding.key in ("grey-ground-truth", "void", "labels") for finding in found):
        found += _one_set(probes, asked, total)
    return [*found, *_nan(probes), *(_lines(probes) if asked.lines else [])]


def _kind(truth: TruthProbe, asked: Asked) -> str:
    """Say what more than two values look like; empty where they are as asked for."""
    values = truth.values
    if len(values) < 3:
        return ""
    *rest, highest = values
    named = asked.rule.values if asked.rule else ()
    compared = asked.rule is not None and asked.rule.comparison != "="
    if highest in VOIDS and rest[-1] < LABELS_BELOW and highest not in named:
        return "void"
    if compared:
        return ""
    if are_grey_levels(values):
        return "grey-ground-truth"
    if len(values) == 3 and not asked.rule:
        return "void" if values[0] == 0 and highest in VOIDS else "labels"
    return "" if asked.rule else "labels"


def _values(probes: Sequence[Probe], asked: Asked) -> list[Finding]:
    kinds: dict[str, list[tuple[Probe, TruthProbe]]] = {}
    for probe in probes:
        coloured = any(truth.file in probe.coloured for truth in probe.truths)
        for truth in probe.truths:
            kind = "" if coloured else _kind(truth, asked)
            if kind:
                kinds.setdefault(kind, []).append((probe, truth))
    return [_values_finding(kind, group, asked) for kind, group in kinds.items()]


def _values_finding(kind: str, group: Sequence[tuple[Probe, TruthProbe]], asked: Asked) -> Finding:
    severity: Severity = "look" if asked.rule else "stops"
    examples = group[0][1].values
    if kind == "grey-ground-truth":
        jpeg = all(truth.file.lower().endswith((".jpg", ".jpeg")) for _, truth in group)
        what = "more than two grey levels" + ", as JPEG leaves them" * jpeg
        mend = "--positive '>=128'" if examples[-1] > 1 else "--positive '>=0.5'"
    elif kind == "void":
        void = examples[-1] if examples[-2] < LABELS_BELOW else examples[1]
        what = f"the value {void:g}, which is not declared void, beside labels"
        rest = [value for value in examples if value != void]
        mend = f"--positive {rest[-1]:g}" if asked.lines else f"--void {void:g}"
        if not asked.lines and not asked.rule and len(rest) > 2:
            mend += f" --positive {rest[-1]:g} (or which labels are positive)"
        elif not asked.lines and examples[-1] != void:
            mend += ", or --positive '>=128'"
    else:
        what = "several labels"
        mend = f"--positive {examples[-1]:g} (or which labels are positive)"
        mend = f"--label-maps for their borders, or {mend}" if asked.lines else mend
    return Finding(
        key=kind,
        severity=severity,
        about="ground truth",
        message=f"{many(len(group), 'ground truth')} of those looked into hold {what}",
        mend=mend,
        places=tuple(Place(truth.file, listed(truth.values)) for _, truth in group),
        images=() if severity == "look" else tuple(dict.fromkeys(probe.image for probe, _ in group)),
    )


def _annotators(probes: Sequence[Probe], asked: Asked, total: int) -> list[Finding]:
    several = [probe for probe in probes if len(probe.truths) > 1]
    if not several or not asked.one_annotator:
        return []
    return [
        Finding(
            key="annotators",
            severity="stops",
            about="ground truth",
            message=f"{many(len(several), 'image')} of {len(probes)} looked into have several annotators",
            mend="--annotators majority (or any, all, each), or take one: --gt-pattern, or one column of the list",
            places=tuple(Place(probe.image, many(len(probe.truths), "annotator")) for probe in several),
            images=tuple(probe.image for probe in several),
            whole=len(several) == total,
        )
    ]


def _one_set(probes: Sequence[Probe], asked: Asked, total: int) -> list[Finding]:
    """Judge the set as a whole: one pair of values in all images, and something positive in some."""
    truths = [truth for probe in probes for truth in probe.truths if truth.values]
    if not truths:
        return []
    pairs: dict[tuple[float, ...], list[TruthProbe]] = {}
    for truth in truths:
        pairs.setdefault(truth.values, []).append(truth)
    together = sorted({value for values in pairs for value in values})
    if asked.reads == "masks" and asked.rule is None and len(together) > 2:
        rarest = min(pairs.values(), key=len)
        return [
            Finding(
                key="mixed-ground-truth",
                severity="stops",
                about="ground truth",
                message=f"masks do not agree on their two values: {listed(tuple(together))} over the set",
                mend=f"--positive '>={together[1]:g}'",
                places=tuple(Place(truth.file, listed(truth.values)) for truth in rarest),
                whole=True,
            )
        ]
    unsettled = asked.rule is None and asked.reads == "masks" and len(together) == 1
    if not unsettled and any(truth.positive_share for truth in truths):
        return []
    whole = unsettled and len(probes) == total
    mend = f"--positive with a value that occurs ({listed(tuple(together))})"
    if len(together) == 1 and any(truth.ignored for truth in truths):
        mend = f"another --void or --field, or none: nothing but {together[0]:g} is left"
    return [
        Finding(
            key="no-positives",
            severity="stops" if whole else "look",
            about="ground truth",
            message=f"no pixel is positive in the {many(len(probes), 'image')} looked into",
            mend=mend,
            places=tuple(Place(truth.file, listed(truth.values)) for truth in truths),
            whole=whole,
        )
    ]


def _nan(probes: Sequence[Probe]) -> list[Finding]:
    bad = [(probe.image, truth) for probe in probes for truth in probe.truths if truth.nan]
    if not bad:
        return []
    return [
        Finding(
            key="nan-ground-truth",
            severity="stops",
            about="ground truth",
            message=f"{many(len(bad), 'ground truth')} hold NaN",
            mend="give these pixels a value, one for --void if they do not count",
            places=tuple(Place(truth.file, f"{truth.nan} NaN") for _, truth in bad),
            images=tuple(dict.fromkeys(image for image, _ in bad)),
        )
    ]


def _lines(probes: Sequence[Probe]) -> list[Finding]:
    truths = [truth for probe in probes for truth in probe.truths if 0 < truth.positive_share < 1]
    white = [truth for truth in truths if truth.positive_share > MANY_PIXELS and truth.blocks_outside < THICK]
    thick = [truth for truth in truths if truth.blocks > THICK and truth not in white]
    found = []
    if 2 * len(white) > len(truths):
        share = sorted(truth.positive_share for truth in white)[len(white) // 2]
        found.append(
            Finding(
                key="inverted-ground-truth",
                severity="look",
                about="ground truth",
                message=f"{100 * share:.0f} % of the ground truth is boundary, as in black lines on white",
                mend="--positive 0",
                places=tuple(Place(truth.file, f"{100 * truth.positive_share:.0f} %") for truth in white),
            )
        )
    elif 2 * len(thick) > len(truths):
        found.append(
            Finding(
                key="thick-ground-truth",
                severity="look",
                about="ground truth",
                message="ground-truth lines are thick or filled; all their pixels ask for a match, and lower recall",
                mend="--label-maps for the borders of filled areas; for drawn lines segbench.thin, then save them",
                places=tuple(Place(truth.file, f"{100 * truth.blocks:.0f} % in blocks of 2 x 2") for truth in thick),
            )
        )
    return found


def listed(values: Sequence[float]) -> str:
    """Write values one after another, the first eight of many."""
    text = ", ".join(f"{value:g}" for value in values[:8])
    return f"{text}, ... ({len(values)} or more)" if len(values) > 8 else text
