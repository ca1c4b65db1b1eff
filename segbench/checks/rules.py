"""All rules, in the order in which their findings are printed."""

from __future__ import annotations

from segbench.checks import (
    classes,
    colours,
    geometry,
    instances,
    inversion,
    label_damage,
    label_maps,
    map_kinds,
    names,
    objects,
    scores,
    sizes,
    truths,
    volumes,
)
from segbench.checks.findings import Finding
from segbench.checks.seen import Rule, Seen

OF_FILES: tuple[Rule, ...] = (
    names.names,
    sizes.other_sizes,
    sizes.orientations,
    sizes.unreadable,
    volumes.grids,
    colours.palettes,
)
"""Rules about names and headers, and about files that cannot be read or have no meaning."""
OF_VALUES: tuple[Rule, ...] = (
    volumes.interpolated,
    volumes.empty_cases,
    label_damage.stored_with_loss,
    label_damage.mixed_labels_of_set,
    classes.one_map_per_class,
    label_maps.one_sided_labels,
    instances.other_classes,
    instances.corners_for_boxes,
    instances.odd_instances,
    instances.one_sided_instances,
    objects.masks_for_objects,
    objects.numbered_backgrounds,
    label_maps.stored_otherwise,
    label_maps.uncountable,
    label_maps.void_everywhere,
    label_maps.predicted_labels,
    label_maps.void_class,
    label_maps.joined_labels,
    label_maps.void_zero,
    label_maps.never_predicted,
    label_maps.identical,
    truths.photographs,
    truths.several_values,
    truths.several_annotators,
    truths.mixed_values,
    truths.one_sided_truths,
    truths.not_a_number,
    truths.lines_on_white,
    truths.thick_lines,
    map_kinds.soft_maps_as_regions,
    map_kinds.labels_as_scores,
    colours.turned_to_grey,
    classes.foreign_labels,
    classes.void_zero_of_scores,
    classes.scores_of_classes,
    scores.types,
    *scores.SCORE_RULES,
    inversion.inverted_masks,
    geometry.geometry,
)
"""Rules about what files hold."""


def judge(seen: Seen) -> list[Finding]:
    """Judge a set by all rules; where files have no meaning, advice on what they hold is of no use."""
    without_meaning = any(finding.whole for finding in colours.palettes(seen)) or truths.exchanged(seen)
    rules = (*OF_FILES, truths.exchanged) if without_meaning else (*OF_FILES, *OF_VALUES)
    judged = [rule(seen) if rule.of_all else seen.of_part(rule(seen)) for rule in rules]
    return [finding for findings in judged for finding in findings]
