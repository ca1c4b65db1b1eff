"""Region results that others counted: ``eval_cover*.txt`` and ``eval_RI_VOI*.txt`` become a `Result`.

The files hold no counts of images, so the result has none: its metrics are those printed. Rows are checked against the
row of best values: what does not fit is noted.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result
from segbench.aggregator.signature import signature
from segbench.core.errors import DataError
from segbench.loaders.bsds_text import (
    COVER_IMAGES,
    COVER_ROWS,
    MEANS_ROWS,
    PRINT_ROUNDING,
    REGION_FILES,
    REGION_KEYS,
    from_file_name,
    read_rows,
)
from segbench.loaders.decoded import shown
from segbench.protocols.regions.metrics import PublishedRegions
from segbench.protocols.regions.settings import Regions


def region_folders(folder: Path) -> list[Path]:
    """Find the folders that hold region results: the folder itself, or else those within it."""
    if _holds_regions(folder):
        return [folder]
    try:
        inner = sorted(folder.iterdir())
    except OSError:  # what is wrong with it is said where boundary results are looked for
        return []
    return [path for path in inner if path.is_dir() and not path.name.startswith(".") and _holds_regions(path)]


def method_of(folder: Path) -> str:
    """Name the method after its folder."""
    return shown(from_file_name(folder.absolute().name))


def import_regions(folder: Path, method: str) -> Result:
    """Read the region results in a folder."""
    printed: dict[str, float] = {}
    for name, keys in REGION_KEYS.items():
        if (folder / name).is_file():
            row = read_rows(folder / name, (len(keys),))
            printed |= dict(zip(keys, row[0].tolist(), strict=True))
    shares = {key: value for key, value in printed.items() if "threshold" not in key}
    wrong = [key for key, value in shares.items() if value < 0 or (value > 1 and not key.startswith("voi"))]
    if wrong:
        raise DataError(shown(folder), f"{wrong[0]} is {shares[wrong[0]]:g}, expected 0 to 1", "check its eval_*.txt")
    cover, means = _rows(folder / COVER_ROWS, 2), _rows(folder / MEANS_ROWS, 3)
    if cover is not None and means is not None and not np.array_equal(cover[0], means[0]):
        raise DataError(
            shown(folder / MEANS_ROWS), f"its thresholds are not those of {COVER_ROWS}", "export both again"
        )
    thresholds = next((rows[0] for rows in (cover, means) if rows is not None), np.empty(0))
    unknown = np.full((3, thresholds.size), np.nan)
    _, covering = unknown[:2] if cover is None else cover
    _, rand_index, voi = unknown if means is None else means
    published = PublishedRegions(printed, thresholds, covering, rand_index, voi)
    files = [folder / name for name in REGION_FILES if (folder / name).is_file()]
    images = read_rows(folder / COVER_IMAGES, (4,)) if folder / COVER_IMAGES in files else None
    settings = {"source": "imported", "thresholds": ",".join(f"{t:g}" for t in thresholds) or "unknown", "counts": "no"}
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    signed = signature(Regions.name, settings, digests, images="unknown" if images is None else str(len(images)))
    return Result(method, Regions.name, settings, signed, {}, notes=_disagreements(published), published=published)


def _holds_regions(folder: Path) -> bool:
    return any(os.path.isfile(folder / name) for name in REGION_KEYS)  # noqa: PTH113  which raises nothing


def _rows(path: Path, width: int) -> NDArray[np.float64] | None:
    if not path.is_file():
        return None
    columns: NDArray[np.float64] = read_rows(path, (width,)).T
    if np.any(np.diff(columns[0]) <= 0):
        raise DataError(shown(path), "its thresholds are not increasing", "sort its rows by threshold")
    return columns


def _disagreements(published: PublishedRegions) -> tuple[str, ...]:
    """Say where the row of best values is not the best of the rows."""
    best = {"covering_ods": published.covering, "pri_ods": published.rand_index, "voi_ods": -published.voi}
    notes = []
    for key, values in best.items():
        if key in published.printed and values.size and not np.isnan(values).any():
            of_rows = abs(float(values.max()))
            if abs(of_rows - published.printed[key]) > PRINT_ROUNDING * max(1.0, of_rows):
                notes.append(f"{key} is printed as {published.printed[key]:g}, the best of its rows is {of_rows:g}")
    return tuple(notes)
