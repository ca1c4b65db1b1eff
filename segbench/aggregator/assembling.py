"""Outcomes of images to one result: which value is positive is settled, thresholds are applied, all is signed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from segbench.aggregator.codec import EncodedCounts, decode, encode
from segbench.aggregator.result import Result
from segbench.aggregator.signature import data_digest, signature
from segbench.aggregator.tasks import Outcome
from segbench.counts import ScoreCounts, Thresholds
from segbench.counts.bins import bin_floor
from segbench.errors import DataError
from segbench.loaders.inputs import Inputs
from segbench.loaders.repairs import idle
from segbench.protocols.counted import swapped
from segbench.protocols.labels import agree_on_positive
from segbench.sample import without_detail


def assemble(
    method: str,
    protocol: str,
    settings: Mapping[str, str],
    outcomes: Iterable[Outcome],
    *,
    notes: tuple[str, ...] = (),
    cuts: tuple[float, ...] = (),
    inputs: Inputs | None = None,
    protocol_json: str = "",
) -> Result:
    """Put together what came of each image, in sorted order of names, cut at thresholds where there are any."""
    by_name = sorted(outcomes, key=lambda outcome: outcome.name)
    counted = {outcome.name: outcome for outcome in by_name if outcome.counts}
    truths = {name: outcome.ground_truth_digest for name, outcome in counted.items()}
    if cuts and f", data {data_digest(truths)}," in settings["thresholds"]:
        notes = (*notes, "the tuning set is the test set: figures at its thresholds are optimistic")
    void, field = settings.get("void", "none"), inputs.field if inputs else None
    left_out_by = [f"--void {void}"] * (void != "none") + [f"--field {field}"] * (field is not None)
    packed = _with_positive_agreed(counted, " and ".join(left_out_by))
    if cuts:
        packed, lowered = _cut(packed, Thresholds(np.array(cuts), settings["thresholds"]))
        notes = (*notes, *lowered)
    repeated = Counter(note for outcome in counted.values() for note in {without_detail(n): 0 for n in outcome.notes})
    unneeded = idle(settings, tuple(repeated)) if counted else ()
    return Result(
        method,
        protocol,
        settings,
        signature(protocol, settings, truths),
        EncodedCounts(packed, protocol),
        {outcome.name: outcome.failure for outcome in by_name if outcome.failure},
        (*notes, *(f"{note} ({count} of {len(counted)} images)" for note, count in repeated.items()), *unneeded),
        inputs,
        protocol_json,
        {name: outcome.digest for name, outcome in counted.items()},
        image_notes={name: outcome.notes for name, outcome in counted.items() if outcome.notes},
    )


def _cut(packed: dict[str, bytes], thresholds: Thresholds) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Count at thresholds; where they fall inside the bins of any image, at the lower edges of these, and say so."""
    edges = Thresholds(bin_floor(thresholds.values), thresholds.source)
    moved = not np.array_equal(edges.values, thresholds.values)
    lowered = moved and any(_scores_of(data).binned for data in packed.values())
    cuts = edges if lowered else thresholds
    notes = ("scores are in bins: thresholds of the tuning set moved down to the edges of theirs",) if lowered else ()
    return {name: encode(_scores_of(data).at(cuts)) for name, data in packed.items()}, notes


def _scores_of(data: bytes) -> ScoreCounts:
    counts = decode(data)
    if not isinstance(counts, ScoreCounts):
        raise DataError("packed counts", "are not counts of scores", "the results file was changed: count with --fresh")
    return counts


def _with_positive_agreed(counted: Mapping[str, Outcome], left_out_by: str) -> dict[str, bytes]:
    """Count as positive the images that hold nothing but the value which the set shows to be positive."""
    packed = {name: outcome.counts for name, outcome in counted.items() if outcome.counts}
    unruled = {name: outcome.label_values for name, outcome in counted.items() if outcome.label_values}
    if not unruled:
        return packed
    positive = agree_on_positive(unruled, left_out_by=left_out_by)
    for name, values in unruled.items():
        if values == (positive,):
            packed[name] = encode(swapped(_scores_of(packed[name])))
    return packed
