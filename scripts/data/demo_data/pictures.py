"""The photographs: taken from the wheels of scikit-image and Matplotlib, made smaller, never downloaded."""

import matplotlib.cbook
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
    "hopper": (320, 375),
    "horse": (320, 262),
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
    return np.asarray(_full_picture(name).resize(SIZES[name], Image.Resampling.LANCZOS))


def _full_picture(name: str) -> Image.Image:
    """One picture as the wheels have it."""
    if name == "hopper":
        return Image.open(matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
    full = getattr(skimage.data, name)()
    return Image.fromarray(np.where(full, 255, 0).astype(np.uint8) if full.dtype == bool else full)


def lab(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """CIE Lab values of a grey or colour picture, shape (height, width, 3)."""
    return np.asarray(rgb2lab(picture if picture.ndim == 3 else gray2rgb(picture)))


def grey(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Luminance of a grey or colour picture in [0, 1]."""
    return np.asarray(rgb2gray(picture) if picture.ndim == 3 else picture / 255.0)
