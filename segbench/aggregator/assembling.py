"""Outcomes of images to one result: what the set decides is settled, thresholds are applied, all is signed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from segbench.aggregator.codec import EncodedCounts, decode, encode
from segbench.aggregator.result import Result
from segbench.aggregator.signature import data_digest, signature
from segbench.aggregator.tasks import Outcome
from segbench.core.bins import bin_floor
from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.core.sample import without_detail
from segbench.core.scores import ScoreCounts
from segbench.core.thresholds import Thresholds
from segbench.loaders.inputs import Inputs
from segbench.loaders.repairs import idle


def assemble(
    method: str,
    protocol: Protocol,
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
    packed = _settled(counted, protocol, " and ".join(left_out_by))
    if cuts:
        packed, lowered = _cut(packed, Thresholds(np.array(cuts), settings["thresholds"]))
        notes = (*notes, *lowered)
    repeated = Counter(note for outcome in counted.values() for note in {without_detail(n): 0 for n in outcome.notes})
    unneeded = idle(settings, tuple(repeated)) if counted else ()
    return Result(
        method,
        protocol.name,
        settings,
        signature(protocol.name, settings, truths),
        EncodedCounts(packed, protocol.counts),
        {outcome.name: outcome.failure for outcome in by_name if outcome.failure},
        (*notes, *(f"{note} ({count} of {len(counted)} images)" for note, count in repeated.items()), *unneeded),
        inputs,
        protocol_json,
        {name: outcome.digest for name, outcome in counted.items()},
        image_notes={name: outcome.notes for name, outcome in counted.items() if outcome.notes},
        measured_by=protocol,
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
        hint = "the results file was changed: count with --fresh (fresh=True)"
        raise DataError("packed counts", "are not counts of scores", hint)
    return counts


def _settled(counted: Mapping[str, Outcome], protocol: Protocol, excluded_by: str) -> dict[str, bytes]:
    """Give the packed counts of each image, changed where the whole set decides so."""
    packed = {name: outcome.counts for name, outcome in counted.items() if outcome.counts}
    facts = {name: outcome.facts for name, outcome in counted.items() if outcome.facts}
    settled = protocol.settle(facts, excluded_by=excluded_by)
    for name, known in facts.items():
        if known in settled:
            packed[name] = encode(settled[known](decode(packed[name], protocol.counts)))
    return packed
