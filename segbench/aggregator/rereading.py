"""From a result back to its images: for pictures, which counts alone cannot give.

What lies on disk must still be what was counted: contents are compared, not names or dates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.tasks import joint_digests
from segbench.counts import ScoreCounts
from segbench.errors import DataError
from segbench.loaders.decoded import shown
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
_MANY_CLASSES = ("was counted with many classes, of which there are no pictures", "leave it out with --only")


def protocol_to_json(protocol: Protocol) -> str:
    """Write which protocol it is and, where there are pictures of it, all its settings."""
    kind = type(protocol).__name__
    settings = asdict(protocol) if kind in _WITH_PICTURES else {}  # type: ignore[call-overload]  # those are dataclasses
    return json.dumps({"kind": kind} | settings)


def has_pictures(result: Result) -> bool:
    """Tell whether images of a result can be drawn: not where others counted, or of annotators or many classes."""
    kind = json.loads(result.protocol_json or "{}").get("kind", "")
    return result.inputs is not None and kind in _WITH_PICTURES


def protocol_of(result: Result) -> Protocol:
    """Give the protocol that counted a result.

    Raises
    ------
    DataError
        If others counted it, or it is one that draws no pictures.
    """
    settings: dict[str, Any] = json.loads(result.protocol_json or "{}")
    kind = settings.pop("kind", "")
    if not has_pictures(result):
        if kind == "Classes":
            raise DataError(result.method, *_MANY_CLASSES)
        reason = "compares annotators with each other" if kind else "was counted by others"
        raise DataError(result.method, f"{reason}, so there is no picture of it", "leave it out with --only")
    made: Callable[..., Protocol] = getattr(import_module(_WITH_PICTURES[kind]), kind)
    return made(**{name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()})


def files_of(result: Result) -> dict[str, SampleFiles]:
    """Find the files of a result's images again; images whose files are gone are left out.

    Raises
    ------
    DataError
        If a folder is gone, or the result has no files.
    """
    if result.inputs is None:
        raise DataError(result.method, "was counted by others, so its images are not known", "leave it out with --only")
    if json.loads(result.protocol_json or "{}").get("kind") == "Classes":
        raise DataError(result.method, *_MANY_CLASSES)
    return {files.name: files for files in survey(result.inputs).files}


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
        raise DataError(result.method, "has no best threshold", "name one: --threshold 0.5")
    return float(best)
