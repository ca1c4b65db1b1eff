"""Results as CSV files for other programs: figures, image by image, threshold by threshold, all digits kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from segbench.aggregator.result import Result
from segbench.counts import BoundaryCounts
from segbench.curves import Curve
from segbench.curves.regions import RegionCurve
from segbench.report.bsds import file_names, write_files
from segbench.report.classes import class_results, class_rows
from segbench.report.tables import image_rows, method_rows, text_table

_IMAGES, _THRESHOLDS, _CLASSES = "_images", "_thresholds", "_classes"


def export_csv(results: Sequence[Result], folder: str | PathLike[str]) -> list[Path]:
    """Write ``<method>.csv``, ``<method>_images.csv``, ``<method>_thresholds.csv``, perhaps ``<method>_classes.csv``.

    Parameters
    ----------
    results : sequence of Result
        Of any protocol. A published curve has no table of images.
    folder : path
        Made where there is none.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    DataError
        If a file cannot be written.

    Notes
    -----
    ``<method>.csv`` has one row, its columns as in ``segbench show --format csv``. Thresholds are rows of the pooled
    curve: counts, recall, precision, F; of the regions protocol its figures; of several classes the curve of all added
    up. Undefined figures are empty.
    """
    files: dict[str, str] = {}
    for result, name in zip(results, _names(results), strict=True):
        files[f"{name}.csv"] = text_table(*method_rows([result], exact=True), "csv")
        if not result.published:
            files[f"{name}{_IMAGES}.csv"] = text_table(*image_rows([result], exact=True), "csv")
        if result.classes:
            files[f"{name}{_CLASSES}.csv"] = text_table(*class_rows(class_results([result]), exact=True), "csv")
        files[f"{name}{_THRESHOLDS}.csv"] = text_table(*_threshold_rows(result), "csv")
    write_files(Path(folder), files)
    return [Path(folder) / name for name in files]


def _names(results: Sequence[Result]) -> list[str]:
    """Name the methods so that no file of one is a file of another, as "a" and "a_images" would have."""
    methods = [result.method for result in results]
    plain = file_names(methods)
    taken = {f"{name}{ending}".casefold() for name in plain for ending in (_IMAGES, _THRESHOLDS, _CLASSES)}
    return [f"{name}-run" if name.casefold() in taken else name for name in plain]


def _threshold_rows(result: Result) -> tuple[list[str], list[list[str]]]:
    curve = result.curve
    columns = {"threshold": curve.thresholds}
    if isinstance(curve, Curve):
        columns |= {"tp": curve.tp, "fp": curve.fp, "recall": curve.recall, "precision": curve.precision}
        columns["tpr"], columns["fpr"] = curve.tpr, curve.fpr
    elif isinstance(curve, RegionCurve):
        names = (
            "covering",
            "covering_of_prediction",
            "rand_index",
            "voi",
            "voi_split",
            "voi_merge",
            "adapted_rand_error",
        )
        columns |= {name: getattr(curve, name) for name in (*names, "rand_precision", "rand_recall")}
    else:
        if not result.published and isinstance(result.pooled, BoundaryCounts):
            for name in ("matched_gt", "total_gt", "matched_pred", "total_pred"):
                columns[name] = getattr(result.pooled, name)
        columns |= {"recall": curve.recall, "precision": curve.precision, "f": curve.f}
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return list(columns), [["" if math.isnan(value) else repr(value) for value in row] for row in rows]
