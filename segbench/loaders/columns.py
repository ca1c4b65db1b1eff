"""Columns of CSV files with a row for each image, such as its weather or its score."""

from __future__ import annotations

import csv
import io

from segbench.core.errors import DataError
from segbench.loaders.decoded import shown
from segbench.loaders.listing import read_text

_NAMES = ("name", "image", "file")


def read_column(place: str, column: str = "") -> dict[str, str]:
    """Read the texts of a column by the image's name, which `name`, `image`, `file` or else the first column has.

    Without `column` it is the only other one. An image with two texts is an error.
    """
    reader = csv.DictReader(io.StringIO(read_text(place, "a CSV file with a header")))
    reader.fieldnames = header = [name.strip() for name in reader.fieldnames or ()]
    key = next((name for name in _NAMES if name in header), header[0] if header else "")
    others = [name for name in header if name != key]
    wanted = column or (others[0] if len(others) == 1 else "one beside the names of images")
    if wanted not in header:
        raise DataError(shown(place), f"has no column {wanted!r}", f"its columns are {', '.join(header) or 'none'}")
    found: dict[str, str] = {}
    for row in reader:
        name, text = ((row[each] or "").strip() for each in (key, wanted))
        if found.setdefault(name.replace("\\", "/"), text) != text:
            raise DataError(shown(place), f"puts {name!r} into {found[name]!r} and {text!r}", "give each image one row")
    return found
