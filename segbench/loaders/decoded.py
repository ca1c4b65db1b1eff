"""What the decoder of a format is and returns.

Begin with `Format`; `segbench.loaders.images` has the list of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.loaders.source import CUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from segbench.core.geometry import Geometry
    from segbench.core.messages import Note
    from segbench.core.sample import NoData

AS_VOLUME = Message("fix", "if it is a volume, give {volumes}", volumes=Setting("volumes", True, of="Repairs"))
"""What to do with a file of several maps whose format does not tell volumes from stacks."""

Role = Literal[
    "prediction",
    "ground truth",
    "field",
    "label map",
    "predicted label map",
    "colour map",
    "predicted colour map",
    "ids",
]
"""What a file is read as: it decides what its colours and negative numbers mean. Label maps alone have colours that
represent labels, in colour maps also those that are grey; the colours of ids are numbers, red first."""
COLOUR_MAPS: frozenset[Role] = frozenset({"colour map", "predicted colour map"})
LABEL_MAPS: frozenset[Role] = COLOUR_MAPS | {"label map", "predicted label map"}
LABELS: frozenset[Role] = LABEL_MAPS | {"ground truth"}
"""Roles with numbers that may be labels."""

MAX_PIXELS = 178_956_970
"""The largest image that is decoded: Pillow, too, treats a larger one as a decompression bomb."""

UPRIGHT, ORIENTATION = 1, 0x0112
"""The value of EXIF's orientation tag that changes nothing, and the tag."""


class Decoded(NamedTuple):
    """One file as an array, and what was done to the data on the way, to be shown to the user."""

    # (H, W), or (D, H, W), C-contiguous, native: bool, integers or float32/float64 as stored; perhaps read-only
    array: NDArray[Any]
    notes: tuple[Note, ...] = ()
    lossy: str = ""  # the compression that changed values before they were read, such as JPEG; empty of none
    nodata: NoData | None = None
    volume: bool = False  # whether the array is (D, H, W)
    geometry: Geometry | None = None  # of files whose header tells a spacing


@dataclass(frozen=True)
class Header:
    """What is known of a file before it is decoded; what a header leaves open is left open."""

    shape: tuple[int, int] | None = None  # of the map
    dtype: str = ""  # NumPy's name of the type of its values
    doubled: bool = False  # whether it is a ``ucm2``, of (2 h + 1) x (2 w + 1) pixels
    odd: bool = False  # whether it looks damaged, which decoding it will show
    orientation: int = UPRIGHT  # of its EXIF data, as far as they come before the pixels
    size: int = 0  # of the file in bytes; 0 where it is unknown
    lossy: str = ""  # as in `Decoded`
    volume: tuple[int, int, int] | None = None  # the shape of a volume, which has no other
    geometry: Geometry | None = None  # as in `Decoded`

    def of_shape(self, shape: tuple[int, ...]) -> Header:
        """Return the header of an array of this shape, a volume if it has three axes."""
        if len(shape) == 3:
            return replace(self, volume=(shape[0], shape[1], shape[2]))
        return replace(self, shape=(shape[0], shape[1]))


@dataclass(frozen=True)
class Format:
    """A file format."""

    name: str  # in error messages
    extensions: tuple[str, ...]  # in lower case, with their dot
    magic: tuple[bytes, ...]  # what its files begin with
    # A `DataError` says what is wrong where that is known; any other exception is reported as damage.
    decode: Callable[[bytes, str, Role], Decoded]
    header: Callable[[BinaryIO, Role], Header]  # decodes no pixels; an exception means that the file looks damaged
    # The same of a file that is read as a volume although its format does not say so; None where it always does.
    decode_volume: Callable[[bytes, str, Role], Decoded] | None = None


def variable_of(role: Role) -> str:
    """Return the name of the array to read where a file holds several."""
    if role in LABEL_MAPS:
        return "prediction" if role.startswith("predicted") else "ground_truth"
    return role.replace(" ", "_")


def too_large(path: str, shape: tuple[int, ...]) -> DataError:
    """Say that an image has more pixels than are decoded."""
    problem = Message(
        "too-large", "{shape: x } (height x width) is more than {most} pixels", shape=shape, most=MAX_PIXELS
    )
    return DataError(path, problem, CUT)


def size(shape: tuple[int, ...]) -> str:
    """Return height and width in words, of an array of other axes its extents."""
    return " x ".join(map(str, shape)) + (" (height x width)" if len(shape) == 2 else "")
