"""Defects of MVTec LOCO: masks that each are one defect, found once so many of their pixels are that it is saturated.

A defect with saturation s is found to min(pixels / s, 1).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting
from segbench.core.sample import Sample
from segbench.core.settings import as_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray

FILE = "defects_config.json"
_EXPECTED = f"expected {FILE} of MVTec LOCO, or the folder that holds one in each category"


class Saturation(NamedTuple):
    """How many pixels of a defect need to be found, or which share of them."""

    pixel_value: int
    threshold: float
    relative: bool

    def of(self, area: int) -> int:
        """Return the number of pixels, at least 1."""
        pixels = int(self.threshold * area) if self.relative else min(int(self.threshold), area)
        return max(pixels, 1)


Defects = tuple[tuple[str, tuple[Saturation, ...]], ...]
"""The saturation of each kind of defect by category, which is empty for a file."""


def as_defects(categories: Any) -> Defects:
    """Return defects as they were read, from lists too."""
    return tuple((category, tuple(Saturation(*rule) for rule in rules)) for category, rules in categories)


def read_defects(config: Any) -> Defects:
    """Read the file of a category, or those of all categories in a folder."""
    path = Path(as_path(config, Setting("defects", None)))
    files = {file.parent.name: file for file in sorted(path.glob(f"*/{FILE}"))} if path.is_dir() else {"": path}
    if path.is_dir() and (path / FILE).is_file():
        files = {"": path / FILE}
    if not files:
        raise ArgumentError(
            Message(
                "no-defects",
                "{setting} holds no {file}; {expected}",
                setting=Setting("defects", str(path)),
                file=FILE,
                expected=_EXPECTED,
            )
        )
    return tuple((category, _read(file)) for category, file in files.items())


def _read(file: Path) -> tuple[Saturation, ...]:
    try:
        rows = json.loads(file.read_text("utf-8-sig"))
        rules = tuple(
            Saturation(int(row["pixel_value"]), float(row["saturation_threshold"]), bool(row["relative_saturation"]))
            for row in rows
        )
    except OSError as error:
        raise _unreadable(file, str(error.strerror)) from error
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(file, f"{error!r:.80}") from error
    if any(rule.threshold <= 0 or (rule.relative and rule.threshold > 1) for rule in rules):
        raise ArgumentError(
            Message(
                "out-of-range",
                "{file} holds a saturation out of range; {expected}",
                file=str(file),
                expected=_EXPECTED,
            )
        )
    return tuple(sorted(rules))


def _unreadable(file: Path, reason: str) -> ArgumentError:
    """Return the error of a file of defects that cannot be read."""
    return ArgumentError(
        Message(
            "unreadable",
            "{file} cannot be read ({reason}); {expected}",
            file=str(file),
            reason=reason,
            expected=_EXPECTED,
        )
    )


class Defect(NamedTuple):
    """A defect of an image, by its pixels that count."""

    pixels: NDArray[np.intp]
    """Where they lie in the flattened image."""
    saturation: int
    """How many of them, those with the highest scores, need to be found."""


def defects_of(sample: Sample, left_out: BoolArray | None, known: Defects) -> list[Defect]:
    """Return the defects of an image, one of each ground-truth file that has a pixel that counts."""
    import numpy as np

    of_categories: Mapping[str, tuple[Saturation, ...]] = dict(known)
    saturations = of_categories.get(sample.name.partition("/")[0], of_categories.get(""))
    defects = []
    for file, truth in zip(sample.truth_files, sample.ground_truths, strict=True):
        values = np.unique(truth[truth > 0])
        saturation = next((rule for rule in saturations or () if [rule.pixel_value] == values.tolist()), None)
        if values.size and saturation is None:
            raise DataError(
                file,
                Message(
                    "unknown-defect",
                    "holds {values}, expected the value of one defect in {config}",
                    values=[f"{value:g}" for value in values.tolist()[:4]],
                    config=FILE,
                ),
                Message("fix", "give the file of the category: {setting}", setting=Setting("defects", None)),
            )
        counted = truth > 0 if left_out is None else (truth > 0) & ~left_out
        pixels = np.flatnonzero(counted)
        if saturation is not None and pixels.size:
            defects.append(Defect(pixels, saturation.of(pixels.size)))
    return defects
