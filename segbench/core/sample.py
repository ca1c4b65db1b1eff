"""One image as arrays: what loaders give and protocols count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, Setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.geometry import Affine, Geometry

Side = Literal["ground truth", "prediction"]
SIDES: tuple[Side, Side] = ("ground truth", "prediction")

Form = Literal["soft", "map", "labels", "ucm2", "stack", "categories"]
"""What some maps are: a soft map, a label map, several label maps (one per threshold or scale), a contour map of double
size, maps with axes that only the protocol can tell; or ground truths of categories, 1 first, and not of annotators."""


OnTop = Literal["first", "last", "largest", "smallest", "score"]
"""Which of several instances a map shows where they overlap."""
Rasterise = Literal["labelme", "coco"]
"""Whose way it is to draw shapes of LabelMe."""

InstancesAs = Literal["", "kept", "classes", "masks", "numbers", "regions"]
"""What instances that files list become: nothing, themselves, a map of their classes, a mask of 0 and 255, or a map of
numbers: of objects, or of regions, which crowds are, too."""


@dataclass(frozen=True, eq=False)
class NoData:
    """Where a map holds the value that its file declares to mean that there are no data."""

    value: float
    pixels: NDArray[np.bool_]  # (H, W)


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps in a file, or in all files of a prediction, and notes on them."""

    maps: tuple[NDArray[Any], ...]
    notes: tuple[Note, ...] = ()
    form: Form = "map"
    about: Any = None  # what comes with them, such as the segments that a JSON lists, for the protocol
    lossy: str = ""  # the compression that changed their values, such as JPEG; empty of none
    nodata: tuple[NoData | None, ...] = ()  # of each map, or empty where no map has any
    volume: bool = False  # whether maps are (D, H, W), but for an axis of classes
    geometry: Geometry | None = None  # of files whose header tells a spacing


@dataclass(frozen=True, kw_only=True)
class Reading(ABC):
    """How the files of an image become arrays, and what may come beside them; `segbench.loaders.reading` has those."""

    name: str  # what errors call what is read
    alone: bool = False  # whether annotators are compared with each other, without a prediction
    pixelwise: bool = False  # whether pixels need no image around them, so that arrays of any shape can be counted
    annotators: bool = False  # whether several ground truths of an image are counted together, whatever the settings
    levels: bool = True  # whether whole numbers in predictions are levels of scores
    without_field: str = ""  # why no pixels can be left out by a field of view; empty if they can
    whole_folders: Message | str = (
        ""  # what else to do where a part of a folder's images is left out; empty if any may be
    )
    sequences: bool = False  # whether folders are sequences, whose frames may have the same names
    same_labels: int = 0  # how many labels, from 0, mean the same in all images; 0 where only borders and regions count
    without_negatives: str = ""  # what cannot be counted without ground truth; empty if all pixels can be negative
    soft: bool = False  # whether predictions are soft maps
    numbered: tuple[Side, ...] = ()  # sides whose values are labels or numbers of objects, not levels
    without_volumes: str = ""  # why no volume can be counted; empty if they can
    instances: InstancesAs = ""  # what instances that files list become
    labels: tuple[int, ...] = ()  # the classes of which predicted instances become a soft map each
    spacing: Literal["unused", "header", "given"] = "unused"  # whether distances are measured, and by which spacing
    as_volumes: bool = False  # whether arrays of three axes are volumes where their format leaves that open

    @abstractmethod
    def truths(self, data: bytes, path: Any) -> Maps:  # noqa: ANN401  a `Source`
        """Decode a file of ground truth: one map per annotator."""

    @abstractmethod
    def predictions(self, files: Any, contents: Mapping[Any, bytes]) -> Maps:  # noqa: ANN401  `SampleFiles`
        """Decode the files of a prediction."""

    def leaves_axes_open(self, path: Any) -> bool:  # noqa: ANN401  a `Source`
        """Return whether only the protocol can tell which axes of a predicted file are height and width."""
        del path
        return False

    def shape_of(self, prediction: Any, truth: tuple[int, int]) -> tuple[int, int]:  # noqa: ANN401  a `Header`
        """Return the size that a prediction must have, from its header and the size of its ground truth."""
        del prediction
        return truth

    def check_repairs(self, repairs: Any) -> None:  # noqa: ANN401, B027  `Repairs`; most can be made
        """Refuse repairs that have no meaning for what is read: an `ArgumentError` says which and why."""


class DescribedFiles(ABC):
    """What a way of reading derives from, too, if other files may describe those of the images."""

    def located(self, inputs: Any) -> Any:  # noqa: ANN401  `Inputs`
        """Return the inputs with the paths of maps where a path is that of a file that describes them."""
        return inputs

    @abstractmethod
    def completed(self, pairing: Any) -> Any:  # noqa: ANN401  `Pairing`
        """Add what describes the files of images and lies beside them; a `DataError` says what is wrong with it."""


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
    notes : tuple of Note
        What was done to the data while reading, to be shown to the user.
    ground_truth_files, prediction_file : tuple of str, str
        Where they come from, as errors name them.
    labels_predicted : bool
        Whether predictions are label maps, one per threshold or scale, and no soft map.
    categories_drawn : bool
        Whether ground truths are boundaries of categories, 1 first, and not of annotators.
    without_truth : bool
        Whether there is no ground truth and all pixels are negative, whatever the settings; `ground_truths` then holds
        a blank map.
    about : tuple
        What comes with the first ground truth and with the prediction, see `Maps.about`.
    lossy : tuple of str
        The compression that changed the values of the ground truth, and of the prediction; empty of none.
    numbered : tuple of str
        The sides whose values are labels or numbers of objects, as far as that is known.
    truth_nodata : tuple of float
        Values in ground truths that their files declare to mean that there are no data.
    nodata : tuple of `NoData`
        Pixels of each prediction for which its file has no data; empty if there are none.
    spacing : tuple of float, optional
        Distances of neighbouring pixels along each axis, (y, x) or (z, y, x), as the header of a file has them: that of
        the ground truth, else of the prediction. None where neither has one, or none that can be relied on.
    volume : bool
        Whether maps are volumes, of shape (D, H, W).
    affine : tuple of tuple of float, optional
        Where voxels lie by the header of the ground truth, else of the prediction, see `segbench.core.geometry`.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import Pixels
    >>> sample = Sample("coffee", (np.array([[0, 255, 255]]),), (np.array([[51, 204, 255]], np.uint8),))
    >>> counts = Pixels(positive=255).count(sample).counts
    >>> counts.scores.tolist(), counts.positives.tolist(), counts.negatives.tolist()
    ([1.0, 0.8, 0.2], [1, 1, 0], [0, 0, 1])
    """

    name: str
    ground_truths: tuple[NDArray[Any], ...]
    predictions: tuple[NDArray[Any], ...]
    field: NDArray[Any] | None = None
    notes: tuple[Note, ...] = ()
    ground_truth_files: tuple[str, ...] = ()
    prediction_file: str = ""
    labels_predicted: bool = False
    categories_drawn: bool = False
    without_truth: bool = False
    about: tuple[Any, Any] = (None, None)
    lossy: tuple[str, str] = ("", "")
    numbered: tuple[Side, ...] = ()
    truth_nodata: tuple[float, ...] = ()
    nodata: tuple[NoData | None, ...] = ()
    spacing: tuple[float, ...] | None = None
    volume: bool = False
    affine: Affine | None = None

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


def refuse_other_dimensions(sample: Sample, of_volumes: Setting | None) -> None:
    """Refuse a volume among images, or an image among volumes, which `of_volumes` says are measured."""
    if sample.volume == (of_volumes is not None):
        return
    if of_volumes is None:
        problem = Message("other-dimensions", "is a volume, and images of two dimensions are measured")
        raise DataError(sample.truth_file, problem, "count volumes apart from images")
    problem = Message("other-dimensions", "has two axes, and volumes are measured")
    hint = Message(
        "fix", "count images apart from volumes; if there are no volumes, leave out {given}", given=of_volumes
    )
    raise DataError(sample.truth_file, problem, hint)
