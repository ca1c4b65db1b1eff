"""One image, decoded once and reduced to the few numbers that findings are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from segbench.checks.findings import About
from segbench.core.arrays import IntArray
from segbench.core.errors import DataError
from segbench.core.inputs import Facts, InputSettings, Interpreted, SoftMaps, inputs_of, soft_maps_of
from segbench.core.levels import as_shares
from segbench.core.messages import Either, Message, protocol_with
from segbench.core.notes import Note
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import SIDES, Sample, Side
from segbench.inputs.boundary_maps import BoundaryMaps
from segbench.inputs.label_inputs import LabelInputs, LeftOut
from segbench.inputs.label_lines import LabelLines, label_lines
from segbench.inputs.label_rules import HALOS, MANY_LEVELS, NEAR_AN_END, equals_any, share_between
from segbench.inputs.mask_pairs import MaskPair
from segbench.inputs.nodata import count_decoded, decode_for, interpret_decoded
from segbench.inputs.numbered_objects import NumberedObjects
from segbench.inputs.numberings import StoredLabels
from segbench.inputs.object_numbers import NumberedPair, OnBackground
from segbench.inputs.predicted_labels import SHORT_RUN, LabelsSeen, labels_seen, median_run, regions_in
from segbench.inputs.scored_classes import ScoredClasses
from segbench.inputs.sides import masks_of
from segbench.inputs.stacks import CLASSES, classes_of_maps
from segbench.loaders.arrays import TURNED_TO_GREY, StackError
from segbench.loaders.decoded import shown
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import decode_truth, read
from segbench.loaders.repairs import Repairs
from segbench.protocols.labels.counts import LabelCounts
from segbench.protocols.labels.settings import Labels

MOST_VALUES = MANY_LEVELS
"""How many distinct values are kept: enough to distinguish labels from grey levels."""
MOST_PIXELS = 1 << 16
"""How many pixels order scores by: an area under the ROC curve to about a hundredth."""
REACH = 2
"""How many pixels a predicted line may lie beside the drawn one."""
MANY_LABELS = 32
"""A soft map has more levels; a segmentation may have as many regions, so that runs decide, too."""


class Inspected(NamedTuple):
    """What decoding an image said, and its files."""

    notes: tuple[Note, ...] = ()
    files: Mapping[Side, str] = MappingProxyType({})
    lossy: Mapping[Side, str] = MappingProxyType({})  # the compression that changed values, empty of none
    lines: Mapping[Side, LabelLines] = MappingProxyType({})  # of the sides that hold label maps

    @classmethod
    def of(cls, sample: Sample) -> Inspected:
        """Give that of a sample."""
        files = (sample.truth_file, sample.predicted_file)
        lossy = dict(zip(SIDES, sample.lossy, strict=True))
        return cls(sample.notes, dict(zip(SIDES, files, strict=True)), lossy, label_lines(sample))


NOTHING_SAID = Inspected()


class UncountedError(DataError):
    """Files that can be read, but not counted with these settings, because of an error in the prediction or not."""

    def __init__(self, error: DataError, sample: Sample) -> None:
        super().__init__(error.path, error.what, error.hint)
        self.error = error
        self.side: About = "prediction" if error.path == sample.predicted_file else "ground truth"
        self.inputs = Inspected.of(sample)
        self.exchanged = looks_exchanged(sample)
        self.stored: Any = None  # of label maps, see `segbench.inputs.numberings.StoredLabels`


class ClassStackError(DataError):
    """A stack of so many maps, one per class, where a protocol reads one; `stored` are those of its ground truth."""

    def __init__(self, error: DataError, values: Sequence[float], maps: int) -> None:
        of_labels, of_scores = (
            Message("fix", "{classes}", classes=classes_of_maps(np.array(values), maps, argument))
            for argument in CLASSES
        )
        labels = protocol_with("Labels", "segbench labels GT PRED ", of_labels)
        if maps == 2 and len(values) <= 2:
            labels = Message("fix", "{command}", command=Either("Labels()", "segbench labels GT PRED"))
        hint = Message(
            "alternatives",
            "{labels} for the argmax, or {scores} for the scores of each class",
            labels=labels,
            scores=protocol_with("Classes", "segbench pixels GT PRED ", of_scores),
        )
        super().__init__(error.path, error.what, hint)
        self.stored, self.maps = values, maps

    def of_set(self, values: Sequence[float]) -> DataError:
        """Give the error with advice on the values of a set, of which an image may show too few."""
        return ClassStackError(self, values, self.maps)


@dataclass(frozen=True, kw_only=True)
class TruthProbe:
    """What one ground truth holds."""

    image: str
    file: str
    values: tuple[float, ...]  # distinct ones without void, rising; at most `MOST_VALUES`
    positive_share: float
    thick: float  # squares of 2 x 2 with three or four positive pixels, per positive pixel
    blocks_outside: float  # share of the other pixels in blocks of 2 x 2 of them
    nan: int
    ignored: int = 0  # pixels left out as void or outside the field of view
    between: float = 0.0  # share of values far from both ends of their range
    lossy: str = ""  # the compression that changed values
    nodata: tuple[float, ...] = ()  # those of its values that its file declares as no data, but 0


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """How one prediction ranks the pixels that count."""

    image: str
    file: str
    pixels: int
    share: float  # of the pixels that are positive
    auc: float  # area under the ROC curve; nan without both classes
    bright: bool = False  # whether more than half of the pixels lie above half of the scale


@dataclass(frozen=True, kw_only=True)
class ScoreProbe(Ranking):
    """What one prediction holds where pixels count; its finite values as stored."""

    dtype: str
    lowest: float
    highest: float
    whole: bool  # whether all values are whole numbers
    values: tuple[float, ...]  # distinct ones, rising; at most `MOST_VALUES`
    not_finite: int
    top: tuple[int, int]  # positive and negative pixels with the best score
    middle: int = 0  # pixels with levels of 8 bits that are not near an end, of other types 0
    lossy: str = ""  # the compression that changed values
    blocks: float = 0.0  # of lines: share of strong pixels in blocks of 2 x 2; of all but the lowest if suppressed here

    @property
    def full(self) -> float:
        """What values are divided by to become scores."""
        return float(np.iinfo(self.dtype).max) if "int" in self.dtype else 1.0

    @property
    def constant(self) -> bool:
        """Whether all pixels have one score."""
        return len(self.values) == 1

    @property
    def is_mask(self) -> bool:
        """Whether it holds both ends of its scale, and nothing else."""
        return self.values == (0, self.full)


@dataclass(frozen=True, kw_only=True)
class LabelProbe:
    """What one predicted label map holds."""

    image: str
    file: str
    labels: int  # distinct ones
    run: float  # median number of neighbouring pixels of a row that share a label

    @property
    def soft(self) -> bool:
        """Whether it looks like scores."""
        return self.labels > MANY_LABELS and self.run <= SHORT_RUN


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What one image holds."""

    image: str
    failure: DataError | None = None  # why it cannot be read; then there is nothing else
    refused: DataError | None = None  # why a run could not count it, although it can be inspected
    inputs: Inspected = NOTHING_SAID
    facts: Facts = ()  # what counting it showed of the whole set
    truths: tuple[TruthProbe, ...] = ()  # one per annotator; none of label maps
    scores: ScoreProbe | None = None  # of a soft prediction
    mask: Ranking | None = None  # of a predicted mask
    label_map: LabelProbe | None = None  # of a single predicted map of regions
    coloured: tuple[str, ...] = ()  # files with colour that was turned to grey
    may_hold_labels: bool = False  # whether it is one map where a soft one is expected
    labels: LabelsSeen | None = None  # of a prediction that may be a label map
    regions: tuple[float, ...] = ()  # values of a prediction that numbers regions where lines are expected
    prediction: str = ""  # the file of that prediction
    on_background: Mapping[Side, OnBackground | None] = field(default_factory=dict)  # of maps of numbered objects


def probe(files: SampleFiles, protocol: Protocol, repairs: Repairs) -> Probe:
    """Inspect one image."""
    try:
        sample = decode_for(protocol, read(files), repairs)
        return inspect_sample(sample, files, protocol)
    except StackError as error:
        return Probe(image=files.name, failure=_with_its_classes(error, files))
    except DataError as error:
        return Probe(image=files.name, failure=error)


def interpret_as_run(sample: Sample, protocol: Protocol) -> Interpreted:
    """Interpret an image; an `UncountedError` says why a run could not count it."""
    try:
        return interpret_decoded(protocol, sample)
    except DataError as error:
        raise UncountedError(error, sample) from error
    except Exception as error:  # a run counts the other images, too
        raise UncountedError(DataError(sample.name, f"{type(error).__name__}: {error}"), sample) from error


def count_as_run(sample: Sample, protocol: Protocol) -> Counted:
    """Count an image; an `UncountedError` says why a run could not."""
    try:
        return count_decoded(protocol, sample)
    except DataError as error:
        raise UncountedError(error, sample) from error
    except Exception as error:  # a run counts the other images, too
        raise UncountedError(DataError(sample.name, f"{type(error).__name__}: {error}"), sample) from error


def _with_its_classes(error: StackError, files: SampleFiles) -> DataError:
    """Say of a stack which commands read it, if it has the size of its ground truth."""
    try:
        truth = decode_truth(files)
    except DataError:
        return error
    if truth is not None and truth.shape in (error.values["shape"][1:], error.values["shape"][:-1]):
        maps = error.values["shape"][0 if truth.shape == error.values["shape"][1:] else -1]
        return ClassStackError(error, np.unique(truth).tolist(), maps)
    return error


def inspect_sample(sample: Sample, files: SampleFiles, protocol: Protocol) -> Probe:
    """Inspect an image that is decoded; soft maps also where a run refuses them."""
    inputs = protocol.inputs
    common: dict[str, Any] = {"image": sample.name, "inputs": Inspected.of(sample)}
    common["coloured"] = coloured_files(sample, files)
    soft_maps = soft_maps_of(inputs)
    if soft_maps is None:
        image = interpret_as_run(sample, protocol)
        return _of_label_maps(sample, image, inputs, common)
    image, refused = Interpreted(), None
    try:
        image = interpret_as_run(sample, protocol)
    except UncountedError as error:
        refused = error
    return replace(_of_soft_maps(sample, image, inputs, soft_maps, common), facts=image.facts, refused=refused)


def _of_label_maps(sample: Sample, image: Interpreted, inputs: InputSettings, common: Mapping[str, Any]) -> Probe:
    """Inspect an image without scores."""
    masks = masks_of(inputs)
    drawn = [_truth(sample, k, image, inputs) for k in range(len(sample.ground_truths)) if masks and masks.rule]
    return Probe(
        truths=tuple(truth.probe for truth in drawn),
        mask=_mask(sample, image) if masks and masks.by_image else None,
        label_map=_label_map(sample),
        facts=image.facts,
        on_background=inputs.on_background(sample) if isinstance(inputs, NumberedObjects) else {},
        **common,
    )


def _of_soft_maps(
    sample: Sample, image: Interpreted, inputs: InputSettings, settings: SoftMaps, common: Mapping[str, Any]
) -> Probe:
    """Inspect an image with scores."""
    blank, lines = sample.without_truth, inputs if isinstance(inputs, BoundaryMaps) else None
    places = list(range(len(sample.ground_truths)))
    if lines and sample.categories_drawn:
        places = places[(lines.category or 1) - 1 :][:1]
    drawn = [_truth(sample, k, image, inputs) for k in places]
    truths = tuple(truth.probe for truth in drawn)
    scores = None
    if not sample.labels_predicted:
        positive = np.logical_or.reduce([truth.positive for truth in drawn])
        counted = np.logical_or.reduce([truth.valid for truth in drawn])
        scores = _scores(sample, positive, counted, settings)
        if lines:
            of_lines = ~positive if all(truth.positive_share > 0.5 for truth in truths) else positive
            scores = _scores(sample, grown(of_lines), counted, settings)
            scores = scores if scores.not_finite else replace(scores, blocks=_blocks(sample, positive.shape, lines))
    if blank:
        truths = tuple(replace(truth, values=()) for truth in truths)
    elif masks_of(inputs) is None or (lines and lines.label_maps):
        truths = ()
    masks = masks_of(inputs)
    judged = masks is not None and not lines and not blank
    return Probe(
        truths=truths,
        scores=scores,
        may_hold_labels=judged,
        labels=labels_seen(sample, masks.void_values or ()) if masks and judged else None,
        regions=regions_in(sample.predictions[0]) if lines and not sample.labels_predicted else (),
        prediction=sample.prediction_file,
        **common,
    )


def _in_size(sample: Sample, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a soft map in the size of its ground truth, also that of a contour map of double size."""
    soft = sample.predictions[0]
    if soft.shape == shape:
        return soft
    from segbench.inputs.lines import sample_ucm2

    return sample_ucm2(soft)


def _scores(sample: Sample, positive: NDArray[np.bool_], counted: NDArray[np.bool_], settings: SoftMaps) -> ScoreProbe:
    """Inspect the scores of an image."""
    soft = _in_size(sample, positive.shape)
    of = sample.name, sample.prediction_file
    return replace(score_probe(of, soft, positive, counted, inverted=bool(settings.invert)), lossy=sample.lossy[1])


def _blocks(sample: Sample, shape: tuple[int, ...], lines: BoundaryMaps) -> float:
    """Return the share of strong pixels in blocks of 2 x 2; of all but the lowest, if they are suppressed."""
    soft = _in_size(sample, shape)
    shares = as_shares(soft)
    ridges = soft.max() - shares if lines.invert else shares
    return block_share(ridges > (ridges.min() if lines.nms is not None else ridges.max() / 2))


@dataclass(frozen=True, kw_only=True)
class ClassesProbe(Probe):
    """What one image of many classes holds."""

    classes: tuple[ScoreProbe, ...]  # of each, in order
    truth_file: str
    foreign: tuple[float, ...]  # some labels in it that are neither a class nor void, rising
    zeros: int  # pixels with label 0 that is void
    pixels: int


def probe_classes(files: SampleFiles, protocol: Protocol, classes: ScoredClasses, repairs: Repairs) -> Probe:
    """Inspect one image, class by class."""
    try:
        sample = decode_for(protocol, read(files), repairs)
        image = classes.interpret(sample)
    except DataError as error:
        return Probe(image=files.name, failure=error)
    truth, maps, void = image.truth, image.maps, tuple(map(float, classes.void))
    counted = ~equals_any(truth, void)
    if sample.field is not None:
        counted &= sample.field
    known = tuple(map(float, classes.labels))
    names = list(map(shown, (files.prediction, *files.scales)))
    if len(names) < len(maps):
        names = [f"{names[0]} (class {name})" for name in classes.class_names]
    single = len(sample.predictions) == 1 and sample.predictions[0].ndim == truth.ndim
    return ClassesProbe(
        image=sample.name,
        inputs=Inspected.of(sample),
        may_hold_labels=single,
        labels=labels_seen(sample, void) if single else None,
        prediction=sample.prediction_file,
        coloured=coloured_files(sample, files),
        classes=tuple(
            score_probe((sample.name, name), soft, equals_any(truth, (label,)), counted, inverted=classes.invert)
            for name, soft, label in zip(names, maps, known, strict=True)
        ),
        facts=image.facts,
        truth_file=shown(files.ground_truths[0]),
        foreign=few_distinct(truth[counted & ~equals_any(truth, known)]),
        zeros=int(np.count_nonzero(truth == 0)) if 0 in void else 0,
        pixels=truth.size,
    )


@dataclass(frozen=True, kw_only=True)
class CountsProbe(Probe):
    """What counting one image showed."""

    truth_file: str
    counts: LabelCounts
    outside: Mapping[int, IntArray]  # by predicted labels that are not classes, the pixels of each class
    left_out: LeftOut
    joined: Mapping[str, Sequence[int]]  # values that a remapping should name, by its setting
    stored: StoredLabels | None  # None of masks
    values: tuple[tuple[float, ...], tuple[float, ...]]  # some of the ground truth and the prediction, if of masks

    @property
    def stack(self) -> bool:
        """Whether the prediction has one map per class, whose order no remapping changes."""
        return self.stored is not None and self.stored.by_place


def probe_counts(files: SampleFiles, protocol: Protocol, inputs: LabelInputs, repairs: Repairs) -> Probe:
    """Count the labels of one image, as the run would."""
    try:
        sample = decode_for(protocol, read(files), repairs)
        counted = count_as_run(sample, _by_class(protocol))
        stored = inputs.stored(sample)
    except DataError as error:
        if isinstance(error, UncountedError):
            with suppress(DataError):  # where they are no label maps
                error.stored = inputs.stored(sample)
        return Probe(image=files.name, failure=error)
    return CountsProbe(
        image=files.name,
        inputs=Inspected.of(sample),
        prediction=sample.prediction_file,
        mask=ranking_of_mask(sample, counted.counts) if inputs.masks else None,
        truth_file=shown(files.ground_truths[0]),
        counts=counted.counts,
        facts=counted.facts,
        outside=inputs.predicted_outside(sample) if counted.counts.matrix[:, -1].any() else {},
        left_out=inputs.left_out(sample) if counted.counts.ignored else LeftOut(),
        joined=inputs.joined(sample),
        stored=stored,
        values=_values_of_mask(sample, inputs) if inputs.masks else ((), ()),
    )


def _by_class(protocol: Protocol) -> Protocol:
    """Return the protocol that counts the label maps of this one by true and predicted class."""
    counts_by_class = issubclass(protocol.counts, LabelCounts)
    return protocol if counts_by_class else cast("Labels", inputs_of(Labels, protocol.inputs))


def _values_of_mask(sample: Sample, inputs: LabelInputs) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return some values of the ground truth that are not void, and some that are predicted."""
    drawn = few_distinct(sample.ground_truths[0].reshape(-1))
    void = tuple(map(float, inputs.void or ()))
    return tuple(value for value in drawn if value not in void), few_distinct(sample.predictions[0].reshape(-1))


def ranking_of_mask(sample: Sample, counts: LabelCounts) -> Ranking:
    """Judge a predicted mask by its counts."""
    negative, positive = counts.matrix.tolist()
    of = sample.name, sample.prediction_file
    return mask_ranking(of, positive[1], negative[1], sum(positive), counts.pixels)


def coloured_files(sample: Sample, files: SampleFiles) -> tuple[str, ...]:
    """Name the files of a sample with colour that was turned to grey; of several predictions the first."""
    grey = {note.side for note in sample.notes if note.kind == TURNED_TO_GREY.kind}
    truth = tuple(shown(path) for path in files.ground_truths[:1]) if "ground truth" in grey else ()
    return (*truth, sample.prediction_file) if "prediction" in grey else truth


def _mask(sample: Sample, image: Interpreted) -> Ranking | None:
    """Judge a predicted mask as a map of two scores; None where it, or what is true, is no mask."""
    of = (sample.name, sample.prediction_file)
    if isinstance(image, MaskPair):
        (truth, valid), (predicted,) = image.drawn_masks[0], image.predicted
    elif isinstance(image, NumberedPair) and np.unique(image.truth).size <= 2:
        truth, valid, predicted = image.truth != 0, None, image.predicted != 0
    else:
        return None
    labels, found = (truth, predicted) if valid is None else (truth[valid], predicted[valid])
    hits = int(np.count_nonzero(found & labels))
    return mask_ranking(of, hits, int(found.sum()) - hits, int(labels.sum()), labels.size)


def _label_map(sample: Sample) -> LabelProbe | None:
    if len(sample.predictions) != 1:
        return None
    (labels,) = sample.predictions
    if labels.dtype.kind not in "bui" or labels.shape != sample.ground_truths[0].shape or not labels.size:
        return None
    found = np.unique(labels).size
    return LabelProbe(image=sample.name, file=sample.prediction_file, labels=found, run=median_run(labels))


def looks_exchanged(sample: Sample) -> bool | None:
    """Return whether the ground truth is a soft map and the prediction a mask; None of a blank prediction."""
    truth, predicted = sample.ground_truths[0], sample.predictions[0]
    values = len(few_distinct(predicted.reshape(-1)))
    if values == 1:
        return None
    levels = len(few_distinct(truth.reshape(-1))) >= MANY_LEVELS and share_between(truth) > HALOS
    return values == 2 and truth.ndim == 2 and levels and median_run(truth) <= SHORT_RUN


class _Truth(NamedTuple):
    """What a ground truth holds, which pixels are positive and which count."""

    probe: TruthProbe
    positive: NDArray[np.bool_]
    valid: NDArray[np.bool_]


def _truth(sample: Sample, place: int, image: Interpreted, inputs: InputSettings) -> _Truth:
    """Inspect one of the ground truths of an image."""
    file, array, masks = sample.truth_files[place], sample.ground_truths[place], masks_of(inputs)
    void = () if masks is None or sample.without_truth else masks.void_values or ()
    valid = np.ones(array.shape, np.bool_) if sample.field is None else sample.field.astype(np.bool_)
    if void:
        valid &= ~equals_any(array, void)
    nan = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0
    values = few_distinct(array.reshape(-1) if valid.all() else array[valid])
    lines = inputs if isinstance(inputs, BoundaryMaps) and not sample.without_truth else None
    counted = valid
    if image.drawn_masks:
        positive, within = image.drawn_masks[min(place, len(image.drawn_masks) - 1)]
        counted = valid if within is None else valid & within
    else:
        positive = _perhaps_positive(sample, place, values, valid, inputs)
    as_drawn = lines is not None and not lines.label_maps
    held = TruthProbe(
        image=sample.name,
        file=file,
        values=values,
        positive_share=float(positive[valid].mean()) if valid.any() else 0.0,
        thick=thick_share(positive) if as_drawn else 0.0,
        blocks_outside=block_share(~positive) if as_drawn else 0.0,
        nan=nan,
        ignored=int(valid.size - np.count_nonzero(valid)),
        between=share_between(array),
        lossy=sample.lossy[0],
        nodata=tuple(value for value in sample.truth_nodata if value and value in values),
    )
    return _Truth(held, positive, counted)


def _perhaps_positive(
    sample: Sample, place: int, values: Sequence[float], valid: NDArray[np.bool_], inputs: InputSettings
) -> NDArray[np.bool_]:
    """Mark what may be positive in a ground truth that a run refuses, only to see which way scores run."""
    file, array, masks = sample.truth_files[place], sample.ground_truths[place], masks_of(inputs)
    if masks is None:  # of any meaning
        return np.zeros(array.shape, np.bool_)
    if masks.rule:
        try:
            return masks.rule.labels(file, array, valid)
        except DataError as error:
            raise UncountedError(error, sample) from None
    if isinstance(inputs, BoundaryMaps) and inputs.label_maps:
        from segbench.inputs.lines import label_boundaries

        return label_boundaries(array)
    if array.dtype == np.bool_:
        return array
    marked: NDArray[np.bool_] = array > (values[0] + values[-1]) / 2 if len(values) > 1 else array != 0
    return marked


def mask_ranking(of: tuple[str, str], hits: int, false: int, positives: int, pixels: int) -> Ranking:
    """Judge the mask `of` an image in a file as a map of two scores, by its true and false positives."""
    negatives = pixels - positives
    auc = (1 + hits / positives - false / negatives) / 2 if positives and negatives else math.nan
    return Ranking(image=of[0], file=of[1], pixels=pixels, share=positives / pixels if pixels else 0.0, auc=auc)


def score_probe(
    of: tuple[str, str],
    soft: NDArray[Any],
    positive: NDArray[np.bool_],
    counted: NDArray[np.bool_],
    *,
    inverted: bool,
) -> ScoreProbe:
    """Inspect the soft map `of` an image in a file, given which pixels are positive and which count."""
    kind = soft.dtype.kind
    flat, labels = (soft.reshape(-1), positive.reshape(-1)) if counted.all() else (soft[counted], positive[counted])
    share = float(labels.mean()) if labels.size else 0.0
    keep = np.isfinite(flat)
    bad = int(flat.size - np.count_nonzero(keep))
    if bad:
        flat, labels = flat[keep], labels[keep]
    if not flat.size:
        flat, labels = np.zeros(1, soft.dtype), np.zeros(1, np.bool_)
    step = max(1, flat.size // MOST_PIXELS)
    auc = _auc(flat[::step], labels[::step])
    lowest, highest = float(flat.min()), float(flat.max())
    levels = kind in "iu"
    scale = float(np.iinfo(soft.dtype).max) if levels else 1.0
    # Floats beyond 1 have no end of a scale that they could have been clipped at.
    end = (flat == (0 if inverted else scale)) & (highest <= scale)
    middle = (flat > NEAR_AN_END) & (flat < scale - NEAR_AN_END) if soft.dtype == np.uint8 else np.zeros(0)
    above_half = np.count_nonzero(flat[::step] > max(scale, highest) / 2)
    return ScoreProbe(
        image=of[0],
        file=of[1],
        dtype=soft.dtype.name,
        pixels=flat.size,
        lowest=lowest,
        highest=highest,
        whole=kind != "f" or bool((flat[::step] == np.rint(flat[::step])).all()),
        values=few_distinct(flat),
        not_finite=bad,
        share=share,
        auc=1 - auc if inverted else auc,
        bright=bool(2 * above_half > flat[::step].size) != inverted,
        middle=int(np.count_nonzero(middle)),
        top=(int(np.count_nonzero(end & labels)), int(np.count_nonzero(end & ~labels))),
    )


def few_distinct(values: NDArray[Any]) -> tuple[float, ...]:
    """Give the distinct values of an array, rising, of many only `MOST_VALUES` of them."""
    if values.dtype == np.bool_:
        values = values.view(np.uint8) != 0
    if values.dtype in (np.uint8, np.uint16):
        distinct = np.flatnonzero(np.bincount(values, minlength=1)).astype(np.float64)
    else:
        # Most float maps have many values among their first pixels; only the others are sorted whole.
        distinct = np.unique(values[:: max(1, values.size // 1024)])
        if distinct.size < MOST_VALUES:
            distinct = np.unique(values)
    if distinct.dtype.kind == "f":
        distinct = distinct[~np.isnan(distinct)]
    if distinct.size > MOST_VALUES:
        distinct = distinct[np.linspace(0, distinct.size - 1, MOST_VALUES, dtype=int)]
    return tuple(map(float, distinct))


def _auc(scores: NDArray[Any], labels: NDArray[np.bool_]) -> float:
    """Give the chance that a positive pixel outranks a negative one, ties counting half."""
    ranks = scores if scores.dtype in (np.uint8, np.uint16) else np.unique(scores, return_inverse=True)[1]
    ranked = int(ranks.max()) + 1
    positives, negatives = (np.bincount(ranks[chosen], minlength=ranked) for chosen in (labels, ~labels))
    pairs = int(positives.sum()) * int(negatives.sum())
    below = np.cumsum(negatives) - negatives / 2
    return float(positives @ below / pairs) if pairs else float("nan")


def thick_share(mask: NDArray[np.bool_]) -> float:
    """Give the squares of 2 x 2 pixels with at least three true ones, per true pixel."""
    rows = mask[1:].astype(np.uint8) + mask[:-1]
    thick = rows[:, 1:] + rows[:, :-1] >= 3
    return int(np.count_nonzero(thick)) / max(int(np.count_nonzero(mask)), 1)


def block_share(mask: NDArray[np.bool_]) -> float:
    """Give the share of true pixels in blocks of 2 x 2 true pixels: near 0 for thin lines, near 1 for areas."""
    from scipy.ndimage import binary_opening

    return int(np.count_nonzero(binary_opening(mask, np.ones((2, 2))))) / max(int(np.count_nonzero(mask)), 1)


def grown(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Let true pixels grow by `REACH` pixels to all eight sides."""
    from scipy.ndimage import binary_dilation

    wide: NDArray[np.bool_] = binary_dilation(mask, np.ones((2 * REACH + 1,) * 2))
    return wide
