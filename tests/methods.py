"""Folders of methods that differ in skill, on one ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from cases import write_folder


def write_methods(
    root: Path, skills: Mapping[str, float], *, images: int = 12, levels: bool = True, shape: tuple[int, int] = (12, 17)
) -> tuple[Path, ...]:
    """Write a ground truth and a folder of predictions for each method; return the paths in that order."""
    rng = np.random.default_rng(0)
    truth = {f"im{k:02}.png": (rng.random(shape) < 0.3).astype(np.uint8) * 255 for k in range(images)}
    folders = [write_folder(root / "gt", truth)]
    for name, skill in skills.items():
        scores = {}
        for image, mask in truth.items():
            soft = 1 / (1 + np.exp(-rng.normal(size=shape) - skill * (mask > 0)))
            scores[image if levels else image.replace("png", "npy")] = (
                np.rint(255 * soft).astype(np.uint8) if levels else soft
            )
        folders.append(write_folder(root / name, scores))
    return tuple(folders)
