"""The picture of one image by one method, as large as its cell: masks are repeated or picked, never interpolated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.rereading import pictured, reread
from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.metric import Metric, images_at_their_best
from segbench.core.pictures import ByteArray, Pictures, outline
from segbench.loaders.listing import SampleFiles
from segbench.protocols.states import State, states_of_labels
from segbench.report.grounds import (
    MASK_PALETTE,
    OPACITY,
    PALETTE,
    as_bytes,
    blended,
    class_palette,
    hatched,
    hatched_labels,
    washed,
)
from segbench.report.slices import Plane, axial_plane_of_most_errors, cut_pictures

Box: TypeAlias = tuple[int, int, int, int]
"""Left, top, width and height in pixels of the image."""

TRUTH_LINE, PREDICTED_LINE, CASE = "#ffffff", "#f05a00", "#101010"
"""Colours of contours over a photograph, cased in nearly black; measured by scripts/checks/state_colours.py."""
_SMALL = 180  # dots, along the shorter side of cells in which lines are thin
_STRIPE = 6
_THIN, _CASED = 2, 3  # least dots across lines: alone, and cased in dark
_SHOWN_FIRST = (
    State.NOTHING,
    State.IGNORED,
    State.PARTNER,
    State.TRUE,
    State.NEAR,
    State.FAR,
    State.MISSED,
    State.FALSE,
)
_RANKS = np.array([_SHOWN_FIRST.index(state) for state in State])
LEFT_OUT = 2
"""What is left out in labels of masks."""


@dataclass(frozen=True, eq=False)
class Layers:
    """What is known of the pixels of one image by one method; arrays of shape (H, W)."""

    states: ByteArray
    truth: ByteArray
    """Grey levels; of classes and masks labels, see `classes` and `mask`."""
    predicted: ByteArray | None
    """Labels as those of `truth`; None where states alone tell what was predicted."""
    lines: ByteArray | None
    """The outlines of predicted regions."""
    classes: tuple[str, ...]
    mask: bool
    """Whether `truth` is 0, 1 or, left out, 2."""
    drawn_lines: bool
    """Whether states are lines, which are no outlines of areas."""
    value: float
    """The metric in the corner."""
    value_name: str
    """The name of this metric."""
    plane: Plane | None = None
    """Of a volume, the slice that is shown."""


def layers_of(
    result: Result, files: SampleFiles, cut: float, metric: Metric, *, asked: bool, plane: Plane | None = None
) -> Layers:
    """Read an image again, and find what a method made of it at a threshold; a `DataError` says why it cannot.

    Of a volume the slice `plane` is shown, or else that with most errors.
    """
    sample = reread(result, files)
    shows = pictured(result)
    counts = result.counts[sample.name]
    pictures = shows.pictures(sample, counts, np.array([cut]))
    value, name = _metric_of(result, sample.name, pictures, metric, asked=asked)
    if sample.volume:
        if plane is None:
            states = shows.states(sample, cut, counts)
            plane = axial_plane_of_most_errors(states, sample.spacing, sample.affine)
        elif plane.shape != pictures.truth.shape:
            other = Message("other-shape", "its volume has another shape than that of the first method")
            raise DataError(sample.name, other)
        pictures = cut_pictures(pictures, plane)
    mask = pictures.reached is not None
    predicted: ByteArray | None = None
    if pictures.reached is not None:
        reached = pictures.reached > 0
        states = states_of_labels(pictures.truth == 1, reached, pictures.truth != LEFT_OUT)
        predicted = np.where(states == State.IGNORED, LEFT_OUT, reached).astype(np.uint8)
    else:
        states = pictures.states[0]
    truth = pictures.truth
    if pictures.reached is None and pictures.classes is not None:
        predicted = pictures.classes
    elif pictures.reached is None and not pictures.outlines and not shows.draws_lines:
        mask, truth, predicted = True, *_masks_of(states)
    return Layers(
        states,
        truth,
        predicted,
        pictures.outlines[0] if pictures.outlines else None,
        tuple(shows.classes_drawn) if pictures.classes is not None else (),
        mask,
        shows.draws_lines,
        value,
        name,
        plane if sample.volume else None,
    )


def _masks_of(states: ByteArray) -> tuple[ByteArray, ByteArray]:
    """Return the ground truth and the prediction that states of areas tell."""
    masks = []
    for positive in ((State.TRUE, State.MISSED, State.PARTNER), (State.TRUE, State.FALSE)):
        mask = np.isin(states, positive).astype(np.uint8)
        mask[states == State.IGNORED] = LEFT_OUT
        masks.append(mask)
    return masks[0], masks[1]


def _metric_of(result: Result, image: str, pictures: Pictures, metric: Metric, *, asked: bool) -> tuple[float, str]:
    """Return the metric of what is drawn, where images are measured at thresholds of their own; else that of images."""
    if not asked and images_at_their_best(result.metrics):
        if pictures.reached is not None:
            tp, fp, positives = pictures.counts["tp"][0], pictures.counts["fp"][0], pictures.counts["positives"]
            return (2 * tp / (positives + tp + fp) if positives else math.nan), "F"
        name = "F" if "F" in pictures.metrics else next(iter(pictures.metrics), "")
        if name:
            return float(pictures.metrics[name][0]), name
    return float(result.per_image[image][metric.image_key]), metric.quantity_of_images


def cut_out(array: NDArray[np.uint8], box: Box | None) -> NDArray[np.uint8]:
    """Return the part of an image in a box; all of it without one."""
    if box is None:
        return array
    left, top, width, height = box
    return array[top : top + height, left : left + width]


def as_large(
    levels: ByteArray, size: tuple[int, int], ranks: NDArray[np.int_] | None = None, *, thickness: int = 1
) -> ByteArray:
    """Make labels as large as a cell (height, width): of the pixels in one dot that of the highest rank is shown.

    Of lines a pixel covers at least `thickness` dots.
    """
    order = levels.astype(np.int64) if ranks is None else 256 * ranks + levels
    for axis, wanted in enumerate(size):
        extent = order.shape[axis]
        starts = np.arange(wanted) * extent // wanted
        is_smaller = wanted < extent and ranks is not None
        middles = (2 * np.arange(wanted) + 1) * extent // (2 * wanted)
        order = np.maximum.reduceat(order, starts, axis=axis) if is_smaller else np.take(order, middles, axis=axis)
    if thickness > 1 and size[1] < thickness * levels.shape[1]:
        from scipy.ndimage import maximum_filter

        order = maximum_filter(order, thickness)
    return (order % 256).astype(np.uint8)


def photograph_as_large(photograph: ByteArray, size: tuple[int, int]) -> ByteArray:
    """Resize a photograph to a cell (height, width), in colour."""
    from PIL import Image

    picture = Image.fromarray(photograph).convert("RGB")
    return np.asarray(picture.resize(size[::-1], Image.Resampling.LANCZOS))


def method_cell(
    layers: Layers, photograph: ByteArray | None, style: str, box: Box | None, size: tuple[int, int]
) -> ByteArray:
    """Draw what a method made of an image: its errors, its contours or its labels; shape (height, width, 3)."""
    if style == "contours":
        return _contours(layers, photograph, box, size, with_prediction=True)
    if style == "labels":
        if layers.lines is not None:
            return _grey(255 - _lines(layers.lines, box, size))
        if layers.predicted is not None:
            return _labels(layers, layers.predicted, box, size)
        photograph = None
    states = _states(layers, box, size)
    is_thin = layers.drawn_lines
    return blended(hatched(states, _STRIPE), _ground(photograph, size), 1.0 if is_thin else OPACITY)


def truth_cell(
    layers: Layers, photograph: ByteArray | None, style: str, box: Box | None, size: tuple[int, int]
) -> ByteArray:
    """Draw the ground truth of an image, shape (height, width, 3)."""
    if style == "contours":
        return _contours(layers, photograph, box, size, with_prediction=False)
    if layers.mask or layers.classes:
        return _labels(layers, layers.truth, box, size)
    return _grey(_lines(layers.truth, box, size, _THIN if _is_thin(layers.truth > 0) else 1))


def _grey(levels: ByteArray) -> ByteArray:
    return np.repeat(levels[..., np.newaxis], 3, axis=2)


def _lines(lines: ByteArray, box: Box | None, size: tuple[int, int], thickness: int = _THIN) -> ByteArray:
    """Make grey levels as large as a cell, the brightest before others."""
    levels = cut_out(lines, box)
    return as_large(levels, size, levels.astype(np.int64), thickness=thickness)


def _ground(photograph: ByteArray | None, size: tuple[int, int]) -> ByteArray:
    if photograph is None:
        return np.full((*size, 3), 255, np.uint8)
    return washed(photograph_as_large(photograph, size))


def _states(layers: Layers, box: Box | None, size: tuple[int, int], thickness: int = _THIN) -> ByteArray:
    states = cut_out(layers.states, box)
    return as_large(states, size, _RANKS[states], thickness=thickness if layers.drawn_lines else 1)


def _labels(layers: Layers, labels: ByteArray, box: Box | None, size: tuple[int, int]) -> ByteArray:
    """Draw a label map in the colours of its classes, or a mask in white on black, what is left out hatched."""
    shown = as_large(cut_out(labels, box), size)
    palette = MASK_PALETTE if layers.mask else class_palette(len(layers.classes))
    return palette[hatched_labels(shown, palette, _STRIPE)]


def _contours(
    layers: Layers, photograph: ByteArray | None, box: Box | None, size: tuple[int, int], *, with_prediction: bool
) -> ByteArray:
    """Draw contours, or the lines of a protocol of lines, cased in dark over the photograph in colour."""
    plain = np.full((*size, 3), 255, np.uint8)
    picture = (plain if photograph is None else photograph_as_large(photograph, size)).copy()
    if layers.drawn_lines and with_prediction:
        states = _states(layers, box, size, _CASED)
        is_line = (states != State.NOTHING) & (states != State.IGNORED)
        picture[_widened(is_line, 1)] = as_bytes([CASE])[0]
        picture[is_line] = PALETTE[states[is_line]]
        return picture
    lines = [(_outline_of(layers, layers.truth, box, size), TRUTH_LINE)]
    if with_prediction:
        lines.append((_predicted_outline(layers, box, size), PREDICTED_LINE))
    is_small = min(size) < _SMALL
    for is_line, _ in lines:
        picture[_widened(is_line, 1 if is_small else 2)] = as_bytes([CASE])[0]
    for is_line, colour in lines:
        picture[is_line if is_small else _widened(is_line, 1)] = as_bytes([colour])[0]
    return picture


def _predicted_outline(layers: Layers, box: Box | None, size: tuple[int, int]) -> NDArray[np.bool_]:
    if layers.lines is not None:
        return _lines(layers.lines, box, size) > 0
    assert layers.predicted is not None  # noqa: S101  for types alone: lines are drawn before
    return _outline_of(layers, layers.predicted, box, size)


def _outline_of(layers: Layers, labels: ByteArray, box: Box | None, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the outline of labels in a cell; of ground truth that is lines already, these."""
    if layers.mask or layers.classes or not _is_thin(layers.truth > 0):
        return outline(as_large(cut_out(labels, box), size)) > 0
    return _lines(labels, box, size) > 0


def _is_thin(mask: NDArray[np.bool_]) -> bool:
    """Return whether most pixels of a mask lie at its border, as those of lines do."""
    inner = mask[1:-1, 1:-1] & mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    return bool(2 * np.count_nonzero(inner) < np.count_nonzero(mask))


def _widened(is_line: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    from scipy.ndimage import binary_dilation

    return np.asarray(binary_dilation(is_line, np.ones((3, 3), bool), iterations=by))
