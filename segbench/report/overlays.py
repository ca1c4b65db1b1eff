"""Pictures of true, false and missed pixels: one PNG per image."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.rereading import CHOOSE_OTHERS, best_cut, files_of, full_protocol, pictured, reread
from segbench.aggregator.result import Result, as_results
from segbench.aggregator.writing import refuse_foreign, refuse_inputs, signed_png, write_file
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message, Setting
from segbench.core.metric import best_threshold
from segbench.core.numbers import number
from segbench.core.protocol import Protocol, states_called
from segbench.core.sample import Sample
from segbench.core.settings import as_real
from segbench.loaders.listing import SampleFiles
from segbench.loaders.source import shown
from segbench.protocols.states import State
from segbench.report.bsds import file_names
from segbench.report.grounds import NAMED, PALETTE, class_palette, hatched, hatched_labels
from segbench.report.slices import slices_of_errors

if TYPE_CHECKING:
    from PIL import Image

_GAP = 8  # between pictures that are side by side
_LETTERS = 13
_LEAST_SIDE = 256  # of pictures of volumes
_GROUND = "#e8e8e8"
_HINT = "give another folder"


def legend(protocol: Protocol) -> str:
    """Say in one line what the colours of a protocol's pictures mean."""
    return ", ".join(f"{NAMED[State(state)][1]}: {words}" for state, words in states_called(protocol).items())


def export_overlays(
    results: Result | Sequence[Result],
    folder: str | PathLike[str],
    *,
    threshold: float | None = None,
    names: Sequence[str] = (),
    classes: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Message]:
    """Write one PNG per image and method that shows true, false and missed pixels at a threshold, or classes.

    Of label maps it shows the wrong pixels.

    Parameters
    ----------
    results : Result or sequence of Result
        Counted here, from files that still lie where they lay and have not changed.
    folder : path
        Made where there is none; a sub-folder per method holds a picture per image. Names that are no part of a path
        are written with ``%`` and two digits for a byte.
    threshold : float, optional
        The same for all; by default each method's best over all images (ODS; the best covering of regions).
    names : sequence of str, optional
        Only these images.
    classes : bool
        Of label maps: draw the classes of ground truth and prediction in their colours, and the errors, side by side,
        with the metric of the image.
    progress : callable, optional
        Called with the number of pictures done and of all.

    Returns
    -------
    list of Message
        What could not be drawn, and why; the others are written nevertheless. Empty where all pictures are written.

    Raises
    ------
    ArgumentError
        Without results, if a picture would overwrite a file that was counted or that segbench did not write, or no
        score of any method reaches `threshold`.
    DataError
        If there are no pictures of a result, as of one that others counted, it has no classes where these are to be
        drawn, no image that was counted, no best threshold or no image of a name, its folders are gone, or the folder
        cannot be written.

    Notes
    -----
    Blue is true, red false, orange missed, grey left out, sky blue a boundary pixel of the ground truth with
    another pixel as its partner. Pixels: as counted (of ``annotators="each"`` against the majority). Boundaries:
    matched with all annotators together. Regions: those of the first annotator; see
    `segbench.protocols.regions.counting.region_states`. PNGs hold the `State` as palette index; those of classes
    are in colour: labels outside the classes are white, void is hatched. Contours: steps of distance, from sky blue
    over olive and magenta to red; true contours are blue and orange.

    Of a volume a picture shows four slices, see `segbench.report.slices.slices_of_errors`, in colour and with square
    pixels: the axial, coronal and sagittal slice through the largest error, and the axial slice with most errors.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from segbench import evaluate
    >>> demo = "datasets/demo/objects"
    >>> result = evaluate(f"{demo}/ground_truth", f"{demo}/predictions/soft_otsu", images=["coins"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_overlays(result, folder), Path(folder, "soft_otsu", "coins.png").exists()
    ([], True)
    """
    results = as_results(results)
    if not results:
        raise ArgumentError(Message("no-results", "no results to draw"))
    if Path(folder).is_file():
        problem = Message("not-a-folder", "is a file, expected a folder to write to")
        raise DataError(shown(folder), problem, "give another folder")
    if threshold is not None:
        threshold = as_real(threshold, Setting("threshold", None), "a number", least=-math.inf, most=math.inf)
        refuse_unreached(results, threshold)
    work: list[_Work] = []
    folder_names = file_names([result.label for result in results])
    for result, folder_name in zip(results, folder_names, strict=True):
        full_protocol(result)
        if classes and "class" not in result.axes:
            problem = Message(
                "no-parts",
                "is a result of {protocol} without classes, which cannot be drawn",
                protocol=result.protocol,
            )
            hint = Message(
                "leave-out",
                "leave out {given}, or {choose}",
                given=Setting("classes", True),
                choose=CHOOSE_OTHERS,
            )
            raise DataError(result.method, problem, hint)
        cut = best_cut(result) if threshold is None else threshold
        chosen, files = _chosen(result, names), files_of(result)
        for name, picture in zip(chosen, file_names(chosen), strict=True):
            target = Path(folder) / folder_name / f"{picture}.png"
            work.append(_Work(result, name, cut, files.get(name), target, classes=classes))
    sources = (source for task in work if task.files for source in task.files.sources)
    refuse_inputs((task.target for task in work), sources)
    refuse_foreign({task.target: None for task in work}, _HINT)
    problems: list[Message] = []
    for done, task in enumerate(work, 1):
        try:
            task.draw()
        except DataError as error:
            problems.append(f"{task.result.method}: " + error.failure.sentence)
        if progress:
            progress(done, len(work))
    return problems


def refuse_unreached(results: Sequence[Result], threshold: float) -> None:
    """Refuse a threshold above all scores, as a level of 8 bits is where scores are levels divided by 255."""
    at_a_threshold = [result for result in results if best_threshold(result.metrics) is not None]
    known = np.concatenate([np.zeros(0), *(result.curve.against_threshold()[0] for result in at_a_threshold)])
    known = known[np.isfinite(known)]
    if known.size and threshold > max(known.max(), 1):  # boundaries know scores at some thresholds only
        raise ArgumentError(
            Message(
                "above-all-scores",
                "threshold {threshold:g} is above all scores, which go from {least:g} to {most:g}; "
                "levels of 8 bits are divided by 255",
                threshold=threshold,
                least=known.min(),
                most=known.max(),
            )
        )


class _Work(NamedTuple):
    """One image of one method, to be drawn into `target`."""

    result: Result
    name: str
    threshold: float
    files: SampleFiles | None
    target: Path
    classes: bool

    def draw(self) -> None:
        """Write the picture, or raise a `DataError` that says why there is none."""
        from PIL import Image

        if not self.files:
            raise DataError(shown(self.name), Message("no-files", "its files no longer exist"))
        sample, result = reread(self.result, self.files), self.result
        shows, counts = pictured(result), result.counts[self.name]
        if not self.classes:
            outcomes = shows.states(sample, self.threshold, counts)
            if sample.volume:
                _save(_of_volume({"": (PALETTE, outcomes)}, outcomes, sample), self.target)
                return
            states = Image.fromarray(hatched(outcomes), "P")
            states.putpalette(PALETTE.tobytes())
            _save(states, self.target)
            return
        pictures = shows.pictures(sample, counts, np.array([self.threshold]))
        if pictures.classes is None:
            raise DataError(shown(self.name), Message("no-pictures", "there is no picture of its classes"))
        colours = class_palette(len(shows.classes_drawn))
        written = [f"{name} {number(float(values[0]))}" for name, values in pictures.metrics.items()]
        parts = {
            "ground truth": (colours, pictures.truth),
            "prediction": (colours, pictures.classes),
            ", ".join(["errors", *written]): (PALETTE, pictures.states[0]),
        }
        if sample.volume:
            picture = _of_volume(parts, pictures.states[0], sample)
        else:
            picture = _beside({caption: _coloured(*part) for caption, part in parts.items()})
        _save(picture, self.target, " | ".join(parts))


def _chosen(result: Result, names: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in result.counts]
    if unknown:
        problem = Message("no-such-image", "counted no image called {images}", images=list(map(repr, unknown)))
        names_in = Either("result.counts", "segbench show --per-image")
        raise DataError(result.method, problem, Message("names", "{where} lists the names", where=names_in))
    return list(names) or list(result.counts)


def _beside(parts: Mapping[str, NDArray[np.uint8]]) -> Image.Image:
    """Put pictures side by side, each below its caption; pixels stay as they are."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_LETTERS)
    height = max(len(part) for part in parts.values())
    above = 2 * _LETTERS
    widths = [max(part.shape[1], int(font.getlength(caption)) + 1) for caption, part in parts.items()]
    starts = np.cumsum([0, *(width + _GAP for width in widths)]).tolist()
    image = Image.new("RGB", (starts[-1] - _GAP, above + height), _GROUND)
    pen = ImageDraw.Draw(image)
    for left, (caption, part) in zip(starts, parts.items(), strict=False):
        pen.text((left, above // 2), caption, "black", font, anchor="lm")
        image.paste(Image.fromarray(part), (left, above))
    return image


def _coloured(colours: NDArray[np.uint8], numbers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Draw numbers in their colours, what is left out hatched."""
    return colours[hatched(numbers) if colours is PALETTE else hatched_labels(numbers, colours)]


def _of_volume(
    parts: Mapping[str, tuple[NDArray[np.uint8], NDArray[np.uint8]]], states: NDArray[np.uint8], sample: Sample
) -> Image.Image:
    """Draw the slices that show the errors of a volume: of one part side by side, of several one row a slice.

    A part is the colours and the numbers of the voxels. Small volumes are enlarged by a whole number.
    """
    from PIL import Image

    axial, *others, most_errors = slices_of_errors(states, sample.spacing, sample.affine)
    planes = {f"{plane.title}: largest error": plane for plane in (axial, *others)}
    planes[f"{most_errors.title}: most errors"] = most_errors
    rows: list[dict[str, NDArray[np.uint8]]] = []
    longest = max(max(plane.cut(states).shape) for plane in planes.values())
    enlarged = max(1, _LEAST_SIDE // longest)
    for title, plane in planes.items():
        row = {}
        for caption, (colours, numbers) in parts.items():
            cut = plane.cut(numbers).repeat(enlarged, axis=0).repeat(enlarged, axis=1)
            row[", ".join(filter(None, (caption, title)))] = _coloured(colours, cut)
        rows.append(row)
    if len(parts) == 1:
        return _beside({title: picture for row in rows for title, picture in row.items()})
    pictures = [_beside(row) for row in rows]
    size = max(picture.width for picture in pictures), sum(picture.height + _GAP for picture in pictures) - _GAP
    image, above = Image.new("RGB", size, _GROUND), 0
    for picture in pictures:
        image.paste(picture, (0, above))
        above += picture.height + _GAP
    return image


def _save(image: Image.Image, target: Path, description: str = "") -> None:
    png = signed_png(image, description, optimize=True)
    write_file(target, png, hint=_HINT, make_folder=True)
