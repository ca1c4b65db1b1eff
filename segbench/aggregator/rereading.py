"""Images of a result read again, for pictures.

What is on disk must still be what was counted: contents are compared, not names or dates.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from segbench.aggregator.part_means import MeanOverParts
from segbench.core.errors import DataError
from segbench.core.messages import NOTHING, Either, Message, Setting
from segbench.core.metric import best_threshold
from segbench.core.part_means import singular
from segbench.core.protocol import Divided, Pictured
from segbench.core.sample import DescribedFiles, Sample
from segbench.inputs.nodata import decode_for
from segbench.loaders.listing import SampleFiles
from segbench.loaders.pairing import FilesByName, pair
from segbench.loaders.reading import Repairs, read
from segbench.loaders.source import is_stream, shown
from segbench.protocols.registry import verb_of

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol


_SOURCES = {
    "pipe": "counted from a file list in a pipe, which is gone",
    "arrays": "counted from arrays",
    "others": "counted by others",
    "published": "published",
}
"""What results come from that have no files to read again."""
CHOOSE_OTHERS = Message("leave-out", "{choose}", choose=Either("leave this result out", "choose others with --only"))
"""The remedy where a result cannot be drawn."""


def why_no_pictures(result: Result) -> Message:
    """Say why no images of a result can be drawn, as what came of the method; empty where they can."""
    if isinstance(result.rules, MeanOverParts):
        plural = result.rules.plural
        single = Either("result.parts('run')[NAME]", "--only with the name of one run")
        return Message(
            "mean-of-parts",
            "is a mean over {parts}, of which each has its own pictures: {choice}",
            parts=plural,
            choice=single if result.runs else Setting(singular(plural), "NAME"),
        )
    if result.inputs is not None:
        counted_by = result.settings.get("counted_by")
        if counted_by:
            return Message(
                "unknown-protocol",
                "was counted by {counted_by}, a protocol that is not installed here, so there is no picture of it",
                counted_by=counted_by,
            )
        undrawn = _without_pictures(result)
        if undrawn:
            return undrawn
        if not result.counts:
            return Message("no-image", "has no image that was counted")
        streamed = any(part.pairs and is_stream(part.pairs) for part in (result.inputs, *result.inputs.merged))
        return _unknown_files(result, "pipe") if streamed else NOTHING
    counted_from = "arrays" if result.settings.get("source") == "arrays" else "others"
    return _unknown_files(result, "published" if result.published else counted_from)


def _unknown_files(result: Result, source: str) -> Message:
    """Say what a result comes from in place of files that are still there."""
    return Message(
        "unknown-files",
        "was {how}, so its images are not known: pictures need a run of files, such as {run}",
        how=_SOURCES[source],
        source=source,
        run=Either("evaluate(GT, PRED, ...)", f"segbench {verb_of(result.kind)} GT PRED"),
    )


def _without_pictures(result: Result) -> Message:
    """Say what kind of result has none; empty where it has some."""
    protocol = result.rules
    part = next((axis for axis in ("class", "object") if axis in result.settings), "")
    if part:
        return Message("no-pictures", "is one {part} of several, of which no pictures are drawn", part=part)
    if protocol.capability(Pictured):
        return NOTHING
    if not protocol.competes:
        does = protocol.instead_of_competing
        return Message("no-pictures", "{does}, so there is no picture of it", does=does)
    how = "with several classes, which have no" if protocol.capability(Divided) else "by a protocol without"
    return Message("no-pictures", "was counted {how} pictures", how=how)


def full_protocol(result: Result) -> Protocol:
    """Return the protocol that counted a result, if pictures can be drawn from it."""
    reason = why_no_pictures(result)
    if reason:
        raise DataError(result.method, reason, CHOOSE_OTHERS)
    return result.rules


def files_of(result: Result) -> FilesByName:
    """Find the files of a result's images again; images without these files are left out."""
    reads = full_protocol(result).reads
    parts = (*result.inputs.merged, replace(result.inputs, merged=())) if result.inputs else ()
    if isinstance(reads, DescribedFiles):
        return FilesByName([reads.completed(pair(reads.located(part))) for part in parts])
    return FilesByName([pair(part) for part in parts])


def reread(result: Result, files: SampleFiles) -> Sample:
    """Read an image again, and insist that it is the one that was counted."""
    raw = read(files)
    if raw.digests()[1] != result.digests.get(files.name):
        problem = Message("changed-files", "has changed since it was counted, or its ground truth")
        raise DataError(shown(files.prediction), problem, "run again")
    return decode_for(full_protocol(result), raw, Repairs.from_fields(result.settings))


def pictured(result: Result) -> Pictured:
    """Return the capability that draws the images of a result."""
    capability: Any = full_protocol(result).capability(Pictured)
    return capability


def best_cut(result: Result) -> float:
    """Return the threshold at which the headline metric of the protocol is measured."""
    own = pictured(result).thresholds_of(result.table)
    if own is not None:
        return own[1]
    threshold = best_threshold(result.metrics)
    if threshold is None:
        return math.nan  # there are none: its pictures are the same at any
    best = result.summary[threshold.key]
    if math.isnan(best):
        problem = Message("no-best-threshold", "has no best threshold")
        raise DataError(
            result.method, problem, Message("name-one", "name one: {setting}", setting=Setting("threshold", 0.5))
        )
    return float(best)
