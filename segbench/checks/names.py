"""Names that do not pair, and what was probably meant by them."""

from __future__ import annotations

from segbench.checks.asked import Asked
from segbench.checks.findings import Finding, Place, many
from segbench.loaders.decoded import shown
from segbench.loaders.hints import annotator_pattern, nearest
from segbench.loaders.pairing import Pairing, methods_below, pair, pairing_hint, several_methods
from segbench.loaders.urls import masked


def problem_finding(pairing: Pairing) -> Finding | None:
    """Give what keeps names from being paired: a folder that cannot be listed, holds a name twice or lacks a class."""
    error = pairing.problem
    if error is None:
        return None
    what, *listed = error.what.split("\n")
    places = tuple(Place(line.strip()) for line in listed if line)
    # Each method has faults of its own in a list, and their number would keep these from being one finding.
    what = "holds faulty lines" if pairing.inputs.pairs and places else what.rstrip(":")
    return Finding(
        key="list" if pairing.inputs.pairs else "folder",
        severity="stops",
        about="names",
        message=f"{error.path}: {what}",
        mend=error.hint,
        places=places,
        whole=True,
    )


def name_findings(pairing: Pairing, asked: Asked) -> list[Finding]:
    """Find names without partner, and names asked for that there are not."""
    found = []
    inputs = pairing.inputs
    if pairing.unknown:
        what = "name or pattern fits" if len(pairing.unknown) == 1 else "names or patterns fit"
        found.append(
            Finding(
                key="unknown-images",
                severity="stops",
                about="names",
                message=f"{len(pairing.unknown)} {what} no image",
                mend=pairing_hint(Pairing(inputs, unknown=pairing.unknown)),
                places=tuple(map(Place, pairing.unknown)),
                whole=True,
            )
        )
    methods = methods_below(pairing, pair) if pairing.extra and not pairing.files else {}
    if methods:
        error = several_methods(inputs, methods)
        found.append(
            Finding(
                key="several-methods",
                severity="stops",
                about="names",
                message=error.what,
                mend=error.hint,
                places=tuple(map(Place, methods)),
                whole=True,
            )
        )
        return found
    predicted = (*pairing.extra, *(files.name for files in pairing.files))
    pattern = annotator_pattern(pairing.missing, predicted) if inputs.gt_pattern == "*" else None
    if pattern:
        found.append(_annotators(pairing, pattern, asked))
    elif pairing.missing or pairing.extra:
        found.append(_unpaired(pairing))
    if pairing.without_field:
        masks = Pairing(inputs, without_field=pairing.without_field)
        folder = shown(masked(str(inputs.field)))
        found.append(
            Finding(
                key="no-mask",
                severity="stops",
                about="names",
                message=f"{many(len(pairing.without_field), 'image')} without a mask in {folder}",
                mend=pairing_hint(masks),
                places=tuple(Place(name) for name in pairing.without_field),
                whole=True,
            )
        )
    return found


def _unpaired(pairing: Pairing) -> Finding:
    total = len(pairing.files) + len(pairing.missing)
    parts = []
    if pairing.missing:
        parts.append(f"{len(pairing.missing)} of {total} ground truths have no prediction")
    if pairing.extra:
        parts.append(f"{many(len(pairing.extra), 'prediction')} without a ground truth")
    close = nearest(pairing.missing, pairing.extra)
    return Finding(
        key="unpaired",
        severity="stops",
        about="names",
        message=", ".join(parts),
        mend=pairing_hint(pairing),
        places=(
            *(
                Place(name, "no prediction" + (f"; nearest: {close[name]}" if name in close else ""))
                for name in pairing.missing
            ),
            *(Place(name, "no ground truth") for name in pairing.extra),
        ),
        whole=True,
    )


def _annotators(pairing: Pairing, pattern: str, asked: Asked) -> Finding:
    rule = " --annotators majority" if asked.one_annotator else ""
    return Finding(
        key="annotator-names",
        severity="stops",
        about="names",
        message=f"{len(pairing.missing)} ground truths look like several annotators of the images predicted",
        mend=f"--gt-pattern '{pattern}'{rule}",
        places=tuple(Place(name) for name in pairing.missing),
        whole=True,
    )
