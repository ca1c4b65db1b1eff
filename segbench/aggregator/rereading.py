"""From a result back to its images: for pictures, which counts alone cannot give.

What lies on disk must still be what was counted: contents are compared, not names or dates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.tasks import joint_digests
from segbench.counts import ScoreCounts
from segbench.errors import ArgumentError, DataError
from segbench.loaders.decoded import shown
from segbench.loaders.file_list import is_stream
from segbench.loaders.load import decode_sample, read
from segbench.loaders.pairing import SampleFiles, survey
from segbench.loaders.repairs import Repairs
from segbench.sample import Sample

if TYPE_CHECKING:
    from segbench.aggregator.figures import Protocol
    from segbench.aggregator.result import Result

_WITH_PICTURES = {
    "Pixels": "segbench.protocols.pixels",
    "Boundaries": "segbench.protocols.boundaries",
    "Regions": "segbench.protocols.regions",
}


def protocol_to_json(protocol: Protocol) -> str:
    """Write which protocol it is and, where there are pictures of it, all its settings."""
    kind = type(protocol).__name__
    settings = asdict(protocol) if kind in _WITH_PICTURES else {}  # type: ignore[call-overload]  # those are dataclasses
    return json.dumps({"kind": kind} | settings)


def why_no_pictures(result: Result) -> str:
    """Say why no images of a result can be drawn, as what came of the method; empty where they can."""
    kind = json.loads(result.protocol_json or "{}").get("kind", "")
    if kind == "Classes":
        return "was counted with many classes, of which there are no pictures"
    if kind == "Annotators":
        return "compares annotators with each other, so there is no picture of it"
    if kind and kind not in _WITH_PICTURES:
        return f"was counted by {kind}, which is no protocol of segbench, so there is no picture of it"
    if kind and result.inputs is not None:
        streamed = any(part.pairs and is_stream(part.pairs) for part in (result.inputs, *result.inputs.merged))
        return "was counted from a file list in a pipe, which is gone, so its images are not known" if streamed else ""
    how = "counted from arrays" if result.settings.get("source") == "arrays" else "counted by others"
    return f"was {'taken from print' if result.published else how}, so its images are not known"


def protocol_of(result: Result) -> Protocol:
    """Give the protocol that counted a result.

    Raises
    ------
    DataError
        If there are no pictures of it; `why_no_pictures` says why.
    """
    _insist_on_pictures(result)
    settings: dict[str, Any] = json.loads(result.protocol_json)
    kind = settings.pop("kind")
    settings.pop("exact", None)  # of runs counted before bins became an option
    made: Callable[..., Protocol] = getattr(import_module(_WITH_PICTURES[kind]), kind)
    try:
        return made(**{name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()})
    except (TypeError, ArgumentError) as error:
        file = getattr(result.counts, "file", "") or result.method
        what = f"the run of {result.method!r} has settings that segbench did not write ({error})"
        raise DataError(file, what, "the file was changed or damaged: run again into a new file") from error


def files_of(result: Result) -> dict[str, SampleFiles]:
    """Find the files of a result's images again; images whose files are gone are left out.

    Raises
    ------
    DataError
        If a folder is gone, or there are no pictures of the result.
    """
    _insist_on_pictures(result)
    if result.inputs is None:
        return {}
    parts = (*result.inputs.merged, replace(result.inputs, merged=()))
    return {files.name: files for part in parts for files in survey(part).files}


def reread(result: Result, files: SampleFiles) -> Sample:
    """Read an image again, and insist that it is the one that was counted.

    Raises
    ------
    DataError
        If a file is gone, cannot be read, or has changed.
    """
    raw = read(files)
    if joint_digests(raw.digests)[1] != result.digests.get(files.name):
        raise DataError(shown(files.prediction), "has changed since it was counted, or its ground truth", "run again")
    return decode_sample(raw, protocol_of(result).reads, Repairs.from_fields(result.settings))


def states_of(result: Result, sample: Sample, threshold: float | None = None) -> NDArray[np.uint8]:
    """Tell what became of each pixel of an image.

    Parameters
    ----------
    result : Result
        What the image is part of.
    sample : Sample
        As `reread` gives it.
    threshold : float, optional
        By default `best_threshold`.

    Returns
    -------
    array of uint8, shape (H, W)
        A `segbench.protocols.states.State` a pixel.
    """
    from segbench.protocols.pixels import Pixels

    protocol = protocol_of(result)
    cut = best_threshold(result) if threshold is None else threshold
    if not isinstance(protocol, Pixels):
        states: NDArray[np.uint8] = protocol.states(sample, cut)  # type: ignore[attr-defined]  # protocol_of gives no other
        return states
    counts = result.counts[sample.name]
    uniform = isinstance(counts, ScoreCounts) and not counts.negatives.any()
    return protocol.states(sample, cut, all_positive=uniform)


def best_threshold(result: Result) -> float:
    """Give the threshold of ODS, or of the best covering of regions.

    Raises
    ------
    DataError
        If it is undefined.
    """
    summary: Mapping[str, float] = result.summary
    best = summary["covering_ods_threshold" if result.protocol == "regions" else "ods_threshold"]
    if math.isnan(best):
        raise DataError(result.method, "has no best threshold", "name one: --threshold 0.5 (threshold=0.5)")
    return float(best)


def _insist_on_pictures(result: Result) -> None:
    reason = why_no_pictures(result)
    if reason:
        raise DataError(result.method, reason, "leave it out with --only")
