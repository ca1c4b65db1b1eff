"""Label maps of annotators, and predicted ones or a contour map of double size (``ucm2``): regions, not classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message
from segbench.core.protocol import InputSettings, Interpreted
from segbench.core.sample import Reading, Sample
from segbench.core.settings import check_settings, set_fields
from segbench.inputs.label_rules import void_labels, void_option
from segbench.loaders.reading import REGIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from segbench.core.arrays import Array, BoolArray, FloatArray

_MOST_PIXELS = 2**30
_MOST_POINTS = 2**31 - 2**20  # of a ucm2: they are numbered in 32 bits, with a border


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionImage(Interpreted):
    """Label maps of annotators, and predicted label maps or a contour map, of one size."""

    truths: Sequence[Array]
    """The label map of each annotator, whole numbers from 0, shape (H, W)."""
    kept: Sequence[BoolArray | None]
    """Which pixels of each count; None where all do."""
    inside: BoolArray | None
    """Which pixels are in the field of view; None where all are."""
    segmentations: Sequence[Array]
    """Predicted label maps; none of a contour map."""
    levels: NDArray[np.int32] | None
    """For each point of a contour map the first threshold that it does not exceed, shape (2 H + 1, 2 W + 1)."""
    thresholds: FloatArray
    """Those of the contour map; of label maps their places, from 1."""


@dataclass(frozen=True, kw_only=True)
class RegionMaps(InputSettings):
    """Label maps of annotators, and predicted regions; `segbench.Regions` describes the settings."""

    reads: ClassVar[Reading] = REGIONS

    void: tuple[int, ...] = void_option(
        "Leave out pixels with these ground-truth labels: 0, or 0,255.", (), shown="none", metavar="LABELS"
    )
    thresholds: int | tuple[float, ...] = 99
    """Thresholds at which the protocol cuts contour maps; a number of them is for strengths from 0 to 1."""

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self)
        set_fields(self, void=void_labels(self.void, least=0))

    def interpret(self, sample: Sample) -> RegionImage:
        """Return the regions of annotators and what is predicted; a `DataError` says what is wrong with the files."""
        try:
            return regions_of(
                sample.ground_truths,
                sample.predictions,
                thresholds=self.thresholds,
                void=self.void,
                valid=sample.field,
            )
        except DataError as error:
            raise DataError(_file_of(sample, error.path), error.what, error.hint) from error


def regions_of(
    ground_truths: ArrayLike | Iterable[ArrayLike],
    segmentations_or_ucm2: ArrayLike | Iterable[ArrayLike],
    *,
    thresholds: int | ArrayLike = 99,
    void: Collection[int] = (),
    valid: ArrayLike | None = None,
) -> RegionImage:
    """Read the regions of one image from arrays, which errors name by their place."""
    import numpy as np

    from segbench.core.arrays import as_array
    from segbench.inputs import lines

    truths = lines.of_one_size(ground_truths, "ground truth of annotator", _as_labels)
    shape = truths[0].shape
    parts = lines.parts_of(segmentations_or_ucm2)
    segmentations: list[Array] = []
    levels = None
    if len(parts) == 1 and np.shape(parts[0]) == tuple(2 * side + 1 for side in shape):
        levels, cuts = _ucm2_levels(parts[0], thresholds)
    else:
        segmentations = lines.of_one_size(parts, "segmentation", _as_labels)
        cuts = np.arange(1.0, len(segmentations) + 1)
    for labels in segmentations:
        lines.check_same_size(labels, truths[0], "prediction")
    void = void_labels(void, least=0)
    inside = None if valid is None else as_array(valid, "valid") != 0
    if inside is not None:
        lines.check_same_size(inside, truths[0], "valid pixels")
    kept = [_kept(truth, void, inside) for truth in truths]
    if not any(counted is None or counted.any() for counted in kept):
        raise DataError(
            "ground truth",
            Message("all-void", "every annotator has only void pixels, so nothing is counted"),
            Message("fix", "check void labels and valid pixels"),
        )
    return RegionImage(
        truths=truths, kept=kept, inside=inside, segmentations=segmentations, levels=levels, thresholds=cuts
    )


def _kept(truth: Array, void: Sequence[int], inside: BoolArray | None) -> BoolArray | None:
    """Mark what counts of an annotator; None for all."""
    import numpy as np

    if not void:
        return inside
    labelled = ~np.isin(truth, void)
    return labelled if inside is None else labelled & inside


def _as_labels(label_map: ArrayLike, name: str) -> Array:
    """Read a label map: whole numbers from 0, each a region, connected or not."""
    from segbench.inputs import lines
    from segbench.inputs.predicted_labels import in_colour

    labels = lines.as_plane(label_map, name)
    if in_colour(labels):
        code = "numpy.unique(rgb.reshape(-1, 3), axis=0, return_inverse=True)[1].reshape(rgb.shape[:2])"
        raise DataError(
            name,
            Message("in-colour", "is in colour, expected a number for each region"),
            Message("fix", "save label maps in one channel; {code} numbers the colours", code=code),
        )
    if labels.dtype.kind not in "bui":
        raise DataError(
            name,
            Message("not-whole", "labels are of type {dtype}, expected whole numbers", dtype=str(labels.dtype)),
            Message("fix", "write them as integers"),
        )
    if not labels.size:
        raise DataError(name, Message("no-pixels", "has no pixel"))
    if labels.size > _MOST_PIXELS:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{argument} has {pixels} pixels, expected at most {expected}",
                argument=name,
                pixels=labels.size,
                expected=_MOST_PIXELS,
            )
        )
    if labels.dtype.kind == "i" and labels.min() < 0:
        raise DataError(
            name,
            Message("negative-label", "holds the label {label}, expected 0 or more", label=labels.min()),
            Message("fix", "give every region a number from 0"),
        )
    return labels


def _ucm2_levels(ucm2: Array, thresholds: int | ArrayLike) -> tuple[NDArray[np.int32], FloatArray]:
    """Find for each point of a contour map the first threshold that it does not exceed."""
    import numpy as np

    from segbench.core.levels import in_type_of
    from segbench.inputs import lines

    scores = lines.as_scores(ucm2, "ucm2")
    if scores.size > _MOST_POINTS:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{argument} has {pixels} points, expected at most {expected}",
                argument="ucm2",
                pixels=scores.size,
                expected=_MOST_POINTS,
            )
        )
    cuts = lines.as_thresholds(thresholds)
    if isinstance(thresholds, (int, np.integer)):
        lines.check_unit_range(scores, "ucm2")
    levels = np.searchsorted(in_type_of(np.asarray(ucm2).dtype, cuts), scores).astype(np.int32)
    above = int(np.count_nonzero(levels[1::2, 1::2]))
    if above:
        raise DataError(
            "ucm2",
            Message(
                "contours-on-pixels",
                "{pixels} pixels lie above the threshold {threshold:g}, "
                "but contours run between pixels, at even places",
                pixels=above,
                threshold=cuts[0],
            ),
            Message("fix", "write the map at twice the resolution with 0 at odd places"),
        )
    return levels, cuts


def _file_of(sample: Sample, name: str) -> str:
    """Name the file in which the array lies."""
    if not name.startswith("ground truth"):
        return sample.predicted_file
    which = name.rpartition(" ")[2]
    return sample.truth_files[int(which)] if which.isdecimal() else sample.truth_file
