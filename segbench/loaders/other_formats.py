"""Formats of other fields, which are not read: what they are called, and how their content becomes images or arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from segbench.core.messages import Message

_VOLUMES = (
    "convert each series to a volume (dcm2niix -z y -o FOLDER DICOM), and segmentations with dcmqi's segimage2itkimage"
)
_DRAW = "draw them as masks or label maps, one PNG per image"
_SAVE = "save the array of each image as an NPY file"
_TILES = "save the regions that were annotated as PNG or TIFF files"
_OTHER_FORMATS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys((".dcm", ".dicom"), ("DICOM files", _VOLUMES)),
    **dict.fromkeys((".mgz", ".mgh"), ("volumes of FreeSurfer", "convert them to NIfTI (mri_convert a.mgz a.nii.gz)")),
    ".json": (
        "JSON annotations other than those of COCO and LabelMe",
        f"{_DRAW}; COCO's are read from the JSON itself, unpacked, and LabelMe's from folders and archives",
    ),
    ".geojson": ("GeoJSON annotations, such as those of QuPath,", _DRAW),
    ".xml": ("XML annotations", _DRAW),
    ".txt": (
        "text annotations other than those of YOLO and Cityscapes",
        f"{_DRAW}; these are read from folders, YOLO's also from archives",
    ),
    ".roi": ("regions of ImageJ (ROI files)", _DRAW),
    **dict.fromkeys((".h5", ".hdf5", ".hdf", ".he5"), ("HDF5 files", _SAVE)),
    **dict.fromkeys((".zarr", ".n5"), ("Zarr and N5 arrays", _SAVE)),
    **dict.fromkeys((".pt", ".pth", ".pkl", ".safetensors"), ("tensors and pickles", _SAVE)),
    **dict.fromkeys((".svs", ".ndpi", ".mrxs", ".scn"), ("whole-slide images", _TILES)),
    **dict.fromkeys((".czi", ".lif", ".nd2", ".ims"), ("files of microscopes", _SAVE)),
    ".exr": ("OpenEXR images", "save the channel with the scores as a TIFF of floats or an NPY file"),
    **dict.fromkeys((".jp2", ".heic", ".avif"), ("JPEG 2000, HEIC and AVIF images", "convert them to PNG")),
}


def ending_of(name: str) -> str:
    """Return the extension that names the format of a file: both of .nii.gz, and that of the folder of an array."""
    path = PurePosixPath(name.lower())
    last = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    folders = (PurePosixPath(part).suffix for part in path.parts[:-1])
    return next((suffix for suffix in folders if suffix in (".zarr", ".n5")), last)


def other_format(names: Iterable[str]) -> Message | None:
    """Say what to do with the format of other fields that most of the files have, if any has one."""
    known = Counter(ending for ending in map(ending_of, names) if ending in _OTHER_FORMATS)
    if not known:
        return None
    title, advice = _OTHER_FORMATS[known.most_common(1)[0][0]]
    return Message(
        "other-format",
        "{format} are not read: {advice}; see 'Files of other formats' in docs/inputs.md",
        format=title,
        advice=advice,
    )
