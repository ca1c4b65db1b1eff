"""Pictures of one image: what each method made of it, at thresholds one can slide through.

Pixels: the page gets the labels, and for each pixel how many thresholds its score reaches, from which it finds true,
false and missed pixels at any of them, exactly. Boundaries and regions: matching is done here, at a few thresholds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.rereading import pictured, reread
from segbench.aggregator.result import Result
from segbench.core.errors import SegbenchError
from segbench.core.pictures import Pictures
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.source import Source
from segbench.protocols.states import State, states_of_labels
from segbench.report.page.charts import rounded
from segbench.report.page.pictures import block_side, photograph, picked, png, read_photograph, tint

MOST_CUTS = 255

THUMBNAIL = 300
"""Longest side of thumbnails in the gallery, in pixels."""

IGNORED_LABEL = 2
"""The label of pixels left out, in `Pictures.truth` of soft maps."""

_FIRST_SEEN = (State.NOTHING, State.IGNORED, State.PARTNER, State.TRUE, State.MISSED, State.FALSE)
_RANKS = np.array([_FIRST_SEEN.index(state) for state in State])
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
    """An image to draw: each method on it, its photograph, the longest side of its pictures, and if in the gallery."""

    name: str
    seen: tuple[Seen, ...]
    photo: Source | None
    longest: int
    in_gallery: bool = False


def with_one_image(result: Result, name: str) -> Result:
    """Give a result of that image alone."""
    digests = {name: result.digests[name]} if name in result.digests else {}
    return replace(result, counts={name: result.counts[name]}, digests=digests, failed={}, kept=None)


def draw(task: Task) -> tuple[str, dict[str, Any]]:
    """Draw an image; what cannot be drawn is said instead."""
    panel: dict[str, Any] = {"name": task.name, "truths": []}
    panel["methods"] = [_method(seen, task, panel) for seen in task.seen]
    if task.photo:
        try:
            pixels = read_photograph(task.photo)
        except SegbenchError as error:
            panel["noPhoto"] = str(error)
        else:
            panel["photo"] = photograph(pixels, task.longest)
            if task.in_gallery:
                panel["backdrop"] = photograph(pixels, THUMBNAIL)
    return task.name, panel


def _method(seen: Seen, task: Task, panel: dict[str, Any]) -> dict[str, Any]:
    if seen.result is None or seen.files is None:
        return {"problem": seen.problem}
    try:
        sample = reread(seen.result, seen.files)
        pictures = pictured(seen.result).pictures(sample, seen.result.counts[sample.name], np.array(seen.cuts))
    except SegbenchError as error:
        return {"problem": str(error)}
    height, width = sample.ground_truths[0].shape
    side = block_side((height, width), task.longest)
    shown = picked(pictures.truth_ranks, side)
    truth = png(pictures.truth.ravel()[shown])
    if truth not in panel["truths"]:
        panel["truths"].append(truth)
    where = {"truth": panel["truths"].index(truth), "size": [width, height], "side": side}
    # A protocol without thresholds has pictures at one, which is undefined.
    cuts = {"cuts": [None if math.isnan(cut) else float(f"{cut:.7g}") for cut in seen.cuts], "start": seen.start}
    thumbnail = {"thumbnail": _thumbnail(pictures, seen.start, task.photo)} if task.in_gallery else {}
    return _packed(pictures, side, task.longest) | where | cuts | thumbnail


def _thumbnail(pictures: Pictures, at: int, photo: Source | None) -> dict[str, Any]:
    """Tint the states of an image, and say how much of it is tinted and what its metrics are."""
    if pictures.reached is None:
        states, metrics = pictures.states[at], {name: float(values[at]) for name, values in pictures.metrics.items()}
    else:
        states = states_of_labels(pictures.truth == 1, pictures.reached > at, pictures.truth != IGNORED_LABEL)
        tp, fp, positives = pictures.counts["tp"][at], pictures.counts["fp"][at], pictures.counts["positives"]
        metrics = {"F": 2 * tp / (positives + tp + fp) if positives else math.nan}
    share = float(np.isin(states, (State.NOTHING, State.IGNORED), invert=True).mean())
    side = block_side(states.shape, THUMBNAIL)
    return {
        "tint": tint(states.ravel()[picked(_RANKS[states], side)], share if photo else 0),
        "size": [side * -(-states.shape[1] // side), side * -(-states.shape[0] // side), *states.shape[::-1]],
        "share": share,
        "metrics": metrics,
    }


def _packed(pictures: Pictures, side: int, longest: int) -> dict[str, Any]:
    """Pack what the page needs beside the ground truth."""
    if pictures.reached is not None:
        reached = png(pictures.reached.ravel()[picked(pictures.truth_ranks, side)])
        return {"levels": reached, "note": pictures.note, **pictures.counts}
    packed: dict[str, Any] = {
        "states": [_states(states, side) for states in pictures.states],
        "metrics": {name: rounded(values) for name, values in pictures.metrics.items()},
    }
    if pictures.outlines:
        packed["outlines"] = [png(edges.ravel()[picked(edges, side)]) for edges in pictures.outlines]
    if pictures.classes is not None:
        packed["classes"] = png(pictures.classes.ravel()[picked(pictures.truth_ranks, side)])
    if pictures.soft is not None:
        packed["soft"] = photograph(pictures.soft, longest)
    return packed


def _states(states: NDArray[np.uint8], side: int) -> str:
    return png(states.ravel()[picked(_RANKS[states], side)])
