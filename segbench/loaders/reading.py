"""The files of an image to a `Sample`: ways of reading them, and repairs, which are made only on request.

A protocol names one way as its `reads`, or one with other settings, as in ``replace(MASKS, without_field="...")``, or
one of its own, which derives from `Reading`. Begin with `decode_sample`. Predictions are scaled first, as stored; then
sizes are changed, by the conventions of docs/repairs.md. A map that needs no repair is left as it is, to the bit. What
decodes files is imported when the first one is read.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, cast, get_args

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message, Note, Setting, as_note
from segbench.core.sample import SIDES, Form, Maps, NoData, OnTop, Rasterise, Reading, Sample, Side
from segbench.core.settings import as_real, check_choice
from segbench.loaders.decoded import Decoded, Header, Role
from segbench.loaders.sizes import (
    HINT,
    RESIZE,
    SizeError,
    bilinear,
    croppable,
    fixable,
    misfit,
    nearest,
    other_size,
    require_doubled_size,
)
from segbench.loaders.source import OF_VOLUMES, Source, extension_of, read_bytes, shown
from segbench.loaders.volume_pairs import ON_PIXELS, one_grid, refuse_field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.loaders.listing import SampleFiles

    Named: TypeAlias = Sequence[tuple[str, NDArray[Any]]]

Resize: TypeAlias = Literal["nearest", "bilinear"]
NoDataRule: TypeAlias = Literal["lowest", "exclude"]
GeometryRule: TypeAlias = Literal["header", "shape"]
_Named: TypeAlias = Literal["minmax", "sigmoid"]
Scale: TypeAlias = float | _Named
_PER_IMAGE = " per image"

KINDS_OF_CHANGES = {
    "resize": frozenset({"resized"}),
    "crop": frozenset({"cropped"}),
    "nodata": frozenset({"no-data-left-out", "no-data-lowest"}),
}
"""The kinds of notes that say that a repair changed an image."""

_ALL = 1 << 8
"""All labels that palettes can have."""
_LISTED_ONE_BY_ONE = 4
_WHOLE_IMAGES = "boundaries are counted over whole images, without a field of view"
_NO_VOLUMES = "{} in images of two dimensions"


@dataclass(frozen=True, kw_only=True)
class OneMap(Reading):
    """One map a file, for the ground truth of each annotator and for the prediction."""

    part: Literal["Boundaries", "Segmentation"] = "Boundaries"  # what is read of a groundTruth in a .mat file
    part_noted: bool = True  # whether a note says so
    truth_role: Role = "ground truth"
    role: Role = "prediction"
    form: Form = "soft"

    def truths(self, data: bytes, path: Source) -> Maps:
        """Decode one map per annotator in the file."""
        from segbench.loaders import matlab

        if str(path).lower().endswith(matlab.FORMAT.extensions):
            contents = matlab.read_mat(data, path)
            if "groundTruth" in contents:
                note = Note(Message("part-read", "{part} of groundTruth, one map per annotator", part=self.part))
                return Maps(matlab.annotators(contents, path, self.part), (note,) if self.part_noted else ())
            if maps := self.other_truths(contents, path):
                return maps
        return self._one(self._decoded(data, path, self.truth_role), "map")

    def _decoded(self, data: bytes, path: Source, role: Role) -> Decoded:
        """Decode a file."""
        from segbench.loaders.images import decode

        try:
            return decode(data, path, role=role, as_volume=self.as_volumes)
        except DataError as error:
            if not self.without_volumes or all(setting.name != "volumes" for setting in error.settings):
                raise
            raise type(error)(error.path, error.what, "save one map per file") from None

    def _one(self, decoded: Decoded, form: Form) -> Maps:
        """Return the only map of a side."""
        return replace(_maps_of([decoded]), form=form)

    def other_truths(self, contents: dict[str, Any], path: Source) -> Maps | None:
        """Read further ground truths of a .mat file; None where it holds none."""
        del contents, path
        return None

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Decode the prediction; several files of one image are refused."""
        decoded = self._decoded(contents[files.prediction], files.prediction, self.role)
        if files.scales:
            problem = Message(
                "several-images", "{images} predictions of one image, expected one", images=1 + len(files.scales)
            )
            raise _beside(files, problem)
        return self._one(decoded, self.form)

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse to leave pixels out where whole images are compared."""
        if repairs.nodata == "exclude" and self.without_field:
            raise ArgumentError(
                Message(
                    "unfit-repairs",
                    "{given} leaves pixels out, but {reason}; take {lowest}",
                    given=Setting("nodata", "exclude", of="Repairs"),
                    reason=self.without_field,
                    lowest=Setting("nodata", "lowest", of="Repairs"),
                )
            )


@dataclass(frozen=True, kw_only=True)
class ContourFiles(OneMap):
    """A map, a ``ucm2`` of double size, or label maps: in one file (``segs``), or one file for each scale."""

    annotators: bool = True
    scale_role: Role = "ground truth"

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Decode the map, the ``ucm2`` or the label maps."""
        role = self.scale_role if files.scales else self.role
        first = self._first(contents[files.prediction], files.prediction, role)
        if not files.scales:
            return first
        if first.form != self.form:
            raise _beside(files, Message("no-scale", "{form} beside other scales", form=first.form))
        other_scales = [self._decoded(contents[path], path, role) for path in files.scales]
        notes = _notes_on_maps([first.notes, *(scale.notes for scale in other_scales)], files.tags)
        lossy = first.lossy or _first_lossy(other_scales)
        return Maps((*first.maps, *(scale.array for scale in other_scales)), notes, "labels", lossy=lossy)

    def _first(self, data: bytes, path: Source, role: Role) -> Maps:
        from segbench.loaders import matlab

        if str(path).lower().endswith(matlab.FORMAT.extensions):
            contents = matlab.read_mat(data, path)
            if "ucm2" in contents:
                return Maps((matlab.ucm2(contents, path),), (), "ucm2")
            if "segs" in contents:
                return Maps(matlab.segs(contents, path), (), "labels")
        return self._one(self._decoded(data, path, role), self.form)

    def shape_of(self, prediction: Header, truth: tuple[int, int]) -> tuple[int, int]:
        """Return the size that a prediction must have, by its header: a ``ucm2`` that of its double grid."""
        return (2 * truth[0] + 1, 2 * truth[1] + 1) if prediction.doubled else truth


@dataclass(frozen=True, kw_only=True)
class BoundaryFiles(ContourFiles):
    """Boundary maps, perhaps of categories."""

    def other_truths(self, contents: dict[str, Any], path: Source) -> Maps | None:
        """Read the boundaries of each category."""
        from segbench.loaders import matlab

        return Maps(matlab.categories(contents, path), (), "categories") if "GTcls" in contents else None


@dataclass(frozen=True, kw_only=True)
class AnnotatorFiles(OneMap):
    """Boundary maps of annotators, without a prediction."""

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Return no map."""
        del files, contents
        return Maps(())

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse any."""
        if repairs.of_maps:
            raise ArgumentError(
                Message("unfit-repairs", "repairs are for predictions, and annotators are compared without one")
            )


@dataclass(frozen=True, kw_only=True)
class RegionFiles(ContourFiles):
    """Label maps of regions."""

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse those that would mix labels."""
        _refuse_for_labels(repairs)


@dataclass(frozen=True, kw_only=True)
class LabelMapFiles(OneMap):
    """Label maps, or stacks of a score per class."""

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Decode the label map, of several scales one each, or the stack."""
        path, data = files.prediction, contents[files.prediction]
        first = self._stack(data, path) if self.leaves_axes_open(path) else self._decoded(data, path, self.role)
        decoded = [first, *(self._decoded(contents[path], path, self.role) for path in files.scales)]
        maps = self._all(tuple(file.array for file in decoded), [file.notes for file in decoded], files.tags)
        return replace(_maps_of(decoded), notes=maps.notes, form=maps.form)

    def _stack(self, data: bytes, path: Source) -> Decoded:
        """Decode an array that may have an axis of classes."""
        from segbench.loaders.images import decode_stack

        stack = decode_stack(data, path, role=self.role, as_volume=self.as_volumes)
        if not self.as_volumes:
            return Decoded(stack)
        from segbench.loaders.volumes import as_volume

        return Decoded(as_volume(stack, shown(path), self.role) if stack.ndim == 3 else stack, volume=True)

    def _all(self, maps: tuple[NDArray[Any], ...], notes: list[tuple[Note, ...]], tags: Sequence[str]) -> Maps:
        axes = 3 if self.as_volumes else 2
        form: Form = "stack" if any(array.ndim > axes for array in maps) else "labels" if len(maps) > 1 else "map"
        return Maps(maps, _notes_on_maps(notes, tags), form)

    def leaves_axes_open(self, path: Source) -> bool:
        """Return whether only the protocol can tell the axes of a prediction: those of a stack of classes."""
        from segbench.loaders.images import STACKS

        return path.suffix.lower() in STACKS

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse a scale, and what would mix labels."""
        if repairs.scale is not None:
            raise ArgumentError(
                Message("unfit-repairs", "label maps have no scale; leave out {scale}", scale=Setting("scale", None))
            )
        _refuse_for_labels(repairs)


def _maps_of(decoded: Sequence[Decoded]) -> Maps:
    """Return what files have in common with maps, and of the geometry that of the first."""
    return Maps(
        tuple(file.array for file in decoded),
        decoded[0].notes,
        lossy=_first_lossy(decoded),
        nodata=_nodata_of(decoded),
        volume=any(file.volume for file in decoded),
        geometry=decoded[0].geometry,
    )


def _nodata_of(decoded: Sequence[Decoded]) -> tuple[NoData | None, ...]:
    """Return where each map has no data; nothing if all maps have some everywhere."""
    nodata = tuple(file.nodata for file in decoded)
    return nodata if any(nodata) else ()


@dataclass(frozen=True, kw_only=True)
class ClassMaps(LabelMapFiles):
    """A label map, and a soft map per class: in a stack, or one file each."""

    def _all(self, maps: tuple[NDArray[Any], ...], notes: list[tuple[Note, ...]], tags: Sequence[str]) -> Maps:
        from segbench.core.levels import note_on_levels

        noted = [
            (*on_map, *note_on_levels(array.dtype, scalable=False)) for on_map, array in zip(notes, maps, strict=True)
        ]
        return Maps(maps, _notes_on_maps(noted, tags), "stack")

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse any but what to do where there are no data, and how instances are drawn."""
        if repairs.of_maps - {"nodata", "on_top", "min_score"}:
            raise ArgumentError(
                Message("unfit-repairs", "repairs are for one soft map per image, not for the maps of several classes")
            )


MASKS = OneMap(name="masks", same_labels=_ALL, soft=True, instances="classes")
BOUNDARIES = BoundaryFiles(
    name="boundaries",
    part_noted=False,
    without_field=_WHOLE_IMAGES,
    without_volumes=_NO_VOLUMES.format("boundaries are matched"),
    soft=True,
)
ANNOTATORS = AnnotatorFiles(
    name="annotators",
    alone=True,
    part_noted=False,
    without_field=_WHOLE_IMAGES,
    without_volumes=BOUNDARIES.without_volumes,
)
REGIONS = RegionFiles(
    name="regions",
    instances="regions",
    levels=False,
    without_negatives="regions",
    without_volumes=_NO_VOLUMES.format("regions are compared"),
    part="Segmentation",
    part_noted=False,
    truth_role="label map",
    role="predicted label map",
    scale_role="predicted label map",
    form="map",
    numbered=SIDES,
)
LABEL_MAPS = LabelMapFiles(
    name="labels",
    instances="classes",
    same_labels=_ALL,
    levels=False,
    without_negatives="labels",
    part="Segmentation",
    truth_role="label map",
    role="predicted label map",
)
COLOUR_MAPS = replace(LABEL_MAPS, truth_role="colour map", role="predicted colour map")
CLASS_MAPS = ClassMaps(
    name="classes",
    instances="classes",
    same_labels=_ALL,
    without_negatives="labels",
    part="Segmentation",
    numbered=("ground truth",),
)


def _first_lossy(decoded: Iterable[Decoded]) -> str:
    """Name the lossy compression of the first file that has one."""
    return next((file.lossy for file in decoded if file.lossy), "")


def _decode(data: bytes, path: Source, role: Role) -> Decoded:
    from segbench.loaders.images import decode

    return decode(data, path, role=role)


def _beside(files: SampleFiles, problem: Message) -> DataError:
    """Say that a prediction has files beside it that have no meaning."""
    hint = Message(
        "fix",
        "only label maps can have one file per scale; correct {pattern} or the list",
        pattern=Setting("pred_pattern"),
    )
    return DataError(shown(files.prediction), problem, hint)


def _refuse_for_labels(repairs: Repairs) -> None:
    if repairs.nodata is not None:
        raise ArgumentError(
            Message(
                "unfit-repairs",
                "{given} is for scores; predicted labels where there are no data count as wrong",
                given=Setting("nodata", repairs.nodata, of="Repairs"),
            )
        )
    if repairs.resize == "bilinear" or isinstance(repairs.scale, str):
        raise ArgumentError(
            Message(
                "unfit-repairs",
                "{repair} is for soft maps; label maps are resized 'nearest', and a ucm2 is scaled by a number",
                repair=repairs.scale or repairs.resize,
            )
        )


def _notes_on_maps(notes: Sequence[tuple[Note, ...]], tags: Sequence[str]) -> tuple[Note, ...]:
    """Say of each note which maps it is on, unless it is on all."""
    if len(notes) > 1:
        notes = [tuple(note.of_set for note in on_map) for on_map in notes]
    names = tags or [f"map {number}" for number in range(1, len(notes) + 1)]
    on = {
        note: [n for n, on_map in zip(names, notes, strict=True) if note in on_map]
        for map_notes in notes
        for note in map_notes
    }
    return tuple(note if len(map_names) == len(notes) else _in_some(note, map_names) for note, map_names in on.items())


def _in_some(note: Note, maps: Sequence[str]) -> Note:
    """Return a note that says which maps it is on."""
    many = len(maps) > _LISTED_ONE_BY_ONE
    listed = (f"{len(maps)} maps",) if many else tuple(map(shown, maps))
    return replace(note, message=note.message.extended(", in {maps}", maps=listed))


@dataclass(frozen=True, repr=False)
class RawFiles:
    """The files of one image with their bytes, not decoded."""

    files: SampleFiles
    contents: Mapping[Source, bytes]

    def digests(self) -> tuple[str, str]:
        """Compute one digest for the ground truth and field of view of an image, and one for all its files."""
        files = self.files
        digest = {source: _digest(data) for source, data in self.contents.items()}
        field = None if files.field is None else digest[files.field]
        ground_truth = _joint(*map(digest.__getitem__, files.ground_truths), field)
        return ground_truth, _joint(ground_truth, *map(digest.__getitem__, (files.prediction, *files.scales)))


def read(files: SampleFiles) -> RawFiles:
    """Read every file of an image once."""
    return RawFiles(files, contents_of(files.sources))


def contents_of(sources: Iterable[Source]) -> dict[Source, bytes]:
    """Read whole files, those of volumes with their data where these lie in another one."""
    return {
        source: _read_volume(source) if extension_of(source.name) in OF_VOLUMES else read_bytes(source)
        for source in sources
    }


def _read_volume(source: Source) -> bytes:
    from segbench.loaders.detached import read_volume

    return read_volume(source)


def decode_sample(raw: RawFiles, reads: Reading, repairs: Repairs | None = None) -> Sample:
    """Decode what `read` gave, and make the requested repairs."""
    from segbench.core.levels import note_on_levels

    repairs = repairs or Repairs()
    reads = replace(reads, as_volumes=True) if repairs.volumes else reads
    files, contents = raw.files, raw.contents
    truth_files, prediction_file = tuple(map(shown, files.ground_truths)), shown(files.prediction)
    drawn = _truths(files, contents, reads, repairs)
    drawn_by_file = list(zip(truth_files, drawn, strict=False))  # several files may hold an object each
    truths = [(file, array) for file, maps in drawn_by_file for array in maps.maps]
    about = next((maps.about for maps in drawn if maps.about is not None), None)
    truth_nodata = dict.fromkeys(hole.value for maps in drawn for hole in maps.nodata if hole)
    notes = _on_side("ground truth", chain.from_iterable(maps.notes for maps in drawn))
    reads = replace(reads, as_volumes=True) if any(maps.volume for maps in drawn) else reads
    on_grid = any(maps.volume or maps.geometry for maps in drawn)
    predicted = _prediction(files, contents, reads, repairs, drawn)
    grid = ON_PIXELS
    if on_grid or predicted.volume or predicted.geometry:
        grid = one_grid(drawn_by_file, (prediction_file, predicted), reads, repairs)
    if grid.volume and files.field is not None:
        refuse_field(shown(files.field))
    notes |= dict.fromkeys(grid.notes)
    predictions, prediction_notes, form = predicted.maps, predicted.notes, predicted.form
    if form == "soft" and reads.levels and repairs.scale is None:
        prediction_notes += note_on_levels(predictions[0].dtype)
    notes |= _on_side("prediction", prediction_notes)
    lossy = next((maps.lossy for maps in drawn if maps.lossy), ""), predicted.lossy
    numbered = SIDES if form == "labels" else reads.numbered
    notes |= dict.fromkeys(_notes_on_loss(numbered, lossy))
    if not truths:
        truths.append(blank_truth(files, predictions[0].shape, repairs))
    sizes = [(name, array.shape) for name, array in truths]
    field = None
    if files.field is not None:
        mask = _decode(contents[files.field], files.field, "field")
        notes |= _on_side("field", mask.notes)
        field = _inside(mask.array, shown(files.field))
        sizes.append((shown(files.field), field.shape))
    require_same_size(sizes)
    if form == "ucm2":
        require_doubled_size((prediction_file, predictions[0].shape), sizes[0])
    prediction_files = (prediction_file, *map(shown, files.scales)) if files.scales else repeat(prediction_file)
    named_predictions = list(zip(prediction_files, predictions))  # noqa: B905  segs share a file
    fitted = ImageMaps(truths, named_predictions, form, field, nodata=predicted.nodata)
    if reads.levels and form in ("soft", "stack"):
        fitted = without_values_of_nodata(fitted)
    if form == "stack":
        # The axes of a stack are identified by the protocol, which knows how many classes there are.
        axes = len(sizes[0][1])
        require_same_size([*sizes, *((name, array.shape) for name, array in named_predictions if array.ndim == axes)])
    else:
        fitted = repaired(fitted, repairs)
    return Sample(
        files.name,
        tuple(array for _, array in fitted.truths),
        tuple(array for _, array in fitted.predictions),
        fitted.field,
        (*notes, *fitted.notes),
        tuple(name for name, _ in truths),
        prediction_file,
        labels_predicted=form == "labels",
        categories_drawn=any(maps.form == "categories" for maps in drawn),
        without_truth=not files.ground_truths,
        about=(about, predicted.about),
        lossy=lossy,
        numbered=numbered,
        truth_nodata=tuple(truth_nodata),
        nodata=fitted.nodata,
        spacing=grid.spacing,
        volume=grid.volume,
        affine=grid.affine,
    )


def _truths(files: SampleFiles, contents: Mapping[Source, bytes], reads: Reading, repairs: Repairs) -> list[Maps]:
    """Read the ground truth of each annotator; instances become what the way of reading makes of them."""
    from segbench.loaders.instance_reading import as_map, instances_in

    paths = files.ground_truths
    instances = instances_in(paths, contents, reads, "ground truth", repairs.rasterise)
    if instances is None:
        return [reads.truths(contents[path], path) for path in paths]
    if reads.instances == "kept":
        return [instances]
    return [as_map(instances, reads, "ground truth", paths[0], on_top=repairs.on_top)]


def _prediction(
    files: SampleFiles, contents: Mapping[Source, bytes], reads: Reading, repairs: Repairs, truths: Sequence[Maps]
) -> Maps:
    """Read the prediction in the same way; without an instance it has the size of the ground truth."""
    import numpy as np

    from segbench.loaders.instance_reading import as_map, instances_in

    instances = instances_in((files.prediction, *files.scales), contents, reads, "prediction", repairs.rasterise)
    if instances is None:
        return reads.predictions(files, contents)
    if reads.instances == "kept":
        return instances
    if not instances.maps:
        return Maps((np.zeros_like(truths[0].maps[0], np.uint16),)) if truths else instances
    return as_map(instances, reads, "prediction", files.prediction, on_top=repairs.on_top, min_score=repairs.min_score)


def how_to_save_labels(lossy: str) -> str:
    """Say how to save label maps instead of with a lossy compression."""
    return f"{lossy} changes labels: save label maps as PNG where they are made; converted files keep the damage"


def _on_side(side: Side | Literal["field"], notes: Iterable[Note]) -> dict[Note, None]:
    """Return notes as those on a side of an image."""
    return {replace(as_note(note), side=side): None for note in notes}


def _notes_on_loss(numbered: Sequence[Side], lossy: tuple[str, str]) -> Iterator[Note]:
    """Say which sides of an image hold labels, and were stored with loss."""
    for side, compression in zip(SIDES, lossy, strict=True):
        if compression and side in numbered:
            fix = how_to_save_labels(compression)
            yield Note(Message("stored-with-loss", "stored with loss; {fix}", fix=fix, compression=compression), side)


def _inside(mask: NDArray[Any], file: str) -> NDArray[np.bool_]:
    """Mark the field of view by a mask of 0 and one other value; a mask of one value is all inside, or all outside."""
    import numpy as np

    from segbench.core.arrays import distinct

    values = distinct(mask)
    if np.count_nonzero(values) > 1:
        problem = Message(
            "several-values",
            "holds {count} distinct values, from {lowest:g} to {highest:g}, "
            "expected a field of view of 0 and one other value",
            count=values.size,
            lowest=values[0],
            highest=values[-1],
        )
        raise DataError(file, problem, "save it without loss (PNG) as 0, outside, and 255, inside")
    return mask != 0


def decode_truth(files: SampleFiles) -> NDArray[Any] | None:
    """Decode the first ground truth of an image by itself; None where there is none."""
    if not files.ground_truths:
        return None
    path = files.ground_truths[0]
    return CLASS_MAPS.truths(contents_of([path])[path], path).maps[0]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _joint(*digests: str | None) -> str:
    return _digest(",".join(map(str, digests)).encode())


@dataclass(frozen=True, kw_only=True)
class Repairs:
    """Resizing, cropping and scaling of predictions, and what to do where they have no data; none by default.

    Each repair is part of the signature, and a note of the result says in how many images it changed anything.

    Parameters
    ----------
    resize : {"nearest", "bilinear"}, optional
        Bring predictions of another size to the ground truth's; pixel centres aligned, nothing smoothed before.
        ``"nearest"`` takes values as stored; ``"bilinear"`` interpolates scores, so that levels become floats, and is
        for soft maps alone. A transposed map and a ``ucm2`` are refused.
    crop : bool
        Cut prediction and ground truth at the lower right to the size that they have in common, at most a tenth of a
        height or width, or 2 pixels. Not together with `resize`.
    scale : float, {"minmax", "sigmoid"}, optional
        How stored values become scores, of any type but bool, which stays 0 or 1. A number divides them: 255 for floats
        from 0 to 255. ``"sigmoid"`` is for logits. ``"minmax"`` stretches each image to its own minimum and maximum, as
        PySODMetrics does: scores of different images then no longer compare, and pooled metrics change.
    nodata : {"lowest", "exclude"}, optional
        Where a GeoTIFF of scores declares that it has no data (``GDAL_NODATA``): give these pixels the lowest score of
        all, so that they are predicted last, or leave them out of prediction and ground truth, so that positives among
        them are lost to every metric; a note says how many. None: scores without data are refused.

    on_top : {"first", "last", "largest", "smallest", "score"}, optional
        Where instances that files list overlap: which one a map shows, by the order of the file, by size, or that of
        the highest score. None: instances of different values that overlap are refused.
    min_score : float, optional
        Draw detections of at least this score in maps. None: all, and a note says so.
    rasterise : {"labelme", "coco"}
        How shapes of LabelMe are drawn: with their outline, as LabelMe does, or as pycocotools draws the polygons that
        labelme2coco makes of them, which are smaller. Files of other formats do not change.
    geometry : {"header", "shape"}
        Whether the voxels of volumes have to lie at the same positions by the headers of both files, where both tell,
        or only arrays have to have the same shape; a note says which images lie elsewhere. Nothing is resampled.
    volumes : bool
        Whether arrays of three axes in NPY and NPZ files, and TIFF files of several pages, are volumes. They are beside
        a ground truth whose header says that it is one.

    Raises
    ------
    ArgumentError
        If a repair is none of these, or `resize` and `crop` are both given.

    Examples
    --------
    >>> Repairs(resize="bilinear", scale=255).signature_fields()
    {'resize': 'bilinear', 'scale': '255'}
    """

    may_differ: ClassVar[frozenset[str]] = frozenset(
        {"resize", "scale", "geometry"}
    )  # others change the ground truth, too

    resize: Resize | None = None
    crop: bool = False
    scale: Scale | None = None
    nodata: NoDataRule | None = None
    on_top: OnTop | None = None
    min_score: float | None = None
    rasterise: Rasterise = "labelme"
    geometry: GeometryRule = "header"
    volumes: bool = False

    def __post_init__(self) -> None:
        if self.resize is not None:
            as_resize(self.resize)
            if self.crop:
                raise ArgumentError(
                    Message(
                        "exclusive-settings",
                        "{resize} and {crop} exclude each other; give one",
                        resize=Either(Setting("resize"), "--resize-predictions"),
                        crop=Setting("crop", True),
                    )
                )
        if self.scale is not None:
            object.__setattr__(self, "scale", as_scale(self.scale))
        if self.nodata is not None:
            check_choice(self.nodata, Setting("nodata", None), get_args(NoDataRule))
        if self.on_top is not None:
            check_choice(self.on_top, Setting("on_top", None), get_args(OnTop))
        if self.min_score is not None:
            least = as_real(self.min_score, Setting("min_score", None), "a score", least=-math.inf, most=math.inf)
            object.__setattr__(self, "min_score", least)
        check_choice(self.rasterise, Setting("rasterise", None), get_args(Rasterise))
        check_choice(self.geometry, Setting("geometry", None), get_args(GeometryRule))

    @property
    def of_maps(self) -> frozenset[str]:
        """The repairs that are made to maps; how files are read and volumes compared is none."""
        return frozenset(self.signature_fields()) - {"rasterise", "geometry", "volumes"}

    def signature_fields(self) -> dict[str, str]:
        """Name the requested repairs; nothing where there are none."""
        fields = {"resize": self.resize, "crop": "lower right" if self.crop else None, "nodata": self.nodata}
        fields["on_top"] = self.on_top
        fields["min_score"] = None if self.min_score is None else f"{self.min_score}"
        if self.scale is not None:
            fields["scale"] = f"minmax{_PER_IMAGE}" if self.scale == "minmax" else f"{self.scale}".removesuffix(".0")
        fields["rasterise"] = self.rasterise if self.rasterise != "labelme" else None
        fields["geometry"] = self.geometry if self.geometry != "header" else None
        fields["volumes"] = "yes" if self.volumes else None
        return {name: text for name, text in fields.items() if text is not None}

    @classmethod
    def from_fields(cls, settings: Mapping[str, str]) -> Self:
        """Read what `signature_fields` wrote, among the other settings of a run."""
        resize, scale = settings.get("resize"), settings.get("scale")
        return cls(
            resize=None if resize is None else as_resize(resize),
            crop="crop" in settings,
            scale=None if scale is None else as_scale(scale.removesuffix(_PER_IMAGE)),
            nodata=cast("NoDataRule | None", settings.get("nodata")),
            on_top=cast("OnTop | None", settings.get("on_top")),
            min_score=float(settings["min_score"]) if "min_score" in settings else None,
            rasterise=cast("Rasterise", settings.get("rasterise", "labelme")),
            geometry=cast("GeometryRule", settings.get("geometry", "header")),
            volumes="volumes" in settings,
        )


def as_repairs(repairs: object, reads: Reading) -> Repairs:
    """Read the repairs of a run, and refuse those that have no meaning for what its protocol reads."""
    if not isinstance(repairs, Repairs):
        raise ArgumentError(
            Message(
                "wrong-value",
                "{argument} is {value}, expected settings such as Repairs(resize='nearest')",
                argument="repairs",
                value=repr(repairs),
            )
        )
    reads.check_repairs(repairs)
    of_volumes = [Setting("volumes", True)] if repairs.volumes else []
    of_volumes += [Setting("geometry", repairs.geometry)] if repairs.geometry != "header" else []
    if of_volumes and reads.without_volumes:
        raise ArgumentError(
            Message(
                "unfit-repairs",
                "{given} is for volumes, and {reason}; leave it out",
                given=of_volumes[0],
                reason=reads.without_volumes,
            )
        )
    return repairs


def as_resize(text: str) -> Resize:
    """Read a way of resizing."""
    if text not in get_args(Resize):
        setting = Either(Setting("resize", text), f"--resize-predictions {text!r}")
        raise ArgumentError(
            Message("wrong-value", "{given} is not a resizing method; choose nearest or bilinear", given=setting)
        )
    return cast("Resize", text)


@dataclass(frozen=True, eq=False)
class ImageMaps:
    """The maps of one image with their files on the way to the protocols; `form` and `nodata` are the predictions'."""

    truths: Named
    predictions: Named
    form: Form
    field: NDArray[np.bool_] | None = None
    notes: tuple[Note, ...] = ()
    nodata: tuple[NoData | None, ...] = ()


def without_values_of_nodata(maps: ImageMaps) -> ImageMaps:
    """Write the lowest other score where scores have no data, so that no repair meets a value that is no score.

    Zeros stay: they are a score, too.
    """
    import numpy as np

    predictions = []
    for (name, array), hole in zip(maps.predictions, maps.nodata, strict=bool(maps.nodata)):
        if hole is not None and hole.value != 0:
            others = array[~hole.pixels]
            array = np.where(hole.pixels, others.min() if others.size else array.dtype.type(0), array)  # noqa: PLW2901
        predictions.append((name, array))
    return replace(maps, predictions=predictions) if maps.nodata else maps


def repaired(maps: ImageMaps, repairs: Repairs) -> ImageMaps:
    """Make the requested repairs, and require that predictions, but for a ``ucm2``, have the ground truth's size."""
    if not maps.predictions:
        return maps
    if repairs.scale is not None:
        maps = _scaled(maps, repairs.scale)
    if maps.form == "ucm2":
        return maps
    if repairs.crop:
        return _cropped(maps)
    return _resized(maps, repairs.resize)


def blank_truth(files: SampleFiles, shape: tuple[int, ...], repairs: Repairs) -> tuple[str, NDArray[Any]]:
    """Return the ground truth of an image that has none, in the size of the image, with the file that shows it."""
    import numpy as np

    from segbench.loaders.images import read_header

    name, sized_as = shown(files.prediction), files.sized_as
    known = read_header(sized_as, "ground truth").shape if sized_as else None
    if known is None and (repairs.resize or repairs.crop):
        problem = Message(
            "unknown-size",
            "has no ground truth, and the others do not all have one size, so the size of this image is not known",
        )
        hint = Message(
            "fix",
            "save all predictions in the size of their images, and leave out {repairs}",
            repairs=Either("repairs.resize and repairs.crop", "--resize-predictions and --crop"),
        )
        raise DataError(name, problem, hint)
    return (name, np.zeros(shape, np.uint8)) if known is None else (shown(sized_as), np.zeros(known, np.uint8))


def idle(settings: Mapping[str, str], notes: Iterable[Note]) -> tuple[Note, ...]:
    """Name the changes of sizes in a run's settings that changed no image."""
    kinds = {note.kind for note in notes}
    return tuple(
        Note(
            Message(
                "idle-repair",
                "{repair} did not change any prediction: {why}",
                repair=name,
                why="none has a value that its file declares as no data"
                if name == "nodata"
                else "each already has the size of its ground truth",
            )
        )
        for name, changed in KINDS_OF_CHANGES.items()
        if name in settings and kinds.isdisjoint(changed)
    )


def _scaled(maps: ImageMaps, scale: Scale) -> ImageMaps:
    if maps.form not in ("soft", "ucm2"):
        problem = Message("scaled-labels", "label maps have no scale")
        raise DataError(
            maps.predictions[0][0], problem, Message("fix", "leave out {given}", given=Setting("scale", None))
        )
    if maps.form == "ucm2" and isinstance(scale, str):
        problem = Message("scaled-ucm2", "a ucm2 is 0 between contours, and {scale} would change that", scale=scale)
        raise DataError(maps.predictions[0][0], problem)
    ((name, stored),) = maps.predictions
    scores, notes = scaled(stored, scale, name)
    return replace(maps, predictions=[(name, scores)], notes=(*maps.notes, *notes))


def _resized(maps: ImageMaps, how: Resize | None) -> ImageMaps:
    shape = maps.truths[0][1].shape
    predictions, notes = [], dict.fromkeys(maps.notes)
    for name, array in maps.predictions:
        if array.shape == shape:
            predictions.append((name, array))
            continue
        if how is None or not fixable(array.shape, shape):
            raise misfit((name, array.shape), _of(maps.truths[0]), soft=maps.form == "soft")
        if how == "nearest":
            predictions.append((name, nearest(array, shape)))
        elif maps.form == "soft":
            require_finite(array, name, "which bilinear resizing would spread")
            predictions.append((name, bilinear(array, shape)))
        else:
            problem = Message("mixed-labels", "label maps, and bilinear would mix labels")
            raise DataError(name, problem, Message("fix", "take {resize}", resize=RESIZE))
        resized = Message("resized", "{side} resized, {how}", how=how)
        notes[Note(resized, "prediction", detail=_sizes(array.shape, shape))] = None
    nodata = tuple(hole and replace(hole, pixels=_touched(hole.pixels, shape, how)) for hole in maps.nodata)
    return replace(maps, predictions=predictions, notes=tuple(notes), nodata=nodata)


def _touched(pixels: NDArray[np.bool_], shape: tuple[int, ...], how: Resize | None) -> NDArray[np.bool_]:
    """Mark the pixels of a resized map that take anything from pixels that are marked."""
    if pixels.shape == shape:
        return pixels
    return bilinear(pixels, shape) > 0 if how == "bilinear" else nearest(pixels, shape)


def _cropped(maps: ImageMaps) -> ImageMaps:
    import numpy as np

    truth = maps.truths[0]
    common = tuple(map(min, *(array.shape for _, array in (truth, *maps.predictions))))
    notes = dict.fromkeys(maps.notes)
    sides: list[tuple[Side, tuple[str, NDArray[Any]]]] = [("prediction", named) for named in maps.predictions]
    for side, (name, array) in [*sides, ("ground truth", truth)]:
        if array.shape == common:
            continue
        if not (fixable(array.shape, truth[1].shape) and croppable(array.shape, common)):
            misfitting = (name, array)
            if side == "ground truth":
                misfitting = min(maps.predictions, key=lambda named: named[1].size)
            uncut = fixable(misfitting[1].shape, truth[1].shape)
            refused = "; cropping cuts at most a tenth, or 2 pixels" if uncut else ""
            raise misfit(_of(misfitting), _of(truth), soft=maps.form == "soft", refused=refused)
        cropped = Message("cropped", "{side} cropped at the lower right")
        notes[Note(cropped, side, detail=_sizes(array.shape, common))] = None
    window = tuple(slice(extent) for extent in common)
    return replace(
        maps,
        truths=[(name, np.ascontiguousarray(array[window])) for name, array in maps.truths],
        predictions=[(name, np.ascontiguousarray(array[window])) for name, array in maps.predictions],
        field=None if maps.field is None else np.ascontiguousarray(maps.field[window]),
        nodata=tuple(hole and replace(hole, pixels=hole.pixels[window]) for hole in maps.nodata),
        notes=tuple(notes),
    )


def _of(named: tuple[str, NDArray[Any]]) -> tuple[str, tuple[int, ...]]:
    return named[0], named[1].shape


def _sizes(shape: tuple[int, ...], changed: tuple[int, ...]) -> Message:
    return Message("sizes", "{size: x } to {changed: x }", size=shape, changed=changed)


def require_same_size(named: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    """Refuse maps of different sizes."""
    first, expected = named[0]
    for name, shape in named[1:]:
        if shape != expected:
            raise SizeError(name, other_size(shape, expected, first), HINT)


def as_scale(scale: float | str) -> Scale:
    """Read a scale: a number above 0, or the name of one."""
    import numpy as np

    if isinstance(scale, str) and scale in get_args(_Named):
        return cast("_Named", scale)
    try:
        number = math.nan if isinstance(scale, (bool, np.bool_)) else float(scale)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        value = f"{scale!r:.60}"
        raise ArgumentError(
            Message(
                "wrong-value",
                "{given} is not a scale; give a number above 0 (as 255), minmax or sigmoid",
                given=Either(f"scale={value}", f"--scale {value}"),
                argument="scale",
                value=value,
            )
        )
    return number


def scaled(stored: NDArray[Any], scale: Scale, name: str) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """Turn stored values into scores, in double precision."""
    import numpy as np

    kind = stored.dtype.kind
    if kind == "b":
        return stored, ()
    if scale == "sigmoid":
        from scipy.special import expit

        if kind != "f":
            problem = Message("not-floats", "{dtype} values, but logits are floats", dtype=stored.dtype.name)
            raise DataError(name, problem, "save them as floats")
        logits: NDArray[Any] = expit(stored.astype(np.float64))
        return logits, (Note(Message("sigmoid", "score = 1 / (1 + exp(-value))"), "prediction"),)
    if scale == "minmax":
        require_finite(stored, name, "so the map has no minimum and maximum")
        lowest, highest = float(stored.min()), float(stored.max())
        if lowest == highest:
            return stored, ()
        stretched = (stored.astype(np.float64) - lowest) / (highest - lowest)
        detail = Message("span", "{lowest:g} to {highest:g}", lowest=lowest, highest=highest)
        message = Message("stretched", "{side} stretched to its own minimum and maximum")
        return stretched, (Note(message, "prediction", detail=detail),)
    if scale == (1 if kind == "f" else np.iinfo(stored.dtype).max):
        return stored, ()
    message = Message("scaled", "score = value / {scale}", scale=scale)
    return stored.astype(np.float64) / scale, (Note(message, "prediction"),)


def require_finite(stored: NDArray[Any], name: str, why: str) -> None:
    """Refuse NaN and infinite values where they would touch others."""
    import numpy as np

    bad = stored.size - int(np.isfinite(stored).sum())
    if bad:
        problem = Message("not-finite", "{count} NaN and infinite scores, {why}", count=bad, why=why)
        raise DataError(name, problem, "write finite scores")
