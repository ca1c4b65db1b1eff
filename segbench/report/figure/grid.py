"""What a figure shows: which images and methods, where it zooms in, and the pixels of each, read again from files."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from segbench.aggregator.joining import first_run, join_runs
from segbench.aggregator.renaming import renamed_results
from segbench.aggregator.rereading import CHOOSE_OTHERS, best_cut, files_of, full_protocol, why_no_pictures
from segbench.aggregator.result import Result, as_results, names_of
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting
from segbench.core.metric import best_threshold, images_at_their_best
from segbench.core.numbers import many
from segbench.core.pictures import ByteArray
from segbench.core.protocol import Protocol, states_called
from segbench.core.settings import as_real, check_choice
from segbench.drawing.numerals import numeral
from segbench.loaders.source import shown
from segbench.protocols.states import State
from segbench.report.figure.cells import (
    LEFT_OUT,
    PREDICTED_LINE,
    TRUTH_LINE,
    Box,
    Layers,
    cut_out,
    layers_of,
    method_cell,
    truth_cell,
)
from segbench.report.figure.rows import chosen_images, image_metric
from segbench.report.figure.settings import STYLES, USUAL_ROWS, VENUES
from segbench.report.grounds import NAMED, blended, class_palette, washed
from segbench.report.overlays import refuse_unreached
from segbench.report.photographs import no_photograph, photographs, read_photograph
from segbench.report.ranking import best_first, competing_order
from segbench.report.slices import Plane

_NARROWEST, _WIDEST = 1.0, 20.0
_CROP = re.compile(r"(.+):(\d+),(\d+),(\d+),(\d+)", re.DOTALL)
_STRETCHED = 0.02  # sides of photographs that were made smaller are rounded
_ABOVE = 1.5  # numbers that are no shares have one decimal place
PHOTOGRAPH, TRUTH = "Photograph", "Ground truth"


@dataclass(frozen=True, kw_only=True)
class FigureSettings:
    """How a figure looks, and which images it shows; see `segbench.plot`."""

    images: str | PathLike[str] | None = None
    rows: str | Sequence[str] = USUAL_ROWS
    style: str = "errors"
    transpose: bool = False
    metric: str | None = None
    threshold: float | None = None
    crops: Sequence[str] = ()
    width: float | str = "cvpr"
    names: Mapping[str, str] = field(default_factory=dict)
    methods: Sequence[str] = ()
    """Those that are shown, in this order, by the names that are printed; by default all, the best first."""

    @property
    def inches(self) -> float:
        """The width in inches."""
        width = VENUES.get(str(self.width).lower(), self.width)
        try:
            inches = float(width)
        except ValueError:
            inches = math.nan
        if not _NARROWEST <= inches <= _WIDEST:
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "{argument} is {value}; expected inches from {least:g} to {most:g}, or one of {known}",
                    argument=Setting("width", None),
                    value=repr(self.width),
                    least=_NARROWEST,
                    most=_WIDEST,
                    known=list(VENUES),
                )
            )
        return inches


@dataclass(frozen=True)
class View:
    """An image, or a box of it that is shown larger; the boxes that are drawn into the whole image."""

    image: str
    shape: tuple[int, int]
    box: Box | None = None
    boxes: tuple[Box, ...] = ()
    box_number: int = 0
    """Which box it is of those of its image."""


@dataclass(frozen=True, eq=False)
class FigureGrid:
    """All that a figure shows."""

    settings: FigureSettings
    views: tuple[View, ...]
    methods: tuple[str, ...]
    layers: Mapping[tuple[str, int], Layers]
    """By image and method; of those that could be drawn."""
    photos: Mapping[str, ByteArray]
    rules: Protocol
    problems: tuple[Message, ...]
    caption: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns show, in words."""
        photograph = (PHOTOGRAPH,) if self.photos else ()
        return (*photograph, TRUTH, *self.methods)

    def paint(self, view: View, column: int, size: tuple[int, int]) -> ByteArray | None:
        """Draw a cell in pixels, shape (height, width, 3); None where there is nothing to draw."""
        from segbench.report.figure.cells import photograph_as_large

        photo, before = self.photos.get(view.image), len(self.columns) - len(self.methods)
        part = None if photo is None else cut_out(photo, view.box)
        if self.columns[column] == PHOTOGRAPH and column == 0 and before > 1:
            return None if part is None else photograph_as_large(part, size)
        if column < before:
            layers = self.first_layers(view.image)
            return truth_cell(layers, part, self.settings.style, view.box, size)
        drawn = self.layers.get((view.image, column - before))
        return None if drawn is None else method_cell(drawn, part, self.settings.style, view.box, size)

    def first_layers(self, image: str) -> Layers:
        """Return what the first method that could be drawn shows of an image."""
        return next(self.layers[key] for key in sorted(self.layers) if key[0] == image)

    def value(self, view: View, column: int) -> float:
        """Return the metric in the corner of a cell; nan where there is none."""
        method = column - len(self.columns) + len(self.methods)
        drawn = self.layers.get((view.image, method)) if view.box is None else None
        return math.nan if drawn is None else drawn.value

    def written(self, value: float) -> str:
        """Write a metric of the corners, all with the same digits."""
        largest = max((abs(of.value) for of in self.layers.values() if math.isfinite(of.value)), default=0.0)
        return numeral(value, usual=1 if largest > _ABOVE else 3)

    def legend(self) -> list[tuple[str, str]]:
        """Return the colours that cells have, as hexadecimal, with what they mean; empty for those that are hatched."""
        style = self.settings.style
        every = list(self.layers.values())
        entries = []
        has_states = style == "errors" or (every[0].drawn_lines and style == "contours")
        if has_states or (style == "labels" and every[0].predicted is None and every[0].lines is None):
            seen = {int(state) for layers in every for state in np.unique(layers.states)}
            for state, words in states_called(self.rules).items():
                if state in seen:
                    entries.append(("" if state == State.IGNORED else self._colour_of(State(state)), words))
        if style == "contours":
            entries.insert(0, (TRUTH_LINE, "contour of the ground truth"))
            if not every[0].drawn_lines:
                entries.insert(1, (PREDICTED_LINE, "contour of the prediction"))
            return entries
        classes = every[0].classes
        labels = [array for layers in every for array in (layers.truth, layers.predicted) if array is not None]
        shown_labels = {int(label) for array in labels for label in np.unique(array)}
        if classes:
            palette = class_palette(len(classes))
            entries += [("#" + bytes(palette[k]).hex(), name) for k, name in enumerate(classes) if k in shown_labels]
        left_out = len(classes) + 1 if classes else LEFT_OUT
        if (classes or every[0].mask) and style == "labels" and left_out in shown_labels:
            entries.append(("", "left out"))
        return entries

    def legend_in_words(self) -> list[str]:
        """Say what colours mean to those who do not see them; classes are named without their colours."""
        named = {words: NAMED[State(state)][1] for state, words in states_called(self.rules).items()}
        return [f"{named[words]}: {words}" if words in named else words for _, words in self.legend()]

    def _colour_of(self, state: State) -> str:
        """Return the colour of a state as cells show it: over a photograph of middle grey, or over white."""
        if next(iter(self.layers.values())).drawn_lines:
            return NAMED[state][0]
        ground = np.full((1, 1, 3), 255, np.uint8) if not self.photos else washed(np.full((1, 1), 127, np.uint8))
        return "#" + blended(np.full((1, 1), state, np.uint8), ground).tobytes().hex()


def grid_of(results: Result | Sequence[Result], settings: FigureSettings) -> FigureGrid:
    """Read all that a figure shows; what cannot be drawn is among its problems, and nothing at all is an error."""
    check_choice(settings.style, Setting("style", None), STYLES)
    _ = settings.inches  # refused before anything is read
    drawn, problems = _drawable(renamed_results(join_runs(as_results(results)), settings.names), settings.methods)
    metric = image_metric(drawn, settings.metric)
    methods = tuple(names_of(drawn))
    chosen = chosen_images(drawn, settings.rows, metric)
    cuts = [_cut(result, settings.threshold) for result in map(first_run, drawn)]
    layers: dict[tuple[str, int], Layers] = {}
    planes: dict[str, Plane] = {}
    asked = settings.metric is not None
    for method, result in enumerate(map(first_run, drawn)):
        files = files_of(result)
        for image in chosen.names:
            of_image = files.get(image) if image in result.counts else None
            if of_image is None:
                gone = Message("no-files", "{image}: its files no longer exist", image=shown(image))
                problems.append(f"{methods[method]}: " + gone)
                continue
            try:
                drawn_image = layers_of(result, of_image, cuts[method], metric, asked=asked, plane=planes.get(image))
            except DataError as error:
                problems.append(f"{methods[method]}: " + error.failure.sentence)
                continue
            layers[image, method] = drawn_image
            if drawn_image.plane is not None:
                planes[image] = drawn_image.plane
    images = [image for image in chosen.names if any(image == name for name, _ in layers)]
    if not images:
        raise DataError(methods[0], problems[0], CHOOSE_OTHERS)
    shapes = {image: next(of.states.shape for (name, _), of in layers.items() if name == image) for image in images}
    every = set().union(*(result.counts for result in drawn))
    photos = _photos(settings.images, every, shapes, planes, problems)
    views = _views(shapes, settings.crops)
    value_name = next(iter(layers.values())).value_name
    sliced = [f"{image} is a volume: {plane.title}." for image, plane in planes.items()]
    shown_images = f"{'From the left' if settings.transpose else 'From above'}: {', '.join(images)}."
    facts = (_counted(drawn, len(images), settings), chosen.sentence, shown_images, *sliced)
    caption = (*facts, *_caption(drawn, methods, settings, cuts, value_name))
    return FigureGrid(settings, views, methods, layers, photos, drawn[0].rules, tuple(problems), caption)


def _drawable(results: Sequence[Result], methods: Sequence[str]) -> tuple[list[Result], list[Message]]:
    """Return the results with pictures, in the order of methods or the best first, and why others have none.

    Human annotators, which never have any, are no problem unless they were asked for.
    """
    if not results:
        raise ArgumentError(Message("no-results", "no results to draw"))
    if methods:
        results = _of_methods(results, methods)
    reasons = {k: why_no_pictures(first_run(result)) for k, result in enumerate(results)}
    expected = {k: reason for k, reason in reasons.items() if reason and (methods or results[k].rules.competes)}
    problems = [f"{results[k].label}: " + reason for k, reason in expected.items()]
    drawn = [results[k] for k, reason in reasons.items() if not reason]
    if not drawn:
        full_protocol(first_run(results[0]))
    protocols = sorted({result.protocol for result in drawn})
    if len(protocols) > 1:
        raise ArgumentError(
            Message(
                "several-protocols",
                "a figure shows results of one protocol, not of {protocols: and }; choose them: {choose}",
                protocols=protocols,
                choose=Either("give those of one", f"--only protocol:{protocols[0]}"),
            )
        )
    if methods:
        return drawn, problems
    order = competing_order(drawn, best_first(drawn, image_metric(drawn, None).key))
    return [drawn[k] for k in order], problems


def _of_methods(results: Sequence[Result], methods: Sequence[str]) -> list[Result]:
    """Return the results of methods, named as in tables, in their order."""
    known = dict(zip(names_of(results), results, strict=True))
    unknown = [name for name in methods if name not in known]
    if unknown:
        raise ArgumentError(
            Message(
                "unknown-methods",
                "{methods} {unknown}: no method is called so; methods are {known}",
                methods=Setting("methods", None),
                unknown=unknown,
                known=list(known),
            )
        )
    return [known[name] for name in dict.fromkeys(methods)]


def _cut(result: Result, threshold: float | None) -> float:
    if threshold is None:
        return best_cut(result)
    value = as_real(threshold, Setting("threshold", None), "a number", least=-math.inf, most=math.inf)
    refuse_unreached([result], value)
    return value


def _photos(
    folder: str | PathLike[str] | None,
    every: Collection[str],
    shapes: Mapping[str, tuple[int, ...]],
    planes: Mapping[str, Plane],
    problems: list[Message],
) -> dict[str, ByteArray]:
    """Read the photographs of those of all images that have a shape here, as large as this."""
    from PIL import Image

    if folder is None:
        return {}
    known, photos = photographs(os.fspath(folder), every), {}
    for image, (height, width) in shapes.items():
        if image not in known:
            problems.append(no_photograph(image, os.fspath(folder)))
            continue
        try:
            pixels = read_photograph(known[image])
        except DataError as error:
            problems.append(error.failure.sentence)
            continue
        if image in planes:
            if pixels.shape != planes[image].shape:
                problems.append(
                    Message("other-shape", "{image}: the photograph is a volume of another shape", image=image)
                )
                continue
            pixels = planes[image].cut(pixels)
        picture = Image.fromarray(pixels)
        if abs(picture.width * height / (picture.height * width) - 1) > _STRETCHED:
            problems.append(
                Message(
                    "other-shape",
                    "{image}: the photograph has {size} pixels, which is no enlarged {expected}",
                    image=image,
                    size=f"{picture.width} x {picture.height}",
                    expected=f"{width} x {height}",
                )
            )
            continue
        photos[image] = np.asarray(picture if picture.size == (width, height) else picture.resize((width, height)))
    return photos


def _views(shapes: Mapping[str, tuple[int, ...]], crops: Sequence[str]) -> tuple[View, ...]:
    """Return each image, and behind it the boxes that are shown larger."""
    boxes: dict[str, list[Box]] = {image: [] for image in shapes}
    for typed in crops:
        image, box = _crop(typed, shapes)
        boxes[image].append(box)
    views = []
    for image, (height, width) in shapes.items():
        views.append(View(image, (height, width), boxes=tuple(boxes[image])))
        for number_of_box, box in enumerate(boxes[image]):
            views.append(View(image, (box[3], box[2]), box=box, box_number=number_of_box))
    return tuple(views)


def _crop(typed: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[str, Box]:
    """Read ``NAME:x,y,w,h``, a box inside an image that is shown."""
    match = _CROP.fullmatch(typed)
    if match is None:
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value}; expected an image and a box in pixels: NAME:x,y,width,height",
                argument=Setting("crop", None),
                value=repr(typed),
            )
        )
    image, (left, top, width, height) = match[1], map(int, match.groups()[1:])
    if image not in shapes:
        raise ArgumentError(
            Message(
                "no-such-image",
                "{setting}: the figure shows no image of this name, but {images}",
                setting=Setting("crop", typed),
                images=list(shapes),
            )
        )
    down, across = shapes[image]
    if not (width and height and left + width <= across and top + height <= down):
        raise ArgumentError(
            Message(
                "outside-image",
                "{setting}: the box does not lie in the image, which has {across} x {down} pixels",
                setting=Setting("crop", typed),
                across=across,
                down=down,
            )
        )
    return image, (left, top, width, height)


def _counted(results: Sequence[Result], images: int, settings: FigureSettings) -> str:
    """Say what is drawn of how many images."""
    drawn = {"errors": "errors", "contours": "contours", "labels": "predictions"}[settings.style]
    total = max(len(result.counts) for result in results)
    return f"Shown: {drawn} of {many(len(results), 'method')} on {images} of {many(total, 'image')}."


def _caption(
    results: Sequence[Result],
    methods: Sequence[str],
    settings: FigureSettings,
    cuts: Sequence[float],
    value_name: str,
) -> list[str]:
    """Say what a caption has to of the numbers: metric, thresholds, trainings and signatures."""
    at_their_best = images_at_their_best(results[0].metrics) and settings.metric is None
    lines = [f"Number in the corner: {value_name} of the image{' at the threshold drawn' if at_their_best else ''}."]
    threshold = best_threshold(results[0].metrics)
    if threshold is not None and settings.threshold is not None:
        lines.append(f"Threshold: {settings.threshold:g}.")
    elif threshold is not None:
        thresholds = ", ".join(f"{name} {numeral(cut, usual=3)}" for name, cut in zip(methods, cuts, strict=True))
        lines.append(f"Threshold of each method, its best over all images: {thresholds}.")
    if any(result.averages_runs for result in results):
        lines.append("Pictures are those of the first training of a method.")
    signatures = grouped((result.signature, name) for name, result in zip(methods, results, strict=True))
    return lines + [f"Signature of {', '.join(names)}: {signature}" for signature, names in signatures.items()]
