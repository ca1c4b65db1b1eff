"""Names that do not pair, and what was probably meant by them."""

from __future__ import annotations

from collections.abc import Iterable

from segbench.checks.duplicates import is_same_file
from segbench.checks.findings import Finding, Place, as_error
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


def problem_finding(pairing: Pairing) -> Finding | None:
    """Give what makes all other findings void: a folder that cannot be used, or ground truth with the predictions."""
    error = pairing.problem
    if error is None:
        return _predictions_as_annotator(pairing)
    what, *listed = error.what.split("\n")
    places = tuple(Place(line.strip()) for line in listed if line)
    # Each method has faults of its own in a list, and their number would keep these from being one finding.
    what = "holds faulty lines" if pairing.inputs.pairs and places else what.rstrip(":")
    return _as_error("list" if pairing.inputs.pairs else "folder", f"{error.path}: {what}", error.hint, places)


def _predictions_as_annotator(pairing: Pairing) -> Finding | None:
    inputs = pairing.inputs
    among = [
        files
        for files in (() if inputs.alone else pairing.files)
        if len(files.ground_truths) > 1 and any(is_same_file(files.prediction, one) for one in files.ground_truths)
    ]
    if not among:
        return None
    truth, predicted = (shown(str(place)) for place in (inputs.ground_truth, inputs.prediction))
    where = inputs.pairs or f"the ground truth {truth} contains {predicted}"
    what = f"predictions are read as an annotator, too, in {many(len(among), 'image')}: {where}"
    fix = (
        "give a ground truth without predictions, or a pattern that fits none: "
        f"{format_setting('gt_pattern', 'gt/#/*')}"
    )
    return _as_error("is-ground-truth", what, fix, (Place(shown(files.prediction)) for files in among))


def _as_error(key: str, message: str, fix: str, places: Iterable[Place]) -> Finding:
    return as_error(key, "names", message, fix, places, whole=True)


def name_findings(pairing: Pairing, expected: Expected) -> list[Finding]:
    """Find names without partner, and names of images that do not exist."""
    found = []
    inputs = pairing.inputs
    if pairing.unknown:
        fix = pairing_hint(Pairing(inputs, unknown=pairing.unknown))
        unknown = map(Place, pairing.unknown)
        found.append(_as_error("unknown-images", unmatched(pairing.unknown), fix, unknown))
    methods = methods_below(pairing, pair) if pairing.extra and not pairing.files else {}
    if methods:
        error = several_methods(inputs, methods)
        return [*found, _as_error("several-methods", error.what, error.hint, map(Place, methods))]
    if pattern := pattern_of_annotators(pairing):
        found.append(_annotators(pairing, pattern, expected))
    elif pairing.missing or pairing.extra:
        found.append(_unpaired(pairing))
    if pairing.without_field:
        masks = Pairing(inputs, without_field=pairing.without_field)
        folder = shown(str(inputs.field))
        what = f"{many(len(pairing.without_field), 'image')} without a mask in {folder}"
        found.append(_as_error("no-mask", what, pairing_hint(masks), map(Place, pairing.without_field)))
    return found


def _unpaired(pairing: Pairing) -> Finding:
    total = len(pairing.files) + len(pairing.missing)
    parts = []
    if pairing.missing:
        count = len(pairing.missing)
        parts.append(of_all(count, total, "ground truth", "have") + " no prediction")
    if pairing.extra:
        parts.append(f"{many(len(pairing.extra), 'prediction')} without a ground truth")
    close = nearest(pairing.missing, pairing.extra)
    places = [
        Place(name, "no prediction" + (f"; nearest: {close[name]}" if name in close else ""))
        for name in pairing.missing
    ]
    places += [Place(name, "no ground truth") for name in pairing.extra]
    return _as_error("unpaired", ", ".join(parts), pairing_hint(pairing), places)


def _annotators(pairing: Pairing, pattern: str, expected: Expected) -> Finding:
    what = f"{len(pairing.missing)} ground truths look like several annotators of the predicted images"
    fixes = [format_setting("gt_pattern", pattern), format_setting("annotators", "majority")]
    fix = setting(" ", ", ").join(fixes[: 1 + expected.one_annotator])
    return _as_error("annotator-names", what, fix, map(Place, pairing.missing))
