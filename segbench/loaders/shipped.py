"""The data that ship with the package."""

from __future__ import annotations

from pathlib import Path

from segbench.core.errors import DataError


def shipped(name: str) -> Path:
    """Find a folder of the data sets that ship: ``"demo"`` or ``"papers"``."""
    package = Path(__file__).parents[1]
    # An installed package carries the folder inside, a checkout beside.
    for datasets in (package / "datasets", package.parent / "datasets"):
        if (datasets / name).is_dir():
            return datasets / name
    raise DataError(str(package / "datasets" / name), "is missing from this installation", "install segbench anew")
