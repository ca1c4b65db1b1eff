"""Names that do not pair, and what was probably meant by them."""

from __future__ import annotations

from collections.abc import Iterable

from segbench.checks.duplicates import is_same_file
from segbench.checks.findings import Finding, Place
from segbench.core.expected import Expected
from segbench.core.interface import format_setting, setting
from segbench.core.numbers import many, of_all
from segbench.loaders.decoded import shown
from segbench.loaders.hints import nearest
from segbench.loaders.pairing import (
    Pairing,
    methods_below,
    pair,
    pairing_hint,
    pattern_of_annotators,
    several_methods,
    unmatched,
)
from segbench.loaders.source import masked


def problem_finding(pairing: Pairing) -> Finding | None:
    """Give what makes all other findings void: a folder that cannot be used, or ground truth with the predictions."""
    error = pairing.problem
    if error is None:
        return _predictions_as_annotator(pairing)
    what, *listed = error.what.split("\n")
    places = tuple(Place(line.strip()) for line in listed if line)
    # Each method has faults of its own in a list, and their number would keep these from being one finding.
    what = "holds faulty lines" if pairing.inputs.pairs and places else what.rstrip(":")
    return _stopping("list" if pairing.inputs.pairs else "folder", f"{error.path}: {what}", error.hint, places)


def _predictions_as_annotator(pairing: Pairing) -> Finding | None:
    inputs = pairing.inputs
    among = [
        files
        for files in (() if inputs.alone else pairing.files)
        if len(files.ground_truths) > 1 and any(is_same_file(files.prediction, one) for one in files.ground_truths)
    ]
    if not among:
        return None
    truth, predicted = (shown(masked(str(place))) for place in (inputs.ground_truth, inputs.prediction))
    where = inputs.pairs or f"the ground truth {truth} contains {predicted}"
    what = f"predictions are read as an annotator, too, in {many(len(among), 'image')}: {where}"
    fix = "give a ground truth without predictions, or a pattern that fits none: "
    fix += format_setting("gt_pattern", "gt/#/*")
    return _stopping("is-ground-truth", what, fix, (Place(shown(files.prediction)) for files in among))


def _stopping(key: str, message: str, fix: str, places: Iterable[Place]) -> Finding:
    """Make a finding that stops the whole set."""
    found = tuple(places)
    return Finding(key=key, severity="error", about="names", message=message, fix=fix, places=found, whole=True)


def name_findings(pairing: Pairing, expected: Expected) -> list[Finding]:
    """Find names without partner, and names of images that do not exist."""
    found = []
    inputs = pairing.inputs
    if pairing.unknown:
        what, fix = unmatched(pairing.unknown), pairing_hint(Pairing(inputs, unknown=pairing.unknown))
        found.append(_stopping("unknown-images", what, fix, map(Place, pairing.unknown)))
    methods = methods_below(pairing, pair) if pairing.extra and not pairing.files else {}
    if methods:
        error = several_methods(inputs, methods)
        return [*found, _stopping("several-methods", error.what, error.hint, map(Place, methods))]
    if pattern := pattern_of_annotators(pairing):
        found.append(_annotators(pairing, pattern, expected))
    elif pairing.missing or pairing.extra:
        found.append(_unpaired(pairing))
    if pairing.without_field:
        masks = Pairing(inputs, without_field=pairing.without_field)
        folder = shown(masked(str(inputs.field)))
        what = f"{many(len(pairing.without_field), 'image')} without a mask in {folder}"
        found.append(_stopping("no-mask", what, pairing_hint(masks), map(Place, pairing.without_field)))
    return found


def _unpaired(pairing: Pairing) -> Finding:
    total, lacking = len(pairing.files) + len(pairing.missing), len(pairing.missing)
    parts = [of_all(lacking, total, "ground truth", "have") + " no prediction"] if lacking else []
    parts += [f"{many(len(pairing.extra), 'prediction')} without a ground truth"] if pairing.extra else []
    close = {name: f"; nearest: {other}" for name, other in nearest(pairing.missing, pairing.extra).items()}
    places = [Place(name, f"no prediction{close.get(name, '')}") for name in pairing.missing]
    places += [Place(name, "no ground truth") for name in pairing.extra]
    return _stopping("unpaired", ", ".join(parts), pairing_hint(pairing), places)


def _annotators(pairing: Pairing, pattern: str, expected: Expected) -> Finding:
    what = f"{len(pairing.missing)} ground truths look like several annotators of the predicted images"
    fixes = [format_setting("gt_pattern", pattern), format_setting("annotators", "majority")]
    fix = setting(" ", ", ").join(fixes[: 1 + expected.one_annotator])
    return _stopping("annotator-names", what, fix, map(Place, pairing.missing))
