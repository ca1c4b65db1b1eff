"""Folders as people have them: one clean set for pixels, one for boundaries, and what goes wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from cases import save_cell, write_folder
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

SHAPE = (48, 64)
NAMES = ("ape", "bee", "cat", "dog", "elk", "fox")


@dataclass
class Folders:
    """Ground truth and predictions by name, before they are written."""

    truth: dict[str, NDArray]
    scores: dict[str, NDArray]
    masks: dict[str, NDArray] = field(default_factory=dict)

    def write(self, root: Path) -> list[Path]:
        """Write what there is as PNG, or by the extension that a name has, and return the folders."""
        kinds = {"gt": self.truth, "pred": self.scores, "mask": self.masks}
        return [
            write_folder(root / kind, {n if n[-4:-3] == "." else f"{n}.png": array for n, array in maps.items()})
            for kind, maps in kinds.items()
            if maps
        ]


def blobs(seed: int = 0, shape: tuple[int, int] = SHAPE, names: tuple[str, ...] = NAMES) -> Folders:
    """Make masks of blobs, and scores of 8 bits that are right more often than not."""
    rng = np.random.default_rng(seed)
    truth, scores = {}, {}
    for name in names:
        wide = gaussian_filter(rng.normal(size=shape), 5)
        mask = wide > np.quantile(wide, 0.7)
        soft = 1 / (1 + np.exp(-8 * (gaussian_filter(mask.astype(float), 2) - 0.5) - rng.normal(size=shape)))
        truth[name] = mask.astype(np.uint8) * 255
        scores[name] = np.rint(soft * 255).astype(np.uint8)
    return Folders(truth, scores)


def lines(seed: int = 0) -> Folders:
    """Make thin lines, and predictions that lie on or beside them, with a few false ones."""
    rng = np.random.default_rng(seed)
    truth, scores = {}, {}
    for name in NAMES:
        drawn, soft = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
        for row in rng.choice(np.arange(4, 44, 6), 4, replace=False):
            drawn[row, 4:60] = 255
            soft[row + rng.integers(0, 2), 4:60] = rng.integers(60, 255)
        soft[:, 2 + rng.integers(0, 3)] = rng.integers(5, 60)
        truth[name], scores[name] = drawn, soft
    return Folders(truth, scores)


Break = Callable[[Folders], None]


def each(kind: str, change: Callable[[NDArray], NDArray], *, only: int = len(NAMES), extension: str = "") -> Break:
    """Change the maps of one kind, all or the first few, and perhaps how they are written."""

    def change_all(folders: Folders) -> None:
        maps = getattr(folders, kind)
        for name in NAMES[:only]:
            maps[name + extension] = change(maps.pop(name))

    return change_all


def renamed(kind: str, name: Callable[[str], str], *, only: int = len(NAMES)) -> Break:
    """Rename the maps of one kind, all or the first few."""

    def rename(folders: Folders) -> None:
        maps = getattr(folders, kind)
        for old in NAMES[:only]:
            maps[name(old)] = maps.pop(old)

    return rename


def two_annotators(pattern: str) -> Break:
    """Add a second annotator to every ground truth."""

    def draw(folders: Folders) -> None:
        for name in NAMES:
            first = folders.truth.pop(name)
            for tag in "12":
                folders.truth[pattern.replace("*", name).replace("#", tag)] = np.roll(first, int(tag), 0)

    return draw


def with_value(value: int, *, labels: bool = False) -> Callable[[NDArray], NDArray]:
    """Write a strip of another value into a mask; with `labels` the mask is of 0 and 1 otherwise."""

    def change(mask: NDArray) -> NDArray:
        mask = mask // 255 if labels else mask.copy()
        mask[-6:, :] = value
        return mask

    return change


def ringing(mask: NDArray) -> NDArray:
    """Compress a mask by JPEG and back."""
    return iio.imread(iio.imwrite("<bytes>", mask, extension=".jpg", quality=60), extension=".jpg")


def copied(folders: Folders) -> None:
    """Write one prediction for three images."""
    for name in NAMES[1:3]:
        folders.scores[name] = folders.scores[NAMES[0]]


def truth_as_prediction(folders: Folders) -> None:
    """Put the ground truth in the place of four predictions."""
    for name in NAMES[:4]:
        folders.scores[name] = folders.truth[name]


def mixed_masks(folders: Folders) -> None:
    """Write half of the masks with 0 and 1."""
    for name in NAMES[:3]:
        folders.truth[name] //= 255


def masks_of_two_kinds(folders: Folders) -> None:
    """Predict masks, half of them with 0 and 1."""
    for place, name in enumerate(NAMES):
        folders.scores[name] = (folders.scores[name] > 128) * np.uint8(255 if place < 3 else 1)


def masks_beside_maps(folders: Folders) -> None:
    """Predict masks of 0 and 1 in half of the images."""
    for name in NAMES[:3]:
        folders.scores[name] = (folders.scores[name] > 128).astype(np.uint8)


def bits_of_two_kinds(folders: Folders) -> None:
    """Save 16 bits, half of them with 8-bit levels."""
    for place, name in enumerate(NAMES):
        folders.scores[name] = folders.scores[name] * np.uint16(1 if place < 3 else 257)


def photographs(folders: Folders) -> None:
    """Return pictures in colour for the ground truth."""
    rng = np.random.default_rng(3)
    for name in NAMES:
        folders.truth[name] = rng.integers(0, 256, (*SHAPE, 3), dtype=np.uint8)


def one_off() -> Folders:
    """Make images of two sizes, of which each has the prediction of the one before."""
    kinds = blobs(), blobs(shape=(40, 72))
    of_name = {name: kinds[place % 2] for place, name in enumerate(NAMES)}
    before = dict(zip(NAMES, [*NAMES[-1:], *NAMES[:-1]], strict=True))
    return Folders(
        {name: of_name[name].truth[name] for name in NAMES},
        {name: of_name[before[name]].scores[before[name]] for name in NAMES},
    )


def lacks_mask(folders: Folders) -> None:
    """Return masks for all images but one."""
    folders.masks = {name: np.ones(SHAPE, np.uint8) for name in NAMES[1:]}


def small_masks(folders: Folders) -> None:
    """Return masks of another size."""
    folders.masks = {name: np.ones((40, 50), np.uint8) for name in NAMES}


def same_name_twice(folders: Folders) -> None:
    """Write one prediction as PNG and as NPY."""
    folders.scores[f"{NAMES[0]}.npy"] = folders.scores[NAMES[0]]


def colour_map(soft: NDArray) -> NDArray:
    """Lay a colour map over scores."""
    return np.stack([soft, soft, soft // 2], axis=-1)


def doubled(soft: NDArray) -> NDArray:
    """Write a map of the size that a ucm2 has."""
    return np.kron(np.pad(soft, (0, 1), "edge"), np.ones((2, 2), np.uint8))[:-1, :-1]


def clipped(soft: NDArray) -> NDArray:
    """Multiply scores in a type that is too small for them, and clip."""
    return np.minimum(soft.astype(int) * 20, 255).astype(np.uint8)


def spread(soft: NDArray) -> NDArray:
    """Make lines thick, as networks draw them."""
    return gaussian_filter(np.pad(soft, 0).astype(float), 2).astype(np.float32) / 64


def holed(soft: NDArray) -> NDArray:
    """Write floats with a NaN and an infinite score."""
    floats = soft / np.float32(255)
    floats[0, :2] = np.nan, np.inf
    return floats


def truncate(root: Path) -> None:
    """Cut a file short, empty one, and write a web page into another."""
    paths = [root / "pred" / f"{name}.png" for name in NAMES[:3]]
    paths[0].write_bytes(paths[0].read_bytes()[:-40])
    paths[1].write_bytes(b"")
    paths[2].write_bytes(b"<html>not found</html>")


def cells(root: Path) -> None:
    """Write ground truth as BSDS500 does, of two annotators."""
    for path in sorted((root / "gt").iterdir()):
        drawn = iio.imread(path) > 0
        path.unlink()
        save_cell(path.with_suffix(".mat"), [drawn, np.roll(drawn, 1, 0)])


def turn_by_exif(scores):
    """Say in the first two files of a folder that viewers are to turn them."""
    tags = Image.Exif()
    tags[0x0112] = 6
    for path in sorted(scores.iterdir())[:2]:
        with Image.open(path) as image:
            image.save(path, exif=tags)
