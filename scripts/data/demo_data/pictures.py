"""The photographs: taken from the scikit-image wheel, made smaller, never downloaded."""

import numpy as np
import skimage.data
from numpy.typing import NDArray
from PIL import Image
from skimage.color import gray2rgb, rgb2gray, rgb2lab

# (width, height): the outlines' coordinates are pixels of pictures of exactly these sizes.
SIZES = {
    "astronaut": (320, 320),
    "camera": (320, 320),
    "cell": (275, 330),
    "chelsea": (360, 240),
    "coffee": (360, 240),
    "coins": (384, 303),
    "horse": (320, 262),
    "motorcycle": (370, 250),
    "rocket": (360, 240),
}


def small_picture(name: str) -> NDArray[np.uint8]:
    """One picture at its size in the demo set.

    Parameters
    ----------
    name
        A key of `SIZES`.

    Returns
    -------
    ndarray of uint8, shape (height, width) or (height, width, 3)
    """
    full = skimage.data.stereo_motorcycle()[0] if name == "motorcycle" else getattr(skimage.data, name)()
    if full.dtype == bool:
        full = np.where(full, 255, 0).astype(np.uint8)
    return np.asarray(Image.fromarray(full).resize(SIZES[name], Image.Resampling.LANCZOS))


def lab(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """CIE Lab values of a grey or colour picture, shape (height, width, 3)."""
    return np.asarray(rgb2lab(picture if picture.ndim == 3 else gray2rgb(picture)))


def grey(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Luminance of a grey or colour picture in [0, 1]."""
    return np.asarray(rgb2gray(picture) if picture.ndim == 3 else picture / 255.0)
