"""Saliency: values of single images that other code printed, in the files of docs/verify.md, recomputed from maps."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.numbers import of_all
from segbench.loaders.source import shown
from segbench.protocols.saliency.counts import LEVELS, UNITS
from segbench.protocols.saliency.settings import Saliency
from segbench.verification.checks import Check, VerifiedPart, compare, counted_group

_OFFICIAL = "MATLAB toolbox"
_TABLES = {
    "official_per_image.csv": (_OFFICIAL, 1e-12, {"mae": "mae", "s_measure": "s_measure", "adaptive_f": "f_adaptive"}),
    "pysodmetrics_per_image.csv": (
        "PySODMetrics",
        1e-10,
        {"weighted_f": "weighted_f", "e_adaptive": "e_adaptive", "f_adaptive": "f_adaptive"}
        | {f"{letter}_mean_over_thresholds": f"{letter}_mean" for letter in "ef"}
        | {f"{letter}_max_of_image": f"{letter}_max" for letter in "ef"},
    ),
}
"""Tables of other codes: which it is, how near each value must be, and our name of each column."""
_CURVES, _CURVE_ALLOWED = "official_curves.npz", 1 / UNITS

Rows = Mapping[str, list[float]]
"""The values of one method by image."""


def saliency_part(folder: Path) -> VerifiedPart:
    """Find the methods in a folder, and read what is known of them."""
    tables = {name: _read_table(folder / name) for name in _TABLES if (folder / name).is_file()}
    methods = sorted({method for table in tables.values() for method in table})
    if not methods or not (folder / "predictions").is_dir():
        problem = Message("no-known-values", "contains no saliency maps with known values")
        hint = Message("fix", "expected ground_truth, predictions/METHOD, and {tables: or }", tables=list(_TABLES))
        raise DataError(shown(folder), problem, hint)
    groups = []
    for name in methods:
        known = {file: table[name] for file, table in tables.items() if name in table}
        images = {image for rows in known.values() for image in rows}
        folders = folder / "ground_truth", folder / "predictions" / name
        names_in_folders = [
            {path.stem for path in directory.iterdir()} if directory.is_dir() else set() for directory in folders
        ]
        available = len(images.intersection(*names_in_folders))
        lie = f"{of_all(available, len(images), 'image', 'lie')} in ground_truth and predictions/{name}"
        missing = "" if available == len(images) else lie
        compare_all = partial(_compare, folder / _CURVES, name, known, missing)
        groups.append(counted_group(name, () if missing else images, (*folders, Saliency()), compare_all))
    return VerifiedPart("Saliency", groups)


def _read_table(path: Path) -> dict[str, dict[str, list[float]]]:
    """Read values by method and image, in the order of the columns."""
    columns = _TABLES[path.name][2]
    read: dict[str, dict[str, list[float]]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        try:
            for row in rows:
                read.setdefault(shown(row["method"]), {})[row["image"]] = [float(row[column]) for column in columns]
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            problem = Message(
                "wrong-line",
                "line {line} lacks a value for method, image, {columns}",
                line=rows.line_num,
                columns=tuple(columns),
            )
            raise DataError(shown(path), problem, "give every line a value in every column") from error
    return read


def _read_curves(path: Path, method: str) -> dict[str, NDArray[np.float64]]:
    """Read precision and recall at rising thresholds by image; nothing where there are none of the method."""
    try:
        with np.load(path) as arrays:
            if f"{method}_precision" not in arrays:
                return {}
            names = arrays["images"].tolist()
            curves = np.stack([arrays[f"{method}_{name}"] for name in ("precision", "recall")], axis=1)[..., ::-1]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        problem = Message("no-curves", "is not an archive of curves ({reason})", reason=str(error))
        raise DataError(
            shown(path), problem, "save images, METHOD_precision and METHOD_recall by numpy.savez"
        ) from error
    expected = len(names), 2, LEVELS
    if curves.shape != expected:
        problem = Message(
            "wrong-shape",
            "precision and recall of {method} are of shape ({shape}), expected ({expected})",
            method=method,
            shape=curves.shape[::2],
            expected=expected[::2],
        )
        raise DataError(shown(path), problem, "give one row of 256 thresholds per image")
    return dict(zip(names, curves, strict=True))


def _compare(
    curves: Path, method: str, known: Mapping[str, Rows], missing: str, result: Result | None
) -> Iterator[Check]:
    """Compare the mean of each column, the image that is farthest off, and precision and recall at each threshold."""
    if result is None:
        yield from (Check(what="its metrics", source=_TABLES[file][0], missing=missing) for file in known)
        return
    measured = dict(result.per_image)
    for file, rows in known.items():
        source, allowed, columns = _TABLES[file]
        keys, theirs = columns.values(), np.array([*rows.values()])
        ours = np.array([[measured[image][key] for key in keys] for image in rows])
        their_means, our_means = (
            dict(zip(keys, values.mean(axis=0).tolist(), strict=True)) for values in (theirs, ours)
        )
        yield from compare(their_means, our_means, allowed, source)
        worst = float(np.abs(ours - theirs).max())
        yield Check(what="its worst image", expected=0, got=worst, allowed=allowed, source=source)
    counts: dict[str, Any] = dict(result.counts)
    curves_of = _read_curves(curves, method)
    pairs = [(counts[image], curve) for image, curve in curves_of.items() if image in counts]
    if pairs:
        off = [
            np.abs(np.stack([image_counts.precision, image_counts.recall]) / UNITS - curve)
            for image_counts, curve in pairs
        ]
        for rate, got in zip(("precision", "recall"), np.max(off, axis=(0, 2)).tolist(), strict=True):
            what_all = f"{rate}, {LEVELS} thresholds"
            yield Check(what=what_all, expected=0, got=got, allowed=_CURVE_ALLOWED, source=_OFFICIAL)
