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
from segbench.inputs.class_names import (
    void_without,
)
from segbench.inputs.label_rules import (
    OFTEN_VOID,
    is_apart,
    listed,
)
from segbench.inputs.label_summaries import ClassesSummary
from segbench.inputs.scored_classes import ScoredClasses
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
    judged = _judged(seen, [score for summary in seen.class_summaries for score in summary.classes])
    over_all = [replace(found, fix=_FIXES.get(found.kind, found.fix)) for found in judged if found.kind in _OVER_ALL]
    maps = zip(*(summary.classes for summary in seen.class_summaries), strict=True)
    titles = seen.classes.titles if seen.classes else ()
    drawn = {title: [score for score in of if score.share >= RARE] for title, of in zip(titles, maps, strict=True)}
    coarse = {found.kind for found in over_all} & {"levels-unscaled", "few-levels"}
    of_classes = [found for found in _of_classes(seen, drawn) if not (coarse and found.kind == "saturated")]
    return [*over_all, *of_classes]


def _of_classes(seen: Seen, drawn: Mapping[str, Sequence[ScoreSummary]]) -> Iterator[Finding]:
    """Judge the maps of each class; findings of the same kind are one, which names the classes."""
    judged = {title: _judged(seen, scores) for title, scores in drawn.items()}
    for kind in _OF_A_CLASS:
        titles = [title for title, found in judged.items() if any(_whole(one, drawn[title], kind) for one in found)]
        together = _judged(seen, [score for title in titles for score in drawn[title]])
        if found := next((found for found in together if found.kind == kind), None):
            of_all = f"all {len(titles)} classes" if len(titles) == len(drawn) > 1 else first_names(titles, _NAMED)
            turn_some = kind == "inverted" and len(titles) < sum(map(bool, drawn.values()))
            yield replace(found, message=f"{of_all}: " + found.message, fix=_TURN_SOME if turn_some else found.fix)


def _judged(seen: Seen, scores: Sequence[ScoreSummary]) -> list[Finding]:
    """Judge some of the maps by themselves."""
    alone = seen.of_scores(scores)
    return [found for rule_of_scores in SCORE_RULES for found in rule_of_scores(alone)]


def _whole(found: Finding, of: Sequence[ScoreSummary], kind: str) -> bool:
    """Return whether a class shows a finding: in all images, if maps are constant, as a rare class may be missed."""
    return found.kind == kind and (kind != "constant" or len(found.places) == len(of))


@rule("void", "no-class", needs=["class_summaries"], unless=[labels_as_scores])
def foreign_labels(seen: Seen) -> list[Finding]:
    """Find labels that are neither a class nor void, those apart that often mean void."""
    return list(_foreign(seen.class_summaries, seen.classes)) if seen.classes else []


def _foreign(summaries: Sequence[ClassesSummary], classes: ScoredClasses) -> Iterator[Finding]:
    """Give one finding for labels that often mean void, and one for others."""
    void, highest = tuple(map(float, classes.void)), max(classes.labels)
    foreign = {label for summary in summaries for label in summary.foreign}
    often_void = {label for label in foreign if label in OFTEN_VOID or is_apart(label, highest)}
    for usual in (True, False):
        labels = {
            summary.truth_file: [label for label in summary.foreign if (label in often_void) == usual]
            for summary in summaries
        }
        places = [Place(file, holding(some)) for file, some in labels.items() if some]
        together = sorted({label for some in labels.values() for label in some})
        count_as_negative = Message(
            "no-class",
            "{listed} {labels_count:verb are} neither a class nor void, and counts as negative in every class, in "
            "{count:many ground truth} of {total} inspected",
            listed=listed(together),
            labels=together,
            labels_count=len(together),
            count=len(places),
            total=len(summaries),
        )
        message = Message("void", "{labels}", labels=count_as_negative) if usual else count_as_negative
        fix = Message("fix", "{void}", void=Setting("void", tuple(together[:_NAMED])))
        if not usual:
            fix = Message(
                "alternatives",
                "nothing, if that is background; {void} if nobody labelled it; name classes in {classes}",
                void=Setting("void", tuple(sorted({*together[:_NAMED], *void}))),
                classes=Either("labels=...", "--classes"),
            )
        yield from finding(message, fix, places, side="ground truth")


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
