"""Pictures of one image: what each method made of it, at thresholds one can slide through.

Pixels: the page gets the labels, and for each pixel how many thresholds its score reaches, from which it finds true,
false and missed pixels at any of them, exactly. Boundaries and regions: matching is done here, at a few thresholds.
A map is a PNG of 8-bit grey levels which the page's script decodes itself: what a browser gives back of a decoded
picture may be altered on purpose, against fingerprinting. Photographs are WebP and only looked at.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.aggregator.rereading import pictured, reread
from segbench.aggregator.result import Result
from segbench.core.errors import SegbenchError
from segbench.core.metric import finite
from segbench.core.pictures import Pictures
from segbench.core.sample import Sample
from segbench.loaders.listing import SampleFiles
from segbench.loaders.source import Source
from segbench.protocols.states import State, seen_in, states_of_labels
from segbench.report.grounds import MASK_PALETTE, OPACITY, PALETTE, class_palette, hatched, hatched_labels
from segbench.report.photographs import read_photograph
from segbench.report.slices import Plane, axial_plane_of_most_errors, cut_pictures

if TYPE_CHECKING:
    from PIL import Image

Levels = NDArray[np.uint8]

THIN = 0.12
"""Where less than this share of an image is tinted, there are lines or small objects."""

_QUALITY = 72
_DIGITS = 4
MOST_CUTS = 255
MOST_SLICES = 15
"""How many slices of a volume the page keeps."""
_COLOURS = 3

THUMBNAIL = 300
"""Longest side of thumbnails in the gallery, in pixels."""

IGNORED_LABEL = 2
"""The label of pixels left out, in `Pictures.truth` of soft maps."""

_FOUND = (State.PARTNER, State.TRUE, State.NEAR, State.FAR)
_FIRST_SEEN = (State.NOTHING, State.IGNORED, *_FOUND, State.MISSED, State.FALSE)
_RANKS = np.array([_FIRST_SEEN.index(state) for state in State])
"""Which pixel of a block is shown: an error if there is one, then what was found."""


@dataclass(frozen=True)
class MethodOnImage:
    """One method on one image for another process: its result there, thresholds, which is first, or what is wrong."""

    result: Result | None = None
    files: SampleFiles | None = None
    cuts: tuple[float, ...] = ()
    start: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Task:
    """An image to draw: each method on it, its photograph, the longest side of its pictures, and if in the gallery."""

    name: str
    methods: tuple[MethodOnImage, ...]
    photo: Source | None
    longest: int
    in_gallery: bool = False


def with_one_image(result: Result, name: str) -> Result:
    """Return the result restricted to a single image."""
    digests = {name: result.digests[name]} if name in result.digests else {}
    return replace(result, counts={name: result.counts[name]}, digests=digests, failed={}, image_notes={}, kept=None)


def draw(task: Task) -> tuple[str, dict[str, Any]]:
    """Draw an image; what cannot be drawn is said instead."""
    panel: dict[str, Any] = {"name": task.name, "truths": [], "kept": None}
    panel["methods"] = [_method(method, task, panel) for method in task.methods]
    kept: KeptSlices | None = panel.pop("kept")
    if task.photo:
        try:
            pixels = read_photograph(task.photo)
            if pixels.ndim == 3 and (kept or pixels.shape[2] != _COLOURS):
                return task.name, panel | _photographed_slices(pixels, kept, task)
        except SegbenchError as error:
            panel["noPhoto"] = error.written("options")
        else:
            panel["photo"] = photograph(pixels, task.longest)
            if task.in_gallery:
                panel["backdrop"] = photograph(pixels, THUMBNAIL)
    return task.name, panel


def _photographed_slices(pixels: Levels, kept: KeptSlices | None, task: Task) -> dict[str, Any]:
    """Return the photographs of the slices of a volume, whose voxels are taken to be those of its labels."""
    if kept is None or pixels.shape != kept.planes[0].shape:
        return {"noPhoto": "the photograph is a volume of another shape"}
    cuts = [plane.cut(pixels) for plane in kept.planes]
    photos = [photograph(cut, task.longest) for cut in cuts]
    fields: dict[str, Any] = {"photos": photos, "photo": photos[kept.shown]}
    return fields | ({"backdrop": photograph(cuts[kept.shown], THUMBNAIL)} if task.in_gallery else {})


def _method(method: MethodOnImage, task: Task, panel: dict[str, Any]) -> dict[str, Any]:
    """Draw one method, and add its ground truth to those of the panel."""
    if method.result is None or method.files is None:
        return {"problem": method.problem}
    try:
        sample = reread(method.result, method.files)
        counts = method.result.counts[sample.name]
        pictures = pictured(method.result).pictures(sample, counts, np.array(method.cuts))
    except SegbenchError as error:
        return {"problem": error.written("options")}
    # A protocol without thresholds has pictures at one, which is undefined.
    fields: dict[str, Any] = {"cuts": [None if math.isnan(cut) else float(f"{cut:.7g}") for cut in method.cuts]}
    fields["start"] = method.start
    if not sample.volume:
        _show_truth(pictures, method, task, panel)
        return fields | _one_picture(pictures, method, task, panel)
    states = states_at(pictures, method.start)
    kept: KeptSlices = panel["kept"] or slices_kept(states, sample)
    panel["kept"] = kept
    if states.shape != kept.planes[0].shape:
        return {"problem": "its volume has another shape than that of the first method"}
    fields["slices"] = [
        _one_picture(cut_pictures(pictures, plane), method, task, panel)
        | {"slice": f"{plane.title}, {len(kept.planes)} of {plane.number} are kept"}
        for plane in kept.planes
    ]
    fields["slice_shown"] = kept.shown
    _show_truth(cut_pictures(pictures, kept.planes[kept.shown]), method, task, panel)
    return fields | fields["slices"][kept.shown]


def _one_picture(pictures: Pictures, method: MethodOnImage, task: Task, panel: dict[str, Any]) -> dict[str, Any]:
    """Pack an image, or a slice, and add its ground truth to those of the panel."""
    height, width = pictures.truth.shape
    side = block_side((height, width), task.longest)
    truth = png(pictures.truth.ravel()[picked(pictures.truth_ranks, side)])
    if truth not in panel["truths"]:
        panel["truths"].append(truth)
    fields = _packed(pictures, side, task.longest)
    fields |= {"truth": panel["truths"].index(truth), "size": [width, height], "side": side}
    if task.in_gallery:
        fields["thumbnail"] = _thumbnail(pictures, method.start, task.photo)
    return fields


def _show_truth(pictures: Pictures, method: MethodOnImage, task: Task, panel: dict[str, Any]) -> None:
    """Add the ground truth of an image of the gallery to its panel, in the colours of masks or classes."""
    from PIL import Image

    if not task.in_gallery or method.result is None or "truth_shown" in panel:
        return
    side = block_side(pictures.truth.shape, THUMBNAIL)
    levels = pictures.truth.ravel()[picked(pictures.truth_ranks, side)]
    if pictures.classes is None and pictures.reached is None:
        image = Image.fromarray(levels, "L")
    else:
        is_mask = pictures.classes is None
        palette = MASK_PALETTE if is_mask else class_palette(len(pictured(method.result).classes_drawn))
        image = Image.fromarray(hatched_labels(levels, palette), "P")
        image.putpalette(palette.tobytes())
    height, width = pictures.truth.shape
    panel["truth_shown"] = {"png": _base64(image, "PNG", optimize=True), "size": [width, height]}


class KeptSlices(NamedTuple):
    """The slices of a volume that the page keeps, from the first to the last, and which of them it shows first."""

    planes: Sequence[Plane]
    shown: int


def slices_kept(states: Levels, sample: Sample) -> KeptSlices:
    """Return the axial slice with most errors, and up to `MOST_SLICES` - 1 others spread over what there is to see."""
    chosen = axial_plane_of_most_errors(states, sample.spacing, sample.affine)
    across = tuple(axis for axis in range(3) if axis != chosen.axis)
    seen = np.flatnonzero(seen_in(states).any(axis=across))
    ends = (int(seen[0]), int(seen[-1])) if seen.size else (chosen.at, chosen.at)
    spread = np.rint(np.linspace(*ends, MOST_SLICES - 1)).astype(int)
    numbers = np.union1d(spread, [chosen.at]).tolist()
    return KeptSlices([chosen._replace(at=number) for number in numbers], numbers.index(chosen.at))


def states_at(pictures: Pictures, at: int) -> Levels:
    """Return the states at one of the thresholds."""
    if pictures.reached is None:
        return pictures.states[at]
    return states_of_labels(pictures.truth == 1, pictures.reached > at, pictures.truth != IGNORED_LABEL)


def _thumbnail(pictures: Pictures, at: int, photo: Source | None) -> dict[str, Any]:
    """Tint the states of an image, and say how much of it is tinted and what its metrics are."""
    states = states_at(pictures, at)
    if pictures.reached is None:
        metrics = {name: float(values[at]) for name, values in pictures.metrics.items()}
    else:
        counts = pictures.counts
        tp, fp, positives = counts["tp"][at], counts["fp"][at], counts["positives"]
        metrics = {"F": 2 * tp / (positives + tp + fp) if positives else math.nan}
    share = float(seen_in(states).mean())
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
        "states": [png(states.ravel()[picked(_RANKS[states], side)]) for states in pictures.states],
        "metrics": {name: _rounded(values) for name, values in pictures.metrics.items()},
    }
    if pictures.words:
        packed["words"] = list(pictures.words)
    if pictures.outlines:
        packed["outlines"] = [png(edges.ravel()[picked(edges, side)]) for edges in pictures.outlines]
    if pictures.classes is not None:
        packed["classes"] = png(pictures.classes.ravel()[picked(pictures.truth_ranks, side)])
    if pictures.soft is not None:
        packed["soft"] = photograph(pictures.soft, longest)
    return packed


def block_side(shape: tuple[int, ...], longest: int) -> int:
    """Return the side of the blocks of pixels, each of which is one pixel of a thumbnail."""
    return -(-max(shape) // longest)


def picked(ranks: NDArray[Any], side: int) -> NDArray[np.int64]:
    """Choose of each block the pixel of the highest rank, the first of equals."""
    height, width = ranks.shape
    rows, columns = -(-height // side), -(-width // side)
    padded = np.full((rows * side, columns * side), -1, np.int64)
    padded[:height, :width] = ranks
    blocks = padded.reshape(rows, side, columns, side).swapaxes(1, 2).reshape(rows, columns, side * side)
    down, right = np.divmod(blocks.argmax(axis=2), side)
    positions: NDArray[np.int64] = (side * np.arange(rows)[:, None] + down) * width + side * np.arange(columns) + right
    return positions


def png(levels: Levels) -> str:
    """Write grey levels as a PNG in base64."""
    from PIL import Image

    return _base64(Image.fromarray(levels), "PNG", optimize=True)


def tint(states: Levels, share: float) -> str:
    """Write states in their colours as a PNG in base64, transparent where there is nothing."""
    from PIL import Image

    image = Image.fromarray(hatched(states), "P")
    image.putpalette(PALETTE.tobytes())
    return _base64(image, "PNG", optimize=True, transparency=bytes(alphas(share)))


def _rounded(values: ArrayLike) -> list[float | None]:
    """Return numbers rounded to four decimal places, None for nan and infinity."""
    return [finite(value) for value in np.round(np.asarray(values, np.float64), _DIGITS).tolist()]


def alphas(share: float) -> list[int]:
    """Say how opaque each state is over a photograph of which this share is tinted, and between lines of a hatching."""
    opaque = 255 if share < THIN else math.ceil(255 * OPACITY)
    return [0, *[opaque] * (len(PALETTE) - 1)]


def photograph(pixels: NDArray[Any], longest: int) -> str:
    """Write a photograph as a WebP in base64, its longest side no longer than `longest`."""
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((longest, longest))
    return _base64(picture, "WEBP", quality=_QUALITY, method=4)


def _base64(image: Image.Image, form: str, **options: object) -> str:
    file = io.BytesIO()
    image.save(file, form, **options)
    return base64.b64encode(file.getvalue()).decode("ascii")
