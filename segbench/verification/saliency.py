"""Saliency: values of single images that other code printed, in the files of docs/verify.md, recomputed from maps."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.numbers import of_all
from segbench.loaders.decoded import shown
from segbench.protocols.saliency.counts import LEVELS, UNITS
from segbench.protocols.saliency.settings import Saliency
from segbench.verification.checks import Check, Part, compare, counted_group


class _Known(NamedTuple):
    """A table of another code: its source, how near each value must be, and our name of each column."""

    source: str
    allowed: float
    keys: Mapping[str, str]


_TABLES = {
    "official_per_image.csv": _Known(
        "MATLAB toolbox", 1e-12, {"mae": "mae", "s_measure": "s_measure", "adaptive_f": "f_adaptive"}
    ),
    "pysodmetrics_per_image.csv": _Known(
        "PySODMetrics",
        1e-10,
        {
            "weighted_f": "weighted_f",
            "e_adaptive": "e_adaptive",
            "e_mean_over_thresholds": "e_mean",
            "e_max_of_image": "e_max",
            "f_adaptive": "f_adaptive",
            "f_mean_over_thresholds": "f_mean",
            "f_max_of_image": "f_max",
        },
    ),
}
_CURVES, _CURVE_ALLOWED = "official_curves.npz", 1 / UNITS

Rows = Mapping[str, Mapping[str, float]]
"""The values of one method by image and column."""


def saliency_part(folder: Path) -> Part:
    """Find the methods in a folder, and read what is known of them."""
    tables = {name: _read_table(folder / name) for name in _TABLES if (folder / name).is_file()}
    predictions = folder / "predictions"
    methods = sorted({method for table in tables.values() for method in table})
    if not methods or not predictions.is_dir():
        raise DataError(
            shown(folder),
            "contains no saliency maps with known values",
            f"expected ground_truth, predictions/METHOD, and {' or '.join(_TABLES)}",
        )
    groups = []
    for name in methods:
        known = {file: table[name] for file, table in tables.items() if name in table}
        images = {image for rows in known.values() for image in rows}
        places = folder / "ground_truth", predictions / name
        held = [{path.stem for path in place.iterdir()} if place.is_dir() else set() for place in places]
        found = len(images.intersection(*held))
        lie = f"{of_all(found, len(images), 'image', 'lie')} in ground_truth and predictions/{name}"
        missing = "" if found == len(images) else lie
        compare_all = partial(_compare, folder, name, known, missing)
        groups.append(counted_group(name, () if missing else images, (*places, Saliency()), compare_all))
    return Part("Saliency", groups)


def _read_table(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Read values by method, image and column."""
    keys = _TABLES[path.name].keys
    read: dict[str, dict[str, dict[str, float]]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        try:
            for row in rows:
                values = {column: float(row[column]) for column in keys}
                read.setdefault(shown(row["method"]), {})[row["image"]] = values
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            what = f"line {rows.line_num} lacks a value for method, image, {', '.join(keys)}"
            raise DataError(shown(path), what, "give every line a value in every column") from error
    return read


def _read_curves(path: Path, method: str) -> dict[str, NDArray[np.float64]]:
    """Read precision and recall at rising thresholds by image; nothing where the file has none of the method."""
    try:
        with np.load(path) as arrays:
            if f"{method}_precision" not in arrays:
                return {}
            names = arrays["images"].tolist()
            curves = np.stack([arrays[f"{method}_{name}"] for name in ("precision", "recall")], axis=1)[..., ::-1]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        what = f"is not an archive of curves ({error})"
        raise DataError(shown(path), what, "save images, METHOD_precision and METHOD_recall by numpy.savez") from error
    if curves.shape != (expected := (len(names), 2, LEVELS)):
        what = f"precision and recall of {method} are of shape {curves.shape[::2]}, expected {expected[::2]}"
        raise DataError(shown(path), what, "give one row of 256 thresholds per image")
    return dict(zip(names, curves, strict=True))


def _compare(
    folder: Path, name: str, known: Mapping[str, Rows], missing: str, result: Result | None
) -> Iterator[Check]:
    if result is None:
        yield from (Check(what="its metrics", source=_TABLES[file].source, missing=missing) for file in known)
        return
    ours = dict(result.per_image)
    for file, rows in known.items():
        yield from _compare_table(_TABLES[file], rows, ours)
    if (folder / _CURVES).is_file():
        yield from _compare_curves(_read_curves(folder / _CURVES, name), result)


def _compare_table(known: _Known, rows: Rows, ours: Rows) -> Iterator[Check]:
    """Compare the mean of each column, and single images."""
    source, allowed, keys = known
    theirs = np.array([[values[column] for column in keys] for values in rows.values()])
    got = np.array([[ours[image][key] for key in keys.values()] for image in rows])
    wanted, means = (dict(zip(keys.values(), of.mean(axis=0).tolist(), strict=True)) for of in (theirs, got))
    yield from compare(wanted, means, allowed, source)
    worst = float(np.abs(got - theirs).max())
    yield Check(what="its worst image", expected=0, got=worst, allowed=allowed, source=source)


def _compare_curves(theirs: Mapping[str, NDArray[np.float64]], result: Result) -> Iterator[Check]:
    """Compare precision and recall at every threshold."""
    counts: dict[str, Any] = {name: one for name, one in result.counts.items() if name in theirs}
    if counts:
        off = [np.abs(np.stack([one.precision, one.recall]) / UNITS - theirs[name]) for name, one in counts.items()]
        for what, worst in zip(("precision", "recall"), np.max(off, axis=(0, 2)).tolist(), strict=True):
            source = _TABLES["official_per_image.csv"].source
            yield Check(what=f"{what}, 256 thresholds", expected=0, got=worst, allowed=_CURVE_ALLOWED, source=source)
