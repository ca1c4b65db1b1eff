"""Draw thirty pages of text in uneven light, and threshold them by four methods of scikit-image as they come.

    python scripts/examples/threshold_pages.py pages
    segbench labels pages/ground_truth pages/predictions/* -o pages.segbench

Each page has its own light, shadow, size of print and noise. Otsu's and Yen's methods find one threshold for the whole
page; those of Niblack and Sauvola adapt it to the neighbourhood. Put your own images and methods in their place.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter
from skimage.filters import threshold_niblack, threshold_otsu, threshold_sauvola, threshold_yen

PAGES, HEIGHT, WIDTH = 30, 220, 330
METHODS = {
    "otsu": threshold_otsu,
    "yen": threshold_yen,
    "niblack": threshold_niblack,
    "sauvola": threshold_sauvola,
}
WORDS = ("edges", "curves", "pixels", "labels", "masks", "recall", "precision", "the", "of", "and", "in", "with", "a")
FONT = Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSerif.ttf")


def ink_of(random: np.random.Generator) -> NDArray[np.bool_]:
    """Print lines of words, and return where the ink is."""
    page = Image.new("L", (WIDTH, HEIGHT), 0)
    size = int(random.integers(12, 22))
    font = ImageFont.truetype(str(FONT), size, layout_engine=ImageFont.Layout.BASIC)  # which every build of Pillow has
    brush = ImageDraw.Draw(page)
    for top in range(10, HEIGHT - 2 * size, int(1.5 * size)):
        brush.text((12, top), " ".join(random.choice(WORDS, 12)), fill=255, font=font)
    page.paste(0, (WIDTH - 12, 0, WIDTH, HEIGHT))
    return np.asarray(page) >= 128


def photograph_of(ink: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.uint8]:
    """Light a page from one side, lay a shadow over it, and take its picture: blurred, and with noise."""
    down, across = np.meshgrid(np.linspace(-1, 1, HEIGHT), np.linspace(-1, 1, WIDTH), indexing="ij")
    angle = random.uniform(0, 2 * np.pi)
    light = 0.75 + 0.2 * (np.cos(angle) * across + np.sin(angle) * down)
    middle = random.uniform(-0.8, 0.8, 2)
    shadow = 1 - random.uniform(0, 0.5) * np.exp(-((down - middle[0]) ** 2 + (across - middle[1]) ** 2) / 0.3)
    grey = gaussian_filter(light * shadow * np.where(ink, 0.35, 1.0), 0.7)
    noisy = grey + random.normal(scale=random.uniform(0.01, 0.06), size=grey.shape)
    return np.rint(255 * np.clip(noisy, 0, 1)).astype(np.uint8)


def write(target: Path) -> None:
    """Write photographs, ground truth, and one folder of masks for each method."""
    folders = {name: target / "predictions" / name for name in METHODS}
    for folder in (target / "images", target / "ground_truth", *folders.values()):
        folder.mkdir(parents=True)
    for number in range(1, PAGES + 1):
        random = np.random.default_rng(number)
        ink = ink_of(random)
        photograph = photograph_of(ink, random)
        name = f"page{number:02}.png"
        Image.fromarray(photograph).save(target / "images" / name)
        Image.fromarray(255 * ink.astype(np.uint8)).save(target / "ground_truth" / name)
        for method, threshold in METHODS.items():
            Image.fromarray(255 * (photograph <= threshold(photograph)).astype(np.uint8)).save(folders[method] / name)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
