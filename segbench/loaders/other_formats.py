"""Formats of other fields, which are not read: what they are called, and how their content becomes images or arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple


class OtherFormat(NamedTuple):
    """A format that is not read, and what to do with its files."""

    title: str
    advice: str

    def __str__(self) -> str:
        """Say so in one sentence."""
        return f"{self.title} are not read: {self.advice}; see 'Files of other formats' in docs/inputs.md"


_SLICES = "save each slice as an NPY file of its own"
_DRAW = "draw them as masks or label maps, one PNG per image"
_SAVE = "save the array of each image as an NPY file"
_TILES = "save the regions that were annotated as PNG or TIFF files"
_OTHER_FORMATS: Mapping[str, OtherFormat] = {
    **dict.fromkeys((".nii", ".nii.gz"), OtherFormat("NIfTI volumes", _SLICES)),
    **dict.fromkeys((".mha", ".mhd"), OtherFormat("MetaImage volumes", _SLICES)),
    **dict.fromkeys((".nrrd", ".nhdr"), OtherFormat("NRRD volumes", _SLICES)),
    **dict.fromkeys((".dcm", ".dicom"), OtherFormat("DICOM files", "save the pixels of each as a 16-bit PNG or NPY")),
    ".json": OtherFormat("JSON annotations, such as those of COCO and labelme,", _DRAW),
    ".geojson": OtherFormat("GeoJSON annotations, such as those of QuPath,", _DRAW),
    ".xml": OtherFormat("XML annotations", _DRAW),
    ".txt": OtherFormat("text annotations, such as those of YOLO,", _DRAW),
    ".roi": OtherFormat("regions of ImageJ (ROI files)", _DRAW),
    **dict.fromkeys((".h5", ".hdf5", ".hdf", ".he5"), OtherFormat("HDF5 files", _SAVE)),
    **dict.fromkeys((".zarr", ".n5"), OtherFormat("Zarr and N5 arrays", _SAVE)),
    **dict.fromkeys((".pt", ".pth", ".pkl", ".safetensors"), OtherFormat("tensors and pickles", _SAVE)),
    **dict.fromkeys((".svs", ".ndpi", ".mrxs", ".scn"), OtherFormat("whole-slide images", _TILES)),
    **dict.fromkeys((".czi", ".lif", ".nd2", ".ims"), OtherFormat("files of microscopes", _SAVE)),
    ".exr": OtherFormat("OpenEXR images", "save the channel with the scores as a TIFF of floats or an NPY file"),
    **dict.fromkeys((".jp2", ".heic", ".avif"), OtherFormat("JPEG 2000, HEIC and AVIF images", "convert them to PNG")),
}


def ending_of(name: str) -> str:
    """Return the extension that names the format of a file: both of .nii.gz, and that of the folder of an array."""
    path = PurePosixPath(name.lower())
    last = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    folders = (PurePosixPath(part).suffix for part in path.parts[:-1])
    return next((suffix for suffix in folders if suffix in (".zarr", ".n5")), last)


def other_format(names: Iterable[str]) -> OtherFormat | None:
    """Return the format of other fields that most of the files have, if any has one."""
    known = Counter(ending for ending in map(ending_of, names) if ending in _OTHER_FORMATS)
    return _OTHER_FORMATS[known.most_common(1)[0][0]] if known else None
