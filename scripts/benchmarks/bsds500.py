"""BSDS500 as the scripts read it: its folder, the annotators' maps and the soft maps."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import imageio.v3 as iio
from numpy.typing import NDArray
from scipy.io import loadmat


def folder() -> Path | None:
    """Return the folder that the environment names."""
    named = os.environ.get("SEGBENCH_BSDS500")
    return Path(named) if named else None


def options_with_folder(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line; its first argument is the folder, else the environment must name one."""
    parser.add_argument("folder", nargs="?", type=Path, default=folder())
    options = parser.parse_args()
    if not options.folder:
        parser.error("no folder given, and SEGBENCH_BSDS500 is not set")
    return options


def annotators(root: Path, name: str, field: str) -> list[NDArray[Any]]:
    """Read "Boundaries" or "Segmentation" of every annotator."""
    return [cell[field][0, 0] for cell in loadmat(root / "groundTruth" / f"{name}.mat")["groundTruth"].ravel()]


def boundaries(root: Path, name: str) -> list[NDArray[Any]]:
    """Read the boundary map of every annotator."""
    return [drawn != 0 for drawn in annotators(root, name, "Boundaries")]


def soft_map(root: Path, name: str, kind: str) -> Any:  # noqa: ANN401 - levels or floats
    """Read a soft map: ``ucm2``, ``hed`` or ``bench_png``."""
    if kind == "ucm2":
        return loadmat(root / kind / f"{name}.mat")["ucm2"][2::2, 2::2]
    return iio.imread(root / kind / f"{name}.png")
