"""Results as CSV files for other programs: metrics, image by image, threshold by threshold, all digits kept."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from segbench.aggregator.result import Result, as_results
from segbench.report.bsds import file_names, write_files
from segbench.report.documents import csv_table, document
from segbench.report.tables import Listing, threshold_table

_IMAGES, _THRESHOLDS, _CLASSES = "_images", "_thresholds", "_classes"


def export_csv(results: Result | Sequence[Result], folder: str | PathLike[str]) -> list[Path]:
    """Write ``<method>.csv``, ``<method>_images.csv``, ``<method>_thresholds.csv``, perhaps ``<method>_classes.csv``.

    Parameters
    ----------
    results : Result or sequence of Result
        Of any protocol. A published curve has no table of images; a run that counted no image, or of a protocol without
        a curve, has none of thresholds.
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
    curve: counts, recall, precision, F; of the regions protocol its metrics. Undefined metrics are empty.
    """
    results, files = as_results(results), dict[str, str]()
    for result, name in zip(results, _names(results), strict=True):
        files[f"{name}.csv"] = document([result], "csv")
        if not result.published:
            files[f"{name}{_IMAGES}.csv"] = document([result], "csv", Listing(rows="image"))
        if result.classes:
            files[f"{name}{_CLASSES}.csv"] = document([result], "csv", Listing(rows="class"))
        if (result.counts or result.unnamed or result.published) and result.drawn is not None:
            files[f"{name}{_THRESHOLDS}.csv"] = csv_table(threshold_table([result], every=True, named=False).exact())
    write_files(Path(folder), files)
    return [Path(folder) / name for name in files]


def _names(results: Sequence[Result]) -> list[str]:
    """Name the methods so that no file of one is a file of another, as "a" and "a_images" would have."""
    methods = [result.method for result in results]
    plain = file_names(methods)
    taken = {f"{name}{ending}".casefold() for name in plain for ending in (_IMAGES, _THRESHOLDS, _CLASSES)}
    return [f"{name}-run" if name.casefold() in taken else name for name in plain]
