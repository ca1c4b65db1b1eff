"""What is kept of an image so that rules can judge a set: the few numbers that its interpretation is reduced to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Note
from segbench.core.protocol import Facts
from segbench.core.sample import SIDES, Sample, Side
from segbench.inputs.label_lines import LabelLines, label_lines
from segbench.inputs.label_rules import HALOS, MANY_LEVELS, NEAR_AN_END, share_between
from segbench.inputs.object_numbers import OnBackground
from segbench.inputs.predicted_labels import SHORT_RUN, LabelsSeen, median_run
from segbench.loaders.arrays import TURNED_TO_GREY
from segbench.loaders.listing import SampleFiles
from segbench.loaders.source import shown

MOST_VALUES = MANY_LEVELS
"""How many distinct values are kept: enough to distinguish labels from grey levels."""
MOST_PIXELS = 1 << 16
"""How many pixels order scores by: an area under the ROC curve to about a hundredth."""
MANY_LABELS = 32
"""A soft map has more levels; a segmentation may have as many regions, so that runs decide, too."""


class Inspected(NamedTuple):
    """What decoding an image said, and its files."""

    notes: tuple[Note, ...] = ()
    files: Mapping[Side, str] = MappingProxyType({})
    lossy: Mapping[Side, str] = MappingProxyType({})  # the compression that changed values, empty of none
    lines: Mapping[Side, LabelLines] = MappingProxyType({})  # of the sides that hold label maps
    volume: bool = False

    @classmethod
    def of(cls, sample: Sample) -> Inspected:
        """Return that of a sample."""
        files = (sample.truth_file, sample.predicted_file)
        lossy = dict(zip(SIDES, sample.lossy, strict=True))
        named = dict(zip(SIDES, files, strict=True))
        return cls(sample.notes, named, lossy, label_lines(sample), sample.volume)


NOTHING_SAID = Inspected()


class UncountedError(DataError):
    """Files that can be read, but not counted with these settings, because of an error in the prediction or not."""

    def __init__(self, error: DataError, sample: Sample) -> None:
        super().__init__(error.path, error.what, error.hint)
        self.error = error
        self.side: Side = "prediction" if error.path == sample.predicted_file else "ground truth"
        self.inputs = Inspected.of(sample)
        self.exchanged = looks_exchanged(sample)
        self.stored: Any = None  # of label maps, see `segbench.inputs.numberings.StoredLabels`


def as_in_run(make: Callable[[Sample], Any], sample: Sample) -> Any:
    """Interpret or count an image as a run does; an `UncountedError` says why a run could not count it."""
    try:
        return make(sample)
    except DataError as error:
        raise UncountedError(error, sample) from error
    except Exception as error:  # a run counts the other images, too
        raise UncountedError(DataError(sample.name, f"{type(error).__name__}: {error}"), sample) from error


class InstancesSeen(NamedTuple):
    """The classes of the instances of both sides, by their ids, and how many instances there are."""

    truth: frozenset[int]
    predicted: frozenset[int]
    names: Mapping[int, str]
    """What the ground truth calls its classes."""
    objects: int
    """Of the ground truth, with crowds."""
    crowds: int
    detections: int
    scores: frozenset[float]
    """Some of the distinct scores of detections, at most two."""
    boxes: int = 0
    """Detections that state a box."""
    boxes_outside: int = 0
    """Boxes that leave the image."""
    boxes_as_corners: int = 0
    """Boxes whose last two numbers could be a corner, beyond the first one and in the image."""


@dataclass(frozen=True, kw_only=True)
class TruthSummary:
    """What one ground truth holds."""

    image: str
    file: str
    values: tuple[float, ...]  # distinct ones without void, rising; at most `MOST_VALUES`
    positive_share: float
    nan: int
    thick: float = 0.0  # of lines: squares of 2 x 2 with three or four positive pixels, per positive pixel
    blocks_outside: float = 0.0  # of lines: share of the other pixels in blocks of 2 x 2 of them
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
class ScoreSummary(Ranking):
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
class RegionsSummary:
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
class ImageSummary:
    """What one image holds."""

    image: str
    failure: DataError | None = None  # why it cannot be read; then there is nothing else
    refused: DataError | None = None  # why a run could not count it, although it can be inspected
    inputs: Inspected = NOTHING_SAID
    facts: Facts = ()  # what counting it showed of the whole set
    truths: tuple[TruthSummary, ...] = ()  # one per annotator; none of label maps
    scores: ScoreSummary | None = None  # of a soft prediction
    mask: Ranking | None = None  # of a predicted mask
    label_map: RegionsSummary | None = None  # of a single predicted map of regions
    coloured: tuple[str, ...] = ()  # files with colour that was turned to grey
    may_hold_labels: bool = False  # whether it is one map where a soft one is expected
    labels: LabelsSeen | None = None  # of a prediction that may be a label map
    regions: tuple[float, ...] = ()  # values of a prediction that numbers regions where lines are expected
    prediction: str = ""  # the file of that prediction
    instances: InstancesSeen | None = None
    on_background: Mapping[Side, OnBackground | None] = field(default_factory=dict)  # of maps of numbered objects


def summary_of_maps(sample: Sample, files: SampleFiles, **others: Any) -> ImageSummary:
    """Return what decoding an image said, with what `others` say about it."""
    coloured = coloured_files(sample, files)
    return ImageSummary(image=sample.name, inputs=Inspected.of(sample), coloured=coloured, **others)


def summary_of_labels(sample: Sample, files: SampleFiles, facts: Facts, **others: Any) -> ImageSummary:
    """Return the same of an image without scores, whose prediction may be a map of regions."""
    return summary_of_maps(sample, files, label_map=_regions(sample), facts=facts, **others)


def _regions(sample: Sample) -> RegionsSummary | None:
    """Summarize a single predicted map of whole numbers; None of anything else."""
    if len(sample.predictions) != 1:
        return None
    (labels,) = sample.predictions
    if labels.dtype.kind not in "bui" or labels.shape != sample.ground_truths[0].shape or not labels.size:
        return None
    number = np.unique(labels).size
    return RegionsSummary(image=sample.name, file=sample.prediction_file, labels=number, run=median_run(labels))


def coloured_files(sample: Sample, files: SampleFiles) -> tuple[str, ...]:
    """Name the files of a sample with colour that was turned to grey; of several predictions the first."""
    grey = {note.side for note in sample.notes if note.kind == TURNED_TO_GREY.kind}
    truth = tuple(shown(path) for path in files.ground_truths[:1]) if "ground truth" in grey else ()
    return (*truth, sample.prediction_file) if "prediction" in grey else truth


def looks_exchanged(sample: Sample) -> bool | None:
    """Return whether the ground truth is a soft map and the prediction a mask; None of a blank prediction."""
    truth, predicted = sample.ground_truths[0], sample.predictions[0]
    values = len(few_distinct(predicted.reshape(-1)))
    if values == 1:
        return None
    levels = len(few_distinct(truth.reshape(-1))) >= MANY_LEVELS and share_between(truth) > HALOS
    return values == 2 and truth.ndim == 2 and levels and median_run(truth) <= SHORT_RUN


def ranking_of_mask(sample: Sample, hits: int, false: int, positives: int, pixels: int) -> Ranking:
    """Judge the predicted mask of an image as a map of two scores, by its true and false positives."""
    negatives = pixels - positives
    return Ranking(
        image=sample.name,
        file=sample.prediction_file,
        pixels=pixels,
        share=positives / pixels if pixels else 0.0,
        auc=(1 + hits / positives - false / negatives) / 2 if positives and negatives else math.nan,
    )


def ranking_of_masks(
    sample: Sample, truth: NDArray[np.bool_], predicted: NDArray[np.bool_], valid: NDArray[np.bool_] | None
) -> Ranking:
    """Judge the same by what is true and predicted, where pixels are valid."""
    if valid is not None:
        truth, predicted = truth[valid], predicted[valid]
    hits = int(np.count_nonzero(predicted & truth))
    return ranking_of_mask(sample, hits, int(predicted.sum()) - hits, int(truth.sum()), truth.size)


def score_summary(
    of: tuple[str, str],
    soft: NDArray[Any],
    positive: NDArray[np.bool_],
    counted: NDArray[np.bool_],
    *,
    inverted: bool,
) -> ScoreSummary:
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
    return ScoreSummary(
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
    """Return the distinct values of an array, rising, of many only `MOST_VALUES` of them."""
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
    """Return the chance that a positive pixel outranks a negative one, ties counting half."""
    ranks = scores if scores.dtype in (np.uint8, np.uint16) else np.unique(scores, return_inverse=True)[1]
    ranked = int(ranks.max()) + 1
    positives, negatives = (np.bincount(ranks[chosen], minlength=ranked) for chosen in (labels, ~labels))
    pairs = int(positives.sum()) * int(negatives.sum())
    below = np.cumsum(negatives) - negatives / 2
    return float(positives @ below / pairs) if pairs else float("nan")
