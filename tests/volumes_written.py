"""Volumes that tests share: arrays in files of each format, and NIfTI headers with single fields changed."""

import gzip
import struct

import nibabel
import numpy as np

SPACING = (2.5, 0.78, 0.7)
"""Along the axes of arrays, z first."""
_FIELDS = {
    "sizeof_hdr": (0, "i"),
    "dim": (40, "8h"),
    "datatype": (70, "h"),
    "bitpix": (72, "h"),
    "pixdim": (76, "8f"),
    "vox_offset": (108, "f"),
    "scl_slope": (112, "f"),
    "scl_inter": (116, "f"),
    "qform_code": (252, "h"),
    "sform_code": (254, "h"),
    "quatern": (256, "3f"),
    "srow_x": (280, "4f"),
    "magic": (344, "4s"),
}


def labels_drawn(shape=(6, 7, 8), classes=3, seed=0):
    """Draw a label map at random, in which each class has voxels."""
    drawn = np.random.default_rng(seed).integers(0, classes, shape).astype(np.uint8)
    drawn.reshape(-1)[:classes] = range(classes)
    return drawn


def affine_of(spacing=SPACING, origin=(0, 0, 0)):
    """Return the affine of NIfTI, for (x, y, z), of axes along those of a patient."""
    affine = np.diag([*spacing[::-1], 1.0])
    affine[:3, 3] = origin
    return affine


def write_nifti(path, array, affine=None, **header):
    """Write an array with the axes (z, y, x), and any further ones first, as a NIfTI file; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = nibabel.Nifti1Image(array.T, affine_of() if affine is None else affine)
    for name, value in header.items():
        image.header[name] = value
    nibabel.save(image, path)
    return path


def write_cases(folder, arrays, ending=".nii.gz", **options):
    """Write arrays as cases of a folder, case_0 and so on; return the folder."""
    for number, array in enumerate(arrays):
        write_nifti(folder / f"case_{number}{ending}", array, **options)
    return folder


def nifti_with(array, **fields):
    """Return the bytes of a NIfTI file, not packed, with fields of its header changed."""
    image = nibabel.Nifti1Image(array.T, affine_of())
    content = bytearray(image.to_bytes())
    for name, value in fields.items():
        at, layout = _FIELDS[name]
        struct.pack_into(f"<{layout}", content, at, *(value if isinstance(value, tuple) else (value,)))
    return bytes(content)


def packed(content):
    """Pack bytes by gzip, quickly."""
    return gzip.compress(content, 1)
