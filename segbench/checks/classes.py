"""A label map and one soft map per class: maps that are no such, labels that are no class, and scores by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from segbench.checks.findings import Finding, Place, failing, finding, holding
from segbench.checks.map_kinds import labels_as_scores
from segbench.checks.scores import SCORE_RULES
from segbench.checks.seen import Seen, rule
from segbench.core.messages import Either, Message, Setting
from segbench.core.names import first_names
from segbench.inputs.class_names import void_without
from segbench.inputs.label_rules import OFTEN_VOID, is_apart, listed
from segbench.inputs.stacks import ClassMapsError, ClassStackError
from segbench.inputs.summaries import ScoreSummary

RARE = 0.001
"""Share of an image below which a class says little: a thing overlooked looks like inverted scores."""
_OVER_ALL = ("not-finite", "levels-unscaled", "few-levels", "range")
_OF_A_CLASS = ("inverted", "constant", "saturated")
_FIXES = {
    "levels-unscaled": Message(
        "fix",
        "save levels that use the full range of their type, or floats; soft maps of several classes cannot be rescaled",
    ),
    "range": Message(
        "fix", "save the maps of all classes on one scale; soft maps of several classes cannot be rescaled"
    ),
}
_TURN_SOME = Message("fix", "check which map belongs to which class, or invert only those maps")
_NAMED = 8


@rule("class-maps", "class-stacks", needs=["failures"])
def one_map_per_class(seen: Seen) -> list[Finding]:
    """List predictions that are not one soft map per class, and those that are where one map is read."""
    maps = {image: error for image, error in seen.failures.items() if isinstance(error, ClassMapsError)}
    several = {image: error for image, error in seen.failures.items() if isinstance(error, ClassStackError)}
    values = sorted({value for error in several.values() for value in error.stored})
    stacks = {image: error.of_set(values) for image, error in several.items()}
    no_maps = Message(
        "class-maps",
        "{count:many prediction} of {total} inspected {count:verb are} not one soft map per class",
        count=len(maps),
        total=seen.looked_at,
    )
    one_each = Message(
        "class-stacks",
        "{count:many prediction} of {total} inspected {count:verb have} one map per class",
        count=len(stacks),
        total=seen.looked_at,
    )
    return [*failing(no_maps, maps), *failing(one_each, stacks)]


@rule(*_OVER_ALL, *_OF_A_CLASS, needs=["class_summaries"], unless=[labels_as_scores])
def scores_of_classes(seen: Seen) -> list[Finding]:
    """Judge the maps of all classes, one finding for all classes that show it."""
    findings = _judged(seen, [score for summary in seen.class_summaries for score in summary.classes])
    over_all = [
        replace(finding, fix=_FIXES.get(finding.kind, finding.fix)) for finding in findings if finding.kind in _OVER_ALL
    ]
    titles = seen.classes.titles if seen.classes else ()
    maps = zip(*(summary.classes for summary in seen.class_summaries), strict=True)
    scores_by_title = {
        title: [score for score in scores if score.share >= RARE] for title, scores in zip(titles, maps, strict=True)
    }
    coarse = any(finding.kind in ("levels-unscaled", "few-levels") for finding in over_all)
    of_classes = _of_classes(seen, scores_by_title)
    return [*over_all, *(finding for finding in of_classes if not (coarse and finding.kind == "saturated"))]


def _of_classes(seen: Seen, scores_by_title: Mapping[str, Sequence[ScoreSummary]]) -> Iterator[Finding]:
    """Judge the maps of each class; findings of the same kind are one, which names the classes."""
    judged = {title: _judged(seen, scores) for title, scores in scores_by_title.items()}
    for kind in _OF_A_CLASS:
        titles = [
            title
            for title, findings in judged.items()
            if any(_shows(finding, kind, scores_by_title[title]) for finding in findings)
        ]
        together = _judged(seen, [score for title in titles for score in scores_by_title[title]])
        shared = next((finding for finding in together if finding.kind == kind), None)
        if shared is not None:
            is_all = len(titles) == len(scores_by_title) > 1
            names = f"all {len(titles)} classes" if is_all else first_names(titles, _NAMED)
            turn_some = kind == "inverted" and len(titles) < sum(map(bool, scores_by_title.values()))
            fix = _TURN_SOME if turn_some else shared.fix
            yield replace(shared, message=f"{names}: " + shared.message, fix=fix)


def _judged(seen: Seen, scores: Sequence[ScoreSummary]) -> list[Finding]:
    """Judge some of the maps by themselves."""
    alone = seen.of_scores(scores)
    return [finding for rule_of_scores in SCORE_RULES for finding in rule_of_scores(alone)]


def _shows(finding: Finding, kind: str, scores: Sequence[ScoreSummary]) -> bool:
    """Return whether a class shows a finding: in all images, if maps are constant, as a rare class may be missed."""
    return finding.kind == kind and (kind != "constant" or len(finding.places) == len(scores))


@rule("void", "no-class", needs=["class_summaries"], unless=[labels_as_scores])
def foreign_labels(seen: Seen) -> list[Finding]:
    """Find labels that are neither a class nor void: those that often mean void are one finding, others another."""
    if not seen.classes:
        return []
    void, highest = tuple(map(float, seen.classes.void)), max(seen.classes.labels)
    foreign = {label for summary in seen.class_summaries for label in summary.foreign}
    may_be_void = {label for label in foreign if label in OFTEN_VOID or is_apart(label, highest)}
    findings: list[Finding] = []
    for kind in ("void", "no-class"):
        labels = may_be_void if kind == "void" else foreign - may_be_void
        by_file = {
            summary.truth_file: [label for label in summary.foreign if label in labels]
            for summary in seen.class_summaries
        }
        places = [Place(file, holding(of_file)) for file, of_file in by_file.items() if of_file]
        labels_shown = sorted(labels)
        count_as_negative = Message(
            "no-class",
            "{listed} {labels_count:verb are} neither a class nor void, and counts as negative in every class, in "
            "{count:many ground truth} of {total} inspected",
            listed=listed(labels_shown),
            labels=labels_shown,
            labels_count=len(labels_shown),
            count=len(places),
            total=len(seen.class_summaries),
        )
        if kind == "void":
            message = Message("void", "{labels}", labels=count_as_negative)
            fix = Message("fix", "{void}", void=Setting("void", tuple(labels_shown[:_NAMED])))
        else:
            message = count_as_negative
            fix = Message(
                "alternatives",
                "nothing, if that is background; {void} if nobody labelled it; name classes in {classes}",
                void=Setting("void", tuple(sorted({*labels_shown[:_NAMED], *void}))),
                classes=Either("labels=...", "--classes"),
            )
        findings += finding(message, fix, places, side="ground truth")
    return findings


@rule("void-background", needs=["class_summaries"], unless=[labels_as_scores])
def void_zero_of_scores(seen: Seen) -> list[Finding]:
    """Find label 0 left out as void in most pixels, which is background rather than what nobody labelled."""
    summaries, void = seen.class_summaries, tuple(map(float, seen.classes.void)) if seen.classes else ()
    zeros, pixels = sum(summary.zeros for summary in summaries), sum(summary.pixels for summary in summaries)
    message = Message(
        "void-background",
        "label 0 of the ground truth is left out as void, in {share:.0%} of the pixels",
        share=zeros / max(pixels, 1),
    )
    fix = Message(
        "fix",
        "if 0 is background, high scores there are wrong, and count with {void}",
        void=void_without(void, (0,)),
    )
    places = [Place(summary.truth_file) for summary in summaries if summary.zeros and 2 * zeros > pixels]
    return finding(message, fix, places, side="ground truth")
