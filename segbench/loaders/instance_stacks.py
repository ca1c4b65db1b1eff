"""Stacks of masks, one for each instance: arrays of shape (instances, height, width), and TIFF files of such pages.

An NPZ file may hold ``masks`` with ``scores`` and ``classes`` (or ``labels``). Floats are cut at .5. A single NPY array
or TIFF file holds masks alone, which are of class 1.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.sample import Maps
from segbench.loaders import arrays, tiff
from segbench.loaders.drawn_instances import instances_of_masks
from segbench.loaders.source import Source, extension_of, shown

_CUT = 0.5
_MOST_BYTES = 2**31
_MASKS, _SCORES, _CLASSES = ("masks",), ("scores",), ("classes", "labels")
_EXPECTED = "expected masks of shape (instances, height, width), with a score and a class for each"


def stacked(data: bytes, path: Source, *, predicted: bool) -> Maps | None:
    """Return the instances of a stack; None of a file that holds a single map."""
    extension, name = extension_of(path.name), shown(path)
    if extension == ".npz":
        return _of_archive(data, name, predicted=predicted)
    masks: NDArray[Any] | None = None
    if extension == ".npy":
        masks = arrays.read_array(data, name, "prediction")
    elif extension in tiff.FORMAT.extensions and tiff.FORMAT.decode_volume is not None and _has_pages(data):
        masks = tiff.FORMAT.decode_volume(data, name, "label map").array
    if masks is None or masks.ndim != 3 or 1 in (masks.shape[0], masks.shape[2]) or _is_colour(masks):
        return None
    return _instances(masks, np.ones(len(masks), np.int64), None, name)


def _is_colour(array: NDArray[Any]) -> bool:
    """Return whether an array is an image of three or four channels."""
    return array.shape[2] in (3, 4) and array.dtype in (np.uint8, np.uint16)


def _has_pages(data: bytes) -> bool:
    """Return whether a TIFF file has several pages."""
    import tifffile

    from segbench.loaders.images import quiet

    try:
        with quiet(), tifffile.TiffFile(io.BytesIO(data)) as file:
            return len(file.pages) > 1
    except Exception:  # noqa: BLE001  of a damaged file, which decoding it says
        return False


def _of_archive(data: bytes, name: str, *, predicted: bool) -> Maps | None:
    """Return the instances in the arrays of an NPZ file; None where none is called masks."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if _MASKS[0] not in members:
                return None
            loaded = {
                names[0]: next((_array(archive, members[key], name) for key in names if key in members), None)
                for names in (_MASKS, _SCORES, _CLASSES)
            }
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError):
        return None  # decoding it says what is wrong
    masks, scores, classes = (loaded[names[0]] for names in (_MASKS, _SCORES, _CLASSES))
    if masks is None or masks.ndim != 3:
        raise _unfit(name)
    labels = np.ones(len(masks), np.int64) if classes is None else classes
    if scores is not None and (scores.shape != (len(masks),) or scores.dtype.kind not in "iuf"):
        raise _unfit(name)
    if labels.shape != (len(masks),) or labels.dtype.kind not in "iu" or labels.min(initial=0) < 0:
        raise _unfit(name)
    confidences = None if scores is None or not predicted else scores.astype(np.float64)
    return _instances(masks, labels.astype(np.int64), confidences, name)


def _unfit(name: str) -> DataError:
    """Say that arrays do not fit each other."""
    return DataError(
        name, Message("unfit-stack", "holds masks, scores or classes that do not fit each other"), _EXPECTED
    )


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    """Read an array of an archive."""
    if info.file_size > _MOST_BYTES:
        raise DataError(
            name, Message("too-large", "unpacks to {bytes} bytes", bytes=info.file_size), "save a file an image"
        )
    with archive.open(info) as member:
        return arrays.read_array(member.read(info.file_size), name, "prediction")


def _instances(masks: NDArray[Any], classes: NDArray[np.int64], scores: NDArray[np.float64] | None, name: str) -> Maps:
    """Return masks as instances; label maps in place of masks are refused."""
    if masks.dtype.kind not in "biuf" or (masks.dtype.kind == "f" and not np.isfinite(masks).all()):
        raise DataError(name, Message("wrong-type", "holds masks of values that are no numbers"), _EXPECTED)
    inside = masks >= _CUT if masks.dtype.kind == "f" else masks != 0
    if masks.dtype.kind in "iu":
        highest = masks.max(axis=(1, 2), initial=0)
        several = int(np.count_nonzero((inside & (masks != highest[:, None, None])).any(axis=(1, 2))))
        if several:
            problem = Message(
                "several-values", "has {planes:many plane} of several values, and masks have one", planes=several
            )
            raise DataError(name, problem, _EXPECTED)
    maps = instances_of_masks(list(inside), classes, scores)
    if len(masks):
        return maps
    raise DataError(name, Message("no-masks", "holds no mask"), _EXPECTED)


def is_stack(path: Source) -> bool:
    """Return whether a file may hold a stack, by its extension."""
    return extension_of(path.name) in (".npy", ".npz", *tiff.FORMAT.extensions)
