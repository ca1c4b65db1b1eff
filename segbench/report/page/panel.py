"""Pictures of one image: what each method made of it, at thresholds one can slide through.

Pixels: the page gets the labels, and for each pixel how many thresholds its score reaches, from which it tells true,
false and missed pixels at any of them, exactly. Boundaries and regions: matching is done here, at a few thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.rereading import protocol_of, reread, states_of
from segbench.aggregator.result import Result
from segbench.counts import BoundaryCounts, RegionCounts, ScoreCounts
from segbench.curves.boundary import boundary_curve
from segbench.curves.regions import region_curve
from segbench.errors import SegbenchError
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.source import Source
from segbench.protocols.boundaries import Boundaries
from segbench.protocols.pixels import Pixels
from segbench.protocols.regions import Regions
from segbench.protocols.states import State
from segbench.report.page.charts import rounded
from segbench.report.page.photos import read_photograph
from segbench.report.page.pictures import block_side, photograph, picked, png
from segbench.sample import Sample

FloatArray = NDArray[np.float64]
MOST_CUTS = 255

_NEGATIVE, _POSITIVE, _IGNORED = 0, 1, 2
_FIRST_SEEN = {State.NOTHING: 0, State.IGNORED: 1, State.PARTNER: 2, State.TRUE: 3, State.MISSED: 4, State.FALSE: 5}
"""Which pixel of a block is shown: an error if there is one, then what was found."""


@dataclass(frozen=True)
class Seen:
    """One method on one image, ready for another process.

    Parameters
    ----------
    result : Result
        With this image only; None where there is nothing to draw.
    files : SampleFiles, optional
        Of the image.
    cuts : tuple of float
        Rising thresholds.
    start : int
        Which of them is shown first.
    problem : str
        Why there is nothing to draw.
    """

    result: Result | None = None
    files: SampleFiles | None = None
    cuts: tuple[float, ...] = ()
    start: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Task:
    """An image to draw: each method on it, its photograph, and the longest side of its pictures."""

    name: str
    seen: tuple[Seen, ...]
    photo: Source | None
    longest: int


def with_one_image(result: Result, name: str) -> Result:
    """Give a result of that image alone."""
    digests = {name: result.digests[name]} if name in result.digests else {}
    return replace(result, counts={name: result.counts[name]}, digests=digests, failed={}, kept=None)


def draw(task: Task) -> tuple[str, dict[str, Any]]:
    """Draw an image; what cannot be drawn is said instead."""
    panel: dict[str, Any] = {"name": task.name, "truths": []}
    panel["methods"] = [_method(seen, task.longest, panel) for seen in task.seen]
    if task.photo:
        try:
            panel["photo"] = photograph(read_photograph(task.photo), task.longest)
        except SegbenchError as error:
            panel["noPhoto"] = str(error)
    return task.name, panel


def _method(seen: Seen, longest: int, panel: dict[str, Any]) -> dict[str, Any]:
    if seen.result is None or seen.files is None:
        return {"problem": seen.problem}
    try:
        sample = reread(seen.result, seen.files)
        protocol = protocol_of(seen.result)
        cuts = np.array(seen.cuts)
        side = block_side(sample.ground_truths[0].shape, longest)
        if isinstance(protocol, Pixels):
            truth, drawn = _pixels(seen.result, sample, protocol, cuts, side)
        elif isinstance(protocol, Boundaries):
            truth, drawn = _boundaries(seen.result, sample, protocol, cuts, side=side, longest=longest)
        else:
            truth, drawn = _regions(seen.result, sample, cast("Regions", protocol), cuts, side)
    except SegbenchError as error:
        return {"problem": str(error)}
    if truth not in panel["truths"]:
        panel["truths"].append(truth)
    height, width = sample.ground_truths[0].shape
    where = {"truth": panel["truths"].index(truth), "size": [width, height], "side": side}
    return drawn | where | {"cuts": [float(f"{cut:.7g}") for cut in seen.cuts], "start": seen.start}


def _pixels(
    result: Result, sample: Sample, protocol: Pixels, cuts: FloatArray, side: int
) -> tuple[str, dict[str, Any]]:
    states = states_of(result, sample, -np.inf)
    labels = np.full(states.shape, _IGNORED, np.uint8)
    labels[states == State.TRUE], labels[states == State.FALSE] = _POSITIVE, _NEGATIVE
    scores = _scores(protocol.soft_map(sample))
    reached = np.searchsorted(cuts, scores, side="right").astype(np.uint8)
    # A positive pixel before all others, the same for every method; among negatives the highest score.
    ranks = np.select([labels == _POSITIVE, labels == _NEGATIVE], [MOST_CUTS + 2, 1 + reached.astype(np.int64)], 0)
    shown = picked(ranks, side)
    counts = cast("ScoreCounts", result.counts[sample.name])
    kept = counts.at(cuts)
    tp, fp = (np.cumsum(part)[: cuts.size][::-1].tolist() for part in (kept.positives, kept.negatives))
    figures = {"tp": tp, "fp": fp, "positives": counts.total_positives}
    note = (
        "Colours: the majority of annotators. Figures: every annotator counts." if protocol.annotators == "each" else ""
    )
    return png(labels.ravel()[shown]), {"levels": png(reached.ravel()[shown]), "note": note, **figures}


def _boundaries(
    result: Result, sample: Sample, protocol: Boundaries, cuts: FloatArray, *, side: int, longest: int
) -> tuple[str, dict[str, Any]]:
    drawn = np.mean(protocol.boundary_maps(sample), axis=0)
    truth = np.rint(255 * drawn).astype(np.uint8)
    counts = cast("BoundaryCounts", result.counts[sample.name])
    curve = boundary_curve(counts)
    places = np.searchsorted(counts.thresholds, cuts)
    figures = {"P": curve.precision, "R": curve.recall, "F": curve.f}
    given: dict[str, Any] = {"states": [_states(states_of(result, sample, cut), side) for cut in cuts.tolist()]}
    given["figures"] = {name: rounded(values[places]) for name, values in figures.items()}
    if not sample.labels_predicted:
        soft = _scores(protocol.soft_map(sample))
        given["soft"] = photograph(np.rint(255 * np.clip(soft, 0, 1)).astype(np.uint8), longest)
    return png(truth.ravel()[picked(truth, side)]), given


def _regions(
    result: Result, sample: Sample, protocol: Regions, cuts: FloatArray, side: int
) -> tuple[str, dict[str, Any]]:
    counts = cast("RegionCounts", result.counts[sample.name])
    curve = region_curve(counts)
    places = np.searchsorted(counts.thresholds, cuts)
    figures = {"covering": curve.covering, "PRI": curve.rand_index, "VOI": curve.voi}
    predicted = protocol.regions(sample, cuts.tolist())
    outlines = [_outline(regions, side) for regions in predicted]
    states = [_states(protocol.states_of(sample, regions), side) for regions in predicted]
    named = {name: rounded(values[places]) for name, values in figures.items()}
    return _outline(sample.ground_truths[0], side), {"states": states, "outlines": outlines, "figures": named}


def _scores(soft: NDArray[Any]) -> FloatArray:
    full = np.iinfo(soft.dtype).max if soft.dtype.kind == "u" else 1
    return soft / np.float64(full)


def _states(states: NDArray[np.uint8], side: int) -> str:
    ranks = np.zeros(len(State), np.int64)
    for state, rank in _FIRST_SEEN.items():
        ranks[state] = rank
    return png(states.ravel()[picked(ranks[states], side)])


def _outline(labels: NDArray[Any], side: int) -> str:
    edges = np.zeros(labels.shape, np.uint8)
    edges[:-1][labels[:-1] != labels[1:]] = 255
    edges[:, :-1][labels[:, :-1] != labels[:, 1:]] = 255
    return png(edges.ravel()[picked(edges, side)])
