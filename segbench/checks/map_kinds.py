"""Predictions of another kind: label maps or regions where scores are read, soft maps where regions are."""

from __future__ import annotations

from segbench.checks.findings import Finding, Place, finding, found_in, holding
from segbench.checks.seen import Seen, rule
from segbench.core.messages import Either, Message, Setting, as_message, joined
from segbench.core.numbers import written
from segbench.inputs.class_names import written_classes
from segbench.inputs.predicted_labels import are_label_maps, instead_of_label_maps


@rule("label-map", needs=["readable"])
def labels_as_scores(seen: Seen) -> list[Finding]:
    """Find label maps where scores are read, or numbers of regions where lines are."""
    return [*_label_maps(seen), *_numbered_regions(seen)]


def _label_maps(seen: Seen) -> list[Finding]:
    """Find that predictions are label maps, as the ground truth is."""
    summaries = [summary for summary in seen.readable if summary.may_hold_labels]
    if not are_label_maps([summary.labels for summary in summaries]):
        return []
    label_maps = [summary.labels for summary in summaries if summary.labels]
    true_labels = {label for label_map in label_maps for label in label_map.truth}
    labels = sorted(int(label) for label in true_labels if label >= 0 and label.is_integer())
    coloured = any(label_map.coloured for label_map in label_maps)
    message = Message(
        "label-map",
        "{count:many prediction} of {total} inspected {count:verb are} label maps, as the ground truth is ({of}), and "
        "{number} is not a score",
        count=len(summaries),
        total=len(summaries),
        of="in colour" if coloured else f"{len(labels)} labels",
        labels=labels,
        number="the grey level of a colour" if coloured else "the number of a label",
    )
    if coloured:
        fix = Message(
            "fix",
            "evaluate colours of labels with {labels} (r,g,b,label,name per line), or those of ids of segments with "
            "{objects}; or save the scores before argmax, one soft map per class",
            labels=Either("Labels(palette=FILE)", "segbench labels GT PRED --palette FILE"),
            objects=Either("Objects(kind='panoptic')", "segbench objects GT PRED --kind panoptic"),
        )
    else:
        rule = seen.rule
        positive = str(rule) if rule and rule.comparison == "=" else str(labels[-1])
        fix = instead_of_label_maps(written_classes(labels, list(map(str, labels))), positive)
    places = [Place(summary.prediction, as_message(summary.labels.values)) for summary in summaries if summary.labels]
    images = [summary.image for summary in summaries if seen.speaks_for_set]  # others may be soft maps
    counted = seen.rule or seen.classes  # whether a run would count them
    return finding(message, joined((fix, _NUMBERS) if counted else (fix,)), places, images=images)


_NUMBERS = Message(
    "fix",
    "{command} counts the numbers of the labels as scores",
    command=Either("evaluate", "--no-check"),
)


def _numbered_regions(seen: Seen) -> list[Finding]:
    """Find that predictions number regions where lines are expected."""
    numbered = [summary for summary in seen.readable if summary.regions]
    if 2 * len(numbered) <= len(seen.readable):
        return []
    message = Message(
        "label-map",
        "{count:many prediction} of {total} inspected {count:verb are} label maps, and the number of a label is not a "
        "score",
        count=len(numbered),
        total=len(seen.readable),
    )
    rule, values = seen.rule, {value for summary in numbered for value in summary.regions}
    if rule and rule.comparison == "=" and values.issuperset(rule.values):
        fixes = [
            Message(
                "fix",
                "save what {given} names as masks of 0 and 255, 255 * numpy.isin(labels, [{labels}])",
                given=Setting("positive", str(rule)),
                labels=written(rule.values),
            )
        ]
    else:
        fixes = [Message("fix", "save their borders as masks of 0 and 255, 255 * segbench.label_boundaries(labels)")]
        if seen.lines and seen.lines.label_maps:
            regions = Either("Regions()", "segbench regions GT PRED")
            fixes.append(Message("fix", "regions are compared by {regions}", regions=regions))
    places = (Place(summary.prediction, "values " + holding(summary.regions)) for summary in numbered)
    images = [summary.image for summary in numbered if seen.speaks_for_set]
    return finding(message, joined([*fixes, _NUMBERS]), places, images=images)


@rule("soft-map", needs=["regions"])
def soft_maps_as_regions(seen: Seen) -> list[Finding]:
    """Find predicted label maps that look like soft maps, meant for another protocol, or counted as it says."""
    soft = [summary for summary in seen.regions if summary.soft]
    of_soft_maps = seen.inputs.instead_of_soft_maps
    message = Message(
        "soft-map",
        "{count:many prediction} of {total} inspected {count:verb look} like soft maps: every grey level is read as "
        "{region}",
        count=len(soft),
        total=len(seen.regions),
        region="an object" if of_soft_maps else "a region",
    )
    give = Message(
        "fix",
        "give label maps, ucm2 or segs; soft maps are for {protocols}",
        protocols=Either("Pixels() or Boundaries()", "segbench pixels or segbench boundaries"),
    )
    return found_in(
        soft, message, of_soft_maps or give, lambda summary: Message("detail", "{labels} labels", labels=summary.labels)
    )
