"""One image as arrays: what loaders give and protocols count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Reads = Literal["masks", "boundaries", "annotators", "regions", "classes", "labels"]
"""What the files of an image are read as; "annotators" is boundaries without a prediction."""
WITHOUT_FIELD: frozenset[Reads] = frozenset({"boundaries", "annotators"})
"""What is counted over whole images, without a field of view."""
WITHOUT_NEGATIVES: frozenset[Reads] = frozenset({"classes", "labels", "regions"})
"""What cannot be counted in an image without ground truth."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One image with everything that is known about it.

    Parameters
    ----------
    name : str
        The name that ground truth and prediction share, sub-folders included, without extension.
    ground_truths : tuple of array, each shape (H, W)
        One per annotator, as stored: a mask, a boundary map, or a label map.
    predictions : tuple of array
        One soft map of shape (H, W) as stored (unsigned levels or floats), or label maps, one per threshold. Of several
        classes one soft map per class, or a single array of three dimensions that holds them all.
    field : array of bool, shape (H, W), optional
        True where pixels count (the field of view); None where all do.
    notes : tuple of str
        What was done to the data while reading, to be shown to the user; see `without_detail`.
    ground_truth_files, prediction_file : tuple of str, str
        Where they come from, as errors name them.
    labels_predicted : bool
        Whether predictions are label maps, one per threshold or scale, and no soft map.
    categories_drawn : bool
        Whether ground truths are boundaries of categories, 1 first, and not of annotators.
    without_truth : bool
        Whether there is no ground truth and all pixels are negative, whatever the settings; `ground_truths` then holds
        a blank map.
    """

    name: str
    ground_truths: tuple[NDArray[Any], ...]
    predictions: tuple[NDArray[Any], ...]
    field: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    ground_truth_files: tuple[str, ...] = ()
    prediction_file: str = ""
    labels_predicted: bool = False
    categories_drawn: bool = False
    without_truth: bool = False

    @property
    def truth_files(self) -> tuple[str, ...]:
        """Each ground truth, as errors name it."""
        return self.ground_truth_files or (self.name,) * len(self.ground_truths)

    @property
    def truth_file(self) -> str:
        """The first ground truth, as errors name it."""
        return self.ground_truth_files[0] if self.ground_truth_files else self.name

    @property
    def predicted_file(self) -> str:
        """The prediction, as errors name it."""
        return self.prediction_file or self.name


def without_detail(note: str) -> str:
    """Give a note without what it says, in brackets at its end, of one image alone."""
    return note.rpartition(" [")[0] if note.endswith("]") else note
