"""All rules, in the order in which their findings are printed."""

from __future__ import annotations

from segbench.checks import classes, colours, geometry, label_damage, masks, names, predicted, scores, sizes, truths
from segbench.checks.findings import Finding
from segbench.checks.seen import Rule, Seen

OF_FILES: tuple[Rule, ...] = (
    names.names,
    sizes.other_sizes,
    sizes.orientations,
    sizes.unreadable,
    colours.palettes,
)
"""Rules about names and headers, and about files that cannot be read or have no meaning."""
OF_VALUES: tuple[Rule, ...] = (
    label_damage.stored_with_loss,
    label_damage.mixed_labels_of_set,
    classes.one_map_per_class,
    classes.one_sided_labels,
    classes.masks_for_objects,
    classes.numbered_backgrounds,
    classes.stored_otherwise,
    classes.uncountable,
    classes.void_everywhere,
    classes.predicted_labels,
    classes.void_class,
    classes.joined_labels,
    classes.void_zero,
    classes.never_predicted,
    classes.identical,
    truths.photographs,
    truths.several_values,
    truths.several_annotators,
    truths.mixed_values,
    truths.one_sided_truths,
    truths.not_a_number,
    truths.lines_on_white,
    truths.thick_lines,
    predicted.soft_maps_as_regions,
    predicted.labels_as_scores,
    colours.turned_to_grey,
    classes.foreign_labels,
    classes.void_zero_of_scores,
    classes.scores_of_classes,
    scores.types,
    *scores.SCORE_RULES,
    masks.inverted_masks,
    geometry.geometry,
)
"""Rules about what files hold."""


def judge(seen: Seen) -> list[Finding]:
    """Judge a set by all rules; where files have no meaning, advice on what they hold is of no use."""
    without_meaning = any(finding.whole for finding in colours.palettes(seen)) or truths.exchanged(seen)
    rules = (*OF_FILES, truths.exchanged) if without_meaning else (*OF_FILES, *OF_VALUES)
    findings = [(rule(seen), rule.of_all) for rule in rules]
    return [finding for found, of_all in findings for finding in (found if of_all else seen.of_part(found))]
